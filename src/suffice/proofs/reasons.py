"""Certain reasons: smallest sets of variables that fix the decision of a model, and its nearest other decision.

Every certain reason meets every contrastive set, so that each counterexample rules out all sets that miss it.
"""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.proofs.domain import Axis, Box, Domain, Point
from suffice.proofs.ensemble import Floats
from suffice.proofs.search import Decision, Prover

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
        self.prover = prover
        self.values = values
        self.decision = decision
        self.excluded = excluded
        self.point = self.domain.check_rows(values[None])[0]
        self.whole = self.domain.whole()
        self.margins = prover.margins(decision)
        self.contrastive: list[AxisSet] = []
        self.n_checks = 0
        self.n_open = 0
        self._end = time.monotonic() + max_seconds
        self._known: dict[AxisSet, bool | None] = {}
        self.others: list[Point] = []  # points that are surely decided otherwise
        self.effects = self._measure_effects()

    @property
    def domain(self) -> Domain:
        """The domain of the proofs."""
        return self.prover.domain

    def _measure_effects(self) -> Floats:
        """Return by axis how near a change of it alone comes to another decision; note those that get there."""
        axes = self.domain.axes
        points = np.repeat(self.point[None], sum(axis.n_pieces for axis in axes), axis=0)
        begin = self.domain.begins
        for i, axis in enumerate(axes):
            points[begin[i] : begin[i + 1], i] = np.arange(axis.n_pieces)
        reached = self.prover.excess(points, self.margins)
        own = self.prover.excess(self.point[None], self.margins)[0]
        effects: Floats = np.array([reached[begin[i] : begin[i + 1]].max() for i in range(len(axes))]) - own
        for i in range(len(axes)):
            if reached[begin[i] : begin[i + 1]].max() > 0:
                self._add(frozenset([i]))
        self.others = list(points[reached > 0])
        # Ties, and sums that are nearly at the level: the search tells what these are.
        self.has_unsure_changes = bool(np.any((reached <= 0) & (reached > -1e-6)))
        return effects

    def _add(self, contrastive: AxisSet) -> None:
        if not any(known <= contrastive for known in self.contrastive):
            self.contrastive = [known for known in self.contrastive if not contrastive <= known] + [contrastive]

    def box(self, kept: Iterable[int]) -> Box:
        """Return the box of the points that agree with the row on some axes."""
        allowed = list(self.whole.allowed)
        for i in kept:
            allowed[i] = np.arange(len(allowed[i])) == self.point[i]
        return Box(tuple(allowed), self.whole.first, self.whole.last)

    def is_certain(self, kept: AxisSet) -> bool | None:
        """Tell whether a set fixes the decision; None if the budget has ended before."""
        if any(not (known & kept) for known in self.contrastive):
            return False
        if kept not in self._known:
            self._known[kept] = self._ask(kept)
        return self._known[kept]

    def _ask(self, kept: AxisSet) -> bool | None:
        if self.is_late:
            self.n_open += 1
            return None
        self.n_checks += 1
        answer = self.prover.check(self.box(kept), self.decision, self.values, starts=self.point[None])
        if answer.point is not None:
            self._learn(answer.point)
            return False
        self.n_open += answer.verdict == "open"
        return True if answer.verdict == "proven" else None

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

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._end

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
            if len(self.domain.axes[i].columns) == 1:  # combinations are no conditions
                box = self._grow_axis(box, i)
        return box

    def _grow_axis(self, box: Box, i: int) -> Box:
        axis, own = self.domain.axes[i], int(self.point[i])
        n_known = int(np.count_nonzero(~np.isnan(axis.first[:, 0])))
        if axis.grids[0] is None or own >= n_known:  # labels, or missing: one piece at a time
            for p in range(axis.n_pieces):
                larger = _allow(box, i, [p])
                box = larger if self._keeps(larger) else box
            return box
        for ends in (range(own + 1, n_known), range(own - 1, -1, -1)):
            low, high = 0, len(ends)  # so many pieces are proven, and not more than these
            while low < high:
                middle = (low + high + 1) // 2
                larger = _allow(box, i, ends[:middle])
                if self._keeps(larger):
                    low = middle
                else:
                    high = middle - 1
            box = _allow(box, i, ends[:low])
        larger = _allow(box, i, range(n_known, axis.n_pieces))
        return larger if self._keeps(larger) else box

    def _keeps(self, box: Box) -> bool:
        if self.is_late:
            return False
        return self.prover.check(box, self.decision, self.values, starts=self.point[None]).verdict == "proven"

    def nearest_other(self, fixed: AxisSet = frozenset()) -> tuple[Floats, int, bool] | None:
        """Find the cheapest point decided otherwise: its values, the changes surely needed, and if it is exact."""
        box = self.box(fixed)
        if not self.others:
            self._ask(fixed)
        begin = self.domain.begins[:-1]
        known = [p for p in self.others if all(p[i] == self.point[i] for i in fixed)]
        best = min(known, key=lambda point: self.cost[begin + point].sum(), default=None)
        most = _CHANGED * (len(begin) + 1) if best is None else int(self.cost[begin + best].sum()) - 1
        if (
            best is not None and most < 2 * _CHANGED and not self.has_unsure_changes
        ):  # all changes of one variable were looked at
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
        return np.concatenate([self._cost(axis, int(self.point[i])) for i, axis in enumerate(self.domain.axes)])

    def _cost(self, axis: Axis, own: int) -> NDArray[np.int64]:
        columns = list(axis.columns)
        near = np.clip(self.values[columns], axis.first, axis.last)
        near = np.where(np.isnan(axis.first), np.nan, np.where(np.isnan(near), axis.first, near))
        rows = np.repeat(self.values[None], axis.n_pieces, axis=0)
        rows[:, columns] = near
        distance = self.domain.gaps(self.values, rows).sum(axis=1)
        cost: NDArray[np.int64] = _CHANGED + np.rint(distance * UNIT).astype(np.int64)
        cost[own] = 0
        return cost


def _allow(box: Box, i: int, pieces: Iterable[int]) -> Box:
    allowed = list(box.allowed)
    allowed[i] = allowed[i].copy()
    allowed[i][list(pieces)] = True
    return Box(tuple(allowed), box.first, box.last)


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
