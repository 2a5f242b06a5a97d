"""The page about one row of a table with a rare class: bounds, lifts, levels by class, and the empty set."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from app_client import all_text, with_class
from rare_classes import first, rare_explanations

from suffice import GlobalRulesClassifier
from suffice._text import format_probability
from suffice.app.pages.many_rows import ExplainedRows, show_results, show_row
from suffice.app.pages.row_answers import answer
from suffice.app.pages.row_inputs import next_view
from suffice.app.pages.rule_list import decision, rule_columns, rule_line
from suffice.app.state.jobs import Job
from suffice.app.state.view import View


def row_of(outcome, *, is_sufficient):
    return first(rare_explanations(), outcome, is_sufficient=is_sufficient)


def test_the_empty_set_has_a_rule(rare):
    """The page showed no rule."""
    view = View(row=row_of("no", is_sufficient=True), outcome="observed")
    text = all_text(answer(rare, view))
    assert "No variable is needed to keep it: it has probability" in text
    assert "ALWAYS" in text
    assert "(at least" in text
    assert rare.explain(view).rule.conditions == ()


@pytest.mark.parametrize(("levels", "pi"), [("same", None), ("odds", 0.99)])
def test_a_rare_class_without_a_set_is_offered_a_lower_level(rare, levels, pi):
    view = View(row=row_of("yes", is_sufficient=False), outcome="observed", levels=levels, pi=pi)
    explanation, [outcome, *_] = rare.explain(view), answer(rare, view)
    assert explanation.offered_pi == 0.6
    text = all_text(with_class(outcome, "care"))
    assert "times as likely as on average" in text
    assert "With π = 0.6, age and debt are enough." in text
    assert "Use π = 0.6" in text
    assert "levels" not in text
    assert f"(probability {format_probability(explanation.sdp_of_all)} for this row)" in all_text(outcome)
    lower = next_view(rare, view, {"type": "use-pi", "pi": "0.6"}, {"use_pi": [1]})
    assert rare.explain(lower).best_set.variables == explanation.best_set.variables
    assert rare.explain(lower).is_sufficient


def test_a_level_below_one_half_is_not_offered(rare):
    view = next(
        View(row=row, outcome="observed")
        for row, e in enumerate(rare_explanations("odds"))
        if e.outcome == "yes" and e.best_set.variables and e.best_set.sdp < 0.5
    )
    text = all_text(answer(rare, view))
    assert "No set of the candidates keeps it with probability 0.5." in text
    assert "π" not in text


def test_the_level_of_the_class_is_shown(rare):
    i = first(rare_explanations("odds"), "yes", is_sufficient=True)
    outcome, rule = answer(rare, View(row=i, outcome="observed", levels="odds"))
    assert rare_explanations("odds")[i].sentences.level_note in all_text(outcome)
    assert "times as likely as on average" in all_text(with_class(outcome, "lead"))
    assert "needed 0.5" in all_text(rule)


def test_the_button_for_pi_is_about_the_bound_if_one_is_asked_for(rare):
    view = View(row=row_of("yes", is_sufficient=True), outcome="observed", levels="same", confidence=0.6)
    best = rare.explain(view).best_set
    reached, of_sdp = (math.floor(20 * probability) / 20 for probability in (best.lower, best.sdp))
    assert reached < of_sdp
    assert f"Use π = {reached:g}" in all_text(answer(rare, view))
    assert rare.explain(view.with_(pi=reached)).is_sufficient
    assert not rare.explain(view.with_(pi=of_sdp)).is_sufficient


def test_the_bars_of_the_classes_agree_with_the_note(rare):
    """They showed the forest's own probabilities, which come from the rows that grew its trees."""
    view = View(row=row_of("yes", is_sufficient=False), outcome="observed")
    _, of_all = rare.distribution(view)
    assert of_all.sum() == pytest.approx(1)
    assert of_all[1] == pytest.approx(rare.explain(view).sdp_of_all)


def test_many_rows_name_the_levels_and_count_contested_sets():
    for levels, text_of_levels in (("same", "π = 0.9"), ("odds", "π = 0.9 for no and 0.5 for yes")):
        job = Job("")
        job.run(lambda job, levels=levels: ExplainedRows(rare_explanations(levels), list(range(200))))
        tiles, cautions, *_ = show_results(job)
        assert all_text(tiles[0]) == f"rows explained 200 {text_of_levels}"
        n_contested = sum(e.is_contested for e in rare_explanations(levels))
        assert n_contested > 1
        assert f"{n_contested} sets are contested: " in all_text(cautions)


def test_the_card_of_a_row_without_a_set_names_no_parameters():
    """It offered "pi=0.7" below the table of rows, where the app has a slider for it."""
    i, job = row_of("yes", is_sufficient=False), Job("")
    job.run(lambda job: ExplainedRows(rare_explanations(), list(range(200))))
    text = all_text(show_row(job, [{"key": str(i)}], View(tab="rows")))
    assert f"With π = {rare_explanations()[i].offered_pi:g}" in text
    assert "pi=" not in text


def test_global_rules_state_the_lift_of_a_rare_class(rare):
    rules = GlobalRulesClassifier.from_explanations(rare_explanations("odds"))
    lines = rules.rules_
    k = next(k for k, line in enumerate(lines) if line.output == "yes")
    shown = rule_line(k, k, lines[k], rules, "")
    assert shown["lift"] == shown["precision"] / shown["base"] > 2
    assert shown["lift_text"] == f"{shown['lift']:.1f}"
    of_others = [rule_line(i, i, line, rules, "") for i, line in enumerate(lines) if line.output == "no"]
    assert {line["base_text"] for line in of_others} == {"0.92"}
    assert "lift" in [column["field"] for column in rule_columns(rare)]
    text = all_text(decision(SimpleNamespace(rules_=lines), {k: "decides"}, rare, View()))
    assert text.endswith("times as likely as on average)")
    assert "decides." in text  # no word about other rules if there is none


@pytest.mark.parametrize(("n", "also"), [(2, "1 other rule covers it, too."), (3, "2 other rules cover it, too.")])
def test_the_other_rules_of_a_row_are_counted(n, also, rare):
    lines = 2 * GlobalRulesClassifier.from_explanations(rare_explanations("odds")).rules_
    marks = {**dict.fromkeys(range(n), "covers"), 0: "decides"}
    assert f"rule 1 decides; {also}" in all_text(decision(SimpleNamespace(rules_=lines), marks, rare, View()))


@pytest.mark.slow
def test_a_lower_level_and_a_level_for_each_class_are_chosen_by_a_click(open_app, rare):
    row = row_of("yes", is_sufficient=False)
    app = open_app(rare)
    page = app.open(row=row, outcome="observed", levels="same")
    assert page.locator("#levels input[value=same]").is_checked()
    page.click("text=Use π = 0.6")
    app.wait_for_link("pi=0.6")
    app.wait_for_text("#lead", "0.6 is needed")
    page = app.open(row=row, outcome="observed", levels="same")
    page.click("#settings summary")
    page.click("#levels >> text=by its odds")
    app.wait_for_text("#notes", "0.5 is 11.8 times its odds.")
    assert page.locator("#levels input[value=odds]").is_checked()
    page.click("#confidence >> text=99 %")
    app.wait_for_link("confidence=0.99")
    app.wait_for_text("#notes", '"At least" holds with 99 % confidence.')
    page.click("#levels >> text=the same")
    app.wait_for_text("#answer", "with probability 0.9 at 99 % confidence")
    app.open(row=row, outcome="observed", levels="odds", confidence=0.95)
    assert page.locator("#levels input[value=odds]").is_checked()
    assert page.locator("#confidence input[value='0.95']").is_checked()
