"""JSON and JSON lines as a table."""

from __future__ import annotations

import io
import json

import polars as pl

_ISO_DATE = r"^\d{4}-\d{2}-\d{2}$"
_ISO_DATETIME = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$"


def read_json(text: str, name: str, kind: str) -> pl.DataFrame:
    """Read a table from JSON.

    Parameters
    ----------
    text : str
        The text of the file.
    name : str
        The name of the file in messages.
    kind : {"json", "jsonl"}
        Whether the file is one array of objects, or has an object on each line.

    Returns
    -------
    polars.DataFrame
        The table. Columns in which all values are ISO dates hold dates.
    """
    data = io.BytesIO(text.encode())
    try:
        if kind == "json":
            frame = pl.read_json(data, infer_schema_length=None)
        else:
            frame = pl.read_ndjson(data, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        if kind == "jsonl":
            _raise_for_bad_line(text, name)
        raise
    return _parse_dates(frame)


def _raise_for_bad_line(text: str, name: str) -> None:
    for i, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                is_object = isinstance(json.loads(line), dict)
            except json.JSONDecodeError:
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
