"""Importance over sufficient sets, for one row and for many, and the one order."""

from __future__ import annotations

import numpy as np
import pytest

from suffice import SufficientExplainer
from suffice.explaining.importance import (
    check_sets,
    importance_of_rows,
    importance_of_sets,
    rank_in_sets,
    rank_means,
)


def test_the_importance_is_the_share_of_the_sets_that_hold_the_variable():
    shares = {"a": 1 / 3, "b": 2 / 3, "c": 1 / 3, "d": 0.0}
    assert importance_of_sets([("b",), ("a", "b"), ("c",)], list("abcd")) == shares


def test_equally_important_variables_are_ranked_by_the_first_set_that_holds_them():
    pairs = [("c", "d"), ("a", "b"), ("a", "e")]
    assert [name for name, _ in rank_in_sets(pairs, list("abcde"))] == ["a", "c", "d", "b", "e"]
    assert [name for name, _ in rank_in_sets([("d",), ("b",)], list("abcd"))] == ["d", "b"]
    assert [name for name, _ in rank_in_sets([("b", "c"), ("a", "c")], list("abc"))] == ["c", "b", "a"]


@pytest.mark.parametrize("sets", [[], [()]])
def test_without_variables_nothing_is_important(sets):
    assert importance_of_sets(sets, ["a", "b"]) == {"a": 0.0, "b": 0.0}
    assert rank_in_sets(sets, ["a", "b"]) == []


def test_means_are_ranked_by_size_and_then_in_the_order_of_the_table():
    assert rank_means("dacb", np.array([0.5, 0.0, 0.75, 0.5])) == [("c", 0.75), ("d", 0.5), ("b", 0.5)]
    # Sums in another order differ in the last digits.
    assert rank_means("ab", np.array([0.3, 0.1 + 0.2])) == [("a", 0.3), ("b", 0.1 + 0.2)]


@pytest.fixture(scope="module")
def explanations():
    X = np.random.default_rng(0).integers(0, 4, size=(300, 5)).astype(float)
    y = np.where((X[:, 0] > 1) | ((X[:, 1] > 1) & (X[:, 2] > 1)), 1, 0)
    explainer = SufficientExplainer(random_state=0, pi=0.8, min_size=1, counts="bootstrap").fit(X, y)
    return explainer.explain(X[:60], sets="all")


@pytest.mark.parametrize("sets", ["minimal", "all"])
def test_many_rows_have_the_importances_of_each(explanations, sets):
    assert {len(e.sufficient_sets) for e in explanations} > {1, 2}
    matrix = importance_of_rows(explanations.answers.sets, 5, sets)
    for row, one in zip(matrix, explanations, strict=True):
        expected = dict(one.ranked_importance(sets))
        assert row.tolist() == pytest.approx([expected.get(name, 0.0) for name in explanations.variable_names])
    assert np.array_equal(matrix, explanations.importance_matrix(sets))
    mean = explanations.mean_importance(sets)
    assert list(mean.values()) == pytest.approx(matrix[explanations.has_set].mean(axis=0).tolist())
    ranked = explanations.ranked_importance(sets)
    assert ranked == sorted(ranked, key=lambda item: -item[1])


def test_the_importance_is_over_minimal_sets_unless_all_are_asked_for(explanations):
    assert np.array_equal(explanations.importance_matrix(), explanations.importance_matrix("minimal"))
    assert not np.array_equal(explanations.importance_matrix(), explanations.importance_matrix("all"))
    for one in explanations:
        expected = importance_of_sets([s.variables for s in one.minimal_sets], explanations.variable_names)
        assert one.importance == expected


def test_a_variable_that_is_enough_alone_ranks_first(explanations):
    alone = [one for one in explanations if len(one.best_set.variables) == 1 and one.is_sufficient]
    assert alone
    for one in alone:
        assert one.ranked_importance()[0][0] == one.best_set.variables[0]


def test_unknown_choices_are_refused(explanations):
    with pytest.raises(ValueError, match=r"`sets` must be one of \['minimal', 'all'\], got 'most'"):
        check_sets("most")
    with pytest.raises(ValueError, match="`sets` must be one of"):
        explanations[0].ranked_importance("most")


def test_all_sets_cannot_count_if_only_the_smallest_were_searched(explanations):
    few = explanations.fitted
    X = few.forest.X[:3]
    minimal = SufficientExplainer(random_state=0).fit(few.forest.X, few.training[1]).explain(X)
    with pytest.raises(ValueError, match=r"Only the smallest sufficient sets were searched: explain .* sets='all'"):
        minimal.importance_matrix("all")
