"""Boxes of changes in the user's own values, and the point of a box that is nearest to the row.

Ends are written such that both belong to the box: "at least 56" can be reached, "more than 55.5" cannot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._engine.change_limits import Limits
from suffice._engine.change_search import FoundChange
from suffice._engine.ends import Bounds, round_end, round_whole_end
from suffice._engine.fitted import Fitted
from suffice._table.encoding import Column

INF = math.inf


@dataclass(frozen=True)
class Side:
    """What a box asks of one column of the matrix, and what the nearest point has there.

    Parameters
    ----------
    column : int
        The column of the matrix.
    bounds : Bounds or None
        What the box asks; None if it asks nothing.
    own : float
        The row's own value; NaN if it is missing.
    point : float
        The value of the nearest point.
    low, high : float
        Numbers: the ends, both included.
    codes : tuple of int
        Categories: the codes in the box.
    """

    column: int
    bounds: Bounds | None
    own: float
    point: float
    low: float = -INF
    high: float = INF
    codes: tuple[int, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether the nearest point has another value than the row."""
        return not (self.own == self.point or (math.isnan(self.own) and math.isnan(self.point)))

    @property
    def holds_own(self) -> bool:
        """Whether the row's own value lies in the box."""
        if math.isnan(self.own):
            return self.bounds is None or self.bounds.missing
        if self.bounds is not None and not self.bounds.values:
            return False
        return self.own in self.codes if self.codes else self.low <= self.own <= self.high


def sides_of(
    state: Fitted, found: FoundChange, x: NDArray[np.float32], limits: Limits, margin: float = 0.0
) -> tuple[Side, ...]:
    """Write a box in the user's own values, and find the point of it that is nearest to a row.

    Parameters
    ----------
    state : Fitted
        The fitted state.
    found : FoundChange
        The box.
    x : ndarray of shape (n_columns,), float32
        The row.
    limits : Limits
        How far it may move.
    margin : float, default=0.0
        The share of the training rows that lie between the end of the box and the point, in each number that moves.

    Returns
    -------
    tuple of Side
        One for each column of the variables that change.
    """
    sides: list[Side] = []
    for variable in found.variables:
        columns = state.variables.columns[variable]
        of_variable = [_side(state, found, c, float(x[c]), limits, margin) for c in columns]
        if len(columns) > 1:  # the columns of a group belong together: take the values of a row that has them
            of_variable = _as_in_a_row(state, found, of_variable)
        sides += of_variable
    return tuple(sides)


def evenly_spaced(n: int, most: int) -> NDArray[np.intp]:
    """Choose some of `n` positions, evenly spaced.

    Parameters
    ----------
    n : int
        How many positions there are.
    most : int
        How many are chosen at most.

    Returns
    -------
    ndarray of shape (min(n, most),)
        The positions.
    """
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def _as_in_a_row(state: Fitted, found: FoundChange, sides: list[Side]) -> list[Side]:
    if not any(side.moves for side in sides) or not len(found.rows):
        return sides
    columns = [side.column for side in sides]
    own = np.array([side.own for side in sides])
    values = state.forest.X[found.rows][:, columns].astype(np.float64)
    n_moved = np.count_nonzero((values != own) & ~(np.isnan(values) & np.isnan(own)), axis=1)
    nearest = values[np.lexsort((-found.weights, n_moved))[0]]
    return [
        Side(side.column, side.bounds, side.own, float(value), side.low, side.high, side.codes)
        for side, value in zip(sides, nearest, strict=True)
    ]


def _side(state: Fitted, found: FoundChange, c: int, own: float, limits: Limits, margin: float) -> Side:
    column = state.encoding.columns[c]
    name, missing = state.encoding.names[column.source], bool(found.missing[c])
    if not found.has_values[c]:
        return Side(c, Bounds(name, missing=True, values=False, part=column.part), own, math.nan)
    if column.kind == "category":
        return _category_side(state, found, c, own, limits)
    first, last = limits.ends(c, own)
    low, high = _ends(state, c, found.low[c], found.high[c], own)
    low, high = max(low, first), min(high, last)
    # Where the column has no missing values, a box without ends asks nothing.
    is_open = math.isinf(low) and math.isinf(high)
    bounds = Bounds(name, low, high, low > -INF, True, missing=missing, part=column.part)
    if math.isnan(own):
        point = own if missing else min(max(_middle(state, found, c), low), high)
    else:
        point = own if low <= own <= high else _inside(state, found, c, low if own < low else high, own < low, margin)
        point = min(max(point, low), high)
    return Side(c, None if is_open and (missing or not math.isnan(own)) else bounds, own, point, low, high)


def _middle(state: Fitted, found: FoundChange, c: int) -> float:
    values = state.forest.X[found.rows, c]
    known = values[~np.isnan(values)]
    return float(np.sort(known)[len(known) // 2]) if len(known) else 0.0


def _inside(state: Fitted, found: FoundChange, c: int, end: float, is_low: bool, margin: float) -> float:
    """Return the value beyond an end such that a share of the training rows lies between, or the middle of the box."""
    values = state.ends.sorted_column(c)
    n_between = math.ceil(margin * len(values))
    if not n_between or not len(found.rows):
        return end
    if is_low:
        at = int(np.searchsorted(values, end, side="left")) + n_between - 1
        return max(end, min(float(values[min(at, len(values) - 1)]), _middle(state, found, c)))
    at = int(np.searchsorted(values, end, side="right")) - n_between
    return min(end, max(float(values[max(at, 0)]), _middle(state, found, c)))


def _category_side(state: Fitted, found: FoundChange, c: int, own: float, limits: Limits) -> Side:
    column, missing = state.encoding.columns[c], bool(found.missing[c])
    allowed = limits.labels.get(c, range(len(column.labels)))
    first, last = limits.ends(c, own)
    codes = tuple(code for code in allowed if found.low[c] < code <= found.high[c] and first <= code <= last)
    name = state.encoding.names[column.source]
    bounds = Bounds(name, missing=missing, part=column.part, **_labels(column, codes, c in limits.labels))
    is_all = len(codes) == len(column.labels)
    stays = (math.isnan(own) and missing) or own in codes
    point = own if stays else float(_usual(state, found, c, codes, own))
    keeps_all = is_all and (missing or not math.isnan(own))
    return Side(c, None if keeps_all else bounds, own, point, codes=codes)


def _labels(column: Column, codes: tuple[int, ...], is_listed: bool) -> dict[str, Any]:
    """Name the categories of some codes; if rare ones are among them, all others: any label not named is rare."""
    excluded = column.rare in codes and not is_listed
    named = [
        code for code in range(len(column.labels)) if (code in codes) != excluded and (is_listed or code != column.rare)
    ]
    labels = tuple(label for code in named for label in column.labels[code])
    return {"labels": labels, "excluded": excluded} if labels else {}


def _usual(state: Fitted, found: FoundChange, c: int, codes: tuple[int, ...], own: float) -> int:
    """Choose the category that most of the rows in the box have; among equals the one nearest to the row's own.

    Categories with an order of their own are like numbers: the nearest one comes first.
    """
    column = state.encoding.columns[c]
    if column.is_ordered and not math.isnan(own):
        return min(codes, key=lambda code: (code == column.rare, abs(code - own)))
    weight = dict.fromkeys(codes, 0.0)
    for value, w in zip(state.forest.X[found.rows, c].tolist(), found.weights.tolist(), strict=True):
        if value in weight:
            weight[int(value)] += w
    rare = column.rare
    at = 0.0 if math.isnan(own) else own
    return min(codes, key=lambda code: (-round(weight[code], 12), code == rare, abs(code - at), code))


def _ends(state: Fitted, c: int, low: np.float32, high: np.float32, own: float) -> tuple[float, float]:
    """Round both ends to few digits, inwards: what the box covers and what it does not stay as they are."""
    values = state.ends.sorted_column(c)
    is_whole = state.encoding.columns[c].kind != "number" and (math.isnan(own) or own == math.floor(own))
    ends = [-INF, INF]
    for i, threshold in enumerate((low, high)):
        if np.isinf(threshold):
            continue
        at = int(np.searchsorted(values, threshold, side="right"))
        beneath = float(values[at - 1]) if at > 0 else -INF
        above = float(values[at]) if at < len(values) else INF
        if not math.isnan(own):
            beneath, above = (max(beneath, own), above) if own <= threshold else (beneath, min(above, own))
        if is_whole:
            side: Any = "high" if i else "low"
            end, is_closed = round_whole_end(beneath, above, float(threshold), side, side)
            ends[i] = end if is_closed else end - 1
        elif i:
            ends[i] = round_end(beneath, above, float(threshold), "high")
        else:  # the mirror image: -value <= the last number below -threshold
            mirrored = float(np.nextafter(-threshold, np.float32(-np.inf)))
            ends[i] = -round_end(-above, -beneath, mirrored, "high")
    return ends[0] + 0.0, ends[1] + 0.0
