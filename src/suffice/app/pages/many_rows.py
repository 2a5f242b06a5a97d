"""The page about many rows: filtering the table, explaining the rows that are left, and what they have in common."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from suffice._io.output import write_table
from suffice._io.result_table import result_frame
from suffice._show.picture import Summary, summarize
from suffice._text import format_percent
from suffice.app.parts import charts, pieces
from suffice.app.parts.grids import choose_rows, grid, page_response, table_columns
from suffice.app.parts.progress import TICK, progress
from suffice.app.state.desk import Desk
from suffice.app.state.explained_rows import ExplainedRows, explain_rows
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import in_words
from suffice.explaining.explanations import Explanations
from suffice.explaining.importance import SHOWN_INDEX

MAX_ROWS = 200  # explained by default
MAX_DRAWN = 20  # variables in the heatmap
_DOWNLOADS = (("csv", "CSV"), ("parquet", "Parquet"), ("html", "Report"))
_GROUP_COLUMNS = (
    {
        "field": "variables",
        "headerName": "sufficient set",
        "cellRenderer": "Chips",
        "cellDataType": False,
        "flex": 1,
        "minWidth": 200,
        "wrapText": True,
        "autoHeight": True,
    },
    {"field": "n", "headerName": "number of rows", "width": 130, "type": "rightAligned"},
    {"field": "share", "headerName": "share", "cellRenderer": "Share", "width": 140},
    {"field": "sdp", "headerName": "mean SDP", "width": 100, "type": "rightAligned"},
    {"field": "outcomes", "headerName": "outcomes", "width": 190},
    {"field": "rows", "headerName": "rows", "width": 220},
)

# --- layout -----------------------------------------------------------------------------------------------------------


def layout(workspace: Workspace) -> html.Div:
    """Lay out the page."""
    table = grid(
        "table",
        table_columns(workspace.frame),
        340,
        rowModelType="infinite",
        getRowId="params.data.key",
        defaultColDef={"floatingFilter": True},
        dashGridOptions={"cacheBlockSize": 100, "maxBlocksInCache": 6},
    )
    return html.Div(
        [
            pieces.panel(
                "Choose rows",
                table,
                _controls(workspace),
                html.Div(id="many-progress"),
                note="filter with the fields below the names",
                wide=True,
            ),
            _results_panels(),
            dcc.Store(id="many-job"),
            dcc.Interval(id="many-tick", interval=TICK, disabled=True),
            dcc.Download(id="many-download"),
        ]
    )


def _controls(workspace: Workspace) -> html.Div:
    return html.Div(
        [
            html.Span(f"{workspace.frame.height} rows", id="n-chosen", className="count"),
            html.Span("explain at most", className="note"),
            dmc.NumberInput(
                id="n-most",
                value=min(MAX_ROWS, workspace.frame.height),
                min=1,
                max=100_000,
                step=100,
                size="xs",
                w=90,
                **{"aria-label": "At most"},
            ),
            dmc.Button("Explain", id="explain", size="xs"),
            dmc.Button("Cancel", id="cancel", size="xs", variant="default", disabled=True),
        ],
        className="controls",
    )


def _results_panels() -> html.Div:
    heatmap = dcc.Graph(id="heatmap", config=charts.CONFIG, style={"height": 360}, figure=charts.nothing("light", ""))
    buttons = [dmc.Button(text, id=f"save-{kind}", size="compact-xs", variant="default") for kind, text in _DOWNLOADS]
    downloads = html.Div([html.Span("Download", className="note"), *buttons], className="axes")
    return html.Div(
        [
            html.Div(id="many-tiles", className="tiles wide"),
            html.Div(id="many-cautions", className="wide"),
            pieces.panel("Mean importance", html.Div(id="many-importance"), note="over rows with a sufficient set"),
            pieces.panel("Importance of each row", heatmap, note="rows with a sufficient set, ordered by it"),
            pieces.panel(
                "Rows with the same sufficient set",
                grid("groups", _GROUP_COLUMNS, 320, rowData=[], getRowId="params.data.key"),
                extra=downloads,
                wide=True,
            ),
        ],
        className="panels",
        id="many-results",
        hidden=True,
    )


# --- callbacks --------------------------------------------------------------------------------------------------------


def register(app: Dash, desk: Desk, jobs: Jobs) -> None:
    """Connect the callbacks of the page."""
    app.callback(
        Output("table", "getRowsResponse"),
        Output("n-chosen", "children"),
        Input("table", "getRowsRequest"),
        State("view", "data"),
        prevent_initial_call=True,
    )(lambda request, stored: _page_of_table(desk, request, stored))
    app.callback(
        output={
            "name": Output("many-job", "data"),
            "is_idle": Output("many-tick", "disabled"),
            "cannot_cancel": Output("cancel", "disabled"),
            "cannot_start": Output("explain", "disabled"),
            "progress": Output("many-progress", "children"),
            "is_hidden": Output("many-results", "hidden"),
        },
        inputs={
            "events": [
                Input("explain", "n_clicks"),
                Input("cancel", "n_clicks"),
                Input("many-tick", "n_intervals"),
            ],
            "form": {
                "job": State("many-job", "data"),
                "filters": State("table", "filterModel"),
                "request": State("table", "getRowsRequest"),
                "most": State("n-most", "value"),
                "view": State("view", "data"),
            },
        },
        prevent_initial_call=True,
    )(lambda events, form: _work(desk, jobs, form))
    app.callback(
        Output("many-tiles", "children"),
        Output("many-cautions", "children"),
        Output("many-importance", "children"),
        Output("heatmap", "figure"),
        Output("groups", "rowData"),
        Input("many-results", "hidden"),
        Input("scheme", "data"),
        State("many-job", "data"),
        prevent_initial_call=True,
    )(lambda is_hidden, scheme, name: _results(jobs, is_hidden, scheme, name))
    app.callback(
        output=Output("many-download", "data"),
        inputs={
            "clicks": [Input(f"save-{kind}", "n_clicks") for kind, _ in _DOWNLOADS],
            "name": State("many-job", "data"),
            "stored": State("view", "data"),
        },
        prevent_initial_call=True,
    )(lambda clicks, name, stored: _download(desk, jobs, name, stored))


def _page_of_table(desk: Desk, request: Any, stored: Any) -> tuple[Any, Any]:
    workspace = desk.get(View.from_store(stored).data)
    if workspace is None or request is None:
        return no_update, no_update
    response = page_response(workspace, request)
    n, n_all = response["rowCount"], workspace.frame.height
    return response, f"{n} of {n_all} rows chosen" if n < n_all else f"{n} rows"


def _update(job: Job | None, **changes: Any) -> dict[str, Any]:
    """Show the state of a job, and change what else is named."""
    is_running = job is not None and job.state == "running"
    return {
        "name": no_update,
        "is_idle": not is_running,
        "cannot_cancel": not is_running,
        "cannot_start": is_running,
        "progress": progress(job),
        "is_hidden": no_update,
        **changes,
    }


def _work(desk: Desk, jobs: Jobs, form: Mapping[str, Any]) -> dict[str, Any]:
    view = View.from_store(form["view"])
    workspace = desk.get(view.data)
    if workspace is None:
        return dict.fromkeys(_update(None), no_update)
    if ctx.triggered_id == "explain":
        rows = choose_rows(workspace.frame, form["filters"], (form["request"] or {}).get("sortModel"))
        if not len(rows):
            return _update(None, progress=pieces.message("care", "No row passes the filters."))
        chosen = rows[: max(1, int(form["most"] or MAX_ROWS))].tolist()
        job = Job("Explaining rows", len(chosen))
        name = jobs.start(job, lambda job: _explain(workspace, view, chosen, job))
        return _update(job, name=name, is_hidden=True)
    running = jobs.get(form["job"])
    if running is None:
        return _update(None)
    if ctx.triggered_id == "cancel":
        running.cancel()
    return _update(running, is_hidden=running.state != "done")


def _explain(workspace: Workspace, view: View, rows: list[int], job: Job) -> ExplainedRows:
    y = workspace.observed_at(rows) if view.outcome == "observed" else None
    return ExplainedRows(workspace.named(explain_rows(workspace, view, workspace.frame[rows], y, job), rows), rows)


def _results(jobs: Jobs, is_hidden: bool, scheme: str | None, name: str | None) -> tuple[Any, ...]:
    job = jobs.get(name)
    if is_hidden or job is None or job.result is None:
        return (no_update,) * 5
    explained: ExplainedRows = job.result
    explanations = explained.explanations
    summary = summarize(explanations)
    return (
        _tiles(summary, explanations),
        [pieces.message("care", in_words(caution)) for caution in summary.cautions],
        pieces.importance_bars(explanations.ranked_importance(), 15),
        _heatmap(explained, scheme or "light"),
        explained.groups(),
    )


def _tiles(summary: Summary, explanations: Explanations) -> list[html.Div]:
    n, n_sufficient = summary.n_rows, summary.n_sufficient
    n_variables = sum(size * n_rows for size, n_rows in summary.sizes.items())
    agreement = format_percent(1 - summary.n_disagree / n)
    level = explanations.level_text.replace("probability ", "π = ")
    tiles = [
        pieces.tile("rows explained", str(n), level),
        pieces.tile("with a sufficient set", f"{format_percent(n_sufficient / n)} %", f"{n_sufficient} of {n}"),
        pieces.tile(
            "mean size of the best set", f"{n_variables / n_sufficient:.1f}" if n_sufficient else "-", "variables"
        ),
    ]
    if explanations.answers.source == "forest":  # it agrees with its own predictions
        return tiles
    return [*tiles, pieces.tile("the forest agrees", f"{agreement} %", "with the explained outcome")]


def _heatmap(explained: ExplainedRows, scheme: str) -> Any:
    explanations = explained.explanations
    matrix, names = explanations.importance_matrix(index=SHOWN_INDEX), explanations.variable_names
    drawn = [names.index(name) for name, _ in explanations.ranked_importance()[:MAX_DRAWN]]
    if not drawn:
        return charts.nothing(scheme, "No row has a sufficient set.")
    has_set, best_sets = explanations.has_set, explanations.best_sets
    order = sorted(np.flatnonzero(has_set).tolist(), key=lambda i: best_sets[i].variables)
    return charts.heatmap(
        matrix[np.ix_(order, drawn)], [names[i] for i in drawn], [explained.names[i] for i in order], scheme
    )


def _download(desk: Desk, jobs: Jobs, name: str | None, stored: Any) -> Any:
    job, workspace = jobs.get(name), desk.get(View.from_store(stored).data)
    if job is None or job.result is None or workspace is None:
        return no_update
    explained: ExplainedRows = job.result
    kind = str(ctx.triggered_id).removeprefix("save-")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"explanations.{kind}"
        if kind == "html":
            explained.explanations.report(path, title=f"{workspace.name}: {workspace.explainer.target_name_}")
        else:
            write_table(result_frame(explained.explanations, "polars", positions=explained.rows), str(path), kind)
        return dcc.send_bytes(path.read_bytes(), path.name)
