"""The projected forest against the oracle, on forests that scikit-learn fitted."""

from __future__ import annotations

import copy
import dataclasses
from itertools import combinations
from unittest import mock

import numpy as np
import pytest
from forests import fitted_forests
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import Oracle, trees_of
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from thoroughness import n_examples

from suffice import SufficientExplainer, _core
from suffice._forest.projection import MAX_COLUMNS, ProjectedForest

pytestmark = [
    pytest.mark.filterwarnings("ignore:The forest follows the outcomes poorly"),
    pytest.mark.filterwarnings("ignore:The variables say nothing"),
]
COUNTS = ("bootstrap", "out-of-bag", "all")
VOTERS = ("informed", "all")


def subsets(n):
    return [S for size in range(n + 1) for S in combinations(range(n), size)]


def explain_fitted(X, y, forest, **options):
    return SufficientExplainer(forest, n_jobs=1, **{"counts": "bootstrap", "min_size": 1} | options).fit(X, y)


def counts_of(forest, drawn):
    """What was drawn, if the forest leaves rows out of bag at all."""
    return drawn if forest.bootstrap or drawn == "all" else "bootstrap"


@settings(max_examples=n_examples(100), deadline=None)
@given(
    drawn=fitted_forests(task="regression", max_columns=4),
    min_node_size=st.sampled_from([1, 2, 7]),
    seed=st.integers(0, 99),
    counts=st.sampled_from(COUNTS),
    voters=st.sampled_from(VOTERS),
)
def test_a_regression_equals_the_oracle(drawn, min_node_size, seed, counts, voters):
    X, y, _, forest = drawn
    counts = counts_of(forest, counts)
    rng = np.random.default_rng(seed)
    explainer = explain_fitted(X, y, forest, min_node_size=min_node_size, alpha=0.2, counts=counts, voters=voters)
    oracle = Oracle(trees_of(forest, counts, len(X)), X, y, min_node_size, voters=voters)
    queries = X[rng.integers(len(X), size=3)]
    values, intervals = [y.min() - 1, *rng.choice(y, size=2), y.max()], explainer.interval(queries)
    for S in subsets(X.shape[1]):
        sdp, cdf = explainer.sdp(queries, S), explainer.cdf(queries, S, values)
        mean, quantile = explainer.predict(queries, S), explainer.quantile(queries, [0, 0.25, 0.5, 1], S)
        for i, x in enumerate(queries):
            low, high = intervals[i]
            if counts != "out-of-bag":
                assert (low, high) == (oracle.quantile(x, None, 0.1), oracle.quantile(x, None, 0.9))
            assert abs(sdp[i] - oracle.sdp(x, S, (low, high))) < 1e-14
            for j, value in enumerate(values):
                assert abs(cdf[i, j] - oracle.probability(x, S, y <= value)) < 1e-14
            assert mean[i] == pytest.approx(oracle.mean(x, S), rel=1e-12, abs=1e-12)
            assert quantile[i].tolist() == [oracle.quantile(x, S, level) for level in (0, 0.25, 0.5, 1)]
    np.testing.assert_array_equal(cdf[:, [0, 3]], np.tile([0.0, 1.0], (3, 1)))


@settings(max_examples=n_examples(60), deadline=None)
@given(
    drawn=fitted_forests(task="classification"),
    min_node_size=st.sampled_from([1, 2, 7]),
    seed=st.integers(0, 99),
    counts=st.sampled_from(COUNTS),
    voters=st.sampled_from(VOTERS),
)
def test_a_classification_equals_the_oracle(drawn, min_node_size, seed, counts, voters):
    X, y, _, forest = drawn
    counts = counts_of(forest, counts)
    rng = np.random.default_rng(seed)
    explainer = explain_fitted(X, y, forest, min_node_size=min_node_size, counts=counts, voters=voters)
    oracle = Oracle(trees_of(forest, counts, len(X)), X, y, min_node_size, voters=voters)
    queries = X[rng.integers(len(X), size=3)]
    labels = rng.choice(np.unique(y), size=3)
    for S in subsets(X.shape[1]):
        probability, sdp = explainer.predict_proba(queries, S), explainer.sdp(queries, S, labels)
        predicted = explainer.predict(queries, S)
        for i, x in enumerate(queries):
            exact = [oracle.sdp(x, S, label) for label in np.unique(y)]
            np.testing.assert_allclose(probability[i], np.array(exact, dtype=float), rtol=0, atol=1e-14)
            assert abs(sdp[i] - oracle.sdp(x, S, labels[i])) < 1e-14
            assert oracle.sdp(x, S, predicted[i]) >= max(exact) - 1e-12


@settings(max_examples=n_examples(60), deadline=None)
@given(drawn=fitted_forests())
def test_without_a_set_it_is_the_forest_itself(drawn):
    X, y, task, forest = drawn
    explainer = explain_fitted(X, y, forest, min_node_size=1, voters="all")
    everything = list(range(X.shape[1]))
    if task == "regression":
        np.testing.assert_array_equal(explainer.predict(X), forest.predict(X))
        np.testing.assert_allclose(explainer.predict(X, everything), forest.predict(X), rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(explainer.predict_proba(X), forest.predict_proba(X))
        np.testing.assert_array_equal(explainer.predict(X), forest.predict(X))
        np.testing.assert_allclose(explainer.predict_proba(X, everything), forest.predict_proba(X), rtol=0, atol=1e-14)


@settings(max_examples=n_examples(30), deadline=None)
@given(drawn=fitted_forests(task="regression"))
def test_the_empty_set_is_the_bootstrap_marginal(drawn):
    X, y, _, forest = drawn
    explainer = explain_fitted(X, y, forest)
    drawn_y = [y[rows] for rows in forest.estimators_samples_]
    np.testing.assert_allclose(explainer.predict(X[:2], []), np.mean([np.mean(v) for v in drawn_y]), rtol=1e-12)
    at = np.median(y)
    np.testing.assert_allclose(explainer.cdf(X[:2], [], at)[:, 0], np.mean([np.mean(v <= at) for v in drawn_y]))


def test_sdp_is_the_cdf_over_the_closed_interval():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    y = np.round(X[:, 0] + X[:, 1], 1)
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(X, y)
    explainer = explain_fitted(X, y, forest, radius=0.5)
    outcome = y[:50]
    sdp = explainer.sdp(X[:50], [0], outcome)
    low, high = explainer.interval(X[:50], outcome).T
    below = np.array([explainer.cdf(X[i : i + 1], [0], [np.nextafter(low[i], -9), high[i]])[0] for i in range(50)])
    np.testing.assert_allclose(sdp, below[:, 1] - below[:, 0], atol=1e-12)
    np.testing.assert_allclose(high - low, 1.0)


def test_a_tie_with_a_level_counts_as_reached():
    """Eight of ten rows reach the level 0.8, although eight times 0.1 add up to 0.7999999999999999."""
    X, y = np.zeros((10, 1)), np.arange(10.0)
    forest = RandomForestRegressor(1, bootstrap=False).fit(X, y)
    explainer = explain_fitted(X, y, forest)
    assert explainer.quantile(X[:1], [0.3, 0.8, 0.81]).tolist() == [[2.0, 7.0, 8.0]]


@pytest.mark.parametrize("counts", COUNTS)
def test_groups_equal_the_oracle(counts):
    rng = np.random.default_rng(0)
    season = rng.integers(4, size=400)
    X = np.column_stack([rng.normal(size=400), season == 0, season == 1, season == 2, rng.normal(size=400)])
    y = (X[:, 0] + season + rng.normal(size=400) > 1.5).astype(int)
    forest = RandomForestClassifier(5, min_samples_leaf=3, random_state=0).fit(X, y)
    groups = {"season": ["x1", "x2", "x3"]}
    explainer = explain_fitted(X, y, forest, groups=groups, counts=counts, min_node_size=3, pi=0.8, candidates="row")
    assert explainer.variable_names_ == ("x0", "season", "x4")
    oracle = Oracle(trees_of(forest, counts, len(X)), X, y, 3, groups=[(0,), (1, 2, 3), (4,)], voters="informed")
    explanations = explainer.explain(X[:30], y[:30], sets="all", levels="same")
    for S in subsets(3):
        sdp = explainer.sdp(X[:30], S, y[:30])
        for i in range(30):
            assert abs(sdp[i] - oracle.sdp(X[i], S, y[i])) < 1e-14
    for i in range(30):
        expected = oracle.sufficient_sets(X[i], y[i], range(3), 0.8)
        names = {tuple(explainer.variable_names_[v] for v in S) for S in expected}
        assert {s.variables for s in explanations[i].sufficient_sets} == names
    assert len({s.variables for e in explanations for s in e.sufficient_sets}) > 2


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("n_columns", [70, 8])
def test_sets_outside_the_candidates_and_sets_of_more_than_64_variables(n_columns, counts):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, n_columns))
    y = X[:, 0] + X[:, 1]
    forest = RandomForestRegressor(3, min_samples_leaf=2, max_features=0.2, random_state=0).fit(X, y)
    explainer = explain_fitted(X, y, forest, n_candidates=2, radius=0.7, counts=counts, min_node_size=2)
    oracle = Oracle(trees_of(forest, counts, len(X)), X, y, 2, voters="informed")
    every = tuple(range(n_columns))
    sets = [every, every[1:], (), (0,), every[:5]]
    sdp = explainer.sdp(X[:5], sets, y[:5])
    mean, median = explainer.predict(X[:5], sets), explainer.quantile(X[:5], 0.5, sets)
    for i, S in enumerate(sets):
        assert abs(sdp[i] - oracle.sdp(X[i], S, (y[i] - 0.7, y[i] + 0.7))) < 1e-14
        assert mean[i] == pytest.approx(oracle.mean(X[i], S), rel=1e-12)
        assert median[i] == oracle.quantile(X[i], S, 0.5)
    # The same sets one by one, in an order that makes the kept projection change and return.
    for i in (3, 0, 3, 4, 0):
        assert explainer.sdp(X[i : i + 1], sets[i], y[i : i + 1])[0] == sdp[i]


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_the_cells_of_a_set_are_computed_once(explainer):
    projected = copy.deepcopy(explainer).fitted_.projected
    columns, cells = projected.cells_of((2, 0), 1)
    assert columns == [0, 2]
    assert projected.cells_of((2, 0), 1)[1] is cells
    assert projected.cells_of((0,), 1)[1] is not cells
    assert len(projected.cells) == 2
    coarse = dataclasses.replace(projected, min_node_size=projected.min_node_size + 20)  # shares the cells
    assert coarse.cells_of((2, 0), 1)[1] is not cells


def test_other_candidates_have_a_projection_of_their_own(explainer):
    projected = explainer.fitted_.projected
    other = dataclasses.replace(projected, candidates=projected.candidates[::-1])
    assert other.on_candidates() is not projected.on_candidates()
    assert other.cells is projected.cells
    assert other.projections is projected.projections


def test_a_projection_is_made_by_the_first_row(explainer):
    projected = explainer.fitted_.projected
    with mock.patch.object(_core, "Projection", wraps=_core.Projection) as made:
        waiting = dataclasses.replace(projected)
        assert made.call_count == 0
        assert waiting.on_candidates() is waiting.on_candidates()
        assert made.call_count == 1
    assert waiting.on_candidates().n_bytes == projected.on_candidates().n_bytes


def test_the_number_of_threads_changes_no_bit_of_a_projection(explainer):
    fitted = explainer.fitted_
    X = fitted.forest.X[:40]
    outcomes = fitted.outcomes(X, fitted.predict(X))
    sets = [fitted.projected.candidates[: 1 + i % 3] for i in range(len(X))]
    alone, together = dataclasses.replace(fitted.projected), dataclasses.replace(fitted.projected)
    sdps = [p.sdp(X, sets, outcomes, n_threads) for p, n_threads in ((alone, 1), (together, 3))]
    np.testing.assert_array_equal(*sdps)


@pytest.mark.parametrize("n_columns", [MAX_COLUMNS, MAX_COLUMNS + 1])
def test_more_columns_than_the_core_may_take_are_projected_at_once(n_columns):
    """So that a file of such a forest is refused when it is loaded, and not at the first row."""
    forest = mock.Mock(X=np.zeros((2, n_columns), np.float32))
    with mock.patch.object(_core, "Projection") as made:
        ProjectedForest(forest, mock.Mock(), (0,), 1)
    assert made.call_count == (n_columns > MAX_COLUMNS)


@pytest.mark.parametrize("n_values", [10, 400])
def test_rows_of_many_blocks_and_columns_of_many_thresholds_equal_the_oracle(n_values):
    rng = np.random.default_rng(n_values)
    X = rng.integers(0, n_values, size=(700, 3)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:130, 0] = np.nan  # a whole block without values
    y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1], nan=9.0) % 7 + rng.normal(size=len(X))
    explainer = explain_fitted(X, y, RandomForestRegressor(5, min_samples_leaf=1, random_state=0), radius=1.0)
    oracle = Oracle(trees_of(explainer.forest_), X, y, 1, voters="informed")
    rows, sets = X[120:140:4], subsets(3)
    outcomes = explainer.outcomes(rows, y[120:140:4])
    values = explainer.fitted_.forest.y_values
    for S in sets:
        sdps = explainer.fitted_.projected.sdp(rows, [S] * len(rows), outcomes, 1)
        kept = [(values[lo], values[hi]) for lo, hi in zip(outcomes.low, outcomes.high, strict=True)]
        expected = [float(oracle.sdp(x, S, ends)) for x, ends in zip(rows, kept, strict=True)]
        np.testing.assert_allclose(sdps, expected, rtol=0, atol=1e-14)
