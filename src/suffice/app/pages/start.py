"""The first page: choosing a table or a saved explainer, choosing the target, and fitting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dash_mantine_components as dmc
import numpy as np
import polars as pl
from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.exceptions import PreventUpdate

from suffice._io.explainer_file import text_columns
from suffice._text import format_percent
from suffice.app.messages import ERRORS, reword
from suffice.app.parts import controls
from suffice.app.parts.grids import grid, page_of, table_columns
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.sessions import (
    MAX_UPLOAD,
    PendingTable,
    PendingTables,
    Sessions,
    demo_workspace,
    fit_workspace,
    read_upload,
)
from suffice.app.state.workspace import Workspace

N_PREVIEW = 6
MAX_CLASSES = 20  # of the target, among which one is chosen that matters
_DEMOS = ("Breast cancer (classes)", "Diabetes progression (numbers)")
_FILES = "CSV, Parquet or Arrow, also compressed; or a saved explainer (.suffice)"
_LEAD = (
    "Open a table and see for each row which few variables are enough to keep its outcome, within which bounds, how "
    "surely, and what would change it. Everything stays on this computer."
)


def layout(pending: PendingTables, message: str = "") -> html.Div:
    """Lay out the page: the steps from a table to the first answer."""
    first = pending.first
    cancel = dmc.Button("Cancel", id="fit-cancel", size="xs", variant="default")
    return html.Div(
        [
            html.H1("Which few variables are enough?"),
            html.P(_LEAD, className="lead"),
            html.Div(controls.message("care", message) if message else None, id="start-message"),
            _open_panel(),
            html.Div(_choose_panel(first, None) if first else None, id="choose"),
            html.Div(id="fit-progress"),
            html.Div(cancel, id="fit-controls", hidden=True),
            dcc.Store(id="waiting", data="" if first else None),
            dcc.Store(id="goto"),
            *controls.job_parts("fit"),
        ],
        className="start",
    )


def _open_panel() -> html.Section:
    demos = [dmc.Button(text, id=f"demo-{i}", size="xs", variant="default") for i, text in enumerate(_DEMOS)]
    return controls.panel(
        "1. Open a table",
        controls.drop_area("upload", "a table", _FILES, MAX_UPLOAD),
        html.Div([html.Span("or try", className="note"), *demos], className="controls"),
    )


def _choose_panel(table: PendingTable, opened: Workspace | None) -> list[Any]:
    """Lay out the questions about an open table."""
    frame = table.frame
    names = frame.columns
    has_dates = any(dtype.is_temporal() for dtype in frame.schema.values())
    can_explain = opened is not None and set(opened.names) <= set(names)
    use_explainer = dmc.Button(
        "Explain its rows with the open explainer",
        id="use-explainer",
        size="sm",
        variant="default",
        style={} if can_explain else {"display": "none"},
    )
    dates = dmc.Switch(id="dates", label="Use dates: year, month, day, weekday, hour", checked=has_dates, size="sm")
    preview = frame.head(N_PREVIEW)
    unfiltered = [{**column, "filter": False} for column in table_columns(preview)]
    columns = controls.options(range(len(names)), names)
    target = {"data": columns, "value": str(len(names) - 1), "searchable": True, "limit": 300}
    hint = "such as names of the rows, or what is known only afterwards"
    return [
        controls.panel(
            table.name,
            *(controls.message("plain", note) for note in table.notes[:5]),
            grid("preview", unfiltered, 250, rowData=page_of(preview, np.arange(preview.height))),
            note=f"{frame.height} rows, {frame.width} columns",
        ),
        controls.panel(
            "2. Which column is the outcome?",
            dmc.Select(id="target", size="sm", **{"aria-label": "Column of the outcome"}, **target),
        ),
        html.Div(
            controls.panel(
                html.Span("3. Which outcome matters to you?", id="focus-label"),  # where Mantine looks for a name
                dmc.RadioGroup(id="focus", value="", children=[], size="sm"),
                note="its rows, reasons and rules come first",
            ),
            id="focus-question",
            hidden=True,
        ),
        controls.panel(
            "4. Which columns can nobody change?",
            controls.variable_picker("fixed", "Columns that nobody can change", columns, "such as age", size="sm"),
            note="no change of these is proposed",
        ),
        controls.panel(
            "5. Explain",
            controls.setting("Leave out", controls.variable_picker("leave-out", "Leave out", columns, hint, size="sm")),
            html.Div(dates, hidden=not has_dates),
            html.Div([dmc.Button("Explain", id="fit", size="sm"), use_explainer], className="controls"),
        ),
    ]


def register(app: Dash, sessions: Sessions, jobs: Jobs, pending: PendingTables) -> None:
    """Connect the callbacks of the page."""
    app.callback(
        Output("choose", "children"),
        Output("waiting", "data"),
        Output("start-message", "children"),
        Output("goto", "data", allow_duplicate=True),
        Output("upload", "contents"),
        Input("upload", "contents"),
        State("upload", "filename"),
        prevent_initial_call=True,
    )(lambda content, name: _receive(sessions, pending, content, name))
    app.callback(
        Output("focus", "children"),
        Output("focus", "value"),
        Output("focus-question", "hidden"),
        Input("target", "value"),
        State("waiting", "data"),
    )(lambda target, name: ask_focus(pending.get(name), target))
    buttons = ("fit", "use-explainer", "demo-0", "demo-1", "fit-cancel")
    controls.connect_job(
        app,
        jobs,
        "fit",
        inputs={
            "clicks": {name: Input(name, "n_clicks") for name in buttons},
            "table": State("waiting", "data"),
            "target": State("target", "value"),
            "left_out": State("leave-out", "value"),
            "fixed": State("fixed", "value"),
            "focus": State("focus", "value"),
            "dates": State("dates", "checked"),
        },
        outputs={"goto": Output("goto", "data"), "cannot_cancel": Output("fit-controls", "hidden")},
        cancel="fit-cancel",
    )(lambda event, job, form: _update(sessions, pending, str(event), job, form))


def _receive(sessions: Sessions, pending: PendingTables, content: str | None, name: str | None) -> tuple[Any, ...]:
    if not content:
        raise PreventUpdate
    opened = sessions.first
    try:
        upload, notes = read_upload(content, name or "", text_columns(opened.explainer) if opened else ())
        if not isinstance(upload, pl.DataFrame):
            workspace = Workspace.of(upload, name=f"training rows of {name}")
            return no_update, no_update, None, _link_to(sessions.add(workspace)), None
        if upload.width < 2:
            raise ValueError("The table has one column: the outcome and at least one variable are needed.")
    except ERRORS as error:
        refusal = controls.message("error", html.B("This file cannot be used. "), reword(error))
        return None, None, refusal, no_update, None
    table = PendingTable(upload, str(name)[:100], tuple(notes))
    return _choose_panel(table, opened), pending.add(table), None, no_update, None


def _link_to(data: str) -> str:
    return f"/?data={data}"


def _update(
    sessions: Sessions, pending: PendingTables, event: str, job: Job | None, form: Mapping[str, Any]
) -> dict[str, Any]:
    """Start a fit, or go to the workspace of one that is done."""
    if event in ("fit-tick", "fit-cancel"):
        return {"goto": _link_to(job.result)} if job is not None and job.state == "done" else {}
    if not form["clicks"].get(event):
        raise PreventUpdate
    if event.startswith("demo-"):
        return _start(sessions, "Starting", lambda watch: demo_workspace(int(event[-1]), watch))
    table = pending.get(form["table"])
    if table is None:
        return {"job": None, "progress": controls.message("error", "The table is no longer here: open it again.")}
    frame, name = table.frame, table.name
    if event == "use-explainer" and sessions.first is not None:
        explainer = sessions.first.explainer
        return _start(sessions, "Opening", lambda _: Workspace.of(explainer, frame, name=name))
    target = frame.columns[int(form["target"]) if form["target"] is not None else -1]
    left_out, fixed = ([frame.columns[int(i)] for i in form[field] or []] for field in ("left_out", "fixed"))
    has_dates = bool(form["dates"])
    arguments = (frame, target, left_out, has_dates, name)
    focus = chosen_focus(table, form["target"], form["focus"])
    return _start(sessions, "Starting", lambda watch: fit_workspace(*arguments, watch, fixed, focus))


def ask_focus(table: PendingTable | None, target: str | None) -> tuple[list[Any], str, bool]:
    """List the classes of the target with their shares, choose the rarer one of two; hidden if it holds numbers."""
    counts = _count_classes(table, target)
    if not counts:
        return [], "", True
    n_rows = sum(n for _, n in counts)
    texts = [f"{controls.class_text(label)} ({format_percent(n / n_rows)} % of the rows)" for label, n in counts]
    choices = controls.options(range(len(counts)), texts)  # by position: the name of a class may be empty
    if len(counts) > 2:
        choices.append({"value": "", "label": "none more than the others"})
    return [dmc.Stack([dmc.Radio(**choice) for choice in choices], gap=6)], "1" if len(counts) == 2 else "", False


def chosen_focus(table: PendingTable, target: str | None, place: str) -> str | None:
    """Return the class that was chosen, or None."""
    counts = _count_classes(table, target)
    return counts[int(place)][0] if counts and place else None


def _count_classes(table: PendingTable | None, target: str | None) -> list[tuple[str, int]]:
    """Count the classes of the target; nothing if it has too many values, or holds numbers."""
    if table is None or not str(target).isdigit() or int(str(target)) >= table.frame.width:
        return []
    column = table.frame.to_series(int(str(target))).drop_nulls()
    if column.dtype.is_float() or not 1 < column.n_unique() <= MAX_CLASSES:
        return []
    counts = [(str(label), int(n)) for label, n in column.value_counts().iter_rows()]
    return sorted(counts, key=lambda one: (-one[1], one[0]))


def _start(sessions: Sessions, title: str, make: Callable[[Callable[..., None]], Workspace]) -> dict[str, Any]:
    return {"job": (Job(title), lambda job: sessions.add(make(job.step)))}
