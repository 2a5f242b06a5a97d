"""Which rules of a list are tested, by the training rows alone."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from rule_boxes import box, classifier

from suffice.rule_lists.certifying import (
    N_PSEUDO_ROWS,
    choose_rules,
    count_by_length,
    power_of_test,
    surest_length,
    without_small_steps,
)


def at_least(n, k, p):
    return sum(comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


@pytest.mark.parametrize(
    ("n_rows", "n_kept", "ratio"), [(100, 99, 0.5), (80, 80, 0.25), (200, 190, 1.0), (60, 60, 0.4)]
)
def test_power_is_the_probability_that_the_test_succeeds(n_rows, n_kept, ratio):
    n_fresh = round(n_rows * ratio)
    precision = (n_kept + 0.9 * N_PSEUDO_ROWS) / (n_rows + N_PSEUDO_ROWS)
    enough = next((k for k in range(n_fresh + 1) if at_least(n_fresh, k, 0.9) <= 1 - 0.95), n_fresh + 1)
    expected = at_least(n_fresh, enough, precision)
    power = power_of_test(np.array([n_rows]), np.array([n_kept]), ratio, 0.9, 0.95)
    assert power[0] == pytest.approx(expected, abs=1e-12)


def test_a_rule_without_fresh_rows_has_no_power():
    assert power_of_test(np.array([0, 1]), np.array([0, 1]), 0.1, 0.9, 0.95).tolist() == [0, 0]


def test_rules_are_chosen_by_what_they_add():
    covers = np.zeros((4, 1000), dtype=bool)
    covers[0, :300] = True  # inside the next one
    covers[1, :400] = True
    covers[2, 400:700] = True  # half of it is wrong
    covers[3, 700:900] = True
    keeps = np.ones((4, 1000), dtype=bool)
    keeps[2, 400:550] = False
    assert choose_rules(covers, keeps, 0.5, 0.9, 0.95).tolist() == [1, 3]
    assert choose_rules(covers, keeps, 0.01, 0.9, 0.95).tolist() == []


def test_rules_that_add_little_are_left_out():
    covers = np.zeros((3, 1000), dtype=bool)
    covers[0, :500] = True
    covers[1, 2:504] = True
    covers[2, 2:505] = True
    assert without_small_steps(covers).tolist() == [0, 2]


def test_counts_of_the_first_rules():
    covers = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]], dtype=bool)
    keeps = np.array([[1, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]], dtype=bool)
    n_rows, n_kept = count_by_length(covers, keeps)
    assert n_rows.tolist() == [2, 3, 3]
    assert n_kept.tolist() == [1, 2, 2]


def test_the_surest_length_is_the_longest_of_equals():
    n_rows, n_kept = np.array([5, 400, 400, 800]), np.array([5, 400, 400, 700])
    assert surest_length(n_rows, n_kept, 0.5, 0.9, 0.95) == 3


def test_no_list_is_certified_if_every_rule_covers_too_few_rows():
    """The choice of the first length failed where no rule covered 0.5 % of the training rows."""
    x = np.arange(1000.0)[:, None]
    rules = classifier([box(2.5, 4.5)], X=x, y=np.where(x[:, 0] < 500, "a", "b"))
    certified = rules.certify(x, rules.training_outcomes_, of="list")
    assert (certified.rules_, certified.certificate_) == ((), None)
