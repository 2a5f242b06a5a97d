"""Rules of drawn tables: each selects the rows that it counts, in float64 and in SQL, and the row that it explains."""

from __future__ import annotations

import math
import sqlite3
import warnings

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from suffice import SufficientExplainer

CASES = st.integers(0, 2**62)
COLUMNS = [
    lambda rng, n: rng.integers(0, int(rng.choice([2, 5, 1000])), n).astype(float),
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: 10.0 ** rng.integers(5, 12) + rng.integers(0, 1000, n) / int(rng.choice([1, 10, 100])),
    lambda rng, n: 1_700_000_000 + rng.integers(0, 86_400, n).astype(float),
    lambda rng, n: rng.normal(size=n).round(1),
    lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-38, 30),
    lambda rng, n: (
        np.nextafter(np.full(n, 0.1, np.float32), np.float32(1)).astype(float) + rng.integers(0, 9, n) * 1e-9
    ),
    lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 30, n)),
]


def check(case):
    rng = np.random.default_rng(case)
    n = int(rng.integers(12, 60))
    X = pd.DataFrame(
        {f"c{i}": COLUMNS[int(rng.integers(len(COLUMNS)))](rng, n) for i in range(int(rng.integers(1, 4)))}
    )
    y = np.argsort(np.argsort(np.nan_to_num(X.iloc[:, 0]))) * 3 // n + (rng.random(n) < 0.1)
    kind = [RandomForestClassifier, ExtraTreesClassifier][int(rng.integers(2))]
    forest = kind(n_estimators=4, bootstrap=True, random_state=int(rng.integers(1000)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = SufficientExplainer(forest, task="classification", counts="bootstrap", min_size=1, n_jobs=1)
        explainer.fit(X, y)
        explanations = explainer.explain(X, check=str(rng.choice(["rows", "everywhere"])), rules="all")
    n_rules = 0
    with sqlite3.connect(":memory:") as database:
        X.to_sql("x", database, index=False)
        for row, explanation in enumerate(explanations):
            for rule in explanation.rules:
                covered = rule.covers(X)
                assert covered[row], (row, str(rule))
                assert covered.sum() == rule.support, str(rule)
                # SQLite reads a number of 17 digits with an error in the last one.
                is_short = all(
                    math.isinf(end) or len(f"{end!r}".replace(".", "")) <= 15
                    for condition in rule.conditions
                    for end in (condition.low, condition.high)
                )
                if is_short:
                    [n_selected] = database.execute(f"SELECT COUNT(*) FROM x WHERE {rule.to_sql()}").fetchone()
                    assert n_selected == rule.support, rule.to_sql()
                n_rules += 1
    return max(n_rules, 1)
