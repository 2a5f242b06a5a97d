"""The probability that an outcome is kept while one column takes other values and all else stays.

The probability is constant between the thresholds of the forest on the column, so it is computed once for each step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice._forest.fitted import Fitted
from suffice._forest.out_of_bag import sdps_of_all
from suffice._forest.outcomes import Outcomes
from suffice._table.encoding import Column
from suffice._table.variables import VariableSet

Floats = NDArray[np.float64]

# Steps that are computed at most: each costs as much as one SDP.
MAX_STEPS = 1000


@dataclass(frozen=True, eq=False)
class Curve:
    """The probability that the outcome of a row is kept, as a function of one column."""

    column: Column
    ends: Floats
    of_set: Floats
    of_all: Floats
    at_missing: tuple[float, float] | None
    own: float
    at_own: tuple[float, float]
    is_exact: bool

    @property
    def drawn_column(self) -> Column:
        """The column as it is drawn; 0 and 1 are two categories unless the row has another number."""
        drawn = self.column.drawn
        return drawn if len(self.of_set) == len(drawn.labels) else self.column


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

    The row is copied with other values in the column: those of the steps, its own, and none if that occurs.
    """
    moved, own = fitted.encoding.columns[column], float(x[column])
    has_missing = bool(np.isnan(fitted.forest.X[:, column]).any() or np.isnan(own))
    ends, at, is_exact = _steps(fitted, moved, own, column, max_steps)
    points = np.concatenate([at, [own], [np.nan] * has_missing]).astype(np.float32)
    rows = np.repeat(x[None, :], len(points), axis=0)
    rows[:, column] = points
    repeated = outcomes.take(np.zeros(len(rows), dtype=np.intp))
    of_set = fitted.projected.sdp(rows, [S] * len(rows), repeated, fitted.settings.n_threads)
    of_all = sdps_of_all(fitted, rows, repeated)
    n, at_missing = len(at), (float(of_set[-1]), float(of_all[-1])) if has_missing else None
    return Curve(moved, ends, of_set[:n], of_all[:n], at_missing, own, (float(of_set[n]), float(of_all[n])), is_exact)


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
    by_tree = [tree.threshold[tree.column == column] for tree in fitted.forest.trees]
    exact = np.unique(np.concatenate(by_tree))
    rounded = exact.astype(np.float32)
    lower = np.where(rounded > exact, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    return np.unique(lower).astype(np.float64)
