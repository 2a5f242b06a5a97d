"""Table files of every format, drawn or damaged: each is read as a table within the limit, or refused in a sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import strategies as st

from suffice._io.files import open_table, read_table

MAX_BYTES = 4 * 2**30
_WORDS = ["a", "b", "1", "-2.5", "1e9", ",", ";", "|", "NA", "é", "=1", "2024-01-02", "[", "]", "{", "}", ":", "true"]
_LINES = [
    "null",
    "\\",
    "\ufeff",
    "\x1b",
    '"',
    "\t",
    "\n",
    "\r\n",
    " ",
    '"a"',
    '"a":1',
    '{"a":1}\n',
    '{"b":[1,2]}\n',
    "a,b\n",
    "1,2\n",
]
_PIECES = st.sampled_from([*_WORDS, *_LINES])
_TEXTS = st.lists(_PIECES, min_size=1, max_size=60).map("".join)
_PACKERS = (bytes, bytes, gzip.compress, bz2.compress, lzma.compress)
_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet", ".arrow", ".csv.gz", "")


def _binary_files():
    n = 40
    frame = pl.DataFrame(
        {
            "n": np.arange(n),
            "text": [f"text {i % 7}" for i in range(n)],
            "list": [[i, i] for i in range(n)],
            "flag": np.arange(n) % 2 == 0,
            "label": pl.Series(["x", "y"] * (n // 2), dtype=pl.Categorical),
        }
    )
    files = []
    for write, compressions in (
        (frame.write_parquet, ("zstd", "uncompressed")),
        (frame.write_ipc, ("zstd", "uncompressed")),
        (frame.write_ipc_stream, ("lz4", "uncompressed")),
    ):
        for compression in compressions:
            data = io.BytesIO()
            write(data, compression=compression)
            files.append(data.getvalue())
    return files


_FILES = _binary_files()
CHANGES = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=12)
CASES = st.one_of(
    st.tuples(_TEXTS.map(lambda text: text.encode(errors="replace")), st.sampled_from(_PACKERS), st.just([])),
    st.tuples(st.sampled_from(_FILES), st.sampled_from(_PACKERS), CHANGES),
    st.tuples(st.binary(max_size=200), st.just(bytes), st.just([])),
).flatmap(lambda case: st.tuples(st.just(case), st.sampled_from(_SUFFIXES)))


def check(case):
    """Reading gives a table with rows, or a sentence with the name of the file."""
    (content, pack, changes), suffix = case
    data = bytearray(pack(content))
    for where, value in changes:
        data[int(where * len(data))] = value
    before = os.environ.get("SUFFICE_MAX_TABLE")
    os.environ["SUFFICE_MAX_TABLE"] = "64M"
    try:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = Path(folder) / f"table{suffix}"
            path.write_bytes(data)
            for read in (read_table, open_table):
                _check_reader(read, str(path))
    finally:
        os.environ.pop("SUFFICE_MAX_TABLE")
        if before is not None:
            os.environ["SUFFICE_MAX_TABLE"] = before
    return 1


def _check_reader(read, path):
    try:
        table = read(path)
        frame = table if isinstance(table, pl.DataFrame) else table.rows(0, 5)
    except ValueError as error:
        if "table" not in str(error):  # the name of the file
            raise
        return
    assert frame.height
    assert frame.width
