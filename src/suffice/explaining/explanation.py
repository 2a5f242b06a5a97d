"""The explanation of one row: a frozen value with its sufficient sets, its rules and its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice._forest.bounds import SHOWN_CONFIDENCE
from suffice._table.encoding import Column
from suffice._text import format_with_bound, join, printed, to_plain
from suffice.explaining.importance import SetsKind, check_sets, importance_of_sets, rank_in_sets
from suffice.explaining.rule import Rule
from suffice.explaining.sentences import Sentences
from suffice.explaining.stability import RowStability

LEAST_OFFERED = 0.5  # a lower level is not offered: the outcome would be less likely than not
# A set is contested if its SDP is above the row's own probability by more than this: of such claims on held-out rows of
# eight tables .74 were right, of the others .92 (docs/evidence/honesty.md).
CONTESTED_GAP = 0.1


def is_contested(sdps: ArrayLike, own: ArrayLike, model: str | None) -> NDArray[np.bool_]:
    """Tell whether sets promise far more than the row's own probability; never of a model, which is certain there."""
    return np.asarray(np.subtract(sdps, own) > CONTESTED_GAP) & (model is None)


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

    @printed
    def __str__(self) -> str:
        """Return the variables and the probability."""
        sdp = format_with_bound(self.sdp, self.lower).replace(" (", ", ").removesuffix(")")
        return f"{join(self.variables) or 'nothing at all'} (SDP {sdp})"

    def to_dict(self) -> dict[str, Any]:
        """Return the set as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The variables, the SDP and, if it is known, its lower bound.
        """
        bound = {} if self.lower is None else {"lower": self.lower}
        return {"variables": list(self.variables), "sdp": self.sdp, **bound}


_FIGURES = ("has_signal", "base_rate", "lift", "sdp_of_all", "target", "source", "is_contested", "offered_pi")


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
        The smallest sufficient sets among the candidates (M-SE), the best one first and then the surest; with
        ``sets="all"`` all of them (A-SE), by size.
    best_set : SufficientSet
        The best of the smallest sufficient sets, which everything else is about: the one with the variables that keep
        the outcome most often alone, where differences within the error do not count. If no set is sufficient, that of
        the highest level, a multiple of 0.05, that any set reaches.
    values : tuple of (str, tuple of (str, object))
        The row: for each variable its columns with their values, None for a missing one.
    rules : tuple of Rule
        The maximal rules of the sufficient sets: of the best one, or of all; empty with ``rules=None``.
    prediction : object
        What the forest itself says of the row: a class label, or a number.
    is_search_complete : bool
        Whether the search went through all sets of candidates, and did not end at the explainer's `max_sets`: if it
        did, there may be more sufficient sets than those listed.
    sdp_of_all : float or None
        The row's own probability of the outcome: that given all variables. For classes it is the vote of the trees,
        calibrated on training rows that they have not seen.
    base_rate : float or None
        The share of all training rows that have the outcome: the class, or a number in the interval.
    stability : RowStability or None
        How often the best set returns when the forest is grown again; None if that was not measured.
    levels : {"odds", "same"}, default="odds"
        The explainer's setting: whether a rare class has a lower `pi` than the others.
    confidence : float or None, default=None
        The explainer's setting; if given, the lower bound of a sufficient set reaches `pi` at this confidence.
    has_signal : bool, default=True
        Whether the variables say anything about the outcomes. If not, only the empty set can be sufficient.
    columns : tuple of Column
        The columns of the training table as the forest sees them: their kinds, categories and ranges. They do not
        count when explanations are compared, nor do the fields below, except `smaller_set` and `offered_pi`.
    row : int or None, default=None
        The position of the row in the table that was explained, from 0.
    id : str or None, default=None
        The identifier of the row, if rows have any.
    smaller_set : SufficientSet or None, default=None
        If the best set is sufficient and has more than four variables: a smaller one that reaches a level lower by
        0.05, if there is one.
    offered_pi : float or None, default=None
        If no set is sufficient: the level at which the best set is; None below 0.5.
    target : str, default="y"
        What the outcome is called.
    source : {"forest", "model", "given"}, default="given"
        Where the outcome comes from: the forest's prediction, the model's output, or the user.
    model : str or None, default=None
        The class of the model whose outputs are explained.
    rules_searched : bool, default=False
        Whether rules were searched.
    is_whole : bool, default=False
        Regression: whether the training outcomes are whole numbers. Texts then write the first and the last one in the
        interval.
    origin : tuple of (Explanations, int) or None, default=None
        The explanations that this one is part of, and its place among them: plots need the training rows. A pickled
        explanation leaves them out.
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
    levels: Literal["odds", "same"] = "odds"
    confidence: float | None = None
    has_signal: bool = True
    columns: tuple[Column, ...] = field(default=(), compare=False, repr=False)
    row: int | None = field(default=None, compare=False)
    id: str | None = field(default=None, compare=False)
    smaller_set: SufficientSet | None = None
    offered_pi: float | None = None
    target: str = field(default="y", compare=False)
    source: Literal["forest", "model", "given"] = field(default="given", compare=False)
    model: str | None = field(default=None, compare=False)
    rules_searched: bool = field(default=False, compare=False)
    is_whole: bool = field(default=False, compare=False)
    origin: tuple[Any, int] | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: not all other rows and the forest."""
        return {**vars(self), "origin": None}

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
        """The maximal rule of the best set; None if it covers too few training rows or none was searched for."""
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
    def outside_range(self) -> tuple[str, ...]:
        """The columns in which the row's number lies below the smallest or above the largest training value."""
        values = dict(pair for _, pairs in self.values for pair in pairs)
        return tuple(column.name for column in self.columns if column.is_outside(values.get(column.name)))

    @property
    def is_contested(self) -> bool:
        """Whether the best set promises far more than the row's own probability: other values speak against it."""
        if not self.is_sufficient or self.sdp_of_all is None:
            return False
        return bool(is_contested(self.best_set.sdp, self.sdp_of_all, self.model))

    @property
    def sentences(self) -> Sentences:
        """What is said about the row, sentence by sentence."""
        return Sentences(self)

    @property
    @printed
    def text(self) -> str:
        """The explanation in plain words, without the name of the row."""
        return self.sentences.text

    @property
    def minimal_sets(self) -> tuple[SufficientSet, ...]:
        """The sufficient sets of the smallest size (M-SE), the best one first."""
        if not self.sufficient_sets:
            return ()
        size = len(self.sufficient_sets[0].variables)
        return tuple(s for s in self.sufficient_sets if len(s.variables) == size)

    @property
    def importance(self) -> dict[str, float]:
        """The local explanatory importance (LXI): for each variable the share of the minimal sets that hold it."""
        return importance_of_sets([s.variables for s in self.minimal_sets], [name for name, _ in self.values])

    @property
    def importance_differs(self) -> bool:
        """Whether some variables of the minimal sets are more important than others: if not, the sets say it all."""
        return len({value for value in self.importance.values() if value > 0}) > 1

    def ranked_importance(self, sets: SetsKind = "minimal") -> list[tuple[str, float]]:
        """Rank the variables by importance, in the order that all texts, cards, reports and plots use.

        Parameters
        ----------
        sets : {"minimal", "all"}, default="minimal"
            Which sets count: those of the smallest size, or all that were searched.

        Returns
        -------
        list of (str, float)
            The variables of any importance (LXI), the most important first. Between equally important ones the first
            set that holds one of them decides, the best set being the first, and then the order of the table.
        """
        check_sets(sets)
        chosen = self.sufficient_sets if sets == "all" else self.minimal_sets
        return rank_in_sets([s.variables for s in chosen], [name for name, _ in self.values])

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
            **{name: getattr(self, name) for name in _FIGURES},
            "prediction": to_plain(self.prediction),
            **{name: getattr(self, name) for name in ("forest_agrees", "is_sufficient", "is_search_complete")},
            "values": {column: value for _, columns in self.values for column, value in columns},
            "best_set": self.best_set.to_dict(),
            **({} if self.smaller_set is None else {"smaller_set": self.smaller_set.to_dict()}),
            "sufficient_sets": [s.to_dict() for s in self.sufficient_sets],
            "importance": {name: value for name, value in self.importance.items() if value > 0},
            "rules": [rule.to_dict() for rule in self.rules],
            **({} if self.stability is None else {"stability": self.stability.to_dict()}),
        }

    def plot(self, kind: Literal["importance", "sets", "rule", "curve"] = "importance", **options: Any) -> Any:
        """Draw the explanation with matplotlib.

        Parameters
        ----------
        kind : {"importance", "sets", "rule", "curve"}, default="importance"
            What is drawn: the importance of the variables, the sufficient sets, the rule on the training rows, or the
            probability that the outcome is kept along a variable, as in ``plot("curve", variable="age")``.
        **options : dict
            Passed to the function of `suffice.plots` of that name, such as ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        from suffice import plots

        return plots.draw(self, kind, **options)

    @printed
    def __str__(self) -> str:
        """Return the explanation in plain words, with the name of the row if it has an identifier."""
        return self.text if self.id is None else f"{self.label}\n{self.text}"

    def _repr_html_(self) -> str:
        from suffice._show.cards import explanation_card

        return explanation_card(self)
