"""Short lists of rules: at most so many, chosen for coverage and precision together."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from rule_boxes import LEFT, MIDDLE, MIXED, SMALL, X, Y, box, classifier, random_rules, regressor
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer
from suffice._table.condition import Condition
from suffice.explaining.rule import Rule
from suffice.rule_lists.estimators import N_RULES

FIGURES = (None, 0.9, 1, 0.1, None, None, True, 1.0, False)


def make_rules(n=2000, n_rules=60):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(n, 4))
    score = table[:, 0] + 0.5 * table[:, 1]
    return random_rules(rng, n_rules, table), table, score + rng.normal(size=n) / 2


def both():
    rules, table, y = make_rules()
    yield classifier, rules, table, np.where(y > 0.5, "high", "low")
    yield regressor, rules, table, y


@pytest.mark.parametrize("max_rules", [1, 4, 10])
def test_a_short_list_is_a_sum_of_rules(max_rules):
    for make, rules, table, y in both():
        full = make(rules, X=table, y=y)
        short = make(rules, X=table, y=y, max_rules=max_rules)
        assert len(short.rules_) <= max_rules < len(full.rules_)
        assert all(line.adds is not None and len(line.rule.conditions) <= 3 for line in short.rules_)
        assert short.collected_.rules_ == full.rules_
        assert all(line.adds is None for line in full.rules_)
        assert short.simplify(max_rules=max_rules, max_loss=0).rules_ == short.rules_
        assert full.simplify(max_rules=max_rules, max_loss=0).rules_ == short.rules_


def test_more_rules_predict_better():
    for make, rules, table, y in both():
        scores = [make(rules, X=table, y=y, max_rules=n).score(table, y) for n in (1, 3, 10)]
        assert scores == sorted(scores)
        assert scores[-1] > scores[0]


def test_the_loss_is_bounded():
    for make, rules, table, y in both():
        full = make(rules, X=table, y=y)
        lengths = []
        for max_loss in (0.0, 0.01, 0.1):
            simple = full.simplify(max_rules=None, max_loss=max_loss)
            assert simple.loss_ <= max_loss + 1e-9
            lengths.append(len(simple.rules_))
        assert lengths == sorted(lengths, reverse=True)
        assert lengths[-1] < lengths[0] < len(full.rules_)
        assert full.loss_ == 0


def test_simplify_gives_a_list_that_people_can_read():
    for make, rules, table, y in both():
        full = make(rules, X=table, y=y)
        assert len(full.rules_) > N_RULES
        assert len(full.simplify().rules_) <= N_RULES
        assert full.collected_ is None


def test_estimates_for_new_rows_are_lower_than_figures_of_training_rows():
    for make, rules, table, y in both():
        rule_list = make(rules, X=table, y=y)
        assert all(line.expected < line.precision for line in rule_list.rules_)
    small, large = classifier([LEFT, MIDDLE]).rules_[1], classifier([box(high=299.5)], *large_table()).rules_[0]
    assert small.precision == large.precision == 1.0
    assert small.expected < 0.7 < 0.99 < large.expected


def large_table():
    x = np.arange(400.0)[:, None]
    return x, np.where(x[:, 0] < 300, "a", "b")


def test_the_estimate_of_the_local_rule_limits_that_of_its_line():
    x, y = large_table()
    rule = Rule((Condition("x0", high=299.5),), "a", None, 0.9, 300, 0.75, 0.8, None, True, 300.0, False)
    assert classifier([rule], X=x, y=y).rules_[0].expected == 0.8
    other = Rule((Condition("x0", high=299.5),), "b", None, 0.9, 300, 0.75, 0.8, None, True, 300.0, False)
    assert classifier([other], X=x, y=y).rules_[0].expected > 0.99  # it is about another label


# --- fitting ----------------------------------------------------------------------------------------------------------


def make_fitted(kind, forest, n=500):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["hour", "temp", "noise"])
    busy = (frame["hour"] > 0) & (frame["temp"] > -0.5)
    y = np.where(busy, "busy", "calm") if kind is GlobalRulesClassifier else 10.0 * busy + rng.normal(size=n)
    return kind(SufficientExplainer(forest(**SMALL), n_jobs=1)).fit(frame, y), frame, y


@pytest.fixture(scope="module", params=["labels", "numbers"])
def fitted(request):
    if request.param == "labels":
        return make_fitted(GlobalRulesClassifier, RandomForestClassifier)
    return make_fitted(GlobalRulesRegressor, RandomForestRegressor)


def test_a_fitted_list_is_short_by_default(fitted):
    rule_list, frame, y = fitted
    assert rule_list.max_rules == N_RULES == 10
    assert 2 <= len(rule_list.rules_) <= 10
    assert len(rule_list.collected_.rules_) > 2
    measured = rule_list.evaluate(frame, np.asarray(y))
    assert measured.total_coverage > 0.5
    assert measured.total_precision > 0.8
    assert rule_list.score(frame, y) > 0.85


def test_the_list_of_a_fitted_explainer_is_that_of_fit(fitted):
    rule_list, frame, _ = fitted
    again = type(rule_list).from_explainer(rule_list.explainer_)
    assert again.rules_ == rule_list.rules_
    assert again.explainer_ is rule_list.explainer_
    assert again.predict(frame).tolist() == pytest.approx(rule_list.predict(frame).tolist(), nan_ok=True)


def test_all_rules_of_a_fitted_explainer(fitted):
    rule_list, _, _ = fitted
    explainer = rule_list.explainer_
    every = type(rule_list).from_explainer(explainer, max_rules=None)
    explanations = explainer.explain(*explainer.training, sets="minimal", check="rows")
    assert every.rules_ == type(rule_list).from_explanations(explanations).rules_
    assert every.collected_ is None


def test_the_list_of_the_paper_abstains():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(18, max_depth=15, random_state=0)
    rule_list = GlobalRulesClassifier.paper(forest).fit(X[::2], y[::2])
    predicted, covered = rule_list.predict(X[1::2]), rule_list.covered(X[1::2])
    assert covered.mean() > 0.85
    assert np.mean(predicted[covered] == y[1::2][covered]) > 0.93
    assert {type(label) for label in predicted[~covered]} == {type(None)}
    assert min(line.precision for line in rule_list.rules_) >= 0.9
    assert GlobalRulesRegressor.paper(min_support=3).get_params()["min_precision"] == 0.0


def test_an_explainer_that_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match=r"The explainer is not fitted: fit it first, or call fit\(X, y\)"):
        GlobalRulesClassifier.from_explainer(SufficientExplainer())


def test_a_pickled_short_list_is_the_same(fitted):
    rule_list, _, _ = fitted
    again = pickle.loads(pickle.dumps(rule_list))
    assert str(again) == str(rule_list)
    assert again.collected_.rules_ == rule_list.collected_.rules_


@pytest.mark.parametrize("max_rules", [0, -1, 2.5])
def test_a_number_of_rules_must_be_whole_and_positive(max_rules):
    with pytest.raises((ValueError, TypeError), match="`max_rules` must be None or a whole number >= 1, got"):
        GlobalRulesClassifier(max_rules=max_rules).fit(X, Y)
    with pytest.raises((ValueError, TypeError), match="`max_rules` must be None or a whole number >= 1, got"):
        classifier([LEFT]).simplify(max_rules=max_rules)


def test_a_loss_out_of_range_is_refused():
    with pytest.raises(ValueError, match=r"`max_loss` must be in \[0, 1\), got 1"):
        classifier([LEFT, MIXED]).simplify(max_loss=1)
