"""Explanations of a table with a rare class: texts, levels by class, the empty set, frames and rules."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from rare_classes import first, rare_explainer, rare_explanations, rare_table

from suffice import GlobalRulesClassifier, Rule, SufficientExplainer
from suffice._io.result_table import result_columns
from suffice.explaining.sentences import NO_SIGNAL


def test_the_summary_counts_rows_that_need_no_variable():
    explanations = rare_explanations()
    n_empty = sum(e.is_sufficient and not e.best_set.variables for e in explanations)
    text = str(explanations)
    assert "(probability 0.9)" in text
    assert f"{n_empty} rows need no variable: the outcome is kept for all values." in text
    assert n_empty > 150


def test_a_rare_class_has_sets_by_default():
    """None of its rows had one at the level of the common class."""
    of_class = np.array([e.outcome == "yes" for e in rare_explanations()])
    by_default = rare_explainer().explain(rare_table()[0][:200], rare_table()[1][:200], progress=False)
    n_same, n_odds = rare_explanations().has_set[of_class].sum(), by_default.has_set[of_class].sum()
    assert n_odds > n_same


def test_levels_by_class_are_no_single_probability():
    explanations = rare_explanations("odds")
    assert "(probability 0.9 for no and 0.5 for yes)" in str(explanations)
    assert rare_explanations(confidence=0.95).level_text == "probability 0.9, at 95 % confidence"


def test_each_row_has_the_level_of_its_class():
    for e in rare_explanations("odds"):
        odds = 9 * e.base_rate / (1 - e.base_rate)
        assert e.pi == pytest.approx(min(0.9, max(0.5, odds / (1 + odds))))
        assert e.levels == "odds"


def test_numbers_have_one_level():
    X, _ = rare_table()
    explanations = SufficientExplainer(random_state=0, radius=0.1).fit(X, X["age"] + X["debt"]).explain(X[:20])
    assert explanations.level_text == "probability 0.8"
    assert {e.pi for e in explanations} == {0.8}
    assert not any(e.sentences.level_note for e in explanations)
    assert (explanations.lifts > 0).any()


def test_variables_without_signal_are_named_in_the_summary():
    X, y = rare_table()
    shuffled = np.random.default_rng(0).permutation(np.asarray(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explanations = SufficientExplainer(random_state=0, pi=0.99).fit(X, shuffled).explain(X[:20])
    assert not explanations.has_set.any()
    assert NO_SIGNAL in str(explanations)
    assert NO_SIGNAL in explanations[0].sentences.lead


def test_the_rule_of_the_empty_set_covers_everything():
    explanations = rare_explanations()
    e = explanations[first(explanations, "no", is_sufficient=True)]
    assert e.best_set.variables == ()
    assert e.rule.conditions == ()
    assert str(e.rule).startswith("ALWAYS no  (coverage 100 %")
    assert e.rule.support == len(rare_table()[0])


def test_a_rule_without_conditions_comes_last_in_a_list():
    """It stood before rules that are less precise, which then never decided a row."""
    X, y = rare_table()
    always = rare_explanations().rules[first(rare_explanations(), "no", is_sufficient=True)]
    rules = [always, *rare_explanations("odds").rules]
    rule_list = GlobalRulesClassifier.from_explanations([r for r in rules if r is not None], X, y)
    assert [not line.rule.conditions for line in rule_list.rules_] == [False] * (len(rule_list.rules_) - 1) + [True]
    predicted = rule_list.predict(X)
    assert set(predicted) == {"yes", "no"}
    assert rule_list.coverage(X) == 1.0
    assert str(rule_list.rules_[-1]).startswith("ALWAYS no  (support 1200")
    assert rule_list.to_sql().splitlines()[-3] == "  WHEN 1 = 1 THEN 'no'"


def test_rules_of_a_rare_class_state_its_lift():
    explanations = rare_explanations("odds")
    rule = explanations[first(explanations, "yes", is_sufficient=True)].rule
    assert rule.base_rate == np.mean(rare_table()[1] == "yes")
    assert "times as likely as on average)" in str(rule)
    line = next(r for r in GlobalRulesClassifier.from_explanations(explanations).rules_ if r.output == "yes")
    assert "times as likely as on average)" in str(line)
    others = [r for r in GlobalRulesClassifier.from_explanations(explanations).rules_ if r.output == "no"]
    assert not any("likely" in str(other) for other in others)
    assert Rule.from_dict(rule.to_dict()) == rule


def test_the_rule_of_a_chosen_set_knows_the_base_rate():
    X, y = rare_table()
    explanations = rare_explanations("odds")
    i = first(explanations, "yes", is_sufficient=True)
    explainer = rare_explainer().with_settings(levels="odds")
    assert explainer.rule(X[i : i + 1], list(explanations[i].best_set.variables), y[i : i + 1])[0].base_rate < 1 / 3


def test_the_frames_hold_the_bound_all_variables_and_the_lift():
    explanations = rare_explanations()
    rows, sets = explanations.to_frame("rows"), explanations.to_frame("sets")
    best = [e.best_set for e in explanations]
    for frame in (rows, sets.drop_duplicates("row")):
        assert frame["sdp_lower"].tolist() == [s.lower for s in best]
        assert frame["sdp_of_all"].tolist() == [e.sdp_of_all for e in explanations]
        assert frame["lift"].tolist() == pytest.approx([e.lift for e in explanations])
    assert (rows["sdp_lower"] <= rows["sdp"]).all()
    assert sets["sdp_lower"].isna().sum() == len(sets) - len(explanations)


def test_an_outcome_that_no_training_row_has_has_no_lift():
    X, _ = rare_table()
    explainer = SufficientExplainer(random_state=0, radius=1e-3).fit(X, X["age"])
    explanations = explainer.explain(X[:2], [100.0, 100.0])
    assert np.isnan(explanations.lifts).all()
    assert result_columns(explanations)["lift"] == [None, None]
    assert explanations[0].lift is None
