"""The explanation of one row: a frozen value with its sufficient sets, its rules and its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice._engine.bounds import SHOWN_CONFIDENCE
from suffice._table.checks import check_word
from suffice._table.encoding import Column
from suffice.importance import (
    IMPORTANCE_MEANINGS,
    SHOWN_INDEX,
    ImportanceIndex,
    SetsKind,
    check_importance,
    importance_of_sets,
    rank_in_sets,
)
from suffice.rules import Rule
from suffice.set_stability import RowStability
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
    to_plain,
)

# How many sets and importances the text of an explanation lists before it says how many more there are.
N_LISTED = 5
# How many values outside the training rows a note lists.
N_OUTSIDE = 3
NEAREST = "Nearest comes"
NO_SIGNAL = "The variables say nothing about the outcome, so no set that holds any of them is called sufficient."
NOT_COMPLETE = "The search ended before all sets were looked at: there may be others."


@dataclass(frozen=True)
class SufficientSet:
    """A set of variables with its same-decision probability.

    Parameters
    ----------
    variables : tuple of str
        The variables, in the order of the table.
    sdp : float
        The probability that the outcome is kept when only these variables are known.
    lower : float or None, default=None
        A lower bound of the SDP at 95 % confidence (or the explainer's `confidence`); computed for the best set of a
        row only. It does not count when sets are compared.
    """

    variables: tuple[str, ...]
    sdp: float
    lower: float | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Return the variables and the probability."""
        sdp = format_with_bound(self.sdp, self.lower).replace(" (", ", ").removesuffix(")")
        return f"{join(self.variables) or 'nothing at all'} (SDP {sdp})"


@dataclass(frozen=True)
class Explanation:
    """Why one row has its outcome.

    Parameters
    ----------
    outcome : object
        The class label or the number that is explained.
    interval : tuple of float or None
        Regression: (low, high), both ends included; the outcome is kept while Y stays in it.
    pi : float
        The probability that a sufficient set must reach; with ``levels="odds"`` the level of the outcome's class.
    sufficient_sets : tuple of SufficientSet
        All sufficient sets among the candidates (A-SE), smallest and then surest first; with ``sets="minimal"`` the
        minimal ones.
    best_set : SufficientSet
        The first of them; if there is none, the set that comes nearest to `pi`.
    values : tuple of (str, tuple of (str, object))
        The row: for each variable its columns with their values, None for a missing one.
    rules : tuple of Rule
        The maximal rules of the sufficient sets: of the first one, or of all; empty with ``rules=None``.
    prediction : object
        What the forest itself says of the row: a class label, or a number.
    is_search_complete : bool
        Whether the search went through all sets of candidates, and did not end at the explainer's `max_sets`: if it
        did, there may be more sufficient sets than those listed.
    sdp_of_all : float or None
        The probability that the outcome is kept if all variables are known, from the leaves of the forest.
    base_rate : float or None
        The share of all training rows that have the outcome.
    stability : RowStability or None
        How often the best set returns when the forest is grown again; None if that was not measured.
    levels : {"same", "odds"}, default="same"
        The explainer's setting: whether `pi` is the same for every class.
    confidence : float or None, default=None
        The explainer's setting; if given, the lower bound of a sufficient set reaches `pi` at this confidence.
    has_signal : bool, default=True
        Whether the variables say anything about the outcomes. If not, only the empty set can be sufficient.
    columns : tuple of Column
        The columns of the training table as the forest sees them: their kinds, categories and ranges. They do not
        count when explanations are compared, nor do `row` and `id`.
    row : int or None, default=None
        The position of the row in the table that was explained, from 0.
    id : str or None, default=None
        The identifier of the row, if rows have any.
    """

    outcome: Any
    interval: tuple[float, float] | None
    pi: float
    sufficient_sets: tuple[SufficientSet, ...]
    best_set: SufficientSet
    values: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
    rules: tuple[Rule, ...] = ()
    prediction: Any = None
    is_search_complete: bool = True
    sdp_of_all: float | None = None
    base_rate: float | None = None
    stability: RowStability | None = None
    levels: Literal["same", "odds"] = "same"
    confidence: float | None = None
    has_signal: bool = True
    columns: tuple[Column, ...] = field(default=(), compare=False, repr=False)
    row: int | None = field(default=None, compare=False)
    id: str | None = field(default=None, compare=False)

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
    def minimal_sets(self) -> tuple[SufficientSet, ...]:
        """The sufficient sets of the smallest size (M-SE), surest first."""
        if not self.sufficient_sets:
            return ()
        size = len(self.sufficient_sets[0].variables)
        return tuple(s for s in self.sufficient_sets if len(s.variables) == size)

    @property
    def importance(self) -> dict[str, float]:
        """The local explanatory importance (LXI): for each variable the share of sufficient sets that hold it."""
        return self.importance_by("share")

    def importance_by(self, index: ImportanceIndex = SHOWN_INDEX, sets: SetsKind = "all") -> dict[str, float]:
        """Compute the importance of the variables over the sufficient sets.

        Parameters
        ----------
        index : {"responsibility", "share", "divided"}, default="responsibility"
            How it is counted. "responsibility": 1 divided by the size of the smallest set with the variable, so that a
            variable that is enough alone has 1. "share": the share of the sets that hold it (the paper's LXI).
            "divided": every set counts 1 in total, which its variables share equally (Deegan-Packel).
        sets : {"all", "minimal"}, default="all"
            Which sets count.

        Returns
        -------
        dict of str to float
            For each variable of the table its importance; 0 for all if there is no set.
        """
        check_importance(index, sets)
        chosen = self.sufficient_sets if sets == "all" else self.minimal_sets
        return importance_of_sets([s.variables for s in chosen], [name for name, _ in self.values], index)

    def ranked_importance(
        self, index: ImportanceIndex = SHOWN_INDEX, sets: SetsKind = "all"
    ) -> list[tuple[str, float]]:
        """Rank the variables by importance, in the order that all texts, cards, reports and plots use.

        Parameters
        ----------
        index : {"responsibility", "share", "divided"}, default="responsibility"
            How importance is counted: see `importance_by`.
        sets : {"all", "minimal"}, default="all"
            Which sets count.

        Returns
        -------
        list of (str, float)
            The variables of any importance, the most important first. By responsibility the variables of the best set
            come first: between equally important ones the surest set decides, then the LXI, then the table's order.
        """
        check_importance(index, sets)
        chosen = self.sufficient_sets if sets == "all" else self.minimal_sets
        return rank_in_sets([s.variables for s in chosen], [name for name, _ in self.values], index)

    def importance_in(self, sets: SetsKind) -> dict[str, float]:
        """Compute the LXI over all sufficient sets or over the minimal ones.

        Parameters
        ----------
        sets : {"all", "minimal"}
            Which sets count.

        Returns
        -------
        dict of str to float
            For each variable of the table the share of the sets that hold it; 0 for all if there is no set.
        """
        return self.importance_by("share", sets)

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
    def care(self) -> str:
        """Why the explanation is to be read with care, in one sentence; nothing if the forest agrees."""
        if not self.is_outcome_in_interval:
            return "The outcome lies outside the interval: the explanation is of the interval."
        if self.forest_agrees:
            return ""
        prediction = str(self.prediction) if self.interval is None else format_number(self.prediction)
        return f"The forest says {prediction} here."

    @property
    def search_note(self) -> str:
        """That the search ended early, in one sentence; nothing if it is complete."""
        return "" if self.is_search_complete else NOT_COMPLETE

    @property
    def stability_note(self) -> str:
        """How often the best set returns, in one or two sentences; nothing if that was not measured."""
        return "" if self.stability is None else str(self.stability)

    @property
    def lift(self) -> float | None:
        """How many times as likely as among all training rows the outcome is, given the best set."""
        return self.best_set.sdp / self.base_rate if self.base_rate else None

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
    def level_note(self) -> str:
        """Which level holds for the class and why, in one sentence; nothing if it is that of the common classes."""
        if self.levels == "same" or self.base_rate is None or not 0 < self.base_rate < 0.5 or self.pi >= 1:
            return ""
        factor = self.pi / (1 - self.pi) * (1 - self.base_rate) / self.base_rate
        return f"Level {format_level(self.pi)} for this class: {factor:.3g} times its odds."

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
    def all_text(self) -> str:
        """The probability of the outcome if all variables are known, in one sentence; nothing if it is not known."""
        return "" if self.sdp_of_all is None else f"All variables together: {format_probability(self.sdp_of_all)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands beside the best set, one sentence each: what all variables say, the level, and an option."""
        signal = NO_SIGNAL if self.is_sufficient and not self.has_signal else ""
        return tuple(filter(None, (self.all_text, self.level_note, signal, self.range_note, self.offer)))

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
        if self.best_set.lower is None:
            return ""
        return f'"At least" holds with {format_confidence(self.confidence or SHOWN_CONFIDENCE)} confidence.'

    @property
    def few_rows_note(self) -> str:
        """That few training rows stand behind the rule, in one sentence; nothing for other rules."""
        if self.rule is None or not self.rule.has_few_rows or self.rule.precision is None:
            return ""
        rows = counted(self.rule.support, "training row")
        precision = format_probability(self.rule.precision)
        return f"Only {rows} stand behind the rule; expect it to hold for a share of {precision} of new rows."

    @property
    def verdict(self) -> str:
        """Whether a set of variables is enough to keep the outcome, in one sentence."""
        if self.is_sufficient:
            return "To keep it, this is enough." if self.best_set.variables else "It is kept for all values."
        if not self.has_signal:
            return NO_SIGNAL
        sets = "the candidate variables" if self.is_search_complete else "variables that the search looked at"
        how = "" if self.confidence is None else f" at {format_confidence(self.confidence)} confidence"
        return f"No set of {sets} keeps it with probability {self.level_text}{how}, so there is no rule."

    @property
    def best_text(self) -> str:
        """The best set with the row's values, as it is written."""
        return self._with_values(self.best_set)

    @property
    def lead(self) -> str:
        """The verdict with the best set, the row's values and the probability: one or two sentences."""
        best_set, lift = self.best_set, f", {self.lift_text}" if self.lift_text else ""
        probability = f"with probability {format_with_bound(best_set.sdp, best_set.lower)}{lift}"
        if not self.is_sufficient and not best_set.variables:
            return f"{self.verdict} Whatever is known, it is kept {probability}."
        if not self.is_sufficient:
            return f"{self.verdict} {NEAREST} {self.best_text}, {probability}."
        best = f": {self.best_text}" if best_set.variables else ""
        return f"{self.verdict.removesuffix('.')}{best}, {probability}."

    def keeps(self, outcomes: ArrayLike) -> NDArray[np.bool_]:
        """Check which outcomes count as the same as the explained one.

        Parameters
        ----------
        outcomes : array-like of shape (n_outcomes,)
            Class labels or numbers.

        Returns
        -------
        ndarray of shape (n_outcomes,), bool
            Whether each is the explained class, or lies in the explained interval, both ends included.
        """
        outcomes = np.asarray(outcomes)
        if self.interval is None:
            return np.asarray(outcomes == self.outcome, dtype=bool)
        low, high = self.interval
        return np.asarray((low <= outcomes) & (outcomes <= high), dtype=bool)

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

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The identifier of the row, if it has one, outcome, interval, pi, the forest's own prediction, the row, sets,
            importance (without variables of no importance), rules and, if it was measured, stability; the best set with
            the lower bound of its SDP.
        """
        return {
            **({} if self.id is None else {"id": self.id}),
            "outcome": to_plain(self.outcome),
            "interval": None if self.interval is None else list(self.interval),
            "pi": self.pi,
            "levels": self.levels,
            "confidence": self.confidence or SHOWN_CONFIDENCE,
            "has_signal": self.has_signal,
            "base_rate": self.base_rate,
            "lift": self.lift,
            "sdp_of_all": self.sdp_of_all,
            "prediction": to_plain(self.prediction),
            "forest_agrees": self.forest_agrees,
            "is_sufficient": self.is_sufficient,
            "is_search_complete": self.is_search_complete,
            "values": {column: value for _, columns in self.values for column, value in columns},
            "best_set": _set_to_dict(self.best_set),
            "sufficient_sets": [_set_to_dict(s) for s in self.sufficient_sets],
            "importance": {name: value for name, value in self.importance.items() if value > 0},
            "rules": [rule.to_dict() for rule in self.rules],
            **({} if self.stability is None else {"stability": self.stability.to_dict()}),
        }

    def plot(self, kind: Literal["importance", "sets"] = "importance", **options: Any) -> Any:
        """Draw the explanation with matplotlib.

        Parameters
        ----------
        kind : {"importance", "sets"}, default="importance"
            What is drawn: the LXI of the variables, or the sufficient sets.
        **options : dict
            Passed to the function of `suffice.plots` of that name, such as ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        from suffice import plots

        kinds: dict[str, Any] = {"importance": plots.importance, "sets": plots.sets}
        check_word("kind", kind, list(kinds))
        return kinds[kind](self, **options)

    def __str__(self) -> str:
        """Return the explanation in plain words, with the name of the row if it has an identifier."""
        return self.text if self.id is None else f"{self.label}\n{self.text}"

    @property
    def text(self) -> str:
        """The explanation in plain words, without the name of the row."""
        kept = "" if self.interval is None else f", kept within {self.interval_text}"
        lines = [f"The outcome is {self.outcome_text}{kept}."]
        if self.care:
            lines[0] += f" Read with care. {self.care}"
        lines.append(self.lead)
        notes = (*self.notes, self.bound_note)
        if any(notes):
            lines.append(" ".join(filter(None, notes)))
        if self.rule is not None:
            lines.append(f"Rule: {self.rule}")
            lines += [self.few_rows_note] if self.few_rows_note else []
            lines += [self.rule.checked_text] if self.rule.checked_text else []
        others = self.sufficient_sets[1:]
        if others:
            lines.append(f"Also enough (probability {self.level_text} or more):")
            lines += [f"  {s}" for s in others[:N_LISTED]]
            if len(others) > N_LISTED:
                lines.append(f"  and {len(others) - N_LISTED} more")
            listed = [f"{name} {value:.2f}" for name, value in self.ranked_importance()]
            more = f", and {len(listed) - N_LISTED} more" if len(listed) > N_LISTED else ""
            lines.append(f"Importance ({IMPORTANCE_MEANINGS[SHOWN_INDEX]}): {', '.join(listed[:N_LISTED])}{more}.")
        return "\n".join([*lines, *(note for note in (self.search_note, self.stability_note) if note)])

    def _repr_html_(self) -> str:
        from suffice._show.cards import explanation_card

        return explanation_card(self)

    def _with_values(self, chosen: SufficientSet) -> str:
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


def _set_to_dict(chosen: SufficientSet) -> dict[str, Any]:
    bound = {} if chosen.lower is None else {"lower": chosen.lower}
    return {"variables": list(chosen.variables), "sdp": chosen.sdp, **bound}
