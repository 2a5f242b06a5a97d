"""The ends of boxes in the user's own values: the roundest that part the rows as the forest does."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from drawn_rules import (
    ROUND,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from suffice._engine.ends import round_end, round_whole_end

NAN, INF = math.nan, math.inf
MAX32 = float(np.finfo(np.float32).max)
TINY32 = 2.0**-149  # the smallest positive float32


def rounded(value):
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def next32(value, to=INF):
    with np.errstate(over="ignore"):
        return float(np.nextafter(np.float32(value), np.float32(to)))


def parts(end, below, above):
    """Whether float64 <= end is float32 <= below, and float64 > end is float32 >= above, for these float32 values.

    Rounding is monotone, so that the end and the next float64 speak for all.
    """
    is_low_enough = above == INF or rounded(end) < above
    return is_low_enough and (below == -INF or rounded(math.nextafter(end, INF)) > below)


ONE, NEXT, SECOND = 1.0, next32(1.0), next32(next32(1.0))  # the mantissas of 1 and SECOND are even, that of NEXT is odd


@pytest.mark.parametrize(
    ("below", "above", "threshold", "end"),
    [
        (12.5, 17.75, 15.125, 15.0),
        (0.5, 17.75, 9.125, 9.0),
        (2.0, 3.0, 2.5, 2.5),
        (1.0, 4.0, 2.5, 2.0),
        (-4.0, -1.0, -2.5, -3.0),
        (-5.0, 300.0, 147.5, 100.0),
        (-1.0, 1.0, 0.0, 0.0),
        (-1.0, 1.0, -0.0, 0.0),
        (rounded(0.1), rounded(0.2), 0.15000000223517418, 0.15),
        (rounded(0.1), rounded(0.3), 0.2000000048428774, 0.2),
        # 5 itself is no end: 5.0000001 rounds to the float32 5.
        (5.0, 7.0, 5.0, 6.0),
        (5.0, 5.5, 5.0, 5.1),
        # The middle between two neighbours rounds to the even one of them.
        (ONE, NEXT, ONE, (ONE + NEXT) / 2),
        (NEXT, SECOND, NEXT, math.nextafter((NEXT + SECOND) / 2, 0)),
        (-NEXT, -ONE, -NEXT, math.nextafter(-(ONE + NEXT) / 2, -2)),
        (-SECOND, -NEXT, -SECOND, -(NEXT + SECOND) / 2),
        (ONE, SECOND, NEXT, 1.0000001),
        # Zero and the smallest numbers.
        (0.0, TINY32, 0.0, TINY32 / 2),
        (-TINY32, 0.0, -TINY32, math.nextafter(-TINY32 / 2, -1)),
        (TINY32, 2 * TINY32, TINY32, math.nextafter(1.5 * TINY32, 0)),
        (-0.0, 1.0, 0.5, 0.5),
        (0.0, 1.0, 0.0, 0.1),
        (0.0, 1.0, 1e-300, 0.1),
        (0.0, 1.0, 1e-30, 1e-30),
        # The largest numbers: from 2**128 - 2**103 on, float32 is infinite.
        (next32(MAX32, 0), MAX32, next32(MAX32, 0), next32(MAX32, 0) / 2 + MAX32 / 2),
        (1e38 // 1, MAX32, 2e38, 2e38),
        # Nothing below, or nothing above: no further away than on the other side.
        (-INF, 38.0, 37.5, 37.0),
        (-INF, 37.75, 37.5, 37.5),
        (-INF, 50.0, 37.5, 40.0),
        (35.0, INF, 37.5, 40.0),
        (36.0, INF, 37.5, 37.0),
        (37.0, INF, 37.5, 38.0),
        (37.5, INF, 37.5, (37.5 + next32(37.5)) / 2),
        (MAX32, INF, MAX32, math.nextafter(2.0**128 - 2.0**103, 0)),
        (-INF, -MAX32, -4e38, -4e38),
        (-INF, INF, 0.1 + 0.2, 0.1 + 0.2),
        (-INF, INF, -1.7e308, -1.7e308),
    ],
)
def test_an_end_is_rounded_like_this(below, above, threshold, end):
    found = round_end(rounded(below), rounded(above), threshold)
    assert repr(found) == repr(end)
    assert parts(found, rounded(below), rounded(above))


FLOAT32 = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, TINY32, -TINY32, ONE, NEXT, SECOND, -NEXT, MAX32, -MAX32, next32(MAX32, 0), 2.0**-126]),
)


@settings(max_examples=500, deadline=None)
@given(FLOAT32, st.data())
def test_a_rounded_end_parts_all_numbers_as_the_definition_asks(below, data):
    above = data.draw(st.one_of(st.just(next32(below)), st.just(INF), FLOAT32))
    below = data.draw(st.sampled_from([below, below, -INF]))
    assume(below < above)
    largest = math.nextafter(above, -INF)
    threshold = data.draw(st.one_of(st.sampled_from([below, largest]), st.floats(below, largest)))
    assume(math.isfinite(threshold))
    end = round_end(below, above, threshold)
    assert math.isfinite(end)
    assert parts(end, below, above)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.one_of(ROUND, st.floats(-1e38, 1e38), st.floats(-2, 2)), min_size=1, max_size=8), st.data())
def test_a_rounded_end_parts_the_training_values_as_the_threshold_does(values, data):
    near = [math.nextafter(rounded(value), to) for value in values for to in (-INF, INF)]
    halves = [rounded(one) / 2 + rounded(other) / 2 for one in values for other in values]
    # Numbers that float32 can hardly tell apart.
    values = values + [value * (1 + data.draw(st.integers(-3, 3)) * 2.0**-25) for value in values]
    table = np.array(values).astype(np.float32)
    threshold = data.draw(st.one_of(st.sampled_from([*table.tolist(), *near, *halves]), st.floats(-1e38, 1e38)))
    goes_left = table.astype(np.float64) <= threshold
    below, above = max(table[goes_left], default=-INF), min(table[~goes_left], default=INF)
    end = round_end(float(below), float(above), threshold)
    assert (np.array(values) <= end).tolist() == goes_left.tolist()


def count_digits(number):
    return len(re.sub(r"e.*|\.0$|[-.]", "", repr(number)).strip("0")) or 1


FEW_DIGITS = {
    1: [sign * float(f"{k}e{p}") for sign in (1, -1) for p in range(-3, 2) for k in range(10)],
    2: [sign * float(f"{k}e{p}") for sign in (1, -1) for p in range(-3, 1) for k in range(11, 100) if k % 10],
}


@settings(max_examples=300, deadline=None)
@given(st.lists(st.floats(-50, 50, width=32), min_size=2, max_size=2, unique=True).map(sorted), st.floats(0.01, 0.99))
def test_no_end_with_fewer_digits_or_nearer_to_the_threshold_would_do(ends, where):
    below, above = ends
    threshold = below + where * (above - below)
    assume(below <= threshold < above and parts(threshold, below, above))
    end = round_end(below, above, threshold)
    for digits in (1, 2):
        fitting = [number for number in FEW_DIGITS[digits] if parts(number, below, above)]
        if count_digits(end) == digits:
            distance = abs(Fraction(end) - Fraction(threshold))
            assert all(distance <= abs(Fraction(number) - Fraction(threshold)) for number in fitting)
        elif count_digits(end) > digits:
            assert not fitting


@pytest.mark.parametrize(
    ("below", "above", "threshold", "message"),
    [
        (1.0, 2.0, 2.0, "`threshold` must lie in [below, above), got 2.0 for [1.0, 2.0)."),
        (1.0, 2.0, 0.5, "`threshold` must lie in [below, above), got 0.5 for [1.0, 2.0)."),
        (1.0, 2.0, NAN, "`threshold` must lie in [below, above), got nan for [1.0, 2.0)."),
        (-INF, 2.0, -INF, "`threshold` must lie in [below, above), got -inf for [-inf, 2.0)."),
        (0.1, 2.0, 1.0, "`below` and `above` must be float32 values, got 0.1 and 2.0."),
        (0.5, 0.7, 0.6, "`below` and `above` must be float32 values, got 0.5 and 0.7."),
        (0.5, 1e300, 0.6, "`below` and `above` must be float32 values, got 0.5 and 1e+300."),
    ],
)
def test_ends_that_do_not_enclose_the_threshold_are_refused(below, above, threshold, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        round_end(below, above, threshold)


@pytest.mark.parametrize(
    ("below", "above", "threshold", "low", "high"),
    [
        (5, 6, 5.5, (6.0, True), (5.0, True)),
        (5, 9, 7.0, (8.0, True), (7.0, True)),
        (99, 100, 99.5, (100.0, True), (100.0, False)),
        (980, 1031, 1005.5, (1000.0, True), (1000.0, False)),
        (19, 20, 19.5, (20.0, True), (20.0, False)),
        (9, 10, 9.5, (10.0, True), (9.0, True)),
        (-3, -2, -2.5, (-2.0, True), (-3.0, True)),
        (0, 1, 0.5, (1.0, True), (0.0, True)),
        (-INF, 3, 1.5, (2.0, True), (1.0, True)),
        (3, INF, 7.5, (8.0, True), (7.0, True)),
    ],
)
def test_ends_of_whole_numbers(below, above, threshold, low, high):
    assert round_whole_end(below, above, threshold, "low") == low
    assert round_whole_end(below, above, threshold, "high") == high


@settings(max_examples=300, deadline=None)
@given(st.integers(-2000, 2000), st.integers(1, 3000), st.floats(0, 0.999), st.sampled_from(["low", "high", None]))
def test_ends_of_whole_numbers_leave_every_value_on_its_side(below, gap, share, within):
    above = below + gap
    threshold = float(np.float32(below + share * gap))
    assume(below <= threshold < above)
    beyond = {}
    for side in ("low", "high"):
        end, closed = round_whole_end(below, above, threshold, side, within)
        assert end == int(end)
        beyond[side] = end if side == "low" else end + closed  # the first number that is not on the lower side
        assert below < beyond[side] <= above
        if within == "low":
            assert beyond[side] > threshold
        if within == "high":
            assert beyond[side] - 1 <= threshold
    assert beyond["low"] == beyond["high"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=3, max_size=3, unique=True))
def test_ends_within_a_threshold_let_nothing_pass_that_it_stops(three):
    below, threshold, above = sorted(three)
    for side in ("low", "high"):
        end = round_end(below, above, threshold, side)
        beside = [math.nextafter(end, -INF), end, math.nextafter(end, INF)]
        for value in beside:
            is_left = float(np.float32(value)) <= threshold
            assert is_left if side == "high" and value <= end else True
            assert not is_left if side == "low" and value > end else True
        assert float(np.float32(below)) <= end < above
