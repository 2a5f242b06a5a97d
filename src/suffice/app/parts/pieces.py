"""Answers drawn as in the report: sentences, bars, figures, and rules on the distributions of training values.

Where a condition lies on the axis of its column is computed by ``_show.axis``; here it is only drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from dash import html

from suffice._show import axis
from suffice._show.picture import importance_shares, kept_text, more_text
from suffice._text import counted, format_percent, format_probability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice._show.picture import RulePicture
    from suffice._table.encoding import Column
    from suffice.explaining.explanation import Explanation
    from suffice.explaining.rule import Condition, Rule

N_BINS = 40
MAX_BARS = 30  # categories of a column that are drawn, the most frequent ones
MAX_DRAWN = 12  # columns of one rule
MIN_WIDTH = 0.6  # of a band, in percent of the drawing


def bar(share: float, kind: str = "", tick: float | None = None) -> html.Span:
    """Draw a bar for a share between 0 and 1."""
    width = f"{100 * min(max(share, 0), 1):.3g}%"
    marks = [html.Span(className="tick", style={"left": f"{100 * tick:.3g}%"})] if tick is not None else []
    return html.Span([html.Span(className=f"fill {kind}", style={"width": width}), *marks], className="bar")


def _bar_cells(name: str, kind: str, drawn: html.Span, text: str) -> list[html.Span]:
    return [html.Span(name, className=kind), drawn, html.Span(text, className="number")]


def importance_bars(ranked: Sequence[tuple[str, float]], most: int) -> Any:
    """Draw the importance of variables."""
    shares = importance_shares(ranked)
    if not shares:
        return html.Div("No variable is in a sufficient set.", className="note")
    cells: list[Any] = []
    for share in shares[:most]:
        cells += _bar_cells(share.name, "label", bar(share.value, "importance"), share.text)
    more = [html.Div(more_text(len(shares), most), className="note more")] if len(shares) > most else []
    return html.Div([*cells, *more], className="bars")


def outcome_text(explanation: Explanation) -> list[Any]:
    """Show the outcome and its interval."""
    sentences = explanation.sentences
    outcome = html.Span(sentences.outcome_text, className="large", id="outcome")
    if explanation.interval is None:
        return [outcome]
    return [outcome, html.Span(kept_text(sentences.interval_text), className="kept", id="interval")]


def rule_sentence(picture: RulePicture) -> html.Div:
    """Write a rule as a sentence."""
    words: list[Any] = []
    for word in picture.sentence:
        words += [html.B(word.text) if word.is_key else html.Span(word.text), " "]
    words[-2].className = "then"
    return html.Div(words[:-1], className="sentence", title=picture.text, id="sentence")


def figures(picture: RulePicture) -> html.Div:
    """Show the SDP, the coverage and the precision of a rule."""
    drawn = [
        html.Div(_bar_cells(share.name, "key", bar(share.value, "", share.tick), share.text), className="figure")
        for share in (picture.sdp, picture.coverage, picture.precision)
    ]
    under = " ".join(filter(None, (picture.rows, picture.lift, picture.proof)))
    notes = [html.Div(text, className="note under") for text in (under, picture.checked) if text]
    return html.Div([html.Div(drawn, className="figures"), *notes])


def class_bars(
    classes: Sequence[Any], of_set: NDArray[np.float64], of_all: NDArray[np.float64], outcome: Any
) -> html.Div:
    """Draw the probabilities of classes given a set, and given all variables."""
    order = np.argsort(-np.maximum(of_set, of_all), kind="stable")[:12]
    lines = []
    for c in order.tolist():
        cells: list[Any] = []
        for text, shares, kind in (("this set", of_set, ""), ("all variables", of_all, "plain")):
            share = float(shares[c])
            cells += _bar_cells(text, "key", bar(share, kind), format_probability(share))
        own = " own" if classes[c] == outcome else ""
        lines.append(
            html.Div([html.Div(str(classes[c]), className=f"class-name{own}"), html.Div(cells, className="pair")])
        )
    return html.Div(lines, className="classes")


# --- rules drawn on training values -----------------------------------------------------------------------------------


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
    bounds = unbounded if condition is None else axis.bounds_text(condition)
    head = html.Div(
        [html.Span(column.name, className="name"), html.Span(bounds, className="bounds" if condition else "note")],
        className="hist-head",
    )
    value = column.text_of(column.decode(own)) if not np.isnan(own) else "missing"
    column = column.drawn
    draw_values = _bars if column.kind == "category" else _histogram
    n_missing = len(values) - len(known)
    missing = f" · {format_percent(n_missing / len(values))} % missing" if n_missing else ""
    below = html.Div(["this row: ", html.B(value), missing], className="note")
    return html.Div([head, draw_values(column, known, own, condition), below], className="hist-box")


def _histogram(column: Column, known: NDArray[np.float64], own: float, condition: Condition | None) -> html.Div:
    if not len(known):
        return html.Div("All values are missing.", className="note")
    ends = axis.drawn_range(column)
    n_bins = int(ends[1] - ends[0]) if column.kind == "whole" and ends[1] - ends[0] <= N_BINS else N_BINS
    counts, _ = np.histogram(known, n_bins, ends)  # a single number lies in the middle, as with `share`
    kept = axis.band(column, condition)
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
        drawn.append(html.Span(className="own", style={"left": f"{100 * axis.share(own, ends):.3f}%"}))
    scale = html.Div([html.Span(text) for text in axis.end_texts(column)], className="scale")
    return html.Div([html.Div(drawn, className="hist"), scale])


def _extent(start: float, end: float) -> dict[str, str]:
    return {"left": f"{100 * start:.3f}%", "width": f"{max(100 * (end - start), MIN_WIDTH):.3f}%"}


def _bars(column: Column, known: NDArray[np.float64], own: float, condition: Condition | None) -> html.Div:
    counts = np.bincount(known.astype(np.intp), minlength=len(column.labels))
    top = max(int(counts.max()), 1) if len(counts) else 1
    order = np.argsort(-counts, kind="stable")[:MAX_BARS] if len(counts) > MAX_BARS else np.arange(len(counts))
    included = set() if condition is None else set(axis.included_codes(column, condition))
    drawn = []
    for code in order.tolist():
        is_own = not np.isnan(own) and int(own) == code
        kinds = ["level"] + ["in"] * (code in included) + ["mine"] * is_own
        height = html.Span(className="rod", style={"height": f"{max(100 * counts[code] / top, 1):.2f}%"})
        text = axis.code_text(column, code)
        drawn.append(
            html.Span(
                [html.Span(height, className="shaft"), html.Span(text, className="tag")],
                className=" ".join(kinds),
                title=f"{text}: {counted(int(counts[code]), 'row')}",
            )
        )
    return html.Div(drawn, className="levels" if len(order) <= 8 else "levels many")
