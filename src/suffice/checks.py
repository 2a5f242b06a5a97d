"""Checks of what the user passes: numbers, tables and targets. Each error names the thing, what came, and the fix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d


def check_number(name: str, value: Any, must_be: str, is_right: Callable[[Any], bool], kind: Any = Real) -> None:
    """Refuse a parameter that is no number of the right kind and range.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        What the user gave.
    must_be : str
        What it must be, in words.
    is_right : callable
        Tells whether a number is in range.
    kind : type, default=numbers.Real
        The kind of number.
    """
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"`{name}` must be {must_be}, got {value!r}.")
    if not is_right(value):
        raise ValueError(f"`{name}` must be {must_be}, got {value!r}.")


def check_finite(table: NDArray[np.float32], column_names: Sequence[str], takes_missing: bool) -> None:
    """Refuse infinite values, and missing ones where the forest cannot take them.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        The table.
    column_names : sequence of str
        The names of its columns.
    takes_missing : bool
        Whether NaN is allowed.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(table.sum(dtype=np.float64)):  # one pass without a copy, true for nearly every table
            return
    bad = np.isinf(table) if takes_missing else ~np.isfinite(table)
    if not bad.any():
        return
    row, column = (int(i[0]) for i in np.nonzero(bad))
    if np.isnan(table[row, column]):
        what, fix = "NaN", "this forest cannot take missing values, so fill them in or choose another forest"
    else:
        what = "infinity or a number too large for float32"
        fix = "give a finite number" + (", or NaN if it is missing" if takes_missing else "")
    raise ValueError(f"Column {column_names[column]!r} of `X` holds {what} (row {row}): {fix}.")


def find_text(X: Any) -> str | None:
    """Say which column keeps a table from being one of numbers.

    Parameters
    ----------
    X : array-like or frame
        A table that could not be turned into numbers.

    Returns
    -------
    str or None
        What the first column with text or dates holds, and what to do; None if there is no such column.
    """
    if hasattr(X, "columns"):
        columns = [(str(name), np.asarray(X[name])) for name in X.columns]
    else:
        table = np.asarray(X, dtype=object)
        columns = [(f"x{i}", column) for i, column in enumerate(table.T)] if table.ndim == 2 else []
    for name, column in columns:
        for row, value in enumerate(column.tolist() if column.dtype.kind in "OUT" else []):
            if isinstance(value, str) and not _is_number(value):
                return (
                    f"Column {name!r} of `X` holds the text {value!r} (row {row}): give numbers, such as one column of "
                    "0 and 1 for each category, made one variable by `groups`."
                )
        if column.dtype.kind in "mM":
            return f"Column {name!r} of `X` holds dates or times: give numbers, such as the hour or the month."
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_target(y: Any, n_rows: int) -> NDArray[Any]:
    """Make an array of one outcome for each row.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The outcomes.
    n_rows : int
        The number of rows of the table.

    Returns
    -------
    ndarray of shape (n_rows,)
        Numbers or labels, none missing.
    """
    if y is None:
        # scikit-learn's wording, which its estimator checks look for.
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    # Of a list, NumPy would make a label "nan" and numbers into text without a word.
    target = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if target.ndim == 2 and target.shape[1] != 1:
        raise ValueError(f"`y` has {target.shape[1]} columns; explain one output at a time: fit(X, y[:, 0]).")
    target = column_or_1d(target, warn=True)
    if len(target) != n_rows:
        raise ValueError(f"`y` has {len(target)} entries, `X` has {n_rows} rows.")
    if target.dtype.kind == "O":
        target = _from_objects(target.tolist())
    if target.dtype.kind not in "biufUS":
        raise TypeError(f"`y` must hold labels or numbers, got {target.dtype}.")
    if target.dtype.kind == "f":
        as_finite(target)
    return target


def _from_objects(labels: list[Any]) -> NDArray[Any]:
    for row, label in enumerate(labels):
        if _is_missing(label):
            raise ValueError(f"`y` has a missing value (row {row}): leave out the rows without an outcome.")
    types = sorted({type(label).__name__ for label in labels})
    if 0 < sum(isinstance(label, str) for label in labels) < len(labels):
        raise TypeError(f"`y` mixes text with other labels, of the types {types}: make them all strings.")
    target = np.array(labels)
    if target.dtype.kind == "O":
        raise TypeError(f"`y` must hold labels or numbers, got objects of the types {types}.")
    return target


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)  # noqa: PLR0124 (NaN and NaT)
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True


def as_finite(y: NDArray[Any]) -> NDArray[np.float64]:
    """Turn outcomes into finite numbers.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        The outcomes.

    Returns
    -------
    ndarray of shape (n_rows,)
        The same as float64.
    """
    try:
        numbers = y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("`y` must hold numbers for a regression; give task='classification' for labels.") from None
    is_bad = ~np.isfinite(numbers)
    if is_bad.any():
        row = int(np.flatnonzero(is_bad)[0])
        raise ValueError(f"`y` holds NaN or inf (row {row}): leave out the rows without a finite outcome.")
    return numbers
