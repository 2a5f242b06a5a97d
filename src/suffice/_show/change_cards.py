"""Cards of changes: what would change the outcome of a row, and a summary of many rows."""

from __future__ import annotations

from suffice._show.cards import MAX_LINES, card, head
from suffice._show.markup import Html, bars, element, part
from suffice.changes import Change, RowChanges
from suffice.changes_of_rows import Changes
from suffice.regional_changes import RegionalChange, RegionalChanges
from suffice.words import counted, format_level, format_percent, format_probability


def change_card(answer: RowChanges) -> str:
    """Draw what would change the outcome of a row.

    Parameters
    ----------
    answer : RowChanges
        The answer.

    Returns
    -------
    str
        HTML.
    """
    return card(*change_parts(answer))


def change_parts(answer: RowChanges) -> list[Html]:
    """Return the parts of the card of a row, for a card or a page.

    Parameters
    ----------
    answer : RowChanges
        The answer.

    Returns
    -------
    list of Html
        The parts.
    """
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
    """Sum up the changes of many rows.

    Parameters
    ----------
    changes : Changes
        The changes.

    Returns
    -------
    str
        HTML.
    """
    n_found = int(changes.has_change.sum())
    badge = element("div", "badge", f"{n_found} of {len(changes)} with a change")
    level = format_level(changes[0].pi) if len(changes) else ""
    parts: list[Html] = [head("What would change the outcome", [counted(len(changes), "row")], badge)]
    parts += [element("div", "part saying", line) for line in str(changes).splitlines()]
    hint = f"A change reaches the target with probability {level}. changes[0] shows one row."
    return card(*parts, element("div", "part note", hint))


def regional_card(changes: RegionalChanges) -> str:
    """Draw what would change the outcomes of rules.

    Parameters
    ----------
    changes : RegionalChanges
        The changes.

    Returns
    -------
    str
        HTML.
    """
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
    parts = [element("div", "saying", f"UNLESS {change.unless_text}, which gives {change.goal}"), bars(measures)]
    if change.confirmed is not None:
        parts.append(element("div", "note under" if change.confirmed else "care", change.confirmation))
    return parts
