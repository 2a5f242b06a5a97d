"""Predictions of training rows by the trees that did not draw them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from small_explainers import CLASSES, NUMBERS, X

from suffice import SufficientExplainer
from suffice._engine.forest import rows_out_of_bag
from suffice._engine.out_of_bag import predict_out_of_bag, rows_not_drawn


@pytest.mark.parametrize("counts", ["out-of-bag", "bootstrap"])
def test_the_rows_are_those_that_scikit_learn_did_not_draw(counts):
    forest = RandomForestClassifier(n_estimators=12, random_state=0)
    explainer = SufficientExplainer(forest, counts=counts).fit(X, CLASSES)
    expected = rows_out_of_bag(explainer.forest_, len(X), np.arange(len(X)))
    assert np.array_equal(rows_not_drawn(explainer.fitted_.forest, counts), expected)


@pytest.mark.parametrize("counts", ["out-of-bag", "bootstrap"])
def test_predictions_are_those_of_scikit_learn(counts):
    forest = RandomForestRegressor(n_estimators=60, oob_score=True, random_state=0)
    explainer = SufficientExplainer(forest, counts=counts).fit(X, NUMBERS)
    predictions, is_known = predict_out_of_bag(explainer.fitted_)
    assert is_known.all()
    assert predictions == pytest.approx(explainer.forest_.oob_prediction_)


def test_a_loaded_explainer_predicts_the_same(tmp_path):
    explainer = SufficientExplainer(random_state=0).fit(X, NUMBERS)
    explainer.save(tmp_path / "e.suffice")
    loaded = SufficientExplainer.load(tmp_path / "e.suffice")
    assert np.array_equal(predict_out_of_bag(loaded.fitted_)[0], predict_out_of_bag(explainer.fitted_)[0])


def test_a_forest_without_bootstrap_knows_no_row():
    forest = RandomForestRegressor(n_estimators=5, bootstrap=False, random_state=0)
    explainer = SufficientExplainer(forest, counts="bootstrap").fit(X, NUMBERS)
    assert not predict_out_of_bag(explainer.fitted_)[1].any()


def test_a_tree_that_drew_every_row_has_none_out_of_bag():
    """Such a tree counts the rows that it drew."""
    forest = RandomForestClassifier(n_estimators=200, random_state=0)
    few, labels = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    with pytest.warns(UserWarning, match="forest"):
        explainer = SufficientExplainer(forest).fit(few, labels)
    expected = rows_out_of_bag(explainer.forest_, 4, np.arange(4))
    assert not expected.any(axis=1).all()
    assert np.array_equal(rows_not_drawn(explainer.fitted_.forest, "out-of-bag"), expected)
