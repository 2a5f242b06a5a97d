"""The page about model quality: how well the forest predicts, and for how many rows of each class there is a set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, State, dcc, html

from suffice._show.picture import gather_rare
from suffice._text import format_number, format_percent, format_share
from suffice.app.parts import charts, controls, pieces
from suffice.app.state.jobs import Job, Jobs

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from suffice.app.state.sessions import Sessions
    from suffice.app.state.workspace import Workspace
    from suffice.checks.quality import Quality, SetShare

TRAINING, TABLE = "training", "table"
MAX_CLASSES = 20
_NOTE = "Rows that the forest was fitted on are predicted better than others."


def layout(workspace: Workspace) -> html.Div:
    """Lay out the page; its contents come when they are computed."""
    has_outcomes = workspace.observed is not None or hasattr(workspace.explainer, "model_")
    rows = dmc.SegmentedControl(
        id="quality-rows",
        data=controls.options((TRAINING, TABLE), ("training rows, out of bag", "rows of the open table")),
        value=TRAINING,
        size="xs",
        style={} if has_outcomes else {"display": "none"},
    )
    contents = [
        html.Div(id="quality-title", className="note under"),
        html.Div(id="quality-progress"),
        html.Div(id="quality-tiles", className="tiles"),
    ]
    return html.Div(
        [
            controls.panel("Model quality", *contents, extra=rows, wide=True),
            html.Div(id="quality-content", className="panels"),
            dcc.Store(id="quality-of"),
            *controls.job_parts("quality"),
        ],
        className="quality-page",
    )


def register(app: Dash, sessions: Sessions, jobs: Jobs) -> None:
    """Connect the callbacks of the page."""
    controls.connect_job(
        app,
        jobs,
        "quality",
        inputs={
            "rows": Input("quality-rows", "value"),
            "scheme": Input("scheme", "data"),
            "view": State("view", "data"),
            "of": State("quality-of", "data"),
        },
        outputs={
            "of": Output("quality-of", "data"),
            "title": Output("quality-title", "children"),
            "tiles": Output("quality-tiles", "children"),
            "content": Output("quality-content", "children"),
        },
        runs_at_first=True,
    )(lambda event, job, form: update_quality(sessions, job, form))


def update_quality(sessions: Sessions, job: Job | None, form: Mapping[str, Any]) -> dict[str, Any]:
    """Start the computation, or show its result."""
    workspace, _ = sessions.open(form["view"])
    rows, scheme = form["rows"], form["scheme"] or "light"
    if form["of"] != rows:
        if job is not None:
            job.cancel()
        start = Job("Predicting rows and searching sufficient sets"), lambda _: workspace.quality(rows == TABLE)
        return {"job": start, "of": rows, "title": None, "tiles": None, "content": None}
    if job is None or job.state != "done":
        return {}
    quality: Quality = job.result
    content = quality_panels(quality, scheme)
    if quality.model is not None:
        content += quality_panels(quality.model, scheme)
    title = f"{quality.title}{f' {_NOTE}' if rows == TABLE else ''}"
    return {"title": title, "tiles": quality_tiles(quality), "content": content}


def quality_panels(quality: Quality, scheme: str) -> list[Any]:
    """Show the confusion matrix with the figures by class, or predicted against observed numbers."""
    by_model = "" if quality.predictor == "the forest" else f", {quality.predictor.removeprefix('the ')}"
    if quality.classes is None:
        figure = controls.graph(420, numbers_chart(quality, scheme))
        return [controls.panel(f"Predicted and observed{by_model}", figure, note=quality.summary, wide=True)]
    note, is_wide = "percent of the rows of each class", len(quality.classes) > 6
    return [
        controls.panel(f"Confusion matrix{by_model}", confusion_table(quality), note=note, wide=is_wide),
        controls.panel(f"By class{by_model}", class_table(quality), wide=is_wide),
    ]


def quality_tiles(quality: Quality) -> list[html.Div]:
    """Show the figures for all rows."""
    tiles = [controls.tile("rows", f"{quality.n_rows:,}", quality.rows.partition(", ")[2] or "of the open table")]
    if quality.classes is None:
        tiles.append(controls.tile("R²", format_share(quality.r2), "share of the variance that is predicted"))
        tiles.append(controls.tile("mean absolute error", format_number(quality.mae), f"of {quality.target}"))
    else:
        constant = format_share(quality.accuracy_of_constant)
        tiles.append(
            controls.tile("accuracy", format_share(quality.accuracy), f"{constant} by the most frequent class alone")
        )
        figures = {name: format_share(value) for name, value in quality.of_focus.items()}
        if figures:
            precision = f"precision {figures['precision']}, recall {figures['recall']}"
            tiles.append(controls.tile(f"F1 of {quality.focus}", figures["F1"], precision))
            ranked = f"average precision {figures.get('average precision', '-')}"
            tiles.append(controls.tile(f"ROC AUC of {quality.focus}", figures.get("ROC AUC", "-"), ranked))
    if quality.n_explained:
        note = f"{quality.level}; {quality.n_explained} rows searched"
        tiles.append(controls.tile("with a sufficient set", f"{format_percent(quality.share_with_set)} %", note))
    return tiles


def confusion_table(quality: Quality) -> html.Div:
    """Show the confusion matrix."""
    labels, counts, shares = gather_rare(quality, MAX_CLASSES)
    rows = "output of the model" if quality.is_agreement else "observed"
    heads = [f"{rows} ↓  predicted →", *labels]
    lines = []
    for i, label in enumerate(labels):
        cells = []
        for j, (n, share) in enumerate(zip(counts[i].tolist(), shares[i].tolist(), strict=True)):
            text = [html.Div(f"{n:,}"), html.Div(f"{format_percent(share)} %", className="note")]
            kind = "right" if i == j else ""
            cells.append(html.Td(text, style={"--share": f"{100 * share:.0f}%"}, className=kind))
        lines.append(html.Tr([html.Th(label, title=label), *cells]))
    return _table(heads, lines, "confusion")


def _table(heads: list[str], lines: list[html.Tr], kind: str) -> html.Div:
    head = html.Tr([html.Th(text, title=text) for text in heads])
    return html.Div(html.Table([html.Thead(head), html.Tbody(lines)], className=kind), className="scroll")


def class_table(quality: Quality) -> html.Div:
    """Show recall, precision and the share of rows with a sufficient set of each class."""
    sets = {share.outcome: share for share in quality.sets}
    heads = ["class", "rows", "recall", "precision", *(["with a sufficient set"] if quality.n_explained else [])]
    lines = []
    for one in quality.by_class:
        cells: list[Any] = [
            html.Th(str(one.label), title=str(one.label)),
            html.Td(f"{one.n_rows:,}"),
            _bar_cell(one.recall, format_share(one.recall)),
            _bar_cell(one.precision, format_share(one.precision)),
        ]
        if quality.n_explained:
            cells.append(_set_cell(sets.get(one.label)))
        lines.append(html.Tr(cells))
    return _table(heads, lines, "by-class")


def _set_cell(share: SetShare | None) -> html.Td:
    if share is None or not share.n_explained:
        return html.Td("-")
    text = f"{format_percent(share.share)} % ({share.n_with_set} of {share.n_explained})"
    return _bar_cell(share.share, text)


def _bar_cell(share: float, text: str) -> html.Td:
    if math.isnan(share):
        return html.Td("-")
    return html.Td(html.Div([pieces.bar(share), html.Span(text, className="number")], className="bar-cell"))


def numbers_chart(quality: Quality, scheme: str) -> go.Figure:
    """Draw predicted against observed numbers."""
    text, _, blue, *_ = charts.COLOURS[scheme]
    observed, predicted = quality.observed.astype(np.float64), quality.predicted.astype(np.float64)
    rows = charts.sample_rows(np.arange(len(observed)), np.random.default_rng(0))
    name = "output of the model" if quality.is_agreement else "observed"
    titles = [charts.escape(f"{quality.target}, {shown}") for shown in (name, "predicted")]
    x_axis, y_axis = ({"title": title, "zeroline": False} for title in titles)
    figure = charts.base_figure(scheme, 420, showlegend=False, xaxis=x_axis, yaxis=y_axis)
    ends = [min(observed.min(), predicted.min()), max(observed.max(), predicted.max())]
    figure.add_scatter(x=ends, y=ends, mode="lines", line={"color": text, "dash": "dot", "width": 1}, hoverinfo="skip")
    hover = f"{name} %{{x}}<br>predicted %{{y:.5g}}<extra></extra>"
    marker = {"color": blue, "size": 5, "opacity": 0.4}
    figure.add_scatter(x=observed[rows], y=predicted[rows], mode="markers", marker=marker, hovertemplate=hover)
    return figure
