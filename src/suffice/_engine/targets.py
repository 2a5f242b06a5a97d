"""The outcomes that a person wants instead: some classes, all but one, or numbers within bounds, as flags of ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import did_you_mean
from suffice.words import format_label, format_number, to_plain

WORDS = ("above", "below", "more", "less")
_EXAMPLES = "(200, 250), {'above': 200}, {'below': 100}, {'more': 50} or {'less': 50}"


@dataclass(frozen=True)
class Target:
    """The wanted outcomes of one row.

    Parameters
    ----------
    labels : tuple of object or None
        Classification: the wanted classes.
    low, high : float
        Regression: the wanted numbers lie between these, both included.
    text : str
        How it is written: "good", "not bad", "at least 200".
    """

    labels: tuple[Any, ...] | None
    low: float
    high: float
    text: str

    def holds(self, outcomes: NDArray[Any]) -> NDArray[np.bool_]:
        """Check which outcomes are wanted.

        Parameters
        ----------
        outcomes : ndarray of shape (n_outcomes,)
            Labels or numbers.

        Returns
        -------
        ndarray of shape (n_outcomes,), bool
            Whether each is wanted.
        """
        if self.labels is not None:
            return np.array([to_plain(outcome) in self.labels for outcome in outcomes.tolist()], dtype=bool)
        return np.asarray((self.low <= outcomes) & (outcomes <= self.high), dtype=bool)

    def named(self, name: str) -> str:
        """Write the wanted outcomes as part of a sentence.

        Parameters
        ----------
        name : str
            What the outcomes are called.

        Returns
        -------
        str
            Such as "a price between 200 and 250", "a price of at least 200" or "the decision granted".
        """
        name = "outcome" if name in ("y", "prediction") else name
        if self.labels is not None:
            return f"the {name} {self.text}"
        article = "an" if name[:1].lower() in tuple("aeiou") else "a"
        is_range = self.low < self.high and not (math.isinf(self.low) or math.isinf(self.high))
        return f"{article} {name} {'' if is_range else 'of '}{self.text}"


def read_targets(target: Any, outcomes: NDArray[Any], classes: NDArray[Any] | None) -> list[Target]:
    """Read which outcomes are wanted, for each row.

    Parameters
    ----------
    target : object
        Classification: a class, a list or set of classes, ``{"not": label}``, or None for any class but that of the
        row. Regression: (low, high), ``{"above": v}``, ``{"below": v}``, ``{"more": d}`` or ``{"less": d}``.
    outcomes : ndarray of shape (n_rows,)
        The outcomes of the rows.
    classes : ndarray or None
        The classes; None for a regression.

    Returns
    -------
    list of Target
        The wanted outcomes of each row.
    """
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
    if len(wanted) == len(known):
        raise ValueError("`target` names every class: every row has one of them.")
    labels = tuple(label for label in known if label in wanted)
    return [Target(labels, 0.0, 0.0, " or ".join(format_label(label) for label in labels))] * len(outcomes)


def _known_label(label: Any, known: list[Any]) -> Any:
    label = to_plain(label)
    if label in known:
        return known[known.index(label)]
    by_text = {str(to_plain(one)): one for one in known}  # a command knows text only
    if isinstance(label, str) and label in by_text:
        return by_text[label]
    raise ValueError(
        f"`target` must be among the classes {known}, got {label!r}: no training row has it."
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
    """Write a range of numbers, both ends included.

    Parameters
    ----------
    low, high : float
        The ends; one of them may be infinite.

    Returns
    -------
    str
        Its text.

    Examples
    --------
    >>> range_text(200, 250), range_text(200, math.inf), range_text(-math.inf, 7)
    ('between 200 and 250', 'at least 200', 'at most 7')
    """
    if math.isinf(high):
        return f"at least {format_number(low)}"
    if math.isinf(low):
        return f"at most {format_number(high)}"
    return f"between {format_number(low)} and {format_number(high)}" if low < high else format_number(low)


def wanted_flags(
    targets: Sequence[Target], y_values: NDArray[np.float64], classes: NDArray[Any] | None
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Mark the ranks of outcomes that are wanted.

    Parameters
    ----------
    targets : sequence of Target
        The targets of the rows.
    y_values : ndarray
        The distinct training outcomes, ascending.
    classes : ndarray or None
        The classes; None for a regression.

    Returns
    -------
    flags : ndarray of shape (n_targets, n_ranks), uint8
        For each different target 1 at the ranks that it wants.
    number : ndarray of shape (n_rows,), int32
        The target of each row.
    """
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
