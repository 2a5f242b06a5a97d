"""The rules of single rows: the boxes that the search finds, as rules in the user's own words."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray

from suffice._engine.fitted import Fitted
from suffice._engine.outcomes import Outcomes
from suffice._engine.progress import progress_bar
from suffice._engine.rule_search import ExplainOptions, FoundBox, find_boxes, find_supported_boxes
from suffice._engine.search import FoundSets
from suffice._table.variables import VariableSet
from suffice.rules import Rule


def find_rules(
    state: Fitted,
    matrix: NDArray[np.float32],
    outcomes: Outcomes,
    sets: FoundSets,
    options: ExplainOptions,
    progress: bool | None,
    has_bar: bool,
) -> list[tuple[Rule, ...]]:
    """Find the rules of each row: of all its sufficient sets, or of the first with a rule that covers enough rows.

    Parameters
    ----------
    state : Fitted
        The fitted state.
    matrix : ndarray of shape (n_rows, n_columns), float32
        The rows.
    outcomes : Outcomes
        The outcome of each row.
    sets : FoundSets
        Their sufficient sets.
    options : ExplainOptions
        Which rules are searched, what they must fulfil and what they maximise.
    progress : bool or None
        Whether to show a progress bar: see `explain`.
    has_bar : bool
        Whether there may be one.

    Returns
    -------
    list of tuple of Rule
        The rules of each row.
    """
    of_all = options.rules == "all"
    n_boxes = len(sets.masks) if of_all else len(matrix)
    with progress_bar(n_boxes, progress, "rules") if has_bar else nullcontext() as report:
        if of_all:
            row_sets = sets.by_row()
            boxes = find_boxes(state, matrix, outcomes, row_sets, options, report)
        else:
            row_sets, boxes = find_supported_boxes(state, matrix, outcomes, sets, options, report)
    rules_of: list[tuple[Rule, ...]] = [()] * len(matrix)
    for (row, _), rule in zip(row_sets, make_rules(state, boxes, outcomes, row_sets), strict=True):
        if rule is not None:
            rules_of[row] += (rule,)
    return rules_of


def make_rules(
    state: Fitted, boxes: list[FoundBox | None], outcomes: Outcomes, row_sets: Sequence[tuple[int, VariableSet]]
) -> list[Rule | None]:
    """Turn the boxes that were found into rules.

    Parameters
    ----------
    state : Fitted
        The fitted state.
    boxes : list of FoundBox or None
        The boxes.
    outcomes : Outcomes
        The outcome of each row.
    row_sets : sequence of (int, tuple of int)
        The row and the set of each box.

    Returns
    -------
    list of Rule or None
        The rules; None for a box that is None.
    """
    intervals = outcomes.intervals
    base_rates = state.base_rates(outcomes).tolist() if intervals is None else None
    return [
        None
        if box is None
        else Rule.from_box(
            box,
            outcomes.values[row],
            None if intervals is None else intervals[row].tolist(),
            state.target,
            None if base_rates is None else base_rates[row],
        )
        for box, (row, _) in zip(boxes, row_sets, strict=True)
    ]
