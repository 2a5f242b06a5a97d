"""In which order the variables of a row's best set are its reasons: docs/method.md, section 8.

What is lost without a variable is the fall of the SDP when it is taken out of the set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice._engine.fitted import Fitted
from suffice._engine.outcomes import Outcomes
from suffice._engine.search import FoundSets
from suffice._table.variables import VariableSet

ReasonOrder: TypeAlias = Literal["best", "mean"]
"""Over which sufficient sets the loss of a variable is counted: the best one, or the mean over all of them."""
ORDER: ReasonOrder = "best"
# Sums of the same numbers in another order differ in the last digits, which must not decide.
N_DIGITS = 12


def losses_of_best_sets(
    fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets, order: ReasonOrder = ORDER
) -> list[dict[int, float]]:
    """Compute what is lost without each variable of the best set of each row.

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
    order : {"best", "mean"}, default="best"
        "best": the fall of the SDP of the best set. "mean": the mean over all sufficient sets, where a set without the
        variable loses nothing.

    Returns
    -------
    list of dict of int to float
        For each row the loss of each variable of its best set; nothing for a row without a sufficient set.
    """
    has_set = sets.n_by_row() > 0
    best = [sets.members(mask) if has else () for mask, has in zip(sets.best_masks, has_set.tolist(), strict=True)]
    if order == "best":
        falls = _falls(fitted, X, outcomes, list(enumerate(best)), sets.best_sdps)
        return [dict(zip(S, fall, strict=True)) for S, fall in zip(best, falls, strict=True)]
    pairs = sets.by_row()
    falls = _falls(fitted, X, outcomes, pairs, sets.sdps)
    n_sets = sets.n_by_row().tolist()
    losses: list[dict[int, float]] = [dict.fromkeys(S, 0.0) for S in best]
    for (row, S), fall in zip(pairs, falls, strict=True):
        for variable, lost in zip(S, fall, strict=True):
            if variable in losses[row]:
                losses[row][variable] += lost / n_sets[row]
    return losses


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
