"""Votes of trees as probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from loans import loan_explainer, make_loans
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer
from suffice._forest.out_of_bag import Calibration, calibration_of, class_probabilities, probabilities_at, uses_votes
from suffice._forest.outcomes import read_targets
from suffice.changes import search as change_search


def test_a_known_curve_is_learnt_again():
    rng = np.random.default_rng(0)
    votes = rng.uniform(0.02, 0.98, 20_000)
    is_wanted = rng.random(20_000) < expit(1.7 * logit(votes) + 0.4)
    curve = Calibration.learn(votes, is_wanted)
    assert curve.slope == pytest.approx(1.7, abs=0.06)
    assert curve.intercept == pytest.approx(0.4, abs=0.06)
    assert curve.probability(np.array([0.3]))[0] == pytest.approx(expit(1.7 * logit(0.3) + 0.4), abs=0.02)
    assert float(curve.probability(np.array(curve.vote_for(0.9)))) == pytest.approx(0.9)


def test_fewer_rows_make_the_curve_more_cautious():
    """Where few rows have high votes, a search would find promises that nobody has seen kept."""
    rng = np.random.default_rng(0)
    votes = rng.uniform(0.02, 0.98, 20_000)
    is_wanted = rng.random(20_000) < votes
    few, many = Calibration.learn(votes[:300], is_wanted[:300]), Calibration.learn(votes, is_wanted)
    gap_of_few = expit(few.slope * logit(0.8) + few.intercept) - few.probability(np.array([0.8]))[0]
    gap_of_many = expit(many.slope * logit(0.8) + many.intercept) - many.probability(np.array([0.8]))[0]
    assert 0.002 < gap_of_many < 0.006
    assert gap_of_few == pytest.approx(gap_of_many * np.sqrt(20_000 / 300), rel=0.25)


def test_the_standard_error_is_that_of_curves_fitted_to_other_rows():
    rng = np.random.default_rng(1)
    votes = rng.uniform(0.05, 0.95, (400, 500))
    curves = [Calibration.learn(v, rng.random(500) < expit(1.2 * logit(v) - 0.3)) for v in votes]
    deviation = np.std([c.slope * logit(0.9) + c.intercept for c in curves])
    of_slope, shared, of_intercept = curves[0].variances
    stated = np.sqrt(of_slope * logit(0.9) ** 2 + 2 * shared * logit(0.9) + of_intercept)
    assert stated == pytest.approx(deviation, rel=0.15)


@pytest.mark.parametrize("level", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("n_rows", [5, 20, 100, 1000])
def test_the_least_vote_is_the_one_with_the_level(level, n_rows):
    rng = np.random.default_rng(n_rows)
    votes = rng.random(n_rows)
    curve = Calibration.learn(votes, rng.random(n_rows) < votes)
    vote = curve.vote_for(level)
    if 0.5 < vote < 0.999:
        assert float(curve.probability(np.array(vote))) == pytest.approx(level)
        assert float(curve.probability(np.array(vote - 0.01))) < level


def test_votes_that_separate_the_outcomes_give_a_steep_curve():
    """Without a prior, the slope and its variance grow beyond all bounds, and no vote was enough."""
    curve = Calibration.learn(np.repeat([0.0, 1.0], 200), np.repeat([False, True], 200))
    assert curve.slope > 1
    assert 0.5 <= curve.vote_for(0.8) < 0.95
    assert curve.probability(np.array([0.99]))[0] > 0.9


def test_votes_that_are_always_wrong_never_reach_a_level():
    curve = Calibration.learn(np.repeat([0.999, 0.001], 500), np.repeat([False, True], 500))
    assert curve.slope < 0
    assert curve.vote_for(0.8) == np.inf


def test_rows_that_every_tree_has_drawn_do_not_count():
    rng = np.random.default_rng(0)
    votes, is_wanted = rng.random(200), rng.random(200) < 0.5
    gaps = np.concatenate([votes, [np.nan] * 50])
    assert Calibration.learn(gaps, np.concatenate([is_wanted, [True] * 50])) == Calibration.learn(votes, is_wanted)


@pytest.mark.parametrize("level", [0.3, 0.8, 0.95])
def test_the_forest_predicts_the_target_where_it_is_reached(level):
    """A vote below a half would be called reached although another class gets more votes, if the level allows that."""
    assert Calibration(1.0, 5.0).vote_for(level) == min(0.5, level)
    assert Calibration(-1.0, 0.0).vote_for(level) == np.inf
    assert Calibration().vote_for(level) == level


def test_no_vote_is_enough_if_even_all_trees_together_do_not_reach_the_level():
    """Votes end at 0.999. A flat curve asked for a vote of 0.9999 there, and points with all votes were called good."""
    flat = Calibration(0.25, 0.0)
    assert float(flat.probability(np.array(1.0))) < 0.9
    assert flat.vote_for(0.9) == np.inf
    assert flat.vote_for(0.8) < 0.999


@pytest.mark.filterwarnings("ignore::suffice.errors.FidelityWarning")
def test_no_change_is_found_where_the_calibration_has_no_slope():
    """With few trees and leaves of one row the votes say little; boxes with all votes were said to reach the level."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    forest = RandomForestClassifier(10, min_samples_leaf=1, random_state=0)
    explainer = SufficientExplainer(forest, n_jobs=1).fit(X, y)
    [target] = read_targets(1, np.array([0]), explainer.fitted_.classes)
    assert calibration_of(explainer.fitted_, target).vote_for(0.8) == np.inf
    changes = explainer.what_if(X[y == 0], 1, pi=0.8)
    assert not changes.has_change.any()


def slow_probabilities(votes, out_of_bag, y, n_classes):
    """By class: a logistic curve of the vote's logit, as likely as can be before and after the rows; then shares."""

    def logits(shares):
        return logit(np.clip(shares, 1e-3, 1 - 1e-3))

    curves = []
    for k in range(n_classes):
        x, has_class = logits(out_of_bag[:, k].astype(float)), y == k

        def loss(ab, x=x, has_class=has_class):
            p = expit(ab[0] * x + ab[1])
            misfit = -np.log(np.where(has_class, p, 1 - p)).sum()
            return misfit + ((ab[0] - 1) ** 2 + ab[1] ** 2) / 2

        a, b = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
        curves.append(expit(a * logits(votes[:, k]) + b))
    p = np.column_stack(curves)
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_variables_together_are_the_calibrated_votes(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(500, 4))
    y = np.argmax(X[:, :n_classes] + rng.gumbel(size=(500, n_classes)) / 2, axis=1)
    labels = np.array(["low", "mid", "top"])[y]
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X[:300], labels[:300])
    state = explainer.fitted_
    expected = slow_probabilities(explainer.forest_.predict_proba(X[300:]), state.out_of_bag, y[:300], n_classes)
    np.testing.assert_allclose(class_probabilities(state, X[300:].astype(np.float32)), expected, atol=1e-6)
    explanations = explainer.explain(X[300:], labels[300:], sets="minimal", rules=None)
    own = [e.sdp_of_all for e in explanations]
    np.testing.assert_allclose(own, expected[np.arange(200), y[300:]], atol=1e-6)


def _two_by_product(rng, n):
    X = rng.normal(size=(n, 6))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 0.95, 0.05)


def _switch(rng, n):
    X = rng.normal(size=(n, 6))
    return X, expit(3 * np.where(X[:, 4] <= 0, X[:, 0] + X[:, 1], X[:, 2] + X[:, 3]))


@pytest.mark.parametrize("law", [_two_by_product, _switch])
def test_all_variables_together_are_right_on_a_known_law(law):
    """The share in the leaves was too low by 0.14 to 0.25: leaves mix a row with its neighbours."""
    rng = np.random.default_rng(0)
    (X, p), (fresh, truth) = law(rng, 2000), law(rng, 500)
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X, (rng.random(2000) < p).astype(int))
    explanations = explainer.explain(fresh, sets="minimal", rules=None)
    own = np.array([e.sdp_of_all for e in explanations])
    truth = np.where(explanations.outcomes == 1, truth, 1 - truth)
    assert abs(np.mean(own - truth)) < 0.03


def test_counts_of_the_paper_are_not_calibrated():
    X, y = make_loans()
    explainer = SufficientExplainer(random_state=0, n_jobs=1, counts="bootstrap").fit(X, y)
    probabilities = class_probabilities(explainer.fitted_, explainer.encode(X[:50]))
    np.testing.assert_allclose(probabilities, explainer.predict_proba(X[:50]), atol=1e-9)
    own = [e.sdp_of_all for e in explainer.explain(X[:50], y[:50], sets="minimal", rules=None)]
    np.testing.assert_allclose(own, probabilities[np.arange(50), (y[:50] == "good").astype(int)], atol=1e-9)


def test_one_class_only_leaves_votes_as_they_are():
    assert Calibration.learn(np.array([0.2, 0.9]), np.array([True, True])) == Calibration()


def test_votes_end_at_zero_and_one():
    curve = Calibration(2.0, 0.0)
    assert 0 < curve.probability(np.array([0.0]))[0] < 1e-5
    assert 1 - 1e-5 < curve.probability(np.array([1.0]))[0] < 1


def test_classes_take_calibrated_votes():
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
    mixed = probabilities_at(state, target, matrix, n_cautious=2)
    assert mixed[:2] == pytest.approx(curve.probability(votes[:2]))
    assert mixed[2:] == pytest.approx(expit(curve.slope * logit(np.clip(votes[2:], 1e-3, 1 - 1e-3)) + curve.intercept))
    assert explainer.what_if(X[:50], "good").answers[0].pi == 0.8


def test_numbers_take_calibrated_shares_of_rows(monkeypatch):
    """Leaves of a smooth law mix numbers in the target with others near it, so that shares are too small."""
    rng = np.random.default_rng(0)
    X = rng.random((1500, 3)).round(3)
    y = 10 * X[:, 0] + 4 * X[:, 1]
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X, y)
    state = explainer.fitted_
    [target] = read_targets((8.0, 11.0), np.array([0.0]), None)
    curve = calibration_of(state, target)
    assert not uses_votes(state)
    assert curve.slope > 1.5
    assert calibration_of(state, target) is curve
    points = state.forest.X[:200]
    ends = explainer.cdf(points, None, [np.nextafter(8.0, 0.0), 11.0])
    assert probabilities_at(state, target, points) == pytest.approx(curve.probability(np.diff(ends, axis=1)[:, 0]))
    fresh = rng.random((2000, 3)).astype(np.float32)
    truth = target.holds(10 * fresh[:, 0] + 4 * fresh[:, 1])
    stated = probabilities_at(state, target, fresh, n_cautious=0)
    sure = stated >= 0.8
    assert truth[sure].mean() > 0.9
    changes = explainer.what_if(fresh[~truth][:20], (8.0, 11.0), n=1)
    assert changes.has_change.mean() > 0.7
    assert all(answer.best.probability >= 0.8 for answer in changes if answer.best)
    points = np.asarray(changes.points(), dtype=float)[changes.has_change]
    assert target.holds(10 * points[:, 0] + 4 * points[:, 1]).mean() > 0.8
    monkeypatch.setattr(change_search, "calibration_of", lambda *_: Calibration(-1.0, 0.0))  # no share is enough
    fewer = explainer.what_if(fresh[~truth][:20], (8.0, 11.0), n=1)
    assert fewer.has_change.sum() < changes.has_change.sum()
    counted = SufficientExplainer(random_state=0, n_jobs=1, counts="bootstrap").fit(X, y)
    assert calibration_of(counted.fitted_, target) == Calibration()
