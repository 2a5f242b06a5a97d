"""The first page: choosing a table or a saved explainer, choosing the target, and fitting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from suffice._io.explainer_file import text_columns
from suffice.app.parts import pieces
from suffice.app.parts.grids import grid, page_of, table_columns
from suffice.app.parts.progress import TICK, progress
from suffice.app.state.desk import Desk, WaitingTable, WaitingTables
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.opening import demo_workspace, fit_workspace
from suffice.app.state.uploads import MAX_UPLOAD, read_upload
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import ERRORS, in_words
from suffice.explainer import SufficientExplainer

N_PREVIEW = 8
_DEMOS = ("Breast cancer (classes)", "Diabetes progression (numbers)")


def layout(waiting: WaitingTables, message: str = "") -> html.Div:
    """Lay out the page."""
    first = waiting.first
    cancel = dmc.Button("Cancel", id="fit-cancel", size="xs", variant="default")
    return html.Div(
        [
            html.H1("Which few variables are enough?"),
            html.P(
                "Open a table, choose the outcome to explain, and see for each row which few variables keep it, within "
                "which bounds, and with which probability. Everything stays on this computer.",
                className="lead",
            ),
            html.Div(pieces.message("care", message) if message else None, id="start-message"),
            _open_panel(),
            html.Div(_choose_panel(first, None) if first else None, id="choose"),
            html.Div(id="fit-progress"),
            html.Div(cancel, id="fit-controls", hidden=True),
            dcc.Store(id="waiting", data="" if first else None),
            dcc.Store(id="fit-job"),
            dcc.Store(id="goto"),
            dcc.Interval(id="fit-tick", interval=TICK, disabled=True),
        ],
        className="start",
    )


def _open_panel() -> html.Section:
    kinds = "CSV, Parquet, Arrow or JSON lines, also compressed; or a saved explainer (.suffice)"
    drop = dcc.Upload(
        id="upload",
        children=html.Div([html.B("Drop a table here, or click to choose one"), html.Div(kinds, className="note")]),
        className="drop",
        max_size=MAX_UPLOAD,
    )
    demos = [dmc.Button(text, id=f"demo-{i}", size="xs", variant="default") for i, text in enumerate(_DEMOS)]
    return pieces.panel(
        "Open",
        dcc.Loading(drop, type="dot"),
        html.Div([html.Span("or try", className="note"), *demos], className="controls"),
        wide=True,
    )


def _choose_panel(table: WaitingTable, opened: Workspace | None) -> html.Section:
    frame = table.frame
    has_dates = any(dtype.is_temporal() for dtype in frame.schema.values())
    can_explain = opened is not None and set(opened.names) <= set(frame.columns)
    buttons = [
        dmc.Button("Fit", id="fit", size="sm"),
        dmc.Button(
            "Explain its rows with the open explainer",
            id="use-explainer",
            size="sm",
            variant="default",
            style={} if can_explain else {"display": "none"},
        ),
    ]
    preview = frame.head(N_PREVIEW)
    return pieces.panel(
        table.name,
        *(pieces.message("plain", note) for note in table.notes[:5]),
        grid("preview", table_columns(preview), 270, rowData=page_of(preview, np.arange(preview.height))),
        html.Div(_fields(frame.columns), className="fields"),
        html.Div(
            dmc.Switch(id="dates", label="Use dates: year, month, day, weekday, hour", checked=has_dates, size="sm"),
            hidden=not has_dates,
        ),
        html.Div(buttons, className="controls"),
        note=f"{frame.height} rows, {frame.width} columns",
        wide=True,
    )


def _fields(names: list[str]) -> list[html.Div]:
    options = [{"value": str(i), "label": name} for i, name in enumerate(names)]
    target = dmc.Select(id="target", data=options, value=str(len(names) - 1), searchable=True, size="sm", limit=300)
    left_out = dmc.MultiSelect(
        id="leave-out",
        data=options,
        value=[],
        searchable=True,
        size="sm",
        limit=300,
        placeholder="such as names of the rows",
    )
    return [
        html.Div([html.Label("Target: the column with the outcomes"), target]),
        html.Div([html.Label("Leave out"), left_out]),
    ]


def register(app: Dash, desk: Desk, jobs: Jobs, waiting: WaitingTables) -> None:
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
    )(lambda content, name: _receive(desk, waiting, content, name))
    app.callback(
        output=[
            Output("fit-job", "data"),
            Output("fit-tick", "disabled"),
            Output("fit-progress", "children"),
            Output("goto", "data"),
            Output("fit-controls", "hidden"),
        ],
        inputs={
            "clicks": {
                name: Input(name, "n_clicks") for name in ("fit", "use-explainer", "demo-0", "demo-1", "fit-cancel")
            },
            "tick": Input("fit-tick", "n_intervals"),
            "form": {
                "table": State("waiting", "data"),
                "target": State("target", "value"),
                "left_out": State("leave-out", "value"),
                "dates": State("dates", "checked"),
            },
            "job": State("fit-job", "data"),
        },
        prevent_initial_call=True,
    )(lambda clicks, tick, form, job: _when_fitted(jobs, job) or _fit(desk, jobs, waiting, clicks, form))


def _receive(desk: Desk, waiting: WaitingTables, content: str | None, name: str | None) -> tuple[Any, ...]:
    if not content:
        return (no_update,) * 5
    opened = desk.first
    try:
        upload, notes = read_upload(content, name or "", text_columns(opened.explainer) if opened else ())
        if isinstance(upload, SufficientExplainer):
            workspace = Workspace.of(upload, name=f"training rows of {name}")
            return no_update, no_update, None, f"/{View(data=desk.add(workspace)).to_search()}", None
        if upload.width < 2:
            raise ValueError("The table has one column: the outcome and at least one variable are needed.")
        table = WaitingTable(upload, str(name)[:100], tuple(notes))
    except ERRORS as error:
        refusal = pieces.message("error", html.B("This file cannot be used. "), in_words(error))
        return None, None, refusal, no_update, None
    return _choose_panel(table, opened), waiting.add(table), None, no_update, None


def _when_fitted(jobs: Jobs, name: str | None) -> tuple[Any, ...] | None:
    """Show how far the job is, and go to its workspace when it is done. None if a new job is to be started."""
    if ctx.triggered_id not in ("fit-tick", "fit-cancel"):
        return None
    job = jobs.get(name)
    if job is not None and ctx.triggered_id == "fit-cancel":
        job.cancel()
    is_over = job is None or job.state != "running"
    address = f"/{View(data=job.result).to_search()}" if job is not None and job.state == "done" else no_update
    return no_update, is_over, progress(job), address, is_over


def _fit(
    desk: Desk, jobs: Jobs, waiting: WaitingTables, clicks: Mapping[str, Any], form: Mapping[str, Any]
) -> tuple[Any, ...]:
    action = str(ctx.triggered_id)
    if not clicks.get(action):
        return (no_update,) * 5
    if action.startswith("demo-"):
        return _start(desk, jobs, "Fitting 100 trees", lambda watch: demo_workspace(int(action[-1]), watch))
    table = waiting.get(form["table"])
    if table is None:
        return no_update, True, pieces.message("error", "The table is no longer here: open it again."), no_update, True
    frame, name = table.frame, table.name
    if action == "use-explainer" and desk.first is not None:
        explainer = desk.first.explainer
        return _start(desk, jobs, "Opening", lambda _: Workspace.of(explainer, frame, name=name))
    target = frame.columns[int(form["target"]) if form["target"] is not None else -1]
    left_out = [frame.columns[int(i)] for i in form["left_out"] or []]
    title = f"Fitting 100 trees to {frame.height} rows"
    has_dates = bool(form["dates"])
    return _start(desk, jobs, title, lambda watch: fit_workspace(frame, target, left_out, has_dates, name, watch))


def _start(desk: Desk, jobs: Jobs, title: str, make: Callable[[Callable[[int], None]], Workspace]) -> tuple[Any, ...]:
    job = Job(title)
    name = jobs.start(job, lambda job: desk.add(make(job.step)))
    return name, False, progress(job), no_update, False
