"""What would change the outcome of all rows of a rule."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from loans import loan_explainer, make_loans
from sklearn.ensemble import RandomForestClassifier

from suffice import GlobalRulesClassifier, SufficientExplainer
from suffice.regional_changes import read_rules


@pytest.fixture(scope="module")
def explainer():
    return loan_explainer()


def test_rules_get_an_unless(explainer):
    X, _ = make_loans()
    explanations = explainer.explain(X[:40], sets="minimal")
    bad = [rule for rule in explanations.rules if rule is not None and rule.outcome == "bad"]
    regional = explainer.what_if_rules(bad, pi=0.8)
    assert len(regional) == len(bad)
    found = [change for change in regional if change.unless]
    assert found
    for change in found:
        assert change.probability >= 0.8 - 1e-9
        assert "UNLESS" in str(change)
        assert {c.column for c in change.unless} <= {"income", "account", "age", "debt"}
    assert regional.to_frame()["rule"].tolist() == [change.rule_text for change in regional]
    json.loads(regional.to_json())


def test_a_change_everywhere_holds_for_every_row_of_the_rule(explainer):
    """Moved into the box, every row of the rule gets the target from the forest, whatever the rule leaves open."""
    X, _ = make_loans()
    rules = {str(rule): rule for rule in explainer.explain(X[:60], sets="minimal").rules if rule is not None}
    bad = [rule for rule in rules.values() if rule.outcome == "bad"]
    regional = explainer.what_if_rules(bad, pi=0.8, check="everywhere", min_plausibility=0.0)
    assert [change.reached for change in regional if change.unless] == [1.0] * sum(bool(c.unless) for c in regional)
    found = [(rule, change) for rule, change in zip(bad, regional, strict=True) if change.unless]
    assert found
    for rule, change in found:
        covered = X[rule.covers(X)]
        inside = np.all([c.covers(X[c.column].to_numpy()) for c in change.unless], axis=0)
        for _, values in X[inside][:5].iterrows():
            moved = covered.assign(**{name: values[name] for name in change.variables}).astype(X.dtypes.to_dict())
            assert (explainer.predict(moved) == "good").all()


def test_of_several_boxes_the_one_that_changes_most_rows_is_chosen(explainer):
    X, _ = make_loans()
    rules = [rule for rule in explainer.explain(X[:40], sets="minimal").rules if rule is not None]
    for change in explainer.what_if_rules(rules, pi=0.8):
        if change.unless:
            assert 0.5 < change.reached <= 1
            assert f"reached by {round(100 * change.reached)} % of rows moved there" in str(change)
            assert change.to_dict()["reached"] == change.reached


def test_more_variables_are_searched_until_rows_of_the_rule_are_reached():
    """Good needs both a and b, which go together: rows with a high a are good, but not rows of the rule moved there."""
    rng = np.random.default_rng(0)
    a = rng.random(600)
    b = np.where(rng.random(600) < 0.8, a, rng.random(600))
    X = pd.DataFrame({"a": a, "b": b, "c": rng.random(600)}).round(3)
    y = np.where((X["a"] > 0.5) & (X["b"] > 0.5), "good", "bad")
    forest = RandomForestClassifier(20, max_features=None, min_samples_leaf=3, random_state=0)
    explainer = SufficientExplainer(forest).fit(X, y)
    row = X[(X["a"] < 0.3) & (X["b"] < 0.3)][:1]
    rule = explainer.rule(row, ["a"])[0]
    assert rule.outcome == "bad"
    [alone] = explainer.what_if_rules([rule], "good", max_size=1, pi=0.8)
    assert alone.variables == ("a",)
    assert alone.probability > 0.8 > alone.reached
    [change] = explainer.what_if_rules([rule], "good", pi=0.8)
    assert change.variables == ("a", "b")
    assert change.reached >= 0.8


def test_a_list_of_rules_gets_a_table(explainer):
    X, y = make_loans()
    rules = GlobalRulesClassifier.from_explanations(explainer.explain(X[:60], y[:60], sets="minimal"), X, y)
    regional = explainer.what_if_rules(rules, pi=0.8)
    assert [change.outcome for change in regional] == [line.output for line in rules.rules_]
    for change in regional:
        assert change.wanted == ("good" if change.outcome == "bad" else "bad")
        assert "THEN" in str(change)
    assert regional[:1][0] == regional[0]


def test_other_things_are_no_rules():
    with pytest.raises(TypeError, match="must hold rules"):
        read_rules([3])
