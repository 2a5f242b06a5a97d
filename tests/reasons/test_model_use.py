"""Whether a model uses variables at a row, asked by replacing values."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from suffice import SufficientExplainer
from suffice._forest.model_outputs import ExplainedModel
from suffice.errors import FidelityWarning
from suffice.reasons import search as model_use
from suffice.reasons.search import find_unused

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.normal(size=(200, 3)).round(2), columns=["a", "b", "c"])


def fitted(table=TABLE, **options):
    forest = RandomForestClassifier(5, random_state=0)
    y = np.asarray(TABLE["a"][: len(table)] > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)  # the forest matters only for its training table
        return SufficientExplainer(forest, **options).fit(table, y).fitted_


STATE = fitted()


def either(table):
    """A model for which each of two columns is enough, and that ignores the third."""
    return np.where((table["a"] < 0) | (table["b"] < 0), "bad", "good")


@pytest.mark.parametrize("table", [TABLE, pl.DataFrame(TABLE.to_dict("list"))])
def test_only_a_variable_that_is_never_read_is_unused(table):
    rows = np.flatnonzero((TABLE["a"] < 0) & (TABLE["b"] < 0)).tolist()
    sets = dict.fromkeys(rows, (0, 2))
    assert find_unused(STATE, ExplainedModel(either), table, sets) == dict.fromkeys(rows, (2,))


def test_a_variable_is_used_if_it_matters_where_the_rest_of_the_set_does_not_decide():
    """Replacing one of two sufficient values changes nothing at the row itself: the other one still decides."""
    row = int(np.flatnonzero((TABLE["a"] < 0) & (TABLE["b"] < 0))[0])
    assert find_unused(STATE, ExplainedModel(either), TABLE, {row: (0,)}) == {}
    assert find_unused(STATE, ExplainedModel(either), TABLE, {row: (1,)}) == {}
    # Given b, the value of a never matters.
    assert find_unused(STATE, ExplainedModel(either), TABLE, {row: (0, 1)}) == {row: (0, 1)}


def test_scores_are_asked_for_if_there_are_any():
    y = TABLE["a"] + 0.01 * TABLE["b"] > 0
    model = LogisticRegression().fit(TABLE[["a", "b", "c"]], y)
    model.coef_[0, 2] = 0.0
    far = TABLE[:1].assign(a=-50.0)
    assert find_unused(STATE, ExplainedModel(model), far, {0: (1, 2)}) == {0: (2,)}
    assert find_unused(STATE, ExplainedModel(model, True), far, {0: (1, 2)}) == {0: (2,)}


def test_rounding_of_a_batch_is_no_use():
    def noisy(table):
        return np.asarray(table["a"]) + 1e-9 * np.arange(len(table)) / len(table)

    assert find_unused(STATE, ExplainedModel(noisy), TABLE[:2], {0: (0, 1), 1: (2,)}) == {0: (1,), 1: (2,)}


def test_questions_are_asked_in_parts(monkeypatch):
    sizes = []

    def counted(table):
        sizes.append(len(table))
        return either(table)

    sets = dict.fromkeys(range(20), (0, 2))
    expected = find_unused(STATE, ExplainedModel(either), TABLE, sets)
    monkeypatch.setattr(model_use, "N_QUESTIONS", 200)
    assert find_unused(STATE, ExplainedModel(counted), TABLE, sets) == expected
    assert max(sizes) <= 200
    assert len(sizes) > 5


def test_arrays_labels_missing_values_and_whole_numbers_are_replaced():
    array = TABLE.to_numpy()
    state = fitted(array)
    assert find_unused(state, ExplainedModel(lambda X: X[:, 1] > 0), array, {3: (0, 1)}) == {3: (0,)}
    whole = RNG.integers(0, 5, size=(100, 2))
    state = fitted(whole)
    assert find_unused(state, ExplainedModel(lambda X: X[:, 1]), whole, {3: (0, 1)}) == {3: (0,)}
    mixed = pd.DataFrame({"kind": RNG.choice(["x", "y"], 100), "n": RNG.integers(0, 9, 100), "z": RNG.random(100)})
    mixed.loc[::7, "z"] = np.nan
    state = fitted(mixed)
    assert find_unused(state, ExplainedModel(lambda X: X["kind"] == "x"), mixed, {1: (0, 1, 2)}) == {1: (1, 2)}
    assert find_unused(state, ExplainedModel(lambda X: X["z"].isna()), mixed, {1: (0, 2)}) == {1: (0,)}


def test_dates_are_not_checked():
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=200), "a": TABLE["a"]})
    state = fitted(days, dates="parts")
    assert find_unused(state, ExplainedModel(lambda X: np.zeros(len(X))), days, {0: (0, 1)}) == {0: (1,)}
