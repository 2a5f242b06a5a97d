"""Rows of the rarest class, explained at the usual level and at a level that follows its base rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.held_out import Checked, check_rules, fit_explainer
from benchmarks.printing import number, print_table
from benchmarks.real_tables import RealTable

LEVEL = 0.9
# A sufficient set makes the class this many times as likely, in odds, as on average.
BAYES_FACTOR = 9


def level_of(base_rate: float) -> float:
    """The level at which a set raises the odds of a class by the Bayes factor; never above the usual level."""
    odds = BAYES_FACTOR * base_rate / (1 - base_rate)
    return min(LEVEL, odds / (1 + odds))


def rarest_class(y: Any) -> tuple[Any, float]:
    """The rarest class and its share of the rows."""
    labels, n_rows = np.unique(y, return_counts=True)
    return labels[np.argmin(n_rows)], float(n_rows.min() / len(y))


def measure_rare(table: RealTable, seeds: range, n_explained: int) -> dict[str, tuple[float, Checked]]:
    """Explain held-out rows of the rarest class at both levels, and check their rules; levels are means over seeds."""
    checked = {"usual": Checked(), "by base rate": Checked()}
    levels: dict[str, list[float]] = {name: [] for name in checked}
    for seed in seeds:
        train, explained, fresh = table.split(seed, n_explained)
        label, base_rate = rarest_class(train.y)
        is_rare = explained.y == label
        if not is_rare.any():
            continue
        explainer = fit_explainer(table, train.X, train.y, random_state=seed)
        for name, level in (("usual", LEVEL), ("by base rate", level_of(base_rate))):
            at_level = explainer.with_settings(pi=level)
            levels[name].append(level)
            for of_class in check_rules(at_level, explained.X[is_rare], fresh, explained.y[is_rare]).values():
                checked[name].add(of_class)
    return {name: (float(np.mean(levels[name])) if levels[name] else math.nan, checked[name]) for name in checked}


RARE = """
## Rare classes

Held-out rows whose observed class is the rarest one, explained at the usual level and at the level pi_c with
pi_c / (1 - pi_c) = 9 times the base odds. Lift: held-out precision over the share of the class in the table.
"""


def print_rare(tables: Sequence[RealTable], seeds: range, n_explained: int) -> None:
    print(RARE)
    lines = []
    for table in tables:
        if not table.is_class:
            continue
        label, base_rate = rarest_class(table.y)
        for level, checked in measure_rare(table, seeds, n_explained).values():
            share = checked.n_sets / checked.n_rows if checked.n_rows else math.nan
            stated, held_out, difference = checked.figures()
            figures = level, share, stated, held_out, difference, held_out / base_rate
            lines.append([table.name, str(label), str(checked.n_rows), number(base_rate), *map(number, figures)])
    names = ["table", "class", "rows", "base rate", "pi", "with set", "stated", "held-out", "difference", "lift"]
    print_table(names, lines)
