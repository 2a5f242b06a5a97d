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
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.checks import check_number
from suffice.errors import did_you_mean
from suffice.wording import format_number, format_percent, format_probability, to_plain

_OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Condition:
    """What a rule asks of one column.

    Two conditions that the same values satisfy are equal: of an infinite end it does not matter whether it is closed.

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
        Whether any other value does; if not, there must be no ends.

    Examples
    --------
    >>> print(Condition("hour", 5.5, 9.0))
    5.5 < hour <= 9
    >>> print(Condition("income", high=2000.0, missing=True))
    income <= 2000 or missing
    """

    column: str
    low: float = -math.inf
    high: float = math.inf
    low_closed: bool = False
    high_closed: bool = True
    missing: bool = False
    values: bool = True

    def __post_init__(self) -> None:
        """Check the condition, and write equal conditions in one way."""
        if not isinstance(self.column, str):
            raise TypeError(f"`column` must be the name of a column, got {self.column!r}.")
        for name in ("low", "high"):
            check_number(name, getattr(self, name), "a number", lambda end: not math.isnan(end))
        # -0.0 becomes 0.0: they are equal, but would read differently.
        low, high = float(self.low) + 0.0, float(self.high) + 0.0
        low_closed = bool(self.low_closed) and low > -math.inf
        high_closed = bool(self.high_closed) or high == math.inf
        for name, value in {"low": low, "high": high, "low_closed": low_closed, "high_closed": high_closed}.items():
            object.__setattr__(self, name, value)
        for name in ("missing", "values"):
            object.__setattr__(self, name, bool(getattr(self, name)))
        if not self.values and not self.missing:
            raise ValueError(f"Nothing satisfies the condition on {self.column!r}: allow `values` or `missing`.")
        if not self.values and self._comparisons:
            raise ValueError(f"The condition on {self.column!r} allows no values: give it no `low` and no `high`.")
        smallest = low if low_closed or low == -math.inf else math.nextafter(low, math.inf)
        largest = high if high_closed else math.nextafter(high, -math.inf)
        if smallest > largest or low == math.inf or high == -math.inf:
            raise ValueError(f"No number satisfies the condition on {self.column!r}: {asdict(self)}.")

    @property
    def is_trivial(self) -> bool:
        """Whether everything satisfies it."""
        return self.values and self.missing and not self._comparisons

    @property
    def _comparisons(self) -> list[tuple[str, float]]:
        """What a value must fulfil, such as [(">", 5.5), ("<=", 9.0)]."""
        low = [(">=" if self.low_closed else ">", self.low)] if self.low > -math.inf else []
        high = [("<=" if self.high_closed else "<", self.high)] if self.high < math.inf else []
        return low + high

    def covers(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Tell which values satisfy the condition.

        Parameters
        ----------
        values : array-like
            Values of the column, compared as float64; NaN, None and the like are missing.

        Returns
        -------
        ndarray of bool
            One answer for each value.
        """
        # Only astype turns the missing values of pandas' nullable columns into NaN.
        numbers = np.asarray(values.astype("float64") if hasattr(values, "astype") else values, dtype=np.float64)
        is_missing = np.isnan(numbers)
        covered: NDArray[np.bool_] = ~is_missing if self.values else np.zeros(numbers.shape, dtype=np.bool_)
        for sign, end in self._comparisons:
            covered = covered & _OPERATORS[sign](numbers, end)
        return covered | is_missing if self.missing else covered

    def __str__(self) -> str:
        """Return the condition as it stands in a sentence."""
        if not self.values:
            return f"{self.column} is missing"
        if not self._comparisons:
            return f"{self.column} is {'missing or known' if self.missing else 'known'}"
        if self.low == self.high:
            text = f"{self.column} = {_format_end(self.low)}"
        elif len(self._comparisons) == 1:
            [(sign, end)] = self._comparisons
            text = f"{self.column} {sign} {_format_end(end)}"
        else:
            text = f"{_format_end(self.low)} {'<=' if self.low_closed else '<'} {self.column} "
            text += f"{'<=' if self.high_closed else '<'} {_format_end(self.high)}"
        return f"{text} or missing" if self.missing else text

    def _to_sql(self) -> str:
        name = '"' + self.column.replace('"', '""') + '"'
        # The exponent makes the literal a double: DuckDB 2.0 rounds a plain 0.1 to float32 for a FLOAT column.
        compared = [f"{name} {sign} {end!r}{'' if 'e' in repr(end) else 'e0'}" for sign, end in self._comparisons]
        return self._join(compared or [f"{name} IS NOT NULL"], " AND ", " OR ", f"{name} IS NULL")

    def _to_pandas_query(self) -> str:
        # Without astype pandas rounds the end to float32 for a float32 column.
        numbers = _quote_for_pandas(self.column) + ".astype('float64')"
        compared = [f"{numbers} {sign} {end!r}" for sign, end in self._comparisons]
        return self._join(compared or [f"{numbers}.notna()"], " and ", " or ", f"{numbers}.isna()")

    def _join(self, compared: list[str], and_: str, or_: str, is_missing: str) -> str:
        if not self.values:
            return is_missing
        return f"({and_.join(compared)}{or_}{is_missing})" if self.missing else and_.join(compared)

    def _to_polars(self, pl: Any) -> Any:
        name = self.column
        if name == "*" or (name.startswith("^") and name.endswith("$")):  # polars' patterns
            name = f"^{re.escape(name)}$"
        numbers = pl.col(name).cast(pl.Float64).fill_nan(None)  # polars holds NaN greater than any number
        if not self.values:
            return numbers.is_null()
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
        for field in fields(self):
            object.__setattr__(self, field.name, to_plain(getattr(self, field.name)))
        seen = set()
        for condition in self.conditions:
            if condition.is_trivial:
                raise ValueError(f"The condition on {condition.column!r} excludes nothing: leave it out.")
            if condition.column in seen:
                raise ValueError(f"A rule has one condition for a column, got two on {condition.column!r}.")
            seen.add(condition.column)
        if self.interval is not None:
            low, high = (float(end) for end in self.interval)
            if not low <= high:
                raise ValueError(f"`interval` must be (low, high) with low <= high, got {(low, high)}.")
            object.__setattr__(self, "interval", (low, high))

    def covers(self, X: Any, column_names: Sequence[str] | None = None) -> NDArray[np.bool_]:
        """Tell which rows satisfy the rule.

        A row with a missing value in a tested column is covered only if the condition allows missing values.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns), pandas or polars frame, or dict of columns
            The rows; of a frame or dict only the columns that the rule tests are read.
        column_names : sequence of str, optional
            The names of the columns of an array; without them x0, x1 and so on.

        Returns
        -------
        ndarray of shape (n_rows,), bool
            Whether the rule covers each row. Values are compared as float64.
        """
        names, columns, n_rows = _read_table(X, column_names)
        covered = np.ones(n_rows, dtype=np.bool_)
        for condition in self.conditions:
            name = condition.column
            if names.count(name) != 1:
                is_missing = f"`X` has no column {name!r}.{did_you_mean(name, names)}"
                raise ValueError(f"`X` has two columns named {name!r}; rename one." if name in names else is_missing)
            try:
                satisfied = condition.covers(columns[name])
            except (TypeError, ValueError):
                raise TypeError(f"Column {name!r} of `X` must hold numbers.") from None
            if satisfied.shape != covered.shape:
                raise ValueError(f"Column {name!r} of `X` must have {n_rows} values, got shape {satisfied.shape}.")
            covered &= satisfied
        return covered

    def to_dict(self) -> dict[str, Any]:
        """Give the rule as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The fields of the rule; None for an end, or a bound, that is infinite.
        """
        found = asdict(self)
        found["conditions"] = [
            {**condition, "low": _finite(condition["low"]), "high": _finite(condition["high"])}
            for condition in found["conditions"]
        ]
        found["interval"] = None if self.interval is None else [_finite(end) for end in self.interval]
        found["bound"] = _finite(self.bound)
        return found

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
            conditions.append(Condition(**{**condition, "low": low, "high": high}))
        interval = None if values["interval"] is None else _with_infinity(*values["interval"])
        _, bound = _with_infinity(0.0, values["bound"])
        return cls(**{**values, "conditions": tuple(conditions), "interval": interval, "bound": bound})

    def to_sql(self) -> str:
        """Give the rule as the condition of an SQL query.

        Returns
        -------
        str
            What stands after WHERE. Missing values must be NULL: of NaN, databases think differently.
        """
        return " AND ".join(condition._to_sql() for condition in self.conditions) or "1 = 1"

    def to_pandas_query(self) -> str:
        """Give the rule as a query for ``pandas.DataFrame.query``.

        Not every name can stand in a query; such as cannot are refused. pandas takes "a (b)" and "a_(b)" for the same
        name: if the frame has two such columns, use `covers`.

        Returns
        -------
        str
            The query.
        """
        pd = _import("pandas", "to_pandas_query")
        columns = [condition.column for condition in self.conditions]
        queries = [condition._to_pandas_query() for condition in self.conditions]
        numbers = pd.DataFrame([range(len(columns))], columns=columns)
        for i, column in enumerate(columns):  # which names work differs between versions of pandas, so each is tried
            try:
                is_read = numbers.eval(f"{_quote_for_pandas(column)}.astype('float64')").tolist() == [i]
                numbers.query(" and ".join(queries[: i + 1]))
            except Exception:  # SyntaxError, NameError, AttributeError, ...: whatever its parser stumbles over
                is_read = False
            if not is_read:
                raise ValueError(
                    f"A pandas query cannot name the column {column!r}: rename it, or use frame[rule.covers(frame)]."
                )
        # A query that is just True is an error; nothing of an index, or a column of that name, is in an empty list.
        return " and ".join(queries) or "~index.isin([])"

    def to_polars(self) -> Any:
        """Give the rule as a polars expression.

        Returns
        -------
        polars.Expr
            True for the rows that the rule covers and False, never null, for others; null and NaN are missing values.
        """
        pl = _import("polars", "to_polars")
        return functools.reduce(operator.and_, (c._to_polars(pl) for c in self.conditions), pl.lit(True))

    def __str__(self) -> str:
        """Return the rule as a sentence."""
        kept = str(self.outcome)
        if self.interval is not None:
            kept = f"{self.target} in [{format_number(self.interval[0])}, {format_number(self.interval[1])}]"
        asked = " AND ".join(str(condition) for condition in self.conditions)
        sentence = f"IF {asked} THEN {kept}" if asked else f"ALWAYS {kept}"
        return f"{sentence}  (coverage {format_percent(self.coverage)} %, SDP {format_probability(self.sdp)})"


def parse_conditions(text: str, column_names: Sequence[str]) -> tuple[Condition, ...]:
    """Read the conditions of a rule's sentence.

    Parameters
    ----------
    text : str
        The sentence, from "IF" on; what follows "THEN" is not read. Or one that begins with "ALWAYS".
    column_names : sequence of str
        The columns of the table. They may hold anything, but a text that can be read in two ways is refused.

    Returns
    -------
    tuple of Condition
        The conditions, in the order of the text.

    Examples
    --------
    >>> parse_conditions("IF temp max > 5.5 THEN busy", ["temp", "temp max"])[0].column
    'temp max'
    """
    if text.startswith("ALWAYS "):
        return ()
    if not text.startswith("IF "):
        raise ValueError(f"A rule begins with 'IF ' or 'ALWAYS ', got {text!r}.")
    names = {name for name in column_names if name in text}
    readings: list[tuple[Condition, ...]] = []
    unread = len("IF ")
    todo: list[tuple[int, tuple[Condition, ...]]] = [(unread, ())]
    while todo and len(readings) < 2:
        start, found = todo.pop()
        unread = max(unread, start)
        for name in names.difference(condition.column for condition in found):
            condition, end = _read_condition(text, start, name)
            if condition and text.startswith(" AND ", end):
                todo.append((end + len(" AND "), (*found, condition)))
            if condition and (end == len(text) or text.startswith(" THEN ", end)):
                readings.append((*found, condition))
    if not readings:
        near = did_you_mean(re.split(" [<>=]| is ", text[unread:])[0], column_names)
        raise ValueError(f"Cannot read a condition on a known column from {text[unread:]!r}.{near}")
    if len(readings) > 1:
        raise ValueError(f"The names of the columns let {text!r} be read in two ways: rename columns.")
    return readings[0]


def _read_condition(text: str, start: int, name: str) -> tuple[Condition | None, int]:
    """Read the condition on a column that stands at a place of the text, if one does; and where it ends."""
    number = r"(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"
    # A name may look like a number: "5 < 5" is a column "5" below 5, not a lower end without an upper one.
    forms = (
        f"{number} (<=?) {re.escape(name)} (<=?) {number}( or missing)?",
        f"()(){re.escape(name)} ([<>]=?|=) {number}( or missing)?",
        f"()(){re.escape(name)}()() (is missing|is known)",
    )
    for form in forms:
        match = re.compile(form + r"(?= AND | THEN |\Z)").match(text, start)
        if match is None:
            continue
        low, above, sign, end, word = match.groups()
        asked: dict[str, Any] = {"missing": word in (" or missing", "is missing"), "values": word != "is missing"}
        if low:
            asked.update(low=float(low), low_closed=above == "<=")
        if sign in ("=", ">", ">="):
            asked.update(low=float(end), low_closed=sign != ">")
        if sign in ("=", "<", "<="):
            asked.update(high=float(end), high_closed=sign != "<")
        try:
            return Condition(name, **asked), match.end()
        except ValueError:  # such as 7 < x <= 3
            continue
    return None, start


def round_end(below: float, above: float, threshold: float) -> float:
    """Find the roundest end that parts the training values as a forest's threshold does.

    The forest compares float32(value) <= threshold, a rule compares value <= end as float64. The end found has the
    fewest significant decimal digits and, of such, is nearest to the threshold (of two equally near, the lower). If
    the threshold is itself a training value, the end is sought a tenth of the way to the next one.

    Parameters
    ----------
    below : float
        The largest training value, as float32, that is at most `threshold`; -inf if there is none.
    above : float
        The smallest training value, as float32, that is greater; inf if there is none. If one of the two is missing,
        the end goes no further from the threshold on its side than on the other; if both are, it is the threshold.
    threshold : float
        The threshold.

    Returns
    -------
    float
        A number that is no less than any float64 that float32 rounds to `below` or less, and less than any that it
        rounds to `above` or more.

    Examples
    --------
    >>> round_end(12.5, 17.75, 15.125), round_end(0.5, 17.75, 9.125)
    (15.0, 9.0)
    """
    if not (below <= threshold < above and math.isfinite(threshold)):
        raise ValueError(f"`threshold` must lie in [below, above), got {threshold!r} for [{below!r}, {above!r}).")
    with np.errstate(over="ignore"):
        if float(np.float32(below)) != below or float(np.float32(above)) != above:
            raise ValueError(f"`below` and `above` must be float32 values, got {below!r} and {above!r}.")
    lowest = _last_rounded_to(below)
    highest = math.nextafter(-_last_rounded_to(-above), -math.inf)  # rounding is symmetric about zero
    if below == -math.inf:
        lowest = min(threshold - (above - threshold), highest) if above < math.inf else threshold
    if above == math.inf:
        highest = max(threshold + (threshold - below), lowest) if below > -math.inf else threshold
    near = threshold
    if not lowest <= threshold <= highest:  # nearest would be 8e-46 if the threshold is 0, and 0 is a training value
        tenth = (highest - lowest) / 10
        near = lowest + tenth if threshold < lowest else highest - tenth
    n_digits = 0
    while True:  # 17 digits tell any float64 from the next
        n_digits += 1
        ends = [float(Context(prec=n_digits, rounding=how).plus(Decimal(near))) for how in (ROUND_FLOOR, ROUND_CEILING)]
        fitting = [end for end in ends if lowest <= end <= highest and math.isfinite(end)]
        if fitting:
            return min(fitting, key=lambda end: abs(Fraction(end) - Fraction(near))) + 0.0


def _last_rounded_to(value: float) -> float:
    """Find the largest float64 that float32 rounds to a float32 value or less."""
    with np.errstate(over="ignore"):
        following = float(np.nextafter(np.float32(value), np.float32(np.inf)))
        middle = (value + min(following, 2.0**128)) / 2  # exact; beyond the largest float32 follows 2**128
        return middle if float(np.float32(middle)) <= value else math.nextafter(middle, -math.inf)  # ties go to even


def _format_end(end: float) -> str:
    return repr(end).removesuffix(".0")


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _with_infinity(low: float | None, high: float | None) -> tuple[float, float]:
    return -math.inf if low is None else low, math.inf if high is None else high


def _check_keys(what: str, of: type, values: Mapping[str, Any]) -> None:
    known = [field.name for field in fields(of)]
    missing, unexpected = [k for k in known if k not in values], [k for k in values if k not in known]
    if missing or unexpected:
        raise ValueError(f"These are not the fields of a {what}: missing {missing}, unexpected {unexpected}.")


def _quote_for_pandas(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _import(module: str, method: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(f"`{method}` needs {module}: pip install {module}.") from None


def _read_table(X: Any, column_names: Sequence[str] | None) -> tuple[list[str], Any, int]:
    """Names of the columns, the columns by name, and the number of rows."""
    is_frame = hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns)
    if is_frame or isinstance(X, Mapping):
        if column_names is not None:
            raise ValueError("`column_names` are for an array: the columns of this `X` have names.")
        return list(X.columns if is_frame else X), X, len(X) if is_frame else len(next(iter(X.values()), ()))
    table = np.asarray(X)
    if table.ndim != 2:
        raise ValueError(f"`X` must be a table, got shape {table.shape}; for one row, give it as [row].")
    names = [f"x{i}" for i in range(table.shape[1])] if column_names is None else list(column_names)
    if len(names) != table.shape[1]:
        raise ValueError(f"`column_names` has {len(names)} names for the {table.shape[1]} columns of `X`.")
    return names, dict(zip(names, table.T, strict=True)), len(table)
