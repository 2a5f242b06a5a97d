"""The page about many rows: filtering the table, explaining the rows that are left, and what they have in common."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, State, ctx, dcc, html
from dash.exceptions import PreventUpdate

from suffice._io.output import write_table
from suffice._io.result_table import result_frame
from suffice._show.picture import summarize
from suffice._text import format_number, format_percent, format_probability
from suffice.app.messages import reword
from suffice.app.parts import controls, pieces
from suffice.app.parts.grids import CHIPS, WRAPPED, choose_rows, grid, page_response, right_column, table_grid
from suffice.app.state.jobs import Job, Jobs
from suffice.explaining.explanations import Explanations

if TYPE_CHECKING:
    from suffice._show.picture import Summary
    from suffice.app.state.sessions import Sessions
    from suffice.app.state.view import View
    from suffice.app.state.workspace import Workspace

MAX_ROWS = 200  # explained by default
CHUNK_SECONDS = 0.25  # how long a click may wait for a job
MAX_LISTED = 8  # rows of a group whose positions are listed
_DOWNLOADS = (("csv", "CSV"), ("parquet", "Parquet"), ("html", "Report"))
_GROUP_COLUMNS = (
    {"field": "variables", "headerName": "sufficient set", "minWidth": 200, **CHIPS, **WRAPPED},
    right_column("n", "number of rows", 130),
    {"field": "share", "headerName": "share", "cellRenderer": "Share", "width": 140},
    right_column("sdp", "mean SDP", 100),
    {"field": "outcomes", "headerName": "outcomes", "width": 190},
    {"field": "rows", "headerName": "rows", "width": 220},
)

# --- layout -----------------------------------------------------------------------------------------------------------


def layout(workspace: Workspace) -> html.Div:
    """Lay out the page."""
    table = table_grid("table", workspace.frame, 340, 6, defaultColDef={"floatingFilter": True})
    contents = (table, _controls(workspace), html.Div(id="many-progress"))
    return html.Div(
        [
            controls.panel("Choose rows", *contents, note="filter with the fields below the names", wide=True),
            _results_panels(),
            *controls.job_parts("many"),
            dcc.Download(id="many-download"),
        ]
    )


def _controls(workspace: Workspace) -> html.Div:
    n_rows = workspace.frame.height
    most = controls.number_input("n-most", "At most", min(MAX_ROWS, n_rows), 90, min=1, max=100_000, step=100)
    return html.Div(
        [
            html.Span(f"{n_rows} rows", id="n-chosen", className="count"),
            html.Span("explain at most", className="note"),
            most,
            dmc.Button("Explain", id="explain", size="xs"),
            dmc.Button("Cancel", id="cancel", size="xs", variant="default", disabled=True),
        ],
        className="controls",
    )


def _results_panels() -> html.Div:
    groups = grid("groups", _GROUP_COLUMNS, 320, rowData=[], getRowId="params.data.key")
    downloads = controls.download_buttons("Download", "save", _DOWNLOADS)
    return html.Div(
        [
            html.Div(id="many-tiles", className="tiles wide"),
            html.Div(id="many-cautions", className="wide"),
            controls.panel(
                "Mean importance",
                html.Div(id="many-importance"),
                note="over rows with a sufficient set",
                wide=True,
            ),
            controls.panel("Rows with the same sufficient set", groups, extra=downloads, wide=True),
        ],
        className="panels",
        id="many-results",
        hidden=True,
    )


# --- explanations -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Explanations of rows of a table."""

    explanations: Explanations
    rows: list[int]

    @property
    def names(self) -> list[str]:
        """What each row is called: its identifier, or its position."""
        return list(self.explanations.ids or map(str, self.rows))

    def groups(self) -> list[dict[str, Any]]:
        """Group rows with the same best set."""
        best_sets, outcomes = self.explanations.best_sets, self.explanations.outcomes.tolist()
        names, focus = self.names, self.explanations.fitted.focus
        members: dict[tuple[str, ...] | None, list[int]] = {}
        for i, (best_set, has_set) in enumerate(zip(best_sets, self.explanations.has_set, strict=True)):
            members.setdefault(best_set.variables if has_set else None, []).append(i)
        lines = []
        n_of_focus = {
            variables: 0 if None in (variables, focus) else sum(outcomes[i] == focus for i in rows)
            for variables, rows in members.items()
        }
        ordered = sorted(members.items(), key=lambda item: (-n_of_focus[item[0]], -len(item[1])))
        for key, (variables, rows) in enumerate(ordered):
            rows.sort(key=lambda i: outcomes[i] != focus)
            share = len(rows) / len(best_sets)
            lines.append(
                {
                    "key": str(key),
                    "variables": ["(no sufficient set)"] if variables is None else list(variables) or ["(no variable)"],
                    "n": len(rows),
                    "share": share,
                    "shown": f"{format_percent(share)} %",
                    "sdp": format_probability(float(np.mean([best_sets[i].sdp for i in rows]))),
                    "outcomes": _outcomes_text([outcomes[i] for i in rows]),
                    "rows": ", ".join([*(names[i] for i in rows[:MAX_LISTED]), *["…"] * (len(rows) > MAX_LISTED)]),
                }
            )
        return lines


def _outcomes_text(outcomes: list[Any]) -> str:
    if all(isinstance(outcome, float) for outcome in outcomes):
        low, high = min(outcomes), max(outcomes)
        return f"{format_number(float(f'{low:.3g}'))} to {format_number(float(f'{high:.3g}'))}"
    counts = Counter(map(str, outcomes)).most_common(3)
    return ", ".join(f"{label} ({n})" for label, n in counts)


def explain_rows(workspace: Workspace, view: View, X: Any, y: Sequence[Any] | None, job: Job) -> Explanations:
    """Explain rows a few at a time, so that clicks are answered in between and the job can be cancelled."""
    explainer = workspace.explainer_for(view)
    parts: list[Explanations] = []
    begin, size = 0, 4
    while begin < len(X):
        job.step(begin)
        end = min(begin + size, len(X))
        started = time.monotonic()
        with workspace.lock:
            rows = workspace.as_input(X[begin:end])
            parts.append(explainer.explain(rows, None if y is None else y[begin:end], progress=False))
        seconds = max(time.monotonic() - started, 1e-3)
        size = int(np.clip(size * CHUNK_SECONDS / seconds, 1, 4 * size))
        begin = end
    job.step(len(X))
    return Explanations.joined(parts)


# --- callbacks --------------------------------------------------------------------------------------------------------


def register(app: Dash, sessions: Sessions, jobs: Jobs) -> None:
    """Connect the callbacks of the page."""
    app.callback(
        Output("table", "getRowsResponse"),
        Output("n-chosen", "children"),
        Input("table", "getRowsRequest"),
        State("view", "data"),
        prevent_initial_call=True,
    )(lambda request, stored: _page_of_table(sessions, request, stored))
    controls.connect_job(
        app,
        jobs,
        "many",
        inputs={
            "filters": State("table", "filterModel"),
            "request": State("table", "getRowsRequest"),
            "most": State("n-most", "value"),
            "view": State("view", "data"),
        },
        outputs={"is_hidden": Output("many-results", "hidden")},
        buttons=("explain", "cancel"),
    )(lambda event, job, form: _update(sessions, event, job, form))
    app.callback(
        Output("many-tiles", "children"),
        Output("many-cautions", "children"),
        Output("many-importance", "children"),
        Output("groups", "rowData"),
        Input("many-results", "hidden"),
        State("many-job", "data"),
        prevent_initial_call=True,
    )(lambda is_hidden, name: show_results(None if is_hidden else jobs.get(name)))
    app.callback(
        output=Output("many-download", "data"),
        inputs={
            "clicks": [Input(f"save-{kind}", "n_clicks") for kind, _ in _DOWNLOADS],
            "name": State("many-job", "data"),
            "stored": State("view", "data"),
        },
        prevent_initial_call=True,
    )(lambda clicks, name, stored: _download(sessions, jobs.get(name), stored))


def _page_of_table(sessions: Sessions, request: Any, stored: Any) -> tuple[Any, Any]:
    workspace, _ = sessions.open(stored)
    response = page_response(workspace, request)
    n, n_all = response["rowCount"], workspace.frame.height
    return response, f"{n} of {n_all} rows chosen" if n < n_all else f"{n} rows"


def _update(sessions: Sessions, event: Any, job: Job | None, form: Mapping[str, Any]) -> dict[str, Any]:
    workspace, view = sessions.open(form["view"])
    if event != "explain":
        return {} if job is None else {"is_hidden": job.state != "done"}
    rows = choose_rows(workspace.frame, form["filters"], (form["request"] or {}).get("sortModel"))
    if not len(rows):
        return {"progress": controls.message("care", "No row passes the filters.")}
    chosen = rows[: max(1, int(form["most"] or MAX_ROWS))].tolist()
    start = Job("Explaining rows", len(chosen)), lambda job: _explain(workspace, view, chosen, job)
    return {"job": start, "is_hidden": True}


def _explain(workspace: Workspace, view: View, rows: list[int], job: Job) -> ExplainedRows:
    y = workspace.observed_at(rows) if view.outcome == "observed" else None
    return ExplainedRows(workspace.named(explain_rows(workspace, view, workspace.frame[rows], y, job), rows), rows)


def show_results(job: Job | None) -> tuple[Any, ...]:
    """Show the explanations of a job, if there are any."""
    if job is None or job.result is None:
        raise PreventUpdate
    explained: ExplainedRows = job.result
    explanations = explained.explanations
    summary = summarize(explanations)
    return (
        _tiles(summary, explanations),
        [controls.message("care", reword(caution)) for caution in summary.cautions],
        pieces.importance_bars(explanations.ranked_importance(), 15),
        explained.groups(),
    )


def _tiles(summary: Summary, explanations: Explanations) -> list[html.Div]:
    n, n_sufficient = summary.n_rows, summary.n_sufficient
    n_variables = sum(size * n_rows for size, n_rows in summary.sizes.items())
    level = explanations.level_text.replace("probability ", "π = ")
    size = f"{n_variables / n_sufficient:.1f}" if n_sufficient else "-"
    tiles = [
        controls.tile("rows explained", str(n), level),
        controls.tile("with a sufficient set", f"{format_percent(n_sufficient / n)} %", f"{n_sufficient} of {n}"),
        controls.tile("mean size of the best set", size, "variables"),
    ]
    if explanations.answers.source == "forest":  # it agrees with its own predictions
        return tiles
    agreement = format_percent(1 - summary.n_disagree / n)
    return [*tiles, controls.tile("the forest agrees", f"{agreement} %", "with the explained outcome")]


def _download(sessions: Sessions, job: Job | None, stored: Any) -> Any:
    workspace, _ = sessions.open(stored)
    if job is None or job.result is None:
        raise PreventUpdate
    explained: ExplainedRows = job.result
    kind = str(ctx.triggered_id).removeprefix("save-")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"explanations.{kind}"
        if kind == "html":
            explained.explanations.report(path, title=f"{workspace.name}: {workspace.explainer.target_name_}")
        else:
            write_table(result_frame(explained.explanations, "polars", positions=explained.rows), str(path), kind)
        return dcc.send_bytes(path.read_bytes(), path.name)
