"""The points that a proof is about: pieces of columns, the domain that they make up, and boxes in it."""

from __future__ import annotations

import math
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
class Axis:
    """A column, or a group of columns that take only the combinations of their pieces that rows have."""

    name: str
    columns: tuple[int, ...]
    n_pieces: int


@dataclass(frozen=True, eq=False)
class Box:
    """A part of the domain: by axis, which pieces belong to it; by column, the first and last value of each piece."""

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
    whole: Box
    is_whole: tuple[bool, ...]  # by column: whether it holds whole numbers only
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
        names = ensemble.names
        if not isinstance(domain, Mapping | None):
            raise TypeError(f"`domain` must be a dict of columns to (low, high) or lists of labels, got {domain!r}.")
        stated = dict(domain or {})
        for name in stated:
            if name not in names:
                raise ValueError(f"In `domain`: unknown column {name!r}.{did_you_mean(name, names)}")
        if not len(rows):
            raise ValueError("A proof needs the rows of a table, which tell the range of each column: `X` has none.")
        seen = rows if seen is None else seen
        pieces = [_cut_column(ensemble, c, seen[:, c], stated.get(name)) for c, name in enumerate(names)]
        first, last, is_whole = (list(part) for part in zip(*pieces, strict=True))
        grouped = {names.index(m): g for g, members in (groups or {}).items() for m in members if m in names}
        axes: list[Axis] = []
        for c, name in enumerate(names):
            members = tuple(i for i in grouped if grouped[i] == grouped.get(c))
            if len(members) < 2:
                axes.append(Axis(name, (c,), len(first[c])))
            elif c == members[0]:
                points = np.stack([_find_pieces(seen[:, m], first[m], last[m]) for m in members], axis=1)
                combinations = np.unique(points[(points >= 0).all(axis=1)], axis=0)
                if not len(combinations):
                    raise ValueError(f"`domain` leaves no combination of the columns of {grouped[c]!r}.")
                for m, own in zip(members, combinations.T, strict=True):
                    first[m], last[m] = first[m][own], last[m][own]
                axes.append(Axis(grouped[c], members, len(combinations)))
        is_number = np.array([column.labels is None for column in ensemble.columns])
        known = np.where(np.isnan(rows), np.nanmin(rows, axis=0, initial=np.inf), rows)
        spread = np.where(is_number, np.ptp(np.where(np.isfinite(known), known, 0.0), axis=0), 0.0)
        whole = Box(tuple(np.ones(axis.n_pieces, dtype=bool) for axis in axes), tuple(first), tuple(last))
        at_most = tuple(_read_constraint(text, ensemble) for text in check_names("constraints", constraints))
        return cls(ensemble, tuple(axes), whole, tuple(is_whole), rows, spread, at_most)

    @cached_property
    def begins(self) -> NDArray[np.intp]:
        """By axis, and the end: the place of its first piece among all."""
        return np.cumsum([0, *(axis.n_pieces for axis in self.axes)])

    @cached_property
    def axis_of(self) -> list[int]:
        """The axis of each column."""
        places = {c: i for i, axis in enumerate(self.axes) for c in axis.columns}
        return [places[c] for c in range(len(places))]

    def pieces(self, values: Floats) -> Point:
        """Find the pieces of rows, one line for each; -1 where a value is outside of the domain."""
        first, last = self.whole.first, self.whole.last
        points = np.full((len(values), len(self.axes)), -1, dtype=np.int32)
        for i, axis in enumerate(self.axes):
            if len(axis.columns) == 1:
                [c] = axis.columns
                points[:, i] = _find_pieces(values[:, c], first[c], last[c])
                continue
            for p in range(axis.n_pieces):
                is_in = [_lie_within(values[:, c], first[c][p], last[c][p]) for c in axis.columns]
                points[np.all(is_in, axis=0), i] = p
        return points

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
        return int(value) if self.is_whole[column] and np.isfinite(value) else float(value)

    def box(self, conditions: Sequence[Condition]) -> Box:
        """Return the part in which conditions hold."""
        allowed, first, last = list(self.whole.allowed), list(self.whole.first), list(self.whole.last)
        names = self.ensemble.names
        for condition in conditions:
            if condition.column not in names or condition.part is not None:
                raise ValueError(
                    f"{self.ensemble.name} has no column {condition.name!r}, about which the rule asks."
                    f"{did_you_mean(condition.column, names)}"
                )
            c = names.index(condition.column)
            is_in, first[c], last[c] = self._cut(condition, c, first[c], last[c])
            allowed[self.axis_of[c]] = allowed[self.axis_of[c]] & is_in
        return Box(tuple(allowed), tuple(first), tuple(last))

    def _cut(self, condition: Condition, c: int, first: Floats, last: Floats) -> tuple[Flags, Floats, Floats]:
        """Tell which pieces of a column meet a condition, and cut them to it."""
        is_missing, labels = np.isnan(first), self.ensemble.columns[c].labels
        if labels is not None:
            holds = np.array([*condition.covers(np.array([*labels, None], dtype=object))[:-1], condition.missing])
            return holds[np.where(is_missing, len(labels), first).astype(np.intp)], first, last
        if condition.labels is not None:  # a column of numbers that a rule reads as labels
            words = {"no": 0.0, "yes": 1.0}
            numbers = [words[v] if v in words else float(v) for v in condition.labels]
            holds = np.array([np.any((first[p] <= numbers) & (numbers <= last[p])) for p in range(len(first))])
            if condition.excluded:
                holds = ~(holds & (first == last))
        else:
            first = np.maximum(first, _smallest(condition.low, not condition.low_closed, self.is_whole[c]))
            last = np.minimum(last, _largest(condition.high, not condition.high_closed, self.is_whole[c]))
            holds = (first <= last) & condition.values
        return np.where(is_missing, condition.missing, holds), first, last

    def values(self, box: Box, point: Point, near: Floats) -> Floats:
        """Return the values of a point of pieces that are nearest to a row."""
        values = near.copy()
        for c, i in enumerate(self.axis_of):
            first, last = box.first[c][point[i]], box.last[c][point[i]]
            values[c] = first if np.isnan(first) or np.isnan(near[c]) else min(max(near[c], first), last)
        for a, b in self.at_most:
            if values[a] > values[b]:  # meet between them, as far as both pieces allow it
                low, high = box.first[a][point[self.axis_of[a]]], box.last[b][point[self.axis_of[b]]]
                values[b] = min(max(values[b], min(values[a], high)), high)
                values[a] = max(min(values[a], values[b]), low)
        return values

    def unmet_constraint(self, box: Box) -> str | None:
        """Return a constraint that no point of a box meets; a missing value meets each."""
        names, allowed = self.ensemble.names, [box.allowed[i] for i in self.axis_of]
        unmet = ((a, b) for a, b in self.at_most if box.first[a][allowed[a]].min() > box.last[b][allowed[b]].max())
        return next((f"{names[a]} <= {names[b]}" for a, b in unmet), None)

    def shorten(self, box: Box, values: Floats, share: float) -> Floats:
        """Move numbers that stand at an end of their piece inwards, by up to a share of the range, to fewer digits."""
        point, moved = self.pieces(values[None])[0], values.copy()
        for c, i in enumerate(self.axis_of):
            first, last, slack = box.first[c][point[i]], box.last[c][point[i]], share * self.spread[c]
            if self.ensemble.columns[c].labels is None and values[c] in (first, last):
                inwards = (first, min(last, first + slack)) if values[c] == first else (last, max(first, last - slack))
                moved[c] = round_within(*inwards)
        return moved if self.holds(box, moved[None])[0] else values

    def holds(self, box: Box, values: Floats) -> Flags:
        """Tell which rows of values belong to a box."""
        points = self.pieces(values)
        is_in = np.all([allowed[points[:, i]] & (points[:, i] >= 0) for i, allowed in enumerate(box.allowed)], axis=0)
        for c, i in enumerate(self.axis_of):
            is_in &= _lie_within(values[:, c], box.first[c][points[:, i]], box.last[c][points[:, i]])
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


def _lie_within(values: Floats, first: Any, last: Any) -> Flags:
    """Tell which values lie within their pieces."""
    return np.asarray(((first <= values) & (values <= last)) | (np.isnan(values) & np.isnan(first)))


def _find_pieces(values: Floats, first: Floats, last: Floats) -> NDArray[np.intp]:
    """Find the piece of a column in which each value lies; -1 if there is none."""
    # NaN, the piece of missing values, is the last one, and stands behind all numbers.
    place = np.minimum(np.searchsorted(last, values), len(last) - 1)
    return np.where(_lie_within(values, first[place], last[place]), place, -1)


def _smallest(end: Any, is_open: bool, is_whole: bool) -> Floats:
    """Return the smallest numbers from (or, if it is open, above) ends."""
    if is_whole:
        return np.asarray(np.floor(end) + 1 if is_open else np.ceil(end))
    return np.asarray(np.nextafter(end, np.inf) if is_open else end, dtype=np.float64)


def _largest(end: Any, is_open: bool, is_whole: bool) -> Floats:
    """Return the largest numbers up to (or, if it is open, below) ends."""
    return np.asarray(-_smallest(-np.asarray(end, dtype=np.float64), is_open, is_whole))


def round_within(end: float, limit: float) -> float:
    """Return the number with the fewest digits from an end to a limit, near the end."""
    rounding = ROUND_CEILING if limit > end else ROUND_FLOOR
    for digits in range(1, 17):
        rounded = float(Context(prec=digits, rounding=rounding).plus(Decimal(float(end))))
        if min(end, limit) <= rounded <= max(end, limit):
            return rounded
    return float(end)


def _cut_column(ensemble: Ensemble, c: int, values: Floats, stated: Any) -> tuple[Floats, Floats, bool]:
    """Cut a column into the pieces that its values and what is stated about it allow: their first and last values."""
    column = ensemble.columns[c]
    known = values[~np.isnan(values)]
    is_whole = column.labels is None and len(known) > 0 and bool(np.all(known == np.floor(known)))
    if column.labels is not None:
        codes = set(known.tolist())
        if stated is not None:
            codes = {_code(column.name, column.labels, v) for v in check_names(f"domain[{column.name!r}]", stated)}
        first = last = np.array(sorted(codes), dtype=np.float64)
    else:
        low, high = (known.min(), known.max()) if len(known) else (math.inf, -math.inf)
        if stated is not None:
            low, high = read_range(f"domain[{column.name!r}]", stated)
        cuts = np.unique(ensemble.threshold[ensemble.column == c])
        first = np.maximum(_smallest(np.append(-np.inf, cuts), True, is_whole), _smallest(low, False, is_whole))
        last = np.minimum(_largest(np.append(cuts, np.inf), False, is_whole), _largest(high, False, is_whole))
        first, last = first[keep := first <= last], last[keep]
    if stated is not None and not len(first):
        raise ValueError(f"`domain` leaves no value of {column.name!r}: {stated!r}.")
    if np.isnan(values).any():
        first, last = np.append(first, np.nan), np.append(last, np.nan)
    return first, last, is_whole


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


def _read_constraint(text: str, ensemble: Ensemble) -> tuple[int, int]:
    names = [column.name for column in ensemble.columns if column.labels is None]
    found = _CONSTRAINT.fullmatch(text) if isinstance(text, str) else None
    if found is None or found[1] not in names or found[3] not in names:
        raise ValueError(f"A constraint reads 'a <= b' with two columns of numbers, got {text!r}.")
    a, b = (ensemble.names.index(name) for name in (found[1], found[3]))
    return (a, b) if found[2] == "<=" else (b, a)
