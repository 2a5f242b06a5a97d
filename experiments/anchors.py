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
from experiments.runs import BY_DEFAULT, Experiment, Line, Outcome, Plan, naming
from experiments.tables import NAMES, ModelOnTable, load_model

# The third figure of sizes is a variance in the paper: the counts that it prints for Nhanesi give 0.65 and 3.92.
PAPER = {
    ("SR", "Compas"): (0.95, 0.30, 1.6, math.sqrt(0.96), 7),
    ("SR", "Nhanesi"): (0.97, 0.41, 1.3, math.sqrt(0.65), 7),
    ("SR", "Attrition"): (0.95, 0.76, 1.15, math.sqrt(0.90), 9),
    ("Anchors", "Compas"): (0.92, 0.23, 1.83, math.sqrt(1.89), 11),
    ("Anchors", "Nhanesi"): (0.96, 0.31, 1.8, math.sqrt(3.91), 16),
    ("Anchors", "Attrition"): (0.95, 0.74, 0.82, math.sqrt(4.24), 21),
}
COLUMNS = {
    "accuracy": (">=", 3),
    "coverage": (">=", 3),
    "size": ("<=", 2),
    "size_std": ("<=", 2),
    "size_max": ("<=", 1),
}
WORDS = {
    "accuracy": "accuracy",
    "coverage": "coverage",
    "size": "size, mean",
    "size_std": "size, std",
    "size_max": "size, max",
}
LEVELS = {"SR": 0.9, "SR, pi = 0.95": 0.95}
DEFAULT = f"SR, {BY_DEFAULT}"
RIVALS = {"SR": "Anchors", "SR, pi = 0.95": "Anchors, level 0.95"}


def run(plan: Plan, seed: int) -> Outcome:
    """Explain test rows of each table by both methods, and measure the rules on the other test rows."""
    outcome = Outcome()
    for name in NAMES:
        table = load_model(name, plan, seed)
        n_rows = min(len(table.test), plan.pick(1000, 60, 20))
        rows = np.sort(np.random.default_rng(seed).permutation(len(table.test))[:n_rows])
        for variant, level in plan.pick(LEVELS, {"SR": 0.9}, LEVELS).items():
            with naming(f"{name}, {variant}"):
                ours = _measure_ours(outcome, table, name, variant, level, rows, seed)
            if plan.peers:
                _measure_anchors(outcome, plan, table, name, rows, seed, variant, ours)
        with naming(f"{name}, {DEFAULT}"):
            _measure_ours(outcome, table, name, DEFAULT, LEVELS["SR"], rows, seed)
    return outcome


def _measure_ours(
    outcome: Outcome, table: ModelOnTable, name: str, variant: str, level: float, rows: Any, seed: int
) -> dict[int, Any]:
    """Explain rows by Sufficient Rules; return the rule of each row that has one."""
    explainer = table.default(seed) if variant == DEFAULT else table.explainer(seed, pi=level)
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
    outcome: Outcome, plan: Plan, table: ModelOnTable, name: str, rows: Any, seed: int, variant: str, ours: Any
) -> None:
    """Measure the anchors of as many rows as time allows, and our rules for the same rows."""
    method = RIVALS[variant]
    rows = np.random.default_rng(seed).permutation(rows)[: plan.pick(60, 4, 1)]
    X_test, seconds = table.test.to_numpy(), plan.pick(40, 4, 2)
    explained = run_anchors(
        table.model,
        table.train.to_numpy(),
        X_test[rows],
        X_test,
        seed=seed,
        settings=AnchorsSettings(LEVELS[variant], total_seconds=seconds, row_seconds=seconds),
    )
    done = [(int(row), anchor) for row, anchor in zip(rows, explained.anchors, strict=False) if anchor is not None]
    outcome.notes += [f"{method}, {name}: {note}" for note in explained.notes]
    outcome.figures[f"{method} {name} rows"] = len(done)
    for key in (method, f"{method}, same rows", f"{variant}, same rows"):
        outcome.figures |= {f"{key} {name} {what}": math.nan for what in COLUMNS}
    same = {row: ours[row] for row, _ in done if row in ours}
    if not same:
        return
    outcome.seconds[f"{method}, {name}"] = float(np.mean(explained.seconds))
    covers = [anchor.covers(explained.bins) for _, anchor in done]
    sizes, begun = [len(anchor.columns) for _, anchor in done], [row for row, _ in done]
    _add(outcome, f"{method} {name}", covers, sizes, begun, table)
    # Rows without a sufficient set are hard for Anchors too: the comparison leaves them out on both sides.
    both = [i for i, row in enumerate(begun) if row in same]
    part = ([of[i] for i in both] for of in (covers, sizes, begun))
    _add(outcome, f"{method}, same rows {name}", *part, table)
    _add_ours(outcome, f"{variant}, same rows {name}", same, table)


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
        for variant, rival in RIVALS.items():
            alone = () if variant == "SR" else ("full",)  # a quick run has one level
            ours = [variant, *([DEFAULT] if variant == "SR" else [])]
            for method in (*ours, rival, f"{variant}, same rows", f"{rival}, same rows"):
                needs = alone if method in ours else (*alone, "peers")
                printed = PAPER["Anchors" if method.startswith("Anchors") else "SR", name]
                for (what, (sign, digits)), paper in zip(COLUMNS.items(), printed, strict=True):
                    goal = (sign, f"{rival}, same rows {name} {what}") if method == f"{variant}, same rows" else None
                    key = f"{method} {name} {what}"
                    printed_as = f"{round(paper, 2):g}"
                    lines.append(Line(f"{method}, {name}", WORDS[what], key, printed_as, goal, digits, needs))
            label, needs = "explained by Anchors, for each seed", (*alone, "peers")
            lines += [line for method in ours for line in _lines_of_rows(method, name, alone)]
            lines.append(Line(_rows_of(variant, name), label, f"{rival} {name} rows", digits=0, needs=needs))
    return lines


def _rows_of(method: str, name: str) -> str:
    return f"the rows of {method}, {name}"  # another name than that of the rules, so that they get another table


def _lines_of_rows(method: str, name: str, needs: Any) -> list[Line]:
    return [
        Line(_rows_of(method, name), label, f"{method} {name} {key}", needs=needs)
        for label, key in (
            ("without a sufficient set", "none"),
            ("of the rarer output", "rare"),
            ("rows of the rarer output with a rule", "rare with"),
        )
    ]


EXPERIMENT = Experiment(
    name="anchors",
    title="Sufficient Rules and Anchors",
    setting=(
        "75 % of each table is for training. The model is a forest of 20 trees with leaves of at least t_n rows and "
        'the default max_features of scikit-learn, a square root (the paper: "the parameters of the previous '
        "section\"). Both methods explain the model's predictions for test rows: Anchors queries the model, `suffice` "
        "fits its default forest to the model's outputs for the training rows. Rules are measured on the other test "
        "rows by their coverage and their accuracy, the share of covered rows with the same prediction. Both methods "
        "use the level 0.9, the paper's pi in this section, and then 0.95; Anchors' delta is the paper's 0.05. "
        "Anchors explains as many rows of a sample of 60 as it can in 40 s for each table, level and seed, and "
        "`suffice` explains 1000; the two are compared on the rows that both explain. The line *by "
        "default* is `SufficientExplainer.for_model(model, table)` as it is. Anchors knows which columns are "
        "indicators and cuts the others at their quartiles, its default. The paper prints variances of sizes (its own "
        "counts for Nhanesi give 0.65 and 3.92); their square roots are shown here."
    ),
    lines=_lines(),
    run=run,
    draw=draw,
    reading=(
        "A row on which Anchors runs out of time is left out of its figures. These are the rows with long anchors, "
        "so leaving them out favours Anchors in sparsity. Rows without a sufficient set have no rule of ours; they "
        "are hard for Anchors too, which gives them long rules. For this reason our figures look better against "
        "those of all rows of Anchors than on the rows that both explain. On Attrition the rarer output is so rare "
        "that none of its rows has a sufficient set, so our figures there describe only the other output.\n\n"
        "Why our rules sometimes cover less or are longer: a Sufficient Rule reaches its level at every row of its "
        "box, an anchor only on average over its box. At the same level our requirement is stricter, and our rules "
        "are right more often. Where nearly all rows have the same output, an anchor of level 0.95 needs almost no "
        "condition, while a Sufficient Rule still needs a set that lifts each row above the level. We did not find "
        "out why our coverage is below the paper's on Compas and Attrition.\n\n"
        "Chosen after looking at a quarter of the training rows of seed 0: the leaves of the model, and the explainer. "
        "With trees of depth 14, the other way to read the paper, fewer rows had a sufficient set and rules covered "
        "much less. With the model's own forest and the true labels in place of the model's outputs, few rows of "
        "Compas had a sufficient set. The first plan compared level 0.95 for Anchors with 0.9 for `suffice`; equal "
        "levels replaced it, and both levels are shown."
    ),
    version=3,
)
