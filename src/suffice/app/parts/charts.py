"""Plotly figures of the app, in its colours, light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from suffice._show.axis import code_text, drawn_range
from suffice._text import format_probability, join

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice._show.row_figures import CurveView
    from suffice._table.encoding import Column
    from suffice.explaining.explanation import Explanation

# Okabe and Ito's colours, as in the report: text, lines, blue, orange, green, purple, panel.
COLOURS = {
    "light": ("#17202a", "rgba(23,32,42,.13)", "#0072b2", "#e08a00", "#00875f", "#a33b76", "#ffffff"),
    "dark": ("#e6e8ea", "rgba(230,232,234,.16)", "#56b4e9", "#f0ad2e", "#3cc79c", "#e79fc6", "#1d2125"),
}
FONTS = "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"
MAX_POINTS = 3000
MAX_TICKS = 40  # categories with a label
MAX_WHOLE_TICKS = 12  # whole numbers of a range in which each has a label


def base_figure(scheme: str, height: int, **layout: Any) -> go.Figure:
    """Make an empty figure in the colours of the app."""
    text, line, *_ = COLOURS[scheme]
    axis = {"gridcolor": line, "zerolinecolor": line, "linecolor": line, "automargin": True}
    return go.Figure(
        layout={
            "template": "none",
            "height": height,
            "margin": {"l": 48, "r": 14, "t": 12, "b": 42},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": text, "size": 12, "family": FONTS},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            "hoverlabel": {"font": {"size": 12}},
            **layout,
            "xaxis": {**axis, **layout.get("xaxis", {})},
            "yaxis": {**axis, **layout.get("yaxis", {})},
        }
    )


def escape(text: str, length: int = 40) -> str:
    """Escape text for Plotly, which reads tags, and formulas between dollar signs; shorten it if it is long."""
    shortened = text if len(text) <= length else f"{text[: length - 2]}…"
    return shortened.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")


def cdf(
    values: NDArray[np.float64], curves: tuple[NDArray[np.float64], ...], explanation: Explanation, scheme: str
) -> go.Figure:
    """Draw the distribution of the outcome given a set, and given all variables."""
    (of_set, of_all), target = curves, escape(explanation.target)
    text, _, blue, orange, *_ = COLOURS[scheme]
    figure = base_figure(scheme, 300, xaxis={"title": target}, yaxis={"title": "P(Y ≤ y)", "range": [0, 1.02]})
    if explanation.interval is not None:
        low, high = explanation.interval
        figure.add_vrect(x0=low, x1=high, fillcolor=blue, opacity=0.14, line_width=0)
    dotted, thick = {"color": text, "dash": "dot"}, {"color": blue, "width": 3}
    figure.add_scatter(x=values, y=of_all, mode="lines", name="all variables", line={**dotted, "shape": "hv"})
    figure.add_scatter(x=values, y=of_set, mode="lines", name="this set", line={**thick, "shape": "hv"})
    figure.add_vline(x=float(explanation.outcome), line={"color": orange, "width": 2})
    # Both curves are flat from here on.
    last = float(values[min(int(np.searchsorted(np.minimum(of_set, of_all), 0.998)), len(values) - 1)])
    last = max(last, float(explanation.outcome), explanation.interval[1] if explanation.interval else last)
    margin = 0.04 * (last - float(values[0]))
    figure.update_xaxes(range=[float(values[0]) - margin, last + margin])
    return figure


def column_axis(column: Column) -> dict[str, Any]:
    """Lay out the axis of a column: the labels of categories, and whole numbers without fractions between them."""
    column = column.drawn
    axis: dict[str, Any] = {"title": {"text": escape(column.name), "standoff": 12}, "zeroline": False}
    if column.kind == "category" and len(column.labels) <= MAX_TICKS:
        codes = list(range(len(column.labels)))
        axis |= {"tickvals": codes, "ticktext": [escape(code_text(column, code), 18) for code in codes]}
    elif column.kind == "whole":
        low, high = drawn_range(column)
        axis |= {"tickformat": "d"} | ({"dtick": 1, "tick0": 0} if high - low <= MAX_WHOLE_TICKS else {})
    return axis


def curve(view: CurveView, scheme: str) -> go.Figure:
    """Draw a curve with the row's value, the level and the bounds of the rule."""
    text, _, blue, orange, _, purple, panel = COLOURS[scheme]
    drawn, (low, *_, high), missing_at = view.curve, view.ends, view.missing_at
    axis = column_axis(drawn.drawn_column)
    if missing_at is not None and "tickvals" in axis:
        axis = {**axis, "tickvals": [*axis["tickvals"], missing_at], "ticktext": [*axis["ticktext"], "missing"]}
    figure = base_figure(scheme, 320, xaxis=axis, yaxis={"title": "probability", "range": [0, 1.04]})
    for start, end in [] if view.bounds is None else view.bounds.within(low, high):
        figure.add_vrect(x0=start, x1=end, fillcolor=orange, opacity=0.16, line_width=0, layer="below")
    of_set, of_all = escape(f"given {join(view.known)}"), "given all variables"
    codes, options = list(range(len(drawn.of_set))), dict[str, Any]()
    if view.is_category:
        shown = [f"{code_text(drawn.drawn_column, c)}: {format_probability(drawn.of_set[c])}" for c in codes]
        options = {"marker": {"color": blue}, "width": 0.6, "customdata": shown}
        figure.add_bar(x=codes, y=drawn.of_set, name=of_set, hovertemplate="%{customdata}<extra></extra>", **options)
        _add_dashes(figure, codes, drawn.of_all, 26, text, 2, name=of_all, hoverinfo="skip")
    else:
        thin, thick = {"color": text, "width": 1, "dash": "dot"}, {"color": blue, "width": 3}
        for values, name, line in ((drawn.of_all, of_all, thin), (drawn.of_set, of_set, thick)):
            steps = [*values.tolist(), float(values[-1])]
            shown, options = list(map(format_probability, steps)), {"mode": "lines", "line": {**line, "shape": "hv"}}
            hover = "%{x}: %{customdata}<extra></extra>"
            figure.add_scatter(x=view.ends, y=steps, name=name, customdata=shown, hovertemplate=hover, **options)
    line = {"color": purple, "dash": "dash", "width": 1.5}
    level = [view.explanation.pi] * 2
    figure.add_scatter(x=[low, high], y=level, mode="lines", name=view.level_text, line=line, hoverinfo="skip")
    if missing_at is not None:
        for value, colour, width in zip(drawn.at_missing or (), (blue, text), (3, 1), strict=True):
            hover = f"missing: {format_probability(value)}<extra></extra>"
            _add_dashes(figure, [missing_at], [value], 22, colour, width, showlegend=False, hovertemplate=hover)
        if not view.is_category:
            place = {"x": missing_at, "y": 0, "yanchor": "bottom", "showarrow": False}
            figure.add_annotation(text="missing", font={"size": 10}, **place)
    name = escape(f"this row: {view.own_text}, {format_probability(drawn.at_own[0])}")
    marker = {"color": panel, "size": 12, "line": {"color": text, "width": 2.5}}
    figure.add_scatter(x=[view.own_at], y=[drawn.at_own[0]], mode="markers", name=name, marker=marker)
    return figure


def _add_dashes(figure: go.Figure, x: list[Any], y: Any, size: int, colour: str, width: int, **more: Any) -> None:
    marker = {"symbol": "line-ew", "size": size, "line": {"color": colour, "width": width}}
    figure.add_scatter(x=x, y=y, mode="markers", marker=marker, **more)
