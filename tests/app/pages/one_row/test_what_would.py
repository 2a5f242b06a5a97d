"""What would change the outcome, in the app."""

from __future__ import annotations

import json

import numpy as np
from dash import dcc
from loans import ask_instead, make_loans

from suffice import SufficientExplainer
from suffice.app.pages.one_row.changes import next_view
from suffice.app.pages.one_row.what_would import answer, what_would_panel
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace


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
        if buttons_of(parts := answer(mixed, View(row=row, pi=0.7), "", "class", []))
    )
    assert texts_of(parts)[0].startswith("traffic is predicted to be")  # it said "Row 0" of every row
    button = buttons_of(parts)[0]
    edits = json.loads(button.id["edits"])
    applied = next_view(mixed, view, button.id, {"apply_change": [1]})
    assert applied.edits == edits
    before, after = mixed.explain(view)[0].outcome, mixed.explain(applied)[0].outcome
    assert before != after
    assert next_view(mixed, view, button.id, {"apply_change": [None]}) is view
    parts = answer(mixed, applied, "", "class", [])
    assert texts_of(parts)[0].endswith("is already reached.")  # it then said how to go back
    assert len([part for part in parts if isinstance(part, dcc.Graph)]) == len(edits)  # what was edited has a curve


def test_the_model_is_asked_if_it_is_there():
    """The forest has learnt that an income above 30 is enough; the model wants one above 40."""
    X, _ = make_loans()
    explainer = SufficientExplainer.for_model(
        lambda table: np.where(table["income"] > 30, "yes", "no"), X, random_state=0
    )
    ask_instead(explainer, lambda table: np.where(table["income"] > 40, "yes", "no"))
    row = int((X["income"] < 25).argmax())
    texts = texts_of(answer(Workspace.of(explainer, X), View(row=row), "yes", "class", []))
    assert texts[0].startswith("The outcome is no; according to the model, raising income")
    assert any(text.startswith("The model confirms this; it agrees for") for text in texts)
    assert not any("not asked" in text or "association" in text for text in texts)
    explainer.fitted_ = explainer.fitted_.without_model
    texts = texts_of(answer(Workspace.of(explainer, X), View(row=row), "yes", "class", []))
    assert texts[-1].startswith("The model itself was not asked")


def test_numbers_ask_for_a_number(bike):
    assert "Say which numbers" in texts_of(answer(bike, View(), None, "above", []))[0]
    assert any(text for text in texts_of(answer(bike, View(row=3), 200, "above", [])))


def test_what_is_wrong_is_said(mixed):
    everything = list(mixed.explainer.variable_names_)
    assert any("Nothing may change" in text for text in texts_of(answer(mixed, View(), "", "class", everything)))


def test_the_panel_has_the_wanted_outcomes(mixed):
    assert "What would change it" in texts_of(what_would_panel(mixed))
