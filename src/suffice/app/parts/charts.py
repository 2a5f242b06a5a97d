"""Plotly figures of the app, in its colours, light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from suffice._show.cards import code_text
from suffice._table.encoding import Column
from suffice.explanation import Explanation
from suffice.rules import Condition, Rule
from suffice.words import format_number

# Okabe and Ito's colours, as in the report: text, lines, blue, orange, green, purple, panel.
COLOURS = {
    "light": ("#17202a", "rgba(23,32,42,.13)", "#0072b2", "#e08a00", "#00875f", "#a33b76", "#ffffff"),
    "dark": ("#e6e8ea", "rgba(230,232,234,.16)", "#56b4e9", "#f0ad2e", "#3cc79c", "#e79fc6", "#1d2125"),
}
MAX_POINTS = 3000
CONFIG = {"displayModeBar": False, "responsive": True, "displaylogo": False}


def _figure(scheme: str, height: int, **layout: Any) -> go.Figure:
    text, line, *_ = COLOURS[scheme]
    axis = {"gridcolor": line, "zerolinecolor": line, "linecolor": line, "automargin": True}
    return go.Figure(
        layout={
            "template": "none",
            "height": height,
            "margin": {"l": 48, "r": 14, "t": 12, "b": 42},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {
                "color": text,
                "size": 12,
                "family": "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif",
            },
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            "hoverlabel": {"font": {"size": 12}},
            **layout,
            "xaxis": {**axis, **layout.get("xaxis", {})},
            "yaxis": {**axis, **layout.get("yaxis", {})},
        }
    )


def plain(text: str) -> str:
    """Make text that Plotly shows as it is: it would read tags, and formulas between dollar signs.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The text for a figure.
    """
    shortened = text if len(text) <= 40 else f"{text[:38]}…"
    return shortened.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")


def nothing(scheme: str, text: str, height: int = 260) -> go.Figure:
    """Make a figure that says why it is empty.

    Parameters
    ----------
    scheme : {"light", "dark"}
        The colours.
    text : str
        What it says.
    height : int, default=260
        In pixels.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure.
    """
    figure = _figure(scheme, height, xaxis={"visible": False}, yaxis={"visible": False})
    figure.add_annotation(text=plain(text), x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    return figure


def cdf(
    values: NDArray[np.float64],
    of_set: NDArray[np.float64],
    of_all: NDArray[np.float64],
    explanation: Explanation,
    target: str,
    scheme: str,
) -> go.Figure:
    """Draw the distribution of the outcome, knowing a set and knowing everything.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Outcomes.
    of_set, of_all : ndarray of shape (n_values,)
        Their cumulative probabilities.
    explanation : Explanation
        The interval that is kept, and the outcome.
    target : str
        What the outcome is called.
    scheme : {"light", "dark"}
        The colours.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure.
    """
    text, _, blue, orange, *_ = COLOURS[scheme]
    figure = _figure(scheme, 300, xaxis={"title": plain(target)}, yaxis={"title": "P(Y ≤ y)", "range": [0, 1.02]})
    if explanation.interval is not None:
        low, high = explanation.interval
        figure.add_vrect(x0=low, x1=high, fillcolor=blue, opacity=0.14, line_width=0)
    line = {"shape": "hv"}
    figure.add_scatter(
        x=values, y=of_all, mode="lines", name="all variables", line={**line, "color": text, "dash": "dot"}
    )
    figure.add_scatter(x=values, y=of_set, mode="lines", name="this set", line={**line, "color": blue, "width": 3})
    figure.add_vline(x=float(explanation.outcome), line={"color": orange, "width": 2})
    # Where nearly everything has happened the curves only run on.
    last = float(values[min(int(np.searchsorted(np.minimum(of_set, of_all), 0.998)), len(values) - 1)])
    last = max(last, float(explanation.outcome), explanation.interval[1] if explanation.interval else last)
    margin = 0.04 * (last - float(values[0]))
    figure.update_xaxes(range=[float(values[0]) - margin, last + margin])
    return figure


def boxes(
    columns: Sequence[Column],
    points: NDArray[np.float32],
    keeps: NDArray[np.bool_],
    row: Sequence[float],
    rule: Rule | None,
    said: str,
    scheme: str,
) -> go.Figure:
    """Draw the box of a rule on two variables, over the training rows.

    Parameters
    ----------
    columns : sequence of Column
        The two columns.
    points : ndarray of shape (n_rows, 2)
        Their training values.
    keeps : ndarray of shape (n_rows,), bool
        Which training rows have the outcome.
    row : sequence of float
        The row's own values.
    rule : Rule or None
        The rule.
    said : str
        The outcome in words.
    scheme : {"light", "dark"}
        The colours.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure.
    """
    _, _, blue, orange, _, purple, panel = COLOURS[scheme]
    axes = [_axis(column) for column in columns]
    figure = _figure(scheme, 340, xaxis=axes[0], yaxis=axes[1])
    rng = np.random.default_rng(0)  # the same points on every click
    is_known = ~np.isnan(points).any(axis=1)
    chosen = np.flatnonzero(is_known)
    if len(chosen) > MAX_POINTS:
        chosen = np.sort(rng.choice(chosen, MAX_POINTS, replace=False))
    shown = points[chosen].astype(np.float64)
    for i, column in enumerate(columns):
        if column.kind != "number":
            shown[:, i] += rng.uniform(-0.3, 0.3, len(shown))
    kinds = ((~keeps[chosen], "another outcome", purple, "x", 0.45), (keeps[chosen], said, blue, "circle", 0.5))
    for is_kind, name, colour, symbol, opacity in kinds:
        figure.add_scatter(
            x=shown[is_kind, 0],
            y=shown[is_kind, 1],
            mode="markers",
            name=plain(name),
            marker={"color": colour, "symbol": symbol, "size": 5, "opacity": opacity},
            hoverinfo="skip",
        )
    if rule is not None:
        asked = {condition.name: condition for condition in rule.conditions}
        for x0, x1 in _spans(columns[0], asked.get(columns[0].name), points[:, 0]):
            for y0, y1 in _spans(columns[1], asked.get(columns[1].name), points[:, 1]):
                figure.add_shape(
                    type="rect",
                    x0=x0,
                    x1=x1,
                    y0=y0,
                    y1=y1,
                    line={"color": orange, "width": 2},
                    fillcolor=orange,
                    opacity=0.22,
                )
    if not np.isnan(row).any():
        figure.add_scatter(
            x=[row[0]],
            y=[row[1]],
            mode="markers",
            name="this row",
            marker={"color": orange, "size": 15, "symbol": "star", "line": {"color": panel, "width": 1.5}},
        )
    return figure


def _axis(column: Column) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": plain(column.name), "zeroline": False}
    if column.kind == "category" and len(column.labels) <= 40:
        codes = list(range(len(column.labels)))
        axis |= {"tickvals": codes, "ticktext": [plain(code_text(column, code)) for code in codes]}
    return axis


def _spans(column: Column, condition: Condition | None, values: NDArray[np.float32]) -> list[tuple[float, float]]:
    """Give the intervals of a column that satisfy a condition, on its axis."""
    from suffice._show.cards import is_included

    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    margin = 0.02 * (high - low or 1.0) if column.kind == "number" else 0.45
    if condition is None or not condition.values:
        return [(low - margin, high + margin)]
    if condition.labels is not None:
        codes = [c for c, labels in enumerate(column.labels) if any(is_included(condition, label) for label in labels)]
        return [(code - 0.45, code + 0.45) for code in codes]
    return [(max(condition.low, low - margin), min(condition.high, high + margin))]


def heatmap(importance: NDArray[np.float64], names: Sequence[str], rows: Sequence[int], scheme: str) -> go.Figure:
    """Draw the LXI of many rows.

    Parameters
    ----------
    importance : ndarray of shape (n_rows, n_variables)
        The LXI.
    names : sequence of str
        The variables.
    rows : sequence of int
        The positions of the rows.
    scheme : {"light", "dark"}
        The colours.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure: one column for each row.
    """
    *_, green, _, panel = COLOURS[scheme]
    figure = _figure(
        scheme, 90 + 26 * len(names), yaxis={"autorange": "reversed", "showgrid": False}, xaxis={"visible": False}
    )
    figure.add_heatmap(
        z=importance.T,
        y=[plain(name) for name in names],
        customdata=np.broadcast_to(np.asarray(rows), importance.T.shape),
        hovertemplate="row %{customdata}<br>%{y}<br>LXI %{z:.2f}<extra></extra>",
        zmin=0,
        zmax=1,
        colorscale=[[0, panel], [1, green]],
        colorbar={"title": "LXI", "thickness": 10, "outlinewidth": 0},
    )
    return figure


def coverage_precision(
    coverage: Sequence[float],
    precision: Sequence[float],
    texts: Sequence[str],
    outputs: Sequence[Any],
    marked: dict[int, str],
    measure: str,
    scheme: str,
) -> go.Figure:
    """Draw how much the global rules cover and how precise they are.

    Parameters
    ----------
    coverage, precision : sequence of float
        Of each rule.
    texts : sequence of str
        What each asks.
    outputs : sequence of object
        What each says.
    marked : dict of int to str
        Rules that stand out: their positions, and "decides", "holds" or "chosen".
    measure : str
        What precision is called.
    scheme : {"light", "dark"}
        The colours.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure.
    """
    text, _, blue, orange, *_ = COLOURS[scheme]
    figure = _figure(
        scheme,
        340,
        showlegend=False,
        xaxis={"title": "coverage", "tickformat": ".0%", "rangemode": "tozero"},
        yaxis={"title": measure},
    )
    colour = [orange if i in marked else blue for i in range(len(texts))]
    figure.add_scatter(
        x=list(coverage),
        y=list(precision),
        mode="markers",
        text=[
            f"{i + 1}. {plain(t)}<br>→ {plain(_said(o))}" for i, (t, o) in enumerate(zip(texts, outputs, strict=True))
        ],
        hovertemplate="%{text}<br>coverage %{x:.1%}<br>%{y:.3f}<extra></extra>",
        marker={
            "color": colour,
            "size": [14 if i in marked else 9 for i in range(len(texts))],
            "symbol": ["star" if marked.get(i) == "decides" else "circle" for i in range(len(texts))],
            "opacity": 0.75,
            "line": {"color": text, "width": [1.5 if marked.get(i) == "chosen" else 0 for i in range(len(texts))]},
        },
    )
    return figure


def _said(output: Any) -> str:
    return format_number(output) if isinstance(output, float) else str(output)
