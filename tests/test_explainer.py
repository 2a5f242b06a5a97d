"""What SufficientExplainer answers. Bad input is in test_explainer_input.py, forests in test_forest.py."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score, r2_score

from suffice import FidelityWarning, SearchSizeWarning, SufficientExplainer

NAMES = ["speed", "load", "hue", "day", "dust"]
N_ROWS = 150


def data():
    """Whole numbers, so that ties happen; the last column is constant."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(N_ROWS, 5)).astype(float)
    X[:, 4] = 1
    y = 5 * X[:, 0] + 3 * X[:, 1] * (X[:, 2] > 2) + rng.normal(size=N_ROWS)
    return X, y


X, NUMBERS = data()
CLASSES = np.digitize(NUMBERS, [12, 24])
FRAME = pd.DataFrame(X, columns=NAMES)
ROWS = X[:12]


def classifier(**options):
    return SufficientExplainer(RandomForestClassifier(n_estimators=15, random_state=0), **options)


def regressor(**options):
    return SufficientExplainer(RandomForestRegressor(n_estimators=15, min_samples_leaf=3, random_state=0), **options)


@pytest.fixture(scope="module")
def of_classes():
    return classifier().fit(X, CLASSES)


@pytest.fixture(scope="module")
def of_numbers():
    return regressor().fit(X, NUMBERS)


@pytest.fixture(scope="module", params=["of_classes", "of_numbers"])
def explainer(request):
    return request.getfixturevalue(request.param)


def answers(explainer, rows=ROWS):
    """Everything that an explainer can be asked, as plain values."""
    told = [explainer.explain(rows).to_dict(), explainer.explain(rows, sets="minimal").to_dict()]
    arrays = [explainer.sdp(rows, [0, 2]), explainer.predict(rows), explainer.predict(rows, [1])]
    if explainer.task_ == "classification":
        arrays += [explainer.predict_proba(rows), explainer.predict_proba(rows, [1])]
    else:
        arrays += [
            explainer.cdf(rows, [0], [5, 20]),
            explainer.quantile(rows, [0.1, 0.9], [0]),
            explainer.interval(rows),
        ]
    return told + [a.tolist() for a in arrays]


# --- sets ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sets", ["all", "minimal"])
@pytest.mark.parametrize("options", [{}, {"min_size": 0}, {"max_size": 1}, {"min_size": 2, "pi": 0.6}, {"pi": 1.0}])
def test_explanations_are_what_a_search_by_sdp_finds(explainer, options, sets):
    explainer = copy.deepcopy(explainer).set_params(**options)
    names, pi = explainer.candidates_, explainer.pi
    sizes = range(explainer.min_size, (explainer.max_size or len(names)) + 1)
    every = list(chain.from_iterable(combinations(names, size) for size in sizes))
    sdps = np.array([explainer.sdp(ROWS, S) for S in every])
    for i, explanation in enumerate(explainer.explain(ROWS, sets=sets)):
        enough = {frozenset(S): sdp for S, sdp in zip(every, sdps[:, i], strict=True) if sdp >= pi}
        enough = {S: sdp for S, sdp in enough.items() if not any(T < S for T in enough)}
        if sets == "minimal":
            enough = {S: sdp for S, sdp in enough.items() if len(S) == min(map(len, enough))}
        found = {frozenset(s.variables): s.sdp for s in explanation.sufficient_sets}
        assert found == pytest.approx(enough)
        assert explanation.is_sufficient == bool(enough)
        order = [(len(s.variables), -s.sdp) for s in explanation.sufficient_sets]
        assert order == sorted(order)
        if not enough:
            assert explanation.best_set.sdp == pytest.approx(sdps[:, i].max())


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
    return SufficientExplainer(forest).fit(WIDE, WIDE_Y)


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


# --- predictions -----------------------------------------------------------------------------------------------------


def test_without_a_set_predictions_are_those_of_the_forest(of_classes, of_numbers):
    np.testing.assert_array_equal(of_classes.predict(X), of_classes.forest_.predict(X))
    np.testing.assert_array_equal(of_classes.predict_proba(X), of_classes.forest_.predict_proba(X))
    np.testing.assert_array_equal(of_numbers.predict(X), of_numbers.forest_.predict(X))


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


# --- outcomes --------------------------------------------------------------------------------------------------------


def test_without_outcomes_the_predictions_are_explained(explainer):
    predicted = explainer.predict(ROWS)
    assert list(explainer.explain(ROWS)) == list(explainer.explain(ROWS, predicted))
    np.testing.assert_array_equal(explainer.sdp(ROWS, [0]), explainer.sdp(ROWS, [0], predicted))
    assert [e.outcome for e in explainer.explain(ROWS)] == predicted.tolist()


def test_without_outcomes_the_radius_is_around_the_predictions(of_numbers):
    explainer = copy.deepcopy(of_numbers).set_params(radius=9.0)
    predicted = explainer.predict(ROWS)
    np.testing.assert_array_equal(explainer.interval(ROWS), np.c_[predicted - 3, predicted + 3])
    assert list(explainer.explain(ROWS)) == list(explainer.explain(ROWS, predicted))


def test_the_interval_is_between_quantiles_of_the_forest(of_numbers):
    np.testing.assert_array_equal(of_numbers.interval(ROWS), of_numbers.quantile(ROWS, [0.05, 0.95]))
    np.testing.assert_array_equal(of_numbers.interval(ROWS, NUMBERS[:12]), of_numbers.interval(ROWS))
    wider = copy.deepcopy(of_numbers).set_params(alpha=0.02)
    np.testing.assert_array_equal(wider.interval(ROWS), wider.quantile(ROWS, [0.01, 0.99]))
    assert [e.interval for e in wider.explain(ROWS)] == [tuple(i) for i in wider.interval(ROWS).tolist()]


def test_a_radius_sets_the_interval_around_the_outcome(of_numbers):
    explainer = copy.deepcopy(of_numbers).set_params(radius=2.25)
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


LABELS = [
    np.array([0, 1, 2]),
    np.array([-3, 0, 7], dtype=np.int8),
    np.array([2, 5, 9], dtype=np.uint64),
    np.array([0.0, 1.0, 2.0]),
    np.array(["low", "mid", "top"]),
    np.array(["low", "mid", "top"], dtype=object),
    np.array([False, False, True]),
    np.array([False, False, True], dtype=object),
]


@pytest.mark.parametrize(
    "wrap", [np.asarray, list, pd.Series, lambda y: pd.Series(y, index=range(7, 157)).astype("category")]
)
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_any_kind_are_explained_alike(labels, wrap):
    y = labels[CLASSES]
    explainer = classifier().fit(X, wrap(y))
    assert explainer.task_ == "classification"
    assert explainer.classes_.tolist() == sorted(set(labels.tolist()))
    explanations = explainer.explain(ROWS, wrap(y)[:12])
    assert [e.outcome for e in explanations] == y[:12].tolist()
    assert [type(e.outcome) for e in explanations] == [type(label) for label in y[:12].tolist()]
    ranks = (
        np.unique(y.astype(str), return_inverse=True)[1]
        if labels.dtype.kind in "UO"
        else np.unique(y, return_inverse=True)[1]
    )
    np.testing.assert_array_equal(
        explainer.sdp(ROWS, [0], wrap(y)[:12]), classifier().fit(X, ranks).sdp(ROWS, [0], ranks[:12])
    )


# --- parameters ------------------------------------------------------------------------------------------------------


def test_parameters_set_after_fit_take_effect(explainer):
    explainer = copy.deepcopy(explainer)
    for options in ({"pi": 0.5}, {"pi": 0.99}, {"max_size": 1}, {"max_size": None, "min_size": 3}):
        explainer.set_params(**options)
        fitted_so = clone(explainer).fit(X, CLASSES if explainer.task_ == "classification" else NUMBERS)
        assert list(explainer.explain(ROWS)) == list(fitted_so.explain(ROWS))
        assert explainer.explain(ROWS).pi == explainer.pi


def test_wrong_parameters_set_after_fit_are_refused(explainer):
    with pytest.raises(ValueError, match=r"`pi` must be in \(0, 1\], got 2."):
        copy.deepcopy(explainer).set_params(pi=2).explain(ROWS)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1, -2, -100, None])
def test_the_number_of_threads_changes_nothing(explainer, n_jobs):
    y = CLASSES if explainer.task_ == "classification" else NUMBERS
    assert answers(clone(explainer).set_params(n_jobs=n_jobs).fit(X, y)) == answers(explainer)


@pytest.mark.parametrize(("leaf", "least"), [(1, 1), (4, 4), (0.05, 8)])
def test_cells_are_as_large_as_leaves_unless_told_otherwise(leaf, least):
    forest = RandomForestRegressor(n_estimators=5, min_samples_leaf=leaf, random_state=0)
    assert SufficientExplainer(forest).fit(X, NUMBERS).min_node_size_ == least
    assert SufficientExplainer(forest, min_node_size=30).fit(X, NUMBERS).min_node_size_ == 30


def test_a_large_cell_keeps_the_marginal_distribution():
    explainer = regressor(min_node_size=N_ROWS).fit(X, NUMBERS)
    np.testing.assert_array_equal(explainer.predict(ROWS, [0, 1]), explainer.predict(ROWS, []))
    assert (explainer.predict(ROWS, [0, 1]) != regressor().fit(X, NUMBERS).predict(ROWS, [0, 1])).all()


# --- names and groups ------------------------------------------------------------------------------------------------


def test_columns_of_an_array_are_numbered(of_classes):
    assert of_classes.variable_names_ == ("x0", "x1", "x2", "x3", "x4")
    assert not hasattr(of_classes, "feature_names_in_")
    assert of_classes.n_features_in_ == 5


@pytest.mark.parametrize("frame", [FRAME, pytest.importorskip("polars").from_pandas(FRAME)])
def test_columns_of_a_frame_keep_their_names(frame, of_classes):
    explainer = classifier().fit(frame, CLASSES)
    assert explainer.variable_names_ == tuple(NAMES)
    assert list(explainer.feature_names_in_) == NAMES
    rows = frame[:12]
    np.testing.assert_array_equal(explainer.sdp(rows, ["hue", "speed"]), of_classes.sdp(ROWS, [0, 2]))
    for named, numbered in zip(explainer.explain(rows), of_classes.explain(ROWS), strict=True):
        assert [name for name, _ in named.values] == NAMES
        as_numbered = [f"x{NAMES.index(name)}" for name in named.best_set.variables]
        assert as_numbered == list(numbered.best_set.variables)


GROUPS = {"look": ["day", "hue"]}


def test_a_group_is_one_variable(of_classes):
    explainer = classifier(groups=GROUPS).fit(FRAME, CLASSES)
    assert explainer.variable_names_ == ("speed", "load", "look", "dust")
    assert set(explainer.candidates_) == {"speed", "load", "look"}
    np.testing.assert_array_equal(explainer.sdp(FRAME, ["look", "load"]), of_classes.sdp(X, [1, 2, 3]))
    np.testing.assert_array_equal(explainer.sdp(FRAME, [2, 1]), of_classes.sdp(X, [1, 2, 3]))
    values = dict(explainer.explain(FRAME[:1])[0].values)
    assert values["look"] == (("hue", X[0, 2]), ("day", X[0, 3]))


def test_a_group_of_columns_is_searched_as_one():
    explanations = regressor(groups=GROUPS, pi=0.7).fit(FRAME, NUMBERS).explain(FRAME[:40])
    held = {name for e in explanations for s in e.sufficient_sets for name in s.variables}
    assert "look" in held
    assert held <= {"speed", "load", "look"}


def test_a_group_by_position_is_the_group_by_name():
    by_name, by_position = (classifier(groups=g).fit(FRAME, CLASSES) for g in (GROUPS, {"look": (2, 3)}))
    assert list(by_name.explain(FRAME[:12])) == list(by_position.explain(FRAME[:12]))


def test_missing_values_are_explained():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    explainer = classifier().fit(holes, CLASSES)
    np.testing.assert_array_equal(explainer.predict_proba(holes), explainer.forest_.predict_proba(holes))
    np.testing.assert_allclose(explainer.predict_proba(holes, range(5)), explainer.predict_proba(holes))
    assert len(explainer.explain(holes[:12])) == 12


# --- candidates ------------------------------------------------------------------------------------------------------


def ranking(importance, variables=range(5)):
    return tuple(sorted(variables, key=lambda v: (-importance[v], v)))


def test_candidates_are_the_variables_with_most_splits(explainer):
    splits = np.zeros(5)
    for tree in explainer.forest_.estimators_:
        for node in range(tree.tree_.node_count):
            if tree.tree_.children_left[node] != tree.tree_.children_right[node]:
                splits[tree.tree_.feature[node]] += 1
    assert splits[4] == 0
    assert explainer.candidates_ == tuple(f"x{v}" for v in ranking(splits, range(4)))


def test_candidates_by_impurity_are_ranked_as_scikit_learn_does(explainer):
    y = CLASSES if explainer.task_ == "classification" else NUMBERS
    explainer = clone(explainer).set_params(candidates="impurity").fit(X, y)
    importance = explainer.forest_.feature_importances_
    assert explainer.candidates_ == tuple(f"x{v}" for v in ranking(importance, range(4)))
    grouped = clone(explainer).set_params(groups={"pair": [1, 2]}).fit(X, y)
    by_name = {"x0": importance[0], "pair": importance[1] + importance[2], "x3": importance[3]}
    assert grouped.candidates_ == ranking(by_name, by_name)


def test_candidates_by_permutation_are_ranked_as_scikit_learn_does(explainer):
    y = CLASSES if explainer.task_ == "classification" else NUMBERS
    explainer = clone(explainer).set_params(candidates="permutation", random_state=0, n_candidates=3).fit(X, y)
    importance = permutation_importance(explainer.forest_, X, y, n_repeats=20, random_state=1).importances_mean
    assert explainer.candidates_ == tuple(f"x{v}" for v in ranking(importance)[:3])
    assert explainer.candidates_ == clone(explainer).fit(X, y).candidates_


def test_the_columns_of_a_group_are_permuted_together():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 4))
    table[:, 3] = table[:, 0]
    y = 3 * table[:, 0] + 2.5 * table[:, 1]
    alone = regressor(candidates="permutation", random_state=0).fit(table, y)
    assert alone.candidates_[0] == "x1"
    together = regressor(candidates="permutation", groups={"twins": [0, 3]}, random_state=0).fit(table, y)
    assert together.candidates_[0] == "twins"


def test_listed_candidates_keep_their_order():
    explainer = classifier(candidates=["dust", 1, "speed", "load"], n_candidates=1).fit(FRAME, CLASSES)
    assert explainer.candidates_ == ("dust", "load", "speed")
    assert explainer.explain(FRAME[:5]).candidates == ("dust", "load", "speed")
    held = {name for e in explainer.explain(FRAME) for s in e.sufficient_sets for name in s.variables}
    assert held <= {"dust", "load", "speed"}


def test_a_group_may_be_listed_as_a_candidate():
    assert classifier(candidates=["look"], groups=GROUPS).fit(FRAME, CLASSES).candidates_ == ("look",)


@pytest.mark.parametrize("candidates", ["splits", "impurity", "permutation"])
def test_a_variable_without_splits_is_no_candidate(candidates):
    explainer = classifier(candidates=candidates, n_candidates=64).fit(FRAME, CLASSES)
    assert sorted(explainer.candidates_) == ["day", "hue", "load", "speed"]


def test_a_forest_without_splits_has_all_variables_as_candidates():
    forest = RandomForestClassifier(n_estimators=3, min_samples_leaf=N_ROWS, random_state=0)
    with pytest.warns(FidelityWarning, match="hardly better than a constant"):
        explainer = SufficientExplainer(forest).fit(X, CLASSES)
    assert explainer.candidates_ == ("x0", "x1", "x2", "x3", "x4")


@pytest.mark.parametrize("n_candidates", [1, 3, np.int64(2)])
def test_no_more_candidates_are_taken_than_asked_for(of_classes, n_candidates):
    explainer = classifier(n_candidates=n_candidates).fit(X, CLASSES)
    assert explainer.candidates_ == of_classes.candidates_[:n_candidates]


def test_a_search_that_ends_early_is_told(explainer):
    limited = copy.deepcopy(explainer).set_params(max_sets=4)
    message = r"The search ended after 4 of up to 15 sets of candidates in \d+ of 12 rows: they may have other"
    with pytest.warns(SearchSizeWarning, match=message) as caught:
        found = limited.explain(ROWS)
    assert [warning.filename for warning in caught] == [__file__]
    is_complete = [e.is_search_complete for e in found]
    assert not all(is_complete)
    assert [e["is_search_complete"] for e in found.to_dict()["explanations"]] == is_complete
    assert ["there may be others" in str(e) for e in found] == [not complete for complete in is_complete]
    whole = explainer.explain(ROWS)
    assert all(e.is_search_complete for e in whole)
    for some, every in zip(found, whole, strict=True):
        assert some.sufficient_sets == tuple(s for s in every.sufficient_sets if len(s.variables) == 1)
    copy.deepcopy(explainer).set_params(max_sets=None).explain(ROWS)


@pytest.mark.parametrize("max_sets", [0, -1, 2.5, "many", 2**64])
def test_a_wrong_limit_of_sets_is_refused(max_sets):
    with pytest.raises((TypeError, ValueError), match="max_sets"):
        classifier(max_sets=max_sets).fit(X, CLASSES)


# --- copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy, copy.copy])
def test_a_copy_gives_identical_answers(explainer, again):
    before = answers(explainer)
    twin = again(explainer)
    assert answers(twin) == before
    assert answers(explainer) == before
    assert answers(again(twin)) == before


def test_a_pickle_leaves_the_explainer_whole():
    """The state handed to pickle was the explainer's own __dict__, from which the compiled core was taken away."""
    explainer = classifier().fit(X, CLASSES)
    pickle.dumps(explainer)
    assert len(explainer.explain(ROWS)) == 12


def test_an_unfitted_explainer_can_be_pickled():
    explainer = pickle.loads(pickle.dumps(classifier(pi=0.7)))
    assert explainer.pi == 0.7
    assert not hasattr(explainer, "forest_")


def test_a_clone_is_unfitted_and_has_the_same_parameters(explainer):
    twin = clone(explainer)
    assert not hasattr(twin, "forest_")
    assert repr(twin.get_params()) == repr(explainer.get_params())


def test_fitting_again_forgets_the_first_fit():
    explainer = SufficientExplainer(random_state=0).fit(FRAME, CLASSES)
    explainer.fit(X[:, :4], NUMBERS)
    assert explainer.task_ == "regression"
    assert explainer.variable_names_ == ("x0", "x1", "x2", "x3")
    assert answers(explainer, ROWS[:, :4]) == answers(
        SufficientExplainer(random_state=0).fit(X[:, :4], NUMBERS), ROWS[:, :4]
    )


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------

# A search of years: none of the very many sets of noise is sufficient.
ENDLESS = """
import signal, warnings
import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from suffice import SufficientExplainer

warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 60)), rng.normal(size=300)
explainer = SufficientExplainer(ExtraTreesRegressor(n_estimators=20), n_candidates=60, pi=1.0).fit(X, y)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows sends no SIGINT to a child process")
def test_ctrl_c_ends_a_long_search():
    code = f"{ENDLESS}\nprint('started', flush=True)\nexplainer.explain(X)\nprint('finished', flush=True)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "started\n"
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out == ""
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


@pytest.mark.filterwarnings("ignore::suffice.SearchSizeWarning", "ignore::suffice.FidelityWarning")
def test_an_interrupted_explainer_still_answers():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 60))
    explainer = SufficientExplainer(ExtraTreesRegressor(n_estimators=20, random_state=0), n_candidates=60, max_size=1)
    explainer.fit(table, rng.normal(size=300))
    before = answers(explainer, table[:5])
    explainer.set_params(max_size=None, pi=1.0)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            explainer.explain(table)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, handler)
    assert answers(explainer.set_params(max_size=1, pi=0.9), table[:5]) == before
