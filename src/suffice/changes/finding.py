"""Finding what would change the outcomes of rows, and of all rows that a rule covers."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice._forest.outcomes import read_targets
from suffice._forest.progress import progress_bar, wants_bar
from suffice._table.input import read_outcomes
from suffice._text import counted, to_plain
from suffice.changes.limits import region_of_rows, take_boxes
from suffice.changes.making import ChangeMaker
from suffice.changes.model import AskedModel, MovableRows
from suffice.changes.regional import RegionalBox, make_regional, read_rules, regions_of, search_regions
from suffice.changes.search import ChangeSearch, FoundChanges, find_changes
from suffice.changes.values import Changes, RegionalChanges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice._forest.asked_rows import AskedRows
    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Target
    from suffice.changes.limits import Limits
    from suffice.changes.search import ChangeOptions

# With costs, the cheapest of so many changes are returned.
N_RANKED = 30
# The probability of the target that a change must reach. docs/what-if.md has figures for this level and others.
LEVEL = 0.8
# Boxes of a rule, of which the one that changes the prediction for most of its rows is returned.
N_OF_RULE = 10


def find_for_rows(
    state: Fitted,
    rows: AskedRows,
    target: Any,
    options: ChangeOptions,
    limits: Limits,
    *,
    pi: float | None,
    cost: Mapping[str, float] | None,
    confirm: bool,
    progress: bool | None,
) -> Changes:
    """Find what would change the outcome of each row."""
    settings = replace(state.settings, pi=LEVEL) if pi is None else replace(state.settings, pi=pi, levels="same")
    state = state.with_settings(settings)
    if options.min_size > len(limits.changeable):
        may = counted(len(limits.changeable), "variable")
        raise ValueError(f"`min_size` must be at most the number of variables that may change: {may}.")
    costs = _read_costs(state, cost)
    outcomes = read_outcomes(rows.values, len(rows.matrix))
    targets = read_targets(target, outcomes, state.classes)
    is_reached = [bool(target.holds(outcomes[i : i + 1])[0]) for i, target in enumerate(targets)]
    searched = replace(options, n=N_RANKED) if costs else options
    search = ChangeSearch(state, targets, _levels(state, targets), limits, searched)
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


def find_for_rules(
    state: Fitted,
    rules: Any,
    target: Any,
    options: ChangeOptions,
    limits: Limits,
    *,
    pi: float | None,
    movable: MovableRows | None,
) -> RegionalChanges:
    """Find what would change the outcome of all rows that a rule covers."""
    if pi is not None:
        state = state.with_settings(replace(state.settings, pi=pi, levels="same"))
    options = replace(options, n=1 if options.check == "everywhere" else N_OF_RULE)
    lines = read_rules(rules, state)
    targets = read_targets(target, np.array([outcome for _, outcome in lines]), state.classes)
    search = ChangeSearch(state, targets, _levels(state, targets), limits, options)
    regions = regions_of(state, [conditions for conditions, _ in lines])
    is_reached = [bool(t.holds(np.array([outcome]))[0]) for t, (_, outcome) in zip(targets, lines, strict=True)]
    found = [RegionalBox(None, exists=False, is_reached=True)] * len(lines)
    open_lines = [i for i, reached in enumerate(is_reached) if not reached]
    boxes = search_regions(search.take(open_lines), take_boxes(regions, open_lines), movable)
    for i, box in zip(open_lines, boxes, strict=True):
        found[i] = box
    changes = [make_regional(search, i, lines[i], box) for i, box in enumerate(found)]
    return RegionalChanges(changes, state.without_model)


def _levels(state: Fitted, targets: list[Target]) -> NDArray[np.float64]:
    """Return the level of each target: pi or, with ``levels="odds"``, that of its share among the training rows."""
    pi = state.settings.pi
    if state.settings.levels == "same":
        return np.full(len(targets), pi)
    outcomes = state.training[1]
    share_of = {target: float(np.mean(target.holds(outcomes))) for target in set(targets)}
    gains = np.array([pi * share_of[target] for target in targets])
    others = np.array([(1 - pi) * (1 - share_of[target]) for target in targets])
    levels: NDArray[np.float64] = np.minimum(pi, gains / np.maximum(gains + others, 1e-300))
    return levels


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
