"""Writing results: which format, which place, and the content."""

from __future__ import annotations

import datetime
import io
import os
import sys
import types

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from thoroughness import n_examples

from suffice._io.files import read_table
from suffice._io.output import check_output, format_of_output, table_bytes, write_bytes, write_table
from suffice._table.table import MISSING_TEXTS as MISSING

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).filter(
    lambda word: word not in MISSING and word[0] not in "=+-@\uff1d\uff0b\uff0d\uff20"  # what is escaped in CSV
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


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@settings(max_examples=n_examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(frame=frames())
def test_a_table_comes_back_as_it_was(kind, frame, tmp_path):
    path = str(tmp_path / f"table.{kind}")
    write_table(frame, path, kind)
    text_columns = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    table = read_table(path, text_columns=text_columns)
    assert_frame_equal(table, frame, check_exact=True)


def test_text_that_a_spreadsheet_would_run_is_escaped_in_a_csv_file(tmp_path):
    """Names and labels of a stranger's table reached Excel as formulas, such as =HYPERLINK(...)."""
    texts = ["=1+1", "+cmd", "-x", "@sum", "\tt", "\rr", "\uff1dwide", "-1.5", "+3", "plain", "a=b", None]
    frame = pl.DataFrame({"=name": texts, "set": [["=a", "b"]] * 12, "n": [-1] * 12})
    write_table(frame, str(tmp_path / "a.csv"), "csv")
    written = pl.read_csv(tmp_path / "a.csv", infer_schema=False)
    escaped = ["'=1+1", "'+cmd", "'-x", "'@sum", "'\tt", "'\rr", "'\uff1dwide", *texts[7:]]
    assert written.columns == ["'=name", "set", "n"]
    assert written["'=name"].to_list() == escaped
    assert set(written["set"]) == {"'=a; b"}
    assert set(written["n"]) == {"-1"}
    frame = frame.with_columns(pl.col("=name").cast(pl.Categorical))
    assert table_bytes(frame, "csv") == (tmp_path / "a.csv").read_bytes()
    write_table(frame, str(tmp_path / "a.parquet"), "parquet")
    assert read_table(str(tmp_path / "a.parquet"))["=name"].to_list() == texts


def test_an_input_is_never_the_output(tmp_path):
    """`suffice fit t.csv -t y -o t.csv` replaced the user's table by the model."""
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    (tmp_path / "link.csv").symlink_to(table)
    os.link(table, tmp_path / "hard.csv")
    for name in ("t.csv", "link.csv", "hard.csv"):
        with pytest.raises(ValueError, match=rf"{name}' is also an input \('.*t\.csv'\) and would be replaced: choose"):
            check_output(str(tmp_path / name), [None, "-", str(table)])
        with pytest.raises(ValueError, match="is also an input"):
            format_of_output(str(tmp_path / name), ["csv"], [str(table)])
    check_output(str(tmp_path / "other.csv"), [str(table), str(tmp_path / "nowhere")])


def test_a_terminal_gets_no_control_characters(monkeypatch):
    shown = io.BytesIO()
    stdout = types.SimpleNamespace(buffer=shown, isatty=lambda: True, flush=lambda: None)
    monkeypatch.setattr(sys, "stdout", stdout)
    write_bytes("a\x1b[2J\x9b1m\n".encode(), "-")
    assert shown.getvalue() == b"a\\u001b[2J\\u009b1m\n"


def test_lists_are_joined_in_a_csv_file_and_stay_in_others(tmp_path):
    frame = pl.DataFrame({"a": [1, 2], "set": [["x", "y"], ["z"]]})
    write_table(frame, str(tmp_path / "a.csv"), "csv")
    assert (tmp_path / "a.csv").read_text() == "a,set\n1,x; y\n2,z\n"
    write_table(frame, str(tmp_path / "a.parquet"), "parquet")
    assert_frame_equal(read_table(str(tmp_path / "a.parquet")), frame)


def test_the_suffix_determines_the_format(tmp_path):
    known = ("csv", "parquet", "html")
    assert format_of_output(str(tmp_path / "a.PARQUET"), known) == "parquet"
    with pytest.raises(ValueError, match=r"the suffix '\.xlsx' is unknown. Use one of \.csv, \.parquet, \.html"):
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
