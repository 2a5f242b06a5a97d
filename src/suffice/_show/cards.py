"""Small self-contained pieces of HTML that notebooks show: cards of explanations, rules, models and explainers.

A card holds its own style, no script and nothing from elsewhere, and takes its text colour from the page around it.
Names, labels and values of the user's table are escaped where they are put in: any text that is not `Html` is. What a
card shows is computed by ``picture`` and ``axis``; this module only draws it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from suffice._show.axis import Chip, Drawing
from suffice._show.markup import Html, bar, bars, chips, element, facts, joined, part, percent, read_template
from suffice._show.picture import (
    COVERAGE_MEANING,
    MAX_IMPORTANCES,
    READ_WITH_CARE,
    SDP_MEANING,
    ExplanationPicture,
    LinePicture,
    RulePicture,
    SetPicture,
    Share,
    Word,
    importance_shares,
    more_text,
    picture_explanation,
    picture_line,
    picture_rule,
    summarize,
)
from suffice._text import counted, format_confidence, format_level, format_percent, format_probability
from suffice.changes.regional import RegionalChange, RegionalChanges
from suffice.changes.values import Change, Changes, RowChanges
from suffice.explaining.explanation import Explanation
from suffice.explaining.explanations import Explanations
from suffice.explaining.importance import IMPORTANCE_MEANINGS, SHOWN_INDEX
from suffice.explaining.rule import Rule
from suffice.reasons.values import REFUSALS, Reasons, RowReasons
from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rule_lists.measures import GlobalRule

MAX_LINES = 10


def card(*children: str) -> Html:
    """Make a card of parts, with its own style."""
    return element("div", "suffice card", element("style", "", Html(read_template("card.css"))), *children)


def head(above: str, large: Sequence[str], badge: str) -> Html:
    """Make the head of a card."""
    title = element("div", "", element("div", "eyebrow", above), element("div", "outcome", *large))
    return element("div", "head", title, badge)


# --- the cards -------------------------------------------------------------------------------------------------------


def explanation_card(explanation: Explanation) -> str:
    """Draw an explanation."""
    picture = picture_explanation(explanation)
    parts: list[str] = [_outcome_head(picture)]
    if picture.cautions:
        parts.append(element("div", "care", element("b", "", READ_WITH_CARE), " ".join(picture.cautions)))
    parts.append(element("div", "part saying", picture.sentence))
    if picture.rule is not None:
        rule = picture.rule
        parts += [_sentence(rule.sentence), _figures(rule), element("div", "note under", rule.rows)]
        parts += [_notes(picture), *_checked(rule), _drawings(rule.drawings, rule.missing)]
    if picture.best is not None:
        parts += [_best_set(picture.best, picture.is_sufficient), _notes(picture)]
    if picture.advice:
        parts.append(part("What you can do", "", _advice(picture.advice)))
    if picture.sets:
        listed = _share_bars(picture.sets, more=picture.more_sets, narrow=True)
        halves = [part(picture.sets_title, picture.sets_note, listed)]
        if picture.importance:
            drawn = importance_bars(picture.importance, MAX_IMPORTANCES)
            halves.append(part("Importance", IMPORTANCE_MEANINGS[SHOWN_INDEX], drawn))
        parts.append(element("div", "halves", *halves))
    if picture.stability:
        parts.append(element("div", "part note", picture.stability))
    return card(*parts)


def explanations_card(explanations: Explanations) -> str:
    """Sum up explanations."""
    about, summary = explanations.about, summarize(explanations)
    n_rows, n_sufficient = summary.n_rows, summary.n_sufficient
    badge = element("div", "badge", f"{n_sufficient} of {n_rows} with a sufficient set")
    parts: list[str] = [head(f"Explanations of {about['target']}", [counted(n_rows, "row")], badge)]
    parts += [element("div", "care", caution) for caution in summary.cautions]
    share = n_sufficient / max(n_rows, 1)
    shares = [("rows with a sufficient set", share, f"{format_percent(share)} %")] if n_rows else []
    fidelity = about["fidelity"]
    measure = "out-of-bag accuracy" if about["task"] == "classification" else "out-of-bag R2"
    if math.isfinite(fidelity):
        shares.append((f"fidelity of the forest ({measure})", fidelity, format_probability(fidelity)))
    parts.append(element("div", "part", bars(shares)))
    importance = importance_shares(explanations.ranked_importance())
    halves = []
    if importance:
        drawn = importance_bars(importance, MAX_IMPORTANCES)
        halves.append(part("Mean importance", IMPORTANCE_MEANINGS[SHOWN_INDEX], drawn))
    if n_sufficient:
        halves.append(part("Smallest sufficient set", "rows by its size", size_bars(summary.sizes, n_rows)))
    parts += [element("div", "halves", *halves)] if halves else []
    hint = "explanations[0] shows one row, explanations.report('report.html') writes all of them into one page."
    return card(*parts, element("div", "part note", hint))


def rule_card(rule: Rule) -> str:
    """Draw a rule."""
    picture = picture_rule(rule)
    drawn = _drawings(picture.drawings, None)
    under = " ".join(filter(None, (picture.rows, picture.lift, picture.proof)))
    parts = [_sentence(picture.sentence), _figures(picture), *_checked(picture), drawn]
    return card(*parts, element("div", "part note", under))


def global_rules_card(rule_list: GlobalRulesClassifier | GlobalRulesRegressor, n_rows: int, share: float) -> str:
    """Draw a list of rules as a table."""
    lines: Sequence[GlobalRule] = rule_list.rules_
    covered = f"coverage {format_percent(share)} % of {counted(n_rows, 'row')}"
    cells: list[str] = [element("span", "head-cell", title) for title in ("", "rule", "coverage", "precision")]
    for i, line in enumerate(lines[:MAX_LINES], start=1):
        picture = picture_line(line)
        coverage, precision = picture.coverage, picture.precision
        note = [element("div", "note", picture.note)] if picture.note else []
        cells += [
            element("span", "note", str(i)),
            element(
                "span",
                "sentence-cell",
                element("span", "sentence", _words(picture.sentence)),
                *note,
                *_line_check(picture),
            ),
            element("span", "figure first", bar(coverage.value, "plain"), coverage.text),
            element("span", "figure", bar(precision.value), precision.text),
        ]
    table = element("div", "lines", *cells) if lines else element("div", "", "There is no rule.")
    more = f"And {len(lines) - MAX_LINES} more." if len(lines) > MAX_LINES else ""
    fallback = rule_list.fallback_name_
    about = "Coverage is that of the training rows, precision is expected for new rows." if lines else ""
    otherwise = "No other row is decided." if fallback is None else f"All other rows: {fallback}."
    return card(
        head(type(rule_list).__name__, [counted(len(lines), "rule")], element("div", "badge", covered)),
        element("div", "part", table),
        element("div", "note under", f"{more} The first rule that covers a row decides. {otherwise} {about}"),
    )


def explainer_card(name: str, about: Mapping[str, Any]) -> str:
    """Draw what a fitted explainer knows."""
    return card(
        head(name, [f"explains {about['target']}"], element("div", "badge", "fitted")),
        element("div", "part", facts(about_facts(about))),
        element(
            "div",
            "halves",
            part("Fidelity of the forest", "out of bag", fidelity_bars(about)),
            part("Candidate variables", "those searched", chips([(name, "") for name in about["candidates"]])),
        ),
    )


# --- what cards and the report are made of ---------------------------------------------------------------------------


def importance_bars(importance: Sequence[Share], most: int) -> Html:
    """Draw the importance of variables."""
    return _share_bars(importance[:most], "importance", more=more_text(len(importance), most))


def _share_bars(shares: Sequence[Share], kind: str = "", *, more: str = "", narrow: bool = False) -> Html:
    tick = shares[0].tick if shares else None
    return bars([(share.name, share.value, share.text) for share in shares], kind, tick, more, narrow)


def size_bars(sizes: Mapping[int, int], n_rows: int) -> Html:
    """Draw how many rows have a smallest sufficient set of which size."""
    shares = [
        (counted(size, "variable") if size else "no variable needed", n / n_rows, str(n)) for size, n in sizes.items()
    ]
    n_none = n_rows - sum(sizes.values())
    return bars([*shares, *([("no such set", n_none / n_rows, str(n_none))] if n_none else [])], "plain")


def fidelity_bars(about: Mapping[str, Any]) -> Html:
    """Draw the fidelity of the forest, overall and by class."""
    fidelity = about["fidelity"]
    if not math.isfinite(fidelity):
        return element("div", "", "Not known: the forest has no rows out of bag.")
    measure = "accuracy" if about["task"] == "classification" else "R2"
    classes = list((about["fidelity_by_class"] or {}).items())
    shares = [(measure, fidelity, format_probability(max(fidelity, 0.0)))]
    shares += [
        (f"of {label}", share if math.isfinite(share) else 0.0, format_probability(share) if share == share else "-")  # noqa: PLR0124
        for label, share in classes[:MAX_LINES]
    ]
    return bars(shares, more=more_text(len(classes), MAX_LINES))


def about_facts(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Write what was fitted to what."""
    forest = about["forest"]
    settings = [f"{name} {value}" for name, value in forest.items() if name not in ("kind", "n_estimators")]
    n_columns, n_variables = len(about["columns"]), len(about["variables"])
    grouped = "" if n_columns == n_variables else f", {counted(n_variables, 'variable')}"
    pairs = [
        ("task", about["task_reason"]),
        ("training table", f"{counted(about['n_rows'], 'row')}, {counted(n_columns, 'column')}{grouped}"),
        ("forest", f"{forest['kind']}, {counted(forest['n_estimators'], 'tree')} ({', '.join(settings)})"),
        ("probability", level_fact(about["settings"])),
    ]
    return pairs if about["model"] is None else [("model", about["model"]), *pairs]


def level_fact(settings: Mapping[str, Any]) -> str:
    """Write what a sufficient set must reach."""
    pi, confidence = settings["pi"], settings["confidence"]
    level = f"{pi:g} or more for a sufficient set"
    if settings["levels"] == "odds":
        odds = f"{pi / (1 - pi):.3g} times the odds of the class" if pi < 1 else "1"
        level = f"a level for each class: {odds} or more for a sufficient set"
    return level if confidence is None else f"{level}, at {format_confidence(confidence)} confidence"


# --- parts of the card of an explanation -----------------------------------------------------------------------------


def _outcome_head(picture: ExplanationPicture) -> Html:
    large: list[str] = [picture.outcome]
    if picture.kept:
        large.append(element("span", "kept", picture.kept))
    badge = element("div", "badge" if picture.is_sufficient else "badge none", picture.badge)
    return head(picture.title, large, badge)


def _words(sentence: Sequence[Word]) -> Html:
    return joined([element("b", "", word.text) if word.is_key else word.text for word in sentence], " ")


def _sentence(sentence: Sequence[Word]) -> Html:
    return element("div", "sentence", _words(sentence))


def _figures(rule: RulePicture) -> Html:
    drawn = [
        element("div", "figure", element("span", "", s.name, title=meaning), bar(s.value, kind, s.tick), s.text)
        for s, kind, meaning in ((rule.sdp, "", SDP_MEANING), (rule.coverage, "plain", COVERAGE_MEANING))
    ]
    return element("div", "figures", *drawn)


def _line_check(line: LinePicture) -> list[Html]:
    return [element("div", "note", line.checked)] if line.checked else []


def _checked(rule: RulePicture) -> list[Html]:
    return [element("div", "part note", rule.checked)] if rule.checked else []


def _advice(sentences: Sequence[str]) -> Html:
    return element("ul", "advice", *(element("li", "", sentence) for sentence in sentences))


def _notes(picture: ExplanationPicture) -> Html:
    sentences = [*picture.notes, picture.bound_note]
    return element("div", "note under", " ".join(filter(None, sentences))) if any(sentences) else Html("")


def _drawings(drawings: Sequence[Drawing], note: str | None) -> Html:
    if not drawings:
        return Html("")
    under = [] if note is None else [element("div", "note under", note)]
    return element("div", "part", element("div", "drawings", *map(_drawing, drawings)), *under)


def _best_set(best: SetPicture, is_sufficient: bool) -> Html:
    sdp = best.sdp
    figure = element("div", "figure", sdp.name, bar(sdp.value, "" if is_sufficient else "plain", sdp.tick), sdp.text)
    drawn = element("div", "drawings", *map(_drawing, best.drawings))
    return part(best.title, best.note, drawn, element("div", "figures", figure))


def _drawing(drawing: Drawing) -> Html:
    note = element("div", "note", drawing.bounds) if drawing.bounds and drawing.kind != "words" else ""
    named = element("div", "bounds", element("div", "name", drawing.name), note)
    if drawing.kind == "labels":
        before = [element("span", "note", drawing.before)] if drawing.before else []
        labels = chips([(chip.text, _chip_kind(chip)) for chip in drawing.chips], drawing.more)
        return element("div", "drawing labels", named, element("div", "spread", *before, labels))
    if drawing.kind == "words":
        here = f" (here {drawing.value})" if drawing.value is not None else ""
        return element("div", "drawing", named, element("div", "spread", f"{drawing.bounds}{here}"))
    low, high = drawing.ends
    return element(
        "div", "drawing", named, element("span", "end low", low), _track(drawing), element("span", "end", high)
    )


def _chip_kind(chip: Chip) -> str:
    return " ".join(["own"] * chip.is_own + ["in"] * chip.is_in)


def _track(drawing: Drawing) -> Html:
    drawn = [element("span", "range")]
    band, at = drawing.band, drawing.at
    if band is not None:
        style = f"left:{percent(band.start)};right:{percent(1 - band.end)}"
        drawn.append(element("span", f"band{band.sides}", style=style))
    if at is not None:
        drawn.append(element("span", "dot", style=f"left:{percent(at)}"))
    if drawing.value is not None:
        left = percent(at or 0.0)
        drawn.append(element("span", "value", drawing.value, style=f"left:{left};transform:translateX(-{left})"))
    return element("div", "track", *drawn)


def change_card(answer: RowChanges) -> str:
    """Draw what would change the outcome of a row."""
    return card(*change_parts(answer))


def change_parts(answer: RowChanges) -> list[Html]:
    """Return the parts of the card of a row, for a card or a page."""
    found = "reached already" if answer.is_reached else "no change" if answer.best is None else ""
    badge = found or counted(len(answer.changes), "change")
    parts = [
        head(f"{answer.label}: from {answer.outcome_text} to", [answer.wanted], element("div", "badge", badge)),
        element("div", "part saying", answer.lead),
        *(element("div", "part note", note) for note in answer.notes),
    ]
    for i, change in enumerate(answer.changes):
        parts.append(part(f"{i + 1}. {change.sentence}", "", *_support(answer, change)))
    if answer.nearest is not None and answer.nearest.confirmed is not None:
        parts.append(element("div", "part note", answer.nearest.confirmation(answer.model)))
    if answer.caveat:
        parts.append(element("div", "part note", answer.caveat))
    return parts


def _support(answer: RowChanges, change: Change) -> list[Html]:
    measures = [
        ("probability at the least change", change.probability, format_probability(change.probability)),
        ("plausibility", change.plausibility, f"{format_percent(change.plausibility)} %"),
    ]
    support = [bars(measures), element("div", "note under", change.evidence(answer.goal))]
    if change.confirmed is not None:
        kind = "note under" if change.confirmed else "care"
        support.append(element("div", kind, change.confirmation(answer.model)))
    return support


def changes_card(changes: Changes) -> str:
    """Sum up the changes of many rows."""
    n_found = int(changes.has_change.sum())
    badge = element("div", "badge", f"{n_found} of {len(changes)} with a change")
    level = format_level(changes[0].pi) if len(changes) else ""
    parts: list[Html] = [head("What would change the outcome", [counted(len(changes), "row")], badge)]
    parts += [element("div", "part saying", line) for line in str(changes).splitlines()]
    hint = f"A change reaches the target with probability {level}. changes[0] shows one row."
    return card(*parts, element("div", "part note", hint))


def regional_card(changes: RegionalChanges) -> str:
    """Draw what would change the outcomes of rules."""
    n_found = sum(bool(change.unless) for change in changes)
    badge = element("div", "badge", f"{n_found} of {len(changes)} with a change")
    parts: list[Html] = [head("What would change the outcome", [counted(len(changes), "rule")], badge)]
    for change in changes[:MAX_LINES]:
        rule = f"IF {change.rule_text} THEN {change.outcome_text}"
        parts.append(part(rule, "", *_regional_support(change)))
    if len(changes) > MAX_LINES:
        parts.append(element("div", "part note", f"and {len(changes) - MAX_LINES} more: see to_frame()."))
    return card(*parts)


def _regional_support(change: RegionalChange) -> list[Html]:
    if not change.unless:
        return [element("div", "note under", f"{change.no_text[0].upper()}{change.no_text[1:]}.")]
    measures = [("probability", change.probability or 0.0, format_probability(change.probability or 0.0))]
    if change.reached is not None:
        measures.append(("rows moved there, by the forest", change.reached, f"{format_percent(change.reached)} %"))
    if change.confirmed_share is not None:
        share = change.confirmed_share
        measures.append(("rows moved there, by the model", share, f"{format_percent(share)} %"))
    parts = [element("div", "saying", f"UNLESS {change.unless_text}: then {change.goal}"), bars(measures)]
    if change.confirmed is not None:
        parts.append(element("div", "note under" if change.confirmed else "care", change.confirmation))
    return parts


BADGES = {"reasons": "", "refused": "refused", "not_adverse": "no reasons needed"}
# Codes that the card of many rows lists.
MAX_CODES = 10


def reason_card(answer: RowReasons) -> str:
    """Draw the reasons of a row."""
    return card(*reason_parts(answer))


def reason_parts(answer: RowReasons) -> list[Html]:
    """Return the parts of the card of a row, for a card or a page."""
    badge = BADGES[answer.status] or counted(len(answer.reasons), "reason")
    kind = "part care" if answer.refusal is not None else "part saying"
    parts = [
        head(answer.label, [answer.outcome_text], element("div", "badge", badge)),
        element("div", kind, answer.lead),
    ]
    for reason in answer.reasons:
        loss = ("lost without it", reason.loss, format_probability(reason.loss))
        parts.append(part(f"{reason.rank}. {reason.text}", reason.code, bars([loss])))
    return parts + [element("div", "part note", note) for note in answer.notes]


def reasons_card(reasons: Reasons) -> str:
    """Sum up the reasons of many rows."""
    n_adverse, n_refused = reasons.n_adverse, reasons.n_refused
    badge = element("div", "badge", f"{n_adverse - n_refused} of {n_adverse} with reasons")
    parts: list[Html] = [head("Reasons", [counted(len(reasons), "row")], badge)]
    n_lines = 2 if n_adverse < len(reasons) else 1  # refusals and codes have parts of their own
    parts += [element("div", "part saying", line) for line in str(reasons).splitlines()[:n_lines]]
    parts += reason_counts(reasons)
    return card(*parts, element("div", "part note", "reasons[0] shows one row."))


def reason_counts(reasons: Reasons) -> list[Html]:
    """Draw how many rows have each code, and how many were refused."""
    n_adverse = reasons.n_adverse
    parts: list[Html] = []
    codes = list(reasons.code_counts.items())
    if codes:
        shares = [(code, n / n_adverse, str(n)) for code, n in codes[:MAX_CODES]]
        more = f"and {len(codes) - MAX_CODES} more" if len(codes) > MAX_CODES else ""
        parts.append(part("How many rows have a code", "", bars(shares, more=more)))
    if reasons.n_refused:
        counts = [(REFUSALS[kind], n / n_adverse, str(n)) for kind, n in reasons.refusals.items()]
        parts.append(part("Needs human review", "", bars(counts, "plain")))
    return parts
