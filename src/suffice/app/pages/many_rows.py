"""The page about many rows: filtering the table, explaining what is left, and what the explanations have in common."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from suffice._io.files import write_table
from suffice._io.result_table import result_frame
from suffice.app.pages.one_row import rows_response
from suffice.app.parts import charts
from suffice.app.parts import pieces as parts
from suffice.app.parts.grids import choose_rows, grid, table_columns
from suffice.app.state.desk import Desk
from suffice.app.state.jobs import Job, Jobs, explain_rows
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.explanations import Explanations
from suffice.words import format_number, format_percent, format_probability, join

MAX_ROWS = 200  # explained unless more are asked for
TICK = 300  # milliseconds between two looks at a job


@dataclass(frozen=True, eq=False)
class Explained:
    """The result of a job.

    Parameters
    ----------
    explanations : Explanations
        The explanations.
    rows : list of int
        The positions of the rows in the table.
    """

    explanations: Explanations
    rows: list[int]

    def groups(self) -> list[dict[str, Any]]:
        """Put rows with the same best set together.

        Returns
        -------
        list of dict
            One line for each set, the most frequent first; rows without a sufficient set are one group.
        """
        members: dict[tuple[str, ...] | None, list[int]] = {}
        told = list(self.explanations)
        for i, explanation in enumerate(told):
            members.setdefault(explanation.best_set.variables if explanation.is_sufficient else None, []).append(i)
        lines = []
        for key, (variables, rows) in enumerate(sorted(members.items(), key=lambda item: -len(item[1]))):
            sdp = float(np.mean([told[i].best_set.sdp for i in rows]))
            lines.append(
                {
                    "key": str(key),
                    "variables": ["(no sufficient set)"]
                    if variables is None
                    else list(variables) or ["(nothing at all)"],
                    "n": len(rows),
                    "share": len(rows) / len(told),
                    "shown": f"{format_percent(len(rows) / len(told))} %",
                    "sdp": format_probability(sdp),
                    "outcomes": _outcomes([told[i].outcome for i in rows]),
                    "rows": ", ".join(str(self.rows[i]) for i in rows[:8]) + (", …" if len(rows) > 8 else ""),
                }
            )
        return lines


def _outcomes(outcomes: list[Any]) -> str:
    if all(isinstance(outcome, float) for outcome in outcomes):
        low, high = min(outcomes), max(outcomes)
        return f"{format_number(float(f'{low:.3g}'))} to {format_number(float(f'{high:.3g}'))}"
    counts = Counter(map(str, outcomes)).most_common(3)
    return ", ".join(f"{label} ({n})" for label, n in counts)


def layout(workspace: Workspace) -> html.Div:
    """Lay out the page.

    Parameters
    ----------
    workspace : Workspace
        The explainer and its table.

    Returns
    -------
    dash.html.Div
        The page.
    """
    table = grid(
        "table",
        table_columns(workspace.frame),
        340,
        rowModelType="infinite",
        getRowId="params.data.key",
        defaultColDef={"floatingFilter": True},
        dashGridOptions={"cacheBlockSize": 100, "maxBlocksInCache": 6},
    )
    controls = html.Div(
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
    groups = [
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
        {"field": "n", "headerName": "rows", "width": 80, "type": "rightAligned"},
        {"field": "share", "headerName": "share", "cellRenderer": "Share", "width": 140},
        {"field": "sdp", "headerName": "mean SDP", "width": 100, "type": "rightAligned"},
        {"field": "outcomes", "headerName": "outcomes", "width": 190},
        {"field": "rows", "headerName": "rows", "width": 190},
    ]
    results = html.Div(
        [
            html.Div(id="many-tiles", className="tiles wide"),
            parts.panel("Mean importance", html.Div(id="many-importance"), note="LXI, over rows with a sufficient set"),
            parts.panel(
                "Importance of each row",
                dcc.Graph(
                    id="heatmap", config=charts.CONFIG, style={"height": 360}, figure=charts.nothing("light", "")
                ),
                note="rows ordered by their sets",
            ),
            parts.panel(
                "Rows with the same sufficient set",
                grid("groups", groups, 320, rowData=[], getRowId="params.data.key"),
                extra=html.Div(
                    [
                        html.Span("Download", className="note"),
                        *(
                            dmc.Button(text, id=f"save-{kind}", size="compact-xs", variant="default")
                            for kind, text in (("csv", "CSV"), ("parquet", "Parquet"), ("html", "Report"))
                        ),
                    ],
                    className="axes",
                ),
                wide=True,
            ),
        ],
        className="panels",
        id="many-results",
        hidden=True,
    )
    return html.Div(
        [
            parts.panel(
                "Choose rows",
                table,
                controls,
                html.Div(id="many-progress"),
                note="filter by the fields under the names",
                wide=True,
            ),
            results,
            dcc.Store(id="many-job"),
            dcc.Interval(id="many-tick", interval=TICK, disabled=True),
            dcc.Download(id="many-download"),
        ]
    )


def progress(job: Job | None) -> Any:
    """Tell how far a job is.

    Parameters
    ----------
    job : Job or None
        The job.

    Returns
    -------
    component
        A bar, a message, or nothing.
    """
    if job is None or job.state == "done":
        return None
    if job.state == "failed":
        return parts.message("error", job.message)
    if job.state == "cancelled":
        return parts.message("plain", "Cancelled.")
    if not job.total:
        bar = dmc.Progress(value=100, striped=True, animated=True, size="sm")
        return html.Div([html.Div(f"{job.what} … {job.seconds:.0f} s", className="note"), bar], className="progress")
    share = job.done / job.total
    left = f", about {job.seconds / share - job.seconds:.0f} s left" if share > 0.05 else ""
    text = f"{job.what}: {job.done} of {job.total}{left}"
    return html.Div(
        [html.Div(text, className="note"), dmc.Progress(value=100 * share, size="sm", animated=True)],
        className="progress",
    )


def register(app: Dash, desk: Desk, jobs: Jobs) -> None:
    """Connect the page.

    Parameters
    ----------
    app : dash.Dash
        The app.
    desk : Desk
        The workspaces.
    jobs : Jobs
        The jobs.
    """
    app.callback(
        Output("table", "getRowsResponse"),
        Input("table", "getRowsRequest"),
        State("view", "data"),
        prevent_initial_call=True,
    )(lambda request, stored: rows_response(desk, request, stored))
    app.callback(
        Output("n-chosen", "children"),
        Input("table", "getRowsRequest"),
        State("view", "data"),
        prevent_initial_call=True,
    )(lambda request, stored: _count(desk, request, stored))
    app.callback(
        Output("many-job", "data"),
        Output("many-tick", "disabled"),
        Output("cancel", "disabled"),
        Output("explain", "disabled"),
        Output("many-progress", "children"),
        Output("many-results", "hidden"),
        Input("explain", "n_clicks"),
        Input("cancel", "n_clicks"),
        Input("many-tick", "n_intervals"),
        State("many-job", "data"),
        State("table", "filterModel"),
        State("table", "getRowsRequest"),
        State("n-most", "value"),
        State("view", "data"),
        prevent_initial_call=True,
    )(lambda *given: _work(desk, jobs, *given))
    app.callback(
        Output("many-tiles", "children"),
        Output("many-importance", "children"),
        Output("heatmap", "figure"),
        Output("groups", "rowData"),
        Input("many-results", "hidden"),
        Input("scheme", "data"),
        State("many-job", "data"),
        prevent_initial_call=True,
    )(lambda hidden, scheme, name: _results(jobs, hidden, scheme, name))
    app.callback(
        Output("many-download", "data"),
        Input("save-csv", "n_clicks"),
        Input("save-parquet", "n_clicks"),
        Input("save-html", "n_clicks"),
        State("many-job", "data"),
        State("view", "data"),
        prevent_initial_call=True,
    )(lambda *given: _download(desk, jobs, *given))


def _count(desk: Desk, request: Any, stored: Any) -> Any:
    workspace = desk.get(View.from_store(stored).data)
    if workspace is None or request is None:
        return no_update
    n = len(choose_rows(workspace.frame, request.get("filterModel"), None))
    return f"{n} of {workspace.frame.height} rows chosen" if n < workspace.frame.height else f"{n} rows"


def _work(desk: Desk, jobs: Jobs, *given: Any) -> tuple[Any, ...]:
    _, _, _, name, filters, request, most, stored = given
    view = View.from_store(stored)
    workspace = desk.get(view.data)
    if workspace is None:
        return (no_update,) * 6
    if ctx.triggered_id == "explain":
        rows = choose_rows(workspace.frame, filters, (request or {}).get("sortModel"))
        if not len(rows):
            return no_update, True, True, False, parts.message("care", "No row passes the filters."), no_update
        rows = rows[: max(1, int(most or MAX_ROWS))]
        chosen = rows.tolist()
        job = Job("Explaining rows", len(chosen))
        name = jobs.start(job, lambda job: _explain(workspace, view, chosen, job))
        return name, False, False, True, progress(job), True
    job_now = jobs.get(name)
    if job_now is None:
        return no_update, True, True, False, None, no_update
    if ctx.triggered_id == "cancel":
        job_now.cancel()
    is_running = job_now.state == "running"
    return no_update, not is_running, not is_running, is_running, progress(job_now), job_now.state != "done"


def _explain(workspace: Workspace, view: View, rows: list[int], job: Job) -> Explained:
    y = workspace.observed_at(rows) if view.outcome == "observed" else None
    return Explained(explain_rows(workspace, view, workspace.frame[rows], y, job), rows)


def _results(jobs: Jobs, hidden: bool, scheme: str | None, name: str | None) -> tuple[Any, ...]:
    job = jobs.get(name)
    if hidden or job is None or job.result is None:
        return (no_update,) * 4
    explained: Explained = job.result
    told = list(explained.explanations)
    enough = [e for e in told if e.is_sufficient]
    n = len(told)
    sizes = [len(e.best_set.variables) for e in enough]
    agrees = sum(e.forest_agrees for e in told)
    tiles = [
        parts.tile("rows explained", str(n), f"π = {explained.explanations.pi:g}"),
        parts.tile("with a sufficient set", f"{format_percent(len(enough) / n)} %", f"{len(enough)} of {n}"),
        parts.tile("mean size of the best set", f"{np.mean(sizes):.1f}" if sizes else "-", "variables"),
        parts.tile("the forest agrees", f"{format_percent(agrees / n)} %", "with the outcome explained"),
    ]
    importance = explained.explanations.mean_importance()
    matrix = explained.explanations._importance("all")
    names = list(explained.explanations.variable_names)
    shown = sorted((i for i in range(len(names)) if matrix[:, i].any()), key=lambda i: -matrix[:, i].mean())[:20]
    order = sorted(range(n), key=lambda i: (not told[i].is_sufficient, told[i].best_set.variables))
    scheme = scheme or "light"
    figure = charts.nothing(scheme, "No row has a sufficient set.")
    if shown:
        figure = charts.heatmap(
            matrix[np.ix_(order, shown)], [names[i] for i in shown], [explained.rows[i] for i in order], scheme
        )
    return tiles, parts.importance_bars(importance, 15), figure, explained.groups()


def _download(desk: Desk, jobs: Jobs, _csv: Any, _parquet: Any, _html: Any, name: str | None, stored: Any) -> Any:
    job, workspace = jobs.get(name), desk.get(View.from_store(stored).data)
    if job is None or job.result is None or workspace is None:
        return no_update
    explained: Explained = job.result
    kind = str(ctx.triggered_id).removeprefix("save-")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"explanations.{kind}"
        if kind == "html":
            explained.explanations.report(path, title=f"{workspace.name}: {join([workspace.explainer.target_name_])}")
        else:
            rows = result_frame(explained.explanations, "polars", positions=explained.rows)
            write_table(rows, str(path), kind)
        return dcc.send_bytes(path.read_bytes(), path.name)
