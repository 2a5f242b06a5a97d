"""What is said about one row: who predicts the outcome, what is enough, what all variables reach, and what to do."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from suffice import Explanation, SufficientExplainer, SufficientSet
from suffice._table.condition import Condition
from suffice.explaining.certificate import make_certificates
from suffice.explaining.rule import Rule
from suffice.explaining.sentences import NO_RULE

PAIR = SufficientSet(("age", "income"), 0.724, 0.661)
VALUES = (("age", (("age", 33.0),)), ("income", (("income", 2000.0),)), ("city", (("city", "Oslo"),)))
NUMBER = {"outcome": 283.0, "prediction": 280.0, "interval": (233.0, 333.0)}
RULE = Rule(
    (Condition("age", high=40.0),), "Yes", None, 0.92, 143, 0.024, 0.88, None, True, 143.0, False, "Churn", n_kept=131
)


def explanation(**changes):
    best = changes.pop("best_set", SufficientSet(("age",), 0.92, 0.88))
    plain = {
        "outcome": "Yes",
        "interval": None,
        "pi": 0.9,
        "sufficient_sets": (best,),
        "best_set": best,
        "values": VALUES,
        "prediction": "Yes",
        "target": "Churn",
        "source": "forest",
        "sdp_of_all": 0.879,
    }
    return Explanation(**{**plain, **changes})


def without_set(**changes):
    best = SufficientSet(("age", "income", "city"), 0.74, 0.68)
    return explanation(**{"sufficient_sets": (), "best_set": best, "sdp_of_all": 0.749, **changes})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "Churn is predicted: Yes (probability 0.87 for this row)."),
        ({"target": "y"}, "The outcome is predicted: Yes (probability 0.87 for this row)."),
        ({"source": "given"}, "Churn is observed: Yes (probability 0.87 for this row)."),
        ({"source": "given", "target": "y", "sdp_of_all": None}, "The outcome is observed: Yes."),
        (
            {"source": "model", "model": "LGBMClassifier", "target": "prediction"},
            "LGBMClassifier predicts: Yes.",
        ),
        ({"source": "model", "model": "function", "target": "prediction"}, "The model predicts: Yes."),
        (
            {"source": "forest", "model": "LGBMClassifier", "target": "prediction"},
            "The output of LGBMClassifier is predicted: Yes.",
        ),
        (
            {"source": "given", "model": "LGBMClassifier", "target": "prediction"},
            "The outcome is given: Yes.",
        ),
        (
            {"outcome": 212.0, "interval": (180.0, 260.0), "prediction": 212.0, "target": "cnt"},
            "cnt is predicted: 212.",
        ),
        (
            {"outcome": 220.0, "interval": (180.0, 260.0), "prediction": 212.0, "target": "cnt", "source": "given"},
            "cnt is observed: 220 (the forest predicts 212).",
        ),
        (
            {
                "outcome": 0.82,
                "interval": (0.6, 1.0),
                "prediction": 0.8,
                "target": "probability of Yes",
                "source": "model",
                "model": "SVC",
            },
            "SVC predicts the probability of Yes: 0.82 (the forest predicts 0.8).",
        ),
    ],
)
def test_the_outcome_is_named_with_its_source_and_the_row_s_own_probability(changes, sentence):
    assert explanation(**changes).sentences.outcome_sentence == sentence
    assert str(explanation(**changes)).startswith(sentence)


def test_the_title_names_the_row_the_target_and_the_source():
    assert explanation(row=3).sentences.title == "Row 3: Churn, predicted"
    assert explanation(row=3, id="1677-AEVQX", source="given").sentences.title == "Row 1677-AEVQX: Churn, observed"
    assert explanation(target="y").sentences.title == "Outcome, predicted"
    assert (
        explanation(source="model", model="SVC", target="prediction", row=0).sentences.title
        == "Row 0: outcome, predicted by SVC"
    )


def test_the_lead_names_the_values_and_the_probability():
    alone = "age = 33 alone is enough to keep it with probability 0.92 (at least 0.88; 0.9 is needed)"
    assert explanation().sentences.lead == f"{alone}."
    assert explanation(base_rate=0.4).sentences.lead == f"{alone}, 2.3 times as likely as on average."
    pair = explanation(best_set=SufficientSet(("age", "city"), 0.93))
    assert (
        pair.sentences.lead == "age = 33 and city = Oslo are enough to keep it with probability 0.93 (0.9 is needed)."
    )
    number = explanation(outcome=212.0, interval=(180.0, 260.0), prediction=212.0)
    assert number.sentences.lead == (
        "age = 33 alone is enough to keep it between 180 and 260 with probability 0.92 (at least 0.88; 0.9 is needed)."
    )


def test_the_lead_about_a_model_says_that_it_predicts():
    of_model = {"source": "model", "model": "SVC"}
    enough = "with probability 0.92 (at least 0.88; 0.9 is needed)."
    lead = explanation(**of_model, sdp_of_all=0.6).sentences.lead
    assert lead == f"age = 33 alone is enough for SVC to predict it {enough}"
    lead = explanation(**of_model, **NUMBER).sentences.lead
    assert lead == f"age = 33 alone is enough for SVC to predict a number between 233 and 333 {enough}"


@pytest.mark.parametrize(("own", "is_contested"), [(0.83, False), (0.819, True), (0.5, True), (0.99, False)])
def test_a_set_far_above_the_row_s_own_probability_is_contested(own, is_contested):
    shown = explanation(sdp_of_all=own)
    assert shown.is_contested is shown.to_dict()["is_contested"] is is_contested
    against = "; other values of this row point to another outcome."
    assert shown.sentences.lead.endswith(against) is is_contested
    assert not without_set(sdp_of_all=0.3).is_contested
    assert not explanation(sdp_of_all=own, model="SVC").is_contested  # a model is certain at the row
    assert not explanation(sdp_of_all=None).is_contested


def test_the_rows_behind_a_rule_are_stated():
    rows = "131 of the 143 training rows within these bounds (2.4 % of all) have this outcome"
    assert f"{rows}; expected precision on new rows: 0.88." in str(explanation(rules=(RULE,)))


def test_a_row_without_a_set_says_what_is_possible():
    reach = "age = 33 and income = 2000 reach 0.72 (at least 0.66)"
    shown = without_set(best_set=PAIR)
    assert shown.sentences.lead == f"No set of the candidates keeps it with probability 0.9. {reach}."
    assert str(shown).startswith("Churn is predicted: Yes (probability 0.74 for this row).")
    number = without_set(best_set=PAIR, **NUMBER)
    keeps = "No set of the candidates keeps it between 233 and 333 with probability 0.9. All variables together reach"
    nearly = "0.74; age = 33 and income = 2000 keep nearly all of it: 0.72 (at least 0.66)."
    assert number.sentences.lead == f"{keeps} {nearly}"


@pytest.mark.parametrize(
    ("nearest", "sentence"),
    [
        (SufficientSet(("age",), 0.73), "All variables together reach 0.74; age = 33 keeps nearly all of it: 0.73."),
        (SufficientSet(("age",), 0.6), "All variables together reach 0.74; age = 33 alone reaches 0.60."),
        (
            SufficientSet(("age", "city"), 0.8),
            "All variables together reach 0.74; age = 33 and city = Oslo reach 0.80.",
        ),
        (SufficientSet((), 0.71), "All variables together reach 0.74; without any variable the probability is 0.71."),
    ],
)
def test_nearly_all_is_said_only_where_it_is_true(nearest, sentence):
    assert sentence in without_set(best_set=nearest, **NUMBER).sentences.lead


def test_what_all_variables_reach_is_said_once():
    assert explanation(**NUMBER, sdp_of_all=0.956).sentences.all_text == "All variables together reach 0.95."
    assert explanation().sentences.all_text == ""  # the first sentence says it
    assert explanation(**NUMBER, model="SVR").sentences.all_text == ""


def test_the_level_that_is_offered_is_named_with_its_set():
    sentence = "With pi=0.7, age and income are enough."
    shown = without_set(best_set=PAIR, offered_pi=0.7)
    assert shown.sentences.advice == sentence
    assert str(shown).endswith(f"\n{sentence}")
    alone = without_set(best_set=SufficientSet(("age",), 0.72), offered_pi=0.7, **NUMBER)
    assert alone.sentences.advice == "With pi=0.7, age is enough."
    rare = without_set(best_set=PAIR, offered_pi=0.7, base_rate=0.3)
    assert rare.sentences.advice == "With pi=0.7, levels='same', age and income are enough."
    assert without_set(best_set=PAIR, offered_pi=0.7, base_rate=0.3, levels="same").sentences.advice == sentence
    nothing = without_set(best_set=SufficientSet((), 0.72), offered_pi=0.7)
    assert nothing.sentences.advice == "With pi=0.7, no variable is needed."
    assert without_set(best_set=PAIR).sentences.advice == explanation().sentences.advice == ""


@pytest.mark.parametrize(("base_rate", "pi", "note"), [
    (0.25, 0.75, "Yes is rare, 25 % of all rows: 0.75 is 9 times its odds."),
    (0.05, 0.5, "Yes is rare, 5 % of all rows: 0.5 is 19 times its odds."),
    (0.4, 0.857, ""),
    (0.8, 0.9, ""),
])  # fmt: skip
def test_the_level_of_a_rare_class_is_explained(base_rate, pi, note):
    assert explanation(base_rate=base_rate, pi=pi).sentences.level_note == note
    assert explanation(base_rate=base_rate, pi=pi, levels="same").sentences.level_note == ""


def test_sets_without_a_rule_of_enough_rows_say_so():
    assert NO_RULE in str(explanation(rules_searched=True))
    assert NO_RULE not in str(explanation())
    assert NO_RULE not in str(explanation(rules_searched=True, rules=(RULE,)))
    assert NO_RULE not in str(without_set(rules_searched=True))
    assert NO_RULE not in str(explanation(rules_searched=True, best_set=SufficientSet((), 0.95)))


def test_a_rule_that_tests_fewer_variables_than_the_set_says_so():
    best = SufficientSet(("age", "income"), 0.92)
    shown = explanation(best_set=best, rules=(RULE,), rules_searched=True)
    note = "age alone decides within these bounds."
    assert shown.sentences.rule_note == note
    assert note in str(shown).splitlines()
    assert explanation(rules=(RULE,), rules_searched=True).sentences.rule_note == ""
    three = SufficientSet(("age", "income", "city"), 0.92)
    both = replace(RULE, conditions=(Condition("age", high=40.0), Condition("income", low=100.0)))
    shown = explanation(best_set=three, rules=(both,), rules_searched=True)
    assert shown.sentences.rule_note == "age and income alone decide within these bounds."


def test_a_best_set_of_many_variables_names_few_that_come_near():
    best = SufficientSet(("age", "income", "city"), 0.92)
    note = "A smaller set comes close: age and income reach 0.88 (at least 0.80)."
    shown = explanation(best_set=best, smaller_set=SufficientSet(("age", "income"), 0.88, 0.801))
    assert shown.sentences.short_note == note
    assert note in str(shown)
    alone = explanation(best_set=best, smaller_set=SufficientSet(("age",), 0.88))
    assert alone.sentences.short_note == "A smaller set comes close: age reaches 0.88."
    assert explanation(best_set=best).sentences.short_note == without_set().sentences.short_note == ""


def test_no_half_sentences_are_left():
    for shown in (explanation(rules=(RULE,)), without_set(best_set=PAIR)):
        for words in ("Nearest comes", "Share of these", "To keep it, this is enough"):
            assert words not in str(shown)


@pytest.mark.parametrize(("n_checked", "is_expected"), [(0, True), (49, True), (50, False)])
def test_what_to_expect_of_new_rows_is_said_until_enough_fresh_rows_say_it(n_checked, is_expected):
    """The share of the rows that made a rule flatters it; a certificate of ten rows does not correct that."""
    certificate = make_certificates(
        [n_checked], [n_checked], level=0.9, confidence=0.95, adjustment=None, is_set_aside=True
    )[0]
    checked = replace(RULE, certificate=certificate)
    assert ("expected precision on new rows: 0.88" in checked.rows_text) is is_expected


def test_the_share_of_the_rows_that_made_a_rule_is_not_expected_of_new_rows():
    """With `counts="bootstrap"` the precision is that share, as in the paper."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    explainer = SufficientExplainer(random_state=0, n_jobs=1, counts="bootstrap").fit(X, X[:, 1] > 0)
    rule = explainer.explain(np.array([[0.0, 1.0, 0.0]]))[0].rule
    assert rule.precision == rule.n_kept / rule.support
    assert "expect" not in rule.rows_text


@pytest.mark.parametrize(
    ("base_rate", "sentence"),
    [
        (0.3333, "About a third of all cnt values lie in this interval."),
        (0.32, "32 % of all cnt values lie in this interval."),
        (0.413, "41 % of all cnt values lie in this interval."),
        (0.1, "About 1 in 10 cnt values lie in this interval."),
        (0.0004, "About 1 in 2,500 cnt values lie in this interval."),
        (0.745, "About three quarters of all cnt values lie in this interval."),
        (0.999, "99 % of all cnt values lie in this interval."),
        (1.0, "All cnt values lie in this interval."),
        (0.0, "No cnt values lie in this interval."),
    ],
)
def test_an_interval_says_which_share_of_all_outcomes_lies_in_it(base_rate, sentence):
    for made in (explanation, without_set):
        number = made(**NUMBER, target="cnt", base_rate=base_rate)
        assert number.sentences.notes[0] == sentence
        assert sentence in number.text
        assert number.to_dict()["base_rate"] == base_rate
    assert explanation(**NUMBER, target="y", base_rate=0.5).sentences.share_note.startswith(
        "About half of all outcomes"
    )
    assert explanation(base_rate=base_rate).sentences.share_note == ""


def test_whole_outcomes_and_flags_read_as_such():
    """A count was kept "between 180.54 and 240.2", and a holiday was "holiday = 1"."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"holiday": rng.integers(0, 2, 400), "open": rng.random(400) < 0.5, "hour": rng.integers(0, 24, 400)}
    )
    y = pd.Series(60 * X["holiday"] + 30 * X["open"] + X["hour"] + rng.integers(0, 3, 400), name="count")
    explainer = SufficientExplainer(random_state=0).fit(X, y)
    for told in explainer.explain(X[:20], candidates=["holiday", "open"]):
        low, high = told.interval
        assert low != round(low)
        first, last = math.ceil(low), math.floor(high)
        assert told.sentences.interval_text == f"[{first}, {last}]"
        assert (
            told.keeps(np.arange(first - 3, last + 4)).tolist()
            == [False] * 3 + [True] * (last - first + 1) + [False] * 3
        )
        value_of = {name: pairs[0][1] for name, pairs in told.values}
        assert f"holiday = {'yes' if value_of['holiday'] else 'no'}" in told.text
        assert f"open = {'yes' if value_of['open'] else 'no'}" in told.text
        assert value_of["holiday"] in (0, 1)
        assert not re.search("= (True|False|0|1)\\b", told.text)
        if told.rule is not None:
            assert told.rule.conclusion == f"count in [{first}, {last}]"
            assert told.rule.interval == told.interval
    fractions = SufficientExplainer(random_state=0).fit(X, y + 0.5)
    assert not fractions.fitted_.has_whole_outcomes
