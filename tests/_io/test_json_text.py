"""JSON and JSON lines as a table."""

from __future__ import annotations

import datetime

import polars as pl
import pytest
from table_files import read

from suffice._io.json_text import read_json


def test_json_lines_may_leave_values_out(tmp_path):
    table = read(tmp_path, '{"a": 1, "b": "x"}\n\n{"a": 2.5}\n{"c": true}\n', "a.jsonl")
    assert table.rows() == [(1.0, "x", None), (2.5, None, None), (None, None, True)]


@pytest.mark.parametrize("bad", ['{"a":', "[1]", "1"])
def test_the_first_bad_line_is_named(bad):
    with pytest.raises(ValueError, match=r"^x, line 3: every line must hold a JSON object\.$"):
        read_json(f'{{"a": 1}}\n\n{bad}\n{bad}\n', "x", "jsonl")


def test_iso_dates_are_dates_and_other_text_is_text():
    table = read_json('[{"day": "2024-01-02", "time": "2024-01-02T03:04", "no": "2024-01-02 or so"}]', "x", "json")
    assert table["day"].to_list() == [datetime.date(2024, 1, 2)]
    assert table["time"].to_list() == [datetime.datetime(2024, 1, 2, 3, 4)]
    assert table["no"].dtype == pl.String
