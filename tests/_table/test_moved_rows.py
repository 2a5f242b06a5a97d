"""Rows with other values, in tables of every kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice._table.rows import move_rows

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["x", "y", "x"]), "c": [0.5, 1.5, 2.5]})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_copies_keep_their_types(library):
    X = FRAME if library == "pandas" else pl.from_pandas(FRAME)
    moved = move_rows(X, [2, 0, 0], [{0: 7}, {1: "y", 2: None}, {}], ["a", "b", "c"])
    assert type(moved) is type(X)
    assert moved["a"].to_list() == [7, 1, 1]
    assert moved["b"].to_list() == ["x", "y", "x"]
    assert moved["c"].to_list()[2] == 0.5
    assert pd.isna(moved["c"].to_list()[1])
    assert moved["b"].dtype == X["b"].dtype
    assert X["a"].to_list() == [1, 2, 3]


def test_arrays_are_copied():
    X = np.arange(6.0).reshape(3, 2)
    assert move_rows(X, [1, 1], [{0: 9.0}, {1: None}], ["x0", "x1"])[0].tolist() == [9.0, 3.0]
    assert X[1].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(("dtype", "kept"), [("float32", "float32"), ("int64", "float64")])
def test_an_array_of_numbers_keeps_its_type_if_the_values_fit(dtype, kept):
    moved = move_rows(np.arange(4).reshape(2, 2).astype(dtype), [0, 1], [{}, {0: 2.5}], ["x0", "x1"])
    assert moved.dtype == kept
    assert moved.tolist() == [[0, 1], [2.5, 3]]


def test_a_fraction_fits_into_a_column_of_whole_numbers():
    assert move_rows(FRAME, [0], [{0: 2.5}], ["a", "b", "c"])["a"].tolist() == [2.5]
    assert move_rows(pl.DataFrame({"a": [1]}), [0], [{0: 2.5}], ["a"])["a"].to_list() == [2.5]
