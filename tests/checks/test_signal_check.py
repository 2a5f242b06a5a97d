"""Tests of the share of rows with a set beside that of shuffled outcomes."""

from __future__ import annotations

import warnings

import pytest

from suffice import SignalCheck
from suffice.errors import FidelityWarning


def test_both_shares_stand_in_one_sentence():
    text = "76 % of rows get a sufficient set; 2 % would if the outcomes were shuffled (200 rows)."
    assert str(SignalCheck(200, 0.76, 0.02)) == text


def test_rows_that_need_no_variable_are_told_apart():
    """A table with 95 % of one class was said to have no sufficient sets, though the empty set is one in all rows."""
    text = "3 % of rows get a sufficient set of variables; 0 % would if the outcomes were shuffled (200 rows)."
    assert str(SignalCheck(200, 0.03, 0.0, 0.95)) == f"{text} 95 % need no variable."


@pytest.mark.parametrize(
    ("counts", "end"),
    [
        ("out-of-bag", "a higher `pi`."),
        ("bootstrap", "a higher `pi`, or `counts='out-of-bag'`."),
        ("all", "a higher `pi`, or `counts='out-of-bag'`."),
    ],
)
def test_the_warning_names_what_may_help(counts, end):
    with pytest.warns(FidelityWarning) as caught:
        SignalCheck(200, 0.52, 0.54, counts=counts).warn_if_near()
    assert str(caught[0].message).endswith(f"try more rows, other variables, {end}")


@pytest.mark.parametrize(
    ("share", "shuffled_share", "is_near"),
    [(0.76, 0.02, False), (0.4, 0.2, False), (0.4, 0.21, True), (0.0, 0.0, False), (0.0, 0.1, True)],
)
def test_shares_are_near_if_shuffled_outcomes_give_more_than_half_as_many_sets(share, shuffled_share, is_near):
    check = SignalCheck(100, share, shuffled_share)
    assert check.is_near is is_near
    if is_near:
        with pytest.warns(FidelityWarning, match="would if the outcomes were shuffled.*say little about these data"):
            check.warn_if_near()
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check.warn_if_near()
