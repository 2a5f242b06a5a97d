"""The points that a proof is about: pieces of columns, the domain that they make up, and boxes in it.

An axis is one column, or a group of columns that take only the combinations of their pieces that rows have.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._table.condition import Condition
from suffice.errors import InputValueError, did_you_mean
from suffice.proofs.ensemble import Ensemble, Floats

Flags = NDArray[np.bool_]
Point = NDArray[np.int32]
# Ends of bounds, and values of exceptions, are rounded by up to this share of the range of their column.
ROUNDED = 0.002
_CONSTRAINT = re.compile(r"\s*(.+?)\s*(<=|>=)\s*(.+?)\s*")


@dataclass(frozen=True)
class Grid:
    """Which numbers a column can hold."""

    is_whole: bool = False

    def first(self, end: Floats, is_open: bool) -> Floats:
        """Return the smallest numbers from (or, if it is open, above) ends."""
        if self.is_whole:
            return np.floor(end) + 1 if is_open else np.ceil(end)
        return np.nextafter(end, np.inf) if is_open else np.asarray(end, dtype=np.float64)

    def last(self, end: Floats, is_open: bool) -> Floats:
        """Return the largest numbers up to (or, if it is open, below) ends."""
        return -self.first(-np.asarray(end, dtype=np.float64), is_open)


@dataclass(frozen=True, eq=False)
class Axis:
    """The pieces of a column or of a group: the first and the last value of each, by piece and column."""

    name: str
    columns: tuple[int, ...]
    first: Floats
    last: Floats
    grids: tuple[Grid | None, ...]  # by column; None for labels

    @property
    def n_pieces(self) -> int:
        """The number of pieces."""
        return len(self.first)

    def pieces(self, values: Floats) -> Point:
        """Find the pieces in which rows lie; -1 if there is none."""
        pieces = np.full(len(values), -1, dtype=np.int32)
        if len(self.columns) == 1:
            own, known = values[:, self.columns[0]], int(np.count_nonzero(~np.isnan(self.first)))
            place = np.minimum(np.searchsorted(self.last[:known, 0], own), max(known - 1, 0))
            is_in = (self.first[place, 0] <= own) & (own <= self.last[place, 0])
            pieces[is_in] = place[is_in]
            pieces[np.isnan(own)] = known if known < self.n_pieces else -1
            return pieces
        own = values[:, list(self.columns)]
        for p, (first, last) in enumerate(zip(self.first, self.last, strict=True)):
            is_in = ((first <= own) & (own <= last)) | (np.isnan(own) & np.isnan(first))
            pieces[is_in.all(axis=1)] = p
        return pieces


@dataclass(frozen=True, eq=False)
class Box:
    """A part of the domain: by axis, which pieces belong to it, and the first and last of their values in it."""

    allowed: tuple[Flags, ...]
    first: tuple[Floats, ...]
    last: tuple[Floats, ...]

    @cached_property
    def flags(self) -> NDArray[np.uint8]:
        """The pieces of all axes in one line, as the core takes them."""
        return np.concatenate(self.allowed).astype(np.uint8)

    @property
    def empty_axis(self) -> int | None:
        """An axis of which nothing belongs to the box."""
        return next((i for i, allowed in enumerate(self.allowed) if not allowed.any()), None)


@dataclass(frozen=True, eq=False)
class Domain:
    """All points that are considered, with the rows of the table from which they were learnt."""

    ensemble: Ensemble
    axes: tuple[Axis, ...]
    rows: Floats
    spread: Floats  # by column: the distance of two rows is the sum of |difference| / spread; 0 for labels
    at_most: tuple[tuple[int, int], ...] = ()  # columns (a, b) with a <= b

    @classmethod
    def learn(
        cls,
        ensemble: Ensemble,
        rows: Floats,
        seen: Floats | None = None,
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        domain: Mapping[str, Any] | None = None,
        constraints: Sequence[str] = (),
    ) -> Domain:
        """Learn it from the rows of a table, or all that are seen: also further ones that must belong to it."""
        names = [column.name for column in ensemble.columns]
        if not isinstance(domain, Mapping | None):
            raise TypeError(f"`domain` must be a dict of columns to (low, high) or lists of labels, got {domain!r}.")
        stated = dict(domain or {})
        for name in stated:
            if name not in names:
                raise ValueError(f"In `domain`: unknown column {name!r}.{did_you_mean(name, names)}")
        if not len(rows):
            raise ValueError("A proof needs the rows of a table, which tell the range of each column: `X` has none.")
        seen = rows if seen is None else seen
        singles = [_axis_of_column(ensemble, c, seen[:, c], stated.get(name)) for c, name in enumerate(names)]
        grouped = {names.index(m): g for g, members in (groups or {}).items() for m in members if m in names}
        axes: list[Axis] = []
        for c, axis in enumerate(singles):
            members = [i for i in grouped if grouped[i] == grouped.get(c)]
            if len(members) < 2:
                axes.append(axis)
            elif c == members[0]:
                axes.append(_join(grouped[c], [singles[i] for i in members], seen))
        is_number = np.array([column.labels is None for column in ensemble.columns])
        known = np.where(np.isnan(rows), np.nanmin(rows, axis=0, initial=np.inf), rows)
        spread = np.where(is_number, np.ptp(np.where(np.isfinite(known), known, 0.0), axis=0), 0.0)
        at_most = tuple(_read_constraint(text, ensemble) for text in check_names("constraints", constraints))
        return cls(ensemble, tuple(axes), rows, spread, at_most)

    @cached_property
    def begins(self) -> NDArray[np.intp]:
        """By axis, and the end: the place of its first piece among all."""
        return np.cumsum([0, *(axis.n_pieces for axis in self.axes)])

    @cached_property
    def axis_of(self) -> dict[int, int]:
        """The axis of each column."""
        return {c: i for i, axis in enumerate(self.axes) for c in axis.columns}

    def pieces(self, values: Floats) -> Point:
        """Find the pieces of rows, one line for each; -1 where a value is outside of the domain."""
        return np.stack([axis.pieces(values) for axis in self.axes], axis=1) if len(values) else np.empty((0, 0), "i4")

    def check_rows(self, values: Floats) -> Point:
        """Find the pieces of rows that must belong to the domain."""
        points = self.pieces(values)
        outside = np.argwhere(points < 0)
        if len(outside):
            row, i = (int(k) for k in outside[0])
            axis = self.axes[i]
            raise InputValueError(
                f"{axis.name!r} is outside of the domain",
                f": it is {[self.value_of(c, values[row, c]) for c in axis.columns]}. State a `domain` that holds it.",
                row=row,
                column=axis.name,
            )
        return points

    def value_of(self, column: int, value: float) -> Any:
        """Return a value as the user has it: a number, a label or None."""
        labels = self.ensemble.columns[column].labels
        if np.isnan(value):
            return None
        if labels is not None:
            return labels[int(value)]
        grid = self.axes[self.axis_of[column]].grids[self.axes[self.axis_of[column]].columns.index(column)]
        is_whole = grid is not None and grid.is_whole
        return int(value) if is_whole and np.isfinite(value) else float(value)

    def whole(self) -> Box:
        """Return the box of all points."""
        return Box(
            tuple(np.ones(axis.n_pieces, dtype=bool) for axis in self.axes),
            tuple(axis.first for axis in self.axes),
            tuple(axis.last for axis in self.axes),
        )

    def box(self, conditions: Sequence[Condition]) -> Box:
        """Return the part in which conditions hold."""
        box = self.whole()
        allowed, firsts, lasts = list(box.allowed), list(box.first), list(box.last)
        names = [column.name for column in self.ensemble.columns]
        for condition in conditions:
            if condition.column not in names or condition.part is not None:
                raise ValueError(
                    f"{self.ensemble.name} has no column {condition.name!r}, about which the rule asks."
                    f"{did_you_mean(condition.column, names)}"
                )
            c = names.index(condition.column)
            i = self.axis_of[c]
            m = self.axes[i].columns.index(c)
            first, last = firsts[i].copy(), lasts[i].copy()
            is_in = self._cut(condition, c, self.axes[i].grids[m], first[:, m], last[:, m])
            allowed[i], firsts[i], lasts[i] = allowed[i] & is_in, first, last
        return Box(tuple(allowed), tuple(firsts), tuple(lasts))

    def _cut(self, condition: Condition, c: int, grid: Grid | None, first: Floats, last: Floats) -> Flags:
        """Cut pieces to a condition, and tell which of them meet it."""
        is_missing, labels = np.isnan(first), self.ensemble.columns[c].labels
        if grid is None:
            assert labels is not None
            holds = np.array([*condition.covers(np.array([*labels, None], dtype=object))[:-1], condition.missing])
            return holds[np.where(is_missing, len(labels), first).astype(np.intp)]
        if condition.labels is not None:  # a column of numbers that a rule reads as labels
            words = {"no": 0.0, "yes": 1.0}
            numbers = [words[v] if v in words else float(v) for v in condition.labels]
            holds = np.array([np.any((first[p] <= numbers) & (numbers <= last[p])) for p in range(len(first))])
            if condition.excluded:
                holds = ~(holds & (first == last))
        else:
            low = grid.first(np.array(condition.low), not condition.low_closed)
            high = grid.last(np.array(condition.high), not condition.high_closed)
            np.maximum(first, low, out=first)
            np.minimum(last, high, out=last)
            holds = (first <= last) & condition.values
        return np.where(is_missing, condition.missing, holds)

    def values(self, box: Box, point: Point, near: Floats) -> Floats:
        """Return the values of a point of pieces that are nearest to a row."""
        values = near.copy()
        for i, axis in enumerate(self.axes):
            for m, c in enumerate(axis.columns):
                first, last = box.first[i][point[i], m], box.last[i][point[i], m]
                values[c] = first if np.isnan(first) or np.isnan(near[c]) else min(max(near[c], first), last)
        return self._keep_constraints(box, point, values)

    def _keep_constraints(self, box: Box, point: Point, values: Floats) -> Floats:
        for a, b in self.at_most:
            if values[a] > values[b]:  # meet between them, as far as both pieces allow it
                low, high = (self._end(ends, point, c) for ends, c in ((box.first, a), (box.last, b)))
                values[b] = min(max(values[b], min(values[a], high)), high)
                values[a] = max(min(values[a], values[b]), low)
        return values

    def unmet_constraint(self, box: Box) -> str | None:
        """Return a constraint that no point of a box meets; a missing value meets each."""

        def in_box(ends: tuple[Floats, ...], column: int) -> Floats:
            i = self.axis_of[column]
            within: Floats = ends[i][box.allowed[i], self.axes[i].columns.index(column)]
            return within

        names = [column.name for column in self.ensemble.columns]
        unmet = ((a, b) for a, b in self.at_most if in_box(box.first, a).min() > in_box(box.last, b).max())
        return next((f"{names[a]} <= {names[b]}" for a, b in unmet), None)

    def _end(self, ends: tuple[Floats, ...], point: Point, column: int) -> float:
        i = self.axis_of[column]
        return float(ends[i][point[i], self.axes[i].columns.index(column)])

    def shorten(self, box: Box, values: Floats, share: float) -> Floats:
        """Move numbers that stand at an end of their piece inwards, by up to a share of the range, to fewer digits."""
        point, moved = self.pieces(values[None])[0], values.copy()
        for i, axis in enumerate(self.axes):
            for m, c in enumerate(axis.columns):
                first, last, slack = box.first[i][point[i], m], box.last[i][point[i], m], share * self.spread[c]
                if axis.grids[m] is not None and values[c] in (first, last):
                    low, high = (first, min(last, first + slack)), (max(first, last - slack), last)
                    moved[c] = round_within(*low) if values[c] == first else round_within(*high[::-1])
        return moved if self.holds(box, moved[None])[0] else values

    def holds(self, box: Box, values: Floats) -> Flags:
        """Tell which rows of values belong to a box."""
        points = self.pieces(values)
        is_in = np.all([box.allowed[i][points[:, i]] & (points[:, i] >= 0) for i in range(len(self.axes))], axis=0)
        for i, axis in enumerate(self.axes):
            own, first, last = values[:, list(axis.columns)], box.first[i][points[:, i]], box.last[i][points[:, i]]
            is_in &= (((first <= own) & (own <= last)) | (np.isnan(own) & np.isnan(first))).all(axis=1)
        for a, b in self.at_most:
            is_in &= ~(values[:, a] > values[:, b])
        return np.asarray(is_in, dtype=np.bool_)

    def distances(self, values: Floats, rows: Floats) -> Floats:
        """Return the distance of a row of values to other rows."""
        return np.asarray(self.gaps(values, rows).sum(axis=1))

    def gaps(self, values: Floats, rows: Floats) -> Floats:
        """Return by row and column what the distance adds up."""
        differ = (values != rows) & ~(np.isnan(values) & np.isnan(rows))
        with np.errstate(invalid="ignore", divide="ignore"):
            scaled = np.abs(values - rows) / self.spread
        return np.where(differ, np.where((self.spread > 0) & np.isfinite(scaled), scaled, 1.0), 0.0)


def round_within(end: float, limit: float) -> float:
    """Return the number with the fewest digits from an end to a limit, near the end."""
    rounding = ROUND_CEILING if limit > end else ROUND_FLOOR
    for digits in range(1, 17):
        rounded = float(Context(prec=digits, rounding=rounding).plus(Decimal(float(end))))
        if min(end, limit) <= rounded <= max(end, limit):
            return rounded
    return float(end)


def _axis_of_column(ensemble: Ensemble, c: int, values: Floats, stated: Any) -> Axis:
    """Cut a column into the pieces that its values and what is stated about it allow."""
    column = ensemble.columns[c]
    known = values[~np.isnan(values)]
    if column.labels is not None:
        codes = np.unique(known)
        if stated is not None:
            codes = np.array(
                sorted(
                    _code(column.name, column.labels, label)
                    for label in check_names(f"domain[{column.name!r}]", stated)
                ),
                dtype=np.float64,
            )
        first = last = codes
        grid = None
    else:
        low, high = (known.min(), known.max()) if len(known) else (math.inf, -math.inf)
        if stated is not None:
            low, high = read_range(f"domain[{column.name!r}]", stated)
        is_whole = len(known) > 0 and bool(np.all(known == np.floor(known)))
        grid = Grid(is_whole)
        cuts = np.unique(ensemble.threshold[ensemble.column == c])
        first = np.maximum(grid.first(np.append(-np.inf, cuts), True), grid.first(np.array(low), False))
        last = np.minimum(grid.last(np.append(cuts, np.inf), False), grid.last(np.array(high), False))
        first, last = first[keep := first <= last], last[keep]
    if stated is not None and not len(first):
        raise ValueError(f"`domain` leaves no value of {column.name!r}: {stated!r}.")
    if np.isnan(values).any():
        first, last = np.append(first, np.nan), np.append(last, np.nan)
    return Axis(column.name, (c,), first[:, None], last[:, None], (grid,))


def check_names(argument: str, names: Any) -> list[str]:
    """Refuse a single text where several are wanted."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"`{argument}` must be a list of texts, got {names!r}.")
    return list(names)


def read_range(name: str, stated: Any) -> tuple[float, float]:
    """Read (low, high)."""
    try:
        low, high = (float(end) for end in stated)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not low <= high:
        raise ValueError(f"`{name}` must be (low, high) with low <= high, got {stated!r}.")
    return low, high


def _code(name: str, labels: Sequence[Any], label: Any) -> int:
    if label not in labels:
        raise ValueError(
            f"In `domain` of {name!r}: unknown label {label!r}; there are {list(labels[:20])}."
            f"{did_you_mean(label, map(str, labels))}"
        )
    return list(labels).index(label)


def _join(name: str, axes: Sequence[Axis], rows: Floats) -> Axis:
    """Make an axis of the combinations of pieces that rows have."""
    points = np.stack([axis.pieces(rows) for axis in axes], axis=1)
    combinations = np.unique(points[(points >= 0).all(axis=1)], axis=0)
    if not len(combinations):
        raise ValueError(f"`domain` leaves no combination of the columns of {name!r}.")
    first = np.stack([axis.first[combinations[:, m], 0] for m, axis in enumerate(axes)], axis=1)
    last = np.stack([axis.last[combinations[:, m], 0] for m, axis in enumerate(axes)], axis=1)
    grids = tuple(axis.grids[0] for axis in axes)
    return Axis(name, tuple(axis.columns[0] for axis in axes), first, last, grids)


def _read_constraint(text: str, ensemble: Ensemble) -> tuple[int, int]:
    names = [column.name for column in ensemble.columns if column.labels is None]
    found = _CONSTRAINT.fullmatch(text) if isinstance(text, str) else None
    if found is None or found[1] not in names or found[3] not in names:
        raise ValueError(f"A constraint reads 'a <= b' with two columns of numbers, got {text!r}.")
    first, second = operator.itemgetter(1, 3)(found) if found[2] == "<=" else operator.itemgetter(3, 1)(found)
    columns = [column.name for column in ensemble.columns]
    return columns.index(first), columns.index(second)
