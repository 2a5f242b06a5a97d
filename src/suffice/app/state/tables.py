"""Tables of users as polars frames: conversion, identifiers of rows, single values, and the search for rows.

Rows are found by conditions, such as ``hour > 17 AND sky = clear``, or by words in any column.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from suffice._table.condition_text import read_rule_text
from suffice._table.rows import id_text
from suffice._table.table import read_columns
from suffice._text import format_label, format_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_EXAMPLE = 24  # characters of a value in an example


def as_polars(X: Any, names: tuple[str, ...] | list[str]) -> pl.DataFrame:
    """Convert a table in any form to polars."""
    import narwhals.stable.v2 as nw

    native = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        if all(isinstance(name, str) for name in native.columns):
            return pl.DataFrame({name: _as_series(native[name]) for name in native.columns})
        X = native.to_numpy()
    array = np.asarray(X)
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ValueError(f"The table must have {len(names)} columns, got shape {array.shape}.")
    return pl.DataFrame({name: array[:, i].tolist() for i, name in enumerate(names)}, strict=False)


def _as_series(column: Any) -> pl.Series:
    values = [None if value is None or value != value else value for value in column.to_list()]  # noqa: PLR0124 (NaN)
    if column.dtype.is_numeric():
        return pl.Series(column.name, values, dtype=pl.Int64 if column.dtype.is_integer() else pl.Float64)
    return pl.Series(column.name, values, strict=False)


def find_ids(frame: pl.DataFrame, known: set[str]) -> list[str] | None:
    """Take row identifiers from the first unused column of text or whole numbers without repeated values."""
    for name in frame.columns:
        column = frame[name]
        is_fit = column.dtype == pl.String or column.dtype.is_integer()
        if name not in known and is_fit and frame.height > 1 and not column.null_count() and column.is_unique().all():
            return [id_text(value) for value in column.to_list()]
    return None


def read_date(name: str, text: str) -> datetime.datetime:
    """Read a date that a user typed."""
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{text!r} is not a date: write the value of {name!r} as 2024-01-31 or 2024-01-31 17:00."
        ) from None


def plain_value(value: Any) -> Any:
    """Return a value of a table with None for NaN."""
    return None if isinstance(value, float) and np.isnan(value) else value


# --- search -----------------------------------------------------------------------------------------------------------


def find_rows(frame: pl.DataFrame, text: str) -> NDArray[np.intp]:
    """Find rows by conditions or by words."""
    text = text.strip()
    if not text:
        return np.arange(frame.height)
    if re.search("[<>=]| in | is ", text):
        table = read_columns(frame)
        is_match = [condition.covers_rows(table) for condition in read_rule_text(text, table).conditions]
        return np.flatnonzero(np.logical_and.reduce(is_match))
    matches = [
        pl.col(name).cast(pl.String, strict=False).str.to_lowercase().str.contains(text.lower(), literal=True)
        for name in frame.columns
    ]
    return np.flatnonzero(frame.select(pl.any_horizontal(matches).fill_null(False)).to_series().to_numpy())


def _has_values(dtype: pl.DataType) -> bool:
    """Return whether conditions on the column compare values, not labels."""
    return dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean


def example_search(frame: pl.DataFrame, names: Sequence[str]) -> str:
    """Write an example of a search with columns of the table."""
    of_number = next((text for name in names if (text := _example_number(name, frame[name]))), "")
    of_label = next((text for name in names if (text := _example_label(name, frame[name]))), "")
    both = " AND ".join(filter(None, (of_number, of_label)))
    return both if len(both) <= MAX_EXAMPLE + 6 else of_number or of_label


def _example_number(name: str, column: pl.Series) -> str:
    if not column.dtype.is_numeric() or column.n_unique() < 3 or len(name) > MAX_EXAMPLE:
        return ""
    middle = column.quantile(0.5, "lower")
    return "" if middle is None else f"{name} > {format_number(float(middle))}"


def _example_label(name: str, column: pl.Series) -> str:
    if _has_values(column.dtype) or not 1 < column.n_unique() <= 50 or len(name) > MAX_EXAMPLE:
        return ""
    labels = column.drop_nulls().cast(pl.String, strict=False).value_counts(sort=True)[column.name].to_list()
    return f"{name} = {format_label(labels[0])}" if labels and len(labels[0]) <= MAX_EXAMPLE else ""
