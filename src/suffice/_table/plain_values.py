"""Rows as plain values by column, ready for JSON, and back: what an explainer has read of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice._table.encoding import Column, Encoding
from suffice._table.table import WEEKDAYS, Table
from suffice.errors import InputValueError


def plain_columns(table: Table, encoding: Encoding) -> dict[str, list[Any]]:
    """Return the values of a table that an explainer reads.

    Parameters
    ----------
    table : Table
        The table, with the columns of the training table.
    encoding : Encoding
        How its columns are read.

    Returns
    -------
    dict of str to list
        For each column of the matrix, such as "age" or "when.hour", the user's values: labels, whole numbers and
        numbers as they are; None for missing values.
    """
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
    """Make a table of rows that `plain_columns` has returned.

    Parameters
    ----------
    rows : sequence of mapping of str to object
        The values of each row by column.
    encoding : Encoding
        How columns are read.

    Returns
    -------
    Table
        A table that is encoded as the first one was.
    """
    columns: list[Any] = [np.empty(0)] * len(encoding.names)
    read: dict[tuple[int, str], Any] = {}
    for column in encoding.columns:
        values = [_value_of(row, column, i) for i, row in enumerate(rows)]
        if column.part is None and column.kind == "category":
            columns[column.source] = np.array([*values, None], dtype=object)[:-1]
        elif column.part is None:
            columns[column.source] = _numbers(values, column)
        elif column.part == "weekday":
            days = [None if value is None else WEEKDAYS.index(value) for value in values]
            read[column.source, column.part] = _numbers(days, column)
        else:
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
