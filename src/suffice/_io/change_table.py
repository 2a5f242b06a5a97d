"""Changes as the columns of a table: one line for each change, or one for each row."""

from __future__ import annotations

from typing import Any

from suffice.changes import Change, RowChanges
from suffice.changes_of_rows import Changes


def change_columns(changes: Changes) -> dict[str, list[Any]]:
    """Return one line for each change.

    Parameters
    ----------
    changes : Changes
        The changes.

    Returns
    -------
    dict of str to list
        The columns: the row, the target, the change in words, its box, and what supports it.
    """
    lines = [
        {**_of_row(answer), "change": i + 1, **_of_change(change)}
        for answer in changes
        for i, change in enumerate(answer.changes)
    ]
    return _columns(lines, [*_row_names(changes), "change", *_CHANGE])


def row_columns(changes: Changes) -> dict[str, list[Any]]:
    """Return one line for each row, with its best change.

    Parameters
    ----------
    changes : Changes
        The changes.

    Returns
    -------
    dict of str to list
        The columns; a row without a change has the nearest miss in the columns that begin with `nearest`.
    """
    lines = []
    for answer in changes:
        nearest = answer.nearest
        lines.append(
            {
                **_of_row(answer),
                "is_reached": answer.is_reached,
                "n_changes": len(answer.changes),
                **(_of_change(answer.best) if answer.best is not None else {}),
                "nearest": None if nearest is None else nearest.sentence,
                "nearest_probability": None if nearest is None else nearest.probability,
                "nearest_plausibility": None if nearest is None else nearest.plausibility,
                "is_complete": answer.is_complete,
                "text": answer.lead,
            }
        )
    names = [*_row_names(changes), "is_reached", "n_changes", *_CHANGE, "nearest", "nearest_probability"]
    return _columns(lines, [*names, "nearest_plausibility", "is_complete", "text"])


_CHANGE = (
    "variables",
    "size",
    "what_changes",
    "box",
    "probability",
    "mean",
    "plausibility",
    "optimal",
    "cdp",
    "support",
    "n_wanted",
    "cost",
    "by",
    "confirmed",
    "confirmed_share",
)


def _row_names(changes: Changes) -> list[str]:
    ids = ["id"] if any(answer.id is not None for answer in changes) else []
    return ["row", *ids, "outcome", "target"]


def _of_row(answer: RowChanges) -> dict[str, Any]:
    return {"row": answer.row, "id": answer.id, "outcome": answer.outcome, "target": answer.wanted}


def _of_change(change: Change) -> dict[str, Any]:
    return {
        "variables": ", ".join(change.variables),
        "size": len(change.variables),
        "what_changes": change.sentence,
        "box": change.box_text,
        **{name: getattr(change, name) for name in _CHANGE[4:]},
    }


def _columns(lines: list[dict[str, Any]], names: list[str]) -> dict[str, list[Any]]:
    return {name: [line.get(name) for line in lines] for name in names}
