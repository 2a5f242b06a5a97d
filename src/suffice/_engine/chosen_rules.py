"""Choosing a few rules of many, one after another: each time the rule that gains most on the rows still open.

Gains are estimates for new rows. The share of right rows, and the mean squared error, are discounted for the number of
rows behind them, so that a small rule that is right by chance does not win against a large one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from suffice._engine.bounds import discounted_shares
from suffice._engine.rule_list import Bools, Floats, Positions

Counts = NDArray[np.int64]

# The quantile of the variance that stands for it, as in `discounted_share`.
LEVEL = 0.1
# Gains that differ by less, as a share of all rows, are equal: sums of numbers are rounded.
ROUNDING = 1e-9
BLOCK = 256
# A rule must add this share of the rows to those that chosen rules cover: smaller steps are not worth a line.
MIN_NEW = 0.005


@dataclass(frozen=True)
class Choice:
    """The rules that were chosen, and what each of them gained.

    Parameters
    ----------
    rules : ndarray of int
        Their positions, the first choice first.
    gains : ndarray of shape (n_chosen,)
        What each added to the value of the list, all positive.
    """

    rules: Positions
    gains: Floats

    def within(self, max_loss: float) -> Choice:
        """Leave out the last rules while the value of the list loses little.

        Parameters
        ----------
        max_loss : float
            How much of the value may be lost.

        Returns
        -------
        Choice
            The first rules; at least one, if there is one.
        """
        lost = np.cumsum(self.gains[::-1])[::-1]  # what is lost without this rule and all after it
        n_kept = max(int(np.count_nonzero(lost > max_loss + ROUNDING)), min(1, len(lost)))
        return Choice(self.rules[:n_kept], self.gains[:n_kept])


@dataclass(frozen=True)
class LabelGains:
    """What rules gain that predict a label.

    A rule gains, for each row that it adds, the estimated share of the rows added that have its label, minus the share
    of all rows that have it: a rule that is right as often as a guess gains nothing.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,), int
        The class of each row.
    labels : ndarray of shape (n_rules,), int
        The class that each rule predicts.
    expected : ndarray of shape (n_rules,)
        The estimated share of new rows in each rule that have its label.
    """

    codes: Counts
    labels: Counts
    expected: Floats

    def totals(self, covers: Bools, rows: Positions) -> Floats:
        """Count the rows in each rule that have its label.

        Parameters
        ----------
        covers : ndarray of shape (n_rules, n_counted), bool
            Which of the rows counted each rule covers.
        rows : ndarray of int
            The rows counted.

        Returns
        -------
        ndarray of shape (n_rules,)
            The counts.
        """
        is_right = self.codes[rows] == self.labels[:, None]
        return np.asarray(np.count_nonzero(covers & is_right, axis=1), dtype=np.float64)

    def gains(self, n_new: Counts, totals: Floats) -> Floats:
        """Compute what each rule gains on the rows that it adds.

        Parameters
        ----------
        n_new : ndarray of shape (n_rules,)
            The number of rows that each rule adds, at least 1.
        totals : ndarray of shape (n_rules,)
            How many of them have its label.

        Returns
        -------
        ndarray of shape (n_rules,)
            The gains, as shares of all rows.
        """
        shares = np.bincount(self.codes, minlength=int(self.labels.max(initial=0)) + 1) / len(self.codes)
        right = np.minimum(discounted_shares(totals, n_new), self.expected)
        return np.asarray(n_new * (right - shares[self.labels]) / len(self.codes))


@dataclass(frozen=True)
class NumberGains:
    """What rules gain that predict a number.

    A rule gains the squared error of the mean of all rows, minus the squared error of its own output on the rows that
    it adds, discounted for the number of rows that it covers. Gains are shares of the variance of all rows.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        The outcomes.
    outputs : ndarray of shape (n_rules,)
        What each rule predicts.
    support : ndarray of shape (n_rules,)
        The number of rows that each rule covers.
    """

    y: Floats
    outputs: Floats
    support: Counts

    def totals(self, covers: Bools, rows: Positions) -> Floats:
        """Sum what each rule gains on rows.

        Parameters
        ----------
        covers : ndarray of shape (n_rules, n_counted), bool
            Which of the rows counted each rule covers.
        rows : ndarray of int
            The rows counted.

        Returns
        -------
        ndarray of shape (n_rules,)
            The sums.
        """
        mean, variance = self.y.mean(), self.y.var()
        y, outputs = self.y[rows] - mean, self.outputs - mean
        powers = np.column_stack([np.ones(len(rows)), y, y**2])
        # Block by block: a large matrix of booleans is not turned into numbers at once.
        blocks = [covers[i : i + BLOCK].astype(np.float64) @ powers for i in range(0, len(covers), BLOCK)]
        n, first, second = np.concatenate([np.empty((0, 3)), *blocks]).T
        factor, constant = discount_of_errors(self.support)
        errors = second - 2 * outputs * first + outputs**2 * n
        return np.asarray(second - factor * errors - constant * variance * n)

    def gains(self, n_new: Counts, totals: Floats) -> Floats:
        """Return what each rule gains on the rows that it adds.

        Parameters
        ----------
        n_new : ndarray of shape (n_rules,)
            The number of rows that each rule adds.
        totals : ndarray of shape (n_rules,)
            The sums over these rows.

        Returns
        -------
        ndarray of shape (n_rules,)
            The gains, as shares of the variance of all rows; 0 if all outcomes are equal.
        """
        whole = self.y.var() * len(self.y)
        return totals / whole if whole > 0 else np.zeros(len(n_new))


def discount_of_errors(support: Counts) -> tuple[Floats, Floats]:
    """Estimate for new rows a mean squared error that was measured on the rows that the mean was taken of.

    Parameters
    ----------
    support : ndarray of shape (n_rules,)
        The number of rows, at least 1.

    Returns
    -------
    factor, constant : ndarray of shape (n_rules,)
        The estimate is ``factor * mse + constant * variance``, with the variance of all rows. It is the upper quantile
        of the posterior of the variance, whose prior counts as one row with the variance of all rows, plus the error
        of the mean itself.
    """
    n = np.asarray(support, dtype=np.float64)
    # chdtri takes the upper tail: the lower quantile of the chi-square law gives a large variance.
    scale = (1 + 1 / n) / chdtri(n, 1 - LEVEL)
    return n * scale, scale


def choose_greedily(covers: Bools, measure: LabelGains | NumberGains, max_rules: int | None = None) -> Choice:
    """Choose rules one after another: each time the one that gains most on the rows that no chosen rule covers.

    Parameters
    ----------
    covers : ndarray of shape (n_rules, n_rows), bool
        Which rows each rule covers.
    measure : LabelGains or NumberGains
        What a rule gains.
    max_rules : int or None, default=None
        The number of rules at most; None goes on as long as a rule gains something and adds half a percent of the rows.

    Returns
    -------
    Choice
        The rules in the order of the choice. Among rules that gain the same, the first is chosen.
    """
    n_rules, n_rows = covers.shape
    n_new = np.count_nonzero(covers, axis=1)
    totals = measure.totals(covers, np.arange(n_rows))
    is_open = np.ones(n_rows, dtype=bool)
    may_come = np.ones(n_rules, dtype=bool)
    chosen: list[int] = []
    gained: list[float] = []
    while max_rules is None or len(chosen) < max_rules:
        may_come &= n_new >= max(1.0, MIN_NEW * n_rows)
        candidates = np.flatnonzero(may_come)
        if not len(candidates):
            break
        gains = np.full(n_rules, -np.inf)
        gains[candidates] = measure.gains(np.maximum(n_new, 1), totals)[candidates]
        best = int(np.flatnonzero(gains >= gains.max() - ROUNDING)[0])
        if gains[best] <= ROUNDING:
            break
        chosen.append(best)
        gained.append(float(gains[best]))
        may_come[best] = False
        closed = np.flatnonzero(is_open & covers[best])
        is_open[closed] = False
        of_closed = covers[:, closed]
        n_new -= np.count_nonzero(of_closed, axis=1)
        totals -= measure.totals(of_closed, closed)
    return Choice(np.array(chosen, dtype=np.intp), np.array(gained, dtype=np.float64))
