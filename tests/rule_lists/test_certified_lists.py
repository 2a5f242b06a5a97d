"""Certified lists of global rules."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer
from suffice._table.condition import Condition
from suffice.explaining.rule import Rule

FIGURES = (0.95, 2, 0.5, 1.0, None, True, 2.0, False)


def make_data(seed=0, n=1200):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(list("xyz"), n), "c": rng.normal(size=n)})
    p = np.where((X["a"] > 0) & (X["b"] != "z"), 0.98, 0.01)
    return X, np.where(rng.random(n) < p, "yes", "no"), 5 * X["a"] + rng.normal(size=n)


def small_explainer(kind=RandomForestClassifier):
    return SufficientExplainer(kind(15, min_samples_leaf=10, random_state=0), n_jobs=1)


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = make_data()
    return GlobalRulesClassifier(small_explainer(), random_state=0).fit(X, y, holdout=0.3)


def test_every_rule_is_certified(fitted):
    certified = fitted.certify()
    assert 0 < len(certified.rules_) < len(fitted.collected_.rules_)
    assert all(line.certificate.is_certified for line in certified.rules_)
    assert all(line.certificate.adjustment == "benjamini-hochberg" for line in certified.rules_)
    assert certified.certificate_ is None
    X, y, _ = make_data(7, 4000)
    assert np.mean([np.mean(y[line.rule.covers(X)] == line.output) for line in certified.rules_]) > 0.95
    assert certified.coverage(X) > 0.6


def test_all_rules_collected_may_be_certified_in_their_order(fitted):
    """A list of `max_rules` keeps the others for `certify`."""
    texts = [line.text for line in fitted.collected_.rules_]
    assert fitted.rules_ != fitted.collected_.rules_
    for certified in (fitted.certify(), fitted.certify(of="list")):
        positions = [texts.index(line.text) for line in certified.rules_]
        assert positions == sorted(positions)
        assert certified.evaluate().total_coverage == pytest.approx(certified.coverage(fitted.explainer_.training[0]))


def test_a_list_is_certified_as_a_whole(fitted):
    certified = fitted.certify(of="list")
    whole = certified.certificate_
    rows = fitted.set_aside_
    decided = certified.decision_path(rows.table)
    outputs = certified.lines_.outputs[decided[decided >= 0]]
    assert whole.n_rows == (decided >= 0).sum()
    assert whole.n_kept == (outputs == rows.outcomes[decided >= 0]).sum()
    assert whole.is_certified
    assert whole.lower >= 0.9
    assert certified.heading.endswith(f"The list was {whole.sentence}.")
    assert json.loads(certified.to_json())["certificate"]["n_rows"] == whole.n_rows
    assert certified.coverage(make_data(7)[0]) >= fitted.certify().coverage(make_data(7)[0])
    assert certified.simplify().certificate_ is None


def test_the_rest_alone_makes_the_list(fitted):
    assert len(fitted.training_outcomes_) == 840
    assert len(fitted.set_aside_.outcomes) == 360
    levels = {line.rule.sdp >= 0.95 for line in fitted.collected_.rules_}
    assert levels == {True, False}


def line_rule(name, label, low, high):
    return Rule((Condition(name, low, high),), label, None, *FIGURES)


def test_a_rule_that_no_longer_holds_is_left_out():
    X = np.linspace(0, 2, 800)[:, None]
    y = np.where(X[:, 0] < 1, "low", "high")
    rules = [line_rule("x0", "low", 0.0, 1.0), line_rule("x0", "high", 1.0, 2.0)]
    rule_list = GlobalRulesClassifier.from_explanations(rules, X, y)
    changed = y.copy()
    changed[(X[:, 0] > 1) & (np.arange(800) % 3 == 0)] = "low"
    assert [line.output for line in rule_list.certify(X, y).rules_] == ["high", "low"]
    assert [line.output for line in rule_list.certify(X, changed).rules_] == ["low"]
    whole = rule_list.certify(X, changed, of="list")
    assert whole.rules_ == ()
    assert whole.certificate_ is None
    assert str(whole).startswith("0 rules")


def test_lists_are_falsely_certified_in_at_most_5_percent_of_trials():
    """The precision of each rule, and of the list, is .89 in truth; on the training rows it looks like .96."""
    rng = np.random.default_rng(0)
    rules = [line_rule("x0", "a", float(k), float(k + 1)) for k in range(4)]
    X = rng.uniform(0, 4, (2000, 1))
    rule_list = GlobalRulesClassifier.from_explanations(rules, X, np.where(rng.random(2000) < 0.96, "a", "b"))
    n_false = {"rules": 0, "list": 0}
    n_trials = 100
    for _ in range(n_trials):
        fresh = rng.uniform(0, 4, (600, 1))
        outcomes = np.where(rng.random(600) < 0.89, "a", "b")
        for of in n_false:
            n_false[of] += bool(rule_list.certify(fresh, outcomes, of=of, adjust="holm").rules_)
    assert max(n_false.values()) <= 0.05 * n_trials + 3 * np.sqrt(0.05 * n_trials)


def test_numbers_promise_their_interval():
    X, _, y = make_data(3)
    rule_list = GlobalRulesRegressor(small_explainer(RandomForestRegressor), random_state=0).fit(X, y, holdout=0.3)
    certified = rule_list.certify(precision=0.8)
    assert certified.rules_
    X, _, y = make_data(8, 3000)
    for line in certified.rules_:
        low, high = line.rule.interval
        covered = y[line.rule.covers(X)]
        assert np.mean((low <= covered) & (covered <= high)) > 0.8


def test_a_list_without_rules_stays_empty():
    rule_list = GlobalRulesClassifier.from_explanations([], [[1.0], [2.0]], ["a", "b"])
    assert rule_list.certify([[1.0]], ["a"]).rules_ == ()


def test_what_is_missing_or_wrong_is_said(fitted):
    X, y, _ = make_data(2)
    plain = GlobalRulesClassifier.from_explanations([line.rule for line in fitted.rules_], X, y)
    with pytest.raises(ValueError, match="No rows were set aside: pass fresh rows"):
        plain.certify()
    with pytest.raises(ValueError, match="Give `X` and `y` together, or neither for the rows that were set aside"):
        fitted.certify(X)
    with pytest.raises(ValueError, match="`precision` must be in"):
        fitted.certify(precision=0)
    with pytest.raises(ValueError, match="`confidence` must be in"):
        fitted.certify(confidence=1)


def test_the_default_decides_the_other_rows():
    X, y, _ = make_data(2, 400)
    rule_list = GlobalRulesClassifier(small_explainer(), random_state=0).fit(X, y, holdout=0.2)
    certified = rule_list.certify()
    open_rows = ~certified.covered(X)
    assert open_rows.any()
    assert set(certified.predict(X)[open_rows]) == {"no"}


def test_explanations_bring_the_rows_that_were_set_aside():
    X, y, _ = make_data(2)
    explainer = small_explainer().fit(X, y, holdout=0.25)
    rule_list = GlobalRulesClassifier.from_explanations(explainer.explain(*explainer.training, sets="minimal"))
    assert rule_list.certify().rules_


def test_cards_and_tables_show_the_certificates(fitted):
    certified = fitted.certify()
    certificate = certified.rules_[0].certificate
    assert certificate.sentence in certified._repr_html_()
    assert certificate.sentence in str(certified)
    assert certified.to_frame()["checked_lower"][0] == certificate.lower
    assert f"/* {certificate.sentence} */ THEN" in certified.to_sql()
    assert "set aside" not in fitted.to_sql()


def test_no_more_rules_are_certified_than_the_list_may_have(fitted):
    assert len(fitted.certify().rules_) > 1
    one = copy.copy(fitted)
    one.collected_ = copy.copy(fitted.collected_)
    one.collected_.max_rules = 1
    assert len(one.certify().rules_) == 1
    assert one.certify().rules_[0].certificate.n_rules == 1  # the others were not tested: fewer tests have more power


def test_what_is_certified_is_what_the_list_of_all_rules_certifies(fitted):
    for of in ("rules", "list"):
        of_all = fitted.collected_.certify(of=of)
        assert fitted.certify(of=of).rules_ == of_all.rules_
        assert of_all.collected_ is None


def test_a_simplified_list_certifies_the_rules_that_were_collected(fitted):
    """The rules of a sum are no promises of their own; in a certified list the first rule decides."""
    certified = fitted.simplify(max_rules=1).certify()
    assert certified.rules_ == fitted.certify().rules_
    assert all(line.adds is None for line in certified.rules_)
    assert "the first that covers a row decides" in certified.heading
