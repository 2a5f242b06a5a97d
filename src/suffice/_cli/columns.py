"""Columns that options name: check that they are there, and leave out rows without an outcome."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from suffice._cli.printing import listed, note
from suffice._io.explainer_file import is_known
from suffice._io.sources import STDIO
from suffice._text import counted
from suffice.errors import did_you_mean

if TYPE_CHECKING:
    import polars as pl


def check_column(columns: Collection[str], name: str, source: str, option: str) -> None:
    """Refuse a column that the table does not have."""
    if name not in columns:
        hint = did_you_mean(name, columns) or f" Its columns are {listed(list(columns))}."
        where = "standard input" if source == STDIO else source
        raise ValueError(f"{option}: there is no column {name!r} in {where}.{hint}")


def with_outcome(frame: pl.DataFrame, target: str) -> pl.DataFrame:
    """Leave out the rows without an outcome."""
    known = frame.filter(is_known(frame[target]))
    report_missing(target, frame.height - known.height, frame.height)
    return known


def report_missing(target: str, n_missing: int, n_rows: int) -> None:
    """Print how many rows have no outcome; it is an error if no row has one."""
    if n_missing == n_rows:
        raise ValueError(f"The column {target!r} is empty: there is no outcome to explain.")
    if n_missing:
        note(f"{counted(n_missing, 'row')} without a value of {target!r} {'is' if n_missing == 1 else 'are'} left out.")
