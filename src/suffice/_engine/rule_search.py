"""Maximal rules of rows: the search in the core, and its boxes as ``Rule`` values in the user's own numbers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._engine.projection import ProjectedForest
from suffice._table.encoding import Column, Encoding
from suffice._table.variables import VariableSet
from suffice.errors import did_you_mean
from suffice.rules import Condition, Rule, Side, round_end, round_whole_end
from suffice.words import to_plain

CHECKS = ("rows", "everywhere")
VOLUMES = ("rows", "lebesgue")
# Cells of training rows that are kept for further rows with the same set.
CACHE_MIB = 256


@dataclass(frozen=True)
class RuleOptions:
    """What a rule must fulfil and what it maximises.

    Parameters
    ----------
    check : {"rows", "everywhere"}, default="rows"
        Where in the box the SDP must be at least pi: at the training rows, or at every point.
    volume : {"rows", "lebesgue"}, default="rows"
        What is maximised: the training rows covered, or the volume within the range of the data.
    max_nodes : int, default=10000
        How many boxes may be looked at; beyond, the best so far is returned with what is proven about it.
    """

    check: Literal["rows", "everywhere"] = "rows"
    volume: Literal["rows", "lebesgue"] = "rows"
    max_nodes: int = 10_000

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        for name, known in (("check", CHECKS), ("volume", VOLUMES)):
            word = getattr(self, name)
            if word not in known:
                raise ValueError(f"`{name}` must be one of {list(known)}, got {word!r}.{did_you_mean(word, known)}")
        if not isinstance(self.max_nodes, int) or self.max_nodes < 1:
            raise ValueError(f"`max_nodes` must be a whole number >= 1, got {self.max_nodes!r}.")


@dataclass
class RuleFinder:
    """Finds the rules of rows; keeps the cells of the training rows for the sets that came last.

    Parameters
    ----------
    projected : ProjectedForest
        The projected forest.
    encoding : Encoding
        What the numbers of the matrix mean in the user's table.
    target_name : str
        What the rules call the outcome.
    """

    projected: ProjectedForest
    encoding: Encoding
    target_name: str
    _cells: OrderedDict[VariableSet, _core.SetCells] = field(default_factory=OrderedDict, init=False, repr=False)
    _sorted_values: dict[int, NDArray[np.float32]] = field(default_factory=dict, init=False, repr=False)

    def find(
        self,
        X: NDArray[np.float32],
        sets: Sequence[VariableSet],
        outcomes: NDArray[Any],
        intervals: NDArray[np.float64] | None,
        lo: NDArray[np.uint32],
        hi: NDArray[np.uint32],
        pi: float,
        options: RuleOptions,
        progress: Callable[[int], object] | None = None,
    ) -> list[Rule | None]:
        """Find the maximal rule of each row for its set.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32
            The rows.
        sets : sequence of tuple of int
            The set S of each row.
        outcomes : ndarray of shape (n_rows,)
            What is explained: labels or numbers.
        intervals : ndarray of shape (n_rows, 2) or None
            Regression: the closed intervals.
        lo, hi : ndarray of shape (n_rows,)
            The outcomes as ranks, both ends included.
        pi : float
            The least SDP.
        options : RuleOptions
            What a rule must fulfil and what it maximises.
        progress : callable or None
            Called with the number of rows done, several times a second.

        Returns
        -------
        list of Rule or None
            None where the SDP at the row is below pi.
        """
        rules: list[Rule | None] = [None] * len(X)
        rows_of: dict[VariableSet, list[int]] = {}
        for row, S in enumerate(sets):
            rows_of.setdefault(S, []).append(row)
        n_done = 0
        for S, rows in rows_of.items():  # rows of one set together: their cells are computed once
            rows.sort(key=lambda row: (int(lo[row]), int(hi[row])))  # those of one outcome: the shares in the cells
            cells = self._cells_of(S)
            tell = None if progress is None else partial(_tell_sum, progress, n_done)
            n_done += len(rows)
            found = _core.find_rules(
                cells=cells,
                rows=_core.Rows(X=X[rows], lo=lo[rows], hi=hi[rows]),
                options=_core.RuleOptions(
                    pi=pi,
                    everywhere=options.check == "everywhere",
                    by_volume=options.volume == "lebesgue",
                    max_nodes=options.max_nodes,
                ),
                n_threads=self.projected.n_threads,
                progress=tell,
            )
            for j, row in enumerate(rows):
                if found["exists"][j]:
                    interval = None if intervals is None else (float(intervals[row, 0]), float(intervals[row, 1]))
                    rules[row] = self._rule(found, j, S, X[row], outcomes[row], interval, int(lo[row]), int(hi[row]))
        return rules

    def _columns(self, S: VariableSet) -> list[int]:
        return sorted(column for variable in S for column in self.projected.variables.columns[variable])

    def _cells_of(self, S: VariableSet) -> _core.SetCells:
        if S not in self._cells:
            columns = np.array(self._columns(S), dtype=np.int32)
            self._cells[S] = _core.SetCells(
                forest=self.projected.forest.core,
                columns=columns,
                min_node_size=self.projected.min_node_size,
                n_threads=self.projected.n_threads,
            )
            while len(self._cells) > 1 and sum(c.n_bytes for c in self._cells.values()) > CACHE_MIB * 2**20:
                self._cells.popitem(last=False)
        self._cells.move_to_end(S)
        return self._cells[S]

    def _rule(
        self,
        found: dict[str, NDArray[Any]],
        j: int,
        S: VariableSet,
        x: NDArray[np.float32],
        outcome: Any,
        interval: tuple[float, float] | None,
        lo: int,
        hi: int,
    ) -> Rule:
        forest = self.projected.forest
        covered = np.ones(len(forest.X), dtype=bool)
        conditions = []
        for c, column in enumerate(self._columns(S)):
            low, high = found["low"][j, c], found["high"][j, c]
            has_values, missing = bool(found["has_values"][j, c]), bool(found["missing"][j, c])
            values = forest.X[:, column]
            within = (low < values) & (values <= high) if has_values else np.zeros(len(values), dtype=bool)
            covered &= within | (np.isnan(values) & missing)
            condition = self._condition(
                column, low, high, x[column], missing, has_values, bool(found["holds_everywhere"][j])
            )
            # Where the data have no missing values, "is known" would say nothing.
            is_open = condition == Condition(condition.column, missing=missing, part=condition.part)
            if not (is_open and (missing or not np.isnan(values).any())):
                conditions.append(condition)
        rank = forest.y_rank[covered]
        y = forest.y_values[rank]
        return Rule(
            conditions=tuple(conditions),
            outcome=to_plain(outcome),
            interval=interval,
            sdp=float(found["sdp"][j]),
            support=int(found["support"][j]),
            coverage=int(found["support"][j]) / len(forest.X),
            precision=float(np.mean((lo <= rank) & (rank <= hi))) if len(rank) else None,
            mae=None if interval is None or not len(rank) else float(np.mean(np.abs(y - y.mean()))),
            optimal=bool(found["is_optimal"][j]),
            bound=float(found["bound"][j]),
            everywhere=bool(found["holds_everywhere"][j]),
            target=self.target_name,
        )

    def _condition(
        self,
        c: int,
        low: np.float32,
        high: np.float32,
        x: np.float32,
        missing: bool,
        has_values: bool,
        everywhere: bool,
    ) -> Condition:
        """Tell in the user's own values what the interval (low, high] of a column means.

        Ends are rounded, with every training row and x left on its side; if the rule is proven everywhere, inwards
        only.
        """
        column = self.encoding.columns[c]
        name = self.encoding.names[column.source]
        is_whole = column.kind != "number" and (np.isnan(x) or x == np.floor(x))
        if is_whole and has_values and np.floor(low) == np.floor(high):
            has_values = False  # nothing but missing values lies between such ends
        asked: dict[str, Any] = {"missing": missing, "values": has_values, "part": column.part}
        if not has_values or (np.isinf(low) and np.isinf(high)):
            return Condition(name, **asked)
        if column.kind == "category":
            if low < 0 and high >= len(column.labels) - 1:  # an end that only parts known from missing values
                return Condition(name, **asked)
            return Condition(name, **asked, **_labels_between(column, low, high))
        sides: tuple[Side, Side] = ("low", "high")
        neighbours = [self._neighbours(c, threshold, x) for threshold in (low, high)]
        is_empty = neighbours[0] == neighbours[1]  # x is missing: both ends lie between the same training values
        for side, threshold, (below, above) in zip(sides, (low, high), neighbours, strict=True):
            if np.isinf(threshold):
                continue
            within = side if everywhere else None
            if is_empty:
                asked[side] = float(threshold)
            elif is_whole:
                asked[side], asked[f"{side}_closed"] = round_whole_end(below, above, float(threshold), side, within)
            else:
                asked[side] = round_end(below, above, float(threshold), within)
        if is_whole and np.isinf(low) != np.isinf(high) and not is_empty:
            # "month <= 1" is January, if there is nothing below.
            values = self._sorted_values[c]
            last = values[0] if np.isinf(low) else values[-1]
            is_last = neighbours[1][0] == last if np.isinf(low) else neighbours[0][1] == last
            if is_last and (np.isnan(x) or x == last):
                asked.update(low=float(last), high=float(last), low_closed=True, high_closed=True)
        return Condition(name, **asked)

    def _neighbours(self, column: int, threshold: np.float32, x: np.float32) -> tuple[float, float]:
        """Find the training values, and x, next to a threshold: the largest up to it and the smallest beyond."""
        if column not in self._sorted_values:
            values = self.projected.forest.X[:, column]
            self._sorted_values[column] = np.unique(values[~np.isnan(values)])
        values = self._sorted_values[column]
        i = int(np.searchsorted(values, threshold, side="right"))
        below = float(values[i - 1]) if i > 0 else -np.inf
        above = float(values[i]) if i < len(values) else np.inf
        if not np.isnan(x):
            below, above = (max(below, float(x)), above) if x <= threshold else (below, min(above, float(x)))
        return below, above


def _labels_between(column: Column, low: np.float32, high: np.float32) -> dict[str, Any]:
    """Name the labels whose codes lie in (low, high]; if rare ones do, the others: rare is any label not named."""
    codes = [code for code in range(len(column.labels)) if low < code <= high]
    # There is no other weekday, so that naming those left out says the same.
    excluded = column.rare in codes or (column.part == "weekday" and 2 * len(codes) > len(column.labels))
    named = [code for code in range(len(column.labels)) if code != column.rare and (code in codes) != excluded]
    return {"labels": tuple(label for code in named for label in column.labels[code]), "excluded": excluded}


def _tell_sum(progress: Callable[[int], object], n_before: int, n_done: int) -> None:
    progress(n_before + n_done)
