"""The page about one row: choosing and editing it, its sufficient sets, and the rule of the chosen one."""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
from dash import ALL, Dash, Input, Output, State, dcc, html, no_update

from suffice.app.pages.editors import editors
from suffice.app.pages.lookalikes import line_columns
from suffice.app.pages.row_answers import alike, boxes, classes, covered, distribution, explained, list_sets, when_shown
from suffice.app.pages.row_changes import change
from suffice.app.parts import charts
from suffice.app.parts import pieces as parts
from suffice.app.parts.grids import choose_rows, grid, page_of, table_columns
from suffice.app.state.desk import Desk
from suffice.app.state.view import View
from suffice.app.state.workspace import MAX_CANDIDATES, Workspace

# --- layout -----------------------------------------------------------------------------------------------------------


def layout(workspace: Workspace, view: View) -> html.Div:
    """Lay out the page.

    Parameters
    ----------
    workspace : Workspace
        The explainer and its table.
    view : View
        What it shows first.

    Returns
    -------
    dash.html.Div
        The page.
    """
    sets_columns = [
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
    ]
    outcome, told, importance, rule, effect, kind, shown = explained(workspace, view)
    side = html.Aside([_choosing(workspace, view), _editing(workspace, view), _settings(workspace, view, effect)])
    lines, selected = list_sets(workspace, view)
    sets = grid(
        "sets",
        sets_columns,
        250,
        rowData=lines,
        selectedRows=selected,
        getRowId="params.data.key",
        dashGridOptions={"rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True}},
    )
    graph = dcc.Graph(
        id="distribution", config=charts.CONFIG, style={"height": 300}, figure=charts.nothing("light", "", 300)
    )
    main = html.Div(
        [
            html.Div(told, id="row-message"),
            html.Section(outcome, id="outcome-card", className="panel wide outcome-card"),
            parts.panel("Sufficient sets", sets, note="each alone is enough; click one", name="sets-panel"),
            parts.panel(
                "Importance", html.Div(importance, id="importance"), note="LXI: share of the sets that hold a variable"
            ),
            parts.panel("Rule", html.Div(rule, id="rule"), note="of the chosen set, on the training data", wide=True),
            parts.panel(
                "Outcome, as far as known",
                html.Div(id="classes") if not workspace.is_regression else graph,
                note="from this set alone, and from all variables",
            ),
            parts.panel(
                "The box on two variables",
                dcc.Graph(
                    id="boxes", config=charts.CONFIG, style={"height": 340}, figure=charts.nothing("light", "", 340)
                ),
                extra=html.Div(
                    [_axis("box-x", "x axis", workspace), _axis("box-y", "y axis", workspace)], className="axes"
                ),
            ),
            parts.panel(
                "Training rows that the rule covers",
                html.Div(id="covered-note", className="note under"),
                grid("covered", line_columns(workspace), 300, rowData=[]),
                wide=True,
            ),
            parts.panel(
                "Rows that look alike but come out otherwise",
                html.Div(id="alike-note", className="note under"),
                grid("alike", line_columns(workspace, has_distance=True), 300, rowData=[]),
                extra=dmc.SegmentedControl(
                    id="alike-over",
                    data=[{"value": "set", "label": "in this set"}, {"value": "all", "label": "in all variables"}],
                    value="set",
                    size="xs",
                ),
                wide=True,
            ),
        ],
        className=kind,
        id="row-main",
    )
    return html.Div([side, main, _browser(workspace), dcc.Store(id="shown", data=shown)], className="split")


def _choosing(workspace: Workspace, view: View) -> html.Section:
    n = workspace.frame.height
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
        placeholder="Find rows: hour > 17 AND year = 2012",
        size="xs",
        debounce=400,
        **{"aria-label": "Find rows"},
    )
    return parts.panel(
        "Row",
        html.Div(buttons, className="row-buttons"),
        find,
        html.Div(id="find-note", className="note"),
        extra=dmc.Button("Table", id="browse", variant="subtle", size="compact-xs"),
    )


def _editing(workspace: Workspace, view: View) -> html.Section:
    return parts.panel(
        "Values",
        html.Div(editors(workspace, view), className="editors", id="editors"),
        extra=dmc.Button("Reset", id="reset", variant="subtle", size="compact-xs"),
        note="edit any",
        name="values",
    )


def _settings(workspace: Workspace, view: View, effect: str) -> html.Section:
    explainer = workspace.explainer
    most = max(2, min(MAX_CANDIDATES, len(workspace.ranking)))
    rows: list[Any] = [
        parts.slider_row(
            "Probability pi", "pi", view.pi or explainer.pi, 0.5, 1.0, 0.01, "that a sufficient set must reach"
        ),
        parts.slider_row(
            "Candidates",
            "n-candidates",
            view.n_candidates or len(explainer.candidates_),
            1,
            most,
            1,
            "variables that are searched",
        ),
    ]
    if workspace.is_regression and explainer.radius is None:
        note = "the outcome is kept within the forest's 1 - alpha interval"
        rows.append(parts.slider_row("Level alpha", "alpha", view.alpha or explainer.alpha, 0.02, 0.6, 0.02, note))
    else:
        rows.append(html.Div(dmc.Slider(id="alpha", value=explainer.alpha, min=0, max=1, step=0.01), hidden=True))
        rows.append(html.Span(id="alpha-text", hidden=True))
    choice = [{"value": "prediction", "label": "prediction"}, {"value": "observed", "label": "observed"}]
    rows.append(
        html.Div(
            [
                html.Div(html.Label("Explain the outcome that is"), className="setting-head"),
                dmc.SegmentedControl(id="outcome-kind", data=choice, value=view.outcome, size="xs", fullWidth=True),
            ],
            className="setting",
            hidden=workspace.observed is None,
        )
    )
    rows.append(dmc.Switch(id="unseen", label="Unseen categories count as missing", checked=view.unseen, size="xs"))
    return parts.panel("Settings", *rows, html.Div(effect, id="effect", className="note effect"))


def _axis(name: str, text: str, workspace: Workspace) -> dmc.Select:
    names = [column.name for column in workspace.explainer._encoding.columns]
    data = [{"value": str(i), "label": text} for i, text in enumerate(names)]
    return dmc.Select(
        id=name,
        data=data,
        size="xs",
        searchable=True,
        w=130,
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


def register(app: Dash, desk: Desk) -> None:
    """Connect the page.

    Parameters
    ----------
    app : dash.Dash
        The app.
    desk : Desk
        The workspaces.
    """
    app.callback(
        output=[
            Output("view", "data"),
            Output("row", "value"),
            Output({"type": "value", "column": ALL}, "value"),
            Output("pi", "value"),
            Output("browser-modal", "opened"),
            Output("find-note", "children"),
        ],
        inputs={
            "given": {
                "row": Input("row", "value"),
                "clicks": [Input(name, "n_clicks") for name in ("previous", "next", "random", "reset", "browse")],
                "clicked_row": Input("browser", "cellClicked"),
                "find": Input("find", "value"),
                "values": Input({"type": "value", "column": ALL}, "value"),
                "pi": Input("pi", "value"),
                "alpha": Input("alpha", "value"),
                "n_candidates": Input("n-candidates", "value"),
                "outcome": Input("outcome-kind", "value"),
                "unseen": Input("unseen", "checked"),
                "clicked_set": Input("sets", "cellClicked"),
                "use_pi": Input({"type": "use-pi", "pi": ALL}, "n_clicks"),
                "tab": Input("tabs", "value"),
            },
            "stored": State("view", "data"),
        },
        prevent_initial_call=True,
    )(lambda given, stored: change(desk, stored, given))
    app.callback(
        Output("outcome-card", "children"),
        Output("row-message", "children"),
        Output("importance", "children"),
        Output("rule", "children"),
        Output("effect", "children"),
        Output("row-main", "className"),
        Output("shown", "data"),
        Input("view", "data"),
        prevent_initial_call=True,
    )(lambda stored: when_shown(desk, stored, explained, 7))
    # What follows waits for the above: the explanation comes first, and grids and figures have scripts to load.
    app.callback(
        Output("sets", "rowData"), Output("sets", "selectedRows"), Input("shown", "data"), prevent_initial_call=True
    )(lambda stored: when_shown(desk, stored, list_sets, 2))
    app.callback(
        Output("boxes", "figure"),
        Input("shown", "data"),
        Input("box-x", "value"),
        Input("box-y", "value"),
        Input("scheme", "data"),
    )(lambda *given: boxes(desk, *given))
    app.callback(
        Output("covered", "rowData"),
        Output("covered-note", "children"),
        Output("covered", "columnDefs"),
        Input("shown", "data"),
    )(lambda stored: covered(desk, stored))
    app.callback(
        Output("alike", "rowData"),
        Output("alike-note", "children"),
        Output("alike", "columnDefs"),
        Input("shown", "data"),
        Input("alike-over", "value"),
    )(lambda *given: alike(desk, *given))
    app.callback(
        Output("browser", "getRowsResponse"),
        Input("browser", "getRowsRequest"),
        State("view", "data"),
        prevent_initial_call=True,
    )(lambda request, stored: rows_response(desk, request, stored))
    app.callback(Output("distribution", "figure"), Input("shown", "data"), Input("scheme", "data"))(
        lambda *given: distribution(desk, *given)
    )
    app.callback(Output("classes", "children"), Input("shown", "data"))(lambda stored: classes(desk, stored))


def rows_response(desk: Desk, request: dict[str, Any] | None, stored: dict[str, Any]) -> Any:
    """Answer a grid that asks for a page of a table.

    Parameters
    ----------
    desk : Desk
        The workspaces.
    request : dict or None
        Which rows, filters and order.
    stored : dict
        The view.

    Returns
    -------
    dict
        The rows, and how many there are.
    """
    workspace = desk.get(View.from_store(stored).data)
    if workspace is None or request is None:
        return no_update
    rows = choose_rows(workspace.frame, request.get("filterModel"), request.get("sortModel"))
    page = rows[int(request["startRow"]) : int(request["endRow"])]
    return {"rowData": page_of(workspace.frame, page), "rowCount": len(rows)}
