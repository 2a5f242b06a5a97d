"""The probability that an outcome is kept while one column takes other values and all else stays.

The probability is constant between the thresholds of the forest on the column, so it is computed once for each step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice._engine.calibration import probabilities_at
from suffice._engine.fitted import Fitted
from suffice._engine.outcomes import Outcomes
from suffice._engine.targets import Target
from suffice._engine.trees import list_trees
from suffice._table.encoding import Column
from suffice._table.variables import VariableSet

Floats = NDArray[np.float64]

# Steps that are computed at most: each costs as much as one SDP.
MAX_STEPS = 1000


@dataclass(frozen=True, eq=False)
class Curve:
    """The probability that the outcome of a row is kept, as a function of one column.

    Parameters
    ----------
    column : Column
        The column whose value moves.
    ends : ndarray of shape (n_steps + 1,)
        Numbers: the steps lie between these ends, and each holds its right end. Categories: the codes -0.5, 0.5, ...
    of_set : ndarray of shape (n_steps,)
        The SDP of the set at each step.
    of_all : ndarray of shape (n_steps,)
        The probability if all variables are known.
    at_missing : tuple of float or None
        Both probabilities if the value is missing; None if no training row lacks it.
    own : float
        The row's own value, as the forest sees it; NaN if it is missing.
    at_own : tuple of float
        Both probabilities at the row's own value.
    is_exact : bool
        Whether every threshold of the forest is an end. If there are too many, they are thinned out.
    """

    column: Column
    ends: Floats
    of_set: Floats
    of_all: Floats
    at_missing: tuple[float, float] | None
    own: float
    at_own: tuple[float, float]
    is_exact: bool


def compute_curve(
    fitted: Fitted,
    x: NDArray[np.float32],
    outcomes: Outcomes,
    S: VariableSet,
    column: int,
    *,
    max_steps: int = MAX_STEPS,
) -> Curve:
    """Compute the probability that a row's outcome is kept along one column.

    Parameters
    ----------
    fitted : Fitted
        The fitted state.
    x : ndarray of shape (n_columns,), float32
        The row.
    outcomes : Outcomes
        Its outcome, of length 1. It stays the same along the curve, and so does its interval.
    S : tuple of int
        The variables that are known. The others are unknown, as in an SDP.
    column : int
        The column that moves; its variable must be in S, or the curve of the set is flat.
    max_steps : int, default=1000
        How many steps are computed at most.

    Returns
    -------
    Curve
        The curve over the range of the training values and the row's own.
    """
    moved, own = fitted.encoding.columns[column], float(x[column])
    has_missing = bool(np.isnan(fitted.forest.X[:, column]).any() or np.isnan(own))
    ends, at, is_exact = _steps(fitted, moved, own, column, max_steps)
    rows = _moved_along(x, column, at, own, has_missing)
    repeated = outcomes.take(np.zeros(len(rows), dtype=np.intp))
    n_threads = fitted.settings.n_threads
    of_set = fitted.projected.sdp(rows, [S] * len(rows), repeated, n_threads)
    of_all = fitted.projected.leaf_sdp(rows, repeated, n_threads)
    n = len(at)
    return Curve(
        column=moved,
        ends=ends,
        of_set=of_set[:n],
        of_all=of_all[:n],
        at_missing=(float(of_set[-1]), float(of_all[-1])) if has_missing else None,
        own=own,
        at_own=(float(of_set[n]), float(of_all[n])),
        is_exact=is_exact,
    )


def compute_target_curve(
    fitted: Fitted, x: NDArray[np.float32], target: Target, column: int, *, max_steps: int = MAX_STEPS
) -> Curve:
    """Compute the probability of wanted outcomes along one column, if all other values stay.

    Parameters
    ----------
    fitted : Fitted
        The fitted state.
    x : ndarray of shape (n_columns,), float32
        The row.
    target : Target
        The wanted outcomes.
    column : int
        The column that moves.
    max_steps : int, default=1000
        How many steps are computed at most.

    Returns
    -------
    Curve
        Both of its curves are the probability given all variables, as changes state it.
    """
    moved, own = fitted.encoding.columns[column], float(x[column])
    has_missing = bool(np.isnan(fitted.forest.X[:, column]).any() or np.isnan(own))
    ends, at, is_exact = _steps(fitted, moved, own, column, max_steps)
    rows = _moved_along(x, column, at, own, has_missing)
    reached = probabilities_at(fitted, target, rows)
    n = len(at)
    at_missing = (float(reached[-1]),) * 2 if has_missing else None
    return Curve(moved, ends, reached[:n], reached[:n], at_missing, own, (float(reached[n]),) * 2, is_exact)


def _moved_along(x: NDArray[np.float32], column: int, at: Floats, own: float, has_missing: bool) -> NDArray[np.float32]:
    """Copy a row with other values in one column: those of the steps, its own, and none if that occurs."""
    points = np.concatenate([at, [own], [np.nan] * has_missing]).astype(np.float32)
    rows = np.repeat(x[None, :], len(points), axis=0)
    rows[:, column] = points
    return rows


def _steps(fitted: Fitted, moved: Column, own: float, column: int, max_steps: int) -> tuple[Floats, Floats, bool]:
    """Return the ends of the steps, a value inside each step, and whether no threshold was left out."""
    if moved.kind == "category":
        codes = np.arange(len(moved.labels), dtype=np.float64)
        return np.append(codes - 0.5, len(codes) - 0.5), codes, True
    known = [value for value in (*moved.extent, own) if not np.isnan(value)]
    low, high = (float(np.float32(min(known))), float(np.float32(max(known)))) if known else (0.0, 0.0)
    if moved.kind == "whole" and low == round(low) and high == round(high) and high - low < max_steps:
        numbers = np.arange(low, high + 1)
        return np.append(numbers - 0.5, high + 0.5), numbers, True
    inner = _thresholds(fitted, column)
    inner = inner[(low < inner) & (inner < high)]
    is_exact = len(inner) < max_steps
    if not is_exact:
        kept = np.linspace(0, len(inner) - 1, max_steps - 3).round().astype(np.intp)
        around = np.searchsorted(inner, own) + np.array([-1, 0]) if not np.isnan(own) else np.array([], dtype=np.intp)
        inner = inner[np.unique(np.clip(np.concatenate([kept, around]), 0, len(inner) - 1))]
    ends = np.concatenate([[low], inner, [high]])
    return ends, ends[1:], is_exact


def _thresholds(fitted: Fitted, column: int) -> Floats:
    """Return the distinct thresholds on a column, as the largest float32 that goes to the left."""
    by_tree = [tree.threshold[tree.column == column] for tree in list_trees(fitted.forest.trees)]
    exact = np.unique(np.concatenate(by_tree))
    rounded = exact.astype(np.float32)
    lower = np.where(rounded > exact, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    return np.unique(lower).astype(np.float64)
