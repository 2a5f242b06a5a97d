"""Sufficient sets: which variables are candidates, and the search among them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from suffice import _core
from suffice._engine.forest import FittedForest
from suffice._engine.projection import MAX_CANDIDATES, ProjectedForest
from suffice._table.variables import Variables, VariableSet
from suffice.errors import SearchSizeWarning, did_you_mean

IMPORTANCES = ("splits", "impurity", "permutation")
N_PERMUTATIONS = 5
NO_LIMIT = 2**64 - 1


def choose_candidates(
    forest: FittedForest,
    variables: Variables,
    candidates: str | Sequence[str | int],
    n_candidates: int,
    random_state: Any,
) -> VariableSet:
    """Choose the variables among which sufficient sets are searched.

    Parameters
    ----------
    forest : FittedForest
        The forest.
    variables : Variables
        The variables of its table.
    candidates : {"splits", "impurity", "permutation"} or list of str or int
        How to rank the variables, or the candidates themselves.
    n_candidates : int
        How many to take of a ranking. Variables on which the forest never splits are not taken: they change no SDP.
    random_state : int, RandomState or None
        The seed of the permutations.

    Returns
    -------
    tuple of int
        The candidates, the most important first (in the order of the list, if one was given).
    """
    if not isinstance(candidates, str):
        chosen = tuple(dict.fromkeys(variables.position(v) for v in _listed(candidates)))
        if len(chosen) > MAX_CANDIDATES:
            raise ValueError(f"`candidates` names {len(chosen)} variables; the search takes at most {MAX_CANDIDATES}.")
        return chosen
    n_splits = _by_variable(forest.count_splits(), variables)
    if candidates == "splits":
        importance = n_splits
    elif candidates == "impurity":
        importance = _by_variable(forest.estimator.feature_importances_, variables)
    elif candidates == "permutation":
        importance = _permutation_importance(forest, variables, random_state)
    else:
        raise ValueError(
            f"`candidates` must be one of {list(IMPORTANCES)} or a list of variables, got {candidates!r}."
            f"{did_you_mean(candidates, IMPORTANCES)}"
        )
    ranking = np.argsort(-importance, kind="stable")
    used = [int(v) for v in ranking if n_splits[v] > 0] or [int(v) for v in ranking]
    return tuple(used[:n_candidates])


def _listed(candidates: Any) -> list[Any]:
    if not isinstance(candidates, Sequence | np.ndarray) or len(candidates) == 0:
        raise ValueError(
            f"`candidates` must be one of {list(IMPORTANCES)} or a list of at least one variable, got {candidates!r}."
        )
    return list(candidates)


def _by_variable(of_columns: NDArray[Any], variables: Variables) -> NDArray[np.float64]:
    return np.array([of_columns[list(columns)].sum() for columns in variables.columns], dtype=np.float64)


def _permutation_importance(forest: FittedForest, variables: Variables, random_state: Any) -> NDArray[np.float64]:
    """Mean loss of accuracy or R2 when a variable's values are shuffled, all its columns together."""
    # scikit-learn's permutation_importance shuffles single columns only: it would tear groups apart.
    rng = check_random_state(random_state)
    is_classification = hasattr(forest.estimator, "classes_")
    y = forest.y_rank if is_classification else forest.y_values[forest.y_rank]

    def loss(X: NDArray[np.float32]) -> float:
        predictions = forest.predict_leaves(X)
        if is_classification:
            return float(np.mean(np.argmax(predictions, axis=1) != y))
        return float(np.mean((predictions[:, 0] - y) ** 2))

    X = forest.X.copy()
    unharmed = loss(X)
    importance = np.zeros(len(variables))
    for v, columns in enumerate(variables.columns):
        own = forest.X[:, list(columns)]
        for _ in range(N_PERMUTATIONS):
            X[:, list(columns)] = own[rng.permutation(len(X))]
            importance[v] += (loss(X) - unharmed) / N_PERMUTATIONS
        X[:, list(columns)] = own
    return importance


@dataclass(frozen=True)
class FoundSets:
    """The sufficient sets of some rows, as arrays.

    Parameters
    ----------
    candidates : tuple of int
        The variable of each bit of a set.
    offset : ndarray of shape (n_rows + 1,)
        Row i has the sets from offset[i] up to offset[i + 1]: smallest first, then surest.
    masks : ndarray of shape (n_sets, 2)
        The sets as two words: bit i of the first for the i-th candidate, bit i of the second for the (64 + i)-th.
    sdps : ndarray
        Their SDP.
    best_masks, best_sdps : ndarray of n_rows
        The first of a row's sets; if it has none, the set with the highest SDP of those that were looked at.
    is_complete : ndarray of shape (n_rows,)
        Whether all sets were looked at, and not only the first of them.
    """

    candidates: VariableSet
    offset: NDArray[np.int64]
    masks: NDArray[np.uint64]
    sdps: NDArray[np.float64]
    best_masks: NDArray[np.uint64]
    best_sdps: NDArray[np.float64]
    is_complete: NDArray[np.bool_]

    def members(self, mask: NDArray[np.uint64]) -> VariableSet:
        """List the variables of a set.

        Parameters
        ----------
        mask : ndarray of shape (2,)
            The set.

        Returns
        -------
        tuple of int
            Its variables, ascending.
        """
        low, high = mask.tolist()
        bits = low | high << 64
        return tuple(sorted(v for i, v in enumerate(self.candidates) if bits >> i & 1))

    def sizes(self) -> NDArray[np.int64]:
        """Count the variables of each set.

        Returns
        -------
        ndarray of shape (n_sets,)
            The sizes.
        """
        bits = np.unpackbits(self.masks.view(np.uint8).reshape(len(self.masks), 16), axis=1)
        n_bits: NDArray[np.int64] = np.count_nonzero(bits, axis=1)
        return n_bits

    def holds(self, i: int) -> NDArray[np.bool_]:
        """Tell which sets hold a candidate.

        Parameters
        ----------
        i : int
            The position of the candidate.

        Returns
        -------
        ndarray of shape (n_sets,)
            Whether each set holds it.
        """
        held: NDArray[np.bool_] = (self.masks[:, i // 64] >> np.uint64(i % 64) & np.uint64(1)).astype(np.bool_)
        return held

    def sets_by_row(self, first_only: bool) -> tuple[list[int], list[VariableSet]]:
        """List the sufficient sets with their rows.

        Parameters
        ----------
        first_only : bool
            Whether to list only the first set of each row.

        Returns
        -------
        rows : list of int
            The row of each set.
        sets : list of tuple of int
            The sets.
        """
        rows: list[int] = []
        sets: list[VariableSet] = []
        for row in range(len(self.offset) - 1):
            begin, end = int(self.offset[row]), int(self.offset[row + 1])
            for mask in self.masks[begin : min(end, begin + 1) if first_only else end]:
                rows.append(row)
                sets.append(self.members(mask))
        return rows, sets


def find_sufficient_sets(
    projected: ProjectedForest,
    X: NDArray[np.float32],
    lo: NDArray[np.uint32],
    hi: NDArray[np.uint32],
    *,
    pi: float,
    min_size: int,
    max_size: int | None,
    minimal_only: bool,
    max_sets: int | None,
    progress: Callable[[int], object] | None,
) -> FoundSets:
    """Find the sets of candidates with SDP >= pi of which no smaller part has it.

    Parameters
    ----------
    projected : ProjectedForest
        The projected forest.
    X : ndarray of shape (n_rows, n_columns), float32
        The rows.
    lo, hi : ndarray of shape (n_rows,)
        The outcome of each row, as ranks, both ends included.
    pi : float
        The least SDP.
    min_size, max_size : int
        The sizes of the sets; None for no largest size.
    minimal_only : bool
        Whether to stop at the first size that has a sufficient set.
    max_sets : int or None
        How many sets the search of a row may go through, the smallest first; None for all. Warns if that was too few.
    progress : callable or None
        Called with the number of rows done, several times a second.

    Returns
    -------
    FoundSets
        The sets of each row.
    """
    n = len(projected.candidates)
    largest = n if max_size is None else min(max_size, n)
    if min_size > n:
        raise ValueError(f"`min_size` is {min_size}, but there are only {n} candidates.")
    options = _core.SearchOptions(
        pi=pi,
        min_node_size=projected.min_node_size,
        min_size=min_size,
        max_size=largest,
        minimal_only=minimal_only,
        max_sets=NO_LIMIT if max_sets is None else max_sets,
    )
    result = _core.search(
        projection=projected.on_candidates,
        rows=_core.Rows(X=X, lo=lo, hi=hi),
        options=options,
        n_threads=projected.n_threads,
        progress=progress,
    )
    complete = result["is_complete"]
    if not complete.all():
        n_sets = sum(math.comb(n, size) for size in range(min_size, largest + 1))
        warnings.warn(
            f"The search ended after {max_sets} of up to {n_sets:.3g} sets of candidates in "
            f"{np.count_nonzero(~complete)} of {len(X)} rows: they may have other sufficient sets. Give a larger "
            "`max_sets` (None: no limit), a `max_size`, or fewer candidates.",
            SearchSizeWarning,
            stacklevel=3,
        )
    return FoundSets(projected.candidates, **result)
