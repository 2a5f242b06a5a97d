"""Figures of tables of 300,000 rows: ``python -m benchmarks.large_tables PART ...``.

Every table has fresh rows, on which the explainers are scored. The flights need the folder of data files in
SUFFICE_DATA. Times are CPU times of one thread. ``--tables`` names some of the tables.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.loaders import load_flights
from experiments.data.synthetic import make_switch
from sklearn.metrics import roc_auc_score

from benchmarks.printing import number, print_table
from benchmarks.run import head
from suffice import SufficientExplainer
from suffice._forest import fitting

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


PARTS = {"forests": forests}


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
