"""The page about global rules: finding them, simplifying, which decides a row, and writing them out."""

from __future__ import annotations

import json
import math
from typing import Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from suffice._io.explainer_file import training_rows
from suffice._show.cards import condition_text
from suffice.app.pages.many_rows import TICK, progress
from suffice.app.parts import charts
from suffice.app.parts import pieces as parts
from suffice.app.parts.grids import grid
from suffice.app.state.desk import Desk
from suffice.app.state.jobs import Job, Jobs, explain_rows
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import ERRORS
from suffice.global_rules import GlobalRule, GlobalRulesClassifier, GlobalRulesRegressor
from suffice.words import format_number, format_percent, format_probability

N_ROWS = 500  # training rows whose rules are collected unless more are asked for
TOLERANCES = (None, 0.0, 0.005, 0.01, 0.02, 0.05, 0.1)
_MARKS = ("all", "0", "0.5 %", "1 %", "2 %", "5 %", "10 %")
USUAL_TOLERANCE = 3
MIN_SUPPORT = 10


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
    quality = "MAE" if workspace.is_regression else "precision"
    columns: list[dict[str, Any]] = [
        {"field": "place", "headerName": "#", "width": 70, "type": "rightAligned"},
        {
            "field": "rule",
            "headerName": "IF",
            "flex": 1,
            "minWidth": 260,
            "wrapText": True,
            "autoHeight": True,
            "tooltipField": "exact",
        },
        {"field": "output", "headerName": "THEN", "width": 120},
        {"field": "coverage", "headerName": "coverage", "cellRenderer": "Share", "width": 140},
        {
            "field": "precision",
            "headerName": "precision",
            "cellRenderer": "Share",
            "cellRendererParams": {"text": "precision_text"},
            "width": 140,
        },
        {"field": "support", "headerName": "support", "width": 96, "type": "rightAligned"},
        {"field": "holds", "headerName": "this row", "width": 100},
    ]
    if workspace.is_regression:
        columns.insert(5, {"field": "mae", "headerName": quality, "width": 90, "type": "rightAligned"})
    n = len(workspace.training[1])
    controls = html.Div(
        [
            html.Span("Rules of", className="note"),
            dmc.NumberInput(
                id="rules-n",
                value=min(N_ROWS, n),
                min=2,
                max=n,
                step=500,
                size="xs",
                w=90,
                **{"aria-label": "Training rows"},
            ),
            html.Span(f"of {n} training rows", className="note"),
            dmc.Button("Find rules", id="rules-find", size="xs"),
            dmc.Button("Cancel", id="rules-cancel", size="xs", variant="default", disabled=True),
        ],
        className="controls",
    )
    simplify = html.Div(
        [
            html.Div(
                html.Label("Simplify: leave out rules while coverage and precision lose at most"),
                className="setting-head",
            ),
            dmc.Slider(
                id="tolerance",
                value=USUAL_TOLERANCE,
                min=0,
                max=len(TOLERANCES) - 1,
                step=1,
                marks=[{"value": i, "label": text} for i, text in enumerate(_MARKS)],
                label=None,
                updatemode="mouseup",
                mb="lg",
            ),
        ],
        className="setting tolerance",
    )
    exports = html.Div(
        [
            html.Span("Export", className="note"),
            *(
                dmc.Button(text, id=f"rules-{kind}", size="compact-xs", variant="default")
                for kind, text in (("sql", "SQL"), ("json", "JSON"), ("txt", "Text"))
            ),
        ],
        className="axes",
    )
    results = html.Div(
        [
            html.Div(id="rules-tiles", className="tiles wide"),
            parts.panel(
                "Rules",
                dmc.TextInput(
                    id="rules-search",
                    placeholder="Search the rules",
                    size="xs",
                    mb="xs",
                    **{"aria-label": "Search the rules"},
                ),
                grid(
                    "rule-grid",
                    columns,
                    460,
                    rowData=[],
                    getRowId="params.data.key",
                    dashGridOptions={
                        "rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True}
                    },
                ),
                extra=exports,
                note="the first that covers a row decides",
                wide=True,
            ),
            parts.panel(
                "Coverage and precision",
                dcc.Graph(
                    id="rules-plot", config=charts.CONFIG, style={"height": 340}, figure=charts.nothing("light", "")
                ),
            ),
            parts.panel(
                "Which rule decides this row?",
                html.Div(id="rules-decide"),
                note="the row, with its edits, of the page One row",
            ),
        ],
        className="panels",
        id="rules-results",
        hidden=True,
    )
    return html.Div(
        [
            parts.panel(
                "Global rules",
                html.P(
                    "The rules of training rows with their observed outcomes, as one list, measured on all of them.",
                    className="note",
                ),
                html.Div([controls, simplify], className="rules-controls"),
                html.Div(id="rules-progress"),
                wide=True,
            ),
            results,
            dcc.Store(id="rules-job"),
            dcc.Store(id="rules-of"),
            dcc.Interval(id="rules-tick", interval=TICK, disabled=True),
            dcc.Download(id="rules-download"),
        ]
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
        Output("rules-job", "data"),
        Output("rules-of", "data"),
        Output("rules-tick", "disabled"),
        Output("rules-cancel", "disabled"),
        Output("rules-find", "disabled"),
        Output("rules-progress", "children"),
        Output("rules-results", "hidden"),
        Input("rules-find", "n_clicks"),
        Input("rules-cancel", "n_clicks"),
        Input("rules-tick", "n_intervals"),
        Input("view", "data"),
        State("rules-job", "data"),
        State("rules-of", "data"),
        State("rules-n", "value"),
        State("rules-results", "hidden"),
    )(lambda *given: _work(desk, jobs, *given))
    app.callback(
        Output("rules-tiles", "children"),
        Output("rule-grid", "rowData"),
        Output("rules-decide", "children"),
        Output("rules-plot", "figure"),
        Input("rules-results", "hidden"),
        Input("tolerance", "value"),
        Input("scheme", "data"),
        Input("view", "data"),
        Input("rule-grid", "selectedRows"),
        State("rules-job", "data"),
        prevent_initial_call=True,
    )(lambda *given: _results(desk, jobs, *given))
    app.callback(
        Output("rules-download", "data"),
        Input("rules-sql", "n_clicks"),
        Input("rules-json", "n_clicks"),
        Input("rules-txt", "n_clicks"),
        State("tolerance", "value"),
        State("rules-job", "data"),
        prevent_initial_call=True,
    )(lambda *given: _download(jobs, *given))


def _work(desk: Desk, jobs: Jobs, *given: Any) -> tuple[Any, ...]:
    _, _, _, stored, name, found_for, most, hidden = given
    view = View.from_store(stored)
    workspace = desk.get(view.data)
    if workspace is None:
        return (no_update,) * 7
    wanted = json.dumps([view.settings, most])
    is_first = (
        ctx.triggered_id in (None, "view") and view.tab == "rules" and found_for != json.dumps([view.settings, most])
    )
    if ctx.triggered_id in (None, "view") and not is_first:
        return (no_update,) * 7
    job = jobs.get(name)
    if ctx.triggered_id == "rules-find" or is_first:
        if job is not None:
            job.cancel()
        n = min(int(most or N_ROWS), len(workspace.training[1]))
        job = Job("Finding the rules of training rows", n)
        name = jobs.start(job, lambda job: find_rules(workspace, view, n, job))
        return name, wanted, False, False, True, progress(job), True
    if job is None:
        return no_update, no_update, True, True, False, None, no_update
    if ctx.triggered_id == "rules-cancel":
        job.cancel()
    is_running = job.state == "running"
    is_hidden = job.state != "done"
    return (
        no_update,
        no_update,
        not is_running,
        not is_running,
        is_running,
        progress(job),
        is_hidden if is_hidden != hidden else no_update,
    )


def find_rules(workspace: Workspace, view: View, n_rows: int, job: Job) -> Any:
    """Collect the rules of training rows.

    Parameters
    ----------
    workspace : Workspace
        The explainer and its table.
    view : View
        The settings.
    n_rows : int
        How many training rows, drawn at random.
    job : Job
        It is told how far the work is, and stops it.

    Returns
    -------
    GlobalRulesClassifier or GlobalRulesRegressor
        The model, measured on all training rows.
    """
    try:
        frame, outcomes = training_rows(workspace.explainer)
    except ValueError:  # fitted on dates
        if workspace.observed is None:
            raise ValueError(
                "The model was fitted on dates and holds their parts only: open it with its table."
            ) from None
        frame, outcomes = workspace.frame, np.asarray(workspace.observed)
    rows = np.arange(len(outcomes))
    if n_rows < len(rows):
        rows = np.sort(np.random.default_rng(0).choice(len(rows), n_rows, replace=False))
    explanations = explain_rows(workspace, view, frame[rows.tolist()], outcomes[rows], job, sets="minimal")
    if workspace.is_regression:
        return GlobalRulesRegressor.from_explanations(explanations, min_precision=-math.inf, min_support=MIN_SUPPORT)
    return GlobalRulesClassifier.from_explanations(explanations)


def _model(job: Job, tolerance: int) -> Any:
    """Simplify, and keep what was simplified."""
    allowed = TOLERANCES[int(tolerance)]
    if allowed is None or not job.result.rules_:
        return job.result
    kept: dict[float, Any] = job.__dict__.setdefault("simplified", {})
    if allowed not in kept:
        kept[allowed] = job.result.simplify(allowed)
    return kept[allowed]


def _results(
    desk: Desk,
    jobs: Jobs,
    hidden: bool,
    tolerance: int,
    scheme: str | None,
    stored: Any,
    selected: Any,
    name: str | None,
) -> tuple[Any, ...]:
    view, job = View.from_store(stored), jobs.get(name)
    workspace = desk.get(view.data)
    if hidden or job is None or job.result is None or workspace is None or view.tab != "rules":
        return (no_update,) * 4
    model = _model(job, tolerance)
    holds = _holding(workspace, view, model)
    lines = [_line(i, line, holds.get(i, "")) for i, line in enumerate(model.rules_)]
    covered = model._cover_matrix().any(axis=0) if model.rules_ else np.zeros(1, dtype=bool)
    share = float(np.mean(covered))
    tiles = [
        parts.tile("rules", str(len(model.rules_)), f"of {len(job.result.rules_)} before simplifying"),
        parts.tile("coverage", f"{format_percent(share)} %", "of the training rows"),
        _quality_tile(workspace, model),
    ]
    marked = dict(holds)
    for line in selected or []:
        if int(line["key"]) < len(lines):
            marked[int(line["key"])] = "chosen"
    figure = charts.nothing(scheme or "light", "No rules.")
    if lines:
        figure = charts.coverage_precision(
            [line.coverage for line in model.rules_],
            [line.precision for line in model.rules_],
            [line.text for line in model.rules_],
            [line.output for line in model.rules_],
            marked,
            "precision" if not workspace.is_regression else "1 - MSE / variance",
            scheme or "light",
        )
    is_same = ctx.triggered_id in ("rule-grid", "scheme")
    return tiles, no_update if is_same else lines, _decide(model, holds, view), figure


def _quality_tile(workspace: Workspace, model: Any) -> Any:
    if not model.rules_:
        return parts.tile("precision", "-")
    covers = model._cover_matrix()
    first = np.argmax(covers, axis=0)
    is_covered = covers.any(axis=0)
    said, true = model._outputs()[first[is_covered]], workspace.training[1][is_covered]
    if workspace.is_regression:
        return parts.tile(
            "mean absolute error", format_number(float(f"{np.mean(np.abs(said - true)):.3g}")), "on the rows covered"
        )
    return parts.tile("precision", format_probability(float(np.mean(said == true))), "of the rows covered are right")


def _line(i: int, line: GlobalRule, holds: str) -> dict[str, Any]:
    output = format_number(float(f"{line.output:.4g}")) if isinstance(line.output, float) else str(line.output)
    return {
        "key": str(i),
        "place": i + 1,
        "rule": " AND ".join(condition_text(condition) for condition in line.rule.conditions) or "always",
        "exact": line.text,
        "output": output,
        "support": line.support,
        "coverage": line.coverage,
        "shown": f"{format_percent(line.coverage)} %",
        "precision": line.precision,
        "precision_text": format_probability(line.precision) if line.precision >= 0 else f"{line.precision:.2f}",
        "mae": None if line.mae is None else float(f"{line.mae:.3g}"),
        "holds": holds,
    }


def _holding(workspace: Workspace, view: View, model: Any) -> dict[int, str]:
    try:
        row = workspace._edited(view)
        covering = [i for i, line in enumerate(model.rules_) if line.rule.covers(row)[0]]
    except ERRORS:
        return {}
    return {i: "decides" if i == covering[0] else "holds" for i in covering}


def _decide(model: Any, holds: dict[int, str], view: View) -> Any:
    edited = " (edited)" if view.edits else ""
    if not holds:
        return html.Div(f"Row {view.row}{edited}: no rule covers it, so the list says nothing.", id="decided")
    items = []
    for i, kind in holds.items():
        line = model.rules_[i]
        said = format_number(line.output) if isinstance(line.output, float) else str(line.output)
        text = " AND ".join(condition_text(condition) for condition in line.rule.conditions) or "always"
        items.append(html.Li([html.B(f"{kind}: "), f"rule {i + 1}, {text}, THEN {said}"], className=kind))
    others = len(holds) - 1
    also = "1 other also holds" if others == 1 else f"{others} others also hold"
    told = f"Row {view.row}{edited}: rule {next(iter(holds)) + 1} decides; {also}."
    return [html.Div(told, id="decided"), html.Ul(items[:30])]


def _download(jobs: Jobs, _sql: Any, _json: Any, _text: Any, tolerance: int, name: str | None) -> Any:
    job = jobs.get(name)
    if job is None or job.result is None:
        return no_update
    kind = str(ctx.triggered_id).removeprefix("rules-")
    model = _model(job, tolerance)
    text = {"sql": model.to_sql, "txt": lambda: str(model), "json": lambda: rules_json(model)}[kind]()
    return {"content": f"{text}\n", "filename": f"rules.{kind}", "type": "text/plain"}


def rules_json(model: Any) -> str:
    """Write global rules as JSON.

    Parameters
    ----------
    model : GlobalRulesClassifier or GlobalRulesRegressor
        The rules.

    Returns
    -------
    str
        A list: what each asks, what it says, and its figures.
    """
    lines = []
    for line in model.rules_:
        told: dict[str, Any] = {"if": line.text, "sql": line.rule.to_sql(), "output": line.output}
        told |= {"support": line.support, "coverage": line.coverage, "precision": line.precision}
        if line.frequencies is not None:
            told["frequencies"] = {str(label): share for label, share in line.frequencies.items()}
        else:
            told |= {"mse": line.mse, "mae": line.mae}
        lines.append({**told, "conditions": line.rule.to_dict()["conditions"]})
    return json.dumps(lines, ensure_ascii=False, indent=1)
