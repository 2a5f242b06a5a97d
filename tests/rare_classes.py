"""A table in which one class is rare, and its explainer: the common class needs no variable, the rare one needs two."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from suffice import SufficientExplainer

N_ROWS = 1200


@cache
def rare_table():
    """Return the table and its outcomes: 8 % "yes", nearly all of them among the old with debts."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N_ROWS, 3)), columns=["age", "debt", "income"])
    share = np.where((X["age"] > 1.0) & (X["debt"] > 0), 0.93, 0.02)
    return X, pd.Series(np.where(rng.random(N_ROWS) < share, "yes", "no"), name="default")


@cache
def rare_explainer():
    """Return an explainer of the table."""
    return SufficientExplainer(random_state=0).fit(*rare_table())


@cache
def rare_explanations(levels="same", confidence=None):
    """Explain the first 200 rows with their observed outcomes."""
    X, y = rare_table()
    explainer = rare_explainer().with_settings(levels=levels, confidence=confidence)
    return explainer.explain(X[:200], y[:200], sets="all", progress=False)


def first(explanations, outcome, *, is_sufficient):
    """Return the position of the first row with an outcome that has, or has not, a sufficient set."""
    return next(i for i, e in enumerate(explanations) if e.outcome == outcome and e.is_sufficient is is_sufficient)
