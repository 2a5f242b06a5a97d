"""Choosing the lines of a list: all distinct rules that are good enough, the best few of them, or a shortened list."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.explaining.rule import Rule
from suffice.rule_lists.measures import Bools, Floats, Lines, Positions, first_two
from suffice.rule_lists.simplifying import merge_rules, without_idle_conditions

if TYPE_CHECKING:
    from suffice._table.table import Table
    from suffice.rule_lists.measures import GlobalRule, LabelGains, Labels, NumberGains, Numbers

Losses = Callable[[Positions, Positions], Floats]

# Shares are differences of rounded quotients: 0.99 - 0.98 is 0.010000000000000009.
ROUNDING = 1e-12
# Gains that differ by less, as a share of all rows, are equal: sums of numbers are rounded.
ROUNDING_OF_GAINS = 1e-9
# Gains are computed for this many rules at once, which keeps the matrices of numbers small.
BLOCK = 256
# A rule must decide this share of the rows and gain this much: smaller steps are not worth a line.
MIN_NEW = 0.005
MIN_GAIN = 0.0005


def distinct_rules(rules: Iterable[Rule | None]) -> list[Rule]:
    """Keep one rule for each set of conditions: the one with the largest SDP."""
    surest: dict[frozenset[Any], Rule] = {}
    for rule in rules:
        if rule is None:
            continue
        if not isinstance(rule, Rule):
            raise TypeError(f"`rules` must hold Rule values or None, got {rule!r}.")
        conditions = frozenset(rule.conditions)
        if conditions not in surest or rule.sdp > surest[conditions].sdp:
            surest[conditions] = rule
    return list(surest.values())


def collect_lines(
    rules: Iterable[Rule], table: Table, task: Labels | Numbers, min_support: int, min_precision: float
) -> Lines:
    """Measure rules on the training rows, leave out those that are too small or imprecise, and sort the others."""
    lines = []
    for rule in rules:
        simpler, covered = without_idle_conditions(rule, table)
        if np.count_nonzero(covered) >= min_support:
            line = task.measure(rule, task.outcomes[covered])
            if line.precision >= min_precision:
                lines.append((line, simpler, np.packbits(covered)))
    lines.sort(key=lambda entry: _order(entry[0]))
    bits = np.array([bits for _, _, bits in lines], dtype=np.uint8).reshape(len(lines), (table.n_rows + 7) // 8)
    return Lines(task, tuple(line for line, _, _ in lines), tuple(simpler for _, simpler, _ in lines), bits)


def _order(line: GlobalRule) -> tuple[bool, float, int, str]:
    """Return the sort key. No line after one without conditions would decide a row, so that one comes last."""
    # For regression the best precision is the smallest MSE; the MSE itself is rounded once less.
    quality = -line.precision if line.mse is None else line.mse
    return not line.rule.conditions, quality, -line.support, line.text


def choose_lines(lines: Lines, max_rules: int | None, max_loss: float) -> tuple[Lines, float]:
    """Choose few lines that lose little, each as simple as possible; return also how much they lose."""
    covers, task = lines.covers, lines.task
    best = choose_greedily(covers, task.gains(lines.rules))
    choice = best.within(max_loss).first(max_rules)
    places = choice.in_order
    rules, groups = merge_rules([lines.simpler[i] for i in places])
    unions = np.array([covers[places[group]].any(axis=0) for group in groups], dtype=np.bool_)
    unions = unions.reshape(len(rules), len(task.outcomes))
    measured = tuple(task.measure(rule, task.outcomes[rows]) for rule, rows in zip(rules, unions, strict=True))
    chosen = replace(lines, rules=measured, simpler=tuple(rules), packed_covers=np.packbits(unions, axis=1))
    return chosen, float(best.gains.sum() - choice.gains.sum())


def shorten_lines(lines: Lines, tolerance: float) -> Lines:
    """Leave out lines while coverage and precision on the training rows stay within a tolerance."""
    outputs, outcomes = lines.outputs, lines.task.outcomes
    losses: Losses = lambda rules, rows: lines.task.losses(outputs[rules], outcomes[rows])  # noqa: E731
    return lines.take(shorten(np.ascontiguousarray(lines.covers.T), losses, tolerance).tolist())


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
    lowest_coverage = n_covered / n_rows - tolerance - ROUNDING
    lowest_precision = 1 - loss_first.sum() / max(n_covered, 1) - tolerance - ROUNDING
    while np.count_nonzero(is_kept) > 1:  # each rule decides some row, so the others keep some rows
        # Coverage and precision without each of the rules: its rows go to the second rule that covers them.
        is_lost = (first < n_rules) & (second == n_rules)
        n_lost = np.bincount(first, weights=is_lost, minlength=n_rules + 1)[:n_rules]
        added_loss = np.bincount(first, weights=loss_second - loss_first, minlength=n_rules + 1)[:n_rules]
        n_left = np.count_nonzero(first < n_rules) - n_lost
        coverage, precision = n_left / n_rows, 1 - (loss_first.sum() + added_loss) / n_left
        is_removable = is_kept & (coverage >= lowest_coverage) & (precision >= lowest_precision)
        if not is_removable.any():
            break
        remaining = np.where(is_removable, coverage + precision, -np.inf)
        removed = n_rules - 1 - int(np.argmax(remaining[::-1]))
        is_kept[removed] = covers[:, removed] = False
        rows = np.flatnonzero((first == removed) | (second == removed))
        first[rows], second[rows] = first_two(covers[rows])
        loss_first[rows], loss_second[rows] = losses_of(first[rows], rows), losses_of(second[rows], rows)
    return np.flatnonzero(is_kept)


@dataclass(frozen=True)
class Choice:
    """The rules that were chosen, and what each of them gained."""

    rules: Positions
    gains: Floats
    ranks: Floats

    def first(self, n_rules: int | None) -> Choice:
        """Return the rules that were chosen first."""
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


def choose_greedily(covers: Bools, measure: LabelGains | NumberGains) -> Choice:
    """Choose rules one after another: each time the one that gains most."""
    n_rules, n_rows = covers.shape
    ranks = measure.ranks
    rank_of_row, values = np.full(n_rows, -np.inf), np.zeros(n_rows)
    chosen: list[int] = []
    gained: list[float] = []
    while n_rules:
        gains = np.full(n_rules, -np.inf)
        for start in range(0, n_rules, BLOCK):
            block = slice(start, start + BLOCK)
            takes = covers[block] & (ranks[block, None] > rank_of_row)
            is_enough = np.count_nonzero(takes, axis=1) >= max(1.0, MIN_NEW * n_rows)
            if is_enough.any():
                takes[~is_enough, 0] = True  # no division by 0 where the result is not used
                gains[block] = np.where(is_enough, measure.gains(takes, block, values), -np.inf)
        best = int(np.flatnonzero(gains >= gains.max() - ROUNDING_OF_GAINS)[0])
        if gains[best] < MIN_GAIN:
            break
        chosen.append(best)
        gained.append(float(gains[best]))
        rows = np.flatnonzero(covers[best] & (ranks[best] > rank_of_row))
        rank_of_row[rows] = ranks[best]
        values[rows] = measure.values(best, rows)
    return Choice(np.array(chosen, dtype=np.intp), np.array(gained, dtype=np.float64), ranks[chosen])
