"""Panels of the page about one row with answers of their own: its reasons, what would change it, and its stability."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, ctx, html

from suffice._forest.outcomes import read_targets
from suffice._show.picture import set_text
from suffice._text import counted, format_share, format_value, join
from suffice.app.messages import ERRORS, reword
from suffice.app.parts import charts, controls
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.workspace import N_REFITS
from suffice.explaining.curve import compute_target_curve

if TYPE_CHECKING:
    from suffice.app.state.sessions import Sessions
    from suffice.app.state.view import View
    from suffice.app.state.workspace import Workspace
    from suffice.changes.values import RowChanges
    from suffice.reasons.code_book import CodeBook
    from suffice.reasons.values import Reason, RowReasons

MAX_CODE_BOOK = 20 * 2**20  # bytes
MAX_CURVES = 6


def register(app: Dash, sessions: Sessions, jobs: Jobs) -> None:
    """Connect the panels."""
    app.callback(
        Output("reasons", "children"),
        Input("shown", "data"),
        Input("adverse", "value"),
        Input("protected", "value"),
        Input("codes-upload", "contents"),
        Input("codes-upload", "filename"),
    )(lambda stored, *values: give_reasons(*sessions.open(stored, "row"), *values))
    app.callback(
        Output("what-would", "children"),
        Input("shown", "data"),
        Input("wanted", "value"),
        Input("wanted-kind", "value"),
        Input("wanted-fixed", "value"),
        Input("scheme", "data"),
    )(lambda stored, *values: find_changes(*sessions.open(stored, "row"), *values))
    app.callback(
        Output("proof", "children"),
        Input("proof-start", "n_clicks"),
        Input("shown", "data"),
        running=[(Output("proof-start", "loading"), True, False)],
        prevent_initial_call=True,
    )(lambda _, stored: prove_rule(*sessions.open(stored, "row")) if ctx.triggered_id == "proof-start" else [])
    controls.connect_job(
        app,
        jobs,
        "stability",
        inputs={"view": Input("shown", "data")},
        outputs={"progress": Output("stability", "children")},
        buttons=("stability-start", "stability-cancel"),
    )(lambda event, job, form: update_stability(sessions, event, job, form))


# --- reasons ----------------------------------------------------------------------------------------------------------


def reasons_panel(workspace: Workspace) -> html.Section:
    """Lay out the panel with the reasons, in the words of a code book that may be dropped in."""
    labels = [] if workspace.is_regression else workspace.explainer.classes_.tolist()
    choices = controls.options(["", *labels], ["every outcome", *map(str, labels)])
    focus = workspace.explainer.focus_
    adverse = controls.select(
        "adverse", "Outcome that needs reasons", choices, "" if focus is None else str(focus), 170
    )
    hint = "protected variables, on which an outcome must not rest"
    kinds = "CSV or JSON with variable, code and text"
    return controls.panel(
        "Reasons",
        controls.variable_picker("protected", "Protected variables", workspace.explainer.variable_names_, hint),
        html.Div(id="reasons"),
        controls.drop_area("codes-upload", "a code book", kinds, MAX_CODE_BOOK, "drop small"),
        extra=html.Div(adverse, hidden=workspace.is_regression),
        note="at most four, ordered by the probability that is lost without each",
        wide=True,
        name="reasons-panel",
    )


def give_reasons(
    workspace: Workspace,
    view: View,
    adverse: str | None = "",
    protected: list[str] | None = None,
    content: str | None = None,
    name: str | None = "",
) -> list[Any]:
    """Give the reasons of the row of a view."""
    from suffice.app.state.sessions import read_code_book_upload

    try:
        book = None if content is None else read_code_book_upload(content, name or "")
        row_reasons = _reasons(workspace, view, book, adverse or "", protected or [])
    except ERRORS as error:
        return [controls.message("error", reword(error))]
    about_book = "Without a code book the names of the variables stand for the reasons."
    if book is not None:
        about_book = f"Code book: {name}, {counted(len(book.lines), 'line')}."
    lead: Any = html.P(row_reasons.lead, className="lead")
    if row_reasons.refusal is not None:
        lead = controls.message("care", row_reasons.lead)
    items = [_reason(reason) for reason in row_reasons.reasons]
    notes = [html.Div(note, className="note") for note in row_reasons.notes]
    listed = [html.Ol(items, className="reasons")] if items else []
    return [lead, *listed, *notes, html.Div(about_book, className="note under")]


def _reasons(workspace: Workspace, view: View, book: CodeBook | None, adverse: str, protected: list[str]) -> RowReasons:
    labels = [] if workspace.is_regression else workspace.explainer.classes_.tolist()
    wanted = next((label for label in labels if adverse and str(label) == adverse), labels or None)
    y = workspace.observed_at([view.row]) if view.is_of_observed else None
    with workspace.lock:  # the model may be asked
        reasons = workspace.explainer_for(view).reasons(
            workspace.row_of(view), y, codes=book, adverse=wanted, protected=protected, progress=False
        )
    return reasons[0]


def _reason(reason: Reason) -> html.Li:
    names = "" if reason.variables == (reason.code,) else f"{reason.code}: {', '.join(reason.variables)}. "
    note = html.Div(f"{names}Probability lost without it: {format_share(reason.loss)}.", className="note")
    return html.Li([reason.text, note])


# --- changes ----------------------------------------------------------------------------------------------------------


def changes_panel(workspace: Workspace) -> html.Section:
    """Lay out the panel that answers what would change the outcome."""
    explainer, hint = workspace.explainer, "variables that must not change"
    label, fixed = "Variables that must not change", list(explainer.fitted_.declared.fixed)
    return controls.panel(
        "What would change it",
        controls.variable_picker("wanted-fixed", label, explainer.variable_names_, hint, value=fixed),
        html.Div(id="what-would"),
        extra=_wanted_numbers(workspace) if workspace.is_regression else _wanted_class(workspace),
        note="the fewest variables, and the values that they would need",
        wide=True,
        name="what-would-panel",
    )


def _wanted_numbers(workspace: Workspace) -> html.Div:
    outcomes = sorted(workspace.training[1].tolist())
    middle = float(outcomes[len(outcomes) // 2])
    kinds = controls.options(("above", "below"), ("at least", "at most"))
    return html.Div(
        [
            controls.select("wanted-kind", "Wanted: at least or at most", kinds, "above", 100),
            controls.number_input("wanted", "Wanted number", middle, 110, debounce=400),
        ],
        className="axes",
    )


def _wanted_class(workspace: Workspace) -> html.Div:
    labels = [str(label) for label in workspace.explainer.classes_.tolist()]
    choices = controls.options(["", *labels], ["any other class", *labels])
    kind = dmc.Select(id="wanted-kind", data=["class"], value="class")
    return html.Div([controls.select("wanted", "Wanted class", choices, "", 170), html.Div(kind, hidden=True)])


def find_changes(
    workspace: Workspace,
    view: View,
    wanted: Any,
    kind: str,
    fixed: list[str] | None = None,
    scheme: str | None = None,
) -> list[Any]:
    """Find what would change the outcome of the row of a view."""
    if workspace.is_regression and wanted in (None, ""):
        return [html.Div("Enter the number that is wanted.", className="note")]
    try:
        target = {kind: float(wanted)} if workspace.is_regression else wanted or _other_classes(workspace, view)
        explainer, row = workspace.explainer_for(view), workspace.row_of(view)
        with workspace.lock:  # the model may be asked
            row_changes = explainer.what_if(row, target, fixed=fixed or [], progress=False)[0]
    except ERRORS as error:
        return [controls.message("error", reword(error))]
    row_changes = replace(row_changes, row=None)  # the page names the row; here it is the only one of its table
    parts: list[Any] = [html.P(row_changes.lead, className="lead")]
    parts += [html.Div(note, className="note") for note in row_changes.notes]
    parts += [_change(row_changes, i, view) for i in range(len(row_changes.changes))]
    parts += _curves(workspace, view, row_changes, target, scheme or "light")
    if row_changes.caveat:
        parts.append(html.Div(row_changes.caveat, className="note"))
    return parts


def _other_classes(workspace: Workspace, view: View) -> Any:
    """Return the classes that the row does not have as it is in the table: an edit may have changed its class."""
    explainer = workspace.explainer_for(view)
    own = explainer.outcomes(workspace.row_of(view.with_(edits={}))).values[0]
    others = [label for label in explainer.classes_.tolist() if label != own]
    return others[0] if len(others) == 1 else {"not": own}


def _curves(workspace: Workspace, view: View, row_changes: RowChanges, target: Any, scheme: str) -> list[Any]:
    """Draw the probability of the target along every variable that moves in a change, or was edited.

    Where several variables move together, each is drawn with the others moved: alone it would not be enough.
    """
    fitted = workspace.explainer_for(view).fitted_
    listed = row_changes.changes or ((row_changes.nearest,) if row_changes.nearest is not None else ())
    change_of = {move.column: change for change in reversed(listed) for move in change.moves}
    moved = [move.column for change in listed for move in change.moves]
    edited = [column.name for column in fitted.encoding.columns if column.name in view.edits]
    wanted = read_targets(target, np.array([row_changes.outcome]), fitted.classes)[0]
    names = [column.name for column in fitted.encoding.columns]
    graphs = []
    for name in list(dict.fromkeys([*edited, *moved]))[:MAX_CURVES]:
        values = change_of[name].values if name in change_of else {}
        others = {other: value for other, value in values.items() if other != name}
        if not set(others) <= set(workspace.names):  # parts of a date do not make a date
            continue
        x = workspace.encoded(view.with_(edits={**view.edits, **others}))
        curve = compute_target_curve(fitted, x, wanted, names.index(name), max_steps=200)
        beside = join([f"{other} {format_value(value)}" for other, value in others.items()])
        figure = charts.target_curve(curve, row_changes.wanted, row_changes.pi, scheme, beside)
        graphs.append(controls.graph(240, figure))
    return graphs


def _change(row_changes: RowChanges, i: int, view: View) -> html.Div:
    change = row_changes.changes[i]
    edits = json.dumps({**view.edits, **change.values}, default=str)
    button = dmc.Button("Apply", id={"type": "apply-change", "edits": edits}, size="compact-xs", variant="light")
    lines = [
        html.Div([f"{i + 1}. {change.listed} ", button], className="sentence"),
        html.Div(change.evidence(row_changes.goal), className="note under"),
    ]
    if change.confirmed is not None:
        kind = "note under" if change.confirmed else "care"
        lines.append(html.Div(change.confirmation(row_changes.model), className=kind))
    return html.Div(lines, className="change")


# --- proofs -----------------------------------------------------------------------------------------------------------


def proof_parts(workspace: Workspace) -> list[Any]:
    """Lay out the button that proves the rule for the model, if its trees can be read, and place for the answer."""
    button = dmc.Button("Is it always so?", id="proof-start", size="compact-xs", variant="light")
    return [html.Div(button, hidden=not workspace.can_prove, className="proof-start"), html.Div(id="proof")]


def prove_rule(workspace: Workspace, view: View) -> list[Any]:
    """Say whether the rule of a view holds for every point, and what is certain about its row."""
    try:
        proof, reason = workspace.proof(view)
    except ERRORS as error:
        return [controls.message("error", reword(error))]
    certain = html.P([html.B("Certain for the model: "), reason.sentence.removeprefix("Proven: ")], className="note")
    return [*([] if proof is None else [html.P(proof.text, className="lead")]), certain]


# --- stability --------------------------------------------------------------------------------------------------------


def stability_panel() -> html.Section:
    """Lay out the panel that measures, on request, whether the best set returns when the forest is grown again."""
    start = dmc.Button("How stable is this?", id="stability-start", size="compact-xs", variant="light")
    cancel = dmc.Button("Cancel", id="stability-cancel", size="compact-xs", variant="default", disabled=True)
    return controls.panel(
        "Stability",
        html.Div(id="stability"),
        *controls.job_parts("stability"),
        note="of the best set, when the forest is grown again with other seeds and on halves of the training rows",
        extra=html.Div([start, cancel], className="axes"),
        wide=True,
        name="stability-panel",
    )


def update_stability(sessions: Sessions, event: Any, job: Job | None, form: Mapping[str, Any]) -> dict[str, Any]:
    """Start the job, or show its answer."""
    workspace, view = sessions.open(form["view"], "row")
    if event == "stability-start":
        return {"job": (Job("Growing forests", 2 * N_REFITS), lambda job: _measure(workspace, view, job))}
    if event == "shown":  # the answer about another row must not stay
        if job is not None:
            job.cancel()
        return {"job": None}
    if job is None or job.state != "done":
        return {}
    best_set, sentence = job.result
    return {"progress": html.P([html.B(f"{best_set}. "), sentence], id="stability-sentence")}


def _measure(workspace: Workspace, view: View, job: Job) -> tuple[str, str]:
    stability = workspace.stability(view, job.step)[0]
    return set_text(workspace.explain(view).best_set), str(stability)
