"""Loans that are good if the income is above 30 and the account is not empty, whatever the age."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer
from suffice._forest.model_outputs import ExplainedModel

ROW = {"income": 20, "account": "some", "age": 40, "debt": 1.0}


def make_loans(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 60, n),
            "account": rng.choice(["some", "empty", "much"], n),
            "age": rng.integers(18, 80, n),
            "debt": rng.uniform(0, 5, n).round(2),
        }
    )
    y = np.where((X["income"] > 30) & (X["account"] != "empty"), "good", "bad")
    return X, pd.Series(y, name="loan")


@cache
def loan_explainer(**options):
    X, y = make_loans()
    return SufficientExplainer(RandomForestClassifier(30, min_samples_leaf=5, random_state=0), **options).fit(X, y)


def ask_instead(explainer, model):
    """Let an explainer of a model ask another one."""
    state = explainer.fitted_
    explainer.fitted_ = replace(state, model=ExplainedModel(model, state.model.probability_of, state.model.rows))
    return explainer
