"""Whether the best set of the row returns when the forest is grown again: computed on request, as a job."""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from suffice._show.picture import set_text
from suffice.app.parts import pieces
from suffice.app.parts.progress import TICK, progress
from suffice.app.state.desk import Desk
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.view import View
from suffice.app.state.workspace import N_REFITS, Workspace


def stability_panel() -> html.Section:
    """Make the panel."""
    buttons = html.Div(
        [
            dmc.Button("How stable is this?", id="stability-start", size="compact-xs", variant="light"),
            dmc.Button("Cancel", id="stability-cancel", size="compact-xs", variant="default", disabled=True),
        ],
        className="axes",
    )
    return pieces.panel(
        "Stability",
        html.Div(id="stability"),
        dcc.Store(id="stability-job"),
        dcc.Interval(id="stability-tick", interval=TICK, disabled=True),
        note="of the best set, when the forest is grown again with other seeds and on halves of the training rows",
        extra=buttons,
        wide=True,
        name="stability-panel",
    )


def register_stability(app: Dash, desk: Desk, jobs: Jobs) -> None:
    """Connect the callbacks of the panel."""
    app.callback(
        output={
            "name": Output("stability-job", "data"),
            "is_idle": Output("stability-tick", "disabled"),
            "cannot_cancel": Output("stability-cancel", "disabled"),
            "cannot_start": Output("stability-start", "disabled"),
            "content": Output("stability", "children"),
        },
        inputs={
            "stored": Input("shown", "data"),
            "events": [
                Input("stability-start", "n_clicks"),
                Input("stability-cancel", "n_clicks"),
                Input("stability-tick", "n_intervals"),
            ],
            "name": State("stability-job", "data"),
        },
        prevent_initial_call=True,
    )(lambda stored, events, name: update_stability(desk, jobs, stored, name, ctx.triggered_id))


def update_stability(desk: Desk, jobs: Jobs, stored: Any, name: str | None, event: str | None) -> dict[str, Any]:
    """Start, cancel or show the job."""
    view = View.from_store(stored)
    workspace = desk.get(view.data)
    if workspace is None or view.tab != "row":
        return dict.fromkeys(("name", "is_idle", "cannot_cancel", "cannot_start", "content"), no_update)
    job = jobs.get(name)
    if event == "stability-start":
        job = Job("Growing forests", 2 * N_REFITS)
        return _show(job, jobs.start(job, lambda job: _measure(workspace, view, job)))
    if event == "stability-cancel" and job is not None:
        job.cancel()
    if event == "shown":  # the answer about another row must not stay
        if job is not None:
            job.cancel()
        return _show(None, None)
    return _show(job, no_update)


def _measure(workspace: Workspace, view: View, job: Job) -> tuple[str, str]:
    stability = workspace.stability(view, job.step)[0]
    return set_text(workspace.explain(view)[0].best_set), str(stability)


def _show(job: Job | None, name: Any) -> dict[str, Any]:
    is_running = job is not None and job.state == "running"
    content = progress(job)
    if job is not None and job.state == "done":
        best_set, sentence = job.result
        content = html.P([html.B(f"{best_set}. "), sentence], id="stability-sentence")
    return {
        "name": name,
        "is_idle": not is_running,
        "cannot_cancel": not is_running,
        "cannot_start": is_running,
        "content": content,
    }
