"""Which of a row's smallest sets holds its reasons, and in which order: docs/method.md, section 8.

What is lost without a variable is the fall of the SDP when it is taken out of the set.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice._engine.fitted import Fitted
from suffice._engine.outcomes import Outcomes
from suffice._engine.search import FoundSets
from suffice._table.variables import VariableSet

# Sums of the same numbers in another order differ in the last digits, which must not decide.
N_DIGITS = 12
# Training rows over which it is averaged what a variable adds alone.
N_AVERAGED = 256
# Two numbers whose distance is at most this many standard errors count as equal. None of 1, 2 and 3 keeps reasons best
# on all tables: python -m benchmarks.reason_stability orders
N_ERRORS = 1.0


@dataclass(frozen=True)
class Estimate:
    """A number with the variance of its error.

    Parameters
    ----------
    value : float
        The number.
    variance : float
        The square of its standard error.
    """

    value: float
    variance: float


def choose_sets(fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets) -> list[int]:
    """Choose the sufficient set of each row that holds its reasons.

    Among the sets of the smallest size it is the one with the variables that keep the outcome most often alone,
    whatever the SDP of the set; `rank_alone` ranks the variables. Which of these sets has the highest SDP changes with
    the seed of the forest (`python -m benchmarks.reason_stability`).

    Parameters
    ----------
    fitted : Fitted
        The fitted state.
    X : ndarray of shape (n_rows, n_columns), float32
        The rows.
    outcomes : Outcomes
        The outcome of each row.
    sets : FoundSets
        Their sufficient sets, the smallest first.

    Returns
    -------
    list of int
        The place of the set among all sets of `sets`; -1 for a row without any.
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
    """Rank variables by how often they keep the outcome alone, so that noise does not decide.

    Parameters
    ----------
    alone : mapping of int to Estimate
        The SDP of each variable alone at the row.
    on_average : callable
        Takes a variable and returns what it adds alone on average over the training rows.
    names : sequence of str
        The names of all variables.
    n_errors : float, default=1.0
        Within so many standard errors of the difference, two SDPs count as equal.

    Returns
    -------
    list of int
        The variables. The next one has the highest SDP among those that are left. Where others are as good as equal to
        it, the one that adds most on average comes first and, where averages are within one standard error of the
        largest, the one whose name comes first.

    Examples
    --------
    >>> alone = {0: Estimate(0.82, 1e-4), 1: Estimate(0.83, 1e-4), 2: Estimate(0.5, 1e-4)}
    >>> average = [Estimate(0.2, 1e-6), Estimate(0.1, 1e-6), Estimate(0.3, 1e-6)]
    >>> rank_alone(alone, average.__getitem__, ["debt", "age", "home"])
    [0, 1, 2]
    """
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
    """Compute the variance of an SDP as that of a share of as many rows.

    Parameters
    ----------
    sdp : float
        The SDP.
    square : float
        The sum of the squared weights of the training rows behind it.

    Returns
    -------
    float
        The variance of a share of 1 / `square` rows. One row more of each kind keeps that of 0 and 1 above 0.

    Examples
    --------
    >>> round(share_variance(1.0, 1 / 4), 6)  # 5 of 6 rows
    0.034722
    """
    n = 1 / square
    share = (n * sdp + 1) / (n + 2)
    return share * (1 - share) / n


def mean_gain(fitted: Fitted, variable: int) -> Estimate:
    """Compute what a variable adds alone to the SDP of the empty set, on average over training rows.

    Parameters
    ----------
    fitted : Fitted
        The fitted state, which keeps the answer.
    variable : int
        The variable.

    Returns
    -------
    Estimate
        The mean over 256 rows that are evenly spread over the training table, each with the outcome that the forest
        predicts: it is decisions that have reasons.
    """
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
    """Compute what is lost without each variable of the chosen set of each row.

    Parameters
    ----------
    fitted : Fitted
        The fitted state.
    X : ndarray of shape (n_rows, n_columns), float32
        The rows.
    outcomes : Outcomes
        The outcome of each row.
    sets : FoundSets
        Their sufficient sets.
    chosen : sequence of int
        The place of the set of each row, as `choose_sets` returns it.

    Returns
    -------
    list of dict of int to float
        For each row the loss of each variable of its set; nothing for a row without a sufficient set.
    """
    members = [sets.members(sets.masks[place]) if place >= 0 else () for place in chosen]
    sdps = np.array([sets.sdps[place] if place >= 0 else 0.0 for place in chosen], dtype=np.float64)
    falls = _falls(fitted, X, outcomes, list(enumerate(members)), sdps)
    return [dict(zip(S, fall, strict=True)) for S, fall in zip(members, falls, strict=True)]


def _falls(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    pairs: Sequence[tuple[int, VariableSet]],
    sdps: NDArray[np.float64],
) -> list[list[float]]:
    """Compute the fall of the SDP of each set of a row when one of its variables is taken out."""
    rows = np.array([row for row, S in pairs for _ in S], dtype=np.intp)
    smaller = [tuple(other for other in S if other != variable) for _, S in pairs for variable in S]
    left = fitted.projected.sdp(X[rows], smaller, outcomes.take(rows), fitted.settings.n_threads)
    place, falls = 0, []
    for (_, S), sdp in zip(pairs, sdps.tolist(), strict=True):
        falls.append([sdp - without for without in left[place : place + len(S)].tolist()])
        place += len(S)
    return falls


def rank_by_loss(losses: Mapping[str, float], shares: Mapping[str, float]) -> list[str]:
    """Put the variables of a set in the order in which they are reasons.

    Parameters
    ----------
    losses : mapping of str to float
        What is lost without each variable.
    shares : mapping of str to float
        The LXI: the share of the row's sufficient sets that hold each variable.

    Returns
    -------
    list of str
        The variables without which anything is lost, the largest loss first; between equal losses the larger LXI
        decides, and then the name.

    Examples
    --------
    >>> rank_by_loss({"age": 0.2, "debt": 0.5, "home": 0.2, "sex": 0.0}, {"age": 0.1, "home": 0.3})
    ['debt', 'home', 'age']
    """

    def order(name: str) -> tuple[float, float, str]:
        return -round(losses[name], N_DIGITS), -round(shares.get(name, 0.0), N_DIGITS), name

    return sorted((name for name, loss in losses.items() if round(loss, N_DIGITS) > 0), key=order)
