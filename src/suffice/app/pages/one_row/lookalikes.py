"""Training rows next to a row: those that its rule covers, and similar ones with another outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._text import counted, format_percent
from suffice.app.parts.grids import shown
from suffice.app.state.workspace import Workspace
from suffice.explaining.explanation import Explanation
from suffice.explaining.rule import Rule

MAX_LISTED = 500
N_ALIKE = 25


def line_columns(
    workspace: Workspace, chosen: Sequence[int] = (), *, has_distance: bool = False
) -> list[dict[str, Any]]:
    """Define the columns of a grid of training rows."""
    first: list[dict[str, Any]] = [
        {"field": "outcome", "headerName": workspace.explainer.target_name_, "pinned": "left", "width": 120},
    ]
    if has_distance:
        first.append({"field": "distance", "headerName": "distance", "width": 104, "type": "rightAligned"})
    else:
        first.append({"field": "kept", "headerName": "kept", "width": 84})
    columns = workspace.columns
    others = [
        {
            "field": f"c{c}",
            "headerName": columns[c].name,
            "width": int(np.clip(9 * len(columns[c].name) + 40, 80, 200)),
            "cellClass": "of-set" if c in chosen else "",
        }
        for c in dict.fromkeys((*chosen, *range(len(columns))))
    ]
    return first + others


def covered_rows(workspace: Workspace, rule: Rule, explanation: Explanation) -> tuple[list[dict[str, Any]], str]:
    """List the training rows that a rule covers."""
    table = workspace.training[2]
    rows = np.flatnonzero(rule.covers(table))
    keeps = workspace.keeps(explanation)
    n_kept = int(np.count_nonzero(keeps[rows]))
    note = f"{counted(len(rows), 'row')}, {n_kept} with this outcome"
    note += f" ({format_percent(n_kept / len(rows))} %)" if len(rows) else ""
    note += f"; the first {MAX_LISTED} are listed" if len(rows) > MAX_LISTED else ""
    return [_line(workspace, row, kept="yes" if keeps[row] else "no") for row in rows[:MAX_LISTED].tolist()], f"{note}."


def look_alikes(
    workspace: Workspace, row: NDArray[np.float32], explanation: Explanation, columns: Sequence[int]
) -> tuple[list[dict[str, Any]], str]:
    """List the nearest training rows that have another outcome."""
    matrix = workspace.training[0]
    others = np.flatnonzero(~workspace.keeps(explanation))
    if not len(others):
        return [], "No training row has another outcome."
    distance = distances(workspace, row, columns)[others]
    order = np.argsort(distance, kind="stable")[:N_ALIKE]
    others_text = f"{len(others)} training rows with another outcome ({len(matrix)} in all)"
    note = f"The {len(order)} most similar of the {others_text}"
    lines = [_line(workspace, int(others[i]), distance=round(float(distance[i]), 3)) for i in order]
    return lines, f"{note}. The distance is the mean difference of ranks, from 0 to 1."


def distances(workspace: Workspace, row: NDArray[np.float32], columns: Sequence[int]) -> NDArray[np.float64]:
    """Measure how far training rows are from a row."""
    matrix = workspace.training[0]
    total = np.zeros(len(matrix))
    for c in columns:
        values, own = matrix[:, c], row[c]
        if np.isnan(own):
            total += ~np.isnan(values)
        elif workspace.columns[c].kind == "category":
            total += values != own
        else:
            known = np.sort(values[~np.isnan(values)])
            # The middle rank: equal values are at distance 0.
            rank = (np.searchsorted(known, values, "left") + np.searchsorted(known, values, "right")) / 2
            at = (np.searchsorted(known, own, "left") + np.searchsorted(known, own, "right")) / 2
            total += np.where(np.isnan(values), 1.0, np.abs(rank - at) / max(len(known), 1))
    return total / max(len(columns), 1)


def _line(workspace: Workspace, row: int, **more: Any) -> dict[str, Any]:
    matrix, outcomes, _ = workspace.training
    columns = workspace.columns
    values = {f"c{c}": shown(columns[c].decode(float(value))) for c, value in enumerate(matrix[row])}
    return {
        "outcome": shown(outcomes[row].item() if hasattr(outcomes[row], "item") else outcomes[row]),
        **more,
        **values,
    }
