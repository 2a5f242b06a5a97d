"""The estimator of the projected distribution function against the truth (the paper's appendix B)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from experiments.data.synthetic import make_switch
from experiments.metrics import cdf_distances, switch_cdf
from experiments.runs import BY_DEFAULT, Claim, Experiment, Line, Outcome, Plan
from experiments.switch import least_leaf
from suffice import SufficientExplainer

POINT, POINT_SET = {0: -0.13, 1: 1.29, 4: -1.31}, ["X1", "X2", "X5"]
SETS = {"1235": ["X1", "X2", "X3", "X5"], "15": ["X1", "X5"]}
GRID = np.linspace(-14, 14, 2801)
SHOWN = GRID[::5]
N_COLUMNS = 100
OF_TRAINING = "on training rows "


def run(plan: Plan, seed: int) -> Outcome:
    """Measure both distances on test rows; with the first seed for growing samples too, and replicate the curve.

    The curve is only drawn, and pictures are those of runs with the other methods: other runs draw it once.
    """
    outcome = Outcome()
    n_replications = 1 if seed or not plan.peers else plan.pick(20, 2, 1)
    n_rows = plan.pick(10_000, 2_000, 300)
    curves = []
    for replication in range(n_replications):
        explainer, train, test = _fit(n_rows, 1000 * seed + replication, plan)
        point = test[:1].copy()
        for column, value in POINT.items():
            point.iloc[0, column] = value
        curves.append(explainer.cdf(point, POINT_SET, SHOWN)[0])
        if replication == 0:
            _measure(outcome, explainer, test, n_rows)
            _measure(outcome, explainer, train[: len(test)], n_rows, OF_TRAINING)
    truth = switch_cdf(point.to_numpy()[0], [0, 1, 4], SHOWN)
    areas = [cdf_distances(SHOWN, curve, truth)[1] for curve in curves]
    outcome.figures["point MAD"] = float(np.mean(areas))
    for n in () if seed else plan.pick((1_000, 30_000), (1_000,), (100,)):
        explainer, _, test = _fit(n, 1000 * seed, plan)
        _measure(outcome, explainer, test, n)
    default, _, test = _fit(n_rows, 1000 * seed, plan, by_default=True)
    _measure(outcome, default, test, n_rows, f"{BY_DEFAULT} ")
    outcome.data = {"grid": SHOWN, "curves": curves, "truth": truth}
    return outcome


def _fit(n_rows: int, seed: int, plan: Plan, by_default: bool = False) -> tuple[SufficientExplainer, Any, Any]:
    rng = np.random.default_rng(seed)
    n_columns = plan.pick(N_COLUMNS, N_COLUMNS // 2, 8)
    train = make_switch(n_rows, n_columns=n_columns, random_state=rng)
    test = make_switch(plan.pick(1000, 100, 20), n_columns=n_columns, random_state=rng)
    if by_default:
        return SufficientExplainer(random_state=seed).fit(train.X, train.y), train.X, test.X
    forest = RandomForestRegressor(
        20, min_samples_leaf=least_leaf(n_rows), max_features=0.7, n_jobs=-1, random_state=seed
    )
    return SufficientExplainer.paper(forest).fit(train.X, train.y), train.X, test.X


def _measure(outcome: Outcome, explainer: SufficientExplainer, test: Any, n_rows: int, before: str = "") -> None:
    X = test.to_numpy()
    for key, S in SETS.items():
        start = time.perf_counter()
        estimates = explainer.cdf(test, S, GRID)
        method = f"suffice, one distribution of {len(S)} variables, {n_rows} rows"
        if not before:
            outcome.seconds[method] = (time.perf_counter() - start) / len(X)
        known = [list(test.columns).index(name) for name in S]
        pairs = zip(estimates, X, strict=True)
        distances = np.array([cdf_distances(GRID, e, switch_cdf(x, known, GRID)) for e, x in pairs])
        mks, area = distances.mean(axis=0)
        is_below = X[:, 4] <= 0  # where the truth is a step if X1 and X2 are known
        outcome.figures |= {
            f"{before}{key} MKS {n_rows}": float(mks),
            f"{before}{key} below {n_rows}": float(distances[is_below, 0].mean()),
            f"{before}{key} above {n_rows}": float(distances[~is_below, 0].mean()),
            f"{before}{key} MAD {n_rows}": float(area),
            f"{before}{key} MAD per unit {n_rows}": float(area / (GRID[-1] - GRID[0])),
        }


def draw(summary: Mapping[str, Any]) -> Any:
    """Draw the replications at the point, and the distances as the sample grows."""
    from matplotlib.figure import Figure

    data, figures = summary["data"], summary["figures"]
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for i, curve in enumerate(data["curves"]):
        left.plot(data["grid"], curve, color="#56B4E9", lw=1, label="estimates" if i == 0 else None)
    left.step(data["grid"], data["truth"], where="post", color="black", lw=1.5, ls="--", label="truth")
    left.set(xlabel="y", ylabel="probability of at most y", xlim=(-4, 6))
    left.set_title(f"X1 = -0.13, X2 = 1.29, X5 = -1.31 known; {len(data['curves'])} samples", loc="left", fontsize=10)
    left.legend(frameon=False)
    for key, color, marker in (("1235", "#0072B2", "o"), ("15", "#D55E00", "s")):
        n_rows = sorted(int(name.split()[-1]) for name in figures if name.startswith(f"{key} MKS"))
        values = [figures[f"{key} MKS {n}"] for n in n_rows]
        spreads = [v["spread"] or 0 for v in values]
        named = ", ".join(SETS[key])
        right.errorbar(n_rows, [v["mean"] for v in values], spreads, color=color, marker=marker, capsize=3, label=named)
    right.set(xscale="log", xlabel="training rows", ylabel="mean Kolmogorov-Smirnov distance", ylim=(0, None))
    right.legend(title="known", frameon=False)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _lines() -> list[Line]:
    lines = []
    variants = [(n, "") for n in (1_000, 10_000, 30_000)]
    variants[2:2] = [(10_000, OF_TRAINING), (10_000, f"{BY_DEFAULT} ")]
    for n, before in variants:
        method = f"{n:,} rows".replace(",", " ") + (before and f", {before.strip()}")
        for key, S in SETS.items():
            for figure, label, digits in (("MKS", "MKS", 3), ("MAD per unit", "MAD", 4)):
                named = f"{label}, {', '.join(S)}"
                lines.append(Line(method, named, f"{before}{key} {figure} {n}", digits=digits, needs=("full",)))
    for side, sign in (("below", "<="), ("above", ">")):
        lines.append(
            Line("10 000 rows, X1, X2, X3, X5", f"MKS where X5 {sign} 0", f"1235 {side} 10000", needs=("full",))
        )
    return lines


def _claims() -> list[Claim]:
    slip = "swapped, {} is meant"
    figures = (
        ("MKS, X1, X2, X3, X5", "0.26", "1235 MKS 10000", 3, ""),
        ("MAD per unit of y, X1, X2, X3, X5", "0.008", "1235 MAD per unit 10000", 4, ""),
        ("MKS, X1, X5", "0.0098", "15 MKS 10000", 3, slip.format("0.068")),
        ("MAD per unit of y, X1, X5", "0.068", "15 MAD per unit 10000", 4, slip.format("0.0098")),
    )
    return [Claim(label, p, key, f"{BY_DEFAULT} {key}", "<=", digits, s) for label, p, key, digits, s in figures]


EXPERIMENT = Experiment(
    name="cdf",
    title="The projected distribution function against the truth",
    setting=(
        "The switch model, 20 trees, max_features = 0.7, leaves of at least t_n rows, 1000 test rows; the curve at "
        "x_S = [-0.13, 1.29, -1.31] from 20 samples; samples of other sizes with one seed. The truth is exact. MKS is "
        "the mean largest distance, MAD the mean area for y in [-14, 14], by unit of y (the paper states no unit)."
    ),
    lines=_lines(),
    claims=_claims(),
    run=run,
    draw=draw,
    reading=(
        "Why the first set is worse: with X1, X2 and X5 known the true distribution function is a step for the half "
        "of the rows with X5 <= 0. An estimate that does not jump at exactly the same place is off by at least one "
        "half there, so that MKS is at least 0.25 and half of what it is on the other rows: the paper's 0.26 leaves "
        "0.02 for these, though X4 is unknown. On the rows that grew the trees (the paper says *all the "
        "observations*) both sets come out nearly the same.\n\n"
        "Tried with other samples, and nothing comes to 0.26 or to 0.008: indices from 0 in this set too (X2, X3, "
        "X4, X6); all rows counted; all columns tried; leaves of 5 and of 2 rows. Both distances fall as rows are "
        "added."
    ),
    version=4,
)
