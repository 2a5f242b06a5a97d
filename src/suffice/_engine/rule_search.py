"""Maximal rules of rows: the search in the core, and its boxes with bounds in the user's own values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._engine.bounds import discounted_share
from suffice._engine.ends import Bounds
from suffice._engine.fitted import Fitted
from suffice._engine.outcomes import Outcomes
from suffice._engine.search import FoundSets
from suffice._table.variables import VariableSet
from suffice.errors import did_you_mean

CHECKS = ("rows", "everywhere")
VOLUMES = ("rows", "lebesgue")
MAX_NODES = 10_000
# How many sets of a row are tried until the rule of one covers enough training rows.
MAX_TRIED = 8


@dataclass(frozen=True)
class ExplainOptions:
    """What is searched for a row: which sets, which rules, and what a rule must fulfil and maximises.

    Parameters
    ----------
    sets : {"all", "minimal"}, default="all"
        Whether every sufficient set is found, or those of the smallest size.
    rules : {"minimal", "all", None}, default="minimal"
        Which sets get a rule: the surest minimal one, every one, or none.
    check : {"rows", "everywhere"}, default="rows"
        Where in the box the SDP must be at least pi: at the training rows, or at every point.
    volume : {"rows", "lebesgue"}, default="rows"
        What is maximised: the training rows covered, or the volume within the range of the data.
    max_nodes : int, default=10000
        How many boxes the search may look at; then it returns the best so far, with what is proven about it.
    """

    sets: Literal["all", "minimal"] = "all"
    rules: Literal["minimal", "all"] | None = "minimal"
    check: Literal["rows", "everywhere"] = "rows"
    volume: Literal["rows", "lebesgue"] = "rows"
    max_nodes: int = MAX_NODES

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        if self.sets not in ("all", "minimal"):
            raise ValueError(f"`sets` must be 'all' or 'minimal', got {self.sets!r}.")
        if self.rules not in ("minimal", "all", None):
            raise ValueError(f"`rules` must be 'minimal', 'all' or None, got {self.rules!r}.")
        for name, known in (("check", CHECKS), ("volume", VOLUMES)):
            word = getattr(self, name)
            if word not in known:
                raise ValueError(f"`{name}` must be one of {list(known)}, got {word!r}.{did_you_mean(word, known)}")
        if not isinstance(self.max_nodes, int) or self.max_nodes < 1:
            raise ValueError(f"`max_nodes` must be a whole number >= 1, got {self.max_nodes!r}.")


@dataclass(frozen=True)
class FoundBox:
    """The maximal box of a row and a set, with what is known of it.

    Parameters
    ----------
    bounds : tuple of Bounds
        What it asks, in the user's own values.
    sdp : float
        The SDP at the row.
    support : int
        The training rows that it covers.
    coverage : float
        Their share of all training rows.
    n_kept : int
        How many of them have the outcome.
    precision : float or None
        An estimate of the share of new rows in the box that have the outcome; None if it covers no training row.
    mae : float or None
        Regression: the mean absolute error of their mean.
    optimal : bool
        Whether no box is better.
    bound : float
        No box is better than this.
    everywhere : bool
        Whether the SDP reaches pi at every point of the box.
    """

    bounds: tuple[Bounds, ...]
    sdp: float
    support: int
    coverage: float
    n_kept: int
    precision: float | None
    mae: float | None
    optimal: bool
    bound: float
    everywhere: bool


def find_supported_boxes(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    sets: FoundSets,
    options: ExplainOptions,
    progress: Callable[[int], object] | None = None,
) -> tuple[list[tuple[int, VariableSet]], list[FoundBox | None]]:
    """Find one maximal box for each row: that of its first sufficient set whose box covers enough training rows.

    Parameters
    ----------
    fitted : Fitted
        The fitted state; its setting `min_support` says how many rows are enough.
    X : ndarray of shape (n_rows, n_columns), float32
        The rows.
    outcomes : Outcomes
        The outcome of each row.
    sets : FoundSets
        Their sufficient sets. The first eight of a row are tried.
    options : ExplainOptions
        What a rule must fulfil and what it maximises.
    progress : callable or None
        Called with the number of rows done, several times a second.

    Returns
    -------
    row_sets : list of (int, tuple of int)
        The rows that have such a box, in their order, each with its set.
    boxes : list of FoundBox
        Their boxes.
    """
    of_rows: dict[int, tuple[VariableSet, FoundBox]] = {}
    for i in range(MAX_TRIED):
        row_sets = [(row, S) for row, S in sets.nth_by_row(i) if row not in of_rows]
        if not row_sets:
            break
        # The first sets are nearly all of the work: the others are not counted.
        boxes = find_boxes(fitted, X, outcomes, row_sets, options, progress if i == 0 else None)
        for (row, S), box in zip(row_sets, boxes, strict=True):
            if box is not None and box.support >= fitted.settings.min_support:
                of_rows[row] = S, box
        if len(of_rows) == len(X):
            break
    ordered = sorted(of_rows.items())
    return [(row, S) for row, (S, _) in ordered], [box for _, (_, box) in ordered]


def find_boxes(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    row_sets: Sequence[tuple[int, VariableSet]],
    options: ExplainOptions,
    progress: Callable[[int], object] | None = None,
) -> list[FoundBox | None]:
    """Find the maximal boxes of rows for sets.

    Parameters
    ----------
    fitted : Fitted
        The fitted state.
    X : ndarray of shape (n_rows, n_columns), float32
        The rows.
    outcomes : Outcomes
        The outcome of each row.
    row_sets : sequence of (int, tuple of int)
        The positions of rows, each with a set S.
    options : ExplainOptions
        What a rule must fulfil and what it maximises.
    progress : callable or None
        Called with the number of rows done, several times a second.

    Returns
    -------
    list of FoundBox or None
        For each pair of a row and a set its box; None where the SDP at the row is below pi.
    """
    boxes: list[FoundBox | None] = [None] * len(row_sets)
    pairs_of: dict[tuple[VariableSet, float], list[int]] = {}
    levels = fitted.levels(outcomes).tolist()
    for pair, (row, S) in enumerate(row_sets):
        pairs_of.setdefault((S, levels[row]), []).append(pair)
    n_done = 0
    low, high = outcomes.low, outcomes.high
    for (S, level), pairs in pairs_of.items():  # rows of one set together: their cells are computed once
        # Rows of one outcome together: the shares in the cells are computed once.
        pairs.sort(key=lambda pair: (int(low[row_sets[pair][0]]), int(high[row_sets[pair][0]])))
        rows = [row_sets[pair][0] for pair in pairs]
        columns, cells = fitted.projected.cells_of(S, fitted.settings.n_threads)
        arrays = _core.find_rules(
            cells=cells,
            rows=_core.Rows(X=X[rows], lo=low[rows], hi=high[rows]),
            options=_core.RuleOptions(
                pi=level,
                everywhere=options.check == "everywhere",
                by_volume=options.volume == "lebesgue",
                max_nodes=options.max_nodes,
            ),
            n_threads=fitted.settings.n_threads,
            progress=None if progress is None else _after(progress, n_done),
        )
        n_done += len(rows)
        of_set = _BoxesOfSet(fitted, columns)
        for i, (pair, row) in enumerate(zip(pairs, rows, strict=True)):
            if arrays["exists"][i]:
                core_box = {name: values[i] for name, values in arrays.items()}
                boxes[pair] = of_set.box(core_box, X[row], (int(low[row]), int(high[row])))
    return boxes


def _after(progress: Callable[[int], object], n_before: int) -> Callable[[int], object]:
    return lambda n_done: progress(n_before + n_done)


class _BoxesOfSet:
    """Boxes over the columns of one set, in the user's own values. Many rows have the same box: it is written once."""

    def __init__(self, fitted: Fitted, columns: list[int]) -> None:
        self._fitted = fitted
        self._columns = columns
        # Column by column: the table has its rows next to each other.
        self._values = np.ascontiguousarray(fitted.projected.forest.X[:, columns].T)
        self._is_missing = [np.isnan(values) if np.isnan(values).any() else None for values in self._values]
        self._known: dict[tuple[bytes, ...], FoundBox] = {}

    def box(self, core_box: dict[str, NDArray[Any]], x: NDArray[np.float32], ranks: tuple[int, int]) -> FoundBox:
        # The ends depend on x only by its values in these columns.
        key = (*(value.tobytes() for value in core_box.values()), x[self._columns].tobytes(), repr(ranks).encode())
        box = self._known.get(key)
        if box is None:
            box = self._known[key] = self._measure(core_box, x, ranks)
        return box

    def _measure(self, core_box: dict[str, NDArray[Any]], x: NDArray[np.float32], ranks: tuple[int, int]) -> FoundBox:
        fitted, forest = self._fitted, self._fitted.projected.forest
        is_covered = self._covers(core_box)
        rank = forest.y_rank[is_covered]
        n_kept = int(np.count_nonzero((ranks[0] <= rank) & (rank <= ranks[1])))
        mae = None
        if fitted.classes is None and len(rank):
            y = forest.y_values[rank]
            mae = float(np.mean(np.abs(y - y.mean())))
        return FoundBox(
            bounds=fitted.ends.bounds(self._columns, core_box, x),
            sdp=float(core_box["sdp"]),
            support=int(core_box["support"]),
            coverage=int(core_box["support"]) / len(forest.X),
            n_kept=n_kept,
            precision=_precision(fitted, n_kept, is_covered, float(core_box["mean_sdp"]), ranks),
            mae=mae,
            optimal=bool(core_box["is_optimal"]),
            bound=float(core_box["bound"]),
            everywhere=bool(core_box["holds_everywhere"]),
        )

    def _covers(self, core_box: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
        is_covered = np.ones(self._values.shape[1], dtype=bool)
        for c, (values, is_missing) in enumerate(zip(self._values, self._is_missing, strict=True)):
            low, high = core_box["low"][c], core_box["high"][c]
            has_missing = is_missing is not None and bool(core_box["missing"][c])
            if not core_box["has_values"][c]:
                is_covered &= is_missing if has_missing else False
                continue
            is_within = values <= high
            is_within &= low < values
            is_covered &= (is_within | is_missing) if has_missing else is_within
        return is_covered


def _precision(
    fitted: Fitted, n_kept: int, is_covered: NDArray[np.bool_], mean_sdp: float, ranks: tuple[int, int]
) -> float | None:
    """Estimate the share of new rows in a box that have the outcome.

    The box was chosen for its training rows, so their share is too high. The estimate is their share, discounted for
    that, and not more than what rows out of bag say: the mean SDP of the covered rows or, for a class, the mean of the
    probability that the trees give it that did not draw the row, whichever is larger.
    """
    n_rows = int(np.count_nonzero(is_covered))
    if not n_rows:
        return None
    if fitted.counts == "bootstrap":  # as in the paper
        return n_kept / n_rows
    most = mean_sdp
    if fitted.out_of_bag is not None:
        of_trees = fitted.out_of_bag[is_covered, ranks[0]]
        most = max(most, float(np.nanmean(of_trees))) if not np.isnan(of_trees).all() else most
    return min(discounted_share(n_kept, n_rows), most)
