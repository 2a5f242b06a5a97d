"""Error bars and tests: lower bounds of SDPs and of shares, and p-values adjusted for the number of tests."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv

from suffice.errors import check_word

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
    """Count the equally weighted rows that would have the same sum of squared weights."""
    # As in the core: the sum is rounded, and six equal weights must not count as fewer than six rows.
    return np.clip(np.floor((1 + 1e-9) / squares), 1, MAX_ROWS)


def lower_bounds(sdps: Floats, squares: Floats, confidence: float) -> Floats:
    """Compute one-sided lower bounds of SDPs."""
    n = count_effective_rows(squares) / SPREAD
    n_kept = np.clip(sdps, 0.0, 1.0) * n
    is_positive = n_kept > 0
    bounds = np.zeros(len(sdps))
    bounds[is_positive] = betaincinv(n_kept[is_positive], (n - n_kept + 1)[is_positive], 1 - confidence)
    return np.minimum(bounds, sdps)


def discounted_share(n_kept: int, n_rows: int) -> float:
    """Estimate for new rows a share that was maximised on the rows that it was counted on."""
    return float(betaincinv(n_kept + 0.5, n_rows - n_kept + 0.5, 0.1))


@lru_cache(maxsize=64)
def least_sdps(pi: float, confidence: float) -> Floats:
    """Compute the SDP that a set must have for its lower bound to reach pi."""
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


Adjustment = Literal["benjamini-hochberg", "holm"]
ADJUSTMENTS: tuple[Adjustment | None, ...] = ("benjamini-hochberg", "holm", None)


def lower_bound(n_kept: ArrayLike, n_rows: ArrayLike, confidence: float) -> Floats:
    """Compute the one-sided lower bound of Clopper and Pearson for a probability."""
    kept, rows = np.asarray(n_kept, dtype=np.float64), np.asarray(n_rows, dtype=np.float64)
    return np.where(kept > 0, betaincinv(np.maximum(kept, 1), rows - np.maximum(kept, 1) + 1, 1 - confidence), 0.0)


def p_at_least(n_kept: ArrayLike, n_rows: ArrayLike, level: ArrayLike) -> Floats:
    """Compute how probable it is that at least so many rows keep the outcome if each does with probability `level`."""
    kept, rows = np.asarray(n_kept, dtype=np.float64), np.asarray(n_rows, dtype=np.float64)
    return np.where(kept > 0, betainc(np.maximum(kept, 1), rows - np.maximum(kept, 1) + 1, level), 1.0)


def p_at_most(n_kept: ArrayLike, n_rows: ArrayLike, level: ArrayLike) -> Floats:
    """Compute how probable it is that at most so many rows keep the outcome if each does with probability `level`."""
    lost = np.asarray(n_rows) - np.asarray(n_kept)
    return p_at_least(lost, n_rows, 1 - np.asarray(level))


def adjust_p_values(p_values: ArrayLike, adjustment: Adjustment | None) -> Floats:
    """Adjust p-values for the number of hypotheses that are tested together."""
    check_word("adjust", adjustment, ADJUSTMENTS)
    p: Floats = np.asarray(p_values, dtype=np.float64)
    n = len(p)
    if adjustment is None or n == 0:
        return p
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, n + 1)
    if adjustment == "holm":
        stepped = np.maximum.accumulate((n - rank + 1) * p[order])
    else:
        stepped = np.minimum.accumulate((n / rank * p[order])[::-1])[::-1]
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def adjust_where_possible(
    p_values: ArrayLike, smallest: ArrayLike, alpha: float, adjustment: Adjustment | None
) -> tuple[Floats, NDArray[np.bool_]]:
    """Adjust the p-values of those hypotheses that could be rejected at all.

    Which ones those are must not depend on the outcomes of the rows, only on how many rows each test has.
    """
    p: Floats = np.asarray(p_values, dtype=np.float64)
    is_tested: Any = np.asarray(smallest, dtype=np.float64) <= alpha
    adjusted = np.ones(len(p))
    adjusted[is_tested] = adjust_p_values(p[is_tested], adjustment)
    return adjusted, np.asarray(is_tested)
