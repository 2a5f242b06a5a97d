"""How often a target is reached where the trees give it some probability, learnt from rows that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from suffice._engine.fitted import Fitted
from suffice._engine.forest import FittedForest
from suffice._engine.targets import Target

# A mean vote of 0 or 1 has no logit: votes end so far from both.
NEAREST = 1e-3
# Weak: it only keeps the slope finite where the votes separate the outcomes.
PENALTY = 100.0


@dataclass(frozen=True)
class Calibration:
    """The probability of a target as a function of the mean vote of the trees: a logistic curve of its logit.

    Parameters
    ----------
    slope, intercept : float
        The curve: logit(probability) = slope * logit(vote) + intercept. 1 and 0 take votes for probabilities.
    """

    slope: float = 1.0
    intercept: float = 0.0

    @classmethod
    def learn(cls, votes: NDArray[np.floating], is_wanted: NDArray[np.bool_]) -> Calibration:
        """Fit the curve to rows.

        Parameters
        ----------
        votes : ndarray of shape (n_rows,)
            For each row the mean vote for the target of trees that have not seen it; NaN where every tree has.
        is_wanted : ndarray of shape (n_rows,), bool
            Whether each row has the target.

        Returns
        -------
        Calibration
            The curve. If votes for the target do not go with more of it, a curve that stays below any level.
        """
        is_known = ~np.isnan(votes)
        logits, is_wanted = _logit(votes[is_known].astype(np.float64)), is_wanted[is_known]
        if len(np.unique(is_wanted)) < 2:
            return cls()
        curve = LogisticRegression(C=PENALTY).fit(logits[:, None], is_wanted)
        return cls(float(curve.coef_[0, 0]), float(curve.intercept_[0]))

    def probability(self, votes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute the probability of the target where the trees vote for it so often.

        Parameters
        ----------
        votes : ndarray of shape (n_points,)
            Mean votes.

        Returns
        -------
        ndarray of shape (n_points,)
            The probabilities.
        """
        return votes if self == Calibration() else np.asarray(expit(self.slope * _logit(votes) + self.intercept))

    def vote_for(self, level: float) -> float:
        """Compute the mean vote from which the target has at least some probability.

        Parameters
        ----------
        level : float
            The probability.

        Returns
        -------
        float
            The vote; at least 0.5 or, if that is lower, the level: elsewhere the forest predicts something else.
        """
        if self == Calibration():
            return level
        if self.slope <= 0:
            return 1.0
        return max(min(0.5, level), float(expit((_logit(np.array(level)) - self.intercept) / self.slope)))


def _logit(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(votes, NEAREST, 1 - NEAREST)
    return np.log(inside / (1 - inside))


def uses_votes(state: Fitted) -> bool:
    """Tell whether leaves say what their trees predict, and that is calibrated; otherwise their rows are counted.

    Parameters
    ----------
    state : Fitted
        The fitted state.

    Returns
    -------
    bool
        True for classes if the rows out of bag are known.
    """
    return state.out_of_bag is not None


def calibration_of(state: Fitted, target: Target) -> Calibration:
    """Return how often a target is reached where the trees vote for it, and learn it if it is not known yet.

    Parameters
    ----------
    state : Fitted
        The fitted state.
    target : Target
        The wanted classes.

    Returns
    -------
    Calibration
        The curve.
    """
    known = _LEARNT.setdefault(state.forest, {})
    if target not in known and state.out_of_bag is not None and state.classes is not None:
        votes = state.out_of_bag[:, target.holds(state.classes)].sum(axis=1)
        known[target] = Calibration.learn(votes, target.holds(state.training[1]))
    return known.get(target, Calibration())


def probabilities_at(state: Fitted, target: Target, points: NDArray[np.float32]) -> NDArray[np.float64]:
    """Compute the probability of a target at points.

    Parameters
    ----------
    state : Fitted
        The fitted state.
    target : Target
        The wanted outcomes.
    points : ndarray of shape (n_points, n_columns), float32
        The points.

    Returns
    -------
    ndarray of shape (n_points,)
        The calibrated votes of the trees, or the mean shares of the rows in their leaves.
    """
    values: NDArray[Any] = state.forest.y_values if state.classes is None else state.classes
    ranks = np.flatnonzero(target.holds(values))
    if uses_votes(state):
        votes = state.forest.predict_leaves(points, 1)[:, ranks].sum(axis=1)
        return calibration_of(state, target).probability(votes)
    runs = np.split(ranks, np.flatnonzero(np.diff(ranks) > 1) + 1)
    ends = np.array(sorted({end for run in runs for end in (run[0], run[-1] + 1)}), dtype=np.uint32)
    below = state.projected.cumulative_shares(points, None, ends, 1)
    share = dict(zip(ends.tolist(), below.T, strict=True))
    return np.asarray(sum(share[int(run[-1]) + 1] - share[int(run[0])] for run in runs), dtype=np.float64)


# By forest, which the states with other settings share.
_LEARNT: WeakKeyDictionary[FittedForest, dict[Target, Calibration]] = WeakKeyDictionary()
