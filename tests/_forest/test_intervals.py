"""The intervals of numbers, against a loop over rows and trees."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracle import counted_rows
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._forest import trees
from suffice._forest.intervals import HEADROOM, OutOfBagErrors, calibrated_level
from suffice._forest.out_of_bag import sdps_of_all
from suffice._io.saved import EARLIER_ALPHA
from suffice._io.saved_parts import read_positive

RNG = np.random.default_rng(0)
X = RNG.integers(0, 5, size=(90, 3)).astype(np.float32)
Y = (X[:, 0] * 2 + X[:, 1] + RNG.normal(size=90)).round(1)


def weighted_quantile(values, weights, level):
    """The smallest value at which the share of all weights reaches a level."""
    is_enough = (weights[values <= v].sum() >= (level - 1e-6) * weights.sum() for v in np.unique(values))
    return next(v for v, enough in zip(np.unique(values), is_enough, strict=True) if enough)


def slow_errors(forest, counted):
    """By row: prediction and spread by the trees that did not draw it, without the row itself; then the distances."""
    leaves = forest.apply(X)
    trees = list(zip(forest.estimators_samples_, counted, strict=True))
    predictions, outcomes, weights, spreads, rows = [], [], [], [], []
    for i in range(len(X)):
        by_tree, said = [], []
        for t, (drawn, counted) in enumerate(trees):
            if i not in drawn:
                said.append(forest.estimators_[t].predict(X[i : i + 1])[0])
                by_tree.append([Y[j] for j in counted.tolist() if j != i and leaves[j, t] == leaves[i, t]])
        by_tree = [others for others in by_tree if others]
        if by_tree:
            y = np.array([value for others in by_tree for value in others])
            w = np.array([1 / len(others) / len(by_tree) for others in by_tree for _ in others])
            rows.append(i)
            predictions.append(np.mean(said))
            outcomes.append(y)
            weights.append(w)
            spreads.append(weighted_quantile(y, w, 0.9) - weighted_quantile(y, w, 0.1))
    spreads = np.array(spreads) + (np.median(spreads) or np.ptp(Y))  # leaves of one row have no spread
    own = sorted((Y[i] - p) / s for i, p, s in zip(rows, predictions, spreads, strict=True))
    distances = [np.abs(y - p) / s for y, p, s in zip(outcomes, predictions, spreads, strict=True)]
    return own, np.concatenate(distances), np.concatenate(weights)


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
@pytest.mark.parametrize("most", [10, 10_000])
def test_errors_are_those_of_the_trees_that_did_not_draw_the_row_without_the_row(forest, most, monkeypatch):
    """On large tables, only trees that also counted the row were asked: so few that intervals were too wide."""
    monkeypatch.setattr(trees, "MOST_COUNTED", most)
    explainer = SufficientExplainer(forest.fit(X, Y)).fit(X, Y)
    errors = explainer.fitted_.errors
    counted = list(counted_rows(forest, "out-of-bag", len(X)))
    if most == 10:
        counted = [tree.rows for tree in explainer.fitted_.forest.trees]
        assert {len(rows) for rows in counted} == {10}
    own, distances, weights = slow_errors(forest, counted)
    np.testing.assert_allclose(errors.own, own, atol=1e-6)
    assert most == 10 or (len(own) == len(X)) == (len(forest) > 2)
    for level in (0.25, 0.5, 0.9, 1.0):
        expected = weighted_quantile(distances, weights, level)
        near = errors.near[int(1000 * level) - 1], errors.near[min(int(1000 * level) + 1, 1000)]
        assert near[0] - 1e-6 <= expected <= near[1] + 1e-6


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.25, 0.5, 0.99])
@pytest.mark.parametrize("n", [3, 9, 10, 99])
def test_the_factor_holds_as_many_errors_as_a_conformal_interval(n, alpha):
    errors = OutOfBagErrors(np.sort(np.random.default_rng(n).normal(size=n)), np.zeros(1001), 1.0)
    factor = errors.factor(alpha, 0.9)
    m = math.ceil((1 - alpha) * (n + 1) - 1e-9)
    assert factor == (np.inf if m > n else np.sort(np.abs(errors.own))[m - 1])
    assert errors.share_within(factor) == min(m, n) / n


def test_the_default_is_as_wide_as_sets_need_it_and_a_number_is_taken_as_it_is():
    """`alpha=0.1` gave the interval of 0.05 where leaves spread more than outcomes given all variables do."""
    errors = OutOfBagErrors(np.linspace(-1, 1, 999), np.linspace(0, 4, 1001), 1.0)
    assert errors.factor(None, 0.9) == pytest.approx(4 * (1 - HEADROOM * 0.1))
    assert errors.factor(0.05, 0.9) == pytest.approx(0.95, abs=0.01)
    assert errors.factor(0.1, 0.9) == pytest.approx(0.9, abs=0.01)
    narrow = replace(errors, near=np.zeros(1001))
    assert narrow.factor(None, 0.9) == narrow.factor(0.1, 0.9)
    assert narrow.factor(None, 0.9, 0.05) == narrow.factor(0.05, 0.9)


def smooth_law(rng, n, noise=1.0):
    table = rng.normal(size=(n, 3))
    return table, 2 * table[:, 0] + noise * rng.normal(size=n) * (1 + (table[:, 1] > 0))


def test_intervals_cover_fresh_rows_as_often_as_they_say():
    rng = np.random.default_rng(1)
    (table, y), (fresh, truth) = smooth_law(rng, 1500), smooth_law(rng, 1500)
    forest = RandomForestRegressor(60, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest).fit(table, y)
    widths = []
    for alpha in (0.05, 0.1, 0.3):
        changed = explainer.with_settings(alpha=alpha)
        low, high = changed.interval(fresh).T
        assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(1 - alpha, abs=0.03)
        assert changed.fitted_.interval_share == pytest.approx(1 - alpha, abs=0.002)
        own = [e.sdp_of_all for e in changed.explain(fresh[:50], sets="minimal", rules=None)]
        np.testing.assert_allclose(own, 1 - alpha, atol=0.02)
        widths.append(np.mean(high - low))
    assert widths == sorted(widths, reverse=True)
    wide = np.ptp(explainer.interval(fresh), axis=1)
    assert wide[fresh[:, 1] > 0.5].mean() > 1.1 * wide[fresh[:, 1] < -0.5].mean()


def test_the_default_covers_more_where_there_is_little_noise():
    rng = np.random.default_rng(2)
    table, y = smooth_law(rng, 1500, noise=0.05)
    explainer = SufficientExplainer(pi=0.9, random_state=0, n_jobs=1).fit(table, y)
    explanations = explainer.explain(table[:30], sets="minimal", rules=None)
    assert explainer.fitted_.interval_share > 0.97
    assert explanations.has_set.mean() > 0.5
    assert explainer.explain(table[:30], sets="minimal", rules=None, alpha=0.05).has_set.mean() < 0.5


def test_the_probability_of_any_interval_is_right_on_a_known_law():
    """The share in the leaves was too low by 0.23 for intervals around the prediction: leaves mix neighbours."""
    rng = np.random.default_rng(3)
    table, fresh = rng.normal(size=(1000, 6)), rng.normal(size=(300, 6))
    y = table[:, :3].sum(axis=1) + 0.2 * rng.normal(size=1000)
    explainer = SufficientExplainer(random_state=0, n_jobs=1, radius=0.8).fit(table, y)
    explanations = explainer.explain(fresh, sets="minimal", rules=None)
    again = fresh[:, :3].sum(axis=1) + 0.2 * rng.normal(size=(2000, 300))
    low, high = explanations.intervals.T
    truth = np.mean((low <= again) & (again <= high), axis=0)
    assert abs(np.mean(explanations.answers.sdps_of_all - truth)) < 0.03


def test_what_lies_beyond_all_training_outcomes_belongs_to_an_interval_that_ends_with_them():
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X, Y)
    state = replace(explainer.fitted_, errors=OutOfBagErrors(np.linspace(-9, 9, 99), np.full(1001, 50.0), 1.0))
    outcomes = state.outcomes(X[:5], Y[:5].astype(float))
    assert outcomes.intervals.tolist() == [[Y.min(), Y.max()]] * 5
    assert sdps_of_all(state, X[:5], outcomes).tolist() == [1.0] * 5


def test_errors_survive_a_file(tmp_path):
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X, Y)
    explainer.save(tmp_path / "a.suffice")
    loaded = SufficientExplainer.load(tmp_path / "a.suffice")
    assert np.array_equal(loaded.interval(X), explainer.interval(X))
    assert loaded.fitted_.interval_scores is None


def test_a_file_of_before_keeps_its_intervals():
    """Until version 0.2 the ends were quantiles of leaves at a calibrated level, and a level above 1 - pi was cut."""
    state = SufficientExplainer(random_state=0, n_jobs=1, alpha=0.05, pi=0.9).fit(X, Y).fitted_
    for scores, level in ((np.linspace(0, 1, 99), 4 / 98), (np.linspace(0.5, 1, 99), 0.1)):
        old = replace(state, errors=None, interval_scores=scores)
        expected = state.projected.quantiles(X, None, np.array([level / 2, 1 - level / 2]), 1)
        np.testing.assert_allclose(old.outcomes(X, Y).intervals, expected)


def test_a_file_that_does_not_state_its_default_alpha_has_that_of_before(tmp_path):
    """Until numbers got a level of their own, alpha=None meant 0.05, and files did not say so."""
    explainer = SufficientExplainer(random_state=0, n_jobs=1, pi=0.9).fit(X, Y)
    path = tmp_path / "a.suffice"
    explainer.save(path)
    assert SufficientExplainer.load(path).fitted_.default_alpha == 0.1
    before = SufficientExplainer.load(Path(__file__).parents[1] / "data" / "format_3_numbers.suffice").fitted_
    assert before.default_alpha == EARLIER_ALPHA == 0.05
    with pytest.raises(ValueError, match="invalid default_alpha: 2"):
        read_positive(2, "default_alpha", 1.0)
    state = explainer.fitted_
    for errors in (None, replace(state.errors, near=np.zeros(1001))):
        for default in (0.1, 0.05):
            unset = replace(state, errors=errors, default_alpha=default)
            chosen = unset.with_changes({"alpha": default})
            assert unset.interval_share == chosen.interval_share
            assert np.array_equal(unset.outcomes(X, Y).intervals, chosen.outcomes(X, Y).intervals)


def test_classes_have_no_errors():
    assert SufficientExplainer(random_state=0).fit(X, Y > 6).fitted_.errors is None
    assert SufficientExplainer(random_state=0, counts="bootstrap").fit(X, Y).fitted_.errors is None


def test_few_rows_are_measured_if_there_are_many(monkeypatch):
    monkeypatch.setattr(trees, "N_MEASURED", 40)
    state = SufficientExplainer(random_state=0, n_jobs=1).fit(X, Y).fitted_
    assert len(state.errors.own) == 40


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


def test_a_level_lies_between_zero_and_one():
    assert calibrated_level(np.array([-0.2] * 20), 0.1) == 0
    assert calibrated_level(np.array([1.8] * 20), 0.1) == 1
    assert calibrated_level(np.zeros(0), 0.9) == 0
