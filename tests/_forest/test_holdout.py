"""Fitting with a holdout: the rows that are set aside have no influence, and are kept as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer

N = 300


def make_table(seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=N),
            "city": rng.choice(["Oslo", "Rome", "Bonn"], N),
            "b": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N)),
        }
    )
    y = np.where((X["a"] > 0) ^ (rng.random(N) < 0.05), "yes", "no")
    return X, y


def forest():
    return RandomForestClassifier(8, min_samples_leaf=5, random_state=0)


@pytest.mark.filterwarnings("ignore::suffice.errors.IdentifierWarning")
@pytest.mark.parametrize("is_class", [True, False])
@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_the_rest_alone_is_fitted_on(is_class, kind):
    """The explainer is the one that is fitted on the rest, to the bit; the set-aside rows come on top as they were."""
    X, y = make_table()
    X["row"] = np.arange(N) / 2  # whole numbers would look like an identifier
    if not is_class:
        y = X["a"].to_numpy() * 3 + np.arange(N) % 7
    if kind == "array":
        X = X[["a", "b", "row"]].to_numpy()
    take = (lambda rows: X[rows]) if kind == "array" else (lambda rows: X.iloc[rows])
    if kind == "polars":
        X = pl.from_pandas(X)
        take = lambda rows: X[rows]  # noqa: E731
    chosen = forest() if is_class else RandomForestRegressor(8, min_samples_leaf=5, random_state=0)
    fitted = SufficientExplainer(chosen, random_state=3, n_jobs=1).fit(X, y, holdout=0.3)
    aside = (2 * fitted.fitted_.set_aside.X[:, -1]).astype(int)
    rest = np.setdiff1d(np.arange(N), aside)
    again = SufficientExplainer(chosen, random_state=3, n_jobs=1).fit(take(rest), y[rest])
    assert len(aside) == fitted.describe()["n_set_aside"] == 90
    assert np.array_equal(fitted.fitted_.set_aside.outcomes, y[aside])
    assert np.array_equal(fitted.fitted_.set_aside.X, again.encode(take(aside)), equal_nan=True)
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert again.explain(take(rest[:10])).best_sets == fitted.explain(take(rest[:10])).best_sets
    assert "set aside" not in str(again.explain(take(rest[:10]))[0])


def test_a_fitted_forest_has_seen_all_rows():
    X, y = make_table()
    numbers = X[["a"]].to_numpy()
    with pytest.raises(ValueError, match="`forest` is fitted already and has seen all rows"):
        SufficientExplainer(forest().fit(numbers, y)).fit(numbers, y, holdout=0.2)


def test_the_task_is_that_of_all_rows():
    """150 rows of 15 whole numbers are classes by all rows; by the rest alone they would be numbers."""
    X = np.random.default_rng(0).normal(size=(160, 2))
    y = np.repeat(np.arange(16), 10)[:160]
    y[y == 15] = 0
    explainer = SufficientExplainer(random_state=0, n_jobs=1)
    with pytest.warns(UserWarning, match="say nothing"):
        explainer.fit(X, y, holdout=0.2)
    assert explainer.task_ == "classification"
    assert explainer.task_reason_.startswith("classification: the outcomes are 15 different whole numbers in 160 rows")
    assert explainer.get_params()["task"] == "auto"


def test_a_category_of_set_aside_rows_alone_is_missing():
    X, y = make_table()
    X["city"] = X["city"].astype(object)
    for row in range(0, N, 7):
        X.loc[row, "city"] = f"village {row}"
    fitted = SufficientExplainer(forest(), random_state=3, n_jobs=1).fit(X, y, holdout=0.3)
    known = {label for labels in fitted.fitted_.encoding.columns[1].labels for label in labels}
    n_new = np.isnan(fitted.fitted_.set_aside.X[:, 1]).sum()
    assert 0 < n_new == sum(city not in known for city in X["city"])
