"""The ends of rules: from the forest's thresholds to the roundest bounds in the user's own values.

The forest compares float32 values with its thresholds, a rule compares the user's numbers with its ends. An end is
rounded such that every training row, and the explained row, stays on its side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice._table.condition import Condition

if TYPE_CHECKING:
    from suffice._table.encoding import Column, Encoding

Side: TypeAlias = Literal["low", "high"]


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of boxes over a training table, in the user's own values."""

    encoding: Encoding
    X: NDArray[np.float32]

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the sorted columns out of pickles."""
        return type(self), (self.encoding, self.X)

    def bounds(
        self, columns: Sequence[int], core_box: Mapping[str, NDArray[Any]], x: NDArray[np.float32]
    ) -> tuple[Condition, ...]:
        """Write the sides of a box in the user's own values. Sides that exclude nothing are left out."""
        kept = []
        everywhere = bool(core_box["holds_everywhere"])
        for c, column in enumerate(columns):
            # The values v of the column with low < v <= high.
            low, high, missing, has_values = (core_box[name][c] for name in ("low", "high", "missing", "has_values"))
            condition = self._bounds(column, low, high, x[column], bool(missing), bool(has_values), everywhere)
            has_ends = (condition.low, condition.high) != (-math.inf, math.inf)
            is_open = condition.values and condition.labels is None and not has_ends
            # Where the data have no missing values, "is known" would say nothing.
            if not (is_open and (missing or not self._has_missing(column))):
                kept.append(condition)
        return tuple(kept)

    def _bounds(
        self,
        c: int,
        low: np.float32,
        high: np.float32,
        x: np.float32,
        missing: bool,
        has_values: bool,
        everywhere: bool,
    ) -> Condition:
        column = self.encoding.columns[c]
        name = self.encoding.names[column.source]
        is_whole = column.kind != "number" and (np.isnan(x) or x == np.floor(x))
        # Nothing but missing values lies between ends with the same whole part.
        has_values = has_values and not (is_whole and np.floor(low) == np.floor(high))
        fields: dict[str, Any] = {"missing": missing, "values": has_values, "part": column.part}
        if not has_values or (np.isinf(low) and np.isinf(high)):
            return Condition(name, **fields)
        if column.kind == "category":
            # Ends around all categories only separate known from missing values.
            if not (low < 0 and high >= len(column.labels) - 1):
                fields.update(_labels_between(column, low, high))
            return Condition(name, **fields)
        reads = column.reads if is_whole else "number"  # the row itself may have a fraction
        return Condition(name, **fields, **self._number_ends(c, low, high, x, is_whole, everywhere), reads=reads)

    def _number_ends(
        self, c: int, low: np.float32, high: np.float32, x: np.float32, is_whole: bool, everywhere: bool
    ) -> dict[str, Any]:
        values = self.sorted_column(c)
        around = [neighbours(values, threshold, x) for threshold in (low, high)]
        is_empty = around[0] == around[1]  # x is missing: both ends lie between the same training values
        ends: dict[str, Any] = {}
        sides: tuple[Side, Side] = ("low", "high")
        for name, threshold, (below, above) in zip(sides, (low, high), around, strict=True):
            if np.isinf(threshold):
                continue
            within = name if everywhere else None
            if is_empty:
                ends[name] = float(threshold)
            elif is_whole:
                ends[name], ends[f"{name}_closed"] = round_whole_end(below, above, float(threshold), name, within)
            else:
                ends[name] = round_end(below, above, float(threshold), within)
        if is_whole and np.isinf(low) != np.isinf(high) and not is_empty:
            # "month <= 1" is January, if there is nothing below.
            last = values[0] if np.isinf(low) else values[-1]
            is_last = around[1][0] == last if np.isinf(low) else around[0][1] == last
            if is_last and (np.isnan(x) or x == last):
                ends = {"low": float(last), "high": float(last), "low_closed": True, "high_closed": True}
        return ends

    @cached_property
    def _has_missing(self) -> Callable[[int], bool]:
        """A function that returns whether the training values of a column are missing somewhere, and looks once."""
        return cache(lambda column: bool(np.isnan(self.X[:, column]).any()))

    @cached_property
    def sorted_column(self) -> Callable[[int], NDArray[np.float32]]:
        """A function that returns the distinct training values of a column, ascending, and sorts each column once."""

        @cache
        def sort(column: int) -> NDArray[np.float32]:
            values = self.X[:, column]
            return np.unique(values[~np.isnan(values)])

        return sort


def neighbours(values: NDArray[np.float32], threshold: np.float32, x: np.float32) -> tuple[float, float]:
    """Find the training values, and x, next to a threshold: the largest up to it and the smallest beyond."""
    i = int(np.searchsorted(values, threshold, side="right"))
    below = float(values[i - 1]) if i > 0 else -np.inf
    above = float(values[i]) if i < len(values) else np.inf
    if not np.isnan(x):
        below, above = (max(below, float(x)), above) if x <= threshold else (below, min(above, float(x)))
    return below, above


def _labels_between(column: Column, low: np.float32, high: np.float32) -> dict[str, Any]:
    """Name the labels whose codes lie in (low, high]; if rare ones do, the others: any label not named is rare."""
    codes = [code for code in range(len(column.labels)) if low < code <= high]
    # There is no other weekday, so that naming those left out says the same.
    excluded = column.rare in codes or (column.part == "weekday" and 2 * len(codes) > len(column.labels))
    named = [code for code in range(len(column.labels)) if code != column.rare and (code in codes) != excluded]
    return {"labels": tuple(label for code in named for label in column.labels[code]), "excluded": excluded}


def round_end(below: float, above: float, threshold: float, within: Side | None = None) -> float:
    """Find the roundest end that parts the training values as a forest's threshold does.

    The forest compares float32(value) <= threshold, a rule compares value <= end as float64. The end found has the
    fewest significant decimal digits and, of such, is nearest to the threshold (of two equally near, the lower). If the
    threshold is itself a training value, the end is sought a tenth of the way to the next one.
    """
    lowest = _last_rounded_to(below)
    highest = math.nextafter(-_last_rounded_to(-above), -math.inf)  # rounding is symmetric about zero
    if below == -math.inf:
        lowest = min(threshold - (above - threshold), highest) if above < math.inf else threshold
    if above == math.inf:
        highest = max(threshold + (threshold - below), lowest) if below > -math.inf else threshold
    if within == "low":
        lowest = max(lowest, _last_rounded_to(threshold))
    if within == "high":
        highest = max(lowest, min(highest, _last_rounded_to(threshold)))
    near = threshold
    if not lowest <= threshold <= highest:  # nearest would be 8e-46 if the threshold is 0, and 0 is a training value
        tenth = (highest - lowest) / 10
        near = lowest + tenth if threshold < lowest else highest - tenth
    exact, n_digits = Decimal(near), 0
    while True:  # 17 digits tell any float64 from the next
        n_digits += 1
        ends = [float(end) for end in _rounded(exact, n_digits)]
        fitting = [end for end in ends if lowest <= end <= highest and math.isfinite(end)]
        if len(fitting) == 1:
            return fitting[0] + 0.0
        if fitting:
            return min(fitting, key=lambda end: abs(Fraction(end) - Fraction(near))) + 0.0


def round_whole_end(
    below: float,
    above: float,
    threshold: float,
    side: Side,
    within: Side | None = None,
) -> tuple[float, bool]:
    """Find the roundest end for a column of whole numbers."""
    first_beyond = math.floor(threshold) + 1  # the threshold lies just below it
    lowest = below + 1 if math.isfinite(below) else float(first_beyond)
    highest = above if math.isfinite(above) else float(first_beyond)
    if within == "low":
        lowest = max(lowest, first_beyond)
    if within == "high":
        highest = min(highest, first_beyond)
    near = min(max(first_beyond, lowest), highest)
    n_digits = 0
    while True:
        n_digits += 1
        ends = [int(end) for end in _rounded(Decimal(near), n_digits)]
        fitting = [end for end in ends if lowest <= end <= highest]
        if fitting:
            end = min(fitting, key=lambda end: abs(end - near))
            break
    if side == "low":
        return float(end), True
    n_digits_before = len(str(abs(end - 1)).rstrip("0"))
    return (float(end), False) if n_digits_before > n_digits else (float(end - 1), True)


# Contexts take longer to make than numbers to round.
_ROUNDINGS = [[Context(prec=n, rounding=how) for how in (ROUND_FLOOR, ROUND_CEILING)] for n in range(1, 18)]


def _rounded(number: Decimal, n_digits: int) -> list[Decimal]:
    """Round a number down and up to some significant digits."""
    return [context.plus(number) for context in _ROUNDINGS[n_digits - 1]]


def _last_rounded_to(value: float) -> float:
    """Find the largest float64 that float32 rounds to a float32 value or less."""
    with np.errstate(over="ignore"):
        following = float(np.nextafter(np.float32(value), np.float32(np.inf)))
        middle = (value + min(following, 2.0**128)) / 2  # exact; beyond the largest float32 follows 2**128
        return middle if float(np.float32(middle)) <= value else math.nextafter(middle, -math.inf)  # ties go to even
