"""Questions to the core: is a point of a box decided otherwise, how large can an output be, what is the nearest one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice.explaining.proof import Verdict
from suffice.proofs.domain import Box, Domain, Point
from suffice.proofs.ensemble import LEAF, Ensemble, Floats, invert_link

Decision = Any
"""What is to be kept: the position of a class, or an interval of predicted numbers."""
_ANY, _LARGEST, _CHEAPEST = range(3)
_NO_COST = np.empty(0, dtype=np.int64)


class Budget(NamedTuple):
    """How many boxes a search may look at, and how long it may take."""

    max_nodes: int = 20_000
    max_seconds: float = 10.0


class Margin(NamedTuple):
    """A weighted sum of outputs that changes the decision if it reaches a level."""

    weights: Floats
    level: float
    is_strict: bool
    rounding: float


@dataclass(frozen=True)
class Found:
    """What a search says: whether a point reaches the level, and bounds."""

    is_complete: bool
    point: Point | None
    value: float
    bound: float
    least_cost: int


@dataclass(frozen=True)
class Answer:
    """What is known about all points of a box."""

    verdict: Verdict
    values: Floats | None = None  # of a counterexample
    point: Point | None = None


@dataclass(frozen=True, eq=False)
class Prover:
    """An ensemble over the pieces of a domain, as the core searches it."""

    domain: Domain
    budget: Budget = Budget()  # noqa: RUF009 (frozen)

    @property
    def ensemble(self) -> Ensemble:
        """The model."""
        return self.domain.ensemble

    @cached_property
    def trees(self) -> _core.PieceTrees:
        """The trees of the model, and one for each constraint."""
        model, whole, axis_of = self.ensemble, self.domain.whole, self.domain.axis_of
        threshold = np.where(model.label_set < 0, model.threshold, 0.0)
        questions = np.column_stack([model.column, model.label_set, model.missing_left, threshold])
        is_inner = model.column != LEAF
        distinct, number = np.unique(questions[is_inner], axis=0, return_inverse=True)
        split = np.full(len(questions), -1)
        split[is_inner] = number.ravel()
        columns, sides = [], []
        for c, label_set, missing_left, at in zip(*distinct.T.tolist(), strict=True):
            first = whole.first[int(c)]
            is_missing = np.isnan(first)
            left = first <= at
            if label_set >= 0:
                left = model.label_sets[int(label_set)][np.where(is_missing, 0, first).astype(np.intp)]
            columns.append(axis_of[int(c)])
            sides.append(np.where(is_missing, bool(missing_left), left))
        left, right, value = model.left.tolist(), model.right.tolist(), model.value.tolist()
        splits, roots = split.tolist(), model.roots.tolist()

        def add(number: int, to_left: int = -1, to_right: int = -1, adds: float = 0.0) -> int:
            splits.append(number)
            left.append(to_left)
            right.append(to_right)
            value.append([adds] * len(model.start))
            return len(splits) - 1

        roots.append(add(-1))
        value[-1] = model.start.tolist()
        for a, b in self.domain.at_most:  # a tree in which no point with a > b gets to a leaf
            first, last = whole.first[a], whole.last[b]
            root = add(-1)
            for least in np.unique(first[~np.isnan(first)]):
                # A tree "a < least -> the tree before; otherwise b must be at least `least`, or missing".
                columns += [axis_of[a], axis_of[b]]
                sides += [~(first >= least), ~(last < least)]
                root = add(len(columns) - 2, root, add(len(columns) - 1, add(-1), add(-1, adds=-math.inf)))
            roots.append(root)
        return _core.PieceTrees(
            n_pieces=np.array([axis.n_pieces for axis in self.domain.axes], dtype=np.int32),
            column_of_split=np.array(columns, dtype=np.int32),
            goes_left=np.concatenate([*sides, np.empty(0)]).astype(np.uint8),
            roots=np.array(roots, dtype=np.int32),
            split=np.array(splits, dtype=np.int32),
            left=np.array(left, dtype=np.int32),
            right=np.array(right, dtype=np.int32),
            value=np.array(value, dtype=np.float64),
        )

    def margins(self, decision: Decision) -> list[Margin]:
        """Return what changes a decision."""
        model = self.ensemble
        if model.decides_by == "number":
            margins = []
            for sign, end in zip((-1.0, 1.0), invert_link(model.link, decision).tolist(), strict=True):
                if math.isfinite(end):
                    link = 0.0 if model.link == "identity" else 8 * float(np.spacing(max(abs(end), 1.0)))
                    margins.append(Margin(np.array([sign]), sign * end, True, model.rounding + link))
            return margins
        if model.decides_by == "positive":
            sign = 1.0 if decision == 0 else -1.0
            return [Margin(np.array([sign]), sign * model.cut, decision == 0, model.rounding)]
        others = [k for k in range(len(model.start)) if k != decision]
        unit = np.eye(len(model.start))
        return [Margin(unit[k] - unit[decision], 0.0, k > decision, 2 * model.rounding) for k in others]

    def keeps(self, decision: Decision, values: Floats) -> NDArray[np.bool_]:
        """Tell at which rows the model decides like this."""
        predicted = self.ensemble.decide(values)
        if self.ensemble.classes is None:
            return np.asarray((decision[0] <= predicted) & (predicted <= decision[1]))
        return np.asarray(predicted == self.ensemble.classes[decision])

    def check(self, box: Box, decision: Decision, near: Floats, starts: Point | None = None) -> Answer:
        """Prove that a decision is kept in a box, or find a point where it is not."""
        is_open = False
        for margin in self.margins(decision):
            answer = self._check(box, decision, margin, near, starts)
            if answer.verdict == "refuted":
                return answer
            is_open |= answer.verdict == "open"
        return Answer("open" if is_open else "proven")

    def _check(self, box: Box, decision: Decision, margin: Margin, near: Floats, starts: Point | None) -> Answer:
        """Ask first whether the level is reached up to rounding, then whether it is surely reached."""
        for rounding in (margin.rounding, -margin.rounding):
            is_strict = margin.is_strict and rounding == 0
            found = self.search(box, margin.weights, margin.level - rounding, is_strict, starts=starts)
            if found.point is None:
                is_proven = found.is_complete and rounding >= 0
                return Answer("proven" if is_proven else "open")
            values = self.domain.values(box, found.point, near)
            # Only constraints between columns may exclude values of a point; the core's sum is quicker than `keeps`.
            is_in = not self.domain.at_most or self.domain.holds(box, values[None])[0]
            is_otherwise = self.excess(found.point[None], [margin])[0] > 0 or not self.keeps(decision, values[None])[0]
            if is_in and is_otherwise:
                return Answer("refuted", values, found.point)
        return Answer("open")

    def search(
        self,
        box: Box,
        weights: Floats,
        level: float,
        is_strict: bool = False,
        *,
        wanted: int = _ANY,
        cost: NDArray[np.int64] | None = None,
        most_cost: int = 0,
        starts: Point | None = None,
    ) -> Found:
        """Search a box for a point whose margin reaches a level."""
        is_complete, is_reached, point, value, bound, least_cost, _ = _core.search_box(
            trees=self.trees,
            options=_core.ProofOptions(
                wanted=wanted,
                max_nodes=self.budget.max_nodes,
                max_seconds=self.budget.max_seconds,
                starts=[] if starts is None else starts.ravel().tolist(),
            ),
            allowed=box.flags,
            weights=np.ascontiguousarray(weights),
            level=level,
            is_strict=is_strict,
            cost=_NO_COST if cost is None else cost,
            most_cost=most_cost,
        )
        return Found(is_complete, point if is_reached else None, value, bound, least_cost)

    def sums(self, points: Point) -> Floats:
        """Return the outputs at points."""
        return _core.sum_leaves(trees=self.trees, points=np.ascontiguousarray(points, dtype=np.int32))

    def excess(self, points: Point, margins: Sequence[Margin]) -> Floats:
        """Return by how much points surely exceed the level of a margin; at most 0: not surely."""
        sums = self.sums(points)
        excess = [sums @ m.weights - (m.level + m.rounding) - 1e-9 * (1 + abs(m.level)) for m in margins]
        return np.asarray(np.max(excess, axis=0)) if excess else np.full(len(points), -np.inf)

    def extremes(self, box: Box) -> tuple[float, float, bool]:
        """Return the least and the largest predicted number in a box, or bounds if the budget ends before."""
        ends, is_exact = [], True
        for sign in (-1.0, 1.0):
            found = self.search(box, np.array([sign]), -1e300, wanted=_LARGEST)
            is_exact &= found.is_complete
            end = found.value if found.is_complete else found.bound
            ends.append(float(self.ensemble.apply_link(np.array([sign * end]))[0]))
        return ends[0], ends[1], is_exact

    def cheapest(self, box: Box, margin: Margin, cost: NDArray[np.int64], most_cost: int) -> Found:
        """Search the point of least cost whose margin surely reaches its level."""
        is_strict = margin.is_strict and margin.rounding == 0
        level = margin.level + margin.rounding
        return self.search(box, margin.weights, level, is_strict, wanted=_CHEAPEST, cost=cost, most_cost=most_cost)
