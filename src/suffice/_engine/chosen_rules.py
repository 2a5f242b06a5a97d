"""Choosing a few rules of many, one after another: each time the rule that gains most.

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
# A rule must decide this share of the rows, and gain this much: smaller steps are not worth a line.
MIN_NEW = 0.005
MIN_GAIN = 0.0005


@dataclass(frozen=True)
class Choice:
    """The rules that were chosen, and what each of them gained.

    Parameters
    ----------
    rules : ndarray of int
        Their positions, the first choice first.
    gains : ndarray of shape (n_chosen,)
        What each added to the value of the list, all positive.
    ranks : ndarray of shape (n_chosen,)
        If two rules cover a row, the one with the greater rank decides it; if their ranks are equal, the first choice.
    """

    rules: Positions
    gains: Floats
    ranks: Floats

    def first(self, n_rules: int | None) -> Choice:
        """Return the first choices.

        Parameters
        ----------
        n_rules : int or None
            How many; None for all.

        Returns
        -------
        Choice
            The first of them.
        """
        return Choice(self.rules[:n_rules], self.gains[:n_rules], self.ranks[:n_rules])

    @property
    def in_order(self) -> Positions:
        """The rules in the order in which they decide."""
        return self.rules[np.argsort(-self.ranks, kind="stable")]

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
        return self.first(n_kept)


@dataclass(frozen=True)
class LabelGains:
    """What rules gain that predict a label.

    A rule gains, for each row that it adds, the estimated share of the rows added that have its label, minus the share
    of all rows that have it: a rule that is right as often as a guess gains nothing. The first choice decides a row.

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

    @property
    def ranks(self) -> Floats:
        """The same for all rules: no rule takes a row from another."""
        return np.zeros(len(self.labels))

    def gains(self, takes: Bools, rules: slice, values: Floats) -> Floats:
        """Compute what rules gain on the rows that they would decide.

        Parameters
        ----------
        takes : ndarray of shape (n_counted, n_rows), bool
            Which rows each of some rules would decide; at least one.
        rules : slice
            Which rules these are.
        values : ndarray of shape (n_rows,)
            What the rows are worth so far; not used.

        Returns
        -------
        ndarray of shape (n_counted,)
            The gains, as shares of all rows.
        """
        labels, n_rows = self.labels[rules], len(self.codes)
        n_new = np.count_nonzero(takes, axis=1)
        n_right = np.count_nonzero(takes & (self.codes == labels[:, None]), axis=1)
        right = np.minimum(discounted_shares(n_right, n_new), self.expected[rules])
        shares = np.bincount(self.codes, minlength=int(self.labels.max()) + 1) / n_rows
        return np.asarray(n_new * (right - shares[labels]) / n_rows)

    def values(self, rule: int, rows: Positions) -> Floats:
        """Return what rows are worth that a rule decides: nothing, as no other rule can take them.

        Parameters
        ----------
        rule : int
            The rule.
        rows : ndarray of int
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Zeros.
        """
        return np.zeros(len(rows))


@dataclass(frozen=True)
class NumberGains:
    """What rules gain that predict a number.

    A row is worth the squared error of the mean of all rows, minus the squared error of the output of the rule that
    decides it, discounted for the number of rows that the rule covers. The more precise rule decides a row, so a small
    rule may refine a large one; it gains the difference. Gains are shares of the variance of all rows.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        The outcomes.
    outputs : ndarray of shape (n_rules,)
        What each rule predicts.
    support : ndarray of shape (n_rules,)
        The number of rows that each rule covers.
    expected : ndarray of shape (n_rules,)
        The estimated precision of each rule for new rows.
    """

    y: Floats
    outputs: Floats
    support: Counts
    expected: Floats

    @property
    def ranks(self) -> Floats:
        """The more precise rule decides."""
        return self.expected

    def gains(self, takes: Bools, rules: slice, values: Floats) -> Floats:
        """Compute what rules gain on the rows that they would decide.

        Parameters
        ----------
        takes : ndarray of shape (n_counted, n_rows), bool
            Which rows each of some rules would decide.
        rules : slice
            Which rules these are.
        values : ndarray of shape (n_rows,)
            What the rows are worth so far.

        Returns
        -------
        ndarray of shape (n_counted,)
            The gains, as shares of the variance of all rows; 0 if all outcomes are equal.
        """
        mean, variance = self.y.mean(), self.y.var()
        y, outputs = self.y - mean, self.outputs[rules] - mean
        n, first, second, before = (takes @ np.column_stack([np.ones(len(y)), y, y**2, values])).T
        factor, constant = discount_of_errors(self.support[rules])
        errors = second - 2 * outputs * first + outputs**2 * n
        after = second - factor * errors - constant * variance * n
        whole = variance * len(y)
        return np.asarray((after - before) / whole if whole > 0 else np.zeros(len(n)))

    def values(self, rule: int, rows: Positions) -> Floats:
        """Compute what rows are worth that a rule decides.

        Parameters
        ----------
        rule : int
            The rule.
        rows : ndarray of int
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The squared error that is removed at each of them.
        """
        factor, constant = discount_of_errors(self.support[rule : rule + 1])
        removed = (self.y[rows] - self.y.mean()) ** 2 - factor * (self.y[rows] - self.outputs[rule]) ** 2
        return np.asarray(removed - constant * self.y.var())


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
    """Choose rules one after another: each time the one that gains most.

    Parameters
    ----------
    covers : ndarray of shape (n_rules, n_rows), bool
        Which rows each rule covers.
    measure : LabelGains or NumberGains
        What a rule gains, and which rule decides a row.
    max_rules : int or None, default=None
        The number of rules at most; None goes on as long as a rule decides and gains enough to be worth a line.

    Returns
    -------
    Choice
        The rules in the order of the choice. Among rules that gain the same, the first is chosen.
    """
    n_rules, n_rows = covers.shape
    ranks = measure.ranks
    rank_of_row, values = np.full(n_rows, -np.inf), np.zeros(n_rows)
    chosen: list[int] = []
    gained: list[float] = []
    while max_rules is None or len(chosen) < max_rules:
        gains = np.full(n_rules, -np.inf)
        for start in range(0, n_rules, BLOCK):  # block by block: the matrices of numbers stay small
            block = slice(start, start + BLOCK)
            takes = covers[block] & (ranks[block, None] > rank_of_row)
            is_enough = np.count_nonzero(takes, axis=1) >= max(1.0, MIN_NEW * n_rows)
            if is_enough.any():
                takes[~is_enough, 0] = True  # no division by 0 where the result is not used
                gains[block] = np.where(is_enough, measure.gains(takes, block, values), -np.inf)
        best = int(np.flatnonzero(gains >= gains.max(initial=-np.inf) - ROUNDING)[0]) if n_rules else 0
        if not n_rules or gains[best] < MIN_GAIN:
            break
        chosen.append(best)
        gained.append(float(gains[best]))
        rows = np.flatnonzero(covers[best] & (ranks[best] > rank_of_row))
        rank_of_row[rows] = ranks[best]
        values[rows] = measure.values(best, rows)
    return Choice(np.array(chosen, dtype=np.intp), np.array(gained, dtype=np.float64), ranks[chosen])
