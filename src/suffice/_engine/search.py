"""Sufficient sets: the search among the candidates, and what it found, as arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._engine.bounds import least_sdps
from suffice._engine.fitted import Fitted
from suffice._engine.outcomes import Outcomes
from suffice._table.variables import VariableSet
from suffice.errors import SearchSizeWarning, warn

FIRST_TREES = 25
"""Over so many trees, the first ones, all variables are compared when those of a row are chosen; over all trees, only
the three best. The choice takes most of the time of a usual row."""
NO_LIMIT = 2**64 - 1
BY_ROW = (
    "best_masks",
    "best_sdps",
    "best_squares",
    "nearly_masks",
    "nearly_sdps",
    "nearly_squares",
    "is_complete",
)


@dataclass(frozen=True)
class FoundSets:
    """The sufficient sets of some rows, as arrays.

    Parameters
    ----------
    candidates : tuple of int
        The variable of each bit of a set.
    offset : ndarray of shape (n_rows + 1,)
        Row i has the sets from offset[i] up to offset[i + 1]: smallest first, then surest.
    masks : ndarray of shape (n_sets, 2)
        The sets as two words: bit i of the first for the i-th candidate, bit i of the second for the (64 + i)-th.
    sdps : ndarray
        Their SDP.
    best_masks, best_sdps : ndarray of n_rows
        The first of a row's sets; if it has none, the set with the highest SDP in its chain (docs/method.md, 1.5).
    best_squares : ndarray of shape (n_rows,)
        The sum of the squared weights of the training rows behind its SDP.
    nearly_masks, nearly_sdps, nearly_squares : ndarray of n_rows
        The same for the part of the best set that keeps at least 95 % of its SDP, if that is not sufficient or has more
        than four variables; else for the best set itself.
    is_complete : ndarray of shape (n_rows,)
        Whether all sets were searched, and not only the first of them.
    """

    candidates: VariableSet
    offset: NDArray[np.int64]
    masks: NDArray[np.uint64]
    sdps: NDArray[np.float64]
    best_masks: NDArray[np.uint64]
    best_sdps: NDArray[np.float64]
    best_squares: NDArray[np.float64]
    nearly_masks: NDArray[np.uint64]
    nearly_sdps: NDArray[np.float64]
    nearly_squares: NDArray[np.float64]
    is_complete: NDArray[np.bool_]

    def members(self, mask: NDArray[np.uint64]) -> VariableSet:
        """List the variables of a set.

        Parameters
        ----------
        mask : ndarray of shape (2,)
            The set.

        Returns
        -------
        tuple of int
            Its variables, ascending.
        """
        low, high = mask.tolist()
        bits = low | high << 64
        return tuple(sorted(v for i, v in enumerate(self.candidates) if bits >> i & 1))

    def sizes(self) -> NDArray[np.int64]:
        """Count the variables of each set.

        Returns
        -------
        ndarray of shape (n_sets,)
            The sizes.
        """
        bits = np.unpackbits(self.masks.view(np.uint8).reshape(len(self.masks), 16), axis=1)
        n_bits: NDArray[np.int64] = np.count_nonzero(bits, axis=1)
        return n_bits

    def holds(self, i: int) -> NDArray[np.bool_]:
        """Return which sets hold a candidate.

        Parameters
        ----------
        i : int
            The position of the candidate.

        Returns
        -------
        ndarray of shape (n_sets,)
            Whether each set holds it.
        """
        is_held: NDArray[np.bool_] = (self.masks[:, i // 64] >> np.uint64(i % 64) & np.uint64(1)).astype(np.bool_)
        return is_held

    def n_by_row(self) -> NDArray[np.int64]:
        """Count the sufficient sets of each row.

        Returns
        -------
        ndarray of shape (n_rows,)
            The counts.
        """
        return np.diff(self.offset)

    @classmethod
    def joined(cls, parts: Sequence[FoundSets]) -> FoundSets:
        """Join the sets of several searches among the same candidates.

        Parameters
        ----------
        parts : sequence of FoundSets
            The sets, in the order of the rows.

        Returns
        -------
        FoundSets
            All of them.
        """
        counts = np.concatenate([[0], *(part.n_by_row() for part in parts)])
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in ("masks", "sdps", *BY_ROW)
        }
        return cls(parts[0].candidates, np.cumsum(counts).astype(np.int64), **arrays)

    def in_order(self, order: NDArray[np.intp]) -> FoundSets:
        """Put the rows into another order.

        Parameters
        ----------
        order : ndarray of shape (n_rows,)
            The position of each row of the result.

        Returns
        -------
        FoundSets
            The same sets.
        """
        counts = self.n_by_row()[order]
        offset = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        of_sets = np.repeat(self.offset[:-1][order] - offset[:-1], counts) + np.arange(offset[-1])
        by_row = {name: getattr(self, name)[order] for name in BY_ROW}
        return FoundSets(self.candidates, offset, self.masks[of_sets], self.sdps[of_sets], **by_row)

    def by_row(self) -> list[tuple[int, VariableSet]]:
        """List the sufficient sets with their rows.

        Returns
        -------
        list of (int, tuple of int)
            The row of each set, and the set.
        """
        rows = np.repeat(np.arange(len(self.offset) - 1), self.n_by_row()).tolist()
        return [(row, self.members(mask)) for row, mask in zip(rows, self.masks, strict=True)]

    def nth_by_row(self, i: int) -> list[tuple[int, VariableSet]]:
        """List one sufficient set of each row.

        Parameters
        ----------
        i : int
            Which one of a row's sets: 0 for the first.

        Returns
        -------
        list of (int, tuple of int)
            The rows that have as many sets, each with its set.
        """
        rows = np.flatnonzero(self.n_by_row() > i).tolist()
        return [(row, self.members(self.masks[self.offset[row] + i])) for row in rows]


def find_sufficient_sets(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    *,
    minimal_only: bool,
    progress: Callable[[int], object] | None,
    warns: bool = True,
    needs_nearest: bool = True,
) -> FoundSets:
    """Find the sets of candidates with SDP >= pi that have no smaller part with SDP >= pi.

    Parameters
    ----------
    fitted : Fitted
        The projected forest, and the settings: the least SDP `pi`, the sizes of the sets, and `max_sets`, how many sets
        the search of a row may go through, the smallest first. If the variables say nothing about the outcomes, only
        the empty set is searched.
    X : ndarray of shape (n_rows, n_columns), float32
        The rows.
    outcomes : Outcomes
        The outcome of each row.
    minimal_only : bool
        Whether to stop at the first size that has a sufficient set.
    progress : callable or None
        Called with the number of rows done, several times a second.
    warns : bool, default=True
        Whether to raise a `SearchSizeWarning` if `max_sets` was too few.
    needs_nearest : bool, default=True
        Whether a row without a sufficient set gets the best set of its chain. If not, its best set is empty, with an
        SDP of 0.

    Returns
    -------
    FoundSets
        The sets of each row.
    """
    settings = fitted.settings
    n = fitted.n_searched
    if settings.min_size > n:
        raise ValueError(f"`min_size` is {settings.min_size}, but there are only {n} candidates.")
    levels = fitted.levels(outcomes)
    distinct = np.unique(levels) if len(levels) else np.array([settings.pi])
    if len(distinct) == 1:
        sets = _search(fitted, X, outcomes, float(distinct[0]), minimal_only, progress, needs_nearest)
    else:
        parts, rows, n_done = [], [np.flatnonzero(levels == level) for level in distinct], 0
        for level, of_level in zip(distinct, rows, strict=True):
            report = None if progress is None else functools.partial(_report, progress, n_done)
            part = outcomes.take(of_level)
            parts.append(_search(fitted, X[of_level], part, float(level), minimal_only, report, needs_nearest))
            n_done += len(of_level)
        sets = FoundSets.joined(parts).in_order(np.argsort(np.concatenate(rows)))
    if warns and not sets.is_complete.all():
        largest = n if settings.max_size is None else min(settings.max_size, n)
        n_sets = sum(math.comb(n, size) for size in range(settings.min_size, largest + 1))
        warn(
            f"The search ended after {settings.max_sets} of up to {n_sets:.3g} sets of candidates in "
            f"{np.count_nonzero(~sets.is_complete)} of {len(X)} rows: they may have other sufficient sets. Give a "
            "larger `max_sets` (None: no limit), a `max_size`, or fewer candidates.",
            SearchSizeWarning,
        )
    return sets


def _report(progress: Callable[[int], object], n_before: int, n_done: int) -> object:
    return progress(n_before + n_done)


def _search(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    level: float,
    minimal_only: bool,
    progress: Callable[[int], object] | None,
    needs_nearest: bool,
) -> FoundSets:
    """Search the sets of rows whose sufficient sets must reach the same level."""
    projected, settings = fitted.projected, fitted.settings
    n = fitted.n_searched
    smallest, largest = settings.min_size, n if settings.max_size is None else min(settings.max_size, n)
    least = np.zeros(0) if settings.confidence is None else least_sdps(level, settings.confidence)
    if not fitted.has_signal:
        # The distribution given any set is that of the empty one, which is sufficient only if it may be.
        level, smallest, largest = level if smallest == 0 else math.inf, 0, 0
    arrays = _core.search(
        projection=projected.on_candidates,
        rows=_core.Rows(X=X, lo=outcomes.low, hi=outcomes.high),
        options=_core.SearchOptions(
            pi=level,
            min_node_size=projected.min_node_size,
            min_size=smallest,
            max_size=largest,
            minimal_only=minimal_only,
            max_sets=NO_LIMIT if settings.max_sets is None else settings.max_sets,
            n_by_row=n,
            least_sdp=least,
        ),
        n_threads=settings.n_threads,
        progress=progress,
        needs_nearest=needs_nearest,
        n_first_trees=FIRST_TREES,
    )
    return FoundSets(projected.candidates, **arrays)
