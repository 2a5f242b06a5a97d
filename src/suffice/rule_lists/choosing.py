"""Choosing the lines of a list: all distinct rules that are good enough, or a sum of few of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._table.table import Table
from suffice.explaining.rule import Rule
from suffice.rule_lists.candidates import shorter_rules, split_rules
from suffice.rule_lists.measures import Additions, Bools, Counts, Floats, GlobalRule, Labels, Lines, Numbers, Positions

# Gains that differ by less, as a share of the squared error, are equal: sums are rounded.
ROUNDING_OF_GAINS = 1e-9
# Products are computed for this many rules at once, which keeps the matrices of numbers small.
BLOCK = 256
# The constants of a sum were chosen on eight tables: a ridge of 5 or 20 rows, no cost or more of a second condition,
# and twice the least gain change the mean skill by less than 0.01 (docs/evidence/rule_lists.md).
RIDGE = 10.0  # additions are shrunk as if the rule covered this many more rows without effect
COST = 0.1  # each condition after the first must gain this much more
MIN_SHARE = 0.005  # a rule covers at least this share of the rows, and leaves out as many
MAX_CANDIDATES = 3000
MAX_ROWS = 20_000  # rows that choose; all rows determine the additions
MAX_SUMMED = 100  # rules of a sum without a limit


def distinct_rules(rules: Iterable[Rule | None]) -> list[Rule]:
    """Keep one rule for each set of conditions: the one with the largest SDP."""
    surest: dict[frozenset[Any], Rule] = {}
    for rule in rules:
        if rule is None:
            continue
        if not isinstance(rule, Rule):
            raise TypeError(f"`rules` must hold Rule values or None, got {rule!r}.")
        conditions = frozenset(rule.conditions)
        if conditions not in surest or (rule.sdp or 0.0) > (surest[conditions].sdp or 0.0):
            surest[conditions] = rule
    return list(surest.values())


def collect_lines(
    rules: Iterable[Rule], table: Table, task: Labels | Numbers, min_support: int, min_precision: float
) -> Lines:
    """Measure rules on the training rows, leave out those that are too small or imprecise, and sort the others."""
    known = list(rules)
    ends, places = split_rules(known, table)
    lines = []
    for rule, of_rule in zip(known, places, strict=True):
        bits = ends.covers_of(of_rule)
        covered = np.unpackbits(bits, count=table.n_rows).astype(np.bool_)
        if np.count_nonzero(covered) >= min_support:
            line = task.measure(rule, task.outcomes[covered])
            if line.precision >= min_precision:
                lines.append((line, of_rule, bits))
    lines.sort(key=lambda entry: _order(entry[0]))
    packed = stack_bits([bits for _, _, bits in lines], table.n_rows)
    return Lines(task, tuple(line for line, _, _ in lines), packed, ends, tuple(of_rule for _, of_rule, _ in lines))


def _order(line: GlobalRule) -> tuple[bool, float, int, str]:
    """Return the sort key. No line after one without conditions would decide a row, so that one comes last."""
    # For regression the best precision is the smallest MSE; the MSE itself is rounded once less.
    quality = -line.precision if line.mse is None else line.mse
    return not line.rule.conditions, quality, -line.support, line.text


def choose_lines(
    lines: Lines, max_rules: int | None, max_loss: float, min_support: int, min_precision: float
) -> tuple[Lines, float]:
    """Choose few rules whose sum predicts well; return also how much of the squared error max_loss costs."""
    task = lines.task
    rows = np.arange(len(task.outcomes))
    if len(rows) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(rows))[:MAX_ROWS])
    candidates = Candidates.of(lines, rows, min_support, min_precision)
    choice = candidates.choose(max_rules).within(max_loss)
    rules = []
    for i in choice.rules:
        local, conditions = lines.rules[candidates.sources[i]].rule, lines.ends.conditions_of(candidates.ends[i])
        rules.append(
            replace(
                local, conditions=conditions, precision=None, n_kept=None, optimal=False, bound=math.inf,
                everywhere=False, certificate=None,
            )
        )  # fmt: skip
    places = tuple(candidates.ends[i] for i in choice.rules)
    return sum_lines(lines, rules, places, candidates.aims[choice.rules], leaves_out=True), choice.loss


def sum_lines(
    lines: Lines, rules: Sequence[Rule], places: tuple[tuple[int, ...], ...], aims: Floats, *, leaves_out: bool
) -> Lines:
    """Make a sum of rules, given the places of their ends; those that do not raise what they are for may go."""
    task = lines.task
    packed = stack_bits([lines.ends.covers_of(of_rule) for of_rule in places], len(task.outcomes))
    covers = np.unpackbits(packed, axis=1, count=len(task.outcomes)).astype(np.bool_)
    kept, adds = _fit_additions(covers, task, aims, leaves_out)
    base = task.round_additions(task.targets.mean(axis=0) - adds.T @ covers[kept].mean(axis=1))
    left = task.targets[~covers[kept].any(axis=0)]
    otherwise = task.round_additions((left.sum(axis=0) + RIDGE * base) / (len(left) + RIDGE))
    measured = tuple(
        task.measure_addition(rules[i], task.outcomes[covers[i]], aims[i], added)
        for i, added in zip(kept, adds, strict=True)
    )
    summed = replace(lines, rules=measured, places=tuple(places[i] for i in kept), packed_covers=packed[kept])
    return replace(summed, additions=Additions(base, adds, otherwise))


def _fit_additions(
    covers: Bools, task: Labels | Numbers, aims: Floats, leaves_out: bool = True
) -> tuple[list[int], Floats]:
    """Compute what each rule adds; rules that would not raise what they are for may be left out."""
    kept = list(range(len(covers)))
    centred = covers - covers.mean(axis=1, keepdims=True)
    while kept:
        z = centred[kept]
        adds = task.round_additions(np.linalg.solve(z @ z.T + RIDGE * np.eye(len(kept)), z @ task.targets))
        raised = (adds * aims[kept]).sum(axis=1)
        if raised.min() > 0 or not leaves_out:
            return kept, adds
        del kept[int(np.argmin(raised))]
    return kept, np.zeros((0, task.targets.shape[1]))


@dataclass(frozen=True)
class Choice:
    """The candidates that were chosen, in their order, and by which share of the squared error each lowers it."""

    rules: Positions
    gains: Floats
    loss: float = 0.0

    def within(self, max_loss: float) -> Choice:
        """Leave out the last rules while the squared error grows little."""
        lost = np.cumsum(self.gains[::-1])[::-1]  # what is lost without this rule and all after it
        n_kept = max(int(np.count_nonzero(lost > max_loss + ROUNDING_OF_GAINS)), min(1, len(lost)))
        return Choice(self.rules[:n_kept], self.gains[:n_kept], float(self.gains[n_kept:].sum()))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rules that may become part of a sum."""

    targets: Floats  # (n_rows, n_targets), each with mean 0
    packed_covers: NDArray[np.uint8]  # (n_rules, n_bytes)
    n_covered: Counts
    n_conditions: Counts
    products: Floats  # (n_rules, n_targets): the sums of the targets of the covered rows
    aims: Floats  # (n_rules, n_targets): the class that a rule is for, or whether it is for more (1) or less (-1)
    ends: list[tuple[int, ...]]
    sources: list[int]

    @classmethod
    def of(cls, lines: Lines, rows: Positions, min_support: int, min_precision: float) -> Candidates:
        """Make the candidates of the rules of a list, measured on some of the training rows."""
        task, n_all = lines.task, len(lines.task.outcomes)
        bits = [np.packbits(np.unpackbits(of_end, count=n_all)[rows]) for of_end in lines.ends.packed_covers]
        shorter = list(shorter_rules(replace(lines.ends, packed_covers=stack_bits(bits, len(rows))), lines.places))
        packed = stack_bits([of_rule for _, _, of_rule in shorter], len(rows))
        targets = task.targets[rows] - task.targets[rows].mean(axis=0)
        squares = (targets**2).sum(axis=1)
        sums = _multiply(packed, np.column_stack([np.ones(len(rows)), squares, targets]))
        n_covered, products = sums[:, 0], sums[:, 2:]
        aims = task.aims(products)
        means = products / np.maximum(n_covered, 1)[:, None]
        precision = task.precisions(aims, means, sums[:, 1] / np.maximum(n_covered, 1))
        n_conditions = np.array([len({lines.ends.conditions[end].name for end in ends}) for _, ends, _ in shorter])
        least = max(min_support / n_all, MIN_SHARE) * len(rows)
        is_usable = (n_covered >= least) & (n_covered <= len(rows) - least)
        is_usable &= precision >= min_precision
        alone = (products**2).sum(axis=1) / (_free(n_covered, len(rows)) + RIDGE) / (1 + COST * (n_conditions - 1))
        best = np.argsort(-np.where(is_usable, alone, -1.0), kind="stable")[: min(MAX_CANDIDATES, is_usable.sum())]
        kept = np.sort(best)
        return cls(
            targets=targets,
            packed_covers=packed[kept],
            n_covered=n_covered[kept].astype(np.int64),
            n_conditions=n_conditions[kept],
            products=products[kept],
            aims=aims[kept],
            ends=[shorter[i][1] for i in kept],
            sources=[shorter[i][0] for i in kept],
        )

    def choose(self, max_rules: int | None) -> Choice:
        """Choose candidates one after another: each time the one that lowers the objective most."""
        n_rows, n_rules = len(self.targets), len(self.ends)
        shares, products = self.n_covered / n_rows, self.products.copy()
        free = _free(self.n_covered, n_rows)  # the squares of the candidates, without what chosen ones explain
        whole = objective = float((self.targets**2).sum())
        directions = np.zeros((n_rows, 0))
        chosen: list[int] = []
        gains: list[float] = []
        limit = min(MAX_SUMMED if max_rules is None else max_rules, n_rules)
        while len(chosen) < limit:
            falls = (products**2).sum(axis=1) / (free + RIDGE)
            gained = np.where((products * self.aims).sum(axis=1) > 0, falls, 0.0) / (1 + COST * (self.n_conditions - 1))
            gained[chosen] = 0.0
            best = int(np.flatnonzero(gained >= gained.max() - ROUNDING_OF_GAINS * whole)[0])
            if gained[best] <= ROUNDING_OF_GAINS * whole or falls[best] <= objective * math.log(n_rules) / n_rows:
                break
            # With M = I - Z (Z'Z + r I)^-1 Z' of the chosen rules, the new column z changes M by -dd', where d is
            # Mz / sqrt(r + z'Mz): see docs/method.md, 6.2.
            root = math.sqrt(free[best] + RIDGE)
            z = np.unpackbits(self.packed_covers[best], count=n_rows) - shares[best]
            direction = (z - directions @ (directions.T @ z)) / root
            directions = np.column_stack([directions, direction])
            along = _multiply(self.packed_covers, direction[:, None])[:, 0] - shares * direction.sum()
            products -= np.outer(along, products[best] / root)
            free = np.maximum(free - along**2, 0.0)
            objective -= falls[best]
            chosen.append(best)
            gains.append(float(falls[best]) / whole)
        return Choice(np.array(chosen, dtype=np.intp), np.array(gains, dtype=np.float64))


def stack_bits(bits: list[NDArray[np.uint8]], n_rows: int) -> NDArray[np.uint8]:
    """Put the bits of rows below each other, also those of no rule."""
    return np.array(bits, dtype=np.uint8).reshape(len(bits), (n_rows + 7) // 8)


def _free(n_covered: Floats | Counts, n_rows: int) -> Floats:
    """Compute the sum of squares of an indicator minus its mean."""
    return np.asarray(n_covered - n_covered**2 / n_rows, dtype=np.float64)


def _multiply(packed: NDArray[np.uint8], matrix: Floats) -> Floats:
    """Multiply the indicators of the covered rows with a matrix, rules in blocks."""
    parts = [np.zeros((0, matrix.shape[1]))]
    for start in range(0, len(packed), BLOCK):
        covers = np.unpackbits(packed[start : start + BLOCK], axis=1, count=len(matrix))
        parts.append(covers.astype(np.float64) @ matrix)
    return np.concatenate(parts)
