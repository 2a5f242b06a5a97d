"""Real tables: what rules and intervals claim on training rows, beside what holds on held-out rows."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.printing import number, print_table
from benchmarks.real_tables import Part, RealTable
from suffice import SufficientExplainer
from suffice.errors import FidelityWarning

COUNTS = ("bootstrap", "out-of-bag")
# Classes of support: rules of fewer than 20 training rows, of 20 to 49, and so on.
SUPPORTS = (20, 50, 500)
LEAVES = (5, 10, 20)
ALPHAS = (0.1, 0.05)


@dataclass
class Checked:
    """The rules of explained rows, one entry for each explanation: what is claimed, and what holds."""

    n_rows: int = 0
    n_empty: int = 0
    n_sets: int = 0
    stated: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)
    support: list[int] = field(default_factory=list)
    coverage: list[float] = field(default_factory=list)
    sdp: list[float] = field(default_factory=list)
    size: list[int] = field(default_factory=list)

    def add(self, other: Checked) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def figures(self, is_chosen: Any = None) -> tuple[float, float, float]:
        """Mean stated precision, mean held-out precision, and their difference, over rules that cover held-out rows."""
        stated, held_out = np.array(self.stated, dtype=float), np.array(self.held_out, dtype=float)
        is_known = ~np.isnan(stated) & ~np.isnan(held_out)
        if is_chosen is not None:
            is_known &= is_chosen
        if not is_known.any():
            return math.nan, math.nan, math.nan
        mean_stated, mean_held_out = stated[is_known].mean(), held_out[is_known].mean()
        return mean_stated, mean_held_out, mean_stated - mean_held_out


def fit_explainer(table: RealTable, X: Any, y: Any, **settings: Any) -> SufficientExplainer:
    """Fit the default explainer, whatever it says about the quality of its forest."""
    task = "classification" if table.is_class else "regression"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)
        return SufficientExplainer(task=task, **settings).fit(X, y)


def check_rules(explainer: SufficientExplainer, X: Any, fresh: Part, y: Any = None) -> dict[str, Checked]:
    """Explain the predictions of rows, or outcomes `y`, and check the rule of each on fresh rows; by class."""
    explanations = explainer.explain(X, y, sets="minimal", progress=False)
    by_class: dict[str, Checked] = defaultdict(Checked)
    checked_rules: dict[Any, float] = {}
    for rule, best, has_set, outcome in zip(
        explanations.rules, explanations.best_sets, explanations.has_set, explanations.outcomes, strict=True
    ):
        of_class = by_class["numbers" if explanations.intervals is not None else str(outcome)]
        of_class.n_rows += 1
        of_class.n_empty += bool(has_set and not best.variables)
        of_class.n_sets += bool(has_set and best.variables)
        if rule is None or not best.variables:
            continue
        key = rule.conditions, rule.conclusion
        if key not in checked_rules:
            checked_rules[key] = precision_on(rule, fresh)
        of_class.stated.append(math.nan if rule.precision is None else rule.precision)
        of_class.held_out.append(checked_rules[key])
        of_class.support.append(rule.support)
        of_class.coverage.append(rule.coverage)
        of_class.sdp.append(best.sdp)
        of_class.size.append(len(best.variables))
    return by_class


def precision_on(rule: Any, part: Part) -> float:
    """The share of the covered rows that keep the outcome; NaN if no row is covered."""
    y = part.y[rule.covers(part.X)]
    if not len(y):
        return math.nan
    if rule.interval is None:
        return float(np.mean(y == rule.outcome))
    return float(np.mean((rule.interval[0] <= y) & (y <= rule.interval[1])))


@dataclass
class TableResult:
    """What was measured on one table with one way of counting, over all seeds."""

    table: str
    counts: str
    by_class: dict[str, Checked]
    intervals: list[list[float]]
    permuted: list[tuple[float, float]]


def measure_table(table: RealTable, counts: str, seeds: range, n_explained: int) -> TableResult:
    """Fit, explain and check one table: rules, intervals, and permuted outcomes."""
    by_class: dict[str, Checked] = defaultdict(Checked)
    intervals, permuted = [], []
    for seed in seeds:
        train, explained, fresh = table.split(seed, n_explained)
        explainer = fit_explainer(table, train.X, train.y, counts=counts, random_state=seed)
        for label, checked in check_rules(explainer, explained.X, fresh).items():
            by_class[label].add(checked)
        if not table.is_class:
            intervals.append(measure_intervals(explainer, fresh))
        shuffled = np.random.default_rng(seed).permutation(train.y)
        explainer = fit_explainer(table, train.X, shuffled, counts=counts, random_state=seed)
        explanations = explainer.explain(explained.X, sets="minimal", rules=None, progress=False)
        permuted.append(shares_of_claims(explanations))
    return TableResult(table.name, counts, by_class, intervals, permuted)


def measure_intervals(explainer: SufficientExplainer, fresh: Part) -> list[float]:
    """The share of outcomes within their interval and its width in standard deviations, for each alpha."""
    figures: list[float] = []
    for alpha in ALPHAS:
        low, high = explainer.with_settings(alpha=alpha).interval(fresh.X).T
        is_inside = (low <= fresh.y) & (fresh.y <= high)
        figures += [float(is_inside.mean()), float((high - low).mean() / fresh.y.std())]
    return figures


def shares_of_claims(explanations: Any) -> tuple[float, float]:
    """The shares of rows whose best set is sufficient and not empty, or sufficient and empty."""
    is_empty = np.array([not best.variables for best in explanations.best_sets])
    return float(np.mean(explanations.has_set & ~is_empty)), float(np.mean(explanations.has_set & is_empty))


RULES = """
## Rules on held-out rows

Rows are explained by the forest's predictions. Stated: the mean precision that rules state. Held-out: the share of the
held-out rows in a rule that keep the outcome. Both are averaged over the explanations. Empty: no variable is needed.
"""


def print_rules(results: list[TableResult]) -> None:
    print(RULES)
    lines = []
    for result in results:
        for label, checked in sorted(result.by_class.items()):
            shares = checked.n_sets / checked.n_rows, checked.n_empty / checked.n_rows
            coverage = np.mean(checked.coverage) if checked.coverage else math.nan
            figures = [*shares, *checked.figures(), coverage]
            lines.append([result.table, label, result.counts, str(checked.n_rows), *map(number, figures)])
    names = ["table", "class", "counts", "rows", "with set", "empty", "stated", "held-out", "difference", "coverage"]
    print_table(names, lines)


def print_supports(results: list[TableResult]) -> None:
    print("\n## Rules by the number of training rows that they cover\n")
    lines = []
    for counts in COUNTS:
        total = Checked()
        for checked in (c for result in results if result.counts == counts for c in result.by_class.values()):
            total.add(checked)
        group = np.digitize(total.support, SUPPORTS)
        bounds = (0, *SUPPORTS, math.inf)
        for i in range(len(SUPPORTS) + 1):
            label = f"{bounds[i]} and more" if i == len(SUPPORTS) else f"{bounds[i]} to {bounds[i + 1] - 1}"
            lines.append([counts, label, str(np.count_nonzero(group == i)), *map(number, total.figures(group == i))])
    print_table(["counts", "training rows", "explanations", "stated", "held-out", "difference"], lines)


INTERVALS = """
## Intervals on held-out rows

The share of held-out outcomes within their interval, which promises 1 - alpha. Width: in standard deviations of the
outcome.
"""


def print_intervals(results: list[TableResult]) -> None:
    print(INTERVALS)
    lines = [
        [result.table, result.counts, *(number(figure) for figure in np.mean(result.intervals, axis=0))]
        for result in results
        if result.intervals
    ]
    heads = [head for alpha in ALPHAS for head in (f"within, alpha {alpha:g}", "width")]
    print_table(["table", "counts", *heads], lines)


PERMUTED = """
## Permuted outcomes

The share of held-out rows that get a sufficient set if the training outcomes are permuted, so that no variable is
related to them. Empty: no variable is needed, which is true if one class is frequent enough.
"""


def print_permuted(results: list[TableResult]) -> None:
    print(PERMUTED)
    lines = []
    for result in results:
        figures = *np.mean(result.permuted, axis=0), np.max(result.permuted, axis=0)[0]
        lines.append([result.table, result.counts, *map(number, figures)])
    print_table(["table", "counts", "with set", "empty", "with set, worst seed"], lines)


def print_forests(tables: list[RealTable], seeds: range) -> None:
    print("\n## Forests\n\nAccuracy or R2 on held-out rows, by the least number of rows in a leaf.\n")
    lines = []
    for table in tables:
        scores = np.array([[score_forest(table, leaf, seed) for leaf in LEAVES] for seed in seeds])
        lines.append([table.name, "accuracy" if table.is_class else "R2", *map(number, scores.mean(axis=0))])
    print_table(["table", "measure", *(f"leaf {leaf}" for leaf in LEAVES)], lines)


def score_forest(table: RealTable, leaf: int, seed: int) -> float:
    """The score of the default forest with another leaf, on held-out rows."""
    train, _, fresh = table.split(seed, 0)
    options = {"n_estimators": 100, "min_samples_leaf": leaf, "random_state": seed}
    forest = RandomForestClassifier(**options) if table.is_class else RandomForestRegressor(**options, max_features=0.7)
    return fit_explainer(table, train.X, train.y, forest=forest).score(fresh.X, fresh.y)
