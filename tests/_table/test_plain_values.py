"""Rows as plain values, and back."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice._table.encoding import Encoding
from suffice._table.rows import plain_columns, table_of_values
from suffice._table.table import read_columns

N = 60


def mixed():
    rng = np.random.default_rng(0)
    place = rng.choice(["a", "b"], N).astype(object)
    place[:3] = ["rare 1", "rare 2", None]
    number = rng.normal(size=N)
    number[4] = np.nan
    return pd.DataFrame(
        {
            "place": place,
            "number": number,
            "single": rng.normal(size=N).astype(np.float32),
            "whole": rng.integers(0, 9, N),
            "flag": rng.random(N) > 0.5,
            "day": pd.date_range("2024-01-29 05:00", periods=N, freq="7h"),
            "tall": pd.Categorical(rng.choice(["low", "high"], N), ["low", "high"], ordered=True),
        }
    )


@pytest.mark.parametrize("frame", [mixed(), pl.from_pandas(mixed())])
def test_rows_are_encoded_as_before_after_a_way_through_json(frame):
    table = read_columns(frame)
    encoding = Encoding.learn(table, "parts")
    columns = plain_columns(table, encoding)
    rows = [{name: values[i] for name, values in columns.items()} for i in range(N)]
    again = table_of_values(json.loads(json.dumps(rows)), encoding)
    np.testing.assert_array_equal(encoding.encode(again), encoding.encode(table))
    assert columns["place"][:3] == ["rare 1", "rare 2", None]
    assert columns["number"][4] is None
    assert columns["number"][5] == mixed()["number"][5]
    assert all(isinstance(value, int) for value in columns["whole"])
    assert columns["day.weekday"][0] == "Mon"
    assert columns["day.hour"][:2] == [5, 12]


def test_what_a_row_lacks_is_named():
    table = read_columns(pd.DataFrame({"a": [1.5, 2.5], "b": [1, 2]}))
    encoding = Encoding.learn(table)
    with pytest.raises(ValueError, match=r"The row has no value of 'b' \(row 1\)"):
        table_of_values([{"a": 1.0, "b": 2}, {"a": 1.0}], encoding)
    with pytest.raises(ValueError, match=r"Column 'a' must hold numbers, got 'x' \(row 0\)"):
        table_of_values([{"a": "x", "b": 2}], encoding)


def test_no_rows():
    table = read_columns(mixed())
    encoding = Encoding.learn(table, "parts")
    assert encoding.encode(table_of_values([], encoding)).shape == (0, len(encoding.columns))
