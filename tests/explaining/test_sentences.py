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
NUMBER = {"outcome": 283.0, "prediction": 280.0, "interval": (233.0, 333.0), "votes": None}
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
        "votes": 0.719,
    }
    return Explanation(**{**plain, **changes})


def without_set(**changes):
    best = SufficientSet(("age", "income", "city"), 0.74, 0.68)
    return explanation(**{"sufficient_sets": (), "best_set": best, "sdp_of_all": 0.749, **changes})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "Churn is predicted: Yes (0.71 of the votes)."),
        ({"target": "y"}, "The outcome is predicted: Yes (0.71 of the votes)."),
        ({"source": "given"}, "Churn is observed: Yes (0.71 of the forest's votes)."),
        ({"source": "given", "target": "y", "votes": None}, "The outcome is observed: Yes."),
        (
            {"source": "model", "model": "LGBMClassifier", "target": "prediction"},
            "LGBMClassifier predicts: Yes (0.71 of the forest's votes).",
        ),
        ({"source": "model", "model": "function", "target": "prediction", "votes": None}, "The model predicts: Yes."),
        (
            {"source": "forest", "model": "LGBMClassifier", "target": "prediction"},
            "The output of LGBMClassifier is predicted: Yes (0.71 of the votes).",
        ),
        (
            {"source": "given", "model": "LGBMClassifier", "target": "prediction", "votes": None},
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
def test_the_outcome_is_named_with_its_source_and_the_votes(changes, sentence):
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
    assert explanation().sentences.lead == "age = 33 alone is enough to keep it with probability 0.92 (at least 0.88)."
    pair = explanation(best_set=SufficientSet(("age", "city"), 0.93))
    assert pair.sentences.lead == "age = 33 and city = Oslo are enough to keep it with probability 0.93."
    number = explanation(outcome=212.0, interval=(180.0, 260.0), prediction=212.0)
    assert number.sentences.lead == (
        "age = 33 alone is enough to keep it between 180 and 260 with probability 0.92 (at least 0.88)."
    )


def test_the_rows_behind_a_rule_are_stated():
    rows = "131 of the 143 training rows within these bounds (2.4 % of all) have this outcome"
    assert f"{rows}; expected precision on new rows: 0.88." in str(explanation(rules=(RULE,)))


def test_a_row_without_a_set_says_what_is_possible():
    assert without_set(nearest_set=PAIR).sentences.lead == (
        "No set of the candidates keeps it with probability 0.9. All variables together reach 0.74; age = 33 and "
        "income = 2000 keep nearly all of it: 0.72 (at least 0.66)."
    )


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
        (
            None,
            "All variables together reach 0.74; age = 33, income = 2000 and city = Oslo keep nearly all of it: 0.74",
        ),
    ],
)
def test_nearly_all_is_said_only_where_it_is_true(nearest, sentence):
    assert sentence in without_set(nearest_set=nearest).sentences.lead


def test_why_all_variables_reach_less_than_a_set_is_said():
    """A set with 0.92 beside all variables with 0.78 read like a mistake."""
    reason = "All variables together reach 0.78: other values point to another outcome."
    assert explanation(sdp_of_all=0.78).sentences.all_text == reason
    assert explanation(sdp_of_all=0.9).sentences.all_text == "All variables together reach 0.90."
    assert without_set(sdp_of_all=0.78).sentences.all_text == "All variables together reach 0.78."


def test_what_to_do_is_listed_in_the_text():
    text = str(without_set(nearest_set=PAIR, source="given", prediction="No"))
    assert text.endswith(
        "What you can do:\n"
        "  Explain it with pi=0.72.\n"
        "  Leave out `y` to explain what the forest predicts instead of the observed outcome."
    )
    assert str(explanation()).count("What you can do") == 0


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({}, ["pi"]),
        ({"nearest_set": SufficientSet(("age",), 0.499)}, []),
        ({"nearest_set": SufficientSet(("age",), 0.9, 0.6), "confidence": 0.95}, ["pi"]),
        ({"levels": "odds"}, []),
        ({"has_signal": False}, []),
        ({"source": "given", "prediction": "No"}, ["pi", "prediction"]),
        ({"source": "model", "prediction": "No"}, ["pi"]),
        ({"base_rate": 0.2}, ["pi", "levels"]),
        (NUMBER, ["pi"]),
        ({**NUMBER, "nearest_set": SufficientSet(("age",), 0.499)}, ["interval"]),
    ],
)
def test_only_what_would_help_is_advised(changes, kinds):
    shown = without_set(**{"nearest_set": PAIR, **changes})
    assert [advice.kind for advice in shown.sentences.advice] == kinds
    assert explanation(**{**changes, "nearest_set": None}).sentences.advice == ()


def test_a_number_without_a_set_is_offered_a_wider_interval():
    """Where no set reached 0.5 of a narrow interval, nothing was advised."""
    shown = without_set(**NUMBER, nearest_set=SufficientSet(("age",), 0.37))
    wider = "Explain it within a wider interval: take a larger `radius`, or a smaller `alpha`."
    assert str(shown).endswith(f"What you can do:\n  {wider}")


def test_the_offered_level_is_rounded_down():
    assert without_set(nearest_set=PAIR).offered_pi == 0.72
    assert without_set(nearest_set=PAIR, confidence=0.95).offered_pi == 0.66
    assert without_set(nearest_set=PAIR, pi=0.72).offered_pi is None
    assert explanation().offered_pi is None


def test_sets_without_a_rule_of_enough_rows_say_so():
    assert NO_RULE in str(explanation(rules_searched=True))
    assert NO_RULE not in str(explanation())
    assert NO_RULE not in str(explanation(rules_searched=True, rules=(RULE,)))
    assert NO_RULE not in str(without_set(rules_searched=True))
    assert NO_RULE not in str(explanation(rules_searched=True, best_set=SufficientSet((), 0.95)))


def test_a_rule_of_another_set_than_the_best_says_so():
    best, other = SufficientSet(("city",), 0.97, 0.9), SufficientSet(("age", "income"), 0.92)
    shown = explanation(best_set=best, sufficient_sets=(best, other), rules=(RULE,), rules_searched=True)
    note = "The rule is that of age and income: that of the best set covers too few training rows."
    assert shown.sentences.rule_note == note
    assert note in str(shown).splitlines()
    assert explanation(rules=(RULE,), rules_searched=True).sentences.rule_note == ""
    # The set was found by its SDP alone: with the same SDP as the best set, it was taken for the best.
    best = SufficientSet(("city",), 0.92, 0.9)
    assert (
        explanation(
            best_set=best, sufficient_sets=(best, other), rules=(RULE,), rules_searched=True
        ).sentences.rule_note
        == note
    )


def test_a_best_set_of_many_variables_names_few_that_come_near():
    best = SufficientSet(("age", "income", "city"), 0.92)
    note = "A smaller set comes close: age and income reach 0.88 (at least 0.80)."
    shown = explanation(best_set=best, nearest_set=SufficientSet(("age", "income"), 0.88, 0.801))
    assert shown.sentences.short_note == note
    assert note in str(shown)
    alone = explanation(best_set=best, nearest_set=SufficientSet(("age",), 0.88))
    assert alone.sentences.short_note == "A smaller set comes close: age reaches 0.88."
    assert explanation(best_set=best).sentences.short_note == without_set(nearest_set=PAIR).sentences.short_note == ""


def test_no_half_sentences_are_left():
    for shown in (explanation(rules=(RULE,)), without_set(nearest_set=PAIR)):
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
        told = made(**NUMBER, target="cnt", base_rate=base_rate)
        assert told.sentences.notes[0] == sentence
        assert sentence in told.text
        assert told.to_dict()["base_rate"] == base_rate
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
