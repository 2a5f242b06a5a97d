"""Rows on their way in and out: what they are called, plain values, and moved copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice._table.encoding import Column, Encoding
from suffice._table.frames import as_frame, as_rows, for_model
from suffice._table.table import WEEKDAYS, Table, is_missing, read_columns
from suffice._text import format_exactly
from suffice.errors import InputValueError, did_you_mean

RowIds = tuple[str, ...] | None
"""The identifier of each row as text, or None if rows have none."""


def read_ids(X: Any, ids: Any, fitted_columns: Sequence[str]) -> tuple[Any, RowIds]:
    """Read the identifiers of rows."""
    if ids is None:
        return X, _ids_of_index(X)
    X = as_rows(X)
    if isinstance(ids, str):
        column = _column(X, ids)
        if ids not in fitted_columns:
            is_mapping = isinstance(X, Mapping)
            X = {name: X[name] for name in X if name != ids} if is_mapping else as_frame(X).drop(ids).to_native()
        return X, tuple(map(id_text, column))
    values, n_rows = ids.tolist() if hasattr(ids, "tolist") else list(ids), read_columns(X).n_rows
    if len(values) != n_rows:
        raise ValueError(f"`ids` must have one identifier for each row of `X`: got {len(values)} for {n_rows} rows.")
    return X, tuple(map(id_text, values))


def id_text(value: Any) -> str:
    """Write an identifier."""
    if isinstance(value, tuple):
        return ", ".join(map(id_text, value))
    if is_missing(value):
        return "missing"
    if isinstance(value, float):  # an identifier column with missing values is read as floats
        return format_exactly(float(value))
    return str(value).removesuffix(" 00:00:00")


def _ids_of_index(X: Any) -> RowIds:
    if not hasattr(X, "iloc"):  # only frames and series of pandas have it
        return None
    if X.ndim == 1:  # a row of a frame: its name is its place in the index
        return None if X.name is None else (id_text(X.name),)
    index = X.index
    if index.dtype.kind in "iu" and np.array_equal(index.to_numpy(), np.arange(len(index))):
        return None
    return tuple(map(id_text, index.tolist()))


def _column(X: Any, name: str) -> list[Any]:
    table = read_columns(X)
    if not table.has_names:
        raise ValueError(f"`ids` names the column {name!r}, but `X` has no named columns: pass a list of identifiers.")
    if name not in table.names:
        raise ValueError(f"`ids`: `X` has no column {name!r}.{did_you_mean(name, table.names)}")
    return table.listed(table.names.index(name))


def plain_columns(table: Table, encoding: Encoding) -> dict[str, list[Any]]:
    """Return the values of a table that an explainer reads."""
    return {column.name: _plain_column(table, column) for column in encoding.columns}


def _plain_column(table: Table, column: Column) -> list[Any]:
    if column.part is None and column.kind == "category":
        labels, codes = table.labels(column.source)
        return [labels[code] if code >= 0 else None for code in codes.tolist()]
    is_part = column.part is not None
    numbers = table.date_part(column.source, str(column.part)) if is_part else table.numbers(column.source)
    values: list[Any] = [None if number != number else number for number in numbers.tolist()]  # noqa: PLR0124 (NaN)
    if column.part == "weekday":
        return [None if value is None else WEEKDAYS[int(value)] for value in values]
    if column.kind == "whole":
        return [int(value) if value is not None and value.is_integer() else value for value in values]
    return values


def table_of_values(rows: Sequence[Mapping[str, Any]], encoding: Encoding) -> Table:
    """Make a table of rows that `plain_columns` has returned."""
    columns: list[Any] = [np.empty(0)] * len(encoding.names)
    read: dict[tuple[int, str], Any] = {}
    for column in encoding.columns:
        values = [_value_of(row, column, i) for i, row in enumerate(rows)]
        if column.part is None and column.kind == "category":
            columns[column.source] = np.array([*values, None], dtype=object)[:-1]
        elif column.part is None:
            columns[column.source] = _numbers(values, column)
        else:
            if column.part == "weekday":
                values = [None if value is None else WEEKDAYS.index(value) for value in values]
            read[column.source, column.part] = _numbers(values, column)
    return Table(encoding.names, columns, len(rows), encoding.has_names, read=read)


def _value_of(row: Mapping[str, Any], column: Column, i: int) -> Any:
    if column.name not in row:
        raise InputValueError(f"The row has no value of {column.name!r}", row=i, column=column.name)
    return row[column.name]


def _numbers(values: list[Any], column: Column) -> Any:
    try:
        return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        i = next(i for i, value in enumerate(values) if value is not None and not isinstance(value, int | float))
        raise InputValueError(
            f"Column {column.name!r} must hold numbers, got {values[i]!r}", row=i, column=column.name, value=values[i]
        ) from None


def move_rows(X: Any, rows: Sequence[int], moved: Sequence[Mapping[int, Any]], names: Sequence[str]) -> Any:
    """Copy rows of a table, with other values in some columns."""
    mixed: dict[int, tuple[Sequence[Any], Any]] = {}
    for column in sorted({column for of_copy in moved for column in of_copy}):
        values = [of_copy[column] for of_copy in moved if column in of_copy]
        is_moved = np.array([column in of_copy for of_copy in moved])
        mixed[column] = values, np.where(is_moved, np.cumsum(is_moved) - 1, -1)
    return mix_rows(X, rows, mixed, names)


def mix_rows(X: Any, rows: Sequence[int], moved: Mapping[int, tuple[Sequence[Any], Any]], names: Sequence[str]) -> Any:
    """Copy rows of a table, with values of a list in some columns: for each copy the place in it, or -1 for its own."""
    X = for_model(X)
    frame = as_frame(X)
    if frame is None:
        array = np.array(np.asarray(X)[list(rows)])
        for column, (values, picks) in moved.items():
            known = np.array([np.nan if value is None else value for value in values])
            if array.dtype.kind not in "fO":
                array = array.astype(np.promote_types(array.dtype, known.dtype))
            array[:, column] = np.where(picks < 0, array[:, column], known[picks])
        return array
    copies = frame[list(rows)]
    for column, (values, picks) in moved.items():
        own = copies[names[column]].to_list()
        mixed = [own[i] if pick < 0 else values[pick] for i, pick in enumerate(picks.tolist())]
        copies = _with_column(copies, names[column], mixed)
    return copies.to_native()


def _with_column(frame: Any, name: str, values: list[Any]) -> Any:
    """Replace a column by values of the same type, if they fit into it."""
    import narwhals.stable.v2 as nw

    native = frame.to_native()
    if frame.implementation.is_pandas():
        import pandas as pd

        column = native[name]
        series = pd.Series(values, index=native.index, name=name, dtype=object)
        try:
            same = series.astype(column.dtype)
        except (TypeError, ValueError):  # a missing value in a column of whole numbers
            same = series.infer_objects()
        # 2.5 would become 2 in a column of whole numbers.
        series = same if (same.isna() | (same.astype(object) == series)).all() else series.infer_objects()
        return nw.from_native(native.assign(**{name: series}))
    dtype = frame[name].dtype
    fits = not (dtype.is_integer() and any(isinstance(v, float) and v != int(v) for v in values if v is not None))
    series = nw.new_series(name, values, dtype if fits else None, backend=frame.implementation)
    return frame.with_columns(series.alias(name))
