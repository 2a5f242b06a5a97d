"""The answers about one row: outcome and rule, reasons, what would change it, and proofs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from app_client import HOSTILE, all_text, as_upload, traffic_table, with_class
from dash.exceptions import PreventUpdate
from loans import ask_instead, make_loans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from suffice import SufficientExplainer
from suffice.app.pages.one_row import explained, layout, show_answer
from suffice.app.pages.row_answers import answer, find_changes, give_reasons, prove_rule
from suffice.app.pages.row_inputs import next_view
from suffice.app.state.sessions import Sessions, read_code_book_upload
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.explaining.sentences import NOT_COMPLETE

BOOK = {name: (f"R-{name}", f"{name} is {{value}}") for name in ("hour", "temp", "sky", "holiday")}


def parts_of(component):
    """A component and all below it."""
    if isinstance(component, list | tuple):
        return [part for child in component for part in parts_of(child)]
    if component is None or isinstance(component, str | int | float):
        return []
    return [component, *parts_of(getattr(component, "children", None))]


def part_named(component, name):
    return next(part for part in parts_of(component) if getattr(part, "id", None) == name)


def buttons_of(component):
    return [part for part in parts_of(component) if isinstance(getattr(part, "id", None), dict)]


# --- the outcome and its rule -----------------------------------------------------------------------------------------


@pytest.fixture
def answer_with(mixed, monkeypatch):
    """Answer as if the explanation had other fields."""

    def answer_as_if(view, **fields):
        explanation = replace(mixed.explain(view), **fields)
        monkeypatch.setattr(Workspace, "explain", lambda self, view: explanation)
        return answer(mixed, view)

    return answer_as_if


def test_the_answer_reads_as_the_library_writes_it(mixed):
    view = View(row=7)
    explanation, (outcome, rule) = mixed.explain(view), answer(mixed, view)
    sentences, text = explanation.sentences, all_text(outcome)
    assert all_text(part_named(outcome, "outcome")) == sentences.outcome_text
    assert f"(probability {sentences.outcome_sentence.partition('(probability ')[2]}" in text  # that of this row
    lead = all_text(part_named(outcome, "lead"))
    assert lead.replace("  ", " ").replace(" ,", ",") == sentences.lead  # the set is in bold
    n = len(explanation.sufficient_sets)
    others = f"{n} sets of this size are sufficient." if n > 1 else "No other set of this size is sufficient."
    assert others not in text  # the other sets stand under "More"
    words = all_text(with_class(rule, "sentence")).split()
    assert words == str(explanation.rule).splitlines()[0].split("  ")[0].split()


def test_a_rule_is_drawn_over_the_training_values(mixed):
    rule = answer(mixed, View(row=7))[1]
    conditions = mixed.explain(View(row=7)).rule.conditions
    assert [all_text(with_class(one, "name")) for one in with_class(rule, "drawing")] == [c.name for c in conditions]
    assert with_class(rule, "outline") or with_class(rule, "chip")
    assert [all_text(one) for one in with_class(rule, "needed")] == ["needed 0.89"]


def test_a_search_that_ended_early_is_mentioned(answer_with):
    """The page did not mention it, and said that no other set is sufficient."""
    text = all_text(answer_with(View(row=7), is_search_complete=False))
    assert NOT_COMPLETE in text
    assert "No other set" not in text


def test_both_reasons_for_care_are_given(answer_with, mixed):
    assert with_class(answer(mixed, View(row=7)), "care") == []
    text = all_text(with_class(answer_with(View(row=7), is_search_complete=False, prediction="neither"), "care"))
    assert "Read with care." in text
    assert "The forest predicts neither here." in text
    assert NOT_COMPLETE in text


def test_a_row_that_cannot_be_explained_says_why(mixed):
    [message] = answer(mixed, View(row=1, edits={"sky": "snow"}))
    assert message.className == "message error"
    assert "This row cannot be explained." in all_text(message)
    assert "'snow'" in all_text(message)


def test_without_a_sufficient_set_the_nearest_one_is_drawn(mixed):
    view = View(row=7, pi=1.0, candidates=("hour",))
    sentences = mixed.explain(view).sentences
    outcome, nearest = answer(mixed, view)
    assert sentences.verdict in all_text(with_class(outcome, "care"))
    assert sentences.lead.removeprefix(sentences.verdict) in all_text(outcome)
    assert len(with_class(nearest, "drawing")) == 1
    assert with_class(nearest, "sentence") == []


def test_only_a_row_that_is_shown_and_explained_is_answered(mixed):
    answers = explained(Sessions(mixed), lambda workspace, view, value: (view.row, value))
    assert answers(View(row=7).to_store(), 3) == (7, 3)
    assert answers(View(row=1, edits={"sky": "snow"}).to_store(), 3) is None


def test_the_page_answers_only_what_it_does_not_show_yet(mixed):
    sessions, shown = Sessions(mixed), View(row=7).to_store()
    assert show_answer(sessions, View(row=8).to_store(), shown)[1]["row"] == 8
    with pytest.raises(PreventUpdate):
        show_answer(sessions, View(row=7, find="rain").to_store(), shown)


# --- changes ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loans():
    X, y = make_loans()
    return Workspace.of(SufficientExplainer(random_state=0).fit(X, y, fixed=["age"]), X, y)


def position(workspace, label):
    return str(workspace.explainer.classes_.tolist().index(label))


def test_a_change_can_be_applied(mixed):
    view, parts = next(
        (View(row=row), parts)
        for row in range(20)
        if buttons_of(parts := find_changes(mixed, View(row=row, pi=0.7), "", None, []))
    )
    assert all_text(parts).startswith("traffic is predicted to be")  # it said "Row 0" of every row
    button = buttons_of(parts)[0]
    edits = json.loads(button.id["edits"])
    applied = next_view(mixed, view, button.id, {"apply_change": [1]})
    assert applied.edits == edits
    assert mixed.explain(view).outcome != mixed.explain(applied).outcome
    assert next_view(mixed, view, button.id, {"apply_change": [None]}) is view
    assert all_text(find_changes(mixed, applied, "", None, [])[0]).endswith("is already reached.")


def test_moves_that_belong_together_are_one_picture(loans):
    """Each move had a curve of its own, and none of them came near the level."""
    X, _ = make_loans()
    row = int(((X["income"] < 25) & (X["account"] == "empty")).argmax())
    parts = find_changes(loans, View(row=row), position(loans, "good"), None, ["age"])
    assert " would together make it good" in all_text(parts[0])
    change = with_class(parts, "change")[0]
    [bars] = with_class(change, "bars")
    names = [all_text(one) for one in bars.children if getattr(one, "className", None) is None]
    assert names[0] == "as it is"
    assert {name.partition(" = ")[0] for name in names[1:-1]} == {"income", "account"}
    assert names[-1] == "all of these together"
    *alone, together = [float(all_text(one)) for one in with_class(bars, "number")]
    assert max(alone) < 0.8 <= together
    assert all_text(with_class(bars, "needed")) == "needed 0.8"


def test_what_was_fixed_at_fit_is_fixed_on_the_page(loans):
    assert part_named(layout(loans, View()), "wanted-fixed").value == ["age"]
    assert "age stays as it is." in all_text(find_changes(loans, View(), "", None, ["age"]))


def test_the_model_is_asked_if_it_is_there():
    """The forest has learnt that an income above 30 is enough; the model wants one above 40."""
    X, _ = make_loans()
    explainer = SufficientExplainer.for_model(
        lambda table: np.where(table["income"] > 30, "yes", "no"), X, random_state=0
    )
    ask_instead(explainer, lambda table: np.where(table["income"] > 40, "yes", "no"))
    row = int((X["income"] < 25).argmax())
    space = Workspace.of(explainer, X)
    parts = find_changes(space, View(row=row), position(space, "yes"), None, [])
    text = all_text(parts)
    assert text.startswith("The outcome is no; according to the model, raising income")
    assert "The model confirms this; it agrees for" in text
    assert "not asked" not in text
    assert with_class(parts, "tick") == []  # the model has decided, and no level of the forest
    explainer.fitted_ = explainer.fitted_.without_model
    space = Workspace.of(explainer, X)
    parts = find_changes(space, View(row=row), position(space, "yes"), None, [])
    assert "The model itself was not asked" in all_text(parts)
    assert with_class(parts, "tick")


def test_numbers_that_are_wanted_are_by_default_those_that_the_row_has_not(diabetes):
    """The page began with a target that half of all rows have reached."""
    assert "Enter the number" in all_text(find_changes(diabetes, View(), None, "", []))
    own = diabetes.explain(View(row=3)).outcome
    for wanted, goal in ((own - 20, "at most"), (own + 20, "at least")):
        text = all_text(find_changes(diabetes, View(row=3), wanted, "", []))
        assert f" {goal} " in text
        assert "already reached" not in text
    assert "already reached" in all_text(find_changes(diabetes, View(row=3), own - 20, "above", []))


def test_what_is_wrong_is_said(mixed):
    everything = list(mixed.explainer.variable_names_)
    assert "Nothing may change" in all_text(find_changes(mixed, View(), "", None, everything))


def test_a_class_without_a_name_can_be_wanted_and_need_reasons(fit_here):
    """Its name was taken for "any other class" and "every outcome", and Mantine refuses two equal choices."""
    frame = traffic_table(200).with_columns(pl.col("traffic").replace("busy", ""))
    space = fit_here(frame, "traffic")
    assert "" in space.explainer.classes_
    page, row = layout(space, View()), space.observed.index("calm")
    for name in ("adverse", "wanted"):
        choices = part_named(page, name).data
        assert len({choice["value"] for choice in choices}) == len(choices) == 3
        assert {'""', "calm"} <= {choice["label"] for choice in choices}
    assert position(space, "") == part_named(page, "wanted").data[1]["value"]
    assert "is not adverse" in all_text(give_reasons(space, View(row=row), position(space, "")))
    assert "is already reached" in all_text(find_changes(space, View(row=row), position(space, "calm"), None, []))
    assert "is already reached" not in all_text(find_changes(space, View(row=row), position(space, ""), None, []))


# --- reasons ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def view(mixed):
    for row in range(40):
        view = View(row=row, pi=0.7)
        reasons = mixed.explainer_for(view).reasons(mixed.row_of(view), progress=False)
        if reasons[0].reasons:
            return view
    raise AssertionError


def test_the_reasons_are_those_of_the_library_and_of_the_set_that_leads(mixed, view):
    own = mixed.explainer_for(view).reasons(mixed.row_of(view), progress=False)[0]
    shown = all_text(give_reasons(mixed, view))
    assert own.lead in shown
    for reason in own.reasons:
        assert reason.text in shown
    assert {name for reason in own.reasons for name in reason.variables} == {*mixed.explain(view).best_set.variables}


def test_a_code_book_that_is_dropped_rewords_the_reasons(mixed, view):
    content = as_upload(json.dumps(BOOK).encode())
    shown = all_text(give_reasons(mixed, view, "", [], content, "codes.json"))
    own = mixed.explainer_for(view).reasons(mixed.row_of(view), codes=BOOK, progress=False)[0]
    for reason in own.reasons:
        assert reason.text in shown
        assert reason.code in shown
    assert "Code book: codes.json, 4 lines." in shown


def test_another_outcome_and_a_protected_variable_are_said(mixed, view):
    own = mixed.explainer_for(view).reasons(mixed.row_of(view), progress=False)[0]
    other = next(label for label in mixed.explainer.classes_ if label != own.outcome)
    assert "is not adverse" in all_text(give_reasons(mixed, view, position(mixed, other)))
    name = own.reasons[0].variables[0]
    assert f"rests on {name}" in all_text(give_reasons(mixed, view, position(mixed, own.outcome), [name]))


def test_every_row_has_reasons_unless_an_outcome_is_chosen(loans, diabetes):
    """A row without the outcome that matters had none, where its set is explained just above."""
    assert part_named(layout(loans, View()), "adverse").value == ""
    bad = View(row=loans.observed.index("bad"))
    assert "is not adverse" in all_text(give_reasons(loans, bad, position(loans, "good")))
    assert "is not adverse" not in all_text(give_reasons(loans, bad, ""))  # every outcome
    assert all_text(give_reasons(diabetes, View(row=3)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"variable,code\nhour,R1\n", "missing"),
        (b"variable,code,text\nhour,R1,Hour\nhour,R2,Hours\n", "two lines for 'hour'"),
        (b"variable,code,text\nhuor,R1,Hour\n", "Did you mean 'hour'?"),
        (b"variable,code,text\nhour,R1,Hour\n", "no code"),
        (b"", "codes.csv"),
    ],
)
def test_a_bad_code_book_is_refused_in_a_sentence(mixed, view, data, message):
    shown = all_text(give_reasons(mixed, view, "", [], as_upload(data), "codes.csv"))
    assert message in shown
    assert "/tmp" not in shown


def test_a_broken_upload_is_refused():
    with pytest.raises(ValueError, match=r"codes.csv was not received completely"):
        read_code_book_upload("data:text/csv;base64,@@", "codes.csv")


def test_script_in_a_text_stays_text(mixed, view):
    book = {name: (code, HOSTILE) for name, (code, _) in BOOK.items()}
    parts = give_reasons(mixed, view, "", [], as_upload(json.dumps(book).encode()), "codes.json")
    assert HOSTILE in all_text(parts)  # a text node: Dash does not read it as HTML


# --- proofs -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def proved():
    X, y = make_loans()
    X = X.drop(columns="account")
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    return Workspace.of(SufficientExplainer.for_model(forest, X, random_state=0), X, name="forest")


def test_a_rule_is_proven_for_the_model(proved):
    assert proved.can_prove
    view = next(view for view in (View(row=row) for row in range(50)) if proved.explain(view).rule is not None)
    proof, reason = proved.proof(view)
    assert proof == proved.explainer.prove(proved.explain(view).rule).proofs[0]
    assert reason.is_minimal
    text = all_text(prove_rule(proved, view))
    assert proof.text in text
    assert "Certain for the model:  RandomForestClassifier (20 trees) decides " in text


def test_without_a_model_of_trees_there_is_no_button(mixed):
    X, y = make_loans()
    X = X.drop(columns="account")
    linear = LogisticRegression().fit(X, y)
    of_linear = Workspace.of(SufficientExplainer.for_model(linear, X, random_state=0), X)
    for workspace in (mixed, of_linear):
        hidden = [part for part in parts_of(layout(workspace, View())) if getattr(part, "hidden", None)]
        assert part_named(hidden, "proof-start")


def test_a_row_that_the_model_cannot_take_is_an_error(proved):
    assert "income" in all_text(prove_rule(proved, View(row=0, edits={"income": "much"})))


@pytest.mark.slow
def test_the_rule_of_a_row_is_proven_in_the_browser(open_app, proved):
    app = open_app(proved)
    row = next(i for i in range(50) if proved.explain(View(row=i)).rule is not None)
    page = app.open(row=row)
    page.click("#proof-start")
    app.wait_for_text("#proof", proved.proof(View(row=row))[0].sentence)
    page.click("#next")
    page.wait_for_function("() => document.querySelector('#proof').innerText === ''")
