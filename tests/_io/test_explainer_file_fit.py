"""Fitting an explainer to a table that was read from a file."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

from suffice._io.explainer_file import fit_table


def test_the_target_the_columns_left_out_and_dates_are_no_variables():
    n = 60
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "day": [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(n)],
            "x": rng.normal(size=n),
            "id": np.arange(n),
            "y": pl.Series(rng.choice(["a", "b"], n), dtype=pl.Categorical),
        }
    )
    assert fit_table(frame, "y", ["id", "y"], False).feature_names_in_.tolist() == ["x"]
    assert [fit_table(frame, "y", ["id"], False, focus=label).focus_ for label in "ab"] == ["a", "b"]
    with_dates = fit_table(frame, "y", ["id"], True)
    assert with_dates.feature_names_in_.tolist() == ["day", "x"]
    assert with_dates.classes_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="No columns are left besides the target"):
        fit_table(frame.drop("day"), "y", ["id", "x"], False)
