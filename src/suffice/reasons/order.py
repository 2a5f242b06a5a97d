"""Which sufficient set of a row holds its reasons, and in which order, so that noise does not decide."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Outcomes
    from suffice._table.variables import VariableSet
    from suffice.explaining.search import FoundSets

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


def choose_sets(fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets) -> list[int]:
    """Choose the sufficient set of each row that holds its reasons.

    Among the sets of the smallest size it is the one with the variables that keep the outcome most often alone,
    whatever the SDP of the set; `rank_alone` ranks the variables. Which of these sets has the highest SDP changes with
    the seed of the forest (`python -m benchmarks.reason_stability`).
    """
    sizes, offset = sets.sizes(), sets.offset.tolist()
    smallest: list[list[tuple[int, VariableSet]]] = []
    for begin, end in itertools.pairwise(offset):
        places = range(begin, begin + int(np.count_nonzero(sizes[begin:end] == sizes[begin])) if end > begin else begin)
        smallest.append([(place, sets.members(sets.masks[place])) for place in places])
    # A row with one smallest set has no choice.
    alone = _alone(
        fitted, X, outcomes, [sorted({v for _, S in of for v in S} if len(of) > 1 else ()) for of in smallest]
    )
    on_average = functools.partial(mean_gain, fitted)
    chosen = []
    for of_row, estimates in zip(smallest, alone, strict=True):
        if len(of_row) < 2:
            chosen.append(of_row[0][0] if of_row else -1)
            continue
        ranked = rank_alone(estimates, on_average, fitted.variables.names)
        rank = {v: i for i, v in enumerate(ranked)}
        chosen.append(min(of_row, key=lambda item: sorted(rank[v] for v in item[1]))[0])
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


def losses_of_sets(
    fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets, chosen: Sequence[int]
) -> list[dict[int, float]]:
    """Compute what is lost without each variable of the chosen set of each row."""
    members = [sets.members(sets.masks[place]) if place >= 0 else () for place in chosen]
    rows = np.array([row for row, S in enumerate(members) for _ in S], dtype=np.intp)
    smaller = [tuple(other for other in S if other != variable) for S in members for variable in S]
    without = iter(fitted.projected.sdp(X[rows], smaller, outcomes.take(rows), fitted.settings.n_threads).tolist())
    return [{v: float(sets.sdps[place]) - next(without) for v in S} for S, place in zip(members, chosen, strict=True)]


def rank_by_loss(losses: Mapping[str, float], shares: Mapping[str, float]) -> list[str]:
    """Put the variables of a set in the order in which they are reasons."""

    def order(name: str) -> tuple[float, float, str]:
        return -round(losses[name], N_DIGITS), -round(shares.get(name, 0.0), N_DIGITS), name

    return sorted((name for name, loss in losses.items() if round(loss, N_DIGITS) > 0), key=order)
