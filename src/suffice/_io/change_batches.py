"""Changes of one batch of a distributed table: the result table of the rows, as Spark and Dask need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suffice._io.change_table import row_columns
from suffice._io.result_table import ValueType
from suffice.explainer import SufficientExplainer

BATCH_TYPES: dict[str, ValueType] = {
    "outcome": "str",
    "target": "str",
    "is_reached": "bool",
    "n_changes": "int",
    "variables": "str",
    "size": "int",
    "what_changes": "str",
    "box": "str",
    "probability": "float",
    "mean": "float",
    "plausibility": "float",
    "optimal": "bool",
    "cdp": "float",
    "support": "int",
    "n_wanted": "int",
    "cost": "float",
    "nearest": "str",
    "nearest_probability": "float",
    "nearest_plausibility": "float",
    "is_complete": "bool",
}
"""The columns of the result and their types. Outcomes are text: labels and numbers share one column."""
_PANDAS: dict[ValueType, str] = {"str": "object", "bool": "boolean", "int": "Int64", "float": "float64"}


def change_batch(
    explainer: SufficientExplainer, frame: Any, target: Any, keep: Sequence[str], options: Mapping[str, Any]
) -> Any:
    """Answer what would change the outcomes of the rows of a pandas frame.

    Parameters
    ----------
    explainer : SufficientExplainer
        The explainer.
    frame : pandas.DataFrame
        The rows, with the columns to keep.
    target : object
        The wanted outcomes.
    keep : sequence of str
        Columns that go into the result.
    options : mapping of str to object
        Options of `what_if`.

    Returns
    -------
    pandas.DataFrame
        For each row its index, the columns kept, and the columns of `BATCH_TYPES`.
    """
    import pandas as pd

    rows = frame[[name for name in frame.columns if name in explainer.fitted_.encoding.names]]
    if len(rows):
        columns = row_columns(explainer.what_if(rows, target, confirm=False, progress=False, **options))
    else:
        columns = {}
    lines: dict[str, Any] = {name: frame[name] for name in keep}
    for name, kind in BATCH_TYPES.items():
        values = columns.get(name, [])
        if kind == "str":
            values = [None if value is None else str(value) for value in values]
        lines[name] = pd.Series(values, index=frame.index, dtype=_PANDAS[kind])
    return pd.DataFrame(lines, index=frame.index)
