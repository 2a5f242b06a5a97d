"""JSON and JSON lines as a table."""

from __future__ import annotations

import datetime

import polars as pl
import pytest
from table_files import read

from suffice._io.text_tables import read_json


def test_json_lines_may_leave_values_out(tmp_path):
    table = read(tmp_path, '{"a": 1, "b": "x"}\n\n{"a": 2.5}\n{"c": true}\n', "a.jsonl")
    assert table.rows() == [(1.0, "x", None), (2.5, None, None), (None, None, True)]


@pytest.mark.parametrize("bad", ['{"a":', "[1]", "1"])
def test_the_first_bad_line_is_named(bad):
    with pytest.raises(ValueError, match=r"^x, line 3: every line must hold a JSON object\.$"):
        read_json(f'{{"a": 1}}\n\n{bad}\n{bad}\n', "x", "jsonl")


def test_a_line_with_an_endless_number_is_named():
    with pytest.raises(ValueError, match=r"^x, line 2, has a number of 5,000 digits, which is too long\.$"):
        read_json(f'{{"a": 1}}\n{{"a": {"1" * 5000}}}\n', "x", "jsonl")


def test_iso_dates_are_dates_and_other_text_is_text():
    table = read_json('[{"day": "2024-01-02", "time": "2024-01-02T03:04", "no": "2024-01-02 or so"}]', "x", "json")
    assert table["day"].to_list() == [datetime.date(2024, 1, 2)]
    assert table["time"].to_list() == [datetime.datetime(2024, 1, 2, 3, 4)]
    assert table["no"].dtype == pl.String


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_deep_nesting_is_refused_with_its_line(kind):
    """A hundred thousand brackets ended in a RecursionError, or in a full stack."""
    deep = '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"
    text = f'{{"a": "[[[["}}\n{deep}\n' if kind == "jsonl" else f'[{{"a": 1}},\n{deep}]'
    with pytest.raises(ValueError, match=r"^x, line 2: objects and lists are nested more than 64 deep\.$"):
        read_json(text, "x", kind)
    with pytest.raises(ValueError, match="line 1: objects and lists are nested more than 64 deep"):
        read_json("[" * 100_000, "x", kind)
    shallow = '{"a": ' + "[" * 50 + "]" * 50 + "}"
    assert read_json(shallow if kind == "jsonl" else f"[{shallow}]", "x", kind).height == 1


def test_objects_with_names_of_their_own_are_counted_as_the_table_that_they_become(monkeypatch):
    """A file of 1.5 MB with 100,000 names would be a table of 10 billion cells."""
    monkeypatch.setenv("SUFFICE_MAX_TABLE", "100M")
    lines = "".join(f'{{"k{i}": 1}}\n' for i in range(100_000))
    with pytest.raises(ValueError, match="x would take 149 GiB in memory, and the limit is 100 MiB"):
        read_json(lines, "x", "jsonl")
    # The same two names in many different orders of nesting.
    paths = [format(i, "012b").replace("0", '{"a":').replace("1", '{"b":') + "1" + "}" * 12 for i in range(4096)]
    with pytest.raises(ValueError, match=r"x would take 6\.03 GiB in memory"):
        read_json("\n".join(paths), "x", "jsonl")
    same = '{"a": {"b": 1}, "c": [1, 2, 3], "d": "[{:"}\n' * 1000
    assert read_json(same, "x", "jsonl").shape == (1000, 3)
