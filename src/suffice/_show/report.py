"""A report of explanations: one HTML page that needs nothing else.

What concerns all rows is written as HTML. Rules and rows are written as compact JSON by ``report_data`` and drawn by
the script of the page, one page of them at a time; the drawings are those of ``cards``.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from suffice._forest.bounds import SHOWN_CONFIDENCE
from suffice._forest.out_of_bag import votes_out_of_bag
from suffice._show.axis import rounded
from suffice._show.cards import (
    Html,
    bar,
    bars,
    change_parts,
    element,
    facts,
    fidelity_part,
    importance_part,
    joined,
    part,
    read_template,
    reason_counts,
)
from suffice._show.picture import (
    Share,
    Summary,
    about_facts,
    fidelity_shares,
    gather_rare,
    importance_shares,
    summarize,
)
from suffice._show.report_data import report_data
from suffice._text import counted, format_confidence, format_number, format_percent, format_share, format_value
from suffice.changes.values import Changes
from suffice.checks.quality import Quality, count_sets, quality_out_of_bag
from suffice.explaining.explanations import Explanations
from suffice.explaining.importance import IMPORTANCE_MEANINGS
from suffice.explaining.sentences import NO_SIGNAL
from suffice.reasons.values import Reasons

MAX_CLASSES = 12
MAX_IMPORTANCES = 15
MAX_CHANGES = 50  # rows whose changes are written out
N_COMPARED = 100  # rows of explanations and of reasons that are compared
QUANTILES = (0.5, 0.9)  # of absolute errors


def make_report(
    explanations: Explanations,
    *,
    title: str | None = None,
    changes: Changes | None = None,
    reasons: Reasons | None = None,
) -> str:
    """Make the page."""
    _check_reasons(explanations, reasons)
    script = read_template("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data, summary = report_data(explanations, reasons), summarize(explanations)
    heading = title if title is not None else f"Explanations of {explanations.about['target']}"
    return _fill(
        read_template("report.html"),
        {
            "title": heading,
            "lead": _lead(explanations),
            "glance": _glance(explanations, summary),
            **_terms(explanations, summary, len(data["lines"])),
            "settings": _settings(explanations),
            "reasons": _reasons(reasons),
            "changes": _changes(changes),
            "style": Html(read_template("card.css") + read_template("report.css")),
            "script": Html(script),
            "hash": f"sha256-{digest}",
            "data": embed_json(data),
        },
    )


def _check_reasons(explanations: Explanations, reasons: Any) -> None:
    """Refuse reasons of other rows."""
    if reasons is None:
        return
    if not isinstance(reasons, Reasons):
        raise TypeError(f"`reasons` must be what `explainer.reasons` returns, got {type(reasons).__name__}.")
    if len(reasons) != len(explanations):
        raise ValueError(
            f"`reasons` are those of {len(reasons)} rows, but {len(explanations)} are explained: pass the reasons of "
            "the same rows, in the same order."
        )
    values = [dict(pair for _, columns in row.values for pair in columns) for row in explanations[:N_COMPARED]]
    for i, own in enumerate(values):
        if any(_differ(own.get(name, value), value) for name, value in reasons[i].values.items()):
            raise ValueError(f"`reasons` are those of other rows: row {i} has other values than the explained row.")


def _differ(first: Any, second: Any) -> bool:
    """Compare two numbers of a row. The forest sees float32; labels do not count, as rare ones share a name."""
    if not isinstance(first, float | int) or not isinstance(second, float | int):
        return False
    return not math.isclose(first, second, rel_tol=1e-6)


def _reasons(reasons: Reasons | None) -> Html:
    """Sum up the reasons of all rows, or write nothing."""
    if reasons is None:
        return Html("")
    note = element("p", "note", "The cards of the rows state their reasons; the search finds their words.")
    counts = element("div", "panels", *(element("div", "panel", panel) for panel in reason_counts(reasons)))
    return element("section", "", element("h2", "", "Reasons"), *_paragraphs(reasons), note, counts)


def _changes(changes: Changes | None) -> Html:
    """Write what would change the outcomes of rows, or nothing."""
    if changes is None:
        return Html("")
    if not isinstance(changes, Changes):
        raise TypeError(f"`changes` must be what `what_if` returns, got {type(changes).__name__}.")
    shown = [element("div", "part", *change_parts(answer)) for answer in changes[:MAX_CHANGES]]
    more = len(changes) - len(shown)
    if more > 0:
        shown.append(element("p", "note", f"And {more} more rows: `changes.to_frame()` has them all."))
    return element("section", "changes", element("h2", "", "What would change it"), *_paragraphs(changes), *shown)


def _paragraphs(answers: Reasons | Changes) -> list[Html]:
    return [element("p", "", line) for line in str(answers).splitlines()]


def embed_json(data: Any) -> Html:
    r"""Write JSON that can stand in a script element of any page."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Html(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _fill(template: str, parts: Mapping[str, str]) -> str:
    """Put parts in their places, in one go: a part that looks like a place stays as it is."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: joined([parts[match[1]]]), template)


# --- what concerns all rows ------------------------------------------------------------------------------------------


def _lead(explanations: Explanations) -> str:
    about = explanations.about
    of_model = f"with the outputs of {about['model']} " if about["model"] else ""
    return (
        "Which few variables are enough to keep each outcome, within which bounds, and how surely: "
        f"{counted(len(explanations), 'row')} {of_model}explained by {counted(about['n_rows'], 'training row')}."
    )


def _tile(name: str, large: str, note: str, share: float | None = None) -> Html:
    drawn = "" if share is None else bar(share)
    title = element("div", "eyebrow", name)
    return element("div", "tile", title, element("div", "large", large), drawn, element("div", "note", note))


def _glance(explanations: Explanations, summary: Summary) -> Html:
    """Draw the figures and the panels of all rows."""
    about, n_rows = explanations.about, summary.n_rows
    sufficient = f"{counted(summary.n_sufficient, 'row')}, {explanations.level_text}"
    fidelity = fidelity_shares(about)[:1]
    measure = "accuracy" if about["task"] == "classification" else "R2"  # fidelity may be unknown
    tiles = [
        _tile("Rows explained", f"{n_rows:,}", f"{counted(len(explanations.candidates), 'variable')} searched"),
        _tile("With a sufficient set", f"{format_percent(summary.share)} %", sufficient, summary.share),
        _tile(
            "Fidelity of the forest",
            fidelity[0].text if fidelity else "not known",
            f"{measure} on rows that its trees have not seen",
            fidelity[0].value if fidelity else None,
        ),
    ]
    if explanations.answers.source != "forest":  # a forest agrees with its own predictions
        note = f"{'row' if summary.n_disagree == 1 else 'rows'} to read with care"
        tiles.append(_tile("Forest disagrees", f"{summary.n_disagree:,}", note))
    if summary.n_incomplete:
        note = f"{'row' if summary.n_incomplete == 1 else 'rows'} that may have more sufficient sets"
        tiles.append(_tile("Search ended early", f"{summary.n_incomplete:,}", note))
    about_all = [] if summary.has_signal else [NO_SIGNAL]
    return joined(
        [
            element("div", "tiles", *tiles),
            *(element("div", "care", sentence) for sentence in about_all),
            element("div", "panels", *(element("div", "panel", panel) for panel in _panels(explanations, summary))),
            element("div", "panel spaced", facts(about_facts(about))),
        ]
    )


def _panels(explanations: Explanations, summary: Summary) -> list[Html]:
    importance = importance_shares(explanations.ranked_importance())
    panels = [importance_part("Mean importance", importance, MAX_IMPORTANCES)]
    if summary.n_rows:
        panels.append(part("Smallest sufficient set", "rows by its size", bars(summary.size_shares, "plain")))
    quality = report_quality(explanations)
    if quality is not None:
        return [*panels, *quality_parts(quality)]
    by_class = explanations.about["fidelity_by_class"]
    return [*panels, fidelity_part("Fidelity by class", explanations.about)] if by_class else panels


def _terms(explanations: Explanations, summary: Summary, n_lines: int) -> dict[str, str]:
    """Write what the terms of the page mean for these rows."""
    about, settings = explanations.about, explanations.fitted.settings
    rules = "There are no rules: they were not searched for, or no row has a sufficient set."
    if n_lines:
        rules = (
            "The distinct rules of the explained rows, as a global list of rules collects them, with the share of the "
            "training rows that they cover and the precision expected for new rows. The rule with the lowest number "
            "that covers a row decides. Choose a rule's rows to see them below."
        )
        rules += "" if about["focus"] is None else f" At first, rules for {about['focus']} are listed before others."
    precision = "1 - MSE / variance of all outcomes, as expected for new rows"
    interval = incomplete = ""
    if about["task"] == "classification":
        precision = "expected share of new rows in it that have the outcome; more of the training rows have it"
    else:
        text = f"the forest's own {format_percent(explanations.fitted.interval_share)} % interval at the row"
        if settings.radius is not None:
            text = f"the outcome plus or minus {rounded(settings.radius, 4)}"
        interval = f"An outcome that is a number counts as the same while it stays within this interval: {text}."
    if summary.n_incomplete:
        incomplete = (
            "The search for a row's sets stopped at the explainer's max_sets. The sets that are shown are sufficient, "
            "but there may be others, and the importances may differ from those over all sets."
        )
    level, mark = f"a probability of at least {settings.pi:g}", f"{settings.pi:g}"
    if isinstance(explanations.fitted.level_of_rules(), dict):
        level = f"at least {explanations.level_text}"
        mark = "the level of the class"
    if settings.confidence is not None:
        level += f" (its lower bound at {format_confidence(settings.confidence)})"
    return {
        "rules": rules,
        "precision": precision,
        "level": level,
        "importance": IMPORTANCE_MEANINGS["minimal"],
        "mark": mark,
        "bound": format_confidence(settings.confidence or SHOWN_CONFIDENCE),
        "interval": _defined("Interval", interval),
        "incomplete": _defined("Search ended early", incomplete),
    }


def _defined(term: str, text: str) -> Html:
    return joined([element("dt", "", term), element("dd", "", text)] if text else [])


def _settings(explanations: Explanations) -> Html:
    about = explanations.about
    settings = {"sets": explanations.sets, **about["settings"]}
    pairs = [(name, "-" if value is None else format_value(value)) for name, value in settings.items()]
    versions = [(name, str(version)) for name, version in about["versions"].items()]
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    candidates = element("div", "", ", ".join(about["candidates"]))
    parts = [
        part("Search", "", facts(pairs)),
        part("Variables searched", "most important first", candidates),
        part("Versions", "", facts([*versions, ("written", today)])),
    ]
    return element("div", "panels", *(element("div", "panel", panel) for panel in parts))


# --- the quality of predictions -------------------------------------------------------------------------------------


def report_quality(explanations: Explanations) -> Quality | None:
    """Compute the out-of-bag quality, with the shares of the explained rows that have a sufficient set."""
    fitted = explanations.fitted
    if not votes_out_of_bag(fitted)[1].any():
        return None
    sets = count_sets(fitted, explanations.answers.outcomes, slice(None), explanations.has_set)
    return quality_out_of_bag(fitted, sets)


def quality_parts(quality: Quality) -> list[Html]:
    """Write the quality as panels."""
    if quality.classes is None:
        return [_errors(quality)]
    figures = [Share(name, value, format_share(value)) for name, value in quality.of_focus.items() if value >= 0]
    of_focus = [part(f"How well {quality.focus} is predicted", "out of bag", bars(figures))] if figures else []
    return [*of_focus, part("Confusion matrix", "out of bag", _confusion(quality)), _by_class(quality)]


def _errors(quality: Quality) -> Html:
    errors = np.abs(quality.observed.astype(np.float64) - quality.predicted.astype(np.float64))
    sizes = [format_number(float(size)) for size in np.quantile(errors, QUANTILES)]
    lines = [
        f"{format_percent(level)} % of the rows are predicted within {size}."
        for level, size in zip(QUANTILES, sizes, strict=True)
    ]
    texts = [quality.summary, *lines]
    return part("Predicted and observed", "out of bag", *(element("div", "", text) for text in texts))


def _confusion(quality: Quality) -> Html:
    labels, counts, shares = gather_rare(quality, MAX_CLASSES)
    corner = "model ↓ predicted →" if quality.is_agreement else "observed ↓ predicted →"
    lines = [element("tr", "", element("th", "", corner), *(element("th", "", label) for label in labels))]
    for i, label in enumerate(labels):
        cells = [
            element("td", "right" if i == j else "", f"{n:,}", element("div", "note", f"{format_percent(share)} %"))
            for j, (n, share) in enumerate(zip(counts[i].tolist(), shares[i].tolist(), strict=True))
        ]
        lines.append(element("tr", "", element("th", "", label), *cells))
    return element("div", "scroll", element("table", "confusion", *lines))


def _by_class(quality: Quality) -> Html:
    drawn: list[str] = []
    with_set = {share.outcome: share for share in quality.sets if share.n_explained}
    for one in quality.by_class[:MAX_CLASSES]:
        shares = [
            Share(name, value, format_share(value))
            for name, value in (("recall", one.recall), ("precision", one.precision))
            if not np.isnan(value)
        ]
        if one.label in with_set:
            share = with_set[one.label]
            text = f"{format_percent(share.share)} % of {share.n_explained:,}"
            shares.append(Share("explained rows with a set", share.share, text))
        drawn += [element("div", "class-name", f"{one.label} ({one.n_rows:,} rows)"), bars(shares)]
    return part("By class", "recall and precision out of bag", *drawn)
