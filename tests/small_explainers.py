"""A small table with ties, explainers of its classes and of its numbers, and all that they can answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer

NAMES = ["speed", "load", "hue", "day", "dust"]
N_ROWS = 150


def data():
    """Whole numbers, so that ties happen; the last column is constant."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(N_ROWS, 5)).astype(float)
    X[:, 4] = 1
    y = 5 * X[:, 0] + 3 * X[:, 1] * (X[:, 2] > 2) + rng.normal(size=N_ROWS)
    return X, y


X, NUMBERS = data()
CLASSES = np.digitize(NUMBERS, [12, 24])
FRAME = pd.DataFrame(X, columns=NAMES)
ROWS = X[:12]


# Too few rows are out of bag for sets of every size; the counts of the paper find them.
PAPER = {"counts": "bootstrap", "min_size": 1, "levels": "same"}


def classifier(**options):
    return SufficientExplainer(RandomForestClassifier(n_estimators=15, random_state=0), **PAPER | options)


def regressor(**options):
    forest = RandomForestRegressor(n_estimators=15, min_samples_leaf=3, random_state=0)
    return SufficientExplainer(forest, **PAPER | options)


def answers(explainer, rows=ROWS):
    """All answers of an explainer, as plain values."""
    explanations = [explainer.explain(rows).to_dict(), explainer.explain(rows, sets="all").to_dict()]
    arrays = [explainer.sdp(rows, [0, 2]), explainer.predict(rows), explainer.predict(rows, [1])]
    if explainer.task_ == "classification":
        arrays += [explainer.predict_proba(rows), explainer.predict_proba(rows, [1])]
    else:
        arrays += [
            explainer.cdf(rows, [0], [5, 20]),
            explainer.quantile(rows, [0.1, 0.9], [0]),
            explainer.interval(rows),
        ]
    return explanations + [a.tolist() for a in arrays]
