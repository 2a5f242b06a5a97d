"""The bootstrap rows of a forest, and what it predicts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from suffice import FidelityWarning, SufficientExplainer

X, LABELS = make_classification(n_samples=200, n_features=5, random_state=0)
_, NUMBERS = make_regression(n_samples=200, n_features=5, random_state=0)
NUMBERS = NUMBERS + X[:, 0] * 300
KINDS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]


def outcomes_for(kind):
    return LABELS if "Classifier" in kind.__name__ else NUMBERS


@pytest.mark.parametrize("is_fitted", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"bootstrap": False}, {"bootstrap": True}, {"bootstrap": True, "max_samples": 0.3}]
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_that_each_tree_drew_are_found_again(kind, options, is_fitted):
    y = outcomes_for(kind)
    forest = kind(n_estimators=7, random_state=np.random.RandomState(0), **options)
    if is_fitted:
        forest.fit(X, y)
    explainer = SufficientExplainer(forest).fit(X, y)
    at_roots = np.mean([tree.tree_.value[0, 0] for tree in explainer.forest_.estimators_], axis=0)
    if "Classifier" in kind.__name__:
        np.testing.assert_allclose(explainer.predict_proba(X[:2], S=[]), [at_roots] * 2)
    else:
        np.testing.assert_allclose(explainer.predict(X[:2], S=[]), at_roots.repeat(2))


def test_a_forest_that_no_seed_can_repeat_is_taken_over():
    forest = RandomForestRegressor(n_estimators=7, random_state=None).fit(X, NUMBERS)
    explainer = SufficientExplainer(forest).fit(X, NUMBERS)
    np.testing.assert_allclose(explainer.predict(X, S=range(5)), forest.predict(X))


WEIGHTS = np.random.default_rng(0).random(200)


@pytest.mark.parametrize("kind", [ExtraTreesClassifier, ExtraTreesRegressor])
def test_a_forest_trained_with_weights_is_refused(kind):
    forest = kind(n_estimators=3, random_state=0).fit(X, outcomes_for(kind), sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match=r"If its rows or classes have weights, leave these out."):
        SufficientExplainer(forest).fit(X, outcomes_for(kind))


def test_a_forest_that_would_weight_its_rows_is_refused():
    """The message told users of an unfitted forest that it was fitted already."""
    forest = RandomForestClassifier(n_estimators=3, class_weight="balanced_subsample", random_state=0)
    y = np.where(np.arange(200) < 20, 0, LABELS)
    with pytest.raises(
        ValueError, match=r"If it was fitted before, .* If its rows or classes have weights, leave these"
    ):
        SufficientExplainer(forest).fit(X, y)


def test_a_forest_that_draws_rows_by_weight_is_followed_and_one_that_weights_them_refused():
    """scikit-learn weights rows before 1.9, and draws them by their weights since: then there are no weights left."""
    forest = RandomForestRegressor(n_estimators=7, random_state=0).fit(X, NUMBERS, sample_weight=WEIGHTS)
    if tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9):
        with pytest.raises(ValueError, match="leave these out"):
            SufficientExplainer(forest).fit(X, NUMBERS)
    else:
        explainer = SufficientExplainer(forest).fit(X, NUMBERS)
        np.testing.assert_allclose(explainer.predict(X, S=range(5)), forest.predict(X))


def test_fidelity_leaves_out_rows_that_every_tree_saw():
    forest = RandomForestRegressor(n_estimators=2, random_state=0).fit(X, NUMBERS)
    drawn = [set(rows) for rows in forest.estimators_samples_]
    out = [i for i in range(200) if not all(i in rows for rows in drawn)]
    assert len(out) < 200
    trees = list(zip(forest.estimators_, drawn, strict=True))
    votes = [[tree.predict(X[[i]])[0] for tree, rows in trees if i not in rows] for i in out]
    errors = NUMBERS[out] - np.array([np.mean(v) for v in votes])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)
        explainer = SufficientExplainer(forest).fit(X, NUMBERS)
    assert explainer.fidelity_ == pytest.approx(1 - np.mean(errors**2) / np.var(NUMBERS[out]))


def test_a_fitted_forest_refuses_a_table_with_more_rows():
    forest = RandomForestRegressor(3, random_state=0).fit(X[:150], NUMBERS[:150])
    with pytest.raises(ValueError, match="do not fall into its leaves"):
        SufficientExplainer(forest).fit(X, NUMBERS)


def test_a_split_without_a_threshold_is_refused():
    """Before 1.8, scikit-learn could write NaN as the threshold of a split between missing and known values."""
    forest = RandomForestRegressor(3, random_state=0).fit(X, NUMBERS)
    forest.estimators_[1].tree_.threshold[0] = np.nan
    with pytest.raises(ValueError, match=r"split without a threshold.*scikit-learn 1.8 or later"):
        SufficientExplainer(forest).fit(X, NUMBERS)
