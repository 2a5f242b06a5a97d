"""Ways to choose and to order the reasons of a row, for ``benchmarks.reason_stability``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice import SufficientExplainer
from suffice.explaining.best_set import Estimate, find_mean_gains, rank_alone, share_variance
from suffice.explaining.search import find_sufficient_sets

N_REASONS = 4
Reasons = list[tuple[str, ...]]
Set = frozenset[int]


@dataclass(frozen=True)
class RowSets:
    """The sufficient sets of a row, smallest first, SDPs of sets with their variances, and what variables add."""

    sets: list[Set]
    sdp: dict[Set, float]
    variance: dict[Set, float]
    names: tuple[str, ...]
    mean_gain: Callable[[int], Estimate]

    @property
    def smallest(self) -> list[Set]:
        return [S for S in self.sets if len(S) == len(self.sets[0])]

    @functools.cached_property
    def in_smallest(self) -> list[int]:
        return sorted({v for S in self.smallest for v in S})

    def loss(self, S: Set, v: int) -> float:
        return self.sdp[S] - self.sdp[S - {v}]

    def gain(self, v: int) -> float:
        return self.sdp[frozenset([v])] - self.sdp[frozenset()]

    def share(self, v: int) -> float:
        return float(np.mean([v in S for S in self.sets]))

    def mean_loss(self, v: int) -> float:
        return float(np.mean([self.loss(S, v) if v in S else 0.0 for S in self.smallest]))

    def of_largest_gains(self) -> Set:
        return min(self.smallest, key=lambda S: sorted(-self.gain(v) for v in S))

    def alone(self, v: int) -> Estimate:
        return Estimate(self.sdp[frozenset([v])], self.variance[frozenset([v])])

    def of_ties(self, between: Callable[[int], Estimate], n_errors: float) -> Set:
        """Choose the set by the SDPs of variables alone; between equal ones, `between` and then the name decides."""
        ranked = list(rank_alone({v: self.alone(v) for v in self.in_smallest}, between, self.names, n_errors))
        return min(self.smallest, key=lambda S: sorted(ranked.index(v) for v in S))

    def strict_gain(self, v: int) -> Estimate:
        return Estimate(self.mean_gain(v).value, 0.0)

    def ranked(self, variables: Set, score: Callable[[int], float]) -> tuple[str, ...]:
        order = sorted(variables, key=lambda v: (-round(score(v), 12), -self.share(v), self.names[v]))
        return tuple(self.names[v] for v in order[:N_REASONS])

    def by_loss(self, S: Set) -> tuple[str, ...]:
        return self.ranked(S, lambda v: self.loss(S, v))

    def by_loss_with_ties(self, S: Set) -> tuple[str, ...]:
        losses = {v: Estimate(self.loss(S, v), self.variance[S - {v}]) for v in S}
        return tuple(self.names[v] for v in list(rank_alone(losses, self.mean_gain, self.names))[:N_REASONS])

    def margin(self) -> float:
        """How far the variable that keeps the outcome most often alone is ahead of the next, in standard errors."""
        first, *others = sorted((self.alone(v) for v in self.in_smallest), key=lambda e: -e.value)
        if not others:
            return np.inf
        return (first.value - others[0].value) / np.sqrt(first.variance + others[0].variance)


ORDERS: dict[str, Callable[[RowSets], tuple[str, ...]]] = {
    "best set, by loss": lambda row: row.by_loss(row.sets[0]),
    "smallest sets, by mean loss": lambda row: row.ranked(frozenset().union(*row.smallest), row.mean_loss),
    "all sets, by LXI": lambda row: row.ranked(frozenset().union(*row.sets), row.share),
    "largest gains, by loss": lambda row: row.by_loss(row.of_largest_gains()),
    "largest gains, by gain": lambda row: row.ranked(row.of_largest_gains(), row.gain),
    "within 1 error by average": lambda row: row.by_loss(row.of_ties(row.mean_gain, 1.0)),
    "... losses as well": lambda row: row.by_loss_with_ties(row.of_ties(row.mean_gain, 1.0)),
    "... mean gains as they are, 1": lambda row: row.by_loss(row.of_ties(row.strict_gain, 1.0)),
    "within 2 errors by average": lambda row: row.by_loss(row.of_ties(row.mean_gain, 2.0)),
    "... mean gains as they are, 2": lambda row: row.by_loss(row.of_ties(row.strict_gain, 2.0)),
    "within 3 errors by average": lambda row: row.by_loss(row.of_ties(row.mean_gain, 3.0)),
    "within 1 error by LXI": lambda row: row.by_loss(row.of_ties(lambda v: Estimate(row.share(v), 0.0), 1.0)),
    "within 1 error by name": lambda row: row.by_loss(row.of_ties(lambda v: Estimate(0.0, 0.0), 1.0)),
}
"""What each way returns for a row. The package has "within 1 error by average"; it had "largest gains, by loss"."""


def sets_of_rows(explainer: SufficientExplainer, rows: Any, adverse: Any) -> list[RowSets | None]:
    """Search the sets of rows whose adverse class the forest predicts; None for the others."""
    state, X = explainer.fitted_, explainer.encode(rows)
    outcomes = state.outcomes(X, np.full(len(X), adverse, dtype=np.asarray(state.classes).dtype))
    found_sets = find_sufficient_sets(state, X, outcomes, minimal_only=False, progress=None, warns=False)
    by_row: list[list[Set]] = [[] for _ in range(len(X))]
    for row, S in found_sets.by_row():
        by_row[row].append(frozenset(S))
    follows = state.predict(X) == adverse
    names = state.variables.names
    answers: list[RowSets | None] = []
    for row, sets in enumerate(by_row):
        if not follows[row] or not sets or not sets[0]:
            answers.append(None)
            continue
        smallest = [S for S in sets if len(S) == len(sets[0])]
        needed = {frozenset(), *(frozenset([v]) for S in smallest for v in S), *smallest}
        needed |= {S - {v} for S in smallest for v in S}
        listed = [tuple(sorted(S)) for S in needed]
        at = np.full(len(listed), row)
        sdps = state.projected.sdp(X[at], listed, outcomes.take(at), 0).tolist()
        squares = state.projected.squared_weights(X[at], listed, 0).tolist()
        variances = [share_variance(sdp, square) for sdp, square in zip(sdps, squares, strict=True)]
        find_mean_gains(state, set(range(len(state.variables))))
        on_average = state.mean_gains.__getitem__
        answers.append(
            RowSets(
                sets,
                dict(zip(needed, sdps, strict=True)),
                dict(zip(needed, variances, strict=True)),
                names,
                on_average,
            )
        )
    return answers


def ordered(explainer: SufficientExplainer, rows: Any, adverse: Any) -> dict[str, Reasons]:
    """Return the reasons of rows by each of the orders."""
    found = sets_of_rows(explainer, rows, adverse)
    return {name: [() if row is None else order(row) for row in found] for name, order in ORDERS.items()}
