"""Table files: recognising and reading CSV, Parquet, Arrow and JSON, whole or by parts.

What the values of a table mean is left to ``_table``. A file that cannot be read is refused in one sentence with its
name and, if possible, the line.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import mmap
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from suffice._io.csv_text import read_csv
from suffice._io.declared_sizes import TEXT, DeclaredSize, arrow_size, parquet_size
from suffice._io.decoding import decode
from suffice._io.json_text import read_json
from suffice._io.limits import TABLE_VARIABLE, check_memory
from suffice._io.sources import STDIO, cannot_read, read_bytes, unpack

FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
}
READABLE = ("csv", "parquet", "arrow", "jsonl", "json")
_FORMAT_NAMES = {
    "csv": "CSV",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "jsonl": "JSON lines",
    "json": "JSON",
    "html": "HTML",
}
_STREAM = b"\xff\xff\xff\xff"  # how a stream of Arrow messages begins
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", _STREAM: "arrow"}
_REFUSED = {
    b"PK\x03\x04": "a zip archive: unpack it first, or save a workbook as CSV",
    b"PK\x05\x06": "an empty zip archive",
    b"\xd0\xcf\x11\xe0": "an old Office document: save the sheet as CSV",
    b"FEA1": "a Feather file of version 1: write it again as Parquet or Arrow",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it first",
    b"7z\xbc\xaf": "a 7z archive: unpack it first",
    b"%PDF": "a PDF document",
    b"SQLite format 3": "a SQLite database: export the table as CSV",
}
_N_SAMPLED = 65536  # bytes by which the content is recognised
_TAIL = 2**20  # bytes at the end of a file, where Parquet and Arrow keep sizes and statistics of all columns


def read_table(
    source: str,
    *,
    format: str | None = None,  # noqa: A002
    text_columns: Collection[str] = (),
    limit: str = TABLE_VARIABLE,
) -> pl.DataFrame:
    """Read a table file.

    A Parquet or Arrow file is recognised by its content; for text the suffix decides between JSON, JSON lines and CSV.
    A CSV file may be separated by commas, semicolons, tabs or bars, and encoded in UTF-8, UTF-16, UTF-32 or
    Windows-1252. Any text may be compressed by gzip, bzip2 or xz.

    Parameters
    ----------
    source : str
        The path, or "-" for standard input.
    format : {"csv", "parquet", "arrow", "jsonl", "json"}, default=None
        The format of the file; None recognises it.
    text_columns : collection of str, default=()
        Columns of a CSV file that hold text even if they look like something else.
    limit : str, default="SUFFICE_MAX_TABLE"
        The environment variable that holds the memory which the table may take: see `memory_limit`.

    Returns
    -------
    polars.DataFrame
        The table, with at least one row.
    """
    name = "Standard input" if source == STDIO else source
    data = read_bytes(source, limit)
    data = unpack(data, name, limit)
    if not data[:_N_SAMPLED].strip() and not data.strip():
        raise ValueError(f"{name} is empty.")
    kind = format or _recognise(data, source, name)
    with _reading(name, kind):
        if kind in _SIZES:
            check_memory(_SIZES[kind](data).total, name, limit)
        if kind == "parquet":
            frame = pl.read_parquet(io.BytesIO(data))
        elif kind == "arrow":
            is_stream = data.startswith(_STREAM)
            read_arrow = pl.read_ipc_stream if is_stream else pl.read_ipc
            frame = read_arrow(io.BytesIO(data))
        elif kind in ("jsonl", "json"):
            frame = read_json(decode(data, name), name, kind, limit)
        else:
            frame = read_csv(decode(data, name), name, text_columns, limit)
        _check_extent(frame.width, frame.height, name)
        check_memory(_spread_size(frame), name, limit)
    return frame.with_columns(pl.col(pl.Null).cast(pl.Float64))


def read_with_notes(source: str, text_columns: Collection[str], limit: str) -> tuple[pl.DataFrame, list[str]]:
    """Read a table file, and collect what the reader had to guess.

    Parameters
    ----------
    source : str
        The path.
    text_columns : collection of str
        Columns of a CSV file that hold text even if they look like something else.
    limit : str
        The environment variable that holds the memory which the table may take: see `memory_limit`.

    Returns
    -------
    frame : polars.DataFrame
        The table.
    notes : list of str
        The guesses.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read_table(source, text_columns=text_columns, limit=limit)
    notes = [str(w.message).replace(source, "The file") for w in caught if issubclass(w.category, UserWarning)]
    return frame, list(dict.fromkeys(notes))


_SIZES: dict[str, Callable[[Any], DeclaredSize]] = {"parquet": parquet_size, "arrow": arrow_size}


def _spread_size(frame: pl.DataFrame) -> int:
    """Return the memory of a table in which every row has its text to itself; polars stores equal texts once."""
    size = 0
    for column in frame.get_columns():
        if column.dtype == pl.String:
            lengths = column.str.len_bytes()
        elif column.dtype in (pl.Categorical, pl.Enum):  # as text at once they could take more than there is
            counts = column.value_counts(name="n")
            lengths = counts[column.name].cast(pl.String).str.len_bytes().cast(pl.UInt64) * counts["n"]
        else:
            size += int(column.estimated_size())
            continue
        size += TEXT * frame.height + int(lengths.cast(pl.UInt64).sum())
    return size


@contextmanager
def _reading(name: str, kind: str) -> Iterator[None]:
    try:
        yield
    # A panic of polars is no Exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        reason = lines[0].rstrip(".")
        raise ValueError(f"{name} cannot be read as {_FORMAT_NAMES.get(kind, kind)}: {reason}.") from None


def _check_extent(n_columns: int, n_rows: int, name: str) -> None:
    if not n_columns:
        raise ValueError(f"{name} has no columns.")
    if not n_rows:
        raise ValueError(f"{name} has a header, but no rows.")


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table file from which any rows can be read; a Parquet or Arrow file is not held in memory.

    Parameters
    ----------
    source : str
        The path, or "-" for standard input.
    schema : dict of str to polars.DataType
        The columns.
    n_rows : int
        The number of rows, at least 1.
    identity : dict of str to object or None
        The size of the file, the time of its last change and a digest of its end, by which a change of its content is
        noticed. None if it is not a regular file.
    frame : polars.LazyFrame
        The rows.
    kind : str
        The format of the file.
    """

    source: str
    schema: dict[str, Any]
    n_rows: int
    identity: dict[str, Any] | None
    frame: pl.LazyFrame
    kind: str

    def rows(self, first: int, n: int, columns: Collection[str] | None = None) -> pl.DataFrame:
        """Read some rows.

        Parameters
        ----------
        first : int
            The number of the first row, counted from 0.
        n : int
            How many rows to read.
        columns : collection of str, default=None
            The columns to read, which come in the order of the file; None reads all.

        Returns
        -------
        polars.DataFrame
            The rows.
        """
        frame = self.frame.slice(first, n)
        if columns is not None:
            frame = frame.select([name for name in self.schema if name in columns])
        with _reading(self.source, self.kind):
            rows = frame.collect()
            check_memory(_spread_size(rows), self.source)
            return rows.with_columns(pl.col(pl.Null).cast(pl.Float64))

    def check_unchanged(self) -> None:
        """Raise an error if the file has changed since it was opened."""
        if self.identity is not None and _identify(self.source) != self.identity:
            raise ValueError(f"{self.source} was changed while its rows were explained.")


def open_table(source: str, *, format: str | None = None, text_columns: Collection[str] = ()) -> TableFile:  # noqa: A002
    """Open a table file for reading it by parts.

    Parameters
    ----------
    source : str
        The path, or "-" for standard input.
    format : {"csv", "parquet", "arrow", "jsonl", "json"}, default=None
        The format of the file; None recognises it.
    text_columns : collection of str, default=()
        Columns of a CSV file that hold text even if they look like something else.

    Returns
    -------
    TableFile
        The table. Only the end of a Parquet or Arrow file on disk is read yet; any other file is held in memory.
    """
    is_file = source != STDIO and Path(source).is_file()
    kind = _scannable(source) if is_file else None
    identity = _identify(source) if is_file else None
    if kind is None or format not in (None, kind):
        frame = read_table(source, format=format, text_columns=text_columns)
        return TableFile(source, dict(frame.schema), frame.height, identity, frame.lazy(), "table")
    with _reading(source, kind):
        with open(source, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            largest = _SIZES[kind](data).largest
        check_memory(largest, f"A part of {source}")
        # glob=False: a "*" in the name is a "*".
        lazy = pl.scan_parquet(source, glob=False) if kind == "parquet" else pl.scan_ipc(source)
        schema = {name: pl.Float64() if dtype == pl.Null else dtype for name, dtype in lazy.collect_schema().items()}
        n_rows = lazy.select(pl.len()).collect().item()
    _check_extent(len(schema), n_rows, source)
    return TableFile(source, schema, n_rows, identity, lazy, kind)


def _scannable(source: str) -> str | None:
    try:
        with open(source, "rb") as file:
            start = file.read(6)
    except OSError as error:
        raise cannot_read(source, error) from None
    if start.startswith(b"PAR1"):
        return "parquet"
    # polars 1 reads patterns in the name of an Arrow file.
    return "arrow" if start.startswith(b"ARROW1") and not re.search(r"[*?[]", source) else None


def _identify(source: str) -> dict[str, Any]:
    with open(source, "rb") as file:
        stat = os.fstat(file.fileno())
        file.seek(max(0, stat.st_size - _TAIL))
        digest = hashlib.sha256(file.read()).hexdigest()
    return {"size": stat.st_size, "changed": stat.st_mtime_ns, "end": digest}


def _recognise(data: bytes, source: str, name: str) -> str:
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return kind
    for magic, what in _REFUSED.items():
        if data.startswith(magic):
            raise ValueError(f"{name} is {what}.")
    suffixes = [suffix.lower() for suffix in Path(source).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2", ".xz"):
        suffixes.pop()
    kind_by_name = FORMATS.get(suffixes[-1]) if suffixes else None
    if kind_by_name in ("parquet", "arrow"):
        article = "an" if kind_by_name == "arrow" else "a"
        raise ValueError(f"{name} is not {article} {_FORMAT_NAMES[kind_by_name]} file, although its name says so.")
    if kind_by_name in READABLE and kind_by_name != "json":
        return str(kind_by_name)
    start = data[:_N_SAMPLED].removeprefix(codecs.BOM_UTF8).lstrip()
    if start.startswith(b"{"):
        return "jsonl"
    return "json" if kind_by_name == "json" or re.match(rb"\[\s*\{", start) else "csv"
