"""Intervals that cover: the level of the quantiles between which a number is kept, calibrated on rows out of bag.

The interval of a row lies between two quantiles of its leaves. Their level is chosen such that, for the training rows
and the trees that did not draw them, a share of 1 - alpha of the outcomes lies within (a conformal interval with the
level as its score).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._engine.forest import N_AT_ONCE, FittedForest
from suffice._engine.trees import list_trees

Floats = NDArray[np.float64]

# How far below a score the level is set. A score is itself a step of a cumulative share, and at the very step the upper
# end would fall short of the outcome, or not, by the rounding of a sum.
BELOW_THE_STEP = 1e-9


def out_of_bag_scores(forest: FittedForest, is_out: NDArray[np.bool_], n_threads: int) -> Floats:
    """Compute the largest alpha with which each training row's interval still holds its outcome.

    Only trees that did not draw the row are used, without the row itself.

    Parameters
    ----------
    forest : FittedForest
        The forest.
    is_out : ndarray of shape (n_trees, n_rows)
        Whether each tree did not draw each row.
    n_threads : int
        How many threads look up the leaves.

    Returns
    -------
    ndarray
        The scores, ascending, of the rows that some tree did not draw; of the first 20,000 rows, if there are more.
    """
    n_rows, n_values = min(len(forest.X), N_AT_ONCE), len(forest.y_values)
    leaves = _core.leaves(forest=forest.core, X=forest.X, n_threads=n_threads).astype(np.int64)
    rank = forest.y_rank.astype(np.int64)
    below, up_to, n_trees = np.zeros(n_rows), np.zeros(n_rows), np.zeros(n_rows)
    for t, tree in enumerate(list_trees(forest.trees)):
        rows = np.flatnonzero(is_out[t, :n_rows])
        # The counted rows by leaf and then by outcome: the rows of a leaf are next to each other.
        place = np.sort(leaves[tree.rows, t] * n_values + rank[tree.rows])
        of_leaf, own = leaves[rows, t] * n_values, rank[rows]
        begin, end = np.searchsorted(place, of_leaf), np.searchsorted(place, of_leaf + n_values)
        is_counted = np.isin(rows, tree.rows)
        n_below = np.searchsorted(place, of_leaf + own) - begin
        n_up_to = np.searchsorted(place, of_leaf + own, side="right") - begin - is_counted
        n_others = end - begin - is_counted
        has_others = n_others > 0
        rows, n_others = rows[has_others], n_others[has_others]
        below[rows] += n_below[has_others] / n_others
        up_to[rows] += n_up_to[has_others] / n_others
        n_trees[rows] += 1
    is_known = n_trees > 0
    below, up_to = below[is_known] / n_trees[is_known], up_to[is_known] / n_trees[is_known]
    return np.sort(2 * np.minimum(up_to, 1 - below))


def calibrated_level(scores: Floats, alpha: float) -> float:
    """Choose the level of the quantiles such that a share of 1 - alpha of outcomes is covered.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        The scores of `out_of_bag_scores`, ascending.
    alpha : float
        The share of outcomes that may lie outside.

    Returns
    -------
    float
        The level: the interval lies between its half and 1 minus its half. 0 if there are too few scores.
    """
    n_outside = math.floor(alpha * (len(scores) + 1))
    return float(np.clip(scores[n_outside - 1] - BELOW_THE_STEP, 0.0, 1.0)) if n_outside else 0.0
