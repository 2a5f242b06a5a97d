"""The explained model asked about changes: which it confirms, and the part of a box in which it agrees.

Questions are rows of the user's table with the values of training rows, or of the least change, in some columns.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice._forest.fitted import Fitted
from suffice._forest.outcomes import Target
from suffice._forest.progress import progress_bar
from suffice._forest.trees import spaced_rows
from suffice._table.rows import mix_rows, move_rows
from suffice.changes.limits import lie_within, region_of_rows
from suffice.changes.making import ChangeMaker
from suffice.changes.search import FoundChange, columns_of, find_changes, holds_at_rows
from suffice.changes.values import Change, RowChanges

Rows: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
# Training rows whose values the model is asked about, for each change.
N_ASKED = 20
# Where it agrees with no change: the forest gives the target at least this probability in the boxes that it is asked
# about (the target is more likely than not), up to so many for each number of variables, with so many rows each.
PROPOSED_LEVEL, N_PROPOSED, N_ASKED_AGAIN = 0.5, 10, 100
# Rows whose boxes are asked about together.
N_TOGETHER = 64
# A value counts as agreed if the model gives the target for this share of the rows that are moved to it.
AGREED_SHARE = 0.9
# Parts that the search for the largest one looks at; 100 points of three columns rarely need more than a hundred.
MAX_PARTS = 2000
# Points of which one is chosen to divide a part: the one that leaves the least of it.
N_DIVIDERS = 8


@dataclass(frozen=True, eq=False)
class MovedRows:
    """Copies of rows, each with the values of a training row in the same columns."""

    rows: Rows
    columns: list[int]
    training_rows: Rows


@dataclass(frozen=True, eq=False)
class MovableRows:
    """Rows as the user has them and as the forest sees them, which the explained model is asked about."""

    state: Fitted
    X: Any
    matrix: NDArray[np.float32]

    def can_ask(self, columns: Sequence[int]) -> bool:
        """Tell whether the model can be asked about other values of columns: parts of a date do not make a date."""
        return not any(self.state.encoding.columns[c].part is not None for c in columns)

    def table(self, moved: Sequence[MovedRows]) -> Any:
        """Make a table of copies of rows with the values of training rows."""
        columns = self.state.encoding.columns
        ends = np.cumsum([0, *(len(copies.rows) for copies in moved)])
        values_of: dict[int, tuple[list[Any], Rows]] = {}
        for place, copies in enumerate(moved):
            for c in copies.columns:
                values, picks = values_of.setdefault(columns[c].source, ([], np.full(ends[-1], -1, dtype=np.intp)))
                picks[ends[place] : ends[place + 1]] = len(values) + np.arange(len(copies.rows))
                numbers = self.state.forest.X[copies.training_rows, c].tolist()
                values += [columns[c].value_of(number) for number in numbers]
        rows = np.concatenate([copies.rows for copies in moved])
        return mix_rows(self.X, rows.tolist(), values_of, self.state.encoding.names)

    def ask(self, moved: Sequence[MovedRows]) -> list[NDArray[Any]]:
        """Ask the model about moved rows, all in one call."""
        if not moved:
            return []
        ends = np.cumsum([len(copies.rows) for copies in moved])
        return np.split(self._outputs(self.table(moved), int(ends[-1])), ends[:-1])

    def ask_at(self, rows: list[int], points: Sequence[Mapping[str, Any]]) -> NDArray[Any]:
        """Ask the model about copies of rows that have some values of columns."""
        names = self.state.encoding.names
        moved = [{names.index(name): value for name, value in point.items()} for point in points]
        return self._outputs(move_rows(self.X, rows, moved, names), len(rows))

    def _outputs(self, table: Any, n_rows: int) -> NDArray[Any]:
        assert self.state.model is not None
        return self.state.model.ask(table, n_rows)


def largest_agreed_part(points: Floats, agrees: Bools, weights: Floats) -> tuple[Floats, Floats] | None:
    """Find the box around points on which a model agrees that holds none on which it does not.

    Boxes are processed best first by the weight of the points with agreement in them: the first one without any other
    point is the best.
    """
    points = np.where(np.isnan(points), -np.inf, points)
    heap: list[tuple[float, int, Bools, Floats, Floats]] = []
    number, seen = count(), set[bytes]()

    def add(is_in: Bools) -> None:
        is_good = is_in & agrees
        if is_good.any():
            low, high = points[is_good].min(axis=0), points[is_good].max(axis=0)
            is_in = ((low <= points) & (points <= high)).all(axis=1)
            heapq.heappush(heap, (-float(weights[is_in & agrees].sum()), next(number), is_in, low, high))

    add(np.ones(len(points), dtype=bool))
    while heap and len(seen) < MAX_PARTS:
        _, _, is_in, low, high = heapq.heappop(heap)
        key = is_in.tobytes()
        if key in seen:
            continue
        seen.add(key)
        others = np.flatnonzero(is_in & ~agrees)
        if not len(others):
            return low, high
        good, good_weights = points[is_in & agrees], weights[is_in & agrees]
        some = others[:: -(-len(others) // N_DIVIDERS)]
        left = np.array([[(good < points[i]).T @ good_weights, (good > points[i]).T @ good_weights] for i in some])
        divider = points[some[int(np.argmin(left.max(axis=(1, 2))))]]
        for column in range(points.shape[1]):
            add(is_in & (points[:, column] < divider[column]))
            add(is_in & (points[:, column] > divider[column]))
    return None


def trim_box(
    state: Fitted, box: FoundChange, target: Target, columns: list[int], places: Rows, agrees: Bools
) -> FoundChange | None:
    """Cut a box to its most plausible part in which a model agrees wherever it was asked."""
    values = state.forest.X[box.rows][:, columns]
    asked_values = values[places].astype(np.float64)
    agreed = largest_agreed_part(asked_values, agrees, box.weights[places])
    if agreed is None:
        return None
    first, last = agreed
    asked_values = np.where(np.isnan(asked_values), -np.inf, asked_values)
    is_between = (first <= asked_values) & (asked_values <= last)
    low, high = box.low.copy(), box.high.copy()
    missing, has_values = box.missing.copy(), box.has_values.copy()
    for i, c in enumerate(columns):
        others = asked_values[np.delete(is_between, i, axis=1).all(axis=1), i]
        if (others < first[i]).any():
            low[c], missing[c] = np.nextafter(np.float32(first[i]), np.float32(-np.inf)), False
        if (others > last[i]).any():
            has_values[c] = has_values[c] and np.isfinite(last[i])
            high[c] = last[i]
    is_in = lie_within(values, *(part[columns] for part in (low, high, has_values, missing)))
    rows, weights = box.rows[is_in], box.weights[is_in]
    weight = float(weights.sum())
    return replace(
        box,
        low=low,
        high=high,
        missing=missing,
        has_values=has_values,
        rows=rows,
        weights=weights,
        plausibility=box.plausibility * weight / float(box.weights.sum()),
        bound=1.0,  # nothing is proven: the model was asked about some points only
        mean=float(weights @ holds_at_rows(state, target, rows)) / weight,
    )


def ask_boxes(
    movable: MovableRows, boxes: Sequence[tuple[Rows, FoundChange, Target]], n_values: int
) -> Iterator[tuple[int, Rows, Bools]]:
    """Ask the model about rows that are moved to values of training rows in boxes, each to each.

    Yield the number of each box about which it can be asked, the places of the values among the rows of the box, and
    whether the model gives the target: one line for each value, one column for each row.
    """
    moved: dict[int, MovedRows] = {}
    for number, (rows, box, _) in enumerate(boxes):
        columns, places = columns_of(movable.state, box.variables), spaced_rows(len(box.rows), n_values)
        if len(rows) and len(places) and movable.can_ask(columns):
            moved[number] = MovedRows(np.tile(rows, len(places)), columns, np.repeat(box.rows[places], len(rows)))
    for number, outputs in zip(moved, movable.ask(list(moved.values())), strict=True):
        rows, box, target = boxes[number]
        yield number, spaced_rows(len(box.rows), n_values), target.holds(outputs).reshape(-1, len(rows))


def cut_boxes(
    movable: MovableRows, boxes: Sequence[tuple[Rows, FoundChange, Target]], n_values: int
) -> Iterator[tuple[int, FoundChange, Floats]]:
    """Cut boxes to where the model agrees for most of some rows; yield the number of the box, and its part.

    Every second value decides where to cut; the part comes with the shares of rows that get the target at the others.
    """
    for number, places, agrees in ask_boxes(movable, boxes, n_values):
        (_, box, target), shares = boxes[number], agrees.mean(axis=1)
        columns, is_agreed = columns_of(movable.state, box.variables), shares[::2] >= AGREED_SHARE
        part = trim_box(movable.state, box, target, columns, places[::2], is_agreed)
        if part is not None:
            judged = shares[1::2][np.isin(box.rows[places[1::2]], part.rows)]
            if len(judged):
                yield number, part, judged


@dataclass(frozen=True, eq=False)
class AskedModel:
    """A model that is asked about changes of rows."""

    movable: MovableRows
    maker: ChangeMaker

    def confirm(self, answers: Sequence[RowChanges]) -> list[RowChanges]:
        """Ask the model about every change: at the least change, and with the values of rows in its box."""
        state, columns = self.movable.state, self.movable.state.encoding.columns
        confirmed = [list(answer.changes or ([answer.nearest] if answer.nearest else [])) for answer in answers]
        questions: list[tuple[int, int, list[dict[str, Any]]]] = []  # row, change, and the points for it
        for i, changes in enumerate(confirmed):
            for j, change in enumerate(changes):
                free = columns_of(state, state.variables.subset(change.variables))
                if not self.movable.can_ask(free):
                    continue
                in_box = list(change.rows[:: max(1, -(-len(change.rows) // N_ASKED))])
                points = [change.values]
                for values in state.forest.X[in_box][:, free].tolist():
                    points.append({columns[c].name: columns[c].value_of(v) for c, v in zip(free, values, strict=True)})
                questions.append((i, j, points))
        if not questions:
            return list(answers)
        rows = [i for i, _, points in questions for _ in points]
        outputs = self.movable.ask_at(rows, [point for *_, points in questions for point in points])
        ends = np.cumsum([len(points) for *_, points in questions])[:-1]
        for (i, j, points), of_change in zip(questions, np.split(outputs, ends), strict=True):
            first, *others = self.maker.search.targets[i].holds(of_change).tolist()
            share = float(np.mean(others)) if others else None
            confirmed[i][j] = replace(confirmed[i][j], confirmed=first, confirmed_share=share, n_asked=len(points) - 1)
        return [
            replace(answer, changes=tuple(sorted(changes, key=_disagreement)))
            if answer.changes
            else replace(answer, nearest=changes[0] if changes else None)
            for answer, changes in zip(answers, confirmed, strict=True)
        ]

    def search_again(self, answers: Sequence[RowChanges], progress: bool | None) -> list[RowChanges]:
        """Search changes of the rows for which the model agrees with none, in boxes that are cut to where it agrees.

        The fewest variables come first. A box in which the forest finds the target more likely than not is cut with the
        answers of the model for one half of the rows that are moved into it, and judged with those for the others.
        """
        answers = list(answers)
        left = [i for i, answer in enumerate(answers) if _is_open(answer)]
        options, limits = self.maker.search.options, self.maker.search.limits
        for size in range(options.min_size, min(options.max_size, len(limits.changeable)) + 1):
            for begin in range(0, len(left), N_TOGETHER):
                for i, changes in self._agreed(left[begin : begin + N_TOGETHER], size, progress).items():
                    best = sorted(changes, key=lambda change: -change.plausibility)[: options.n]
                    answers[i] = replace(answers[i], changes=tuple(best), nearest=None, is_too_rare=False)
            left = [i for i in left if _is_open(answers[i])]
        return answers

    def _agreed(self, rows: list[int], size: int, progress: bool | None) -> dict[int, list[Change]]:
        """Find changes of so many variables, for rows of the table, with which the model agrees."""
        search, proposed = self.maker.search, self._proposed(rows, size, progress)
        boxes = [(np.array([i]), box, search.targets[i]) for i, box in proposed]
        made = []
        for number, part, judged in cut_boxes(self.movable, boxes, N_ASKED_AGAIN):
            i, share = proposed[number][0], float(np.mean(judged))
            if part.plausibility >= search.options.min_plausibility and share >= search.levels[i]:
                change = self.maker.change(i, part, by="model")
                made.append((i, replace(change, confirmed=True, confirmed_share=share, n_asked=len(judged))))
        if not made:
            return {}
        outputs = self.movable.ask_at([i for i, _ in made], [change.values for _, change in made])
        agreed: dict[int, list[Change]] = {}
        for place, (i, change) in enumerate(made):
            if search.targets[i].holds(outputs[place : place + 1])[0]:
                agreed.setdefault(i, []).append(change)
        return agreed

    def _proposed(self, rows: list[int], size: int, progress: bool | None) -> list[tuple[int, FoundChange]]:
        """Find boxes in which the forest finds the target more likely than not, each with its row."""
        search = self.maker.search.take(rows, n=N_PROPOSED, min_size=size, max_size=size, sets="all")
        search = replace(search, levels=np.minimum(search.levels, PROPOSED_LEVEL))
        matrix = self.movable.matrix[rows]
        with progress_bar(len(rows), progress, "asking") as report:
            found = find_changes(search, region_of_rows(matrix), search.limits.boxes(matrix), report)
        return [(i, box) for i, of_row in zip(rows, found, strict=True) for box in of_row.changes]


def _is_open(answer: RowChanges) -> bool:
    """Return whether a row has no change with which the model agrees, or about which it cannot be asked."""
    if answer.is_reached or not answer.n_changeable:
        return False
    return not any(change.is_agreed or change.confirmed is None for change in answer.changes)


def _disagreement(change: Change) -> tuple[bool, bool]:
    return not change.is_agreed, change.confirmed is False
