"""The probability that an outcome is kept along one column, as a Plotly figure."""

from __future__ import annotations

import math

import plotly.graph_objects as go

from suffice._show.axis import code_text
from suffice._show.curve_figure import CurveView
from suffice._text import format_probability, join
from suffice.app.parts.charts import COLOURS, base_figure, column_axis, plain
from suffice.explaining.curve import Curve

HEIGHT = 320


def draw_curve(view: CurveView, scheme: str) -> go.Figure:
    """Draw a curve with the row's value, the level and the bounds of the rule."""
    text, _, _, orange, _, purple, panel = COLOURS[scheme]
    column, (low, high) = view.curve.column, view.range
    missing_at = _missing_at(view)
    axis = column_axis(column)
    if missing_at is not None and "tickvals" in axis:
        axis = {**axis, "tickvals": [*axis["tickvals"], missing_at], "ticktext": [*axis["ticktext"], "missing"]}
    figure = base_figure(scheme, HEIGHT, xaxis=axis, yaxis={"title": "probability", "range": [0, 1.04]})
    for start, end in [] if view.bounds is None else view.bounds.within(low, high):
        figure.add_vrect(x0=start, x1=end, fillcolor=orange, opacity=0.16, line_width=0, layer="below")
    _add_lines(figure, view, scheme)
    figure.add_scatter(
        x=[low, high],
        y=[view.explanation.pi] * 2,
        mode="lines",
        name=view.level_text,
        line={"color": purple, "dash": "dash", "width": 1.5},
        hoverinfo="skip",
    )
    if missing_at is not None:
        _add_missing(figure, view, missing_at, scheme)
    own = missing_at if math.isnan(view.curve.own) else view.curve.own
    probability = format_probability(view.curve.at_own[0])
    figure.add_scatter(
        x=[own],
        y=[view.curve.at_own[0]],
        mode="markers",
        name=plain(f"this row: {view.own_text}, {probability}"),
        marker={"color": panel, "size": 12, "line": {"color": text, "width": 2.5}},
    )
    return figure


def draw_target_curve(curve: Curve, wanted: str, level: float, scheme: str) -> go.Figure:
    """Draw the probability of the wanted outcome along one column, if all other values stay."""
    text, _, blue, _, _, purple, panel = COLOURS[scheme]
    column = curve.column
    axis = {"title": f"probability of {plain(wanted)}", "range": [0, 1.04]}
    figure = base_figure(scheme, 240, xaxis=column_axis(column), yaxis=axis)
    ends = curve.ends.tolist()
    if column.kind == "category":
        codes = list(range(len(curve.of_all)))
        labels = [code_text(column, code) for code in codes]
        figure.add_bar(
            x=codes, y=curve.of_all, name="with this value", marker={"color": blue}, width=0.6,
            customdata=labels, hovertemplate="%{customdata}: %{y:.2f}<extra></extra>",
        )  # fmt: skip
    else:
        steps = [*curve.of_all.tolist(), float(curve.of_all[-1])]
        figure.add_scatter(
            x=ends, y=steps, mode="lines", name="with this value", line={"color": blue, "width": 3, "shape": "hv"},
            hovertemplate="%{x}: %{y:.2f}<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=[ends[0], ends[-1]], y=[level] * 2, mode="lines", name="level", hoverinfo="skip",
        line={"color": purple, "dash": "dash", "width": 1.5},
    )  # fmt: skip
    if not math.isnan(curve.own):
        figure.add_scatter(
            x=[curve.own], y=[curve.at_own[1]], mode="markers",
            name=f"this row: {format_probability(curve.at_own[1])}",
            marker={"color": panel, "size": 12, "line": {"color": text, "width": 2.5}},
        )  # fmt: skip
    return figure


def _missing_at(view: CurveView) -> float | None:
    if view.curve.at_missing is None:
        return None
    low, high = view.range
    return high + 0.5 if view.curve.column.kind == "category" else low - 0.06 * (high - low)


def _add_lines(figure: go.Figure, view: CurveView, scheme: str) -> None:
    text, _, blue, *_ = COLOURS[scheme]
    names = (plain(f"given {join(view.known)}"), "given all variables")
    curve = view.curve
    if curve.column.kind == "category":
        codes = list(range(len(curve.of_set)))
        labels = [code_text(curve.column, code) for code in codes]
        figure.add_bar(
            x=codes, y=curve.of_set, name=names[0], marker={"color": blue}, width=0.6,
            customdata=labels, hovertemplate="%{customdata}: %{y:.2f}<extra></extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=codes, y=curve.of_all, mode="markers", name=names[1], hoverinfo="skip",
            marker={"symbol": "line-ew", "size": 26, "line": {"color": text, "width": 2}},
        )  # fmt: skip
        return
    ends = list(view.range) if curve.ends[0] == curve.ends[-1] else curve.ends.tolist()
    for values, name, line in (
        (curve.of_all, names[1], {"color": text, "width": 1, "dash": "dot"}),
        (curve.of_set, names[0], {"color": blue, "width": 3}),
    ):
        steps = [*values.tolist(), float(values[-1])]
        hover = "%{x}: %{y:.2f}<extra></extra>"
        figure.add_scatter(
            x=ends, y=steps, mode="lines", name=name, line={**line, "shape": "hv"}, hovertemplate=hover
        )  # fmt: skip


def _add_missing(figure: go.Figure, view: CurveView, missing_at: float, scheme: str) -> None:
    text, _, blue, *_ = COLOURS[scheme]
    assert view.curve.at_missing is not None
    for value, colour, width in zip(view.curve.at_missing, (blue, text), (3, 1), strict=True):
        figure.add_scatter(
            x=[missing_at], y=[value], mode="markers", showlegend=False,
            marker={"symbol": "line-ew", "size": 22, "line": {"color": colour, "width": width}},
            hovertemplate="missing: %{y:.2f}<extra></extra>",
        )  # fmt: skip
    if view.curve.column.kind != "category":
        figure.add_annotation(text="missing", x=missing_at, y=0, yanchor="bottom", showarrow=False, font={"size": 10})
