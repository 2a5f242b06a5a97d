"""Writing results: which format, which place, and the content."""

from __future__ import annotations

import datetime
import os

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from table_files import PEOPLE

from suffice._io.files import read_table
from suffice._io.output import check_output, format_of_output, write_table
from suffice._table.text_columns import MISSING_TEXTS as MISSING

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).filter(
    lambda word: word not in MISSING
)


VALUES = {
    pl.Int64: st.integers(-(2**62), 2**62),
    pl.Float64: st.floats(allow_nan=False, allow_infinity=False),
    pl.String: WORDS,
    pl.Boolean: st.booleans(),
    pl.Date: st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
}


@st.composite
def frames(draw):
    n_rows = draw(st.integers(1, 6))
    names = draw(st.lists(WORDS, min_size=2, max_size=5, unique=True))
    columns = []
    for name in names:
        dtype = draw(st.sampled_from(list(VALUES)))
        values = draw(st.lists(VALUES[dtype] | st.none(), min_size=n_rows, max_size=n_rows))
        if all(value is None for value in values):
            dtype = pl.Float64  # an empty column does not show its type
        columns.append(pl.Series(name, values, dtype=dtype))
    return pl.DataFrame(columns)


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "jsonl", "json"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(frame=frames())
def test_a_table_comes_back_as_it_was(kind, frame, tmp_path):
    path = str(tmp_path / f"table.{kind}")
    write_table(frame, path, kind)
    text_columns = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    table = read_table(path, text_columns=text_columns)
    assert_frame_equal(table, frame, check_exact=True)


def test_lists_are_joined_in_a_csv_file_and_stay_in_others(tmp_path):
    frame = pl.DataFrame({"a": [1, 2], "set": [["x", "y"], ["z"]]})
    write_table(frame, str(tmp_path / "a.csv"), "csv")
    assert (tmp_path / "a.csv").read_text() == "a,set\n1,x; y\n2,z\n"
    write_table(frame, str(tmp_path / "a.parquet"), "parquet")
    assert_frame_equal(read_table(str(tmp_path / "a.parquet")), frame)


def test_the_suffix_determines_the_format(tmp_path):
    known = ("csv", "parquet", "html")
    assert format_of_output(str(tmp_path / "a.PARQUET"), known) == "parquet"
    with pytest.raises(ValueError, match=r"the suffix '\.xlsx' is unknown: use one of \.csv, \.parquet, \.pq, \.html"):
        format_of_output(str(tmp_path / "a.xlsx"), known)
    with pytest.raises(ValueError, match="it has no suffix"):
        format_of_output(str(tmp_path / "a"), known)


def test_an_output_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    check_output(str(tmp_path / "a.csv"))
    with pytest.raises(ValueError, match="is a folder, not a file"):
        check_output(str(tmp_path))
    with pytest.raises(ValueError, match=r"'a.csv' cannot be written: there is no folder '.*/nowhere'"):
        check_output(str(tmp_path / "nowhere" / "a.csv"))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ValueError, match="You do not have permission to write"):
        check_output(str(tmp_path / "a.csv"))


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="A table cannot be written as 'html'"):
        write_table(PEOPLE, str(tmp_path / "a.html"), "html")
    assert os.listdir(tmp_path) == []
