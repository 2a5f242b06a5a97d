"""What the page about one row says: the outcome, the sets, the rule, and the rows beside it."""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
import numpy as np
from dash import html, no_update

from suffice.app.pages.lookalikes import covered_rows, line_columns, look_alikes
from suffice.app.parts import charts
from suffice.app.parts import pieces as parts
from suffice.app.state.desk import Desk
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import ERRORS, in_words
from suffice.explanation import Explanation
from suffice.words import format_number, format_probability, format_value, join


def when_shown(desk: Desk, stored: Any, answer: Any, n: int) -> tuple[Any, ...]:
    """Answer if the page is looked at.

    Parameters
    ----------
    desk : Desk
        The workspaces.
    stored : dict
        The view.
    answer : callable
        Takes the workspace and the view.
    n : int
        How many parts the answer has.

    Returns
    -------
    tuple
        The answer, or that nothing changes.
    """
    view = View.from_store(stored)
    workspace = desk.get(view.data)
    return (no_update,) * n if workspace is None or view.tab != "row" else answer(workspace, view)


def list_sets(workspace: Workspace, view: View) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """List the sufficient sets for their grid.

    Parameters
    ----------
    workspace : Workspace
        The explainer and its table.
    view : View
        The view.

    Returns
    -------
    lines : list of dict
        The sets.
    selected : list of dict
        The chosen one.
    """
    try:
        explanation = workspace.explain(view)[0]
    except ERRORS:
        return [], []
    chosen = workspace.chosen_set(view)
    lines = [
        {
            "key": str(i),
            "variables": list(s.variables),
            "sdp": s.sdp,
            "shown": format_probability(s.sdp),
            "tick": explanation.pi,
        }
        for i, s in enumerate(explanation.sufficient_sets)
    ]
    return lines, [line for line, s in zip(lines, explanation.sufficient_sets, strict=True) if s == chosen]


def explained(workspace: Workspace, view: View) -> tuple[Any, ...]:
    """Tell what there is to say of a row.

    Parameters
    ----------
    workspace : Workspace
        The explainer and its table.
    view : View
        The view.

    Returns
    -------
    tuple
        The outcome, what to take care of, the importance, the rule, what the settings change, the class of the page,
        and the view.
    """
    try:
        explanation = workspace.explain(view)[0]
        rule = workspace.rule(view)
        row = workspace.encoded(view)
    except ERRORS as error:
        told = parts.message("error", html.B("This row cannot be explained. "), in_words(error))
        return None, told, None, None, "", "panels failed", view.to_store()
    columns = [(c, workspace.explainer._encoding.columns[c]) for c in _columns_of_set(workspace, view)]
    drawn = parts.draw_rule(columns, workspace.training[0], row, rule)
    body: list[Any]
    if rule is not None:
        body = [parts.rule_sentence(rule), drawn, parts.figures(rule, explanation.pi)]
    elif explanation.is_sufficient:
        body = [
            html.Div("Nothing needs to be known: the outcome is kept whatever the values are.", className="sentence")
        ]
    else:
        body = [
            html.Div(
                "There is no rule, for no set is sufficient. This is the set that comes nearest.", className="note"
            ),
            drawn,
        ]
    care = [] if explanation.is_sufficient else [_not_sufficient(explanation)]
    importance = parts.importance_bars(explanation.importance, 12)
    outcome, effect = _outcome(workspace, view, explanation), _effect(workspace, view, explanation)
    return outcome, care, importance, body, effect, "panels", view.to_store()


def _outcome(workspace: Workspace, view: View, explanation: Explanation) -> list[Any]:
    target = workspace.explainer.target_name_
    what = "observed" if view.is_of_observed else "predicted"
    edited = f" · {len(view.edits)} value{'' if len(view.edits) == 1 else 's'} edited" if view.edits else ""
    own = workspace.values(view.row)
    changes = [f"{name}: {format_value(own[name])} → {format_value(value)}" for name, value in view.edits.items()]
    head: list[Any] = [html.Div(f"{target}, {what} for row {view.row}{edited}", className="note")]
    head.append(html.Div(parts.outcome_text(explanation, target), className="outcome"))
    if explanation.is_sufficient:
        best = explanation.best_set
        n = len(explanation.sufficient_sets)
        names = join(best.variables) or "nothing at all"
        text = ["To keep it, ", html.B(names), " is enough" if len(best.variables) == 1 else " are enough"]
        text.append(f", with probability {format_probability(best.sdp)}. ")
        text.append(f"In all {n} set{' is' if n == 1 else 's are'} sufficient." if n > 1 else "No other set is.")
        head.append(html.P(text, className="lead", id="lead"))
    if changes:
        head.append(html.Div("; ".join(changes), className="edits", id="edits"))
    care = _care(explanation)
    if care:
        head.append(parts.message("care", care))
    known = workspace.observed_at([view.row])
    if known is not None and not view.edits and not view.is_of_observed:
        value = known[0]
        said = format_number(value) if isinstance(value, float) else str(value)
        head.append(html.Div(f"observed: {said}", className="note"))
    return head


def _care(explanation: Explanation) -> str:
    if not explanation.is_outcome_in_interval:
        return "The outcome lies outside the interval: the explanation is of the interval."
    if not explanation.forest_agrees:
        said = explanation.prediction
        told = said if explanation.interval is None else format_number(said)
        return f"The forest says {told} here: read this with care."
    return ""


def _not_sufficient(explanation: Explanation) -> html.Div:
    best = explanation.best_set
    enough = float(format_probability(best.sdp))
    names = join(best.variables) or "nothing at all"
    text = f"No set of the candidates keeps this outcome with probability {explanation.pi:g}. "
    near = f"Nearest comes {names}, with probability {format_probability(best.sdp)}. "
    if not 0.01 <= enough < explanation.pi:
        return parts.message("care", html.B(text), near)
    button = dmc.Button(
        f"Use π = {enough:g}", id={"type": "use-pi", "pi": f"{enough:g}"}, size="compact-xs", variant="light"
    )
    return parts.message("care", html.B(text), near, f"With π = {enough:g} it would be enough. ", button)


def _effect(workspace: Workspace, view: View, explanation: Explanation) -> str:
    """Tell what the settings change for this row."""
    if view.settings[:3] == (None, None, None):
        return ""
    usual = workspace.explain(view.with_(pi=None, alpha=None, n_candidates=None))[0]
    told = []
    for name, one in (("as fitted", usual), ("now", explanation)):
        best = f"best {join(one.best_set.variables)} ({format_probability(one.best_set.sdp)})"
        n = len(one.sufficient_sets)
        told.append(f"{name}: {n} sufficient set{'' if n == 1 else 's'}, {best}")
    return "; ".join(told) + "."


def _open(desk: Desk, stored: Any) -> tuple[Workspace, View, Explanation] | None:
    view = View.from_store(stored)
    workspace = desk.get(view.data)
    if workspace is None or view.tab != "row":
        return None
    try:
        return workspace, view, workspace.explain(view)[0]
    except ERRORS:
        return None


def distribution(desk: Desk, stored: Any, scheme: str | None) -> Any:
    """Draw the distribution of a number.

    Parameters
    ----------
    desk : Desk
        The workspaces.
    stored : dict
        The view.
    scheme : {"light", "dark"} or None
        The colours.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure.
    """
    found = _open(desk, stored)
    if found is None or not found[0].is_regression:
        return no_update
    workspace, view, explanation = found
    outcomes = workspace.training[1]
    values = np.unique(np.quantile(outcomes, np.linspace(0, 1, 300)))
    of_set, of_all = workspace.distribution(view, values)
    return charts.cdf(values, of_set, of_all, explanation, workspace.explainer.target_name_, scheme or "light")


def classes(desk: Desk, stored: Any) -> Any:
    """Draw the probabilities of classes.

    Parameters
    ----------
    desk : Desk
        The workspaces.
    stored : dict
        The view.

    Returns
    -------
    component
        The bars.
    """
    found = _open(desk, stored)
    if found is None or found[0].is_regression:
        return no_update
    workspace, view, explanation = found
    return parts.class_bars(workspace.explainer.classes_.tolist(), *workspace.distribution(view), explanation.outcome)


def boxes(desk: Desk, stored: Any, x: str | None, y: str | None, scheme: str | None) -> Any:
    """Draw the box of the rule on two variables.

    Parameters
    ----------
    desk : Desk
        The workspaces.
    stored : dict
        The view.
    x, y : str or None
        The positions of the columns; None chooses them by the set.
    scheme : {"light", "dark"} or None
        The colours.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure.
    """
    found = _open(desk, stored)
    if found is None:
        return no_update
    workspace, view, explanation = found
    matrix = workspace.training[0]
    columns = workspace.explainer._encoding.columns
    names = [*workspace.chosen_set(view).variables, *workspace.explainer_for(view).candidates_]
    usual = list(dict.fromkeys(c for name in names for c in workspace.positions_of[name]))
    first = int(x) if x else usual[0]
    second = int(y) if y else next((c for c in usual if c != first), first)
    row = workspace.encoded(view)
    said = str(explanation.outcome) if explanation.interval is None else "in the interval"
    return charts.boxes(
        (columns[first], columns[second]),
        matrix[:, [first, second]],
        workspace.keeps(explanation),
        [float(row[first]), float(row[second])],
        workspace.rule(view),
        said,
        scheme or "light",
    )


def covered(desk: Desk, stored: Any) -> tuple[Any, Any, Any]:
    """List the training rows that the rule covers.

    Parameters
    ----------
    desk : Desk
        The workspaces.
    stored : dict
        The view.

    Returns
    -------
    tuple
        The lines, a note, and the columns of the grid.
    """
    found = _open(desk, stored)
    if found is None:
        return (no_update,) * 3
    workspace, view, explanation = found
    rule = workspace.rule(view)
    columns = line_columns(workspace, _columns_of_set(workspace, view))
    if rule is None:
        return [], "There is no rule.", columns
    return (*covered_rows(workspace, rule, explanation), columns)


def alike(desk: Desk, stored: Any, over: str) -> tuple[Any, Any, Any]:
    """List the nearest training rows with another outcome.

    Parameters
    ----------
    desk : Desk
        The workspaces.
    stored : dict
        The view.
    over : {"set", "all"}
        Whether rows are compared in the variables of the set or in all.

    Returns
    -------
    tuple
        The lines, a note, and the columns of the grid.
    """
    found = _open(desk, stored)
    if found is None:
        return (no_update,) * 3
    workspace, view, explanation = found
    first = _columns_of_set(workspace, view)
    compared = first if over == "set" and first else range(len(workspace.explainer._encoding.columns))
    lines, note = look_alikes(workspace, workspace.encoded(view), explanation, list(compared))
    return lines, note, line_columns(workspace, first, has_distance=True)


def _columns_of_set(workspace: Workspace, view: View) -> list[int]:
    return [c for name in workspace.chosen_set(view).variables for c in workspace.positions_of[name]]
