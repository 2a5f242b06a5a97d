"""A report of explanations for readers without Python: one HTML page that needs nothing else.

The cards of rows, the conditions and the bars are drawn by ``cards``; the script of the page only filters the rows.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice._forest.bounds import SHOWN_CONFIDENCE
from suffice._forest.out_of_bag import votes_out_of_bag
from suffice._show.axis import rounded
from suffice._show.cards import (
    Html,
    bars,
    change_parts,
    element,
    explanation_parts,
    facts,
    importance_part,
    join_numbers,
    joined,
    optional,
    overview_part,
    part,
    read_template,
    reason_counts,
    rows_button,
    rule_cells,
    table,
    tile,
)
from suffice._show.overview import make_overview, outcome_masks
from suffice._show.picture import (
    about_facts,
    all_cautions,
    fidelity_shares,
    importance_shares,
    picture_line,
    size_shares,
)
from suffice._show.quality_parts import quality_panels, quality_tiles
from suffice._text import counted, format_confidence, format_percent, plain_advice
from suffice.changes.values import Changes
from suffice.checks.quality import Quality, count_sets, quality_out_of_bag
from suffice.explaining.importance import IMPORTANCE_MEANINGS
from suffice.reasons.values import Reasons

if TYPE_CHECKING:
    from suffice._show.overview import OutcomeOverview
    from suffice.explaining.explanation import Explanation
    from suffice.explaining.explanations import Explanations
    from suffice.reasons.values import RowReasons
    from suffice.rule_lists.measures import GlobalRule

MAX_CARDS = 500  # rows that are drawn; 200 rows of 30 columns take about 1.2 MB
MAX_RULES = 15  # of one outcome that stand in the open
MAX_IMPORTANCES = 12
MAX_VARIABLES = 8  # of one outcome in the overview
MAX_OUTCOMES = 12
MAX_CHANGES = 50  # rows whose changes are written out
N_COMPARED = 100  # rows of explanations and of reasons that are compared


def make_report(
    explanations: Explanations,
    *,
    title: str | None = None,
    changes: Changes | None = None,
    reasons: Reasons | None = None,
) -> str:
    """Make the page."""
    _check_reasons(explanations, reasons)
    script, overview = read_template("report.js"), make_overview(explanations)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    shapes: dict[str, str] = {}
    first = {
        "glance": ("At a glance", _glance(explanations)),
        "overview": ("What the outcomes rest on", _overview(overview)),
        "quality": ("How well outcomes are predicted", _quality(explanations)),
        "rules": ("Rules", _rules(explanations)),
        "reasons": ("Reasons", _reasons(reasons)),
        "changes": ("What would change it", _changes(changes)),
    }
    named = {name: section for name, section in first.items() if section[1]}
    left_out = f"The first {MAX_CARDS} rows are drawn; the figures above count all {len(explanations):,}."
    last = {"reading": "How to read it", "rows": "Rows", "about": "What was explained by what"}
    contents = [*((name, text) for name, (text, _) in named.items()), *last.items()]
    parts = {
        "title": title if title is not None else f"Explanations of {explanations.about['target']}",
        "lead": _lead(explanations),
        "contents": joined([element("a", "", text, href=f"#{name}") for name, text in contents], " "),
        "sections": _share_shapes(joined([_section(name, *section) for name, section in named.items()]), shapes),
        **_terms(explanations),
        "outcomes": _options([of_outcome.label for of_outcome in overview]),
        "variables": _options(list(explanations.variable_names)),
        "cards": _share_shapes(_cards(explanations, overview, reasons), shapes),
        "more": joined(optional("p", "note", left_out if len(explanations) > MAX_CARDS else "")),
        "about": facts(_about(explanations)),
        "script": Html(script),
        "hash": f"sha256-{digest}",
    }
    outlines = [f".suffice .{name} {{ {shape}; }}" for shape, name in shapes.items()]
    parts["style"] = Html("\n".join([*map(read_template, ("card.css", "page.css", "report.css")), *outlines]))
    # In one go: a part that looks like a place of the template stays as it is.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: joined([parts[match[1]]]), read_template("report.html"))


def _section(name: str, title: str, *contents: str) -> Html:
    heading = element("h2", "", title, id=f"{name}-title")
    return element("section", "", heading, *contents, id=name, aria_labelledby=f"{name}-title")


def _options(texts: Sequence[str]) -> Html:
    return joined([element("option", "", text, value=str(i)) for i, text in enumerate(texts)])


def _panels(parts: Sequence[Html]) -> Html:
    return element("div", "panels", *(element("div", "panel", one) for one in parts))


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
    for i, row in enumerate(explanations[:N_COMPARED]):
        own = dict(pair for _, columns in row.values for pair in columns)
        if any(_differ(own.get(name, value), value) for name, value in reasons[i].values.items()):
            raise ValueError(f"`reasons` are those of other rows: row {i} has other values than the explained row.")


def _differ(first: Any, second: Any) -> bool:
    """Compare two numbers of a row. The forest sees float32; labels do not count, as rare ones share a name."""
    are_numbers = isinstance(first, float | int) and isinstance(second, float | int)
    return are_numbers and not math.isclose(first, second, rel_tol=1e-6)


# --- what concerns all rows ------------------------------------------------------------------------------------------


def _lead(explanations: Explanations) -> str:
    about = explanations.about
    of_model = f"with the outputs of {about['model']} " if about["model"] else ""
    return (
        "Which few variables are enough to keep each outcome, within which bounds, and how surely: "
        f"{counted(len(explanations), 'row')} {of_model}explained by {counted(about['n_rows'], 'training row')}."
    )


def _glance(explanations: Explanations) -> Html:
    """Draw the figures of all rows."""
    about, n_rows, n_sufficient = explanations.about, len(explanations), int(explanations.has_set.sum())
    share = n_sufficient / max(n_rows, 1)
    sufficient = f"{counted(n_sufficient, 'row')}, {explanations.level_text}"
    fidelity = fidelity_shares(about)[:1]
    measure = "accuracy" if about["task"] == "classification" else "R2"  # fidelity may be unknown
    tiles = [
        tile("Rows explained", f"{n_rows:,}", f"{counted(len(explanations.candidates), 'variable')} searched"),
        tile("With a sufficient set", f"{format_percent(share)} %", sufficient, share),
        tile(
            "Fidelity of the forest",
            fidelity[0].text if fidelity else "not known",
            f"{measure} on rows that its trees have not seen",
            fidelity[0].value if fidelity else None,
        ),
    ]
    importance = importance_shares(explanations.ranked_importance())
    panels = [importance_part("Mean importance", importance, MAX_IMPORTANCES)]
    if n_rows:
        panels.append(part("Smallest sufficient set", "rows by its size", bars(size_shares(explanations), "plain")))
    cautions = [element("div", "care", sentence) for sentence in all_cautions(explanations)]
    return joined([element("div", "tiles", *tiles), *cautions, _panels(panels)])


def _overview(overview: Sequence[OutcomeOverview]) -> Html:
    """Draw how often each variable is in the sets of each outcome, and for which values."""
    drawn = [overview_part(of_outcome, MAX_VARIABLES) for of_outcome in overview[:MAX_OUTCOMES] if of_outcome.n_sets]
    text = (
        "How often each variable is in the sets that keep an outcome, and which values most of these rows have, blue "
        "on the values of all training rows."
    )
    return joined([element("p", "", text), _panels(drawn)]) if drawn else Html("")


def report_quality(explanations: Explanations) -> Quality | None:
    """Compute the out-of-bag quality, with the shares of the explained rows that have a sufficient set."""
    fitted = explanations.fitted
    if not votes_out_of_bag(fitted)[1].any():
        return None
    sets = count_sets(fitted, explanations.answers.outcomes, slice(None), explanations.has_set)
    return quality_out_of_bag(fitted, sets)


def _quality(explanations: Explanations) -> Html:
    quality = report_quality(explanations)
    if quality is None:
        return Html("")
    text = f"{quality.title} Rows with a sufficient set are those of this report."
    tiles = element("div", "tiles", *quality_tiles(quality))
    return joined([element("p", "", text), tiles, _panels(quality_panels(quality))])


def _reasons(reasons: Reasons | None) -> Html:
    """Sum up the reasons of all rows."""
    if reasons is None:
        return Html("")
    note = element("p", "note", "The cards of the rows state their reasons; the search finds their words.")
    return joined([*_paragraphs(reasons), note, _panels(reason_counts(reasons))])


def _changes(changes: Changes | None) -> Html:
    """Write what would change the outcomes of rows."""
    if changes is None:
        return Html("")
    if not isinstance(changes, Changes):
        raise TypeError(f"`changes` must be what `what_if` returns, got {type(changes).__name__}.")
    shown = [element("div", "part", *change_parts(answer)) for answer in changes[:MAX_CHANGES]]
    more = len(changes) - len(shown)
    return joined([*_paragraphs(changes), *shown, *optional("p", "note", f"And {more} more rows." if more > 0 else "")])


def _paragraphs(answers: Reasons | Changes) -> list[Html]:
    return [element("p", "", line) for line in str(answers).splitlines()]


def _terms(explanations: Explanations) -> dict[str, str]:
    """Write what the terms of the page mean for these rows."""
    settings = explanations.fitted.settings
    interval = ""
    if explanations.intervals is not None:
        text = f"the forest's own {format_percent(explanations.fitted.interval_share)} % interval at the row"
        if settings.radius is not None:
            text = f"the outcome plus or minus {rounded(settings.radius, 4)}"
        interval = f"An outcome that is a number counts as the same while it stays within this interval: {text}."
    level, mark = f"a probability of at least {settings.pi:g}", f"{settings.pi:g}"
    if isinstance(explanations.fitted.level_of_rules(), dict):
        level, mark = f"at least {explanations.level_text}", "the level of the class"
    if settings.confidence is not None:
        level += f" (its lower bound at {format_confidence(settings.confidence)})"
    return {
        "level": level,
        "importance": IMPORTANCE_MEANINGS["minimal"],
        "mark": mark,
        "bound": format_confidence(settings.confidence or SHOWN_CONFIDENCE),
        "interval": joined([element("dt", "", "Interval"), element("dd", "", interval)] if interval else []),
    }


def _about(explanations: Explanations) -> list[tuple[str, str]]:
    """Write what was explained by what, without the names of parameters."""
    about, known = explanations.about, dict(about_facts(explanations.about))
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    pairs = {
        "Outcome": about["target"],
        "Outcome that matters": known.get("focus", ""),
        "Explained model": known.get("model", ""),
        "Training table": known["training table"],
        "Forest": counted(about["forest"]["n_estimators"], "tree"),
        "Probability": known["probability"],
        "Cannot be changed": known.get("fixed", ""),
        "Variables searched": ", ".join(about["candidates"]),
        "Written": f"{datetime.datetime.now(datetime.UTC).date().isoformat()}, {versions}",
    }
    return [(name, text) for name, text in pairs.items() if text]


# --- rules -----------------------------------------------------------------------------------------------------------


def report_rules(explanations: Explanations) -> tuple[GlobalRule, ...]:
    """Collect the distinct rules of the explained rows, those that cover most training rows first."""
    if not any(rule is not None for rule in explanations.rules):
        return ()
    # Most of what is shown needs no list of rules: it is imported where a report collects one.
    from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor

    kind = GlobalRulesRegressor if explanations.fitted.classes is None else GlobalRulesClassifier
    return tuple(sorted(kind.from_explanations(explanations).rules_, key=lambda line: -line.coverage))


def _rules(explanations: Explanations) -> Html:
    """Write the rules of each outcome as a table, the outcome that matters first."""
    lines = report_rules(explanations)
    if not lines:
        return Html("")
    is_class = explanations.intervals is None
    precision = "the mark on its bar is the share of all training rows with the outcome"
    text = (
        "The distinct rules of the explained rows. Coverage is the share of the training rows that a rule covers; "
        f"precision is what to expect of new rows, and {precision if is_class else '1 - MSE / variance'}."
    )
    labels = [label for label, _ in outcome_masks(explanations)] if is_class else [""]
    drawn = [element("p", "", text)]
    for label in labels:
        of_label = [line for line in lines if label in ("", str(line.output))]
        head = optional("h3", "", label and f"{label}: {counted(len(of_label), 'rule')}")
        drawn += [*head, _rule_table(explanations, of_label[:MAX_RULES])] if of_label else []
        if len(of_label) > MAX_RULES:
            summary = element("summary", "", f"{len(of_label) - MAX_RULES} more rules, which cover fewer rows")
            drawn.append(element("details", "", summary, _rule_table(explanations, of_label[MAX_RULES:])))
    return joined(drawn)


def _rule_table(explanations: Explanations, lines: Sequence[GlobalRule]) -> Html:
    rows, body = explanations.explained[0], []
    for line in lines:
        covered = np.flatnonzero(line.rule.covers(rows)).tolist()
        button = rows_button(covered, f"covered by {picture_line(line).premise}") if covered else "0 rows"
        body.append([*rule_cells(line), element("td", "", button)])
    return table(("Rule", "Coverage", "Precision", "Explained rows"), body, "rules")


# --- rows ------------------------------------------------------------------------------------------------------------


def _cards(explanations: Explanations, overview: Sequence[OutcomeOverview], reasons: Reasons | None) -> Html:
    """Draw the cards of the rows: those of the outcome that matters with a sufficient set come first."""
    group_of = np.zeros(len(explanations), dtype=np.intp)
    for group, of_outcome in enumerate(overview):
        group_of[of_outcome.is_in] = group
    is_first = np.zeros(len(explanations), dtype=bool)
    if explanations.fitted.focus is not None:
        is_first = explanations.has_set & (explanations.outcomes == explanations.fitted.focus)
    order = np.argsort(~is_first, kind="stable")[:MAX_CARDS]
    is_contested, place = (
        explanations.is_contested[order],
        {name: v for v, name in enumerate(explanations.variable_names)},
    )
    drawn = []
    for i, explanation, contested in zip(order.tolist(), explanations[order], is_contested.tolist(), strict=True):
        states = {"set": explanation.is_sufficient, "none": not explanation.is_sufficient, "contested": contested}
        states["disagrees"] = not explanation.forest_agrees
        named = {
            "data_row": str(i),
            "data_outcome": str(group_of[i]),
            "data_state": " ".join(state for state, is_so in states.items() if is_so),
            "data_variable": join_numbers(place[name] for name in explanation.best_set.variables),
        }
        drawn.append(_card(explanation, None if reasons is None else reasons[i], named))
    return joined(drawn)


def _card(explanation: Explanation, reasons: RowReasons | None, named: dict[str, str]) -> Html:
    """Draw the card of a row with all values of the row below."""
    listed = []
    if reasons is not None:
        texts = [str(reason) for reason in reasons.reasons] or [reasons.lead]
        listed = [part("Reasons", "", *(element("div", "", text) for text in texts))]
    text_of = explanation.sentences.value_text
    values = facts((name, text_of(name, value)) for _, columns in explanation.values for name, value in columns)
    details = element("details", "", element("summary", "", "All values of this row"), values)
    return element("article", "suffice card", *explanation_parts(explanation, listed, plain_advice), details, **named)


def _share_shapes(markup: Html, shapes: dict[str, str]) -> Html:
    """State the silhouette of each column once, as a class: each takes half a kilobyte."""

    def name(match: re.Match[str]) -> str:
        return f'class="outline {shapes.setdefault(match[1], f"s{len(shapes)}")}"'

    return Html(re.sub(r'class="outline" style="(clip-path:[^"]+)"', name, markup))
