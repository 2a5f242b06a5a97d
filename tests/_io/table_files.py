"""A table, and how tests read it from bytes."""

from __future__ import annotations

import datetime
import io

import polars as pl

from suffice._io.files import read_table

PEOPLE = pl.DataFrame(
    {
        "name": ["Zoë", "O'Neil; or, |\tso", 'says "hi"', "two\nlines", None],
        "age": [31, None, 45, 27, 60],
        "height": [1.5, 1.75, None, 1.8, 2.0],
        "since": [datetime.date(2024, 1, day) for day in range(1, 6)],
        "member": [True, False, None, True, True],
    }
)


def read(tmp_path, data, name="table.csv", **options):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_table(str(path), **options)


def as_bytes(frame, kind):
    data = io.BytesIO()
    {
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
        "stream": frame.write_ipc_stream,
        "csv": frame.write_csv,
    }[kind](data)
    return data.getvalue()
