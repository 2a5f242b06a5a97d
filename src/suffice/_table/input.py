"""What users pass: tables with the columns of the fit, and outcomes, read and checked.

Errors say which column and which row is at fault. What the values of a column mean is left to ``table``.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d, validate_data

from suffice._table.frames import as_frame, as_rows
from suffice._table.table import Table, is_missing, is_number, read_columns
from suffice._text import counted
from suffice.errors import InputTypeError, InputValueError, did_you_mean, warn

MAX_LISTED = 50  # names that an error lists


def match_columns(names: Sequence[str], fitted: Sequence[str], extra: str | Collection[str]) -> list[int]:
    """Find the columns of the training table in another table."""
    # Sets, and each made once: with 40,000 columns, lists take minutes.
    position_of = {name: i for i, name in enumerate(names)}
    known, ignored = set(fitted), set(names if extra == "ignore" else () if extra == "error" else extra)
    missing = [name for name in fitted if name not in position_of]
    unexpected = [name for name in names if name not in known]
    refused = [name for name in unexpected if name not in ignored]
    if missing or refused:
        near = did_you_mean(missing[0], unexpected) if missing else " With extra_columns='ignore' they are left out."
        raise ValueError(
            f"`X` has {len(names)} columns, there were {len(fitted)} at fit: missing {_listed(missing)}, unexpected "
            f"{_listed(unexpected if missing else refused)}.{near}"
        )
    return [position_of[name] for name in fitted]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"{names[:MAX_LISTED]}{more}"


def check_finite(table: NDArray[Any], column_names: Sequence[str], takes_missing: bool) -> None:
    """Refuse infinite values, and missing ones if the forest cannot take them."""
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
    name = column_names[column]
    raise InputValueError(
        f"Column {name!r} of `X` holds {what}", f": {fix}.", row=row, column=name, value=table[row, column].item()
    )


def read_input(
    estimator: Any,
    X: Any,
    *,
    reset: bool = False,
    min_rows: int = 0,
    extra_columns: str | Collection[str] = "error",
    fillers: Mapping[str, Any] | None = None,
) -> Table:
    """Read the table that an estimator is fitted on, or a later one, which must have the columns of the first."""
    X = X if isinstance(X, Table | np.ndarray) else as_rows(X)
    frame = None if isinstance(X, Table | np.ndarray) else as_frame(X)
    is_dict = isinstance(X, Mapping) and not hasattr(X, "shape")  # some sparse matrices are dicts
    # scikit-learn's own check takes 50 us, and the first one 30 ms, which is longer than the search of a row.
    is_plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "iuf" and X.shape[1] > 0 and not reset
    if frame is None and not isinstance(X, Table) and not is_dict and not is_plain and not _holds_text(X):
        array = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False, ensure_min_samples=0)
        _check_n_rows(len(array), min_rows)
        return Table.from_array(array)
    table = Table.from_frame(frame) if frame is not None else read_columns(X)
    _check_n_rows(table.n_rows, min_rows)
    if not table.names:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
    if reset:
        estimator.n_features_in_ = len(table.names)
        if table.has_names:
            estimator.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return table
    fitted = getattr(estimator, "feature_names_in_", None)
    name = type(estimator).__name__
    if table.has_names and fitted is not None:
        absent = {column: value for column, value in (fillers or {}).items() if column not in table.names}
        table = table.with_constants(absent) if absent else table
        return table.choose(match_columns(table.names, fitted.tolist(), extra_columns))
    if len(table.names) != estimator.n_features_in_:
        raise ValueError(
            f"X has {len(table.names)} features, but {name} is expecting {estimator.n_features_in_} features as input."
        )
    if table.has_names != (fitted is not None):
        # scikit-learn's wording, which its estimator checks look for.
        has, fitted_with = ("has", "without") if table.has_names else ("does not have valid", "with")
        warn(f"X {has} feature names, but {name} was fitted {fitted_with} feature names", UserWarning)
    return table


def _check_n_rows(n_rows: int, least: int) -> None:
    if n_rows < least:
        # "sample" is the word that scikit-learn's estimator checks look for.
        rows = "no rows (0 samples)" if n_rows == 0 else "only one row (1 sample)"
        raise ValueError(f"`X` has {rows}: `fit` needs at least {counted(least, 'row')}.")


def _holds_text(X: Any) -> bool:
    """Return whether an array or list holds labels or dates, and not only numbers or text that reads as numbers."""
    if not isinstance(X, np.ndarray | list | tuple):
        return False
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths, which scikit-learn refuses
        return False
    if array.ndim != 2 or array.dtype.kind not in "MUTO":
        return False
    if array.dtype.kind != "O":
        return True
    return any(isinstance(v, datetime.date) or (isinstance(v, str) and not is_number(v)) for v in array.flat)


def read_outcomes(y: Any, n_rows: int) -> NDArray[Any]:
    """Read the outcomes as an array with one outcome for each row."""
    if y is None:
        # scikit-learn's wording, which its estimator checks look for.
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if n_rows == 1 and np.ndim(y) == 0:
        y = [y]
    # From a list with text in it, NumPy would silently make the label "nan" of NaN, and text of numbers.
    target = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if target.ndim == 2 and target.shape[1] != 1:
        raise ValueError(f"`y` has {target.shape[1]} columns; explain one output at a time: fit(X, y[:, 0]).")
    target = column_or_1d(target, warn=True)
    if len(target) != n_rows:
        raise ValueError(f"`y` has {len(target)} entries, `X` has {n_rows} rows.")
    if target.dtype.kind == "O":
        target = _from_objects(target.tolist())
    if target.dtype.kind not in "biufUS":
        raise InputTypeError(f"`y` must hold labels or numbers, got {target.dtype}.")
    if target.dtype.kind == "f":
        as_finite(target)
    return target


def _from_objects(labels: list[Any]) -> NDArray[Any]:
    for row, label in enumerate(labels):
        if is_missing(label):
            raise InputValueError("`y` has a missing value", ": leave out the rows without an outcome.", row=row)
    types = sorted({type(label).__name__ for label in labels})
    is_text = [isinstance(label, str) for label in labels]
    if 0 < sum(is_text) < len(labels):
        row = is_text.index(not is_text[0])
        raise InputTypeError(
            f"`y` mixes text with other labels, of the types {types}",
            ": make them all strings.",
            row=row,
            value=labels[row],
        )
    target = np.array(labels)
    if target.dtype.kind == "O":
        raise InputTypeError(f"`y` must hold labels or numbers, got objects of the types {types}.")
    return target


def check_classes(y: NDArray[Any], instead: str) -> None:
    """Refuse numbers with fractions, and bytes, as classes."""
    if y.dtype.kind == "S":
        raise InputTypeError(f"`y` holds bytes, such as {y[0]!r}: decode them to text, y.astype(str).")
    if y.dtype.kind != "f" or np.all(y == np.floor(y)):
        return
    row = int(np.flatnonzero(y != np.floor(y))[0])
    number = y[row].item()
    # The first words are scikit-learn's, which its estimator checks look for.
    raise InputValueError(
        f"Unknown label type: `y` holds the number {number!r}",
        f", but numbers with fractions are no classes: {instead}, or turn them into labels.",
        row=row,
        value=number,
    )


def as_finite(y: NDArray[Any]) -> NDArray[np.float64]:
    """Turn outcomes into finite numbers."""
    try:
        numbers = y.astype(np.float64)
    except (TypeError, ValueError):
        raise InputValueError(
            "`y` must hold numbers for a regression; give task='classification' for labels."
        ) from None
    is_bad = ~np.isfinite(numbers)
    if is_bad.any():
        row = int(np.flatnonzero(is_bad)[0])
        raise InputValueError(
            "`y` holds NaN or inf", ": leave out the rows without a finite outcome.", row=row, value=numbers[row].item()
        )
    return numbers
