"""Rules of columns whose values float32 cannot tell apart, or rounds to whole numbers."""

from __future__ import annotations

import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from suffice import GlobalRulesClassifier, SufficientExplainer
from suffice.errors import PrecisionWarning

N = 400
RNG = np.random.default_rng(0)
COLUMNS = {
    "unix seconds": 1_700_000_000 + RNG.integers(0, 86_400, N),
    "identifiers": 20_000_000 + RNG.permutation(4 * N)[:N],
    "cents": 1e8 + RNG.integers(0, 2_000, N) / 100,
}
pytestmark = pytest.mark.filterwarnings(
    "ignore::suffice.errors.PrecisionWarning", "ignore::suffice.errors.IdentifierWarning"
)


def explainer():
    forest = RandomForestClassifier(n_estimators=20, random_state=0)
    return SufficientExplainer(forest, counts="bootstrap", min_size=1, n_jobs=1)


@pytest.fixture(scope="module", params=COLUMNS)
def fitted(request):
    values = COLUMNS[request.param].astype(float)
    X = pd.DataFrame({"t": values, "u": np.random.default_rng(1).normal(size=N)})
    share = (values - values.min()) / (values.max() - values.min())
    y = ((share > 0.3) & (share < 0.6)) | (X["u"] > 1)
    return explainer().fit(X, y), X, y


def n_in_sql(X, condition):
    with sqlite3.connect(":memory:") as database:
        X.to_sql("x", database, index=False)
        return database.execute(f"SELECT COUNT(*) FROM x WHERE {condition}").fetchone()[0]


@pytest.mark.parametrize("check", ["rows", "everywhere"])
def test_a_rule_selects_the_rows_that_it_counts(fitted, check):
    """Ends next to a float32 value were written as that value, and left out rows that float32 rounds to it.

    ``t <= 20000592`` was the rule of a row with 20000593: 231 of 399 rules on identifiers selected other rows.
    """
    of_t, X, _ = fitted
    n_rules = 0
    for row, explanation in enumerate(of_t.explain(X, check=check, rules="all")):
        for rule in explanation.rules:
            covered = rule.covers(X)
            assert covered[row], str(rule)
            assert covered.sum() == rule.support, str(rule)
            if row < 30:
                assert n_in_sql(X, rule.to_sql()) == rule.support, str(rule)
            n_rules += 1
    assert n_rules > 300


def test_a_list_of_rules_selects_the_rows_that_it_counts(fitted):
    of_t, X, _ = fitted
    rules = GlobalRulesClassifier.from_explanations(of_t.explain(X)).rules_
    assert rules
    for rule in rules:
        assert rule.rule.covers(X).sum() == rule.support


def test_a_change_selects_the_rows_that_it_counts(fitted):
    of_t, X, _ = fitted
    n_changes = 0
    rows = X[:40]
    for row, answer in enumerate(of_t.what_if(rows)):
        for change in answer.changes:
            moved = rows[row : row + 1].assign(**change.values)
            assert all(condition.covers(rows[condition.column])[row] for condition in change.stays)
            assert all(condition.covers(moved[condition.column]).all() for condition in change.conditions)
            counted = X.iloc[list(change.rows)]
            assert all(condition.covers(counted[condition.column]).all() for condition in change.conditions)
            n_changes += 1
    assert n_changes > 10


def test_columns_that_float32_cannot_tell_apart_are_named():
    X = pd.DataFrame({"t": COLUMNS["unix seconds"], "u": np.arange(N) % 7})
    with pytest.warns(PrecisionWarning, match=r"'t' has 400 different numbers .* keeps 309 of them apart. Subtract"):
        explainer().fit(X, X["t"] > X["t"].median())
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrecisionWarning)
        explainer().fit(X.assign(t=X["t"] - X["t"].min()), X["t"] > X["t"].median())


@pytest.mark.parametrize("kind", ["frame", "array", "dict"])
@pytest.mark.parametrize("value", [2.9999999999999996, 3.0000000000000004])
def test_a_row_that_is_nearly_whole_satisfies_its_rule(kind, value):
    """2.9999999999999996 counted as 3, and its rule asked ``x >= 3``."""
    X = pd.DataFrame({"x": np.arange(60) % 6, "z": np.arange(60) % 7})
    y = X["x"] >= 3 if value < 3 else X["x"] > 3
    row = X[:1].assign(x=value)
    of_x = explainer().fit(X.to_numpy() if kind == "array" else X, y)
    [explanation] = of_x.explain({"frame": row, "array": row.to_numpy(), "dict": {"x": value, "z": 0}}[kind])
    assert explanation.rules
    for rule in explanation.rules:
        assert rule.covers(row.to_numpy() if kind == "array" else row).all(), str(rule)
