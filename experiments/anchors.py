"""Sufficient Rules and Anchors on three tables: correctness, sparsity, coverage (the paper's table 2)."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.metrics import rule_figures
from experiments.peers import AnchorsSettings, run_anchors
from experiments.runs import BY_DEFAULT, Claim, Experiment, Line, Outcome, Plan, naming
from experiments.tables import NAMES, ModelOnTable, load_model

PAPER = {
    ("SR", "Compas"): (0.95, 0.30, 1.6, 7),
    ("SR", "Nhanesi"): (0.97, 0.41, 1.3, 7),
    ("SR", "Attrition"): (0.95, 0.76, 1.15, 9),
    ("Anchors", "Compas"): (0.92, 0.23, 1.83, 11),
    ("Anchors", "Nhanesi"): (0.96, 0.31, 1.8, 16),
    ("Anchors", "Attrition"): (0.95, 0.74, 0.82, 21),
}
COLUMNS = {
    "accuracy": (">=", 3),
    "coverage": (">=", 3),
    "size": ("<=", 2),
    "size_max": ("<=", 1),
}
WORDS = {
    "accuracy": "accuracy",
    "coverage": "coverage",
    "size": "size, mean",
    "size_max": "size, max",
}
LEVEL = 0.9
LEAVES = (3, 5, 11)  # of the model, beside t_n, which is 6, 8 and 2; for 250 rows
DEFAULT = f"SR, {BY_DEFAULT}"


def run(plan: Plan, seed: int) -> Outcome:
    """Explain test rows of each table by both methods, and measure the rules on the other test rows."""
    outcome = Outcome()
    for name in NAMES:
        table = load_model(name, plan, seed)
        n_rows = min(len(table.test), plan.pick(1000, 60, 20))
        rows = np.sort(np.random.default_rng(seed).permutation(len(table.test))[:n_rows])
        with naming(f"{name}, SR"):
            ours = _measure_ours(outcome, table, name, "SR", rows, seed)
        if plan.peers:
            _measure_anchors(outcome, plan, table, name, rows, seed, ours)
        with naming(f"{name}, {DEFAULT}"):
            _measure_ours(outcome, table, name, DEFAULT, rows, seed)
        some = np.sort(np.random.default_rng(seed).permutation(rows)[:250])
        for leaf in LEAVES:
            with naming(f"{name}, leaves of {leaf}"):
                _measure_ours(outcome, load_model(name, plan, seed, leaf), name, f"SR, leaves of {leaf}", some, seed)
    return outcome


def _measure_ours(
    outcome: Outcome, table: ModelOnTable, name: str, variant: str, rows: Any, seed: int
) -> dict[int, Any]:
    """Explain rows by Sufficient Rules; return the rule of each row that has one."""
    explainer = table.default(seed) if variant == DEFAULT else table.explainer(seed, pi=LEVEL)
    start = time.perf_counter()
    explanations = explainer.explain(table.test.iloc[rows], sets="minimal")
    if variant == "SR":
        outcome.seconds[f"suffice, with rule, {name}"] = (time.perf_counter() - start) / len(rows)
    rules = {int(row): rule for row, rule in zip(rows, explanations.rules, strict=True) if rule is not None}
    predicted = table.predicted[rows]
    rarer = min(set(predicted.tolist()), key=lambda label: np.count_nonzero(predicted == label))
    rare = [int(row) for row in rows[predicted == rarer]]
    outcome.figures[f"{variant} {name} none"] = 1 - len(rules) / len(rows)
    outcome.figures[f"{variant} {name} rare"] = len(rare) / len(rows)
    outcome.figures[f"{variant} {name} rare with"] = float(np.mean([row in rules for row in rare]))
    _add_ours(outcome, f"{variant} {name}", rules, table)
    return rules


def _add_ours(outcome: Outcome, key: str, rules: Any, table: ModelOnTable) -> None:
    covers = [rule.covers(table.test) for rule in rules.values()]
    _add(outcome, key, covers, [len(rule.conditions) for rule in rules.values()], list(rules), table)


def _measure_anchors(
    outcome: Outcome, plan: Plan, table: ModelOnTable, name: str, rows: Any, seed: int, ours: Any
) -> None:
    """Measure the anchors of as many rows as time allows, and our rules for the same rows."""
    rows = np.random.default_rng(seed).permutation(rows)[: plan.pick(60, 4, 1)]
    X_test, seconds = table.test.to_numpy(), plan.pick(40, 4, 2)
    explained = run_anchors(
        table.model,
        table.train.to_numpy(),
        X_test[rows],
        X_test,
        seed=seed,
        settings=AnchorsSettings(LEVEL, total_seconds=seconds, row_seconds=seconds),
    )
    done = [(int(row), anchor) for row, anchor in zip(rows, explained.anchors, strict=False) if anchor is not None]
    outcome.notes += [f"{name}: {note}" for note in explained.notes]
    outcome.figures[f"Anchors {name} rows"] = len(done)
    for key in ("Anchors", "Anchors, same rows", "SR, same rows"):
        outcome.figures |= {f"{key} {name} {what}": math.nan for what in COLUMNS}
    same = {row: ours[row] for row, _ in done if row in ours}
    if not same:
        return
    outcome.seconds[f"Anchors, {name}"] = float(np.mean(explained.seconds))
    covers = [anchor.covers(explained.bins) for _, anchor in done]
    sizes, begun = [len(anchor.columns) for _, anchor in done], [row for row, _ in done]
    _add(outcome, f"Anchors {name}", covers, sizes, begun, table)
    # Rows without a sufficient set are hard for Anchors too: the comparison leaves them out on both sides.
    both = [i for i, row in enumerate(begun) if row in same]
    part = ([of[i] for i in both] for of in (covers, sizes, begun))
    _add(outcome, f"Anchors, same rows {name}", *part, table)
    _add_ours(outcome, f"SR, same rows {name}", same, table)


def _add(outcome: Outcome, key: str, covers: Any, sizes: Any, rows: Any, table: ModelOnTable) -> None:
    """Add the figures of some rules, measured on the test rows other than the explained one."""
    same = []
    for i, row in enumerate(rows):
        covers[i] = covers[i].copy()
        covers[i][row] = False
        same.append(table.predicted == table.predicted[row])
    outcome.figures |= {f"{key} {what}": value for what, value in rule_figures(covers, sizes, same).items()}
    outcome.data[f"sizes {key}"] = sorted(Counter(sizes).items())


def draw(summary: Mapping[str, Any]) -> Any:
    """Draw the distributions of the rules' sizes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    for ax, name in zip(figure.subplots(1, 3), NAMES, strict=True):
        for method, color, shift in (("SR", "#0072B2", -0.2), ("Anchors", "#E69F00", 0.2)):
            counts = dict(summary["data"].get(f"sizes {method} {name}", ()))
            total = sum(counts.values())
            shares = [100 * n / total for n in counts.values()]
            label = f"{method} ({total} row{'s' * (total != 1)})"
            ax.bar([int(size) + shift for size in counts], shares, 0.4, color=color, label=label)
        ax.set_title(name, loc="left")
        ax.set(xlabel="variables in the rule", ylabel="% of the rules")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.margins(y=0.3)
        ax.set_yticks(range(0, 101, 20))
        ax.legend(frameon=False, loc="upper right")
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _lines() -> list[Line]:
    lines = []
    for name in NAMES:
        for method in ("SR", DEFAULT, "Anchors", "SR, same rows", "Anchors, same rows"):
            needs = () if method in ("SR", DEFAULT) else ("peers",)
            for i, (what, (_, digits)) in enumerate(COLUMNS.items()):
                printed = f"{PAPER['Anchors', name][i]:.2f}".rstrip("0").rstrip(".") if method == "Anchors" else ""
                lines.append(Line(f"{method}, {name}", WORDS[what], f"{method} {name} {what}", printed, digits, needs))
            if not needs:
                lines.append(Line(f"{method}, {name}", "rows without a set", f"{method} {name} none"))
    for what, label in (("coverage", "coverage"), ("accuracy", "accuracy"), ("size", "size")):
        for name in NAMES:
            for leaf in LEAVES:
                method = f"SR, leaves of {leaf}"
                lines.append(Line(method, f"{name}: {label}", f"{method} {name} {what}", digits=2))
    return lines


def _claims() -> list[Claim]:
    return [
        Claim(f"{what}, {name}", f"{paper:.2f}", f"SR {name} {what}", f"{DEFAULT} {name} {what}", COLUMNS[what][0])
        for name in NAMES
        for what, paper in zip(("accuracy", "coverage", "size"), PAPER["SR", name], strict=False)
    ]


EXPERIMENT = Experiment(
    name="anchors",
    title="Sufficient Rules and Anchors",
    setting=(
        "75 % of each table trains a forest of 20 trees with leaves of at least t_n rows and the square root as "
        "max_features. Both methods explain its predictions for test rows at the level 0.9: Anchors (delta 0.05, "
        "quartiles) queries the model, `suffice` fits its default forest to the model's outputs. Accuracy is the "
        "share of the other test rows that a rule covers with the same prediction. `suffice` explains 1000 rows, "
        "Anchors as many of 60 as it can in 40 s; *same rows* are those that both explain. The second table is of "
        "250 rows and models with other leaves."
    ),
    lines=_lines(),
    claims=_claims(),
    run=run,
    draw=draw,
    reading=(
        "Rows without a sufficient set have no rule of ours, and Anchors gives them long rules; rows on which its "
        "time is up are left out, which favours it.\n\n"
        "Why coverage is below the paper's, for ours and for Anchors' rules: it follows the leaves of the model that "
        "is explained. A coarser forest of Attrition predicts *stays* for more employees, and one condition keeps "
        "that for nearly all of them. We take t_n of the training rows, which is 6, 8 and 2; of all rows of a table "
        "it is 8, 10 and 3, and in the paper's previous section, whose *parameters* it names, 11. With leaves of 11, "
        "Nhanesi has the paper's 0.41; the paper's 0.76 for Attrition lies between those of leaves of 3 and of 11. "
        "No leaf gives 0.30 on Compas: the paper does not list its 14 columns, and ours are one way to have 14. How "
        "a box is checked is not the cause: on other splits, boxes checked at their training rows only covered "
        "hardly more.\n\n"
        "Chosen after looking at training rows of seed 0: the leaves of the model and the explainer. Trees of depth "
        "14, the other way to read the paper, cover much less."
    ),
    version=6,
)
