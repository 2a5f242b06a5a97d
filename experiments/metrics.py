"""The metrics: variables found, distances of distributions, figures of rules, and exact values of models."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

Floats = NDArray[np.float64]
COMMON, OWN = 0.8, 5.0  # the covariance of the switch model: 0.8 J + 5 I


def detection(sets: Sequence[Collection[str]], truth: Sequence[Collection[str]]) -> tuple[float, float]:
    """Compute the mean true positive rate and the mean false discovery rate of sets of variables.

    Parameters
    ----------
    sets, truth : sequence of collection of str
        For each row the variables that were found and the true ones. An empty set has no false discovery.

    Returns
    -------
    tuple of float
        TPR and FDR.
    """
    pairs = [(set(S), set(T)) for S, T in zip(sets, truth, strict=True)]
    tpr = np.mean([len(S & T) / len(T) for S, T in pairs])
    fdr = np.mean([len(S - T) / max(len(S), 1) for S, T in pairs])
    return float(tpr), float(fdr)


def moons_detection(sets: Sequence[Collection[str]]) -> tuple[float, float]:
    """Compute TPR and FDR on the moons, where Z1 with X1, with X2, or with both can be the truth.

    Parameters
    ----------
    sets : sequence of collection of str
        For each row the variables that were found.

    Returns
    -------
    tuple of float
        TPR: half for Z1, half for X1 or X2. FDR: the share of variables that are none of the three.
    """
    as_sets = [set(S) for S in sets]
    tpr = np.mean([0.5 * ("Z1" in S) + 0.5 * bool(S & {"X1", "X2"}) for S in as_sets])
    fdr = np.mean([len(S - {"X1", "X2", "Z1"}) / max(len(S), 1) for S in as_sets])
    return float(tpr), float(fdr)


def _condition(x: Floats, S: Collection[int]) -> tuple[float, float]:
    """Return the mean of each unknown column given x_S, and the covariance of two different ones."""
    known = sum(x[i] for i in S)
    denominator = OWN + COMMON * len(S)
    return COMMON * known / denominator, COMMON - COMMON**2 * len(S) / denominator


def switch_mean(x: Floats, S: Collection[int]) -> float:
    """Compute E(Y | X_S = x_S) of the switch model exactly.

    Parameters
    ----------
    x : ndarray of shape (n_columns,)
        The row.
    S : collection of int
        Positions of the known columns, from 0: X5 is 4.

    Returns
    -------
    float
        The mean.
    """
    mean, covariance = _condition(x, S)
    if 4 in S:
        return float(sum(x[i] if i in S else mean for i in ((0, 1) if x[4] <= 0 else (2, 3))))
    deviation = np.sqrt(OWN + covariance)
    below, density = norm.cdf(-mean / deviation), norm.pdf(mean / deviation)
    total = 0.0
    for i, share, sign in ((0, below, -1), (1, below, -1), (2, 1 - below, 1), (3, 1 - below, 1)):
        # An unknown X_i goes with the unknown X5: E(X_i; X5 <= 0) = m Phi(-m/v) - (c/v) phi(m/v), and likewise above.
        total += x[i] * share if i in S else mean * share + sign * covariance / deviation * density
    return float(total)


def switch_cdf(x: Floats, S: Collection[int], values: ArrayLike) -> Floats:
    """Compute F_S(y | x_S) of the switch model exactly, for a set S that holds X5.

    Parameters
    ----------
    x : ndarray of shape (n_columns,)
        The row.
    S : collection of int
        Positions of the known columns, from 0; 4 is among them.
    values : array-like of shape (n_values,)
        Where to compute it.

    Returns
    -------
    ndarray of shape (n_values,)
        The probabilities.
    """
    if 4 not in S:
        raise ValueError("`S` must hold X5 (position 4): without it the distribution is a mixture.")
    mean, covariance = _condition(x, S)
    branch = (0, 1) if x[4] <= 0 else (2, 3)
    n_unknown = sum(i not in S for i in branch)
    center = sum(x[i] if i in S else mean for i in branch)
    at = np.asarray(values, dtype=np.float64)
    if not n_unknown:
        return (at >= center).astype(np.float64)
    # One unknown column has variance OWN + c, the sum of two 2 (OWN + c) + 2 c.
    variance = n_unknown * (OWN + covariance) + (2 * covariance if n_unknown == 2 else 0)
    return np.asarray(norm.cdf(at, center, np.sqrt(variance)))


def cdf_distances(grid: Floats, estimate: Floats, truth: Floats) -> tuple[float, float]:
    """Compute the greatest difference of two distribution functions, and the area between them.

    Parameters
    ----------
    grid : ndarray of shape (n_values,)
        Increasing values.
    estimate, truth : ndarray of shape (n_values,)
        The functions there, taken as constant up to the next value.

    Returns
    -------
    tuple of float
        Kolmogorov-Smirnov distance and area.
    """
    gap = np.abs(estimate - truth)
    return float(gap.max()), float(np.sum(gap[:-1] * np.diff(grid)))


def rule_figures(covers: Sequence[NDArray[np.bool_]], sizes: Sequence[int], same: Sequence[NDArray[np.bool_]]) -> Any:
    """Measure rules on unseen rows.

    Parameters
    ----------
    covers : sequence of ndarray of shape (n_rows,), bool
        For each rule the unseen rows that it covers.
    sizes : sequence of int
        For each rule the number of its variables.
    same : sequence of ndarray of shape (n_rows,), bool
        For each rule which unseen rows have the output of the row that it explains.

    Returns
    -------
    dict of str to float
        accuracy: the mean over rules of the share of covered rows with the same output (rules that cover none do not
        count); coverage: the mean share of rows covered; size, size_std and size_max.
    """
    shares = [float(s[c].mean()) for c, s in zip(covers, same, strict=True) if c.any()]
    return {
        "accuracy": float(np.mean(shares)) if shares else float("nan"),
        "coverage": float(np.mean([c.mean() for c in covers])),
        "size": float(np.mean(sizes)),
        "size_std": float(np.std(sizes)),
        "size_max": float(np.max(sizes)),
    }
