"""Cards and the report of a table with a rare class: bounds, lifts, levels by class, and the empty set."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from rare_classes import first, rare_explanations
from reported import cards_of, text_of
from sklearn.ensemble import RandomForestClassifier

from suffice import GlobalRulesClassifier, SufficientExplainer
from suffice._show.picture import level_fact, lift_text, set_shares
from suffice._show.report import make_report
from suffice._text import format_level, format_probability, format_with_bound


def test_the_card_of_a_row_shows_bound_all_variables_and_lift():
    explanations = rare_explanations("odds")
    e = explanations[first(explanations, "yes", is_sufficient=True)]
    text = text_of(e._repr_html_())
    assert f"needed {format_level(e.pi)} {format_with_bound(e.best_set.sdp, e.best_set.lower)}" in text
    assert e.sentences.lead in text
    assert f"{e.sentences.level_note} {e.sentences.bound_note}" in text
    assert e.sentences.level_note == "yes is rare, 7.8 % of all rows: 0.5 is 11.8 times its odds."
    assert text.count(f"(probability {format_probability(e.sdp_of_all)} for this row)") == 1
    assert text.count("times as likely as on average") == 1  # the rule's figures do not state it again
    assert "All variables together" not in text  # the first sentence states it


def test_the_card_of_a_rare_class_without_a_set_offers_a_lower_level():
    explanations = rare_explanations()
    e = explanations[first(explanations, "yes", is_sufficient=False)]
    text = text_of(e._repr_html_())
    assert e.sentences.advice == f"With pi={e.offered_pi:g}, age and debt are enough."
    assert e.sentences.advice in text
    assert f"needed {format_level(e.pi)} {format_with_bound(e.best_set.sdp, e.best_set.lower)}" in text


def test_the_card_of_the_empty_set_lists_no_sets():
    """It listed "1 sufficient set: nothing at all" below the rule that says so."""
    explanations = rare_explanations()
    e = explanations[first(explanations, "no", is_sufficient=True)]
    text = text_of(e._repr_html_())
    assert "no variable is needed" in text
    assert "ALWAYS no" in text
    assert "nothing at all" not in text
    assert "1 sufficient set" not in text
    assert set_shares(e) == []


def test_the_card_of_a_rule_states_the_lift():
    explanations = rare_explanations("odds")
    rule = explanations[first(explanations, "yes", is_sufficient=True)].rule
    assert lift_text(rule).endswith("times as likely as on average.")
    assert lift_text(rule) in text_of(rule._repr_html_())
    common = rare_explanations().rules[first(rare_explanations(), "no", is_sufficient=True)]
    assert lift_text(common) == "0.92 among all rows."  # what most rows have is hardly news


def test_the_card_of_a_list_of_rules_states_the_lift():
    explanations = rare_explanations("odds")
    rules = [rule for rule in explanations.rules if rule is not None and rule.outcome == "yes"]
    card = GlobalRulesClassifier.from_explanations(rules, *explanations.training)._repr_html_()
    assert "times as likely as on average" in text_of(card)


def test_the_card_of_all_rows_names_sizes_and_counts_contested_sets():
    explanations = rare_explanations()
    text = text_of(explanations._repr_html_())
    assert "no variable needed" in text
    assert "0 variables" not in text
    n = sum(e.is_contested for e in explanations)
    assert n > 1
    assert f"{n} sets are contested: other values of these rows point to another outcome." in text


@pytest.mark.parametrize(
    ("settings", "fact"),
    [
        ({"pi": 0.9, "levels": "same", "confidence": None}, "0.9 or more for a sufficient set"),
        (
            {"pi": 0.95, "levels": "odds", "confidence": 0.99},
            (
                "a level for each class, from 0.5 to 0.95: 19 times the odds of the class or more for a sufficient set"
                ", at 99 % confidence"
            ),
        ),
        ({"pi": 1.0, "levels": "odds", "confidence": None}, "1 or more for a sufficient set"),
        ({"pi": 0.5, "levels": "odds", "confidence": None}, "0.5 or more for a sufficient set"),
    ],
)
def test_the_facts_state_what_a_set_must_reach(settings, fact):
    assert level_fact(settings, "classification") == fact


def test_the_facts_of_numbers_know_no_classes():
    """The card of a regression spoke of the odds of the class."""
    settings = {"pi": 0.8, "levels": "odds", "confidence": None}
    assert level_fact(settings, "regression") == "0.8 or more for a sufficient set"


def test_the_page_states_the_level_once_for_all_classes_or_for_each():
    same, odds = (text_of(make_report(rare_explanations(levels))) for levels in ("same", "odds"))
    assert "stays the same with a probability of at least 0.9, and no smaller part" in same
    assert "The mark on its bar stands at 0.9." in same
    assert "193 rows, probability 0.9 Fidelity" in same
    assert "with at least probability 0.9 for no and 0.5 for yes, and no smaller part" in odds
    assert "196 rows, probability 0.9 for no and 0.5 for yes Fidelity" in odds
    assert "The mark on its bar stands at the level of the class." in odds
    assert not re.search(r"probability 0\.9(?!\d| for no)", odds)
    assert "a lower bound, which holds with 95 % confidence." in odds
    assert "which holds with 90 % confidence" in text_of(make_report(rare_explanations(confidence=0.9)))


def test_classes_of_the_same_size_have_one_level_which_is_not_pi():
    """The report said that 0.9 is needed, where 0.82 is."""
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 40)
    X = pd.DataFrame({"of class": np.repeat([0.0, 1.0, 2.0], 40) + rng.normal(scale=0.1, size=120)})
    explanations = SufficientExplainer(RandomForestClassifier(10, random_state=0)).fit(X, y).explain(X[:5])
    assert explanations[0].pi == pytest.approx(0.9 / 1.1)
    assert explanations.level_text == "probability 0.82"


def test_the_page_draws_bounds_notes_and_the_empty_set():
    explanations, same = rare_explanations("odds"), rare_explanations()
    i, j = first(explanations, "yes", is_sufficient=True), first(same, "no", is_sufficient=True)
    e, markup = explanations[i], cards_of(make_report(explanations))[i][1]
    shown = text_of(markup)
    for text in (format_with_bound(e.rule.sdp, e.best_set.lower), e.sentences.all_text, e.sentences.level_note):
        assert text in shown
    assert e.sentences.lift_text[1:] in shown
    assert f"needed {format_level(e.pi)}" in shown
    shown = text_of(cards_of(make_report(same))[j][1])
    assert "no variable is needed" in shown
    assert "ALWAYS no" in shown
    assert "nothing at all" not in shown
