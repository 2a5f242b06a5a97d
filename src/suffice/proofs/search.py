"""Questions to the core: is a point of a box decided otherwise, how large can an output be, what is the nearest one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from suffice import _core
from suffice.proofs.domain import Axis, Box, Domain, Point
from suffice.proofs.ensemble import LEAF, Ensemble, Floats

Verdict = Literal["proven", "refuted", "open"]
Decision = Any
"""What is to be kept: the position of a class, or an interval of predicted numbers."""
MAX_NODES = 20_000
MAX_SECONDS = 10.0
_ANY, _LARGEST, _CHEAPEST = range(3)
_NO_COST = np.empty(0, dtype=np.int64)


class Budget(NamedTuple):
    """How many boxes a search may look at, and how long it may take."""

    max_nodes: int = MAX_NODES
    max_seconds: float = MAX_SECONDS


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


class Prover:
    """An ensemble over the pieces of a domain, as the core searches it."""

    def __init__(self, domain: Domain, budget: Budget = Budget()) -> None:  # noqa: B008 (frozen)
        self.domain = domain
        self.budget = budget

    @property
    def ensemble(self) -> Ensemble:
        """The model."""
        return self.domain.ensemble

    @cached_property
    def trees(self) -> _core.PieceTrees:
        """The trees of the model, and one for each constraint."""
        model, axes = self.ensemble, self.domain.axes
        n_nodes = len(model.column)
        inner = np.flatnonzero(model.column != LEAF)
        keys = np.stack([model.column[inner], model.label_set[inner], model.missing_left[inner]], axis=1).astype(float)
        keys = np.column_stack([keys, np.where(model.label_set[inner] < 0, model.threshold[inner], 0.0)])
        distinct, number = np.unique(keys, axis=0, return_inverse=True)
        split = np.full(n_nodes, -1, dtype=np.int32)
        split[inner] = number.ravel()
        columns, sides = [], []
        for column, label_set, missing_left, threshold in distinct:
            i = self.domain.axis_of[int(column)]
            first = axes[i].first[:, axes[i].columns.index(int(column))]
            of_labels = label_set >= 0
            left = (
                model.label_sets[int(label_set)][np.where(np.isnan(first), 0, first).astype(np.intp)]
                if of_labels
                else first <= threshold
            )
            columns.append(i)
            sides.append(np.where(np.isnan(first), bool(missing_left), left))
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
        for a, b in self.domain.at_most:
            roots.append(_constrain(axes, self.domain.axis_of, (a, b), columns, sides, add))
        return _core.PieceTrees(
            n_pieces=np.array([axis.n_pieces for axis in axes], dtype=np.int32),
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
            return self._ends(*decision)
        if model.decides_by == "positive":
            sign = 1.0 if decision == 0 else -1.0
            return [Margin(np.array([sign]), sign * model.cut, decision == 0, model.rounding)]
        others = [k for k in range(len(model.start)) if k != decision]
        unit = np.eye(len(model.start))
        return [Margin(unit[k] - unit[decision], 0.0, k > decision, 2 * model.rounding) for k in others]

    def _ends(self, low: float, high: float) -> list[Margin]:
        """Return when a number leaves an interval, in terms of the output."""
        outputs = [self._invert(low), self._invert(high)]
        margins = []
        for sign, end in ((-1.0, outputs[0]), (1.0, outputs[1])):
            if math.isfinite(end):
                link = 0.0 if self.ensemble.link == "identity" else 8 * np.spacing(max(abs(end), 1.0))
                margins.append(Margin(np.array([sign]), sign * end, True, self.ensemble.rounding + link))
        return margins

    def _invert(self, number: float) -> float:
        """Return the output of a predicted number; infinite beyond what the link gives."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.ensemble.link == "exp":
                return float(np.log(max(number, 0.0)))
            return float(logit(min(max(number, 0.0), 1.0))) if self.ensemble.link == "logistic" else number

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


def _constrain(
    axes: Sequence[Axis], axis_of: dict[int, int], pair: tuple[int, int], columns: list[int], sides: list[Any], add: Any
) -> int:
    """Add a tree in which no point with a > b gets to a leaf."""
    i, j = (axis_of[c] for c in pair)
    first = axes[i].first[:, axes[i].columns.index(pair[0])]
    last = axes[j].last[:, axes[j].columns.index(pair[1])]
    root = add(-1)
    for least in np.unique(first[~np.isnan(first)]):
        # A tree "a < least -> the tree before; otherwise b must be at least `least`, or missing".
        columns.extend((i, j))
        sides.append(~(first >= least))
        sides.append(~(last < least))
        root = add(len(columns) - 2, root, add(len(columns) - 1, add(-1), add(-1, adds=-math.inf)))
    return int(root)
