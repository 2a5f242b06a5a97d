"""What is said about one explained row: the sentences that text, cards, the report, the command and the app share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice._forest.bounds import SHOWN_CONFIDENCE
from suffice._text import (
    AT_LEAST,
    SAME_OPTION,
    counted,
    format_confidence,
    format_fraction,
    format_interval,
    format_level,
    format_lift,
    format_number,
    format_percent,
    format_probability,
    format_share,
    format_value,
    format_with_bound,
    is_rare,
    join,
    name_model,
)
from suffice.explaining.importance import IMPORTANCE_MEANINGS

if TYPE_CHECKING:
    from suffice.explaining.explanation import Explanation, SufficientSet

# How many sets and importances the text of an explanation lists before it says how many more there are.
N_LISTED = 5
# How many values outside the training rows a note lists.
N_OUTSIDE = 3
NO_SIGNAL = "The variables carry no signal about the outcome, so no non-empty set is reported."
NOT_COMPLETE = "The search ended before all sets were looked at: there may be others."
NO_RULE = "The rule of this set covers too few training rows to be shown."
CONTESTED = "other values of these rows point to another outcome"
NEARLY_ALL = 0.95  # the share of what all variables reach that is called "nearly all of it"


@dataclass(frozen=True)
class Sentences:
    """What is said about one explained row."""

    row: Explanation

    @property
    def outcome_text(self) -> str:
        """The outcome as it is written."""
        return str(self.row.outcome) if self.row.interval is None else format_number(self.row.outcome)

    @property
    def interval_text(self) -> str:
        """The interval as it is written; nothing for a class."""
        if self.row.interval is None:
            return ""
        return f"[{', '.join(format_interval(self.row.interval, self.row.is_whole))}]"

    @property
    def prediction_text(self) -> str:
        """What the forest predicts, as it is written."""
        return str(self.row.prediction) if self.row.interval is None else format_number(self.row.prediction)

    @property
    def source_text(self) -> str:
        """Whose outcome is explained, as part of a title: "predicted", "predicted by LGBMClassifier" or "observed"."""
        if self.row.source == "given":
            return "observed" if self.row.model is None else "given"
        return "predicted" if self.row.source == "forest" else f"predicted by {self._model_name}"

    @property
    def title(self) -> str:
        """Which row is explained, what its outcome is called, and where the outcome comes from."""
        target = "outcome" if self.row.target in ("y", "prediction") else self.row.target
        title = f"{target}, {self.source_text}"
        return f"{self.row.label}: {title}" if self.row.is_named else f"{title[0].upper()}{title[1:]}"

    @property
    def outcome_sentence(self) -> str:
        """The outcome, who predicts or observed it, and how sure the forest is, in one sentence."""
        is_named = self.row.target not in ("y", "prediction")
        if self.row.source == "model":
            name = self._model_name
            what = f" the {self.row.target}" if self.row.target.startswith("probability of ") else ""
            subject = f"{name[0].upper()}{name[1:]} predicts{what}"
        elif self.row.source == "forest":
            name = "The outcome" if self.row.model is None else f"The output of {self._model_name}"
            subject = f"{self.row.target if is_named else name} is predicted"
        else:
            subject = f"{self.row.target if is_named else 'The outcome'} is {self.source_text}"
        return f"{subject}: {self.outcome_text}{self._sureness}."

    @property
    def _model_name(self) -> str:
        return name_model(self.row.model)

    @property
    def _sureness(self) -> str:
        """The row's own probability, or another prediction, in brackets; nothing if it is said elsewhere."""
        if self.row.interval is None:
            if not self._has_own_probability:
                return ""
            return f" (probability {format_probability(self.row.sdp_of_all or 0.0)} for this row)"
        if self.row.source == "forest" or self.row.prediction is None or self.care:
            return ""
        return f" (the forest predicts {self.prediction_text})"

    @property
    def _has_own_probability(self) -> bool:
        """Whether the first sentence states the row's own probability: of a class; a model is certain at the row."""
        return self.row.interval is None and self.row.sdp_of_all is not None and self.row.model is None

    @property
    def care(self) -> str:
        """Why the explanation is to be read with care, in one sentence; nothing if the forest agrees."""
        if not self.row.is_outcome_in_interval:
            return "The outcome lies outside the interval: the explanation is of the interval."
        return "" if self.row.forest_agrees else f"The forest predicts {self.prediction_text} here."

    @property
    def lift_text(self) -> str:
        """How many times as likely as on average the outcome is, given the shown set; nothing if that is not known."""
        return format_lift(self.row.best_set.sdp / self.row.base_rate) if self.row.base_rate else ""

    @property
    def level_text(self) -> str:
        """The probability that a sufficient set must reach, as it is written."""
        return f"{self.row.pi:g}" if self.row.levels == "same" else format_level(self.row.pi)

    @property
    def _between(self) -> str:
        """The interval in which a number is kept, as part of a sentence."""
        if self.row.interval is None:
            return ""
        return f" between {' and '.join(format_interval(self.row.interval, self.row.is_whole))}"

    @property
    def _to_keep(self) -> str:
        """What a sufficient set is enough for, as part of a sentence."""
        if self.row.model is None or self.row.source != "model":
            return f"to keep it{self._between}"
        what = "it" if self.row.interval is None else f"a number{self._between}"
        return f"for {self._model_name} to predict {what}"

    @property
    def verdict(self) -> str:
        """Whether a set of variables is enough to keep the outcome, in one sentence."""
        if self.row.is_sufficient:
            n = len(self.row.best_set.variables)
            if not n:
                return f"No variable is needed {self._to_keep}."
            return f"{counted(n, 'variable')} {'is' if n == 1 else 'are'} enough {self._to_keep}."
        if not self.row.has_signal:
            return NO_SIGNAL
        sets = "the candidates" if self.row.is_search_complete else "variables that the search looked at"
        how = "" if self.row.confidence is None else f" at {format_confidence(self.row.confidence)} confidence"
        return f"No set of {sets} keeps it{self._between} with probability {self.level_text}{how}."

    @property
    def best_text(self) -> str:
        """The best set with the row's values, as it is written."""
        return self.with_values(self.row.best_set)

    @property
    def lead(self) -> str:
        """What is enough to keep the outcome, or what comes nearest, with the row's values: one or two sentences."""
        chosen = self.row.best_set
        lift = f", {self.lift_text}" if self.lift_text and chosen.variables else ""
        if not self.row.is_sufficient:
            return f"{self.verdict} {self._reach(chosen, format_with_bound(chosen.sdp, chosen.lower), lift)}"
        bound = "" if chosen.lower is None else f"{AT_LEAST} {format_probability(chosen.lower)}; "
        probability = f"{format_probability(chosen.sdp)} ({bound}{self.level_text} is needed)"
        if not chosen.variables:
            return f"{self.verdict.removesuffix('.')}: it has probability {probability} among all rows."
        verb = "alone is" if len(chosen.variables) == 1 else "are"
        against = "; other values of this row point to another outcome" if self.row.is_contested else ""
        return f"{self.best_text} {verb} enough {self._to_keep} with probability {probability}{lift}{against}."

    def _reach(self, chosen: SufficientSet, probability: str, lift: str) -> str:
        """Write what all variables reach where no set is sufficient, and what a small set reaches."""
        is_said = self.row.model is not None or self._has_own_probability
        whole = None if is_said else self.row.sdp_of_all
        before = "" if whole is None else f"All variables together reach {format_probability(whole)}; "
        is_plural = len(chosen.variables) > 1
        if not chosen.variables:
            part = f"{'without' if before else 'Without'} any variable the probability is {probability}"
        elif whole is not None and NEARLY_ALL * whole <= chosen.sdp <= whole:
            part = (
                f"{self.with_values(chosen)} {'keep' if is_plural else 'keeps'} nearly all of it: {probability}{lift}"
            )
        else:
            alone = "" if is_plural else " alone"
            part = f"{self.with_values(chosen)}{alone} {'reach' if is_plural else 'reaches'} {probability}{lift}"
        return f"{before}{part}."

    def with_values(self, chosen: SufficientSet) -> str:
        """Write a set with the row's values."""
        value_of = dict(self.row.values)
        texts = []
        for name in chosen.variables:
            columns = value_of[name]
            if len(columns) == 1 and columns[0][0] == name:
                texts.append(f"{name} = {self.value_text(name, columns[0][1])}")
                continue
            listed = ", ".join(
                f"{column} = {self.value_text(column, value)}" for column, value in self.shown_values(name)
            )
            texts.append(f"{name} ({listed})")
        return join(texts) if texts else "nothing at all"

    def value_text(self, column: str, value: Any) -> str:
        """Write the row's value of a column."""
        known = next((c for c in self.row.columns if c.name == column), None)
        return format_value(value) if known is None else known.text_of(value)

    def shown_values(self, variable: str) -> tuple[tuple[str, Any], ...]:
        """Return the values of a variable that are worth showing."""
        columns = dict(self.row.values)[variable]
        if len(columns) > 1 and all(value in (0, 1) for _, value in columns):
            columns = tuple((name, value) for name, value in columns if value == 1) or columns
        return columns[:N_LISTED]

    @property
    def search_note(self) -> str:
        """That the search ended early, in one sentence; nothing if it is complete."""
        return "" if self.row.is_search_complete else NOT_COMPLETE

    @property
    def stability_note(self) -> str:
        """How often the best set returns, in one or two sentences; nothing if that was not measured."""
        return "" if self.row.stability is None else str(self.row.stability)

    @property
    def level_note(self) -> str:
        """Which level holds for the class and why, in one sentence; nothing if it is that of the common classes."""
        base_rate = self.row.base_rate or 0.0
        if self.row.levels == "same" or self.row.interval is not None or not is_rare(base_rate) or self.row.pi >= 1:
            return ""
        factor = self.row.pi / (1 - self.row.pi) * (1 - base_rate) / base_rate
        rare = f"{self.outcome_text} is rare, {format_percent(base_rate)} % of all rows"
        return f"{rare}: {format_level(self.row.pi)} is {factor:.3g} times its odds."

    @property
    def all_text(self) -> str:
        """What all variables reach, in one sentence; nothing if it is not known or the first sentence says it."""
        if self.row.sdp_of_all is None or self.row.model is not None or self._has_own_probability:
            return ""
        return f"All variables together reach {format_probability(self.row.sdp_of_all)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands beside the best set, one sentence each: what all or fewer variables reach, the level, signal."""
        of_set = (self.all_text, self.short_note) if self.row.is_sufficient else ()
        signal = NO_SIGNAL if self.row.is_sufficient and not self.row.has_signal else ""
        return tuple(filter(None, (self.share_note, *of_set, self.level_note, signal, self.range_note)))

    @property
    def share_note(self) -> str:
        """What share of all training outcomes lies in the interval, in one sentence; nothing for a class."""
        if self.row.interval is None or self.row.base_rate is None:
            return ""
        what = "outcomes" if self.row.target in ("y", "prediction") else f"{self.row.target} values"
        return f"{format_fraction(self.row.base_rate)} {what} lie in this interval."

    @property
    def range_note(self) -> str:
        """Which values lie outside the training rows, in one sentence; nothing if all lie within."""
        values = dict(pair for _, pairs in self.row.values for pair in pairs)
        outside = [column for column in self.row.columns if column.is_outside(values.get(column.name))]
        if not outside:
            return ""
        listed = [f"{c.name} = {format_value(values[c.name])} ({c.extent_text})" for c in outside[:N_OUTSIDE]]
        if len(outside) > N_OUTSIDE:
            listed.append(f"{len(outside) - N_OUTSIDE} more")
        return f"Outside the range of the training rows: {join(listed)}."

    @property
    def bound_note(self) -> str:
        """What "at least" means, in one sentence; nothing if the bound is not known."""
        if self.row.best_set.lower is None:
            return ""
        return f'"At least" holds with {format_confidence(self.row.confidence or SHOWN_CONFIDENCE)} confidence.'

    @property
    def rule_note(self) -> str:
        """That the rule tests fewer variables than the best set, or that there is none, in one sentence."""
        if not self.row.rules_searched or not self.row.is_sufficient or not self.row.best_set.variables:
            return ""
        if self.row.rule is None:
            return NO_RULE
        tested = {condition.name for condition in self.row.rule.conditions}
        columns_of = {name: {column for column, _ in columns} for name, columns in self.row.values}
        deciding = [name for name in self.row.best_set.variables if tested & columns_of[name]]
        if not deciding or len(deciding) == len(self.row.best_set.variables):
            return ""
        return f"{join(deciding)} alone {'decides' if len(deciding) == 1 else 'decide'} within these bounds."

    @property
    def short_note(self) -> str:
        """Which few variables come near a best set of many, in one sentence; nothing if the best set is small."""
        smaller = self.row.smaller_set
        if smaller is None:
            return ""
        reached = format_with_bound(smaller.sdp, smaller.lower)
        verb = "reaches" if len(smaller.variables) == 1 else "reach"
        return f"A smaller set comes close: {join(smaller.variables)} {verb} {reached}."

    @property
    def advice(self) -> str:
        """What a row without a sufficient set can be explained with, in one sentence that was tried; else nothing."""
        if self.row.offered_pi is None:
            return ""
        rare = self.row.levels == "odds" and self.row.interval is None and (self.row.base_rate or 1.0) < 0.5
        same = f", {SAME_OPTION}" if rare else ""
        variables = self.row.best_set.variables
        verb = "is" if len(variables) == 1 else "are"
        enough = f"{join(variables)} {verb} enough" if variables else "no variable is needed"
        return f"With pi={self.row.offered_pi:g}{same}, {enough}."

    @property
    def text(self) -> str:
        """The explanation in plain words, without the name of the row."""
        care = f" Read with care. {self.care}" if self.care else ""
        lines = [f"{self.outcome_sentence}{care}", self.lead, " ".join(filter(None, (*self.notes, self.bound_note)))]
        rule = self.row.rule
        if rule is not None:
            lines += [f"Rule: {rule.sentence}", rule.rows_text, rule.checked_text]
        lines.append(self.rule_note)
        others = self.row.sufficient_sets[1:]
        if others:
            lines.append(f"Other sufficient sets (probability {self.level_text} or more):")
            lines += [f"  {s}" for s in others[:N_LISTED]]
            if len(others) > N_LISTED:
                lines.append(f"  and {len(others) - N_LISTED} more")
        if self.row.importance_differs:
            listed = [f"{name} {format_share(value)}" for name, value in self.row.ranked_importance()]
            more = f", and {len(listed) - N_LISTED} more" if len(listed) > N_LISTED else ""
            lines.append(f"Importance ({IMPORTANCE_MEANINGS['minimal']}): {', '.join(listed[:N_LISTED])}{more}.")
        lines += [self.search_note, self.stability_note, self.advice]
        return "\n".join(filter(None, lines))
