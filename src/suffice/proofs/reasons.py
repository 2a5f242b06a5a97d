"""Certain reasons: smallest sets of variables that fix the decision of a model, and its nearest other decision.

Every certain reason meets every contrastive set, so that each counterexample rules out all sets that miss it.
"""

from __future__ import annotations

import functools
import itertools
import operator
import time
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.proofs.domain import Box, Point
from suffice.proofs.ensemble import Floats
from suffice.proofs.search import Answer, Decision, Prover

AxisSet = frozenset[int]
# Sets that the search for a smallest reason asks about, and parts that a smallest hitting set looks at.
MAX_CHECKS = 300
MAX_PARTS = 20_000
# Costs are counted in whole units: a changed variable, and a millionth of its range.
_CHANGED, UNIT = 10**12, 10**6


class FoundReason(NamedTuple):
    """A certain reason as axes, None without one, with what is known about it."""

    axes: AxisSet | None = None
    is_minimal: bool = False
    is_smallest: bool = False
    least_size: int = 0
    is_open: bool = False  # the time ended before it was known if there is one


class ReasonSearch:
    """The certain reasons of one row."""

    def __init__(
        self, prover: Prover, values: Floats, decision: Decision, *, excluded: AxisSet = frozenset(), max_seconds: float
    ) -> None:
        self.prover, self.domain = prover, prover.domain
        self.values = values
        self.decision = decision
        self.excluded = excluded
        self.point = self.domain.check_rows(values[None])[0]
        self.margins = prover.margins(decision)
        self.contrastive: list[AxisSet] = []
        self._end = time.monotonic() + max_seconds
        self._known: dict[AxisSet, bool | None] = {}
        self.others: list[Point] = []  # points that are surely decided otherwise
        self.effects = self._measure_effects()

    def _measure_effects(self) -> Floats:
        """Return by axis how near a change of it alone comes to another decision; note those that get there."""
        begins = self.domain.begins
        points = np.repeat(self.point[None], begins[-1], axis=0)
        for i, (begin, end) in enumerate(itertools.pairwise(begins)):
            points[begin:end, i] = np.arange(end - begin)
        reached = self.prover.excess(points, self.margins)
        nearest = np.maximum.reduceat(reached, begins[:-1])
        self.contrastive += [frozenset([i]) for i in np.flatnonzero(nearest > 0).tolist()]
        self.others += list(points[reached > 0])
        # Ties, and sums that are nearly at the level: the search tells what these are.
        self.has_unsure_changes = bool(np.any((reached <= 0) & (reached > -1e-6)))
        effects: Floats = nearest - self.prover.excess(self.point[None], self.margins)[0]
        return effects

    def _add(self, contrastive: AxisSet) -> None:
        if not any(known <= contrastive for known in self.contrastive):
            self.contrastive = [known for known in self.contrastive if not contrastive <= known] + [contrastive]

    def box(self, kept: Iterable[int]) -> Box:
        """Return the box of the points that agree with the row on some axes."""
        whole = self.domain.whole
        allowed = list(whole.allowed)
        for i in kept:
            allowed[i] = np.arange(len(allowed[i])) == self.point[i]
        return replace(whole, allowed=tuple(allowed))

    def is_certain(self, kept: AxisSet) -> bool | None:
        """Tell whether a set fixes the decision; None if the budget has ended before."""
        if any(not (known & kept) for known in self.contrastive):
            return False
        if kept not in self._known:
            answer = self._check(self.box(kept))
            if answer.point is not None:
                self._learn(answer.point)
            self._known[kept] = {"proven": True, "refuted": False}.get(answer.verdict)
        return self._known[kept]

    def _check(self, box: Box) -> Answer:
        if time.monotonic() > self._end:
            return Answer("open")
        return self.prover.check(box, self.decision, self.values, starts=self.point[None])

    def _learn(self, point: Point) -> None:
        """Make a counterexample as small as possible, and note what it changes."""
        changed = [int(i) for i in np.flatnonzero(point != self.point)]
        self._add(frozenset(changed))
        while len(changed) > 1:
            tries = np.repeat(point[None], len(changed), axis=0)
            tries[np.arange(len(changed)), changed] = self.point[changed]
            excess = self.prover.excess(tries, self.margins)
            best = int(excess.argmax())
            if excess[best] <= 0:
                break
            point = tries[best]
            changed.pop(best)
        self._add(frozenset(changed))
        if self.prover.excess(point[None], self.margins)[0] > 0:
            self.others.append(point)

    def find(self, preferred: AxisSet = frozenset(), smallest: bool = True) -> FoundReason:
        """Find a minimal reason without the excluded variables, and then a smallest one."""
        order = sorted(
            (i for i in range(len(self.domain.axes)) if i not in self.excluded),
            key=lambda i: (i in preferred, self.effects[i], -i),
        )
        # With all variables, each tree reaches the row's own leaf.
        is_certain = True if not self.excluded else self.is_certain(frozenset(order))
        if not is_certain:
            return FoundReason(is_open=is_certain is None)
        reason = self._delete(frozenset(order), order)
        least = self._enlarge_bound(reason) if smallest else 0
        if isinstance(least, frozenset):
            return FoundReason(least, True, True, len(least))
        is_minimal = len(reason) <= least or all(self.is_certain(reason - {i}) is False for i in reason)
        return FoundReason(reason, is_minimal, len(reason) <= least, least)

    def _delete(self, kept: AxisSet, order: Sequence[int]) -> AxisSet:
        """Leave out one variable after the other, first many at a time."""
        step = max(1, len(order) // 3)
        i = 0
        while i < len(order):
            part = [v for v in order[i : i + step] if v in kept]
            if self.is_certain(kept - set(part)):
                kept -= set(part)
                i += step
            elif step == 1:
                i += 1
            else:
                step = max(1, step // 2)
        return kept

    def _enlarge_bound(self, reason: AxisSet) -> int | AxisSet:
        """Return a reason that is a smallest one, or the size that no reason is below."""
        least = 0
        for _ in range(MAX_CHECKS):
            hitting = smallest_hitting_set(self.contrastive, self.excluded)
            if hitting is None:
                return least
            least = len(hitting)
            if least >= len(reason):
                return least
            is_certain = self.is_certain(hitting)
            if is_certain:
                return hitting
            if is_certain is None:
                return least
        return least

    def grow(self, reason: AxisSet) -> Box:
        """Grow the point of a reason to a box in which the decision is proven, piece by piece."""
        box = self.box(reason)
        for i in sorted(reason, key=lambda i: self.effects[i]):
            c, *others = self.domain.axes[i].columns
            if others:  # combinations are no conditions
                continue
            own, n_pieces = int(self.point[i]), len(box.allowed[i])
            n_known = n_pieces - int(np.isnan(self.domain.whole.first[c]).sum())
            parts: list[Sequence[int]] = [[p] for p in range(n_pieces)]
            if self.domain.ensemble.columns[c].labels is None and own < n_known:
                parts = [range(own + 1, n_known), range(own - 1, -1, -1), range(n_known, n_pieces)]
            for pieces in parts:
                box = self._enlarge(box, i, pieces)
        return box

    def _enlarge(self, box: Box, i: int, pieces: Sequence[int]) -> Box:
        """Add as many of the pieces as are proven, the first ones."""

        def with_first(n: int) -> Box:
            allowed = list(box.allowed)
            allowed[i] = allowed[i].copy()
            allowed[i][list(pieces[:n])] = True
            return replace(box, allowed=tuple(allowed))

        sizes = range(1, len(pieces) + 1)
        return with_first(bisect_left(sizes, True, key=lambda n: self._check(with_first(n)).verdict != "proven"))

    def nearest_other(self, fixed: AxisSet = frozenset()) -> tuple[Floats, int, bool] | None:
        """Find the cheapest point decided otherwise: its values, the changes surely needed, and if it is exact."""
        box = self.box(fixed)
        if not self.others:
            self.is_certain(fixed)
        begin = self.domain.begins[:-1]
        known = [p for p in self.others if all(p[i] == self.point[i] for i in fixed)]
        best = min(known, key=lambda point: self.cost[begin + point].sum(), default=None)
        most = _CHANGED * (len(begin) + 1) if best is None else int(self.cost[begin + best].sum()) - 1
        if best is not None and most < 2 * _CHANGED and not self.has_unsure_changes:
            # All changes of one variable were looked at.
            return self.domain.values(box, best, self.values), 1, True
        is_exact, least = True, most + 1
        for margin in self.margins:
            found = self.prover.cheapest(box, margin, self.cost, most)
            is_exact &= found.is_complete
            least = min(least, found.least_cost)
            if found.point is not None:
                best = found.point
                most = int(self.cost[begin + best].sum()) - 1
        if best is None:
            return None if is_exact else (self.values, least // _CHANGED, False)
        return self.domain.values(box, best, self.values), max(least // _CHANGED, 1), is_exact

    @cached_property
    def cost(self) -> NDArray[np.int64]:
        """What each piece costs: a change, and the distance to its nearest value."""
        costs: list[NDArray[np.int64]] = []
        for own, axis in zip(self.point, self.domain.axes, strict=True):
            rows = np.repeat(self.values[None], axis.n_pieces, axis=0)
            for c in axis.columns:
                first, last, value = self.domain.whole.first[c], self.domain.whole.last[c], self.values[c]
                rows[:, c] = first if np.isnan(value) else np.clip(value, first, last)
            costs.append(_CHANGED + np.rint(self.domain.distances(self.values, rows) * UNIT).astype(np.int64))
            costs[-1][own] = 0
        return np.concatenate(costs)


def smallest_hitting_set(sets: Sequence[AxisSet], excluded: AxisSet) -> AxisSet | None:
    """Return a smallest set that meets all given ones; None if the search takes too long."""
    # Sets as bits: the smallest reasons of a row need thousands of these steps.
    remaining = [sum(1 << v for v in s - excluded) for s in sets]
    best = functools.reduce(operator.or_, remaining, 0)
    stack = [(0, remaining)]  # chosen, and the sets that are not met
    for _ in range(MAX_PARTS):
        if not stack:
            return frozenset(v for v in range(best.bit_length()) if best >> v & 1)
        chosen, left = stack.pop()
        if not left:
            best = min(best, chosen, key=int.bit_count)
        elif all(left) and chosen.bit_count() + _disjoint(left) < best.bit_count():
            shortest = min(left, key=int.bit_count)
            members = [1 << v for v in range(shortest.bit_length()) if shortest >> v & 1]
            own = max(members, key=lambda member: sum(s & member > 0 for s in left))  # the first, if several
            stack.append((chosen, [s & ~own for s in left]))
            stack.append((chosen | own, [s for s in left if not s & own]))
    return None


def _disjoint(sets: Sequence[int]) -> int:
    """Return how many of the sets do not meet each other, found greedily: each needs a member of its own."""
    met = count = 0
    for s in sorted(sets, key=int.bit_count):
        if not met & s:
            met |= s
            count += 1
    return count
