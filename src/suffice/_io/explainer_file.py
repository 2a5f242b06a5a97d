"""What the command and the app need of a saved explainer, besides the explainer itself."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from suffice._io.sources import cannot_read
from suffice._table.table import read_columns
from suffice.explainer import SufficientExplainer


def is_known(column: pl.Series) -> pl.Series:
    """Find the values of a column that are not missing."""
    not_null = column.is_not_null()
    return not_null & ~column.is_nan().fill_null(True) if column.dtype.is_float() else not_null


def outcomes_of(frame: pl.DataFrame, target: str) -> pl.Series:
    """Return the outcomes of a table."""
    column = frame[target]
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column


def load_explainer_file(path: str, settings: Mapping[str, Any] | None = None) -> SufficientExplainer:
    """Load a saved explainer."""
    try:
        with Path(path).open("rb"):
            pass
    except OSError as error:
        raise cannot_read(path, error) from None
    explainer: SufficientExplainer = SufficientExplainer.load(path)
    return explainer.with_settings(**{name: value for name, value in (settings or {}).items() if value is not None})


def text_columns(explainer: SufficientExplainer) -> set[str]:
    """Return the columns that held text at fit.

    In a CSV file they may happen to look like numbers, and must not be read as such.
    """
    encoding = explainer.fitted_.encoding
    return {
        encoding.names[column.source]
        for column in encoding.columns
        if column.part is None and any(isinstance(label, str) for labels in column.labels for label in labels)
    }


def training_rows(explainer: SufficientExplainer) -> tuple[pl.DataFrame, Any]:
    """Return the training rows that a saved explainer holds."""
    matrix, outcomes = explainer.fitted_.training
    columns = []
    for values, column in zip(matrix.T, explainer.fitted_.encoding.columns, strict=True):
        if column.part is not None:
            raise ValueError(
                "This explainer was fitted on dates and holds only their parts: name the table as well, as in "
                "`suffice app EXPLAINER TABLE`."
            )
        if column.kind == "category":
            labels = [None if np.isnan(value) else column.labels[int(value)][0] for value in values.tolist()]
            is_mixed = len({type(label) for label in labels if label is not None}) > 1
            # polars would write the label False among texts as "false", which is another category.
            columns.append(pl.Series(column.name, labels, dtype=pl.Object if is_mixed else None))
        else:
            columns.append(pl.Series(column.name, values.astype(np.float64)))
    return pl.DataFrame(columns), outcomes


def fit_table(frame: pl.DataFrame, target: str, left_out: list[str], has_dates: bool) -> SufficientExplainer:
    """Fit an explainer to a table."""
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
