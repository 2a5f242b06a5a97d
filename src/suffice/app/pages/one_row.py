"""The page about one row: its layout and its callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import ALL, Dash, Input, Output, State, ctx, dcc, html
from dash.exceptions import PreventUpdate

from suffice._text import format_confidence
from suffice.app.messages import ERRORS
from suffice.app.pages import row_answers, row_more
from suffice.app.pages.row_inputs import change, editors, own_values, shown_alpha
from suffice.app.parts import controls
from suffice.app.parts.grids import page_response, table_grid
from suffice.app.state.tables import example_search
from suffice.app.state.workspace import MAX_SEARCHED

if TYPE_CHECKING:
    from suffice.app.state.jobs import Jobs
    from suffice.app.state.sessions import Sessions
    from suffice.app.state.view import View
    from suffice.app.state.workspace import Workspace

MAX_CODE_BOOK = 20 * 2**20  # bytes

# --- layout -----------------------------------------------------------------------------------------------------------


def layout(workspace: Workspace, view: View) -> html.Div:
    """Lay out the page: the row and its values on the left, and one column of answers in reading order."""
    side = html.Div(
        [_choosing(workspace, view), _editing(workspace, view), _settings(workspace, view)], className="side"
    )
    main = html.Div(
        [
            html.Div(row_answers.answer(workspace, view), id="answer"),
            _reasons_panel(workspace),
            _changes_panel(workspace),
            _proof_panel(workspace),
            row_more.layout(workspace),
        ],
        className="row-main",
        id="row-main",
    )
    return html.Div([side, main, _browser(workspace), dcc.Store(id="shown", data=view.to_store())], className="split")


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
        name="choosing",
    )


def _editing(workspace: Workspace, view: View) -> html.Section:
    return controls.panel(
        "Values",
        html.Div(editors(workspace, view), className="editors", id="editors"),
        dcc.Store(id="own-values", data=own_values(workspace, view)),
        extra=dmc.Button("Reset", id="reset", variant="subtle", size="compact-xs"),
        note="change any",
        name="values",
    )


def _settings(workspace: Workspace, view: View) -> html.Section:
    explainer = workspace.explainer
    pi = view.pi or explainer.pi_
    rows: list[Any] = [controls.slider_setting("Probability", "pi", pi, 0.5, 1.0, 0.01, "that a set must reach")]
    if workspace.is_regression and explainer.fitted_.radius is None:
        note = "share of outcomes that the interval of a number may miss"
        alpha = view.alpha or shown_alpha(explainer.fitted_)
        rows.append(controls.slider_setting("Outside of the interval", "alpha", alpha, 0.01, 0.6, 0.01, note))
    rows += [*_choices(workspace, view), _candidates(workspace, view)]
    rows.append(dmc.Switch(id="unseen", label="Unseen categories count as missing", checked=view.unseen, size="xs"))
    details = html.Details([html.Summary("Settings"), html.Div(rows, className="settings")])
    return html.Section(details, className="panel", id="settings")


def _candidates(workspace: Workspace, view: View) -> html.Div:
    """Lay out the list of variables that are searched instead of those chosen at the row."""
    names = [*workspace.ranking, *(n for n in workspace.explainer.variable_names_ if n not in workspace.ranking)]
    label, hint = "Search only these variables", "" if view.candidates else "chosen at the row"
    chosen = {"value": list(view.candidates), "maxValues": MAX_SEARCHED}
    return controls.setting(label, controls.variable_picker("candidates", label, names, hint, **chosen))


def _choices(workspace: Workspace, view: View) -> list[html.Div]:
    """Lay out the settings that have a few values."""
    explainer = workspace.explainer
    own = explainer.confidence or 0.0
    confidence = own if view.confidence is None else view.confidence
    confidences = sorted({0.0, 0.9, 0.95, 0.99, own, confidence})
    choices = [(f"{value:g}", format_confidence(value) if value else "no bound") for value in confidences]
    levels = [("same", "the same"), ("odds", "by its odds")]
    outcomes = [("prediction", "prediction"), ("observed", "observed")]
    has_no_outcomes = workspace.observed is None
    note = "at which the lower bound must reach the probability"
    return [
        controls.choice_setting(
            "Probability for a rare class",
            "levels",
            levels,
            view.levels or explainer.levels,
            note="by its odds: as many times as likely as a common class must be",
            hidden=workspace.is_regression,
        ),
        controls.choice_setting("Confidence of the bound", "confidence", choices, f"{confidence:g}", note=note),
        controls.choice_setting("Outcome to explain", "outcome-kind", outcomes, view.outcome, hidden=has_no_outcomes),
    ]


def _reasons_panel(workspace: Workspace) -> html.Section:
    labels = [] if workspace.is_regression else workspace.explainer.classes_.tolist()
    choices = controls.class_options(labels, "every outcome")
    adverse = controls.select("adverse", "Outcome that needs reasons", choices, "", 170)
    hint, kinds = "variables on which an outcome must not rest", "CSV or JSON with variable, code and text"
    words = [
        html.Summary("Protected variables, and the words of a code book"),
        html.Div(controls.setting("Outcome that needs reasons", adverse), hidden=workspace.is_regression),
        controls.variable_picker("protected", "Protected variables", workspace.explainer.variable_names_, hint),
        controls.drop_area("codes-upload", "a code book", kinds, MAX_CODE_BOOK, "drop small"),
    ]
    note = "the variables of this set, by the probability that is lost without each"
    return controls.panel("Reasons", html.Div(id="reasons"), html.Details(words), note=note, name="reasons-panel")


def _changes_panel(workspace: Workspace) -> html.Section:
    explainer, hint = workspace.explainer, "variables that must not change"
    label, fixed = "Variables that must not change", list(explainer.fitted_.declared.fixed)
    wanted = _wanted_numbers(workspace) if workspace.is_regression else _wanted_class(workspace)
    options = [
        html.Summary("What is wanted, and what must not change"),
        controls.setting("Wanted", wanted),
        controls.setting(
            label, controls.variable_picker("wanted-fixed", label, explainer.variable_names_, hint, value=fixed)
        ),
    ]
    note = "the fewest variables, and the values that they would need"
    parts = (html.Div(id="what-would"), html.Details(options))
    return controls.panel("What would change it", *parts, note=note, name="what-would-panel")


def _wanted_numbers(workspace: Workspace) -> html.Div:
    outcomes = sorted(workspace.training[1].tolist())
    middle = float(outcomes[len(outcomes) // 2])
    kinds = controls.options(("", "above", "below"), ("on the other side of", "at least", "at most"))
    return html.Div(
        [
            controls.select("wanted-kind", "Where the wanted numbers lie", kinds, "", 180),
            controls.number_input("wanted", "Wanted number", middle, 110, debounce=400),
        ],
        className="axes",
    )


def _wanted_class(workspace: Workspace) -> dmc.Select:
    choices = controls.class_options(workspace.explainer.classes_.tolist(), "any other class")
    return controls.select("wanted", "Wanted class", choices, "", 170)


def _proof_panel(workspace: Workspace) -> html.Section:
    """Lay out the button that proves the rule for the model, hidden where its trees cannot be read."""
    button = dmc.Button("Prove it", id="proof-start", size="compact-xs", variant="light")
    note = "whether the model decides any row within these bounds otherwise"
    parts = (html.Div(id="proof"), html.Div(button, className="controls"))
    panel = controls.panel("Is it always so?", *parts, note=note, name="proof-panel")
    return html.Div(panel, hidden=not workspace.can_prove)


def _browser(workspace: Workspace) -> dmc.Modal:
    table = table_grid("browser", workspace.frame, 480, 4)
    text = html.Div("Filter and sort by the heads of the columns; click a row to explain it.", className="note")
    close = {"aria-label": "Close"}
    title = "Choose a row"
    return dmc.Modal([text, table], id="browser-modal", title=title, size="90%", zIndex=300, closeButtonProps=close)


# --- callbacks --------------------------------------------------------------------------------------------------------


def register(app: Dash, sessions: Sessions, jobs: Jobs) -> None:
    """Connect the callbacks of the page."""
    _connect_changes(app, sessions)
    _connect_answers(app, sessions)
    row_more.register(app, sessions, jobs)
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
            "own_values": Output("own-values", "data"),
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
                "alpha": Input("alpha", "value", allow_optional=True),
                "candidates": Input("candidates", "value"),
                "levels": Input("levels", "value"),
                "confidence": Input("confidence", "value"),
                "outcome": Input("outcome-kind", "value"),
                "unseen": Input("unseen", "checked"),
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
            return None
        return answer(workspace, view, *values)

    return callback


def _connect_answers(app: Dash, sessions: Sessions) -> None:
    app.callback(
        Output("answer", "children"),
        Output("shown", "data"),
        Input("view", "data"),
        State("shown", "data"),
        prevent_initial_call=True,
    )(lambda stored, shown: show_answer(sessions, stored, shown))
    # These wait for the callback above: the rule comes first, and reasons and changes take longer.
    app.callback(
        Output("reasons", "children"),
        Input("shown", "data"),
        Input("adverse", "value"),
        Input("protected", "value"),
        Input("codes-upload", "contents"),
        Input("codes-upload", "filename"),
    )(explained(sessions, row_answers.give_reasons))
    app.callback(
        Output("what-would", "children"),
        Input("shown", "data"),
        Input("wanted", "value"),
        Input("wanted-kind", "value", allow_optional=True),
        Input("wanted-fixed", "value"),
    )(explained(sessions, row_answers.find_changes))
    app.callback(
        Output("proof", "children"),
        Input("proof-start", "n_clicks"),
        Input("shown", "data"),
        running=[(Output("proof-start", "loading"), True, False)],
        prevent_initial_call=True,
    )(lambda _, stored: prove_if_asked(sessions, stored, ctx.triggered_id))


def show_answer(sessions: Sessions, stored: Any, shown: Any) -> tuple[Any, Any]:
    """Explain the row of a view, unless the page shows just this."""
    workspace, view = sessions.open(stored, "row")
    if view.key == type(view).from_store(shown).key:
        raise PreventUpdate
    return row_answers.answer(workspace, view), view.to_store()


def prove_if_asked(sessions: Sessions, stored: Any, event: Any) -> list[Any]:
    """Prove the rule of the row that is shown on a click; a proof about another row must not stay."""
    return row_answers.prove_rule(*sessions.open(stored, "row")) if event == "proof-start" else []
