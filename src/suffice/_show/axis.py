"""Where conditions and values lie on the axis of their column, and how they read.

The geometry is computed here once, in the coordinates of the data: a whole number takes half a step on each side, and
the category with code k lies from k - 0.5 to k + 0.5. Cards, the report, the plots and the app only draw it; those that
draw shares of a range get them from `share`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice._text import (
    format_category,
    format_exactly,
    format_number,
    format_percent,
    format_value,
    join,
    whole_ends,
)

if TYPE_CHECKING:
    from suffice._table.condition import Condition
    from suffice._table.encoding import Column

# Longer lists of categories are cut to this many, and to fewer if their labels are long.
MAX_CHIPS = 12
LEAST_CHIPS, CHIP_LETTERS = 4, 160
MAX_LABELS = 6
# Bins of a silhouette, which is written out in each card.
MAX_BINS = 24
LEAST_HEIGHT = 8  # per cent of a bin that has any row, so that it is seen
# An end of a condition that takes more characters than this is written with five digits.
MAX_CHARACTERS = 8

Span = tuple[float, float]


@dataclass(frozen=True)
class Spans:
    """The part of a column's axis on which a condition holds."""

    known: tuple[Span, ...]
    missing: bool

    def within(self, low: float, high: float) -> list[Span]:
        """Return the parts of the intervals that lie in a drawn range."""
        cut = [(max(start, low), min(end, high)) for start, end in self.known]
        return [(start, end) for start, end in cut if start <= end]


def spans(column: Column, condition: Condition | None) -> Spans:
    """Compute where a condition holds on the axis of its column."""
    column = column.drawn
    if condition is None:
        return Spans(((-math.inf, math.inf),), missing=True)
    if not condition.values:
        return Spans((), condition.missing)
    if column.kind == "category":
        return Spans(_code_spans(included_codes(column, condition)), condition.missing)
    low, high = condition.low, condition.high
    if column.kind == "whole":
        first, last = whole_ends(low, high, condition.low_closed, condition.high_closed)
        if first > last:
            return Spans((), condition.missing)
        low, high = first - 0.5, last + 0.5
    return Spans(((low, high),), condition.missing)


def _code_spans(codes: Sequence[int]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for code in codes:
        start = joined.pop()[0] if joined and joined[-1][1] == code - 0.5 else code - 0.5
        joined.append((start, code + 0.5))
    return tuple(joined)


def included_codes(column: Column, condition: Condition | None) -> list[int]:
    """Return the categories of a column that satisfy a condition."""
    if condition is not None and not condition.values:
        return []
    if condition is None:
        return list(range(len(column.labels)))
    if condition.labels is None:  # of 0 and 1
        low, high = whole_ends(condition.low, condition.high, condition.low_closed, condition.high_closed)
        return [code for code in range(len(column.labels)) if low <= code <= high]
    return [c for c, labels in enumerate(column.labels) if (labels[0] in condition.labels) != condition.excluded]


def drawn_range(column: Column) -> Span:
    """Return the range of a column that is drawn: its extent, with half a step on each side of whole numbers."""
    if column.kind == "category":
        return -0.5, len(column.labels) - 0.5
    half = 0.5 if column.kind == "whole" else 0.0
    return column.extent[0] - half, column.extent[1] + half


def share(value: float, ends: Span) -> float:
    """Compute where a value lies in a drawn range."""
    low, high = ends
    if low == high:
        return 0.5 + ((value > low) - (value < low)) / 2
    return min(max((value - low) / (high - low), 0.0), 1.0)


@dataclass(frozen=True)
class Distribution:
    """How the training values of a column are spread: the share of each category, or the outline of a histogram."""

    shares: tuple[float, ...] = ()
    outline: tuple[tuple[int, int], ...] = ()  # corners in per cent of the range and of the highest bin
    missing: float = 0.0

    @classmethod
    def of_values(cls, column: Column, values: NDArray[np.floating[Any]]) -> Distribution:
        """Count the training values of a column as the forest sees it."""
        column, known = column.drawn, values[~np.isnan(values)].astype(np.float64)
        missing = 1 - len(known) / max(len(values), 1)
        if column.kind == "category":
            counts = np.bincount(known.astype(np.intp), minlength=len(column.labels))
            return cls(shares=tuple((counts / max(len(values), 1)).tolist()), missing=missing)
        if not len(known) or not all(map(math.isfinite, column.extent)):
            return cls(missing=missing)
        return cls(outline=_outline(column, known), missing=missing)


def _outline(column: Column, known: NDArray[np.float64]) -> tuple[tuple[int, int], ...]:
    """Compute the corners of a histogram from left to right; neighbours of the same height share theirs."""
    low, high = drawn_range(column)
    if low == high:
        return (48, 0), (48, 100), (52, 100), (52, 0)
    edges = np.linspace(low, high, MAX_BINS + 1)
    if column.kind == "whole":  # as many whole numbers in each bin, but for the last
        edges = np.append(np.arange(low, high, math.ceil((high - low) / MAX_BINS)), high)
    density = np.histogram(known, edges)[0] / np.diff(edges)
    heights = np.ceil(100 * density / density.max())
    heights = np.where(density > 0, np.maximum(heights, LEAST_HEIGHT), 0).astype(int).tolist()
    places = np.rint(100 * (edges - low) / (high - low)).astype(int).tolist()
    corners, before = [], 0
    for place, height in zip(places, [*heights, 0], strict=True):
        if height != before:
            corners += [(place, before), (place, height)]
        before = height
    return tuple(corners)


# --- texts -----------------------------------------------------------------------------------------------------------


def rounded(value: float, n_digits: int) -> str:
    """Write a measured number with few digits."""
    return format_number(float(f"{value:.{n_digits}g}"))


def condition_text(condition: Condition) -> str:
    """Write a condition with short numbers, and with the first of many labels."""
    condition = condition.shown
    labels = condition.labels or ()
    if len(labels) > MAX_LABELS:
        listed = ", ".join(format_category(label) for label in labels[:MAX_LABELS])
        word = "not in" if condition.excluded else "in"
        text = f"{condition.name} {word} {{{listed} and {len(labels) - MAX_LABELS} more}}"
        return f"({text} or {condition.name} is missing)" if condition.missing else text
    return str(_shortened(condition))


def bounds_text(condition: Condition) -> str:
    """Write the bounds of a condition, without the name of the column."""
    condition = condition.shown
    if not condition.values:
        return "is missing"
    if condition.labels:
        known = condition_text(replace(condition, missing=False)).removeprefix(condition.name).strip()
        return f"{known}, or missing" if condition.missing else known
    condition = _shortened(condition)
    if condition.low == condition.high:
        text = f"= {format_exactly(condition.low)}"
    else:
        low = f"{'≥' if condition.low_closed else '>'} {format_exactly(condition.low)}"
        high = f"{'≤' if condition.high_closed else '<'} {format_exactly(condition.high)}"
        ends = [low] * (condition.low > -math.inf) + [high] * (condition.high < math.inf)
        is_closed = len(ends) == 2 and condition.low_closed and condition.high_closed
        text = f"{low[2:]} to {high[2:]}" if is_closed else ", ".join(ends) or "any value"
    return f"{text}, or missing" if condition.missing else text


def _shortened(condition: Condition) -> Condition:
    """Round ends with many digits, unless that would make two ends equal."""
    low, high = (float(_short_number(end)) for end in (condition.low, condition.high))
    return replace(condition, low=low, high=high) if low < high or condition.low == condition.high else condition


def _short_number(value: float) -> str:
    """Write the end of a condition: exactly, unless that takes many digits."""
    exact = format_exactly(value)
    return exact if len(exact) <= MAX_CHARACTERS else format_number(value)


def missing_text(conditions: Sequence[Condition]) -> str:
    """Write which variables of a rule may be missing."""
    conditions = [condition for condition in conditions if condition.values]
    if not conditions:
        return ""
    may = [condition.name for condition in conditions if condition.missing]
    if len(may) == len(conditions):
        return f"{'A missing value is' if len(conditions) == 1 else 'Missing values are'} allowed."
    if not may:
        return "A missing value is not allowed." if len(conditions) == 1 else "None of them may be missing."
    return f"Missing values are allowed for {join(may)} only."


def code_text(column: Column, code: int) -> str:
    """Write the category with a code."""
    labels = column.labels[code]
    return f"{len(labels)} rare ones" if code == column.rare else format_value(labels[0])


# --- what is drawn of one column -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Band:
    """The part of a drawn range in which a condition holds."""

    start: float
    end: float
    has_low: bool
    has_high: bool

    @property
    def sides(self) -> str:
        """The CSS classes of the ends that the condition has, each after a space."""
        return " from" * self.has_low + " to" * self.has_high


@dataclass(frozen=True)
class Chip:
    """A category as it is drawn."""

    text: str
    code: int | None
    is_in: bool
    is_own: bool
    share: float | None = None  # of the training rows


@dataclass(frozen=True)
class Drawing:
    """One column: the part in which a condition holds, the row's own value, and how the training values are spread."""

    name: str
    kind: str
    condition: str = ""
    bounds: str = ""
    value: str | None = None
    ends: tuple[str, ...] = ()
    band: Band | None = None
    at: float | None = None
    chips: tuple[Chip, ...] = ()
    before: str = ""
    more: str = ""
    outline: tuple[tuple[int, int], ...] = ()
    missing: str = ""


NO_ROW: Any = object()
"""Stands for the value of a row where there is none; None is a missing value."""


def draw(
    name: str,
    condition: Condition | None,
    column: Column | None,
    value: Any = NO_ROW,
    known: Distribution | None = None,
) -> Drawing:
    """Compute how a condition, a row's value and the training values are drawn."""
    sentence = "" if condition is None else condition_text(condition)
    text = None if value is NO_ROW else format_value(value) if column is None else column.text_of(value)
    column, condition, known = column and column.drawn, condition and condition.shown, known or Distribution()
    missing = f"{format_percent(known.missing)} % missing" if known.missing else ""
    if (column is not None and column.kind == "category") or (condition is not None and condition.labels):
        bounds = "" if condition is None or condition.labels else bounds_text(condition)
        chips, more = _draw_chips(condition, column, value, known)
        before = "not" if column is None and condition is not None and condition.excluded else ""
        return Drawing(name, "labels", sentence, bounds, text, chips=chips, more=more, before=before)
    bounds = "" if condition is None else bounds_text(condition)
    if column is None or not all(map(math.isfinite, column.extent)):
        return Drawing(name, "words", sentence, bounds, text, missing=missing)
    return Drawing(
        name, "range", sentence, bounds, text, end_texts(column), band(column, condition),
        at=None if value is NO_ROW or value is None else share(value, drawn_range(column)),
        outline=known.outline,
        missing=missing,
    )  # fmt: skip


def band(column: Column, condition: Condition | None) -> Band | None:
    """Compute where a condition on numbers holds on the drawn range of its column."""
    known = () if condition is None else spans(column, condition).known
    if condition is None or not known:
        return None
    [(low, high)] = known
    ends = drawn_range(column)
    return Band(share(low, ends), share(high, ends), low > -math.inf, high < math.inf)


def end_texts(column: Column) -> tuple[str, str]:
    """Write the ends of a column's range."""
    n_digits = 15 if column.kind == "whole" else 4
    low, high = column.extent
    return rounded(low, n_digits), rounded(high, n_digits)


def _draw_chips(
    condition: Condition | None, column: Column | None, value: Any, known: Distribution
) -> tuple[tuple[Chip, ...], str]:
    """Choose the categories that are drawn, and write how many are left out."""
    allows_missing = condition is not None and condition.missing
    if column is not None:
        included = [] if condition is None else included_codes(column, condition)
        shares = known.shares or (None,) * len(column.labels)
        chips = [
            Chip(code_text(column, code), code, code in included, column.decode(code) == value, shares[code])
            for code in range(len(column.labels))
        ]
    else:
        assert condition is not None
        labels = condition.labels or ()
        chips = [Chip(format_value(label), None, not condition.excluded, label == value) for label in labels]
    if value is None or allows_missing or known.missing:
        share = known.missing if known.shares else None
        chips.append(Chip("missing", None, allows_missing, value is None, share))
    shown = _choose_chips(chips)
    n_left = len(chips) - len(shown)
    n_in = sum(chip.is_in for chip in chips) - sum(chip.is_in for chip in shown)
    of_rule = f", {n_in} of them in the rule" if n_in else ""
    return tuple(shown), f"and {n_left} more{of_rule}" if n_left else ""


def _choose_chips(chips: Sequence[Chip]) -> list[Chip]:
    """Choose which of many categories are shown: its own, two in three that are included, other frequent ones."""
    longest = max((len(chip.text) for chip in chips), default=0)
    n_shown = min(MAX_CHIPS, max(LEAST_CHIPS, CHIP_LETTERS // (longest + 6)))
    if len(chips) <= n_shown:
        return list(chips)
    n_left = n_shown - sum(chip.is_own for chip in chips)
    frequent = sorted((chip for chip in chips if not chip.is_own), key=lambda chip: -(chip.share or 0.0))
    included = [chip for chip in frequent if chip.is_in]
    others = [chip for chip in frequent if not chip.is_in]
    included = included[: max(n_left * 2 // 3, n_left - len(others))]
    chosen = {*included, *others[: n_left - len(included)]}
    return [chip for chip in chips if chip.is_own or chip in chosen]
