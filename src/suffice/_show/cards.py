"""Small self-contained pieces of HTML that notebooks show: cards of explanations, rules, models, changes and reasons.

A card holds its own style, no script and nothing from elsewhere, and takes its text colour from the page around it.
Names, labels and values of the user's table are escaped where they are put in: any text that is not `Html` is. What a
card shows is computed by ``picture`` and ``axis``; this module only draws it.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from suffice._show.axis import condition_text, draw, missing_text
from suffice._show.picture import (
    COVERAGE_MEANING,
    MAX_IMPORTANCES,
    NOTHING,
    PRECISION_MEANING,
    READ_WITH_CARE,
    SDP_MEANING,
    Share,
    about_facts,
    all_cautions,
    badge_text,
    cautions,
    coverage_share,
    fidelity_shares,
    importance_shares,
    kept_text,
    lift_text,
    more_text,
    picture_line,
    proof_text,
    row_drawings,
    set_shares,
    size_shares,
)
from suffice._text import (
    counted,
    format_level,
    format_percent,
    format_probability,
    format_share,
    format_with_bound,
    join,
    printable,
)
from suffice.explaining.importance import IMPORTANCE_MEANINGS
from suffice.explaining.sentences import N_LISTED
from suffice.reasons.values import REFUSALS

if TYPE_CHECKING:
    from suffice._show.axis import Chip, Drawing
    from suffice._show.overview import OutcomeOverview
    from suffice._table.condition import Condition
    from suffice.changes.values import Change, Changes, RegionalChange, RegionalChanges, RowChanges
    from suffice.explaining.explanation import Explanation
    from suffice.explaining.explanations import Explanations
    from suffice.explaining.rule import Rule
    from suffice.reasons.values import Reason, Reasons, RowReasons
    from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor
    from suffice.rule_lists.measures import GlobalRule


class Html(str):
    """Text that is HTML already; any other text is escaped where it is put in."""

    __slots__ = ()


def element(tag: str, classes: str, *children: str, **attributes: str) -> Html:
    """Write an element."""
    named = {"class": classes, **attributes} if classes else attributes
    written = "".join(f' {name.replace("_", "-")}="{html.escape(printable(value))}"' for name, value in named.items())
    return Html(f"<{tag}{written}>{''.join(_escaped(child) for child in children)}</{tag}>")


def optional(tag: str, classes: str, text: str) -> list[Html]:
    """Write an element, or nothing if it has no text."""
    return [element(tag, classes, text)] if text else []


def _escaped(text: str) -> str:
    return text if isinstance(text, Html) else html.escape(printable(text))


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


def figure(share: Share, kind: str = "", meaning: str = "") -> Html:
    """Draw a share with its name and, if it has one, the level that it needs."""
    drawn = bar(share.value, kind, share.tick)
    if share.tick is not None:
        drawn = element("span", "levelled", drawn, _level_label(share.tick))
    named = element("span", "", share.name, **({"title": meaning} if meaning else {}))
    return element("div", "figure", named, drawn, element("span", "number", share.text))


def _level_label(level: float) -> Html:
    """Write the level that a bar needs below its tick."""
    at = percent(level)
    return element("span", "needed", f"needed {format_level(level)}", style=f"left:{at};transform:translateX(-{at})")


def bars(shares: Iterable[Share], kind: str = "", *, more: str = "", narrow: bool = False) -> Html:
    """Draw shares as bars, one under the other; the level that they need is written below the last one."""
    cells: list[str] = []
    level: float | None = None
    for name, share, text, level in shares:
        cells += [element("span", "", name), bar(share, kind, level), element("span", "number", text)]
    if level is not None:
        cells.append(element("span", "levelled", _level_label(level)))
    cells += optional("span", "note more", more)
    return element("div", "bars narrow" if narrow else "bars", *cells)


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    """Write facts one under the other."""
    cells = [cell for key, text in pairs for cell in (element("span", "key", key), element("span", "", text))]
    return element("div", "facts", *cells)


def tile(name: str, large: str, note: str = "", share: float | None = None) -> Html:
    """Write one figure in large letters."""
    drawn = "" if share is None else bar(share)
    title = element("div", "eyebrow", name)
    return element("div", "tile", title, element("div", "large", large), drawn, element("div", "note", note))


def percent(share: float) -> str:
    """Write a share for a style."""
    return f"{100 * min(max(share, 0.0), 1.0):.4g}%"


def share_cell(share: float, text: str, note: str = "", kind: str = "", tick: float | None = None) -> Html:
    """Draw a share as a bar in a cell of a table; a share that is not known is a dash."""
    if math.isnan(share):
        return element("td", "", "-")
    drawn = element("div", "bar-cell", bar(share, kind, tick), element("span", "number", text))
    return element("td", "", drawn, *optional("div", "note", note))


def table(heads: Sequence[str], lines: Sequence[Sequence[Html]], kind: str) -> Html:
    """Write a table of cells."""
    head = element("tr", "", *(element("th", "", text, scope="col") for text in heads))
    body = [element("tr", "", *cells) for cells in lines]
    return element(
        "div", "scroll", element("table", kind, element("thead", "", head), element("tbody", "", *body)), tabindex="0"
    )


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
    return card(*explanation_parts(explanation))


def explanation_parts(
    explanation: Explanation, reasons: Sequence[Html] = (), reword: Callable[[str], str] = str
) -> list[Html]:
    """Draw an explanation without the frame of its card; reasons stand below its first sentence."""
    sentences, sets = explanation.sentences, explanation.sufficient_sets
    kept = kept_text(sentences.interval_text) if sentences.interval_text else ""
    kind = "badge" if sets else "badge none"
    parts = [head(sentences.title, sentences.outcome_text, badge_text(explanation), kept=kept, kind=kind)]
    care = cautions(explanation)
    if care:
        parts.append(element("div", "care", element("b", "", READ_WITH_CARE), " ".join(care)))
    parts += [element("div", "part saying", f"{sentences.outcome_sentence} {sentences.lead}"), *reasons]
    parts += best_parts(explanation)
    notes = (*sentences.notes, sentences.rule_note, sentences.bound_note)
    parts += optional("div", "note under", " ".join(filter(None, notes)))
    parts += optional("div", "part note", reword(sentences.advice))
    shares = set_shares(explanation)
    if shares:
        title, note = counted(len(sets), "sufficient set"), "each alone is enough" if len(sets) > 1 else ""
        halves = [part(title, note, bars(shares, more=more_text(len(sets), N_LISTED), narrow=True))]
        if explanation.importance_differs:
            halves.append(importance_part("Importance", importance_shares(explanation.ranked_importance())))
        parts.append(element("div", "halves", *halves))
    return parts + optional("div", "part note", sentences.stability_note)


def best_parts(explanation: Explanation) -> list[Html]:
    """Draw the rule of a row, or its best set where there is no rule."""
    best, drawings = explanation.best_set, row_drawings(explanation)
    if explanation.rule is not None:
        return rule_parts(explanation.rule, drawings, explanation.pi, best.lower)
    title = "Sufficient set" if explanation.is_sufficient else "Nearest set"
    note = "" if drawings else f"{NOTHING}: whatever is known"
    share = Share("SDP", best.sdp, format_with_bound(best.sdp, best.lower), explanation.pi)
    figures = element("div", "figures", figure(share, "" if explanation.is_sufficient else "plain", SDP_MEANING))
    return [part(title, note, *_drawings(drawings), figures)]


def importance_part(title: str, importance: Sequence[Share], most: int = MAX_IMPORTANCES) -> Html:
    """Draw the importance of variables under its title."""
    return part(title, IMPORTANCE_MEANINGS["minimal"], importance_bars(importance, most))


def importance_bars(importance: Sequence[Share], most: int) -> Html:
    """Draw the importance of variables, the first ones of many."""
    if not importance:
        return element("div", "note", "No variable is in a sufficient set.")
    return bars(importance[:most], "importance", more=more_text(len(importance), most))


def explanations_card(explanations: Explanations) -> str:
    """Sum up explanations."""
    about, n_rows, n_sufficient = explanations.about, len(explanations), int(explanations.has_set.sum())
    badge = f"{n_sufficient} of {n_rows} with a sufficient set"
    parts: list[str] = [head(f"Explanations of {about['target']}", counted(n_rows, "row"), badge)]
    parts += [element("div", "care", caution) for caution in all_cautions(explanations)]
    share = n_sufficient / max(n_rows, 1)
    shares = [Share("rows with a sufficient set", share, f"{format_percent(share)} %")] if n_rows else []
    for fidelity in fidelity_shares(about)[:1]:
        shares.append(fidelity._replace(name=f"fidelity of the forest (out-of-bag {fidelity.name})"))
    parts.append(element("div", "part", bars(shares)))
    importance = importance_shares(explanations.ranked_importance())
    halves = [importance_part("Mean importance", importance)] if importance else []
    if n_sufficient:
        halves.append(part("Smallest sufficient set", "rows by its size", bars(size_shares(explanations), "plain")))
    parts += [element("div", "halves", *halves)] if halves else []
    hint = "explanations[0] shows one row, explanations.report('report.html') writes all of them into one page."
    return card(*parts, element("div", "part note", hint))


def rule_card(rule: Rule) -> str:
    """Draw a rule."""
    drawings = [draw(condition.name, condition, None) for condition in rule.conditions]
    under = " ".join(filter(None, (lift_text(rule), proof_text(rule))))
    return card(*rule_parts(rule, drawings), *optional("div", "note under", under))


def rule_parts(
    rule: Rule, drawings: Sequence[Drawing], pi: float | None = None, lower: float | None = None
) -> list[Html]:
    """Draw a rule: its sentence, its conditions, its figures and what is to be known; of a row also level and bound."""
    text = "-" if rule.precision is None else format_share(rule.precision)
    figures = [
        figure(coverage_share(rule.coverage), "plain", COVERAGE_MEANING),
        figure(Share("precision", rule.precision or 0.0, text), "", PRECISION_MEANING),
    ]
    if rule.sdp is not None:
        figures.insert(0, figure(Share("SDP", rule.sdp, format_with_bound(rule.sdp, lower), pi), "", SDP_MEANING))
    return [
        element("div", "sentence", rule_sentence(rule.conditions, rule.conclusion)),
        *_drawings(drawings),
        element("div", "figures", *figures),
        element("div", "note under", " ".join(filter(None, (rule.rows_text, missing_text(rule.conditions))))),
        *optional("div", "note under", rule.checked_text),
    ]


def global_rules_card(rule_list: GlobalRulesClassifier | GlobalRulesRegressor, n_rows: int, share: float) -> str:
    """Draw a list of rules as a table."""
    lines = rule_list.rules_
    body = [[element("td", "note", str(i)), *rule_cells(line)] for i, line in enumerate(lines[:MAX_LINES], start=1)]
    drawn = table(("", "rule", "coverage", "precision"), body, "rules") if lines else "There is no rule."
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
        element("div", "part", drawn),
        element("div", "note under", f"{more} {how} {otherwise} {about}"),
    )


def rule_cells(line: GlobalRule) -> list[Html]:
    """Draw a rule of a list as cells of a table: its sentence, its coverage, and its precision beside the base rate."""
    picture, base = picture_line(line), line.rule.base_rate if line.mae is None else None
    sentence = element("div", "sentence", rule_sentence(line.rule.conditions, picture.conclusion))
    notes = (one for note in (picture.note, line.checked_text) for one in optional("div", "note", note))
    all_rows = "" if base is None else f"{format_share(base)} of all rows"
    return [
        element("td", "", sentence, *notes),
        share_cell(picture.coverage.value, picture.coverage.text, counted(line.support, "training row"), "plain"),
        share_cell(picture.precision.value, picture.precision.text, all_rows, tick=base),
    ]


def explainer_card(name: str, about: Mapping[str, Any]) -> str:
    """Draw what a fitted explainer knows."""
    chips = element("div", "chips", *(element("span", "chip", name) for name in about["candidates"]))
    shares, drawn = fidelity_shares(about), element("div", "", "Not known: the forest has no rows out of bag.")
    if shares:
        drawn = bars(shares[: MAX_LINES + 1], more=more_text(len(shares), MAX_LINES + 1))
    fidelity = part("Fidelity of the forest", "out of bag", drawn)
    return card(
        head(name, f"explains {about['target']}", "fitted"),
        element("div", "part", facts(about_facts(about))),
        element("div", "halves", fidelity, part("Candidate variables", "those searched", chips)),
    )


def rule_sentence(conditions: Sequence[Condition], conclusion: str) -> Html:
    """Write a rule as a sentence with short numbers, its key words in bold."""
    words = []
    for i, condition in enumerate(conditions):
        words += [element("b", "", "AND" if i else "IF"), condition_text(condition)]
    return joined([*words, element("b", "", "THEN" if conditions else "ALWAYS"), conclusion], " ")


def _drawings(drawings: Sequence[Drawing]) -> list[Html]:
    return [element("div", "drawings", *map(_drawing, drawings))] if drawings else []


def _drawing(drawing: Drawing, *more: Html) -> Html:
    notes = [drawing.bounds if drawing.kind != "words" else "", drawing.missing]
    note = " · ".join(filter(None, notes))
    named = element("div", "bounds", element("div", "name", drawing.name), *optional("div", "note", note), *more)
    if drawing.kind == "labels":
        labels = [*optional("span", "note", drawing.before), *map(_chip, drawing.chips)]
        spread = element("div", "spread chips", *labels, *optional("span", "note", drawing.more))
        return element("div", "drawing labels", named, spread)
    if drawing.kind == "words":
        here = f" (here {drawing.value})" if drawing.value is not None else ""
        return element("div", "drawing", named, element("div", "spread", f"{drawing.bounds}{here}"))
    low, high = (element("span", kind, end) for kind, end in zip(("end low", "end"), drawing.ends, strict=True))
    return element("div", "drawing", named, low, _track(drawing), high)


def overview_part(overview: OutcomeOverview, most: int) -> Html:
    """Draw in which sets of one outcome the variables are, and for which values; buttons lead to the rows."""
    drawn = [
        _drawing(line.drawing, bar(line.share), rows_button(line.rows, f"with {line.variable}, {overview.label}"))
        for line in overview.lines[:most]
    ]
    more = optional("div", "note under", more_text(len(overview.lines), most))
    if not drawn:
        drawn = [element("div", "note", "No variable is in a sufficient set.")]
    return part(overview.label, overview.note, element("div", "drawings", *drawn), *more)


def rows_button(rows: Sequence[int], which: str) -> Html:
    """Write a button that leads to some rows."""
    text = counted(len(rows), "row")
    return element("button", "link", text, type="button", data_rows=join_numbers(rows), aria_label=f"{text} {which}")


def join_numbers(numbers: Iterable[int]) -> str:
    """Write whole numbers for an attribute."""
    return " ".join(map(str, numbers))


def _chip(chip: Chip) -> Html:
    """Draw a category with the share of the training rows that have it."""
    kind = " ".join(["chip", *["own"] * chip.is_own, *["in"] * chip.is_in])
    meaning = {(True, True): "this row's, in the rule", (True, False): "in the rule", (False, True): "this row's"}
    title = meaning.get((chip.is_in, chip.is_own), "")
    shares = []
    if chip.share is not None:
        shares.append(element("span", "share", f"{format_percent(chip.share)} %"))
        shares.append(element("span", "fill", style=f"width:{chip.share:.0%}"))
    return element("span", kind, chip.text, *shares, **({"title": title} if title else {}))


def _track(drawing: Drawing) -> Html:
    """Draw the training values as a silhouette, the bounds on it, and the row's own value."""
    band, at, drawn = drawing.band, drawing.at, []
    place = "" if band is None else f"left:{percent(band.start)};right:{percent(1 - band.end)}"
    if drawing.outline:
        corners = ",".join(f"{x}% {100 - height}%" for x, height in drawing.outline)
        inside = [element("span", "within", style=place)] if place else []
        drawn.append(element("span", "outline", *inside, style=f"clip-path:polygon({corners})"))
    drawn.append(element("span", "range"))
    if band is not None:
        drawn.append(element("span", f"band{band.sides}", style=place))
    if at is not None:
        drawn.append(element("span", "dot", style=f"left:{percent(at)}"))
    if drawing.value is not None:
        left = percent(at or 0.0)
        drawn.append(element("span", "value", drawing.value, style=f"left:{left};transform:translateX(-{left})"))
    return element("div", "track", *drawn)


# --- changes ---------------------------------------------------------------------------------------------------------


def change_card(answer: RowChanges) -> str:
    """Draw what would change the outcome of a row."""
    status = "reached already" if answer.is_reached else "no change" if answer.best is None else ""
    badge = status or counted(len(answer.changes), "change")
    return card(head(f"{answer.label}: from {answer.outcome_text} to", answer.wanted, badge), *change_parts(answer))


def change_parts(answer: RowChanges) -> list[Html]:
    """Draw the changes of a row without the head of its card."""
    parts = [
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
    return [bars(measures), *evidence_parts(answer, change)]


def evidence_parts(answer: RowChanges, change: Change) -> list[Html]:
    """Write what supports a change, and whether the model confirms it."""
    parts = [element("div", "note under", change.evidence(answer.goal))]
    if change.confirmed is not None:
        parts.append(element("div", "note under" if change.confirmed else "care", change.confirmation(answer.model)))
    return parts


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
    return card(head(answer.label, answer.outcome_text, badge), *reason_parts(answer))


def reason_parts(answer: RowReasons) -> list[Html]:
    """Draw the reasons of a row without the head of its card."""
    lead = element("div", "part care" if answer.refusal is not None else "part saying", answer.lead)
    return [lead, *reason_bars(answer.reasons), *(element("div", "part note", note) for note in answer.notes)]


def reason_bars(reasons: Sequence[Reason]) -> list[Html]:
    """Draw reasons by the probability that is lost without each."""
    shares = []
    for reason in reasons:
        code = "" if reason.variables == (reason.code,) else f" ({reason.code}: {join(reason.variables)})"
        shares.append(Share(f"{reason.rank}. {reason.text}{code}", reason.loss, format_share(reason.loss)))
    note = element("div", "note under", "The bars: probability lost without it.")
    return [element("div", "part", bars(shares), note)] if shares else []


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
