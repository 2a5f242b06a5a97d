"""What rules and explanations show, as plain values.

Everything that is seen of a rule, an explanation or a fitted explainer is computed here once: its sentence, its
figures, the warnings, the sets, the order of the importances, and, with ``axis``, where conditions and values lie.
Cards, the report, the plots and the app only draw these values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from suffice._show.axis import NO_ROW, Distribution, Drawing, condition_text, draw, missing_text, rounded
from suffice._text import (
    counted,
    format_confidence,
    format_percent,
    format_probability,
    format_share,
    format_with_bound,
    join,
)
from suffice.explaining.sentences import CONTESTED, N_LISTED, NO_SIGNAL

if TYPE_CHECKING:
    from suffice._forest.fitted import Fitted
    from suffice._table.condition import Condition
    from suffice._table.encoding import Column
    from suffice.checks.quality import Quality
    from suffice.explaining.explanation import Explanation, SufficientSet
    from suffice.explaining.explanations import Explanations
    from suffice.explaining.rule import Rule
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
PRECISION_MEANING = "the share of new rows in the rule that is expected to have the outcome"


@dataclass(frozen=True)
class Word:
    """A piece of a sentence."""

    text: str
    is_key: bool = False


class Share(NamedTuple):
    """A number from 0 to 1 that is drawn as a bar, and where the bar has a tick."""

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
    """What a line of a list of rules shows; the note holds the lift of a rare class, and that its rows are few."""

    sentence: tuple[Word, ...]
    premise: str
    output: str
    conclusion: str
    lift: str
    note: str
    mae: str
    checked: str
    coverage: Share
    precision: Share


@dataclass(frozen=True)
class SetPicture:
    """What the best set shows where there is no rule."""

    title: str
    note: str
    is_sufficient: bool
    sdp: Share
    drawings: tuple[Drawing, ...]


@dataclass(frozen=True)
class ExplanationPicture:
    """What an explanation shows; its rule, or its best set where there is no rule, is drawn when it is needed."""

    explanation: Explanation
    title: str
    sentence: str
    advice: str
    outcome: str
    kept: str
    badge: str
    is_sufficient: bool
    cautions: tuple[str, ...]
    notes: str
    bound_note: str
    sets_title: str
    sets_note: str
    sets: tuple[Share, ...]
    more_sets: str
    importance: tuple[Share, ...]
    stability: str

    @cached_property
    def rule(self) -> RulePicture | None:
        """What the rule of the row shows."""
        explanation, rule = self.explanation, self.explanation.rule
        if rule is None:
            return None
        values = {name: value for _, columns in explanation.values for name, value in columns}
        best = explanation.best_set
        return picture_rule(rule, explanation.columns, values, explanation.pi, best.lower, _known_to(explanation))

    @cached_property
    def best(self) -> SetPicture | None:
        """What the best set of a row without a rule shows."""
        return picture_best_set(self.explanation) if self.explanation.rule is None else None


# --- training values -------------------------------------------------------------------------------------------------


class KnownValues:
    """How the training values of each column are spread, computed when it is first drawn."""

    def __init__(self, fitted: Fitted) -> None:
        self._matrix = fitted.training[0]
        self._columns = {column.name: (c, column) for c, column in enumerate(fitted.encoding.columns)}
        self._computed: dict[str, Distribution] = {}

    def of(self, name: str) -> Distribution:
        """Return how the values of a column are spread."""
        if name not in self._computed:
            c, column = self._columns[name]
            self._computed[name] = Distribution.of_values(column, self._matrix[:, c])
        return self._computed[name]


_known_values: WeakKeyDictionary[Fitted, KnownValues] = WeakKeyDictionary()


def known_values(fitted: Fitted) -> KnownValues:
    """Return how the training values of a fitted state are spread; many cards draw the same columns."""
    if fitted not in _known_values:
        _known_values[fitted] = KnownValues(fitted)
    return _known_values[fitted]


def _known_to(explanation: Explanation) -> KnownValues | None:
    """Return the training values that an explanation knows: none if it was pickled."""
    return None if explanation.origin is None else known_values(explanation.origin[0].fitted)


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
    if line.adds is not None:
        output = line.output_text
        conclusion = f"{output} (mean {rounded(line.output, 4)}, MAE {mae})" if mae else output
    conditions, lift = line.rule.conditions, ", ".join(line.lift_texts)
    precision = line.precision if line.expected is None else line.expected
    return LinePicture(
        sentence=write_sentence(conditions, conclusion),
        premise=" AND ".join(map(condition_text, conditions)) or "always",
        output=output,
        conclusion=conclusion,
        lift=lift,
        note=", ".join(filter(None, (lift, "few training rows" if line.has_few_rows else ""))),
        mae=mae,
        checked=line.checked_text,
        coverage=coverage_share(line.coverage),
        precision=Share("precision", precision, format_share(precision)),
    )


def coverage_share(coverage: float) -> Share:
    """Compute how a coverage is drawn."""
    return Share("coverage", coverage, f"{format_percent(coverage)} %")


def picture_rule(
    rule: Rule,
    columns: Sequence[Column] = (),
    values: Mapping[str, Any] | None = None,
    pi: float | None = None,
    lower: float | None = None,
    known: KnownValues | None = None,
) -> RulePicture:
    """Compute what a rule shows; the distributions of training values are drawn where they are known."""
    column_of = {column.name: column for column in columns}
    values = values or {}
    rows = "" if rule.n_looked_at is None else f" of the {rule.n_looked_at:,} training rows looked at"
    proof = f"No other such rule covers more{rows}." if rule.optimal else f"A rule that covers more{rows} may exist."
    where = "every point" if rule.everywhere else "each of these rows" if rows else "every training row"
    proof += f" The SDP is proven for {where} within these bounds."
    text = "-" if rule.precision is None else format_share(rule.precision)
    precision = sdp = Share("precision", rule.precision or 0.0, text)
    if rule.sdp is not None:
        sdp = Share("SDP", rule.sdp, format_with_bound(rule.sdp, lower), pi)
    lift = ", ".join(rule.lift_texts(sdp.value, always=rule.sdp is None))
    return RulePicture(
        sentence=write_sentence(rule.conditions, rule.conclusion),
        text=str(rule),
        sdp=sdp,
        coverage=coverage_share(rule.coverage),
        precision=precision,
        rows=rule.rows_text,
        proof="" if rule.sdp is None else proof,
        checked=rule.checked_text,
        lift=f"{lift[0].upper()}{lift[1:]}." if lift else "",
        missing=missing_text(rule.conditions),
        drawings=tuple(
            draw(
                condition.name,
                condition,
                column_of.get(condition.name),
                values.get(condition.name, NO_ROW),
                None if known is None else known.of(condition.name),
            )
            for condition in rule.conditions
        ),
    )


# --- explanations ----------------------------------------------------------------------------------------------------


def picture_explanation(explanation: Explanation) -> ExplanationPicture:
    """Compute what an explanation shows."""
    sets, sentences = explanation.sufficient_sets, explanation.sentences
    return ExplanationPicture(
        explanation,
        title=sentences.title,
        sentence=f"{sentences.outcome_sentence} {sentences.lead}",
        advice=sentences.advice,
        outcome=sentences.outcome_text,
        kept="" if explanation.interval is None else kept_text(sentences.interval_text),
        badge=_badge_text(len(explanation.best_set.variables), len(explanation.values)) if sets else NO_SET,
        is_sufficient=explanation.is_sufficient,
        cautions=cautions(explanation),
        notes=" ".join(filter(None, (*sentences.notes, sentences.rule_note))),
        bound_note=sentences.bound_note,
        sets_title=counted(len(sets), "sufficient set"),
        sets_note="each alone is enough" if len(sets) > 1 else "",
        sets=tuple(
            Share(set_text(chosen), chosen.sdp, format_probability(chosen.sdp), explanation.pi)
            for chosen in sets[:N_LISTED]
            if chosen.variables
        ),
        more_sets=more_text(len(sets), N_LISTED),
        importance=importance_shares(explanation.ranked_importance()) if explanation.importance_differs else (),
        stability=sentences.stability_note,
    )


def _badge_text(n_enough: int, n_variables: int) -> str:
    """Write how many variables are enough."""
    if not n_enough:
        return "no variable is needed"
    return f"{n_enough} of {counted(n_variables, 'variable')} {'is' if n_enough == 1 else 'are'} enough"


def kept_text(interval: str) -> str:
    """Write in which interval a number is kept."""
    return f"kept within {interval}"


def cautions(explanation: Explanation) -> tuple[str, ...]:
    """Return why an explanation is to be read with care."""
    return tuple(filter(None, (explanation.sentences.care, explanation.sentences.search_note)))


def set_text(chosen: SufficientSet) -> str:
    """Write the variables of a set."""
    return join(chosen.variables) or NOTHING


def more_text(n_all: int, n_listed: int) -> str:
    """Write how many things a list leaves out."""
    return f"and {n_all - n_listed} more" if n_all > n_listed else ""


def picture_best_set(explanation: Explanation) -> SetPicture:
    """Compute what the best set of a row without a rule shows."""
    column_of = {column.name: column for column in explanation.columns}
    shown = explanation.best_set
    known = _known_to(explanation)
    drawings = tuple(
        draw(name, None, column_of.get(name), value, None if known is None else known.of(name))
        for variable in shown.variables
        for name, value in explanation.sentences.shown_values(variable)
    )
    return SetPicture(
        title=SUFFICIENT_SET if explanation.is_sufficient else NEAREST_SET,
        note="" if drawings else WHATEVER,
        is_sufficient=explanation.is_sufficient,
        sdp=Share("SDP", shown.sdp, format_with_bound(shown.sdp, shown.lower), explanation.pi),
        drawings=drawings,
    )


def importance_shares(ranked: Sequence[tuple[str, float]]) -> tuple[Share, ...]:
    """Compute how importances are drawn."""
    return tuple(Share(name, value, format_share(value)) for name, value in ranked)


# --- many rows, and what was fitted ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """Counts of explained rows."""

    n_rows: int
    n_sufficient: int
    n_disagree: int
    n_incomplete: int
    sizes: Mapping[int, int]
    n_contested: int = 0
    has_signal: bool = True

    @property
    def share(self) -> float:
        """The share of the rows that have a sufficient set."""
        return self.n_sufficient / max(self.n_rows, 1)

    @property
    def size_shares(self) -> list[Share]:
        """The shares of the rows by the size of their smallest sufficient set."""
        named = [(counted(size, "variable") if size else "no variable needed", n) for size, n in self.sizes.items()]
        n_none = self.n_rows - sum(self.sizes.values())
        named += [("no such set", n_none)] if n_none else []
        return [Share(name, n / self.n_rows, str(n)) for name, n in named]

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
        if self.n_contested:
            sets = counted(self.n_contested, "set")
            sentences.append(f"{sets} {'is' if self.n_contested == 1 else 'are'} contested: {CONTESTED}.")
        return tuple(sentences)


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
        n_contested=int(explanations.is_contested.sum()),
    )


def fidelity_shares(about: Mapping[str, Any]) -> list[Share]:
    """Compute how the fidelity of the forest is drawn, overall and by class; nothing if it is not known."""
    fidelity = about["fidelity"]
    if not math.isfinite(fidelity):
        return []
    measure = "accuracy" if about["task"] == "classification" else "R2"
    by_class = (about["fidelity_by_class"] or {}).items()
    shares = [Share(measure, fidelity, format_share(fidelity))]
    for label, share in by_class:
        shares.append(Share(f"of {label}", 0.0 if math.isnan(share) else share, format_share(share)))
    return shares


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
        ("probability", level_fact(about["settings"], about["task"])),
        *([] if about["focus"] is None else [("focus", str(about["focus"]))]),
        *([("fixed", ", ".join(about["fixed"]))] if about["fixed"] else []),
    ]
    return pairs if about["model"] is None else [("model", about["model"]), *pairs]


def level_fact(settings: Mapping[str, Any], task: str) -> str:
    """Write what a sufficient set must reach."""
    pi, confidence = settings["pi"], settings["confidence"]
    level = f"{pi:g} or more for a sufficient set"
    if settings["levels"] == "odds" and task == "classification" and 0.5 < pi < 1:
        odds = f"{pi / (1 - pi):.3g} times the odds of the class"
        level = f"a level for each class, from 0.5 to {pi:g}: {odds} or more for a sufficient set"
    return level if confidence is None else f"{level}, at {format_confidence(confidence)} confidence"


def gather_rare(quality: Quality, n_drawn: int) -> tuple[list[str], NDArray[np.int64], NDArray[np.float64]]:
    """Return labels, confusion matrix and its shares by line of the most frequent classes; others share an entry."""
    assert quality.classes is not None
    labels, counts = [str(label) for label in quality.classes], quality.confusion
    if len(counts) > n_drawn:
        frequent = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:n_drawn])
        group = np.full(len(counts), n_drawn)
        group[frequent] = np.arange(n_drawn)
        labels = [*(labels[c] for c in frequent), f"{len(counts) - n_drawn} others"]
        gathered = np.zeros((n_drawn + 1, n_drawn + 1), dtype=np.int64)
        np.add.at(gathered, (group[:, None], group[None, :]), counts)
        counts = gathered
    return labels, counts, counts / np.maximum(counts.sum(axis=1), 1)[:, None]
