"""The explanation of one row: a frozen value with its sufficient sets, its rules and its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice._forest.bounds import SHOWN_CONFIDENCE
from suffice._text import format_probability, format_with_bound, join, to_plain
from suffice.errors import check_word
from suffice.explaining.importance import (
    SHOWN_INDEX,
    ImportanceIndex,
    SetsKind,
    check_importance,
    importance_of_sets,
    rank_in_sets,
)
from suffice.explaining.sentences import Sentences

if TYPE_CHECKING:
    from suffice._table.encoding import Column
    from suffice.explaining.rule import Rule
    from suffice.explaining.stability import RowStability

LEAST_OFFERED = 0.5  # a lower level is not offered: the outcome would be less likely than not


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
        The probability of the outcome if all variables are known. For classes it is the vote of the trees, calibrated
        on training rows that they have not seen.
    base_rate : float or None
        The share of all training rows that have the outcome: the class, or a number in the interval.
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
        count when explanations are compared, nor do the fields below, except `nearest_set`.
    row : int or None, default=None
        The position of the row in the table that was explained, from 0.
    id : str or None, default=None
        The identifier of the row, if rows have any.
    nearest_set : SufficientSet or None, default=None
        If no set is sufficient, or the best one has more than four variables: what is left of the best set if
        variables are taken out as long as at least 95 % of its SDP is kept.
    target : str, default="y"
        What the outcome is called.
    source : {"forest", "model", "given"}, default="given"
        Where the outcome comes from: the forest's prediction, the model's output, or the user.
    model : str or None, default=None
        The class of the model whose outputs are explained.
    votes : float or None, default=None
        Classification: the forest's own probability of the outcome.
    rules_searched : bool, default=False
        Whether rules were searched.
    is_whole : bool, default=False
        Regression: whether the training outcomes are whole numbers. Texts then write the first and the last one in the
        interval.
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
    nearest_set: SufficientSet | None = None
    target: str = field(default="y", compare=False)
    source: Literal["forest", "model", "given"] = field(default="given", compare=False)
    model: str | None = field(default=None, compare=False)
    votes: float | None = field(default=None, compare=False)
    rules_searched: bool = field(default=False, compare=False)
    is_whole: bool = field(default=False, compare=False)

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

    @property
    def shown_set(self) -> SufficientSet:
        """The best set; for a row without a sufficient set, the smallest set that reaches nearly as much."""
        return self.best_set if self.is_sufficient or self.nearest_set is None else self.nearest_set

    @property
    def outside_range(self) -> tuple[str, ...]:
        """The columns in which the row's number lies below the smallest or above the largest training value."""
        values = dict(pair for _, pairs in self.values for pair in pairs)
        return tuple(column.name for column in self.columns if column.is_outside(values.get(column.name)))

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
    def sentences(self) -> Sentences:
        """What is said about the row, sentence by sentence."""
        return Sentences(self)

    @property
    def text(self) -> str:
        """The explanation in plain words, without the name of the row."""
        return self.sentences.text

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
        index : {"responsibility", "share"}, default="responsibility"
            How it is counted. "responsibility": 1 divided by the size of the smallest set with the variable, so that a
            variable that is enough alone has 1. "share": the share of the sets that hold it (the paper's LXI).
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
        index : {"responsibility", "share"}, default="responsibility"
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
            # Before version 1.25, NumPy answers a comparison of numbers with text by a single False.
            is_other_kind = outcomes.dtype.kind != np.asarray(self.outcome).dtype.kind
            return np.asarray((outcomes.astype(object) if is_other_kind else outcomes) == self.outcome, dtype=bool)
        low, high = self.interval
        return np.asarray((low <= outcomes) & (outcomes <= high), dtype=bool)

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
            "target": self.target,
            "source": self.source,
            "votes": self.votes,
            "prediction": to_plain(self.prediction),
            "forest_agrees": self.forest_agrees,
            "is_sufficient": self.is_sufficient,
            "is_search_complete": self.is_search_complete,
            "values": {column: value for _, columns in self.values for column, value in columns},
            "best_set": _set_to_dict(self.best_set),
            **({} if self.nearest_set is None else {"nearest_set": _set_to_dict(self.nearest_set)}),
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

    def _repr_html_(self) -> str:
        from suffice._show.cards import explanation_card

        return explanation_card(self)


def _set_to_dict(chosen: SufficientSet) -> dict[str, Any]:
    bound = {} if chosen.lower is None else {"lower": chosen.lower}
    return {"variables": list(chosen.variables), "sdp": chosen.sdp, **bound}
