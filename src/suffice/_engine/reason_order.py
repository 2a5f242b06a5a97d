"""Which of a row's smallest sets holds its reasons, and in which order: docs/method.md, section 8.

What is lost without a variable is the fall of the SDP when it is taken out of the set.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from suffice._engine.fitted import Fitted
from suffice._engine.outcomes import Outcomes
from suffice._engine.search import FoundSets
from suffice._table.variables import VariableSet

# Sums of the same numbers in another order differ in the last digits, which must not decide.
N_DIGITS = 12


def choose_sets(fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets) -> list[int]:
    """Choose the sufficient set of each row that holds its reasons.

    Among the sets of the smallest size it is the one with the variables that add most alone, whatever their SDP: which
    of these sets has the highest SDP changes with the seed of the forest (`python -m benchmarks.reason_stability`).

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
    gains = _gains(fitted, X, outcomes, [sorted({v for _, S in of for v in S}) for of in smallest])
    chosen = []
    for of_row, gain in zip(smallest, gains, strict=True):
        if not of_row:
            chosen.append(-1)
            continue
        # The sets are sorted by their SDP: between equal gains the surest comes first.
        chosen.append(min(of_row, key=lambda item: (sorted(-gain[v] for v in item[1]), item[0]))[0])
    return chosen


def _gains(
    fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, variables: Sequence[Sequence[int]]
) -> list[dict[int, float]]:
    """Compute what each variable of a row adds to the SDP of the empty set, alone."""
    rows = np.array([row for row, of in enumerate(variables) for _ in of], dtype=np.intp)
    alone = [(v,) for of in variables for v in of]
    sdps = fitted.projected.sdp(X[rows], alone, outcomes.take(rows), fitted.settings.n_threads).tolist()
    empty = fitted.projected.sdp(X, [()] * len(X), outcomes, fitted.settings.n_threads).tolist()
    place, gains = 0, []
    for of, nothing in zip(variables, empty, strict=True):
        own = sdps[place : place + len(of)]
        gains.append({v: round(sdp - nothing, N_DIGITS) for v, sdp in zip(of, own, strict=True)})
        place += len(of)
    return gains


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
