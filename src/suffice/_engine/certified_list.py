"""Choosing which rules to certify, on the training rows alone: few, and such that fresh rows can confirm them.

Every test on fresh rows costs power, and a rule with few fresh rows cannot be confirmed. What is chosen here depends on
training rows and on the number of fresh rows, never on the outcomes of fresh rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from suffice._engine.rule_list import Bools, first_two

Counts = NDArray[np.int64]

# A rule must add this share of the training rows to those that rules before it cover.
MIN_NEW = 0.005
# Training rows flatter a rule: its precision is drawn towards the level by as many rows.
N_DRAWN = 20
# A rule is tested if it would be confirmed with this probability.
MIN_POWER = 0.7


def power_of_test(n_rows: Counts, n_kept: Counts, ratio: float, level: float, confidence: float) -> NDArray[np.float64]:
    """Estimate with which probability fresh rows confirm that a precision is at least a level.

    Parameters
    ----------
    n_rows, n_kept : ndarray of shape (n_rules,)
        The training rows that each rule covers, and how many of them keep its outcome.
    ratio : float
        The number of fresh rows for each training row.
    level : float
        The precision to be confirmed.
    confidence : float
        The confidence of the test.

    Returns
    -------
    ndarray of shape (n_rules,)
        The probabilities. Precisions on the training rows are drawn towards the level, as they are flattering.
    """
    n_fresh = np.round(n_rows * ratio)
    precision = (n_kept + N_DRAWN * level) / (n_rows + N_DRAWN)
    # The test confirms from one more than the quantile on.
    enough = binom.isf(1 - confidence, n_fresh, level)
    return np.asarray(np.where(n_fresh > 0, binom.sf(enough, n_fresh, precision), 0.0))


def choose_rules(covers: Bools, keeps: Bools, ratio: float, level: float, confidence: float) -> NDArray[np.intp]:
    """Choose rules that are worth a test each, by what they add to the rows covered.

    Parameters
    ----------
    covers, keeps : ndarray of shape (n_rules, n_rows), bool
        Which training rows each rule covers, and which of all rows keep its outcome.
    ratio : float
        The number of fresh rows for each training row.
    level : float
        The precision to be confirmed.
    confidence : float
        The confidence of the tests.

    Returns
    -------
    ndarray of int
        The positions of the rules, the one that adds most first.
    """
    n_rows = covers.sum(axis=1)
    power = power_of_test(n_rows, (covers & keeps).sum(axis=1), ratio, level, confidence)
    is_open = np.ones(covers.shape[1], dtype=bool)
    may_come = power >= MIN_POWER
    chosen: list[int] = []
    while may_come.any():
        n_new = np.where(may_come, (covers & is_open).sum(axis=1), 0)
        best = int(np.argmax(n_new * power))
        if n_new[best] < max(1.0, MIN_NEW * covers.shape[1]):
            break
        chosen.append(best)
        may_come[best] = False
        is_open &= ~covers[best]
    return np.array(chosen, dtype=np.intp)


def without_small_steps(covers: Bools) -> NDArray[np.intp]:
    """Leave out rules of a list that add too few training rows to those before them.

    Parameters
    ----------
    covers : ndarray of shape (n_rules, n_rows), bool
        Which training rows each rule covers, in the order of the list.

    Returns
    -------
    ndarray of int
        The positions of the rules that stay, in their order.
    """
    is_open = np.ones(covers.shape[1], dtype=bool)
    kept: list[int] = []
    for i, covered in enumerate(covers):
        if np.count_nonzero(covered & is_open) >= max(1.0, MIN_NEW * covers.shape[1]):
            kept.append(i)
            is_open &= ~covered
    return np.array(kept, dtype=np.intp)


def count_by_length(covers: Bools, keeps: Bools) -> tuple[Counts, Counts]:
    """Count the rows that the first rules of a list decide, and decide rightly.

    Parameters
    ----------
    covers, keeps : ndarray of shape (n_rules, n_rows), bool
        Which rows each rule covers, and which of all rows keep its outcome.

    Returns
    -------
    n_rows, n_kept : ndarray of shape (n_rules,)
        The counts for the first rule, the first two, and so on.
    """
    n_rules = len(covers)
    first, _ = first_two(np.ascontiguousarray(covers.T))
    is_decided = first < n_rules
    rows = np.flatnonzero(is_decided)
    decided = np.bincount(first[rows], minlength=n_rules)
    kept = np.bincount(first[rows][keeps[first[rows], rows]], minlength=n_rules)
    return np.cumsum(decided), np.cumsum(kept)


def surest_length(n_rows: Counts, n_kept: Counts, ratio: float, level: float, confidence: float) -> int:
    """Choose the length of list that is tested first: the one that fresh rows most probably confirm.

    Parameters
    ----------
    n_rows, n_kept : ndarray of shape (n_rules,)
        The training rows that the first rules decide, and decide rightly.
    ratio, level, confidence : float
        As in `power_of_test`.

    Returns
    -------
    int
        The length, from 1 on; among equally sure ones the longest.
    """
    power = power_of_test(n_rows, n_kept, ratio, level, confidence)
    return int(np.flatnonzero(power == power.max())[-1]) + 1
