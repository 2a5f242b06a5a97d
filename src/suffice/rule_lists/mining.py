"""Mining rules for a short list: the rules of a sample of the training rows, at several levels.

A list of all rules takes the rule of every training row at the explainer's own level. A short list needs fewer rows:
rows that earlier rules cover are skipped. It also needs more levels: rows whose outcome is uncertain have no rule at
the explainer's level, and the largest rules for the most frequent class say nothing new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from suffice.explainer import SufficientExplainer
    from suffice.explaining.rule import Rule

# At most this many training rows are explained; a rare class gets at least half of an equal part.
N_EXPLAINED = 500
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
    check: Literal["rows", "everywhere"] = "rows",
    n_rows: int = N_EXPLAINED,
    report: Callable[[float], None] | None = None,
) -> list[Rule]:
    """Find the rules of a sample of the training rows, at the explainer's level and at others."""
    order = np.random.default_rng(0).permutation(len(y))
    if explainer.task_ == "regression":
        pi = explainer.fitted_.settings.pi
        levels = {pi * part for part in LOWERED} | set(further_levels)
        return _mine(explainer, table, y, [(order[:n_rows], levels)], check, report)
    parts = []
    own = explainer.fitted_.level_of_rules()
    labels = np.unique(y)
    for label in labels.tolist():
        share = float(np.mean(y == label))
        n_explained = max(round(share * n_rows), n_rows // (2 * len(labels)), 1)
        levels = {share + removed * (1 - share) for removed in REMOVED}
        levels |= {own[label] if isinstance(own, dict) else own, *further_levels}
        levels = {max(level, LEAST_LEVEL, least) for level in levels if level > share}
        parts.append((order[y[order] == label][:n_explained], levels))
    return _mine(explainer, table, y, parts, check, report)


def _mine(
    explainer: SufficientExplainer,
    table: Any,
    y: NDArray[Any],
    parts: list[tuple[NDArray[np.intp], set[float]]],
    check: Literal["rows", "everywhere"],
    report: Callable[[float], None] | None,
) -> list[Rule]:
    """Explain each part of the rows at its levels, the highest first, and skip rows that a rule is right about."""
    rules: list[Rule] = []
    # For numbers, a rule at a lower level is larger and coarser: both are useful, since the finer one decides.
    is_number = explainer.task_ == "regression"
    is_kept = np.zeros(len(y), dtype=bool)
    matrix = explainer.encode(table)
    passes = [(rows, level, n) for rows, levels in parts for n, level in enumerate(sorted(levels, reverse=True))]
    n_all, n_before = sum(len(rows) for rows, _, _ in passes), 0
    for rows, level, place in passes:
        if is_number or not place:
            is_kept[:] = False
        changes = {"pi": level} if is_number else {"pi": level, "levels": "same"}
        at_level = explainer.with_settings(**changes)
        left = rows[~is_kept[rows]]
        while len(left):
            if report is not None:
                report((n_before + len(rows) - len(left)) / n_all)
            batch = left[:N_AT_ONCE]
            rows_of_batch = explainer.fitted_.encoding.decode(matrix[batch])
            # No progress bar: the batches are small, and each would have its own.
            local_rules = at_level.rules_of(rows_of_batch, y[batch], check=check, progress=False)
            distinct = {rule.conditions: rule for rule in local_rules if rule is not None and rule.conditions}
            for rule in distinct.values():
                is_kept |= rule.covers(table) & rule.promise.keeps(y)
            rules += distinct.values()
            left = left[N_AT_ONCE:]
            left = left[~is_kept[left]]
        n_before += len(rows)
    return rules
