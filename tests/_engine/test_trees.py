"""The trees of a forest as arrays, with all of their training rows or some."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer

RNG = np.random.default_rng(0)
X = RNG.integers(0, 6, size=(400, 4)).astype(np.float32)
NUMBERS = X[:, 0] * 2 + X[:, 1] + RNG.normal(size=400).round(2)
CLASSES = np.where(X[:, 0] + X[:, 1] > 5, "high", "low")
FORESTS = {
    "classes": RandomForestClassifier(6, min_samples_leaf=8, random_state=3),
    "numbers": RandomForestRegressor(6, min_samples_leaf=8, random_state=3),
}


def test_a_fitted_forest_of_another_table_is_still_refused():
    forest = ExtraTreesClassifier(3, bootstrap=True, random_state=0).fit(X, CLASSES)
    SufficientExplainer(forest, reference_rows=50).fit(X, CLASSES)
    for table in (X[::-1].copy(), X + 1):
        with pytest.raises(ValueError, match="do not fall into its leaves"):
            SufficientExplainer(forest, reference_rows=50).fit(table, CLASSES)
    with pytest.raises(ValueError, match="on other outcomes"):
        SufficientExplainer(forest, reference_rows=50).fit(X, np.where(CLASSES == "high", "low", "high"))


def test_too_few_rows_are_told():
    y = np.array(["rare"] * 2 + ["often"] * 398)
    with pytest.raises(ValueError, match="All 5 `reference_rows` have the same outcome: keep more of them"):
        SufficientExplainer(FORESTS["classes"], reference_rows=5, random_state=1).fit(X, y)
    forest = RandomForestClassifier(3, max_samples=2, random_state=0)
    with pytest.raises(ValueError, match="A tree has drawn none of the 2 `reference_rows`: keep more of them"):
        SufficientExplainer(forest, reference_rows=2, random_state=1).fit(X, CLASSES)
