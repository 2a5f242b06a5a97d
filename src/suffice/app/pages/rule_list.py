"""The page about global rules: finding and simplifying them, which rule decides a row, and writing them to a file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from suffice._io.explainer_file import training_rows
from suffice._show.axis import rounded
from suffice._show.cards import tile
from suffice._show.picture import picture_line
from suffice._table.cache import LastUsed
from suffice._text import counted, format_percent, format_share
from suffice.app.messages import ERRORS
from suffice.app.parts import controls
from suffice.app.parts.grids import SELECT_ONE, WRAPPED, grid, right_column
from suffice.app.parts.markup import to_components
from suffice.app.state.jobs import Job, Jobs, run_on_explainer
from suffice.rule_lists.estimators import N_RULES

if TYPE_CHECKING:
    from suffice._show.cards import Html
    from suffice.app.state.sessions import Sessions
    from suffice.app.state.view import View
    from suffice.app.state.workspace import Workspace
    from suffice.rule_lists.measures import GlobalRule

N_ROWS = 500  # training rows whose rules are collected by default
MAX_LISTED = 30  # rules that cover a row
TOLERANCES = (None, 0.0, 0.005, 0.01, 0.02, 0.05, 0.1)  # None keeps all rules
_TOLERANCE_TEXTS = ("all", "0", "0.5 %", "1 %", "2 %", "5 %", "10 %")
DEFAULT_TOLERANCE = 3
_EXPORTS = (("sql", "SQL"), ("json", "JSON"), ("txt", "Text"))

# --- layout -----------------------------------------------------------------------------------------------------------


def layout(workspace: Workspace) -> html.Div:
    """Lay out the page."""
    explained = "The rules of training rows with their observed outcomes, as one list, measured on all training rows."
    contents = [
        html.P(explained, className="note"),
        html.Div([_controls(workspace), _tolerance_slider()], className="rules-controls"),
        html.Div(id="rules-progress"),
    ]
    return html.Div(
        [
            controls.panel("Global rules", *contents, wide=True),
            _results_panels(workspace),
            dcc.Store(id="rules-of"),
            dcc.Store(id="rules-dropped", data=[]),
            *controls.job_parts("rules"),
            dcc.Download(id="rules-download"),
        ]
    )


def _controls(workspace: Workspace) -> html.Div:
    n = len(workspace.training[1])
    return html.Div(
        [
            html.Span("Rules of", className="note"),
            controls.number_input("rules-n", "Training rows", min(N_ROWS, n), 90, min=2, max=n, step=500),
            html.Span(f"of {n} training rows, at most", className="note"),
            controls.number_input("rules-max", "Rules at most", N_RULES, 70, min=1, max=1000, allowDecimal=False),
            html.Span("rules", className="note"),
            dmc.Button("Find rules", id="rules-find", size="xs"),
            dmc.Button("Cancel", id="rules-cancel", size="xs", variant="default", disabled=True),
        ],
        className="controls",
    )


def _tolerance_slider() -> html.Div:
    slider = dmc.Slider(
        id="tolerance",
        value=DEFAULT_TOLERANCE,
        min=0,
        max=len(_TOLERANCE_TEXTS) - 1,
        step=1,
        marks=[{"value": i, "label": text} for i, text in enumerate(_TOLERANCE_TEXTS)],
        label=None,
        thumbLabel="Simplify",
        updatemode="mouseup",
        mb="lg",
    )
    setting = controls.setting("Simplify: leave out rules while the list loses at most", slider)
    return html.Div(setting, className="tolerance")


def _results_panels(workspace: Workspace) -> html.Div:
    about_row = "the row of the page One row, with its edits"
    return html.Div(
        [
            html.Div(id="rules-tiles", className="tiles wide"),
            _rules_panel(workspace),
            controls.panel("Which rule decides this row?", html.Div(id="rules-decide"), note=about_row, wide=True),
        ],
        className="panels",
        id="rules-results",
        hidden=True,
    )


def _rules_panel(workspace: Workspace) -> html.Section:
    search = dmc.TextInput(
        id="rules-search", placeholder="Search the rules", size="xs", mb="xs", **{"aria-label": "Search the rules"}
    )
    columns = rule_columns(workspace)
    rules = grid("rule-grid", columns, 460, rowData=[], getRowId="params.data.key", dashGridOptions=SELECT_ONE)
    exports = controls.download_buttons("Export", "rules", _EXPORTS)
    small = {"size": "compact-sm", "variant": "default", "disabled": True}
    edits = [
        dmc.Button("Leave out the chosen rule", id="rules-drop", **small),
        dmc.Button("Take all rules back", id="rules-restore", **small),
        html.Span(id="rules-edited", className="note", role="status"),
    ]
    return controls.panel(
        "Rules",
        search,
        rules,
        html.Div(edits, className="controls"),
        extra=exports,
        note="without simplifying, the first that covers a row decides; otherwise they are summed",
        wide=True,
    )


def rule_columns(workspace: Workspace) -> list[dict[str, Any]]:
    """Define the columns of the grid of rules."""
    share = {"cellRenderer": "Share", "width": 140}
    precision = {"field": "precision", "headerName": "precision, new rows", **share, "width": 160}
    params = {"cellRendererParams": {"text": "precision_text", "tick": "base"}}
    hint = "expected on new rows; the mark is the share of all training rows with the outcome"
    figures = [{**precision, "headerTooltip": hint, **params}]
    if workspace.is_regression:
        figures.append(right_column("mae", "MAE", 90, "mae_text"))
    else:
        figures.append(right_column("base", "base rate", 100, "base_text"))
        figures.append(right_column("lift", "lift", 80, "lift_text"))
    return [
        {**right_column("place", "#", 48), "minWidth": 48},
        {
            "field": "rule",
            "headerName": "IF",
            "minWidth": 150,
            "cellRenderer": "Rule",
            "tooltipField": "exact",
            **WRAPPED,
        },
        {"field": "output", "headerName": "THEN", **WRAPPED, "flex": None, "width": 130},
        {"field": "coverage", "headerName": "coverage", **share},
        *figures,
        right_column("support", "training rows", 120, "support_text"),
        {"field": "holds", "headerName": "this row", "width": 100},
    ]


# --- rules ------------------------------------------------------------------------------------------------------------


class RuleLists:
    """The rules that a job collected, and shorter lists made of them."""

    def __init__(self, rules: Any) -> None:
        self.full = rules
        self._made = LastUsed(2 * len(TOLERANCES))

    def simplified(self, step: int, max_rules: int | None = N_RULES) -> Any:
        """Choose few rules that lose little."""
        loss = TOLERANCES[int(step)]
        if loss is None or not self.full.rules_:
            return self.full
        return self._made.get((loss, max_rules), lambda: self.full.simplify(max_rules=max_rules, max_loss=loss))

    def chosen(self, form: Mapping[str, Any], dropped: Sequence[int]) -> tuple[Any, Any]:
        """Return the list of the settings of the page, whole and without the rules that were left out."""
        limit = form["max_rules"]  # an empty field means any number
        max_rules = max(int(limit), 1) if isinstance(limit, int | float) else None
        rules = self.simplified(form["tolerance"], max_rules)
        if not dropped:
            return rules, rules
        key = (form["tolerance"], max_rules, tuple(dropped))
        return rules, self._made.get(key, lambda: rules.edit(drop=dropped))


def find_rules(workspace: Workspace, view: View, n_rows: int, job: Job) -> Any:
    """Find, in a process of its own, the rules of training rows at several levels, as `suffice rules` does."""
    try:
        frame, outcomes = training_rows(workspace.explainer)
    except ValueError:  # fitted on dates
        if workspace.observed is None:
            raise ValueError(
                "The explainer was fitted on dates and holds only their parts: open it together with its table."
            ) from None
        frame, outcomes = workspace.frame, np.asarray(workspace.observed)
    arguments = (workspace.as_input(frame), np.asarray(outcomes), n_rows)
    rules = run_on_explainer("collect_rules", workspace.explainer_for(view), *arguments, step=job.step)
    job.step(job.total)
    return rules


def rules_of_row(workspace: Workspace, view: View, rules: Any) -> dict[int, str]:
    """Look up the rules that cover the row of a view."""
    try:
        row = workspace.edited_row(view)
        covering = [i for i, line in enumerate(rules.rules_) if line.rule.covers(row)[0]]
        decides = int(rules.decision_path(row)[0])
    except ERRORS:
        return {}
    return {i: "decides" if i == decides else "holds" for i in covering}


# --- callbacks --------------------------------------------------------------------------------------------------------


def register(app: Dash, sessions: Sessions, jobs: Jobs) -> None:
    """Connect the callbacks of the page."""
    controls.connect_job(
        app,
        jobs,
        "rules",
        inputs={
            "view": Input("view", "data"),
            "settings": State("rules-of", "data"),
            "most": State("rules-n", "value"),
            "is_hidden": State("rules-results", "hidden"),
        },
        outputs={"settings": Output("rules-of", "data"), "is_hidden": Output("rules-results", "hidden")},
        buttons=("rules-find", "rules-cancel"),
        runs_at_first=True,
    )(lambda event, job, form: _update(sessions, event, job, form))
    settings = {"tolerance": Input("tolerance", "value"), "max_rules": Input("rules-max", "value")}
    app.callback(
        output={
            "tiles": Output("rules-tiles", "children"),
            "lines": Output("rule-grid", "rowData"),
            "decision": Output("rules-decide", "children"),
            "dropped": Output("rules-dropped", "data"),
            "edited": Output("rules-edited", "children"),
            "cannot_drop": Output("rules-drop", "disabled"),
            "cannot_restore": Output("rules-restore", "disabled"),
        },
        inputs={
            "form": {
                "is_hidden": Input("rules-results", "hidden"),
                **settings,
                "view": Input("view", "data"),
                "selected": Input("rule-grid", "selectedRows"),
                "edits": [Input("rules-drop", "n_clicks"), Input("rules-restore", "n_clicks")],
                "dropped": State("rules-dropped", "data"),
            },
            "job": State("rules-job", "data"),
        },
        prevent_initial_call=True,
    )(lambda form, job: _show_results(sessions, jobs.get(job), form))
    app.callback(
        output=Output("rules-download", "data"),
        inputs={
            "clicks": [Input(f"rules-{kind}", "n_clicks") for kind, _ in _EXPORTS],
            "form": {name: State(one.component_id, "value") for name, one in settings.items()},
            "dropped": State("rules-dropped", "data"),
            "job": State("rules-job", "data"),
        },
        prevent_initial_call=True,
    )(lambda clicks, form, dropped, job: _download(jobs.get(job), form, dropped))


def _update(sessions: Sessions, event: Any, job: Job | None, form: Mapping[str, Any]) -> dict[str, Any]:
    workspace, view = sessions.open(form["view"])
    settings = json.dumps([view.settings, form["most"]])
    # The page finds its rules when it is first looked at, and again after a change of the settings.
    is_of_view = event in (None, "view")
    if is_of_view and (view.tab != "rules" or form["settings"] == settings):
        raise PreventUpdate
    if event == "rules-find" or is_of_view:
        if job is not None:
            job.cancel()
        n = min(int(form["most"] or N_ROWS), len(workspace.training[1]))
        title = "Finding the rules of training rows"
        start = Job(title, n), lambda job: RuleLists(find_rules(workspace, view, n, job))
        return {"job": start, "settings": settings, "is_hidden": True}
    is_hidden = job is None or job.state != "done"
    return {} if job is None or is_hidden == form["is_hidden"] else {"is_hidden": is_hidden}


def _show_results(sessions: Sessions, job: Job | None, form: Mapping[str, Any]) -> dict[str, Any]:
    workspace, view = sessions.open(form["view"], "rules")
    if form["is_hidden"] or job is None or job.result is None:
        raise PreventUpdate
    lists: RuleLists = job.result
    dropped, selected = list(form["dropped"] or ()), [int(line["key"]) for line in form["selected"] or ()]
    if ctx.triggered_id == "rules-drop":
        dropped, selected = [*dropped, *selected], []
    elif ctx.triggered_id not in ("rule-grid", "view"):
        dropped = []  # the list is another one
    whole, rules = lists.chosen(form, dropped)
    keys = [key for key in range(len(whole.rules_)) if key not in dropped]
    marks = rules_of_row(workspace, view, rules)
    lines: Any = [rule_line(keys[i], i, rule, rules, marks.get(i, "")) for i, rule in enumerate(rules.rules_)]
    return {
        "tiles": to_components(rule_tiles(rules, whole, len(lists.full.rules_))),
        "lines": no_update if ctx.triggered_id == "rule-grid" else lines,
        "decision": decision(rules, marks, workspace, view),
        "dropped": dropped,
        "edited": f"{counted(len(dropped), 'rule')} left out. {whole.compare(rules)}" if dropped else "",
        "cannot_drop": not any(key in selected for key in keys),
        "cannot_restore": not dropped,
    }


def rule_tiles(rules: Any, whole: Any, n_before: int) -> list[Html]:
    """Write the figures of a list on the training rows, beside those of the list with all its rules."""
    measured, before = rules.evaluate(), whole.evaluate()
    is_edited = rules is not whole
    with_all = f" ({format_percent(before.total_coverage)} % with all rules)" if is_edited else ""
    tiles = [
        tile("rules", str(len(rules.rules_)), f"of {n_before} before simplifying"),
        tile("coverage", f"{format_percent(measured.total_coverage)} %", f"of the training rows{with_all}"),
    ]
    (name, value), *_ = next(iter(measured.figures.values())).items()
    was = format_share(next(iter(before.figures.values()))[name])
    of_constant = ""
    if measured.mae is None:
        _, counts = np.unique(measured.outcomes, return_counts=True)
        of_constant = f", {format_share(counts.max() / counts.sum())} by the most frequent class"
    note = f"of the list on training rows{of_constant}{f' ({was} with all rules)' if is_edited else ''}"
    tiles.append(tile(name, format_share(value), note))
    if measured.mae is not None and not math.isnan(measured.mae):
        tiles.append(tile("mean absolute error", rounded(measured.mae, 3), "on the covered training rows"))
    return tiles


def rule_line(key: int, i: int, rule: GlobalRule, rules: Any, mark: str) -> dict[str, Any]:
    """Write a rule for the grid; its key stays the same when other rules are left out."""
    picture = picture_line(rule)
    base = float(np.mean(rules.training_outcomes_ == rule.output)) if rule.mae is None else None
    return {
        "key": str(key),
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
        "base": base,
        "base_text": "" if base is None else format_share(base),
        "lift": picture.precision.value / base if base else None,
        "lift_text": f"{picture.precision.value / base:.1f}" if base else "",
        "mae": rule.mae,
        "mae_text": picture.mae,
        "holds": mark,
    }


def decision(rules: Any, marks: Mapping[int, str], workspace: Workspace, view: View) -> Any:
    """Say which rule decides the row of a view, and list all that cover it."""
    name = workspace.name_of(view.row)
    row = f"{name[:1].upper()}{name[1:]}{' (edited)' if view.edits else ''}"
    if not marks:
        return html.Div(f"{row}: no rule covers it. {rules.otherwise}", id="decided")
    items = []
    for i, mark in list(marks.items())[:MAX_LISTED]:
        picture = picture_line(rules.rules_[i])
        lift = f" ({picture.lift})" if picture.lift else ""
        text = f"rule {i + 1}, {picture.premise}, THEN {picture.output}{lift}"
        items.append(html.Li([html.B(f"{mark}: "), text], className=mark))
    n_others = len(marks) - 1
    also = f"; {counted(n_others, 'other rule')} {'covers' if n_others == 1 else 'cover'} it, too" if n_others else ""
    decides = next(i for i, mark in marks.items() if mark == "decides")
    verb = "decides" if rules.rules_[decides].adds is None else "adds most"
    return [html.Div(f"{row}: rule {decides + 1} {verb}{also}.", id="decided"), html.Ul(items)]


def _download(job: Job | None, form: Mapping[str, Any], dropped: list[int]) -> Any:
    if job is None or job.result is None:
        raise PreventUpdate
    kind = str(ctx.triggered_id).removeprefix("rules-")
    rules = job.result.chosen(form, dropped)[1]
    if kind == "json":
        text = rules.to_json(ensure_ascii=False, indent=1)
    else:
        text = rules.to_sql() if kind == "sql" else str(rules)
    return {"content": f"{text}\n", "filename": f"rules.{kind}", "type": "text/plain"}
