"""Exact statements about a share of rows: a lower bound, tests against a level, and tests of many shares at once.

Rows are independent draws. Nothing here is an approximation: bounds and p-values come from the binomial distribution.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv

from suffice._table.checks import check_word

Floats = NDArray[np.float64]
Adjustment = Literal["benjamini-hochberg", "holm"]
ADJUSTMENTS: tuple[Adjustment | None, ...] = ("benjamini-hochberg", "holm", None)


def lower_bound(n_kept: ArrayLike, n_rows: ArrayLike, confidence: float) -> Floats:
    """Compute the one-sided lower bound of Clopper and Pearson for a probability.

    Parameters
    ----------
    n_kept : array-like of int
        The number of rows that keep the outcome.
    n_rows : array-like of int
        The number of rows.
    confidence : float
        The probability with which the bound holds at least, in (0, 1).

    Returns
    -------
    ndarray of float
        The smallest probability that a test of level ``1 - confidence`` does not reject; 0 if no row keeps the outcome.
    """
    kept, rows = np.asarray(n_kept, dtype=np.float64), np.asarray(n_rows, dtype=np.float64)
    return np.where(kept > 0, betaincinv(np.maximum(kept, 1), rows - np.maximum(kept, 1) + 1, 1 - confidence), 0.0)


def p_at_least(n_kept: ArrayLike, n_rows: ArrayLike, level: ArrayLike) -> Floats:
    """Compute how probable it is that at least so many rows keep the outcome if each does with probability `level`.

    Parameters
    ----------
    n_kept : array-like of int
        The number of rows that keep the outcome.
    n_rows : array-like of int
        The number of rows.
    level : float or array-like
        The probability, in (0, 1].

    Returns
    -------
    ndarray of float
        P(B >= n_kept) for a binomial B: the p-value of "the probability is below `level`".
    """
    kept, rows = np.asarray(n_kept, dtype=np.float64), np.asarray(n_rows, dtype=np.float64)
    return np.where(kept > 0, betainc(np.maximum(kept, 1), rows - np.maximum(kept, 1) + 1, level), 1.0)


def p_at_most(n_kept: ArrayLike, n_rows: ArrayLike, level: ArrayLike) -> Floats:
    """Compute how probable it is that at most so many rows keep the outcome if each does with probability `level`.

    Parameters
    ----------
    n_kept : array-like of int
        The number of rows that keep the outcome.
    n_rows : array-like of int
        The number of rows.
    level : float or array-like
        The probability, in (0, 1].

    Returns
    -------
    ndarray of float
        P(B <= n_kept) for a binomial B: the p-value of "the probability is at least `level`".
    """
    lost = np.asarray(n_rows) - np.asarray(n_kept)
    return p_at_least(lost, n_rows, 1 - np.asarray(level))


def adjust_p_values(p_values: ArrayLike, adjustment: Adjustment | None) -> Floats:
    """Adjust p-values for the number of hypotheses that are tested together.

    Parameters
    ----------
    p_values : array-like of shape (n_hypotheses,)
        The p-values.
    adjustment : {"benjamini-hochberg", "holm"} or None
        "benjamini-hochberg" bounds the expected share of wrong rejections among the rejections, "holm" the probability
        of any wrong rejection. None leaves the p-values as they are.

    Returns
    -------
    ndarray of shape (n_hypotheses,)
        Reject those that are at most alpha.

    Examples
    --------
    >>> adjust_p_values([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
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

    Parameters
    ----------
    p_values : array-like of shape (n_hypotheses,)
        The p-values.
    smallest : array-like of shape (n_hypotheses,)
        The smallest p-value that each test could have given, whatever the outcomes.
    alpha : float
        The level of the tests.
    adjustment : {"benjamini-hochberg", "holm"} or None
        The adjustment.

    Returns
    -------
    adjusted : ndarray of shape (n_hypotheses,)
        The adjusted p-values; 1 for a hypothesis that could not have been rejected.
    is_tested : ndarray of shape (n_hypotheses,), bool
        Whether it could have been.
    """
    p: Floats = np.asarray(p_values, dtype=np.float64)
    is_tested: Any = np.asarray(smallest, dtype=np.float64) <= alpha
    adjusted = np.ones(len(p))
    adjusted[is_tested] = adjust_p_values(p[is_tested], adjustment)
    return adjusted, np.asarray(is_tested)
