"""Finding what would change the outcomes of rows, and of the rows of a rule: IF rule THEN outcome UNLESS change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice._forest.asked_rows import AskedRows
from suffice._forest.fitted import Fitted
from suffice._forest.outcomes import Target, read_targets
from suffice._forest.progress import progress_bar
from suffice._forest.trees import spaced_rows
from suffice._table.condition import Condition
from suffice._table.input import read_outcomes
from suffice._text import counted, to_plain
from suffice.changes.limits import Boxes, Limits, region_of_rows, regions_of, rows_in_region, take_boxes
from suffice.changes.making import NOTHING, ChangeMaker, names_of, sides_of
from suffice.changes.model import AskedModel, MovableRows, ask_boxes, cut_boxes
from suffice.changes.search import ChangeOptions, ChangeSearch, FoundChange, columns_of, find_changes, holds_at_rows
from suffice.changes.values import Changes, RegionalChange, RegionalChanges
from suffice.explaining.explanations import lines_of


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
    search, is_reached, open_rows = _begin_search(state, target, outcomes, options, limits)
    matrix = rows.matrix[open_rows]
    with progress_bar(len(open_rows), progress) as report:
        found = find_changes(search.take(open_rows), region_of_rows(matrix), limits.boxes(matrix), report)
    found_at = dict(zip(open_rows, found, strict=True))
    maker = ChangeMaker(search, rows.matrix)
    answers = [
        maker.answer(
            i,
            found_at.get(i, NOTHING),
            outcome=to_plain(outcomes[i]),
            is_reached=is_reached[i],
            source=rows.source,
            id=None if rows.ids is None else rows.ids[i],
        )
        for i in range(len(outcomes))
    ]
    if confirm and state.model is not None:
        asked_model = AskedModel(MovableRows(state, rows.X, rows.matrix), maker)
        answers = asked_model.search_again(asked_model.confirm(answers), progress)
    return Changes(answers, state.without_model, rows.library, rows.X)


def _begin_search(
    state: Fitted, target: Any, outcomes: NDArray[Any], options: ChangeOptions, limits: Limits
) -> tuple[ChangeSearch, list[bool], list[int]]:
    """Read what is wanted of rows or rules; return also which have it already, and the places of the others."""
    targets = read_targets(target, outcomes, state.classes)
    is_reached = [bool(wanted.holds(outcomes[i : i + 1])[0]) for i, wanted in enumerate(targets)]
    search = ChangeSearch(state, targets, np.full(len(targets), state.settings.pi), limits, options)
    return search, is_reached, [i for i, reached in enumerate(is_reached) if not reached]


Line: TypeAlias = tuple[tuple[Condition, ...], Any]
"""A rule: its conditions and its outcome."""
# Rows of a rule, and values of its box, of which each is combined with each.
N_MOVED = 20
# Boxes about which a model is asked together.
N_TOGETHER = 50
# Boxes of a rule, of which the one that changes the prediction for most of its rows is returned.
N_OF_RULE = 10
# A box that the model refuses is cut: rows of the rule, and values of the box.
N_CUT = (10, 60)


def find_for_rules(
    state: Fitted, rules: Any, target: Any, options: ChangeOptions, limits: Limits, movable: MovableRows | None
) -> RegionalChanges:
    """Find what would change the outcome of all rows that a rule covers."""
    options = replace(options, n=1 if options.check == "everywhere" else N_OF_RULE)
    lines = read_rules(rules)
    outcomes = np.array([outcome for _, outcome in lines])
    search, _, open_lines = _begin_search(state, target, outcomes, options, limits)
    regions = regions_of(state, [conditions for conditions, _ in lines])
    found = [RegionalBox(None, exists=False, is_reached=True)] * len(lines)
    boxes = search_regions(search.take(open_lines), take_boxes(regions, open_lines), movable)
    for i, box in zip(open_lines, boxes, strict=True):
        found[i] = box
    changes = [make_regional(search, i, lines[i], box) for i, box in enumerate(found)]
    return RegionalChanges(changes, state.without_model)


def read_rules(rules: Any) -> list[Line]:
    """Read rules of any kind."""
    lines = lines_of(rules, "rules")
    return [(line.promise.conditions, line.output if hasattr(line, "output") else line.outcome) for line in lines]


@dataclass(frozen=True, eq=False)
class RegionalBox:
    """What was found for a rule."""

    found: FoundChange | None
    exists: bool
    reached: float | None = None
    is_reached: bool = False
    confirmed: tuple[float, int] | None = None


def search_regions(search: ChangeSearch, regions: Boxes, movable: MovableRows | None = None) -> list[RegionalBox]:
    """Find the box of each region: the fewest variables whose change gives its rows the wanted outcome."""
    state, levels, targets = search.state, search.levels, search.targets
    reach = search.limits.boxes(np.zeros((len(targets), len(state.encoding.columns)), dtype=np.float32))
    boxes: list[list[RegionalBox]] = [[] for _ in targets]
    misses: list[FoundChange | None] = [None] * len(targets)
    for size in range(1, min(search.options.max_size, len(search.limits.changeable)) + 1):
        left = [i for i, found in enumerate(boxes) if not _is_reached(found, levels[i])]
        some = search.take(left, min_size=size, max_size=size)
        answers = find_changes(some, take_boxes(regions, left), take_boxes(reach, left))
        places = [(i, one) for i, found in zip(left, answers, strict=True) for one in found.changes]
        shares = shares_confirmed(targets, regions, places, movable) if movable is not None else [None] * len(places)
        for (i, one), share in zip(places, shares, strict=True):
            own = rows_in_region(state.forest.X, regions, i)
            boxes[i].append(RegionalBox(one, True, _share_reached(state, own, one, targets[i]), confirmed=share))
        if movable is not None:
            for i, one in [(i, one) for i, one in places if not _is_reached(boxes[i], levels[i])]:
                boxes[i] += _cut_box(search, regions, i, one, movable)
        for i, found in zip(left, answers, strict=True):
            misses[i] = max(misses[i], found.miss, key=lambda miss: -1.0 if miss is None else miss.probability)
    return [
        max(found, key=lambda box: _goal(box, level)) if found else RegionalBox(miss, exists=False)
        for found, miss, level in zip(boxes, misses, levels, strict=True)
    ]


def _is_reached(boxes: Sequence[RegionalBox], level: float) -> bool:
    """Tell whether enough moved rows get the wanted outcome in one of some boxes."""
    return any(_goal(box, level)[0] >= level for box in boxes)


def _goal(box: RegionalBox, level: float) -> tuple[float, float]:
    """Order boxes by the share of moved rows that get the wanted outcome, up to the level; then by plausibility."""
    share = box.reached if box.confirmed is None else box.confirmed[0]
    return min(share or 0.0, level), box.found.plausibility if box.found else 0.0


def _share_reached(state: Fitted, own: NDArray[np.intp], box: FoundChange, target: Target) -> float | None:
    """Move rows of a rule to the values of rows in a box, each to each, and count the predictions that are wanted."""
    if not len(own) or not len(box.rows):
        return None
    columns = columns_of(state, box.variables)
    moved = np.repeat(_some(state.forest.X[own]), min(N_MOVED, len(box.rows)), axis=0)
    values = _some(state.forest.X[box.rows])[:, columns]
    moved[:, columns] = np.tile(values, (len(moved) // len(values), 1))
    return float(np.mean(target.holds(state.predict(moved))))


def _some(rows: NDArray[Any]) -> NDArray[Any]:
    """Return up to `N_MOVED` rows, evenly spaced."""
    return rows[spaced_rows(len(rows), N_MOVED)]


def shares_confirmed(
    targets: Sequence[Target], regions: Boxes, boxes: Sequence[tuple[int, FoundChange]], movable: MovableRows
) -> list[tuple[float, int] | None]:
    """Return the share of rows of regions, moved into boxes, for which the model agrees, and their number."""
    shares: list[tuple[float, int] | None] = [None] * len(boxes)
    for begin in range(0, len(boxes), N_TOGETHER):
        together = boxes[begin : begin + N_TOGETHER]
        moves = [(_some(rows_in_region(movable.matrix, regions, i)), box, targets[i]) for i, box in together]
        for number, _, agrees in ask_boxes(movable, moves, N_MOVED):
            shares[begin + number] = float(np.mean(agrees)), agrees.size
    return shares


def _cut_box(
    search: ChangeSearch, regions: Boxes, i: int, box: FoundChange, movable: MovableRows
) -> Iterator[RegionalBox]:
    """Cut a box to values at which the model gives the wanted outcome for most rows of the region."""
    state, target = search.state, search.targets[i]
    own = rows_in_region(movable.matrix, regions, i)
    own = own[spaced_rows(len(own), N_CUT[0])]
    for _, part, judged in cut_boxes(movable, [(own, box, target)], N_CUT[1]):
        if part.plausibility >= search.options.min_plausibility:
            reached = _share_reached(state, rows_in_region(state.forest.X, regions, i), part, target)
            yield RegionalBox(part, True, reached, confirmed=(float(judged.mean()), len(judged) * len(own)))


def make_regional(search: ChangeSearch, i: int, rule: Line, box: RegionalBox) -> RegionalChange:
    """Turn what was found for a rule into a value."""
    state, target, found = search.state, search.targets[i], box.found
    change = RegionalChange(*rule, target.text, model=state.model_name, target=state.target, is_reached=box.is_reached)
    if found is None:
        return change
    names = names_of(state, found)
    if not box.exists:
        return replace(change, nearest=found.probability, nearest_variables=names)
    nothing = np.full(len(state.encoding.columns), np.nan, dtype=np.float32)  # there is no row to begin at
    sides = sides_of(state, found, nothing, search.limits)
    if box.confirmed is not None:
        share, n_asked = box.confirmed
        change = replace(change, confirmed=bool(share >= search.levels[i]), confirmed_share=share, n_asked=n_asked)
    return replace(
        change,
        unless=tuple(side.bounds for side in sides if side.bounds is not None and side.is_bounded),
        variables=names,
        probability=found.mean,
        plausibility=found.plausibility,
        bound=found.bound,
        support=len(found.rows),
        n_wanted=int(np.count_nonzero(holds_at_rows(state, target, found.rows))),
        reached=box.reached,
    )
