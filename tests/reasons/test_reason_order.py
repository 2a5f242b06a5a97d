"""Which set holds the reasons and in which order: against the oracle, and ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from oracle import Oracle, trees_of
from small_explainers import CLASSES, NUMBERS, ROWS, X, classifier, regressor

from suffice._forest.bounds import SHOWN_CONFIDENCE, lower_bounds
from suffice.explaining.best_set import bound_best
from suffice.explaining.search import find_sufficient_sets
from suffice.reasons.search import losses_of_sets, rank_by_loss

NAMES = ["delta", "alpha", "gamma", "beta", "epsilon"]


def searched(explainer, rows=ROWS):
    state = explainer.fitted_
    matrix = explainer.encode(rows)
    outcomes = explainer.outcomes(rows)
    sets = find_sufficient_sets(state, matrix, outcomes, minimal_only=False, progress=None, needs_best=False)
    return state, matrix, outcomes, sets


@pytest.fixture(scope="module", params=["classes", pytest.param("numbers", marks=pytest.mark.slow)])
def explainer(request):
    if request.param == "classes":
        return classifier(pi=0.75).fit(X, CLASSES)
    return regressor(pi=0.6, alpha=0.3).fit(X, NUMBERS)


def test_the_set_its_losses_and_their_order_equal_the_oracle(explainer):
    state, matrix, outcomes, sets = searched(explainer, X[:40])
    losses = losses_of_sets(state, matrix, outcomes, sets)
    y = CLASSES if state.classes is not None else NUMBERS
    oracle = Oracle(trees_of(explainer.forest_), X, y, explainer.min_node_size_)
    of_training = state.outcomes(state.forest.X, state.predict(state.forest.X))
    predicted = of_training.values.tolist()
    if of_training.intervals is not None:
        predicted = [tuple(interval) for interval in of_training.intervals.tolist()]
    mean_gains = [oracle.mean_gain(v, predicted) for v in range(X.shape[1])]
    n_several = n_not_surest = n_not_largest = 0
    for i in range(40):
        n_sets = sets.n_by_row()[i]
        if not n_sets:
            assert losses[i] == {}
            continue
        of_row = [S for row, S in sets.by_row() if row == i]
        interval = outcomes.intervals
        outcome = outcomes.values[i] if interval is None else tuple(interval[i].tolist())
        best = oracle.best_set(matrix[i], outcome, of_row, state.variables.names, mean_gains)
        assert sets.members(sets.best_masks[i]) == of_row[0] == best
        assert (
            sets.best_sdps[i] == sets.sdps[sets.offset[i]] == pytest.approx(float(oracle.sdp(matrix[i], best, outcome)))
        )
        squares = np.array([float(oracle.squared_weights(matrix[i], best))])
        bound = lower_bounds(sets.best_sdps[[i]], squares, SHOWN_CONFIDENCE)
        assert bound_best(state, matrix, sets, np.array([i])) == pytest.approx(bound)
        expected = oracle.reason_order(matrix[i], outcome, best, of_row, NAMES)
        named = {NAMES[v]: loss for v, loss in losses[i].items()}
        shares = {NAMES[v]: sum(v in S for S in of_row) / n_sets for v in losses[i]}
        assert rank_by_loss(named, shares) == [name for name, _ in expected]
        for name, loss in expected:
            assert named[name] == pytest.approx(float(loss), abs=1e-12)
        n_several += len(expected) > 1
        n_not_surest += sets.sdps[sets.offset[i]] < max(sets.sdps[sets.offset[i] : sets.offset[i + 1]])
        alone = [-oracle.sdp(matrix[i], (v,), outcome) for v in range(X.shape[1])]
        smallest = [S for S in of_row if len(S) == len(best)]
        n_not_largest += best != min(smallest, key=lambda S: sorted(alone[v] for v in S))
    assert n_several > 5
    assert n_not_surest > 0
    assert n_not_largest > 0  # a tie within the error, which the average has decided


def test_the_same_bits_for_any_number_of_threads(explainer):
    answers = []
    for n_jobs in (1, 3):
        found = searched(explainer.with_settings(n_jobs=n_jobs))
        answers.append((found[3].masks.tolist(), losses_of_sets(*found)))
    assert answers[0] == answers[1]


def test_ties_are_decided_by_the_lxi_and_then_by_the_name():
    losses = {"b": 0.25, "a": 0.25 + 1e-15, "c": 0.25, "d": 0.5}
    assert rank_by_loss(losses, {"a": 0.5, "b": 0.5, "c": 0.75}) == ["d", "c", "a", "b"]
    assert rank_by_loss(losses, {}) == ["d", "a", "b", "c"]


def test_a_variable_without_which_nothing_is_lost_is_no_reason():
    assert rank_by_loss({"a": 0.0, "b": -0.1, "c": 1e-14, "d": Fraction(1, 3)}, {}) == ["d"]
