"""The user's table: a frame of pandas, polars or pyarrow, an array, or a dict of columns, read column by column.

A column is read as numbers, as labels or as parts of dates when one of these is needed, and only once. What the values
mean to a forest is left to ``encoding``.
"""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice._table.frames import as_frame, as_rows
from suffice._text import counted, join, to_plain
from suffice.errors import InputTypeError, TextColumnWarning, did_you_mean, warn

# Texts that stand for a missing value, in a file and in a column of numbers; "none" may well be a category.
MISSING_TEXTS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CODE = re.compile(r"[+-]?0\d")  # such as the postal code 02139
_DAY = r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4})"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2}|[AaPp][Mm])?"
_DATE = re.compile(rf"{_DAY}(?:[T ]\s*{_TIME})?")

# Up to this many different numbers without a blank are taken for names, as they are written: text.
MAX_NUMERIC_LABELS = 20
# A column is nearly one of numbers, or one of dates, from this share of its known rows on.
NEARLY_ALL = 0.95
# Columns of so many rows of a frame are read together.
FEW_ROWS = 64


def is_number(text: str) -> bool:
    """Return whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_number(value: Any) -> float | None:
    """Read a value as a number."""
    if not isinstance(value, str):
        return float(value)
    text = value.strip()
    if text in MISSING_TEXTS:
        return math.nan
    return float(text) if _NUMBER.fullmatch(text) else None


@dataclass(frozen=True)
class TextColumn:
    """What a column of text holds."""

    name: str
    holds: Literal["labels", "numbers", "nearly numbers", "dates"]
    note: str = ""


def inspect_text(name: str, labels: Sequence[Any], codes: NDArray[np.intp]) -> TextColumn:
    """Find out what a column of text holds."""
    n_rows = np.bincount(codes[codes >= 0], minlength=len(labels))
    numbers = [to_number(label) for label in labels]
    is_blank = np.array([number is not None and math.isnan(number) for number in numbers], dtype=bool)
    is_odd = np.array([number is None for number in numbers], dtype=bool)
    n_blank, n_odd, n_known = int(n_rows[is_blank].sum()), int(n_rows[is_odd].sum()), int(n_rows[~is_blank].sum())
    n_numbers = int(np.count_nonzero(~is_blank & ~is_odd))
    is_code = any(isinstance(label, str) and _CODE.match(label.strip()) for label in labels)
    is_mixed = any(isinstance(label, Real) for label in labels)
    if n_numbers and not n_odd:
        is_numbers = is_mixed or (not is_code and (n_blank > 0 or n_numbers > MAX_NUMERIC_LABELS))
        blanks = counted(n_blank, "blank") if n_blank else "no blanks"
        return TextColumn(name, "numbers", blanks) if is_numbers else TextColumn(name, "labels")
    if n_numbers > MAX_NUMERIC_LABELS and not is_code and n_known - n_odd >= NEARLY_ALL * n_known:
        first = int(np.argmax(is_odd))
        note = f"not numbers: {n_odd}, such as {labels[first]!r} in row {np.argmax(codes == first)}"
        return TextColumn(name, "nearly numbers", note)
    is_date = np.array(
        [isinstance(label, str) and bool(_DATE.fullmatch(label.strip())) for label in labels], dtype=bool
    )
    if n_known and np.count_nonzero(is_date) > 1 and n_rows[is_date].sum() >= NEARLY_ALL * n_known:
        return TextColumn(name, "dates", f"such as {labels[int(np.argmax(is_date))]!r}")
    return TextColumn(name, "labels")


_NOTICES = {
    "numbers": (
        "Text that holds numbers is read as numbers, and blanks as missing values: {}. To keep labels, make the column "
        "categorical; to avoid this notice, convert it: pandas.to_numeric(column, errors='coerce')."
    ),
    "nearly numbers": (
        "Text is read as categories, although nearly all of it holds numbers: {}. Correct these values or leave them "
        "empty, and the rest is read as numbers."
    ),
    "dates": (
        "Dates that are written as text are read as categories: {}. Parse them first, as by pandas.to_datetime, and "
        "use their parts by dates='parts'; or leave them out."
    ),
}


def warn_of_text(columns: Sequence[TextColumn]) -> None:
    """Warn of columns of text that hold something else, once for each kind."""
    for holds, notice in _NOTICES.items():
        shown = [f"{column.name!r} ({column.note})" for column in columns if column.holds == holds]
        if shown:
            warn(notice.format(join(shown)), TextColumnWarning)


ColumnKind: TypeAlias = Literal["number", "boolean", "category", "ordered", "date"]
_KINDS_OF_ARRAYS: dict[str, ColumnKind] = {
    "i": "number",
    "u": "number",
    "f": "number",
    "b": "boolean",
    "M": "date",
    "U": "category",
    "T": "category",
}
Labels: TypeAlias = tuple[tuple[Any, ...], NDArray[np.intp]]
"""The distinct labels in the order of their first rows, and the position of each row's label; -1 if it is missing."""

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DATE_PARTS = ("year", "month", "day", "weekday", "hour")


@dataclass(eq=False, repr=False)
class Table:
    """A table of named columns."""

    names: tuple[str, ...]
    columns: Sequence[Any]
    n_rows: int
    has_names: bool = True
    library: str | None = None
    read: dict[tuple[int, str], Any] = field(default_factory=dict)  # what columns hold, as far as it is known
    array: NDArray[Any] | None = None  # of numbers, if the table is one

    @classmethod
    def from_frame(cls, frame: Any) -> Table:
        """Read a narwhals frame."""
        own_names = frame.columns
        is_text = [isinstance(name, str) for name in own_names]
        if any(is_text) and not all(is_text):
            # scikit-learn's wording, which its estimator checks look for.
            raise TypeError(
                "Feature names are only supported if all input features have string names, but your input has "
                f"{sorted({type(name).__name__ for name in own_names})} as feature name / column name types."
            )
        has_names = all(is_text) and len(own_names) > 0
        names = [str(name) for name in own_names] if has_names else numbered_names(len(own_names))
        # Not by position: that lists all names for each column, so that 40,000 columns take minutes.
        columns = list(frame.iter_columns()) if len(frame) > FEW_ROWS else _few_columns(frame)
        return cls(tuple(names), columns, len(frame), has_names, frame.implementation.name.lower())

    @classmethod
    def from_array(cls, array: NDArray[Any]) -> Table:
        """Read an array."""
        if array.ndim != 2:
            raise ValueError(f"`X` must be a table, got shape {array.shape}; for one row, give it as [row].")
        names, numbers = tuple(numbered_names(array.shape[1])), array if array.dtype.kind in "iuf" else None
        return cls(names, list(array.T), len(array), has_names=False, array=numbers)

    def choose(self, positions: Sequence[int]) -> Table:
        """Return a table of some columns, in any order."""
        if list(positions) == list(range(len(self.names))):
            return self
        names, columns = tuple(self.names[i] for i in positions), [self.columns[i] for i in positions]
        return replace(self, names=names, columns=columns, read={}, array=None)

    def with_constants(self, values: Mapping[str, Any]) -> Table:
        """Return the table with further columns, each with the same value in every row."""
        constants = [np.full(self.n_rows, value, dtype=object) for value in values.values()]
        names, columns = (*self.names, *values), [*self.columns, *constants]
        return replace(self, names=names, columns=columns, read=dict(self.read), array=None)

    def take(self, rows: NDArray[np.intp]) -> Table:
        """Return a table of some rows."""
        array = None if self.array is None else self.array[rows]
        return replace(self, columns=[c[rows] for c in self.columns], n_rows=len(rows), read={}, array=array)

    def position(self, name: str) -> int:
        """Find a column."""
        if self.names.count(name) != 1:
            if name in self.names:
                raise ValueError(f"`X` has two columns named {name!r}; rename one.")
            raise ValueError(f"`X` has no column {name!r}.{did_you_mean(name, self.names)}")
        return self.names.index(name)

    def kind(self, i: int) -> ColumnKind:
        """Return what a column holds."""
        column = self.columns[i]
        if isinstance(column, np.ndarray):
            return self._kind_of_array(i, column)
        import narwhals.stable.v2 as nw

        dtype = column.dtype
        if dtype.is_numeric():
            return "number"
        if self._is_categorical(column):
            return "ordered" if _is_ordered(column) else "category"
        if dtype in (nw.Object, nw.Unknown):
            return self._kind_of_objects(i)
        # pandas makes a column of text out of one that holds only None.
        of_text: ColumnKind = "category" if dtype != nw.String or self.labels(i)[0] else "number"
        kinds: dict[Any, ColumnKind] = {nw.Boolean: "boolean", nw.String: of_text, nw.Date: "date", nw.Datetime: "date"}
        for known, kind in kinds.items():
            if dtype == known:
                return kind
        raise self._wrong_kind(i, dtype)

    def _kind_of_array(self, i: int, column: NDArray[Any]) -> ColumnKind:
        if column.dtype.kind == "O":
            return self._kind_of_objects(i)
        if column.dtype.kind not in _KINDS_OF_ARRAYS:
            raise self._wrong_kind(i, column.dtype)
        return _KINDS_OF_ARRAYS[column.dtype.kind]

    def _kind_of_objects(self, i: int) -> ColumnKind:
        labels = self.labels(i)[0]
        types = {type(label) for label in labels}
        kinds: dict[ColumnKind, Any] = {
            "boolean": (bool, np.bool_),
            "number": (numbers.Real, decimal.Decimal),
            "category": str,
            "date": (datetime.date, np.datetime64),
        }
        if not types:
            return "number"
        for kind, known in kinds.items():
            if all(issubclass(type_, known) for type_ in types):
                return kind
        if all(issubclass(type_, (str, numbers.Real)) and not issubclass(type_, bool) for type_ in types):
            is_odd = np.array([to_number(label) is None for label in labels])
            if not is_odd.any():
                return "category"  # numbers, some of them written as text
            n_rows = np.bincount(self.labels(i)[1] + 1, minlength=len(labels) + 1)[1:]
            if 2 * n_rows[is_odd].sum() < n_rows.sum():
                odd = int(np.argmax(is_odd))
                raise self._not_a_number(i, odd, ": give a number, or NaN if it is missing; or make them all strings.")
        type_names = sorted(type_.__name__ for type_ in types)
        fix = ": make them all strings." if any(issubclass(type_, str) for type_ in types) else "."
        first_kind = next((known for known in kinds.values() if isinstance(labels[0], known)), ())
        code = next(code for code, label in enumerate(labels) if not isinstance(label, first_kind))
        raise self._wrong_kind(i, f"objects of the types {type_names}", fix, row=self._first_row(i, code))

    def _wrong_kind(self, i: int, held: object, detail: str = ".", row: int | None = None) -> InputTypeError:
        name = self.names[i]
        problem = f"Column {name!r} of `X` must hold numbers, labels or dates, got {held}"
        return InputTypeError(problem, detail, row=row, column=name, value=None if row is None else self._value(i, row))

    def _value(self, i: int, row: int) -> Any:
        return to_plain(self.columns[i][row])

    def _first_row(self, i: int, code: int) -> int:
        return int(np.flatnonzero(self.labels(i)[1] == code)[0])

    def numbers(self, i: int) -> NDArray[np.float64]:
        """Read a column as numbers."""
        column: NDArray[np.float64] = self._once(i, "numbers", self._read_numbers)
        return column

    def raw(self, i: int) -> NDArray[Any]:
        """Read a column of numbers without a copy where that is possible."""
        column = self.columns[i]
        is_array = isinstance(column, np.ndarray) and column.dtype.kind in "iuf"
        return column if is_array else self.numbers(i)

    def _read_numbers(self, i: int) -> NDArray[np.float64]:
        column = self.columns[i]
        if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
            return column.astype(np.float64)
        try:
            if isinstance(column, np.ndarray) or not (column.dtype.is_numeric() or str(column.dtype) == "Boolean"):
                labels, codes = self.labels(i)
                if not any(isinstance(label, datetime.date | np.datetime64) for label in labels):
                    read = [to_number(label) for label in labels]
                    if None not in read:
                        return np.array([*read, np.nan], dtype=np.float64)[codes]
            else:
                import narwhals.stable.v2 as nw

                if column.implementation.is_pyarrow():  # narwhals refuses whole numbers beyond 2**53
                    return np.asarray(column.to_native().cast("float64", safe=False).to_numpy(), dtype=np.float64)
                return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        except (TypeError, ValueError):
            labels = ()
        # One value that is no number makes text of a whole column of a file: that value is the fault.
        for code, label in enumerate(labels):
            if isinstance(label, str) and to_number(label) is None:
                raise self._not_a_number(i, code, ".") from None
        raise InputTypeError(
            f"Column {self.names[i]!r} of `X` must hold numbers, got something else.", column=self.names[i]
        )

    def _not_a_number(self, i: int, code: int, detail: str) -> InputTypeError:
        name, label = self.names[i], self.labels(i)[0][code]
        problem = f"Column {name!r} of `X` must hold numbers, got the text {label!r}"
        return InputTypeError(problem, detail, row=self._first_row(i, code), column=name, value=label)

    def is_missing(self, i: int) -> NDArray[np.bool_]:
        """Return which values of a column are missing."""
        if (i, "labels") in self.read or self.kind(i) not in ("number", "boolean"):
            return np.asarray(self.labels(i)[1] < 0)
        return np.isnan(self.numbers(i))

    def is_unknown(self, i: int) -> NDArray[np.bool_]:
        """Return which values of a column are missing, or blanks among numbers that are written as text."""
        is_text = self.kind(i) == "category" and self.is_text(i)
        is_number = is_text and inspect_text(self.names[i], *self.labels(i)).holds == "numbers"
        return np.isnan(self.numbers(i)) if is_number else self.is_missing(i)

    def is_text(self, i: int) -> bool:
        """Return whether a column holds text, possibly beside numbers, and was not declared to hold categories."""
        column = self.columns[i]
        is_declared = not isinstance(column, np.ndarray) and self._is_categorical(column)
        return not is_declared and any(isinstance(label, str) for label in self.labels(i)[0])

    def compared_labels(self, i: int) -> tuple[Any, ...] | None:
        """Return the labels of a column of labels; None for numbers and dates."""
        if self.n_rows and not len(self.columns[i]):  # a table that was decoded holds its labels alone
            return self.read[i, "labels"][0] if (i, "labels") in self.read else None
        if self.kind(i) in ("number", "date"):
            return None
        labels, codes = self.labels(i)
        return None if self.is_text(i) and inspect_text(self.names[i], labels, codes).holds == "numbers" else labels

    def labels(self, i: int) -> Labels:
        """Read a column as labels."""
        labels: Labels = self._once(i, "labels", self._read_labels)
        return labels

    def listed(self, i: int) -> list[Any]:
        """Return the values of a column as a list."""
        column = self.columns[i]
        values: list[Any] = column.tolist() if isinstance(column, np.ndarray) else column.to_list()
        return values

    def _read_labels(self, i: int) -> Labels:
        column, values = self.columns[i], self.listed(i)
        code_of: dict[Any, int] = {}
        codes = np.empty(self.n_rows, dtype=np.intp)
        try:
            for row, value in enumerate(values):
                codes[row] = code_of.setdefault(value, len(code_of))
        except TypeError:
            raise self._wrong_kind(i, type(value).__name__, row=row) from None
        present = [not is_missing(label) for label in code_of]
        # In a dict, each NaN is a key of its own.
        new_code = np.where(present, np.cumsum(present) - 1, -1) if present else np.empty(0, dtype=np.intp)
        kept = tuple(label for label, is_there in zip(code_of, present, strict=True) if is_there)
        if not isinstance(column, np.ndarray) and self._is_categorical(column):
            kept = tuple(_plain_label(label) for label in kept)
        return kept, new_code[codes].astype(np.intp)

    @staticmethod
    def _is_categorical(column: Any) -> bool:
        import narwhals.stable.v2 as nw

        return column.dtype in (nw.Categorical, nw.Enum)

    def categories(self, i: int) -> tuple[Any, ...]:
        """Return the declared categories of a column of ordered categories."""
        return tuple(_plain_label(label) for label in self.columns[i].cat.get_categories().to_list())

    def date_part(self, i: int, part: str) -> NDArray[np.float64]:
        """Read a part of the dates of a column."""
        values: NDArray[np.float64] = self._once(i, part, lambda i: self._read_date_part(i, part))
        return values

    def _read_date_part(self, i: int, part: str) -> NDArray[np.float64]:
        import narwhals.stable.v2 as nw

        column = self.columns[i]
        if self.kind(i) != "date":
            raise InputTypeError(f"Column {self.names[i]!r} of `X` must hold dates.", column=self.names[i])
        if not isinstance(column, np.ndarray) and column.dtype in (nw.Date, nw.Datetime):
            if part == "hour" and column.dtype == nw.Date:
                known = ~column.is_null().to_numpy()
                return np.where(known, 0.0, np.nan)
            numbers = getattr(column.dt, part)().cast(nw.Float64).to_numpy()
            return np.asarray(numbers, dtype=np.float64) - (part == "weekday")  # narwhals counts weekdays from 1
        if isinstance(column, np.ndarray) and column.dtype.kind == "M":
            column = column.astype("datetime64[us]")
        values = column.tolist() if isinstance(column, np.ndarray) else column.to_list()
        return np.array([np.nan if is_missing(v) else _part_of_date(v, part) for v in values], dtype=np.float64)

    def _once(self, i: int, what: str, read: Any) -> Any:
        if (i, what) not in self.read:
            self.read[i, what] = read(i)
        return self.read[i, what]


def _is_ordered(column: Any) -> bool:
    import narwhals.stable.v2 as nw

    # In older releases of polars (seen in 1.0 to 1.10), every Categorical has an order, that of first appearance, which
    # means nothing.
    if column.dtype == nw.Categorical and column.implementation.is_polars():
        return False
    try:
        return nw.is_ordered_categorical(column)
    except AttributeError:  # dictionaries of pyarrow in pandas
        return False


def _plain_label(label: Any) -> Any:
    """Turn categories that are not plain labels, such as the intervals of pandas.cut, into text."""
    return label if isinstance(label, str | bool | int | float) else str(label)


def _part_of_date(value: Any, part: str) -> int:
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if part == "weekday":
        return int(value.weekday())
    return int(getattr(value, part, 0))  # a date without a time has no hour


def is_missing(value: Any) -> bool:
    """Return whether a value stands for a missing one: None, NaN, NaT or NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 (NaN and NaT)
    except (TypeError, ValueError):  # pandas.NA cannot be compared, and an array gives many answers
        return type(value).__name__ == "NAType"


def numbered_names(n_columns: int) -> list[str]:
    """Return names for columns that have none."""
    return [f"x{i}" for i in range(n_columns)]


def read_columns(X: Any) -> Table:
    """Read anything that has columns."""
    if isinstance(X, Table):
        return X
    X = as_rows(X)
    frame = as_frame(X)
    if frame is not None:
        return Table.from_frame(frame)
    if isinstance(X, Mapping):
        columns = [_as_array(column) for column in X.values()]
        n_rows = len(columns[0]) if columns else 0
        for name, column in zip(X, columns, strict=True):
            if column.shape != (n_rows,):
                raise ValueError(f"Column {name!r} of `X` must have {n_rows} values, got shape {column.shape}.")
        return Table(tuple(str(name) for name in X), columns, n_rows)
    return Table.from_array(np.asarray(X) if not isinstance(X, list | tuple) else _as_array(X))


def _few_columns(frame: Any) -> list[Any]:
    """Return the columns of few rows; numbers of pandas as arrays, since a series costs more than a few numbers."""
    native = frame.to_native()
    if not frame.implementation.is_pandas():
        return list(frame.iter_columns())
    kinds = [dtype.str if isinstance(dtype, np.dtype) and dtype.kind in "iuf" else "" for dtype in native.dtypes]
    columns: list[Any] = [None] * len(kinds)
    for kind in dict.fromkeys(kinds):
        positions = [i for i, own in enumerate(kinds) if own == kind]
        part = native if len(positions) == len(kinds) else native.iloc[:, positions]
        values = as_frame(part).iter_columns() if not kind else part.to_numpy().T
        for i, column in zip(positions, values, strict=True):
            columns[i] = column
    return columns


def _as_array(values: Any) -> NDArray[Any]:
    """Make an array without turning numbers beside text into text."""
    array = np.asarray(values)
    return np.asarray(values, dtype=object) if array.dtype.kind in "US" and isinstance(values, list | tuple) else array
