"""Finding what would change the outcomes of rows."""

from __future__ import annotations

from contextlib import nullcontext
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
    from suffice._forest.asked_rows import AskedRows
    from suffice._forest.fitted import Fitted
    from suffice.changes.limits import Limits
    from suffice.changes.search import ChangeOptions


def find_for_rows(
    state: Fitted,
    rows: AskedRows,
    target: Any,
    options: ChangeOptions,
    limits: Limits,
    *,
    confirm: bool,
    progress: bool | None,
) -> Changes:
    """Find what would change the outcome of each row."""
    if options.min_size > len(limits.changeable):
        may = counted(len(limits.changeable), "variable")
        raise ValueError(f"`min_size` must be at most the number of variables that may change: {may}.")
    outcomes = read_outcomes(rows.values, len(rows.matrix))
    targets = read_targets(target, outcomes, state.classes)
    is_reached = [bool(target.holds(outcomes[i : i + 1])[0]) for i, target in enumerate(targets)]
    search = ChangeSearch(state, targets, levels_of(state, targets), limits, options)
    open_rows = [i for i, reached in enumerate(is_reached) if not reached]
    matrix = rows.matrix[open_rows]
    with progress_bar(len(open_rows), progress) if wants_bar(progress) else nullcontext() as report:
        found = find_changes(search.take(open_rows), region_of_rows(matrix), limits.boxes(matrix), report)
    found_at = dict(zip(open_rows, found, strict=True))
    maker = ChangeMaker(search, rows.matrix)
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
