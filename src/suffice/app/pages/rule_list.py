"""The page about global rules: finding and simplifying them, which rule decides a row, and writing them to a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from suffice._show.axis import rounded
from suffice._show.picture import picture_line
from suffice._text import format_percent, format_probability
from suffice.app.parts import charts, pieces
from suffice.app.parts.grids import grid
from suffice.app.parts.progress import TICK, progress
from suffice.app.state.desk import Desk
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.rule_lists import RuleLists, find_rules, rules_of_row
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.rule_lists.estimators import N_RULES
from suffice.rule_lists.measures import GlobalRule

N_ROWS = 500  # training rows whose rules are collected by default
MAX_LISTED = 30  # rules that cover a row
DEFAULT_TOLERANCE = 3
_TOLERANCE_TEXTS = ("all", "0", "0.5 %", "1 %", "2 %", "5 %", "10 %")
_EXPORTS = (("sql", "SQL"), ("json", "JSON"), ("txt", "Text"))

# --- layout -----------------------------------------------------------------------------------------------------------


def layout(workspace: Workspace) -> html.Div:
    """Lay out the page."""
    explained = "The rules of training rows with their observed outcomes, as one list, measured on all training rows."
    return html.Div(
        [
            pieces.panel(
                "Global rules",
                html.P(explained, className="note"),
                html.Div([_controls(workspace), _tolerance_slider()], className="rules-controls"),
                html.Div(id="rules-progress"),
                wide=True,
            ),
            _results_panels(workspace),
            dcc.Store(id="rules-job"),
            dcc.Store(id="rules-of"),
            dcc.Interval(id="rules-tick", interval=TICK, disabled=True),
            dcc.Download(id="rules-download"),
        ]
    )


def _controls(workspace: Workspace) -> html.Div:
    n = len(workspace.training[1])
    return html.Div(
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
            html.Span(f"of {n} training rows, at most", className="note"),
            dmc.NumberInput(
                id="rules-max",
                value=N_RULES,
                min=1,
                max=1000,
                allowDecimal=False,
                size="xs",
                w=70,
                **{"aria-label": "Rules at most"},
            ),
            html.Span("rules", className="note"),
            dmc.Button("Find rules", id="rules-find", size="xs"),
            dmc.Button("Cancel", id="rules-cancel", size="xs", variant="default", disabled=True),
        ],
        className="controls",
    )


def _tolerance_slider() -> html.Div:
    label = html.Label("Simplify: leave out rules while the list loses at most")
    slider = dmc.Slider(
        id="tolerance",
        value=DEFAULT_TOLERANCE,
        min=0,
        max=len(_TOLERANCE_TEXTS) - 1,
        step=1,
        marks=[{"value": i, "label": text} for i, text in enumerate(_TOLERANCE_TEXTS)],
        label=None,
        updatemode="mouseup",
        mb="lg",
    )
    return html.Div([html.Div(label, className="setting-head"), slider], className="setting tolerance")


def _results_panels(workspace: Workspace) -> html.Div:
    plot = dcc.Graph(id="rules-plot", config=charts.CONFIG, style={"height": 340}, figure=charts.nothing("light", ""))
    return html.Div(
        [
            html.Div(id="rules-tiles", className="tiles wide"),
            _rules_panel(workspace),
            pieces.panel("Coverage and precision", plot),
            pieces.panel(
                "Which rule decides this row?",
                html.Div(id="rules-decide"),
                note="the row of the page One row, with its edits",
            ),
        ],
        className="panels",
        id="rules-results",
        hidden=True,
    )


def _rules_panel(workspace: Workspace) -> html.Section:
    search = dmc.TextInput(
        id="rules-search", placeholder="Search the rules", size="xs", mb="xs", **{"aria-label": "Search the rules"}
    )
    rules = grid(
        "rule-grid",
        _rule_columns(workspace),
        460,
        rowData=[],
        getRowId="params.data.key",
        dashGridOptions={"rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True}},
    )
    buttons = [dmc.Button(text, id=f"rules-{kind}", size="compact-xs", variant="default") for kind, text in _EXPORTS]
    exports = html.Div([html.Span("Export", className="note"), *buttons], className="axes")
    return pieces.panel("Rules", search, rules, extra=exports, note="the first that covers a row decides", wide=True)


def _rule_columns(workspace: Workspace) -> list[dict[str, Any]]:
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
            "headerTooltip": "expected for new rows; that of the training rows, which made the rule, is higher",
            "cellRenderer": "Share",
            "cellRendererParams": {"text": "precision_text"},
            "width": 140,
        },
        {
            "field": "support",
            "headerName": "support",
            "width": 110,
            "type": "rightAligned",
            "valueFormatter": {"function": "params.data.support_text"},
        },
        {"field": "holds", "headerName": "this row", "width": 100},
    ]
    if workspace.is_regression:
        mae = {"field": "mae", "headerName": "MAE", "width": 90, "type": "rightAligned"}
        columns.insert(5, {**mae, "valueFormatter": {"function": "params.data.mae_text"}})
    else:
        columns.insert(5, {"field": "lift", "headerName": "lift of a rare class", "width": 250})
    return columns


# --- callbacks --------------------------------------------------------------------------------------------------------


def register(app: Dash, desk: Desk, jobs: Jobs) -> None:
    """Connect the callbacks of the page."""
    app.callback(
        output={
            "name": Output("rules-job", "data"),
            "settings": Output("rules-of", "data"),
            "is_idle": Output("rules-tick", "disabled"),
            "cannot_cancel": Output("rules-cancel", "disabled"),
            "cannot_start": Output("rules-find", "disabled"),
            "progress": Output("rules-progress", "children"),
            "is_hidden": Output("rules-results", "hidden"),
        },
        inputs={
            "events": [
                Input("rules-find", "n_clicks"),
                Input("rules-cancel", "n_clicks"),
                Input("rules-tick", "n_intervals"),
            ],
            "form": {
                "view": Input("view", "data"),
                "job": State("rules-job", "data"),
                "settings": State("rules-of", "data"),
                "most": State("rules-n", "value"),
                "is_hidden": State("rules-results", "hidden"),
            },
        },
    )(lambda events, form: _work(desk, jobs, form))
    app.callback(
        output=[
            Output("rules-tiles", "children"),
            Output("rule-grid", "rowData"),
            Output("rules-decide", "children"),
            Output("rules-plot", "figure"),
        ],
        inputs={
            "form": {
                "is_hidden": Input("rules-results", "hidden"),
                "tolerance": Input("tolerance", "value"),
                "max_rules": Input("rules-max", "value"),
                "scheme": Input("scheme", "data"),
                "view": Input("view", "data"),
                "selected": Input("rule-grid", "selectedRows"),
                "job": State("rules-job", "data"),
            }
        },
        prevent_initial_call=True,
    )(lambda form: _results(desk, jobs, form))
    app.callback(
        output=Output("rules-download", "data"),
        inputs={
            "clicks": [Input(f"rules-{kind}", "n_clicks") for kind, _ in _EXPORTS],
            "tolerance": State("tolerance", "value"),
            "max_rules": State("rules-max", "value"),
            "name": State("rules-job", "data"),
        },
        prevent_initial_call=True,
    )(lambda clicks, tolerance, max_rules, name: _download(jobs, tolerance, max_rules, name))


def _update(job: Job | None, **changes: Any) -> dict[str, Any]:
    """Show the state of a job, and change what else is named."""
    is_running = job is not None and job.state == "running"
    return {
        "name": no_update,
        "settings": no_update,
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
    settings = json.dumps([view.settings, form["most"]])
    # The page finds its rules when it is first looked at, and again after a change of the settings.
    is_of_view = ctx.triggered_id in (None, "view")
    is_outdated = is_of_view and view.tab == "rules" and form["settings"] != settings
    if workspace is None or (is_of_view and not is_outdated):
        return dict.fromkeys(_update(None), no_update)
    job = jobs.get(form["job"])
    if ctx.triggered_id == "rules-find" or is_outdated:
        if job is not None:
            job.cancel()
        n = min(int(form["most"] or N_ROWS), len(workspace.training[1]))
        job = Job("Finding the rules of training rows", n)
        name = jobs.start(job, lambda job: RuleLists(find_rules(workspace, view, n, job)))
        return _update(job, name=name, settings=settings, is_hidden=True)
    if job is None:
        return _update(None)
    if ctx.triggered_id == "rules-cancel":
        job.cancel()
    is_hidden = job.state != "done"
    return _update(job, is_hidden=is_hidden if is_hidden != form["is_hidden"] else no_update)


def _results(desk: Desk, jobs: Jobs, form: Mapping[str, Any]) -> tuple[Any, ...]:
    view, job = View.from_store(form["view"]), jobs.get(form["job"])
    workspace = desk.get(view.data)
    if form["is_hidden"] or job is None or job.result is None or workspace is None or view.tab != "rules":
        return (no_update,) * 4
    lists: RuleLists = job.result
    rules = lists.simplified(form["tolerance"], _most(form["max_rules"]))
    marks = rules_of_row(workspace, view, rules)
    tiles = _tiles(rules, len(lists.full.rules_))
    lines: Any = [_line(i, rule, marks.get(i, "")) for i, rule in enumerate(rules.rules_)]
    scheme = form["scheme"] or "light"
    figure = charts.nothing(scheme, "No rules.")
    if lines:
        chosen = {int(line["key"]): "chosen" for line in form["selected"] or [] if int(line["key"]) < len(lines)}
        measure = f"{'1 - MSE / variance' if workspace.is_regression else 'precision'} on training rows"
        figure = charts.coverage_precision(rules.rules_, {**marks, **chosen}, measure, scheme)
    if ctx.triggered_id in ("rule-grid", "scheme"):
        lines = no_update
    return tiles, lines, _decision(rules, marks, workspace, view), figure


def _tiles(rules: Any, n_before: int) -> list[html.Div]:
    measured = rules.evaluate()
    tiles = [
        pieces.tile("rules", str(len(rules.rules_)), f"of {n_before} before simplifying"),
        pieces.tile("coverage", f"{format_percent(measured.total_coverage)} %", "of the training rows"),
    ]
    if not measured.total_coverage > 0:
        return [*tiles, pieces.tile("precision", "-")]
    if measured.mae is not None:
        return [*tiles, pieces.tile("mean absolute error", rounded(measured.mae, 3), "on the covered training rows")]
    precision = format_probability(measured.total_precision)
    return [*tiles, pieces.tile("precision", precision, "of the covered training rows have the output")]


def _line(i: int, rule: GlobalRule, mark: str) -> dict[str, Any]:
    picture = picture_line(rule)
    return {
        "key": str(i),
        "place": i + 1,
        "rule": picture.premise,
        "exact": rule.text,
        "output": picture.output,
        "support": rule.support,
        "support_text": f"{rule.support}, few" if rule.has_few_rows else str(rule.support),
        "coverage": rule.coverage,
        "shown": picture.coverage.text,
        "precision": picture.precision.value,
        "precision_text": picture.precision.text,
        "lift": picture.lift,
        "mae": rule.mae,
        "mae_text": picture.mae,
        "holds": mark,
    }


def _decision(rules: Any, marks: Mapping[int, str], workspace: Workspace, view: View) -> Any:
    name = workspace.name_of(view.row)
    row = f"{name[:1].upper()}{name[1:]}{' (edited)' if view.edits else ''}"
    if not marks:
        return html.Div(f"{row}: no rule covers it, so the list does not decide it.", id="decided")
    items = []
    for i, mark in list(marks.items())[:MAX_LISTED]:
        picture = picture_line(rules.rules_[i])
        lift = f" ({picture.lift})" if picture.lift else ""
        text = f"rule {i + 1}, {picture.premise}, THEN {picture.output}{lift}"
        items.append(html.Li([html.B(f"{mark}: "), text], className=mark))
    n_others = len(marks) - 1
    also = "1 other also holds" if n_others == 1 else f"{n_others or 'no'} others also hold"
    return [html.Div(f"{row}: rule {next(iter(marks)) + 1} decides; {also}.", id="decided"), html.Ul(items)]


def _most(value: Any) -> int | None:
    """Read the number of rules; an empty field means any number."""
    return max(int(value), 1) if isinstance(value, int | float) else None


def _download(jobs: Jobs, tolerance: int, max_rules: Any, name: str | None) -> Any:
    job = jobs.get(name)
    if job is None or job.result is None:
        return no_update
    kind = str(ctx.triggered_id).removeprefix("rules-")
    rules = job.result.simplified(tolerance, _most(max_rules))
    text = {
        "sql": rules.to_sql,
        "txt": lambda: str(rules),
        "json": lambda: rules.to_json(ensure_ascii=False, indent=1),
    }[kind]()
    return {"content": f"{text}\n", "filename": f"rules.{kind}", "type": "text/plain"}
