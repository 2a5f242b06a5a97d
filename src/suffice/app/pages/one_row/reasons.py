"""The panel of the page about one row that states its reasons, in the words of a code book that may be dropped in."""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, dcc, html, no_update

from suffice._text import counted, format_probability
from suffice.app.pages.one_row.answers import when_shown
from suffice.app.parts import pieces
from suffice.app.state.desk import Desk
from suffice.app.state.uploads import read_code_book_upload
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import ERRORS, in_words
from suffice.reasons.code_book import CodeBook
from suffice.reasons.values import Reason, RowReasons

MAX_CODE_BOOK = 20 * 2**20


def reasons_panel(workspace: Workspace) -> html.Section:
    """Lay out the panel."""
    labels = [] if workspace.is_regression else [str(label) for label in workspace.explainer.classes_.tolist()]
    choices = [{"value": "", "label": "every outcome"}, *({"value": label, "label": label} for label in labels)]
    adverse = html.Div(
        dmc.Select(
            id="adverse", data=choices, value="", size="xs", w=170, **{"aria-label": "Outcome that needs reasons"}
        ),
        hidden=workspace.is_regression,
    )
    protected = dmc.MultiSelect(
        id="protected",
        data=list(workspace.explainer.variable_names_),
        value=[],
        placeholder="protected variables, on which an outcome must not rest",
        searchable=True,
        clearable=True,
        limit=200,
        size="xs",
        **{"aria-label": "Protected variables"},
    )
    kinds = "CSV or JSON with variable, code and text"
    drop = dcc.Upload(
        id="codes-upload",
        children=html.Div([html.B("Drop a code book here, or click to choose one"), html.Div(kinds, className="note")]),
        className="drop small",
        max_size=MAX_CODE_BOOK,
    )
    return pieces.panel(
        "Reasons",
        protected,
        html.Div(id="reasons"),
        dcc.Loading(drop, type="dot"),
        extra=adverse,
        note="at most four, the one without which most is lost first",
        wide=True,
        name="reasons-panel",
    )


def register_reasons(app: Dash, desk: Desk) -> None:
    """Connect the panel."""
    app.callback(
        Output("reasons", "children"),
        Input("shown", "data"),
        Input("adverse", "value"),
        Input("protected", "value"),
        Input("codes-upload", "contents"),
        Input("codes-upload", "filename"),
    )(
        lambda stored, adverse, protected, content, name: when_shown(
            desk,
            stored,
            lambda workspace, view: answer(workspace, view, adverse or "", protected or [], content, name or ""),
            no_update,
        )
    )


def answer(
    workspace: Workspace, view: View, adverse: str, protected: list[str], content: str | None, name: str
) -> list[Any]:
    """State the reasons of the row of a view."""
    try:
        book = None if content is None else read_code_book_upload(content, name)
        row_reasons = _reasons(workspace, view, book, adverse, protected)
    except ERRORS as error:
        return [pieces.message("error", in_words(error))]
    return [*_parts(row_reasons), html.Div(_about_book(book, name), className="note under")]


def _reasons(workspace: Workspace, view: View, book: CodeBook | None, adverse: str, protected: list[str]) -> RowReasons:
    labels = [] if workspace.is_regression else workspace.explainer.classes_.tolist()
    wanted = next((label for label in labels if adverse and str(label) == adverse), None)
    y = workspace.observed_at([view.row]) if view.is_of_observed else None
    with workspace.lock:  # the model may be asked
        reasons = workspace.explainer_for(view).reasons(
            workspace.row_of(view), y, codes=book, adverse=wanted, protected=protected, progress=False
        )
    return reasons[0]


def _parts(row_reasons: RowReasons) -> list[Any]:
    lead: Any = html.P(row_reasons.lead, className="lead")
    if row_reasons.refusal is not None:
        lead = pieces.message("care", row_reasons.lead)
    notes = [html.Div(note, className="note") for note in row_reasons.notes]
    listed = (
        [html.Ol([_reason(reason) for reason in row_reasons.reasons], className="reasons")]
        if row_reasons.reasons
        else []
    )
    return [lead, *listed, *notes]


def _reason(reason: Reason) -> html.Li:
    names = "" if reason.variables == (reason.code,) else f"{reason.code}: {', '.join(reason.variables)}. "
    note = html.Div(f"{names}Lost without it: {format_probability(reason.loss)}.", className="note")
    return html.Li([reason.text, note])


def _about_book(book: CodeBook | None, name: str) -> str:
    if book is None:
        return "Without a code book the names of the variables stand for the reasons."
    return f"Code book: {name}, {counted(len(book.lines), 'line')}."
