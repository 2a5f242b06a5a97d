"""Rows with the values of training rows in some columns, for a model to be asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._engine.fitted import Fitted
from suffice._table.moved_rows import mix_rows

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class MovedRows:
    """Copies of rows, each with the values of a training row in the same columns.

    Parameters
    ----------
    rows : ndarray of shape (n_copies,), int
        The rows that are copied, as positions in the user's table.
    columns : list of int
        The columns of the matrix that get other values.
    training_rows : ndarray of shape (n_copies,), int
        The training row whose values each copy gets.
    """

    rows: Rows
    columns: list[int]
    training_rows: Rows


def can_be_asked(state: Fitted, columns: Sequence[int]) -> bool:
    """Tell whether a model can be asked about other values of columns: parts of a date do not make a date.

    Parameters
    ----------
    state : Fitted
        The fitted state.
    columns : sequence of int
        Columns of the matrix.

    Returns
    -------
    bool
        Whether it can.
    """
    return not any(state.encoding.columns[c].part is not None for c in columns)


def moved_table(state: Fitted, X: Any, moved: Sequence[MovedRows]) -> Any:
    """Make a table of copies of rows with the values of training rows.

    Parameters
    ----------
    state : Fitted
        The fitted state.
    X : array-like or frame of shape (n_rows, n_columns)
        The user's table.
    moved : sequence of MovedRows
        The copies, at least one.

    Returns
    -------
    array or frame
        All copies, in their order, in a form that models take.
    """
    columns = state.encoding.columns
    ends = np.cumsum([0, *(len(copies.rows) for copies in moved)])
    values_of: dict[int, tuple[list[Any], Rows]] = {}
    for place, copies in enumerate(moved):
        for c in copies.columns:
            values, picks = values_of.setdefault(columns[c].source, ([], np.full(ends[-1], -1, dtype=np.intp)))
            picks[ends[place] : ends[place + 1]] = len(values) + np.arange(len(copies.rows))
            values += [columns[c].value_of(number) for number in state.forest.X[copies.training_rows, c].tolist()]
    rows = np.concatenate([copies.rows for copies in moved])
    return mix_rows(X, rows.tolist(), values_of, state.encoding.names)
