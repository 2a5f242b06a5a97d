"""Columns of later tables: those that said nothing at fit may be absent, and those of a list may be there."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer

RNG = np.random.default_rng(0)
N = 200
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, N),
        "empty": np.full(N, np.nan),
        "same": np.full(N, 3),
        "town": ["Oslo"] * N,
        "debt": RNG.normal(size=N),
    }
)
SILENT = ["empty", "same", "town"]
LABELS = np.where((FRAME["age"] > 40) ^ (RNG.random(N) < 0.1), "yes", "no")


def fit(frame=FRAME, **options):
    return SufficientExplainer(RandomForestClassifier(20, random_state=0), **options).fit(frame, LABELS)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas])
@pytest.mark.parametrize("is_loaded", [True, False])
def test_columns_that_said_nothing_at_fit_may_be_absent(make, is_loaded, tmp_path):
    explainer = fit(make(FRAME))
    if is_loaded:
        explainer.save(tmp_path / "m")
        explainer = SufficientExplainer.load(tmp_path / "m")
    whole, part = make(FRAME[:20]), make(FRAME[:20].drop(columns=SILENT))
    assert list(explainer.explain(part)) == list(explainer.explain(whole))
    np.testing.assert_array_equal(explainer.encode(part), explainer.encode(whole))
    assert explainer.predict({"age": 70, "debt": 0.1}).tolist() == ["yes"]
    with pytest.raises(ValueError, match=r"missing \['age'\], unexpected \[\]"):
        explainer.explain(make(FRAME[:20].drop(columns=["age"])))


def test_dates_without_a_part_that_varies_may_be_absent():
    frame = FRAME.assign(when=datetime.datetime(2024, 3, 1))
    explainer = fit(frame, dates="parts")
    assert list(explainer.explain(FRAME[:9])) == list(explainer.explain(frame[:9]))


def test_columns_of_a_list_are_ignored(tmp_path):
    explainer = fit(extra_columns=["id", "note"])
    with_id = FRAME[:9].assign(id=range(9))
    assert list(explainer.explain(with_id)) == list(explainer.explain(FRAME[:9]))
    explainer.save(tmp_path / "m")
    loaded = SufficientExplainer.load(tmp_path / "m")
    assert list(loaded.explain(with_id)) == list(explainer.explain(FRAME[:9]))
    with pytest.raises(
        ValueError, match=r"missing \[\], unexpected \['other'\]\. With extra_columns='ignore' they are"
    ):
        loaded.explain(with_id.assign(other=1))
    assert fit(extra_columns=[]).explain(FRAME[:1])
    with pytest.raises(ValueError, match=r"`extra_columns` must be one of \['error', 'ignore'\], got \[1\]"):
        fit(extra_columns=[1])
