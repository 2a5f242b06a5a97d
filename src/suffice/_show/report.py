"""A report of explanations: one HTML file that needs nothing else.

What is said of all rows is written as HTML. Rules and rows are written as compact JSON, column by column, and drawn by
the script of the page, one page of them at a time; the drawings are those of ``cards``.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import math
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from suffice._io.writing import replacing
from suffice._show.cards import (
    about_facts,
    bounds_text,
    code_text,
    condition_text,
    fidelity_bars,
    importance_bars,
    is_included,
    missing_text,
    ranked,
    rounded,
    size_bars,
)
from suffice._show.markup import Html, bar, element, facts, part, read_template
from suffice._table.encoding import Column
from suffice.explanation import N_LISTED
from suffice.explanations import Explanations
from suffice.global_rules import GlobalRule, GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rules import Condition
from suffice.words import counted, format_number, format_percent, format_probability, format_value

MAX_IMPORTANCES = 15


def write_report(explanations: Explanations, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write explanations into one HTML page that needs nothing else: no other file, no network.

    Parameters
    ----------
    explanations : Explanations
        The explanations.
    path : str or path
        Where to write it. The page is written beside it first: a file that is there is replaced as a whole, or stays.
    title : str, default=None
        What stands at the top; None names the target.

    Returns
    -------
    Path
        The file.
    """
    if not isinstance(explanations, Explanations):
        raise TypeError(f"`explanations` must be what `explain` returns, got {type(explanations).__name__}.")
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"The folder of the report does not exist: {str(target.parent)!r}.")
    _write_whole(target, make_report(explanations, title=title))
    return target


def make_report(explanations: Explanations, *, title: str | None = None) -> str:
    """Make the page.

    Parameters
    ----------
    explanations : Explanations
        The explanations.
    title : str, default=None
        What stands at the top; None names the target.

    Returns
    -------
    str
        The HTML text.
    """
    about = explanations.about
    script = read_template("report.js")
    style = read_template("card.css") + read_template("report.css")
    data = _data(explanations)
    told = title if title is not None else f"Explanations of {about['target']}"
    return _fill(
        read_template("report.html"),
        {
            "title": _escape(told),
            "lead": _escape(_lead(explanations)),
            "glance": _glance(explanations, _count(data)),
            "rules": _escape(_about_rules(explanations, len(data["lines"]))),
            "precision": _escape(_about_precision(about)),
            "pi": _escape(f"{explanations.pi:g}"),
            "interval": _about_interval(about),
            "settings": _settings(explanations),
            "style": style,
            "script": script,
            "hash": f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}",
            "data": embed_json(data),
        },
    )


def embed_json(data: Any) -> str:
    r"""Write JSON that can stand in a script element of any page.

    Parameters
    ----------
    data : object
        Plain values; no infinite numbers and no NaN.

    Returns
    -------
    str
        JSON in ASCII without any character that means something in HTML.

    Examples
    --------
    >>> print(embed_json(["</script>"]))
    ["\u003c/script\u003e"]
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _fill(template: str, parts: Mapping[str, str]) -> str:
    """Put parts in their places, in one go: a part that looks like a place stays as it is."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def _write_whole(path: Path, text: str) -> None:
    with replacing(path) as written:
        # A lone half of a surrogate pair, as in a broken label, has no UTF-8.
        written.write_text(text, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")


def _escape(text: str) -> str:
    return element("i", "", text)[3:-4]


# --- what is said of all rows ----------------------------------------------------------------------------------------


def _lead(explanations: Explanations) -> str:
    about = explanations.about
    of_model = f"with the outputs of {about['model']} " if about["model"] else ""
    return (
        "Which few variables are enough to keep each outcome, within which bounds, and how surely: "
        f"{counted(len(explanations), 'row')} {of_model}explained by {counted(about['n_rows'], 'training row')}."
    )


def _tile(name: str, large: str, note: str, share: float | None = None) -> Html:
    drawn = "" if share is None else bar(share)
    named, told = element("div", "eyebrow", name), element("div", "note", note)
    return element("div", "tile", named, element("div", "large", large), drawn, told)


def _count(data: Mapping[str, Any]) -> dict[str, Any]:
    """Count rows by the size of their smallest set, and those of which the forest says something else."""
    rows = data["rows"]
    smallest = [len(data["sets"][listed[0]]) for listed, n in zip(rows["sets"], rows["nSets"], strict=True) if n]
    sizes = dict(sorted(Counter(smallest).items()))
    return {"sufficient": len(smallest), "disagree": sum(care > 0 for care in rows["care"]), "sizes": sizes}


def _glance(explanations: Explanations, counts: Mapping[str, Any]) -> Html:
    about, n_rows = explanations.about, len(explanations)
    share = counts["sufficient"] / n_rows if n_rows else 0.0
    fidelity = about["fidelity"]
    measure = "accuracy" if about["task"] == "classification" else "R2"
    n_disagree = counts["disagree"]
    tiles = [
        _tile("Rows explained", f"{n_rows:,}", f"{counted(len(explanations.candidates), 'variable')} searched"),
        _tile(
            "With a sufficient set",
            f"{format_percent(share)} %",
            f"{counted(counts['sufficient'], 'row')}, probability {explanations.pi:g}",
            share,
        ),
        _tile(
            "Fidelity of the forest",
            format_probability(max(fidelity, 0.0)) if math.isfinite(fidelity) else "not known",
            f"{measure} on rows that its trees have not seen",
            fidelity if math.isfinite(fidelity) else None,
        ),
        _tile("Forest disagrees", f"{n_disagree:,}", f"row{'' if n_disagree == 1 else 's'} to read with care"),
    ]
    importance = importance_bars(ranked(explanations.mean_importance()), MAX_IMPORTANCES)
    panels = [part("Mean importance (LXI)", "share of a row's sufficient sets that hold the variable", importance)]
    if n_rows:
        sizes = size_bars(counts["sizes"], n_rows)
        panels.append(part("Smallest sufficient set", "rows by its size", sizes))
    if about["fidelity_by_class"]:
        panels.append(part("Fidelity by class", "out of bag", fidelity_bars(about)))
    drawn = [element("div", "panel", panel) for panel in panels]
    return Html(
        element("div", "tiles", *tiles)
        + element("div", "panels", *drawn)
        + element("div", "panel spaced", facts(about_facts(about)))
    )


def _about_rules(explanations: Explanations, n_lines: int) -> str:
    if not n_lines:
        return "There are no rules: none was asked for, or no row has a sufficient set."
    return (
        "The distinct rules of the explained rows, as the global model collects them, measured on the training table. "
        "There the rule with the lowest number that covers a row decides. Choose a rule's rows to see them below."
    )


def _about_precision(about: Mapping[str, Any]) -> str:
    if about["task"] == "classification":
        return "share of the training rows covered that have the outcome"
    return "1 - MSE / variance of all outcomes, on the training rows covered"


def _about_interval(about: Mapping[str, Any]) -> str:
    if about["task"] == "classification":
        return ""
    settings = about["settings"]
    if settings["radius"] is not None:
        told = f"the outcome plus or minus {rounded(math.sqrt(settings['radius']), 4)}"
    else:
        told = f"the forest's own {format_percent(1 - settings['alpha'])} % interval at the row"
    text = f"An outcome that is a number counts as the same while it stays within this interval: {told}."
    return element("dt", "", "Interval") + element("dd", "", text)


def _settings(explanations: Explanations) -> Html:
    about = explanations.about
    settings = {"sets": explanations.sets, **about["settings"]}
    pairs = [(name, "-" if value is None else format_value(value)) for name, value in settings.items()]
    versions = [(name, str(version)) for name, version in about["versions"].items()]
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    candidates = element("div", "", ", ".join(about["candidates"]))
    return element(
        "div",
        "panels",
        element("div", "panel", part("Search", "", facts(pairs))),
        element("div", "panel", part("Variables searched", "most important first", candidates)),
        element("div", "panel", part("Versions", "", facts([*versions, ("written", today)]))),
    )


# --- what the page draws ---------------------------------------------------------------------------------------------


def _data(explanations: Explanations) -> dict[str, Any]:
    about = explanations.about
    is_class = about["task"] == "classification"
    classes = about["classes"] if is_class else None
    _, outcomes = explanations.training
    columns = explanations.columns
    place_of = {column.name: i for i, column in enumerate(columns)}
    boxes = _Boxes(columns)
    rows, sets, values, variables = _rows(explanations, boxes, classes)
    lines, first = _lines(explanations, boxes)
    rows["line"] = first
    return {
        "task": about["task"],
        "target": about["target"],
        "pi": explanations.pi,
        "classes": None if classes is None else [str(label) for label in classes],
        "range": None if is_class else [float(outcomes.min()), float(outcomes.max())],
        "columns": [
            {
                "name": column.name,
                "kind": column.kind,
                "extent": [_without_point(end) for end in column.extent]
                if all(map(math.isfinite, column.extent))
                else None,
                "labels": [code_text(column, code) for code in range(len(column.labels))],
                "values": values[i],
            }
            for i, column in enumerate(columns)
        ],
        "variables": [
            {"name": name, "columns": [place_of[column] for column in held]} for name, held in variables.items()
        ],
        "candidates": [list(variables).index(name) for name in explanations.candidates],
        "sets": [list(held) for held in sets],
        "boxes": boxes.written,
        "lines": lines,
        "rows": rows,
    }


class _Boxes:
    """The distinct boxes of rules, as the page draws them."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self._columns = {column.name: (i, column) for i, column in enumerate(columns)}
        self._place_of: dict[tuple[Condition, ...], int] = {}
        self.written: list[dict[str, Any]] = []

    def place(self, conditions: tuple[Condition, ...], coverage: float) -> int:
        """Give the position of a box."""
        if conditions not in self._place_of:
            self._place_of[conditions] = len(self.written)
            self.written.append(
                {
                    "conditions": [self._write(condition) for condition in conditions],
                    "coverage": coverage,
                    "missing": missing_text(conditions),
                }
            )
        return self._place_of[conditions]

    def _write(self, condition: Condition) -> dict[str, Any]:
        i, column = self._columns[condition.name]
        codes = None
        if condition.labels is not None:
            codes = [code for code, labels in enumerate(column.labels) if is_included(condition, labels[0])]
        return {
            "column": i,
            "text": condition_text(condition),
            "bounds": bounds_text(condition),
            # All digits: the page compares rows with them.
            "low": condition.low if math.isfinite(condition.low) else None,
            "high": condition.high if math.isfinite(condition.high) else None,
            "lowClosed": int(condition.low_closed),
            "highClosed": int(condition.high_closed),
            "missing": int(condition.missing),
            "values": int(condition.values),
            "codes": codes,
        }


def _rows(
    explanations: Explanations, boxes: _Boxes, classes: list[Any] | None
) -> tuple[dict[str, list[Any]], list[tuple[int, ...]], list[list[Any]], dict[str, tuple[str, ...]]]:
    """Write the rows: their figures, the distinct sets, the values of each column, and the columns of each variable."""
    columns = explanations.columns
    place_of = {column.name: i for i, column in enumerate(columns)}
    code_of = {label: code for code, label in enumerate(classes or ())}
    coded = [_codes(column) for column in columns]
    variable_of = {name: v for v, name in enumerate(explanations.variable_names)}
    names = ["outcome", "low", "high", "prediction", "care", "sets", "nSets", "held", "box", "sdp"]
    rows: dict[str, list[Any]] = {name: [] for name in names}
    values: list[list[Any]] = [[] for _ in columns]
    variables: dict[str, tuple[str, ...]] = {name: (name,) for name in explanations.variable_names}
    places: dict[tuple[int, ...], int] = {}

    for explanation in explanations:
        variables = {name: tuple(column for column, _ in held) for name, held in explanation.values}
        for _, held in explanation.values:
            for name, value in held:
                i = place_of[name]
                code = coded[i]
                values[i].append(None if value is None else value if code is None else code[value])
        low, high = explanation.interval or (None, None)
        found = explanation.sufficient_sets
        listed: list[int] = []
        for chosen in found[:N_LISTED] or (explanation.best_set,):
            members = tuple(variable_of[name] for name in chosen.variables)
            listed += [places.setdefault(members, len(places)), _floor_percent(chosen.sdp)]
        n_holding = Counter(name for chosen in found for name in chosen.variables)
        rule = explanation.rule
        is_number = classes is None
        written = {
            "outcome": _number(explanation.outcome) if is_number else code_of[explanation.outcome],
            "low": None if low is None else _number(low),
            "high": None if high is None else _number(high),
            "prediction": _number(explanation.prediction) if is_number else code_of.get(explanation.prediction),
            "care": 2 if not explanation.is_outcome_in_interval else int(not explanation.forest_agrees),
            "sets": listed,
            "nSets": len(found),
            "held": [n_holding[name] for name in explanations.candidates],
            "box": -1 if rule is None else boxes.place(rule.conditions, rule.coverage),
            "sdp": _floor_percent(explanation.best_set.sdp if rule is None else rule.sdp),
        }
        for name, value in written.items():
            rows[name].append(value)
    for i, column in enumerate(columns):
        if column.kind == "number":
            values[i] = [None if value is None else _single(value) for value in values[i]]
    return rows, list(places), values, variables


def _codes(column: Column) -> dict[Any, int] | None:
    if column.kind != "category":
        return None
    return {column.decode(code): code for code in range(len(column.labels))}


def _lines(explanations: Explanations, boxes: _Boxes) -> tuple[list[dict[str, Any]], list[int]]:
    """Write the global rules, and for each explained row the first that covers it."""
    table, outcomes = explanations.explained
    first = np.full(len(outcomes), -1)
    is_class = explanations.about["task"] == "classification"
    kind = GlobalRulesClassifier if is_class else GlobalRulesRegressor
    model = kind.from_explanations(explanations)
    lines = []
    for i, line in enumerate(model.rules_):
        covered = line.rule.covers(table)
        first[covered & (first < 0)] = i
        lines.append(
            {
                "box": boxes.place(line.rule.conditions, line.coverage),
                "said": _said(line),
                "coverage": line.coverage,
                "precision": line.precision,
                "rows": int(np.count_nonzero(covered)),
            }
        )
    return lines, first.tolist()


def _said(line: GlobalRule) -> str:
    if line.mae is None:
        return str(line.output)
    return f"{line.rule.target} = {rounded(line.output, 4)} (MAE {rounded(line.mae, 3)})"


def _floor_percent(probability: float) -> int:
    return round(100 * float(format_probability(probability)))


def _number(value: float) -> float:
    """Round as the text of the number is rounded, so that the page writes the same text."""
    return _without_point(float(format_number(value)))


def _single(value: float) -> float:
    """Write a number that comes from 32 bits with the digits that tell it from its neighbours."""
    return _without_point(float(str(np.float32(value))))


def _without_point(value: float) -> float:
    return int(value) if abs(value) < 1e15 and value == int(value) else value
