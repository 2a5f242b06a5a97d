"""What the command and the app need of a saved explainer, besides the explainer itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from suffice._io.sources import cannot_read
from suffice.explainer import SufficientExplainer


def load_explainer_file(path: str, settings: Mapping[str, Any] | None = None) -> SufficientExplainer:
    """Load a saved explainer.

    Parameters
    ----------
    path : str
        The path.
    settings : mapping of str to object, default=None
        Parameters to change; a value of None leaves the saved one.

    Returns
    -------
    SufficientExplainer
        The explainer.
    """
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

    Parameters
    ----------
    explainer : SufficientExplainer
        A fitted explainer.

    Returns
    -------
    set of str
        The names of the columns.
    """
    encoding = explainer.fitted_.encoding
    return {
        encoding.names[column.source]
        for column in encoding.columns
        if column.part is None and any(isinstance(label, str) for labels in column.labels for label in labels)
    }


def training_rows(explainer: SufficientExplainer) -> tuple[pl.DataFrame, Any]:
    """Return the training rows that a saved explainer holds.

    Parameters
    ----------
    explainer : SufficientExplainer
        A fitted explainer.

    Returns
    -------
    X : polars.DataFrame
        The rows. All rare categories of a column appear as one of them.
    y : ndarray of shape (n_rows,)
        Their outcomes.
    """
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
