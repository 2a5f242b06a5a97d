"""From a saved model and a table file to explanations, and these as the lines of a table or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from suffice.errors import did_you_mean
from suffice.explainer import SufficientExplainer
from suffice.explanation import Explanations
from suffice.files import cannot_read, read_table
from suffice.lines import LINE_COLUMNS, line_of
from suffice.persistence import _PREFIX
from suffice.printing import counted, listed, tell

N_MANY = 1000
# None takes the type of the values.
_TYPES = {
    "outcome": None,
    "bool": pl.Boolean,
    "float": pl.Float64,
    "int": pl.Int64,
    "list of str": pl.List(pl.String),
    "str": pl.String,
}


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Explanations of rows of a file.

    Parameters
    ----------
    explanations : Explanations
        The explanations.
    positions : list of int
        Where the rows are in the file; the first is 0.
    kept : polars.DataFrame
        Columns of the file that go into the result.
    n_left : int
        How many rows of the file were not asked for.
    """

    explanations: Explanations
    positions: list[int]
    kept: pl.DataFrame
    n_left: int

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Give everything that is known of each row.

        Yields
        ------
        dict
            Ready for JSON: the row, the columns kept as "id", and the explanation.
        """
        kept = self.kept.to_dicts() if self.kept.width else [{}] * len(self.positions)
        for position, values, explanation in zip(self.positions, kept, self.explanations, strict=True):
            told = {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in values.items()}
            yield {"row": position, **({"id": told} if told else {}), **explanation.to_dict()}

    def to_frame(self) -> pl.DataFrame:
        """Give the best set and the rule of each row.

        Returns
        -------
        polars.DataFrame
            One line for each row, with the column `row`, those kept, and `LINE_COLUMNS`.
        """
        taken = [name for name in self.kept.columns if name == "row" or name in LINE_COLUMNS]
        if taken:
            raise ValueError(f"--id: {taken[0]!r} is also the name of a column of the result, so rename it.")
        lines = [line_of(explanation) for explanation in self.explanations]
        return pl.DataFrame(
            [
                pl.Series("row", self.positions, dtype=pl.Int64),
                *self.kept.get_columns(),
                *(
                    pl.Series(name, [line[name] for line in lines], dtype=_TYPES[kind])
                    for name, kind in LINE_COLUMNS.items()
                ),
            ]
        )


def load_model(model: str, settings: Mapping[str, Any] | None = None) -> SufficientExplainer:
    """Load a saved model.

    Parameters
    ----------
    model : str
        The path.
    settings : mapping of str to object, default=None
        Parameters to change; None leaves one as it is.

    Returns
    -------
    SufficientExplainer
        The model.
    """
    try:
        with Path(model).open("rb"):
            pass
    except OSError as error:
        raise cannot_read(model, error) from None
    explainer: SufficientExplainer = SufficientExplainer.load(model)
    explainer.set_params(**{name: value for name, value in (settings or {}).items() if value is not None})
    return explainer


def read_origin(model: str) -> dict[str, Any]:
    """Tell what wrote a saved model.

    Parameters
    ----------
    model : str
        The path of a sound file.

    Returns
    -------
    dict
        The number of the "format", and the "versions" of what was used.
    """
    with Path(model).open("rb") as file:
        _, number, n_bytes = _PREFIX.unpack(file.read(_PREFIX.size))
        header = json.loads(file.read(n_bytes))
    return {"format": number, "versions": header["about"]["versions"]}


def explain_file(
    explainer: SufficientExplainer,
    rows: str,
    *,
    input_format: str | None = None,
    limit: int | None = None,
    target: str | None = None,
    prefer_observed: bool = False,
    kept: Sequence[str] = (),
    **options: Any,
) -> ExplainedRows:
    """Explain the rows of a table file.

    Parameters
    ----------
    explainer : SufficientExplainer
        The model.
    rows : str
        The path, or "-" for standard input.
    input_format : str, default=None
        What the file is; None finds out.
    limit : int, default=None
        Explain only so many rows.
    target : str, default=None
        The column with the outcomes; None explains predictions.
    prefer_observed : bool, default=False
        Whether to explain the column of the target's name if there is one.
    kept : sequence of str, default=()
        Columns that go into the result.
    **options : dict
        Passed to `SufficientExplainer.explain`.

    Returns
    -------
    ExplainedRows
        The explanations. Rows without an outcome are left out.
    """
    name = explainer.target_name_
    columns = set(explainer._encoding.names)
    is_text = explainer.task_ == "classification" and explainer.classes_.dtype.kind not in "biuf"
    text_columns = _text_columns(explainer) | ({target or name} if is_text else set())
    frame = read_table(rows, format=input_format, text_columns=text_columns)
    for column in kept:
        check_column(frame, column, rows, "--id")
    spare = set(kept) - columns
    if target is None and name in set(frame.columns) - columns:
        spare.add(name)
        if prefer_observed:
            target = name
        elif name not in kept:
            tell(f"The predictions are explained, not the column {name!r}; for that: --target {name!r}")
    positions = list(range(frame.height))
    if target is not None:
        check_column(frame, target, rows, "--target")
        frame, positions = with_outcome(frame, target)
        spare |= {target} - columns
    n_rows = frame.height
    frame, positions = frame.head(limit or n_rows), positions[:limit]
    y = None if target is None else outcomes_of(frame, target)
    if frame.height >= N_MANY and sys.stderr.isatty():  # the library's bar comes when the intervals are known
        tell(f"Explaining {frame.height} rows ...")
    explanations = explainer.explain(frame.drop(sorted(spare)), y, **options)
    return ExplainedRows(explanations, positions, frame.select(list(dict.fromkeys(kept))), n_rows - frame.height)


def _text_columns(explainer: SufficientExplainer) -> set[str]:
    """Columns that held text at fit: a file in which they happen to look like numbers must not make numbers of them."""
    encoding = explainer._encoding
    return {
        encoding.names[column.source]
        for column in encoding.columns
        if column.part is None and any(isinstance(label, str) for labels in column.labels for label in labels)
    }


def training_rows(explainer: SufficientExplainer) -> tuple[pl.DataFrame, Any]:
    """Give the training rows that a model holds.

    Parameters
    ----------
    explainer : SufficientExplainer
        The model.

    Returns
    -------
    X : polars.DataFrame
        The rows. Of a column's rare categories only one is left.
    y : ndarray of shape (n_rows,)
        Their outcomes.
    """
    matrix, outcomes = explainer._training()
    columns = []
    for values, column in zip(matrix.T, explainer._encoding.columns, strict=True):
        if column.part is not None:
            raise ValueError(
                "This model was fitted on dates, of which it holds the parts only: give the table, too, as in "
                "`suffice rules MODEL TABLE`."
            )
        if column.kind == "category":
            labels = [None if np.isnan(value) else column.labels[int(value)][0] for value in values.tolist()]
            columns.append(pl.Series(column.name, labels, strict=False))
        else:
            columns.append(pl.Series(column.name, values.astype(np.float64)))
    return pl.DataFrame(columns), outcomes


def check_column(frame: pl.DataFrame, name: str, source: str, option: str) -> None:
    """Refuse a column that is not there.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    name : str
        The column.
    source : str
        The file that the table comes from.
    option : str
        The option that names the column.
    """
    if name not in frame.columns:
        hint = did_you_mean(name, frame.columns) or f" Its columns are {listed(frame.columns)}."
        where = "standard input" if source == "-" else source
        raise ValueError(f"{option}: there is no column {name!r} in {where}.{hint}")


def with_outcome(frame: pl.DataFrame, target: str) -> tuple[pl.DataFrame, list[int]]:
    """Leave out the rows without an outcome.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : str
        The column with the outcomes.

    Returns
    -------
    frame : polars.DataFrame
        The other rows.
    positions : list of int
        Where they were.
    """
    column = frame[target]
    is_known = column.is_not_null()
    if column.dtype.is_float():
        is_known &= ~column.is_nan().fill_null(True)
    n_missing = frame.height - int(is_known.sum())
    if n_missing == frame.height:
        raise ValueError(f"The column {target!r} is empty: there is no outcome to explain.")
    if n_missing:
        tell(f"{counted(n_missing, 'row')} without a value of {target!r} left out.")
    return frame.filter(is_known), np.flatnonzero(is_known.to_numpy()).tolist()


def outcomes_of(frame: pl.DataFrame, target: str) -> pl.Series:
    """Take the outcomes out of a table.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : str
        The column with the outcomes.

    Returns
    -------
    polars.Series
        Numbers or labels.
    """
    column = frame[target]
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
