"""Frames that come in, and frames that go out."""

from __future__ import annotations

import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice._table.frames import as_frame, make_frame
from suffice._table.table import read_columns


@pytest.mark.parametrize(
    "X", [{"a": [1]}, np.ones((1, 1)), [[1]], ((1,),), pd.Series([1]), pl.Series([1]), 3, None, "a"]
)
def test_a_value_that_is_not_a_frame_gives_none(X):
    assert as_frame(X) is None


def test_a_lazy_frame_is_to_be_collected_first():
    with pytest.raises(TypeError, match=re.escape("`X` is a lazy frame: collect it first, X.collect().")):
        read_columns(pl.LazyFrame({"a": [1]}))


@pytest.mark.parametrize(
    ("X", "library"),
    [(pd.DataFrame({"a": [1]}), "PANDAS"), (pl.DataFrame({"a": [1]}), "POLARS"), (pa.table({"a": [1]}), "PYARROW")],
)
def test_a_frame_is_recognised(X, library):
    frame = as_frame(X)
    assert (frame.implementation.name, frame.columns, len(frame)) == (library, ["a"], 1)


# --- frames of the kind that came in ---------------------------------------------------------------------------------

FRAMES = {None: pd.DataFrame, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


@pytest.mark.parametrize(("library", "kind"), FRAMES.items())
def test_a_frame_is_of_the_library_that_is_asked_for(library, kind):
    columns = {"a": [1, 2.5, 3], "b": ["x", None, "y"], "c": [["p"], [], ["p", "q"]], "d": np.arange(6.0)[::2]}
    frame = make_frame(columns, library)
    assert isinstance(frame, kind)
    table = read_columns(frame)
    assert table.names == ("a", "b", "c", "d")
    assert table.numbers(0).tolist() == [1, 2.5, 3]
    assert table.labels(1)[0] == ("x", "y")
    assert table.labels(1)[1].tolist() == [0, -1, 1]
    assert [list(variables) for variables in frame["c"].to_numpy().tolist()] == columns["c"]
    assert table.numbers(3).tolist() == [0, 2, 4]


@pytest.mark.parametrize(("library", "kind"), FRAMES.items())
def test_a_frame_may_be_empty(library, kind):
    frame = make_frame({"a": [], "b": np.empty(0)}, library)
    assert isinstance(frame, kind)
    assert frame.shape == (0, 2)
    assert isinstance(make_frame({}, library), kind)


def test_a_frame_of_polars_takes_numbers_of_several_kinds():
    assert make_frame({"a": [1, 2.5, None]}, "polars")["a"].to_list() == [1.0, 2.5, None]


def test_a_frame_without_a_library_needs_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="`to_frame` needs pandas: pip install pandas"):
        make_frame({"a": [1]}, None)
