"""The panel of the page about one row that answers what would change its outcome, and lets users apply a change."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, dcc, html, no_update

from suffice._forest.outcomes import read_targets
from suffice.app.pages.one_row.answers import when_shown
from suffice.app.parts import charts, pieces
from suffice.app.parts.curve_charts import draw_target_curve
from suffice.app.state.desk import Desk
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import ERRORS, in_words
from suffice.changes.values import RowChanges
from suffice.explaining.curve import compute_target_curve

APPLY = "apply-change"
MAX_CURVES = 6


def what_would_panel(workspace: Workspace) -> html.Section:
    """Lay out the panel."""
    explainer = workspace.explainer
    if workspace.is_regression:
        outcomes = workspace.training[1]
        middle = float(sorted(outcomes.tolist())[len(outcomes) // 2])
        wanted: Any = html.Div(
            [
                dmc.Select(
                    id="wanted-kind",
                    data=[{"value": "above", "label": "at least"}, {"value": "below", "label": "at most"}],
                    value="above",
                    size="xs",
                    w=100,
                    **{"aria-label": "Wanted: at least or at most"},
                ),
                dmc.NumberInput(
                    id="wanted", value=middle, size="xs", w=110, debounce=400, **{"aria-label": "Wanted number"}
                ),
            ],
            className="axes",
        )
    else:
        labels = [str(label) for label in explainer.classes_.tolist()]
        choices = [{"value": "", "label": "any other class"}, *({"value": v, "label": v} for v in labels)]
        wanted = html.Div(
            [
                dmc.Select(id="wanted", data=choices, value="", size="xs", w=170, **{"aria-label": "Wanted class"}),
                html.Div(dmc.Select(id="wanted-kind", data=["class"], value="class"), hidden=True),
            ]
        )
    fixed = dmc.MultiSelect(
        id="wanted-fixed",
        data=list(explainer.variable_names_),
        value=[],
        placeholder="variables that must not change",
        searchable=True,
        clearable=True,
        limit=200,
        size="xs",
        **{"aria-label": "Variables that must not change"},
    )
    return pieces.panel(
        "What would change it",
        fixed,
        html.Div(id="what-would"),
        extra=wanted,
        note="the fewest variables, and the values that they would need",
        wide=True,
        name="what-would-panel",
    )


def register_what_would(app: Dash, desk: Desk) -> None:
    """Connect the panel."""
    app.callback(
        Output("what-would", "children"),
        Input("shown", "data"),
        Input("wanted", "value"),
        Input("wanted-kind", "value"),
        Input("wanted-fixed", "value"),
        Input("scheme", "data"),
    )(
        lambda stored, wanted, kind, fixed, scheme: when_shown(
            desk,
            stored,
            lambda workspace, view: answer(workspace, view, wanted, kind, fixed or [], scheme or "light"),
            no_update,
        )
    )


def answer(workspace: Workspace, view: View, wanted: Any, kind: str, fixed: list[str], scheme: str = "light") -> Any:
    """Answer what would change the outcome of the row of a view."""
    if workspace.is_regression and wanted in (None, ""):
        return [html.Div("Say which numbers are wanted.", className="note")]
    try:
        target = {kind: float(wanted)} if workspace.is_regression else wanted or _other_classes(workspace, view)
        changes = workspace.explainer_for(view).what_if(workspace.row_of(view), target, fixed=fixed, progress=False)
    except ERRORS as error:
        return [pieces.message("error", in_words(error))]
    found = replace(changes[0], row=None)  # the page names the row; here it is the only one of its table
    parts: list[Any] = [html.P(found.lead, className="lead")]
    parts += [_change(found, i, view) for i in range(len(found.changes))]
    parts += _curves(workspace, view, found, target, scheme)
    if found.caveat:
        parts.append(html.Div(found.caveat, className="note"))
    return parts


def _other_classes(workspace: Workspace, view: View) -> Any:
    """Return the classes that the row does not have as it is in the table: an edit may have changed its class."""
    explainer = workspace.explainer_for(view)
    own = explainer.outcomes(workspace.row_of(view.with_(edits={}))).values[0]
    others = [label for label in explainer.classes_.tolist() if label != own]
    return others[0] if len(others) == 1 else {"not": own}


def _curves(workspace: Workspace, view: View, found: RowChanges, target: Any, scheme: str) -> list[Any]:
    """Draw the probability of the target along every variable that moves in a change, or was edited."""
    fitted = workspace.explainer_for(view).fitted_
    listed = found.changes or ((found.nearest,) if found.nearest is not None else ())
    moved = [move.column for change in listed for move in change.moves]
    edited = [column.name for column in fitted.encoding.columns if column.name in view.edits]
    columns = list(dict.fromkeys([*edited, *moved]))[:MAX_CURVES]
    outcome = np.array([found.outcome])
    wanted = read_targets(target, outcome, fitted.classes)[0]
    names = [column.name for column in fitted.encoding.columns]
    x = workspace.encoded(view)
    curves = []
    for name in columns:
        curve = compute_target_curve(fitted, x, wanted, names.index(name), max_steps=200)
        figure = draw_target_curve(curve, found.wanted, found.pi, scheme)
        curves.append(dcc.Graph(figure=figure, config=charts.CONFIG, style={"height": 240}))
    return curves


def _change(found: RowChanges, i: int, view: View) -> html.Div:
    change = found.changes[i]
    edits = json.dumps({**view.edits, **change.values}, default=str)
    button = dmc.Button("Apply", id={"type": APPLY, "edits": edits}, size="compact-xs", variant="light")
    lines = [
        html.Div([f"{i + 1}. {change.sentence} ", button], className="sentence"),
        html.Div(change.evidence(found.goal), className="note under"),
    ]
    if change.confirmed is not None:
        kind = "note under" if change.confirmed else "care"
        lines.append(html.Div(change.confirmation(found.model), className=kind))
    return html.Div(lines, className="change")
