"""What rules and explanations show, as plain values.

Everything that is seen of a rule or an explanation is computed here once: its sentence, its figures, the warnings, the
sets, the order of the importances, and, with ``axis``, where conditions and values lie. Cards, the report, the plots
and the app only draw these values. The words of ``str(explanation)`` are those of the explanation itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suffice._show.axis import NO_ROW, Drawing, condition_text, draw, missing_text, rounded
from suffice._table.encoding import Column
from suffice._text import counted, format_percent, format_probability, format_with_bound, join
from suffice.explaining.explanation import Explanation, SufficientSet
from suffice.explaining.explanations import Explanations
from suffice.explaining.rule import Condition, Rule
from suffice.explaining.sentences import N_LISTED, NO_SIGNAL
from suffice.rule_lists.measures import GlobalRule

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
    """A piece of a sentence."""

    text: str
    is_key: bool = False


@dataclass(frozen=True)
class Share:
    """A number from 0 to 1 that is drawn as a bar."""

    name: str
    value: float
    text: str
    tick: float | None = None


@dataclass(frozen=True)
class RulePicture:
    """What a rule shows."""

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
    """What a line of a list of rules shows."""

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
    """What the best set shows where there is no rule."""

    title: str
    note: str
    sdp: Share
    drawings: tuple[Drawing, ...]


@dataclass(frozen=True)
class ExplanationPicture:
    """What an explanation shows."""

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
    """Write a rule as a sentence with short numbers."""
    if not conditions:
        return Word("ALWAYS", True), Word(conclusion)
    words = []
    for i, condition in enumerate(conditions):
        words += [Word("AND" if i else "IF", True), Word(condition_text(condition))]
    return (*words, Word("THEN", True), Word(conclusion))


def picture_line(line: GlobalRule) -> LinePicture:
    """Compute what a line of a list of rules shows."""
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
    """Compute how a coverage is drawn."""
    return Share("coverage", coverage, f"{format_percent(coverage)} %")


def sdp_share(sdp: float, pi: float | None, lower: float | None = None) -> Share:
    """Compute how a same-decision probability is drawn."""
    return Share("SDP", sdp, format_with_bound(sdp, lower), pi)


def picture_rule(
    rule: Rule,
    columns: Sequence[Column] = (),
    values: Mapping[str, Any] | None = None,
    pi: float | None = None,
    lower: float | None = None,
) -> RulePicture:
    """Compute what a rule shows."""
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
    """Compute what an explanation shows."""
    rule, sets = explanation.rule, explanation.sufficient_sets
    values = {name: value for _, columns in explanation.values for name, value in columns}
    sets_title, sets_note, more_sets = sets_texts(len(sets))
    return ExplanationPicture(
        title=explanation.sentences.title,
        sentence=f"{explanation.sentences.outcome_sentence} {explanation.sentences.lead}",
        advice=tuple(advice.text for advice in explanation.sentences.advice),
        outcome=explanation.sentences.outcome_text,
        kept="" if explanation.interval is None else kept_text(explanation.sentences.interval_text),
        badge=badge_text(explanation.best_set, len(explanation.values)) if sets else NO_SET,
        is_sufficient=explanation.is_sufficient,
        cautions=cautions(explanation),
        rule=None
        if rule is None
        else picture_rule(rule, explanation.columns, values, explanation.pi, explanation.best_set.lower),
        best=picture_best_set(explanation) if rule is None else None,
        notes=(*explanation.sentences.notes, explanation.sentences.rule_note)
        if explanation.sentences.rule_note
        else explanation.sentences.notes,
        bound_note=explanation.sentences.bound_note,
        sets_title=sets_title,
        sets_note=sets_note,
        sets=tuple(
            Share(set_text(chosen), chosen.sdp, format_probability(chosen.sdp), explanation.pi)
            for chosen in sets[:N_LISTED]
            if chosen.variables
        ),
        more_sets=more_sets,
        importance=importance_shares(explanation.ranked_importance()) if len(sets) > 1 else (),
        stability=explanation.sentences.stability_note,
    )


def _as_sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def kept_text(interval: str) -> str:
    """Write in which interval a number is kept."""
    return f"kept within {interval}"


def cautions(explanation: Explanation) -> tuple[str, ...]:
    """Return why an explanation is to be read with care."""
    return tuple(reason for reason in (explanation.sentences.care, explanation.sentences.search_note) if reason)


def badge_text(best_set: SufficientSet, n_variables: int) -> str:
    """Write how many variables are enough."""
    n_enough = len(best_set.variables)
    if not n_enough:
        return "no variable is needed"
    return f"{n_enough} of {counted(n_variables, 'variable')} {'is' if n_enough == 1 else 'are'} enough"


def set_text(chosen: SufficientSet) -> str:
    """Write the variables of a set."""
    return join(chosen.variables) or NOTHING


def sets_texts(n_sets: int) -> tuple[str, str, str]:
    """Write what stands around the list of sufficient sets."""
    note = "each alone is enough" if n_sets > 1 else ""
    return counted(n_sets, "sufficient set"), note, more_text(n_sets, N_LISTED)


def more_text(n_all: int, n_listed: int) -> str:
    """Write how many things a list leaves out."""
    return f"and {n_all - n_listed} more" if n_all > n_listed else ""


def picture_best_set(explanation: Explanation) -> SetPicture:
    """Compute what the best set of a row without a rule shows."""
    column_of = {column.name: column for column in explanation.columns}
    shown = explanation.shown_set
    drawings = tuple(
        draw(name, None, column_of.get(name), value)
        for variable in shown.variables
        for name, value in explanation.sentences.shown_values(variable)
    )
    return SetPicture(
        title=SUFFICIENT_SET if explanation.is_sufficient else NEAREST_SET,
        note="" if drawings else WHATEVER,
        sdp=sdp_share(shown.sdp, explanation.pi, shown.lower),
        drawings=drawings,
    )


def importance_shares(ranked: Sequence[tuple[str, float]]) -> tuple[Share, ...]:
    """Compute how importances are drawn."""
    return tuple(Share(name, value, f"{value:.2f}") for name, value in ranked)


@dataclass(frozen=True)
class Summary:
    """Counts of explained rows."""

    n_rows: int
    n_sufficient: int
    n_disagree: int
    n_incomplete: int
    sizes: Mapping[int, int]
    has_signal: bool = True
    offer: str = ""

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to take care of, one sentence each."""
        sentences = [] if self.has_signal else [NO_SIGNAL]
        if self.n_disagree:
            rows = counted(self.n_disagree, "row")
            sentences.append(f"The forest does not agree with the outcome of {rows}: read these with care.")
        if self.n_incomplete:
            rows = counted(self.n_incomplete, "row")
            sentences.append(f"The search ended before all sets of {rows} were looked at: there may be others.")
        return (*sentences, self.offer) if self.offer else tuple(sentences)


def summarize(explanations: Explanations) -> Summary:
    """Count explained rows."""
    has_set = explanations.has_set
    best_sets = zip(explanations.best_sets, has_set.tolist(), strict=True)
    sizes = Counter(len(best.variables) for best, is_sufficient in best_sets if is_sufficient)
    return Summary(
        n_rows=len(explanations),
        n_sufficient=int(has_set.sum()),
        n_disagree=int((~explanations.forest_agrees).sum()),
        n_incomplete=len(explanations) - sum(explanations.is_search_complete),
        sizes=dict(sorted(sizes.items())),
        has_signal=explanations.fitted.has_signal,
        offer=explanations.offer,
    )
