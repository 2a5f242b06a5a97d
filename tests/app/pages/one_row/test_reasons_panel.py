"""The reasons of a row in the app, and code books that are dropped in."""

from __future__ import annotations

import json

import pytest
from app_client import HOSTILE, as_upload
from test_what_would import texts_of

from suffice.app.pages.one_row.reasons import answer, reasons_panel
from suffice.app.state.uploads import read_code_book_upload
from suffice.app.state.view import View

BOOK = {name: (f"R-{name}", f"{name} is {{value}}") for name in ("hour", "temp", "sky", "holiday")}


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
    shown = text_of(answer(mixed, view, "", [], None, ""))
    assert own.lead in shown
    for reason in own.reasons:
        assert reason.text in shown
    assert "Without a code book" in shown


def test_a_code_book_that_is_dropped_in_words_the_reasons(mixed, view):
    content = as_upload(json.dumps(BOOK).encode())
    shown = text_of(answer(mixed, view, "", [], content, "codes.json"))
    own = mixed.explainer_for(view).reasons(mixed.row_of(view), codes=BOOK, progress=False)[0]
    for reason in own.reasons:
        assert reason.text in shown
        assert reason.code in shown
    assert "Code book: codes.json, 4 lines." in shown


def test_another_outcome_and_a_protected_variable_are_said(mixed, view):
    own = mixed.explainer_for(view).reasons(mixed.row_of(view), progress=False)[0]
    other = next(str(label) for label in mixed.explainer.classes_ if label != own.outcome)
    assert "is not adverse" in text_of(answer(mixed, view, other, [], None, ""))
    name = own.reasons[0].variables[0]
    assert f"rests on {name}" in text_of(answer(mixed, view, str(own.outcome), [name], None, ""))


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
    shown = text_of(answer(mixed, view, "", [], as_upload(data), "codes.csv"))
    assert message in shown
    assert "/tmp" not in shown


def test_a_broken_upload_is_refused():
    with pytest.raises(ValueError, match=r"codes.csv did not arrive whole: try again"):
        read_code_book_upload("data:text/csv;base64,@@", "codes.csv")


def test_script_in_a_text_stays_text(mixed, view):
    book = {name: (code, HOSTILE) for name, (code, _) in BOOK.items()}
    parts = answer(mixed, view, "", [], as_upload(json.dumps(book).encode()), "codes.json")
    assert HOSTILE in text_of(parts)  # a text node: Dash does not read it as HTML


def test_the_panel_has_the_outcomes(mixed, bike):
    assert "Reasons" in texts_of(reasons_panel(mixed))
    assert "Reasons" in texts_of(reasons_panel(bike))
    assert text_of(answer(bike, View(row=3), "", [], None, ""))
