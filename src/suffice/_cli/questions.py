"""The rows of a table file that a saved explainer is to explain, and their explanations.

Explaining a large file part by part is left to ``streaming``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from suffice._cli.columns import check_column, report_missing
from suffice._cli.printing import note
from suffice._io.explainer_file import is_known, outcomes_of, text_columns
from suffice._io.files import TableFile, open_table
from suffice._io.result_table import ValueType, check_kept, result_frame, value_type_of
from suffice._table.rows import id_text
from suffice.errors import InputError
from suffice.explainer import SufficientExplainer
from suffice.explaining.explanations import Explanations

N_MANY = 1000  # from this number of rows on, a terminal shows that the work has begun
N_LOOKED_AT = 2**20  # rows of the column of outcomes that are in memory at a time


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Explanations of rows of a file."""

    explanations: Explanations
    positions: list[int]
    kept: pl.DataFrame
    n_more: int
    outcome_type: ValueType

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Yield everything that is known about each row."""
        kept = self.kept.to_dicts() if self.kept.width else [{}] * len(self.positions)
        for position, values, explanation in zip(self.positions, kept, self.explanations, strict=True):
            ids = {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in values.items()}
            named = {"row": position, **({"id": ids} if ids else {})}
            yield {**named, **{name: value for name, value in explanation.to_dict().items() if name not in named}}

    def to_frame(self) -> pl.DataFrame:
        """Return the best set and the rule of each row."""
        check_kept(self.kept.columns, "--id", with_row=True)
        frame: pl.DataFrame = result_frame(
            self.explanations,
            "polars",
            positions=self.positions,
            kept=dict(zip(self.kept.columns, self.kept.get_columns(), strict=True)),
            outcome_type=self.outcome_type,
        )
        return frame


@dataclass(frozen=True, eq=False)
class PartOfRows:
    """Rows of a file as the explainer gets them."""

    X: pl.DataFrame
    y: pl.Series | None
    positions: list[int]
    kept: pl.DataFrame
    ids: list[str] | None

    @contextmanager
    def located(self) -> Iterator[None]:
        """Let errors about a row name its position in the file."""
        try:
            yield
        except InputError as error:
            raise error.moved(None if error.row is None else self.positions[error.row]) from None


@dataclass(frozen=True, eq=False)
class Question:
    """Rows of a table file, and how they are to be explained."""

    explainer: SufficientExplainer
    table: TableFile
    target: str | None
    kept: tuple[str, ...]
    not_explained: frozenset[str]
    end: int
    n_rows: int
    n_more: int
    options: dict[str, Any]

    @property
    def outcome_type(self) -> ValueType:
        """The type of the column of outcomes in the result table, which must not depend on the rows."""
        if self.explainer.task_ == "regression":
            return "float"
        if self.target is None:
            return value_type_of(self.explainer.classes_)
        file_type = self.table.schema[self.target]
        if file_type.is_integer():
            return "int"
        if file_type.is_float():
            return "float"
        return "bool" if file_type == pl.Boolean else "str"

    def read(self, first: int, end: int) -> pl.DataFrame:
        """Read rows of the file."""
        encoding = self.explainer.fitted_.encoding
        is_selective = encoding.has_names and self.explainer.extra_columns == "ignore"
        needed = {*encoding.names, *self.not_explained} if is_selective else None
        return self.table.rows(first, end - first, needed)

    def explain(self, frame: pl.DataFrame, first: int = 0, *, progress: bool | None = None) -> ExplainedRows:
        """Explain those rows of a part of the file that have an outcome."""
        part = self.part(frame, first)
        with part.located():
            explanations = self.explainer.explain(part.X, part.y, progress=progress, **self.options)
        named = explanations.with_ids(part.ids, part.positions)
        return ExplainedRows(named, part.positions, part.kept, self.n_more, self.outcome_type)

    def part(self, frame: pl.DataFrame, first: int = 0) -> PartOfRows:
        """Take what the explainer gets of a part of the file."""
        positions = list(range(first, first + frame.height))
        y = None
        if self.target is not None:
            has_outcome = is_known(frame[self.target])
            frame, positions = frame.filter(has_outcome), (first + np.flatnonzero(has_outcome.to_numpy())).tolist()
            y = outcomes_of(frame, self.target) if frame.height else None  # NumPy makes numbers of an empty column
        kept = frame.select(self.kept)
        ids = [id_text(values) for values in kept.iter_rows()] if self.kept else None
        return PartOfRows(frame.drop(sorted(self.not_explained)), y, positions, kept, ids)

    def empty(self) -> pl.DataFrame:
        """Return the columns that the explainer gets, without any row."""
        return pl.DataFrame(
            schema={name: dtype for name, dtype in self.table.schema.items() if name not in self.not_explained}
        )

    def check(self) -> None:
        """Refuse columns and settings that do not suit the explainer, before any row is read."""
        self.explainer.explain(self.empty(), progress=False, **self.options)


def open_question(
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
    """Open a table file whose rows are to be explained."""
    name = explainer.target_name_
    columns = set(explainer.fitted_.encoding.names)
    table = open_table(rows, format=input_format, text_columns=text_columns(explainer, target or name))
    for column in kept:
        check_column(table.schema, column, rows, "--id")
    not_explained = set(kept) - columns
    if target is None and name in set(table.schema) - columns:
        not_explained.add(name)
        if prefer_observed:
            target = name
        elif name not in kept:
            note(f"The predictions are explained, not the column {name!r}; to explain it, add --target {name!r}")
    if target is not None:
        check_column(table.schema, target, rows, "--target")
        not_explained |= {target} - columns
    end, n_rows, n_more = _find_end(table, target, limit)
    unique = tuple(dict.fromkeys(kept))
    return Question(explainer, table, target, unique, frozenset(not_explained), end, n_rows, n_more, options)


def _find_end(table: TableFile, target: str | None, limit: int | None) -> tuple[int, int, int]:
    """Return the position after the last row to explain, the number of rows to explain, and how many more there are."""
    if target is None:
        end = min(limit or table.n_rows, table.n_rows)
        return end, end, table.n_rows - end
    end, n_known = table.n_rows, 0
    for first in range(0, table.n_rows, N_LOOKED_AT):
        known = np.flatnonzero(is_known(table.rows(first, N_LOOKED_AT, [target])[target]).to_numpy())
        if limit is not None and n_known < limit <= n_known + len(known):
            end = first + int(known[limit - n_known - 1]) + 1
        n_known += len(known)
    report_missing(target, table.n_rows - n_known, table.n_rows)
    n_rows = min(limit or n_known, n_known)
    return end, n_rows, n_known - n_rows


def explain_whole(question: Question) -> ExplainedRows:
    """Explain all rows at once."""
    if question.n_rows >= N_MANY and sys.stderr.isatty():  # the library's bar only comes after the intervals
        note(f"Explaining {question.n_rows} rows ...")
    return question.explain(question.read(0, question.end))
