"""The page about one row: its layout and its callbacks."""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
from dash import ALL, Dash, Input, Output, State, dcc, html, no_update

from suffice._text import format_confidence
from suffice.app.pages.one_row.answers import (
    Answer,
    Picked,
    alike,
    boxes,
    classes,
    covered,
    curve,
    distribution,
    explained,
    list_sets,
    when_shown,
)
from suffice.app.pages.one_row.changes import change
from suffice.app.pages.one_row.editors import editors, training_ends
from suffice.app.pages.one_row.lookalikes import line_columns
from suffice.app.pages.one_row.reasons import reasons_panel, register_reasons
from suffice.app.pages.one_row.stability import register_stability, stability_panel
from suffice.app.pages.one_row.what_would import register_what_would, what_would_panel
from suffice.app.parts import charts, pieces
from suffice.app.parts.grids import grid, page_response, table_columns
from suffice.app.state.desk import Desk
from suffice.app.state.jobs import Jobs
from suffice.app.state.row_search import example_search
from suffice.app.state.view import View
from suffice.app.state.workspace import MAX_SEARCHED, Workspace
from suffice.explaining.importance import IMPORTANCE_MEANINGS, SHOWN_INDEX

_SET_COLUMNS = (
    {
        "field": "variables",
        "headerName": "variables",
        "cellRenderer": "Chips",
        "cellDataType": False,
        "flex": 1,
        "minWidth": 150,
        "wrapText": True,
        "autoHeight": True,
    },
    {"field": "sdp", "headerName": "SDP", "cellRenderer": "Share", "width": 132},
)

# --- layout -----------------------------------------------------------------------------------------------------------


def layout(workspace: Workspace, view: View) -> html.Div:
    """Lay out the page."""
    answer = explained(workspace, view)
    side = html.Aside(
        [_choosing(workspace, view), _editing(workspace, view), _settings(workspace, view, answer.effect)]
    )
    main = html.Div(
        [
            html.Div(answer.care, id="row-message"),
            html.Section(answer.outcome, id="outcome-card", className="panel wide outcome-card"),
            _sets_panel(workspace, view),
            pieces.panel(
                "Importance",
                html.Div(answer.importance, id="importance"),
                note=IMPORTANCE_MEANINGS[SHOWN_INDEX],
            ),
            pieces.panel(
                "Rule", html.Div(answer.rule, id="rule"), note="of the chosen set, on the training data", wide=True
            ),
            reasons_panel(workspace),
            what_would_panel(workspace),
            stability_panel(),
            *_figure_panels(workspace),
            *_row_panels(workspace),
        ],
        className=answer.page_class,
        id="row-main",
    )
    return html.Div([side, main, _browser(workspace), dcc.Store(id="shown", data=answer.view)], className="split")


def _sets_panel(workspace: Workspace, view: View) -> html.Section:
    lines, selected = list_sets(workspace, view)
    sets = grid(
        "sets",
        _SET_COLUMNS,
        250,
        rowData=lines,
        selectedRows=selected,
        getRowId="params.data.key",
        dashGridOptions={
            "rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True},
            "localeText": {"noRowsToShow": "No set is sufficient."},
        },
    )
    return pieces.panel("Sufficient sets", sets, note="each alone is enough; click one", name="sets-panel")


def _figure_panels(workspace: Workspace) -> list[html.Section]:
    distribution_graph = dcc.Graph(
        id="distribution", config=charts.CONFIG, style={"height": 300}, figure=charts.nothing("light", "", 300)
    )
    boxes_graph = dcc.Graph(
        id="boxes", config=charts.CONFIG, style={"height": 340}, figure=charts.nothing("light", "", 340)
    )
    curve_graph = dcc.Graph(
        id="curve", config=charts.CONFIG, style={"height": 320}, figure=charts.nothing("light", "", 320)
    )
    axes = html.Div([_axis("box-x", "x axis", workspace), _axis("box-y", "y axis", workspace)], className="axes")
    return [
        pieces.panel(
            "Distribution of the outcome",
            html.Div(id="classes") if not workspace.is_regression else distribution_graph,
            note="given this set alone, and given all variables",
        ),
        pieces.panel("The rule on two variables", boxes_graph, dcc.Store(id="box-suggested"), extra=axes),
        pieces.panel(
            "Probability along one variable",
            curve_graph,
            dcc.Store(id="curve-suggested"),
            extra=_axis("curve-x", "variable", workspace),
            note="that the outcome is kept if only this value were another",
            wide=True,
        ),
    ]


def _row_panels(workspace: Workspace) -> list[html.Section]:
    compared = dmc.SegmentedControl(
        id="alike-over",
        data=[{"value": "set", "label": "in this set"}, {"value": "all", "label": "in all variables"}],
        value="set",
        size="xs",
    )
    return [
        pieces.panel(
            "Training rows that the rule covers",
            html.Div(id="covered-note", className="note under"),
            grid("covered", line_columns(workspace), 300, rowData=[]),
            name="covered-panel",
            wide=True,
        ),
        pieces.panel(
            "Similar rows with another outcome",
            html.Div(id="alike-note", className="note under"),
            grid("alike", line_columns(workspace, has_distance=True), 300, rowData=[]),
            extra=compared,
            wide=True,
        ),
    ]


def _choosing(workspace: Workspace, view: View) -> html.Section:
    n = workspace.frame.height
    example = example_search(workspace.frame, workspace.source_names)
    buttons = [
        dmc.Button("←", id="previous", variant="default", size="xs", **{"aria-label": "Previous row"}),
        dmc.NumberInput(
            id="row",
            value=view.row,
            min=0,
            max=n - 1,
            size="xs",
            debounce=250,
            hideControls=True,
            clampBehavior="strict",
            allowDecimal=False,
            **{"aria-label": "Row"},
        ),
        dmc.Button("→", id="next", variant="default", size="xs", **{"aria-label": "Next row"}),
        dmc.Button("Random", id="random", variant="default", size="xs"),
    ]
    find = dmc.TextInput(
        id="find",
        value=view.find,
        placeholder=f"Find rows: {example}" if example else "Find rows by words",
        size="xs",
        debounce=400,
        **{"aria-label": "Find rows"},
    )
    return pieces.panel(
        "Row",
        html.Div(buttons, className="row-buttons"),
        find,
        html.Div(id="find-note", className="note"),
        extra=dmc.Button("Table", id="browse", variant="subtle", size="compact-xs"),
    )


def _editing(workspace: Workspace, view: View) -> html.Section:
    return pieces.panel(
        "Values",
        html.Div(editors(workspace, view), className="editors", id="editors"),
        dcc.Store(id="ends", data=training_ends(workspace)),
        extra=dmc.Button("Reset", id="reset", variant="subtle", size="compact-xs"),
        note="edit any",
        name="values",
    )


def _settings(workspace: Workspace, view: View, effect: str) -> html.Section:
    explainer = workspace.explainer
    most = max(2, min(max(MAX_SEARCHED, workspace.n_searched), len(workspace.ranking)))
    rows: list[Any] = [
        pieces.slider_row(
            "Probability pi", "pi", view.pi or explainer.pi, 0.5, 1.0, 0.01, "that a sufficient set must reach"
        ),
        pieces.slider_row(
            "Candidates",
            "n-candidates",
            view.n_candidates or workspace.n_searched,
            1,
            most,
            1,
            "variables that are searched",
        ),
        _candidates(workspace, view),
    ]
    if workspace.is_regression and explainer.fitted_.radius is None:
        note = "the outcome is kept within an interval that holds 1 - alpha of outcomes"
        rows.append(pieces.slider_row("Level alpha", "alpha", view.alpha or explainer.alpha, 0.01, 0.6, 0.01, note))
    else:
        rows.append(html.Div(dmc.Slider(id="alpha", value=explainer.alpha, min=0, max=1, step=0.01), hidden=True))
        rows.append(html.Span(id="alpha-text", hidden=True))
    rows += _choices(workspace, view)
    rows.append(dmc.Switch(id="unseen", label="Unseen categories count as missing", checked=view.unseen, size="xs"))
    return pieces.panel("Settings", *rows, html.Div(effect, id="effect", className="note effect"))


def _candidates(workspace: Workspace, view: View) -> html.Div:
    """Lay out the list of variables that are searched instead of the first ones."""
    names = [*workspace.ranking, *(n for n in workspace.explainer.variable_names_ if n not in workspace.ranking)]
    chosen = dmc.MultiSelect(
        id="candidates",
        data=names,
        value=list(view.candidates),
        placeholder="" if view.candidates else "those above",
        searchable=True,
        clearable=True,
        maxValues=MAX_SEARCHED,
        limit=200,
        size="xs",
        **{"aria-label": "Search only these variables"},
    )
    return html.Div([html.Label("Search only these variables"), chosen], className="setting")


def _choices(workspace: Workspace, view: View) -> list[html.Div]:
    """Lay out the settings that have a few values."""
    explainer = workspace.explainer
    own = explainer.confidence or 0.0
    confidences = sorted({0.0, 0.9, 0.95, 0.99, own, own if view.confidence is None else view.confidence})
    choices = [(f"{value:g}", format_confidence(value) if value else "not asked") for value in confidences]
    return [
        pieces.choice_row(
            "Level of each class",
            "levels",
            [("same", "pi for all"), ("odds", "by its odds")],
            view.levels or explainer.levels,
            note="by its odds: pi / (1 - pi) times the odds of the class",
            hidden=workspace.is_regression,
        ),
        pieces.choice_row(
            "Confidence of the bound",
            "confidence",
            choices,
            f"{own if view.confidence is None else view.confidence:g}",
            note="at which the lower bound must reach the level",
        ),
        pieces.choice_row(
            "Outcome to explain",
            "outcome-kind",
            [("prediction", "prediction"), ("observed", "observed")],
            view.outcome,
            hidden=workspace.observed is None,
        ),
    ]


def _axis(name: str, text: str, workspace: Workspace) -> dmc.Select:
    data = [{"value": str(i), "label": column.name} for i, column in enumerate(workspace.columns)]
    return dmc.Select(
        id=name,
        data=data,
        size="xs",
        searchable=True,
        w=170,
        placeholder=text,
        **{"aria-label": text},
        clearable=True,
        limit=100,
    )


def _browser(workspace: Workspace) -> dmc.Modal:
    table = grid(
        "browser",
        table_columns(workspace.frame),
        480,
        rowModelType="infinite",
        getRowId="params.data.key",
        dashGridOptions={"cacheBlockSize": 100, "maxBlocksInCache": 4},
    )
    text = html.Div("Filter and sort by the heads of the columns; click a row to explain it.", className="note")
    return dmc.Modal([text, table], id="browser-modal", title="Choose a row", size="90%", zIndex=300)


# --- callbacks --------------------------------------------------------------------------------------------------------


def register(app: Dash, desk: Desk, jobs: Jobs) -> None:
    """Connect the callbacks of the page."""
    _connect_changes(app, desk)
    _connect_answers(app, desk)
    register_stability(app, desk, jobs)
    register_what_would(app, desk)
    register_reasons(app, desk)
    app.callback(
        Output("browser", "getRowsResponse"),
        Input("browser", "getRowsRequest"),
        State("view", "data"),
        prevent_initial_call=True,
    )(lambda request, stored: _page_of_browser(desk, request, stored))


def _page_of_browser(desk: Desk, request: dict[str, Any] | None, stored: dict[str, Any]) -> Any:
    workspace = desk.get(View.from_store(stored).data)
    return no_update if workspace is None or request is None else page_response(workspace, request)


def _connect_changes(app: Dash, desk: Desk) -> None:
    app.callback(
        output=[
            Output("view", "data"),
            Output("row", "value"),
            Output({"type": "value", "column": ALL}, "value"),
            Output("pi", "value"),
            Output("levels", "value"),
            Output("browser-modal", "opened"),
            Output("find-note", "children"),
        ],
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
                "use_levels": Input({"type": "use-levels", "pi": ALL}, "n_clicks"),
                "apply_change": Input({"type": "apply-change", "edits": ALL}, "n_clicks"),
                "tab": Input("tabs", "value"),
            },
            "stored": State("view", "data"),
        },
        prevent_initial_call=True,
    )(lambda inputs, stored: change(desk, stored, inputs))


def _connect_answers(app: Dash, desk: Desk) -> None:
    outputs = {
        "outcome": Output("outcome-card", "children"),
        "care": Output("row-message", "children"),
        "importance": Output("importance", "children"),
        "rule": Output("rule", "children"),
        "effect": Output("effect", "children"),
        "page_class": Output("row-main", "className"),
        "view": Output("shown", "data"),
    }
    app.callback(output=outputs, inputs={"stored": Input("view", "data")}, prevent_initial_call=True)(
        lambda stored: vars(when_shown(desk, stored, explained, Answer(*[no_update] * len(outputs))))
    )
    # These wait for the callback above: the explanation comes first, and grids and figures have scripts to load.
    app.callback(
        Output("sets", "rowData"), Output("sets", "selectedRows"), Input("shown", "data"), prevent_initial_call=True
    )(lambda stored: when_shown(desk, stored, list_sets, (no_update, no_update)))
    app.callback(
        Output("boxes", "figure"),
        Output("box-x", "value"),
        Output("box-y", "value"),
        Output("box-suggested", "data"),
        Input("shown", "data"),
        Input("box-x", "value"),
        Input("box-y", "value"),
        Input("scheme", "data"),
        State("box-suggested", "data"),
    )(lambda stored, x, y, scheme, suggested: boxes(desk, stored, Picked((x, y), suggested), scheme))
    app.callback(
        Output("curve", "figure"),
        Output("curve-x", "value"),
        Output("curve-suggested", "data"),
        Input("shown", "data"),
        Input("curve-x", "value"),
        Input("scheme", "data"),
        State("curve-suggested", "data"),
    )(lambda stored, x, scheme, suggested: curve(desk, stored, Picked((x,), suggested), scheme))
    app.callback(
        Output("covered", "rowData"),
        Output("covered-note", "children"),
        Output("covered", "columnDefs"),
        Output("covered-panel", "hidden"),
        Input("shown", "data"),
    )(lambda stored: covered(desk, stored))
    app.callback(
        Output("alike", "rowData"),
        Output("alike-note", "children"),
        Output("alike", "columnDefs"),
        Input("shown", "data"),
        Input("alike-over", "value"),
    )(lambda stored, over: alike(desk, stored, over))
    app.callback(Output("distribution", "figure"), Input("shown", "data"), Input("scheme", "data"))(
        lambda stored, scheme: distribution(desk, stored, scheme)
    )
    app.callback(Output("classes", "children"), Input("shown", "data"))(lambda stored: classes(desk, stored))
