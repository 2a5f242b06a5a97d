"""A rule drawn on the training values of its columns: histograms, and bars of categories.

Where a condition lies on the axis of its column is computed by ``_show.axis``; here it is only drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import html
from numpy.typing import NDArray

from suffice._show.axis import band, bounds_text, code_text, drawn_range, end_texts, included_codes, share
from suffice._table.encoding import Column
from suffice._text import counted, format_percent, format_value
from suffice.explaining.rule import Condition, Rule

N_BINS = 40
MAX_BARS = 30  # categories of a column that are drawn, the most frequent ones
MAX_DRAWN = 12  # columns of one rule
MIN_WIDTH = 0.6  # of a band, in percent of the drawing


def draw_rule(
    columns: Sequence[tuple[int, Column]],
    matrix: NDArray[np.float32],
    row: NDArray[np.float32],
    rule: Rule | None,
) -> html.Div:
    """Draw each condition of a rule on the distribution of the training values of its column."""
    conditions = {condition.name: condition for condition in rule.conditions} if rule is not None else {}
    drawn = [
        _draw(column, matrix[:, c], float(row[c]), conditions.get(column.name), "" if rule is None else "any value")
        for c, column in columns[:MAX_DRAWN]
    ]
    return html.Div(drawn, className="hists")


def _draw(
    column: Column, values: NDArray[np.float32], own: float, condition: Condition | None, unbounded: str
) -> html.Div:
    known = values[~np.isnan(values)].astype(np.float64)
    bounds = unbounded if condition is None else bounds_text(condition)
    head = html.Div(
        [html.Span(column.name, className="name"), html.Span(bounds, className="bounds" if condition else "note")],
        className="hist-head",
    )
    draw_values = _bars if column.kind == "category" else _histogram
    value = format_value(column.decode(own)) if not np.isnan(own) else "missing"
    n_missing = len(values) - len(known)
    missing = f" · {format_percent(n_missing / len(values))} % missing" if n_missing else ""
    below = html.Div(["this row: ", html.B(value), missing], className="note")
    return html.Div([head, draw_values(column, known, own, condition), below], className="hist-box")


def _histogram(column: Column, known: NDArray[np.float64], own: float, condition: Condition | None) -> html.Div:
    if not len(known):
        return html.Div("All values are missing.", className="note")
    ends = drawn_range(column)
    n_bins = int(ends[1] - ends[0]) if column.kind == "whole" and ends[1] - ends[0] <= N_BINS else N_BINS
    counts, _ = np.histogram(known, n_bins, ends)  # a single number lies in the middle, as with `share`
    kept = band(column, condition)
    drawn: list[Any] = []
    if kept is not None:
        drawn.append(html.Span(className=f"band{kept.sides}", style=_extent(kept.start, kept.end)))
    top = max(int(counts.max()), 1)
    for i, n in enumerate(counts.tolist()):
        if n:
            kind = "rod in" if kept is not None and kept.start <= (i + 0.5) / n_bins <= kept.end else "rod"
            style = {**_extent(i / n_bins, (i + 1) / n_bins), "height": f"{100 * n / top:.2f}%"}
            drawn.append(html.Span(className=kind, style=style, title=counted(n, "row")))
    if not np.isnan(own):
        drawn.append(html.Span(className="own", style={"left": f"{100 * share(own, ends):.3f}%"}))
    scale = html.Div([html.Span(text) for text in end_texts(column)], className="scale")
    return html.Div([html.Div(drawn, className="hist"), scale])


def _extent(start: float, end: float) -> dict[str, str]:
    return {"left": f"{100 * start:.3f}%", "width": f"{max(100 * (end - start), MIN_WIDTH):.3f}%"}


def _bars(column: Column, known: NDArray[np.float64], own: float, condition: Condition | None) -> html.Div:
    counts = np.bincount(known.astype(np.intp), minlength=len(column.labels))
    top = max(int(counts.max()), 1) if len(counts) else 1
    order = np.argsort(-counts, kind="stable")[:MAX_BARS] if len(counts) > MAX_BARS else np.arange(len(counts))
    included = set() if condition is None else set(included_codes(column, condition))
    drawn = []
    for code in order.tolist():
        is_own = not np.isnan(own) and int(own) == code
        kinds = ["level"] + ["in"] * (code in included) + ["mine"] * is_own
        height = html.Span(className="rod", style={"height": f"{max(100 * counts[code] / top, 1):.2f}%"})
        text = code_text(column, code)
        drawn.append(
            html.Span(
                [html.Span(height, className="shaft"), html.Span(text, className="tag")],
                className=" ".join(kinds),
                title=f"{text}: {counted(int(counts[code]), 'row')}",
            )
        )
    return html.Div(drawn, className="levels" if len(order) <= 8 else "levels many")
