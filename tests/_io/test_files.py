"""Table files: how their format is recognised, and what is refused."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import zipfile

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal
from table_files import PEOPLE, as_bytes, read

from suffice._io.files import open_table, read_table, read_through
from suffice._io.sources import TABLE_VARIABLE


def zipped():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", b"", "a.csv is empty."),
        ("a.csv", b" \n\n", "a.csv is empty."),
        ("a.csv", b"\xef\xbb\xbf", "a.csv is empty."),
        ("a.csv", gzip.compress(b"", mtime=0), "a.csv is empty."),
        ("a.csv", b"a,b\n", "a.csv has a header, but no rows."),
        ("a.csv", b"\xef\xbb\xbfa,b\n\n", "a.csv has a header, but no rows."),
        ("a.csv", b"a,b\n1,2\n3\n4,5\n", "a.csv, line 3: 1 field, but the header has 2 columns."),
        ("a.csv", b"a,b\n1,2\n\n3,4,5\n", "a.csv, line 4: 3 fields, but the header has 2 columns."),
        ("a.csv", b'a,b\n1,"x\ny"\n3,4,5\n', "a.csv, line 4: 3 fields, but the header has 2 columns."),
        ("a.csv", b'a,b\n1,2\n3,"4\n5,6\n', "a.csv, line 3: a quoted field is never closed."),
        ("a.csv", b"a" * 200_000 + b",b\n1,2\n", "a.csv, line 1: a field has more than 131,072 characters; perhaps a"),
        ("a.csv", b'a,b\n1,"2"x\n', "a.csv, line 2: text follows a closing quote ("),
        ("a.csv", b"a,b,a\n1,2,3\n", "a.csv has two columns named 'a': rename one."),
        ("a.csv", b"a,b\n1,\x00\n", "a.csv contains NUL bytes, so it is not a text file."),
        ("a.csv", b"a,b\n1,\x07\n", "a.csv, line 2: a table cannot contain the control character '\\x07'."),
        ("a.csv", bytes(range(256)) * 4, "a.csv contains NUL bytes, so it is not a text file."),
        (
            "a.csv",
            b"\xff\xfea\x00,\x00b",
            "a.csv begins with the byte order mark of UTF-16-LE, but",
        ),
        ("a.csv", b"a,b\n1,\x81\x82\n", "a.csv, line 2: neither UTF-8 nor Windows-1252; save the file"),
        (
            "a.csv",
            "a,b\né,é\né,".encode() + b"\xe9\n",
            "a.csv, line 3: a byte is not valid UTF-8, although the rest is.",
        ),
        ("a.csv", zipped(), "a.csv is a zip archive: unpack it first, or save a workbook as CSV."),
        ("a.xlsx", zipped(), "a.xlsx is a zip archive: unpack it first, or save a workbook as CSV."),
        ("a.csv", b"SQLite format 3\x00", "a.csv is a SQLite database: export the table as CSV."),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-5], "a.csv.gz is compressed, but damaged or cut off."),
        ("a.csv.gz", b"\x1f\x8b\x08rubbish", "a.csv.gz is compressed, but damaged or cut off."),
        ("a.csv.xz", lzma.compress(b"a,b\n1,2\n")[:-5], "a.csv.xz is compressed, but damaged or cut off."),
        ("a.parquet", b"a,b\n1,2\n", "a.parquet is not a Parquet file, although its name says so."),
        ("a.parquet", b"PAR1" + bytes(20), "a.parquet cannot be read as Parquet: "),
        ("a.arrow", b"ARROW1" + bytes(20), "a.arrow cannot be read as Arrow: "),
        ("a.feather", b"FEA1" + bytes(20), "a.feather is a Feather file of version 1:"),
        ("a.jsonl", b"1\n", "a.jsonl holds JSON: write the table as CSV, Parquet or Arrow first."),
        ("a", b' [ {"a": 1}]\n', "a holds JSON: write the table as CSV, Parquet or Arrow first."),
    ],
)
def test_a_file_that_is_not_a_table_is_refused_in_one_sentence(name, data, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError) as error:  # noqa: PT011 (compared below)
        read_table(name)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "csv"])
@pytest.mark.parametrize("name", ["table", "table.data"])
def test_the_content_determines_the_format(kind, name, tmp_path):
    assert_frame_equal(read(tmp_path, as_bytes(PEOPLE, kind), name), PEOPLE)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_the_content_counts_more_than_the_suffix(kind, tmp_path):
    assert_frame_equal(read(tmp_path, as_bytes(PEOPLE, kind), "table.csv"), PEOPLE)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv"])
def test_an_opened_file_knows_its_rows(kind, tmp_path):
    path = tmp_path / f"people.{kind}"
    path.write_bytes(as_bytes(PEOPLE, kind))
    table = open_table(str(path))
    assert (table.n_rows, table.schema) == (5, dict(PEOPLE.schema))
    assert_frame_equal(table.rows(1, 3), PEOPLE.slice(1, 3))
    assert_frame_equal(table.rows(3, 9, ["age", "name"]), PEOPLE.slice(3).select("name", "age"))
    assert json.loads(json.dumps(table.identity)) == table.identity


def written(frame, kind):
    data = io.BytesIO()
    {"arrow": frame.write_ipc, "stream": frame.write_ipc_stream, "parquet": frame.write_parquet}[kind](
        data, compression="zstd"
    )
    return data.getvalue()


@pytest.mark.parametrize("kind", ["arrow", "stream", "parquet"])
def test_a_small_file_with_very_many_rows_is_refused(kind, tmp_path, monkeypatch):
    """An Arrow file of 944 KB with 250 million rows took 2 GB, and ended the app.

    A stream does not declare its rows; uploads are read in a process with a memory limit.
    """
    data = written(pl.DataFrame({"a": np.zeros(2_000_000)}), kind)
    assert len(data) < 50_000
    monkeypatch.setenv(TABLE_VARIABLE, "10M")
    counted, collect = [], pl.LazyFrame.collect

    def collect_counts_only(frame, *args, **options):
        counted.append(frame.collect_schema().names())
        return collect(frame, *args, **options)

    monkeypatch.setattr(pl.LazyFrame, "collect", collect_counts_only)
    too_large = r"a\.bin would take 15\.3 MiB in memory, and the limit is 10 MiB"
    with pytest.raises(ValueError, match=too_large):
        read(tmp_path, data, "a.bin")
    if kind != "stream":
        table = open_table(str(tmp_path / "a.bin"))
        assert table.n_rows == 2_000_000
        with pytest.raises(ValueError, match=too_large):
            table.rows(0, 2_000_000)
        assert set(map(tuple, counted)) == {("len",)}  # the values were not read
        assert table.rows(1_999_990, 100)["a"].to_list() == [0.0] * 10


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_a_dictionary_of_long_texts_counts_for_each_row(dtype, tmp_path, monkeypatch):
    """A Parquet file of 2.7 KB with a dictionary of two texts of 1 MB ran a fit out of memory."""
    texts = pa.DictionaryArray.from_arrays(np.tile([0, 1], 3000).astype("i4"), ["a" * 10**6, "b" * 10**6])
    table = pa.table({"a": texts}) if dtype == pl.Categorical else pa.table({"a": pa.array(["a" * 10**4] * 6000)})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 300_000
    monkeypatch.setenv(TABLE_VARIABLE, "50M")
    match = r"a\.parquet would take (5\.59 GiB|57\.\d MiB) in memory"
    with pytest.raises(ValueError, match=match):
        read_table(str(tmp_path / "a.parquet"))
    table = open_table(str(tmp_path / "a.parquet"))
    with pytest.raises(ValueError, match=match):
        table.rows(0, 6000)
    assert table.rows(0, 10).height == 10


def test_a_panic_of_polars_is_one_sentence(tmp_path, monkeypatch):
    """polars' PanicException is not an Exception: no handler caught it."""

    def panic(_):
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(pl, "scan_parquet", panic)
    with pytest.raises(ValueError, match=r"a\.parquet cannot be read as Parquet: index out of bounds\.$"):
        read(tmp_path, as_bytes(PEOPLE, "parquet"), "a.parquet")


@pytest.mark.parametrize("kind", ["arrow", "stream"])
@pytest.mark.parametrize("reader", [read_table, open_table])
def test_a_forged_size_in_an_arrow_file_is_refused(kind, reader, tmp_path, capfd):
    """polars takes the size of a compressed buffer on trust: such a file ended the process that read it."""
    data = bytearray(written(pl.DataFrame({"a": [True] * 10_000}), kind))
    start = data.index(b"\x28\xb5\x2f\xfd") - 8  # zstd; the bytes in front state how many are packed
    data[start : start + 8] = (2**61).to_bytes(8, "little")
    path = tmp_path / "a.arrow"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"a\.arrow cannot be read as Arrow: its reader has ended\.$"):
        reader(str(path))
    assert capfd.readouterr().err == ""


def test_an_arrow_file_is_tried_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("suffice._io.files._N_TRIED", 4_000)
    data = io.BytesIO()
    pl.DataFrame({"a": [True] * 10_000}).write_ipc(data, compression="zstd", record_batch_size=2_500)
    content, path = data.getvalue(), tmp_path / "a.arrow"
    path.write_bytes(content)
    read_through(str(path), "a.arrow")
    last = content.rindex(b"\x28\xb5\x2f\xfd")
    path.write_bytes(content[:last] + b"\0" + content[last + 1 :])
    with pytest.raises(ValueError, match=r"^a\.arrow cannot be read as Arrow: "):
        read_through(str(path), "a.arrow")


def test_text_that_becomes_too_many_cells_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv(TABLE_VARIABLE, "12K")
    monkeypatch.setattr(pl, "read_csv", None)
    with pytest.raises(ValueError, match=r"a\.csv would take 35\.2 KiB in memory, and the limit is 12 KiB"):
        read(tmp_path, "a,b\n" + "1,2\n" * 1000, "a.csv")
