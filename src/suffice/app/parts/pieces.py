"""Pieces of pages, in the look of the report: sentences, bars, tiles, and a rule drawn on the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dash_mantine_components as dmc
import numpy as np
from dash import html
from numpy.typing import NDArray

from suffice._show.cards import bounds_text, code_text, condition_text, is_included
from suffice._table.encoding import Column
from suffice.explanation import Explanation
from suffice.rules import Condition, Rule
from suffice.words import format_number, format_percent, format_probability, format_value

N_BINS = 40
MAX_BARS = 30  # of a category; more are drawn as one
MAX_DRAWN = 12  # columns of one rule


def panel(
    title: str, *children: Any, note: str = "", extra: Any = None, name: str = "", wide: bool = False
) -> html.Section:
    """Make a panel with a title.

    Parameters
    ----------
    title : str
        The title.
    *children : component
        What it holds.
    note : str, default=""
        A few words beside the title.
    extra : component, default=None
        Something at the right of the title.
    name : str, default=""
        Its id.
    wide : bool, default=False
        Whether it takes the whole width.

    Returns
    -------
    dash.html.Section
        The panel.
    """
    head = [html.H2(title), html.Span(note, className="note"), html.Span(className="gap"), extra]
    options = {"id": name} if name else {}
    return html.Section(
        [html.Div([h for h in head if h is not None], className="panel-head"), *children],
        className="panel wide" if wide else "panel",
        **options,
    )


def message(kind: str, *children: Any) -> html.Div:
    """Make a message.

    Parameters
    ----------
    kind : {"error", "care", "plain"}
        How much it matters.
    *children : component
        What it says.

    Returns
    -------
    dash.html.Div
        The message.
    """
    return html.Div(list(children), className=f"message {kind}", role="alert" if kind == "error" else "status")


def bar(share: float, kind: str = "", tick: float | None = None) -> html.Span:
    """Draw a share of 1.

    Parameters
    ----------
    share : float
        The share.
    kind : {"", "importance", "plain"}, default=""
        The colour.
    tick : float, default=None
        A mark on it.

    Returns
    -------
    dash.html.Span
        The bar.
    """
    width = f"{100 * min(max(share, 0), 1):.3g}%"
    marks = [html.Span(className="tick", style={"left": f"{100 * tick:.3g}%"})] if tick is not None else []
    return html.Span([html.Span(className=f"fill {kind}", style={"width": width}), *marks], className="bar")


def importance_bars(importance: Mapping[str, float], most: int) -> Any:
    """Draw the importance of variables.

    Parameters
    ----------
    importance : mapping of str to float
        The LXI of each.
    most : int
        How many are drawn at most.

    Returns
    -------
    component
        The bars, the largest first.
    """
    ranked = sorted(((n, v) for n, v in importance.items() if v > 0), key=lambda item: -item[1])
    if not ranked:
        return html.Div("No variable is in a sufficient set.", className="note")
    cells: list[Any] = []
    for name, value in ranked[:most]:
        cells += [
            html.Span(name, className="label"),
            bar(value, "importance"),
            html.Span(f"{value:.2f}", className="number"),
        ]
    more = [html.Div(f"and {len(ranked) - most} more", className="note more")] if len(ranked) > most else []
    return html.Div([*cells, *more], className="bars")


def outcome_text(explanation: Explanation, target: str) -> list[Any]:
    """Tell the outcome and its interval.

    Parameters
    ----------
    explanation : Explanation
        The explanation.
    target : str
        What the outcome is called.

    Returns
    -------
    list of component
        The large number or class, and what counts as kept.
    """
    if explanation.interval is None:
        return [html.Span(str(explanation.outcome), className="large", id="outcome")]
    low, high = (format_number(end) for end in explanation.interval)
    return [
        html.Span(format_number(float(f"{explanation.outcome:.4g}")), className="large", id="outcome"),
        html.Span(f"kept within [{low}, {high}]", className="kept", id="interval"),
    ]


def rule_sentence(rule: Rule) -> html.Div:
    """Write a rule as a sentence.

    Parameters
    ----------
    rule : Rule
        The rule.

    Returns
    -------
    dash.html.Div
        The sentence, as the library writes it, with short numbers.
    """
    said = str(rule.outcome)
    if rule.interval is not None:
        said = f"{rule.target} in [{format_number(rule.interval[0])}, {format_number(rule.interval[1])}]"
    words: list[Any] = [html.B("IF ")] if rule.conditions else [html.B("ALWAYS ")]
    for i, condition in enumerate(rule.conditions):
        words += [html.B(" AND ")] * (i > 0) + [html.Span(condition_text(condition))]
    words += ([html.B(" THEN ")] if rule.conditions else []) + [html.Span(said, className="said")]
    return html.Div(words, className="sentence", title=str(rule), id="sentence")


def figures(rule: Rule, pi: float) -> html.Div:
    """Tell how much a rule covers, how sure and how right it is.

    Parameters
    ----------
    rule : Rule
        The rule.
    pi : float
        The probability that was asked for.

    Returns
    -------
    dash.html.Div
        Three bars and a note.
    """
    cells = [
        ("SDP", rule.sdp, format_probability(rule.sdp), pi),
        ("coverage", rule.coverage, f"{format_percent(rule.coverage)} %", None),
        (
            "precision",
            rule.precision or 0.0,
            "-" if rule.precision is None else format_probability(rule.precision),
            None,
        ),
    ]
    drawn = [
        html.Div(
            [html.Span(name, className="key"), bar(share, "", tick), html.Span(text, className="number")],
            className="figure",
        )
        for name, share, text, tick in cells
    ]
    proof = "proven to be the largest such box" if rule.optimal else "the largest found; a larger one may exist"
    rows = f"{rule.support} training row{'' if rule.support == 1 else 's'}"
    return html.Div([html.Div(drawn, className="figures"), html.Div(f"{rows}; {proof}.", className="note under")])


# --- a rule on the data -----------------------------------------------------------------------------------------------


def draw_rule(
    columns: Sequence[tuple[int, Column]],
    matrix: NDArray[np.float32],
    row: NDArray[np.float32],
    rule: Rule | None,
) -> html.Div:
    """Draw what a rule asks of each variable on the distribution of its training values.

    Parameters
    ----------
    columns : sequence of (int, Column)
        The columns, with their positions in the matrix.
    matrix : ndarray of shape (n_rows, n_columns)
        The training rows.
    row : ndarray of shape (n_columns,)
        The row that is explained.
    rule : Rule or None
        The rule; None draws the row's values alone.

    Returns
    -------
    dash.html.Div
        One drawing for each column.
    """
    asked = {condition.name: condition for condition in rule.conditions} if rule is not None else {}
    drawn = [_draw(column, matrix[:, c], float(row[c]), asked.get(column.name)) for c, column in columns[:MAX_DRAWN]]
    return html.Div(drawn, className="hists")


def _draw(column: Column, values: NDArray[np.float32], own: float, condition: Condition | None) -> html.Div:
    known = values[~np.isnan(values)].astype(np.float64)
    n_missing = len(values) - len(known)
    told = "any value" if condition is None else bounds_text(condition) if condition.labels is None else ""
    if condition is not None and condition.labels is not None:
        told = condition_text(condition).removeprefix(condition.name).strip()
    head = html.Div(
        [html.Span(column.name, className="name"), html.Span(told, className="asked" if condition else "note")],
        className="hist-head",
    )
    value = format_value(column.decode(own)) if not np.isnan(own) else "missing"
    body = (
        _bars(column, known, own, condition) if column.kind == "category" else _histogram(column, known, own, condition)
    )
    missing = f" · {format_percent(n_missing / len(values))} % missing" if n_missing else ""
    return html.Div(
        [head, body, html.Div(["this row: ", html.B(value), missing], className="note")], className="hist-box"
    )


def _histogram(column: Column, known: NDArray[np.float64], own: float, condition: Condition | None) -> html.Div:
    if not len(known):
        return html.Div("All values are missing.", className="note")
    low, high = float(known.min()), float(known.max())
    is_whole = column.kind == "whole" and high - low < N_BINS
    edges = (
        np.arange(low - 0.5, high + 1) if is_whole else np.linspace(low, high if high > low else low + 1, N_BINS + 1)
    )
    counts, edges = np.histogram(known, edges)
    begin, span = float(edges[0]), float(edges[-1] - edges[0])

    def place(x: float) -> float:
        return 100 * float(np.clip((x - begin) / span, 0, 1))

    parts: list[Any] = []
    low_end, high_end = np.nan, np.nan
    if condition is not None and condition.values:
        low_end, high_end = _whole_ends(condition) if is_whole else (condition.low, condition.high)
        left, right = place(low_end), place(high_end)
        ends = ["from"] * bool(np.isfinite(condition.low)) + ["to"] * bool(np.isfinite(condition.high))
        style = {"left": f"{left:.3f}%", "width": f"{max(right - left, 0.6):.3f}%"}
        parts.append(html.Span(className=" ".join(["band", *ends]), style=style))
    top = max(int(counts.max()), 1)
    for n, a, b in zip(counts, edges[:-1], edges[1:], strict=True):
        if n:
            where = {"left": f"{place(a):.3f}%", "width": f"{100 * (b - a) / span:.3f}%"}
            kind = "rod in" if low_end <= (a + b) / 2 <= high_end else "rod"
            style = {**where, "height": f"{100 * n / top:.2f}%"}
            parts.append(html.Span(className=kind, style=style, title=f"{int(n)} rows"))
    if not np.isnan(own):
        parts.append(html.Span(className="own", style={"left": f"{place(own):.3f}%"}))
    scale = html.Div([html.Span(format_number(low)), html.Span(format_number(high))], className="scale")
    return html.Div([html.Div(parts, className="hist"), scale])


def _whole_ends(condition: Condition) -> tuple[float, float]:
    """Give the ends of a band that takes in the whole bars of the numbers that satisfy a condition."""
    low, high = condition.low, condition.high
    if np.isfinite(low):
        low = np.ceil(low) if condition.low_closed or low != np.ceil(low) else low + 1
    if np.isfinite(high):
        high = np.floor(high) if condition.high_closed or high != np.floor(high) else high - 1
    return low - 0.5, high + 0.5


def _bars(column: Column, known: NDArray[np.float64], own: float, condition: Condition | None) -> html.Div:
    counts = np.bincount(known.astype(np.intp), minlength=len(column.labels))
    top = max(int(counts.max()), 1) if len(counts) else 1
    order = np.argsort(-counts, kind="stable")[:MAX_BARS] if len(counts) > MAX_BARS else np.arange(len(counts))
    drawn = []
    for code in order.tolist():
        is_in = condition is not None and any(is_included(condition, label) for label in column.labels[code])
        kind = " ".join(["level"] + ["in"] * is_in + ["mine"] * (not np.isnan(own) and int(own) == code))
        height = html.Span(className="rod", style={"height": f"{max(100 * counts[code] / top, 1):.2f}%"})
        text = code_text(column, code)
        drawn.append(
            html.Span(
                [html.Span(height, className="shaft"), html.Span(text, className="tag")],
                className=kind,
                title=f"{text}: {counts[code]} rows",
            )
        )
    return html.Div(drawn, className="levels" if len(order) <= 8 else "levels many")


def class_bars(
    classes: Sequence[Any], of_set: NDArray[np.float64], of_all: NDArray[np.float64], outcome: Any
) -> html.Div:
    """Draw class probabilities, knowing a set and knowing everything.

    Parameters
    ----------
    classes : sequence of object
        The labels.
    of_set, of_all : ndarray of shape (n_classes,)
        Their probabilities.
    outcome : object
        The class that is explained.

    Returns
    -------
    dash.html.Div
        Two bars for each class, of the most likely ones.
    """
    order = np.argsort(-np.maximum(of_set, of_all), kind="stable")[:12]
    lines = []
    for c in order.tolist():
        rows = [("this set", of_set[c], ""), ("all variables", of_all[c], "plain")]
        cells: list[Any] = []
        for text, share, kind in rows:
            cells += [
                html.Span(text, className="key"),
                bar(float(share), kind),
                html.Span(format_probability(float(share)), className="number"),
            ]
        own = " own" if classes[c] == outcome else ""
        lines.append(
            html.Div([html.Div(str(classes[c]), className=f"class-name{own}"), html.Div(cells, className="pair")])
        )
    return html.Div(lines, className="classes")


def tile(name: str, large: str, note: str = "") -> html.Div:
    """Make a tile with one figure.

    Parameters
    ----------
    name : str
        What it is.
    large : str
        The figure.
    note : str, default=""
        More about it.

    Returns
    -------
    dash.html.Div
        The tile.
    """
    return html.Div(
        [html.Div(name, className="note"), html.Div(large, className="large"), html.Div(note, className="note")],
        className="tile",
    )


def slider_row(label: str, name: str, value: float, low: float, high: float, step: float, note: str) -> html.Div:
    """Make a labelled slider that shows its value.

    Parameters
    ----------
    label : str
        What it sets.
    name : str
        Its id; its text has the id with "-text".
    value, low, high, step : float
        Where it stands, its ends and its step.
    note : str
        What it means.

    Returns
    -------
    dash.html.Div
        The row.
    """
    return html.Div(
        [
            html.Div(
                [html.Label(label), html.Span(f"{value:g}", id=f"{name}-text", className="number")],
                className="setting-head",
            ),
            dmc.Slider(id=name, value=value, min=low, max=high, step=step, size="sm", label=None, updatemode="mouseup"),
            html.Div(note, className="note"),
        ],
        className="setting",
    )
