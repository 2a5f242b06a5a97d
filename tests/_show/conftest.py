"""Explanations that the tests of the report write."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reported import HOSTILE, table
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer


@pytest.fixture(scope="session")
def classes():
    X = table(500)
    is_busy = (X["hour"] > 11) & (X["town"].str.len() == 6) | (X["temp"] > 15) & ~X["holiday"]
    flip = np.random.default_rng(1).random(len(X)) < 0.05
    y = pd.Series(np.where(is_busy ^ flip, "busy", "calm"), name="traffic")
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, groups={"wind": ["wind_N", "wind_S"]}, pi=0.8, random_state=0).fit(X, y)
    return explainer.explain(X[:130], y[:130], progress=False)


@pytest.fixture(scope="session")
def numbers():
    X = table(500)
    y = pd.Series(10.0 * X["hour"] + 3 * X["temp"].fillna(0), name="count")
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    # Rows out of bag of 20 trees are few: with the counts of the paper more rows have rules to draw.
    explainer = SufficientExplainer(forest, alpha=0.2, pi=0.8, counts="bootstrap", min_size=1, random_state=0).fit(X, y)
    return explainer.explain(X[:60], y[:60] + np.where(np.arange(60) < 3, 500, 0), progress=False)


@pytest.fixture(scope="session")
def hostile():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(["a", *HOSTILE], 300) for name in HOSTILE})
    X["number"] = rng.normal(size=300)
    y = pd.Series(np.where(X[HOSTILE[0]] == "a", HOSTILE[0], HOSTILE[1]), name=HOSTILE[0])
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    return SufficientExplainer(forest, random_state=0).fit(X, y).explain(X[:30], progress=False)


@pytest.fixture(scope="session")
def cut_short():
    """Explanations of which some searches ended early."""
    X = table(300)
    y = np.where((X["hour"] > 11) & (X["rain"] < 1), "busy", "calm")
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, candidates="row", max_sets=8, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="ended"):
        return explainer.explain(X[:40], progress=False)
