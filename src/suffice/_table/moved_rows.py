"""Rows of a user's table with other values in some columns, as a table of the same kind, for a model to be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._table.frames import as_frame, for_model


def move_rows(X: Any, rows: Sequence[int], moved: Sequence[Mapping[int, Any]], names: Sequence[str]) -> Any:
    """Copy rows of a table, with other values in some columns.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
        The table.
    rows : sequence of int
        The rows to copy; a row may be copied several times.
    moved : sequence of mapping of int to object
        For each copy the columns that get another value, by position in `names`; None for a missing one.
    names : sequence of str
        The columns of the training table, by which a frame is addressed.

    Returns
    -------
    array or frame
        The copies, in a form that models take.
    """
    X = for_model(X)
    frame = as_frame(X)
    changed = sorted({column for values in moved for column in values})
    if frame is None:
        array = np.array(np.asarray(X)[list(rows)])
        for i, values in enumerate(moved):
            for column, value in values.items():
                array[i, column] = np.nan if value is None else value
        return array
    copies = frame[list(rows)]
    for column in changed:
        name = names[column]
        values = copies[name].to_list()
        for i, of_copy in enumerate(moved):
            if column in of_copy:
                values[i] = of_copy[column]
        copies = _with_column(copies, name, values)
    return copies.to_native()


def mix_rows(X: Any, rows: Sequence[int], moved: Mapping[int, tuple[Sequence[Any], Any]], names: Sequence[str]) -> Any:
    """Copy rows of a table, with values of other rows in some columns: `move_rows` for many copies.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
        The table.
    rows : sequence of int
        The rows to copy; a row may be copied several times.
    moved : mapping of int to (sequence of object, ndarray of int)
        For each column, by position in `names`, values, and for each copy the position of the value that it gets; -1
        if it keeps its own.
    names : sequence of str
        The columns of the training table, by which a frame is addressed.

    Returns
    -------
    array or frame
        The copies, in a form that models take.
    """
    X = for_model(X)
    frame = as_frame(X)
    if frame is None:
        array = np.array(np.asarray(X)[list(rows)])
        for column, (values, picks) in moved.items():
            known = np.array([np.nan if value is None else value for value in values])
            array = array if array.dtype == object else array.astype(np.promote_types(array.dtype, known.dtype))
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


def recombine_rows(X: Any, picks: NDArray[np.intp]) -> Any:
    """Make rows whose values come from several rows of a table.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
        The table.
    picks : ndarray of shape (n_made, n_columns)
        For each made row and each column the row of `X` whose value it gets.

    Returns
    -------
    array or frame
        The made rows, in a form that models take. Each column keeps its type.
    """
    X = for_model(X)
    frame = as_frame(X)
    if frame is None:
        array = np.asarray(X)
        return array[picks, np.arange(array.shape[1])]
    if frame.implementation.is_pandas():
        native = frame.to_native()
        taken = {name: native[name].take(picks[:, c]) for c, name in enumerate(native.columns)}
        # pandas would align the columns by the labels of their rows.
        return type(native)({name: column.reset_index(drop=True) for name, column in taken.items()})
    columns = [frame[name][picks[:, c].tolist()] for c, name in enumerate(frame.columns)]
    return frame[picks[:, 0].tolist()].with_columns(*columns).to_native()
