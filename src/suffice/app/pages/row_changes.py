"""What happens when somebody moves, edits or sets something on the page about one row: the next view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from dash import ctx, html, no_update

from suffice.app.pages.editors import read_edits, shown_values
from suffice.app.state.desk import Desk
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import ERRORS, in_words

MOVES = ("row", "previous", "next", "random", "browser", "find")


def change(desk: Desk, stored: Any, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Make the next view of what somebody did, and show it in the inputs.

    Parameters
    ----------
    desk : Desk
        The workspaces.
    stored : dict
        The view so far.
    given : mapping of str to object
        What the inputs hold, by the names that `one_row` gives them.

    Returns
    -------
    tuple
        The view, the row, the values of the inputs, pi, whether the table to choose from is open, and a note on what
        was found.
    """
    old = View.from_store(stored)
    workspace = desk.get(old.data)
    shown = given["values"]
    same = [no_update] * len(shown)
    if workspace is None:
        return no_update, no_update, same, no_update, no_update, no_update
    did = ctx.triggered_id
    # The inputs stand in the order of the page, values in that of the table.
    order = [one["id"]["column"] for one in ctx.args_grouping["given"]["values"]]
    note: Any = no_update
    if did == "browse":
        return no_update, no_update, same, no_update, True, no_update
    if did in MOVES:
        view, note = _move(workspace, old, str(did), given)
    else:
        by_column = dict(zip(order, shown, strict=True))
        view = next_view(workspace, old, did, {**given, "values": [by_column[i] for i in range(len(by_column))]})
    closed = False if did == "browser" else no_update
    if view == old:
        row = old.row if did == "row" and given["row"] in (None, "") else no_update
        return no_update, row, same, no_update, closed, note
    if view.row != old.row or did == "reset":
        by_table = shown_values(workspace, view)
        same = [by_table[column] for column in order]
    return view.to_store(), view.row, same, view.pi or workspace.explainer.pi, closed, note


def next_view(workspace: Workspace, old: View, did: Any, given: Mapping[str, Any]) -> View:
    """Make the next view of an edit, a choice or a setting.

    Parameters
    ----------
    workspace : Workspace
        The explainer and its table.
    old : View
        The view so far.
    did : str or dict
        The id of what was used.
    given : mapping of str to object
        What the inputs hold.

    Returns
    -------
    View
        The view; the same if nothing changed.
    """
    explainer = workspace.explainer
    if isinstance(did, dict):
        if did["type"] == "use-pi":
            return old.with_(pi=float(did["pi"])) if any(given["use_pi"]) else old
        return old.with_(edits=read_edits(workspace, old, given["values"]))
    if did == "reset":
        return old.with_(edits={})
    if did == "tabs":
        return old.with_(tab=given["tab"])
    if did == "sets":
        sets = workspace.explain(old)[0].sufficient_sets
        position = int((given["clicked_set"] or {}).get("rowId") or 0)
        return old.with_(chosen=sets[position].variables) if position < len(sets) else old
    pi, alpha, n = given["pi"], given["alpha"], given["n_candidates"]
    return old.with_(
        pi=None if pi == explainer.pi else pi,
        alpha=None if alpha == explainer.alpha or not workspace.is_regression else alpha,
        n_candidates=None if n == len(explainer.candidates_) else n,
        outcome=given["outcome"],
        unseen=bool(given["unseen"]),
    )


def _move(workspace: Workspace, old: View, did: str, given: Mapping[str, Any]) -> tuple[View, Any]:
    find = given["find"] or ""
    try:
        matches = workspace.find(find)
    except ERRORS as error:
        if did not in ("browser", "row"):
            return old, html.Span(in_words(error), className="wrong")
        find, matches = "", workspace.find("")
    note = f"{len(matches)} of {workspace.frame.height} rows match" if find.strip() else ""
    if did in ("browser", "row"):
        asked = (given["clicked_row"] or {}).get("rowId") if did == "browser" else given["row"]
        to = old.row if asked in (None, "") else int(asked)
    elif not len(matches):
        return old, "No row matches."
    else:
        to = _step(matches, old.row, did)
    to = min(max(to, 0), workspace.frame.height - 1)
    if to == old.row:
        return old.with_(find=find), note
    return old.with_(row=to, edits={}, chosen=(), find=find), note


def _step(matches: Any, row: int, did: str) -> int:
    if did == "random":
        return int(np.random.default_rng().choice(matches))
    if did == "find":
        return row if row in matches else int(matches[0])
    if did == "next":
        after = matches[matches > row]
        return int(after[0] if len(after) else matches[0])
    before = matches[matches < row]
    return int(before[-1] if len(before) else matches[-1])
