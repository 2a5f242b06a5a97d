"""The switch model of the paper's section 5."""

from __future__ import annotations

import math

import numpy as np
from sklearn.ensemble import RandomForestRegressor


def draw_switch(n_rows, rng, n_columns=100):
    """X ~ N(0, 0.8 J + 5 I); Y = X1 + X2 where X5 <= 0, X3 + X4 elsewhere (columns counted from 1)."""
    X = math.sqrt(5) * rng.standard_normal((n_rows, n_columns)) + math.sqrt(0.8) * rng.standard_normal((n_rows, 1))
    return X, np.where(X[:, 4] <= 0, X[:, 0] + X[:, 1], X[:, 2] + X[:, 3])


def true_sets(X):
    """The variables that the model uses at each row."""
    return [{"x0", "x1", "x4"} if x <= 0 else {"x2", "x3", "x4"} for x in X[:, 4]]


def least_leaf(n_rows):
    return math.floor(math.sqrt(n_rows) * math.log(n_rows) ** 1.5 / 250)


def switch_forest(n_rows, seed=0, **options):
    """Training and test data, and the paper's forest, unfitted."""
    rng = np.random.default_rng(seed)
    X, y = draw_switch(n_rows, rng)
    X_test, y_test = draw_switch(1000, rng)
    forest = RandomForestRegressor(20, min_samples_leaf=least_leaf(n_rows), n_jobs=-1, random_state=seed, **options)
    return X, y, X_test, y_test, forest
