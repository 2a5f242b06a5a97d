"""Mining rules for a short list: the rules of a sample of the training rows, at several levels.

A list of all rules takes the rule of every training row at the explainer's own level. A short list needs fewer rows:
rows that earlier rules cover are skipped. It also needs more levels: rows whose outcome is uncertain have no rule at
the explainer's level, and the largest rules for the most frequent class say nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.explainer import SufficientExplainer
from suffice.explaining.rule import Rule

Check = Literal["rows", "everywhere"]

# At most this many training rows are explained; a rare class gets at least half of an equal part.
N_EXPLAINED = 300
# Rows are explained in batches of this size: rows of later batches that a rule covers by then are skipped.
N_AT_ONCE = 100
# The levels for a class remove these shares of its uncertainty: for a class that 0.6 of the rows have, they are 0.8 and
# 0.7.
REMOVED = (0.5, 0.25)
# The levels for numbers are these multiples of the explainer's level.
LOWERED = (1.0, 0.9, 0.8)
# At a lower level, most rows of a rule could have another label.
LEAST_LEVEL = 0.5


def mine_rules(
    explainer: SufficientExplainer,
    table: Any,
    y: NDArray[Any],
    *,
    further_levels: Iterable[float] = (),
    least: float = 0.0,
    check: Check = "rows",
    n_rows: int = N_EXPLAINED,
    report: Callable[[float], None] | None = None,
) -> list[Rule]:
    """Find the rules of a sample of the training rows, at the explainer's level and at others."""
    is_number = explainer.task_ == "regression"
    is_kept = np.zeros(len(y), dtype=bool)  # rows that a rule is right about are skipped
    matrix = explainer.encode(table)
    parts = _rows_and_levels(explainer, y, n_rows, set(further_levels), least)
    passes = [(rows, level, level == max(levels)) for rows, levels in parts for level in sorted(levels, reverse=True)]
    n_all, n_before = sum(len(rows) for rows, _, _ in passes), 0
    rules: list[Rule] = []
    for rows, level, is_first in passes:
        # For numbers, a rule at a lower level is larger and coarser: both are useful, since the finer one decides.
        if is_number or is_first:
            is_kept[:] = False
        at_level = explainer.with_settings(**({"pi": level} if is_number else {"pi": level, "levels": "same"}))
        left = rows[~is_kept[rows]]
        while len(left):
            if report is not None:
                report((n_before + len(rows) - len(left)) / n_all)
            batch = left[:N_AT_ONCE]
            # No progress bar: the batches are small, and each would have its own.
            rows_of_batch = explainer.fitted_.encoding.decode(matrix[batch])
            local_rules = at_level.rules_of(rows_of_batch, y[batch], check=check, progress=False)
            distinct = {rule.conditions: rule for rule in local_rules if rule is not None and rule.conditions}
            for rule in distinct.values():
                is_kept |= rule.covers(table) & rule.promise.keeps(y)
            rules += distinct.values()
            left = left[N_AT_ONCE:]
            left = left[~is_kept[left]]
        n_before += len(rows)
    return rules


def _rows_and_levels(
    explainer: SufficientExplainer, y: NDArray[Any], n_rows: int, further_levels: set[float], least: float
) -> Iterator[tuple[NDArray[np.intp], set[float]]]:
    """Draw the rows to explain, class by class, with the levels at which they are explained."""
    order = np.random.default_rng(0).permutation(len(y))
    if explainer.task_ == "regression":
        pi = explainer.fitted_.settings.pi
        yield order[:n_rows], {pi * part for part in LOWERED} | further_levels
        return
    own = explainer.fitted_.level_of_rules()
    labels = np.unique(y)
    for label in labels.tolist():
        share = float(np.mean(y == label))
        n_explained = max(round(share * n_rows), n_rows // (2 * len(labels)), 1)
        levels = {share + removed * (1 - share) for removed in REMOVED}
        levels |= {own[label] if isinstance(own, dict) else own, *further_levels}
        levels = {max(level, LEAST_LEVEL, least) for level in levels if level > share}
        yield order[y[order] == label][:n_explained], levels
