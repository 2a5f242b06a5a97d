"""Which local rules become the lines of a list, and in which order."""

from __future__ import annotations

import numpy as np
import pytest
from rule_boxes import (
    ALL_FOUR,
    LEFT,
    MIDDLE,
    MIXED,
    NUMBERS,
    RIGHT,
    X,
    Y,
    box,
    boxes,
    classifier,
    quality,
    regressor,
)
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from suffice import Explanations, SufficientExplainer
from suffice.explaining.rule import Condition, Rule
from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor


def test_boxes_of_few_rows_say_nothing_of_numbers_by_default():
    assert regressor([LEFT, RIGHT]).rules_
    assert GlobalRulesRegressor.from_explanations([LEFT, RIGHT], X, NUMBERS).rules_ == ()


def test_equal_precision_and_support_are_sorted_by_text():
    rules = [box(0.5, 2.5), box(-0.5, 1.5), box(high=1.5)]  # rows 1 and 2, 0 and 1, 0 and 1: all a
    assert [line.text for line in classifier(rules).rules_] == ["-0.5 < x0 <= 1.5", "0.5 < x0 <= 2.5", "x0 <= 1.5"]
    assert boxes(classifier(rules[::-1])) == boxes(classifier(rules))


def test_a_box_is_listed_once_with_its_rule_of_highest_sdp():
    rule_list = classifier([box(high=2.5, sdp=0.91), box(high=2.5, sdp=0.97), box(high=2.5, sdp=0.93)])
    assert [line.rule.sdp for line in rule_list.rules_] == [0.97]


def test_the_order_of_conditions_does_not_make_another_box():
    one, two = Condition("x0", high=2.5), Condition("x1", high=9.5)
    rules = [Rule(pair, "?", None, 0.9, 1, 0.1, 1.0, None, True, 1.0, False) for pair in [(one, two), (two, one)]]
    assert len(classifier(rules, X=np.hstack([X, X])).rules_) == 1


def test_rules_of_little_precision_or_support_are_left_out():
    assert boxes(classifier(ALL_FOUR, min_precision=0.8)) == [MIDDLE, LEFT, RIGHT]
    assert boxes(classifier(ALL_FOUR, min_support=4)) == [MIDDLE, RIGHT, MIXED]
    worse = box(6.5, 8.5)  # 9 and 1: varies more than all rows do
    assert boxes(regressor([worse, LEFT])) == [LEFT, worse]
    assert boxes(regressor([worse, LEFT], min_precision=0.0)) == [LEFT]
    share = regressor([MIDDLE]).rules_[0].precision
    assert len(regressor([MIDDLE], min_precision=share).rules_) == 1
    assert len(regressor([MIDDLE], min_precision=share + 1e-9).rules_) == 0


def test_a_rule_that_covers_no_row_is_left_out():
    assert boxes(classifier([box(20.0), LEFT])) == [LEFT]


def test_fit_is_made_of_the_rules_of_the_training_rows(busy_table, busy_lists):
    frame, *outcomes = busy_table
    for rule_list, y in zip(busy_lists, outcomes, strict=True):
        explanations = rule_list.explainer_.explain(frame, y, sets="minimal", check="rows")
        made = type(rule_list).from_explanations(explanations, frame, y)
        assert made.rules_ == rule_list.rules_
        assert made.rules_ == type(rule_list).from_explanations(iter(explanations.rules), frame, y).rules_
        has_rule = np.array([rule is not None for rule in explanations.rules])
        assert len(rule_list.rules_) > 2
        assert rule_list.covered(frame)[has_rule].all()  # a rule covers its own row
        coverage, precision = quality(rule_list, frame, np.asarray(y))
        assert coverage > 0.5
        assert precision > 0.7


def test_support_agrees_with_that_of_the_local_rules(busy_lists):
    """The local rules count float32 rows, the global ones float64 rows: their ends separate both in the same way."""
    for rule_list in busy_lists:
        assert [line.support for line in rule_list.rules_] == [line.rule.support for line in rule_list.rules_]


def test_the_seed_is_that_of_the_model_unless_the_explainer_has_one(busy_table):
    frame, labels, _ = busy_table
    explainer = SufficientExplainer(RandomForestClassifier(n_estimators=3), random_state=5)
    assert GlobalRulesClassifier(explainer, random_state=1).fit(frame, labels).explainer_.random_state == 5
    explainer.set_params(random_state=None)
    assert GlobalRulesClassifier(explainer, random_state=1).fit(frame, labels).explainer_.random_state == 1
    assert explainer.random_state is None


def test_without_an_explainer_the_default_one_is_fitted(busy_table):
    frame, labels, numbers = busy_table
    whole = (numbers > 5).astype(int)  # would be classes without the regressor
    assert GlobalRulesRegressor(random_state=0).fit(frame, whole).explainer_.task_ == "regression"
    rule_list = GlobalRulesClassifier(random_state=0).fit(frame, labels)
    assert (rule_list.explainer_.task_, rule_list.explainer_.random_state) == ("classification", 0)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        (
            {"explainer": RandomForestClassifier()},
            TypeError,
            "`explainer` must be None or a SufficientExplainer, got Ra",
        ),
        ({"min_precision": 1.5}, ValueError, r"`min_precision` must be in \[0, 1\], got 1.5"),
        ({"min_precision": -0.1}, ValueError, r"`min_precision` must be in \[0, 1\], got -0.1"),
        ({"min_support": 0}, ValueError, "`min_support` must be a whole number >= 1, got 0"),
        ({"min_support": 1.5}, TypeError, "`min_support` must be a whole number >= 1, got 1.5"),
    ],
)
def test_wrong_parameters_are_refused(params, error, message):
    with pytest.raises(error, match=message):
        GlobalRulesClassifier(**params).fit(X, Y)
    with pytest.raises(error, match=message):
        classifier([LEFT], **params)


def test_values_that_are_not_rules_are_refused(busy_table):
    with pytest.raises(TypeError, match="`rules` must hold Rule values or None, got 'x0 < 3'"):
        classifier(["x0 < 3"])
    with pytest.raises(ValueError, match=r"`X` has no column 'hours'. Did you mean 'hour'?"):
        classifier([box(0.0, column="hours")], X=busy_table[0], y=busy_table[1])


@pytest.mark.parametrize("as_frame", [True, False])
def test_explanations_bring_their_own_table(as_frame):
    X, y = load_breast_cancer(return_X_y=True, as_frame=as_frame)
    forest = RandomForestClassifier(5, random_state=0)
    explainer = SufficientExplainer(forest, counts="bootstrap", min_size=1).fit(X, y)
    explanations = explainer.explain(X[:60], sets="minimal")
    alone = GlobalRulesClassifier.from_explanations(explanations)
    with_table = GlobalRulesClassifier.from_explanations(explanations, X, y)
    assert alone.rules_ == with_table.rules_
    np.testing.assert_array_equal(alone.predict(X), with_table.predict(X))


def test_a_rule_list_without_a_table_says_what_it_needs():
    X, y = load_breast_cancer(return_X_y=True)
    explanations = SufficientExplainer(RandomForestClassifier(5, random_state=0)).fit(X, y).explain(X[:5])
    with pytest.raises(ValueError, match="Give `X` and `y`: only explanations know"):
        GlobalRulesClassifier.from_explanations(explanations.rules)


# --- explanations without rules --------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_table", [True, False])
def test_explanations_without_rules_are_refused(busy_table, busy_lists, with_table):
    """They once gave an empty list, which abstains everywhere."""
    frame, *outcomes = busy_table
    for rule_list, y in zip(busy_lists, outcomes, strict=True):
        explanations = rule_list.explainer_.explain(frame, y, rules=None)
        assert explanations.has_set.any()
        table = (frame, y) if with_table else ()
        message = r"These explanations hold no rules: explain\(X, y, rules='minimal'\) finds them."
        with pytest.raises(ValueError, match=message):
            type(rule_list).from_explanations(explanations, *table)
        with pytest.raises(ValueError, match=message):
            type(rule_list)().fit_rules(explanations, *table)


@pytest.mark.parametrize("rules", ["minimal", "all", None])
def test_explanations_without_a_sufficient_set_make_an_empty_list(busy_table, busy_lists, rules):
    frame, _, numbers = busy_table
    explanations = busy_lists[1].explainer_.with_settings(radius=0.0).explain(frame, numbers + 1000, rules=rules)
    assert not explanations.has_set.any()
    rule_list = GlobalRulesRegressor.from_explanations(explanations)
    assert rule_list.rules_ == ()
    assert rule_list.predict(frame) == pytest.approx(np.full(len(frame), numbers.mean()))
    assert rule_list.lines_.outputs.tolist() == []


def test_explanations_of_which_one_row_has_a_rule_make_a_list_of_it(busy_table, busy_lists):
    frame, labels, _ = busy_table
    explainer = busy_lists[0].explainer_
    row = next(i for i, rule in enumerate(explainer.explain(frame, labels).rules) if rule is not None)
    one = slice(row, row + 1)
    parts = [explainer.explain(frame, labels, rules=None), explainer.explain(frame[one], labels[one])]
    assert len(GlobalRulesClassifier.from_explanations(Explanations.joined(parts)).rules_) == 1


def test_a_list_that_is_made_again_forgets_what_it_was_made_of(busy_table, busy_lists):
    explanations = busy_lists[0].explainer_.explain(busy_table[0][:2], sets="minimal")
    rule_list = GlobalRulesClassifier(explainer=busy_lists[0].explainer_).fit_rules(explanations)
    assert rule_list.explainer_ is busy_lists[0].explainer_
    rule_list.set_params(explainer=None).fit_rules(explanations)
    assert not hasattr(rule_list, "explainer_")
