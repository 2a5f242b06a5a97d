"""The app as a whole: its pages, and the callbacks that run in the browser. It serves every script itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dash_mantine_components as dmc
from dash import ALL, MATCH, ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from suffice._show.markup import read_template
from suffice._text import format_probability
from suffice.app.access import new_token, protect
from suffice.app.pages import many_rows, model_quality, rule_list, start
from suffice.app.pages.one_row import page as one_row
from suffice.app.serving import serve_in_thread
from suffice.app.state.desk import Desk, WaitingTables
from suffice.app.state.jobs import Jobs
from suffice.app.state.uploads import MAX_UPLOAD
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.explainer import SufficientExplainer

_PAGE = """<!DOCTYPE html>
<html lang="en">
  <head>
    {%metas%}<title>{%title%}</title>{%favicon%}{%css%}
    <style>CARD_CSS</style>
  </head>
  <body>{%app_entry%}<footer>{%config%}{%scripts%}{%renderer%}</footer></body>
</html>"""


def make_app(desk: Desk, waiting: WaitingTables | None = None, names: Sequence[str] = ()) -> Dash:
    """Make the app."""
    jobs, waiting = Jobs(), waiting or WaitingTables()
    app = Dash(
        "suffice",
        assets_folder=str(Path(__file__).parent / "assets"),
        serve_locally=True,
        suppress_callback_exceptions=True,
        update_title="",
        title="suffice",
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
        index_string=_PAGE.replace("CARD_CSS", read_template("card.css")),
    )
    app.layout = dmc.MantineProvider(
        [
            dcc.Location(id="url", refresh=False),
            dcc.Store(id="scheme", storage_type="local"),
            html.Div(id="page", className="suffice app", children=html.Div("Loading …", className="note loading")),
        ],
        id="provider",
        theme={"primaryColor": "blue", "fontFamily": "inherit", "defaultRadius": "sm", "colors": {"blue": _BLUES}},
    )
    app.callback(Output("page", "children"), Input("url", "pathname"), Input("url", "search"))(
        lambda path, search: _page(desk, waiting, path, search)
    )
    app.callback(
        output=[Output(f"pane-{name}", "children") for name in _PANES],
        inputs={
            "stored": Input("view", "data"),
            "panes": {name: State(f"pane-{name}", "children") for name in _PANES},
        },
        prevent_initial_call=True,
    )(lambda stored, panes: _fill(desk, stored, panes))
    one_row.register(app, desk, jobs)
    many_rows.register(app, desk, jobs)
    rule_list.register(app, desk, jobs)
    model_quality.register(app, desk, jobs)
    start.register(app, desk, jobs, waiting)
    _connect_browser(app)
    app.server.config["MAX_CONTENT_LENGTH"] = int(1.4 * MAX_UPLOAD)
    app.server.config["TOKEN"] = new_token()
    protect(app.server, app.server.config["TOKEN"], app.csp_hashes, names)
    return app


_BLUES = ["#e5f3fb", "#cde4f2", "#9bc8e6", "#66aad9", "#3f91ce", "#2781c8", "#0072b2", "#00639c", "#00578b", "#004a79"]


def _page(desk: Desk, waiting: WaitingTables, path: str | None, search: str | None) -> Any:
    view = View.from_search(search)
    workspace = desk.get(view.data)
    if path == "/start" or workspace is None:
        message = "The data of this link are no longer here: open the table again." if view.data else ""
        return [_header(None), html.Main(start.layout(waiting, message))]
    view = workspace.check(view)
    tabs = [("row", "One row"), ("rows", "Many rows"), ("rules", "Global rules"), ("quality", "Model quality")]
    panes: dict[str, Any] = {"row": one_row.layout(workspace, view), **dict.fromkeys(_PANES)}
    if view.tab != "row":
        panes[view.tab] = _PANES[view.tab](workspace)
    return [
        _header(workspace),
        html.Nav(
            dmc.Tabs(dmc.TabsList([dmc.TabsTab(text, value=name) for name, text in tabs]), id="tabs", value=view.tab)
        ),
        html.Main([html.Div(pane, id=f"pane-{name}", hidden=name != view.tab) for name, pane in panes.items()]),
        dcc.Store(id="view", data=view.to_store()),
    ]


_PANES = {"rows": many_rows.layout, "rules": rule_list.layout, "quality": model_quality.layout}


def _fill(desk: Desk, stored: Any, panes: dict[str, Any]) -> tuple[Any, ...]:
    """Lay out a page when it is first looked at, so that the first paint does not wait for the others."""
    view = View.from_store(stored)
    workspace = desk.get(view.data)
    if workspace is None:
        return (no_update,) * len(panes)
    return tuple(
        _PANES[name](workspace) if view.tab == name and not content else no_update for name, content in panes.items()
    )


def _header(workspace: Workspace | None) -> html.Header:
    title: list[Any] = [html.A("suffice", href="/", className="brand")]
    if workspace is not None:
        explainer = workspace.explainer
        measure = "accuracy" if not workspace.is_regression else "R²"
        fidelity = (
            f"{measure} {format_probability(explainer.fidelity_)} out of bag"
            if explainer.fidelity_ > 0
            else f"{measure} unknown or poor"
        )
        size = f"{workspace.frame.height} rows · {len(explainer.variable_names_)} variables"
        facts = f"{size} · {explainer.target_name_} · {fidelity}"
        title += [html.Span(workspace.name, className="table-name"), html.Span(facts, className="note facts-line")]
    buttons = [
        html.A("Open", href="/start", className="button"),
        html.Button("Copy link", id="copy", className="button", **({} if workspace is not None else {"hidden": True})),
        html.Button("◐", id="scheme-toggle", className="button", title="Light or dark"),
    ]
    return html.Header([html.Div(title, className="title-line"), html.Div(buttons, className="buttons")])


def _connect_browser(app: Dash) -> None:
    """Connect the callbacks that run in the browser."""

    def function(name: str) -> ClientsideFunction:
        return ClientsideFunction("suffice", name)

    app.clientside_callback(
        function("scheme"), Output("scheme", "data"), Input("scheme-toggle", "n_clicks"), State("scheme", "data")
    )
    app.clientside_callback(function("paint"), Output("provider", "forceColorScheme"), Input("scheme", "data"))
    app.clientside_callback(
        function("slide"),
        Output({"type": "slide", "column": MATCH}, "value"),
        Output({"type": "value", "column": MATCH}, "value", allow_duplicate=True),
        Input({"type": "slide", "column": MATCH}, "value"),
        Input({"type": "value", "column": MATCH}, "value"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        function("outside"),
        Output({"type": "outside", "column": ALL}, "children"),  # with MATCH, 200 columns would stop the browser
        Input({"type": "value", "column": ALL}, "value"),
        State("ends", "data"),
    )
    for name in ("pi", "alpha", "n-candidates"):
        app.clientside_callback(function("text"), Output(f"{name}-text", "children"), Input(name, "value"))
    app.clientside_callback(
        function("tabs"),
        *(Output(f"pane-{name}", "hidden") for name in ("row", *_PANES)),
        Input("tabs", "value"),
    )
    app.clientside_callback(
        function("search"),
        Output("rule-grid", "dashGridOptions"),
        Input("rules-search", "value"),
        State("rule-grid", "dashGridOptions"),
        prevent_initial_call=True,
    )
    app.clientside_callback(
        function("copy"), Output("copy", "children"), Input("copy", "n_clicks"), prevent_initial_call=True
    )
    app.clientside_callback(function("go"), Output("goto", "id"), Input("goto", "data"), prevent_initial_call=True)
    app.callback(Output("copy", "title"), Input("view", "data"))(
        lambda stored: View.from_store(stored).to_search() or "?"
    )
    app.clientside_callback(
        function("link"), Output("copy", "className"), Input("copy", "title"), prevent_initial_call=True
    )


def show_explainer(explainer: SufficientExplainer, X: Any, y: Any, port: int | None) -> str:
    """Serve the app about an explainer in a thread of its own: what ``explainer.app`` does."""
    return serve_in_thread(make_app(Desk(Workspace.of(explainer, X, y))), port)[0]
