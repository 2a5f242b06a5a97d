"""Reasons as the columns of a table: one line for each row, or one for each reason."""

from __future__ import annotations

from typing import Any

from suffice.reasons import Reasons


def reason_row_columns(reasons: Reasons) -> dict[str, list[Any]]:
    """Return one line for each row.

    Parameters
    ----------
    reasons : Reasons
        The reasons.

    Returns
    -------
    dict of str to list
        The columns: the row, its outcome and status, the kind and the sentence of a refusal, the variables and the SDP
        of the set, and the codes and texts of as many reasons as rows may have.
    """
    columns: dict[str, list[Any]] = {"row": [answer.row for answer in reasons]}
    if any(answer.id is not None for answer in reasons):
        columns["id"] = [answer.id for answer in reasons]
    columns |= {
        "outcome": [answer.outcome for answer in reasons],
        "status": [answer.status for answer in reasons],
        "refusal": [None if answer.refusal is None else answer.refusal.kind for answer in reasons],
        "refusal_text": [None if answer.refusal is None else answer.refusal.sentence for answer in reasons],
        "n_reasons": [len(answer.reasons) for answer in reasons],
        "best_set": [None if a.best_set is None else ", ".join(a.best_set.variables) for a in reasons],
        "sdp": [None if answer.best_set is None else answer.best_set.sdp for answer in reasons],
    }
    for i in range(reasons.settings.n):
        for name in ("code", "text"):
            columns[f"{name}_{i + 1}"] = [
                getattr(answer.reasons[i], name) if i < len(answer.reasons) else None for answer in reasons
            ]
    return columns


def reason_columns(reasons: Reasons) -> dict[str, list[Any]]:
    """Return one line for each reason.

    Parameters
    ----------
    reasons : Reasons
        The reasons.

    Returns
    -------
    dict of str to list
        The columns: the row, the rank, the code, the text, the variables, what the rule asks of them, and the loss.
    """
    lines = [(answer, reason) for answer in reasons for reason in answer.reasons]
    columns: dict[str, list[Any]] = {"row": [answer.row for answer, _ in lines]}
    if any(answer.id is not None for answer in reasons):
        columns["id"] = [answer.id for answer, _ in lines]
    return columns | {
        "outcome": [answer.outcome for answer, _ in lines],
        "rank": [reason.rank for _, reason in lines],
        "code": [reason.code for _, reason in lines],
        "text": [reason.text for _, reason in lines],
        "variables": [", ".join(reason.variables) for _, reason in lines],
        "bounds": ["; ".join(reason.bounds) for _, reason in lines],
        "loss": [reason.loss for _, reason in lines],
    }
