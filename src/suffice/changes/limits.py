"""What may change, and how far: fixed variables, directions and bounds, as boxes of the matrix; and those of rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice._forest.fitted import Fitted
from suffice._forest.outcomes import range_text
from suffice._table.condition import Condition
from suffice._table.encoding import Column
from suffice._text import join, to_plain
from suffice.errors import did_you_mean

Matrix: TypeAlias = NDArray[np.float32]
Boxes: TypeAlias = dict[str, NDArray[Any]]
"""Boxes as the core takes them, low < value <= high: arrays "low", "high", "has_values" and "missing"."""
LOWEST, HIGHEST = np.float32(-np.inf), np.float32(np.inf)
# The core searches at most this many variables.
MAX_CHANGEABLE = 63


@dataclass(frozen=True, eq=False)
class Limits:
    """What may change, and how far."""

    changeable: tuple[int, ...]
    low: dict[int, float]
    high: dict[int, float]
    labels: dict[int, tuple[int, ...]]
    up: frozenset[int] = frozenset()
    down: frozenset[int] = frozenset()
    fixed: tuple[str, ...] = ()

    def ends(self, column: int, own: float) -> tuple[float, float]:
        """Return the smallest and the largest number, or code of a category, that a column of a row may have."""
        low, high = self.low.get(column, -math.inf), self.high.get(column, math.inf)
        if not math.isnan(own):
            low = max(low, own) if column in self.up else low
            high = min(high, own) if column in self.down else high
        return low, high

    def lets_move(self, column: int, own: float) -> bool:
        """Tell whether a column of a row may have another value than its own."""
        low, high = self.ends(column, own)
        if column in self.labels:
            return any(low <= code <= high and code != own for code in self.labels[column])
        return low < high or (low == high and low != own)

    def boxes(self, X: Matrix) -> Boxes:
        """Return where each row may move."""
        low, high = np.full(X.shape, LOWEST), np.full(X.shape, HIGHEST)
        for column, end in self.low.items():
            low[:, column] = below(end)
        for column, end in self.high.items():
            high[:, column] = at_most(end)
        for column in self.up:  # fmax and fmin pass over missing values
            low[:, column] = np.fmax(low[:, column], np.nextafter(X[:, column], LOWEST))
        for column in self.down:
            high[:, column] = np.fmin(high[:, column], X[:, column])
        return make_boxes(low, high, low < high, np.isnan(X))


def make_boxes(low: Matrix, high: Matrix, has_values: NDArray[Any], missing: NDArray[Any]) -> Boxes:
    """Put boxes together, as the core takes them."""
    return {"low": low, "high": high, "has_values": has_values.astype(np.uint8), "missing": missing.astype(np.uint8)}


def region_of_rows(X: Matrix) -> Boxes:
    """Return the boxes that hold one row each."""
    is_missing = np.isnan(X)
    low, high = np.where(is_missing, HIGHEST, np.nextafter(X, LOWEST)), np.where(is_missing, LOWEST, X)
    return make_boxes(low, high, ~is_missing, is_missing)


def lie_within(
    X: Matrix, low: NDArray[Any], high: NDArray[Any], has_values: NDArray[Any], missing: NDArray[Any]
) -> NDArray[np.bool_]:
    """Tell which rows lie in a box."""
    with np.errstate(invalid="ignore"):
        has_value = (low < X) & (high >= X) & (has_values > 0)
    return np.asarray(np.all(has_value | (np.isnan(X) & (missing > 0)), axis=1))


def regions_of(state: Fitted, boxes: Sequence[Sequence[Condition]]) -> Boxes:
    """Return the boxes that rules cover."""
    columns = state.encoding.columns
    shape = (len(boxes), len(columns))
    low, high = np.full(shape, LOWEST), np.full(shape, HIGHEST)
    has_values = np.ones(shape, dtype=bool)
    missing = np.repeat(np.isnan(state.forest.X).any(axis=0, keepdims=True), len(boxes), axis=0)
    place = {(state.encoding.names[column.source], column.part): c for c, column in enumerate(columns)}
    for i, box in enumerate(boxes):
        for bounds in box:
            key = (bounds.column, bounds.part)
            if key not in place:
                raise ValueError(f"A rule has a condition on {bounds.column!r}, which the table does not have.")
            c = place[key]
            missing[i, c] = bounds.missing
            if not bounds.values:
                has_values[i, c] = False
            elif columns[c].kind == "category":
                low[i, c], high[i, c] = _code_ends(columns[c], bounds)
            else:
                low[i, c], high[i, c] = _number_ends(bounds)
    return make_boxes(low, high, has_values & (low < high), missing)


def rows_in_region(X: NDArray[np.float32], regions: Boxes, i: int) -> NDArray[np.intp]:
    """Find the rows of a matrix that lie in a region."""
    return np.flatnonzero(lie_within(X, *(regions[name][i] for name in ("low", "high", "has_values", "missing"))))


def _number_ends(bounds: Condition) -> tuple[np.float32, np.float32]:
    low = LOWEST if math.isinf(bounds.low) else below(bounds.low) if bounds.low_closed else at_most(bounds.low)
    if math.isinf(bounds.high):
        return low, HIGHEST
    return low, at_most(bounds.high) if bounds.high_closed else below(bounds.high)


def _code_ends(column: Column, bounds: Condition) -> tuple[np.float32, np.float32]:
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


def take_boxes(boxes: Boxes, rows: Any) -> Boxes:
    """Return some of the boxes."""
    return {name: values[rows] for name, values in boxes.items()}


def at_most(end: float) -> np.float32:
    """Return the largest float32 up to an end."""
    with np.errstate(over="ignore"):
        rounded = np.float32(end)
    return rounded if float(rounded) <= end else np.float32(np.nextafter(rounded, LOWEST))


def below(end: float) -> np.float32:
    """Return the largest float32 below an end."""
    last = at_most(end)
    return last if float(last) < end else np.float32(np.nextafter(last, LOWEST))


def read_limits(
    state: Fitted,
    fixed: Sequence[str | int] | None,
    only: Sequence[str | int] | None,
    direction: Mapping[str, str] | None,
    bounds: Mapping[str, Any] | None,
) -> Limits:
    """Read what may change, and how far."""
    variables = state.variables
    allowed = set(range(len(variables))) if only is None else set(variables.read("only", only))
    kept = set(variables.read("fixed", state.declared.fixed if fixed is None else fixed))
    if fixed is None and only is not None:  # the call itself lets these change
        kept -= allowed
    both = sorted(variables.names[v] for v in kept & allowed) if only is not None else []
    if both:
        raise ValueError(f"`fixed` and `only` both name {both}: a variable may change or not.")
    changeable = sorted(allowed - kept)
    if not changeable:
        raise ValueError("Nothing may change: `fixed` and `only` leave no variable.")
    if len(changeable) > MAX_CHANGEABLE:  # those that matter most to the forest
        ranked = [v for v in (*state.ranking(), *changeable) if v in set(changeable)]
        changeable = sorted(list(dict.fromkeys(ranked))[:MAX_CHANGEABLE])
    ways: dict[str, set[int]] = {"up": set(), "down": set()}
    for name, way in (direction or {}).items():
        column = _column(state, "direction", name)
        if way not in ways:
            raise ValueError(f"`direction` of {name!r} must be 'up' or 'down', got {way!r}.")
        kind = state.encoding.columns[column]
        if kind.kind == "category" and not kind.is_ordered:
            raise ValueError(
                f"`direction` of {name!r}: its categories have no order. Make them an ordered type before the fit "
                "(pandas: an ordered Categorical, polars: an Enum), or list the allowed ones in `bounds`."
            )
        ways[way].add(column)
    low, high, labels = _read_bounds(state, bounds or {})
    stays = () if only is not None else tuple(variables.names[v] for v in sorted(kept))
    return Limits(tuple(changeable), low, high, labels, frozenset(ways["up"]), frozenset(ways["down"]), stays)


def notes_about(state: Fitted, limits: Limits, x: Matrix) -> list[str]:
    """Name what stays, and the bounds and directions of numbers that leave no value of a training row."""
    are_several = len(limits.fixed) > 1
    notes = [f"{join(limits.fixed)} {'stay as they are' if are_several else 'stays as it is'}."] * bool(limits.fixed)
    free = {c for v in limits.changeable for c in state.variables.columns[v]}
    for c in sorted(free & {*limits.low, *limits.high, *limits.up, *limits.down}):
        column, values = state.encoding.columns[c], state.forest.X[:, c]
        own, low, high = float(x[c]), limits.low.get(c, -math.inf), limits.high.get(c, math.inf)
        if column.kind == "category":
            continue
        if not np.any((low <= values) & (values <= high)):
            notes.append(
                f"No training row has {column.name} {range_text(low, high)} (training values range "
                f"{column.extent_text}), so nothing is known there."
            )
        elif (c in limits.up and not np.any(values > own)) or (c in limits.down and not np.any(values < own)):
            way = "higher" if c in limits.up else "lower"
            notes.append(f"No training row has a {way} {column.name} than {column.text_of(column.decode(own))}.")
    return notes


def _read_bounds(
    state: Fitted, ranges: Mapping[str, Any]
) -> tuple[dict[int, float], dict[int, float], dict[int, tuple[int, ...]]]:
    """Read intervals of numbers and lists of categories."""
    low: dict[int, float] = {}
    high: dict[int, float] = {}
    labels: dict[int, tuple[int, ...]] = {}
    for name, ends in ranges.items():
        column = _column(state, "bounds", name)
        kind = state.encoding.columns[column]
        if kind.kind == "category":
            labels[column] = _codes(name, kind, ends)
            continue
        first, last = _ends(name, ends)
        if first > -math.inf:
            low[column] = first
        if last < math.inf:
            high[column] = last
    return low, high, labels


def _column(state: Fitted, name: str, key: str) -> int:
    """Find the column of the matrix that a variable or a column name means."""
    names = [column.name for column in state.encoding.columns]
    if key in names:
        return names.index(key)
    if key in state.variables.names:
        columns = [names[c] for c in state.variables.columns[state.variables.position(key)]]
        raise ValueError(f"In `{name}`: {key!r} has several columns, name one of them: {columns}.")
    raise ValueError(f"In `{name}`: unknown variable {key!r}.{did_you_mean(key, names)}")


def _ends(name: str, ends: Any) -> tuple[float, float]:
    is_pair = isinstance(ends, Sequence) and not isinstance(ends, str) and len(ends) == 2
    try:
        if not is_pair:
            raise ValueError
        low = -math.inf if ends[0] is None else float(ends[0])
        high = math.inf if ends[1] is None else float(ends[1])
    except (TypeError, ValueError):
        raise ValueError(
            f"`bounds` of {name!r} must be (low, high), either of which may be None, got {ends!r}."
        ) from None
    if math.isnan(low) or math.isnan(high) or low > high:
        raise ValueError(f"`bounds` of {name!r} contradict each other: no number lies in {ends!r}.")
    return low, high


def _codes(name: str, column: Column, chosen: Any) -> tuple[int, ...]:
    if isinstance(chosen, str) or not isinstance(chosen, Sequence | AbstractSet | np.ndarray):
        raise ValueError(f"`bounds` of {name!r} must be a list of its categories, got {chosen!r}.")
    known = {label: code for code, labels in enumerate(column.labels) for label in labels}
    codes = set()
    for label in chosen:
        if to_plain(label) not in known:
            listed = list(known)[:10]
            raise ValueError(
                f"`bounds` of {name!r}: unknown category {label!r}; there are {listed}."
                f"{did_you_mean(label, map(str, known))}"
            )
        codes.add(known[to_plain(label)])
    if not codes:
        raise ValueError(f"`bounds` of {name!r} allow no category.")
    return tuple(sorted(codes))
