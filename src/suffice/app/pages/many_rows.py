"""The page about many rows: filtering the table, explaining the rows that are left, and what their sets rest on."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
from dash import ALL, Dash, Input, Output, State, ctx, dcc, html
from dash.exceptions import PreventUpdate

from suffice._io.output import write_table
from suffice._io.result_table import result_frame
from suffice._show.cards import explanation_parts, overview_part, tile
from suffice._show.overview import best_set_matrix, make_overview
from suffice._show.picture import all_cautions
from suffice._text import counted, format_outcome, format_percent, format_probability
from suffice.app.messages import reword
from suffice.app.parts import controls
from suffice.app.parts.grids import (
    CHIPS,
    SELECT_ONE,
    WRAPPED,
    choose_rows,
    grid,
    page_response,
    right_column,
    table_grid,
)
from suffice.app.parts.markup import to_components
from suffice.app.state.jobs import Job, Jobs
from suffice.explaining.explanations import Explanations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice._show.overview import OutcomeOverview
    from suffice.app.state.sessions import Sessions
    from suffice.app.state.view import View
    from suffice.app.state.workspace import Workspace

MAX_ROWS = 200  # explained by default
MAX_VARIABLES = 6  # of one outcome in the overview
MAX_OUTCOMES = 12
CHUNK_SECONDS = 0.25  # how long a click may wait for a job
_DOWNLOADS = (("csv", "CSV"), ("parquet", "Parquet"), ("html", "Report"))
_STATES = ("all rows", "with a sufficient set", "no sufficient set", "contested", "the forest disagrees")
_ROW_COLUMNS = (
    {"field": "row", "headerName": "row", "width": 110},
    {"field": "outcome", "headerName": "outcome", "width": 130, "valueFormatter": {"function": "params.data.text"}},
    {"field": "variables", "headerName": "sufficient set", "minWidth": 220, **CHIPS, **WRAPPED},
    right_column("size", "variables", 100),
    {"field": "sdp", "headerName": "SDP", "cellRenderer": "Share", "width": 150},
    right_column("own", "all variables", 120),
    {"field": "note", "headerName": "note", "minWidth": 170},
)

# --- layout -----------------------------------------------------------------------------------------------------------


def layout(workspace: Workspace) -> html.Div:
    """Lay out the page."""
    table = table_grid("table", workspace.frame, 340, 6, defaultColDef={"floatingFilter": True})
    contents = (table, _controls(workspace), html.Div(id="many-progress"))
    return html.Div(
        [
            controls.panel("Choose rows", *contents, note="filter with the fields below the names", wide=True),
            _results_panels(workspace),
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


def _results_panels(workspace: Workspace) -> html.Div:
    rows = grid("explained", _ROW_COLUMNS, 380, rowData=[], getRowId="params.data.key", dashGridOptions=SELECT_ONE)
    downloads = controls.download_buttons("Download", "save", _DOWNLOADS)
    outcome = controls.select("many-outcome", "Outcome", [], "0", 220, allowDeselect=False)
    variables = controls.options(workspace.explainer.variable_names_)
    more = {"clearable": True, "searchable": True, "placeholder": "with any variable"}
    filters = [
        controls.select("many-state", "Which rows", controls.options(_STATES), _STATES[0], 190, allowDeselect=False),
        controls.select("many-variable", "Variable in the set", variables, None, 220, **more),
        html.Span(id="many-count", className="note"),
    ]
    rests = "how often each variable is in the sets, and which values most of these rows have"
    return html.Div(
        [
            html.Div(id="many-tiles", className="tiles wide"),
            html.Div(id="many-cautions", className="wide"),
            controls.panel(
                "What the outcomes rest on", html.Div(id="many-overview"), extra=outcome, note=rests, wide=True
            ),
            controls.panel("Rows", html.Div(filters, className="controls"), rows, extra=downloads, wide=True),
            html.Div(id="many-row", className="wide"),
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

    @cached_property
    def overview(self) -> tuple[OutcomeOverview, ...]:
        """What the sets of each outcome rest on."""
        return make_overview(self.explanations)

    def chosen(self, group: str, state: str, variable: str | None) -> NDArray[np.intp]:
        """Find the rows of an outcome, in a state, and with a variable in their best set."""
        explanations = self.explanations
        is_chosen = np.ones(len(self.rows), dtype=bool) if group == "all" else self.overview[int(group)].is_in.copy()
        has_set, contested = explanations.has_set, explanations.is_contested
        is_chosen &= dict(
            zip(_STATES, (is_chosen, has_set, ~has_set, contested, ~explanations.forest_agrees), strict=True)
        )[state]
        if variable is not None:
            is_chosen &= best_set_matrix(explanations)[:, explanations.variable_names.index(variable)]
        return np.flatnonzero(is_chosen)

    def lines(self, chosen: NDArray[np.intp]) -> list[dict[str, Any]]:
        """Write rows for the grid."""
        explanations = self.explanations
        names, best_sets, outcomes = explanations.ids or self.rows, explanations.best_sets, explanations.outcomes
        has_set, contested, agrees = explanations.has_set, explanations.is_contested, explanations.forest_agrees
        lines = []
        for i in chosen.tolist():
            best, outcome = best_sets[i], outcomes[i].item() if isinstance(outcomes[i], np.generic) else outcomes[i]
            notes = ["contested"] * bool(contested[i]) + ["no set: nearest one"] * (not has_set[i])
            notes += [] if agrees[i] else ["the forest disagrees"]
            lines.append(
                {
                    "key": str(i),
                    "row": names[i],
                    "outcome": outcome if isinstance(outcome, int | float) else str(outcome),
                    "text": format_outcome(outcome),
                    "variables": list(best.variables) or ["(no variable)"],
                    "size": len(best.variables),
                    "sdp": best.sdp,
                    "shown": format_probability(best.sdp),
                    "own": format_probability(float(explanations.sdps_of_all[i])),
                    "note": ", ".join(notes),
                }
            )
        return lines


def explain_rows(workspace: Workspace, view: View, rows: list[int], job: Job) -> ExplainedRows:
    """Explain rows a few at a time, so that clicks are answered in between and the job can be cancelled."""
    explainer, X = workspace.explainer_for(view), workspace.frame[rows]
    y = workspace.observed_at(rows) if view.outcome == "observed" else None
    parts: list[Explanations] = []
    begin, size = 0, 4
    while begin < len(X):
        job.step(begin)
        end = min(begin + size, len(X))
        started = time.monotonic()
        with workspace.lock:
            some = workspace.as_input(X[begin:end])
            parts.append(explainer.explain(some, None if y is None else y[begin:end], progress=False))
        seconds = max(time.monotonic() - started, 1e-3)
        size = int(np.clip(size * CHUNK_SECONDS / seconds, 1, 4 * size))
        begin = end
    job.step(len(X))
    return ExplainedRows(workspace.named(Explanations.joined(parts), rows), rows)


# --- callbacks --------------------------------------------------------------------------------------------------------


def register(app: Dash, sessions: Sessions, jobs: Jobs) -> None:
    """Connect the callbacks of the page."""
    app.callback(
        [Output("table", "getRowsResponse"), Output("n-chosen", "children")],
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
    of_job = State("many-job", "data")
    app.callback(
        Output("many-tiles", "children"),
        Output("many-cautions", "children"),
        Output("many-outcome", "data"),
        Input("many-results", "hidden"),
        of_job,
        prevent_initial_call=True,
    )(lambda is_hidden, name: show_results(None if is_hidden else jobs.get(name)))
    filters = ("outcome", "state", "variable")
    app.callback(
        *(Output(f"many-{name}", "value") for name in filters),
        Input({"type": "many-line", "index": ALL}, "n_clicks"),
        of_job,
        prevent_initial_call=True,
    )(lambda clicks, name: choose_line(jobs.get(name), ctx.triggered_id if any(clicks) else None))
    app.callback(
        Output("many-overview", "children"),
        Output("explained", "rowData"),
        Output("many-count", "children"),
        Input("many-results", "hidden"),
        *(Input(f"many-{name}", "value") for name in filters),
        of_job,
        prevent_initial_call=True,
    )(lambda _, group, state, variable, name: show_rows(jobs.get(name), group, state, variable))
    app.callback(
        Output("many-row", "children"),
        Input("explained", "selectedRows"),
        of_job,
        State("view", "data"),
        prevent_initial_call=True,
    )(lambda selected, name, stored: show_row(jobs.get(name), selected, sessions.open(stored)[1]))
    app.callback(
        output=Output("many-download", "data"),
        inputs={
            "clicks": [Input(f"save-{kind}", "n_clicks") for kind, _ in _DOWNLOADS],
            "name": of_job,
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
    start = Job("Explaining rows", len(chosen)), lambda job: explain_rows(workspace, view, chosen, job)
    return {"job": start, "is_hidden": True}


def _result(job: Job | None) -> ExplainedRows:
    if job is None or job.result is None:
        raise PreventUpdate
    result: ExplainedRows = job.result
    return result


def show_results(job: Job | None) -> tuple[Any, ...]:
    """Show the figures of the explanations of a job, if there are any, and list their outcomes."""
    explained = _result(job)
    explanations = explained.explanations
    n, n_sufficient = len(explanations), int(explanations.has_set.sum())
    level = explanations.level_text.replace("probability ", "π = ")
    size = f"{best_set_matrix(explanations).sum() / n_sufficient:.1f}" if n_sufficient else "-"
    tiles = [
        tile("rows explained", str(n), level),
        tile("with a sufficient set", f"{format_percent(n_sufficient / n)} %", f"{n_sufficient} of {n}"),
        tile("mean size of the best set", size, "variables"),
    ]
    if explanations.answers.source != "forest":  # it agrees with its own predictions
        agreement = format_percent(float(explanations.forest_agrees.mean()))
        tiles.append(tile("the forest agrees", f"{agreement} %", "with the explained outcome"))
    cautions = [controls.message("care", reword(caution)) for caution in all_cautions(explanations)]
    labels = [of_outcome.label for of_outcome in explained.overview]
    outcomes = controls.options([*range(len(labels)), "all"], [*labels, "all outcomes"])
    return to_components(tiles), cautions, outcomes


def show_rows(job: Job | None, group: str, state: str, variable: str | None) -> tuple[Any, list[dict[str, Any]], str]:
    """Show what the sets of an outcome rest on, and the rows that pass the filters."""
    explained = _result(job)
    group = group if group == "all" or int(group) < len(explained.overview) else "0"
    drawn = []
    for g, of_outcome in enumerate(explained.overview[:MAX_OUTCOMES]):
        if group not in ("all", str(g)):
            continue
        [part] = to_components(overview_part(of_outcome, MAX_VARIABLES))
        for k, button in enumerate(_buttons(part)):
            button.id = {"type": "many-line", "index": f"{g}-{k}"}
        drawn.append(part)
    chosen = explained.chosen(group, state, variable)
    return drawn, explained.lines(chosen), f"{len(chosen):,} of {counted(len(explained.rows), 'row')}"


def _buttons(component: Any) -> list[html.Button]:
    """List the buttons below a component, in their order."""
    if isinstance(component, html.Button):
        return [component]
    children = getattr(component, "children", None)
    return [button for child in children for button in _buttons(child)] if isinstance(children, list) else []


def choose_line(job: Job | None, line: Any) -> tuple[str, str, str]:
    """Choose the rows of a line of the overview."""
    if line is None:
        raise PreventUpdate
    group, _, k = line["index"].partition("-")
    return group, _STATES[1], _result(job).overview[int(group)].lines[int(k)].variable


def show_row(job: Job | None, selected: Any, view: View) -> Any:
    """Show the card of the chosen row, with a link to the page about it."""
    explained = _result(job)
    if not selected or int(selected[0]["key"]) >= len(explained.rows):
        return None
    i = int(selected[0]["key"])
    link = html.A(
        "Open it on the page One row", href=view.with_(row=explained.rows[i], tab="row", edits={}).to_search()
    )
    card = to_components(explanation_parts(explained.explanations[i], reword=reword))
    return html.Section([*card, html.P(link)], className="panel suffice")


def _download(sessions: Sessions, job: Job | None, stored: Any) -> Any:
    workspace, _ = sessions.open(stored)
    explained = _result(job)
    kind = str(ctx.triggered_id).removeprefix("save-")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"explanations.{kind}"
        if kind == "html":
            explained.explanations.report(path, title=f"{workspace.name}: {workspace.explainer.target_name_}")
        else:
            write_table(result_frame(explained.explanations, "polars"), str(path), kind)
        return dcc.send_bytes(path.read_bytes(), path.name)
