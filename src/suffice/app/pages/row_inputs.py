"""What users do on the page about one row: each move, edit or setting makes the next view.

The values of the row are edited as numbers, switches, lists of categories, and dates as text; empty means missing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
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
    kept = dict.fromkeys(("view", "row", "own_values", "pi", "levels", "note"), no_update)
    same = {**kept, "values": [no_update] * len(order)}
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
    if view.row != old.row:
        same["own_values"] = own_values(workspace, view)
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
    pi, alpha = inputs["pi"], inputs["alpha"]
    confidence = float(inputs["confidence"])
    return old.with_(
        levels=None if inputs["levels"] == explainer.levels or workspace.is_regression else inputs["levels"],
        confidence=None if confidence == (explainer.confidence or 0.0) else confidence,
        pi=None if pi == explainer.pi_ else pi,
        alpha=None if alpha == shown_alpha(explainer.fitted_) else alpha,
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
    return old.with_(row=to, edits={}, find=find), note


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
        return str(labels.index(value)) if value in labels else ""
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
    first = [_editor(workspace, i, shown[i]) for i in order]
    if not others:
        return first
    rest = [_editor(workspace, i, shown[i]) for i in others]
    text = counted(len(others), "other variable")
    return [*first, html.Details([html.Summary(text), html.Div(rest, className="editors")])]


def own_values(workspace: Workspace, view: View) -> list[dict[str, Any]]:
    """Describe each input, in the order of the page, for the browser, which marks changed values.

    It compares what an input shows with the row's own value and with the range of the training values.
    """
    shown = shown_values(workspace, view.with_(edits={}))
    order, others = _order(workspace)
    described = []
    for i in (*order, *others):
        column, own = column_of(workspace, i), shown[i]
        text = "missing" if own in (None, "") else str(own)
        if column.drawn.kind == "category" and own not in (None, ""):
            text = _label_texts(column)[int(own)]
        described.append({"own": own, "was": text, **_range(column)})
    return described


def _range(column: Column) -> dict[str, Any]:
    """Return the smallest and the largest training value of a number, also as text; nothing for other columns."""
    low, high = column.extent
    if column.part is not None or column.drawn.kind == "category" or not math.isfinite(low):
        return {}
    return {"low": float(low), "high": float(high), "range": f"{format_number(low)} to {format_number(high)}"}


def _order(workspace: Workspace) -> tuple[list[int], list[int]]:
    """Return the columns of the first candidates, and all others."""
    names = workspace.explainer.candidates_[:MAX_SEARCHED]
    first = workspace.sources_of(names)
    return first, [i for i in range(len(workspace.names)) if i not in first]


def _labels(column: Column) -> list[Any]:
    return [0, 1] if column.reads == "yes/no" else [label for labels in column.labels for label in labels]


def _label_texts(column: Column) -> list[str]:
    """Write the categories of a column as its input lists them."""
    labels = _labels(column.drawn)
    return [format_value(v) if isinstance(v, bool) else str(v) for v in labels]


def _editor(workspace: Workspace, i: int, value: Any) -> html.Div:
    column, name = column_of(workspace, i), workspace.names[i]
    options = {"id": {"type": "value", "column": i}, "size": "xs", "aria-label": name}
    shown: Any
    if column.part is not None:
        shown = dmc.TextInput(value=value, debounce=150, placeholder="missing", **options)
    elif column.drawn.kind == "category":
        labels = _label_texts(column)
        data = controls.options(range(len(labels)), labels)
        if is_short_pair(labels):
            has_missing = value is None or bool(
                np.isnan(workspace.training[0][:, workspace.columns.index(column)]).any()
            )
            data += [{"value": "", "label": "missing"}] * has_missing
            shown = dmc.SegmentedControl(data=data, value=value or "", fullWidth=True, **options)
        else:
            more = {"searchable": len(labels) > 8, "clearable": True, "limit": 200, "placeholder": "missing"}
            shown = dmc.Select(data=data, value=value, **more, **options)
    else:
        is_whole, (low, high) = column.kind == "whole", column.extent
        step = 1.0 if is_whole else _step(low, high)
        more = {"hideControls": not is_whole, "debounce": 150, "placeholder": "missing"}
        shown = dmc.NumberInput(value=value, step=step, **more, **options)
    label = html.Span(name, className="editor-name", title=name)
    return html.Div([label, shown, html.Div(className="note")], className=_kind(column))  # the browser fills the note


def _kind(column: Column) -> str:
    """Choose whether the input of a column stands beside its name, or below it because it is long."""
    labels = _label_texts(column) if column.drawn.kind == "category" and column.part is None else []
    is_long = not is_short_pair(labels) and any(len(label) > MAX_SHORT for label in labels)
    return "editor long" if is_long or column.part is not None else "editor"


def is_short_pair(labels: Sequence[str]) -> bool:
    """Return whether two labels are short enough for a switch."""
    return len(labels) == 2 and sum(map(len, labels)) <= 2 * MAX_SHORT


def _step(low: float, high: float) -> float:
    span = high - low
    return float(f"1e{math.floor(math.log10(span / 50))}") if math.isfinite(span) and span > 0 else 1.0
