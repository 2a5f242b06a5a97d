"""Frames of pandas, polars and pyarrow: recognised when they come in, and made when results go out.

Their columns are read by ``table``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice._text import first_repeated


def as_frame(X: Any) -> Any:
    """Return a frame as one of narwhals, if it is a frame."""
    if isinstance(X, np.ndarray | list | tuple | Mapping):
        return None  # without loading narwhals
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError:
        names = list(getattr(X, "column_names", X.columns))
        twice = first_repeated(names)
        raise ValueError(f"`X` has two columns named {twice!r}; rename one.") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("`X` is a lazy frame: collect it first, X.collect().")
    return frame if isinstance(frame, nw.DataFrame) else None


def as_rows(X: Any) -> Any:
    """Turn a single row with names into a table of one row, and a list of such rows into a dict of columns."""
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # some sparse matrices are dicts
        is_row = len(X) > 0 and all(isinstance(value, str | bytes) or np.ndim(value) == 0 for value in X.values())
        return {name: [value] for name, value in X.items()} if is_row else X
    if isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        # A name that a row lacks is a missing value there, as pandas reads such rows.
        return {name: [row.get(name) for row in X] for name in dict.fromkeys(name for row in X for name in row)}
    if isinstance(X, np.ndarray | list | tuple):
        return X
    from narwhals.dependencies import is_pandas_series

    if not is_pandas_series(X):
        return X
    if len(X) and all(isinstance(name, str) for name in X.index):
        return X.to_frame().T.infer_objects()
    raise ValueError(
        f"`X` is a Series of {len(X)} values without the names of columns: for one row pass frame.iloc[0] or "
        "frame.iloc[[0]], for one column pass frame[[name]]."
    )


def for_model(X: Any) -> Any:
    """Return a table in a form that models take."""
    X = as_rows(X)
    return make_frame(X, None) if isinstance(X, Mapping) else X


def make_frame(columns: Mapping[str, Sequence[Any]], library: str | None) -> Any:
    """Make a frame of the library of the user's table."""
    if library in ("polars", "pyarrow"):
        columns = {
            name: [list(value) if isinstance(value, tuple) else value for value in values]
            for name, values in columns.items()
        }
    if library == "polars":
        import polars as pl

        return pl.DataFrame(columns, strict=False)
    if library == "pyarrow":
        import pyarrow as pa

        return pa.table(columns)
    return load_pandas().DataFrame(dict(columns))


def load_pandas() -> Any:
    """Import pandas, which a user of arrays or of another library may not have."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("`to_frame` needs pandas: pip install pandas.") from None
    return pd
