"""The names and shapes of tables, and the columns of the training table in another table."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from suffice._table.input import match_columns
from suffice._table.table import (
    Table,
    numbered_names,
    read_columns,
)

NAN, INF = math.nan, math.inf


def test_names_that_are_strings_of_numpy_are_names():
    table = read_columns(pd.DataFrame([[1, 2]], columns=np.array(["a", "b"])))
    assert table.has_names
    assert table.names == ("a", "b")
    assert all(type(name) is str for name in table.names)
    named = pd.DataFrame([[1]], columns=pd.Index([np.str_("a")], dtype=object))
    assert read_columns(named).names == ("a",)
    assert type(read_columns(named).names[0]) is str


@pytest.mark.parametrize("columns", [None, [5, 3], [1.5, 2.5], pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])])
def test_a_frame_whose_columns_are_no_strings_counts_as_one_without_names(columns):
    table = read_columns(pd.DataFrame([[1, "b"]], columns=columns))
    assert not table.has_names
    assert table.names == ("x0", "x1")
    assert table.labels(1)[0] == ("b",)


def test_names_of_strings_and_others_are_refused():
    message = "Feature names are only supported if all input features have string names, but your input has ['int', "
    with pytest.raises(TypeError, match=re.escape(message)):
        read_columns(pd.DataFrame([[1, 2]], columns=["a", 0]))


@pytest.mark.parametrize(
    "X",
    [pd.DataFrame([[1, 2, 3]], columns=["b", "a", "a"]), pa.table([[1], [2], [3]], names=["b", "a", "a"])],
    ids=["pandas", "pyarrow"],
)
def test_two_columns_of_one_name_are_refused(X):
    with pytest.raises(ValueError, match=r"^`X` has two columns named 'a'; rename one.$"):
        read_columns(X)


def test_a_column_is_found_by_its_name():
    table = read_columns({"hour": [1], "temp": [2]})
    assert table.position("temp") == 1
    with pytest.raises(ValueError, match=re.escape("`X` has no column 'hours'. Did you mean 'hour'?")):
        table.position("hours")
    with pytest.raises(ValueError, match=r"^`X` has no column 'xyz'.$"):
        table.position("xyz")
    with pytest.raises(ValueError, match="`X` has two columns named 'a'; rename one"):
        Table(("a", "a"), [np.ones(1), np.ones(1)], 1).position("a")


def test_columns_without_names_are_numbered():
    assert numbered_names(3) == ["x0", "x1", "x2"]
    assert numbered_names(0) == []


def test_a_series_without_names_says_how_to_pass_a_row_or_a_column():
    message = "`X` is a Series of 1 values without the names of columns: for one row pass frame.iloc[0] or"
    with pytest.raises(ValueError, match=re.escape(message)):
        read_columns(pd.Series([1]))


@pytest.mark.parametrize(("X", "shape"), [([1, 2], "(2,)"), (np.ones((1, 1, 1)), "(1, 1, 1)")])
def test_a_value_without_columns_is_refused(X, shape):
    message = f"`X` must be a table, got shape {shape}; for one row, give it as [row]."
    with pytest.raises(ValueError, match=re.escape(message)):
        read_columns(X)


def test_the_columns_of_a_dict_are_of_one_length():
    with pytest.raises(ValueError, match=re.escape("Column 'b' of `X` must have 2 values, got shape (1,).")):
        read_columns({"a": [1, 2], "b": [3]})
    with pytest.raises(ValueError, match=re.escape("Column 'a' of `X` must have 1 values, got shape (1, 2).")):
        read_columns({"a": [[1, 2]]})
    assert read_columns({}).n_rows == 0


def test_numbers_beside_text_stay_numbers():
    table = read_columns([[1, "a"], [2.5, "b"]])
    assert table.kind(0) == "number"
    assert table.numbers(0).tolist() == [1.0, 2.5]
    assert read_columns({"a": ["x", NAN]}).labels(0)[0] == ("x",)


@pytest.mark.parametrize("names", list(itertools.permutations(["a", "b", "c"])))
def test_columns_match_by_name_in_any_order(names):
    positions = match_columns(names, ["a", "b", "c"], "error")
    assert [names[i] for i in positions] == ["a", "b", "c"]
    extended = ["z", *names, "y"]
    assert [extended[i] for i in match_columns(extended, ["a", "b", "c"], "ignore")] == ["a", "b", "c"]


@pytest.mark.parametrize("extra", ["error", "ignore"])
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["hour"], "`X` has 1 columns, there were 2 at fit: missing ['temp'], unexpected []."),
        ([], "`X` has 0 columns, there were 2 at fit: missing ['hour', 'temp'], unexpected []."),
        (
            ["temp", "hours"],
            "`X` has 2 columns, there were 2 at fit: missing ['hour'], unexpected ['hours']. Did you mean 'hours'?",
        ),
        (["hour", "z", "y"], "`X` has 3 columns, there were 2 at fit: missing ['temp'], unexpected ['z', 'y']."),
    ],
)
def test_a_column_that_is_not_there_is_missed(names, message, extra):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        match_columns(names, ["hour", "temp"], extra)


def test_a_column_that_was_not_there_is_refused_unless_it_is_to_be_ignored():
    message = (
        "`X` has 3 columns, there were 2 at fit: missing [], unexpected ['wind']. With extra_columns='ignore' they "
        "are left out."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        match_columns(["wind", "temp", "hour"], ["hour", "temp"], "error")
    assert match_columns(["wind", "temp", "hour"], ["hour", "temp"], "ignore") == [2, 1]
