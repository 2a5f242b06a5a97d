"""Which rules count as the same in the experiment on noisy rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from experiments.stability import rule_keys

from suffice import Condition, Rule

TRAIN = pd.DataFrame({"hour": [1.0, 2.0, 3.0], "temp": [1.0, 2.0, 3.0]})


def rule(*conditions, outcome=1, interval=None, sdp=0.95):
    return Rule(conditions, outcome, interval, sdp, 2, 0.5, 1.0, None, True, 2.0, False)


def key(*conditions, **other):
    return rule_keys([rule(*conditions, **other)], TRAIN)[0]


WHOLE, BROKEN = Condition("hour", -np.inf, 2.0), Condition("hour", -np.inf, 2.5)


def test_bounds_that_are_written_differently_make_the_same_rule():
    assert key(WHOLE) == key(BROKEN)
    assert key(WHOLE) != key(Condition("hour", -np.inf, 3.0))


def test_rules_are_the_same_if_their_classes_columns_and_covered_rows_are():
    assert key(WHOLE) == key(WHOLE, sdp=0.5)
    assert key(WHOLE) != key(Condition("temp", -np.inf, 2.0))
    assert key(WHOLE) != key(WHOLE, outcome="other")
    everything = Condition("temp", low=-1e9, missing=True)  # covers every row, but tests a column
    assert key(WHOLE) != key(WHOLE, everything)


def test_numbers_are_compared_without_their_intervals():
    assert key(WHOLE, interval=(0, 1), outcome=0.5) == key(WHOLE, interval=(0, 2), outcome=0.6)


def test_a_row_without_a_rule_has_no_key():
    assert rule_keys([None, rule(WHOLE)], TRAIN) == [None, key(WHOLE)]
