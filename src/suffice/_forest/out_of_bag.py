"""What trees that did not draw a training row say of it: predictions, and the calibration of their votes.

Both are computed from the rows that each tree counts, so that a loaded explainer and one that keeps only some of its
training rows have them too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from suffice import _core
from suffice._forest.trees import Counts, FittedForest, list_trees

if TYPE_CHECKING:
    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Target


def rows_not_drawn(forest: FittedForest, counts: Counts) -> NDArray[np.bool_]:
    """Find the training rows that each tree did not draw."""
    trees = list(list_trees(forest.trees))
    is_counted = np.zeros((len(trees), len(forest.X)), dtype=bool)
    for t, tree in enumerate(trees):
        is_counted[t, tree.rows] = True
    if counts == "bootstrap":
        return ~is_counted
    # A tree that drew every row counts the rows that it drew: it has no row out of bag.
    is_counted[is_counted.all(axis=1)] = False
    return is_counted


def predict_out_of_bag(fitted: Fitted) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Predict each training row by the trees that did not draw it."""
    is_out = rows_not_drawn(fitted.forest, fitted.counts)
    values, is_known = fitted.forest.predict_out_of_bag(is_out, fitted.settings.n_threads)
    predictions = values[:, 0] if fitted.classes is None else fitted.classes[np.argmax(values, axis=1)]
    return predictions, is_known


@dataclass(frozen=True, eq=False)
class RankWeights:
    """The outcomes that trees which did not draw them expect of some training rows, as weights of ranks."""

    rows: NDArray[np.intp]
    rank: NDArray[np.uint32]
    weight: NDArray[np.float32]
    begin: NDArray[np.intp]

    def shares(self, is_wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Compute the share of wanted outcomes that is expected of each row."""
        up_to = np.concatenate([[0.0], np.cumsum(np.where(is_wanted[self.rank], self.weight, 0.0), dtype=np.float64)])
        shares: NDArray[np.float64] = np.clip(np.diff(up_to[self.begin]), 0.0, 1.0)
        return shares


def expected_ranks(fitted: Fitted, n_most: int) -> RankWeights:
    """Find what the trees expect of training rows that they did not draw, by the other rows in their leaves."""
    forest = fitted.forest
    sampled_rows = np.linspace(0, len(forest.X) - 1, min(n_most, len(forest.X))).astype(np.intp)
    is_out = rows_not_drawn(forest, fitted.counts)[:, sampled_rows]
    leaves = _core.leaves(forest=forest.core, X=forest.X, n_threads=fitted.settings.n_threads)
    parts: list[tuple[NDArray[np.intp], NDArray[np.uint32], NDArray[np.float32]]] = []
    n_trees = np.zeros(len(sampled_rows))
    for t, tree in enumerate(list_trees(forest.trees)):
        counted = tree.rows[np.argsort(leaves[tree.rows, t], kind="stable")]
        of_leaf = leaves[counted, t]
        places = np.flatnonzero(is_out[t])
        own = leaves[sampled_rows[places], t]
        first, last = np.searchsorted(of_leaf, own), np.searchsorted(of_leaf, own, side="right")
        is_counted = np.isin(sampled_rows[places], counted)
        n_others = last - first - is_counted
        places, first, last, n_others = (values[n_others > 0] for values in (places, first, last, n_others))
        place = np.repeat(places, last - first)
        starts = np.repeat(first - np.concatenate([[0], np.cumsum(last - first)[:-1]]), last - first)
        rows = counted[np.arange(len(place)) + starts]
        is_other = rows != sampled_rows[place]
        weight = np.repeat(1 / np.maximum(n_others, 1), last - first)
        parts.append((place[is_other], forest.y_rank[rows[is_other]], weight[is_other].astype(np.float32)))
        n_trees[places] += 1
    place, rank, weight = (np.concatenate([part[i] for part in parts]) for i in range(3))
    order = np.argsort(place, kind="stable")
    place, rank, weight = place[order], rank[order], weight[order]
    known = np.flatnonzero(n_trees)
    begin = np.searchsorted(place, np.append(known, len(sampled_rows)))
    return RankWeights(sampled_rows[known], rank, (weight / n_trees[place]).astype(np.float32), begin)


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
        if len(np.unique(is_wanted)) < 2:
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
        """Compute the mean vote from which the target has at least some probability."""
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
    """Tell whether leaves say what their trees predict, and that is calibrated; otherwise their rows are counted."""
    return state.out_of_bag is not None


def calibration_of(state: Fitted, target: Target) -> Calibration:
    """Return how often a target is reached where the trees vote for it, and learn it if it is not known yet."""
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


# By forest, which the states with other settings share.
_LEARNT: WeakKeyDictionary[FittedForest, dict[Target, Calibration]] = WeakKeyDictionary()
_EXPECTED: WeakKeyDictionary[FittedForest, RankWeights] = WeakKeyDictionary()
