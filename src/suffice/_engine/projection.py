"""The projected forest: the distribution of the outcome given X_S = x_S, for any set S of variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._engine.forest import FittedForest
from suffice._table.variables import Variables, VariableSet

MAX_CANDIDATES = 128
"""How many variables can be searched."""
MAX_VARIABLES = 64
"""How many variables one projection of the core can tell apart, unless it is only searched."""

Table: TypeAlias = NDArray[np.float32]
Floats: TypeAlias = NDArray[np.float64]
Reduction: TypeAlias = Callable[[_core.Projection, Table, NDArray[np.uint64]], Floats]


def as_mask(positions: Sequence[int]) -> int:
    """Write a set of small numbers as the bits of an integer.

    Parameters
    ----------
    positions : sequence of int
        Numbers from 0 to 63.

    Returns
    -------
    int
        The integer whose bits at these positions are on.
    """
    mask = 0
    for position in positions:
        mask |= 1 << position
    return mask


@dataclass
class ProjectedForest:
    """A fitted forest that can be asked about any set of variables.

    Parameters
    ----------
    forest : FittedForest
        The forest.
    variables : Variables
        The variables of its table.
    candidates : tuple of int
        The variables among which sufficient sets are searched, at most 128; their projection is kept.
    min_node_size : int
        A cell is not cut down below this many rows.
    n_threads : int
        How many threads work on a call.
    """

    forest: FittedForest
    variables: Variables
    candidates: VariableSet
    min_node_size: int
    n_threads: int
    on_candidates: _core.Projection = field(init=False, repr=False)
    _last: tuple[tuple[VariableSet, ...], _core.Projection] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Project onto the candidates: bit i of a set's mask stands for the i-th of them."""
        self.on_candidates = self._project([(variable,) for variable in self.candidates])

    def use_threads(self, n_threads: int) -> None:
        """Set how many threads work on a call.

        Parameters
        ----------
        n_threads : int
            Their number.
        """
        self.n_threads = self.forest.n_threads = n_threads

    def sdp(self, X: Table, sets: Sequence[VariableSet], lo: NDArray[np.uint32], hi: NDArray[np.uint32]) -> Floats:
        """Compute the probability that the outcome's rank lies in [lo, hi], given X_S = x_S.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32
            The rows.
        sets : sequence of tuple of int
            The set S of each row.
        lo, hi : ndarray of shape (n_rows,)
            The outcome of each row, as ranks among the distinct training outcomes, both ends included.

        Returns
        -------
        ndarray of shape (n_rows,)
            The SDP.
        """
        sdp = np.empty(len(X))
        for rows, projection, masks in self._projections(sets):
            sdp[rows] = _core.sdp(
                projection=projection,
                rows=_core.Rows(X=X[rows], lo=lo[rows], hi=hi[rows]),
                sets=masks,
                min_node_size=self.min_node_size,
                n_threads=self.n_threads,
            )
        return sdp

    def mean(self, X: Table, sets: Sequence[VariableSet]) -> Floats:
        """Compute the mean outcome given X_S = x_S.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32
            The rows.
        sets : sequence of tuple of int
            The set S of each row.

        Returns
        -------
        ndarray of shape (n_rows,)
            The means.
        """

        def reduce(projection: _core.Projection, X: Table, masks: NDArray[np.uint64]) -> Floats:
            return _core.mean(
                forest=self.forest.core,
                projection=projection,
                X=X,
                sets=masks,
                min_node_size=self.min_node_size,
                n_threads=self.n_threads,
            )

        return self._reduce(reduce, X, sets, width=1)[:, 0]

    def cumulative_shares(self, X: Table, sets: Sequence[VariableSet] | None, end: NDArray[np.uint32]) -> Floats:
        """Compute the probabilities of ranks below some ends.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32
            The rows.
        sets : sequence of tuple of int, or None
            The set S of each row; None for the leaves of the forest itself.
        end : ndarray of shape (n_ends,)
            Ascending ends: ranks below them count.

        Returns
        -------
        ndarray of shape (n_rows, n_ends)
            The probabilities.
        """

        def reduce(projection: _core.Projection | None, X: Table, masks: NDArray[np.uint64] | None) -> Floats:
            return _core.cumulative_shares(
                forest=self.forest.core,
                projection=projection,
                X=X,
                sets=masks,
                min_node_size=self.min_node_size,
                n_threads=self.n_threads,
                end=end,
            )

        return reduce(None, X, None) if sets is None else self._reduce(reduce, X, sets, len(end))

    def quantiles(self, X: Table, sets: Sequence[VariableSet] | None, levels: Floats) -> Floats:
        """Find the smallest outcomes whose cumulative probability reaches some levels.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32
            The rows.
        sets : sequence of tuple of int, or None
            The set S of each row; None for the leaves of the forest itself.
        levels : ndarray of shape (n_levels,)
            The levels.

        Returns
        -------
        ndarray of shape (n_rows, n_levels)
            Outcomes of training rows.
        """

        def reduce(projection: _core.Projection | None, X: Table, masks: NDArray[np.uint64] | None) -> Floats:
            return _core.quantiles(
                forest=self.forest.core,
                projection=projection,
                X=X,
                sets=masks,
                min_node_size=self.min_node_size,
                n_threads=self.n_threads,
                levels=levels,
            )

        return reduce(None, X, None) if sets is None else self._reduce(reduce, X, sets, len(levels))

    def _reduce(self, reduce: Reduction, X: Table, sets: Sequence[VariableSet], width: int) -> Floats:
        out = np.empty((len(X), width))
        for rows, projection, masks in self._projections(sets):
            out[rows] = reduce(projection, X[rows], masks)
        return out

    def _projections(
        self, sets: Sequence[VariableSet]
    ) -> Iterator[tuple[NDArray[np.intp] | slice, _core.Projection, NDArray[np.uint64]]]:
        """Yield rows with a projection that can tell their sets apart, and the masks of the sets in it."""
        distinct = set(sets)
        union = tuple(sorted({variable for S in distinct for variable in S}))
        if set(union) <= set(self.candidates) and len(self.candidates) <= MAX_VARIABLES:
            yield slice(None), self.on_candidates, self._masks(sets, self.candidates)
        elif len(union) <= MAX_VARIABLES:
            projection = self._project_once([(variable,) for variable in union])
            yield slice(None), projection, self._masks(sets, union)
        else:
            # A cell depends on S as a whole, so S may be one group: no limit on its size, but one projection each.
            for S in sorted(distinct):
                rows = np.flatnonzero([T == S for T in sets])
                yield rows, self._project_once([S]), np.ones(len(rows), dtype=np.uint64)

    @staticmethod
    def _masks(sets: Sequence[VariableSet], variables: VariableSet) -> NDArray[np.uint64]:
        bit = {variable: i for i, variable in enumerate(variables)}
        mask_of = {S: as_mask([bit[variable] for variable in S]) for S in set(sets)}
        return np.array([mask_of[S] for S in sets], dtype=np.uint64)

    def _project_once(self, sets: list[VariableSet]) -> _core.Projection:
        """Project, or take the last projection again: a loop over rows asks for the same one many times."""
        if self._last is None or self._last[0] != tuple(sets):
            self._last = None  # frees its memory before the next is made
            self._last = tuple(sets), self._project(sets)
        return self._last[1]

    def _project(self, sets: list[VariableSet]) -> _core.Projection:
        return _core.Projection(
            forest=self.forest.core, variable_of=self.variables.number_columns(sets), n_variables=len(sets)
        )
