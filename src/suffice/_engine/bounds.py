"""Error bars: how far below its estimate an SDP may lie, from the weights of the training rows behind it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

Floats = NDArray[np.float64]

SHOWN_CONFIDENCE = 0.95
"""The confidence of the lower bounds that are shown if none is asked for."""
# An SDP with weights w is as sure as a share of 1 / (SPREAD * sum of w^2) rows. With 1 / sum of w^2 the bound would
# hold for a set that was chosen beforehand, in cells that do not depend on the outcomes. It is the smallest
# whole number with which the bound of the chosen set holds in 95 % of rows on all laws of `python -m benchmarks.honesty
# laws`.
SPREAD = 4.0
# Bounds of more effective rows than this are those of this many: the table below stays small.
MAX_ROWS = 4096


def count_effective_rows(squares: Floats) -> Floats:
    """Count the equally weighted rows that would have the same sum of squared weights.

    Parameters
    ----------
    squares : ndarray
        The sums of the squared weights.

    Returns
    -------
    ndarray
        The whole numbers, at least 1.
    """
    # As in the core: the sum is rounded, and six equal weights must not count as fewer than six rows.
    return np.clip(np.floor((1 + 1e-9) / squares), 1, MAX_ROWS)


def lower_bounds(sdps: Floats, squares: Floats, confidence: float) -> Floats:
    """Compute one-sided lower bounds of SDPs.

    Parameters
    ----------
    sdps : ndarray of shape (n_sets,)
        The SDPs.
    squares : ndarray of shape (n_sets,)
        The sums of the squared weights behind them.
    confidence : float
        How often the bound holds at least.

    Returns
    -------
    ndarray of shape (n_sets,)
        The quantile of a Beta distribution at 1 - confidence, as in the bound of Clopper and Pearson; 0 for an SDP of
        0.
    """
    n = count_effective_rows(squares) / SPREAD
    n_kept = np.clip(sdps, 0.0, 1.0) * n
    is_positive = n_kept > 0
    bounds = np.zeros(len(sdps))
    bounds[is_positive] = betaincinv(n_kept[is_positive], (n - n_kept + 1)[is_positive], 1 - confidence)
    return np.minimum(bounds, sdps)


def discounted_share(n_kept: int, n_rows: int) -> float:
    """Estimate for new rows a share that was maximised on the rows that it was counted on.

    Parameters
    ----------
    n_kept, n_rows : int
        The rows that have the outcome, and all rows; at least one.

    Returns
    -------
    float
        The quantile at level 0.1 of the posterior of the share (Jeffreys): near the share for many rows, well below it
        for few. Among 104 formulas it came closest to the share of held-out rows; docs/honesty.md has the figures.
    """
    return float(discounted_shares(np.array(n_kept), np.array(n_rows)))


def discounted_shares(n_kept: NDArray[Any], n_rows: NDArray[Any]) -> Floats:
    """Estimate shares as `discounted_share` does, many at once.

    Parameters
    ----------
    n_kept, n_rows : ndarray
        The rows that have the outcome, and all rows; at least one.

    Returns
    -------
    ndarray
        The estimates.
    """
    return np.asarray(betaincinv(n_kept + 0.5, n_rows - n_kept + 0.5, 0.1))


@lru_cache(maxsize=64)
def least_sdps(pi: float, confidence: float) -> Floats:
    """Compute the SDP that a set must have for its lower bound to reach pi.

    Parameters
    ----------
    pi : float
        The probability to reach.
    confidence : float
        The confidence of the bound.

    Returns
    -------
    ndarray of shape (MAX_ROWS + 1,)
        The least SDP by the number of effective rows; 2 if no SDP is enough.
    """
    n = np.arange(MAX_ROWS + 1) / SPREAD
    low, high = np.full(len(n), pi), np.ones(len(n))
    for _ in range(60):  # bisection: the bound grows with the SDP
        middle = (low + high) / 2
        is_enough = betainc(np.maximum(middle * n, 1e-300), (1 - middle) * n + 1, pi) <= 1 - confidence
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    is_possible = betainc(np.maximum(n, 1e-300), 1.0, pi) <= 1 - confidence
    least = np.where(is_possible, high, 2.0)
    least.setflags(write=False)
    return least
