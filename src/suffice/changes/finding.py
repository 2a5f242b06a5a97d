"""Finding what would change the outcomes of rows."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from suffice._forest.outcomes import read_targets
from suffice._forest.progress import progress_bar, wants_bar
from suffice._table.input import read_outcomes
from suffice._text import counted, to_plain
from suffice.changes.limits import region_of_rows
from suffice.changes.making import ChangeMaker
from suffice.changes.model import AskedModel, MovableRows
from suffice.changes.search import ChangeSearch, FoundChanges, find_changes, levels_of
from suffice.changes.values import Changes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suffice._forest.asked_rows import AskedRows
    from suffice._forest.fitted import Fitted
    from suffice.changes.limits import Limits
    from suffice.changes.search import ChangeOptions

# With costs, the cheapest of so many changes are returned.
N_RANKED = 30


def find_for_rows(
    state: Fitted,
    rows: AskedRows,
    target: Any,
    options: ChangeOptions,
    limits: Limits,
    *,
    cost: Mapping[str, float] | None,
    confirm: bool,
    progress: bool | None,
) -> Changes:
    """Find what would change the outcome of each row."""
    if options.min_size > len(limits.changeable):
        may = counted(len(limits.changeable), "variable")
        raise ValueError(f"`min_size` must be at most the number of variables that may change: {may}.")
    costs = _read_costs(state, cost)
    outcomes = read_outcomes(rows.values, len(rows.matrix))
    targets = read_targets(target, outcomes, state.classes)
    is_reached = [bool(target.holds(outcomes[i : i + 1])[0]) for i, target in enumerate(targets)]
    searched = replace(options, n=N_RANKED) if costs else options
    search = ChangeSearch(state, targets, levels_of(state, targets), limits, searched)
    open_rows = [i for i, reached in enumerate(is_reached) if not reached]
    matrix = rows.matrix[open_rows]
    with progress_bar(len(open_rows), progress) if wants_bar(progress) else nullcontext() as report:
        found = find_changes(search.take(open_rows), region_of_rows(matrix), limits.boxes(matrix), report)
    found_at = dict(zip(open_rows, found, strict=True))
    maker = ChangeMaker(search, rows.matrix, costs, options.n)
    answers = [
        maker.answer(
            i,
            found_at.get(i, FoundChanges((), None, False, True)),
            outcome=to_plain(outcomes[i]),
            is_reached=is_reached[i],
            source=rows.source,
            id=None if rows.ids is None else rows.ids[i],
        )
        for i in range(len(targets))
    ]
    if confirm and state.model is not None:
        asked_model = AskedModel(MovableRows(state, rows.X, rows.matrix), maker)
        answers = asked_model.search_again(asked_model.confirm(answers), progress)
    return Changes(answers, state.without_model, rows.library, rows.X)


def _read_costs(state: Fitted, cost: Mapping[str, float] | None) -> dict[int, float]:
    costs = {}
    for name, value in (cost or {}).items():
        try:
            variable = state.variables.position(name)
        except ValueError as error:
            raise ValueError(f"In `cost`: {error}") from None
        if not isinstance(value, int | float) or not value >= 0 or math.isinf(value):
            raise ValueError(f"`cost` of {name!r} must be a number >= 0, got {value!r}; fix what must not change.")
        costs[variable] = float(value)
    return costs
