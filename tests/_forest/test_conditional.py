"""Estimates of the forest when only some variables are known: probabilities, predictions, quantiles, intervals."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.metrics import accuracy_score, r2_score
from small_explainers import CLASSES, N_ROWS, NUMBERS, ROWS, X, classifier, regressor

from suffice import SufficientExplainer


def test_names_and_positions_mean_the_same(explainer):
    by_position = explainer.sdp(ROWS, [2, 0])
    np.testing.assert_array_equal(explainer.sdp(ROWS, ["x0", "x2"]), by_position)
    np.testing.assert_array_equal(explainer.sdp(ROWS, {"x2", 0}), by_position)
    np.testing.assert_array_equal(explainer.sdp(ROWS, np.array([0, 2])), by_position)


SETS = [[], [0], ["x3", "x1"], [4], [0, 1, 2, 3, 4], ["x2"]] * 2


def test_one_set_per_row_equals_calls_row_by_row(explainer):
    def ask(rows, S):
        if explainer.task_ == "classification":
            return [explainer.sdp(rows, S), explainer.predict(rows, S), explainer.predict_proba(rows, S)]
        quantiles = explainer.quantile(rows, [0.2, 0.7], S)
        return [explainer.sdp(rows, S), explainer.predict(rows, S), explainer.cdf(rows, S, [5, 20]), quantiles]

    together = ask(ROWS, SETS)
    alone = [ask(ROWS[[i]], S) for i, S in enumerate(SETS)]
    for j, array in enumerate(together):
        np.testing.assert_array_equal(array, np.concatenate([a[j] for a in alone]))


WIDE = np.random.default_rng(0).integers(0, 4, size=(200, 80)).astype(float)
WIDE_Y = WIDE[:, :3].sum(axis=1) + WIDE[:, 70:].sum(axis=1) / 4


@pytest.fixture(scope="module")
def wide():
    forest = ExtraTreesRegressor(n_estimators=10, bootstrap=True, random_state=0)
    return SufficientExplainer(forest, counts="bootstrap").fit(WIDE, WIDE_Y)


@pytest.mark.parametrize("ask", ["sdp", "predict", "cdf", "quantile"])
def test_a_set_may_have_more_than_64_variables(wide, ask):
    def answer(rows, S):
        arguments = {"cdf": {"values": [5, 9]}, "quantile": {"levels": [0.1, 0.5]}}.get(ask, {})
        return getattr(wide, ask)(rows, S=S, **arguments)

    rows, all_80, first_70 = WIDE[:10], list(range(80)), list(range(70))
    np.testing.assert_array_equal(answer(rows, [all_80] * 10), answer(rows, all_80))
    if ask != "sdp":
        np.testing.assert_allclose(answer(rows, all_80), answer(rows, None))
    mixed = [all_80, first_70, [0, 79], [], first_70] * 2
    by_row = np.concatenate([answer(rows[[i]], S) for i, S in enumerate(mixed)])
    np.testing.assert_array_equal(answer(rows, mixed), by_row)
    assert (answer(rows, all_80) != answer(rows, first_70)).any()


def test_a_large_set_is_projected_like_a_small_one():
    """Variables without a split change nothing, so 64 and more of them can be added to a set."""
    X = np.c_[WIDE[:, :5], np.zeros((200, 70))]
    forest = RandomForestRegressor(n_estimators=10, random_state=0)
    explainer = SufficientExplainer(forest).fit(X, WIDE_Y)
    large = [0, 2, *range(5, 75)]
    np.testing.assert_array_equal(explainer.sdp(X[:20], large), explainer.sdp(X[:20], [0, 2]))
    np.testing.assert_array_equal(explainer.predict(X[:20], large), explainer.predict(X[:20], [0, 2]))


def test_without_a_set_predictions_are_those_of_the_forest(of_classes, of_numbers):
    np.testing.assert_array_equal(of_classes.predict(X), of_classes.forest_.predict(X))
    np.testing.assert_array_equal(of_classes.predict_proba(X), of_classes.forest_.predict_proba(X))
    np.testing.assert_array_equal(of_numbers.predict(X), of_numbers.forest_.predict(X))


def test_all_variables_together_predict_otherwise_than_the_forest_if_rows_out_of_bag_are_counted():
    """The forest predicts by the rows that it drew, the projected forest by those that it did not."""
    explainer = classifier(counts="out-of-bag").fit(X, CLASSES)
    np.testing.assert_array_equal(explainer.predict_proba(X), explainer.forest_.predict_proba(X))
    assert np.abs(explainer.predict_proba(X, NAMES_OF_COLUMNS) - explainer.predict_proba(X)).max() > 0.1


def test_all_variables_together_predict_as_the_forest(of_classes, of_numbers):
    np.testing.assert_allclose(of_classes.predict_proba(X, NAMES_OF_COLUMNS), of_classes.predict_proba(X))
    np.testing.assert_allclose(of_numbers.predict(X, NAMES_OF_COLUMNS), of_numbers.predict(X))
    values = np.quantile(NUMBERS, [0.1, 0.4, 0.8])
    np.testing.assert_allclose(of_numbers.cdf(X, NAMES_OF_COLUMNS, values), of_numbers.cdf(X, None, values))
    np.testing.assert_array_equal(of_numbers.quantile(X, 0.3, NAMES_OF_COLUMNS), of_numbers.quantile(X, 0.3))


NAMES_OF_COLUMNS = ["x0", "x1", "x2", "x3", "x4"]


def test_score_is_that_of_the_predictions(of_classes, of_numbers):
    y = CLASSES[::-1]
    assert of_classes.score(X, y) == accuracy_score(y, of_classes.predict(X))
    assert of_numbers.score(X, NUMBERS[::-1]) == r2_score(NUMBERS[::-1], of_numbers.predict(X))


def test_the_probabilities_of_all_classes_are_one(of_classes):
    probabilities = of_classes.predict_proba(ROWS, ["x0"])
    assert probabilities.shape == (12, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    labels = of_classes.classes_[probabilities.argmax(axis=1)]
    np.testing.assert_array_equal(of_classes.predict(ROWS, ["x0"]), labels)


def test_the_sdp_of_a_class_is_its_probability(of_classes):
    for rank, label in enumerate(of_classes.classes_):
        sdp = of_classes.sdp(ROWS, [0, 1], [label] * 12)
        np.testing.assert_allclose(sdp, of_classes.predict_proba(ROWS, [0, 1])[:, rank])


def test_the_sdp_of_a_number_is_the_probability_of_its_interval(of_numbers):
    low, high = of_numbers.interval(ROWS).T
    below, up_to = np.nextafter(low, -np.inf), high
    for i, row in enumerate(ROWS):
        cdf = of_numbers.cdf([row], [0, 1], [below[i], up_to[i]])[0]
        assert of_numbers.sdp([row], [0, 1])[0] == pytest.approx(cdf[1] - cdf[0])


def test_the_cdf_follows_the_order_of_the_values(of_numbers):
    values = np.array([30.0, -5.0, 12.0, 12.0, 100.0])
    cdf = of_numbers.cdf(ROWS, ["x0"], values)
    assert cdf.shape == (12, 5)
    np.testing.assert_array_equal(cdf[:, [1, 2, 3, 0, 4]], of_numbers.cdf(ROWS, ["x0"], np.sort(values)))
    np.testing.assert_allclose(cdf[:, 4], 1)
    np.testing.assert_array_equal(cdf[:, 1], 0)
    np.testing.assert_array_equal(of_numbers.cdf(ROWS, ["x0"], 12.0), cdf[:, [2]])


@pytest.mark.parametrize("S", [None, [0], []])
def test_a_quantile_is_the_smallest_outcome_whose_cdf_reaches_the_level(of_numbers, S):
    levels, outcomes = [0.9, 0.05, 0.5, 1.0], np.unique(NUMBERS)
    quantiles = of_numbers.quantile(ROWS, levels, S)
    cdf = of_numbers.cdf(ROWS, S, outcomes)
    for j, level in enumerate(levels):
        first = (cdf >= level - 1e-9).argmax(axis=1)
        np.testing.assert_array_equal(quantiles[:, j], outcomes[first])
    np.testing.assert_array_equal(of_numbers.quantile(ROWS, 0.5, S), quantiles[:, 2])


def test_the_interval_is_between_quantiles_of_the_forest(of_numbers):
    np.testing.assert_array_equal(of_numbers.interval(ROWS), of_numbers.quantile(ROWS, [0.05, 0.95]))
    np.testing.assert_array_equal(of_numbers.interval(ROWS, NUMBERS[:12]), of_numbers.interval(ROWS))
    wider = copy.deepcopy(of_numbers).set_params(alpha=0.02)
    np.testing.assert_array_equal(wider.interval(ROWS), wider.quantile(ROWS, [0.01, 0.99]))
    assert [e.interval for e in wider.explain(ROWS)] == [tuple(i) for i in wider.interval(ROWS).tolist()]


def test_a_radius_sets_the_interval_around_the_outcome(of_numbers):
    explainer = copy.deepcopy(of_numbers).set_params(radius=1.5)
    y = NUMBERS[:12] + 0.5
    intervals = explainer.interval(ROWS, y)
    np.testing.assert_array_equal(intervals, np.c_[y - 1.5, y + 1.5])
    for i, (low, high) in enumerate(intervals):
        cdf = explainer.cdf(ROWS[[i]], [0], [np.nextafter(low, -np.inf), high])[0]
        assert explainer.sdp(ROWS[[i]], [0], y[[i]])[0] == pytest.approx(cdf[1] - cdf[0])


def test_an_interval_without_a_training_outcome_has_no_probability(of_numbers):
    explainer = copy.deepcopy(of_numbers).set_params(radius=0.0)
    between = np.mean(np.unique(NUMBERS)[70:72])
    for y in (between, NUMBERS.min() - 10, NUMBERS.max() + 10):
        np.testing.assert_array_equal(explainer.sdp(ROWS, [0], [y] * 12), 0)
        assert not any(e.is_sufficient for e in explainer.explain(ROWS, [y] * 12))


def test_a_large_cell_keeps_the_marginal_distribution():
    explainer = regressor(min_node_size=N_ROWS).fit(X, NUMBERS)
    np.testing.assert_array_equal(explainer.predict(ROWS, [0, 1]), explainer.predict(ROWS, []))
    assert (explainer.predict(ROWS, [0, 1]) != regressor().fit(X, NUMBERS).predict(ROWS, [0, 1])).all()
