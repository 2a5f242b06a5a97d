"""Candidates: the variables among which sufficient sets are searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._forest.projection import MAX_CANDIDATES, MAX_VARIABLES
from suffice._forest.trees import FittedForest, PlainForest
from suffice.errors import did_you_mean

if TYPE_CHECKING:
    from suffice._forest.settings import Settings
    from suffice._table.variables import Variables, VariableSet

# Chosen at each row: some by their SDP there, the others on the row's own paths; or all of them by their SDP.
AUTO, BY_ROW = "auto", "row"
IMPORTANCES = (AUTO, BY_ROW, "splits", "impurity")
# The share of the candidates of a row that its own paths choose.
SHARE_BY_PATHS = 0.4
# The gain of a variable is above zero by this many standard errors, or it is left out. Of a hundred columns of noise,
# two to six are not (docs/method.md, 1.5).
LEAST_GAIN = 1.2


def is_by_row(candidates: str | Sequence[str | int]) -> bool:
    """Return whether each row has its own candidates."""
    return isinstance(candidates, str) and candidates in (AUTO, BY_ROW)


def n_by_paths(candidates: str | Sequence[str | int], n: int) -> int:
    """Return how many of the n candidates of a row are chosen on its own paths."""
    return int(SHARE_BY_PATHS * n) if isinstance(candidates, str) and candidates == AUTO else 0


def choose_candidates(forest: FittedForest, estimator: Any, variables: Variables, settings: Settings) -> VariableSet:
    """Choose the variables among which sufficient sets are searched."""
    candidates = settings.candidates
    if not isinstance(candidates, str):
        listed = tuple(dict.fromkeys(variables.position(v) for v in _check_list(candidates)))
        if len(listed) > MAX_CANDIDATES:
            raise ValueError(f"`candidates` names {len(listed)} variables; the search takes at most {MAX_CANDIDATES}.")
        return listed
    n_splits = _by_variable(forest.count_splits(), variables)
    by_row = is_by_row(candidates)
    if candidates == AUTO:
        gains, errors = measure_gains(forest, variables, settings.n_threads)
        importance = gains
    elif candidates == "splits" or (by_row and isinstance(estimator, PlainForest)):
        importance = n_splits
    elif candidates == "impurity" or by_row:
        importance = _by_variable(_impurity_importance(estimator), variables)
    else:
        raise ValueError(
            f"`candidates` must be one of {list(IMPORTANCES)} or a list of variables, got {candidates!r}."
            f"{did_you_mean(candidates, IMPORTANCES)}"
        )
    ranking = np.argsort(-importance, kind="stable")
    used = [int(v) for v in ranking if n_splits[v] > 0] or [int(v) for v in ranking]
    if candidates == AUTO:
        used = [v for v in used if gains[v] > LEAST_GAIN * errors[v]] or used
    return tuple(used[: max(MAX_VARIABLES, settings.n_candidates) if by_row else settings.n_candidates])


def _check_list(candidates: Any) -> list[Any]:
    if not isinstance(candidates, Sequence | np.ndarray) or len(candidates) == 0:
        raise ValueError(
            f"`candidates` must be one of {list(IMPORTANCES)} or a list of at least one variable, got {candidates!r}."
        )
    return list(candidates)


def _by_variable(of_columns: NDArray[Any], variables: Variables) -> NDArray[np.float64]:
    return np.array([of_columns[list(columns)].sum() for columns in variables.columns], dtype=np.float64)


def measure_gains(
    forest: FittedForest, variables: Variables, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Measure what the splits on each variable gain on the counted rows, and the standard errors of that."""
    numbers = variables.number_columns([(v,) for v in range(len(variables))])
    gains, errors = _core.gains(
        forest=forest.core, variable_of=numbers, n_variables=len(variables), n_threads=n_threads
    ).T
    return gains, errors


def gaining_variables(forest: FittedForest, variables: Variables, n_threads: int) -> list[int]:
    """List the variables whose splits gain more than splits on noise would; all of them, if none does."""
    gains, errors = measure_gains(forest, variables, n_threads)
    return np.flatnonzero(gains > LEAST_GAIN * errors).tolist() or list(range(len(variables)))


def _impurity_importance(estimator: Any) -> NDArray[np.float64]:
    """Return scikit-learn's importances; zeros if no split of the forest gains anything, where it would give NaN."""
    with np.errstate(invalid="ignore"):
        importance: NDArray[np.float64] = np.nan_to_num(estimator.feature_importances_)
    return importance
