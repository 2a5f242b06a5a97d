"""What is said about one explained row: the sentences that text, cards, the report, the command and the app share."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from suffice._engine.bounds import SHOWN_CONFIDENCE
from suffice._table.encoding import Column
from suffice.importance import IMPORTANCE_MEANINGS, SHOWN_INDEX, rank_in_sets
from suffice.rules import Rule
from suffice.set_stability import RowStability
from suffice.sufficient_sets import SufficientSet
from suffice.words import (
    ODDS_OPTION,
    counted,
    format_confidence,
    format_level,
    format_lift,
    format_number,
    format_probability,
    format_value,
    format_with_bound,
    is_rare,
    join,
    name_model,
)

# How many sets and importances the text of an explanation lists before it says how many more there are.
N_LISTED = 5
# How many values outside the training rows a note lists.
N_OUTSIDE = 3
NO_SIGNAL = "The variables say nothing about the outcome, so no set that holds any of them is called sufficient."
NOT_COMPLETE = "The search ended before all sets were looked at: there may be others."
NO_RULE = "No rule of these sets covers enough training rows."
WIDER_INTERVAL = "Explain it within a wider interval: take a larger `radius`, or a smaller `alpha`."
NEARLY_ALL = 0.95  # the share of what all variables reach that is called "nearly all of it"
LEAST_OFFERED = 0.5  # a lower level is not offered: the outcome would be less likely than not
MORE_CANDIDATES = 20  # up to this number, all variables are offered as candidates


class Advice(NamedTuple):
    """What to do with a row that has no sufficient set.

    Parameters
    ----------
    kind : {"pi", "prediction", "interval", "candidates", "levels"}
        What would change: the level, the explained outcome, the width of its interval, the searched variables, or the
        levels of all classes.
    text : str
        One sentence.
    value : float or None, default=None
        The offered `pi` or `n_candidates`.
    """

    kind: Literal["pi", "prediction", "interval", "candidates", "levels"]
    text: str
    value: float | None = None


class RowSentences:
    """The sentences of an `Explanation`, which has these attributes as its fields or properties."""

    outcome: Any
    interval: tuple[float, float] | None
    pi: float
    sufficient_sets: tuple[SufficientSet, ...]
    best_set: SufficientSet
    nearest_set: SufficientSet | None
    values: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
    prediction: Any
    is_search_complete: bool
    rules: tuple[Rule, ...]
    sdp_of_all: float | None
    base_rate: float | None
    stability: RowStability | None
    levels: Literal["same", "odds"]
    confidence: float | None
    has_signal: bool
    target: str
    source: Literal["forest", "model", "given"]
    model: str | None
    votes: float | None
    n_searched: int | None
    rules_searched: bool
    columns: tuple[Column, ...]
    row: int | None
    id: str | None

    # --- facts ------------------------------------------------------------------------------------------------------

    @property
    def label(self) -> str:
        """What the row is called wherever it is shown: "Row 3", or "Row 1677-AEVQX" if it has an identifier."""
        if not self.is_named:
            return "Row"
        return f"Row {self.row if self.id is None else self.id}"

    @property
    def is_named(self) -> bool:
        """Whether the position or the identifier of the row is known."""
        return self.id is not None or self.row is not None

    @property
    def rule(self) -> Rule | None:
        """The maximal rule of the surest minimal set; None if no set is sufficient or none was searched for."""
        return self.rules[0] if self.rules else None

    @property
    def is_sufficient(self) -> bool:
        """Whether any set reaches `pi`."""
        return bool(self.sufficient_sets)

    @property
    def is_outcome_in_interval(self) -> bool:
        """Whether the outcome lies in the interval that is explained; always true for a class."""
        return self.interval is None or self.interval[0] <= self.outcome <= self.interval[1]

    @property
    def forest_agrees(self) -> bool:
        """Whether the forest says the same: the class, or a number in the interval. If not, read with care."""
        if self.prediction is None:
            return True
        if self.interval is None:
            return bool(self.prediction == self.outcome)
        return bool(self.interval[0] <= self.prediction <= self.interval[1]) and self.is_outcome_in_interval

    @property
    def lift(self) -> float | None:
        """How many times as likely as among all training rows the outcome is, given the best set."""
        return self.best_set.sdp / self.base_rate if self.base_rate else None

    # --- the outcome ------------------------------------------------------------------------------------------------

    @property
    def outcome_text(self) -> str:
        """The outcome as it is written."""
        return str(self.outcome) if self.interval is None else format_number(self.outcome)

    @property
    def interval_text(self) -> str:
        """The interval as it is written; nothing for a class."""
        if self.interval is None:
            return ""
        low, high = self.interval
        return f"[{format_number(low)}, {format_number(high)}]"

    @property
    def prediction_text(self) -> str:
        """What the forest predicts, as it is written."""
        return str(self.prediction) if self.interval is None else format_number(self.prediction)

    @property
    def source_text(self) -> str:
        """Whose outcome is explained, as part of a title: "predicted", "predicted by LGBMClassifier" or "observed"."""
        if self.source == "given":
            return "observed" if self.model is None else "given"
        return "predicted" if self.source == "forest" else f"predicted by {self._model_name}"

    @property
    def title(self) -> str:
        """Which row is explained, what its outcome is called, and where the outcome comes from."""
        target = "outcome" if self.target in ("y", "prediction") else self.target
        title = f"{target}, {self.source_text}"
        return f"{self.label}: {title}" if self.is_named else f"{title[0].upper()}{title[1:]}"

    @property
    def outcome_sentence(self) -> str:
        """The outcome, who predicts or observed it, and how sure the forest is, in one sentence."""
        is_named = self.target not in ("y", "prediction")
        if self.source == "model":
            name = self._model_name
            what = f" the {self.target}" if self.target.startswith("probability of ") else ""
            subject = f"{name[0].upper()}{name[1:]} predicts{what}"
        elif self.source == "forest":
            name = "The outcome" if self.model is None else f"The output of {self._model_name}"
            subject = f"{self.target if is_named else name} is predicted"
        else:
            subject = f"{self.target if is_named else 'The outcome'} is {self.source_text}"
        return f"{subject}: {self.outcome_text}{self._sureness}."

    @property
    def _model_name(self) -> str:
        return name_model(self.model)

    @property
    def _sureness(self) -> str:
        """How sure the forest is, in brackets; nothing if that is not known or another sentence says it."""
        if self.interval is None:
            if self.votes is None:
                return ""
            of_whom = "the votes" if self.source == "forest" else "the forest's votes"
            return f" ({format_probability(self.votes)} of {of_whom})"
        if self.source == "forest" or self.prediction is None or self.care:
            return ""
        return f" (the forest predicts {self.prediction_text})"

    @property
    def care(self) -> str:
        """Why the explanation is to be read with care, in one sentence; nothing if the forest agrees."""
        if not self.is_outcome_in_interval:
            return "The outcome lies outside the interval: the explanation is of the interval."
        return "" if self.forest_agrees else f"The forest predicts {self.prediction_text} here."

    # --- the best set -----------------------------------------------------------------------------------------------

    @property
    def lift_text(self) -> str:
        """The lift as part of a sentence; nothing if the outcome is no rare class (a third of the rows or more)."""
        if self.interval is not None or self.lift is None or not is_rare(self.base_rate):
            return ""
        return format_lift(self.lift)

    @property
    def level_text(self) -> str:
        """The probability that a sufficient set must reach, as it is written."""
        return f"{self.pi:g}" if self.levels == "same" else format_level(self.pi)

    @property
    def _between(self) -> str:
        """The interval in which a number is kept, as part of a sentence."""
        if self.interval is None:
            return ""
        low, high = self.interval
        return f" between {format_number(low)} and {format_number(high)}"

    @property
    def verdict(self) -> str:
        """Whether a set of variables is enough to keep the outcome, in one sentence."""
        if self.is_sufficient:
            n = len(self.best_set.variables)
            if not n:
                return f"No variable is needed to keep it{self._between}."
            return f"{counted(n, 'variable')} {'is' if n == 1 else 'are'} enough to keep it{self._between}."
        if not self.has_signal:
            return NO_SIGNAL
        sets = "the candidates" if self.is_search_complete else "variables that the search looked at"
        how = "" if self.confidence is None else f" at {format_confidence(self.confidence)} confidence"
        return f"No set of {sets} keeps it{self._between} with probability {self.level_text}{how}."

    @property
    def best_text(self) -> str:
        """The best set with the row's values, as it is written."""
        return self.with_values(self.best_set)

    @property
    def shown_set(self) -> SufficientSet:
        """The best set; for a row without a sufficient set, the smallest set that reaches nearly as much."""
        return self.best_set if self.is_sufficient or self.nearest_set is None else self.nearest_set

    @property
    def lead(self) -> str:
        """What is enough to keep the outcome, or what comes nearest, with the row's values: one or two sentences."""
        chosen = self.shown_set
        probability = format_with_bound(chosen.sdp, chosen.lower)
        is_rare_class = self.interval is None and self.base_rate and is_rare(self.base_rate)
        lift = f", {format_lift(chosen.sdp / self.base_rate)}" if is_rare_class and self.base_rate else ""
        if not self.is_sufficient:
            return f"{self.verdict} {self._reach(chosen, probability, lift)}"
        if not chosen.variables:
            return f"{self.verdict.removesuffix('.')}: it has probability {probability}{lift} among all rows."
        verb = "alone is" if len(chosen.variables) == 1 else "are"
        return f"{self.best_text} {verb} enough to keep it{self._between} with probability {probability}{lift}."

    def _reach(self, chosen: SufficientSet, probability: str, lift: str) -> str:
        """Write what all variables reach where no set is sufficient, and what a small set reaches."""
        whole = self.sdp_of_all
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
        """Write a set with the row's values.

        Parameters
        ----------
        chosen : SufficientSet
            The set.

        Returns
        -------
        str
            The variables with their values, as part of a sentence.
        """
        value_of = dict(self.values)
        texts = []
        for name in chosen.variables:
            columns = value_of[name]
            if len(columns) == 1 and columns[0][0] == name:
                texts.append(f"{name} = {format_value(columns[0][1])}")
                continue
            listed = ", ".join(f"{column} = {format_value(value)}" for column, value in self.shown_values(name))
            texts.append(f"{name} ({listed})")
        return join(texts) if texts else "nothing at all"

    def shown_values(self, variable: str) -> tuple[tuple[str, Any], ...]:
        """Return the values of a variable that are worth showing.

        Parameters
        ----------
        variable : str
            The name of the variable.

        Returns
        -------
        tuple of (str, object)
            The first columns of the variable with their values. If they are indicators, those that are on.
        """
        columns = dict(self.values)[variable]
        if len(columns) > 1 and all(value in (0, 1) for _, value in columns):
            columns = tuple((name, value) for name, value in columns if value == 1) or columns
        return columns[:N_LISTED]

    # --- notes ------------------------------------------------------------------------------------------------------

    @property
    def search_note(self) -> str:
        """That the search ended early, in one sentence; nothing if it is complete."""
        return "" if self.is_search_complete else NOT_COMPLETE

    @property
    def stability_note(self) -> str:
        """How often the best set returns, in one or two sentences; nothing if that was not measured."""
        return "" if self.stability is None else str(self.stability)

    @property
    def level_note(self) -> str:
        """Which level holds for the class and why, in one sentence; nothing if it is that of the common classes."""
        if self.levels == "same" or self.base_rate is None or not 0 < self.base_rate < 0.5 or self.pi >= 1:
            return ""
        factor = self.pi / (1 - self.pi) * (1 - self.base_rate) / self.base_rate
        return f"The level of this class is {format_level(self.pi)}: {factor:.3g} times its odds."

    @property
    def all_text(self) -> str:
        """The probability of the outcome if all variables are known, in one sentence; nothing if it is not known."""
        if self.sdp_of_all is None:
            return ""
        # A set can reach the level although all variables do not, which puzzles readers without a reason.
        is_less = self.is_sufficient and self.sdp_of_all < self.pi
        reason = ": other values of the row speak against it" if is_less else ""
        return f"All variables together reach {format_probability(self.sdp_of_all)}{reason}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands beside the best set, one sentence each: what all or fewer variables reach, the level, signal."""
        if not self.is_sufficient:
            return tuple(filter(None, (self.level_note, self.range_note)))
        signal = "" if self.has_signal else NO_SIGNAL
        return tuple(filter(None, (self.all_text, self.short_note, self.level_note, signal, self.range_note)))

    @property
    def outside_range(self) -> tuple[str, ...]:
        """The columns in which the row's number lies below the smallest or above the largest training value."""
        values = dict(pair for _, pairs in self.values for pair in pairs)
        return tuple(column.name for column in self.columns if column.is_outside(values.get(column.name)))

    @property
    def range_note(self) -> str:
        """Which values lie outside the training rows, in one sentence; nothing if all lie within."""
        values = dict(pair for _, pairs in self.values for pair in pairs)
        outside = [column for column in self.columns if column.is_outside(values.get(column.name))]
        if not outside:
            return ""
        listed = [f"{c.name} = {format_value(values[c.name])} ({c.extent_text})" for c in outside[:N_OUTSIDE]]
        if len(outside) > N_OUTSIDE:
            listed.append(f"{len(outside) - N_OUTSIDE} more")
        return f"Outside the range of the training rows: {join(listed)}."

    @property
    def bound_note(self) -> str:
        """What "at least" means, in one sentence; nothing if the bound is not known."""
        if self.shown_set.lower is None:
            return ""
        return f'"At least" holds with {format_confidence(self.confidence or SHOWN_CONFIDENCE)} confidence.'

    @property
    def rule_note(self) -> str:
        """That the rule is not that of the best set, or that there is none, in one sentence; else nothing."""
        if not self.rules_searched or not self.is_sufficient or not self.best_set.variables:
            return ""
        if self.rule is None:
            return NO_RULE
        sdp, tested = self.rule.sdp, {condition.name for condition in self.rule.conditions}
        columns_of = {name: {column for column, _ in columns} for name, columns in self.values}

        def distance(s: SufficientSet) -> tuple[float, bool]:
            # Sets may have the same SDP; the rule tests columns of its own only.
            return abs(s.sdp - sdp), not tested <= set().union(*(columns_of[name] for name in s.variables))

        chosen = min(self.sufficient_sets, key=distance)
        if chosen.variables == self.best_set.variables:
            return ""
        return f"The rule is that of {join(chosen.variables)}: that of the best set covers too few training rows."

    @property
    def short_note(self) -> str:
        """Which few variables come near a best set of many, in one sentence; nothing if the best set is small."""
        if not self.is_sufficient or self.nearest_set is None:
            return ""
        nearest = self.nearest_set
        reached = format_with_bound(nearest.sdp, nearest.lower)
        verb = "reaches" if len(nearest.variables) == 1 else "reach"
        return f"Fewer variables nearly do: {join(nearest.variables)} {verb} {reached}."

    # --- what to do -------------------------------------------------------------------------------------------------

    @property
    def offer(self) -> str:
        """The option for a rare class without a sufficient set, in one sentence; nothing for other rows."""
        if self.is_sufficient or self.levels == "odds" or not self.lift_text or not self.has_signal or self.pi >= 1:
            return ""
        assert self.base_rate is not None
        odds = self.pi / (1 - self.pi)
        level = odds * self.base_rate / (odds * self.base_rate + 1 - self.base_rate)
        return (
            f"For rare classes there is {ODDS_OPTION}: this class would need probability {format_level(level)}, "
            f"{odds:.3g} times its odds."
        )

    @property
    def offered_pi(self) -> float | None:
        """The level at which the shown set would be sufficient, rounded down; None if it is too low to be offered."""
        if self.is_sufficient or self.levels == "odds" or not self.has_signal:
            return None
        chosen = self.shown_set
        reached = chosen.sdp if self.confidence is None else chosen.lower or 0.0
        level = float(format_probability(reached))
        return level if LEAST_OFFERED <= level < self.pi else None

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What to do with a row without a sufficient set; empty for other rows."""
        if self.is_sufficient or not self.has_signal:
            return ()
        advice = []
        if self.offered_pi is not None:
            advice.append(Advice("pi", f"Explain it with pi={self.offered_pi:g}.", self.offered_pi))
        if self.source == "given" and not self.forest_agrees and self.prediction is not None:
            whose = "the forest" if self.model is None else "the model"
            text = f"Leave out `y` to explain what {whose} predicts instead of the {self.source_text} outcome."
            advice.append(Advice("prediction", text))
        if self.interval is not None and self.offered_pi is None:
            advice.append(Advice("interval", WIDER_INTERVAL))
        n_variables = len(self.values)
        if self.n_searched is not None and self.n_searched < n_variables:
            n = n_variables if n_variables <= MORE_CANDIDATES else min(2 * self.n_searched, n_variables, 128)
            if n > self.n_searched:
                text = f"Search more variables with n_candidates={n}: {self.n_searched} of {n_variables} were searched."
                advice.append(Advice("candidates", text, n))
        if self.offer:
            advice.append(Advice("levels", self.offer))
        return tuple(advice)

    # --- all of it --------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The explanation in plain words, without the name of the row."""
        care = f" Read with care. {self.care}" if self.care else ""
        lines = [f"{self.outcome_sentence}{care}", self.lead, " ".join(filter(None, (*self.notes, self.bound_note)))]
        rule = self.rule
        if rule is not None:
            lines += [f"Rule: {rule.sentence}", rule.rows_text, rule.checked_text]
        lines.append(self.rule_note)
        others = self.sufficient_sets[1:]
        if others:
            lines.append(f"These sets are enough, too (probability {self.level_text} or more):")
            lines += [f"  {s}" for s in others[:N_LISTED]]
            if len(others) > N_LISTED:
                lines.append(f"  and {len(others) - N_LISTED} more")
            ranked = rank_in_sets([s.variables for s in self.sufficient_sets], [name for name, _ in self.values])
            listed = [f"{name} {value:.2f}" for name, value in ranked]
            more = f", and {len(listed) - N_LISTED} more" if len(listed) > N_LISTED else ""
            lines.append(f"Importance ({IMPORTANCE_MEANINGS[SHOWN_INDEX]}): {', '.join(listed[:N_LISTED])}{more}.")
        lines += [self.search_note, self.stability_note]
        if self.advice:
            lines += ["What you can do:", *(f"  {advice.text}" for advice in self.advice)]
        return "\n".join(filter(None, lines))
