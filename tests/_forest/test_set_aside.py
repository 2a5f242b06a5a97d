"""Which rows are set aside."""

from __future__ import annotations

import numpy as np
import pytest

from suffice._forest.fitted import draw_rows


def test_every_row_is_in_one_of_the_parts():
    rest, aside = draw_rows(np.arange(50) % 3, 0.3, True, 0)
    assert sorted([*rest, *aside]) == list(range(50))
    assert len(aside) == 15


def test_classes_keep_their_shares_up_to_one_row():
    y = np.repeat(["a", "b", "c"], [600, 90, 10])
    for seed in range(20):
        _, aside = draw_rows(y, 0.2, True, seed)
        counts = [np.count_nonzero(y[aside] == label) for label in "abc"]
        assert np.abs(np.array(counts) - [120, 18, 2]).max() <= 1


def test_every_row_is_set_aside_with_the_same_probability():
    y = np.repeat([0, 1], [7, 3])
    times = np.zeros(10)
    for seed in range(4000):
        times[draw_rows(y, 0.3, True, seed)[1]] += 1
    assert np.abs(times / 4000 - 0.3).max() < 0.03


def test_the_seed_decides():
    y = np.arange(100.0)
    first, again, other = (draw_rows(y, 0.2, False, seed)[1].tolist() for seed in (0, 0, 1))
    assert first == again != other


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.2, "a", True])
def test_a_share_must_be_between_0_and_1(share):
    with pytest.raises((ValueError, TypeError), match="`holdout` must be a share of the rows in \\(0, 1\\)"):
        draw_rows(np.arange(10), share, False, 0)


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_too_few_rows_are_refused(share):
    with pytest.raises(ValueError, match="at least 2 rows must be set aside, and at least 2 must be left"):
        draw_rows(np.arange(10.0), share, False, 0)


def test_a_class_must_be_left_to_fit_on():
    y = np.array(["a"] * 30 + ["b"])

    def draw_often():
        return [draw_rows(y, 0.5, True, seed) for seed in range(20)]

    with pytest.raises(ValueError, match="leaves no row of the class 'b' to fit on: choose a smaller share"):
        draw_often()
