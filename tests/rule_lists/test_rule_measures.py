"""The figures of rules: of each line on the training rows, and of the list on any rows."""

from __future__ import annotations

import numpy as np
import pytest
from rule_boxes import ALL_FOUR, LEFT, MIDDLE, MIXED, NUMBERS, RIGHT, box, boxes, classifier, regressor

from suffice.rule_lists.measures import GlobalRule


def test_rules_are_measured_and_sorted_by_precision_then_support():
    rule_list = classifier(ALL_FOUR)
    assert boxes(rule_list) == [MIDDLE, LEFT, RIGHT, MIXED]
    assert [line.output for line in rule_list.rules_] == ["b", "a", "b", "a"]
    assert [line.support for line in rule_list.rules_] == [4, 3, 5, 4]
    assert [line.coverage for line in rule_list.rules_] == [0.4, 0.3, 0.5, 0.4]
    assert [line.precision for line in rule_list.rules_] == [1.0, 1.0, 0.8, 0.75]
    assert rule_list.rules_[3].frequencies == {"a": 0.75, "b": 0.25}


def test_numbers_are_measured_by_mean_mse_and_mae():
    middle, left = regressor([MIDDLE, box(2.5, 4.5)]).rules_, regressor([LEFT]).rules_
    assert [(line.output, line.mse, line.mae, line.std) for line in middle] == [(5.0, 1.0, 1.0, 1.0)] * 2
    assert [(line.output, line.mse, line.mae, line.precision) for line in left] == [(1.0, 0.0, 0.0, 1.0)]
    assert middle[0].precision == 1 - 1 / NUMBERS.var()
    assert [line.support for line in middle] == [4, 2]  # equal MSE: the larger support first


def test_the_output_is_the_first_of_equally_frequent_classes():
    line = classifier([box(6.5, 8.5)]).rules_[0]  # a b
    assert (line.output, line.precision) == ("a", 0.5)


def test_constant_numbers_have_no_error_though_their_mean_is_rounded():
    y = np.full(10, 0.1)
    assert np.mean(y[:3]) != 0.1
    line = regressor([LEFT], y=y).rules_[0]
    assert (line.output, line.mse, line.mae, line.precision) == (0.1, 0.0, 0.0, 1.0)


def test_a_rule_is_a_value():
    one, two = classifier([LEFT]).rules_[0], classifier([LEFT]).rules_[0]
    assert isinstance(one, GlobalRule)
    assert one == two
    assert len({one, two}) == 1
    with pytest.raises(AttributeError, match="cannot assign"):
        one.output = "b"
