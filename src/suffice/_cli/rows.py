"""The rows of a table file that a command explains, with their outcomes, names and positions in the file.

Writing the answers for a large file part by part is left to ``parts``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from suffice._cli.parts import is_in_parts, write_in_parts
from suffice._cli.printing import listed, note
from suffice._io.code_book_file import codes_beside, write_code_book
from suffice._io.explainer_file import is_known, outcomes_of, text_columns
from suffice._io.files import open_table
from suffice._io.output import write_bytes
from suffice._io.records import lines_of
from suffice._io.result_table import ValueType, result_frame, value_type_of
from suffice._io.sources import STDIO
from suffice._table.rows import id_text
from suffice._text import counted
from suffice.errors import InputError, did_you_mean
from suffice.reasons.values import Reasons

if TYPE_CHECKING:
    from suffice._io.files import TableFile
    from suffice._io.records import RecordContext
    from suffice.explainer import SufficientExplainer
    from suffice.explaining.explanations import Explanations

N_SCANNED = 2**20  # rows of the column of outcomes that are in memory at a time


def check_column(columns: Collection[str], name: str, source: str, option: str) -> None:
    """Refuse a column that the table does not have."""
    if name not in columns:
        hint = did_you_mean(name, columns) or f" Its columns are {listed(list(columns))}."
        where = "standard input" if source == STDIO else source
        raise ValueError(f"{option}: there is no column {name!r} in {where}.{hint}")


def with_outcome(frame: pl.DataFrame, target: str) -> pl.DataFrame:
    """Leave out the rows without an outcome."""
    known = frame.filter(is_known(frame[target]))
    _report_missing(target, frame.height - known.height, frame.height)
    return known


def _report_missing(target: str, n_missing: int, n_rows: int) -> None:
    """Print how many rows have no outcome; it is an error if no row has one."""
    if n_missing == n_rows:
        raise ValueError(f"The column {target!r} is empty: there is no outcome to explain.")
    if n_missing:
        note(f"{counted(n_missing, 'row')} without a value of {target!r} {'is' if n_missing == 1 else 'are'} left out.")


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Explanations of rows of a file."""

    explanations: Explanations
    kept: pl.DataFrame
    outcome_type: ValueType

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Yield everything that is known about each row."""
        kept = self.kept.to_dicts() if self.kept.width else [{}] * len(self.explanations)
        for values, explanation in zip(kept, self.explanations, strict=True):
            ids = {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in values.items()}
            yield {"row": explanation.row, **explanation.to_dict(), **({"id": ids} if ids else {})}

    def to_frame(self) -> pl.DataFrame:
        """Return the best set and the rule of each row."""
        frame: pl.DataFrame = result_frame(
            self.explanations, "polars", kept=self.kept.to_dict(), outcome_type=self.outcome_type
        )
        return frame


@dataclass(frozen=True, eq=False)
class PartOfRows:
    """Rows of a file as the explainer takes them."""

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
class FileRows:
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
        observed = None if self.target is None else pl.Series(dtype=self.table.schema[self.target]).to_numpy()
        return value_type_of(self.explainer.classes_ if observed is None else observed)

    def read(self, first: int, end: int) -> pl.DataFrame:
        """Read rows of the file."""
        encoding = self.explainer.fitted_.encoding
        is_selective = encoding.has_names and self.explainer.extra_columns == "ignore"
        needed = {*encoding.names, *self.not_explained} if is_selective else None
        return self.table.rows(first, end - first, needed)

    def part(self, frame: pl.DataFrame, first: int = 0) -> PartOfRows:
        """Take what the explainer needs from a part of the file: the rows that have an outcome."""
        positions = list(range(first, first + frame.height))
        y = None
        if self.target is not None:
            has_outcome = is_known(frame[self.target])
            frame, positions = frame.filter(has_outcome), (first + np.flatnonzero(has_outcome.to_numpy())).tolist()
            y = outcomes_of(frame, self.target) if frame.height else None  # NumPy turns an empty column into numbers
        kept = frame.select(self.kept)
        ids = [id_text(values) for values in kept.iter_rows()] if self.kept else None
        return PartOfRows(frame.drop(sorted(self.not_explained)), y, positions, kept, ids)

    def explain(self, frame: pl.DataFrame, first: int = 0, *, progress: bool | None = None) -> ExplainedRows:
        """Explain those rows of a part of the file that have an outcome."""
        part = self.part(frame, first)
        with part.located():
            explanations = self.explainer.explain(part.X, part.y, progress=progress, **self.options)
        return ExplainedRows(explanations.with_ids(part.ids, part.positions), part.kept, self.outcome_type)

    def explain_all(self) -> ExplainedRows:
        """Explain all rows at once."""
        return self.explain(self.read(0, self.end))

    def empty(self) -> pl.DataFrame:
        """Return the columns that the explainer takes, without any row."""
        return pl.DataFrame(
            schema={name: dtype for name, dtype in self.table.schema.items() if name not in self.not_explained}
        )

    def check(self) -> None:
        """Refuse columns and settings that do not suit the explainer, before any row is read."""
        self.explainer.explain(self.empty(), progress=False, **self.options)


def open_rows(
    explainer: SufficientExplainer,
    path: str,
    *,
    limit: int | None = None,
    target: str | None = None,
    outcomes: Literal["named", "preferred", "unused"] = "named",
    kept: Sequence[str] = (),
    **options: Any,
) -> FileRows:
    """Open a table file whose rows are to be explained.

    Without a target the predictions are explained, or, if observed outcomes are preferred, the outcomes of the file.
    """
    name = explainer.target_name_
    columns = set(explainer.fitted_.encoding.names)
    table = open_table(path, text_columns=text_columns(explainer, target or name))
    for column in kept:
        check_column(table.schema, column, path, "--id")
    not_explained = set(kept) - columns
    if target is None and name in set(table.schema) - columns:
        not_explained.add(name)
        if outcomes == "preferred":
            target = name
        elif outcomes == "named" and name not in kept:
            note(f"The predictions are explained, not the column {name!r}; to explain it, add --target {name!r}")
    if target is not None:
        check_column(table.schema, target, path, "--target")
        not_explained |= {target} - columns
    end, n_rows, n_more = _find_end(table, target, limit)
    unique = tuple(dict.fromkeys(kept))
    return FileRows(explainer, table, target, unique, frozenset(not_explained), end, n_rows, n_more, options)


def read_rows(explainer: SufficientExplainer, path: str, **options: Any) -> PartOfRows:
    """Read the rows of a table file at once."""
    rows = open_rows(explainer, path, **options)
    return rows.part(rows.read(0, rows.end))


def _find_end(table: TableFile, target: str | None, limit: int | None) -> tuple[int, int, int]:
    """Return the position after the last row to explain, the number of rows to explain, and how many more there are."""
    if target is None:
        end = min(limit or table.n_rows, table.n_rows)
        return end, end, table.n_rows - end
    end, n_known = table.n_rows, 0
    for first in range(0, table.n_rows, N_SCANNED):
        known = np.flatnonzero(is_known(table.rows(first, N_SCANNED, [target])[target]).to_numpy())
        if limit is not None and n_known < limit <= n_known + len(known):
            end = first + int(known[limit - n_known - 1]) + 1
        n_known += len(known)
    _report_missing(target, table.n_rows - n_known, table.n_rows)
    n_rows = min(limit or n_known, n_known)
    return end, n_rows, n_known - n_rows


@dataclass(frozen=True, eq=False)
class ReasonedRows:
    """Rows of a table file whose decisions need reasons."""

    rows: FileRows
    options: dict[str, Any]
    context: RecordContext

    def check(self) -> None:
        """Refuse columns and options that do not suit the explainer, before any row is read."""
        options = {name: value for name, value in self.options.items() if name != "model"}
        self.rows.explainer.reasons(self.rows.empty(), progress=False, **options)

    def reasons(self, frame: pl.DataFrame, first: int = 0, *, progress: bool | None = None) -> Reasons:
        """Find the reasons of those rows of a part of the file that have an outcome."""
        part = self.rows.part(frame, first)
        with part.located():
            reasons = self.rows.explainer.reasons(part.X, part.y, ids=part.ids, progress=progress, **self.options)
        answers = [replace(answer, row=row) for answer, row in zip(reasons, part.positions, strict=True)]
        return Reasons(answers, reasons.settings, reasons.codes, reasons.fitted, reasons.library)

    def write(self, output: str, *, explainer_path: str, batch: int) -> None:
        """Write the records of all rows, part by part, and the code book beside them."""
        rows = self.rows

        def answer(frame: pl.DataFrame, first: int) -> tuple[bytes, int]:
            reasons = self.reasons(frame, first, progress=False)
            n_cut_short = sum(not row.is_search_complete for row in reasons)
            return lines_of(reasons, self.context, rows.explainer), n_cut_short

        if is_in_parts(rows, output, "jsonl", 0):  # also a single part: it shows how far the work is
            write_in_parts(rows, output, "jsonl", answer, explainer_path=explainer_path, batch=batch)
        else:
            pieces = (answer(rows.read(i, min(rows.end, i + batch)), i)[0] for i in range(0, rows.end, batch))
            for piece in pieces if output == STDIO else [b"".join(pieces)]:
                write_bytes(piece, output)
        if self.options["codes"] is not None and os.path.isfile(output):
            write_code_book(self.options["codes"], codes_beside(output))
