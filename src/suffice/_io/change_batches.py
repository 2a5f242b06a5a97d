"""Changes of one batch of a distributed table: the result table of the rows, as Spark and Dask need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suffice._io.change_table import row_columns
from suffice._io.result_table import ValueType
from suffice.errors import InputError
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


@dataclass(frozen=True)
class ChangeRequest:
    """What is asked of every batch of a table.

    Parameters
    ----------
    target : object
        The wanted outcomes.
    keep : tuple of str
        The columns that go into the result.
    options : mapping of str to object
        Options of `what_if`.
    """

    target: Any
    keep: tuple[str, ...]
    options: Mapping[str, Any]

    @classmethod
    def of(cls, target: Any, keep: str | Sequence[str], options: Mapping[str, Any]) -> ChangeRequest:
        """Read what a user asks for.

        Parameters
        ----------
        target : object
            The wanted outcomes.
        keep : str or sequence of str
            The columns that go into the result.
        options : mapping of str to object
            Options of `what_if`.

        Returns
        -------
        ChangeRequest
            The request.
        """
        return cls(target, (keep,) if isinstance(keep, str) else tuple(keep), options)


def change_batch(explainer: SufficientExplainer, frame: Any, request: ChangeRequest, where: str = "the table") -> Any:
    """Answer what would change the outcomes of the rows of a pandas frame.

    Parameters
    ----------
    explainer : SufficientExplainer
        The explainer.
    frame : pandas.DataFrame
        The rows, with the columns to keep.
    request : ChangeRequest
        What is asked.
    where : str, default="the table"
        What an error in a row calls the frame.

    Returns
    -------
    pandas.DataFrame
        For each row its index, the columns kept, and the columns of `BATCH_TYPES`.
    """
    import pandas as pd

    rows = frame[[name for name in frame.columns if name in explainer.fitted_.encoding.names]]
    columns: dict[str, list[Any]] = {}
    if len(rows):
        try:
            changes = explainer.what_if(rows, request.target, confirm=False, progress=False, **request.options)
        except InputError as error:
            if error.row is None:
                raise
            raise error.moved(error.row, f"Row {error.row} of {where}") from error
        columns = row_columns(changes)
    lines: dict[str, Any] = {name: frame[name] for name in request.keep}
    for name, kind in BATCH_TYPES.items():
        values = columns.get(name, [])
        if kind == "str":
            values = [None if value is None else str(value) for value in values]
        lines[name] = pd.Series(values, index=frame.index, dtype=_PANDAS[kind])
    return pd.DataFrame(lines, index=frame.index)
