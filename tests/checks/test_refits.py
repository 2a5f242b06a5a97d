"""Refits: what is grown again, from which rows, and what is counted."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from small_explainers import CLASSES, NUMBERS, X, classifier, regressor

from suffice import SufficientExplainer
from suffice._io.saved import from_bytes, to_bytes
from suffice.checks.refits import (
    best_sets,
    check_refits,
    count_recurrence,
    draw_refits,
    for_halves,
    held_candidates,
    regrow,
)
from suffice.errors import SearchSizeWarning

MATRIX = X[:20].astype(np.float32)


@pytest.fixture(scope="module")
def of_classes():
    return classifier(pi=0.95, min_size=1).fit(X, CLASSES).fitted_


@pytest.fixture(scope="module")
def of_numbers():
    return regressor().fit(X, NUMBERS).fitted_


def same_trees(first, second):
    pairs = zip(first.forest.trees, second.forest.trees, strict=True)
    return all(np.array_equal(a.threshold, b.threshold) and np.array_equal(a.rows, b.rows) for a, b in pairs)


@pytest.mark.parametrize("counts", ["out-of-bag", "bootstrap", "all"])
@pytest.mark.parametrize(("make", "y"), [(classifier, CLASSES), (regressor, NUMBERS)])
def test_the_same_seed_grows_the_same_forest(make, y, counts):
    fitted = make(counts=counts).fit(X, y).fitted_
    assert same_trees(regrow(fitted, 0), fitted)
    assert not same_trees(regrow(fitted, 1), fitted)
    outcomes = fitted.outcomes(MATRIX, fitted.predict(MATRIX))
    again = best_sets(regrow(fitted, 0), MATRIX, outcomes)
    assert np.array_equal(again.best_sdps, best_sets(fitted, MATRIX, outcomes).best_sdps)


def test_a_forest_of_some_rows_is_the_one_fitted_on_them(of_numbers):
    rows = np.arange(0, len(X), 2)
    own = regressor(candidates=list(of_numbers.candidates)).fit(X[rows], NUMBERS[rows]).fitted_
    part = regrow(of_numbers, 0, rows)
    assert same_trees(part, own)
    assert np.array_equal(part.forest.X, own.forest.X)
    outcomes = of_numbers.outcomes(MATRIX, of_numbers.predict(MATRIX))
    theirs = own.projected.sdp(MATRIX, [(0,)] * 20, _ranks_in(own, outcomes), 1)
    assert np.allclose(part.projected.sdp(MATRIX, [(0,)] * 20, outcomes, 1), theirs)


def _ranks_in(fitted, outcomes):
    from suffice._forest.outcomes import outcomes_of_intervals

    return outcomes_of_intervals(outcomes.values, outcomes.intervals, fitted.forest.y_values)


def test_a_class_that_is_not_drawn_keeps_the_ranks_of_the_others(of_classes):
    rows = np.flatnonzero(CLASSES != 0)
    part = regrow(of_classes, 0, rows)
    outcomes = of_classes.outcomes(MATRIX, np.full(20, 2))
    own = classifier(candidates=list(of_classes.candidates)).fit(X[rows], CLASSES[rows])
    assert np.allclose(part.projected.sdp(MATRIX, [(0,)] * 20, outcomes, 1), own.sdp(X[:20], [0], np.full(20, 2)))
    never = of_classes.outcomes(MATRIX, np.zeros(20, dtype=int))
    assert not part.projected.sdp(MATRIX, [(0,)] * 20, never, 1).any()


def test_the_draws_are_seeds_and_halves():
    by_seed, by_rows = draw_refits(3, 4, 101, np.random.default_rng(0))
    assert [rows for _, rows in by_seed] == [None] * 3
    assert len({seed for seed, _ in (*by_seed, *by_rows)}) == 7
    assert [len(np.unique(rows)) for _, rows in by_rows] == [50] * 4
    assert all(np.all(np.diff(rows) > 0) for _, rows in by_rows)
    assert len({tuple(rows.tolist()) for _, rows in by_rows}) == 4


@pytest.mark.parametrize(("leaf", "halved"), [(1, 1), (5, 5), (6, 5), (10, 5), (21, 11), (0.1, 0.1)])
@pytest.mark.parametrize("is_loaded", [False, True])
def test_half_of_the_rows_have_smaller_leaves_and_cells(leaf, halved, is_loaded):
    explainer = SufficientExplainer(RandomForestClassifier(15, min_samples_leaf=leaf), random_state=0)
    fitted = explainer.set_params(min_node_size=12).fit(X, CLASSES).fitted_
    fitted = from_bytes(to_bytes(explainer)).fitted_ if is_loaded else fitted
    smaller = regrow(for_halves(fitted), 0, np.arange(75))
    assert smaller.estimator.min_samples_leaf == halved
    assert smaller.min_node_size == 6
    assert regrow(fitted, 0).estimator.min_samples_leaf == leaf


def test_the_parameters_of_the_forest_are_kept_after_loading():
    forest = RandomForestClassifier(7, min_samples_leaf=4, max_leaf_nodes=6, criterion="entropy", max_samples=90)
    explainer = SufficientExplainer(forest, random_state=3).fit(X, CLASSES)
    loaded = from_bytes(to_bytes(explainer))
    assert same_trees(regrow(explainer.fitted_, 3), explainer.fitted_)
    assert same_trees(regrow(loaded.fitted_, 3), explainer.fitted_)
    half = regrow(loaded.fitted_, 3, np.arange(75))
    assert half.estimator.max_samples == 45  # 90 of 150 rows are 45 of 75
    assert half.estimator.max_leaf_nodes == 6


def test_a_forest_that_draws_all_rows_is_grown_again():
    forest = ExtraTreesRegressor(5, min_samples_leaf=4, random_state=0)
    fitted = SufficientExplainer(forest, counts="bootstrap").fit(X, NUMBERS).fitted_
    assert same_trees(regrow(fitted, 0), fitted)


def test_a_kind_of_forest_that_scikit_learn_does_not_have_is_refused_after_loading():
    class OwnForest(RandomForestClassifier):
        pass

    explainer = SufficientExplainer(OwnForest(5), random_state=0).fit(X, CLASSES)
    check_refits(explainer.fitted_)
    with pytest.raises(ValueError, match="of the kind 'OwnForest' after loading"):
        check_refits(from_bytes(to_bytes(explainer)).fitted_)


def test_recurrence_counts_what_the_refits_find(of_classes):
    outcomes = of_classes.outcomes(MATRIX, of_classes.predict(MATRIX))
    own = best_sets(of_classes, MATRIX, outcomes)
    draws = [*draw_refits(2, 2, len(X), np.random.default_rng(1))[0], (5, np.arange(70))]
    steps = []
    counts = count_recurrence(of_classes, MATRIX, outcomes, own, draws, lambda: steps.append(1))
    assert counts.n_refits == len(steps) == 3
    refits = [best_sets(regrow(of_classes, *draw), MATRIX, outcomes) for draw in draws]
    for row in range(20):
        has_set = own.n_by_row()[row] > 0
        verdicts = [sets.n_by_row()[row] > 0 for sets in refits]
        sets = [r.members(r.best_masks[row]) for r, v in zip(refits, verdicts, strict=True) if v == has_set]
        assert counts.n_sufficient[row] == sum(verdicts)
        assert counts.n_same_set[row] == sets.count(own.members(own.best_masks[row]))
        expected = [sum(v in one for one in sets) for v in of_classes.candidates]
        assert counts.n_holding[row].tolist() == expected
    assert 0 < counts.n_same_set.sum() < 60
    assert {1, 2} & set(counts.n_sufficient.tolist())  # some rows lose or gain a sufficient set


def test_an_error_of_the_step_ends_the_work(of_classes):
    outcomes = of_classes.outcomes(MATRIX, of_classes.predict(MATRIX))
    own = best_sets(of_classes, MATRIX, outcomes)

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_recurrence(of_classes, MATRIX, outcomes, own, [(0, None), (1, None)], stop)


def test_refits_do_not_warn_of_a_search_that_ended_early():
    explainer = classifier(max_sets=2, pi=1.0).fit(X, CLASSES)
    with pytest.warns(SearchSizeWarning):
        explainer.explain(X[:20], rules=None)
    fitted = explainer.fitted_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best_sets(fitted, MATRIX, fitted.outcomes(MATRIX, fitted.predict(MATRIX)))


def test_held_candidates_are_the_bits_of_both_words():
    masks = np.array([[0b101, 0], [0, 0b10]], dtype=np.uint64)
    held = held_candidates(masks, 66)
    assert [np.flatnonzero(line).tolist() for line in held] == [[0, 2], [65]]
