"""The memory that Parquet and Arrow files declare: against what pyarrow knows of them, and for forged headers."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice._io.declared_sizes import NUMBER, TEXT, arrow_size, parquet_size

N = 1000
FRAME = pl.DataFrame(
    {
        "number": np.arange(N),
        "text": [f"text number {i}" for i in range(N)],
        "flag": np.arange(N) % 2 == 0,
        "list": [[1, 2, 3]] * N,
        "none": pl.Series([None] * N),
        "label": pl.Series(["x", "y"] * (N // 2), dtype=pl.Categorical),
    }
)


def parquet(**options):
    data = io.BytesIO()
    pq.write_table(FRAME.to_arrow(), data, **options)
    return data.getvalue()


def arrow(**options):
    data = io.BytesIO()
    pyarrow.feather.write_feather(FRAME.to_arrow(), data, **options)
    return data.getvalue()


def stream(compression):
    data = io.BytesIO()
    FRAME.write_ipc_stream(data, compression=compression)
    return data.getvalue()


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "zstd"},
        {"compression": "none", "row_group_size": 100},
        {"data_page_version": "2.0", "data_page_size": 1000},
        {"use_dictionary": False},
    ],
)
def test_the_size_of_a_parquet_file_is_that_of_its_values_and_texts(options):
    data = parquet(**options)
    about = pq.ParquetFile(io.BytesIO(data)).metadata
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    sizes = []
    for group in groups:
        columns = [group.column(i) for i in range(group.num_columns)]
        texts = [column for column in columns if column.physical_type == "BYTE_ARRAY"]
        numbers = [column for column in columns if column.physical_type != "BYTE_ARRAY"]
        size = sum(NUMBER * column.num_values for column in numbers)
        sizes.append(size + sum(TEXT * column.num_values + column.total_uncompressed_size for column in texts))
    assert len(numbers) >= 3
    # A page of numbers may be a little larger than its values: it says which of them are missing.
    assert sum(sizes) <= parquet_size(data).total < 1.01 * sum(sizes)
    assert max(sizes) <= parquet_size(data).largest < 1.01 * max(sizes)


@pytest.mark.parametrize("compression", ["zstd", "lz4", "uncompressed"])
def test_the_size_of_an_arrow_file_is_that_of_its_buffers(compression):
    sizes = [arrow_size(arrow(compression=compression)), arrow_size(stream(compression))]
    plain = [arrow_size(arrow(compression="uncompressed")), arrow_size(stream("uncompressed"))]
    assert sizes == plain
    for size in sizes:
        assert FRAME.estimated_size() < size.total < 3 * FRAME.estimated_size()
    parts = arrow_size(arrow(compression=compression, chunksize=100))
    assert parts.largest < 0.2 * parts.total


def test_few_bytes_that_become_many_values_are_counted():
    zeros = pl.DataFrame({"a": np.zeros(4_000_000)})
    packed = io.BytesIO()
    zeros.write_ipc(packed, compression="zstd")
    assert len(packed.getvalue()) < 100_000
    assert arrow_size(packed.getvalue()).total == 32_000_000
    nulls = pa.table({"a": pa.nulls(10_000_000)})
    for size in (parquet_size(_written(nulls, pq.write_table)), arrow_size(_written(nulls, pa.feather.write_feather))):
        assert size.total == 80_000_000


def _written(table, write):
    data = io.BytesIO()
    write(table, data)
    return data.getvalue()


FILES = {"parquet": parquet(), "arrow": arrow(), "stream": stream("zstd")}


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_headers_raise_one_error(data):
    kind = data.draw(st.sampled_from(sorted(FILES)))
    forged = bytearray(FILES[kind])
    for _ in range(data.draw(st.integers(1, 8))):
        position = data.draw(st.one_of(st.integers(0, 600), st.integers(len(forged) - 3000, len(forged) - 1)))
        forged[position] = data.draw(st.integers(0, 255))
    forged = bytes(forged[: data.draw(st.sampled_from([len(forged), len(forged) // 2]))])
    try:
        size = (parquet_size if kind == "parquet" else arrow_size)(forged)
    except OSError:
        return
    assert 0 <= size.largest <= size.total


def test_a_page_of_negative_size_is_refused():
    """The reader would go back and read the same pages for ever."""
    forged = bytearray(_written(pa.table({"a": range(100)}), pq.write_table))
    place = 4  # the header of the first page: its kind, its size, and its compressed size, each after the byte 0x15
    for _ in range(2):
        assert forged[place] == 0x15
        place += 1
        while forged[place] & 0x80:
            place += 1
        place += 1
    assert forged[place] == 0x15
    assert forged[place + 1] & 0x80  # a number of two bytes
    for n_back in range(1, 64):  # one of them leads back to the header
        forged[place + 1 : place + 3] = bytes([0x80 | (2 * n_back - 1), 0])  # odd numbers stand for negative ones
        with pytest.raises(OSError, match=r"^its headers are damaged or cut off$"):
            parquet_size(bytes(forged))


def test_a_file_without_its_beginning_says_so():
    for n in (7, 50, len(FILES["parquet"]) // 2):
        with pytest.raises(OSError, match=r"^its headers are damaged or cut off$"):
            parquet_size(FILES["parquet"][-n:])
