"""Votes of trees as probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from loans import loan_explainer, make_loans
from scipy.special import expit, logit

from suffice._engine.calibration import Calibration, calibration_of, probabilities_at, uses_votes
from suffice._engine.targets import read_targets


def test_a_known_curve_is_learnt_again():
    rng = np.random.default_rng(0)
    votes = rng.uniform(0.02, 0.98, 20_000)
    is_wanted = rng.random(20_000) < expit(1.7 * logit(votes) + 0.4)
    curve = Calibration.learn(votes, is_wanted)
    assert curve.slope == pytest.approx(1.7, abs=0.06)
    assert curve.intercept == pytest.approx(0.4, abs=0.06)
    assert curve.probability(np.array([0.3]))[0] == pytest.approx(expit(1.7 * logit(0.3) + 0.4), abs=0.02)
    assert float(curve.probability(np.array(curve.vote_for(0.9)))) == pytest.approx(0.9)


def test_rows_that_every_tree_has_drawn_do_not_count():
    rng = np.random.default_rng(0)
    votes, is_wanted = rng.random(200), rng.random(200) < 0.5
    gaps = np.concatenate([votes, [np.nan] * 50])
    assert Calibration.learn(gaps, np.concatenate([is_wanted, [True] * 50])) == Calibration.learn(votes, is_wanted)


@pytest.mark.parametrize("level", [0.3, 0.8, 0.95])
def test_the_forest_predicts_the_target_where_it_is_reached(level):
    """A vote below a half would be called reached although another class gets more votes, if the level allows that."""
    assert Calibration(1.0, 5.0).vote_for(level) == min(0.5, level)
    assert Calibration(-1.0, 0.0).vote_for(level) == 1.0
    assert Calibration().vote_for(level) == level


def test_one_class_only_leaves_votes_as_they_are():
    assert Calibration.learn(np.array([0.2, 0.9]), np.array([True, True])) == Calibration()


def test_votes_end_at_zero_and_one():
    curve = Calibration(2.0, 0.0)
    assert 0 < curve.probability(np.array([0.0]))[0] < 1e-5
    assert 1 - 1e-5 < curve.probability(np.array([1.0]))[0] < 1


def test_classes_take_calibrated_votes_and_numbers_count_rows():
    explainer = loan_explainer()
    state = explainer.fitted_
    [target] = read_targets("good", np.array(["bad"]), state.classes)
    X, _ = make_loans()
    matrix = state.forest.X[:50]
    assert uses_votes(state)
    curve = calibration_of(state, target)
    assert calibration_of(state, target) is curve
    assert curve.slope > 0
    votes = explainer.forest_.predict_proba(matrix)[:, 1]
    assert probabilities_at(state, target, matrix) == pytest.approx(curve.probability(votes))
    assert explainer.what_if(X[:50], "good").answers[0].pi == 0.8
