"""Sufficient rules as values: conditions on columns, what they cover, and how they read.

A rule is a box: one condition for each column that it asks about. This module knows nothing of forests or of how the
largest box is found. Text, SQL, pandas queries and polars expressions are views of the value.
"""

from __future__ import annotations

import functools
import importlib
import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._engine.rule_search import FoundBox
from suffice._table.table import DATE_PARTS, WEEKDAYS, Table, read_columns
from suffice.words import format_exactly, format_label, format_number, format_percent, format_probability

_SQL_PARTS = {"year": "YEAR", "month": "MONTH", "day": "DAY", "weekday": "ISODOW", "hour": "HOUR"}
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
        The part of a date that is asked about. Weekdays are labels, from "Mon" to "Sun".

    Examples
    --------
    >>> print(Condition("hour", 5.5, 9.0))
    5.5 < hour <= 9
    >>> print(Condition("income", high=2000.0, missing=True))
    income <= 2000 or missing
    >>> print(Condition("weather", labels=("mist", "clear")))
    weather in {clear, mist}
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
            satisfies = [(label in self.labels) != self.excluded for label in labels]
            return np.array([*satisfies, self.missing], dtype=np.bool_)[codes]
        if self.part is None and not self._comparisons:  # whatever the column holds
            return np.where(table.is_missing(i), self.missing, self.values)
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

    def __str__(self) -> str:
        """Return the condition as it stands in a sentence."""
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
        return f"{text} or missing" if self.missing else text

    def _labels_text(self, labels: tuple[Any, ...]) -> str:
        is_number = isinstance(labels[0], int | float) and not isinstance(labels[0], bool)
        if len(labels) == 1 and not is_number:  # "= 3" would be a number
            return f"{'!=' if self.excluded else '='} {format_label(labels[0])}"
        return f"{'not in' if self.excluded else 'in'} {{{', '.join(format_label(label) for label in labels)}}}"

    def to_sql(self) -> str:
        """Write the condition in SQL.

        Returns
        -------
        str
            An expression that is true for the rows that satisfy it. Missing values must be NULL.
        """
        name = '"' + self.column.replace('"', '""') + '"'
        operand = name if self.part is None else f"EXTRACT({_SQL_PARTS[self.part]} FROM {name})"
        # The exponent makes the literal a double: DuckDB 2.0 rounds a plain 0.1 to float32 for a FLOAT column.
        compared = [f"{operand} {sign} {end!r}{'' if 'e' in repr(end) else 'e0'}" for sign, end in self._comparisons]
        if self.labels:
            labels = [day + 1 for day in self._weekdays] if self.part else self.labels
            listed = ", ".join(to_sql_literal(label) for label in labels)
            compared = [f"{operand} {'NOT IN' if self.excluded else 'IN'} ({listed})"]
        return self._join(compared or [f"{name} IS NOT NULL"], " AND ", " OR ", f"{name} IS NULL")

    def to_pandas_query(self) -> str:
        """Write the condition for ``pandas.DataFrame.query``.

        Returns
        -------
        str
            The query. `Rule.to_pandas_query` also checks that pandas can read the name of the column.
        """
        column = _quote_for_pandas(self.column)
        if self.labels:
            operand, labels = (f"{column}.dt.day_of_week", self._weekdays) if self.part else (column, list(self.labels))
            listed = f"{operand}.isin({labels!r})"
            compared = [f"(not {listed})", f"{column}.notna()"] if self.excluded else [listed]
            return self._join(compared, " and ", " or ", f"{column}.isna()")
        operand = column if self.part is None else f"{column}.dt.{self.part}"
        # Without astype pandas rounds the end to float32 for a float32 column.
        compared = [f"{operand}.astype('float64') {sign} {end!r}" for sign, end in self._comparisons]
        return self._join(compared or [f"{column}.notna()"], " and ", " or ", f"{column}.isna()")

    def _join(self, compared: list[str], and_: str, or_: str, is_missing: str) -> str:
        if not self.values:
            return is_missing
        return f"({and_.join(compared)}{or_}{is_missing})" if self.missing else and_.join(compared)

    def to_polars(self) -> Any:
        """Write the condition as a polars expression.

        Returns
        -------
        polars.Expr
            True for the rows that satisfy it and False, never null, for others.
        """
        pl = _import("polars", "to_polars")
        name = self.column
        if name == "*" or (name.startswith("^") and name.endswith("$")):  # polars' patterns
            name = f"^{re.escape(name)}$"
        column = pl.col(name)
        # NaN is a missing number; text and categories have none. Only the type of the column says which it holds.
        is_null = column.is_null() | column.map_batches(_is_nan, return_dtype=pl.Boolean)
        if not self.values or not (self._comparisons or self.labels):
            return is_null if not self.values else ~is_null
        if self.labels:
            operand, labels = (
                (column.dt.weekday(), [day + 1 for day in self._weekdays]) if self.part else (column, list(self.labels))
            )
            if self.part is None:
                # polars refuses labels that an Enum does not have, and in other columns labels of another type.
                kinds = {str: pl.String, bool: pl.Boolean, int: pl.Float64, float: pl.Float64}
                operand = operand.cast(kinds[type(labels[0])], strict=False)
                labels = [float(label) if type(label) is int else label for label in labels]
            listed = operand.is_in(labels)
            covered = (~listed if self.excluded else listed).fill_null(False) & ~is_null
            return covered | is_null if self.missing else covered
        numbers = (column if self.part is None else getattr(column.dt, self.part)()).cast(pl.Float64)
        numbers = numbers.fill_nan(None)  # polars holds NaN greater than any number
        covered = numbers.is_not_null()
        for sign, end in self._comparisons:
            covered = covered & _OPERATORS[sign](numbers, end).fill_null(False)
        return covered | numbers.is_null() if self.missing else covered


@dataclass(frozen=True)
class Rule:
    """A sufficient rule: within its conditions the outcome is kept.

    Parameters
    ----------
    conditions : tuple of Condition
        What it asks, one condition for each of some columns, in the order of the table; none that is trivial.
    outcome : object
        The class label or the number that is explained.
    interval : tuple of float or None
        Regression: (low, high), both ends included; the outcome is kept while Y stays in it.
    sdp : float
        The same-decision probability at the explained row.
    support : int
        The number of training rows that the rule covers.
    coverage : float
        Their share of all training rows.
    precision : float or None
        The share of the covered training rows that have the outcome; None if no row is covered.
    mae : float or None
        Regression: the mean absolute error of the mean of the covered rows on these rows; None for a class.
    optimal : bool
        Whether it is proven that no rule covers more.
    bound : float
        No rule covers more than this (training rows, or volume); inf if nothing is known.
    everywhere : bool
        Whether it is proven that the SDP reaches pi at every point of the box, not only at the training rows.
    target : str, default="y"
        What the outcome is called in a regression's sentence.

    Examples
    --------
    >>> conditions = (Condition("hour", low=5.5), Condition("temp", 3.0, 7.0))
    >>> rule = Rule(conditions, 20.0, (12.0, 31.0), 0.94, 12, 0.012, 1.0, 4.2, True, 12.0, False, target="count")
    >>> print(rule)
    IF hour > 5.5 AND 3 < temp <= 7 THEN count in [12, 31]  (coverage 1.2 %, SDP 0.94)
    >>> rule.covers({"hour": [6.0, 6.0, 5.5], "temp": [7.0, 3.0, 4.0]})
    array([ True, False, False])
    >>> print(rule.to_sql())
    "hour" > 5.5e0 AND "temp" > 3.0e0 AND "temp" <= 7.0e0
    """

    conditions: tuple[Condition, ...]
    outcome: Any
    interval: tuple[float, float] | None
    sdp: float
    support: int
    coverage: float
    precision: float | None
    mae: float | None
    optimal: bool
    bound: float
    everywhere: bool
    target: str = "y"

    def __post_init__(self) -> None:
        """Check the conditions, and turn NumPy's values into Python's."""
        object.__setattr__(self, "conditions", tuple(self.conditions))
        for name, value in list(vars(self).items()):
            if isinstance(value, np.generic):
                object.__setattr__(self, name, value.item())
        seen = set()
        for condition in self.conditions:
            if condition.is_trivial:
                raise ValueError(f"The condition on {condition.name!r} excludes nothing: leave it out.")
            if condition.name in seen:
                raise ValueError(f"A rule has one condition for a column, got two on {condition.name!r}.")
            seen.add(condition.name)
        if self.interval is not None:
            low, high = (float(end) for end in self.interval)
            if not low <= high:
                raise ValueError(f"`interval` must be (low, high) with low <= high, got {(low, high)}.")
            object.__setattr__(self, "interval", (low, high))

    @classmethod
    def from_box(cls, box: FoundBox, outcome: Any, interval: Any, target: str) -> Rule:
        """Make the rule of a box that the search found.

        Parameters
        ----------
        box : FoundBox
            The box.
        outcome : object
            The class label or the number that is explained.
        interval : sequence of float or None
            Regression: (low, high).
        target : str
            What the outcome is called.

        Returns
        -------
        Rule
            The rule.
        """
        return cls(
            conditions=tuple(Condition(**vars(bounds)) for bounds in box.bounds),
            outcome=outcome,
            interval=None if interval is None else (interval[0], interval[1]),
            sdp=box.sdp,
            support=box.support,
            coverage=box.coverage,
            precision=box.precision,
            mae=box.mae,
            optimal=box.optimal,
            bound=box.bound,
            everywhere=box.everywhere,
            target=target,
        )

    def covers(self, X: Any, column_names: Sequence[str] | None = None) -> NDArray[np.bool_]:
        """Return which rows satisfy the rule.

        A row with a missing value in a tested column is covered only if the condition allows missing values.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns), frame, or dict of columns
            The rows; only the columns that the rule tests are read from a frame or dict.
        column_names : sequence of str, optional
            The names of the columns of an array; without them x0, x1 and so on.

        Returns
        -------
        ndarray of shape (n_rows,), bool
            Whether the rule covers each row. Numbers are compared as float64.
        """
        table = read_columns(X, column_names)
        covered = np.ones(table.n_rows, dtype=np.bool_)
        for condition in self.conditions:
            covered &= condition.covers_rows(table)
        return covered

    def to_dict(self) -> dict[str, Any]:
        """Give the rule as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The fields of the rule; None for an end, or a bound, that is infinite.
        """
        values = asdict(self)
        values["conditions"] = [
            {
                **condition,
                "low": _finite(condition["low"]),
                "high": _finite(condition["high"]),
                "labels": None if condition["labels"] is None else list(condition["labels"]),
            }
            for condition in values["conditions"]
        ]
        values["interval"] = None if self.interval is None else [_finite(end) for end in self.interval]
        values["bound"] = _finite(self.bound)
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Rule:
        """Make a rule from what `to_dict` gave.

        Parameters
        ----------
        values : mapping of str to object
            The fields of the rule.

        Returns
        -------
        Rule
            The rule.
        """
        _check_keys("rule", cls, values)
        conditions = []
        for condition in values["conditions"]:
            _check_keys("condition", Condition, condition)
            low, high = _with_infinity(condition["low"], condition["high"])
            labels = None if condition["labels"] is None else tuple(condition["labels"])
            conditions.append(Condition(**{**condition, "low": low, "high": high, "labels": labels}))
        interval = None if values["interval"] is None else _with_infinity(*values["interval"])
        _, bound = _with_infinity(0.0, values["bound"])
        return cls(**{**values, "conditions": tuple(conditions), "interval": interval, "bound": bound})

    def to_sql(self) -> str:
        """Give the rule as the condition of an SQL query.

        Returns
        -------
        str
            What stands after WHERE. Missing values must be NULL: databases treat NaN in different ways. Parts of dates
            are read by EXTRACT, as in PostgreSQL and DuckDB.
        """
        return " AND ".join(condition.to_sql() for condition in self.conditions) or "1 = 1"

    def to_pandas_query(self) -> str:
        """Give the rule as a query for ``pandas.DataFrame.query``.

        Names that cannot stand in a query are refused. pandas takes "a (b)" and "a_(b)" for the same
        name: if the frame has two such columns, use `covers`.

        Returns
        -------
        str
            The query.
        """
        pd = _import("pandas", "to_pandas_query")
        columns = list(dict.fromkeys(condition.column for condition in self.conditions))
        numbers = pd.DataFrame([range(len(columns))], columns=columns)
        for i, column in enumerate(columns):  # which names work differs between versions of pandas, so each is tried
            try:
                quoted = _quote_for_pandas(column)
                is_read = numbers.eval(f"{quoted}.astype('float64')").tolist() == [i]
                numbers.query(f"{quoted}.astype('float64') > 0 and {quoted}.notna()")
            except Exception:  # SyntaxError, NameError, AttributeError, ...: whatever its parser stumbles over
                is_read = False
            if not is_read:
                raise ValueError(
                    f"A pandas query cannot name the column {column!r}: rename it, or use frame[rule.covers(frame)]."
                )
        # A query that is just True is an error; nothing of an index, or a column of that name, is in an empty list.
        return " and ".join(condition.to_pandas_query() for condition in self.conditions) or "~index.isin([])"

    def to_polars(self) -> Any:
        """Give the rule as a polars expression.

        Returns
        -------
        polars.Expr
            True for the rows that the rule covers and False, never null, for others; null and NaN are missing values.
        """
        pl = _import("polars", "to_polars")
        return functools.reduce(operator.and_, (c.to_polars() for c in self.conditions), pl.lit(True))

    def __str__(self) -> str:
        """Return the rule as a sentence."""
        return f"{self.sentence}  (coverage {format_percent(self.coverage)} %, SDP {format_probability(self.sdp)})"

    @property
    def conclusion(self) -> str:
        """What the rule keeps: the class, or the interval."""
        if self.interval is None:
            return str(self.outcome)
        return f"{self.target} in [{format_number(self.interval[0])}, {format_number(self.interval[1])}]"

    @property
    def sentence(self) -> str:
        """The rule as a sentence without its figures."""
        conditions = " AND ".join(str(condition) for condition in self.conditions)
        return f"IF {conditions} THEN {self.conclusion}" if conditions else f"ALWAYS {self.conclusion}"

    def _repr_html_(self) -> str:
        from suffice._show.cards import rule_card

        return rule_card(self)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _with_infinity(low: float | None, high: float | None) -> tuple[float, float]:
    return -math.inf if low is None else low, math.inf if high is None else high


def _check_keys(what: str, of: type, values: Mapping[str, Any]) -> None:
    known = [field.name for field in fields(of)]
    missing, unexpected = [k for k in known if k not in values], [k for k in values if k not in known]
    if missing or unexpected:
        raise ValueError(f"These are not the fields of a {what}: missing {missing}, unexpected {unexpected}.")


def _is_nan(column: Any) -> Any:
    """Return which values of a polars series are NaN."""
    column = column.alias("x")  # polars would take "^a$" for a pattern
    return column.is_nan().fill_null(False) if column.dtype.is_float() else column.is_null() & False


def to_sql_literal(value: Any) -> str:
    """Write a value as SQL does.

    Parameters
    ----------
    value : str, bool or number
        The value.

    Returns
    -------
    str
        The literal.
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def _quote_for_pandas(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _import(module: str, method: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(f"`{method}` needs {module}: pip install {module}.") from None
