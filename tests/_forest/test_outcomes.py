"""Outcomes as values, intervals and ranges of ranks."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice._forest.outcomes import (
    Outcomes,
    outcomes_of_classes,
    outcomes_of_intervals,
    rank_classes,
)
from suffice.errors import InputValueError

CLASSES = np.array(["high", "low", "mid"])


def test_the_rank_of_a_class_is_its_position():
    ranks = rank_classes(np.array(["low", "high", "low"]), CLASSES)
    assert ranks.tolist() == [1, 0, 1]
    assert ranks.dtype == np.uint32
    assert rank_classes(np.array([], dtype=str), CLASSES).tolist() == []
    assert rank_classes(np.array([1.0, 0.0]), np.array([False, True])).tolist() == [1, 0]


@pytest.mark.parametrize("labels", [np.array(["low", "lo", "x"]), np.array(["low", "lo", ["x"]], dtype=object)])
def test_an_unknown_label_is_refused_with_its_row(labels):
    message = "`y` holds the label 'lo' (row 1), which was not among the labels at fit: ['high', 'low', 'mid']."
    with pytest.raises(InputValueError, match=re.escape(message)) as caught:
        rank_classes(labels, CLASSES)
    assert (caught.value.row, caught.value.value) == (1, "lo")


def test_a_class_is_kept_by_itself_alone():
    outcomes = outcomes_of_classes(np.array(["mid", "high"]), CLASSES)
    assert outcomes.values.tolist() == ["mid", "high"]
    assert outcomes.intervals is None
    assert outcomes.low.tolist() == outcomes.high.tolist() == [2, 0]


HALVES = st.integers(-6, 6).map(lambda i: i / 2)


@given(
    st.lists(HALVES, min_size=1, max_size=6, unique=True).map(sorted),
    st.lists(st.tuples(HALVES, HALVES).map(sorted), max_size=6),
)
def test_the_ranks_of_an_interval_are_those_of_the_outcomes_in_it(y_values, ends):
    intervals = np.array(ends, dtype=float).reshape(len(ends), 2)
    outcomes = outcomes_of_intervals(np.zeros(len(ends)), intervals, np.array(y_values))
    for (low, high), first, last in zip(ends, outcomes.low.tolist(), outcomes.high.tolist(), strict=True):
        kept = [rank for rank, value in enumerate(y_values) if low <= value <= high]
        assert [rank for rank in range(len(y_values)) if first <= rank <= last] == kept
        assert bool(kept) or first > last


@pytest.mark.parametrize("has_intervals", [True, False])
def test_parts_that_are_joined_are_the_whole(has_intervals):
    numbers = np.array([3.0, 1.0, 2.0, 5.0])
    if has_intervals:
        whole = outcomes_of_intervals(numbers, np.stack([numbers - 1, numbers + 1], axis=1), np.unique(numbers))
    else:
        whole = outcomes_of_classes(numbers, np.unique(numbers))

    def part(rows):
        intervals = whole.intervals[rows] if has_intervals else None
        return Outcomes(whole.values[rows], intervals, whole.low[rows], whole.high[rows])

    joined = Outcomes.joined([part(slice(0, 2)), part(slice(2, 2)), part(slice(2, 4))])
    assert len(joined) == len(whole) == 4
    for name in ("values", "low", "high", *(["intervals"] if has_intervals else [])):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
        assert getattr(joined, name).dtype == getattr(whole, name).dtype
    assert (joined.intervals is None) == (not has_intervals)


def test_some_of_the_outcomes_are_taken_in_their_order():
    numbers = np.array([1.0, 2.0, 3.0])
    outcomes = outcomes_of_intervals(numbers, np.stack([numbers - 1, numbers + 1], axis=1), np.arange(5.0))
    some = outcomes.take(np.array([2, 0]))
    assert len(some) == 2
    assert some.values.tolist() == [3.0, 1.0]
    assert some.intervals.tolist() == [[2.0, 4.0], [0.0, 2.0]]
    assert (some.low.tolist(), some.high.tolist()) == ([2, 0], [4, 2])
    labels = outcomes_of_classes(np.array(["b", "a"]), np.array(["a", "b"])).take(np.array([1]))
    assert labels.intervals is None
    assert labels.values.tolist() == ["a"]
    assert labels.low.tolist() == labels.high.tolist() == [0]
    assert len(outcomes.take(np.zeros(0, dtype=np.intp))) == 0
