"""Shorter rules that are made of the ends of longer ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from suffice._table.condition import Condition
from suffice._table.table import read_columns
from suffice.explaining.rule import Rule
from suffice.rule_lists.candidates import shorter_rules, split_rules

NAN = np.nan
TABLE = read_columns(
    {
        "x": np.arange(8.0),
        "z": np.array([0.0, 0, 1, 1, 2, 2, NAN, NAN]),
        "c": np.array(list("aabbccca")),
        "w": np.array([3.0, 1, 4, 1, 5, 9, 2, 2]),
        "v": np.array([2.0, 7, 1, 8, 2, 8, 1, 8]),
    }
)


def make_rule(*conditions):
    return Rule(conditions, "a", None, 0.9, 1, 0.1, 1.0, None, True, 1.0, True)


def candidates_of(*rules):
    ends, places = split_rules(rules, TABLE)
    return {
        ends.conditions_of(chosen): np.unpackbits(bits, count=8).astype(bool).tolist()
        for _, chosen, bits in shorter_rules(ends, places)
    }


def test_a_rule_is_split_into_all_combinations_of_its_ends():
    x, w = Condition("x", 0.5, 6.5), Condition("w", high=4.5)
    found = candidates_of(make_rule(x, w))
    low, high = replace(x, high=np.inf), replace(x, low=-np.inf)
    several = {(x,), (low, w), (high, w), (x, w)}
    alone = {(Condition("x", high=0.5),), (Condition("x", low=6.5),), (Condition("w", low=4.5),)}
    assert set(found) == several | alone
    for conditions, covered in found.items():
        assert covered == make_rule(*conditions).covers(TABLE).tolist()


def test_an_end_that_most_rows_satisfy_becomes_its_opposite():
    cases = [
        (Condition("x", high=5.5), Condition("x", low=5.5)),
        (Condition("x", low=2.0, low_closed=True), Condition("x", high=2.0, high_closed=False)),
        (Condition("c", labels=("a", "c")), Condition("c", labels=("a", "c"), excluded=True)),
        (Condition("c", labels=("b",), excluded=True), Condition("c", labels=("b",))),
        (Condition("z", high=1.5, missing=True), Condition("z", low=1.5)),
        (Condition("z", low=0.5, missing=True), Condition("z", high=0.5)),
        (Condition("x", high=2.5), Condition("x", high=2.5)),  # few rows: it stays
    ]
    for end, expected in cases:
        assert set(candidates_of(make_rule(end))) == {(expected,)}


def test_the_opposite_of_known_values_has_the_missing_ones():
    opposite = Condition("z", low=1.5, missing=True)
    most = read_columns({"z": np.array([0.0, 0, 1, 1, 1, 2, 2, NAN])})
    ends, places = split_rules([make_rule(Condition("z", high=1.5))], most)
    assert [ends.conditions_of(chosen) for _, chosen, _ in shorter_rules(ends, places)] == [(opposite,)]


def test_of_rules_that_cover_the_same_rows_the_shorter_one_stays():
    found = candidates_of(make_rule(Condition("x", high=1.5), Condition("z", high=0.5)))
    assert set(found) == {(Condition("x", high=1.5),)}


@pytest.mark.parametrize("n_columns", [3, 4, 5])
def test_at_most_three_conditions_and_four_ends(n_columns):
    conditions = [
        Condition("x", 0.5, 6.5), Condition("z", high=1.5, missing=True), Condition("c", labels=("a", "c")),
        Condition("w", 1.5, 8.0), Condition("v", 1.5, 7.5),
    ][:n_columns]  # fmt: skip
    found = candidates_of(make_rule(*conditions))
    ends = [end for condition in conditions for end in split_rules([make_rule(condition)], TABLE)[0].conditions[:2]]
    assert max(map(len, found)) <= 3
    covers = {tuple(c) for c in found.values()}
    for n in (2, 3, 4):
        for chosen in combinations(ends, n):
            columns = {end.column for end in chosen}
            belongs = all(any(end.column == c.column for c in conditions) for end in chosen)
            if len(columns) == n <= 3 and belongs and all(_is_end(end, conditions) for end in chosen):
                assert tuple(make_rule(*chosen).covers(TABLE).tolist()) in covers


def _is_end(end, conditions):
    """Whether an end belongs to the rule, and is not an opposite."""
    return any(
        end == c or (c.labels is None and end in (replace(c, high=np.inf), replace(c, low=-np.inf))) for c in conditions
    )


def test_no_rules_have_no_ends():
    ends, places = split_rules([], TABLE)
    assert (ends.conditions, places, list(shorter_rules(ends, places))) == ((), [], [])
