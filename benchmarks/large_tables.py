"""Figures of tables of 300,000 rows: ``python -m benchmarks.large_tables PART ...``.

Every table has fresh rows, on which the explainers are scored. The flights need the folder of data files in
SUFFICE_DATA. Times are CPU times of one thread. ``--tables`` names some of the tables.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.loaders import load_flights
from experiments.data.synthetic import make_switch
from sklearn.metrics import roc_auc_score

from benchmarks.held_out import precision_on
from benchmarks.printing import number, print_table
from benchmarks.real_tables import Part
from benchmarks.run import head
from suffice import SufficientExplainer
from suffice._forest import fitting, trees

N_TRAIN, N_FRESH = 300_000, 27_000


@dataclass(frozen=True)
class LargeTable:
    """A table to fit, and fresh rows of the same law."""

    X: Any
    y: Any
    fresh: Any
    fresh_outcomes: Any


def _split(X: Any, y: Any) -> LargeTable:
    order = np.random.default_rng(0).permutation(len(X))
    train, fresh = order[:N_TRAIN], order[N_TRAIN : N_TRAIN + N_FRESH]
    y = np.asarray(y)
    return LargeTable(X.iloc[train].reset_index(drop=True), y[train], X.iloc[fresh].reset_index(drop=True), y[fresh])


def _switch() -> LargeTable:
    data = make_switch(N_TRAIN + N_FRESH, n_columns=10, noise=1.0, random_state=0)
    return _split(data.X, data.y)


def rare_levels(n: int, seed: int, intercept: float = -0.5) -> tuple[Any, Any]:
    """Draw rows with six numbers and four columns of 5 to 300 categories with the shares of Zipf's law.

    The class depends on two numbers, on a third number with another sign in each category of the first column, and on
    the categories of the last two columns: all beyond the ten most frequent ones have an effect of their own.
    """
    rng = np.random.default_rng(seed)
    numbers = {f"x{i}": rng.normal(size=n) for i in range(1, 7)}
    codes = {}
    for name, n_levels in (("c5", 5), ("c30", 30), ("c100", 100), ("c300", 300)):
        shares = 1 / np.arange(1, n_levels + 1)
        codes[name] = rng.choice(n_levels, n, p=shares / shares.sum())
    effects = {
        name: np.where(np.arange(k) < 10, 0.0, rng.normal(0, 2, k)) for name, k in (("c100", 100), ("c300", 300))
    }
    signs = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    score = numbers["x1"] + (numbers["x2"] > 0.5) + 1.5 * signs[codes["c5"]] * numbers["x3"] + intercept
    score += effects["c100"][codes["c100"]] + effects["c300"][codes["c300"]]
    # Names in an order of their own: the frequency of a category is not to be read from its name.
    names = {name: rng.permutation([f"{name}-{k:03d}" for k in range(300)]) for name in codes}
    X = pd.DataFrame({**numbers, **{name: names[name][values] for name, values in codes.items()}})
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")


TABLES: dict[str, Callable[[], LargeTable]] = {
    "flights late": lambda: _split(*load_flights(late=True)),
    "flights delay": lambda: _split(*load_flights(late=False)),
    "switch": _switch,
    "rare levels": lambda: _split(*rare_levels(N_TRAIN + N_FRESH, 0)),
    "rare class": lambda: _split(*rare_levels(N_TRAIN + N_FRESH, 1, -7.0)),
}


def _scores(explainer: SufficientExplainer, table: LargeTable) -> list[float]:
    """Return accuracy, ROC AUC, Brier score and R2 on fresh rows; NaN where there is none."""
    if explainer.task_ == "regression":
        errors = (table.fresh_outcomes - explainer.predict(table.fresh)) ** 2
        return [math.nan] * 3 + [1 - float(errors.mean() / table.fresh_outcomes.var())]
    shares = explainer.predict_proba(table.fresh)
    has_class = np.asarray(table.fresh_outcomes)[:, None] == explainer.classes_
    is_right = has_class[np.arange(len(shares)), shares.argmax(axis=1)]
    area = float(roc_auc_score(has_class[:, 1], shares[:, 1]))
    return [float(is_right.mean()), area, float(((shares - has_class) ** 2).sum(axis=1).mean()), math.nan]


def forests(names: list[str]) -> None:
    """How good default forests are whose trees draw fewer rows."""
    lines = []
    default = fitting.MOST_GROWN
    for name in names:
        table = TABLES[name]()
        for n_drawn in (25_000, 50_000, 100_000, N_TRAIN):
            fitting.MOST_GROWN = n_drawn
            start = time.process_time()
            explainer = SufficientExplainer(random_state=0, n_jobs=1, unseen="missing").fit(table.X, table.y)
            seconds = time.process_time() - start
            forest = explainer.forest_
            n_leaves = np.mean([tree.get_n_leaves() for tree in forest.estimators_])
            scores = [number(score, 4) for score in _scores(explainer, table)]
            sizes = [f"{n_drawn}", f"{forest.min_samples_leaf}", f"{n_leaves:.0f}"]
            lines.append([name, *sizes, *scores, f"{seconds:.1f}"])
    fitting.MOST_GROWN = default
    print_table(("table", "rows a tree draws", "leaf", "leaves", "accuracy", "AUC", "Brier", "R2", "fit, s"), lines)


# The rows that a tree counts at most; the last number stands for all rows.
COUNTED = (4096, 8192, 16_384, 10**9)
N_EXPLAINED, N_RULES = 200, 150
LEAST_COVERED = 30  # fresh rows that a rule must cover to be scored


@dataclass(frozen=True)
class _Answers:
    """What an explainer answers on fresh rows, and what it costs."""

    n_counted: int  # rows of a tree, on average
    best_sets: list[Any]  # None in rows without a sufficient set
    stated: float
    fresh: float
    n_scored: int
    milliseconds: float
    n_bytes: int

    def same_as(self, other: _Answers) -> float:
        """Return the share of rows with the same best set, or with none in both."""
        return float(np.mean([a == b for a, b in zip(self.best_sets, other.best_sets, strict=True)]))


def counted(names: list[str]) -> None:
    """How answers change with the number of rows that a tree counts, beside what another seed changes."""
    lines = []
    for name in names:
        table = TABLES[name]()
        answers = {}
        for seed, numbers in ((0, COUNTED), (1, (trees.MOST_COUNTED,))):
            with _grown_once():
                for most in numbers:
                    answers[most, seed] = _answers(table, most, seed)
        whole, default = answers[COUNTED[-1], 0], answers[trees.MOST_COUNTED, 0]
        for (most, seed), answer in answers.items():
            has_set = np.mean([best is not None for best in answer.best_sets])
            figures = (has_set, answer.stated, answer.fresh, answer.same_as(whole), answer.same_as(default))
            sizes = ["all" if most == COUNTED[-1] else f"{most}", f"{answer.n_counted}", f"{seed}"]
            costs = [f"{answer.n_scored}", f"{answer.milliseconds:.1f}", f"{answer.n_bytes / 2**30:.2f}"]
            lines.append([name, *sizes, *(number(figure) for figure in figures), *costs])
    same = f"same set as {trees.MOST_COUNTED}, seed 0"
    figures_of = ("has a set", "stated", "fresh", "same set as all", same, "rules", "ms a row", "GiB")
    print_table(("table", "most", "rows counted", "seed", *figures_of), lines)


def _answers(table: LargeTable, most: int, seed: int) -> _Answers:
    """Explain fresh rows, and score the rules of some of them on the other fresh rows."""
    defaults = trees.MOST_COUNTED, trees.MOST_BITS
    trees.MOST_COUNTED = most
    if most == COUNTED[-1]:
        trees.MOST_BITS = 2**60
    try:
        explainer = SufficientExplainer(random_state=seed, n_jobs=1, unseen="missing").fit(table.X, table.y)
    finally:
        trees.MOST_COUNTED, trees.MOST_BITS = defaults
    rows = table.fresh[:N_EXPLAINED]
    explainer.explain(rows[:1], rules=None, progress=False)  # what is built once
    start = time.process_time()
    explanations = explainer.explain(rows, rules=None, progress=False)
    milliseconds = 1000 * (time.process_time() - start) / len(rows)
    best_sets = [
        best.variables if has_set else None
        for best, has_set in zip(explanations.best_sets, explanations.has_set, strict=True)
    ]
    others = Part(table.fresh[N_EXPLAINED:], np.asarray(table.fresh_outcomes[N_EXPLAINED:]))
    stated, fresh = score_rules(explainer.explain(rows[:N_RULES], progress=False).rules, others)
    means = (float(np.mean(values)) if values else math.nan for values in (stated, fresh))
    projected = explainer.fitted_.projected
    n_counted = round(np.mean([len(tree.rows) for tree in projected.forest.trees.trees]))
    return _Answers(n_counted, best_sets, *means, len(stated), milliseconds, projected.on_candidates().n_bytes)


def score_rules(rules: Any, others: Part) -> tuple[list[float], list[float]]:
    """Return the stated precision of rules, and that on other rows, where a rule covers enough of them."""
    stated, fresh = [], []
    for rule in rules:
        if rule is None or rule.precision is None or not rule.conditions:
            continue
        is_covered = rule.covers(others.X)
        if is_covered.sum() >= LEAST_COVERED:
            stated.append(rule.precision)
            fresh.append(precision_on(rule, Part(others.X[is_covered], others.y[is_covered])))
    return stated, fresh


@contextlib.contextmanager
def _grown_once() -> Iterator[None]:
    """Let all fits take the forest of the first one."""
    grow_of = {name: getattr(fitting, name) for name in ("fit_screened_forest", "fit_forest")}
    grown: dict[str, Any] = {}

    def once(name: str) -> Callable[..., Any]:
        def grow(*arguments: Any) -> Any:
            if name not in grown:
                grown[name] = grow_of[name](*arguments)
            return grown[name]

        return grow

    for name in grow_of:
        setattr(fitting, name, once(name))
    try:
        yield
    finally:
        for name, grow in grow_of.items():
            setattr(fitting, name, grow)


PARTS = {"forests": forests, "counted": counted}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    warnings.simplefilter("ignore")  # some forests follow their outcomes poorly
    print(head(), flush=True)
    for part in arguments.parts or PARTS:
        PARTS[part](arguments.tables)


if __name__ == "__main__":
    main()
