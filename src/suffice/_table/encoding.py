"""From the user's table to the numeric matrix that the forest sees, and back.

Numbers stay as they are. Categories become codes: ordered ones in their own order, unordered ones such that those
whose rows are alike in the other columns stand side by side, and the bounds of a rule can be written as a set of
categories. No outcome has a part in it. Dates become their parts. Missing values become NaN.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from suffice._table.table import DATE_PARTS, WEEKDAYS, Table, TextColumn, inspect_text, warn_of_text
from suffice._text import format_value, join
from suffice.errors import (
    IdentifierWarning,
    InputTypeError,
    InputValueError,
    PrecisionWarning,
    RareCategoriesWarning,
    did_you_mean,
    warn,
)

# The share of rows that may repeat the number of another row.
MAX_REPEATED = 0.01
# How many repeated numbers chance alone would give a measured quantity of the same range, at least.
LEAST_EXPECTED = 10.0
# The same for a column whose name says that it is an identifier.
LEAST_EXPECTED_NAMED = 1.0
# Chance would repeat at least this many times as many numbers as the column does.
LEAST_RATIO = 20.0
_NAMED = re.compile(r"(?:^|[^a-z])(?:id|ids|key|uuid|nr|no|num|number|index|idx|rowid|record)$")


def is_identifier(name: str, numbers: NDArray[np.floating | np.integer]) -> bool:
    """Return whether a column of numbers only names the rows.

    If n whole numbers are drawn from a range of R, at least n - R (1 - (1 - 1/R)^n) of them repeat another one on
    average: a measured quantity, which is not spread evenly, repeats more. Numbers that repeat far less were made to
    differ.
    """
    known = numbers[~np.isnan(numbers)] if numbers.dtype.kind == "f" else numbers
    if len(known) < 2 or (known.dtype.kind == "f" and np.any(known != np.floor(known))):
        return False
    n = len(known)
    n_values = float(known.max()) - float(known.min()) + 1
    n_expected = n + n_values * math.expm1(n * math.log1p(-1 / n_values)) if n_values > 1 else n - 1.0
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    least = LEAST_EXPECTED_NAMED if _NAMED.search(snake) else LEAST_EXPECTED
    if n_values < (1 - MAX_REPEATED) * n or n_expected < least:
        return False  # most columns end here, before their values are sorted
    n_repeated = n - len(np.unique(known))
    return n_repeated <= MAX_REPEATED * n and n_repeated * LEAST_RATIO <= n_expected


def warn_of_identifiers(names: Sequence[str]) -> None:
    """Warn of columns that only name the rows."""
    if names:
        warn(
            "Whole numbers that differ from row to row look like identifiers: "
            f"{join([repr(name) for name in names])}. Leave the column out if it only names the rows.",
            IdentifierWarning,
        )


Unseen = Literal["error", "missing"]
Matrix = NDArray[np.float32]

# Unordered categories of fewer training rows than this share one code: too few to be counted on their own.
MIN_CATEGORY_ROWS = 10
# Categories are compared on at most this many rows and other columns.
N_COMPARED, N_COMPARED_COLUMNS = 10_000, 200
# Whole numbers below this are exact in float32.
MAX_WHOLE = 2**24
N_LISTED = 10


@dataclass(frozen=True)
class Column:
    """One column of the matrix, and what its numbers mean."""

    name: str
    source: int
    kind: Literal["number", "whole", "category"] = "number"
    part: str | None = None
    labels: tuple[tuple[Any, ...], ...] = ()
    rare: int | None = None
    extent: tuple[float, float] = (math.nan, math.nan)
    is_ordered: bool = False

    def encode(self, table: Table, i: int, unseen: Unseen) -> NDArray[np.floating[Any]]:
        """Turn the values of a table into numbers."""
        if self.part is not None:
            return table.date_part(i, self.part)
        if self.kind != "category":
            return keep_fractions(table.numbers(i)) if self.kind == "whole" else table.numbers(i)
        code_of = {label: code for code, labels in enumerate(self.labels) for label in labels}
        labels, rows = table.labels(i)
        codes = np.array([code_of.get(label, np.nan) for label in labels] + [np.nan])
        is_unseen = np.array([label not in code_of for label in labels] + [False])
        is_numeric = table.array is not None and table.array.dtype.kind in "biuf"
        holds_codes = is_numeric and all(isinstance(label, str) for label in code_of)
        if (unseen == "error" or holds_codes) and is_unseen.any():
            row = int(np.flatnonzero(is_unseen[rows])[0])
            label = labels[rows[row]]
            known = [label for code, labels in enumerate(self.labels) if code != self.rare for label in labels]
            listed = ", ".join(map(repr, known[:N_LISTED])) + (", ..." if len(code_of) > N_LISTED else "")
            detail = (
                f", which was not among its categories at fit: {listed}.{did_you_mean(label, map(str, code_of))} With "
                "unseen='missing' it counts as missing."
            )
            if holds_codes:  # of an encoding that nobody knows here: they must not pass for missing values
                detail = ", but held text at fit: pass the rows as they were, not numbers that stand for categories."
            held = f"the number {label!r}" if holds_codes else repr(label)
            problem = f"Column {self.name!r} of `X` holds {held}"
            raise InputValueError(problem, detail, row=row, column=self.name, value=label)
        return codes[rows]

    @property
    def reads(self) -> Literal["number", "whole", "yes/no"]:
        """How texts write its numbers: 0 and 1 as no and yes."""
        if self.kind != "whole":
            return "number"
        return "yes/no" if self.extent == (0.0, 1.0) and self.part is None else "whole"

    @property
    def drawn(self) -> Column:
        """The column as it is drawn: 0 and 1 are two categories."""
        if self.reads != "yes/no":
            return self
        return replace(self, kind="category", labels=((False,), (True,)))

    def text_of(self, value: Any) -> str:
        """Write a value of the column."""
        return format_value(bool(value) if self.reads == "yes/no" and value in (0, 1) else value)

    def is_outside(self, value: Any) -> bool:
        """Return whether a number lies outside the training rows."""
        if self.kind == "category" or value is None:
            return False
        low, high = np.float32(self.extent[0]), np.float32(self.extent[1])  # as the forest compares
        return bool(np.float32(value) < low or np.float32(value) > high)

    @property
    def extent_text(self) -> str:
        """The range of the training values, as it is written."""
        low, high = (format_value(self.decode(end)) for end in self.extent)
        return f"from {low} to {high}"

    def decode(self, value: float) -> Any:
        """Turn a number of the matrix back into the user's value, as it is shown."""
        if self.rare is not None and value == self.rare:
            return f"a rare one ({', '.join(map(str, self.labels[self.rare][:3]))}, ...)"
        return self.value_of(value)

    def value_of(self, number: float) -> Any:
        """Return a value that a table may hold and that is encoded as a number: of rare categories, the first."""
        if np.isnan(number):
            return None
        if self.kind == "category":
            return self.labels[int(number)][0]
        if self.kind != "number" and number == int(number):
            return int(number)
        return float(str(np.float32(number)))  # 0.1, not 0.10000000149011612


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become those of a matrix."""

    columns: tuple[Column, ...]
    names: tuple[str, ...]
    has_names: bool

    @classmethod
    def learn(cls, table: Table, dates: Literal["parts"] | None = None) -> Encoding:
        """Learn from the training table, without its outcomes, how its columns become numbers."""
        columns: list[Column] = []
        texts: list[TextColumn] = []
        for i, name in enumerate(table.names):
            kind = table.kind(i)
            text = None
            if kind == "category" and table.is_text(i):
                text = inspect_text(name, *table.labels(i))
                texts.append(text)
                kind = "number" if text.holds == "numbers" else kind
            if kind == "date":
                if dates is None:
                    raise InputTypeError(
                        f"Column {name!r} of `X` holds dates",
                        ": leave it out, or use its year, month, day, weekday and hour by dates='parts'.",
                        column=name,
                    )
                columns += _columns_of_dates(table, i)
            elif kind == "number":
                numbers = table.raw(i)
                columns.append(Column(name, i, _kind_of_numbers(numbers), extent=_extent(numbers)))
            elif kind == "boolean":
                columns.append(Column(name, i, "category", labels=((False,), (True,)), extent=(0.0, 1.0)))
            elif kind == "ordered":
                labels = tuple((label,) for label in table.categories(i))
                extent = (0.0, len(labels) - 1.0)
                columns.append(Column(name, i, "category", labels=labels, extent=extent, is_ordered=True))
            else:
                column = _column_of_categories(table, i)
                if text is None or text.holds == "labels":  # otherwise another warning names the column
                    _warn_of_rare(column, table)
                columns.append(column)
        if not columns:
            raise ValueError("No column of `X` varies: there is nothing to explain by.")
        warn_of_text(texts)
        warn_of_precision([(c, table.raw(c.source)) for c in columns if c.kind == "number"])
        if len(columns) > 1:
            is_named = [
                c.kind == "whole" and c.part is None and is_identifier(c.name, table.raw(c.source)) for c in columns
            ]
            warn_of_identifiers([c.name for c, is_one in zip(columns, is_named, strict=True) if is_one])
        return _with_neighbours(cls(tuple(columns), table.names, table.has_names), table)

    @cached_property
    def n_levels(self) -> tuple[int, ...]:
        """The number of categories of each column of the matrix, 0 for numbers."""
        return tuple(len(column.labels) if column.kind == "category" else 0 for column in self.columns)

    @cached_property
    def fillers(self) -> dict[str, Any]:
        """The columns that said nothing at fit, which a later table may lack, and the values that stand in for them.

        Such a column had one value only, or none, so that no split tests it; or it held dates of which no part varies.
        """
        columns_of: dict[int, list[Column]] = {}
        for column in self.columns:
            columns_of.setdefault(column.source, []).append(column)
        fillers: dict[str, Any] = {}
        for i, name in enumerate(self.names):
            low_high = [column.extent for column in columns_of.get(i, ())]
            if not low_high:
                fillers[name] = None
            elif len(low_high) == 1 and not low_high[0][0] < low_high[0][1]:
                column = columns_of[i][0]
                fillers[name] = column.labels[0][0] if column.labels else column.decode(low_high[0][0])
        return fillers

    def encode(self, table: Table, unseen: Unseen = "error") -> Matrix:
        """Turn a table with the columns of the training table, in their order, into a matrix."""
        with np.errstate(over="ignore"):
            if table.array is not None and all(c.kind != "category" and c.part is None for c in self.columns):
                matrix = np.array(table.array, dtype=np.float32, order="C")
                if table.array.dtype.kind == "f" and table.array.dtype.itemsize > matrix.dtype.itemsize:
                    for c in [c for c, column in enumerate(self.columns) if column.kind == "whole"]:
                        matrix[:, c] = keep_fractions(table.array[:, c])
                return matrix
            matrix = np.empty((table.n_rows, len(self.columns)), dtype=np.float32)
            for c, column in enumerate(self.columns):
                matrix[:, c] = column.encode(table, column.source, unseen)
        return matrix

    def check_numeric(self) -> None:
        """Refuse categories and dates: a forest that is fitted already was fitted on numbers made by the user."""
        for column in self.columns:
            is_boolean = column.labels == ((False,), (True,))
            if column.part is not None or (column.kind == "category" and not is_boolean):
                held = "dates" if column.part is not None else "categories"
                raise ValueError(
                    f"Column {self.names[column.source]!r} of `X` holds {held}, but `forest` is fitted already: pass "
                    "the numbers that it was fitted on, or a forest that is not fitted."
                )

    def decode(self, matrix: Matrix) -> Table:
        """Turn a matrix back into a table."""
        numbers: list[NDArray[Any]] = [np.empty(0)] * len(self.names)
        read: dict[tuple[int, str], Any] = {}
        for c, column in enumerate(self.columns):
            values = matrix[:, c]
            if column.part is not None:
                read[column.source, column.part] = values.astype(np.float64)
            elif column.kind == "category":
                codes = np.where(np.isnan(values), -1, values).astype(np.intp)
                read[column.source, "labels"] = tuple(labels[0] for labels in column.labels), codes
            else:
                numbers[column.source] = values
        return Table(self.names, numbers, len(matrix), self.has_names, read=read)


class EncodedRows(np.ndarray[Any, Any]):
    """A matrix that knows its encoding, so that the rows in it can be read when it is given back."""

    encoding: Encoding | None = None

    def __array_finalize__(self, origin: Any) -> None:
        """Keep the encoding in slices and copies."""
        self.encoding = getattr(origin, "encoding", None)

    @classmethod
    def of(cls, matrix: Matrix, encoding: Encoding) -> EncodedRows:
        """Mark a matrix with its encoding."""
        marked = matrix.view(cls)
        marked.encoding = encoding
        return marked

    @staticmethod
    def read(X: Any) -> Any:
        """Return the rows of such a matrix as a table; anything else, also a part of its columns, as it is."""
        encoding = X.encoding if isinstance(X, EncodedRows) else None
        if encoding is None or X.ndim != 2 or X.shape[1] != len(encoding.columns):
            return X
        return encoding.decode(np.asarray(X))


def warn_of_precision(columns: Sequence[tuple[Column, NDArray[Any]]]) -> None:
    """Warn of columns whose numbers float32 cannot tell apart."""
    for column, values in columns:
        low, high = column.extent
        # Wider columns have so many float32 values between their ends that a split loses nothing.
        if (values.dtype.itemsize <= 4 and values.dtype.kind == "f") or not high - low < max(abs(low), abs(high)) / 128:
            continue
        known = values[~np.isnan(values)]
        with np.errstate(over="ignore"):  # numbers beyond float32 become infinite, and are not kept apart
            n_exact, n_kept = len(np.unique(known)), len(np.unique(known.astype(np.float32)))
        if n_kept < 0.9 * n_exact:
            warn(
                f"The column {column.name!r} has {n_exact:,} different numbers from {format_value(low)} to "
                f"{format_value(high)}, but the forest compares them as float32, which keeps {n_kept:,} of them apart. "
                f"Subtract a number first, as in X[{column.name!r}] - {format_value(low)}.",
                PrecisionWarning,
            )


def keep_fractions(numbers: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Round numbers to float32 such that none becomes a whole number that is not one.

    2.9999999999999996 becomes 2.9999998, not 3: a rule that asks ``x >= 3`` would not cover the row.
    """
    if numbers.dtype.itemsize <= 4:
        return numbers
    with np.errstate(over="ignore"):
        rounded = numbers.astype(np.float32)
    is_lost = (rounded == np.floor(rounded)) & (numbers != np.floor(numbers)) & ~np.isnan(numbers)
    if not is_lost.any():
        return rounded
    towards = np.where(numbers[is_lost] < rounded[is_lost], -np.inf, np.inf).astype(np.float32)
    rounded[is_lost] = np.nextafter(rounded[is_lost], towards)
    return rounded


def _kind_of_numbers(values: NDArray[Any]) -> Literal["number", "whole"]:
    known = values[~np.isnan(values)]
    # The absolute value of the smallest int64 would be negative.
    if not len(known) or known.min() <= -MAX_WHOLE or known.max() >= MAX_WHOLE or (known != np.floor(known)).any():
        return "number"
    return "whole"


def _extent(values: NDArray[Any]) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    return (float(known.min()), float(known.max())) if len(known) else (math.nan, math.nan)


def _columns_of_dates(table: Table, i: int) -> list[Column]:
    """Return one column for each part that varies."""
    columns = []
    for part in DATE_PARTS:
        values = table.date_part(i, part)
        if len(np.unique(values)) > 1:
            name = f"{table.names[i]}.{part}"
            if name in table.names:
                raise ValueError(f"`X` has a column {name!r} besides the dates {table.names[i]!r}; rename it.")
            if part == "weekday":
                columns.append(Column(name, i, "category", part, tuple((day,) for day in WEEKDAYS), extent=(0.0, 6.0)))
            else:
                columns.append(Column(name, i, "whole", part, extent=_extent(values)))
    return columns


def _column_of_categories(table: Table, i: int) -> Column:
    """Return a column of unordered categories, the most frequent first, and those of few rows together."""
    labels, codes = table.labels(i)
    n_rows = np.bincount(codes[codes >= 0], minlength=len(labels))
    is_rare = n_rows < MIN_CATEGORY_ROWS
    if np.count_nonzero(is_rare) < 2:
        is_rare[:] = False
    by_frequency = sorted(range(len(labels)), key=lambda k: (-n_rows[k], str(labels[k])))
    groups: list[tuple[Any, ...]] = [(labels[k],) for k in by_frequency if not is_rare[k]]
    rare = len(groups) if is_rare.any() else None
    if rare is not None:
        groups.append(tuple(label for label, is_one in zip(labels, is_rare, strict=True) if is_one))
    return Column(table.names[i], i, "category", labels=tuple(groups), rare=rare, extent=(0.0, len(groups) - 1.0))


def _with_neighbours(encoding: Encoding, table: Table) -> Encoding:
    """Return the encoding with unordered categories in an order in which those that are alike stand together."""
    is_unordered = [
        c.kind == "category" and c.part is None and not c.is_ordered and len(c.labels) > 2 for c in encoding.columns
    ]
    if not any(is_unordered):
        return encoding
    n_rows = min(table.n_rows, N_COMPARED)
    X = encoding.encode(table.take(np.arange(n_rows) * table.n_rows // n_rows))
    columns = list(encoding.columns)
    compared = [_comparable(X[:, c], column) for c, column in enumerate(columns[:N_COMPARED_COLUMNS])]
    for i in np.flatnonzero(is_unordered):
        others = [other for c, other in enumerate(compared) if columns[c].source != columns[i].source]
        order = order_by_profile(X[:, i], len(columns[i].labels), others)
        labels = tuple(columns[i].labels[g] for g in order)
        rare = None if columns[i].rare is None else int(np.flatnonzero(order == columns[i].rare)[0])
        columns[i] = replace(columns[i], labels=labels, rare=rare)
    return replace(encoding, columns=tuple(columns))


def _warn_of_rare(column: Column, table: Table) -> None:
    if column.rare is None:
        return
    rare = set(column.labels[column.rare])
    labels, codes = table.labels(column.source)
    is_rare = np.array([label in rare for label in labels] + [False])
    if np.count_nonzero(is_rare[codes]) > table.n_rows / 2:
        warn(
            f"Most rows of the column {column.name!r} hold categories with fewer than {MIN_CATEGORY_ROWS} rows, "
            "which are taken together as one. Leave the column out if it only names the rows.",
            RareCategoriesWarning,
        )


def order_by_profile(codes: Matrix, n_groups: int, others: Sequence[tuple[Matrix, int]]) -> NDArray[np.intp]:
    """Order categories such that those whose rows have similar values in other columns stand side by side.

    A category has a profile: the mean of each other column of numbers, and the share of each category of the others,
    where all columns have the same variance. The order is that of the first principal component of the profiles,
    weighted by rows, with the first category in its lower half. Equal categories keep their order. `others` has the
    values of each other column and its number of categories, or 0 for numbers.
    """
    is_known = ~np.isnan(codes)
    groups = codes[is_known].astype(np.intp)
    n_rows = np.bincount(groups, minlength=n_groups)
    products = np.zeros((n_groups, n_groups))
    for values, n_levels in others:
        known = values[is_known]
        if n_levels:
            levels = np.where(np.isnan(known), n_levels, known).astype(np.intp)
            totals: NDArray[np.float64] = np.zeros((n_groups, n_levels + 1))
            np.add.at(totals, (groups, levels), 1.0)
            overall = totals.sum(axis=0) / max(1, len(groups))
            variance = 1 - float((overall**2).sum())
        else:
            totals = np.bincount(groups, weights=known, minlength=n_groups).astype(np.float64)[:, None]
            overall, variance = np.array([known.mean()]) if len(known) else np.zeros(1), float(known.var())
        if variance > 1e-9:
            # Weighted by the roots of the rows, so that the products are those of a weighted covariance.
            deviations = (totals - n_rows[:, None] * overall) / np.sqrt(variance * np.maximum(n_rows, 1))[:, None]
            products += deviations @ deviations.T
    score = np.round(np.linalg.eigh(products)[1][:, -1] / np.sqrt(np.maximum(n_rows, 1)), 12)
    score = np.where(n_rows > 0, score, 0.0) if products.any() else np.zeros(n_groups)
    is_apart = score != 0
    if is_apart.any() and score[np.argmax(is_apart)] > 0:
        score = -score
    return np.argsort(score, kind="stable")


def _comparable(values: Matrix, column: Column) -> tuple[Matrix, int]:
    """Return a column as others are compared with it: its codes, or its ranks with missing values in the middle."""
    if column.kind == "category":
        return values, len(column.labels)
    is_known = ~np.isnan(values)
    ranks = np.full(len(values), 0.5, dtype=np.float32)
    ranks[is_known] = rankdata(values[is_known]) / max(1, np.count_nonzero(is_known))
    return ranks, 0
