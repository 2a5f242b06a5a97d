"""Importance over sufficient sets: three indices, for one row and for many, and the one order."""

from __future__ import annotations

import numpy as np
import pytest

from suffice import SufficientExplainer
from suffice.explaining.importance import (
    INDICES,
    check_importance,
    importance_of_rows,
    importance_of_sets,
    rank_importance,
    rank_in_sets,
)

# Ten variables; x0 is enough alone, and nine pairs without it are enough too.
SETS = [("x0",), *[("x1", f"x{i}") for i in range(2, 7)], *[("x2", f"x{i}") for i in range(3, 7)]]
NAMES = [f"x{i}" for i in range(8)]


def test_responsibility_is_one_over_the_size_of_the_smallest_set():
    sets = [("b",), ("a", "c"), ("a", "b", "d")]
    assert importance_of_sets(sets, list("abcde"), "responsibility") == {
        "a": 0.5,
        "b": 1.0,
        "c": 0.5,
        "d": 1 / 3,
        "e": 0,
    }


def test_the_share_is_that_of_the_sets_that_hold_the_variable():
    assert importance_of_sets([("b",), ("a", "b"), ("c",)], list("abcd"), "share") == {
        "a": 1 / 3,
        "b": 2 / 3,
        "c": 1 / 3,
        "d": 0.0,
    }


def test_a_variable_that_is_enough_alone_ranks_first_only_by_responsibility():
    assert rank_in_sets(SETS, NAMES)[0] == ("x0", 1.0)
    assert rank_in_sets(SETS, NAMES, "share")[0][0] == "x1"


def test_the_variables_of_the_best_set_come_before_all_others():
    sets = [("d",), ("b",), ("a", "c"), ("a", "b", "e")]
    assert [name for name, _ in rank_in_sets(sets, list("abcdef"))] == ["d", "b", "a", "c", "e"]
    pairs = [("c", "d"), ("a", "b"), ("a", "e")]
    assert [name for name, _ in rank_in_sets(pairs, list("abcde"))] == ["c", "d", "a", "b", "e"]
    assert [name for name, _ in rank_in_sets([("b", "c"), ("a", "c")], list("abc"))] == ["c", "b", "a"]


@pytest.mark.parametrize("sets", [[], [()]])
@pytest.mark.parametrize("index", INDICES)
def test_without_variables_nothing_is_important(sets, index):
    assert importance_of_sets(sets, ["a", "b"], index) == {"a": 0.0, "b": 0.0}
    assert rank_in_sets(sets, ["a", "b"], index) == []


def test_variables_are_ranked_by_importance_and_then_in_the_order_of_the_table():
    assert rank_importance({"d": 0.5, "a": 0.0, "c": 0.75, "b": 0.5}) == [("c", 0.75), ("d", 0.5), ("b", 0.5)]
    assert rank_importance({"a": 0.1 + 0.2, "b": 0.3}, {"b": 1.0}) == [("b", 0.3), ("a", 0.1 + 0.2)]
    assert rank_importance({"a": 1.0, "b": 1.0}, {}, {"b": 0.1}) == [("b", 1.0), ("a", 1.0)]


@pytest.fixture(scope="module")
def explanations():
    X = np.random.default_rng(0).integers(0, 4, size=(300, 5)).astype(float)
    y = np.where((X[:, 0] > 1) | ((X[:, 1] > 1) & (X[:, 2] > 1)), 1, 0)
    return SufficientExplainer(random_state=0, pi=0.8, min_size=1, counts="bootstrap").fit(X, y).explain(X[:60])


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("sets", ["all", "minimal"])
def test_many_rows_have_the_importances_of_each(explanations, index, sets):
    assert {len(e.sufficient_sets) for e in explanations} > {1, 2}
    matrix = importance_of_rows(explanations.answers.sets, 5, index, sets)
    assert np.allclose(matrix, [list(e.importance_by(index, sets).values()) for e in explanations])
    assert np.array_equal(matrix, explanations.importance_matrix(sets, index=index))
    mean = explanations.mean_importance(sets, index=index)
    assert list(mean.values()) == pytest.approx(matrix[explanations.has_set].mean(axis=0).tolist())
    ranked = explanations.ranked_importance(sets, index=index)
    assert ranked == sorted(ranked, key=lambda item: -item[1])


def test_the_paper_s_importance_stays_what_the_methods_return(explanations):
    assert np.array_equal(explanations.importance_matrix(), explanations.importance_matrix(index="share"))
    assert explanations.mean_importance() == explanations.mean_importance(index="share")
    for explanation in explanations:
        assert explanation.importance == explanation.importance_by("share")
        assert explanation.importance_by("share", "minimal") == explanation.importance_by("share", "minimal")


def test_the_best_set_ranks_first_in_every_row(explanations):
    for explanation in explanations:
        if explanation.is_sufficient:
            size = len(explanation.best_set.variables)
            first = {name for name, _ in explanation.ranked_importance()[:size]}
            assert first == set(explanation.best_set.variables)


def test_unknown_choices_are_refused(explanations):
    with pytest.raises(ValueError, match=r"`index` must be one of \['responsibility', 'share'\], got 'lxi'"):
        check_importance("lxi", "all")
    with pytest.raises(ValueError, match="`sets` must be 'all' or 'minimal', got 'most'"):
        explanations[0].importance_by(sets="most")
    with pytest.raises(ValueError, match="`index` must be one of"):
        explanations.mean_importance(index="shapley")
