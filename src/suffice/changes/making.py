"""Boxes as the core finds them, made into changes: in the user's own values and words, with what supports them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice._forest.fitted import Fitted
from suffice._forest.out_of_bag import probabilities_at
from suffice._forest.outcomes import range_text
from suffice._forest.rounded_bounds import neighbours, round_end, round_whole_end
from suffice._forest.trees import spaced_rows
from suffice._table.condition import Condition
from suffice._table.encoding import Column
from suffice._text import format_value, join
from suffice.changes.limits import HIGHEST, LOWEST, Limits, notes_about
from suffice.changes.search import ChangeSearch, FoundChange, FoundChanges, holds_at_rows
from suffice.changes.values import Change, Move, RowChanges, quoted

# Training rows in a box over which the forest's probability is averaged.
N_AVERAGED = 100
NOTHING = FoundChanges((), None, is_too_rare=False, is_complete=True)
INF = math.inf
# Categories that a sentence lists before it only counts them.
N_LISTED = 5


@dataclass(frozen=True)
class Side:
    """What a box asks of one column of the matrix, and what the nearest point has there."""

    column: int
    bounds: Condition | None
    own: float
    point: float
    low: float = -INF
    high: float = INF
    codes: tuple[int, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether the nearest point has another value than the row."""
        return not (self.own == self.point or (math.isnan(self.own) and math.isnan(self.point)))

    @property
    def is_bounded(self) -> bool:
        """Whether the box asks more of the column than that its value is known."""
        bounds = self.bounds
        return bounds is not None and not (bounds.values and bounds.labels is None and self.low == -INF == -self.high)

    @property
    def holds_own(self) -> bool:
        """Whether the row's own value lies in the box."""
        if math.isnan(self.own):
            return self.bounds is None or self.bounds.missing
        if self.bounds is not None and not self.bounds.values:
            return False
        return self.own in self.codes if self.codes else self.low <= self.own <= self.high


def sides_of(
    state: Fitted, found: FoundChange, x: NDArray[np.float32], limits: Limits, margin: float = 0.0
) -> tuple[Side, ...]:
    """Write a box in the user's own values, and find the point of it that is nearest to a row."""
    sides: list[Side] = []
    for columns in map(state.variables.columns.__getitem__, found.variables):
        of_variable = [_side(state, found, c, float(x[c]), limits, margin) for c in columns]
        if len(columns) > 1:  # the columns of a group belong together: take the values of a row that has them
            of_variable = _as_in_a_row(state, found, of_variable)
        sides += of_variable
    return tuple(sides)


def names_of(state: Fitted, found: FoundChange) -> tuple[str, ...]:
    """Name the variables of a box."""
    names = state.variables.names
    return tuple(names[v] for v in found.variables)


def _as_in_a_row(state: Fitted, found: FoundChange, sides: list[Side]) -> list[Side]:
    if not any(side.moves for side in sides) or not len(found.rows):
        return sides
    columns = [side.column for side in sides]
    own = np.array([side.own for side in sides])
    values = state.forest.X[found.rows][:, columns].astype(np.float64)
    n_moved = np.count_nonzero((values != own) & ~(np.isnan(values) & np.isnan(own)), axis=1)
    nearest = values[np.lexsort((-found.weights, n_moved))[0]]
    return [replace(side, point=float(value)) for side, value in zip(sides, nearest, strict=True)]


def _side(state: Fitted, found: FoundChange, c: int, own: float, limits: Limits, margin: float) -> Side:
    column = state.encoding.columns[c]
    name, missing = state.encoding.names[column.source], bool(found.missing[c])
    if not found.has_values[c]:
        return Side(c, Condition(name, missing=True, values=False, part=column.part), own, math.nan)
    if column.kind == "category":
        return _category_side(state, found, c, own, limits)
    first, last = limits.ends(c, own)
    # An end at a limit, the last float32 before it, is written as the limit was passed; only thresholds are rounded.
    low = found.low[c] if float(found.low[c]) >= first else LOWEST
    high = found.high[c] if float(np.nextafter(found.high[c], HIGHEST)) <= last else HIGHEST
    low, high = _ends(state, c, low, high, own)
    low, high = max(low, first), min(high, last)
    # Where the column has no missing values, a box without ends asks nothing.
    is_open = math.isinf(low) and math.isinf(high)
    reads = column.reads if math.isnan(own) or own == math.floor(own) else "number"
    bounds = Condition(name, low, high, low > -INF, True, missing=missing, part=column.part, reads=reads)
    if math.isnan(own):
        point = own if missing else min(max(_middle(state, found, c), low), high)
    else:
        point = own if low <= own <= high else _inside(state, found, c, low if own < low else high, own < low, margin)
        point = min(max(point, low), high)
    return Side(c, None if is_open and (missing or not math.isnan(own)) else bounds, own, point, low, high)


def _middle(state: Fitted, found: FoundChange, c: int) -> float:
    values = state.forest.X[found.rows, c]
    known = values[~np.isnan(values)]
    return float(np.sort(known)[len(known) // 2]) if len(known) else 0.0


def _inside(state: Fitted, found: FoundChange, c: int, end: float, is_low: bool, margin: float) -> float:
    """Return the value beyond an end such that a share of the training rows lies between, or the middle of the box."""
    values = state.ends.sorted_column(c)
    n_between = math.ceil(margin * len(values))
    if not n_between or not len(found.rows):
        return end
    if is_low:
        at = int(np.searchsorted(values, end, side="left")) + n_between - 1
        return max(end, min(float(values[min(at, len(values) - 1)]), _middle(state, found, c)))
    at = int(np.searchsorted(values, end, side="right")) - n_between
    return min(end, max(float(values[max(at, 0)]), _middle(state, found, c)))


def _category_side(state: Fitted, found: FoundChange, c: int, own: float, limits: Limits) -> Side:
    column, missing = state.encoding.columns[c], bool(found.missing[c])
    allowed = limits.labels.get(c, range(len(column.labels)))
    first, last = limits.ends(c, own)
    codes = tuple(code for code in allowed if found.low[c] < code <= found.high[c] and first <= code <= last)
    name = state.encoding.names[column.source]
    bounds = Condition(name, missing=missing, part=column.part, **_labels(column, codes, c in limits.labels))
    is_all = len(codes) == len(column.labels)
    stays = (math.isnan(own) and missing) or own in codes
    point = own if stays else float(_usual(state, found, c, codes, own))
    keeps_all = is_all and (missing or not math.isnan(own))
    return Side(c, None if keeps_all else bounds, own, point, codes=codes)


def _labels(column: Column, codes: tuple[int, ...], is_listed: bool) -> dict[str, Any]:
    """Name the categories of some codes; if rare ones are among them, all others: any label not named is rare."""
    excluded = column.rare in codes and not is_listed
    named = [
        code for code in range(len(column.labels)) if (code in codes) != excluded and (is_listed or code != column.rare)
    ]
    labels = tuple(label for code in named for label in column.labels[code])
    return {"labels": labels, "excluded": excluded} if labels else {}


def _usual(state: Fitted, found: FoundChange, c: int, codes: tuple[int, ...], own: float) -> int:
    """Choose the category that most of the rows in the box have; among equals the one nearest to the row's own.

    Categories with an order of their own are like numbers: the nearest one comes first.
    """
    column = state.encoding.columns[c]
    if column.is_ordered and not math.isnan(own):
        return min(codes, key=lambda code: (code == column.rare, abs(code - own)))
    weight = dict.fromkeys(codes, 0.0)
    for value, w in zip(state.forest.X[found.rows, c].tolist(), found.weights.tolist(), strict=True):
        if value in weight:
            weight[int(value)] += w
    rare = column.rare
    at = 0.0 if math.isnan(own) else own
    return min(codes, key=lambda code: (-round(weight[code], 12), code == rare, abs(code - at), code))


def _ends(state: Fitted, c: int, low: np.float32, high: np.float32, own: float) -> tuple[float, float]:
    """Round both ends to few digits, inwards: what the box covers and what it does not stay as they are."""
    values = state.ends.sorted_column(c)
    is_whole = state.encoding.columns[c].kind != "number" and (math.isnan(own) or own == math.floor(own))
    ends = [-INF, INF]
    for i, threshold in enumerate((low, high)):
        if np.isinf(threshold):
            continue
        beneath, above = neighbours(values, threshold, np.float32(own))
        if is_whole:
            side: Any = "high" if i else "low"
            end, is_closed = round_whole_end(beneath, above, float(threshold), side, side)
            ends[i] = end if is_closed else end - 1
        elif i:
            ends[i] = round_end(beneath, above, float(threshold), "high")
        else:  # the mirror image: -value <= the last number below -threshold
            mirrored = float(np.nextafter(-threshold, np.float32(-np.inf)))
            ends[i] = -round_end(-above, -beneath, mirrored, "high")
    return ends[0] + 0.0, ends[1] + 0.0


@dataclass(frozen=True, eq=False)
class ChangeMaker:
    """Makes the answers about rows, in the user's own words."""

    search: ChangeSearch
    matrix: NDArray[np.float32]

    def answer(self, i: int, found: FoundChanges, **about_row: Any) -> RowChanges:
        """Make the answer about a row; its outcome, and what the row is called, are passed."""
        state, limits, options, x = self.search.state, self.search.limits, self.search.options, self.matrix[i]
        columns, columns_of = state.encoding.columns, state.variables.columns
        may_move = [any(limits.lets_move(c, float(x[c])) for c in columns_of[v]) for v in limits.changeable]
        return RowChanges(
            wanted=self.search.targets[i].text,
            changes=tuple(self.change(i, one) for one in found.changes),
            nearest=None if found.miss is None else self.change(i, found.miss, is_miss=not found.is_too_rare),
            is_too_rare=found.is_too_rare,
            values={c.name: c.decode(v) for c, v in zip(columns, x.tolist(), strict=True)},
            pi=float(self.search.levels[i]),
            min_plausibility=options.min_plausibility,
            max_size=options.max_size,
            n_changeable=sum(may_move),
            is_complete=found.is_complete,
            target=state.target,
            model=state.model_name,
            columns=columns,
            row=i,
            notes=tuple(notes_about(state, limits, x)),
            is_model_absent=state.absent_model is not None and state.model_name is None,
            **about_row,
        )

    def change(
        self, i: int, found: FoundChange, *, is_miss: bool = False, by: Literal["forest", "model"] = "forest"
    ) -> Change:
        """Make a change of a box for a row."""
        state, target, x = self.search.state, self.search.targets[i], self.matrix[i]
        sides = sides_of(state, found, x, self.search.limits, self.search.options.margin)
        moved = [side for side in sides if side.moves]
        moves = [_move(state.encoding.columns[side.column], side) for side in moved]
        point = x.copy()
        point[[side.column for side in moved]] = [side.point for side in moved]
        probability, box_probability = self._probabilities(i, found, point, [side.column for side in sides])
        return Change(
            variables=names_of(state, found),
            conditions=tuple(side.bounds for side in sides if side.bounds is not None),
            moves=tuple(moves),
            stays=tuple(side.bounds for side in sides if side.bounds is not None and not side.moves),
            values={move.column: move.after for move in moves},
            probability=found.probability if is_miss else probability,
            box_probability=box_probability,
            **{name: getattr(found, name) for name in ("mean", "plausibility", "bound", "cdp")},
            support=len(found.rows),
            n_wanted=int(np.count_nonzero(holds_at_rows(state, target, found.rows))),
            rows=tuple(found.rows.tolist()),
            check=self.search.options.check,
            pi=float(self.search.levels[i]),
            by=by,
        )

    def _probabilities(
        self, i: int, found: FoundChange, point: NDArray[np.float32], columns: list[int]
    ) -> tuple[float, float]:
        """Return the probability of the target at the least change, and on average over rows in the box."""
        state, chosen = self.search.state, spaced_rows(len(found.rows), N_AVERAGED)
        points = np.repeat(self.matrix[i][None, :], 1 + len(chosen), axis=0)
        points[0] = point
        points[1:, columns] = state.forest.X[found.rows[chosen]][:, columns]
        probabilities = probabilities_at(state, self.search.targets[i], points, n_cautious=1)
        weights = found.weights[chosen]
        average = float(probabilities[1:] @ weights / weights.sum()) if len(chosen) else float(probabilities[0])
        return float(probabilities[0]), average


def _move(column: Column, side: Side) -> Move:
    before, after = column.decode(side.own), _decode(side, column)
    if side.holds_own:  # it moves with the other columns of its group only
        text = move_text(column, before, after, side.point, side.point, ())
    else:
        labels = tuple(label for code in side.codes for label in column.labels[code][:1])
        text = move_text(column, before, after, side.low, side.high, labels)
    return Move(column.name, before, after, text)


def _decode(side: Side, column: Column) -> Any:
    """Return the value of the nearest point: the end of a box as it is written, not as float32."""
    if column.kind == "category" or math.isnan(side.point):
        return column.value_of(side.point)
    if column.kind == "whole" and side.point == int(side.point):
        return int(side.point)
    return side.point if side.point in (side.low, side.high) else column.decode(side.point)


def move_text(column: Column, before: Any, after: Any, low: float, high: float, labels: tuple[Any, ...]) -> str:
    """Write what happens to a column."""
    if column.reads == "yes/no" and {before, after} <= {0, 1, None}:
        before, after = (None if value is None else bool(value) for value in (before, after))
        column, labels = column.drawn, tuple(flag for flag in (False, True) if low <= flag <= high)
    own = format_value(before) if before is None or column.kind != "category" else quoted(before)
    if after is None:
        return f"making {column.name} missing (now {own})"
    if column.kind == "category":
        others = [quoted(label) for label in labels if label != after]
        shown = [quoted(after), *others[: N_LISTED - 1]]
        n_more = len(others) - N_LISTED + 1
        values = f"{', '.join(shown)} or {n_more} more" if n_more > 0 else join(shown, "or")
    else:
        values = range_text(low, high)
    if before is None:
        return f"setting {column.name} (now missing) to {values}"
    is_amount = column.kind != "category" and column.part is None
    verb = ("raising" if after > before else "lowering") if is_amount else "changing"
    return f"{verb} {column.name} from {own} to {values}"
