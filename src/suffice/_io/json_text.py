"""JSON and JSON lines as a table."""

from __future__ import annotations

import io
import json
import re

import polars as pl

from suffice._io.sources import COLUMN, TABLE_VARIABLE, TEXT, check_memory

MAX_DEPTH = 64  # objects and lists within each other
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_KEY = re.compile(rf"({_STRING})\s*:")
_TOKEN = re.compile(rf"({_STRING})(\s*:)?|([\[{{])|[\]}}]")
_NESTED = re.compile(r"[:\[]\s*\[|:\s*\{")
_ISO_DATE = r"^\d{4}-\d{2}-\d{2}$"
_ISO_DATETIME = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$"


def read_json(text: str, name: str, kind: str, limit: str = TABLE_VARIABLE) -> pl.DataFrame:
    """Read a table from JSON."""
    n_cells, n_names = _count(text, name)
    check_memory(len(text) + TEXT * n_cells + COLUMN * n_names, name, limit)
    data = io.BytesIO(text.encode())
    try:
        if kind == "json":
            frame = pl.read_json(data, infer_schema_length=None)
        else:
            frame = pl.read_ndjson(data, infer_schema_length=None)
    except (pl.exceptions.PolarsError, RuntimeError) as error:  # RuntimeError: polars 1.4
        if kind == "jsonl":
            _raise_for_bad_line(text, name)
        raise pl.exceptions.ComputeError(str(error)) from error
    return _parse_dates(frame)


def _count(text: str, name: str) -> tuple[int, int]:
    """Return bounds on the numbers of cells and of names: each object has a cell for each name in any of them."""
    n_objects = text.count("{")
    if _NESTED.search(text) is None:
        n_names = len({match[1] for match in _KEY.finditer(text)})
        return n_objects * n_names, n_names
    n_names = _count_paths(text, name)
    return n_objects * n_names + text.count(","), n_names


def _count_paths(text: str, name: str) -> int:
    """Return the number of different names with those of the objects around them, and refuse deep nesting."""
    paths: dict[tuple[int, str], int] = {}
    within, path = [0], 0
    for token in _TOKEN.finditer(text):
        if token[3]:
            within.append(path)
            if len(within) > MAX_DEPTH:
                line = text.count("\n", 0, token.start()) + 1
                raise ValueError(f"{name}, line {line}: objects and lists are nested more than {MAX_DEPTH} deep.")
        elif not token[1]:
            path = within.pop() if len(within) > 1 else 0
        elif token[2]:
            path = paths.setdefault((within[-1], token[1]), len(paths) + 1)
    return len(paths)


def _raise_for_bad_line(text: str, name: str) -> None:
    for i, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                is_object = isinstance(json.loads(line), dict)
            except (json.JSONDecodeError, RecursionError):
                is_object = False
            if not is_object:
                raise ValueError(f"{name}, line {i}: every line must hold a JSON object.")


def _parse_dates(frame: pl.DataFrame) -> pl.DataFrame:
    """Recognise columns of dates, which JSON can only hold as text."""
    for column, dtype in frame.schema.items():
        known = frame[column].drop_nulls()
        if dtype == pl.String and len(known):
            for pattern, kind in ((_ISO_DATE, pl.Date), (_ISO_DATETIME, pl.Datetime)):
                if known.str.contains(pattern).all():
                    parsed = frame[column].str.strptime(kind, strict=False)
                    if parsed.null_count() == frame[column].null_count():
                        frame = frame.with_columns(parsed)
    return frame
