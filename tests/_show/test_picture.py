"""What rules and explanations show: sentences, figures, warnings, sets and the order of importances."""

from __future__ import annotations

import pytest
from reported import text_of

from suffice import Explanation, Rule, SufficientSet
from suffice._show.axis import Band
from suffice._show.cards import rule_sentence
from suffice._show.picture import Share, badge_text, cautions, picture_line, proof_text, row_drawings, set_shares
from suffice._table.encoding import Column
from suffice.explaining.rule import Condition
from suffice.explaining.sentences import NOT_COMPLETE
from suffice.rule_lists.measures import GlobalRule

HOUR = Column("hour", 0, "whole", extent=(0.0, 23.0))
TEMP = Column("temp", 1, "number", extent=(-10.0, 30.0))
TOWN = Column("town", 2, "category", labels=(("x",), ("y",)))
SETS = (SufficientSet(("hour",), 0.95), SufficientSet(("temp", "town"), 0.919))
VALUES = (("hour", (("hour", 6),)), ("temp", (("temp", 10.0),)), ("town", (("town", "x"),)))


def rule(*conditions, **changes):
    figures = {"outcome": "busy", "interval": None, "sdp": 0.959, "support": 12, "coverage": 0.12, "precision": 0.75}
    rest = {"mae": None, "optimal": True, "bound": 12.0, "everywhere": False, "target": "traffic"}
    return Rule(conditions, **{**figures, **rest, **changes})


def explanation(*rules, **changes):
    plain = {"outcome": "busy", "interval": None, "pi": 0.9, "sufficient_sets": SETS, "best_set": SETS[0]}
    columns = (HOUR, TEMP, TOWN)
    return Explanation(**{**plain, "values": VALUES, "rules": rules, "columns": columns, **changes})


# --- rules -----------------------------------------------------------------------------------------------------------


def test_a_rule_shows_its_sentence_its_figures_and_its_conditions():
    shown = rule(Condition("hour", 6.0, 9.0, True, True), Condition("temp", 0.123456789))
    row = explanation(shown, values=(("hour", (("hour", 7),)), ("temp", (("temp", None),))))
    markup = row._repr_html_()
    assert "<b>IF</b> 6 &lt;= hour &lt;= 9 <b>AND</b> temp &gt; 0.12346 <b>THEN</b> busy" in markup
    text = text_of(markup)
    assert "SDP needed 0.9 0.95" in text
    assert "coverage 12 % precision 0.75" in text
    assert "None of them may be missing." in text
    hour, temp = row_drawings(row)
    assert hour.band == Band(pytest.approx(6 / 24), pytest.approx(10 / 24), True, True)
    assert (hour.at, hour.value) == (pytest.approx(7.5 / 24), "7")
    assert (temp.at, temp.value) == (None, "missing")


def test_a_rule_without_a_row_shows_no_values():
    text = text_of(rule(Condition("hour", 6.0))._repr_html_())
    assert "hour > 6" in text
    assert "here" not in text


def test_a_rule_without_conditions_always_holds():
    assert rule_sentence([], "busy") == "<b>ALWAYS</b> busy"


@pytest.mark.parametrize(
    ("changes", "proof"),
    [
        ({}, "No other such rule covers more. The SDP is proven for every training row within these bounds."),
        (
            {"optimal": False, "support": 1},
            "A rule that covers more may exist. The SDP is proven for every training row within these bounds.",
        ),
        (
            {"everywhere": True},
            "No other such rule covers more. The SDP is proven for every point within these bounds.",
        ),
        (
            {"n_looked_at": 8192},
            (
                "No other such rule covers more of the 8,192 training rows looked at. "
                "The SDP is proven for each of these rows within these bounds."
            ),
        ),
    ],
)
def test_a_rule_shows_what_is_proven(changes, proof):
    shown = rule(Condition("hour", 6.0), **changes)
    assert proof_text(shown) == proof
    assert proof in text_of(shown._repr_html_())


def test_a_rule_shows_the_rows_behind_it_and_marks_few():
    few = "12 training rows (12 % of all) are within these bounds. These are few rows, so the figures are rough."
    assert few in text_of(rule(Condition("hour", 6.0))._repr_html_())
    many = rule(Condition("hour", 6.0), support=143, n_kept=131, precision=0.88)
    assert (
        "131 of the 143 training rows within these bounds (12 % of all) have this outcome; "
        "expected precision on new rows: 0.88."
    ) in text_of(many._repr_html_())


def test_a_rule_that_covers_no_row_has_no_precision():
    assert "precision - " in text_of(rule(Condition("hour", 6.0), precision=None)._repr_html_())


def test_a_global_rule_ends_with_its_class_or_its_number():
    of_class = picture_line(GlobalRule(rule(), "busy", 8, 0.4, 0.759, {"busy": 1.0}))
    assert (of_class.premise, of_class.output, of_class.conclusion, of_class.mae) == ("always", "busy", "busy", "")
    assert (of_class.coverage.text, of_class.precision.text) == ("40 %", "0.76")
    held = rule(Condition("hour", 6.0), Condition("temp", 7.0))
    number = picture_line(GlobalRule(held, 12.34567, 8, 0.4, 0.75, mse=4.0, mae=1.23456))
    assert (number.premise, number.output, number.mae) == ("hour > 6 AND temp > 7", "12.35", "1.23")
    assert number.conclusion == "traffic = 12.35 (MAE 1.23)"


def test_a_global_rule_shows_the_precision_expected_for_new_rows():
    """Cards, the report and the app showed the precision of the rows that made the rule."""
    line = GlobalRule(rule(), "busy", 49, 0.4, 0.98, {"busy": 1.0}, expected=0.871)
    assert (picture_line(line).precision.value, picture_line(line).precision.text) == (0.871, "0.87")


@pytest.mark.parametrize(("support", "few"), [(49, "few training rows"), (50, "")])
def test_a_global_rule_of_fewer_than_50_rows_is_marked(support, few):
    line = GlobalRule(rule(), "busy", support, 0.4, 0.98, {"busy": 1.0}, expected=0.871)
    assert picture_line(line).note == few
    assert ("few rows" in str(line)) is bool(few)


@pytest.mark.parametrize(
    ("precision", "text"), [(0.899, "0.90"), (0.0, "0.00"), (-0.001, "0.00"), (-0.35, "-0.35"), (-1.234, "-1.23")]
)
def test_a_negative_precision_is_shown_as_such(precision, text):
    """Cards and the report once wrote 0.00 for it."""
    assert picture_line(GlobalRule(rule(), 12.0, 8, 0.4, precision, mse=4.0, mae=1.0)).precision.text == text


# --- explanations ----------------------------------------------------------------------------------------------------


def test_an_explanation_shows_its_outcome_and_its_sets():
    row = explanation(rule(Condition("hour", 6.0)))
    assert set_shares(row) == [Share("hour", 0.95, "0.95", 0.9), Share("temp and town", 0.919, "0.91", 0.9)]
    assert text_of(row._repr_html_()).startswith("Outcome, observed busy 1 of 3 variables is enough")
    assert "2 sufficient sets each alone is enough hour 0.95 temp and town 0.91" in text_of(row._repr_html_())
    assert cautions(row) == ()


def test_a_number_shows_its_interval():
    text = text_of(explanation(outcome=20.123456, interval=(12.0, 31.00000001))._repr_html_())
    assert text.startswith("Outcome, observed 20.123 kept within [12, 31]")


def test_a_number_that_the_rule_keeps_reads_alike_in_text_and_picture():
    shown = rule(Condition("hour", 6.0), outcome=20.0, interval=(12.0, 31.0))
    assert shown.sentence == "IF hour > 6 THEN traffic in [12, 31]"
    assert text_of(rule_sentence(shown.conditions, shown.conclusion)) == shown.sentence


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ()),
        ({"prediction": "calm"}, ("The forest predicts calm here.",)),
        ({"is_search_complete": False}, (NOT_COMPLETE,)),
        ({"prediction": "calm", "is_search_complete": False}, ("The forest predicts calm here.", NOT_COMPLETE)),
        ({"outcome": 5.0, "interval": (1.0, 6.0), "prediction": 7.251234}, ("The forest predicts 7.2512 here.",)),
        (
            {"outcome": 9.0, "interval": (1.0, 6.0), "prediction": 3.0},
            ("The outcome lies outside the interval: the explanation is of the interval.",),
        ),
    ],
)
def test_all_reasons_to_read_with_care_are_on_the_card_and_in_the_text(changes, expected):
    """A card of a row with two reasons once showed the first alone."""
    shown = explanation(**changes)
    assert cautions(shown) == expected
    for caution in expected:
        assert caution in str(shown)
        assert caution in text_of(shown._repr_html_())
    assert ("Read with care." in str(shown)) == bool(expected and expected != (NOT_COMPLETE,))


def test_without_a_rule_the_values_of_the_best_set_are_shown():
    row = explanation()
    text = text_of(row._repr_html_())
    assert "hour = 6 alone is enough to keep it with probability 0.95 (0.9 is needed). Sufficient set hour" in text
    assert [(drawing.name, drawing.value) for drawing in row_drawings(row)] == [("hour", "6")]


def test_without_a_sufficient_set_the_nearest_is_shown():
    nearest = SufficientSet(("temp", "town"), 0.899)
    shown = explanation(sufficient_sets=(), best_set=nearest, offered_pi=0.85)
    assert badge_text(shown) == "no sufficient set"
    text, sentences = text_of(shown._repr_html_()), shown.sentences
    assert "keeps it with probability 0.9." in sentences.lead
    assert sentences.advice == "With pi=0.85, temp and town are enough."
    for sentence in (sentences.lead, sentences.advice):
        assert sentence in text
        assert sentence in str(shown)
    assert "Nearest set" in text
    assert "SDP needed 0.9 0.89" in text
    assert "Importance" not in text


def test_the_empty_set_needs_nothing():
    nothing = SufficientSet((), 0.95)
    row = explanation(sufficient_sets=(nothing,), best_set=nothing)
    assert badge_text(row) == "no variable is needed"
    assert "Sufficient set nothing at all: whatever is known" in text_of(row._repr_html_())
    assert set_shares(row) == []  # nothing to list


def test_indicators_that_are_off_are_left_out_of_text_and_picture():
    values = (("wind", (("wind_N", 0), ("wind_S", 1), ("wind_W", 0))),)
    shown = explanation(values=values, sufficient_sets=(), best_set=SufficientSet(("wind",), 0.5), columns=())
    assert [drawing.name for drawing in row_drawings(shown)] == ["wind_S"]
    assert "wind (wind_S = 1)" in str(shown)


def test_importances_have_one_order_in_which_the_best_set_comes_first():
    sets = (SufficientSet(("town", "hour"), 0.95), SufficientSet(("hour", "temp"), 0.92))
    shown = explanation(sufficient_sets=sets, best_set=sets[0])
    assert [name for name, _ in shown.ranked_importance()] == ["hour", "town", "temp"]
    assert "hour 1.00 town 0.50 temp 0.50" in text_of(shown._repr_html_()).partition("Importance")[2]
    assert "variable): hour 1.00, town 0.50, temp 0.50." in str(shown)
    alone = (SufficientSet(("town",), 0.95), SufficientSet(("temp",), 0.92), SufficientSet(("hour", "temp"), 0.93))
    shown = explanation(sufficient_sets=alone, best_set=alone[0])
    assert [name for name, _ in shown.ranked_importance("all")] == ["temp", "town", "hour"]
    assert "Importance" not in text_of(shown._repr_html_())  # the smallest sets say it all


def test_the_importance_of_a_single_set_says_nothing():
    assert "Importance" not in text_of(explanation(sufficient_sets=SETS[:1])._repr_html_())
