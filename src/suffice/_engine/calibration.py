"""How often a target is reached where the trees give it some probability, learnt from rows that they have not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from suffice._engine.fitted import Fitted
from suffice._engine.forest import FittedForest
from suffice._engine.out_of_bag import RankWeights, expected_ranks
from suffice._engine.targets import Target

# A mean vote of 0 or 1 has no logit: votes end so far from both.
NEAREST = 1e-3
# Before rows are seen, votes are taken for probabilities: slope and intercept are 1 and 0 with this standard deviation.
# It also keeps both finite where the votes separate the outcomes.
PRIOR, PRIOR_DEVIATION = np.array([1.0, 0.0]), 1.0
# Standard errors between the curve and what is stated: the fewest of 0, 1 and 1.64 with which the promise is kept on
# fresh rows and on known laws (docs/what-if.md).
CAUTION = 1.0
# Training rows with which the shares of numbers are calibrated, at most.
N_CALIBRATED = 4_000
MOST_STEPS, SMALL_STEP = 100, 1e-9


@dataclass(frozen=True)
class Calibration:
    """The probability of a target as a function of the mean vote of the trees: a cautious logistic curve of its logit.

    The curve is logit(probability) = slope * logit(vote) + intercept, less its standard error there. A search picks
    points at which the votes are high by luck too, and where few rows have such votes nobody has seen what follows;
    the standard error is large there.

    Parameters
    ----------
    slope, intercept : float
        The curve. 1 and 0 take votes for probabilities.
    variances : tuple of float
        The variance of the slope, its covariance with the intercept, and the variance of the intercept.
    """

    slope: float = 1.0
    intercept: float = 0.0
    variances: tuple[float, float, float] = (0.0, 0.0, 0.0)

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
        (slope, intercept), covariance = _fit_curve(logits, is_wanted)
        (of_slope, shared), (_, of_intercept) = covariance.tolist()
        return cls(slope, intercept, (of_slope, shared, of_intercept))

    def probability(self, votes: NDArray[np.float64], *, cautious: bool = True) -> NDArray[np.float64]:
        """Compute the probability of the target where the trees vote for it so often.

        Parameters
        ----------
        votes : ndarray of shape (n_points,)
            Mean votes.
        cautious : bool, default=True
            Whether to take one standard error off. An average over points that nobody picked needs no caution.

        Returns
        -------
        ndarray of shape (n_points,)
            The probabilities.
        """
        if self == Calibration():
            return votes
        logits = _logit(votes)
        if not cautious:
            return np.asarray(expit(self.slope * logits + self.intercept))
        of_slope, shared, of_intercept = self.variances
        variance = np.maximum(of_slope * logits**2 + 2 * shared * logits + of_intercept, 0.0)
        return np.asarray(expit(self.slope * logits + self.intercept - CAUTION * np.sqrt(variance)))

    def vote_for(self, level: float, least: float = 0.5) -> float:
        """Compute the mean vote from which the target has at least some probability.

        Parameters
        ----------
        level : float
            The probability.
        least : float, default=0.5
            The least vote: with less, the forest predicts another class.

        Returns
        -------
        float
            The vote; at least `least` or, if that is lower, the level.
        """
        if self == Calibration():
            return level
        of_slope, shared, of_intercept = (CAUTION**2 * variance for variance in self.variances)
        # (slope x + rest)^2 = of_slope x^2 + 2 shared x + of_intercept has one solution below the level and one above.
        rest = self.intercept - float(_logit(np.array(level)))
        leading, middle, last = self.slope**2 - of_slope, self.slope * rest - shared, rest**2 - of_intercept
        if self.slope <= 0 or leading <= 0:  # higher votes do not surely go with more of the target
            return 1.0
        logit = (-middle + math.sqrt(max(middle**2 - leading * last, 0.0))) / leading
        return max(min(least, level), float(expit(logit)))


def _logit(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(votes, NEAREST, 1 - NEAREST)
    return np.log(inside / (1 - inside))


def _fit_curve(
    logits: NDArray[np.float64], is_wanted: NDArray[np.bool_]
) -> tuple[tuple[float, float], NDArray[np.float64]]:
    """Return the most probable slope and intercept, by Newton's method, and their covariances."""
    terms = np.column_stack([logits, np.ones(len(logits))])
    signs = np.where(is_wanted, 1.0, -1.0)
    precision = np.eye(2) / PRIOR_DEVIATION**2

    def loss(curve: NDArray[np.float64]) -> float:
        distance = (curve - PRIOR) / PRIOR_DEVIATION
        return float(np.logaddexp(0.0, -signs * (terms @ curve)).sum() + distance @ distance / 2)

    def derivatives(curve: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        chances = expit(terms @ curve)
        slopes = terms.T @ (chances - is_wanted) + precision @ (curve - PRIOR)
        return slopes, (terms * (chances * (1 - chances))[:, None]).T @ terms + precision

    curve = PRIOR.copy()
    for _ in range(MOST_STEPS):
        slopes, information = derivatives(curve)
        step = np.linalg.solve(information, slopes)
        while loss(curve - step) > loss(curve) and np.abs(step).max() > SMALL_STEP:
            step /= 2  # the quadratic was no good picture of the loss so far away
        curve = curve - step
        if np.abs(step).max() <= SMALL_STEP:
            break
    covariance = np.asarray(np.linalg.inv(derivatives(curve)[1]), dtype=np.float64)
    return (float(curve[0]), float(curve[1])), covariance


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
        The wanted outcomes. For numbers, the vote is the mean share of rows with a wanted one in the leaves.

    Returns
    -------
    Calibration
        The curve; votes as they are if the rows out of bag are not counted.
    """
    known = _LEARNT.setdefault(state.forest, {})
    if target not in known and state.out_of_bag is not None and state.classes is not None:
        votes = state.out_of_bag[:, target.holds(state.classes)].sum(axis=1)
        known[target] = Calibration.learn(votes, target.holds(state.training[1]))
    elif target not in known and state.interval_scores is not None:  # numbers, and rows out of bag are counted
        known[target] = _learn_of_numbers(state, target)
    return known.get(target, Calibration())


def _learn_of_numbers(state: Fitted, target: Target) -> Calibration:
    if state.forest not in _EXPECTED:
        _EXPECTED[state.forest] = expected_ranks(state, N_CALIBRATED)
    expected = _EXPECTED[state.forest]
    is_wanted = target.holds(state.forest.y_values)
    return Calibration.learn(expected.shares(is_wanted), is_wanted[state.forest.y_rank[expected.rows]])


def probabilities_at(
    state: Fitted, target: Target, points: NDArray[np.float32], n_cautious: int | None = None
) -> NDArray[np.float64]:
    """Compute the probability of a target at points.

    Parameters
    ----------
    state : Fitted
        The fitted state.
    target : Target
        The wanted outcomes.
    points : ndarray of shape (n_points, n_columns), float32
        The points.
    n_cautious : int or None, default=None
        So many points, the first ones, get a cautious probability; None for all.

    Returns
    -------
    ndarray of shape (n_points,)
        The calibrated votes of the trees, or the mean shares of the rows in their leaves.
    """
    values: NDArray[Any] = state.forest.y_values if state.classes is None else state.classes
    ranks = np.flatnonzero(target.holds(values))
    curve, first = calibration_of(state, target), len(points) if n_cautious is None else n_cautious

    def calibrated(votes: NDArray[np.float64]) -> NDArray[np.float64]:
        parts = [curve.probability(votes[:first]), curve.probability(votes[first:], cautious=False)]
        return np.concatenate(parts)

    if uses_votes(state):
        return calibrated(state.forest.predict_leaves(points, 1)[:, ranks].sum(axis=1))
    runs = np.split(ranks, np.flatnonzero(np.diff(ranks) > 1) + 1)
    ends = np.array(sorted({end for run in runs for end in (run[0], run[-1] + 1)}), dtype=np.uint32)
    below = state.projected.cumulative_shares(points, None, ends, 1)
    share = dict(zip(ends.tolist(), below.T, strict=True))
    shares = np.asarray(sum(share[int(run[-1]) + 1] - share[int(run[0])] for run in runs), dtype=np.float64)
    return calibrated(shares)


# By forest, which the states with other settings share.
_LEARNT: WeakKeyDictionary[FittedForest, dict[Target, Calibration]] = WeakKeyDictionary()
_EXPECTED: WeakKeyDictionary[FittedForest, RankWeights] = WeakKeyDictionary()
