"""The explanation of one row as a value, a dictionary and text."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

from suffice import Explanation, SufficientExplainer, SufficientSet
from suffice._table.encoding import Column
from suffice.explaining.sentences import NOT_COMPLETE

NAN, INF = np.nan, np.inf
HOUR = SufficientSet(("hour",), 0.95)
TEMP = SufficientSet(("temp",), 0.91)
PAIR = SufficientSet(("rain", "wind"), 0.999)


def explanation(**changes):
    values = (
        ("hour", (("hour", 6),)),
        ("temp", (("temp", None),)),
        ("rain", (("rain", 0.25),)),
        ("wind", (("wind_N", 1), ("wind_S", 0))),
    )
    plain = {"outcome": "busy", "interval": None, "pi": 0.9, "sufficient_sets": (HOUR, TEMP, PAIR), "best_set": HOUR}
    return Explanation(**{**plain, "values": values, **changes})


def numbers(outcome, low, high, **changes):
    return explanation(outcome=outcome, interval=(low, high), **changes)


# --- SufficientSet and Explanation -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "sdp", "text"),
    [
        (("hour",), 0.95, "hour (SDP 0.95)"),
        (("hour", "temp"), 0.899, "hour and temp (SDP 0.89)"),
        (("hour", "temp", "rain"), 1.0, "hour, temp and rain (SDP 1.00)"),
        ((), 0.5, "nothing at all (SDP 0.50)"),
    ],
)
def test_a_set_shows_its_variables_and_probability(variables, sdp, text):
    assert str(SufficientSet(variables, sdp)) == text


def test_minimal_sets_are_those_of_the_smallest_size():
    assert explanation().minimal_sets == (HOUR, TEMP)
    assert explanation(sufficient_sets=(PAIR,)).minimal_sets == (PAIR,)
    assert explanation(sufficient_sets=()).minimal_sets == ()
    assert explanation(sufficient_sets=(SufficientSet((), 1.0),)).minimal_sets == (SufficientSet((), 1.0),)


def test_an_explanation_is_sufficient_if_it_has_a_set():
    assert explanation().is_sufficient
    assert not explanation(sufficient_sets=()).is_sufficient


def test_importance_is_the_share_of_sets_that_hold_a_variable():
    third = pytest.approx(1 / 3)
    assert explanation().importance == {"hour": 0.5, "temp": 0.5, "rain": 0.0, "wind": 0.0}
    assert explanation().ranked_importance() == [("hour", 0.5), ("temp", 0.5)]
    every = {"hour": third, "temp": third, "rain": third, "wind": third}
    assert dict(explanation().ranked_importance("all")) == every
    assert set(explanation(sufficient_sets=()).importance.values()) == {0.0}


def test_importances_that_are_all_equal_are_not_listed():
    """Eight variables with the same importance beside the eight sets that they are told readers nothing."""
    assert not explanation().importance_differs
    assert "Importance" not in str(explanation())
    pairs = (SufficientSet(("hour", "temp"), 0.95), SufficientSet(("hour", "rain"), 0.94))
    shown = explanation(sufficient_sets=pairs, best_set=pairs[0])
    assert shown.importance_differs
    listed = "Importance (share of the smallest sufficient sets with the variable): hour 1.00, temp 0.50, rain 0.50."
    assert listed in str(shown)
    assert not explanation(sufficient_sets=()).importance_differs


def test_importance_in_unknown_sets_is_refused():
    with pytest.raises(ValueError, match=r"`sets` must be one of \['minimal', 'all'\], got 'most'."):
        explanation().ranked_importance("most")


@pytest.mark.parametrize(
    ("outcome", "is_inside"), [(1.0, True), (2.0, True), (3.0, True), (0.999, False), (3.001, False)]
)
def test_the_interval_is_closed_at_both_ends(outcome, is_inside):
    assert numbers(outcome, 1.0, 3.0).is_outcome_in_interval is is_inside


def test_a_class_is_always_in_its_interval():
    assert explanation().is_outcome_in_interval


SEVERAL = """\
The outcome is observed: busy.
hour = 6 alone is enough to keep it with probability 0.95 (0.9 is needed).
Other sufficient sets (probability 0.9 or more):
  temp (SDP 0.91)
  rain and wind (SDP 0.99)"""

MANY = """\
The outcome is observed: busy.
a = 1 alone is enough to keep it with probability 0.90 (0.9 is needed).
Other sufficient sets (probability 0.9 or more):
  b (SDP 0.90)
  c (SDP 0.90)
  d (SDP 0.90)
  e (SDP 0.90)
  f (SDP 0.90)
  and 1 more"""

NOT_SUFFICIENT = """\
The outcome is observed: busy.
No set of the candidates keeps it with probability 0.9. hour = 6 and temp = missing reach 0.89."""

OUTSIDE = """\
The outcome is observed: 40. Read with care. The outcome lies outside the interval: the explanation is of the interval.
hour = 6 alone is enough to keep it between 8.25 and 31 with probability 0.95 (0.9 is needed)."""

RANKED = """\
The outcome is observed: busy.
hour = 6 alone is enough to keep it with probability 0.95 (0.9 is needed).
Other sufficient sets (probability 0.9 or more):
  temp and wind (SDP 0.99)
  temp and rain (SDP 0.97)"""

FEW = """\
The outcome is observed: busy.
hour = 6 alone is enough to keep it with probability 0.95 (0.9 is needed).
Other sufficient sets (probability 0.9 or more):
  temp (SDP 0.91)"""

WINDY = (HOUR, SufficientSet(("temp", "wind"), 0.99), SufficientSet(("temp", "rain"), 0.97))
SEVEN = tuple(SufficientSet((name,), 0.9) for name in "abcdefg")


ALONE = "hour = 6 alone is enough to keep it with probability 0.95 (0.9 is needed)."
BOTH = """\
The outcome is observed: busy.
rain = 0.25 and wind (wind_N = 1) are enough to keep it with probability 0.99 (0.9 is needed)."""
SEVEN_VALUES = tuple((name, ((name, 1.0),)) for name in "abcdefg")


@pytest.mark.parametrize(
    ("explanation", "text"),
    [
        (explanation(), SEVERAL),
        (explanation(sufficient_sets=(HOUR, TEMP)), FEW),
        (explanation(sufficient_sets=WINDY), RANKED),
        (
            explanation(sufficient_sets=(HOUR,)),
            f"The outcome is observed: busy.\n{ALONE}",
        ),
        (
            explanation(sufficient_sets=(PAIR,), best_set=PAIR),
            BOTH,
        ),
        (explanation(sufficient_sets=(), best_set=SufficientSet(("hour", "temp"), 0.8999)), NOT_SUFFICIENT),
        (
            explanation(sufficient_sets=(SufficientSet((), 0.97),), best_set=SufficientSet((), 0.97)),
            "The outcome is observed: busy.\n"  # noqa: ISC004
            "No variable is needed to keep it: it has probability 0.97 (0.9 is needed) among all rows.",
        ),
        (
            numbers(12.0, 8.25, 31.0, sufficient_sets=(HOUR,)),
            "The outcome is observed: 12.\n"  # noqa: ISC004
            "hour = 6 alone is enough to keep it between 8.25 and 31 with probability 0.95 (0.9 is needed).",
        ),
        (numbers(40.0, 8.25, 31.0, sufficient_sets=(HOUR,)), OUTSIDE),
        (
            explanation(outcome=True, sufficient_sets=(HOUR,)),
            f"The outcome is observed: True.\n{ALONE}",
        ),
        (
            explanation(
                sufficient_sets=SEVEN, best_set=SEVEN[0], values=tuple((name, ((name, 1.0),)) for name in "abcdefg")
            ),
            MANY,
        ),
    ],
)
def test_an_explanation_reads_as_plain_words(explanation, text):
    assert str(explanation) == text


@pytest.mark.parametrize(("n_sets", "n_more"), [(5, []), (6, []), (7, ["1"])])
def test_lists_are_cut_after_five(n_sets, n_more):
    text = str(explanation(sufficient_sets=SEVEN[:n_sets], best_set=SEVEN[0], values=SEVEN_VALUES))
    assert re.findall(r"and (\d) more", text) == n_more


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"sufficient_sets": (), "best_set": SufficientSet((), 0.5)}, "No set of the candidates keeps it"),
        ({"sufficient_sets": (SufficientSet((), 0.97),), "best_set": SufficientSet((), 0.97)}, "No variable is needed"),
    ],
)
def test_the_lead_begins_with_the_verdict(changes, verdict):
    shown = explanation(**changes)
    assert shown.sentences.verdict.startswith(verdict)
    assert shown.sentences.lead.startswith(shown.sentences.verdict.removesuffix("."))
    assert shown.sentences.lead in str(shown)


def test_a_search_that_ended_early_says_no_more_than_it_knows():
    """The text once denied that any set was sufficient, though not all were looked at."""
    shown = explanation(sufficient_sets=(), is_search_complete=False)
    assert shown.sentences.verdict == "No set of variables that the search looked at keeps it with probability 0.9."
    assert "candidates" not in str(shown)


def test_outcomes_are_kept_as_the_class_or_within_the_interval():
    assert explanation().keeps(["busy", "calm"]).tolist() == [True, False]
    assert numbers(2.0, 1.0, 3.0).keeps([0.999, 1.0, 3.0, 3.001, NAN]).tolist() == [False, True, True, False, False]
    assert explanation(outcome=True).keeps(np.array([True, False])).tolist() == [True, False]
    assert explanation().keeps([]).tolist() == []


def test_an_explanation_becomes_plain_values():
    assert numbers(12.0, 8.0, 31.0, sufficient_sets=(HOUR, PAIR)).to_dict() == {
        "outcome": 12.0,
        "interval": [8.0, 31.0],
        "pi": 0.9,
        "levels": "odds",
        "confidence": 0.95,
        "has_signal": True,
        "base_rate": None,
        "lift": None,
        "sdp_of_all": None,
        "target": "y",
        "source": "given",
        "is_contested": False,
        "offered_pi": None,
        "prediction": None,
        "forest_agrees": True,
        "is_sufficient": True,
        "is_search_complete": True,
        "values": {"hour": 6, "temp": None, "rain": 0.25, "wind_N": 1, "wind_S": 0},
        "best_set": {"variables": ["hour"], "sdp": 0.95},
        "sufficient_sets": [{"variables": ["hour"], "sdp": 0.95}, {"variables": ["rain", "wind"], "sdp": 0.999}],
        "importance": {"hour": 1.0},
        "rules": [],
    }
    assert explanation(sufficient_sets=()).to_dict()["importance"] == {}
    assert explanation().to_dict()["interval"] is None


@pytest.mark.parametrize(("value", "field"), [(HOUR, "sdp"), (explanation(), "pi")])
def test_sets_and_explanations_are_frozen(value, field):
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{field}'"):
        setattr(value, field, 0.5)


def test_sets_and_explanations_are_equal_by_value():
    assert SufficientSet(("hour",), 0.95) == HOUR
    assert hash(SufficientSet(("hour",), 0.95)) == hash(HOUR)
    assert SufficientSet(("hour",), 0.96) != HOUR
    assert explanation() == explanation()
    assert hash(explanation()) == hash(explanation())
    assert explanation(pi=0.8) != explanation()
    assert len({explanation(), explanation(), explanation(pi=0.8)}) == 2


# --- text ------------------------------------------------------------------------------------------------------------


# --- what is shown ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "care"),
    [
        (explanation(), ""),
        (explanation(prediction="busy"), ""),
        (explanation(prediction="calm"), "The forest predicts calm here."),
        (numbers(5.0, 1.0, 6.0, prediction=7.251234), "The forest predicts 7.2512 here."),
        (numbers(5.0, 1.0, 6.0, prediction=6.0), ""),
        (numbers(9.0, 1.0, 6.0), "The outcome lies outside the interval: the explanation is of the interval."),
    ],
)
def test_the_reason_to_read_with_care_is_one_sentence(shown, care):
    assert shown.sentences.care == care
    assert str(shown).splitlines()[0].endswith(f". Read with care. {care}" if care else ".")


def test_a_search_that_ended_early_is_mentioned_last():
    assert explanation().sentences.search_note == ""
    for sets in ((), (HOUR,)):
        shown = explanation(is_search_complete=False, sufficient_sets=sets)
        assert str(shown).splitlines()[-1] == shown.sentences.search_note == NOT_COMPLETE


def test_outcomes_and_intervals_have_texts():
    assert (explanation().sentences.outcome_text, explanation().sentences.interval_text) == ("busy", "")
    shown = numbers(20.123456, 12.0, 31.00000001)
    assert (shown.sentences.outcome_text, shown.sentences.interval_text) == ("20.123", "[12, 31]")


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ((("wind_N", 0), ("wind_S", 1)), (("wind_S", 1),)),
        ((("wind_N", 0), ("wind_S", 0)), (("wind_N", 0), ("wind_S", 0))),
        ((("wind_N", 1), ("wind_S", None)), (("wind_N", 1), ("wind_S", None))),
        ((("wind", 0),), (("wind", 0),)),
        (tuple((f"c{i}", i) for i in range(9)), tuple((f"c{i}", i) for i in range(5))),
    ],
)
def test_the_first_columns_are_shown_and_of_indicators_those_that_are_on(columns, shown):
    assert explanation(values=(("wind", columns),)).sentences.shown_values("wind") == shown


# --- values outside the training rows --------------------------------------------------------------------------------


def test_values_outside_the_training_rows_are_named():
    """They were accepted silently."""
    columns = (
        Column("hour", 0, "whole", extent=(7.0, 23.0)),
        Column("temp", 1, extent=(-5.0, 40.0)),
        Column("rain", 2, extent=(0.0, 0.2)),
        Column("wind_N", 3, "whole", extent=(0.0, 1.0)),
        Column("wind_S", 4, extent=(NAN, NAN)),
    )
    row = explanation(columns=columns)
    assert row.outside_range == ("hour", "rain")
    note = "Outside the range of the training rows: hour = 6 (from 7 to 23) and rain = 0.25 (from 0 to 0.2)."
    assert row.sentences.range_note == note
    assert note in row.sentences.notes
    assert note in str(row)
    many = explanation(columns=[dataclasses.replace(columns[0], extent=(7.0, 8.0))] * 5)
    assert many.sentences.range_note.endswith(
        ": hour = 6 (from 7 to 8), hour = 6 (from 7 to 8), hour = 6 (from 7 to 8) and 2 more."
    )
    within = explanation(columns=columns[1:2])
    assert (within.outside_range, within.sentences.range_note) == ((), "")


def test_the_ends_of_the_range_are_compared_as_the_forest_compares():
    column = Column("rain", 0, extent=(0.0, 123456.789))
    assert not column.is_outside(column.decode(np.float32(123456.789)))
    assert not column.is_outside(None)
    assert column.is_outside(123457.0)
    assert column.is_outside(-0.001)
    assert not Column("town", 0, "category", labels=(("a",),), extent=(0.0, 0.0)).is_outside("b")


def test_a_row_beyond_the_training_rows_says_so_everywhere():
    X = pd.DataFrame({"age": np.arange(100) % 50, "debt": np.arange(100) % 7})
    explainer = SufficientExplainer(random_state=0).fit(X, X["age"] > 20)
    beyond, within = explainer.explain(pd.DataFrame({"age": [99, 49], "debt": [3, 0]}))
    note = "Outside the range of the training rows: age = 99 (from 0 to 49)."
    assert note in str(beyond)
    assert note in beyond._repr_html_()
    assert (beyond.outside_range, within.outside_range) == (("age",), ())
