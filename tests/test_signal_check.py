"""Tests of the share of rows with a set beside that of shuffled outcomes."""

from __future__ import annotations

import warnings

import pytest

from suffice import FidelityWarning, SignalCheck


def test_both_shares_stand_in_one_sentence():
    text = "76 % of rows get a sufficient set; 2 % would if the outcomes were shuffled (200 rows)."
    assert str(SignalCheck(200, 0.76, 0.02)) == text


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
