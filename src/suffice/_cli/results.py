"""From a saved model and a table file to explanations, and these as the lines of a table or as JSON.

Explaining a large file part by part is left to ``streaming``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from suffice._cli.printing import listed, tell
from suffice._io.files import TableFile, cannot_read, open_table
from suffice._io.result_table import ValueType, check_kept, result_frame, value_type_of
from suffice._io.saved import _PREFIX
from suffice.errors import did_you_mean
from suffice.explainer import SufficientExplainer
from suffice.explanations import Explanations
from suffice.words import counted

N_MANY = 1000
N_LOOKED_AT = 2**20  # rows of the column of outcomes that are in memory at a time


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
    outcome_type : {"bool", "int", "float", "str", "bytes"}, default=None
        The type of the column of outcomes; None takes that of the values.
    """

    explanations: Explanations
    positions: list[int]
    kept: pl.DataFrame
    n_left: int
    outcome_type: ValueType | None = None

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
            One line for each row, with the column `row`, those kept, and `RESULT_COLUMNS`.
        """
        check_kept(self.kept.columns, "--id", with_row=True)
        frame: pl.DataFrame = result_frame(
            self.explanations,
            "polars",
            positions=self.positions,
            kept=dict(zip(self.kept.columns, self.kept.get_columns(), strict=True)),
            outcome_type=self.outcome_type,
        )
        return frame


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


@dataclass(frozen=True, eq=False)
class Question:
    """Rows of a table file, and what is asked about them.

    Parameters
    ----------
    explainer : SufficientExplainer
        The model.
    table : TableFile
        The file.
    target : str or None
        The column with the outcomes; None explains predictions.
    kept : tuple of str
        Columns that go into the result.
    spare : frozenset of str
        Columns that are nothing to the model.
    end : int
        Rows from this one on are not asked for.
    n_asked : int
        How many rows before it have an outcome.
    n_left : int
        How many after it have one.
    options : dict of str to object
        Passed to `SufficientExplainer.explain`.
    """

    explainer: SufficientExplainer
    table: TableFile
    target: str | None
    kept: tuple[str, ...]
    spare: frozenset[str]
    end: int
    n_asked: int
    n_left: int
    options: dict[str, Any]

    @property
    def outcome_type(self) -> ValueType:
        """The type of the column of outcomes in the result table, which must not depend on the rows."""
        explainer = self.explainer
        if explainer.task_ == "regression":
            return "float"
        if self.target is None:
            return value_type_of(explainer.classes_)
        held = self.table.schema[self.target]
        if held.is_integer():
            return "int"
        if held.is_float():
            return "float"
        return "bool" if held == pl.Boolean else "str"

    def read(self, first: int, end: int) -> pl.DataFrame:
        """Read rows of the file.

        Parameters
        ----------
        first, end : int
            Where they begin, and where they end.

        Returns
        -------
        polars.DataFrame
            The columns that the model and the result need.
        """
        names, goes_by_names = self.explainer._encoding.names, self.explainer._encoding.has_names
        needed = {*names, *self.spare} if goes_by_names and self.explainer.extra_columns == "ignore" else None
        return self.table.rows(first, end - first, needed)

    def explain(self, frame: pl.DataFrame, first: int = 0, *, progress: bool | None = None) -> ExplainedRows:
        """Explain those of some rows that have an outcome.

        Parameters
        ----------
        frame : polars.DataFrame
            The rows.
        first : int, default=0
            Where in the file they begin.
        progress : bool, default=None
            Whether the library shows its own bar.

        Returns
        -------
        ExplainedRows
            The explanations.
        """
        positions = list(range(first, first + frame.height))
        is_part = frame.height < self.end
        y = None
        if self.target is not None:
            has_outcome = is_known(frame[self.target])
            frame, positions = frame.filter(has_outcome), (first + np.flatnonzero(has_outcome.to_numpy())).tolist()
            y = outcomes_of(frame, self.target) if frame.height else None  # of no labels NumPy makes numbers
        try:
            explanations = self.explainer.explain(frame.drop(sorted(self.spare)), y, progress=progress, **self.options)
        except (ValueError, TypeError) as error:
            if type(error) not in (ValueError, TypeError):
                raise
            raise type(error)(_tell_place(str(error), positions, is_part)) from None
        return ExplainedRows(explanations, positions, frame.select(self.kept), self.n_left, self.outcome_type)

    def check(self) -> None:
        """Refuse columns and settings that do not suit the model, before any row is read."""
        given = {name: dtype for name, dtype in self.table.schema.items() if name not in self.spare}
        self.explainer.explain(pl.DataFrame(schema=given), progress=False, **self.options)


def _tell_place(text: str, positions: Sequence[int], is_part: bool) -> str:
    """Turn the row of a part, of which a message speaks, into that of the file."""
    found = re.search(r"\(row (\d+)\)(?=[,:.])", text)
    if found and int(found[1]) < len(positions):
        return f"{text[: found.start(1)]}{positions[int(found[1])]}{text[found.end(1) :]}"
    return f"{text} (This is about the rows {positions[0]} to {positions[-1]}.)" if is_part and positions else text


def ask(
    explainer: SufficientExplainer,
    rows: str,
    *,
    input_format: str | None = None,
    limit: int | None = None,
    target: str | None = None,
    prefer_observed: bool = False,
    kept: Sequence[str] = (),
    **options: Any,
) -> Question:
    """Open a table file whose rows are to be explained.

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
        The column with the outcomes; None explains predictions. Rows without an outcome are left out.
    prefer_observed : bool, default=False
        Whether to explain the column of the target's name if there is one.
    kept : sequence of str, default=()
        Columns that go into the result.
    **options : dict
        Passed to `SufficientExplainer.explain`.

    Returns
    -------
    Question
        The rows, and what is asked about them.
    """
    name = explainer.target_name_
    columns = set(explainer._encoding.names)
    is_text = explainer.task_ == "classification" and explainer.classes_.dtype.kind not in "biuf"
    text_columns = _text_columns(explainer) | ({target or name} if is_text else set())
    table = open_table(rows, format=input_format, text_columns=text_columns)
    for column in kept:
        check_column(table.schema, column, rows, "--id")
    spare = set(kept) - columns
    if target is None and name in set(table.schema) - columns:
        spare.add(name)
        if prefer_observed:
            target = name
        elif name not in kept:
            tell(f"The predictions are explained, not the column {name!r}; for that: --target {name!r}")
    if target is not None:
        check_column(table.schema, target, rows, "--target")
        spare |= {target} - columns
    end, n_asked, n_left = _find_end(table, target, limit)
    chosen = tuple(dict.fromkeys(kept))
    return Question(explainer, table, target, chosen, frozenset(spare), end, n_asked, n_left, options)


def _find_end(table: TableFile, target: str | None, limit: int | None) -> tuple[int, int, int]:
    """Find where the rows asked for end, how many of them have an outcome, and how many more rows have one."""
    if target is None:
        end = min(limit or table.n_rows, table.n_rows)
        return end, end, table.n_rows - end
    end, n_known = table.n_rows, 0
    for first in range(0, table.n_rows, N_LOOKED_AT):
        known = np.flatnonzero(is_known(table.rows(first, N_LOOKED_AT, [target])[target]).to_numpy())
        if limit is not None and n_known < limit <= n_known + len(known):
            end = first + int(known[limit - n_known - 1]) + 1
        n_known += len(known)
    _tell_of_missing(target, table.n_rows - n_known, table.n_rows)
    n_asked = min(limit or n_known, n_known)
    return end, n_asked, n_known - n_asked


def explain_file(explainer: SufficientExplainer, rows: str, **asked: Any) -> ExplainedRows:
    """Explain the rows of a table file.

    Parameters
    ----------
    explainer : SufficientExplainer
        The model.
    rows : str
        The path, or "-" for standard input.
    **asked : dict
        Passed to `ask`.

    Returns
    -------
    ExplainedRows
        The explanations. Rows without an outcome are left out.
    """
    return explain_whole(ask(explainer, rows, **asked))


def explain_whole(asked: Question) -> ExplainedRows:
    """Explain all rows that are asked for at once.

    Parameters
    ----------
    asked : Question
        The rows, and what is asked about them.

    Returns
    -------
    ExplainedRows
        The explanations.
    """
    if asked.n_asked >= N_MANY and sys.stderr.isatty():  # the library's bar comes when the intervals are known
        tell(f"Explaining {asked.n_asked} rows ...")
    return asked.explain(asked.read(0, asked.end))


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


def check_column(columns: Collection[str], name: str, source: str, option: str) -> None:
    """Refuse a column that is not there.

    Parameters
    ----------
    columns : collection of str
        The columns of the table.
    name : str
        The column.
    source : str
        The file that the table comes from.
    option : str
        The option that names the column.
    """
    if name not in columns:
        hint = did_you_mean(name, columns) or f" Its columns are {listed(list(columns))}."
        where = "standard input" if source == "-" else source
        raise ValueError(f"{option}: there is no column {name!r} in {where}.{hint}")


def with_outcome(frame: pl.DataFrame, target: str) -> pl.DataFrame:
    """Leave out the rows without an outcome.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : str
        The column with the outcomes.

    Returns
    -------
    polars.DataFrame
        The other rows.
    """
    known = frame.filter(is_known(frame[target]))
    _tell_of_missing(target, frame.height - known.height, frame.height)
    return known


def is_known(column: pl.Series) -> pl.Series:
    """Tell which values of a column are not missing.

    Parameters
    ----------
    column : polars.Series
        The column.

    Returns
    -------
    polars.Series
        Booleans.
    """
    found = column.is_not_null()
    return found & ~column.is_nan().fill_null(True) if column.dtype.is_float() else found


def _tell_of_missing(target: str, n_missing: int, n_rows: int) -> None:
    if n_missing == n_rows:
        raise ValueError(f"The column {target!r} is empty: there is no outcome to explain.")
    if n_missing:
        tell(f"{counted(n_missing, 'row')} without a value of {target!r} left out.")


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
