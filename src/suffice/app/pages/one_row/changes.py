"""What users do on the page about one row: each move, edit or setting makes the next view."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from dash import ctx, html, no_update

from suffice.app.pages.one_row.editors import read_edits, shown_values
from suffice.app.state.desk import Desk
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import ERRORS, in_words

MOVES = ("row", "previous", "next", "random", "browser", "find")


def change(desk: Desk, stored: Any, inputs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Make the next view after an action, and show it in the inputs."""
    old = View.from_store(stored)
    workspace = desk.get(old.data)
    shown = inputs["values"]
    same = [no_update] * len(shown)
    if workspace is None:
        return no_update, no_update, same, no_update, no_update, no_update, no_update
    action = ctx.triggered_id
    # The inputs have the order of the page, the values that of the table.
    order = [one["id"]["column"] for one in ctx.args_grouping["inputs"]["values"]]
    note: Any = no_update
    if action == "browse":
        return no_update, no_update, same, no_update, no_update, True, no_update
    if action in MOVES:
        view, note = _move(workspace, old, str(action), inputs)
    else:
        by_column = dict(zip(order, shown, strict=True))
        view = next_view(workspace, old, action, {**inputs, "values": [by_column[i] for i in range(len(by_column))]})
    closed = False if action == "browser" else no_update
    if view == old:
        row = old.row if action == "row" and inputs["row"] in (None, "") else no_update
        return no_update, row, same, no_update, no_update, closed, note
    is_applied = isinstance(action, dict) and action["type"] == "apply-change"
    if view.row != old.row or action == "reset" or is_applied:
        by_table = shown_values(workspace, view)
        same = [by_table[column] for column in order]
    explainer = workspace.explainer
    pi, levels = view.pi or explainer.pi, view.levels or explainer.levels
    return view.to_store(), view.row, same, pi, levels, closed, note


def next_view(workspace: Workspace, old: View, action: Any, inputs: Mapping[str, Any]) -> View:
    """Make the next view after an edit, a choice or a setting."""
    explainer = workspace.explainer
    if isinstance(action, dict):
        if action["type"] in ("use-pi", "use-levels", "apply-change"):
            return _accept(old, action, inputs)
        return old.with_(edits=read_edits(workspace, old, inputs["values"]))
    if action == "reset":
        return old.with_(edits={})
    if action == "tabs":
        return old.with_(tab=inputs["tab"])
    if action == "sets":
        sets = workspace.explain(old)[0].sufficient_sets
        position = int((inputs["clicked_set"] or {}).get("rowId") or 0)
        return old.with_(chosen=sets[position].variables) if position < len(sets) else old
    pi, alpha, n = inputs["pi"], inputs["alpha"], inputs["n_candidates"]
    confidence = float(inputs["confidence"])
    return old.with_(
        levels=None if inputs["levels"] == explainer.levels or workspace.is_regression else inputs["levels"],
        confidence=None if confidence == (explainer.confidence or 0.0) else confidence,
        pi=None if pi == explainer.pi else pi,
        alpha=None if alpha == explainer.alpha or not workspace.is_regression else alpha,
        n_candidates=None if n == workspace.n_searched else n,
        candidates=tuple(inputs["candidates"] or ()),
        outcome=inputs["outcome"],
        unseen=bool(inputs["unseen"]),
    )


def _accept(old: View, action: Mapping[str, Any], inputs: Mapping[str, Any]) -> View:
    """Take a setting, or the values of a change, that a button offers."""
    if action["type"] == "apply-change":
        return old.with_(edits=json.loads(action["edits"])) if any(inputs["apply_change"]) else old
    if action["type"] == "use-pi":
        return old.with_(pi=float(action["pi"])) if any(inputs["use_pi"]) else old
    return old.with_(levels="odds") if any(inputs["use_levels"]) else old


def _move(workspace: Workspace, old: View, action: str, inputs: Mapping[str, Any]) -> tuple[View, Any]:
    find = inputs["find"] or ""
    try:
        matches = workspace.find(find)
    except ERRORS as error:
        if action not in ("browser", "row"):
            return old, html.Span(in_words(error), className="wrong")
        find, matches = "", workspace.find("")
    note = f"{len(matches)} of {workspace.frame.height} rows match" if find.strip() else ""
    if action in ("browser", "row"):
        chosen = (inputs["clicked_row"] or {}).get("rowId") if action == "browser" else inputs["row"]
        to = old.row if chosen in (None, "") else int(chosen)
    elif not len(matches):
        return old, "No row matches."
    else:
        to = _step(matches, old.row, action)
    to = min(max(to, 0), workspace.frame.height - 1)
    if to == old.row:
        return old.with_(find=find), note
    return old.with_(row=to, edits={}, chosen=(), find=find), note


def _step(matches: Any, row: int, action: str) -> int:
    if action == "random":
        return int(np.random.default_rng().choice(matches))
    if action == "find":
        return row if row in matches else int(matches[0])
    if action == "next":
        after = matches[matches > row]
        return int(after[0] if len(after) else matches[0])
    before = matches[matches < row]
    return int(before[-1] if len(before) else matches[-1])
