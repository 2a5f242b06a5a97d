"""What the page about one row shows."""

from dataclasses import replace

import pytest
from app_client import all_text, with_class
from dash.exceptions import PreventUpdate

from suffice.app.pages.one_row import explained
from suffice.app.pages.row_answers import (
    answer_view,
    classes,
    covered,
    curve,
    distribution,
    list_sets,
)
from suffice.app.state.sessions import Sessions
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.explaining.explanation import SufficientSet
from suffice.explaining.explanations import Explanations
from suffice.explaining.sentences import NOT_COMPLETE


@pytest.fixture
def answer_with(mixed, monkeypatch):
    """Answer as if the explanation had other fields."""

    def answer(view, **fields):
        explanation = replace(mixed.explain(view), **fields)
        monkeypatch.setattr(Workspace, "explain", lambda self, view: explanation)
        return answer_view(mixed, view)

    return answer


def test_a_search_that_ended_early_is_mentioned(answer_with):
    """The page did not mention it."""
    answer = answer_with(View(row=7), is_search_complete=False)
    assert NOT_COMPLETE in all_text(with_class(answer.outcome, "care"))


def test_a_search_that_ended_early_does_not_deny_other_sets(answer_with):
    """The page said that no other set is sufficient beside the note that the search had ended early."""
    text = all_text(with_class(answer_with(View(row=7), is_search_complete=False).outcome, "lead"))
    assert "The search found" in text
    assert "No other set" not in text
    assert "of this size" not in text


def test_a_complete_search_that_agrees_needs_no_care(answer_with):
    answer = answer_with(View(row=7), is_search_complete=True)
    assert with_class(answer.outcome, "care") == []


def test_both_reasons_for_care_are_given(answer_with):
    answer = answer_with(View(row=7), is_search_complete=False, prediction="neither")
    text = all_text(with_class(answer.outcome, "care"))
    assert "Read with care." in text
    assert "The forest predicts neither here." in text
    assert NOT_COMPLETE in text


def test_the_best_set_and_its_probability_lead(mixed):
    view = View(row=7)
    explanation = mixed.explain(view)
    text = all_text(with_class(answer_view(mixed, view).outcome, "lead"))
    assert text.replace("  ", " ").replace(" ,", ",").startswith(explanation.sentences.lead)  # the set is in bold
    for name in explanation.best_set.variables:
        assert name in text
    n = len(explanation.sufficient_sets)
    others = f"{n} sets of this size are sufficient." if n > 1 else "No other set of this size is sufficient."
    assert text.endswith(others)


@pytest.mark.parametrize(
    ("n", "others"), [(1, "No other set of this size is sufficient."), (2, "2 sets of this size are sufficient.")]
)
def test_only_sets_of_the_smallest_size_are_counted(answer_with, n, others):
    """The page said that no other set is sufficient, but larger ones had not been searched."""
    sets = tuple(SufficientSet((name,), 0.95) for name in ("hour", "temp"))[:n]
    answer = answer_with(View(row=7), sufficient_sets=sets, best_set=sets[0])
    assert all_text(with_class(answer.outcome, "lead")).endswith(others)


def test_a_row_that_cannot_be_explained_says_why(mixed):
    answer = answer_view(mixed, View(row=1, edits={"sky": "snow"}))
    assert answer.page_class == "panels failed"
    assert "This row cannot be explained." in all_text(answer.care)
    assert "'snow'" in all_text(answer.care)
    assert answer.outcome is answer.rule is None


def test_the_effect_of_the_settings_is_described(mixed):
    assert answer_view(mixed, View(row=7)).effect == ""
    effect = answer_view(mixed, View(row=7, pi=0.6)).effect
    n = len(mixed.explain(View(row=7, pi=0.6)).sufficient_sets)
    assert effect.startswith("as fitted: ")
    assert f"now: {n} sufficient set" in effect


def test_the_effect_of_the_settings_names_the_empty_set(answer_with):
    """It once read "best  (1.00)"."""
    nothing = SufficientSet((), 1.0)
    answer = answer_with(View(row=7, pi=0.6), sufficient_sets=(nothing,), best_set=nothing)
    assert "now: 1 sufficient set, best nothing at all (SDP 1.00)." in answer.effect
    assert "No variable is needed to keep it: it has probability 1.00 (0.58 is needed) among all rows." in all_text(
        with_class(answer.outcome, "lead")
    )


def test_the_chosen_set_is_selected(mixed):
    sets = mixed.explain(View(row=7, pi=0.6)).sufficient_sets
    lines, selected = list_sets(mixed, View(row=7, pi=0.6, chosen=sets[-1].variables))
    assert [tuple(line["variables"]) for line in lines] == [one.variables for one in sets]
    assert selected == [lines[-1]]


def test_a_curve_is_drawn_along_the_first_variable_or_the_picked_one(mixed, diabetes):
    view = View(row=7)
    chosen = mixed.chosen_set(view)
    figure, x, suggested = curve(mixed, view, None, None, None)
    assert x == suggested
    assert figure.layout.xaxis.title.text == chosen.variables[0]
    assert figure.data[-1].y[0] == pytest.approx(chosen.sdp)
    assert curve(mixed, view, "1", "dark", x)[0].layout.xaxis.title.text == "temp"
    assert curve(mixed, view, "1", "dark", "1")[0].layout.xaxis.title.text == chosen.variables[0]  # of another set
    assert curve(diabetes, View(row=3), None, None, None)[0].data


def test_only_a_row_that_is_shown_and_explained_is_answered(mixed):
    answers = explained(Sessions(mixed), lambda workspace, view, value: (view.row, value))
    assert answers(View(row=7).to_store(), 3) == (7, 3)
    for view in (View(tab="rows"), View(data="gone"), View(row=1, edits={"sky": "snow"})):
        with pytest.raises(PreventUpdate):
            answers(view.to_store(), 3)


def test_figures_and_lists_belong_to_the_task(mixed, diabetes):
    view = View(row=7)
    assert with_class(classes(mixed, view), "own")[0].children == mixed.explain(view).outcome
    assert len(distribution(diabetes, view, None).data) == 2
    for workspace, draw in ((diabetes, classes), (mixed, lambda *shown: distribution(*shown, None))):
        with pytest.raises(PreventUpdate):
            draw(workspace, view)
    lines, note, columns, is_hidden = covered(mixed, view)
    assert note.startswith(f"{mixed.rule(View(row=7)).support} rows")
    assert columns[2]["headerName"] in mixed.chosen_set(View(row=7)).variables
    assert len(lines) == mixed.rule(View(row=7)).support
    assert not is_hidden


def test_without_a_sufficient_set_there_is_no_rule(mixed):
    view = View(row=7, pi=1.0, n_candidates=1)
    explanation = mixed.explain(view)
    assert not explanation.is_sufficient
    answer = answer_view(mixed, view)
    assert explanation.sentences.verdict in all_text(answer.care)
    assert explanation.sentences.lead.removeprefix(explanation.sentences.verdict) in all_text(answer.care)
    assert explanation.sentences.verdict in all_text(answer.rule)
    assert covered(mixed, view)[:2] == ([], "There is no rule.")
    assert covered(mixed, view)[3]  # an empty table would only take room


def test_the_explanation_of_a_view_is_built_once(mixed, monkeypatch):
    """Five parts of the page each built it again."""
    views, build = [], Explanations.__getitem__
    monkeypatch.setattr(Explanations, "__getitem__", lambda self, i: (views.append(i), build(self, i))[1])
    view = View(row=7, pi=0.87)
    space = Workspace(mixed.explainer, mixed.frame, mixed.observed, "traffic")  # nothing is kept yet
    answer_view(space, view.with_(chosen=("hour",)))
    for answer in (answer_view, list_sets, classes, covered):
        answer(space, view)
    curve(space, view, None, None, None)
    assert len(views) == 2  # and once as fitted, to say what the settings change
