"""Rules without idle conditions, and two rules as one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice._table.condition import Condition
from suffice._table.table import read_columns
from suffice.explaining.rule import Rule
from suffice.rule_lists.simplifying import merge_rules, union_of_conditions, union_of_rules, without_idle_conditions


def make_rule(*conditions, outcome="a", sdp=0.9, interval=None):
    return Rule(conditions, outcome, interval, sdp, 1, 0.1, 1.0, None, True, 1.0, True)


TABLE = read_columns({"x": np.arange(6.0), "z": np.array([0.0, 0, 0, 1, 1, 1]), "c": np.array(list("aabbcc"))})


def test_a_condition_that_changes_no_row_goes():
    small = Condition("x", high=1.5)
    rule = make_rule(small, Condition("z", high=0.5))
    simpler, covered = without_idle_conditions(rule, TABLE)
    assert simpler.conditions == (small,)
    assert covered.tolist() == [True, True, False, False, False, False]
    assert (simpler.optimal, simpler.everywhere, simpler.bound) == (False, False, math.inf)


def test_of_two_conditions_that_say_the_same_the_first_stays():
    first, second = Condition("x", high=2.5), Condition("z", high=0.5)
    assert without_idle_conditions(make_rule(first, second), TABLE)[0].conditions == (first,)
    assert without_idle_conditions(make_rule(second, first), TABLE)[0].conditions == (second,)


def test_a_rule_whose_conditions_all_matter_stays_as_it_is():
    rule = make_rule(Condition("x", high=3.5), Condition("z", low=0.5))
    simpler, covered = without_idle_conditions(rule, TABLE)
    assert simpler is rule
    assert covered.tolist() == [False, False, False, True, False, False]


def test_the_last_condition_stays_and_no_conditions_cover_everything():
    only = make_rule(Condition("x", high=9.0))
    assert without_idle_conditions(only, TABLE)[0] is only
    assert without_idle_conditions(make_rule(), TABLE)[1].all()


VALUES = [math.nan, -math.inf, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, math.inf]
ENDS = st.sampled_from([-math.inf, 0.0, 1.0, 2.0, math.inf])


@st.composite
def draw_conditions(draw):
    low, high = sorted((draw(ENDS), draw(ENDS)))
    if low == high or low == math.inf or high == -math.inf:
        low, high = 0.0, 1.0
    return Condition("x", low, high, draw(st.booleans()), draw(st.booleans()), missing=draw(st.booleans()))


@given(draw_conditions(), draw_conditions())
def test_a_union_of_intervals_is_satisfied_by_the_values_of_both(one, two):
    union = union_of_conditions(one, two)
    satisfied = one.covers(VALUES) | two.covers(VALUES)
    if union is None:  # there is a number between them that satisfies neither
        left, right = sorted((one, two), key=lambda c: c.low)
        between = (left.high + right.low) / 2
        assert not (one.covers([between]) | two.covers([between])).any()
    else:
        assert union.covers(VALUES).tolist() == satisfied.tolist()
        assert union == union_of_conditions(two, one)


@pytest.mark.parametrize("excluded", [(False, False), (True, True), (False, True)])
def test_a_union_of_labels(excluded):
    one, two = (Condition("c", labels=labels, excluded=e) for labels, e in zip(("ab", "bc"), excluded, strict=True))
    union = union_of_conditions(one, two)
    if excluded[0] != excluded[1]:
        assert union is None
        return
    labels = np.array(list("abcd"), dtype=object)
    assert union.covers(labels).tolist() == (one.covers(labels) | two.covers(labels)).tolist()


def test_conditions_of_other_kinds_have_no_union():
    assert union_of_conditions(Condition("x", high=1.0), Condition("z", high=1.0)) is None
    assert union_of_conditions(Condition("x", labels=("a",)), Condition("x", high=1.0)) is None
    assert union_of_conditions(Condition("x", missing=True, values=False), Condition("x", high=1.0)) is None


def test_rules_that_differ_in_one_condition_become_one():
    on_z = Condition("z", high=0.5)
    one = make_rule(Condition("x", 0.5, 2.5), on_z, sdp=0.95)
    two = make_rule(Condition("x", 1.5, 4.5), on_z, sdp=0.91)
    union = union_of_rules(one, two)
    assert union.conditions == (Condition("x", 0.5, 4.5), on_z)
    assert (union.sdp, union.precision, union.n_kept) == (0.91, None, None)
    assert union.covers(TABLE).tolist() == (one.covers(TABLE) | two.covers(TABLE)).tolist()
    assert union_of_rules(one, replace(two, outcome="b")) is None
    assert union_of_rules(one, make_rule(Condition("x", 1.5, 4.5))) is None
    assert union_of_rules(one, make_rule(Condition("x", 1.5, 4.5), Condition("z", low=0.5))) is None
    assert union_of_rules(one, make_rule(Condition("x", 3.0, 4.5), on_z)) is None
    numbers = [replace(rule, outcome=1.0, interval=(0.0, 2.0)) for rule in (one, two)]
    assert union_of_rules(*numbers) is None


def test_rules_are_merged_until_no_pair_is_left():
    parts = [make_rule(Condition("x", low, low + 1.0)) for low in (3.0, 0.0, 2.0, 1.0)]
    other = make_rule(Condition("z", 0.5))
    merged, places = merge_rules([parts[0], other, *parts[1:]])
    assert [rule.conditions for rule in merged] == [(Condition("x", 0.0, 4.0),), other.conditions]
    assert places == [[0, 2, 3, 4], [1]]
    assert merge_rules([]) == ([], [])
