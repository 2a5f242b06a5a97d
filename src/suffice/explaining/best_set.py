"""Which of the smallest sufficient sets of a row is its best one: chosen so that noise does not decide."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Outcomes
    from suffice._table.variables import VariableSet
    from suffice.explaining.found_sets import FoundSets

# Sums of the same numbers in another order differ in the last digits, which must not decide.
N_DIGITS = 12
# Training rows over which it is averaged what a variable adds alone.
N_AVERAGED = 256
# Two numbers whose distance is at most this many standard errors count as equal. None of 1, 2 and 3 keeps reasons best
# on all tables: python -m benchmarks.reason_stability orders
N_ERRORS = 1.0


@dataclass(frozen=True)
class Estimate:
    """A number with the variance of its error."""

    value: float
    variance: float


def put_best_first(fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets) -> FoundSets:
    """Put the best sufficient set of each row before its others (docs/method.md, 1.5)."""
    begins, places = sets.offset[:-1], choose_sets(fitted, X, outcomes, sets)
    rows = np.flatnonzero(places > begins)
    if not len(rows):
        return sets
    order = np.arange(len(sets.masks))
    for begin, place in zip(begins[rows].tolist(), places[rows].tolist(), strict=True):
        order[begin : place + 1] = [place, *range(begin, place)]
    chosen = [sets.members(sets.masks[place]) for place in places[rows]]
    best_masks, best_sdps, best_squares = sets.best_masks.copy(), sets.best_sdps.copy(), sets.best_squares.copy()
    best_masks[rows], best_sdps[rows] = sets.masks[places[rows]], sets.sdps[places[rows]]
    best_squares[rows] = fitted.projected.squared_weights(X[rows], chosen, fitted.settings.n_threads)
    masks, sdps = sets.masks[order], sets.sdps[order]
    return replace(sets, masks=masks, sdps=sdps, best_masks=best_masks, best_sdps=best_sdps, best_squares=best_squares)


def choose_sets(fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets) -> NDArray[np.int64]:
    """Choose the best sufficient set of each row; -1 if it has none.

    Among the sets of the smallest size whose SDP is the highest, within its error, it is the one with the variables
    that keep the outcome most often alone; `rank_alone` ranks the variables. Which of these sets has the highest SDP
    changes with the seed of the forest.
    """
    sizes, offset = sets.sizes(), sets.offset.tolist()
    surest: list[list[tuple[int, VariableSet]]] = []
    for row, (begin, end) in enumerate(itertools.pairwise(offset)):
        n = int(np.count_nonzero(sizes[begin:end] == sizes[begin])) if end > begin else 0
        if n > 1:  # a row with one smallest set has no choice
            variance = share_variance(float(sets.sdps[begin]), float(sets.best_squares[row]))
            least = round(float(sets.sdps[begin]) - N_ERRORS * math.sqrt(2 * variance), N_DIGITS)
            n = int(np.count_nonzero(np.round(sets.sdps[begin : begin + n], N_DIGITS) >= least))
        surest.append([(j, sets.members(sets.masks[j])) for j in range(begin, begin + n)] if n > 1 else [])
    alone = _alone(fitted, X, outcomes, [sorted({v for _, S in of_row for v in S}) for of_row in surest])
    on_average = functools.partial(mean_gain, fitted)
    chosen = np.where(sets.n_by_row() > 0, sets.offset[:-1], -1)
    for row, (of_row, estimates) in enumerate(zip(surest, alone, strict=True)):
        if of_row:
            ranked = rank_alone(estimates, on_average, fitted.variables.names)
            rank = {v: i for i, v in enumerate(ranked)}
            chosen[row] = min(of_row, key=lambda item: sorted(rank[v] for v in item[1]))[0]
    return chosen


def rank_alone(
    alone: Mapping[int, Estimate],
    on_average: Callable[[int], Estimate],
    names: Sequence[str],
    n_errors: float = N_ERRORS,
) -> list[int]:
    """Rank variables by how often they keep the outcome alone, so that noise does not decide."""
    left, ranked = sorted(alone), []
    while left:
        equal = _equal_to_the_best({v: alone[v] for v in left}, n_errors)
        if len(equal) > 1:
            equal = _equal_to_the_best({v: on_average(v) for v in equal}, N_ERRORS)
        first = min(equal, key=lambda v: names[v])
        ranked.append(first)
        left.remove(first)
    return ranked


def _equal_to_the_best(estimates: Mapping[int, Estimate], n_errors: float) -> list[int]:
    """List the variables whose distance to the largest estimate is within the error of the difference."""
    best = max(estimates.values(), key=lambda estimate: (estimate.value, estimate.variance))

    def is_equal(estimate: Estimate) -> bool:
        error = n_errors * math.sqrt(best.variance + estimate.variance)
        return round(best.value - estimate.value, N_DIGITS) <= round(error, N_DIGITS)

    return [v for v, estimate in estimates.items() if is_equal(estimate)]


def _alone(
    fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, variables: Sequence[Sequence[int]]
) -> list[dict[int, Estimate]]:
    """Compute the SDP of each variable of a row alone, with its variance as that of a share of as many rows."""
    rows = np.array([row for row, of in enumerate(variables) for _ in of], dtype=np.intp)
    alone = [(v,) for of in variables for v in of]
    n_threads = fitted.settings.n_threads
    sdps = fitted.projected.sdp(X[rows], alone, outcomes.take(rows), n_threads).tolist()
    squares = fitted.projected.squared_weights(X[rows], alone, n_threads).tolist()
    estimates = [
        Estimate(round(sdp, N_DIGITS), share_variance(sdp, square)) for sdp, square in zip(sdps, squares, strict=True)
    ]
    ends = itertools.accumulate(len(of) for of in variables)
    return [dict(zip(of, estimates[end - len(of) : end], strict=True)) for of, end in zip(variables, ends, strict=True)]


def share_variance(sdp: float, square: float) -> float:
    """Compute the variance of an SDP as that of a share of as many rows."""
    n = 1 / square
    share = (n * sdp + 1) / (n + 2)
    return share * (1 - share) / n


def mean_gain(fitted: Fitted, variable: int) -> Estimate:
    """Compute what a variable adds alone to the SDP of the empty set, on average over training rows."""
    known: dict[int, Estimate] = fitted.mean_gains
    if variable not in known:
        n_rows, n_threads = len(fitted.forest.X), fitted.settings.n_threads
        n = min(N_AVERAGED, n_rows)
        X = fitted.forest.X[np.arange(n) * n_rows // n]
        outcomes = fitted.outcomes(X, fitted.predict(X))
        with_it = fitted.projected.sdp(X, [(variable,)] * n, outcomes, n_threads)
        without = fitted.projected.sdp(X, [()] * n, outcomes, n_threads)
        gains = (with_it - without).tolist()
        mean = math.fsum(gains) / n  # the order of the numbers does not matter
        variance = math.fsum((gain - mean) ** 2 for gain in gains) / n**2
        known[variable] = Estimate(round(mean, N_DIGITS), variance)
    return known[variable]
