"""Lists of rules as arrays: which rule decides a row, how good the first rules are together, and a shorter list."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Positions = NDArray[np.intp]
Losses = Callable[[Positions, Positions], Floats]

# Shares are differences of rounded quotients: 0.99 - 0.98 is 0.010000000000000009.
ROUNDING = 1e-12


def first_two(covers: Bools) -> tuple[Positions, Positions]:
    """Find the first and the second True of each row.

    Parameters
    ----------
    covers : ndarray of shape (n_rows, n_columns), bool
        The matrix.

    Returns
    -------
    first, second : ndarray of shape (n_rows,)
        Their columns; n_columns if there is none.
    """
    n_rows, n_columns = covers.shape
    padded = np.ones((n_rows, n_columns + 2), dtype=np.bool_)
    padded[:, :n_columns] = covers
    first = np.argmax(padded, axis=1)
    padded[np.arange(n_rows), first] = False
    return np.minimum(first, n_columns), np.minimum(np.argmax(padded, axis=1), n_columns)


def of_first_rules(first: Positions, losses: Floats, n_rules: int) -> tuple[Floats, Floats]:
    """Compute coverage and precision of the first rule, of the first two together, and so on.

    Parameters
    ----------
    first : ndarray of shape (n_rows,)
        The rule that decides each row; n_rules if none does.
    losses : ndarray of shape (n_rows,)
        What its output costs; precision is 1 minus the mean.
    n_rules : int
        The number of rules.

    Returns
    -------
    coverage, precision : ndarray
        From the first rule on that decides a row.
    """
    n_decided = np.cumsum(np.bincount(first, minlength=n_rules + 1)[:n_rules])
    lost = np.cumsum(np.bincount(first, weights=losses, minlength=n_rules + 1)[:n_rules])
    some = n_decided > 0
    return n_decided[some] / len(first), 1 - lost[some] / n_decided[some]


def shorten(covers: Bools, losses: Losses, tolerance: float) -> Positions:
    """Leave out rules while coverage and precision stay within a tolerance.

    Parameters
    ----------
    covers : ndarray of shape (n_rows, n_rules), bool
        Which rows each rule covers. It is overwritten.
    losses : callable
        Takes rules and rows, and returns what the output of each rule costs at its row.
    tolerance : float
        How much of coverage, and of precision, may be lost.

    Returns
    -------
    ndarray of int
        The positions of the rules that stay.
    """
    n_rows, n_rules = covers.shape

    def losses_of(rules: Positions, rows: Positions) -> Floats:
        costs = np.zeros(len(rows))
        is_covered = rules < n_rules
        costs[is_covered] = losses(rules[is_covered], rows[is_covered])
        return costs

    first, _ = first_two(covers)
    is_kept = np.bincount(first, minlength=n_rules + 1)[:n_rules] > 0
    covers &= is_kept
    _, second = first_two(covers)
    loss_first, loss_second = losses_of(first, np.arange(n_rows)), losses_of(second, np.arange(n_rows))
    n_covered = np.count_nonzero(first < n_rules)
    least_coverage = n_covered / n_rows - tolerance - ROUNDING
    least_precision = 1 - loss_first.sum() / max(n_covered, 1) - tolerance - ROUNDING
    while np.count_nonzero(is_kept) > 1:  # each of them decides some row, so that some are left without any one
        # What coverage and precision would be without each of the rules: its rows go to their second rule.
        is_lost = (first < n_rules) & (second == n_rules)
        n_lost = np.bincount(first, weights=is_lost, minlength=n_rules + 1)[:n_rules]
        dearer = np.bincount(first, weights=loss_second - loss_first, minlength=n_rules + 1)[:n_rules]
        n_left = np.count_nonzero(first < n_rules) - n_lost
        coverage, precision = n_left / n_rows, 1 - (loss_first.sum() + dearer) / n_left
        may_go = is_kept & (coverage >= least_coverage) & (precision >= least_precision)
        if not may_go.any():
            break
        left = np.where(may_go, coverage + precision, -np.inf)
        goes = n_rules - 1 - int(np.argmax(left[::-1]))
        is_kept[goes] = covers[:, goes] = False
        rows = np.flatnonzero((first == goes) | (second == goes))
        first[rows], second[rows] = first_two(covers[rows])
        loss_first[rows], loss_second[rows] = losses_of(first[rows], rows), losses_of(second[rows], rows)
    return np.flatnonzero(is_kept)
