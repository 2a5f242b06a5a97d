"""The searches of the compiled core: sufficient sets among the candidates, and maximal rules for sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._forest.asked_rows import AskedRows
from suffice._forest.bounds import discounted_share, least_sdps
from suffice._forest.candidates import n_by_paths
from suffice._forest.fitted import Fitted
from suffice._forest.outcomes import Outcomes
from suffice._forest.progress import after, progress_bar
from suffice._table.condition import Condition
from suffice._table.variables import VariableSet
from suffice.errors import SearchSizeWarning, check_number, check_word, warn
from suffice.explaining.best_set import put_best_first
from suffice.explaining.found_sets import FoundSets, ScoredSet
from suffice.explaining.rule import Rule

FIRST_TREES = 25
"""Over so many trees, the first ones, all variables are compared when those of a row are chosen; over all trees, only
the three best. The choice takes most of the time of a usual row."""
NO_LIMIT = 2**64 - 1
SIDES = ("low", "high", "missing", "has_values")
BOX_FIELDS = (*SIDES, "sdp", "n_looked_at", "value", "bound", "mean_sdp", "is_optimal", "holds_everywhere")

# Lower levels are multiples of this. A convention, not tuned.
STEP = 0.05
# A best set of more variables, more than a person holds in mind, gets a smaller one beside it. Not tuned.
MANY = 4

Progress: TypeAlias = Callable[[int], object] | None


class _SetSearch(NamedTuple):
    """Where sufficient sets are searched: only the smallest ones or all, and also best sets of rows that have none."""

    fitted: Fitted
    minimal_only: bool
    needs_best: bool


def find_sufficient_sets(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    *,
    minimal_only: bool,
    progress: Progress,
    warns: bool = True,
    needs_best: bool = True,
) -> FoundSets:
    """Find the sets of candidates that reach the level and have no smaller part that does; the best one comes first.

    With `needs_best`, rows without a sufficient set get a best set too: that of the highest multiple of `STEP` that any
    of their sets is known to reach.
    """
    search = _SetSearch(fitted, minimal_only, needs_best)
    first = of_row = np.arange(len(X))
    if len(X) > 1:
        rows = _core.Rows(X=X, lo=outcomes.low, hi=outcomes.high)
        projection = fitted.projected.on_candidates(fitted.settings.n_threads)
        first, of_row = (rows.astype(np.intp) for rows in _core.distinct_rows(projection=projection, rows=rows))
    if len(first) == len(X):
        sets = _find_sets(search, X, outcomes, progress)
    else:  # rows that no split tells apart, with one outcome, are searched once
        report = None if progress is None else lambda n_done: progress(n_done * len(X) // len(first))
        sets = _find_sets(search, X[first], outcomes.take(first), report).in_order(of_row)
    if warns and not sets.is_complete.all():
        settings, n = fitted.settings, fitted.n_searched
        largest = n if settings.max_size is None else min(settings.max_size, n)
        n_sets = sum(math.comb(n, size) for size in range(settings.min_size, largest + 1))
        warn(
            f"The search ended after {settings.max_sets} of up to {n_sets:.3g} sets of candidates in "
            f"{np.count_nonzero(~sets.is_complete)} of {len(X)} rows: they may have other sufficient sets. Give a "
            "larger `max_sets` (None: no limit), a `max_size`, or fewer candidates.",
            SearchSizeWarning,
        )
    return sets


def _find_sets(search: _SetSearch, X: NDArray[np.float32], outcomes: Outcomes, progress: Progress) -> FoundSets:
    """Find the sets of rows that differ, and put the best one first."""
    sets, below = _search_levels(search, X, outcomes, progress)
    sets = put_best_first(search.fitted, X, outcomes, sets)
    return sets if below is None else _with_sets_below(search.fitted, X, outcomes, sets, below)


def _with_sets_below(
    fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets, below: FoundSets
) -> FoundSets:
    """Give rows without a sufficient set the best one below their level, and rows with large sets a smaller one."""
    rows = np.flatnonzero(below.n_by_row())
    if not len(rows):
        return sets
    part = put_best_first(fitted, X[rows], outcomes.take(rows), below.in_order(rows))
    has_set = sets.n_by_row()[rows] > 0
    names = ("best_masks", "best_sdps", "best_squares")
    best = {name: getattr(sets, name).copy() for name in (*names, "offered")}
    for name, array in best.items():
        array[rows[~has_set]] = getattr(part, name)[~has_set]
    smaller: dict[int, ScoredSet] = {}
    for i in np.flatnonzero(has_set).tolist():
        S = part.members(part.best_masks[i])
        if len(S) < len(sets.members(sets.best_masks[rows[i]])):
            smaller[int(rows[i])] = ScoredSet(S, float(part.best_sdps[i]))
    return replace(sets, **best, smaller=smaller)


def _search_levels(
    search: _SetSearch, X: NDArray[np.float32], outcomes: Outcomes, progress: Progress
) -> tuple[FoundSets, FoundSets | None]:
    """Search the sets of all rows, those of one level at a time; None instead of sets below it if they have none."""
    fitted, settings = search.fitted, search.fitted.settings
    if settings.min_size > fitted.n_searched:
        raise ValueError(f"`min_size` is {settings.min_size}, but there are only {fitted.n_searched} candidates.")
    levels = fitted.levels(outcomes)
    distinct = np.unique(levels) if len(levels) > 1 else levels if len(levels) else np.array([settings.pi])
    if len(distinct) == 1:
        return _search(search, X, outcomes, float(distinct[0]), progress)
    parts, rows, n_done = [], [np.flatnonzero(levels == level) for level in distinct], 0
    for level, of_level in zip(distinct, rows, strict=True):
        part = outcomes.take(of_level)
        parts.append(_search(search, X[of_level], part, float(level), after(n_done, progress)))
        n_done += len(of_level)
    order = np.argsort(np.concatenate(rows))
    sets = FoundSets.joined([part[0] for part in parts]).in_order(order)
    below = [part[1] for part in parts if part[1] is not None]
    return sets, FoundSets.joined(below).in_order(order) if below else None


def _search(
    search: _SetSearch, X: NDArray[np.float32], outcomes: Outcomes, level: float, progress: Progress
) -> tuple[FoundSets, FoundSets | None]:
    """Search the sets of rows whose sufficient sets must reach the same level."""
    fitted, minimal_only, needs_best = search
    projected, settings = fitted.projected, fitted.settings
    n, confidence = fitted.n_searched, settings.confidence
    smallest, largest = settings.min_size, n if settings.max_size is None else min(settings.max_size, n)
    needs_below = needs_best and fitted.has_signal
    least, least_below = np.zeros(0), []
    if confidence is not None:
        least = least_sdps(level, confidence)
        if needs_below:
            lower = [level - STEP, *(k / round(1 / STEP) for k in range(1, round(1 / STEP)))]
            least_below = [(other, least_sdps(other, confidence)) for other in lower if other > 0]
    if not fitted.has_signal:
        # The distribution given any set is that of the empty one, which is sufficient only if it may be.
        level, smallest, largest = level if smallest == 0 else math.inf, 0, 0
    found = _core.search(
        projection=projected.on_candidates(settings.n_threads),
        rows=_core.Rows(X=X, lo=outcomes.low, hi=outcomes.high),
        options=_core.SearchOptions(
            pi=level,
            min_node_size=projected.min_node_size,
            min_size=smallest,
            max_size=largest,
            minimal_only=minimal_only,
            max_sets=NO_LIMIT if settings.max_sets is None else settings.max_sets,
            n_by_row=n,
            n_by_paths=n_by_paths(settings.candidates, n),
            n_first_trees=FIRST_TREES,
            needs_best=needs_best,
            step=STEP if needs_below else 0.0,
            many=MANY,
            least_sdp=least,
            least_below=least_below,
        ),
        n_threads=settings.n_threads,
        progress=progress,
    )
    sets, below = (FoundSets.of_arrays(projected.candidates, arrays) for arrays in found)
    return replace(sets, offered=np.full(len(X), np.nan)), below if needs_below else None


MAX_NODES = 10_000
_WORDS = {
    "sets": ("minimal", "all"),
    "rules": ("minimal", "all", None),
    "check": ("rows", "everywhere"),
    "volume": ("rows", "lebesgue"),
}


@dataclass(frozen=True)
class ExplainOptions:
    """What is searched for a row: which sets, which rules, and what a rule must fulfil and maximises."""

    sets: Literal["minimal", "all"] = "minimal"
    rules: Literal["minimal", "all"] | None = "minimal"
    check: Literal["rows", "everywhere"] = "everywhere"
    volume: Literal["rows", "lebesgue"] = "rows"
    max_nodes: int = MAX_NODES

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        for name, known in _WORDS.items():
            if getattr(self, name) not in known:
                check_word(name, getattr(self, name), known)
        if self.max_nodes != MAX_NODES:
            check_number("max_nodes", self.max_nodes, "a whole number >= 1", lambda v: v >= 1, int)


def find_maximal_rules(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    row_sets: Sequence[tuple[int, VariableSet]],
    options: ExplainOptions,
    progress: Callable[[int], object] | None = None,
) -> list[Rule | None]:
    """Find the maximal rules of rows for sets; None where the SDP at the row is below the level."""
    rules: list[Rule | None] = [None] * len(row_sets)
    pairs_of: dict[tuple[VariableSet, float], list[int]] = {}
    levels = fitted.levels(outcomes).tolist()
    for pair, (row, S) in enumerate(row_sets):
        pairs_of.setdefault((S, levels[row]), []).append(pair)
    n_done = 0
    low, high, intervals = outcomes.low, outcomes.high, outcomes.intervals
    base_rates = fitted.base_rates(outcomes).tolist() if intervals is None else None
    for (S, level), pairs in pairs_of.items():  # rows of one set together: their cells are computed once
        # Rows of one outcome together: the shares in the cells are computed once.
        pairs.sort(key=lambda pair: (int(low[row_sets[pair][0]]), int(high[row_sets[pair][0]])))
        rows = [row_sets[pair][0] for pair in pairs]
        columns, cells = fitted.projected.cells_of(S, fitted.settings.n_threads)
        boxes = _core.find_rules(
            cells=cells,
            rows=_core.Rows(X=X[rows], lo=low[rows], hi=high[rows]),
            options=_core.RuleOptions(
                pi=level,
                everywhere=options.check == "everywhere",
                by_volume=options.volume == "lebesgue",
                max_nodes=options.max_nodes,
            ),
            n_threads=fitted.settings.n_threads,
            progress=progress and after(n_done, progress),
        )
        n_done += len(rows)
        of_set = _BoxesOfSet(fitted, columns, options.volume)
        for i, (pair, row) in enumerate(zip(pairs, rows, strict=True)):
            if boxes.exists[i]:
                core_box = {name: getattr(boxes, name)[i] for name in BOX_FIELDS}
                figures = of_set.figures(core_box, X[row], (int(low[row]), int(high[row])))
                rules[pair] = Rule(
                    **figures,
                    outcome=outcomes.values[row],
                    interval=None if intervals is None else tuple(intervals[row].tolist()),
                    target=fitted.target,
                    base_rate=None if base_rates is None else base_rates[row],
                    is_whole=fitted.has_whole_outcomes,
                )
    return rules


class _Covered(NamedTuple):
    """What the training rows in a box say. `of_trees` is the mean probability of the class, out of bag."""

    n_rows: int
    n_kept: int
    mae: float | None
    of_trees: float


class _BoxesOfSet:
    """Boxes over the columns of one set, in the user's own values. Many rows have the same box: it is counted once."""

    def __init__(self, fitted: Fitted, columns: list[int], volume: str) -> None:
        self._fitted = fitted
        self._forest = fitted.forest
        self._columns = columns
        self._by_rows = volume == "rows"
        self._covered: dict[tuple[bytes, ...], _Covered] = {}
        self._conditions: dict[tuple[bytes, ...], tuple[Condition, ...]] = {}

    def figures(
        self, core_box: dict[str, NDArray[Any]], x: NDArray[np.float32], ranks: tuple[int, int]
    ) -> dict[str, Any]:
        """Return the conditions and the figures of the rule of a box, as arguments of a ``Rule``."""
        box = tuple(core_box[name].tobytes() for name in SIDES)
        key = (*box, repr(ranks).encode())
        if key not in self._covered:
            self._covered[key] = self._count(core_box, ranks)
        covered = self._covered[key]
        # The ends depend on x only by its values in these columns.
        key = (*box, core_box["holds_everywhere"].tobytes(), x[self._columns].tobytes())
        if key not in self._conditions:
            self._conditions[key] = self._fitted.ends.bounds(self._columns, core_box, x)
        n_rows, n_looked_at, bound = len(self._forest.X), int(core_box["n_looked_at"]), float(core_box["bound"])
        is_sample = n_looked_at < n_rows
        if is_sample and self._by_rows:  # what a better rule may cover more, as a share of the rows looked at
            bound = covered.n_rows + (bound - float(core_box["value"])) * n_rows / n_looked_at
        return {
            "conditions": self._conditions[key],
            "sdp": float(core_box["sdp"]),
            "support": covered.n_rows,
            "coverage": covered.n_rows / n_rows,
            "n_kept": covered.n_kept,
            "precision": _precision(self._fitted, covered, float(core_box["mean_sdp"])),
            "mae": covered.mae,
            "optimal": bool(core_box["is_optimal"]),
            "bound": bound,
            "everywhere": bool(core_box["holds_everywhere"]),
            "n_looked_at": n_looked_at if is_sample else None,
        }

    def _count(self, core_box: dict[str, NDArray[Any]], ranks: tuple[int, int]) -> _Covered:
        fitted, forest = self._fitted, self._forest
        rows = self._covered_rows(core_box)
        rank = forest.y_rank[rows]
        mae, of_trees = None, math.nan
        if fitted.classes is None and len(rows):
            y = forest.y_values[rank]
            mae = float(np.mean(np.abs(y - y.mean())))
        if fitted.out_of_bag is not None:
            shares = fitted.out_of_bag[rows, ranks[0]]
            of_trees = math.nan if np.isnan(shares).all() else float(np.nanmean(shares))
        return _Covered(len(rows), int(np.count_nonzero((ranks[0] <= rank) & (rank <= ranks[1]))), mae, of_trees)

    def _covered_rows(self, core_box: dict[str, NDArray[Any]]) -> NDArray[np.intp]:
        is_covered = np.ones(len(self._forest.X), dtype=bool)
        for c, values in enumerate(self._fitted.projected.values_of(self._columns)):
            is_within = values <= core_box["high"][c]
            is_within &= core_box["low"][c] < values
            is_within &= core_box["has_values"][c]
            if core_box["missing"][c]:
                is_within |= np.isnan(values)
            is_covered &= is_within
        return np.flatnonzero(is_covered)


def _precision(fitted: Fitted, covered: _Covered, mean_sdp: float) -> float | None:
    """Estimate the share of new rows in a box that have the outcome.

    The box was chosen for its training rows, so their share is too high. The estimate is their share, discounted for
    that, and not more than what rows out of bag say: the mean SDP of the covered rows or, for a class, the mean of the
    probability that the trees give it that did not draw the row, whichever is larger.
    """
    if not covered.n_rows:
        return None
    if fitted.counts != "out-of-bag":  # as in the paper
        return covered.n_kept / covered.n_rows
    most = mean_sdp if math.isnan(covered.of_trees) else max(mean_sdp, covered.of_trees)
    return min(discounted_share(covered.n_kept, covered.n_rows), most)


def find_rules(
    state: Fitted,
    matrix: NDArray[np.float32],
    outcomes: Outcomes,
    sets: FoundSets,
    options: ExplainOptions,
    progress: bool | None,
) -> list[tuple[Rule, ...]]:
    """Find the rules of each row: of all its sufficient sets, or of the best one if it covers enough training rows."""
    of_all = options.rules == "all"
    n_boxes = len(sets.masks) if of_all else len(matrix)
    with progress_bar(n_boxes, progress, "rules") as report:
        row_sets = sets.by_row() if of_all else sets.best_by_row()
        rules = find_maximal_rules(state, matrix, outcomes, row_sets, options, report)
    rules_of: list[tuple[Rule, ...]] = [()] * len(matrix)
    least = 0 if of_all else state.settings.min_support
    for (row, _), rule in zip(row_sets, rules, strict=True):
        if rule is not None and rule.support >= least:
            rules_of[row] += (rule,)
    return rules_of


def find_rules_of_sets(state: Fitted, rows: AskedRows, S: Any, options: ExplainOptions) -> list[Rule | None]:
    """Find the maximal rules of rows for sets of the user's choice."""
    sets = state.variables.subsets(S, len(rows.matrix))
    if not all(sets):
        raise ValueError("`S` must name at least one variable: a rule without variables has no bounds.")
    return find_maximal_rules(state, rows.matrix, rows.outcomes(state), list(enumerate(sets)), options)


def find_only_rules(
    state: Fitted, rows: AskedRows, options: ExplainOptions, progress: bool | None
) -> list[tuple[Rule, ...]]:
    """Find the rule of each row without anything that an explanation would show beside it."""
    outcomes = rows.outcomes(state)
    with progress_bar(len(rows.matrix), progress) as report:
        sets = find_sufficient_sets(state, rows.matrix, outcomes, minimal_only=True, progress=report, needs_best=False)
    return find_rules(state, rows.matrix, outcomes, sets, options, progress)
