"""The projected forest: the distribution of the outcome given X_S = x_S, for any set S of variables."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._table.cache import LastUsed

if TYPE_CHECKING:
    from suffice._forest.outcomes import Outcomes
    from suffice._forest.trees import FittedForest
    from suffice._table.variables import Variables, VariableSet

MAX_CANDIDATES = 128
"""How many variables can be searched."""
MAX_COLUMNS = 65535
"""How many columns the variables of a projection can have."""
MAX_VARIABLES = 64
"""How many variables one projection of the core can distinguish, unless it is only searched."""
# Cells of training rows that are kept for further rows with the same set.
CELLS_BYTES = 256 * 2**20

Matrix: TypeAlias = NDArray[np.float32]
Floats: TypeAlias = NDArray[np.float64]
Masks: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class ProjectedForest:
    """A fitted forest with the distribution of the outcome given any set of variables. Several threads may use it."""

    forest: FittedForest
    variables: Variables
    candidates: VariableSet
    min_node_size: int
    all_vote: bool = True
    projections: LastUsed = field(default_factory=lambda: LastUsed(1), repr=False)
    cells: LastUsed = field(default_factory=lambda: LastUsed(CELLS_BYTES, lambda cells: cells.n_bytes), repr=False)
    columns: dict[int, NDArray[np.float32]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _on_candidates: _core.Projection | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what the core cannot project. Otherwise the first question projects: that takes the most memory."""
        if self.forest.X.shape[1] > MAX_COLUMNS:
            self.on_candidates()

    def on_candidates(self, n_threads: int = 1) -> _core.Projection:
        """Project on the candidates, once: bit i of a set's mask stands for the i-th of them."""
        with self._lock:  # it is large, so that two threads must not make it both
            if self._on_candidates is None:
                projection = self._project([(variable,) for variable in self.candidates], n_threads)
                object.__setattr__(self, "_on_candidates", projection)
            assert self._on_candidates is not None
            return self._on_candidates

    @cached_property
    def _candidate_set(self) -> frozenset[int]:
        return frozenset(self.candidates)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave projections and cells out of pickles: they are computed again."""
        return type(self), (self.forest, self.variables, self.candidates, self.min_node_size, self.all_vote)

    def cells_of(self, S: VariableSet, n_threads: int) -> tuple[list[int], _core.SetCells]:
        """Return the columns of a set, and its cells as far as they are known."""
        columns = sorted(column for variable in S for column in self.variables.columns[variable])

        def make() -> _core.SetCells:
            is_known = self._candidate_set.issuperset(S)
            return _core.SetCells(
                forest=self.forest.core,
                projection=self.on_candidates(n_threads) if is_known else self._project_once([S], n_threads),
                columns=np.array(columns, dtype=np.int32),
                min_node_size=self.min_node_size,
            )

        cells: _core.SetCells = self.cells.get((S, self.min_node_size), make)
        return columns, cells

    def values_of(self, columns: Sequence[int]) -> list[NDArray[np.float32]]:
        """Return columns of the training rows, each side by side in memory: the table has the values of a row there."""
        for number in columns:
            if number not in self.columns:
                self.columns[number] = np.ascontiguousarray(self.forest.X[:, number])
        return [self.columns[number] for number in columns]

    def sdp(self, X: Matrix, sets: Sequence[VariableSet], outcomes: Outcomes, n_threads: int) -> Floats:
        """Compute the probability that the outcome is kept, given X_S = x_S."""
        sdp = np.empty(len(X))
        for rows, projection, masks in self._projections(sets, n_threads):
            sdp[rows] = _core.sdp(
                projection=projection,
                rows=_core.Rows(X=X[rows], lo=outcomes.low[rows], hi=outcomes.high[rows]),
                sets=masks,
                min_node_size=self.min_node_size,
                n_threads=n_threads,
            )
        return sdp

    def leaf_sdp(self, X: Matrix, outcomes: Outcomes, n_threads: int) -> Floats:
        """Compute the probability of the outcome given all variables, from the leaves of the forest."""
        rows = _core.Rows(X=X, lo=outcomes.low, hi=outcomes.high)
        return _core.leaf_sdp(forest=self.forest.core, rows=rows, n_threads=n_threads)

    def squared_weights(self, X: Matrix, sets: Sequence[VariableSet], n_threads: int) -> Floats:
        """Sum the squared weights of the training rows in the cells of X_S = x_S."""
        squares = np.empty(len(X))
        for rows, projection, masks in self._projections(sets, n_threads):
            squares[rows] = _core.squared_weights(
                projection=projection, X=X[rows], sets=masks, min_node_size=self.min_node_size, n_threads=n_threads
            )
        return squares

    def mean(self, X: Matrix, sets: Sequence[VariableSet], n_threads: int) -> Floats:
        """Compute the mean outcome given X_S = x_S."""
        return self._reduce(_core.mean, X, sets, 1, n_threads)[:, 0]

    def cumulative_shares(
        self, X: Matrix, sets: Sequence[VariableSet] | None, end: NDArray[np.uint32], n_threads: int
    ) -> Floats:
        """Compute the probabilities of ranks below some ends."""
        return self._reduce(partial(_core.cumulative_shares, end=end), X, sets, len(end), n_threads)

    def quantiles(self, X: Matrix, sets: Sequence[VariableSet] | None, levels: Floats, n_threads: int) -> Floats:
        """Find the smallest outcomes whose cumulative probability reaches some levels."""
        return self._reduce(partial(_core.quantiles, levels=levels), X, sets, len(levels), n_threads)

    def _reduce(
        self, reduce: Callable[..., Floats], X: Matrix, sets: Sequence[VariableSet] | None, width: int, n_threads: int
    ) -> Floats:
        """Compute `width` numbers for each row given X_S = x_S; without sets, given all of it."""

        def known(projection: _core.Projection | None, X: Matrix, masks: Masks | None) -> _core.KnownRows:
            return _core.KnownRows(
                forest=self.forest.core, projection=projection, X=X, sets=masks, min_node_size=self.min_node_size
            )

        if sets is None:
            return reduce(rows=known(None, X, None), n_threads=n_threads)
        out = np.empty((len(X), width))
        for rows, projection, masks in self._projections(sets, n_threads):
            out[rows] = reduce(rows=known(projection, X[rows], masks), n_threads=n_threads)
        return out

    def _projections(
        self, sets: Sequence[VariableSet], n_threads: int
    ) -> Iterator[tuple[NDArray[np.intp] | slice, _core.Projection, Masks]]:
        """Yield rows with a projection that distinguishes their sets, and the masks of the sets in it."""
        distinct = set(sets)
        union = tuple(sorted({variable for S in distinct for variable in S}))
        if self._candidate_set.issuperset(union) and len(self.candidates) <= MAX_VARIABLES:
            yield slice(None), self.on_candidates(n_threads), self._masks(sets, self.candidates)
        elif len(union) <= MAX_VARIABLES:
            projection = self._project_once([(variable,) for variable in union], n_threads)
            yield slice(None), projection, self._masks(sets, union)
        else:
            # A cell depends on S as a whole, so S may be one group: no limit on its size, but one projection each.
            for S in sorted(distinct):
                rows = np.flatnonzero([T == S for T in sets])
                yield rows, self._project_once([S], n_threads), np.ones(len(rows), dtype=np.uint64)

    @staticmethod
    def _masks(sets: Sequence[VariableSet], variables: VariableSet) -> Masks:
        bit = {variable: i for i, variable in enumerate(variables)}
        mask_of = {S: sum(1 << bit[variable] for variable in S) for S in set(sets)}
        return np.array([mask_of[S] for S in sets], dtype=np.uint64)

    def _project_once(self, sets: list[VariableSet], n_threads: int) -> _core.Projection:
        """Project, or take the last projection again."""
        projection: _core.Projection = self.projections.get(tuple(sets), lambda: self._project(sets, n_threads))
        return projection

    def _project(self, sets: list[VariableSet], n_threads: int) -> _core.Projection:
        return _core.Projection(
            forest=self.forest.core,
            variable_of=self.variables.number_columns(sets),
            n_variables=len(sets),
            all_vote=self.all_vote,
            n_threads=n_threads,
        )
