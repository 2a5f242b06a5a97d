"""Rules as boxes of the matrix, for questions about all rows that a rule covers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._engine.change_limits import HIGHEST, LOWEST, at_most, below
from suffice._engine.ends import Bounds
from suffice._engine.fitted import Fitted
from suffice._table.encoding import Column


def regions_of(state: Fitted, boxes: Sequence[Sequence[Bounds]]) -> dict[str, NDArray[Any]]:
    """Return boxes as the core takes them: low < value <= high.

    Parameters
    ----------
    state : Fitted
        The fitted state.
    boxes : sequence of sequence of Bounds
        What each box asks of columns. Columns without bounds may have any value.

    Returns
    -------
    dict of str to ndarray
        `low`, `high`, `has_values` and `missing` for each box and column.
    """
    columns = state.encoding.columns
    shape = (len(boxes), len(columns))
    low, high = np.full(shape, LOWEST), np.full(shape, HIGHEST)
    has_values = np.ones(shape, dtype=np.uint8)
    has_missing: NDArray[np.bool_] = np.asarray(np.isnan(state.forest.X).any(axis=0))
    missing = np.repeat(has_missing[None, :].astype(np.uint8), len(boxes), axis=0)
    place = {(state.encoding.names[column.source], column.part): c for c, column in enumerate(columns)}
    for i, box in enumerate(boxes):
        for bounds in box:
            key = (bounds.column, bounds.part)
            if key not in place:
                raise ValueError(f"A rule has a condition on {bounds.column!r}, which the table does not have.")
            c = place[key]
            missing[i, c] = bounds.missing
            if not bounds.values:
                has_values[i, c] = 0
            elif columns[c].kind == "category":
                low[i, c], high[i, c] = _code_ends(columns[c], bounds)
            else:
                low[i, c], high[i, c] = _number_ends(bounds)
    return {"low": low, "high": high, "has_values": has_values * (low < high), "missing": missing}


def rows_in_region(X: NDArray[np.float32], regions: dict[str, NDArray[Any]], i: int) -> NDArray[np.intp]:
    """Find the rows of a matrix that lie in a region.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), float32
        The matrix.
    regions : dict of str to ndarray
        Regions, as `regions_of` returns them.
    i : int
        Which of them.

    Returns
    -------
    ndarray of int
        The rows.
    """
    with np.errstate(invalid="ignore"):
        has_value = (regions["low"][i] < X) & (regions["high"][i] >= X) & (regions["has_values"][i] > 0)
    return np.flatnonzero(np.all(has_value | (np.isnan(X) & (regions["missing"][i] > 0)), axis=1))


def _number_ends(bounds: Bounds) -> tuple[np.float32, np.float32]:
    low = LOWEST if math.isinf(bounds.low) else below(bounds.low) if bounds.low_closed else at_most(bounds.low)
    if math.isinf(bounds.high):
        return low, HIGHEST
    return low, at_most(bounds.high) if bounds.high_closed else below(bounds.high)


def _code_ends(column: Column, bounds: Bounds) -> tuple[np.float32, np.float32]:
    """Return the smallest interval of codes that holds all categories of a condition."""
    if bounds.labels is None:
        return LOWEST, HIGHEST
    codes = [
        code
        for code, names in enumerate(column.labels)
        if any(name in bounds.labels for name in names) != bounds.excluded or (code == column.rare and bounds.excluded)
    ]
    if not codes:
        return np.float32(len(column.labels)), np.float32(len(column.labels) + 1)
    return np.float32(codes[0] - 0.5), np.float32(codes[-1] + 0.5)
