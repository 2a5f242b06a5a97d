"""Explanations of many rows, made a few at a time so that a job can be watched and cancelled, and their summary."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from suffice._text import format_number, format_percent, format_probability
from suffice.app.state.jobs import Job
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.explaining.explanations import Explanations

CHUNK_SECONDS = 0.25  # how long a click may wait for a job
MAX_LISTED = 8  # rows of a group whose positions are listed


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Explanations of rows of a table."""

    explanations: Explanations
    rows: list[int]

    @property
    def names(self) -> list[str]:
        """What each row is called: its identifier, or its position."""
        return list(self.explanations.ids or map(str, self.rows))

    def groups(self) -> list[dict[str, Any]]:
        """Group rows with the same best set."""
        best_sets, outcomes = self.explanations.best_sets, self.explanations.outcomes.tolist()
        members: dict[tuple[str, ...] | None, list[int]] = {}
        for i, (best_set, has_set) in enumerate(zip(best_sets, self.explanations.has_set, strict=True)):
            members.setdefault(best_set.variables if has_set else None, []).append(i)
        lines = []
        for key, (variables, rows) in enumerate(sorted(members.items(), key=lambda item: -len(item[1]))):
            sdp = float(np.mean([best_sets[i].sdp for i in rows]))
            share = len(rows) / len(best_sets)
            lines.append(
                {
                    "key": str(key),
                    "variables": ["(no sufficient set)"] if variables is None else list(variables) or ["(no variable)"],
                    "n": len(rows),
                    "share": share,
                    "shown": f"{format_percent(share)} %",
                    "sdp": format_probability(sdp),
                    "outcomes": _outcomes_text([outcomes[i] for i in rows]),
                    "rows": _rows_text([self.names[i] for i in rows]),
                }
            )
        return lines


def _outcomes_text(outcomes: list[Any]) -> str:
    if all(isinstance(outcome, float) for outcome in outcomes):
        low, high = min(outcomes), max(outcomes)
        return f"{format_number(float(f'{low:.3g}'))} to {format_number(float(f'{high:.3g}'))}"
    counts = Counter(map(str, outcomes)).most_common(3)
    return ", ".join(f"{label} ({n})" for label, n in counts)


def _rows_text(rows: list[str]) -> str:
    return ", ".join(rows[:MAX_LISTED]) + (", …" if len(rows) > MAX_LISTED else "")


def explain_rows(
    workspace: Workspace,
    view: View,
    X: Any,
    y: Sequence[Any] | None,
    job: Job,
    sets: Literal["all", "minimal"] = "all",
) -> Explanations:
    """Explain rows a few at a time, so that clicks are answered in between."""
    explainer = workspace.explainer_for(view)
    parts: list[Explanations] = []
    begin, size = 0, 4
    while begin < len(X):
        job.step(begin)
        end = min(begin + size, len(X))
        started = time.monotonic()
        with workspace.lock:
            rows = workspace.as_input(X[begin:end])
            parts.append(explainer.explain(rows, None if y is None else y[begin:end], sets=sets, progress=False))
        seconds = max(time.monotonic() - started, 1e-3)
        size = int(np.clip(size * CHUNK_SECONDS / seconds, 1, 4 * size))
        begin = end
    job.step(len(X))
    return Explanations.joined(parts)
