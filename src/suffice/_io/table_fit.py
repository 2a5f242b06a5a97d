"""Fitting an explainer to a table that was read from a file, as the app does it."""

from __future__ import annotations

import warnings

import polars as pl

from suffice._io.outcome_column import outcomes_of
from suffice._table.table import read_columns
from suffice.explainer import SufficientExplainer


def fit_table(frame: pl.DataFrame, target: str, left_out: list[str], has_dates: bool) -> SufficientExplainer:
    """Fit an explainer to a table.

    Parameters
    ----------
    frame : polars.DataFrame
        The table; every row has an outcome.
    target : str
        The column with the outcomes.
    left_out : list of str
        Columns to leave out.
    has_dates : bool
        Whether to use columns of dates.

    Returns
    -------
    SufficientExplainer
        The fitted explainer.
    """
    X = frame.drop([target, *(column for column in left_out if column != target)])
    table = read_columns(X)
    dated = [column for i, column in enumerate(table.names) if table.kind(i) == "date"]
    if dated and not has_dates:
        X = X.drop(dated)
    if not X.width:
        raise ValueError("There is no column besides the target and those left out.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the app shows the fidelity
        return SufficientExplainer(random_state=0, dates="parts").fit(X, outcomes_of(frame, target))
