"""What rules and explanations show, as plain values.

Everything that is seen of a rule or an explanation is computed here once: its sentence, its figures, the warnings, the
sets, the order of the importances, and, with ``axis``, where conditions and values lie. Cards, the report, the plots
and the app only draw these values. The words of ``str(explanation)`` are those of the explanation itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suffice._show.axis import NO_ROW, Drawing, condition_text, draw, missing_text, rounded
from suffice._table.encoding import Column
from suffice.explanation import N_LISTED, Explanation, SufficientSet
from suffice.global_rules import GlobalRule
from suffice.rules import Condition, Rule
from suffice.words import counted, format_percent, format_probability, format_with_bound, join

READ_WITH_CARE = "Read with care. "
NOTHING = "nothing at all"
WHATEVER = f"{NOTHING}: whatever is known"
NO_SET = "no sufficient set"
SUFFICIENT_SET = "Sufficient set"
NEAREST_SET = "Nearest set"
MAX_IMPORTANCES = 8  # of one row
SDP_MEANING = "the probability that the outcome is kept"
COVERAGE_MEANING = "the share of training rows in the rule"


@dataclass(frozen=True)
class Word:
    """A piece of a sentence.

    Parameters
    ----------
    text : str
        The piece.
    is_key : bool, default=False
        Whether it is IF, AND, THEN or ALWAYS.
    """

    text: str
    is_key: bool = False


@dataclass(frozen=True)
class Share:
    """A number from 0 to 1 that is drawn as a bar.

    Parameters
    ----------
    name : str
        What it is.
    value : float
        The number.
    text : str
        The number as it is written.
    tick : float or None, default=None
        A mark on the bar.
    """

    name: str
    value: float
    text: str
    tick: float | None = None


@dataclass(frozen=True)
class RulePicture:
    """What a rule shows.

    Parameters
    ----------
    sentence : tuple of Word
        The rule in short numbers; join the texts with spaces.
    text : str
        The rule in full.
    sdp, coverage, precision : Share
        Its figures; the tick of the SDP is pi.
    rows : str
        How many training rows it covers, and how many of them have the outcome.
    proof : str
        What is proven of it.
    checked : str
        What its certificate says; nothing without one.
    lift : str
        How many times as likely as on average a rare class is, in one sentence; nothing for other outcomes.
    missing : str
        Which variables may be missing; nothing if there is nothing to say.
    drawings : tuple of Drawing
        Its conditions.
    """

    sentence: tuple[Word, ...]
    text: str
    sdp: Share
    coverage: Share
    precision: Share
    rows: str
    proof: str
    checked: str
    lift: str
    missing: str
    drawings: tuple[Drawing, ...]


@dataclass(frozen=True)
class LinePicture:
    """What a line of a list of rules shows.

    Parameters
    ----------
    sentence : tuple of Word
        The rule in short numbers; join the texts with spaces.
    premise : str
        Its conditions in short numbers; "always" if it has none.
    output : str
        The class, or the number.
    conclusion : str
        The class, or the number with the name of the outcome and the mean absolute error.
    lift : str
        How many times as likely as on average a rare class is; nothing for other outcomes.
    few : str
        That few training rows stand behind it; nothing if there are enough.
    mae : str
        The mean absolute error of a number; nothing for a class.
    checked : str
        What its certificate says; nothing without one.
    coverage, precision : Share
        Its figures. The precision is that expected for new rows, if it is known, and else that of the training rows;
        that of a regression may be negative.
    """

    sentence: tuple[Word, ...]
    premise: str
    output: str
    conclusion: str
    lift: str
    few: str
    mae: str
    checked: str
    coverage: Share
    precision: Share

    @property
    def note(self) -> str:
        """What stands below its sentence: the lift of a rare class, and that its rows are few."""
        return ", ".join(filter(None, (self.lift, self.few)))


@dataclass(frozen=True)
class SetPicture:
    """What the best set shows where there is no rule.

    Parameters
    ----------
    title : str
        The title above its values.
    note : str
        Beside the title; nothing if the set holds variables.
    sdp : Share
        Its same-decision probability.
    drawings : tuple of Drawing
        The row's values.
    """

    title: str
    note: str
    sdp: Share
    drawings: tuple[Drawing, ...]


@dataclass(frozen=True)
class ExplanationPicture:
    """What an explanation shows.

    Parameters
    ----------
    title : str
        What the row and the outcome are called, and who predicts it or that it is observed.
    sentence : str
        The outcome and how sure the forest is, and what is enough to keep it.
    advice : tuple of str
        What to do if no set is sufficient, one sentence each.
    outcome : str
        The outcome.
    kept : str
        The interval in which a number is kept; nothing for a class.
    badge : str
        How many variables are enough.
    is_sufficient : bool
        Whether any set is sufficient.
    cautions : tuple of str
        Why it is to be read with care: the forest disagrees, or the search ended early.
    rule : RulePicture or None
        The rule, if there is one.
    best : SetPicture or None
        The best set, if there is no rule.
    notes : tuple of str
        What stands below the figures, one sentence each: what all variables together reach, the level of the class, and
        that no rule covers enough rows.
    bound_note : str
        What "at least" means; nothing if there is no bound.
    sets_title, sets_note : str
        How many sufficient sets there are, and what several of them mean.
    sets : tuple of Share
        The first of the sufficient sets; none if the empty set is sufficient, which has nothing to list.
    more_sets : str
        How many more there are; nothing if all are listed.
    importance : tuple of Share
        The variables of any importance, the most important first; empty with fewer than two sets, when it says
        nothing.
    stability : str, default=""
        How often the best set returns when the forest is grown again; nothing if that was not measured.
    """

    title: str
    sentence: str
    advice: tuple[str, ...]
    outcome: str
    kept: str
    badge: str
    is_sufficient: bool
    cautions: tuple[str, ...]
    rule: RulePicture | None
    best: SetPicture | None
    notes: tuple[str, ...]
    bound_note: str
    sets_title: str
    sets_note: str
    sets: tuple[Share, ...]
    more_sets: str
    importance: tuple[Share, ...]
    stability: str = ""


# --- rules -----------------------------------------------------------------------------------------------------------


def write_sentence(conditions: Sequence[Condition], conclusion: str) -> tuple[Word, ...]:
    """Write a rule as a sentence with short numbers.

    Parameters
    ----------
    conditions : sequence of Condition
        The conditions.
    conclusion : str
        What follows "THEN".

    Returns
    -------
    tuple of Word
        The pieces; join their texts with spaces.

    Examples
    --------
    >>> print(*(word.text for word in write_sentence([Condition("hour", 5.5), Condition("temp", 7.0)], "busy")))
    IF hour > 5.5 AND temp > 7 THEN busy
    """
    if not conditions:
        return Word("ALWAYS", True), Word(conclusion)
    words = []
    for i, condition in enumerate(conditions):
        words += [Word("AND" if i else "IF", True), Word(condition_text(condition))]
    return (*words, Word("THEN", True), Word(conclusion))


def picture_line(line: GlobalRule) -> LinePicture:
    """Compute what a line of a list of rules shows.

    Parameters
    ----------
    line : GlobalRule
        The line.

    Returns
    -------
    LinePicture
        The picture.
    """
    output, mae = str(line.output), ""
    conclusion = output
    if line.mae is not None:
        output, mae = rounded(line.output, 4), rounded(line.mae, 3)
        conclusion = f"{line.rule.target} = {output} (MAE {mae})"
    conditions = line.rule.conditions
    precision = line.precision if line.expected is None else line.expected
    return LinePicture(
        sentence=write_sentence(conditions, conclusion),
        premise=" AND ".join(map(condition_text, conditions)) or "always",
        output=output,
        conclusion=conclusion,
        lift=", ".join(line.lift_texts),
        few="few training rows" if line.has_few_rows else "",
        mae=mae,
        checked=line.checked_text,
        coverage=coverage_share(line.coverage),
        precision=Share("precision", precision, _precision_text(precision)),
    )


def _precision_text(precision: float) -> str:
    """Write a precision, rounded down as probabilities are; that of a regression may be negative."""
    return format_probability(precision) if precision >= 0 else f"{math.floor(100 * precision + 1e-7) / 100:.2f}"


def coverage_share(coverage: float) -> Share:
    """Compute how a coverage is drawn.

    Parameters
    ----------
    coverage : float
        The share of training rows.

    Returns
    -------
    Share
        The bar.
    """
    return Share("coverage", coverage, f"{format_percent(coverage)} %")


def sdp_share(sdp: float, pi: float | None, lower: float | None = None) -> Share:
    """Compute how a same-decision probability is drawn.

    Parameters
    ----------
    sdp : float
        The probability.
    pi : float or None
        The probability that a sufficient set must reach, if it is known.
    lower : float, default=None
        The lower bound of the SDP, if it is known.

    Returns
    -------
    Share
        The bar.
    """
    return Share("SDP", sdp, format_with_bound(sdp, lower), pi)


def picture_rule(
    rule: Rule,
    columns: Sequence[Column] = (),
    values: Mapping[str, Any] | None = None,
    pi: float | None = None,
    lower: float | None = None,
) -> RulePicture:
    """Compute what a rule shows.

    Parameters
    ----------
    rule : Rule
        The rule.
    columns : sequence of Column, default=()
        The columns of the training table, as far as they are known.
    values : mapping of str to object, default=None
        The row's value of each column, None for a missing one; without a row, None.
    pi : float, default=None
        The probability that a sufficient set must reach.
    lower : float, default=None
        The lower bound of the SDP.

    Returns
    -------
    RulePicture
        The picture.
    """
    column_of = {column.name: column for column in columns}
    known = values or {}
    proof = "No other such rule covers more." if rule.optimal else "A rule that covers more may exist."
    if rule.everywhere:
        proof += " Its SDP is proven for every point, not only for training rows."
    precision = rule.precision
    return RulePicture(
        sentence=write_sentence(rule.conditions, rule.conclusion),
        text=str(rule),
        sdp=sdp_share(rule.sdp, pi, lower),
        coverage=coverage_share(rule.coverage),
        precision=Share("precision", precision or 0.0, "-" if precision is None else format_probability(precision)),
        rows=rule.rows_text,
        proof=proof,
        checked=rule.checked_text,
        lift=_as_sentence(", ".join(rule.lift_texts(rule.sdp))),
        missing=missing_text(rule.conditions),
        drawings=tuple(
            draw(condition.name, condition, column_of.get(condition.name), known.get(condition.name, NO_ROW))
            for condition in rule.conditions
        ),
    )


# --- explanations ----------------------------------------------------------------------------------------------------


def picture_explanation(explanation: Explanation) -> ExplanationPicture:
    """Compute what an explanation shows.

    Parameters
    ----------
    explanation : Explanation
        The explanation.

    Returns
    -------
    ExplanationPicture
        The picture.
    """
    rule, sets = explanation.rule, explanation.sufficient_sets
    values = {name: value for _, columns in explanation.values for name, value in columns}
    sets_title, sets_note, more_sets = sets_texts(len(sets))
    return ExplanationPicture(
        title=explanation.title,
        sentence=f"{explanation.outcome_sentence} {explanation.lead}",
        advice=tuple(advice.text for advice in explanation.advice),
        outcome=explanation.outcome_text,
        kept="" if explanation.interval is None else kept_text(explanation.interval_text),
        badge=badge_text(explanation.best_set, len(explanation.values)) if sets else NO_SET,
        is_sufficient=explanation.is_sufficient,
        cautions=cautions(explanation),
        rule=None
        if rule is None
        else picture_rule(rule, explanation.columns, values, explanation.pi, explanation.best_set.lower),
        best=picture_best_set(explanation) if rule is None else None,
        notes=(*explanation.notes, explanation.rule_note) if explanation.rule_note else explanation.notes,
        bound_note=explanation.bound_note,
        sets_title=sets_title,
        sets_note=sets_note,
        sets=tuple(
            Share(set_text(chosen), chosen.sdp, format_probability(chosen.sdp), explanation.pi)
            for chosen in sets[:N_LISTED]
            if chosen.variables
        ),
        more_sets=more_sets,
        importance=importance_shares(explanation.ranked_importance()) if len(sets) > 1 else (),
        stability=explanation.stability_note,
    )


def _as_sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def kept_text(interval: str) -> str:
    """Write in which interval a number is kept.

    Parameters
    ----------
    interval : str
        The interval.

    Returns
    -------
    str
        The text.
    """
    return f"kept within {interval}"


def cautions(explanation: Explanation) -> tuple[str, ...]:
    """Return why an explanation is to be read with care.

    Parameters
    ----------
    explanation : Explanation
        The explanation.

    Returns
    -------
    tuple of str
        The reasons, one sentence each.
    """
    return tuple(reason for reason in (explanation.care, explanation.search_note) if reason)


def badge_text(best_set: SufficientSet, n_variables: int) -> str:
    """Write how many variables are enough.

    Parameters
    ----------
    best_set : SufficientSet
        The first of the sufficient sets.
    n_variables : int
        The number of variables of the table.

    Returns
    -------
    str
        The text.
    """
    n_enough = len(best_set.variables)
    if not n_enough:
        return "no variable is needed"
    return f"{n_enough} of {counted(n_variables, 'variable')} {'is' if n_enough == 1 else 'are'} enough"


def set_text(chosen: SufficientSet) -> str:
    """Write the variables of a set.

    Parameters
    ----------
    chosen : SufficientSet
        The set.

    Returns
    -------
    str
        The variables.
    """
    return join(chosen.variables) or NOTHING


def sets_texts(n_sets: int) -> tuple[str, str, str]:
    """Write what stands around the list of sufficient sets.

    Parameters
    ----------
    n_sets : int
        The number of sufficient sets.

    Returns
    -------
    tuple of str
        The title, the note beside it, and how many more there are than those listed.
    """
    note = "each alone is enough" if n_sets > 1 else ""
    return counted(n_sets, "sufficient set"), note, more_text(n_sets, N_LISTED)


def more_text(n_all: int, n_listed: int) -> str:
    """Write how many things a list leaves out.

    Parameters
    ----------
    n_all : int
        The number of things.
    n_listed : int
        The largest number that is listed.

    Returns
    -------
    str
        The text; nothing if all are listed.

    Examples
    --------
    >>> more_text(8, 5), more_text(5, 5)
    ('and 3 more', '')
    """
    return f"and {n_all - n_listed} more" if n_all > n_listed else ""


def picture_best_set(explanation: Explanation) -> SetPicture:
    """Compute what the best set of a row without a rule shows.

    Parameters
    ----------
    explanation : Explanation
        The explanation.

    Returns
    -------
    SetPicture
        The picture.
    """
    column_of = {column.name: column for column in explanation.columns}
    shown = explanation.shown_set
    drawings = tuple(
        draw(name, None, column_of.get(name), value)
        for variable in shown.variables
        for name, value in explanation.shown_values(variable)
    )
    return SetPicture(
        title=SUFFICIENT_SET if explanation.is_sufficient else NEAREST_SET,
        note="" if drawings else WHATEVER,
        sdp=sdp_share(shown.sdp, explanation.pi, shown.lower),
        drawings=drawings,
    )


def importance_shares(ranked: Sequence[tuple[str, float]]) -> tuple[Share, ...]:
    """Compute how importances are drawn.

    Parameters
    ----------
    ranked : sequence of (str, float)
        The variables with their importances, as `ranked_importance` orders them.

    Returns
    -------
    tuple of Share
        The bars, in the same order.
    """
    return tuple(Share(name, value, f"{value:.2f}") for name, value in ranked)
