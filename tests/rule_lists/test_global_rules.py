"""Lists of rules as classifiers and regressors: which rule decides a row, and what the others get."""

from __future__ import annotations

import math
import pickle

import numpy as np
import polars as pl
import pytest
from rule_boxes import ALL_FOUR, LEFT, MIDDLE, MIXED, NUMBERS, RIGHT, X, Y, box, classifier, regressor
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import SufficientExplainer
from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor

# --- deciding ---------------------------------------------------------------------------------------------------------


def test_the_first_rule_that_covers_a_row_decides():
    rule_list = classifier([MIXED, RIGHT, LEFT])  # sorted: LEFT, RIGHT, MIXED; nothing covers row 4
    assert rule_list.decision_path(X).tolist() == [0, 0, 0, 2, -1, 1, 1, 1, 1, 1]
    assert rule_list.covered(X).tolist() == [True] * 4 + [False] + [True] * 5
    assert rule_list.coverage(X) == 0.9
    assert rule_list.predict(X).tolist() == ["a"] * 4 + ["b"] * 6


def test_the_more_precise_of_two_rules_that_disagree_decides():
    assert classifier([MIXED, MIDDLE]).predict([[3.0]]).tolist() == ["b"]
    assert regressor([MIXED, box(2.5, 3.5)]).predict([[3.0], [2.0]]).tolist() == [4.0, 1.75]


def test_no_rows_have_no_coverage():
    rule_list = classifier([LEFT])
    assert math.isnan(rule_list.coverage(np.empty((0, 1))))
    assert rule_list.predict(np.empty((0, 1))).shape == (0,)


def test_probabilities_are_the_shares_of_the_deciding_rule():
    rule_list = classifier([MIXED, RIGHT])
    assert rule_list.predict_proba([[0.0], [9.0]]).tolist() == [[0.75, 0.25], [0.2, 0.8]]


def test_missing_values_are_covered_where_a_rule_allows_them():
    rule_list = classifier([box(high=2.5, missing=True), RIGHT])
    assert rule_list.decision_path([[math.nan], [9.0], [3.0]]).tolist() == [0, 1, -1]


# --- rows that no rule covers -----------------------------------------------------------------------------------------


def test_the_default_is_what_rows_without_a_rule_have():
    """`predict` once answered None for them, so that `score` raised a TypeError."""
    default = classifier([box(2.5)]).default_  # the other three rows are all a, as fewer than half of all rows are
    assert (default.output, default.support, default.coverage, default.precision) == ("a", 3, 0.3, 1.0)
    assert default.expected < 0.7
    rule_list = classifier([LEFT, box(7.5)])  # b b b b a are left
    assert rule_list.predict([[0.0], [5.0]]).tolist() == ["a", "b"]
    assert rule_list.predict_proba([[0.0], [5.0]]).tolist() == [[1.0, 0.0], [0.2, 0.8]]
    assert rule_list.score(X, Y) == 0.9
    assert regressor([LEFT]).predict([[0.0], [5.0]]) == pytest.approx([1.0, 32 / 7])
    assert regressor([LEFT]).score(X, NUMBERS) > 0


def test_the_default_is_what_all_rows_have_where_none_is_left():
    default = classifier([LEFT, box(2.5)]).default_
    assert (default.output, default.support, default.precision) == ("b", 0, 0.6)
    assert str(classifier([LEFT, box(2.5)])).endswith("ELSE b  (no training row is left for it)")
    assert regressor([LEFT, box(2.5)]).default_.output == 3.5


def test_a_list_without_rules_predicts_its_default():
    assert classifier([]).predict(X).tolist() == ["b"] * 10
    assert regressor([None]).predict(X).tolist() == [3.5] * 10


def test_a_shorter_list_has_a_default_of_its_own():
    full = classifier([LEFT, MIDDLE])
    assert full.default_.support == 3
    assert full.edit(drop=[0]).default_.support > 3


def test_a_classifier_may_abstain():
    rule_list = classifier([LEFT], abstain=True)
    assert rule_list.default_ is None
    predicted = rule_list.predict([[0.0], [5.0]])
    assert predicted.dtype == object
    assert predicted.tolist() == ["a", None]
    assert np.isnan(rule_list.predict_proba([[5.0]])).all()
    assert rule_list.predict([[0.0]]).dtype == rule_list.classes_.dtype


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [1.0, 2.0]])
def test_labels_keep_their_kind(labels):
    y = np.array(labels)[(Y == "b").astype(int)]
    rule_list = classifier(ALL_FOUR, y=y)
    assert rule_list.predict(X).dtype == y.dtype
    assert rule_list.predict(X).tolist() == [labels[0]] * 3 + [labels[1]] * 7
    abstaining = classifier([LEFT], y=y, abstain=True).predict(X)
    assert [type(value) for value in abstaining] == [type(labels[0])] * 3 + [type(None)] * 7


def test_a_regressor_may_abstain():
    predicted = regressor([LEFT], abstain=True).predict([[0.0], [5.0]])
    assert np.array_equal(predicted, [1.0, np.nan], equal_nan=True)


def test_a_rule_list_without_rules_abstains_everywhere():
    assert classifier([], abstain=True).predict(X).tolist() == [None] * 10
    assert np.isnan(regressor([None], abstain=True).predict(X)).all()
    assert classifier([]).simplify().rules_ == ()


# --- fitting ----------------------------------------------------------------------------------------------------------


def test_the_name_of_the_outcome_is_kept(busy_lists):
    assert " THEN count = " in str(busy_lists[1])


def test_frames_arrays_and_polars_give_the_same_answers(busy_table, busy_lists):
    frame, labels, _ = busy_table
    rule_list = busy_lists[0]
    assert rule_list.predict(pl.from_pandas(frame)).tolist() == rule_list.predict(frame).tolist()
    array = clone(rule_list).fit(frame.to_numpy(), labels)
    assert array.predict(frame.to_numpy()).tolist() == rule_list.predict(frame).tolist()
    assert "x0" in array.rules_[0].text or "x1" in array.rules_[0].text
    assert clone(rule_list).fit(pl.from_pandas(frame), labels).rules_ == rule_list.rules_


def test_a_pickled_rule_list_is_the_same(busy_table, busy_lists):
    for rule_list in busy_lists:
        again = pickle.loads(pickle.dumps(rule_list))
        assert again.rules_ == rule_list.rules_
        assert again.predict(busy_table[0]).tolist() == rule_list.predict(busy_table[0]).tolist()
        assert str(again.simplify()) == str(rule_list.simplify())


# --- wrong input ------------------------------------------------------------------------------------------------------


def test_values_out_of_range_are_refused():
    with pytest.raises(ValueError, match="`min_precision` must be a number <= 1, got 2"):
        regressor([LEFT], min_precision=2)


def test_an_explainer_for_another_task_is_refused():
    with pytest.raises(ValueError, match="`explainer` has the task 'regression', GlobalRulesClassifier needs"):
        GlobalRulesClassifier(SufficientExplainer(task="regression")).fit(X, Y)
    with pytest.raises(ValueError, match="fractions are no classes: take GlobalRulesRegressor for numbers"):
        GlobalRulesClassifier().fit(X, NUMBERS + 0.5)
    with pytest.raises(ValueError, match="`task` is 'classification', but `forest` is for regression"):
        GlobalRulesClassifier(SufficientExplainer(ExtraTreesRegressor())).fit(X, Y)


def test_other_columns_than_at_fit_are_refused(busy_table, busy_lists):
    with pytest.raises(ValueError, match=r"3 at fit: missing \['hour'\], unexpected \['h'\]"):
        busy_lists[0].predict(busy_table[0].rename(columns={"hour": "h"}))
    with pytest.raises(TypeError, match="Column 'temp' of `X` must hold numbers, got the text 'warm'"):
        busy_lists[0].predict(busy_table[0].assign(temp="warm"))


@pytest.mark.parametrize("rule_list", [GlobalRulesClassifier(), GlobalRulesRegressor()])
@pytest.mark.parametrize("method", ["simplify", "to_frame", "to_sql"])
def test_a_rule_list_that_is_not_fitted_raises(rule_list, method):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(rule_list, method)()


# --- scikit-learn: all checks pass, so none is listed as an expected failure -----------------------------------------


@parametrize_with_checks([GlobalRulesClassifier(random_state=0), GlobalRulesRegressor(random_state=0)])
@pytest.mark.filterwarnings("ignore::suffice.errors.FidelityWarning")  # the checks fit noise
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


def test_lists_work_in_the_tools_of_scikit_learn():
    cancer, diabetes = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True)
    labels, numbers = GlobalRulesClassifier(random_state=0), GlobalRulesRegressor(random_state=0)
    assert cross_val_score(labels, *cancer, cv=3).min() > 0.88
    assert cross_val_score(labels, *cancer, cv=3, scoring="roc_auc").min() > 0.9
    assert cross_val_score(make_pipeline(StandardScaler(), numbers), *diabetes, cv=3).min() > 0.2
    search = GridSearchCV(labels, {"max_rules": [1, 5], "explainer": [None, SufficientExplainer(pi=0.95)]}, cv=3)
    assert search.fit(*cancer).best_score_ > 0.9
    calibrated = CalibratedClassifierCV(labels, cv=3).fit(*cancer)
    assert calibrated.score(*cancer) > 0.9
