import numpy as np
import pandas as pd
import pytest
from benchmarks.held_out import Checked, check_rules, fit_explainer, precision_on, shares_of_claims
from benchmarks.real_tables import Part, RealTable, load_table

from suffice._table.condition import Condition
from suffice.explaining.rule import Rule


def rule_of(outcome, interval=None):
    return Rule((Condition("a", 0.5, 9.0),), outcome, interval, 0.9, 3, 0.1, 1.0, None, True, 3.0, False)


def test_precision_counts_the_covered_rows_alone():
    part = Part(pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]}), np.array([1, 1, 0, 1]))
    assert precision_on(rule_of(1), part) == pytest.approx(2 / 3)
    assert precision_on(rule_of(0.0, (0.0, 0.5)), part) == pytest.approx(1 / 3)
    assert np.isnan(precision_on(rule_of(1), Part(part.X[:1], part.y[:1])))


def test_rules_without_held_out_rows_count_for_neither_mean():
    checked = Checked(stated=[1.0, 0.9, 0.8], held_out=[np.nan, 0.7, 0.6], support=[3, 30, 300])
    assert checked.figures() == pytest.approx((0.85, 0.65, 0.2))
    assert checked.figures(np.array([False, False, True])) == pytest.approx((0.8, 0.6, 0.2))
    assert np.isnan(checked.figures(np.array([True, False, False]))).all()


def test_the_parts_of_a_table_share_no_row():
    table = RealTable("toy", pd.DataFrame({"a": np.arange(100)}), np.arange(100) % 2, is_class=True)
    train, explained, fresh = table.split(0, 15)
    assert [len(part.y) for part in (train, explained, fresh)] == [60, 15, 25]
    assert sorted(np.concatenate([part.X["a"] for part in (train, explained, fresh)])) == list(range(100))
    assert all((part.X["a"] % 2 == part.y).all() for part in (train, explained, fresh))


def test_explained_rows_are_checked_by_class():
    table = load_table("breast cancer")
    train, explained, fresh = table.split(0, 30)
    explainer = fit_explainer(table, train.X, train.y, random_state=0)
    by_class = check_rules(explainer, explained.X, fresh)
    predictions = explainer.predict(explained.X)
    assert {label: checked.n_rows for label, checked in by_class.items()} == {
        str(label): np.count_nonzero(predictions == label) for label in set(predictions)
    }
    explanations = explainer.explain(explained.X, sets="minimal")
    assert sum(checked.n_sets for checked in by_class.values()) == explanations.has_set.sum()
    assert shares_of_claims(explanations) == (explanations.has_set.mean(), 0)
    rules = [rule for rule in explanations.rules if rule is not None]
    stated = sorted(value for checked in by_class.values() for value in checked.stated)
    assert stated == sorted(rule.precision for rule in rules)
