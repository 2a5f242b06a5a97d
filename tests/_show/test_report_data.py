"""The compact values that the script of a report draws."""

from __future__ import annotations

import numpy as np
import pytest

from suffice._show.report_data import compact, floor_percent, gaps, hundredths
from suffice._text import format_number


def rows_of(written, n_rows):
    """The rows that a list of gaps stands for, as the script reads it."""
    is_covered, *distances = written
    named = set(np.cumsum(distances).astype(int).tolist())
    return [i for i in range(n_rows) if (i in named) == bool(is_covered)]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.5, 0.51, 0.9, 1.0])
def test_the_rows_of_a_rule_read_back(share):
    covered = np.random.default_rng(0).random(200) < share
    written = gaps(covered)
    assert rows_of(written, 200) == np.flatnonzero(covered).tolist()
    assert len(written) <= 101


def test_no_rows_have_no_gaps():
    assert gaps(np.zeros(0, dtype=bool)) == [1]


@pytest.mark.parametrize("exponent", [-12, -5, -4, -3, 0, 3, 5, 14, 15, 20])
def test_numbers_keep_the_digits_of_their_text(exponent):
    for digits in (1.0, -1.23456789, 9.99999, 5.5):
        value = digits * 10.0**exponent
        written = compact(value)
        if isinstance(written, str):
            assert written == format_number(value)
        else:
            assert 1e-4 <= abs(written) < 1e15
            assert repr(written) == format_number(value)


def test_zero_and_infinity_are_written():
    assert [compact(0.0), compact(-0.0), compact(float("inf"))] == [0, 0, "inf"]


def test_places_and_probabilities_are_whole_numbers():
    assert [hundredths(share) for share in (0.0, 1 / 3, 1.0)] == [0, 3333, 10000]
    assert [floor_percent(p) for p in (0.0, 0.29, 0.899, 1.0)] == [0, 29, 89, 100]
