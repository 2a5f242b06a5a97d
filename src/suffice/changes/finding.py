"""Finding what would change the outcomes of rows, and of all rows that a rule covers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._forest.asked_rows import AskedRows
from suffice._forest.fitted import Fitted
from suffice._forest.outcomes import Target, read_targets
from suffice._forest.progress import progress_bar, wants_bar
from suffice._table.input import read_outcomes
from suffice._text import counted, to_plain
from suffice.changes.limits import Limits, region_of_rows
from suffice.changes.making import ChangeMaker
from suffice.changes.model import AskedModel, MovableRows
from suffice.changes.regional import (
    RegionalBox,
    RegionalChanges,
    make_regional,
    read_rules,
    regions_of,
    search_regions,
)
from suffice.changes.search import ChangeOptions, FoundChanges, find_changes
from suffice.changes.values import Changes

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
    n = options.n
    options = replace(options, n=N_RANKED if cost else n)
    if options.min_size > len(limits.changeable):
        may = counted(len(limits.changeable), "variable")
        raise ValueError(f"`min_size` must be at most the number of variables that may change: {may}.")
    costs = _read_costs(state, cost)
    matrix, outcomes = rows.matrix, read_outcomes(rows.values, len(rows.matrix))
    targets = read_targets(target, outcomes, state.classes)
    is_reached = np.array([bool(t.holds(outcomes[i : i + 1])[0]) for i, t in enumerate(targets)], dtype=bool)
    rows_to_change = np.flatnonzero(~is_reached)
    levels = _levels(state, targets)
    with progress_bar(len(rows_to_change), progress) if wants_bar(progress) else nullcontext() as report:
        found = find_changes(
            state,
            region_of_rows(matrix[rows_to_change]),
            limits.boxes(matrix[rows_to_change]),
            [targets[i] for i in rows_to_change],
            levels[rows_to_change],
            limits,
            options,
            report,
        )
    found_of = dict(zip(rows_to_change.tolist(), found, strict=True))
    makers = [
        ChangeMaker(state, matrix[i], targets[i], float(levels[i]), limits, costs, options) for i in range(len(matrix))
    ]
    answers = []
    for i, make in enumerate(makers):
        answers.append(
            make.answer(
                found_of.get(i, FoundChanges((), None, False, True)),
                n,
                is_ranked=bool(cost),
                outcome=to_plain(outcomes[i]),
                is_reached=bool(is_reached[i]),
                source=rows.source,
                row=i,
                id=None if rows.ids is None else rows.ids[i],
            )
        )
    if confirm and state.model is not None:
        asked_model = AskedModel(MovableRows(state, rows.X, matrix), targets, levels, limits, options, makers)
        answers = asked_model.search_again(asked_model.confirm(answers), n, progress, is_ranked=bool(cost))
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
    regions, levels = regions_of(state, [conditions for conditions, _ in lines]), _levels(state, targets)
    is_reached = [bool(t.holds(np.array([outcome]))[0]) for t, (_, outcome) in zip(targets, lines, strict=True)]
    found = [RegionalBox(None, exists=False, is_reached=True)] * len(lines)
    places = np.flatnonzero(~np.array(is_reached, dtype=bool))
    some = {name: values[places] for name, values in regions.items()}
    wanted = [targets[i] for i in places]
    boxes_found = search_regions(state, some, wanted, levels[places], limits, options, movable)
    for i, box in zip(places.tolist(), boxes_found, strict=True):
        found[i] = box
    parts = zip(lines, targets, levels.tolist(), found, strict=True)
    changes = [make_regional(state, *part, limits) for part in parts]
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
