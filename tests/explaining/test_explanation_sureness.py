"""What an explanation says about its probability: the lower bound, all variables, the lift, the level and options."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from suffice import Explanation, SufficientExplainer, SufficientSet
from suffice.explaining.sentences import NO_SIGNAL

HOUR = SufficientSet(("hour",), 0.937, 0.889)
NOTHING = SufficientSet((), 0.956, 0.931)


def explanation(best=HOUR, *, is_sufficient=True, **changes):
    plain = {
        "outcome": "busy",
        "interval": None,
        "pi": 0.9,
        "sufficient_sets": (best,) if is_sufficient else (),
        "best_set": best,
        "values": (("hour", (("hour", 6),)),),
        "sdp_of_all": 0.979,
        "base_rate": 0.5,
    }
    return Explanation(**{**plain, **changes})


def test_the_lower_bound_is_rounded_down_and_explained_once():
    assert str(explanation()) == (
        "The outcome is observed: busy.\n"
        "hour = 6 alone is enough to keep it with probability 0.93 (at least 0.88).\n"
        'All variables together reach 0.97. "At least" holds with 95 % confidence.'
    )
    assert str(HOUR) == "hour (SDP 0.93, at least 0.88)"


def test_the_confidence_of_the_explainer_is_named():
    text = str(explanation(confidence=0.99))
    assert '"At least" holds with 99 % confidence.' in text
    text = str(explanation(confidence=0.99, is_sufficient=False))
    assert "keeps it with probability 0.9 at 99 % confidence." in text


def test_without_a_bound_nothing_is_said_of_it():
    text = str(explanation(SufficientSet(("hour",), 0.937), sdp_of_all=None))
    assert text == "The outcome is observed: busy.\nhour = 6 alone is enough to keep it with probability 0.93."


@pytest.mark.parametrize(("base_rate", "lift"), [(0.2, 4.685), (0.0625, 14.992), (0.333, 2.8138)])
def test_a_rare_class_is_compared_with_its_share_of_all_rows(base_rate, lift):
    rare = explanation(base_rate=base_rate)
    assert rare.lift == pytest.approx(lift, abs=1e-3)
    shown = f"{int(lift)}" if lift >= 10 else f"{int(lift * 10) / 10:.1f}"
    assert f"(at least 0.88), {shown} times as likely as on average." in rare.sentences.lead


@pytest.mark.parametrize("changes", [{"base_rate": 1 / 3}, {"base_rate": None}, {"base_rate": 0.0}])
def test_a_common_class_and_an_unknown_share_have_no_lift_in_the_text(changes):
    assert "times as likely" not in str(explanation(**changes))


def test_a_number_has_no_lift_in_the_text():
    number = explanation(outcome=5.0, interval=(4.0, 6.0), base_rate=0.1)
    assert number.lift == pytest.approx(9.37)
    assert "times as likely" not in str(number)


def test_a_rare_class_without_a_set_is_offered_its_own_level():
    """0.9 / 0.1 times the odds 1 / 4 are 9 / 4, which is a probability of 0.692."""
    offered = explanation(base_rate=0.2, is_sufficient=False).sentences.offer
    assert (
        offered == "For rare classes there is levels='odds': this class would need probability 0.69, 9 times its odds."
    )
    assert offered in str(explanation(base_rate=0.2, is_sufficient=False))


@pytest.mark.parametrize(
    "changes",
    [
        {"is_sufficient": True},
        {"base_rate": 0.4},
        {"levels": "odds"},
        {"has_signal": False},
        {"pi": 1.0},
        {"outcome": 5.0, "interval": (4.0, 6.0)},
    ],
)
def test_nothing_is_offered_where_it_would_not_help(changes):
    assert explanation(**{"base_rate": 0.2, "is_sufficient": False, **changes}).sentences.offer == ""


def test_the_level_of_the_class_is_shown():
    """The odds of 0.6923 are 9 times those of 0.2."""
    by_class = explanation(base_rate=0.2, pi=9 / 13, levels="odds")
    assert by_class.sentences.level_note == "The level of this class is 0.69: 9 times its odds."
    assert by_class.sentences.level_note in str(by_class)
    none = explanation(base_rate=0.2, pi=9 / 13, levels="odds", is_sufficient=False)
    assert "keeps it with probability 0.69." in none.sentences.verdict
    assert explanation(base_rate=0.2).sentences.level_note == ""


def test_the_empty_set_reads_as_a_sentence():
    sentence = "No variable is needed to keep it: it has probability 0.95 (at least 0.93) among all rows."
    assert explanation(NOTHING).sentences.lead == sentence
    none = explanation(SufficientSet((), 0.2, 0.15), base_rate=0.2, is_sufficient=False)
    assert none.sentences.lead.endswith(
        "All variables together reach 0.97; without any variable the probability is 0.20 (at least 0.15)."
    )


def test_variables_that_say_nothing_are_named():
    nothing = explanation(SufficientSet((), 0.6, 0.5), is_sufficient=False, has_signal=False)
    assert nothing.sentences.verdict == NO_SIGNAL
    assert str(explanation(NOTHING, has_signal=False)).count(NO_SIGNAL) == 1
    assert str(nothing).count(NO_SIGNAL) == 1
    assert NO_SIGNAL not in str(explanation(NOTHING))


def test_the_dictionary_holds_all_of_it():
    values = explanation(base_rate=0.2, levels="odds", pi=0.7).to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["best_set"] == {"variables": ["hour"], "sdp": 0.937, "lower": 0.889}
    assert values["sufficient_sets"] == [values["best_set"]]
    assert (values["sdp_of_all"], values["base_rate"], values["levels"]) == (0.979, 0.2, "odds")
    assert (values["confidence"], values["has_signal"]) == (0.95, True)
    assert values["lift"] == pytest.approx(4.685)
    assert explanation(confidence=0.8).to_dict()["confidence"] == 0.8


@pytest.mark.parametrize(("support", "has_few_rows"), [(49, True), (50, False)])
def test_a_rule_of_fewer_than_50_rows_is_marked(support, has_few_rows):
    X = np.random.default_rng(0).normal(size=(400, 3))
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X, X[:, 1] > 0)
    whole = explainer.explain(np.array([[0.0, 1.0, 0.0]]))[0]
    note = "These are few rows, so the figures are rough."
    assert note not in whole.rule.rows_text
    rule = replace(whole.rule, support=support, n_kept=45, precision=0.871, coverage=0.125)
    marked = replace(whole, rules=(rule,))
    assert rule.has_few_rows is has_few_rows
    assert (note in rule.rows_text) is has_few_rows
    rows = f"45 of the {support} training rows within these bounds (12 % of all) have this outcome"
    assert f"{rows}; expected precision on new rows: 0.87." in str(marked)
    assert (note in str(marked)) is has_few_rows
