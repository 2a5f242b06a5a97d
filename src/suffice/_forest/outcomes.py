"""The outcomes that are explained: classes or numbers with their intervals, and both as ranges of ranks.

The rank of a class is its position among the classes, that of a number its position among the training outcomes. The
core compares ranks only: an outcome is kept while the rank of Y stays in a closed range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._text import format_label, format_number, to_plain
from suffice.errors import InputValueError, did_you_mean

Floats = NDArray[np.float64]
Ranks = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The outcomes of some rows."""

    values: NDArray[Any]
    intervals: Floats | None
    low: Ranks
    high: Ranks

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def take(self, rows: NDArray[np.intp]) -> Outcomes:
        """Return the outcomes of some of the rows."""
        intervals = None if self.intervals is None else self.intervals[rows]
        return Outcomes(self.values[rows], intervals, self.low[rows], self.high[rows])

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """Join the outcomes of several parts of a table."""
        intervals = [part.intervals for part in parts if part.intervals is not None]
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate(intervals) if intervals else None,
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
        )


def rank_classes(labels: NDArray[Any], classes: NDArray[Any]) -> Ranks:
    """Find the positions of labels among the classes."""
    rank_of = {label: rank for rank, label in enumerate(classes.tolist())}
    try:
        return np.array([rank_of[label] for label in labels.tolist()], dtype=np.uint32)
    except (KeyError, TypeError):
        row, unknown = next((row, label) for row, label in enumerate(labels.tolist()) if label not in rank_of)
        raise InputValueError(
            f"`y` holds the label {unknown!r}",
            f", which was not among the labels at fit: {classes.tolist()}.",
            row=row,
            value=unknown,
        ) from None


def outcomes_of_classes(labels: NDArray[Any], classes: NDArray[Any]) -> Outcomes:
    """Make the outcomes of labels."""
    ranks = rank_classes(labels, classes)
    return Outcomes(labels, None, ranks, ranks)


def outcomes_of_intervals(numbers: Floats, intervals: Floats, y_values: Floats) -> Outcomes:
    """Make the outcomes of numbers with their intervals."""
    low = np.searchsorted(y_values, intervals[:, 0], side="left")
    end = np.searchsorted(y_values, intervals[:, 1], side="right")
    is_empty = end <= low
    low, high = np.where(is_empty, 1, low), np.where(is_empty, 0, end - 1)
    return Outcomes(numbers, intervals, low.astype(np.uint32), high.astype(np.uint32))


WORDS = ("above", "below", "more", "less")
_EXAMPLES = "(200, 250), {'above': 200}, {'below': 100}, {'more': 50} or {'less': 50}"


@dataclass(frozen=True)
class Target:
    """The wanted outcomes of one row."""

    labels: tuple[Any, ...] | None
    low: float
    high: float
    text: str

    def holds(self, outcomes: NDArray[Any]) -> NDArray[np.bool_]:
        """Check which outcomes are wanted."""
        if self.labels is not None:
            # As objects: NumPy would turn 1 into "1" to compare it with text.
            return np.isin(outcomes.astype(object), np.array(self.labels, dtype=object))
        return np.asarray((self.low <= outcomes) & (outcomes <= self.high), dtype=bool)


def read_targets(
    target: Any, outcomes: NDArray[Any], classes: NDArray[Any] | None, *, may_be_all: bool = False
) -> list[Target]:
    """Read which outcomes are wanted, for each row."""
    if classes is None:
        return [_numbers(target, float(outcome)) for outcome in outcomes]
    known = classes.tolist()
    if target is None:
        return [_all_but(outcome, known) for outcome in outcomes.tolist()]
    if isinstance(target, Mapping):
        if set(target) != {"not"}:
            raise ValueError(f"`target` must be a class, a list of classes or {{'not': class}}, got {target!r}.")
        return [_all_but(_known_label(target["not"], known), known)] * len(outcomes)
    several = isinstance(target, Sequence | Set | np.ndarray) and not isinstance(target, str | bytes)
    wanted = {_known_label(label, known) for label in (target if several else [target])}
    if not wanted:
        raise ValueError("`target` must name at least one class.")
    if len(wanted) == len(known) and not may_be_all:
        raise ValueError("`target` names every class: every row has one of them.")
    labels = tuple(label for label in known if label in wanted)
    return [Target(labels, 0.0, 0.0, " or ".join(format_label(label) for label in labels))] * len(outcomes)


def read_focus(focus: Any, classes: NDArray[Any] | None, ranks: NDArray[Any]) -> Any:
    """Read the class that people care about; by default the rarer one of two, the second if both are as frequent."""
    if classes is None:
        if focus is not None:
            raise ValueError(f"`focus` names a class, but the outcomes are numbers: leave it None, got {focus!r}.")
        return None
    if focus is not None:
        return _known_label(focus, classes.tolist(), "focus")
    if len(classes) != 2:
        return None
    return classes.tolist()[int(2 * np.count_nonzero(ranks == 0) >= len(ranks))]


def _known_label(label: Any, known: list[Any], word: str = "target") -> Any:
    label = to_plain(label)
    with suppress(TypeError, ValueError):  # arrays and pandas' NA refuse to be compared
        return known[known.index(label)]
    by_text = {str(to_plain(one)): one for one in known}  # a command knows text only
    if isinstance(label, str) and label in by_text:
        return by_text[label]
    raise ValueError(
        f"`{word}` must be among the classes {known}, got {label!r}: no training row has it."
        f"{did_you_mean(label, map(str, known))}"
    )


def _all_but(label: Any, known: list[Any]) -> Target:
    others = tuple(other for other in known if other != label)
    text = format_label(others[0]) if len(others) == 1 else f"not {format_label(label)}"
    return Target(others, 0.0, 0.0, text)


def _numbers(target: Any, outcome: float) -> Target:
    low, high = -math.inf, math.inf
    if isinstance(target, Mapping) and len(target) == 1 and next(iter(target)) in WORDS:
        [(word, value)] = target.items()
        number = _number(value)
        if word in ("more", "less"):
            if number <= 0:
                raise ValueError(f"`target` {word!r} must be a number above 0, got {value!r}.")
            number = outcome + number if word == "more" else outcome - number
        low, high = (number, high) if word in ("above", "more") else (low, number)
    elif isinstance(target, Sequence) and not isinstance(target, str) and len(target) == 2:
        low, high = (default if end is None else _number(end) for end, default in zip(target, (low, high), strict=True))
    else:
        raise ValueError(f"`target` must say which numbers are wanted, such as {_EXAMPLES}, got {target!r}.")
    if low > high:
        raise ValueError(f"`target` must have its lower end first, got {target!r}.")
    if math.isinf(low) and math.isinf(high):
        raise ValueError("`target` must exclude some numbers.")
    return Target(None, low, high, range_text(low, high))


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise ValueError(f"`target` must hold numbers, such as {_EXAMPLES}, got {value!r}.")
    return number


def range_text(low: float, high: float) -> str:
    """Write a range of numbers, both ends included."""
    if math.isinf(high):
        return f"at least {format_number(low)}"
    if math.isinf(low):
        return f"at most {format_number(high)}"
    return f"between {format_number(low)} and {format_number(high)}" if low < high else format_number(low)


def wanted_flags(
    targets: Sequence[Target], y_values: NDArray[np.float64], classes: NDArray[Any] | None
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Mark the ranks of outcomes that are wanted."""
    values: NDArray[Any] = y_values if classes is None else classes
    numbers: dict[Target, int] = {}
    number = np.array([numbers.setdefault(target, len(numbers)) for target in targets], dtype=np.int32)
    flags = np.array([target.holds(values) for target in numbers], dtype=np.uint8).reshape(len(numbers), len(values))
    for target, flag in zip(numbers, flags, strict=True):
        if not flag.any():
            low, high = format_number(float(y_values.min())), format_number(float(y_values.max()))
            raise ValueError(
                f"No training row has an outcome that is {target.text}: the training outcomes lie between {low} and "
                f"{high}."
            )
    return flags, number
