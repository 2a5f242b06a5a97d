"""What trees that did not draw a training row say of it: predictions, and the calibration of their votes.

Both are computed from the rows that each tree counts, so that a loaded explainer and one that keeps only some of its
training rows have them too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from suffice import _core
from suffice._forest.intervals import N_STEPS, ROUNDING, SPREAD_LEVELS, OutOfBagErrors, prediction_and_spread
from suffice._forest.outcomes import Floats, Outcomes, Target
from suffice._forest.trees import Counts, FittedForest, OutOfBag, most_counted, spaced_rows
from suffice._text import format_label

if TYPE_CHECKING:
    from suffice._forest.fitted import Fitted


def rows_not_drawn(forest: FittedForest, counts: Counts) -> NDArray[np.bool_]:
    """Find the training rows that each tree is known not to have drawn."""
    most = most_counted(forest.trees)
    is_out = np.zeros((len(forest.trees), len(forest.X)), dtype=bool)
    for t, tree in enumerate(forest.trees):
        is_counted = np.zeros(len(forest.X), dtype=bool)
        is_counted[tree.rows] = True
        if counts == "bootstrap" and len(tree.rows) != most:  # so many are a sample, and others may have been drawn
            is_out[t] = ~is_counted
        elif counts == "out-of-bag" and not is_counted.all():  # a tree that drew every row counts those that it drew
            is_out[t] = is_counted
    return is_out


def votes_out_of_bag(fitted: Fitted) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the votes of the trees that did not draw a training row, and which rows have any."""
    is_out = rows_not_drawn(fitted.forest, fitted.counts)
    return fitted.forest.predict_out_of_bag(is_out, fitted.settings.n_threads)


@dataclass(frozen=True, eq=False)
class RankWeights:
    """The outcomes that trees which did not draw them expect of some training rows, as weights of ranks."""

    rows: NDArray[np.intp]
    rank: NDArray[np.uint32]
    weight: NDArray[np.float32]
    begin: NDArray[np.int64]

    def shares(self, is_wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Compute the share of wanted outcomes that is expected of each row."""
        up_to = np.concatenate([[0.0], np.cumsum(np.where(is_wanted[self.rank], self.weight, 0.0), dtype=np.float64)])
        shares: NDArray[np.float64] = np.clip(np.diff(up_to[self.begin]), 0.0, 1.0)
        return shares


def expected_ranks(forest: FittedForest, rows: NDArray[np.int64], is_out: NDArray[np.bool_]) -> RankWeights:
    """Find what the trees that did not draw some rows expect of them, by the other counted rows in their leaves."""
    is_asked = np.ascontiguousarray(is_out).view(np.uint8)
    rank, weight, begin = _core.expected_ranks(forest=forest.core, rows=rows, is_asked=is_asked)
    is_known = np.diff(begin) > 0
    return RankWeights(rows[is_known], rank, weight, begin[np.append(is_known, True)])


def measure_errors(forest: FittedForest, out_of_bag: OutOfBag) -> OutOfBagErrors | None:
    """Measure the errors of a forest of numbers on rows out of bag; None if there are no such rows."""
    expected = expected_ranks(forest, out_of_bag.measured, out_of_bag.is_out)
    if not len(expected.rows):
        return None
    row = np.repeat(np.arange(len(expected.rows)), np.diff(expected.begin))
    low, high = (forest.y_values[ranks] for ranks in _quantile_ranks(expected, row))
    least_spread = float(np.median(high - low)) or float(np.ptp(forest.y_values))
    spread = high - low + least_spread
    predictions = out_of_bag.votes[expected.rows, 0]
    own = np.sort((forest.y_values[forest.y_rank[expected.rows]] - predictions) / spread)
    distances = np.abs(forest.y_values[expected.rank] - predictions[row]) / spread[row]
    order = np.argsort(distances)
    up_to = np.cumsum(expected.weight[order], dtype=np.float64)
    places = np.searchsorted(up_to / up_to[-1], np.arange(N_STEPS + 1) / N_STEPS - ROUNDING)
    return OutOfBagErrors(own, distances[order[np.minimum(places, len(order) - 1)]], least_spread)


def _quantile_ranks(expected: RankWeights, row: NDArray[np.intp]) -> list[NDArray[np.uint32]]:
    """Find the ranks at which the outcomes expected of each row reach the levels of the spread."""
    order = np.argsort((row << 32) + expected.rank)
    total = np.concatenate([[0.0], np.cumsum(expected.weight[order], dtype=np.float64)])
    before, after = total[expected.begin[:-1]], total[expected.begin[1:]]
    wanted = [before + (level - 1e-6) * (after - before) for level in SPREAD_LEVELS]  # weights are float32
    return [expected.rank[order[np.searchsorted(total[1:], sums)]] for sums in wanted]


# A mean vote of 0 or 1 has no logit: votes end so far from both.
NEAREST = 1e-3
# Before rows are seen, votes are taken for probabilities: slope and intercept are 1 and 0 with this standard deviation.
# It also keeps both finite where the votes separate the outcomes.
PRIOR, PRIOR_DEVIATION = np.array([1.0, 0.0]), 1.0
# Standard errors between the curve and what is stated: the fewest of 0, 1 and 1.64 with which the promise is kept on
# fresh rows and on known laws (docs/evidence/what_if.md).
CAUTION = 1.0
# Training rows with which the shares of numbers are calibrated, at most.
N_CALIBRATED = 4_000
MOST_STEPS, SMALL_STEP = 100, 1e-9
# A step of Newton's method that changes no logit by more than this surely makes the loss smaller: the second derivative
# of the logistic loss changes at most by the factor e^r where a logit changes by r, and e^r - 1 - r < r^2 up to here.
SAFE_CHANGE = 1.79


@dataclass(frozen=True)
class Calibration:
    """The probability of a target as a function of the mean vote of the trees: a cautious logistic curve of its logit.

    The curve is logit(probability) = slope * logit(vote) + intercept, less its standard error there. A search picks
    points at which the votes are high by luck too, and where few rows have such votes nobody has seen what follows; the
    standard error is large there.
    """

    slope: float = 1.0
    intercept: float = 0.0
    variances: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @classmethod
    def learn(cls, votes: NDArray[np.floating], is_wanted: NDArray[np.bool_]) -> Calibration:
        """Fit the curve to rows."""
        is_known = ~np.isnan(votes)
        logits, is_wanted = _logit(votes[is_known].astype(np.float64)), is_wanted[is_known]
        if is_wanted.all() or not is_wanted.any():
            return cls()
        (slope, intercept), covariance = _fit_curve(logits, is_wanted)
        (of_slope, shared), (_, of_intercept) = covariance.tolist()
        return cls(slope, intercept, (of_slope, shared, of_intercept))

    def probability(self, votes: NDArray[np.float64], *, cautious: bool = True) -> NDArray[np.float64]:
        """Compute the probability of the target where the trees vote for it so often."""
        if self == Calibration():
            return votes
        logits = _logit(votes)
        if not cautious:
            return np.asarray(expit(self.slope * logits + self.intercept))
        of_slope, shared, of_intercept = self.variances
        variance = np.maximum(of_slope * logits**2 + 2 * shared * logits + of_intercept, 0.0)
        return np.asarray(expit(self.slope * logits + self.intercept - CAUTION * np.sqrt(variance)))

    def vote_for(self, level: float, least: float = 0.5) -> float:
        """Compute the mean vote from which the target has at least some probability; infinity if no vote is enough."""
        if self == Calibration():
            return level
        of_slope, shared, of_intercept = (CAUTION**2 * variance for variance in self.variances)
        # (slope x + rest)^2 = of_slope x^2 + 2 shared x + of_intercept has one solution below the level and one above.
        rest = self.intercept - float(_logit(np.array(level)))
        leading, middle, last = self.slope**2 - of_slope, self.slope * rest - shared, rest**2 - of_intercept
        if self.slope <= 0 or leading <= 0:  # higher votes do not surely go with more of the target
            return math.inf
        logit = (-middle + math.sqrt(max(middle**2 - leading * last, 0.0))) / leading
        if logit > _logit(np.array(1.0)):  # even where all trees vote for it
            return math.inf
        return max(min(least, level), float(expit(logit)))


def _logit(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(votes, NEAREST, 1 - NEAREST)
    return np.log(inside / (1 - inside))


def _fit_curve(
    logits: NDArray[np.float64], is_wanted: NDArray[np.bool_]
) -> tuple[tuple[float, float], NDArray[np.float64]]:
    """Return the most probable slope and intercept, by Newton's method, and their covariances."""
    signs = np.where(is_wanted, 1.0, -1.0)
    precision = np.eye(2) / PRIOR_DEVIATION**2
    largest = float(np.abs(logits).max())

    def loss(curve: NDArray[np.float64]) -> float:
        distance = (curve - PRIOR) / PRIOR_DEVIATION
        return float(np.logaddexp(0.0, -signs * (curve[0] * logits + curve[1])).sum() + distance @ distance / 2)

    def derivatives(curve: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # The chances are (1 + tanhs) / 2. NumPy computes tanh about five times as fast as SciPy computes expit.
        tanhs = np.tanh(0.5 * (curve[0] * logits + curve[1]))
        errors = 0.5 * (tanhs - signs)
        weights = 0.25 * (1.0 - tanhs**2)
        weighted = weights * logits
        slopes = np.array([(errors * logits).sum(), errors.sum()]) + precision @ (curve - PRIOR)
        shared = weighted.sum()
        return slopes, np.array([[(weighted * logits).sum(), shared], [shared, weights.sum()]]) + precision

    curve = PRIOR.copy()
    for _ in range(MOST_STEPS):
        slopes, information = derivatives(curve)
        step = np.linalg.solve(information, slopes)
        while abs(step[0]) * largest + abs(step[1]) > SAFE_CHANGE and loss(curve - step) > loss(curve):
            step /= 2  # the quadratic was no good picture of the loss so far away
        curve = curve - step
        if np.abs(step).max() <= SMALL_STEP:
            break
    covariance = np.asarray(np.linalg.inv(derivatives(curve)[1]), dtype=np.float64)
    return (float(curve[0]), float(curve[1])), covariance


def uses_votes(state: Fitted) -> bool:
    """Tell whether leaves say what their trees predict, and that is calibrated; otherwise their rows are counted."""
    return state.out_of_bag is not None


def calibration_of(state: Fitted, target: Target) -> Calibration:
    """Return how often a target is reached where the trees vote for it, and learn it if it is not known yet."""
    known = state.forest.learnt
    if target not in known and state.out_of_bag is not None and state.classes is not None:
        is_wanted = target.holds(state.classes)
        known[target] = Calibration.learn(state.out_of_bag[:, is_wanted].sum(axis=1), is_wanted[state.forest.y_rank])
    elif target not in known and (state.errors is not None or state.interval_scores is not None):  # numbers, out of bag
        known[target] = _learn_of_numbers(state, target)
    calibration: Calibration = known.get(target, Calibration())
    return calibration


def class_probabilities(state: Fitted, X: NDArray[np.float32]) -> NDArray[np.float64]:
    """Compute the probability of every class if all variables are known: one row per row of X, which adds up to 1."""
    assert state.classes is not None
    if state.out_of_bag is None or not state.calibrates_all:  # the paper's estimator, or an older file
        ends = np.arange(1, len(state.classes) + 1, dtype=np.uint32)
        shares = state.projected.cumulative_shares(X, None, ends, state.settings.n_threads)
        return np.diff(shares, axis=1, prepend=0.0)
    forest = state.forest
    if "curves" not in forest.learnt:
        targets = [Target((label,), 0.0, 0.0, format_label(label)) for label in state.classes.tolist()]
        curves = [calibration_of(state, target) for target in targets]
        forest.learnt["curves"] = np.array([[curve.slope, curve.intercept] for curve in curves])
    slopes, intercepts = forest.learnt["curves"].T
    chances = expit(slopes * _logit(forest.predict_leaves(X, state.settings.n_threads)) + intercepts)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))  # one class against the others, so up to a factor


def sdps_of_all(state: Fitted, X: NDArray[np.float32], outcomes: Outcomes) -> Floats:
    """Compute the probability of the outcome of each row if all variables are known."""
    if state.classes is None:
        return _probabilities_within(state, X, outcomes)
    return class_probabilities(state, X)[np.arange(len(X)), outcomes.low]


def _probabilities_within(state: Fitted, X: NDArray[np.float32], outcomes: Outcomes) -> Floats:
    """Compute the probability of the interval of each row if all variables are known."""
    if state.errors is None or outcomes.intervals is None:
        return state.projected.leaf_sdp(X, outcomes, state.settings.n_threads)
    prediction, spread = prediction_and_spread(state.projected, state.errors, X, state.settings.n_threads)
    (low, high), y_values = outcomes.intervals.T, state.forest.y_values
    # What lies beyond all training outcomes belongs to an interval that ends with them.
    low, high = np.where(low <= y_values[0], -np.inf, low), np.where(high >= y_values[-1], np.inf, high)
    return state.errors.shares((low - prediction) / spread, (high - prediction) / spread)


def _learn_of_numbers(state: Fitted, target: Target) -> Calibration:
    learnt = state.forest.learnt
    if "expected" not in learnt:
        rows = spaced_rows(len(state.forest.X), N_CALIBRATED)
        is_out = rows_not_drawn(state.forest, state.counts)[:, rows].T
        learnt["expected"] = expected_ranks(state.forest, rows, is_out)
    expected: RankWeights = learnt["expected"]
    is_wanted = target.holds(state.forest.y_values)
    return Calibration.learn(expected.shares(is_wanted), is_wanted[state.forest.y_rank[expected.rows]])


def probabilities_at(
    state: Fitted, target: Target, points: NDArray[np.float32], n_cautious: int | None = None
) -> NDArray[np.float64]:
    """Compute the probability of a target at points."""
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
