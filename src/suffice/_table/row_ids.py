"""Identifiers of rows: the index of a pandas frame, a column of the table, or a list that the user passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice._table.frames import as_frame
from suffice._table.table import Table, is_missing
from suffice.errors import did_you_mean
from suffice.words import format_exactly

RowIds = tuple[str, ...] | None
"""The identifier of each row as text, or None if rows have none."""


def read_ids(X: Any, ids: Any, fitted_columns: Sequence[str]) -> tuple[Any, RowIds]:
    """Read the identifiers of rows.

    Parameters
    ----------
    X : array-like or frame
        The rows.
    ids : str, array-like or None
        The name of a column of `X`, or an identifier for each row. None takes the index of a pandas frame, unless it
        just counts the rows from 0.
    fitted_columns : sequence of str
        The columns of the training table.

    Returns
    -------
    X : array-like or frame
        The rows, without the column of identifiers if it was not there at fit.
    ids : tuple of str or None
        The identifier of each row; None if there are none.
    """
    if ids is None:
        return X, _ids_of_index(X)
    if isinstance(ids, str):
        column = _column(X, ids)
        if ids not in fitted_columns:
            is_mapping = isinstance(X, Mapping)
            X = {name: X[name] for name in X if name != ids} if is_mapping else as_frame(X).drop(ids).to_native()
        return X, tuple(map(id_text, column))
    values = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    n_rows = _count_rows(X)
    if len(values) != n_rows:
        raise ValueError(f"`ids` must have one identifier for each row of `X`: got {len(values)} for {n_rows} rows.")
    return X, tuple(map(id_text, values))


def id_text(value: Any) -> str:
    """Write an identifier.

    Parameters
    ----------
    value : object
        A text, a number, a date, or several of them.

    Returns
    -------
    str
        Its text.

    Examples
    --------
    >>> id_text("1677-AEVQX"), id_text(17.0), id_text(("Oslo", 3)), id_text(None)
    ('1677-AEVQX', '17', 'Oslo, 3', 'missing')
    """
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
    if isinstance(X, Mapping):
        names, values = list(X), X.get(name)
    else:
        frame = as_frame(X)
        if frame is None:
            raise ValueError(
                f"`ids` names the column {name!r}, but `X` has no named columns: pass a list of identifiers."
            )
        names = frame.columns
        values = frame[name].to_list() if name in names else None
    if values is None:
        raise ValueError(f"`ids`: `X` has no column {name!r}.{did_you_mean(name, map(str, names))}")
    return list(values)


def _count_rows(X: Any) -> int:
    if isinstance(X, Table):
        return X.n_rows
    if isinstance(X, Mapping):
        return len(next(iter(X.values()), ()))
    return len(X)
