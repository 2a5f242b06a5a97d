"""Changes as the core finds them, made into values: in the user's own words, with what supports them."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice._forest.fitted import Fitted
from suffice._forest.out_of_bag import probabilities_at
from suffice._forest.outcomes import Target
from suffice.changes.limits import Limits, notes_beyond
from suffice.changes.search import ChangeOptions, FoundChange, FoundChanges, Side, evenly_spaced, sides_of
from suffice.changes.values import Change, Move, RowChanges, move_text

# Training rows in a box over which the forest's probability is averaged.
N_AVERAGED = 100


class ChangeMaker:
    """Makes the answer about one row, in the user's own words."""

    def __init__(
        self,
        state: Fitted,
        x: NDArray[np.float32],
        target: Target,
        level: float,
        limits: Limits,
        costs: dict[int, float],
        options: ChangeOptions,
    ) -> None:
        self._state, self._x, self._target, self._level = state, x, target, level
        self._limits, self._costs, self._options = limits, costs, options

    def answer(self, found: FoundChanges, n: int, *, is_ranked: bool) -> RowChanges:
        """Make the answer, but for what the row is called and what its outcome is."""
        state, columns = self._state, self._state.encoding.columns
        changes = [self.change(one) for one in found.changes]
        if is_ranked:
            changes.sort(key=lambda change: change.cost)
        return RowChanges(
            outcome=None,
            wanted=self._target.text,
            changes=tuple(changes[:n]),
            is_reached=False,
            nearest=None if found.miss is None else self.change(found.miss, is_miss=not found.is_too_rare),
            is_too_rare=found.is_too_rare,
            values={c.name: c.decode(v) for c, v in zip(columns, self._x.tolist(), strict=True)},
            pi=self._level,
            min_plausibility=self._options.min_plausibility,
            max_size=self._options.max_size,
            n_changeable=sum(self._may_move(v) for v in self._limits.changeable),
            is_complete=found.is_complete,
            target=state.target,
            model=state.model_name,
            is_model_absent=state.absent_model is not None and state.model_name is None,
            columns=columns,
            goal=self._target.named(state.target),
            notes=tuple(notes_beyond(state, self._limits, self._x)),
        )

    def _may_move(self, variable: int) -> bool:
        columns = self._state.variables.columns[variable]
        return any(self._limits.lets_move(c, float(self._x[c])) for c in columns)

    def change(self, found: FoundChange, *, is_miss: bool = False, by: Literal["forest", "model"] = "forest") -> Change:
        """Make a change of a box."""
        state = self._state
        sides = sides_of(state, found, self._x, self._limits, self._options.margin)
        moves, values = [], {}
        point = self._x.copy()
        for side in sides:
            if not side.moves:
                continue
            point[side.column] = side.point
            column = state.encoding.columns[side.column]
            before, after = column.decode(side.own), _decode(side, column)
            if side.holds_own:  # it moves with the other columns of its group only
                text = move_text(column, before, after, side.point, side.point, ())
            else:
                labels = tuple(label for code in side.codes for label in column.labels[code][:1])
                text = move_text(column, before, after, side.low, side.high, labels)
            moves.append(Move(column.name, before, after, text))
            values[column.name] = after
        is_wanted = self._target.holds(state.training[1][found.rows])
        moved = {side.column for side in sides if side.moves}
        probability, box_probability = self._probabilities(found, point, [side.column for side in sides])
        return Change(
            variables=tuple(state.variables.names[v] for v in found.variables),
            conditions=tuple(side.bounds for side in sides if side.bounds is not None),
            moves=tuple(moves),
            stays=tuple(side.bounds for side in sides if side.bounds is not None and side.column not in moved),
            values=values,
            probability=found.probability if is_miss else probability,
            box_probability=box_probability,
            mean=found.mean,
            plausibility=found.plausibility,
            bound=found.bound,
            cdp=found.cdp,
            support=len(found.rows),
            n_wanted=int(np.count_nonzero(is_wanted)),
            rows=tuple(found.rows.tolist()),
            check=self._options.check,
            cost=self._cost(found, sides),
            pi=self._level,
            by=by,
        )

    def _probabilities(self, found: FoundChange, point: NDArray[np.float32], columns: list[int]) -> tuple[float, float]:
        """Return the probability of the target at the least change, and on average over rows in the box."""
        chosen = evenly_spaced(len(found.rows), N_AVERAGED)
        points = np.repeat(self._x[None, :], 1 + len(chosen), axis=0)
        points[0] = point
        points[1:, columns] = self._state.forest.X[found.rows[chosen]][:, columns]
        probabilities = probabilities_at(self._state, self._target, points, n_cautious=1)
        weights = found.weights[chosen]
        average = float(probabilities[1:] @ weights / weights.sum()) if len(chosen) else float(probabilities[0])
        return float(probabilities[0]), average

    def _cost(self, found: FoundChange, sides: tuple[Side, ...]) -> float:
        state, total = self._state, 0.0
        for variable in found.variables:
            columns = state.variables.columns[variable]
            moved = [side for side in sides if side.column in columns and side.moves]
            if not moved:
                continue
            share = 1.0
            if len(columns) == 1 and state.encoding.columns[columns[0]].kind != "category":
                share = _share_between(state.forest.X[:, columns[0]], moved[0].own, moved[0].point)
            total += share * self._costs.get(variable, 1.0)
        return total


def _decode(side: Side, column: Any) -> Any:
    """Return the value of the nearest point: the end of a box as it is written, not as float32."""
    if column.kind == "category" or math.isnan(side.point):
        return column.value_of(side.point)
    if column.kind == "whole" and side.point == int(side.point):
        return int(side.point)
    return side.point if side.point in (side.low, side.high) else column.decode(side.point)


def _share_between(values: NDArray[np.float32], own: float, point: float) -> float:
    """Return the share of training values that lie between two values."""
    if math.isnan(own) or math.isnan(point):
        return 1.0
    low, high = min(own, point), max(own, point)
    return float(np.mean((low < values) & (values <= high)))
