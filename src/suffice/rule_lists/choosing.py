"""Lists of rules as arrays: which rule decides a row, how good the first rules are together, and a shorter list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from suffice._forest.bounds import discounted_shares

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Positions = NDArray[np.intp]
Losses = Callable[[Positions, Positions], Floats]

# Shares are differences of rounded quotients: 0.99 - 0.98 is 0.010000000000000009.
ROUNDING = 1e-12


def first_two(covers: Bools) -> tuple[Positions, Positions]:
    """Find the first and the second True of each row."""
    n_rows, n_columns = covers.shape
    padded = np.ones((n_rows, n_columns + 2), dtype=np.bool_)
    padded[:, :n_columns] = covers
    first = np.argmax(padded, axis=1)
    padded[np.arange(n_rows), first] = False
    return np.minimum(first, n_columns), np.minimum(np.argmax(padded, axis=1), n_columns)


def of_first_rules(first: Positions, losses: Floats, n_rules: int) -> tuple[Floats, Floats]:
    """Compute coverage and precision of the first rule, of the first two together, and so on."""
    n_decided = np.cumsum(np.bincount(first, minlength=n_rules + 1)[:n_rules])
    lost = np.cumsum(np.bincount(first, weights=losses, minlength=n_rules + 1)[:n_rules])
    some = n_decided > 0
    return n_decided[some] / len(first), 1 - lost[some] / n_decided[some]


def shorten(covers: Bools, losses: Losses, tolerance: float) -> Positions:
    """Leave out rules while coverage and precision stay within a tolerance."""
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


Counts = NDArray[np.int64]

# The quantile of the variance that stands for it, as in `discounted_share`.
LEVEL = 0.1
# Gains that differ by less, as a share of all rows, are equal: sums of numbers are rounded.
ROUNDING_OF_GAINS = 1e-9
BLOCK = 256
# A rule must decide this share of the rows, and gain this much: smaller steps are not worth a line.
MIN_NEW = 0.005
MIN_GAIN = 0.0005


@dataclass(frozen=True)
class Choice:
    """The rules that were chosen, and what each of them gained."""

    rules: Positions
    gains: Floats
    ranks: Floats

    def first(self, n_rules: int | None) -> Choice:
        """Return the first choices."""
        return Choice(self.rules[:n_rules], self.gains[:n_rules], self.ranks[:n_rules])

    @property
    def in_order(self) -> Positions:
        """The rules in the order in which they decide."""
        return self.rules[np.argsort(-self.ranks, kind="stable")]

    def within(self, max_loss: float) -> Choice:
        """Leave out the last rules while the value of the list loses little."""
        lost = np.cumsum(self.gains[::-1])[::-1]  # what is lost without this rule and all after it
        n_kept = max(int(np.count_nonzero(lost > max_loss + ROUNDING_OF_GAINS)), min(1, len(lost)))
        return self.first(n_kept)


@dataclass(frozen=True)
class LabelGains:
    """What rules gain that predict a label.

    A rule gains, for each row that it adds, the estimated share of the rows added that have its label, minus the share
    of all rows that have it: a rule that is right as often as a guess gains nothing. The first choice decides a row.
    """

    codes: Counts
    labels: Counts
    expected: Floats

    @property
    def ranks(self) -> Floats:
        """The same for all rules: no rule takes a row from another."""
        return np.zeros(len(self.labels))

    def gains(self, takes: Bools, rules: slice, values: Floats) -> Floats:
        """Compute what rules gain on the rows that they would decide."""
        labels, n_rows = self.labels[rules], len(self.codes)
        n_new = np.count_nonzero(takes, axis=1)
        n_right = np.count_nonzero(takes & (self.codes == labels[:, None]), axis=1)
        right = np.minimum(discounted_shares(n_right, n_new), self.expected[rules])
        shares = np.bincount(self.codes, minlength=int(self.labels.max()) + 1) / n_rows
        return np.asarray(n_new * (right - shares[labels]) / n_rows)

    def values(self, rule: int, rows: Positions) -> Floats:
        """Return what rows are worth that a rule decides: nothing, as no other rule can take them."""
        return np.zeros(len(rows))


@dataclass(frozen=True)
class NumberGains:
    """What rules gain that predict a number.

    A row is worth the squared error of the mean of all rows, minus the squared error of the output of the rule that
    decides it, discounted for the number of rows that the rule covers. The more precise rule decides a row, so a small
    rule may refine a large one; it gains the difference. Gains are shares of the variance of all rows.
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
        """Compute what rules gain on the rows that they would decide."""
        mean, variance = self.y.mean(), self.y.var()
        y, outputs = self.y - mean, self.outputs[rules] - mean
        n, first, second, before = (takes @ np.column_stack([np.ones(len(y)), y, y**2, values])).T
        factor, constant = discount_of_errors(self.support[rules])
        errors = second - 2 * outputs * first + outputs**2 * n
        after = second - factor * errors - constant * variance * n
        whole = variance * len(y)
        return np.asarray((after - before) / whole if whole > 0 else np.zeros(len(n)))

    def values(self, rule: int, rows: Positions) -> Floats:
        """Compute what rows are worth that a rule decides."""
        factor, constant = discount_of_errors(self.support[rule : rule + 1])
        removed = (self.y[rows] - self.y.mean()) ** 2 - factor * (self.y[rows] - self.outputs[rule]) ** 2
        return np.asarray(removed - constant * self.y.var())


def discount_of_errors(support: Counts) -> tuple[Floats, Floats]:
    """Estimate for new rows a mean squared error that was measured on the rows that the mean was taken of."""
    n = np.asarray(support, dtype=np.float64)
    # chdtri takes the upper tail: the lower quantile of the chi-square law gives a large variance.
    scale = (1 + 1 / n) / chdtri(n, 1 - LEVEL)
    return n * scale, scale


def choose_greedily(covers: Bools, measure: LabelGains | NumberGains, max_rules: int | None = None) -> Choice:
    """Choose rules one after another: each time the one that gains most."""
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
        best = int(np.flatnonzero(gains >= gains.max(initial=-np.inf) - ROUNDING_OF_GAINS)[0]) if n_rules else 0
        if not n_rules or gains[best] < MIN_GAIN:
            break
        chosen.append(best)
        gained.append(float(gains[best]))
        rows = np.flatnonzero(covers[best] & (ranks[best] > rank_of_row))
        rank_of_row[rows] = ranks[best]
        values[rows] = measure.values(best, rows)
    return Choice(np.array(chosen, dtype=np.intp), np.array(gained, dtype=np.float64), ranks[chosen])
