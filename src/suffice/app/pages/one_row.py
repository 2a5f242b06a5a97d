"""The page about one row: its layout and its callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import ALL, Dash, Input, Output, State, dcc, html
from dash.exceptions import PreventUpdate

from suffice._text import format_confidence
from suffice.app.messages import ERRORS
from suffice.app.pages import row_answers, row_panels
from suffice.app.pages.row_inputs import change, editors, shown_alpha, training_ranges
from suffice.app.parts import charts, controls
from suffice.app.parts.grids import CHIPS, SELECT_ONE, WRAPPED, grid, page_response, table_grid
from suffice.app.state.tables import example_search
from suffice.app.state.workspace import MAX_SEARCHED
from suffice.explaining.importance import IMPORTANCE_MEANINGS

if TYPE_CHECKING:
    from suffice.app.state.jobs import Jobs
    from suffice.app.state.sessions import Sessions
    from suffice.app.state.view import View
    from suffice.app.state.workspace import Workspace

_SET_COLUMNS = (
    {"field": "variables", "headerName": "variables", "minWidth": 150, **CHIPS, **WRAPPED},
    {"field": "sdp", "headerName": "SDP", "cellRenderer": "Share", "width": 132},
)

# --- layout -----------------------------------------------------------------------------------------------------------


def layout(workspace: Workspace, view: View) -> html.Div:
    """Lay out the page."""
    answer = row_answers.answer_view(workspace, view)
    side = html.Aside(
        [_choosing(workspace, view), _editing(workspace, view), _settings(workspace, view, answer.effect)]
    )
    importance = html.Div(answer.importance, id="importance")
    rule, proofs = html.Div(answer.rule, id="rule"), row_panels.proof_parts(workspace)
    main = html.Div(
        [
            html.Div(answer.care, id="row-message"),
            html.Section(answer.outcome, id="outcome-card", className="panel wide outcome-card"),
            _sets_panel(workspace, view),
            controls.panel("Importance", importance, note=IMPORTANCE_MEANINGS["minimal"]),
            controls.panel("Rule", rule, *proofs, note="of the chosen set, on the training data", wide=True),
            row_panels.reasons_panel(workspace),
            row_panels.changes_panel(workspace),
            row_panels.stability_panel(),
            *_figure_panels(workspace),
            _covered_panel(workspace),
        ],
        className=answer.page_class,
        id="row-main",
    )
    return html.Div([side, main, _browser(workspace), dcc.Store(id="shown", data=answer.view)], className="split")


def _sets_panel(workspace: Workspace, view: View) -> html.Section:
    lines, selected = row_answers.list_sets(workspace, view)
    options = {**SELECT_ONE, "localeText": {"noRowsToShow": "No set is sufficient."}}
    key = "params.data.key"
    sets = grid("sets", _SET_COLUMNS, 250, rowData=lines, selectedRows=selected, getRowId=key, dashGridOptions=options)
    return controls.panel("Sufficient sets", sets, note="each alone is enough; click one", name="sets-panel")


def _figure_panels(workspace: Workspace) -> list[html.Section]:
    def place(name: str, height: int) -> dcc.Graph:
        return controls.graph(height, charts.empty("light", "", height), id=name)

    data = controls.options(range(len(workspace.columns)), [column.name for column in workspace.columns])
    search: dict[str, Any] = {"searchable": True, "clearable": True, "limit": 100, "placeholder": "variable"}
    return [
        controls.panel(
            "Distribution of the outcome",
            place("distribution", 300) if workspace.is_regression else html.Div(id="classes"),
            note="given this set alone, and given all variables",
            wide=True,
        ),
        controls.panel(
            "Probability along one variable",
            place("curve", 320),
            dcc.Store(id="curve-suggested"),
            extra=controls.select("curve-x", "variable", data, None, 170, **search),
            note="that the outcome is kept if only this value changes",
            wide=True,
        ),
    ]


def _covered_panel(workspace: Workspace) -> html.Section:
    return controls.panel(
        "Training rows that the rule covers",
        html.Div(id="covered-note", className="note under"),
        grid("covered", row_answers.row_columns(workspace), 300, rowData=[]),
        name="covered-panel",
        wide=True,
    )


def _choosing(workspace: Workspace, view: View) -> html.Section:
    example = example_search(workspace.frame, workspace.source_names)
    row = dmc.NumberInput(
        id="row",
        value=view.row,
        min=0,
        max=workspace.frame.height - 1,
        size="xs",
        debounce=250,
        hideControls=True,
        clampBehavior="strict",
        allowDecimal=False,
        **{"aria-label": "Row"},
    )
    buttons = [
        dmc.Button("←", id="previous", variant="default", size="xs", **{"aria-label": "Previous row"}),
        row,
        dmc.Button("→", id="next", variant="default", size="xs", **{"aria-label": "Next row"}),
        dmc.Button("Random", id="random", variant="default", size="xs"),
    ]
    hint = f"Find rows: {example}" if example else "Find rows by words"
    label = {"aria-label": "Find rows"}
    return controls.panel(
        "Row",
        html.Div(buttons, className="row-buttons"),
        dmc.TextInput(id="find", value=view.find, placeholder=hint, size="xs", debounce=400, **label),
        html.Div(id="find-note", className="note"),
        extra=dmc.Button("Table", id="browse", variant="subtle", size="compact-xs"),
    )


def _editing(workspace: Workspace, view: View) -> html.Section:
    return controls.panel(
        "Values",
        html.Div(editors(workspace, view), className="editors", id="editors"),
        dcc.Store(id="training-ranges", data=training_ranges(workspace)),
        extra=dmc.Button("Reset", id="reset", variant="subtle", size="compact-xs"),
        note="edit any",
        name="values",
    )


def _settings(workspace: Workspace, view: View, effect: str) -> html.Section:
    explainer = workspace.explainer
    most = max(2, min(max(MAX_SEARCHED, workspace.n_searched), len(workspace.ranking)))
    pi, n_searched = view.pi or explainer.pi_, view.n_candidates or workspace.n_searched
    rows: list[Any] = [
        controls.slider_setting("Probability pi", "pi", pi, 0.5, 1.0, 0.01, "that a sufficient set must reach"),
        controls.slider_setting("Candidates", "n-candidates", n_searched, 1, most, 1, "variables that are searched"),
        _candidates(workspace, view),
    ]
    if workspace.is_regression and explainer.fitted_.radius is None:
        note = "the outcome is kept within an interval that holds 1 - alpha of outcomes"
        alpha = view.alpha or shown_alpha(explainer.fitted_)
        rows.append(controls.slider_setting("Level alpha", "alpha", alpha, 0.01, 0.6, 0.01, note))
    else:
        unused = dmc.Slider(id="alpha", value=shown_alpha(explainer.fitted_), min=0, max=1, step=0.01)
        rows += [html.Div(unused, hidden=True), html.Span(id="alpha-text", hidden=True)]
    rows += _choices(workspace, view)
    rows.append(dmc.Switch(id="unseen", label="Unseen categories count as missing", checked=view.unseen, size="xs"))
    return controls.panel("Settings", *rows, html.Div(effect, id="effect", className="note effect"))


def _candidates(workspace: Workspace, view: View) -> html.Div:
    """Lay out the list of variables that are searched instead of the first ones."""
    names = [*workspace.ranking, *(n for n in workspace.explainer.variable_names_ if n not in workspace.ranking)]
    label, hint = "Search only these variables", "" if view.candidates else "those above"
    chosen = {"value": list(view.candidates), "maxValues": MAX_SEARCHED}
    return controls.setting(label, controls.variable_picker("candidates", label, names, hint, **chosen))


def _choices(workspace: Workspace, view: View) -> list[html.Div]:
    """Lay out the settings that have a few values."""
    explainer = workspace.explainer
    own = explainer.confidence or 0.0
    confidence = own if view.confidence is None else view.confidence
    confidences = sorted({0.0, 0.9, 0.95, 0.99, own, confidence})
    choices = [(f"{value:g}", format_confidence(value) if value else "no bound") for value in confidences]
    levels = [("same", "pi for all"), ("odds", "by its odds")]
    outcomes = [("prediction", "prediction"), ("observed", "observed")]
    has_no_outcomes = workspace.observed is None
    note = "at which the lower bound must reach the level"
    return [
        controls.choice_setting(
            "Level of each class",
            "levels",
            levels,
            view.levels or explainer.levels,
            note="by its odds: pi / (1 - pi) times the odds of the class",
            hidden=workspace.is_regression,
        ),
        controls.choice_setting("Confidence of the bound", "confidence", choices, f"{confidence:g}", note=note),
        controls.choice_setting("Outcome to explain", "outcome-kind", outcomes, view.outcome, hidden=has_no_outcomes),
    ]


def _browser(workspace: Workspace) -> dmc.Modal:
    table = table_grid("browser", workspace.frame, 480, 4)
    text = html.Div("Filter and sort by the heads of the columns; click a row to explain it.", className="note")
    return dmc.Modal([text, table], id="browser-modal", title="Choose a row", size="90%", zIndex=300)


# --- callbacks --------------------------------------------------------------------------------------------------------


def register(app: Dash, sessions: Sessions, jobs: Jobs) -> None:
    """Connect the callbacks of the page."""
    _connect_changes(app, sessions)
    _connect_answers(app, sessions)
    row_panels.register(app, sessions, jobs)
    app.callback(
        Output("browser", "getRowsResponse"),
        Input("browser", "getRowsRequest"),
        State("view", "data"),
        prevent_initial_call=True,
    )(lambda request, stored: page_response(sessions.open(stored)[0], request))


def _connect_changes(app: Dash, sessions: Sessions) -> None:
    app.callback(
        output={
            "view": Output("view", "data"),
            "row": Output("row", "value"),
            "values": Output({"type": "value", "column": ALL}, "value"),
            "pi": Output("pi", "value"),
            "levels": Output("levels", "value"),
            "is_browsing": Output("browser-modal", "opened"),
            "note": Output("find-note", "children"),
        },
        inputs={
            "inputs": {
                "row": Input("row", "value"),
                "clicks": [Input(name, "n_clicks") for name in ("previous", "next", "random", "reset", "browse")],
                "clicked_row": Input("browser", "cellClicked"),
                "find": Input("find", "value"),
                "values": Input({"type": "value", "column": ALL}, "value"),
                "pi": Input("pi", "value"),
                "alpha": Input("alpha", "value"),
                "n_candidates": Input("n-candidates", "value"),
                "candidates": Input("candidates", "value"),
                "levels": Input("levels", "value"),
                "confidence": Input("confidence", "value"),
                "outcome": Input("outcome-kind", "value"),
                "unseen": Input("unseen", "checked"),
                "clicked_set": Input("sets", "cellClicked"),
                "use_pi": Input({"type": "use-pi", "pi": ALL}, "n_clicks"),
                "apply_change": Input({"type": "apply-change", "edits": ALL}, "n_clicks"),
                "tab": Input("tabs", "value"),
            },
            "stored": State("view", "data"),
        },
        prevent_initial_call=True,
    )(lambda inputs, stored: change(sessions, stored, inputs))


def explained(sessions: Sessions, answer: Callable[..., Any]) -> Callable[..., Any]:
    """Make a callback that answers about the row that the page shows, if it can be explained."""

    def callback(stored: Any, *values: Any) -> Any:
        workspace, view = sessions.open(stored, "row")
        try:
            workspace.explain(view)
        except ERRORS:  # the page says so already
            raise PreventUpdate from None
        return answer(workspace, view, *values)

    return callback


def _connect_answers(app: Dash, sessions: Sessions) -> None:
    app.callback(
        output={
            "outcome": Output("outcome-card", "children"),
            "care": Output("row-message", "children"),
            "importance": Output("importance", "children"),
            "rule": Output("rule", "children"),
            "effect": Output("effect", "children"),
            "page_class": Output("row-main", "className"),
            "view": Output("shown", "data"),
        },
        inputs={"stored": Input("view", "data")},
        prevent_initial_call=True,
    )(lambda stored: vars(row_answers.answer_view(*sessions.open(stored, "row"))))
    # These wait for the callback above: the explanation comes first, and grids and figures have scripts to load.
    shown, scheme = Input("shown", "data"), Input("scheme", "data")
    app.callback(Output("sets", "rowData"), Output("sets", "selectedRows"), shown, prevent_initial_call=True)(
        lambda stored: row_answers.list_sets(*sessions.open(stored, "row"))
    )
    app.callback(
        Output("curve", "figure"),
        Output("curve-x", "value"),
        Output("curve-suggested", "data"),
        shown,
        Input("curve-x", "value"),
        scheme,
        State("curve-suggested", "data"),
    )(explained(sessions, row_answers.curve))
    app.callback(
        Output("covered", "rowData"),
        Output("covered-note", "children"),
        Output("covered", "columnDefs"),
        Output("covered-panel", "hidden"),
        shown,
    )(explained(sessions, row_answers.covered))
    app.callback(Output("distribution", "figure"), shown, scheme)(explained(sessions, row_answers.distribution))
    app.callback(Output("classes", "children"), shown)(explained(sessions, row_answers.classes))
