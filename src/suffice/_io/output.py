"""Writing results: check where, by which format, and write a table or bytes in one step."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Collection
from pathlib import Path

import polars as pl

from suffice._io.files import FORMATS, READABLE
from suffice._io.sources import STDIO
from suffice._io.writing import replacing


def format_of_output(output: str, known: Collection[str]) -> str:
    """Choose the format of a file by its suffix, and check that the file can be written.

    Parameters
    ----------
    output : str
        The path.
    known : collection of str
        The formats to choose from.

    Returns
    -------
    str
        The format.
    """
    suffix = Path(output).suffix.lower()
    if FORMATS.get(suffix) not in known:
        listed = ", ".join(s for s, kind in FORMATS.items() if kind in known and s not in (".txt", ".tsv", ".htm"))
        problem = f"the suffix {suffix!r} is unknown" if suffix else "it has no suffix"
        raise ValueError(f"The format of {output!r} is not clear, {problem}: use one of {listed}.")
    check_output(output)
    return FORMATS[suffix]


def check_output(output: str) -> None:
    """Refuse a file that could not be written, before the work begins.

    Parameters
    ----------
    output : str
        The path.
    """
    path = Path(output)
    if path.is_dir():
        raise ValueError(f"{output!r} is a folder, not a file.")
    if not path.parent.is_dir():
        raise ValueError(f"{path.name!r} cannot be written: there is no folder {str(path.parent)!r}.")
    writable = path if path.exists() and not path.is_file() else path.parent
    if not os.access(writable, os.W_OK):
        raise ValueError(f"You do not have permission to write {output!r}.")


def write_table(frame: pl.DataFrame, output: str, format: str) -> None:  # noqa: A002
    """Write a table, in one step.

    Parameters
    ----------
    frame : polars.DataFrame
        The table. In a CSV file the values of a list are joined by "; ".
    output : str
        The path, or "-" for standard output.
    format : {"csv", "parquet", "arrow", "jsonl", "json"}
        The format.
    """
    write_bytes(table_bytes(frame, format), output)


def write_bytes(data: bytes, output: str) -> None:
    """Write a file, in one step.

    Parameters
    ----------
    data : bytes
        The content.
    output : str
        The path, or "-" for standard output.
    """
    if output == STDIO:
        sys.stdout.flush()
        left = memoryview(data)
        while left:  # with PYTHONUNBUFFERED one call may write only a part
            left = left[sys.stdout.buffer.write(left) :]
        sys.stdout.buffer.flush()
        return
    with replacing(output) as path:
        path.write_bytes(data)


def table_bytes(frame: pl.DataFrame, format: str, *, header: bool = True) -> bytes:  # noqa: A002
    """Return the content of a table file.

    Parameters
    ----------
    frame : polars.DataFrame
        The table. In a CSV file the values of a list are joined by "; ".
    format : {"csv", "parquet", "arrow", "jsonl", "json"}
        The format.
    header : bool, default=True
        Whether a CSV file begins with the names of the columns.

    Returns
    -------
    bytes
        The content.
    """
    data = io.BytesIO()
    if format == "parquet":
        frame.write_parquet(data)
    elif format == "arrow":
        frame.write_ipc(data, compression="uncompressed")
    elif format == "jsonl":
        frame.write_ndjson(data)
    elif format == "json":
        frame.write_json(data)
    elif format == "csv":
        lists = [name for name, dtype in frame.schema.items() if dtype == pl.List]
        frame.with_columns(pl.col(lists).list.join("; ")).write_csv(data, include_header=header)
    else:
        raise ValueError(f"A table cannot be written as {format!r}: use one of {', '.join(READABLE)}.")
    return data.getvalue()
