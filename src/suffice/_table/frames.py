"""Frames of pandas, polars and pyarrow: recognised when they come in, and made when results go out.

Their columns are read by ``table``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def as_frame(X: Any) -> Any:
    """Return a frame as one of narwhals, if it is a frame.

    Parameters
    ----------
    X : object
        A frame of pandas, polars or pyarrow, or anything else.

    Returns
    -------
    narwhals.DataFrame or None
        The frame; None if `X` is not one.
    """
    if isinstance(X, np.ndarray | list | tuple | Mapping):
        return None  # without loading narwhals
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError:
        names = list(getattr(X, "column_names", X.columns))
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"`X` has two columns named {twice!r}; rename one.") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("`X` is a lazy frame: collect it first, X.collect().")
    return frame if isinstance(frame, nw.DataFrame) else None


def make_frame(columns: Mapping[str, Sequence[Any]], library: str | None) -> Any:
    """Make a frame of the library of the user's table.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns. Tuples stay tuples in pandas, which can group by them, and become lists elsewhere.
    library : {"pandas", "polars", "pyarrow"} or None
        The library; None, for a table that was not a frame, makes a pandas frame.

    Returns
    -------
    frame
        The frame.
    """
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
    """Import pandas, which a user of arrays or of another library may not have.

    Returns
    -------
    module
        The module ``pandas``.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("`to_frame` needs pandas: pip install pandas.") from None
    return pd
