"""The page about model quality: how well the forest predicts, and for how many rows of each class there is a set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, State, dcc, html
from dash.exceptions import PreventUpdate
from sklearn.metrics import precision_recall_curve, roc_curve

from suffice._show.cards import element, tile
from suffice._show.quality_parts import confusion_table, quality_panels, quality_tiles
from suffice._text import counted, format_share
from suffice.app.parts import charts, controls
from suffice.app.parts.markup import to_components
from suffice.app.state.jobs import Job, Jobs

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from suffice.app.state.sessions import Sessions
    from suffice.app.state.workspace import Workspace
    from suffice.checks.quality import Quality

TRAINING, TABLE = "training", "table"
N_BINS = 10  # of the calibration: groups of equally many rows
_ROC = ("share of the others predicted so", "recall")
_RECALL = ("recall", "precision")
_CALIBRATION = ("predicted probability", "share observed")
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
    app.callback(
        Output("quality-at", "children"),
        Output("quality-curves", "children"),
        Input("quality-class", "value"),
        Input("quality-threshold", "value"),
        State("scheme", "data"),
        State("quality-job", "data"),
    )(lambda place, threshold, scheme, name: show_threshold(jobs.get(name), place, threshold, scheme or "light"))


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
    content = quality_contents(quality, scheme)
    if quality.model is not None:
        content += quality_contents(quality.model, scheme)
    title = f"{quality.title}{f' {_NOTE}' if rows == TABLE else ''}"
    return {"title": title, "tiles": to_components(quality_tiles(quality)), "content": content}


def quality_contents(quality: Quality, scheme: str) -> list[Any]:
    """Show the figures by class, or predicted against observed numbers."""
    if quality.classes is None:
        graph = controls.graph(420, numbers_chart(quality, scheme))
        return [html.Section([*to_components(quality_panels(quality)), graph], className="panel wide")]
    panels = [html.Section(to_components(part), className="panel") for part in quality_panels(quality)]
    if quality.votes is None:
        return panels
    [threshold, curves] = threshold_panels(quality)
    # The confusion matrix of two classes is the one at a threshold of 0.5.
    return [threshold, *panels[len(quality.classes) == 2 :], curves]


# --- the threshold of one class ---------------------------------------------------------------------------------------


def threshold_panels(quality: Quality) -> list[Any]:
    """Lay out the choice of a class and of the probability from which it is predicted."""
    assert quality.classes is not None
    place = quality.classes.index(quality.focus) if quality.focus in quality.classes else 0
    options = controls.options(range(len(quality.classes)), list(map(str, quality.classes)))
    chosen = controls.select("quality-class", "Outcome", options, str(place), 200, allowDeselect=False)
    slider = dmc.Slider(
        id="quality-threshold",
        value=0.5,
        min=0.01,
        max=0.99,
        step=0.01,
        marks=[{"value": value, "label": f"{value:g}"} for value in (0.1, 0.25, 0.5, 0.75, 0.9)],
        thumbLabel="Threshold",
        updatemode="mouseup",
        mb="lg",
    )
    threshold = controls.setting("Predict this outcome from a probability of", slider)
    contents = (threshold, html.Div(id="quality-at"))
    return [
        controls.panel("Threshold", *contents, extra=chosen),
        controls.panel("Ranking and calibration", html.Div(id="quality-curves", className="curves"), wide=True),
    ]


def at_threshold(quality: Quality, label: Any, threshold: float) -> Quality:
    """Return the quality of predicting one class from a probability on, and any other below."""
    assert quality.classes is not None
    assert quality.votes is not None
    others = [str(one) for one in quality.classes if one != label]
    other = others[0] if len(others) == 1 else f"not {label}"
    has_class, scores = quality.observed == label, quality.votes[:, quality.classes.index(label)]
    observed, predicted = (np.where(mask, str(label), other) for mask in (has_class, scores >= threshold))
    votes = np.stack([scores, 1 - scores], axis=1)
    names = (str(label), other)
    return replace(
        quality, observed=observed, predicted=predicted, classes=names, sets=(), focus=str(label), votes=votes
    )


def show_threshold(job: Job | None, place: str, threshold: float, scheme: str) -> tuple[list[Any], list[Any]]:
    """Show the confusion matrix at a threshold, and the curves with its place on them."""
    if job is None or job.state != "done" or job.result.classes is None:
        raise PreventUpdate
    quality = at_threshold(job.result, job.result.classes[int(place)], threshold)
    assert quality.votes is not None
    figures, one = quality.of_focus, quality.by_class[0]
    of_class = f"{counted(one.n_predicted, 'row')} predicted to be {one.label}, {one.n_rows:,} are"
    tiles = [
        tile("threshold", f"{threshold:.2f}", of_class),
        tile("precision", format_share(one.precision), f"of the rows predicted to be {one.label}"),
        tile("recall", format_share(one.recall), f"of the rows that are {one.label}"),
        tile("accuracy", format_share(quality.accuracy), f"{format_share(quality.accuracy_of_constant)} by one class"),
    ]
    shown = [element("div", "tiles", *tiles), confusion_table(quality)]
    has_class, scores = quality.observed == quality.focus, quality.votes[:, 0]
    if not 0 < np.count_nonzero(has_class) < quality.n_rows:
        return to_components(shown), []
    others, base = quality.confusion[1], float(has_class.mean())
    precisions, recalls, _ = precision_recall_curve(has_class, scores)
    groups = np.array_split(np.argsort(scores, kind="stable"), min(N_BINS, len(scores)))
    of_groups = [[float(values[rows].mean()) for rows in groups] for values in (scores, has_class)]
    at_roc, at_recall = (float(others[0] / others.sum()), one.recall), (one.recall, one.precision)
    diagonal, roc = (0.0, 1.0), roc_curve(has_class, scores)[:2]
    ranked = f"Average precision {format_share(figures['average precision'])}"
    drawn = [
        _curve(f"ROC AUC {format_share(figures['ROC AUC'])}", roc, diagonal, at_roc, _ROC, scheme),
        _curve(ranked, (recalls, precisions), (base, base), at_recall, _RECALL, scheme),
        _curve(f"Calibration, {N_BINS} groups of rows", of_groups, diagonal, None, _CALIBRATION, scheme),
    ]
    return to_components(shown), drawn


def _curve(
    title: str, points: Any, line: tuple[float, float], at: tuple[float, float] | None, titles: Any, scheme: str
) -> html.Div:
    """Draw a curve, the line that it is compared with, and the threshold on it."""
    text, _, blue, orange, *_ = charts.COLOURS[scheme]
    x_axis, y_axis = ({"title": title, "range": [0, 1.02]} for title in titles)
    figure = charts.base_figure(scheme, 250, showlegend=False, xaxis=x_axis, yaxis=y_axis)
    dotted = {"color": text, "dash": "dot", "width": 1}
    figure.add_scatter(x=[0, 1], y=list(line), mode="lines", line=dotted, hoverinfo="skip")
    hover = "%{x:.2f}, %{y:.2f}<extra></extra>"
    mode = "lines+markers" if at is None else "lines"
    figure.add_scatter(x=points[0], y=points[1], mode=mode, line={"color": blue, "width": 2}, hovertemplate=hover)
    if at is not None:
        marker = {"color": orange, "size": 12, "line": {"color": text, "width": 1.5}}
        figure.add_scatter(x=[at[0]], y=[at[1]], mode="markers", marker=marker, hovertemplate=f"threshold: {hover}")
    return html.Div([html.H3(title), controls.graph(250, figure)])


def numbers_chart(quality: Quality, scheme: str) -> go.Figure:
    """Draw predicted against observed numbers."""
    text, _, blue, *_ = charts.COLOURS[scheme]
    observed, predicted = quality.observed.astype(np.float64), quality.predicted.astype(np.float64)
    rows = np.random.default_rng(0).permutation(len(observed))[: charts.MAX_POINTS]
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
