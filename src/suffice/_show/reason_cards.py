"""Cards of reasons: those of a row, and a summary of many rows."""

from __future__ import annotations

from suffice._show.cards import card, head
from suffice._show.markup import Html, bars, element, part
from suffice.reasons import REFUSALS, Reasons, RowReasons
from suffice.words import counted, format_probability

BADGES = {"reasons": "", "refused": "refused", "not_adverse": "no reasons needed"}
# Codes that the card of many rows lists.
MAX_CODES = 10


def reason_card(answer: RowReasons) -> str:
    """Draw the reasons of a row.

    Parameters
    ----------
    answer : RowReasons
        The reasons.

    Returns
    -------
    str
        HTML.
    """
    return card(*reason_parts(answer))


def reason_parts(answer: RowReasons) -> list[Html]:
    """Return the parts of the card of a row, for a card or a page.

    Parameters
    ----------
    answer : RowReasons
        The reasons.

    Returns
    -------
    list of Html
        The parts.
    """
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
    """Sum up the reasons of many rows.

    Parameters
    ----------
    reasons : Reasons
        The reasons.

    Returns
    -------
    str
        HTML.
    """
    n_adverse, n_refused = reasons.n_adverse, reasons.n_refused
    badge = element("div", "badge", f"{n_adverse - n_refused} of {n_adverse} with reasons")
    parts: list[Html] = [head("Reasons", [counted(len(reasons), "row")], badge)]
    n_lines = 2 if n_adverse < len(reasons) else 1  # refusals and codes have parts of their own
    parts += [element("div", "part saying", line) for line in str(reasons).splitlines()[:n_lines]]
    parts += reason_counts(reasons)
    return card(*parts, element("div", "part note", "reasons[0] shows one row."))


def reason_counts(reasons: Reasons) -> list[Html]:
    """Draw how many rows have each code, and how many were refused.

    Parameters
    ----------
    reasons : Reasons
        The reasons.

    Returns
    -------
    list of Html
        At most two parts.
    """
    n_adverse = reasons.n_adverse
    parts: list[Html] = []
    codes = list(reasons.code_counts.items())
    if codes:
        shares = [(code, n / n_adverse, str(n)) for code, n in codes[:MAX_CODES]]
        more = f"and {len(codes) - MAX_CODES} more" if len(codes) > MAX_CODES else ""
        parts.append(part("How many rows have a code", "", bars(shares, more=more)))
    if reasons.n_refused:
        counts = [(REFUSALS[kind], n / n_adverse, str(n)) for kind, n in reasons.refusals.items()]
        parts.append(part("Refused, for a person to look at", "", bars(counts, "plain")))
    return parts
