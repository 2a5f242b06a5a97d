"""The ends of boxes in the user's own values: the roundest that separate the rows as the forest does."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from drawn_rules import ROUND
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from thoroughness import n_examples

from suffice._forest.rounded_bounds import Ends, round_end, round_whole_end
from suffice._table.condition import Condition
from suffice._table.encoding import Column, Encoding
from suffice._table.table import WEEKDAYS

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

    Rounding is monotone, so it is enough to check the end and the next float64.
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
    rounded_end = round_end(rounded(below), rounded(above), threshold)
    assert repr(rounded_end) == repr(end)
    assert parts(rounded_end, rounded(below), rounded(above))


FLOAT32 = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, TINY32, -TINY32, ONE, NEXT, SECOND, -NEXT, MAX32, -MAX32, next32(MAX32, 0), 2.0**-126]),
)


@settings(max_examples=n_examples(500), deadline=None)
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


@settings(max_examples=n_examples(500), deadline=None)
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


@settings(max_examples=n_examples(300), deadline=None)
@given(st.lists(st.floats(-50, 50, width=32), min_size=2, max_size=2, unique=True).map(sorted), st.floats(0.01, 0.99))
def test_no_shorter_or_nearer_end_is_correct(ends, where):
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


@settings(max_examples=n_examples(300), deadline=None)
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


@settings(max_examples=n_examples(300), deadline=None)
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


# --- boxes -----------------------------------------------------------------------------------------------------------

COLUMNS = (
    Column("temp", 0),
    Column("hour", 1, "whole"),
    Column("city", 2, "category", labels=(("Oslo",), ("Lima",), ("Bern",))),
    Column("fruit", 3, "category", labels=(("fig",), ("kiwi", "lime"), ("pear",)), rare=1),
    Column("when.weekday", 4, "category", part="weekday", labels=tuple((day,) for day in WEEKDAYS)),
)
ENCODING = Encoding(COLUMNS, ("temp", "hour", "city", "fruit", "when"), True)
TRAINING = np.array(
    [
        [1.0, 1.0, 0.0, 0.0, 0.0],
        [12.5, 5.0, 1.0, 1.0, 1.0],
        [17.75, 6.0, 2.0, 2.0, 5.0],
        [30.0, 9.0, 0.0, NAN, 6.0],
    ],
    dtype=np.float32,
)


def bounds_of(column, low, high, *, x=None, missing=False, values=True, everywhere=False, training=TRAINING):
    """The bounds of a box over one column, around a row that has the value `x` there, or that of the second row."""
    row = training[1].copy()
    row[column] = training[1, column] if x is None else x
    box = {
        "low": np.array([low], dtype=np.float32),
        "high": np.array([high], dtype=np.float32),
        "missing": np.array([missing]),
        "has_values": np.array([values]),
        "holds_everywhere": np.array(everywhere),
    }
    return Ends(ENCODING, training).bounds([column], box, row)


@pytest.mark.parametrize(
    ("column", "low", "high", "options", "expected"),
    [
        (0, -INF, 15.125, {}, Condition("temp", high=15.0)),
        (0, 6.75, INF, {}, Condition("temp", low=7.0)),
        (0, 6.75, 15.125, {}, Condition("temp", low=7.0, high=15.0)),
        (0, 6.75, 15.125, {"missing": True}, Condition("temp", low=7.0, high=15.0, missing=True)),
        (0, -INF, 15.125, {"x": 15.0625}, Condition("temp", high=16.0)),  # the explained row stays within
        (0, -INF, 15.125, {"everywhere": True}, Condition("temp", high=15.0)),
        (0, 6.75, INF, {"everywhere": True}, Condition("temp", low=7.0)),
        (0, -INF, INF, {"missing": True, "values": False, "x": NAN}, Condition("temp", missing=True, values=False)),
        (1, 3.0, INF, {}, Condition("hour", low=4.0, low_closed=True)),
        (1, -INF, 5.5, {}, Condition("hour", high=5.0)),
        (1, 3.0, 5.5, {}, Condition("hour", low=4.0, high=5.0, low_closed=True)),
        (1, -INF, 3.0, {"x": 1.0}, Condition("hour", low=1.0, high=1.0, low_closed=True)),  # nothing is below
        (1, 7.5, INF, {"x": 9.0}, Condition("hour", low=9.0, high=9.0, low_closed=True)),
        (2, 0.5, INF, {}, Condition("city", labels=("Lima", "Bern"))),
        (2, 0.5, 1.5, {"missing": True}, Condition("city", labels=("Lima",), missing=True)),
        (3, 0.5, 1.5, {}, Condition("fruit", labels=("fig", "pear"), excluded=True)),  # all that is not named is rare
        (3, -INF, 0.5, {"x": 0.0}, Condition("fruit", labels=("fig",))),
        (3, -INF, INF, {}, Condition("fruit")),  # there are gaps, so that "is known" says something
        (4, -INF, 1.5, {}, Condition("when", labels=("Mon", "Tue"), part="weekday")),
        (4, -INF, 4.5, {}, Condition("when", labels=("Sat", "Sun"), excluded=True, part="weekday")),
    ],
)
def test_the_bounds_of_a_box(column, low, high, options, expected):
    assert bounds_of(column, low, high, **options) == (expected,)


@pytest.mark.parametrize("column", [0, 1, 2, 3, 4])
def test_sides_that_exclude_nothing_are_left_out(column):
    assert bounds_of(column, -INF, INF, missing=True) == ()
    if column != 3:  # without gaps in the training table, "is known" says nothing
        assert bounds_of(column, -INF, INF) == ()


def test_several_columns_come_in_their_order():
    box = {
        "low": np.array([6.75, -INF, 0.5], dtype=np.float32),
        "high": np.array([INF, INF, INF], dtype=np.float32),
        "missing": np.array([False, True, False]),
        "has_values": np.array([True, True, True]),
        "holds_everywhere": np.array(False),
    }
    expected = (Condition("temp", low=7.0), Condition("city", labels=("Lima", "Bern")))
    assert Ends(ENCODING, TRAINING).bounds([0, 1, 2], box, TRAINING[1]) == expected


@settings(max_examples=n_examples(200), deadline=None)
@given(
    st.lists(st.integers(-40, 40).map(lambda i: i / 4), min_size=2, max_size=8, unique=True),
    st.booleans(),
    st.data(),
)
def test_the_bounds_of_numbers_cover_the_rows_of_the_box(values, is_whole, data):
    """Every training row and the explained row are on the side of the box on which the thresholds have them."""
    values = sorted({math.floor(v) if is_whole else v for v in values})
    assume(len(values) > 1)
    training = np.array(values, dtype=np.float32)[:, None]
    middles = [(a + b) / 2 for a, b in itertools.pairwise(values)]
    low, high = sorted(data.draw(st.lists(st.sampled_from([-INF, *middles, INF]), min_size=2, max_size=2, unique=True)))
    inside = [v for v in values if low < v <= high]
    x = data.draw(st.sampled_from(inside))
    box = {
        "low": np.array([low], dtype=np.float32),
        "high": np.array([high], dtype=np.float32),
        "missing": np.array([False]),
        "has_values": np.array([True]),
        "holds_everywhere": np.array(data.draw(st.booleans())),
    }
    encoding = Encoding((Column("a", 0, "whole" if is_whole else "number"),), ("a",), True)
    bounds = Ends(encoding, training).bounds([0], box, np.array([x], dtype=np.float32))
    conditions = [Condition(**dataclasses.asdict(b)) for b in bounds]
    covered = [v for v in values if all(condition.covers([v])[0] for condition in conditions)]
    assert covered == inside


def test_the_values_of_a_column_are_sorted_once(monkeypatch):
    ends = Ends(ENCODING, TRAINING)
    n_sorted = []
    unique = np.unique
    monkeypatch.setattr(np, "unique", lambda *args, **options: n_sorted.append(1) or unique(*args, **options))
    box = {
        "low": np.array([6.75], dtype=np.float32),
        "high": np.array([INF], dtype=np.float32),
        "missing": np.array([False]),
        "has_values": np.array([True]),
        "holds_everywhere": np.array(False),
    }
    assert [ends.bounds([0], box, TRAINING[1]) for _ in range(3)] == [(Condition("temp", low=7.0),)] * 3
    assert len(n_sorted) == 1
