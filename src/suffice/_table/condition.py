"""Conditions of rules as values: what a rule asks of one column, what satisfies it, and how it reads.

Text and SQL are views of the value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice._table.table import DATE_PARTS, WEEKDAYS, Table, read_columns
from suffice._text import format_category, format_exactly, printed, whole_ends

_SQL_PARTS = {"year": "YEAR", "month": "MONTH", "day": "DAY", "weekday": "ISODOW", "hour": "HOUR"}
# Whole numbers below this are exact in every numeric type of a database, float32 included.
EXACT_WHOLE = 2**24
_OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Condition:
    """What a rule asks of one column: that a number lies in an interval, or that a label is in a set.

    Two conditions that the same values satisfy are equal: it does not matter whether an infinite end is closed, nor in
    which order labels are given.

    Parameters
    ----------
    column : str
        The name of the column.
    low : float, default=-inf
        The lower end; -inf for none, and then the value -inf satisfies the condition too.
    high : float, default=inf
        The upper end; inf for none.
    low_closed : bool, default=False
        Whether the value `low` satisfies the condition.
    high_closed : bool, default=True
        Whether the value `high` satisfies the condition.
    missing : bool, default=False
        Whether a missing value satisfies the condition.
    values : bool, default=True
        Whether any other value does; if not, there must be no ends and no labels.
    labels : tuple of str, bool or number, or None, default=None
        The labels that satisfy the condition; None if it asks for a number.
    excluded : bool, default=False
        Whether it is all other labels that satisfy the condition.
    part : {"year", "month", "day", "weekday", "hour"} or None, default=None
        The part of a date that is compared. Weekdays are labels, from "Mon" to "Sun".
    reads : {"number", "whole", "yes/no"}, default="number"
        How texts write it: of a column of whole numbers by whole ends, of one that holds 0 and 1 as "no" and "yes".
        It does not count when conditions are compared.

    Examples
    --------
    >>> print(Condition("hour", 5.5, 9.0))
    5.5 < hour <= 9
    >>> print(Condition("income", high=2000.0, missing=True))
    (income <= 2000 or income is missing)
    >>> print(Condition("weather", labels=("mist", "clear")))
    weather in {clear, mist}
    >>> print(Condition("hour", 18.5, 20.0, high_closed=False, reads="whole"))
    hour = 19
    """

    column: str
    low: float = -math.inf
    high: float = math.inf
    low_closed: bool = False
    high_closed: bool = True
    missing: bool = False
    values: bool = True
    labels: tuple[Any, ...] | None = None
    excluded: bool = False
    part: str | None = None
    reads: Literal["number", "whole", "yes/no"] = field(default="number", compare=False)

    def __post_init__(self) -> None:
        """Check the condition, and write equal conditions in one way."""
        if not isinstance(self.column, str):
            raise TypeError(f"`column` must be the name of a column, got {self.column!r}.")
        for name in ("low", "high"):
            end = getattr(self, name)
            if not isinstance(end, Real) or isinstance(end, bool):
                raise TypeError(f"`{name}` must be a number, got {end!r}.")
            if math.isnan(end):
                raise ValueError(f"`{name}` must be a number, got {end!r}.")
        # -0.0 becomes 0.0: they are equal, but would read differently.
        low, high = float(self.low) + 0.0, float(self.high) + 0.0
        low_closed = bool(self.low_closed) and low > -math.inf
        high_closed = bool(self.high_closed) or high == math.inf
        for name, value in {"low": low, "high": high, "low_closed": low_closed, "high_closed": high_closed}.items():
            object.__setattr__(self, name, value)
        for name in ("missing", "values", "excluded"):
            object.__setattr__(self, name, bool(getattr(self, name)))
        if self.part is not None and self.part not in DATE_PARTS:
            raise ValueError(f"`part` must be one of {list(DATE_PARTS)}, got {self.part!r}.")
        if not self.values and not self.missing:
            raise ValueError(f"Nothing satisfies the condition on {self.name!r}: allow `values` or `missing`.")
        if not self.values and (self._comparisons or self.labels is not None):
            raise ValueError(
                f"The condition on {self.name!r} allows no values: give it no `low`, no `high` and no `labels`."
            )
        smallest = low if low_closed or low == -math.inf else math.nextafter(low, math.inf)
        largest = high if high_closed else math.nextafter(high, -math.inf)
        if smallest > largest or low == math.inf or high == -math.inf:
            raise ValueError(f"No number satisfies the condition on {self.name!r}: {asdict(self)}.")
        self._check_labels()

    def _check_labels(self) -> None:
        if self.labels is None:
            if self.excluded:
                raise ValueError(f"The condition on {self.name!r} excludes labels: give `labels`.")
            return
        if self._comparisons:
            raise ValueError(f"The condition on {self.name!r} has labels: give it no `low` and no `high`.")
        if not self.excluded and not self.labels:
            raise ValueError(f"No label satisfies the condition on {self.name!r}: give some `labels`.")
        labels = {label.item() if isinstance(label, np.generic) else label for label in self.labels}
        for label in labels:
            if not isinstance(label, str | bool | int | float) or label != label:  # noqa: PLR0124 (NaN)
                raise TypeError(f"A label must be a string, a boolean or a number, got {label!r}.")
        object.__setattr__(self, "labels", tuple(sorted(labels, key=self._label_order)))

    def _label_order(self, label: Any) -> tuple[Any, ...]:
        if self.part == "weekday" and label in WEEKDAYS:
            return (0, WEEKDAYS.index(label), "")
        return (1, 0.0, label) if isinstance(label, str) else (0, float(label), "")

    @property
    def name(self) -> str:
        """The column as a sentence calls it, such as "when.hour" for the hours of a date."""
        return self.column if self.part is None else f"{self.column}.{self.part}"

    @property
    def is_trivial(self) -> bool:
        """Whether everything satisfies it."""
        return self.values and self.missing and not self._comparisons and not self.labels

    @property
    def _comparisons(self) -> list[tuple[str, float]]:
        """What a value must fulfil, such as [(">", 5.5), ("<=", 9.0)]."""
        low = [(">=" if self.low_closed else ">", self.low)] if self.low > -math.inf else []
        high = [("<=" if self.high_closed else "<", self.high)] if self.high < math.inf else []
        return low + high

    @property
    def shown(self) -> Condition:
        """The condition as it is written; the values that its column held at fit satisfy both or neither."""
        if self.reads == "number" or self.labels is not None or not self._comparisons:
            return self
        first, last = whole_ends(self.low, self.high, self.low_closed, self.high_closed)
        labels = tuple(flag for flag in (False, True) if first <= flag <= last)
        if first > last or (self.reads == "yes/no" and not labels):
            return self
        if self.reads == "yes/no":
            first, last = -math.inf, math.inf
        chosen = labels if self.reads == "yes/no" and len(labels) == 1 else None
        return replace(self, low=first, high=last, low_closed=True, high_closed=True, labels=chosen)

    def covers(self, values: Any) -> NDArray[np.bool_]:
        """Return which values satisfy the condition.

        Parameters
        ----------
        values : array-like
            Values of the column: numbers, compared as float64, labels or dates; NaN, None and the like are missing.

        Returns
        -------
        ndarray of bool
            One answer for each value.
        """
        column = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
        return self.covers_rows(read_columns({self.column: column.ravel()})).reshape(column.shape)

    def covers_rows(self, table: Table) -> NDArray[np.bool_]:
        """Return which rows of a table satisfy the condition.

        Parameters
        ----------
        table : Table
            The table.

        Returns
        -------
        ndarray of shape (n_rows,), bool
            One answer for each row.
        """
        i = table.position(self.column)
        if self.labels is not None and self.part is None:
            labels, codes = table.labels(i)
            # "holiday = yes", read back from a text, also asks for True and for 1.
            words = {0: "no", 1: "yes"} if set(labels) <= {0, 1} else {}
            satisfies = [(label in self.labels or words.get(label) in self.labels) != self.excluded for label in labels]
            return np.array([*satisfies, self.missing], dtype=np.bool_)[codes]
        if self.part is None and not self._comparisons:  # whatever the column holds
            return np.where(table.is_unknown(i), self.missing, self.values)
        numbers = table.numbers(i) if self.part is None else table.date_part(i, self.part)
        is_missing = np.isnan(numbers)
        covered: NDArray[np.bool_] = ~is_missing if self.values else np.zeros(numbers.shape, dtype=np.bool_)
        for sign, end in self._comparisons:
            covered = covered & _OPERATORS[sign](numbers, end)
        if self.labels is not None:
            covered = covered & (np.isin(numbers, self._weekdays) != self.excluded)
        return covered | is_missing if self.missing else covered

    @property
    def _weekdays(self) -> list[int]:
        """The labels as numbers, Monday being 0."""
        return [WEEKDAYS.index(label) for label in self.labels or ()]

    @printed
    def __str__(self) -> str:
        """Return the condition as it stands in a sentence."""
        if self.shown is not self:
            return str(replace(self.shown, reads="number"))
        if not self.values:
            return f"{self.name} is missing"
        if not self._comparisons and not self.labels:
            return f"{self.name} is {'missing or known' if self.missing else 'known'}"
        if self.labels:
            text = f"{self.name} {self._labels_text(self.labels)}"
        elif self.low == self.high:
            text = f"{self.name} = {format_exactly(self.low)}"
        elif len(self._comparisons) == 1:
            [(sign, end)] = self._comparisons
            text = f"{self.name} {sign} {format_exactly(end)}"
        else:
            text = f"{format_exactly(self.low)} {'<=' if self.low_closed else '<'} {self.name} "
            text += f"{'<=' if self.high_closed else '<'} {format_exactly(self.high)}"
        return f"({text} or {self.name} is missing)" if self.missing else text

    def _labels_text(self, labels: tuple[Any, ...]) -> str:
        is_number = isinstance(labels[0], int | float) and not isinstance(labels[0], bool)
        if len(labels) == 1 and not is_number:  # "= 3" would be a number
            return f"{'!=' if self.excluded else '='} {format_category(labels[0])}"
        return f"{'not in' if self.excluded else 'in'} {{{', '.join(format_category(label) for label in labels)}}}"

    def to_sql(self) -> str:
        """Write the condition in SQL.

        Returns
        -------
        str
            An expression that is true for the rows that satisfy it. Missing values must be NULL.
        """
        name = '"' + self.column.replace('"', '""') + '"'
        operand = name if self.part is None else f"EXTRACT({_SQL_PARTS[self.part]} FROM {name})"
        compared = [f"{operand} {sign} {_to_sql_number(end)}" for sign, end in self._comparisons]
        if self.labels:
            labels = [day + 1 for day in self._weekdays] if self.part else self.labels
            listed = ", ".join(to_sql_literal(label) for label in labels)
            compared = [f"{operand} {'NOT IN' if self.excluded else 'IN'} ({listed})"]
        if not self.values:
            return f"{name} IS NULL"
        joined = " AND ".join(compared) or f"{name} IS NOT NULL"
        return f"({joined} OR {name} IS NULL)" if self.missing else joined


def check_conditions(conditions: Sequence[Condition]) -> None:
    """Refuse conditions that do not make a rule together."""
    names = set()
    for condition in conditions:
        if condition.is_trivial:
            raise ValueError(f"The condition on {condition.name!r} excludes nothing: leave it out.")
        if condition.name in names:
            raise ValueError(f"A rule has one condition for a column, got two on {condition.name!r}.")
        names.add(condition.name)


def all_cover(conditions: Iterable[Condition], table: Table) -> NDArray[np.bool_]:
    """Return which rows of a table satisfy all of some conditions."""
    covered = np.ones(table.n_rows, dtype=np.bool_)
    for condition in conditions:
        covered &= condition.covers_rows(table)
    return covered


def _to_sql_number(number: float) -> str:
    """Write the end of a condition such that every type of column compares with exactly this number."""
    if number == int(number) and abs(number) < EXACT_WHOLE:
        return str(int(number))
    # The exponent makes the literal a double: DuckDB 2.0 rounds a plain 0.1 to float32 for a FLOAT column.
    return f"{number!r}{'' if 'e' in repr(number) else 'e0'}"


def to_sql_literal(value: Any) -> str:
    """Write a value as SQL does."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
