"""Inputs for the values of a row: numbers with sliders, lists of categories, dates as text; empty means missing."""

from __future__ import annotations

import math
from typing import Any

import dash_mantine_components as dmc
from dash import html

from suffice._table.encoding import Column
from suffice._text import counted, format_number
from suffice.app.state.view import View
from suffice.app.state.workspace import MAX_SEARCHED, Workspace

MAX_SHORT = 9  # characters of a category that fit beside the name of its column
NO_CHANGE = object()  # the text is not a value yet: somebody is still typing


def column_of(workspace: Workspace, i: int) -> Column:
    """Return the encoded column of a column of the table."""
    return next(
        (column for column in workspace.columns if column.source == i),
        Column(workspace.names[i], i),
    )


def shown_value(workspace: Workspace, i: int, value: Any) -> Any:
    """Write a value as its input shows it."""
    column = column_of(workspace, i)
    if column.part is not None:
        return "" if value is None else str(value)
    if column.kind == "category":
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
    if column.kind == "category":
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


def training_ends(workspace: Workspace) -> list[list[float | str] | None]:
    """Return the range of the training values for each input; the browser compares numbers with it."""
    order, others = _order(workspace)
    return [_ends(column_of(workspace, i)) for i in (*order, *others)]


def _order(workspace: Workspace) -> tuple[list[int], list[int]]:
    """Return the columns of the first candidates, and all others."""
    names = workspace.explainer.candidates_[:MAX_SEARCHED]
    first = list(dict.fromkeys(column.source for name in names for column in workspace.columns_of[name]))
    return first, [i for i in range(len(workspace.names)) if i not in first]


def _labels(column: Column) -> list[Any]:
    return [label for labels in column.labels for label in labels]


def _editor(workspace: Workspace, i: int, value: Any, *, has_slider: bool) -> html.Div:
    column = column_of(workspace, i)
    name = {"type": "value", "column": i}
    outside = html.Div(id={"type": "outside", "column": i}, className="outside")  # the browser fills it
    label = html.Label(workspace.names[i], className="editor-name", title=workspace.names[i])
    options: dict[str, Any] = {"size": "xs", "placeholder": "missing", "debounce": 150}
    if column.part is not None:
        return html.Div([label, dmc.TextInput(id=name, value=value, **options), outside], className="editor long")
    if column.kind == "category":
        data = [{"value": str(j), "label": str(text)} for j, text in enumerate(_labels(column))]
        del options["debounce"]
        chosen = dmc.Select(
            id=name, value=value, data=data, searchable=len(data) > 8, clearable=True, limit=200, **options
        )
        is_long = any(len(one["label"]) > MAX_SHORT for one in data)
        return html.Div([label, chosen, outside], className="editor long" if is_long else "editor")
    low, high = column.extent
    step = 1.0 if column.kind == "whole" else _step(low, high)
    number = dmc.NumberInput(id=name, value=value, step=step, hideControls=column.kind != "whole", **options)
    if not has_slider or not low < high:
        return html.Div([label, number, outside], className="editor")
    slider = dmc.Slider(
        id={"type": "slide", "column": i},
        value=float(value) if isinstance(value, int | float) else low,
        min=low,
        max=high,
        step=step,
        size="xs",
        label=None,
        thumbSize=14,
        updatemode="mouseup",
    )
    return html.Div([label, number, slider, outside], className="editor")


def _ends(column: Column) -> list[float | str] | None:
    """Return the smallest and the largest training value of a number, also as text; None for other columns."""
    low, high = column.extent
    if column.part is not None or column.kind == "category" or not math.isfinite(low):
        return None
    return [float(low), float(high), format_number(low), format_number(high)]


def _step(low: float, high: float) -> float:
    span = high - low
    return float(f"1e{math.floor(math.log10(span / 50))}") if math.isfinite(span) and span > 0 else 1.0
