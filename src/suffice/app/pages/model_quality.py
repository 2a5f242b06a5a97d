"""The page about model quality: how well the forest predicts, and for how many rows of each class there is a set."""

from __future__ import annotations

from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, dcc, html, no_update

from suffice.app.parts import charts, pieces
from suffice.app.parts.progress import TICK, progress
from suffice.app.parts.quality_pieces import class_table, confusion_table, numbers_chart, quality_tiles
from suffice.app.state.desk import Desk
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.checks.quality import Quality

TRAINING, TABLE = "training", "table"
_NOTE = "Rows that the forest was fitted on are predicted better than others."


def layout(workspace: Workspace) -> html.Div:
    """Lay out the page; its contents come when they are computed."""
    has_outcomes = workspace.observed is not None or hasattr(workspace.explainer, "model_")
    choices = [(TRAINING, "training rows, out of bag"), (TABLE, "rows of the open table")]
    rows = dmc.SegmentedControl(
        id="quality-rows",
        data=[{"value": value, "label": text} for value, text in choices],
        value=TRAINING,
        size="xs",
        style={} if has_outcomes else {"display": "none"},
    )
    return html.Div(
        [
            pieces.panel(
                "Model quality",
                html.Div(id="quality-title", className="note under"),
                html.Div(id="quality-progress"),
                html.Div(id="quality-tiles", className="tiles"),
                extra=rows,
                wide=True,
            ),
            html.Div(id="quality-content", className="panels"),
            dcc.Store(id="quality-job"),
            dcc.Interval(id="quality-tick", interval=TICK, disabled=True),
        ],
        className="quality-page",
    )


def register(app: Dash, desk: Desk, jobs: Jobs) -> None:
    """Connect the callbacks of the page."""
    app.callback(
        output={
            "name": Output("quality-job", "data"),
            "is_idle": Output("quality-tick", "disabled"),
            "progress": Output("quality-progress", "children"),
            "title": Output("quality-title", "children"),
            "tiles": Output("quality-tiles", "children"),
            "content": Output("quality-content", "children"),
        },
        inputs={
            "rows": Input("quality-rows", "value"),
            "tick": Input("quality-tick", "n_intervals"),
            "scheme": Input("scheme", "data"),
            "stored": State("view", "data"),
            "name": State("quality-job", "data"),
        },
    )(lambda rows, tick, scheme, stored, name: update_quality(desk, jobs, stored, name, (rows, scheme)))


def update_quality(
    desk: Desk, jobs: Jobs, stored: Any, started: list[str] | None, shown: tuple[str, str | None]
) -> dict[str, Any]:
    """Start the computation, or show how far it is, or what it gave."""
    view = View.from_store(stored)
    workspace = desk.get(view.data)
    names = ("name", "is_idle", "progress", "title", "tiles", "content")
    if workspace is None:
        return dict.fromkeys(names, no_update)
    rows, scheme = shown
    if started is None or started[0] != rows:
        if started is not None and (before := jobs.get(started[1])) is not None:
            before.cancel()
        job = Job("Predicting rows and searching sufficient sets")
        name = jobs.start(job, lambda _: workspace.quality(rows == TABLE))
        return {**dict.fromkeys(names, None), "name": [rows, name], "is_idle": False, "progress": progress(job)}
    running = jobs.get(started[1])
    same = dict.fromkeys(names, no_update)
    if running is None or running.state != "done":
        is_running = running is not None and running.state == "running"
        return {**same, "is_idle": not is_running, "progress": progress(running)}
    quality: Quality = running.result
    content = quality_panels(quality, scheme or "light")
    if quality.model is not None:
        content += quality_panels(quality.model, scheme or "light")
    note = f" {_NOTE}" if rows == TABLE else ""
    return {
        "name": no_update,
        "is_idle": True,
        "progress": None,
        "title": f"{quality.title}{note}",
        "tiles": quality_tiles(quality),
        "content": content,
    }


def quality_panels(quality: Quality, scheme: str) -> list[Any]:
    """Show the confusion matrix with the figures by class, or predicted against observed numbers."""
    who = quality.predictor.removeprefix("the ")
    by_model = "" if quality.predictor == "the forest" else f", {who}"
    if quality.classes is None:
        figure = dcc.Graph(figure=numbers_chart(quality, scheme), config=charts.CONFIG, style={"height": 420})
        return [pieces.panel(f"Predicted and observed{by_model}", figure, note=quality.summary, wide=True)]
    note = "percent of the rows of each class"
    return [
        pieces.panel(f"Confusion matrix{by_model}", confusion_table(quality), note=note, wide=len(quality.classes) > 6),
        pieces.panel(f"By class{by_model}", class_table(quality), wide=len(quality.classes) > 6),
    ]
