"""The column of outcomes of a table that was read from a file."""

from __future__ import annotations

import polars as pl


def is_known(column: pl.Series) -> pl.Series:
    """Find the values of a column that are not missing.

    Parameters
    ----------
    column : polars.Series
        The column.

    Returns
    -------
    polars.Series
        A boolean for each value; False for null and NaN.
    """
    not_null = column.is_not_null()
    return not_null & ~column.is_nan().fill_null(True) if column.dtype.is_float() else not_null


def outcomes_of(frame: pl.DataFrame, target: str) -> pl.Series:
    """Return the outcomes of a table.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : str
        The column with the outcomes.

    Returns
    -------
    polars.Series
        Numbers or labels; categories become text.
    """
    column = frame[target]
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
