"""Small self-contained pieces of HTML that notebooks show: cards of explanations, rules, models, changes and reasons.

A card holds its own style, no script and nothing from elsewhere, and takes its text colour from the page around it.
Names, labels and values of the user's table are escaped where they are put in: any text that is not `Html` is. What a
card shows is computed by ``picture`` and ``axis``; this module only draws it.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from suffice._show.picture import (
    COVERAGE_MEANING,
    MAX_IMPORTANCES,
    READ_WITH_CARE,
    SDP_MEANING,
    RulePicture,
    Share,
    Word,
    about_facts,
    fidelity_shares,
    importance_shares,
    more_text,
    picture_explanation,
    picture_line,
    picture_rule,
    summarize,
)
from suffice._text import counted, format_level, format_percent, format_probability, format_share
from suffice.explaining.importance import IMPORTANCE_MEANINGS
from suffice.reasons.values import REFUSALS

if TYPE_CHECKING:
    from suffice._show.axis import Drawing
    from suffice._show.picture import Share
    from suffice.changes.values import Change, Changes, RegionalChange, RegionalChanges, RowChanges
    from suffice.explaining.explanation import Explanation
    from suffice.explaining.explanations import Explanations
    from suffice.explaining.rule import Rule
    from suffice.reasons.values import Reasons, RowReasons
    from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor


class Html(str):
    """Text that is HTML already; any other text is escaped where it is put in."""

    __slots__ = ()


def element(tag: str, classes: str, *children: str, **attributes: str) -> Html:
    """Write an element."""
    named = {"class": classes, **attributes} if classes else attributes
    written = "".join(f' {name.replace("_", "-")}="{html.escape(value)}"' for name, value in named.items())
    return Html(f"<{tag}{written}>{''.join(_escaped(child) for child in children)}</{tag}>")


def optional(tag: str, classes: str, text: str) -> list[Html]:
    """Write an element, or nothing if it has no text."""
    return [element(tag, classes, text)] if text else []


def _escaped(text: str) -> str:
    return text if isinstance(text, Html) else html.escape(text)


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Join pieces."""
    return Html(_escaped(between).join(_escaped(part) for part in parts))


@cache
def read_template(name: str) -> str:
    """Read a file that comes with the package."""
    return files("suffice").joinpath("_show", "templates", name).read_text(encoding="utf-8")


def part(title: str, note: str, *children: str) -> Html:
    """Write a part of a card under its title."""
    return element("div", "part", element("div", "title", title, element("span", "note", note)), *children)


def bar(share: float, kind: str = "", tick: float | None = None) -> Html:
    """Draw a share as a bar."""
    fill = element("span", f"fill {kind}".strip(), style=f"width:{percent(share)}")
    marked = element("span", "tick", style=f"left:{percent(tick)}") if tick is not None else ""
    return element("span", "bar", fill, marked)


def bars(shares: Iterable[Share], kind: str = "", *, more: str = "", narrow: bool = False) -> Html:
    """Draw shares as bars, one under the other."""
    cells: list[str] = []
    for name, share, text, tick in shares:
        cells += [element("span", "", name), bar(share, kind, tick), element("span", "number", text)]
    cells += optional("span", "note more", more)
    return element("div", "bars narrow" if narrow else "bars", *cells)


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    """Write facts one under the other."""
    cells = [cell for key, text in pairs for cell in (element("span", "key", key), element("span", "", text))]
    return element("div", "facts", *cells)


def chips(labels: Iterable[tuple[str, str]], more: str = "") -> Html:
    """Draw labels as chips."""
    meaning = {"in": "in the rule", "own": "this row's", "own in": "this row's, in the rule", "": ""}
    drawn = [element("span", f"chip {kind}".strip(), label, title=meaning[kind]) for label, kind in labels]
    return element("div", "chips", *drawn, *optional("span", "note", more))


def percent(share: float) -> str:
    """Write a share for a style."""
    return f"{100 * min(max(share, 0.0), 1.0):.4g}%"


MAX_LINES = 10  # rules, classes or codes that a card lists
BADGES = {"reasons": "", "refused": "refused", "not_adverse": "no reasons needed"}


def card(*children: str) -> Html:
    """Make a card of parts, with its own style."""
    return element("div", "suffice card", element("style", "", Html(read_template("card.css"))), *children)


def head(above: str, large: str, badge: str, *, kept: str = "", kind: str = "badge") -> Html:
    """Make the head of a card."""
    outcome = element("div", "outcome", large, *optional("span", "kept", kept))
    return element(
        "div", "head", element("div", "", element("div", "eyebrow", above), outcome), element("div", kind, badge)
    )


# --- explanations, rules and what is fitted --------------------------------------------------------------------------


def explanation_card(explanation: Explanation) -> str:
    """Draw an explanation."""
    picture = picture_explanation(explanation)
    kind = "badge" if picture.is_sufficient else "badge none"
    parts: list[str] = [head(picture.title, picture.outcome, picture.badge, kept=picture.kept, kind=kind)]
    if picture.cautions:
        parts.append(element("div", "care", element("b", "", READ_WITH_CARE), " ".join(picture.cautions)))
    parts.append(element("div", "part saying", picture.sentence))
    notes = optional("div", "note under", " ".join(filter(None, (picture.notes, picture.bound_note))))
    rule, best = picture.rule, picture.best
    if rule is not None:
        parts += [_sentence(rule.sentence), _figures(rule), element("div", "note under", rule.rows), *notes]
        parts += optional("div", "part note", rule.checked)
        if rule.drawings:
            missing = element("div", "note under", rule.missing)
            parts.append(element("div", "part", _drawings(rule.drawings), missing))
    if best is not None:
        sdp = best.sdp
        drawn_bar = bar(sdp.value, "" if picture.is_sufficient else "plain", sdp.tick)
        figures = element("div", "figures", element("div", "figure", sdp.name, drawn_bar, sdp.text))
        parts += [part(best.title, best.note, _drawings(best.drawings), figures), *notes]
    parts += optional("div", "part note", picture.advice)
    if picture.sets:
        halves = [part(picture.sets_title, picture.sets_note, bars(picture.sets, more=picture.more_sets, narrow=True))]
        if picture.importance:
            halves.append(importance_part("Importance", picture.importance, MAX_IMPORTANCES))
        parts.append(element("div", "halves", *halves))
    return card(*parts, *optional("div", "part note", picture.stability))


def importance_part(title: str, importance: Sequence[Share], most: int) -> Html:
    """Draw the importance of variables, for a card or a page."""
    drawn = element("div", "note", "No variable is in a sufficient set.")
    if importance:
        drawn = bars(importance[:most], "importance", more=more_text(len(importance), most))
    return part(title, IMPORTANCE_MEANINGS["minimal"], drawn)


def explanations_card(explanations: Explanations) -> str:
    """Sum up explanations."""
    about, summary = explanations.about, summarize(explanations)
    n_rows, n_sufficient = summary.n_rows, summary.n_sufficient
    badge = f"{n_sufficient} of {n_rows} with a sufficient set"
    parts: list[str] = [head(f"Explanations of {about['target']}", counted(n_rows, "row"), badge)]
    parts += [element("div", "care", caution) for caution in summary.cautions]
    share = summary.share
    shares = [Share("rows with a sufficient set", share, f"{format_percent(share)} %")] if n_rows else []
    for fidelity in fidelity_shares(about)[:1]:
        shares.append(fidelity._replace(name=f"fidelity of the forest (out-of-bag {fidelity.name})"))
    parts.append(element("div", "part", bars(shares)))
    importance = importance_shares(explanations.ranked_importance())
    halves = [importance_part("Mean importance", importance, MAX_IMPORTANCES)] if importance else []
    if n_sufficient:
        halves.append(part("Smallest sufficient set", "rows by its size", bars(summary.size_shares, "plain")))
    parts += [element("div", "halves", *halves)] if halves else []
    hint = "explanations[0] shows one row, explanations.report('report.html') writes all of them into one page."
    return card(*parts, element("div", "part note", hint))


def rule_card(rule: Rule) -> str:
    """Draw a rule."""
    picture = picture_rule(rule)
    parts = [_sentence(picture.sentence), _figures(picture), *optional("div", "part note", picture.checked)]
    if picture.drawings:
        parts.append(element("div", "part", _drawings(picture.drawings)))
    under = " ".join(filter(None, (picture.rows, picture.lift, picture.proof)))
    return card(*parts, element("div", "part note", under))


def global_rules_card(rule_list: GlobalRulesClassifier | GlobalRulesRegressor, n_rows: int, share: float) -> str:
    """Draw a list of rules as a table."""
    lines = rule_list.rules_
    cells: list[str] = [element("span", "head-cell", title) for title in ("", "rule", "coverage", "precision")]
    for i, line in enumerate(lines[:MAX_LINES], start=1):
        picture = picture_line(line)
        coverage, precision = picture.coverage, picture.precision
        sentence = element("span", "sentence", _words(picture.sentence))
        notes = [*optional("div", "note", picture.note), *optional("div", "note", picture.checked)]
        cells += [
            element("span", "note", str(i)),
            element("span", "sentence-cell", sentence, *notes),
            element("span", "figure first", bar(coverage.value, "plain"), coverage.text),
            element("span", "figure", bar(precision.value), precision.text),
        ]
    table = element("div", "lines", *cells) if lines else element("div", "", "There is no rule.")
    more = f"And {len(lines) - MAX_LINES} more." if len(lines) > MAX_LINES else ""
    how = f"{rule_list.how[0].upper()}{rule_list.how[1:]}."
    about = "Coverage is that of the training rows, precision is expected for new rows." if lines else ""
    otherwise = (
        f"All other rows: {rule_list.otherwise.removeprefix('ELSE ')}."
        if rule_list.otherwise
        else "No other row is decided."
    )
    covered = f"coverage {format_percent(share)} % of {counted(n_rows, 'row')}"
    return card(
        head(type(rule_list).__name__, counted(len(lines), "rule"), covered),
        element("div", "part", table),
        element("div", "note under", f"{more} {how} {otherwise} {about}"),
    )


def explainer_card(name: str, about: Mapping[str, Any]) -> str:
    """Draw what a fitted explainer knows."""
    candidates = chips([(candidate, "") for candidate in about["candidates"]])
    halves = [fidelity_part("Fidelity of the forest", about), part("Candidate variables", "those searched", candidates)]
    return card(
        head(name, f"explains {about['target']}", "fitted"),
        element("div", "part", facts(about_facts(about))),
        element("div", "halves", *halves),
    )


def fidelity_part(title: str, about: Mapping[str, Any]) -> Html:
    """Draw the fidelity of the forest, overall and by class, for a card or a page."""
    shares = fidelity_shares(about)
    drawn = element("div", "", "Not known: the forest has no rows out of bag.")
    if shares:
        drawn = bars(shares[: MAX_LINES + 1], more=more_text(len(shares), MAX_LINES + 1))
    return part(title, "out of bag", drawn)


def _words(sentence: Sequence[Word]) -> Html:
    return joined([element("b", "", word.text) if word.is_key else word.text for word in sentence], " ")


def _sentence(sentence: Sequence[Word]) -> Html:
    return element("div", "sentence", _words(sentence))


def _figures(rule: RulePicture) -> Html:
    drawn = [
        element("div", "figure", element("span", "", s.name, title=meaning), bar(s.value, kind, s.tick), s.text)
        for s, kind, meaning in (
            (rule.sdp, "", SDP_MEANING if rule.sdp.name == "SDP" else ""),
            (rule.coverage, "plain", COVERAGE_MEANING),
        )
    ]
    return element("div", "figures", *drawn)


def _drawings(drawings: Sequence[Drawing]) -> Html:
    return element("div", "drawings", *map(_drawing, drawings))


def _drawing(drawing: Drawing) -> Html:
    note = drawing.bounds if drawing.kind != "words" else ""
    named = element("div", "bounds", element("div", "name", drawing.name), *optional("div", "note", note))
    if drawing.kind == "labels":
        kinds = [" ".join(["own"] * chip.is_own + ["in"] * chip.is_in) for chip in drawing.chips]
        labels = chips([(chip.text, kind) for chip, kind in zip(drawing.chips, kinds, strict=True)], drawing.more)
        spread = element("div", "spread", *optional("span", "note", drawing.before), labels)
        return element("div", "drawing labels", named, spread)
    if drawing.kind == "words":
        here = f" (here {drawing.value})" if drawing.value is not None else ""
        return element("div", "drawing", named, element("div", "spread", f"{drawing.bounds}{here}"))
    low, high = (element("span", kind, end) for kind, end in zip(("end low", "end"), drawing.ends, strict=True))
    return element("div", "drawing", named, low, _track(drawing), high)


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


# --- changes ---------------------------------------------------------------------------------------------------------


def change_card(answer: RowChanges) -> str:
    """Draw what would change the outcome of a row."""
    return card(*change_parts(answer))


def change_parts(answer: RowChanges) -> list[Html]:
    """Return the parts of the card of a row, for a card or a page."""
    status = "reached already" if answer.is_reached else "no change" if answer.best is None else ""
    badge = status or counted(len(answer.changes), "change")
    parts = [
        head(f"{answer.label}: from {answer.outcome_text} to", answer.wanted, badge),
        element("div", "part saying", answer.lead),
        *(element("div", "part note", note) for note in answer.notes),
    ]
    for i, change in enumerate(answer.changes):
        parts.append(part(f"{i + 1}. {change.listed}", "", *_support(answer, change)))
    if answer.nearest is not None and answer.nearest.confirmed is not None:
        parts.append(element("div", "part note", answer.nearest.confirmation(answer.model)))
    return parts + optional("div", "part note", answer.caveat)


def _support(answer: RowChanges, change: Change) -> list[Html]:
    measures = [
        Share("probability at the least change", change.probability, format_probability(change.probability)),
        Share("plausibility", change.plausibility, f"{format_percent(change.plausibility)} %"),
    ]
    support = [bars(measures), element("div", "note under", change.evidence(answer.goal))]
    if change.confirmed is not None:
        kind = "note under" if change.confirmed else "care"
        support.append(element("div", kind, change.confirmation(answer.model)))
    return support


def changes_card(changes: Changes) -> str:
    """Sum up the changes of many rows."""
    badge = f"{int(changes.has_change.sum())} of {len(changes)} with a change"
    level = format_level(changes[0].pi) if len(changes) else ""
    return card(
        head("What would change the outcome", counted(len(changes), "row"), badge),
        *(element("div", "part saying", line) for line in str(changes).splitlines()),
        element("div", "part note", f"A change reaches the target with probability {level}. changes[0] shows one row."),
    )


def regional_card(changes: RegionalChanges) -> str:
    """Draw what would change the outcomes of rules."""
    badge = f"{sum(bool(change.unless) for change in changes)} of {len(changes)} with a change"
    parts = [head("What would change the outcome", counted(len(changes), "rule"), badge)]
    for change in changes[:MAX_LINES]:
        parts.append(part(f"IF {change.rule_text} THEN {change.outcome_text}", "", *_regional_support(change)))
    if len(changes) > MAX_LINES:
        parts.append(element("div", "part note", f"{more_text(len(changes), MAX_LINES)}: see to_frame()."))
    return card(*parts)


def _regional_support(change: RegionalChange) -> list[Html]:
    if not change.unless:
        return [element("div", "note under", f"{change.no_text[0].upper()}{change.no_text[1:]}.")]
    probability = change.probability or 0.0
    measures = [Share("probability", probability, format_probability(probability))]
    for share, kind in ((change.reached, "forest"), (change.confirmed_share, "model")):
        if share is not None:
            measures.append(Share(f"rows moved there, by the {kind}", share, f"{format_percent(share)} %"))
    parts = [element("div", "saying", f"UNLESS {change.unless_text}: then {change.goal}"), bars(measures)]
    if change.confirmed is not None:
        parts.append(element("div", "note under" if change.confirmed else "care", change.confirmation))
    return parts


# --- reasons ---------------------------------------------------------------------------------------------------------


def reason_card(answer: RowReasons) -> str:
    """Draw the reasons of a row."""
    badge = BADGES[answer.status] or counted(len(answer.reasons), "reason")
    kind = "part care" if answer.refusal is not None else "part saying"
    parts = [head(answer.label, answer.outcome_text, badge), element("div", kind, answer.lead)]
    for reason in answer.reasons:
        loss = Share("lost without it", reason.loss, format_share(reason.loss))
        parts.append(part(f"{reason.rank}. {reason.text}", reason.code, bars([loss])))
    return card(*parts, *(element("div", "part note", note) for note in answer.notes))


def reasons_card(reasons: Reasons) -> str:
    """Sum up the reasons of many rows."""
    n_adverse = reasons.n_adverse
    badge = f"{n_adverse - reasons.n_refused} of {n_adverse} with reasons"
    n_lines = 2 if n_adverse < len(reasons) else 1  # refusals and codes have parts of their own
    return card(
        head("Reasons", counted(len(reasons), "row"), badge),
        *(element("div", "part saying", line) for line in str(reasons).splitlines()[:n_lines]),
        *reason_counts(reasons),
        element("div", "part note", "reasons[0] shows one row."),
    )


def reason_counts(reasons: Reasons) -> list[Html]:
    """Draw how many rows have each code, and how many were refused, for a card or a page."""
    n_adverse = reasons.n_adverse
    parts: list[Html] = []
    codes = [Share(code, n / n_adverse, str(n)) for code, n in reasons.code_counts.items()]
    if codes:
        drawn = bars(codes[:MAX_LINES], more=more_text(len(codes), MAX_LINES))
        parts.append(part("How many rows have a code", "", drawn))
    if reasons.n_refused:
        refused = [Share(REFUSALS[kind], n / n_adverse, str(n)) for kind, n in reasons.refusals.items()]
        parts.append(part("Needs human review", "", bars(refused, "plain")))
    return parts
