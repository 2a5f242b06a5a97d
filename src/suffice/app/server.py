"""The app as a whole: its pages, and the callbacks that run in the browser. It serves every script itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import ALL, ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update
from dash.exceptions import PreventUpdate

from suffice._show.cards import read_template
from suffice._text import format_share
from suffice.app.pages import many_rows, model_quality, one_row, rule_list, start
from suffice.app.serving import new_token, protect, serve_in_thread
from suffice.app.state.jobs import Jobs
from suffice.app.state.sessions import MAX_UPLOAD, PendingTables, Sessions
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace

if TYPE_CHECKING:
    from suffice.explainer import SufficientExplainer

_BLUES = ["#e5f3fb", "#cde4f2", "#9bc8e6", "#66aad9", "#3f91ce", "#2781c8", "#0072b2", "#00639c", "#00578b", "#004a79"]
_TABS = {"row": "One row", "rows": "Many rows", "rules": "Rules", "quality": "Quality"}
_PANES = {"rows": many_rows.layout, "rules": rule_list.layout, "quality": model_quality.layout}
_PAGE = """<!DOCTYPE html>
<html lang="en">
  <head>
    {%metas%}<title>{%title%}</title>{%favicon%}{%css%}
    <style>CARD_CSS</style>
  </head>
  <body>{%app_entry%}<footer>{%config%}{%scripts%}{%renderer%}</footer></body>
</html>"""


def make_app(sessions: Sessions, pending: PendingTables | None = None, names: Sequence[str] = ()) -> Dash:
    """Make the app."""
    jobs, pending = Jobs(), pending or PendingTables()
    app = Dash(
        "suffice",
        assets_folder=str(Path(__file__).parent / "assets"),
        serve_locally=True,
        suppress_callback_exceptions=True,
        update_title="",
        title="suffice",
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"}],
        index_string=_PAGE.replace("CARD_CSS", "".join(map(read_template, ("card.css", "page.css")))),
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
        lambda path, search: _page(sessions, pending, path, search)
    )
    app.callback(
        [Output(f"pane-{name}", "children") for name in _PANES],
        Output("filled", "data"),
        Input("tabs", "value"),
        State("view", "data"),
        State("filled", "data"),
        prevent_initial_call=True,
    )(lambda tab, stored, filled: _fill(sessions, tab, stored, filled))
    for page in (one_row, many_rows, rule_list, model_quality):
        page.register(app, sessions, jobs)
    start.register(app, sessions, jobs, pending)
    _connect_browser(app)
    app.server.config["MAX_CONTENT_LENGTH"] = int(1.4 * MAX_UPLOAD)
    app.server.config["TOKEN"] = new_token()
    protect(app.server, app.server.config["TOKEN"], app.csp_hashes, names)
    return app


def _page(sessions: Sessions, pending: PendingTables, path: str | None, search: str | None) -> Any:
    view = View.from_search(search)
    workspace = sessions.get(view.data)
    if path == "/start" or workspace is None:
        message = "The data behind this link are no longer here: open the table again." if view.data else ""
        return [_header(None), html.Main(start.layout(pending, message))]
    if re.search("[?&]row=", search or "") is None:
        view = view.with_(row=workspace.first_row)
    view = workspace.check(view)
    panes: dict[str, Any] = {"row": one_row.layout(workspace, view), **dict.fromkeys(_PANES)}
    if view.tab != "row":
        panes[view.tab] = _PANES[view.tab](workspace)
    heads = dmc.TabsList([dmc.TabsTab(text, value=name) for name, text in _TABS.items()])
    bodies = [dmc.TabsPanel(html.Div(pane, id=f"pane-{name}"), value=name) for name, pane in panes.items()]
    return [
        _header(workspace),
        html.Main(dmc.Tabs([heads, *bodies], id="tabs", value=view.tab)),
        dcc.Store(id="view", data=view.to_store()),
        dcc.Store(id="filled", data=["row", view.tab]),
    ]


def _fill(sessions: Sessions, tab: str, stored: Any, filled: list[str]) -> list[Any]:
    """Lay out a page when it is first opened, so that the first page does not wait for the others."""
    workspace, _ = sessions.open(stored)
    if tab in filled or tab not in _PANES:
        raise PreventUpdate
    return [*(_PANES[name](workspace) if name == tab else no_update for name in _PANES), [*filled, tab]]


def _header(workspace: Workspace | None) -> html.Header:
    title: list[Any] = [html.A("suffice", href="/", className="brand")]
    if workspace is not None:
        explainer = workspace.explainer
        measure, value = "R²" if workspace.is_regression else "accuracy", explainer.fidelity_
        quality = f"{format_share(value)} out of bag" if value > 0 else "unknown or poor"
        size = f"{workspace.frame.height} rows · {len(explainer.variable_names_)} variables"
        facts = f"{size} · {explainer.target_name_} · {measure} {quality}"
        title += [html.H1(workspace.name, className="table-name"), html.Span(facts, className="note facts-line")]
    buttons = [
        html.A("Open", href="/start", className="button"),
        html.Button("Copy link", id="copy", className="button", **({} if workspace is not None else {"hidden": True})),
        html.Button(
            "◐", id="scheme-toggle", className="button", title="Light or dark", **{"aria-label": "Light or dark"}
        ),
    ]
    return html.Header([html.Div(title, className="title-line"), html.Div(buttons, className="buttons")])


def _connect_browser(app: Dash) -> None:
    """Connect the callbacks that run in the browser."""

    def connect(name: str, *dependencies: Any, **options: Any) -> None:
        app.clientside_callback(ClientsideFunction("suffice", name), *dependencies, **options)

    connect("scheme", Output("scheme", "data"), Input("scheme-toggle", "n_clicks"), State("scheme", "data"))
    connect("paint", Output("provider", "forceColorScheme"), Input("scheme", "data"))
    connect(
        "marks",
        Output("own-values", "id"),
        Input({"type": "value", "column": ALL}, "value"),
        Input("own-values", "data"),
    )
    for name in ("pi", "alpha"):
        connect("text", Output(f"{name}-text", "children"), Input(name, "value"))
    connect("resize", Output("tabs", "className"), Input("tabs", "value"), prevent_initial_call=True)
    connect(
        "search",
        Output("rule-grid", "dashGridOptions"),
        Input("rules-search", "value"),
        State("rule-grid", "dashGridOptions"),
        prevent_initial_call=True,
    )
    connect("narrow", Output("rule-grid", "id"), Input("rule-grid", "rowData"), prevent_initial_call=True)
    connect("copy", Output("copy", "children"), Input("copy", "n_clicks"), prevent_initial_call=True)
    connect("go", Output("goto", "id"), Input("goto", "data"), prevent_initial_call=True)
    app.callback(Output("copy", "title"), Input("view", "data"))(
        lambda stored: View.from_store(stored).to_search() or "?"
    )
    connect("link", Output("copy", "className"), Input("copy", "title"), prevent_initial_call=True)


def show_explainer(explainer: SufficientExplainer, X: Any, y: Any, port: int | None) -> str:
    """Serve the app about an explainer in a thread of its own: what ``explainer.app`` does."""
    return serve_in_thread(make_app(Sessions(Workspace.of(explainer, X, y))), port)[0]
