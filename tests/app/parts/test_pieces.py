import numpy as np
from app_client import all_text, with_class

from suffice._show.picture import picture_rule
from suffice.app.parts import pieces
from suffice.app.state.view import View
from suffice.explaining.rule import Condition, Rule


def test_a_rule_reads_as_the_library_writes_it(mixed):
    rule = mixed.rule(View(row=7))
    sentence = pieces.rule_sentence(picture_rule(rule, pi=0.9))
    assert all_text(sentence).split() == str(rule).splitlines()[0].split("  ")[0].split()
    assert sentence.title == str(rule)
    assert with_class(sentence, "then")[0].children == rule.conclusion


def test_a_rule_without_conditions_holds_always(mixed):
    rule = mixed.rule(View(row=7))
    always = Rule(**{**vars(rule), "conditions": ()})
    assert all_text(pieces.rule_sentence(picture_rule(always))).split() == ["ALWAYS", rule.conclusion]


def test_the_figures_of_a_rule(mixed):
    rule = mixed.rule(View(row=7))
    drawn = pieces.figures(picture_rule(rule, pi=0.9))
    names = [all_text(one) for one in with_class(drawn, "key")]
    assert names == ["SDP", "coverage", "precision"]
    assert [one.style["left"] for one in with_class(drawn, "tick")] == ["90%"]
    assert f"{rule.support} training rows within these bounds" in all_text(drawn)


def test_importances_are_drawn_in_order_and_cut():
    bars = pieces.importance_bars([("b", 1.0), ("d", 0.5), ("a", 0.2)], 2)
    assert [all_text(one) for one in with_class(bars, "label")] == ["b", "d"]
    assert [all_text(one) for one in with_class(bars, "number")] == ["1.00", "0.50"]
    assert all_text(with_class(bars, "more")) == "and 1 more"
    assert all_text(pieces.importance_bars([], 2)) == "No variable is in a sufficient set."


def test_bars_stay_within_their_ends():
    assert [pieces.bar(share).children[0].style["width"] for share in (-1, 0.25, 3)] == ["0%", "25%", "100%"]


def test_the_most_likely_classes_come_first():
    drawn = pieces.class_bars(["a", "b", "c"], np.array([0.1, 0.2, 0.7]), np.array([0.1, 0.8, 0.1]), "b")
    assert [all_text(one) for one in with_class(drawn, "class-name")] == ["b", "c", "a"]
    assert all_text(with_class(drawn, "own")) == "b"


def test_the_outcome_is_written_as_the_library_writes_it(mixed, diabetes):
    of_class = mixed.explain(View())
    assert all_text(pieces.outcome_text(of_class)) == of_class.outcome
    of_number = diabetes.explain(View())
    outcome, interval = pieces.outcome_text(of_number)
    assert outcome.children == of_number.sentences.outcome_text
    assert interval.children == f"kept within {of_number.sentences.interval_text}"


def test_long_labels_are_shortened_in_the_sentence(mixed):
    rule = mixed.rule(View(row=7))
    many = Rule(**{**vars(rule), "conditions": (Condition("sky", labels=tuple("abcdefgh")),)})
    assert "{a, b, c, d, e, f and 2 more}" in all_text(pieces.rule_sentence(picture_rule(many)))
