"""Rows with the values of training rows in some columns, for a model to be asked about."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._forest.fitted import Fitted
from suffice._forest.outcomes import Target
from suffice._table.rows import mix_rows
from suffice.changes.search import FoundChange

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class MovedRows:
    """Copies of rows, each with the values of a training row in the same columns."""

    rows: Rows
    columns: list[int]
    training_rows: Rows


def can_be_asked(state: Fitted, columns: Sequence[int]) -> bool:
    """Tell whether a model can be asked about other values of columns: parts of a date do not make a date."""
    return not any(state.encoding.columns[c].part is not None for c in columns)


def moved_table(state: Fitted, X: Any, moved: Sequence[MovedRows]) -> Any:
    """Make a table of copies of rows with the values of training rows."""
    columns = state.encoding.columns
    ends = np.cumsum([0, *(len(copies.rows) for copies in moved)])
    values_of: dict[int, tuple[list[Any], Rows]] = {}
    for place, copies in enumerate(moved):
        for c in copies.columns:
            values, picks = values_of.setdefault(columns[c].source, ([], np.full(ends[-1], -1, dtype=np.intp)))
            picks[ends[place] : ends[place + 1]] = len(values) + np.arange(len(copies.rows))
            values += [columns[c].value_of(number) for number in state.forest.X[copies.training_rows, c].tolist()]
    rows = np.concatenate([copies.rows for copies in moved])
    return mix_rows(X, rows.tolist(), values_of, state.encoding.names)


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# Parts that the search for the largest one looks at; 100 points of three columns rarely need more than a hundred.
MAX_PARTS = 2000
# Points of which one is chosen to divide a part: the one that leaves the least of it.
N_DIVIDERS = 8


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
    state: Fitted, box: FoundChange, target: Target, columns: list[int], places: NDArray[np.intp], agrees: Bools
) -> FoundChange | None:
    """Cut a box to its most plausible part in which a model agrees wherever it was asked."""
    values = state.forest.X[box.rows][:, columns]
    asked_values = values[places].astype(np.float64)
    ends = largest_agreed_part(asked_values, agrees, box.weights[places])
    if ends is None:
        return None
    asked_values = np.where(np.isnan(asked_values), -np.inf, asked_values)
    is_between = (ends[0] <= asked_values) & (asked_values <= ends[1])
    low, high = box.low.copy(), box.high.copy()
    missing, has_values = box.missing.copy(), box.has_values.copy()
    is_in = np.ones(len(values), dtype=bool)
    for i, c in enumerate(columns):
        beside = asked_values[np.delete(is_between, i, axis=1).all(axis=1), i]
        if (beside < ends[0][i]).any():
            low[c], missing[c] = np.nextafter(np.float32(ends[0][i]), np.float32(-np.inf)), False
        if (beside > ends[1][i]).any():
            has_values[c] = has_values[c] and np.isfinite(ends[1][i])
            high[c] = ends[1][i]
        is_missing = np.isnan(values[:, i])
        is_in &= np.where(
            is_missing, bool(missing[c]), bool(has_values[c]) & (low[c] < values[:, i]) & (values[:, i] <= high[c])
        )
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
        mean=float(weights @ target.holds(state.training[1][rows])) / weight,
    )
