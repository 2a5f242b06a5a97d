"""The intervals within which numbers are kept: the forest's prediction plus and minus errors that it makes out of bag.

Errors are measured in units of the spread at their row, so that intervals are wide where outcomes vary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._forest.outcomes import Floats
from suffice._forest.projection import ProjectedForest

# The share of outcomes outside of an interval, if the user does not choose it, at the level of numbers (0.8). Measured:
# docs/evidence/honesty.md, "Intervals of numbers".
DEFAULT_ALPHA = 0.1
# The same in files that do not state it.
EARLIER_ALPHA = 0.05
# The spread at a row lies between these quantiles of its leaves.
SPREAD_LEVELS = (0.1, 0.9)
# Of 1 - pi, the part that leaves may miss on average. Sets of some variables miss more than all of them together.
HEADROOM = 0.85
# The distances of leaves are kept as so many quantiles.
N_STEPS = 1_000
ROUNDING = 1e-9
# How far below a score the level of quantiles is set: at the very step, rounding would decide about the outcome.
BELOW_THE_STEP = 1e-9


@dataclass(frozen=True, eq=False)
class OutOfBagErrors:
    """What outcomes differ by from predictions of trees that did not draw them, in units of the spread."""

    own: Floats  # of the training rows, signed and sorted
    near: Floats  # of the other rows in their leaves, absolute: quantiles in N_STEPS steps
    least_spread: float

    def factor(self, alpha: float | None, pi: float, default_alpha: float = DEFAULT_ALPHA) -> float:
        """Compute how many spreads an interval reaches to both sides of the prediction."""
        errors = np.sort(np.abs(self.own))
        level = default_alpha if alpha is None else alpha
        m = math.ceil((1 - level) * (len(errors) + 1) - ROUNDING)
        factor = float(errors[m - 1]) if m <= len(errors) else math.inf  # conformal
        if alpha is None:
            # Leaves mix a row with its neighbours. In a narrower interval, hardly any set would be counted to keep the
            # outcome with probability pi, not even all variables.
            share = 1 - HEADROOM * (1 - pi)
            factor = max(factor, float(self.near[math.ceil(share * N_STEPS - ROUNDING)]))
        return factor

    def share_within(self, factor: float) -> float:
        """Compute the share of outcomes that lie within so many spreads."""
        return float(np.mean(np.abs(self.own) <= factor + ROUNDING))

    def shares(self, low: Floats, high: Floats) -> Floats:
        """Compute the shares of errors between two ends, in spreads from the prediction."""
        n_up_to = np.searchsorted(self.own, high + ROUNDING, side="right")
        n_below = np.searchsorted(self.own, low - ROUNDING, side="left")
        shares: Floats = np.maximum(n_up_to - n_below, 0) / len(self.own)
        return shares


def prediction_and_spread(
    projected: ProjectedForest, errors: OutOfBagErrors, X: NDArray[np.float32], n_threads: int
) -> tuple[Floats, Floats]:
    """Compute the prediction of rows and the unit in which their errors are measured."""
    quantiles = projected.quantiles(X, None, np.array(SPREAD_LEVELS), n_threads)
    spread: Floats = np.diff(quantiles, axis=1)[:, 0] + errors.least_spread
    return _core.predict(forest=projected.forest.core, X=X, n_threads=n_threads)[:, 0], spread


def calibrated_level(scores: Floats, alpha: float) -> float:
    """Choose the level of the quantiles such that a share of 1 - alpha of outcomes is covered."""
    n_outside = math.floor(alpha * (len(scores) + 1))
    return float(np.clip(scores[n_outside - 1] - BELOW_THE_STEP, 0.0, 1.0)) if n_outside else 0.0
