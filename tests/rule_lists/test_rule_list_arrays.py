"""Lists of rules as arrays, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from suffice.rule_lists.choosing import shorten
from suffice.rule_lists.measures import first_two

MATRICES = st.tuples(st.integers(0, 6), st.integers(0, 5)).flatmap(lambda shape: arrays(bool, shape))


@given(MATRICES)
def test_the_first_two_are_the_first_two(covers):
    before = covers.copy()
    first, second = first_two(covers)
    n_columns = covers.shape[1]
    for row, i, j in zip(covers, first.tolist(), second.tolist(), strict=True):
        places = [*np.flatnonzero(row).tolist(), n_columns, n_columns]
        assert [i, j] == places[:2]
    np.testing.assert_array_equal(covers, before)


def test_the_last_of_two_rules_with_the_same_output_is_dropped():
    covers = np.array([[True, True, True], [True, True, False], [False, True, True]])
    kept = shorten(covers, lambda rules, rows: np.zeros(len(rows)), 0.0)
    assert kept.tolist() == [1]


def test_a_rule_stays_if_its_rows_would_be_lost():
    covers = np.eye(3, dtype=bool)
    no_loss = lambda rules, rows: np.zeros(len(rows))  # noqa: E731
    assert shorten(covers.copy(), no_loss, 0.3).tolist() == [0, 1, 2]
    assert shorten(covers.copy(), no_loss, 0.34).tolist() == [0, 1]
    assert shorten(covers.copy(), no_loss, 0.99).tolist() == [0]


def test_a_rule_stays_if_the_next_one_is_wrong_there():
    covers = np.array([[True, True], [True, True], [False, True], [False, True]])

    def losses(rules, rows):
        return ((rules == 1) & (rows < 2)).astype(float)  # the second rule is wrong about the first two rows

    assert shorten(covers.copy(), losses, 0.4).tolist() == [0, 1]
    assert shorten(covers.copy(), losses, 0.5).tolist() == [
        0
    ]  # coverage 0.5 and precision 1, or 1 and 0.5: the last goes


def test_no_rules_stay_none():
    assert shorten(np.zeros((3, 0), dtype=bool), lambda rules, rows: np.zeros(len(rows)), 0.1).tolist() == []
