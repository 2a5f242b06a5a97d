"""Rules as boxes of the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from loans import loan_explainer, make_loans

from suffice._table.condition import Condition
from suffice.changes.limits import regions_of, rows_in_region


def test_a_region_holds_the_rows_that_its_rule_covers():
    explainer = loan_explainer()
    state = explainer.fitted_
    X, _ = make_loans()
    rules = [rule for rule in explainer.explain(X[:30], sets="minimal").rules if rule is not None]
    boxes = regions_of(state, [[Condition(**vars(condition)) for condition in rule.conditions] for rule in rules])
    matrix = state.forest.X
    for i, rule in enumerate(rules):
        inside = ((boxes["low"][i] < matrix) & (matrix <= boxes["high"][i])).all(axis=1)
        assert np.array_equal(inside, rule.covers(X))
        assert np.array_equal(rows_in_region(matrix, boxes, i), np.flatnonzero(rule.covers(X)))


@pytest.mark.parametrize("closed", [False, True])
def test_an_end_of_a_rule_may_be_a_value_of_a_row(closed):
    state = loan_explainer().fitted_
    X, _ = make_loans()
    low, high = np.quantile(X["income"], [0.3, 0.6], method="nearest").tolist()
    condition = Condition("income", low, high, closed, closed)
    covered = rows_in_region(state.forest.X, regions_of(state, [[condition]]), 0)
    assert np.array_equal(covered, np.flatnonzero(condition.covers(X["income"])))


def test_an_unknown_column_is_named():
    with pytest.raises(ValueError, match="condition on 'incom'"):
        regions_of(loan_explainer().fitted_, [[Condition("incom", high=3.0)]])
