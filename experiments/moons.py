"""Two moons with noise columns: Sufficient Rules and Anchors against the truth (appendix C.1)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from experiments.data.synthetic import MoonsData, make_moons
from experiments.metrics import moons_detection
from experiments.peers import AnchorsSettings, run_anchors
from experiments.runs import BY_DEFAULT, Claim, Experiment, Line, Outcome, Plan
from experiments.switch import least_leaf
from suffice import SufficientExplainer

N_FEW = 20  # noise columns of the table that Anchors can explain in reasonable time
PEERS = ("peers",)
DEFAULT = f"SR, {BY_DEFAULT}"
COLORS = ("#0072B2", "#E69F00")


def moons_model(plan: Plan, seed: int) -> tuple[SufficientExplainer, MoonsData, MoonsData]:
    """Draw training and test rows and fit the paper's forest: 20 trees, leaves of at least t_n rows."""
    rng = np.random.default_rng(seed)
    n_noise = plan.pick(100, 50, 5)
    train = make_moons(plan.pick(10_000, 3_000, 400), n_noise=n_noise, random_state=rng)
    test = make_moons(plan.pick(10_000, 1000, 100), n_noise=n_noise, random_state=rng)
    # All columns at every split: with the default of sqrt(p) most splits fall on noise.
    forest = RandomForestClassifier(
        20, min_samples_leaf=least_leaf(len(train.X)), max_features=None, n_jobs=-1, random_state=seed
    )
    return SufficientExplainer.paper(forest, pi=0.95).fit(train.X, train.y), train, test


def run(plan: Plan, seed: int) -> Outcome:
    """Explain test rows, and two neighbours."""
    outcome = Outcome()
    explainer, train, test = moons_model(plan, seed)
    outcome.figures["AUC"] = float(roc_auc_score(test.y, explainer.predict_proba(test.X)[:, 1]))
    rows = test.X[: plan.pick(1000, 100, 30)]
    start = time.perf_counter()
    explanations = explainer.explain(rows, sets="minimal")
    outcome.seconds["suffice, with rule"] = (time.perf_counter() - start) / len(rows)
    _detect(outcome, "SR", [e.best_set.variables for e in explanations])
    outcome.figures |= {
        "SR none": float(np.mean([not e.is_sufficient for e in explanations])),
        "SR proven": float(np.mean([r.optimal for r in explanations.rules if r is not None])),
    }
    explanations = SufficientExplainer(random_state=seed).fit(train.X, train.y).explain(rows, sets="minimal")
    _detect(outcome, DEFAULT, [S.variables for S in explanations.best_sets])
    outcome.figures[f"{DEFAULT} none"] = float(np.mean(~explanations.has_set))
    outcome.figures[f"{DEFAULT} proven"] = float(np.mean([r.optimal for r in explanations.rules if r is not None]))
    _neighbours(outcome, explainer, train, test)
    if plan.peers:
        _run_anchors(outcome, plan, explainer, train, rows, seed)
    return outcome


def _detect(outcome: Outcome, key: str, sets: Any) -> None:
    tpr, fdr = moons_detection(sets)
    size = float(np.mean([len(S) for S in sets]))
    outcome.figures |= {f"{key} size": size, f"{key} TPR": tpr, f"{key} FDR": fdr}


def _neighbours(outcome: Outcome, explainer: SufficientExplainer, train: MoonsData, test: MoonsData) -> None:
    """Explain a row at the outer end of a moon, where X1 or X2 alone determines the moon, and a copy moved by 0.05."""
    candidates = test.X[(test.X["Z1"] > 0.5) & (test.moon == 1)]
    target = ((candidates["X1"] - 1.7) ** 2 + (candidates["X2"] + 0.3) ** 2).to_numpy()
    row = candidates.iloc[[int(np.argmin(target))]]
    moved = row.assign(X1=row["X1"] - 0.05, X2=row["X2"] + 0.05)
    both = explainer.explain(_stack(row, moved), sets="minimal", rules="all")
    first = both[0].importance
    outcome.figures |= {f"LXI {name}": first[name] for name in ("X1", "X2", "Z1")}
    outcome.figures["LXI noise"] = sum(v for name, v in first.items() if name not in ("X1", "X2", "Z1"))
    outcome.figures["same sets"] = float(
        {s.variables for s in both[0].sufficient_sets} == {s.variables for s in both[1].sufficient_sets}
    )
    above = train.X["Z1"] > 0
    shown = train.X[above][:1500]
    boxes = []
    for rule in both[0].rules:
        ends = {c.column: (c.low, c.high) for c in rule.conditions}
        boxes.append({"text": str(rule), **{n: ends.get(n, (-np.inf, np.inf)) for n in ("X1", "X2")}})
    outcome.data = {
        "points": shown[["X1", "X2"]].to_numpy().round(3),
        "labels": train.y[above][:1500].to_numpy(),
        "row": row[["X1", "X2"]].to_numpy()[0],
        "moved": moved[["X1", "X2"]].to_numpy()[0],
        "boxes": boxes,
        "sentences": [str(rule) for rule in both[0].rules],
    }


def _stack(*frames: Any) -> Any:
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def _run_anchors(
    outcome: Outcome, plan: Plan, explainer: SufficientExplainer, train: MoonsData, rows: Any, seed: int
) -> None:
    """Let Anchors explain rows of the whole table, and of one with fewer noise columns."""
    n_rows, few = plan.pick(20, 2, 1), [name for name in rows.columns if name[0] == "X" or int(name[1:]) <= N_FEW]
    runs = [("few", few, 100, plan.pick(60, 10, 3))]
    if seed == 0:  # hardly any row is finished within minutes, so one seed is enough
        runs.append(("all", list(rows.columns), 10, plan.pick(300, 6, 3)))
    for key, columns, batch_size, seconds in runs:
        X_train, X = train.X[columns].to_numpy(), rows[columns].to_numpy()
        model = RandomForestClassifier(**{**explainer.forest_.get_params(), "n_jobs": 1}).fit(X_train, train.y)
        explained = run_anchors(
            model,
            X_train,
            X[:n_rows],
            X[:1],
            seed=seed,
            settings=AnchorsSettings(batch_size=batch_size, total_seconds=seconds, row_seconds=seconds),
        )
        outcome.notes += [f"{len(columns)} columns: {note}" for note in explained.notes]
        done = {i: anchor for i, anchor in enumerate(explained.anchors) if anchor is not None}
        outcome.figures[f"Anchors, {key} rows"] = len(done)
        for method in ("Anchors", "SR"):
            outcome.figures |= {f"{method}, {key} {figure}": np.nan for figure in ("size", "TPR", "FDR")}
        if done:
            _detect(outcome, f"Anchors, {key}", [{columns[c] for c in anchor.columns} for anchor in done.values()])
            outcome.seconds[f"Anchors, {len(columns)} columns"] = float(np.mean(explained.seconds))
            ours = SufficientExplainer.paper(model, pi=0.95).fit(train.X[columns], train.y)
            explanations = ours.explain(rows[columns].iloc[list(done)], sets="minimal", rules=None)
            _detect(outcome, f"SR, {key}", [e.best_set.variables for e in explanations])


def draw(summary: Mapping[str, Any]) -> Any:
    """Draw the rules of the row over the training rows with Z1 > 0."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    data = summary["data"]
    points, labels = np.array(data["points"]), np.array(data["labels"])
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    ax = figure.subplots()
    for label, color, marker in ((0, COLORS[0], "o"), (1, COLORS[1], "^")):
        ax.plot(*points[labels == label].T, marker, color=color, ms=3, alpha=0.5, label=f"Y = {label}")
    limits = [(points[:, i].min() - 0.15, points[:, i].max() + 0.15) for i in (0, 1)]
    ax.set(xlim=limits[0], ylim=limits[1], xlabel="X1", ylabel="X2")
    for box, color, style in zip(data["boxes"], ("#D55E00", "#009E73"), ("-", "--"), strict=False):
        (x0, x1), (y0, y1) = (
            [limit[k] if end is None else np.clip(end, *limit) for k, end in enumerate(box[name])]
            for name, limit in zip(("X1", "X2"), limits, strict=True)
        )
        ax.add_patch(
            Rectangle(
                (x0, y0), x1 - x0, y1 - y0, fill=False, ec=color, ls=style, lw=2.5, label=box["text"].split(" THEN")[0]
            )
        )
    ax.plot(*data["row"], "*", ms=16, color="black", mec="white", label="the row", ls="")
    ax.plot(*data["moved"], "*", ms=16, color="#F0E442", mec="black", label="the row moved by 0.05", ls="")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2, frameon=False, fontsize="small")
    ax.set_title("Training rows with Z1 > 0 and the minimal rules of one row", loc="left", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


EXPERIMENT = Experiment(
    name="moons",
    title="Two moons with 100 noise columns",
    setting=(
        "10 000 training rows; the label is flipped where Z1 > 0; 20 trees, leaves of at least t_n rows, all columns "
        "tried; pi = 0.95 (by default 0.9); 1000 test rows. A set with Z1 and at least one of X1 and X2 is complete; "
        "only the other Z are false discoveries. Anchors (level 0.95, 6 GB) explains no row of the whole table in 300 "
        "s; on a table with 20 of the 100 noise columns it has 60 s, and ours stand beside it on the same rows."
    ),
    lines=[
        *(
            Line(method, label, f"{key} {figure}", paper, digits, () if method in ("SR", DEFAULT) else PEERS)
            for method, key, papers in (
                ("SR", "SR", ("", "", "")),
                (DEFAULT, DEFAULT, ("", "", "")),
                ("Anchors", "Anchors, all", ("10", "0.48", "0.80")),
                ("SR, 20 noise columns", "SR, few", ("", "", "")),
                ("Anchors, 20 noise columns", "Anchors, few", ("", "", "")),
            )
            for (label, figure, digits), paper in zip(
                (("size", "size", 2), ("FDR", "FDR", 3), ("TPR", "TPR", 2)), papers, strict=True
            )
        ),
        Line("SR", "rows without a set", "SR none"),
        Line(DEFAULT, "rows without a set", f"{DEFAULT} none"),
        Line("SR", "rules proven maximal", "SR proven"),
        Line(DEFAULT, "rules proven maximal", f"{DEFAULT} proven"),
        Line("Anchors", "rows explained for each seed", "Anchors, all rows", digits=0, needs=PEERS),
        Line("Anchors, 20 noise columns", "rows explained for each seed", "Anchors, few rows", digits=0, needs=PEERS),
        Line("forest", "AUC", "AUC", "0.99"),
        Line("the row and its neighbour", "same minimal sets", "same sets", "1", digits=2),
    ],
    claims=[
        Claim("size of the sets", "2", "SR size", f"{DEFAULT} size", "<=", 2),
        Claim("FDR", "0.03", "SR FDR", f"{DEFAULT} FDR", "<="),
        Claim("TPR", "1.00", "SR TPR", f"{DEFAULT} TPR", ">=", 2),
        Claim("LXI of X1 and of X2 in the row", "0.5", "LXI X1", digits=2),
    ],
    run=run,
    draw=draw,
    reading=(
        "The paper prints its mean sizes as whole numbers, 2 and 10; with an FDR of 0.03 its own is above 2 too. Some "
        "rows lie where only X1 and X2 together tell the moons apart."
    ),
    version=3,
)
