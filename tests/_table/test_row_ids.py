"""Identifiers of rows from an index, a column or a list."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice._table.rows import id_text, read_ids
from suffice._table.table import Table

COLUMNS = {"customer": ["a-1", "b-2", "c-3"], "age": [30.0, 40.0, 50.0]}
FRAMES = [pd.DataFrame, pl.DataFrame, pa.table, dict]


@pytest.mark.parametrize("make", FRAMES)
def test_a_column_that_was_not_there_at_fit_is_taken_out(make):
    X, ids = read_ids(make(COLUMNS), "customer", ["age"])
    assert ids == ("a-1", "b-2", "c-3")
    assert list(getattr(X, "column_names", X.keys() if isinstance(X, dict) else X.columns)) == ["age"]
    assert isinstance(X, type(make(COLUMNS)))


@pytest.mark.parametrize("make", FRAMES)
def test_a_column_of_the_training_table_stays(make):
    table = make(COLUMNS)
    X, ids = read_ids(table, "age", ["customer", "age"])
    assert X is table
    assert ids == ("30", "40", "50")


@pytest.mark.parametrize("make", FRAMES)
def test_an_unknown_column_is_refused(make):
    with pytest.raises(ValueError, match=r"`ids`: `X` has no column 'custommer'. Did you mean 'customer'\?"):
        read_ids(make(COLUMNS), "custommer", ["age"])
    with pytest.raises(ValueError, match="`ids` names the column 'age', but `X` has no named columns: pass a list"):
        read_ids(np.zeros((3, 2)), "age", ["age"])


@pytest.mark.parametrize("make", [*FRAMES, lambda c: np.zeros((3, 2)), lambda c: Table.from_array(np.zeros((3, 2)))])
def test_a_list_names_every_row(make):
    X = make(COLUMNS)
    rows, ids = read_ids(X, [7, 8, 9], ["age"])
    assert rows is X
    assert ids == ("7", "8", "9")
    assert read_ids(X, np.array([7.0, 8.5, np.nan]), ["age"])[1] == ("7", "8.5", "missing")
    assert read_ids(X, pd.Series(["x", "y", "z"]), ["age"])[1] == ("x", "y", "z")
    with pytest.raises(ValueError, match="`ids` must have one identifier for each row of `X`: got 2 for 3 rows"):
        read_ids(X, ["x", "y"], ["age"])


def test_an_index_names_the_rows_unless_it_counts_them():
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0]})
    assert read_ids(X, None, ["age"])[1] is None
    assert read_ids(X.set_index(np.arange(3)), None, ["age"])[1] is None
    assert read_ids(X[1:], None, ["age"])[1] == ("1", "2")
    assert read_ids(X[::-1], None, ["age"])[1] == ("2", "1", "0")
    assert read_ids(X.set_index(pd.Index(["u", "v", "w"])), None, ["age"])[1] == ("u", "v", "w")
    cities = pd.MultiIndex.from_tuples([("Oslo", 1), ("Oslo", 2), ("Rome", 1)])
    assert read_ids(X.set_index(cities), None, ["age"])[1] == ("Oslo, 1", "Oslo, 2", "Rome, 1")
    days = pd.date_range("2024-05-01", periods=3)
    assert read_ids(X.set_index(days), None, ["age"])[1] == ("2024-05-01", "2024-05-02", "2024-05-03")
    assert read_ids(X.iloc[2], None, ["age"])[1] == ("2",)
    assert read_ids(pd.Series([1.0]), None, ["age"])[1] is None
    assert read_ids(pl.DataFrame(X), None, ["age"])[1] is None
    assert read_ids(X.to_numpy(), None, ["age"])[1] is None


def test_identifiers_are_text():
    assert id_text(np.float64(3)) == "3"
    assert id_text(datetime.date(2024, 5, 1)) == "2024-05-01"
    assert id_text(pd.NaT) == "missing"
