"""Which of the smallest sufficient sets of a row is its best one: chosen so that noise does not decide."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice._forest.bounds import SHOWN_CONFIDENCE, lower_bounds
from suffice.explaining.found_sets import FoundSets, ScoredSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from numpy.typing import NDArray

    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Outcomes
    from suffice._table.variables import VariableSet

# Sums of the same numbers in another order differ in the last digits, which must not decide.
N_DIGITS = 12
# Two numbers whose distance is at most this many standard errors count as equal. None of 1, 2 and 3 keeps reasons best
# on all tables: python -m benchmarks.reason_stability orders
N_ERRORS = 1.0


@dataclass(frozen=True)
class Estimate:
    """A number with the variance of its error."""

    value: float
    variance: float


def put_best_first(fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets) -> FoundSets:
    """Put the best sufficient set of each row before its others (docs/method.md, 1.5).

    Among the sets of the smallest size whose SDP is the highest, within its error, it is the one with the variables
    that keep the outcome most often alone; `rank_alone` ranks the variables. Which of these sets has the highest SDP
    changes with the seed of the forest.
    """
    smallest = _smallest_sets(sets)
    if not smallest:
        return sets
    firsts = [(row, of_row[0].variables) for row, of_row in smallest.items()]
    square_of = dict(zip(firsts, _squared_weights(fitted, X, firsts), strict=True))
    surest = {row: _surest(of_row, square_of[row, of_row[0].variables]) for row, of_row in smallest.items()}
    alone = _alone(fitted, X, outcomes, {row: of_row for row, of_row in surest.items() if len(of_row) > 1}, square_of)
    find_mean_gains(fitted, {v for of_row in alone.values() for v in of_row})
    order = np.arange(len(sets.masks))
    rows, squares = np.array(list(smallest)), []
    for row, begin in zip(rows.tolist(), sets.offset[rows].tolist(), strict=True):
        n = 0
        if row in alone:
            ranked = rank_alone(alone[row], fitted.mean_gains.__getitem__, fitted.variables.names)
            n = _first_by_rank([chosen.variables for chosen in surest[row]], ranked)
        order[begin : begin + n + 1] = [begin + n, *range(begin, begin + n)]
        squares.append(square_of.get((row, surest[row][n].variables), math.nan))
    best = {name: getattr(sets, name).copy() for name in ("best_masks", "best_sdps", "best_squares")}
    sets = replace(sets, masks=sets.masks[order], sdps=sets.sdps[order], **best)
    sets.best_masks[rows], sets.best_sdps[rows] = sets.masks[sets.offset[rows]], sets.sdps[sets.offset[rows]]
    sets.best_squares[rows] = squares
    return sets


def bound_best(fitted: Fitted, X: NDArray[np.float32], sets: FoundSets, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Compute lower bounds of the SDPs of the best sets of some rows."""
    squares = sets.best_squares[rows]
    is_unknown = np.isnan(squares)
    best = [(row, sets.members(sets.best_masks[row])) for row in rows[is_unknown].tolist()]
    squares[is_unknown] = _squared_weights(fitted, X, best)
    return lower_bounds(sets.best_sdps[rows], squares, fitted.settings.confidence or SHOWN_CONFIDENCE)


def bound_set(fitted: Fitted, x: NDArray[np.float32], chosen: ScoredSet) -> float:
    """Compute a lower bound of the SDP of a set at one row."""
    squares = np.array(_squared_weights(fitted, x[None], [(0, chosen.variables)]))
    confidence = fitted.settings.confidence or SHOWN_CONFIDENCE
    return float(lower_bounds(np.array([chosen.sdp]), squares, confidence)[0])


def _squared_weights(fitted: Fitted, X: NDArray[np.float32], pairs: Sequence[tuple[int, VariableSet]]) -> list[float]:
    """Sum the squared weights behind the SDPs of sets at rows."""
    if not pairs:
        return []
    rows, sets = zip(*pairs, strict=True)
    squares: list[float] = fitted.projected.squared_weights(X[list(rows)], sets, fitted.settings.n_threads).tolist()
    return squares


def _smallest_sets(sets: FoundSets) -> dict[int, list[ScoredSet]]:
    """Return the sufficient sets of the smallest size, the surest first, of rows that have several of them."""
    smallest = {}
    sizes, offset, sdps = sets.sizes(), sets.offset.tolist(), sets.sdps.tolist()
    for row, (begin, end) in enumerate(itertools.pairwise(offset)):
        if end - begin > 1 and sizes[begin] == sizes[begin + 1]:
            n = sum(size == sizes[begin] for size in sizes[begin:end])
            smallest[row] = [ScoredSet(sets.members(sets.masks[j]), sdps[j]) for j in range(begin, begin + n)]
    return smallest


def _surest(of_row: list[ScoredSet], square: float) -> list[ScoredSet]:
    """Return the sets whose SDP is that of the first one within the error of the difference."""
    error = N_ERRORS * math.sqrt(2 * share_variance(of_row[0].sdp, square))
    least = round(of_row[0].sdp - error, N_DIGITS)
    return of_row[: sum(round(chosen.sdp, N_DIGITS) >= least for chosen in of_row)]


def _first_by_rank(sets: Sequence[VariableSet], ranked: Iterable[int]) -> int:
    """Return which set of several has the variables that are ranked first."""
    left = list(range(len(sets)))
    for v in ranked:
        left = [i for i in left if v in sets[i]] or left
        if len(left) == 1:
            break
    return left[0]


def rank_alone(
    alone: Mapping[int, Estimate],
    on_average: Callable[[int], Estimate],
    names: Sequence[str],
    n_errors: float = N_ERRORS,
) -> Iterator[int]:
    """Rank variables by how often they keep the outcome alone, so that noise does not decide."""
    left = sorted(alone)
    while left:
        equal = _equal_to_the_best({v: alone[v] for v in left}, n_errors)
        if len(equal) > 1:
            equal = _equal_to_the_best({v: on_average(v) for v in equal}, N_ERRORS)
        first = min(equal, key=lambda v: names[v])
        yield first
        left.remove(first)


def _equal_to_the_best(estimates: Mapping[int, Estimate], n_errors: float) -> list[int]:
    """List the variables whose distance to the largest estimate is within the error of the difference."""
    best = max(estimates.values(), key=lambda estimate: (estimate.value, estimate.variance))

    def is_equal(estimate: Estimate) -> bool:
        error = n_errors * math.sqrt(best.variance + estimate.variance)
        return round(best.value - estimate.value, N_DIGITS) <= round(error, N_DIGITS)

    return [v for v, estimate in estimates.items() if is_equal(estimate)]


def _alone(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    sets: Mapping[int, Sequence[ScoredSet]],
    square_of: dict[tuple[int, VariableSet], float],
) -> dict[int, dict[int, Estimate]]:
    """Compute the SDP of each variable of a row alone, with its variance as that of a share of as many rows.

    Squared weights that are not known yet are added to `square_of`.
    """
    pairs = [(row, (v,)) for row, of_row in sets.items() for v in sorted({v for one in of_row for v in one.variables})]
    sdp_of = {(row, one.variables): one.sdp for row, of_row in sets.items() for one in of_row}
    unsearched = [pair for pair in pairs if pair not in sdp_of]
    if unsearched:
        rows = np.array([row for row, _ in unsearched])
        singles, part = [S for _, S in unsearched], outcomes.take(rows)
        sdps = fitted.projected.sdp(X[rows], singles, part, fitted.settings.n_threads).tolist()
        sdp_of |= dict(zip(unsearched, sdps, strict=True))
    unknown = [pair for pair in pairs if pair not in square_of]
    square_of |= dict(zip(unknown, _squared_weights(fitted, X, unknown), strict=True))
    alone: dict[int, dict[int, Estimate]] = {row: {} for row in sets}
    for row, (v,) in pairs:
        sdp = sdp_of[row, (v,)]
        alone[row][v] = Estimate(round(sdp, N_DIGITS), share_variance(sdp, square_of[row, (v,)]))
    return alone


def share_variance(sdp: float, square: float) -> float:
    """Compute the variance of an SDP as that of a share of as many rows."""
    n = 1 / square
    share = (n * sdp + 1) / (n + 2)
    return share * (1 - share) / n


def find_mean_gains(fitted: Fitted, variables: Set[int]) -> None:
    """Compute the mean gains that are not known yet together: each row goes down the trees once for all variables."""
    unknown = sorted(variables - fitted.mean_gains.keys())
    if not unknown:
        return
    X, outcomes = fitted.averaged_rows
    n, sets = len(X), [(), *((v,) for v in unknown)]
    rows = np.repeat(np.arange(n), len(sets))
    sdps = fitted.projected.sdp(X[rows], sets * n, outcomes.take(rows), fitted.settings.n_threads)
    gains = sdps.reshape(n, len(sets))[:, 1:] - sdps[:: len(sets), None]
    for v, of_rows in zip(unknown, gains.T.tolist(), strict=True):
        mean = math.fsum(of_rows) / n  # the order of the numbers does not matter
        variance = math.fsum((gain - mean) ** 2 for gain in of_rows) / n**2
        fitted.mean_gains[v] = Estimate(round(mean, N_DIGITS), variance)
