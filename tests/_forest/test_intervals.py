"""The level of the quantiles between which a number is kept, against a loop over rows and trees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracle import counted_rows
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._forest import fitted as intervals
from suffice._forest.fitted import calibrated_level, out_of_bag_scores
from suffice._forest.trees import rows_out_of_bag

RNG = np.random.default_rng(0)
X = RNG.integers(0, 5, size=(90, 3)).astype(np.float32)
Y = (X[:, 0] * 2 + X[:, 1] + RNG.normal(size=90)).round(1)


def slow_scores(forest, counts, rows):
    """By row: the mean, over the trees that did not draw it, of the CDF of the other counted rows in its leaf."""
    leaves = forest.apply(X)
    trees = list(zip(forest.estimators_samples_, counted_rows(forest, counts, len(X)), strict=True))
    scores = []
    for i in rows:
        below, up_to = [], []
        for t, (drawn, counted) in enumerate(trees):
            if i in drawn:
                continue
            others = [j for j in counted.tolist() if j != i and leaves[j, t] == leaves[i, t]]
            if others:
                below.append(np.mean([Y[j] < Y[i] for j in others]))
                up_to.append(np.mean([Y[j] <= Y[i] for j in others]))
        if below:
            scores.append(2 * min(np.mean(up_to), 1 - np.mean(below)))
    return sorted(scores)


@pytest.mark.parametrize("counts", ["out-of-bag", "bootstrap"])
@pytest.mark.parametrize(
    "forest",
    [
        RandomForestRegressor(12, min_samples_leaf=4, random_state=1),
        RandomForestRegressor(2, min_samples_leaf=1, random_state=1),  # many rows have no tree or no other row
        ExtraTreesRegressor(8, min_samples_leaf=6, bootstrap=True, max_samples=0.4, random_state=2),
    ],
    ids=["forest", "two trees", "extra trees"],
)
@pytest.mark.filterwarnings("ignore::suffice.errors.FidelityWarning")
def test_scores_are_those_of_the_trees_that_did_not_draw_the_row_without_the_row(forest, counts):
    forest = forest.fit(X, Y)
    fitted = SufficientExplainer(forest, counts=counts).fit(X, Y).fitted_
    scores = out_of_bag_scores(fitted.forest, rows_out_of_bag(forest, len(X), np.arange(len(X))), 2)
    np.testing.assert_allclose(scores, slow_scores(forest, counts, range(len(X))), atol=1e-12)
    assert len(scores) == len(X) if len(forest) > 2 else len(scores) < len(X)
    if counts == "out-of-bag":
        np.testing.assert_array_equal(fitted.interval_scores, scores)
    else:
        assert fitted.interval_scores is None


def test_the_scores_are_those_of_the_first_rows_if_there_are_many(monkeypatch):
    monkeypatch.setattr(intervals, "N_AT_ONCE", 40)
    forest = RandomForestRegressor(12, min_samples_leaf=4, random_state=1).fit(X, Y)
    fitted = SufficientExplainer(forest).fit(X, Y).fitted_
    np.testing.assert_allclose(fitted.interval_scores, slow_scores(forest, "out-of-bag", range(40)), atol=1e-12)


def test_classes_have_no_scores():
    assert SufficientExplainer(random_state=0).fit(X, Y > 6).fitted_.interval_scores is None


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.25, 0.5, 0.99])
@pytest.mark.parametrize("n", [3, 9, 10, 99])
def test_the_level_leaves_a_share_of_alpha_of_the_scores_and_one_more_outside(n, alpha):
    scores = np.sort(np.random.default_rng(n).random(n))
    level = calibrated_level(scores, alpha)
    n_outside = math.floor(alpha * (n + 1))
    if n_outside == 0:
        assert level == 0
    else:
        # An interval at this level holds the outcomes whose score is at least the level.
        assert np.count_nonzero(scores < level) == n_outside - 1
        assert 0 < scores[n_outside - 1] - level < 1e-8


def test_the_level_lies_below_the_step_that_an_interval_must_still_hold():
    # Two rows in one leaf, 1 and 2: below the 2 lies half of it. At the level 1 the upper end would be the 1.
    assert 0 < 1 - calibrated_level(np.ones(20), 0.1) < 1e-8


def test_a_level_lies_between_zero_and_one():
    assert calibrated_level(np.array([-0.2] * 20), 0.1) == 0
    assert calibrated_level(np.array([1.8] * 20), 0.1) == 1
    assert calibrated_level(np.zeros(0), 0.9) == 0


def test_intervals_cover_fresh_rows_as_often_as_they_say():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(3000, 3))
    y = 2 * table[:, 0] + rng.normal(size=3000) * (1 + (table[:, 1] > 0))
    forest = RandomForestRegressor(60, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest).fit(table[:1500], y[:1500])
    for alpha in (0.1, 0.3):
        low, high = explainer.with_settings(alpha=alpha, pi=0.3).interval(table[1500:]).T
        assert np.mean((low <= y[1500:]) & (y[1500:] <= high)) == pytest.approx(1 - alpha, abs=0.03)
