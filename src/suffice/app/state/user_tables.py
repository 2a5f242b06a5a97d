"""Tables of users as polars frames: conversion, identifiers of rows, and single values."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl

from suffice._table.rows import id_text


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
