"""Changes of rows and regions: the search in the core, with boxes and the nearest points in the user's own values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._forest.fitted import Fitted
from suffice._forest.out_of_bag import Calibration, calibration_of, uses_votes
from suffice._forest.outcomes import Target, wanted_flags
from suffice._forest.rounded_bounds import round_end, round_whole_end
from suffice._table.condition import Condition
from suffice._table.encoding import Column
from suffice._table.input import check_number, check_word
from suffice._table.variables import VariableSet
from suffice.changes.limits import Limits

CHECKS = ("everywhere", "mean")
MIN_PLAUSIBILITY = 0.02
MAX_SIZE = 3
# With less, the probability at least changes falls short of the level where laws are known (docs/what-if.md).
MARGIN = 0.1
MAX_NODES = 10_000


@dataclass(frozen=True)
class ChangeOptions:
    """What is searched."""

    check: Literal["everywhere", "mean"] = "everywhere"
    n: int = 3
    max_size: int = MAX_SIZE
    min_plausibility: float = MIN_PLAUSIBILITY
    sets: Literal["minimal", "all"] = "minimal"
    max_nodes: int = MAX_NODES
    margin: float = MARGIN
    min_size: int = 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_word("check", self.check, CHECKS)
        check_word("sets", self.sets, ("minimal", "all"))
        for name in ("n", "max_size", "max_nodes", "min_size"):
            check_number(name, getattr(self, name), "a whole number >= 1", lambda v: v >= 1, int)
        if self.min_size > self.max_size:
            raise ValueError(f"`min_size` must be at most `max_size`, got {self.min_size} and {self.max_size}.")
        check_number("min_plausibility", self.min_plausibility, "in [0, 1)", lambda v: 0 <= v < 1)
        check_number("margin", self.margin, "in [0, 0.5]", lambda v: 0 <= v <= 0.5)


@dataclass(frozen=True, eq=False)
class FoundChange:
    """A box as the core found it."""

    variables: VariableSet
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    has_values: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    cdp: float
    plausibility: float
    bound: float
    mean: float
    probability: float
    rows: NDArray[np.int64]
    weights: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FoundChanges:
    """What was found for one row or region."""

    changes: tuple[FoundChange, ...]
    miss: FoundChange | None
    is_too_rare: bool
    is_complete: bool


def find_changes(
    state: Fitted,
    regions: dict[str, NDArray[Any]],
    reach: dict[str, NDArray[Any]],
    targets: Sequence[Target],
    levels: NDArray[np.float64],
    limits: Limits,
    options: ChangeOptions,
    progress: Callable[[int], object] | None = None,
) -> list[FoundChanges]:
    """Find what would change the outcomes of rows or regions."""
    flags, number = wanted_flags(targets, state.forest.y_values, state.classes)
    sets = [(v,) for v in limits.changeable]
    out: list[FoundChanges | None] = [None] * len(targets)
    n_done = 0
    everywhere = options.check == "everywhere"
    votes, least = everywhere and uses_votes(state), 0.0 if state.classes is None else 0.5
    curves = [calibration_of(state, target) if everywhere else Calibration() for target in targets]
    needed = np.array([curve.vote_for(level, least) for curve, level in zip(curves, levels.tolist(), strict=True)])
    space = _core.ChangeSpace(
        forest=state.forest.core,
        variable_of=state.variables.number_columns(sets),
        n_variables=len(sets),
        allowed=[(column, [float(code) for code in codes]) for column, codes in limits.labels.items()],
        n_candidates=state.settings.n_candidates,
        min_node_size=state.min_node_size,
    )
    for level in np.unique(needed):
        rows = np.flatnonzero(needed == level)
        arrays = _core.find_changes(
            space=space,
            regions=_boxes(regions, rows),
            limits=_boxes(reach, rows),
            wanted=flags,
            target=number[rows],
            options=_core.ChangeOptions(
                pi=float(level),
                min_plausibility=options.min_plausibility,
                check="votes" if votes else options.check,
                minimal_only=options.sets == "minimal",
                min_size=options.min_size,
                max_size=min(options.max_size, len(sets)),
                n_changes=options.n,
                max_sets=state.settings.max_sets or 2**62,
                max_nodes=options.max_nodes,
            ),
            n_threads=state.settings.n_threads,
            progress=None if progress is None else _after(progress, n_done),
        )
        n_done += len(rows)
        for row, found in zip(rows.tolist(), _read(arrays, len(rows), limits.changeable), strict=True):
            miss = found.miss
            if miss is not None:
                miss = replace(miss, probability=float(curves[row].probability(np.array(miss.probability))))
            out[row] = replace(found, miss=miss)
    return [found for found in out if found is not None]


def _after(progress: Callable[[int], object], n_before: int) -> Callable[[int], object]:
    return lambda n_done: progress(n_before + n_done)


def _boxes(arrays: dict[str, NDArray[Any]], rows: NDArray[np.intp]) -> _core.ValueBoxes:
    return _core.ValueBoxes(**{name: np.ascontiguousarray(values[rows]) for name, values in arrays.items()})


def _read(arrays: dict[str, Any], n_rows: int, changeable: VariableSet) -> list[FoundChanges]:
    changes: list[list[FoundChange]] = [[] for _ in range(n_rows)]
    for i, row in enumerate(arrays["changes"]["row"].tolist()):
        changes[row].append(_one(arrays["changes"], i, changeable))
    misses: list[FoundChange | None] = [None] * n_rows
    is_too_rare = [False] * n_rows
    for i, row in enumerate(arrays["misses"]["row"].tolist()):
        misses[row] = _one(arrays["misses"], i, changeable)
        is_too_rare[row] = bool(arrays["is_too_rare"][i])
    return [
        FoundChanges(tuple(changes[row]), misses[row], is_too_rare[row], bool(arrays["is_complete"][row]))
        for row in range(n_rows)
    ]


def _one(arrays: dict[str, NDArray[Any]], i: int, changeable: VariableSet) -> FoundChange:
    mask = int(arrays["set"][i])
    begin, end = arrays["begin"][i : i + 2].tolist()
    fields: dict[str, Any] = {name: arrays[name][i] for name in ("low", "high", "has_values", "missing")}
    for name in ("cdp", "plausibility", "bound", "mean", "probability"):
        fields[name] = float(arrays[name][i])
    return FoundChange(
        variables=tuple(v for bit, v in enumerate(changeable) if mask >> bit & 1),
        rows=arrays["rows"][begin:end],
        weights=arrays["weights"][begin:end],
        **fields,
    )


INF = math.inf


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
    for variable in found.variables:
        columns = state.variables.columns[variable]
        of_variable = [_side(state, found, c, float(x[c]), limits, margin) for c in columns]
        if len(columns) > 1:  # the columns of a group belong together: take the values of a row that has them
            of_variable = _as_in_a_row(state, found, of_variable)
        sides += of_variable
    return tuple(sides)


def evenly_spaced(n: int, most: int) -> NDArray[np.intp]:
    """Choose some of `n` positions, evenly spaced."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def _as_in_a_row(state: Fitted, found: FoundChange, sides: list[Side]) -> list[Side]:
    if not any(side.moves for side in sides) or not len(found.rows):
        return sides
    columns = [side.column for side in sides]
    own = np.array([side.own for side in sides])
    values = state.forest.X[found.rows][:, columns].astype(np.float64)
    n_moved = np.count_nonzero((values != own) & ~(np.isnan(values) & np.isnan(own)), axis=1)
    nearest = values[np.lexsort((-found.weights, n_moved))[0]]
    return [
        Side(side.column, side.bounds, side.own, float(value), side.low, side.high, side.codes)
        for side, value in zip(sides, nearest, strict=True)
    ]


def _side(state: Fitted, found: FoundChange, c: int, own: float, limits: Limits, margin: float) -> Side:
    column = state.encoding.columns[c]
    name, missing = state.encoding.names[column.source], bool(found.missing[c])
    if not found.has_values[c]:
        return Side(c, Condition(name, missing=True, values=False, part=column.part), own, math.nan)
    if column.kind == "category":
        return _category_side(state, found, c, own, limits)
    first, last = limits.ends(c, own)
    low, high = _ends(state, c, found.low[c], found.high[c], own)
    low, high = max(low, first), min(high, last)
    # Where the column has no missing values, a box without ends asks nothing.
    is_open = math.isinf(low) and math.isinf(high)
    bounds = Condition(name, low, high, low > -INF, True, missing=missing, part=column.part)
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
        at = int(np.searchsorted(values, threshold, side="right"))
        beneath = float(values[at - 1]) if at > 0 else -INF
        above = float(values[at]) if at < len(values) else INF
        if not math.isnan(own):
            beneath, above = (max(beneath, own), above) if own <= threshold else (beneath, min(above, own))
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
