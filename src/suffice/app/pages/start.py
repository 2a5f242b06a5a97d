"""The first page: choosing a table or a saved explainer, choosing the target, and fitting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
import polars as pl
from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.exceptions import PreventUpdate

from suffice._io.explainer_file import text_columns
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

if TYPE_CHECKING:
    from dash.development.base_component import Component

N_PREVIEW = 8
MAX_CLASSES = 20  # of the target, among which one is chosen that matters
_DEMOS = ("Breast cancer (classes)", "Diabetes progression (numbers)")
_FILES = "CSV, Parquet, Arrow or JSON lines, also compressed; or a saved explainer (.suffice)"
_LEAD = (
    "Open a table, choose the outcome to explain, and see for each row which few variables keep it, within which "
    "bounds, and with which probability. Everything stays on this computer."
)


def layout(pending: PendingTables, message: str = "") -> html.Div:
    """Lay out the page."""
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
        "Open",
        controls.drop_area("upload", "a table", _FILES, MAX_UPLOAD),
        html.Div([html.Span("or try", className="note"), *demos], className="controls"),
        wide=True,
    )


def _choose_panel(table: PendingTable, opened: Workspace | None) -> html.Section:
    frame = table.frame
    has_dates = any(dtype.is_temporal() for dtype in frame.schema.values())
    can_explain = opened is not None and set(opened.names) <= set(frame.columns)
    use_explainer = dmc.Button(
        "Explain its rows with the open explainer",
        id="use-explainer",
        size="sm",
        variant="default",
        style={} if can_explain else {"display": "none"},
    )
    dates = dmc.Switch(id="dates", label="Use dates: year, month, day, weekday, hour", checked=has_dates, size="sm")
    preview = frame.head(N_PREVIEW)
    return controls.panel(
        table.name,
        *(controls.message("plain", note) for note in table.notes[:5]),
        grid("preview", table_columns(preview), 270, rowData=page_of(preview, np.arange(preview.height))),
        html.Div(_fields(frame.columns), className="fields"),
        html.Div(dates, hidden=not has_dates),
        html.Div([dmc.Button("Fit", id="fit", size="sm"), use_explainer], className="controls"),
        note=f"{frame.height} rows, {frame.width} columns",
        wide=True,
    )


def _fields(names: list[str]) -> list[Component]:
    columns: dict[str, Any] = {"data": controls.options(range(len(names)), names), "searchable": True, "limit": 300}
    target = dmc.Select(id="target", value=str(len(names) - 1), size="sm", **columns)
    focus = dmc.Select(id="focus", data=[], value=None, size="sm", placeholder="the rarer one of two", clearable=True)
    hint = "such as names of the rows"
    left_out = dmc.MultiSelect(id="leave-out", value=[], size="sm", placeholder=hint, **columns)
    fixed = dmc.MultiSelect(id="fixed", value=[], size="sm", placeholder="such as age", **columns)
    return [
        html.Div([html.Label("Target: the column with the outcomes"), target]),
        html.Div([html.Label("The outcome that matters"), focus]),
        html.Div([html.Label("Leave out"), left_out]),
        html.Div([html.Label("What people cannot change"), fixed]),
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
    app.callback(Output("focus", "data"), Output("focus", "value"), Input("target", "value"), State("waiting", "data"))(
        lambda target, name: (_classes(pending.get(name), target), None)
    )
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
        return _start(sessions, "Fitting 100 trees", lambda watch: demo_workspace(int(event[-1]), watch))
    table = pending.get(form["table"])
    if table is None:
        return {"job": None, "progress": controls.message("error", "The table is no longer here: open it again.")}
    frame, name = table.frame, table.name
    if event == "use-explainer" and sessions.first is not None:
        explainer = sessions.first.explainer
        return _start(sessions, "Opening", lambda _: Workspace.of(explainer, frame, name=name))
    target = frame.columns[int(form["target"]) if form["target"] is not None else -1]
    left_out, fixed = ([frame.columns[int(i)] for i in form[field] or []] for field in ("left_out", "fixed"))
    title, has_dates = f"Fitting 100 trees to {frame.height} rows", bool(form["dates"])
    arguments = (frame, target, left_out, has_dates, name)
    return _start(sessions, title, lambda watch: fit_workspace(*arguments, watch, fixed, form["focus"]))


def _classes(table: PendingTable | None, target: str | None) -> list[dict[str, str]]:
    """List the classes of the target; nothing if it has too many values, or holds numbers."""
    if table is None or target is None:
        return []
    column = table.frame.get_column(table.frame.columns[int(target)])
    if column.dtype.is_float() or column.n_unique() > MAX_CLASSES:
        return []
    return controls.options(sorted(map(str, column.drop_nulls().unique().to_list())))


def _start(sessions: Sessions, title: str, make: Callable[[Callable[[int], None]], Workspace]) -> dict[str, Any]:
    return {"job": (Job(title), lambda job: sessions.add(make(job.step)))}
