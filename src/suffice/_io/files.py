"""Table files: recognising and reading CSV, Parquet and Arrow, whole or by parts.

What the values of a table mean is left to ``_table``. A file that cannot be read is refused in one sentence with its
name and, if possible, the line.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import re
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from suffice._io.processes import EndedError, run_in_process
from suffice._io.sources import (
    NUMBER,
    STDIO,
    TABLE_VARIABLE,
    TEXT,
    cannot_read,
    check_memory,
    memory_limit,
    read_bytes,
    unpack,
)
from suffice._io.text_tables import decode, read_csv

_SUFFIXES = {
    "csv": (".csv", ".tsv", ".txt"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson"),
    "json": (".json",),
    "html": (".html", ".htm"),
}
FORMATS = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
_FORMAT_NAMES = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow"}
_STREAM = b"\xff\xff\xff\xff"  # the first bytes of a stream of Arrow messages
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
_N_SAMPLED = 65536  # bytes from which the format is recognised
_N_TRIED = 2**24  # numbers of an Arrow file that are in memory at a time while it is tried
_READER_FACTOR = 6  # the memory of a reader, as a multiple of that of the table
_THREAD_BYTES = 2**29  # and what its threads take
_TAIL = 2**20  # bytes at the end of a file, where Parquet and Arrow keep sizes and statistics of all columns


def read_table(
    source: str,
    *,
    text_columns: Collection[str] = (),
    limit: str = TABLE_VARIABLE,
) -> pl.DataFrame:
    """Read a table file.

    A Parquet or Arrow file is recognised by its content; for text the suffix decides between JSON, JSON lines and CSV.
    A CSV file may be separated by commas, semicolons, tabs or bars, and encoded in UTF-8, UTF-16, UTF-32 or
    Windows-1252. Any text may be compressed by gzip, bzip2 or xz.
    """
    name = "Standard input" if source == STDIO else source
    data = unpack(read_bytes(source, limit), name, limit)
    if not data[:_N_SAMPLED].strip() and not data.strip():
        raise ValueError(f"{name} is empty.")
    kind = _recognise(data, source, name)
    if kind == "arrow":
        _try_arrow(data, name, limit)
    with _reading(name, kind):
        if kind == "arrow" and data.startswith(_STREAM):
            frame = pl.read_ipc_stream(io.BytesIO(data))
        elif kind in ("parquet", "arrow"):
            lazy = (pl.scan_parquet if kind == "parquet" else pl.scan_ipc)(io.BytesIO(data))
            check_memory(NUMBER * _count_rows(lazy) * len(lazy.collect_schema()), name, limit)
            frame = lazy.collect()
        else:
            frame = read_csv(decode(data, name), name, text_columns, limit)
        _check_extent(frame.width, frame.height, name)
        check_memory(_spread_size(frame), name, limit)
    return frame.with_columns(pl.col(pl.Null).cast(pl.Float64))


def read_with_notes(source: str, text_columns: Collection[str], limit: str) -> tuple[pl.DataFrame, list[str]]:
    """Read a table file, and return it with notes on what the reader had to guess."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = read_table(source, text_columns=text_columns, limit=limit)
    notes = [str(w.message).replace(source, "The file") for w in caught if issubclass(w.category, UserWarning)]
    return frame, list(dict.fromkeys(notes))


def reader_bytes(limit: str) -> int:
    """Return the memory that a process may take which reads a table within the limit."""
    return _READER_FACTOR * memory_limit(limit) + _THREAD_BYTES


def _try_arrow(source: str | bytes, name: str, limit: str = TABLE_VARIABLE) -> None:
    """Read an Arrow file in a process of its own: polars takes the sizes in a forged one on trust, and is aborted."""
    try:
        run_in_process("suffice._io.files:read_once", source, name, max_bytes=reader_bytes(limit))
    except EndedError:
        raise ValueError(f"{name} cannot be read as Arrow: its reader has ended.") from None


def read_once(source: str | bytes, name: str) -> None:
    """Read an Arrow file: called in the other process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # polars prints how it panics
    read_through(source, name)


def read_through(source: str | bytes, name: str) -> None:
    """Read the bytes of an Arrow file, or a file at a path, by parts."""
    data = io.BytesIO(source) if isinstance(source, bytes) else source
    with _reading(name, "arrow"):
        if isinstance(source, bytes) and source.startswith(_STREAM):
            pl.read_ipc_stream(data)
            return
        lazy = pl.scan_ipc(data)
        n = max(1, _N_TRIED // max(1, len(lazy.collect_schema())))
        for first in range(0, _count_rows(lazy), n):
            lazy.slice(first, n).collect()


def _count_rows(frame: pl.LazyFrame) -> int:
    """Return the number of rows that a file declares; its values are not read."""
    return int(frame.select(pl.len()).collect().item())


def _spread_size(frame: pl.DataFrame) -> int:
    """Return the memory of a table in which each row holds its own copy of a text; polars stores equal texts once."""
    size = 0
    for column in frame.get_columns():
        if column.dtype == pl.String:
            lengths = column.str.len_bytes()
        elif column.dtype in (pl.Categorical, pl.Enum):  # written out as text, they might not fit into memory
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
    # polars' PanicException is not an Exception.
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
    """A table file from which any rows can be read; a Parquet or Arrow file is not held in memory."""

    source: str
    schema: dict[str, Any]
    n_rows: int
    identity: dict[str, Any] | None
    frame: pl.LazyFrame
    kind: str

    def rows(self, first: int, n: int, columns: Collection[str] | None = None) -> pl.DataFrame:
        """Read some rows."""
        names = [name for name in self.schema if columns is None or name in columns]
        frame = self.frame.slice(first, n).select(names)
        check_memory(NUMBER * max(0, min(n, self.n_rows - first)) * len(names), self.source)
        with _reading(self.source, self.kind):
            rows = frame.collect()
            check_memory(_spread_size(rows), self.source)
            return rows.with_columns(pl.col(pl.Null).cast(pl.Float64))

    def check_unchanged(self) -> None:
        """Raise an error if the file has changed since it was opened."""
        if self.identity is not None and _identify(self.source) != self.identity:
            raise ValueError(f"{self.source} has changed while its rows were being explained.")


def open_table(source: str, *, text_columns: Collection[str] = ()) -> TableFile:
    """Open a table file for reading it by parts."""
    is_file = source != STDIO and Path(source).is_file()
    kind = _scannable(source) if is_file else None
    identity = _identify(source) if is_file else None
    if kind is None:
        frame = read_table(source, text_columns=text_columns)
        return TableFile(source, dict(frame.schema), frame.height, identity, frame.lazy(), "table")
    if kind == "arrow":
        _try_arrow(source, source)
    with _reading(source, kind):
        # glob=False: a "*" in the name is a "*".
        lazy = pl.scan_parquet(source, glob=False) if kind == "parquet" else pl.scan_ipc(source)
        schema = {name: pl.Float64() if dtype == pl.Null else dtype for name, dtype in lazy.collect_schema().items()}
        n_rows = _count_rows(lazy)
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
    path = Path(source.lower())
    kind_by_name = FORMATS.get((path.with_suffix("") if path.suffix in (".gz", ".bz2", ".xz") else path).suffix)
    if kind_by_name in ("parquet", "arrow"):
        article = "an" if kind_by_name == "arrow" else "a"
        raise ValueError(f"{name} is not {article} {_FORMAT_NAMES[kind_by_name]} file, although its name says so.")
    start = data[:_N_SAMPLED].removeprefix(codecs.BOM_UTF8).lstrip()
    if kind_by_name != "csv" and (kind_by_name in ("json", "jsonl") or re.match(rb"\{|\[\s*\{", start)):
        raise ValueError(f"{name} holds JSON: write the table as CSV, Parquet or Arrow first.")
    return "csv"
