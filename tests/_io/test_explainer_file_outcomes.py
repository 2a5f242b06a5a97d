"""The column of outcomes of a file."""

from __future__ import annotations

import polars as pl
import pytest

from suffice._io.explainer_file import is_known, outcomes_of


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.5, None, float("nan"), 0.0], [True, False, False, True]),
        (["a", None, ""], [True, False, True]),
        ([1, None], [True, False]),
        ([True, False, None], [True, True, False]),
    ],
)
def test_null_and_nan_are_not_known(values, expected):
    assert is_known(pl.Series(values, strict=False)).to_list() == expected


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["a", "b"])])
def test_categories_are_text(dtype):
    outcomes = outcomes_of(pl.DataFrame({"y": pl.Series(["a", "b"], dtype=dtype)}), "y")
    assert outcomes.dtype == pl.String
    assert outcomes.to_list() == ["a", "b"]


def test_other_outcomes_stay():
    assert outcomes_of(pl.DataFrame({"y": [1, 2]}), "y").dtype == pl.Int64
