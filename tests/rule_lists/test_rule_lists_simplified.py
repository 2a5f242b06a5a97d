"""A shorter list that is nearly as good."""

from __future__ import annotations

import time

import numpy as np
import pytest
from rule_boxes import (
    ALL_FOUR,
    INF,
    LEFT,
    MIDDLE,
    MIXED,
    RIGHT,
    X,
    box,
    boxes,
    classifier,
    quality,
    random_rules,
    regressor,
)


def test_rules_that_decide_nothing_go_at_no_cost():
    rule_list = classifier(ALL_FOUR)
    simple = rule_list.simplify(tolerance=0)
    assert boxes(simple) == [MIDDLE, LEFT, RIGHT]
    assert simple.predict(X).tolist() == rule_list.predict(X).tolist()
    assert len(rule_list.rules_) == 4


def test_the_cheapest_rule_goes_first():
    # Full: coverage 1, accuracy 0.9. Without MIDDLE rows 5 and 6 go to RIGHT, rows 3 and 4 are lost: 0.8 and 7 / 8.
    # Without LEFT: 0.7 and 6 / 7. Without RIGHT: 0.7 and 1. The sums: 1.675, 1.557 and 1.7.
    rule_list = classifier([LEFT, MIDDLE, RIGHT])
    assert boxes(rule_list.simplify(0.19)) == [MIDDLE, LEFT, RIGHT]
    assert boxes(rule_list.simplify(0.2)) == [LEFT, RIGHT]
    assert boxes(rule_list.simplify(0.3)) == [MIDDLE, LEFT]
    assert boxes(rule_list.simplify(0.6)) == [MIDDLE]


def test_a_rule_that_another_replaces_goes_though_it_decides():
    # LEFT decides rows 0 to 2, and MIXED row 3; without LEFT, MIXED says the same of all four.
    rule_list = classifier([LEFT, MIXED])
    assert boxes(rule_list.simplify(0)) == [MIXED]


def test_equal_numbers_need_one_rule():
    assert boxes(regressor([box(high=1.5), LEFT, box(0.5, 2.5)]).simplify(0)) == [LEFT]


def drop_naively(covers, is_right, tolerance):
    """The same greedy search, each list tried in full."""

    def measure(kept):
        if not kept:
            return 0.0, -INF
        first = [next((r for r in kept if covers[r, i]), None) for i in range(covers.shape[1])]
        n_covered = sum(r is not None for r in first)
        n_wrong = sum(r is not None and not is_right[r, i] for i, r in enumerate(first))
        return n_covered / len(first), 1 - n_wrong / max(n_covered, 1)

    kept = list(range(len(covers)))
    first = {next((r for r in kept if covers[r, i]), None) for i in range(covers.shape[1])}
    full = measure(kept)
    kept = [r for r in kept if r in first]
    while len(kept) > 1:
        tried = [(measure([k for k in kept if k != r]), r) for r in kept]
        allowed = [(c + p, r) for (c, p), r in tried if c > 0 and min(c - full[0], p - full[1]) >= -tolerance - 1e-12]
        if not allowed:
            break
        kept.remove(max(allowed)[1])
    return kept


@pytest.mark.parametrize("seed", range(30))
def test_simplify_agrees_with_a_search_that_tries_each_list(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 6, size=(30, 3)).astype(float) + rng.normal(size=(30, 3)) / 100
    y = rng.integers(0, 3, size=30)
    rule_list = classifier(random_rules(rng, 15, table), X=table, y=y)
    covers = np.array([line.rule.covers(table) for line in rule_list.rules_])
    is_right = np.array([line.output == y for line in rule_list.rules_])
    tolerance = [0.0, 0.02, 0.1, 0.4][seed % 4]
    expected = [rule_list.rules_[r] for r in drop_naively(covers, is_right, tolerance)]
    assert list(rule_list.simplify(tolerance).rules_) == expected


@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.05, 0.3])
@pytest.mark.parametrize("make", [classifier, regressor])
def test_simplify_keeps_its_promise(make, tolerance):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(200, 4))
    table[rng.random(table.shape) < 0.1] = np.nan
    y = np.nan_to_num(table[:, 0]) + rng.normal(size=200)
    y = np.round(y).astype(int) if make is classifier else y
    rule_list = make(random_rules(rng, 80, table, missing=True), X=table, y=y)
    simple = rule_list.simplify(tolerance)
    full, left = quality(rule_list, table, y), quality(simple, table, y)
    assert min(left[0] - full[0], left[1] - full[1]) >= -tolerance - 1e-9
    places = [rule_list.rules_.index(line) for line in simple.rules_]
    assert places == sorted(places)
    assert len(places) < len(rule_list.rules_)
    assert simple.simplify(0).rules_ == simple.rules_  # what could go at no cost is gone


def test_a_simplified_list_has_the_default_of_the_rows_that_it_leaves():
    simple = classifier(ALL_FOUR).simplify(0.6)
    assert boxes(simple) == [MIDDLE]
    assert simple.predict([[4.0], [0.0]]).tolist() == ["b", "a"]
    assert simple.simplify(0).rules_ == simple.rules_


@pytest.mark.slow
def test_a_thousand_rules_of_ten_thousand_rows_take_seconds():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(10_000, 5))
    y = (table[:, 0] + table[:, 1] > 0).astype(int)
    rule_list = classifier(random_rules(rng, 1000, table), X=table, y=y)
    assert len(rule_list.rules_) > 990
    start = time.process_time()
    simple = rule_list.simplify(0.05)
    assert time.process_time() - start < 20  # 1 s; the time of the processor, since the machine may be busy
    assert len(simple.rules_) < 500


@pytest.mark.parametrize("tolerance", [-0.1, 1.0])
def test_a_tolerance_out_of_range_is_refused(tolerance):
    with pytest.raises(ValueError, match=r"`tolerance` must be in \[0, 1\)"):
        classifier([LEFT]).simplify(tolerance)
