"""Panels of the page about one row: its reasons, what would change it, and its stability."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
from app_client import HOSTILE, all_text, as_upload
from dash import dcc
from dash.exceptions import PreventUpdate
from loans import ask_instead, make_loans
from processes import wait_for
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from suffice import SufficientExplainer
from suffice._io.saved import from_bytes, to_bytes
from suffice.app.pages import row_panels
from suffice.app.pages.row_inputs import next_view
from suffice.app.pages.row_panels import (
    changes_panel,
    find_changes,
    give_reasons,
    proof_parts,
    prove_rule,
    reasons_panel,
    stability_panel,
    update_stability,
)
from suffice.app.parts.controls import advance
from suffice.app.state import workspace as workspaces
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.sessions import Sessions, read_code_book_upload
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace

BOOK = {name: (f"R-{name}", f"{name} is {{value}}") for name in ("hour", "temp", "sky", "holiday")}
START, TICK, CANCEL = "stability-start", "stability-tick", "stability-cancel"


def texts_of(component):
    """All texts below a component."""
    if component is None or isinstance(component, str):
        return [component or ""]
    if isinstance(component, list | tuple):
        return [text for child in component for text in texts_of(child)]
    return texts_of(getattr(component, "children", None))


def buttons_of(component):
    if isinstance(component, list | tuple):
        return [button for child in component for button in buttons_of(child)]
    own = getattr(component, "id", None)
    found = [component] if isinstance(own, dict) and own["type"] == "apply-change" else []
    return found + buttons_of(getattr(component, "children", None) or [])


def test_a_change_can_be_applied(mixed):
    view, parts = next(
        (View(row=row), parts)
        for row in range(20)
        if buttons_of(parts := find_changes(mixed, View(row=row, pi=0.7), "", "class", []))
    )
    assert texts_of(parts)[0].startswith("traffic is predicted to be")  # it said "Row 0" of every row
    button = buttons_of(parts)[0]
    edits = json.loads(button.id["edits"])
    applied = next_view(mixed, view, button.id, {"apply_change": [1]})
    assert applied.edits == edits
    before, after = mixed.explain(view).outcome, mixed.explain(applied).outcome
    assert before != after
    assert next_view(mixed, view, button.id, {"apply_change": [None]}) is view
    parts = find_changes(mixed, applied, "", "class", [])
    assert texts_of(parts)[0].endswith("is already reached.")  # it then said how to go back
    assert len([part for part in parts if isinstance(part, dcc.Graph)]) == len(edits)  # what was edited has a curve


def part_named(component, name):
    """The part of a page with an identifier."""
    if isinstance(component, list | tuple):
        return next((part for child in component if (part := part_named(child, name)) is not None), None)
    if getattr(component, "id", None) == name:
        return component
    children = getattr(component, "children", None)  # a component without children is false
    return None if children is None else part_named(children, name)


@pytest.fixture(scope="module")
def loans():
    X, y = make_loans()
    return Workspace.of(SufficientExplainer(random_state=0).fit(X, y, fixed=["age"]), X, y)


def test_curves_of_moves_that_belong_together_are_drawn_together(loans):
    """Each curve moved one variable alone, and none of them came near the level."""
    X, _ = make_loans()
    row = int(((X["income"] < 25) & (X["account"] == "empty")).argmax())
    parts = find_changes(loans, View(row=row), "good", "class", ["age"])
    assert " would together make it good" in texts_of(parts)[0]
    titles, reached = [], []
    for graph in (part for part in parts if isinstance(part, dcc.Graph)):
        titles.append(graph.figure.layout.xaxis.title.text)
        names = [trace.name for trace in graph.figure.data]
        assert any(name.startswith("own value: ") for name in names)
        reached.append(max(graph.figure.data[0].y) >= 0.8)
    assert len(titles) == 2
    assert all(reached)
    assert sorted(title.partition(", together with ")[0] for title in titles) == ["account", "income"]
    assert any("together with income " in title for title in titles)


def test_what_was_fixed_at_fit_is_fixed_on_the_page(loans):
    assert part_named(changes_panel(loans), "wanted-fixed").value == ["age"]
    assert "age stays as it is." in texts_of(find_changes(loans, View(), "", "class", ["age"]))


def test_reasons_are_asked_for_the_focus_class(loans, diabetes):
    assert part_named(reasons_panel(loans), "adverse").value == "good"
    assert part_named(reasons_panel(diabetes), "adverse").value == ""
    bad = View(row=loans.observed.index("bad"))
    assert "is not adverse" in text_of(give_reasons(loans, bad, "good", [], None, ""))
    assert "is not adverse" not in text_of(give_reasons(loans, bad, "", [], None, ""))  # every outcome


def test_the_model_is_asked_if_it_is_there():
    """The forest has learnt that an income above 30 is enough; the model wants one above 40."""
    X, _ = make_loans()
    explainer = SufficientExplainer.for_model(
        lambda table: np.where(table["income"] > 30, "yes", "no"), X, random_state=0
    )
    ask_instead(explainer, lambda table: np.where(table["income"] > 40, "yes", "no"))
    row = int((X["income"] < 25).argmax())
    texts = texts_of(find_changes(Workspace.of(explainer, X), View(row=row), "yes", "class", []))
    assert texts[0].startswith("The outcome is no; according to the model, raising income")
    assert any(text.startswith("The model confirms this; it agrees for") for text in texts)
    assert not any("not asked" in text or "association" in text for text in texts)
    explainer.fitted_ = explainer.fitted_.without_model
    texts = texts_of(find_changes(Workspace.of(explainer, X), View(row=row), "yes", "class", []))
    assert texts[-1].startswith("The model itself was not asked")


def test_numbers_ask_for_a_number(diabetes):
    assert "Enter the number" in texts_of(find_changes(diabetes, View(), None, "above", []))[0]
    assert any(text for text in texts_of(find_changes(diabetes, View(row=3), 200, "above", [])))


def test_what_is_wrong_is_said(mixed):
    everything = list(mixed.explainer.variable_names_)
    assert any("Nothing may change" in text for text in texts_of(find_changes(mixed, View(), "", "class", everything)))


def test_the_panel_has_the_wanted_outcomes(mixed):
    assert "What would change it" in texts_of(changes_panel(mixed))


def text_of(parts):
    return " ".join(texts_of(parts))


@pytest.fixture(scope="module")
def view(mixed):
    for row in range(40):
        view = View(row=row, pi=0.7)
        reasons = mixed.explainer_for(view).reasons(mixed.row_of(view), progress=False)
        if reasons[0].reasons:
            return view
    raise AssertionError


def test_the_reasons_are_those_of_the_library(mixed, view):
    own = mixed.explainer_for(view).reasons(mixed.row_of(view), progress=False)[0]
    shown = text_of(give_reasons(mixed, view, "", [], None, ""))
    assert own.lead in shown
    for reason in own.reasons:
        assert reason.text in shown
    assert "Without a code book" in shown


def test_a_code_book_that_is_dropped_reword_the_reasons(mixed, view):
    content = as_upload(json.dumps(BOOK).encode())
    shown = text_of(give_reasons(mixed, view, "", [], content, "codes.json"))
    own = mixed.explainer_for(view).reasons(mixed.row_of(view), codes=BOOK, progress=False)[0]
    for reason in own.reasons:
        assert reason.text in shown
        assert reason.code in shown
    assert "Code book: codes.json, 4 lines." in shown


def test_another_outcome_and_a_protected_variable_are_said(mixed, view):
    own = mixed.explainer_for(view).reasons(mixed.row_of(view), progress=False)[0]
    other = next(str(label) for label in mixed.explainer.classes_ if label != own.outcome)
    assert "is not adverse" in text_of(give_reasons(mixed, view, other, [], None, ""))
    name = own.reasons[0].variables[0]
    assert f"rests on {name}" in text_of(give_reasons(mixed, view, str(own.outcome), [name], None, ""))


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
    shown = text_of(give_reasons(mixed, view, "", [], as_upload(data), "codes.csv"))
    assert message in shown
    assert "/tmp" not in shown


def test_a_broken_upload_is_refused():
    with pytest.raises(ValueError, match=r"codes.csv was not received completely"):
        read_code_book_upload("data:text/csv;base64,@@", "codes.csv")


def test_script_in_a_text_stays_text(mixed, view):
    book = {name: (code, HOSTILE) for name, (code, _) in BOOK.items()}
    parts = give_reasons(mixed, view, "", [], as_upload(json.dumps(book).encode()), "codes.json")
    assert HOSTILE in text_of(parts)  # a text node: Dash does not read it as HTML


def test_the_panel_has_the_outcomes(mixed, diabetes):
    assert "Reasons" in texts_of(reasons_panel(mixed))
    assert "Reasons" in texts_of(reasons_panel(diabetes))
    assert text_of(give_reasons(diabetes, View(row=3), "", [], None, ""))


@pytest.fixture
def n_refits(monkeypatch):
    """Grow two forests of each kind."""
    for module in (workspaces, row_panels):
        monkeypatch.setattr(module, "N_REFITS", 2)
    return 2


def stability_after(sessions, jobs, view, name, event):
    """What the page changes after an event."""
    update = lambda event, job, form: update_stability(sessions, event, job, form)  # noqa: E731
    return advance(jobs, update, event, CANCEL, name, {"view": view.to_store()})


def wait_for_end(job):
    wait_for(lambda: job.state != "running")


def test_the_stability_of_a_row_is_measured_on_request(mixed, n_refits):
    sessions, jobs, view = Sessions(mixed), Jobs(), View(row=3)
    started = stability_after(sessions, jobs, view, None, START)
    assert (started["is_idle"], started["cannot_start"], started["cannot_cancel"]) == (False, True, False)
    assert "Growing forests" in all_text(started["progress"])
    job = jobs.get(started["job"])
    wait_for_end(job)
    assert job.done == 2 * n_refits
    shown = stability_after(sessions, jobs, view, started["job"], TICK)
    assert (shown["is_idle"], shown["cannot_start"], shown["cannot_cancel"]) == (True, False, True)
    best_set = mixed.explain(view).best_set
    expected = mixed.explainer.stability(
        mixed.row_of(view), n_seeds=n_refits, n_resamples=n_refits, random_state=0, progress=False
    )
    assert all_text(shown["progress"]).endswith(str(expected))
    assert all(name in all_text(shown["progress"]) for name in best_set.variables)


def test_the_stability_of_a_view_is_kept(mixed, n_refits):
    steps = []
    view = View(row=4)
    first = mixed.stability(view, steps.append)
    assert steps == sorted(steps)
    assert steps[-1] == 2 * n_refits
    n_steps = len(steps)
    assert mixed.stability(view, steps.append) is first
    assert len(steps) == n_steps
    assert mixed.stability(view.with_(pi=0.8), lambda done: None) is not first


def test_another_view_cancels_and_clears(mixed):
    sessions, jobs, waiting = Sessions(mixed), Jobs(), threading.Event()
    name = jobs.start(Job("Growing forests", 20), lambda job: [waiting.wait(30), job.step(1)])
    shown = stability_after(sessions, jobs, View(row=5), name, "shown")
    assert shown["progress"] is None
    assert shown["is_idle"]
    waiting.set()
    wait_for_end(jobs.get(name))
    assert jobs.get(name).state == "cancelled"


def test_a_cancelled_job_says_so(mixed):
    sessions, jobs, waiting = Sessions(mixed), Jobs(), threading.Event()
    name = jobs.start(Job("Growing forests", 20), lambda job: [waiting.wait(30), job.step(1)])
    assert not stability_after(sessions, jobs, View(), name, CANCEL)["is_idle"]
    waiting.set()
    wait_for_end(jobs.get(name))
    shown = stability_after(sessions, jobs, View(), name, TICK)
    assert all_text(shown["progress"]) == "Cancelled."
    assert not shown["cannot_start"]


def test_an_explainer_that_cannot_be_refitted_says_why(mixed):
    class OwnForest(RandomForestClassifier):
        pass

    explainer = SufficientExplainer(OwnForest(5), random_state=0)
    explainer.fit(mixed.frame.select(mixed.names), mixed.observed)
    sessions, jobs = Sessions(Workspace.of(from_bytes(to_bytes(explainer)))), Jobs()
    name = stability_after(sessions, jobs, View(), None, START)["job"]
    wait_for_end(jobs.get(name))
    assert "cannot grow a forest of the kind 'OwnForest'" in all_text(
        stability_after(sessions, jobs, View(), name, TICK)["progress"]
    )


@pytest.mark.parametrize("view", [View(data="gone"), View(tab="rows")])
def test_nothing_happens_on_another_page(mixed, view):
    with pytest.raises(PreventUpdate):
        stability_after(Sessions(mixed), Jobs(), view, None, START)


def test_the_panel_has_a_button():
    assert "How stable is this?" in all_text(stability_panel())


@pytest.mark.slow
def test_the_button_works_in_the_browser(open_app, mixed, own_processes):
    app = open_app(mixed)
    page = app.open(row=7)
    page.click("#stability-start")
    app.wait_for_text("#stability", "The same best set in")
    assert str(mixed.stability(View(row=7), lambda done: None)) in app.text("#stability-sentence")
    page.click("#next")
    page.wait_for_function("() => document.querySelector('#stability').innerText === ''")


@pytest.fixture(scope="module")
def proved():
    X, y = make_loans()
    X = X.drop(columns="account")
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    return Workspace.of(SufficientExplainer(random_state=0).for_model(forest, X), X, name="forest")


def test_a_rule_is_proven_for_the_model(proved):
    assert not proof_parts(proved)[0].hidden
    view = next(view for view in map(View, range(50)) if proved.rule(view) is not None)
    proof, reason = proved.proof(view)
    assert proof == proved.explainer.prove(proved.rule(view)).proofs[0]
    assert reason.is_minimal
    text = all_text(prove_rule(proved, view))
    assert proof.text in text
    assert "Certain for the model:  RandomForestClassifier, 20 trees decides " in text
    # Another set of the row has a rule of its own.
    chosen = view.with_(chosen=("age", "debt"))
    assert proved.proof(chosen)[1] == reason


def test_without_a_model_of_trees_there_is_no_button(mixed):
    assert proof_parts(mixed)[0].hidden
    X, y = make_loans()
    X = X.drop(columns="account")
    linear = LogisticRegression().fit(X, y)
    assert proof_parts(Workspace.of(SufficientExplainer(random_state=0).for_model(linear, X), X))[0].hidden


def test_a_row_that_the_model_cannot_take_is_an_error(proved):
    view = View(row=0)
    message = all_text(prove_rule(proved, view.with_(edits={"income": "much"})))
    assert "income" in message


@pytest.mark.slow
def test_the_rule_of_a_row_is_proven_in_the_browser(open_app, proved):
    app = open_app(proved)
    row = next(i for i in range(50) if proved.rule(View(row=i)) is not None)
    page = app.open(row=row)
    page.click("#proof-start")
    app.wait_for_text("#proof", proved.proof(View(row=row))[0].sentence)
    page.click("#next")
    page.wait_for_function("() => document.querySelector('#proof').innerText === ''")
