"""Columns that options name, and rows without an outcome."""

from __future__ import annotations

import polars as pl
import pytest

from suffice._cli.rows import check_column, with_outcome


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("agee", "a.csv", "--id: there is no column 'agee' in a.csv. Did you mean 'age'?"),
        ("x", "-", "--id: there is no column 'x' in standard input. Its columns are age, city."),
    ],
)
def test_a_column_that_is_not_there_is_refused(name, source, message):
    check_column(["age", "city"], "age", source, "--id")
    with pytest.raises(ValueError) as error:  # noqa: PT011 (compared below)
        check_column(["age", "city"], name, source, "--id")
    assert str(error.value) == message


def test_rows_without_an_outcome_are_left_out(capsys):
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "y": [0.5, None, float("nan"), 1.5]}, strict=False)
    assert with_outcome(frame, "y")["a"].to_list() == [1, 4]
    assert capsys.readouterr() == ("", "2 rows without a value of 'y' are left out.\n")
    assert with_outcome(frame.head(2), "y")["a"].to_list() == [1]
    assert capsys.readouterr().err == "1 row without a value of 'y' is left out.\n"
    assert with_outcome(frame[[0, 3]], "y").height == 2
    assert capsys.readouterr().err == ""


def test_a_column_without_any_outcome_is_refused():
    with pytest.raises(ValueError, match="The column 'y' is empty: there is no outcome to explain"):
        with_outcome(pl.DataFrame({"y": pl.Series([None, None], dtype=pl.Float64)}), "y")
