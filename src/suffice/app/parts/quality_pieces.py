"""Pieces of the page about model quality: the confusion matrix, figures by class, and predicted against observed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from dash import html

from suffice._show.quality_figure import gather_rare
from suffice._text import format_number, format_percent, format_probability
from suffice.app.parts.charts import COLOURS, base_figure, plain
from suffice.app.parts.pieces import bar, tile
from suffice.checks.quality import Quality, SetShare

MAX_CLASSES = 20
MAX_POINTS = 3000


def quality_tiles(quality: Quality) -> list[html.Div]:
    """Show the figures for all rows."""
    tiles = [tile("rows", f"{quality.n_rows:,}", quality.rows.partition(", ")[2] or "of the open table")]
    if quality.classes is None:
        tiles.append(tile("R²", _figure(quality.r2), "share of the variance that is predicted"))
        tiles.append(tile("mean absolute error", format_number(quality.mae), f"of {quality.target}"))
    else:
        constant = _figure(quality.accuracy_of_constant)
        tiles.append(tile("accuracy", _figure(quality.accuracy), f"{constant} by the most frequent class alone"))
    if quality.n_explained:
        note = f"{quality.level}; {quality.n_explained} rows searched"
        tiles.append(tile("with a sufficient set", f"{format_percent(quality.share_with_set)} %", note))
    return tiles


def confusion_table(quality: Quality) -> html.Div:
    """Show the confusion matrix."""
    labels, counts = gather_rare(quality, MAX_CLASSES)
    shares = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
    rows = "output of the model" if quality.is_agreement else "observed"
    head = html.Tr([html.Th(f"{rows} ↓  predicted →"), *(html.Th(label, title=label) for label in labels)])
    lines = [
        html.Tr(
            [
                html.Th(label, title=label),
                *(
                    html.Td(
                        [html.Div(f"{n:,}"), html.Div(f"{format_percent(share)} %", className="note")],
                        style={"--share": f"{100 * share:.0f}%"},
                        className="right" if i == j else "",
                    )
                    for j, (n, share) in enumerate(zip(counts[i].tolist(), shares[i].tolist(), strict=True))
                ),
            ]
        )
        for i, label in enumerate(labels)
    ]
    return html.Div(html.Table([html.Thead(head), html.Tbody(lines)], className="confusion"), className="scroll")


def class_table(quality: Quality) -> html.Div:
    """Show recall, precision and the share of rows with a sufficient set of each class."""
    sets = {share.outcome: share for share in quality.sets}
    heads = ["class", "rows", "recall", "precision", *(["with a sufficient set"] if quality.n_explained else [])]
    lines = []
    for one in quality.by_class:
        cells: list[Any] = [
            html.Th(str(one.label), title=str(one.label)),
            html.Td(f"{one.n_rows:,}"),
            _bar_cell(one.recall, _figure(one.recall)),
            _bar_cell(one.precision, _figure(one.precision)),
        ]
        if quality.n_explained:
            cells.append(_set_cell(sets.get(one.label)))
        lines.append(html.Tr(cells))
    head = html.Tr([html.Th(text) for text in heads])
    return html.Div(html.Table([html.Thead(head), html.Tbody(lines)], className="by-class"), className="scroll")


def _set_cell(share: SetShare | None) -> html.Td:
    if share is None or not share.n_explained:
        return html.Td("-")
    text = f"{format_percent(share.share)} % ({share.n_with_set} of {share.n_explained})"
    return _bar_cell(share.share, text)


def _bar_cell(share: float, text: str) -> html.Td:
    if math.isnan(share):
        return html.Td("-")
    return html.Td(html.Div([bar(share), html.Span(text, className="number")], className="bar-cell"))


def numbers_chart(quality: Quality, scheme: str) -> go.Figure:
    """Draw predicted against observed numbers."""
    text, _, blue, *_ = COLOURS[scheme]
    observed, predicted = quality.observed.astype(np.float64), quality.predicted.astype(np.float64)
    rows = np.arange(len(observed))
    if len(rows) > MAX_POINTS:
        rows = np.sort(np.random.default_rng(0).choice(len(rows), MAX_POINTS, replace=False))
    name = "output of the model" if quality.is_agreement else "observed"
    figure = base_figure(
        scheme,
        420,
        showlegend=False,
        xaxis={"title": plain(f"{quality.target}, {name}"), "zeroline": False},
        yaxis={"title": plain(f"{quality.target}, predicted"), "zeroline": False},
    )
    ends = [min(observed.min(), predicted.min()), max(observed.max(), predicted.max())]
    figure.add_scatter(x=ends, y=ends, mode="lines", line={"color": text, "dash": "dot", "width": 1}, hoverinfo="skip")
    figure.add_scatter(
        x=observed[rows], y=predicted[rows], mode="markers", marker={"color": blue, "size": 5, "opacity": 0.4},
        hovertemplate=f"{name} %{{x}}<br>predicted %{{y:.5g}}<extra></extra>",
    )  # fmt: skip
    return figure


def _figure(value: float) -> str:
    if math.isnan(value):
        return "-"
    return format_probability(value) if value >= 0 else f"{value:.2f}"
