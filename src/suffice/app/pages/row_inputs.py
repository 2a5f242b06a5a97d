"""What users do on the page about one row: each move, edit or setting makes the next view.

The values of the row are edited as numbers with sliders, lists of categories, and dates as text; empty means missing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
from dash import ctx, html, no_update

from suffice._table.encoding import Column
from suffice._text import counted, format_number, format_value
from suffice.app.messages import ERRORS, reword
from suffice.app.parts import controls
from suffice.app.state.workspace import MAX_SEARCHED

if TYPE_CHECKING:
    from suffice._forest.fitted import Fitted
    from suffice.app.state.sessions import Sessions
    from suffice.app.state.view import View
    from suffice.app.state.workspace import Workspace

MOVES = ("row", "previous", "next", "random", "browser", "find")
MAX_SHORT = 9  # characters of a category that fit beside the name of its column
NO_CHANGE = object()  # the text is not a value yet, because the user is still typing


def shown_alpha(fitted: Fitted) -> float:
    """Return the share of outcomes outside of the intervals, as the slider shows it."""
    return max(0.01, round(1 - fitted.interval_share, 2))


def change(sessions: Sessions, stored: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Make the next view after an action, and show it in the inputs."""
    workspace, old = sessions.open(stored)
    action = ctx.triggered_id
    # The inputs have the order of the page, the values that of the table.
    order = [one["id"]["column"] for one in ctx.args_grouping["inputs"]["values"]]
    same = {**dict.fromkeys(("view", "row", "pi", "levels", "note"), no_update), "values": [no_update] * len(order)}
    if action == "browse":
        return {**same, "is_browsing": True}
    same["is_browsing"] = False if action == "browser" else no_update
    if action in MOVES:
        view, same["note"] = move(workspace, old, str(action), inputs)
    else:
        by_column = dict(zip(order, inputs["values"], strict=True))
        view = next_view(workspace, old, action, {**inputs, "values": [by_column[i] for i in range(len(by_column))]})
    if view == old:
        is_emptied = action == "row" and inputs["row"] in (None, "")
        return {**same, "row": old.row} if is_emptied else same
    is_applied = isinstance(action, dict) and action["type"] == "apply-change"
    if view.row != old.row or action == "reset" or is_applied:
        values = shown_values(workspace, view)
        same["values"] = [values[column] for column in order]
    explainer = workspace.explainer
    pi, levels = view.pi or explainer.pi_, view.levels or explainer.levels
    return {**same, "view": view.to_store(), "row": view.row, "pi": pi, "levels": levels}


def next_view(workspace: Workspace, old: View, action: Any, inputs: Mapping[str, Any]) -> View:
    """Make the next view after an edit, a choice or a setting."""
    explainer = workspace.explainer
    if isinstance(action, dict):
        if action["type"] in ("use-pi", "apply-change"):
            return _accept(old, action, inputs)
        return old.with_(edits=read_edits(workspace, old, inputs["values"]))
    if action == "reset":
        return old.with_(edits={})
    if action == "tabs":
        return old.with_(tab=inputs["tab"])
    if action == "sets":
        sets = workspace.explain(old).sufficient_sets
        position = int((inputs["clicked_set"] or {}).get("rowId") or 0)
        return old.with_(chosen=sets[position].variables) if position < len(sets) else old
    pi, alpha, n = inputs["pi"], inputs["alpha"], inputs["n_candidates"]
    confidence = float(inputs["confidence"])
    return old.with_(
        levels=None if inputs["levels"] == explainer.levels or workspace.is_regression else inputs["levels"],
        confidence=None if confidence == (explainer.confidence or 0.0) else confidence,
        pi=None if pi == explainer.pi_ else pi,
        alpha=None if alpha == shown_alpha(explainer.fitted_) or not workspace.is_regression else alpha,
        n_candidates=None if n == workspace.n_searched else n,
        candidates=tuple(inputs["candidates"] or ()),
        outcome=inputs["outcome"],
        unseen=bool(inputs["unseen"]),
    )


def _accept(old: View, action: Mapping[str, Any], inputs: Mapping[str, Any]) -> View:
    """Take a setting, or the values of a change, that a button offers."""
    if action["type"] == "apply-change":
        return old.with_(edits=json.loads(action["edits"])) if any(inputs["apply_change"]) else old
    # The offered level is that of the row's own outcome, whatever its class.
    return old.with_(pi=float(action["pi"]), levels="same") if any(inputs["use_pi"]) else old


def move(workspace: Workspace, old: View, action: str, inputs: Mapping[str, Any]) -> tuple[View, Any]:
    """Go to another row; also returns what is said about the search."""
    find = inputs["find"] or ""
    try:
        matches = workspace.find(find)
    except ERRORS as error:
        if action not in ("browser", "row"):
            return old, html.Span(reword(error), className="wrong")
        find, matches = "", workspace.find("")
    note = f"{len(matches)} of {workspace.frame.height} rows match" if find.strip() else ""
    if action in ("browser", "row"):
        chosen = (inputs["clicked_row"] or {}).get("rowId") if action == "browser" else inputs["row"]
        to = old.row if chosen in (None, "") else int(chosen)
    elif not len(matches):
        return old, "No row matches."
    else:
        to = _next_row(matches, old.row, action)
    to = min(max(to, 0), workspace.frame.height - 1)
    if to == old.row:
        return old.with_(find=find), note
    return old.with_(row=to, edits={}, chosen=(), find=find), note


def _next_row(matches: Any, row: int, action: str) -> int:
    if action == "random":
        return int(np.random.default_rng().choice(matches))
    if action == "find":
        return row if row in matches else int(matches[0])
    if action == "next":
        after = matches[matches > row]
        return int(after[0] if len(after) else matches[0])
    before = matches[matches < row]
    return int(before[-1] if len(before) else matches[-1])


# --- values of the row ------------------------------------------------------------------------------------------------


def column_of(workspace: Workspace, i: int) -> Column:
    """Return the encoded column of a column of the table."""
    return next((column for column in workspace.columns if column.source == i), Column(workspace.names[i], i))


def shown_value(workspace: Workspace, i: int, value: Any) -> Any:
    """Write a value as its input shows it."""
    column = column_of(workspace, i)
    if column.part is not None:
        return "" if value is None else str(value)
    if column.drawn.kind == "category":
        labels = _labels(column)
        return str(labels.index(value)) if value in labels else None
    return "" if value is None or isinstance(value, str) else value


def read_value(workspace: Workspace, i: int, shown: Any) -> Any:
    """Read what an input shows."""
    column = column_of(workspace, i)
    if shown is None or shown == "":
        return None
    if column.part is not None:
        return str(shown)
    if column.drawn.kind == "category":
        labels = _labels(column)
        return labels[int(shown)] if str(shown).isdigit() and int(shown) < len(labels) else NO_CHANGE
    try:
        number = float(shown)
    except (TypeError, ValueError):
        return NO_CHANGE
    if not math.isfinite(number):
        return NO_CHANGE
    return int(number) if number == int(number) and not isinstance(shown, float) else number


def read_edits(workspace: Workspace, view: View, shown: list[Any]) -> dict[str, Any]:
    """Read the values that differ from the row's own."""
    own = workspace.values(view.row)
    edits: dict[str, Any] = {}
    for i, (name, value) in enumerate(zip(workspace.names, shown, strict=True)):
        usual = shown_value(workspace, i, own[name])
        if value == usual or (value in (None, "") and usual in (None, "")):
            continue
        read = read_value(workspace, i, value)
        if read is NO_CHANGE:
            if name in view.edits:
                edits[name] = view.edits[name]
        elif read != own[name]:
            edits[name] = read
    return edits


def shown_values(workspace: Workspace, view: View) -> list[Any]:
    """Write the values of a view as its inputs show them."""
    values = {**workspace.values(view.row), **view.edits}
    return [shown_value(workspace, i, values[name]) for i, name in enumerate(workspace.names)]


def editors(workspace: Workspace, view: View) -> list[Any]:
    """Make the inputs for a row: first those of the first candidates, then the others in a folded part."""
    shown = shown_values(workspace, view)
    order, others = _order(workspace)
    first = [_editor(workspace, i, shown[i], has_slider=True) for i in order]
    if not others:
        return first
    rest = [_editor(workspace, i, shown[i], has_slider=False) for i in others]
    text = counted(len(others), "other variable")
    return [*first, html.Details([html.Summary(text), html.Div(rest, className="editors")])]


def training_ranges(workspace: Workspace) -> list[list[float | str] | None]:
    """List the range of the training values of each input; the browser compares numbers with it."""
    order, others = _order(workspace)
    return [_training_range(column_of(workspace, i)) for i in (*order, *others)]


def _order(workspace: Workspace) -> tuple[list[int], list[int]]:
    """Return the columns of the first candidates, and all others."""
    names = workspace.explainer.candidates_[:MAX_SEARCHED]
    first = workspace.sources_of(names)
    return first, [i for i in range(len(workspace.names)) if i not in first]


def _labels(column: Column) -> list[Any]:
    return [0, 1] if column.reads == "yes/no" else [label for labels in column.labels for label in labels]


def _editor(workspace: Workspace, i: int, value: Any, *, has_slider: bool) -> html.Div:
    column, name = column_of(workspace, i), workspace.names[i]
    options = {"id": {"type": "value", "column": i}, "value": value, "size": "xs", "placeholder": "missing"}
    (low, high), is_long = column.extent, column.part is not None
    inputs: list[Any]
    if column.part is not None:
        inputs = [dmc.TextInput(debounce=150, **options)]
    elif column.drawn.kind == "category":
        labels = [format_value(v) if isinstance(v, bool) else str(v) for v in _labels(column.drawn)]
        data, is_searchable = controls.options(range(len(labels)), labels), len(labels) > 8
        inputs = [dmc.Select(data=data, searchable=is_searchable, clearable=True, limit=200, **options)]
        is_long = any(len(label) > MAX_SHORT for label in labels)
    else:
        is_whole = column.kind == "whole"
        step = 1.0 if is_whole else _slider_step(low, high)
        inputs = [dmc.NumberInput(step=step, hideControls=not is_whole, debounce=150, **options)]
        if has_slider and low < high:
            own = float(value) if isinstance(value, int | float) else low
            slid = {"id": {"type": "slide", "column": i}, "value": own, "min": low, "max": high, "step": step}
            inputs.append(dmc.Slider(size="xs", label=None, thumbSize=14, updatemode="mouseup", **slid))
    label = html.Label(name, className="editor-name", title=name)
    outside = html.Div(id={"type": "outside", "column": i}, className="outside")  # the browser fills it
    return html.Div([label, *inputs, outside], className="editor long" if is_long else "editor")


def _training_range(column: Column) -> list[float | str] | None:
    """Return the smallest and the largest training value of a number, also as text; None for other columns."""
    low, high = column.extent
    if column.part is not None or column.drawn.kind == "category" or not math.isfinite(low):
        return None
    return [float(low), float(high), format_number(low), format_number(high)]


def _slider_step(low: float, high: float) -> float:
    span = high - low
    return float(f"1e{math.floor(math.log10(span / 50))}") if math.isfinite(span) and span > 0 else 1.0
