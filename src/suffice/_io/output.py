"""Writing results: the output file is checked before the work begins, and written completely or not at all."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from suffice._io.files import FORMATS
from suffice._io.sources import STDIO
from suffice._io.writing import replacing
from suffice._text import printable

_FORMULA = "^[=+@\t\r\uff1d\uff0b\uff0d\uff20-]"  # also the full-width signs of East Asian keyboards


def format_of_output(
    output: str,
    known: Collection[str],
    inputs: Iterable[str | None] = (),
    *,
    requested: str | None = None,
    formats: Mapping[str, str] = FORMATS,
) -> str | None:
    """Choose the format of a file by its suffix, unless one is requested, and check that the file can be written."""
    if output == STDIO:
        return requested
    check_output(output, inputs)
    suffix = Path(output).suffix.lower()
    if requested is None and formats.get(suffix) not in known:
        listed = ", ".join(next(s for s, kind in formats.items() if kind == one) for one in known)
        problem = f"the suffix {suffix!r} is unknown" if suffix else "it has no suffix"
        raise ValueError(f"The format of {output!r} is unclear: {problem}. Use one of {listed}.")
    return requested or formats[suffix]


def check_output(output: str, inputs: Iterable[str | None] = ()) -> None:
    """Refuse an output file that could not be written, or that is an input file, before the work begins."""
    path = Path(output)
    for source in inputs:
        # Also under another name: a symbolic or hard link.
        is_file = source is not None and source != STDIO and path.is_file() and Path(source).exists()
        if is_file and path.samefile(str(source)):
            raise ValueError(f"{output!r} is also an input ({source!r}) and would be replaced: choose another -o.")
    if path.is_dir():
        raise ValueError(f"{output!r} is a folder, not a file.")
    if not path.parent.is_dir():
        raise ValueError(f"{path.name!r} cannot be written: there is no folder {str(path.parent)!r}.")
    writable = path if path.exists() and not path.is_file() else path.parent
    if not os.access(writable, os.W_OK):
        raise ValueError(f"You do not have permission to write {output!r}.")


def write_table(frame: pl.DataFrame, output: str, format: str) -> None:  # noqa: A002
    """Write a table completely or not at all."""
    write_bytes(table_bytes(frame, format), output)


def write_bytes(data: bytes, output: str) -> None:
    """Write a file completely or not at all."""
    if output == STDIO:
        sys.stdout.flush()
        left = memoryview(printable(data.decode(errors="replace")).encode() if sys.stdout.isatty() else data)
        while left:  # with PYTHONUNBUFFERED one call may write only a part
            left = left[sys.stdout.buffer.write(left) :]
        sys.stdout.buffer.flush()
        return
    with replacing(output) as path:
        path.write_bytes(data)


def json_lines(lines: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the content of a file of JSON lines."""
    return "".join(json.dumps(line, ensure_ascii=False, default=str) + "\n" for line in lines).encode()


def table_bytes(frame: pl.DataFrame, format: str, *, header: bool = True) -> bytes:  # noqa: A002
    """Return the content of a table file, Parquet or CSV."""
    data = io.BytesIO()
    if format == "parquet":
        frame.write_parquet(data)
    else:
        lists = [name for name, dtype in frame.schema.items() if dtype == pl.List]
        frame = frame.with_columns(pl.col(lists).list.join("; "))
        _without_formulas(frame).write_csv(data, include_header=header)
    return data.getvalue()


def _without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    columns = [name for name, dtype in frame.schema.items() if dtype in (pl.String, pl.Categorical, pl.Enum)]
    text = pl.col(columns).cast(pl.String)
    is_formula = text.str.contains(_FORMULA) & text.cast(pl.Float64, strict=False).is_null()
    frame = frame.with_columns(pl.when(is_formula).then(pl.lit("'") + text).otherwise(text).name.keep())
    return frame.rename({name: f"'{name}" for name in frame.columns if re.match(_FORMULA, name)})
