"""How far a job is: a bar, or why it ended."""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
from dash import html

from suffice.app.parts import pieces
from suffice.app.state.jobs import Job

TICK = 300  # milliseconds between two looks at a job


def progress(job: Job | None) -> Any:
    """Show how far a job is."""
    if job is None or job.state == "done":
        return None
    if job.state == "failed":
        return pieces.message("error", job.message)
    if job.state == "cancelled":
        return pieces.message("plain", "Cancelled.")
    if not job.total:
        bar = dmc.Progress(value=100, striped=True, animated=True, size="sm")
        return html.Div([html.Div(f"{job.title} … {job.seconds:.0f} s", className="note"), bar], className="progress")
    share = job.done / job.total
    left = f", about {job.seconds / share - job.seconds:.0f} s left" if share > 0.05 else ""
    text = f"{job.title}: {job.done} of {job.total}{left}"
    return html.Div(
        [html.Div(text, className="note"), dmc.Progress(value=100 * share, size="sm", animated=True)],
        className="progress",
    )
