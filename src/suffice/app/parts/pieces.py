"""Pieces of pages that look like the report: panels, messages, sentences, bars, tiles and sliders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_mantine_components as dmc
import numpy as np
from dash import html
from numpy.typing import NDArray

from suffice._show.picture import RulePicture, importance_shares, kept_text, more_text
from suffice._text import format_probability
from suffice.explaining.explanation import Explanation


def panel(
    title: str, *children: Any, note: str = "", extra: Any = None, name: str = "", wide: bool = False
) -> html.Section:
    """Make a panel with a title."""
    head = [html.H2(title), html.Span(note, className="note"), html.Span(className="gap"), extra]
    options = {"id": name} if name else {}
    return html.Section(
        [html.Div([h for h in head if h is not None], className="panel-head"), *children],
        className="panel wide" if wide else "panel",
        **options,
    )


def message(kind: str, *children: Any) -> html.Div:
    """Make a message."""
    return html.Div(list(children), className=f"message {kind}", role="alert" if kind == "error" else "status")


def bar(share: float, kind: str = "", tick: float | None = None) -> html.Span:
    """Draw a share of 1."""
    width = f"{100 * min(max(share, 0), 1):.3g}%"
    marks = [html.Span(className="tick", style={"left": f"{100 * tick:.3g}%"})] if tick is not None else []
    return html.Span([html.Span(className=f"fill {kind}", style={"width": width}), *marks], className="bar")


def importance_bars(ranked: Sequence[tuple[str, float]], most: int) -> Any:
    """Draw the importance of variables."""
    shares = importance_shares(ranked)
    if not shares:
        return html.Div("No variable is in a sufficient set.", className="note")
    cells: list[Any] = []
    for share in shares[:most]:
        cells += [
            html.Span(share.name, className="label"),
            bar(share.value, "importance"),
            html.Span(share.text, className="number"),
        ]
    more = [html.Div(more_text(len(shares), most), className="note more")] if len(shares) > most else []
    return html.Div([*cells, *more], className="bars")


def outcome_text(explanation: Explanation) -> list[Any]:
    """Show the outcome and its interval."""
    outcome = html.Span(explanation.sentences.outcome_text, className="large", id="outcome")
    if explanation.interval is None:
        return [outcome]
    return [outcome, html.Span(kept_text(explanation.sentences.interval_text), className="kept", id="interval")]


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
        html.Div(
            [
                html.Span(share.name, className="key"),
                bar(share.value, "", share.tick),
                html.Span(share.text, className="number"),
            ],
            className="figure",
        )
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
    """Make a tile with one figure."""
    return html.Div(
        [html.Div(name, className="note"), html.Div(large, className="large"), html.Div(note, className="note")],
        className="tile",
    )


def slider_row(label: str, name: str, value: float, low: float, high: float, step: float, note: str) -> html.Div:
    """Make a labelled slider that shows its value."""
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


def choice_row(
    label: str, name: str, choices: Sequence[tuple[str, str]], value: str, *, note: str = "", hidden: bool = False
) -> html.Div:
    """Make a labelled setting that has a few values."""
    data = [{"value": choice, "label": text} for choice, text in choices]
    return html.Div(
        [
            html.Div(html.Label(label), className="setting-head"),
            dmc.SegmentedControl(id=name, data=data, value=value, size="xs", fullWidth=True),
            *([html.Div(note, className="note")] if note else []),
        ],
        className="setting",
        hidden=hidden,
    )
