"""Types of the compiled core."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Matrix = NDArray[np.float32]
Ranks = NDArray[np.uint32]
Sets = NDArray[np.uint64]
Flags = NDArray[np.uint8]
Progress = Callable[[int], object] | None

nanobind_version: tuple[int, int, int]

class OtherTableError(ValueError): ...

def set_leak_warnings(*, is_on: bool) -> None: ...

class Tree:
    def __init__(
        self,
        *,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        column: NDArray[np.int64],
        threshold: Floats,
        missing_go_to_left: NDArray[np.uint8],
        n_rows: Floats,
        value: Floats,
        rows: NDArray[np.int32],
    ) -> None: ...

class Forest:
    def __init__(self, *, X: Matrix, y_rank: Ranks, y_values: Floats, n_levels: Sequence[int] = ()) -> None: ...
    def add_trees(
        self,
        *,
        trees: list[Tree],
        drawn: Sequence[NDArray[np.int32]] = ...,
        n_threads: int = ...,
    ) -> list[Floats]: ...

def leaves(*, forest: Forest, X: Matrix, n_threads: int) -> NDArray[np.int32]: ...
def predict(*, forest: Forest, X: Matrix, n_threads: int) -> Floats: ...
def expected_ranks(
    *, forest: Forest, rows: NDArray[np.int64], is_asked: Flags
) -> tuple[Ranks, NDArray[np.float32], NDArray[np.int64]]: ...
def take_votes(*, forest: Forest) -> tuple[Floats, NDArray[np.uint32]]: ...
def gains(*, forest: Forest, variable_of: NDArray[np.int32], n_variables: int, n_threads: int) -> Floats: ...

class Projection:
    def __init__(
        self,
        *,
        forest: Forest,
        variable_of: NDArray[np.int32],
        n_variables: int,
        all_vote: bool = ...,
        n_threads: int = ...,
    ) -> None: ...
    @property
    def n_bytes(self) -> int: ...

class Rows:
    def __init__(self, *, X: Matrix, lo: Ranks, hi: Ranks) -> None: ...

class KnownRows:
    def __init__(
        self, *, forest: Forest, projection: Projection | None, X: Matrix, sets: Sets | None, min_node_size: int
    ) -> None: ...

def sdp(*, projection: Projection, rows: Rows, sets: Sets, min_node_size: int, n_threads: int) -> Floats: ...
def squared_weights(*, projection: Projection, X: Matrix, sets: Sets, min_node_size: int, n_threads: int) -> Floats: ...
def leaf_sdp(*, forest: Forest, rows: Rows, n_threads: int) -> Floats: ...
def mean(*, rows: KnownRows, n_threads: int) -> Floats: ...
def cumulative_shares(*, rows: KnownRows, end: Ranks, n_threads: int) -> Floats: ...
def quantiles(*, rows: KnownRows, levels: Floats, n_threads: int) -> Floats: ...

class SearchOptions:
    def __init__(
        self,
        *,
        pi: float,
        min_node_size: int,
        min_size: int,
        max_size: int,
        minimal_only: bool,
        max_sets: int,
        n_by_row: int,
        n_by_paths: int = ...,
        n_first_trees: int = ...,
        needs_best: bool = ...,
        step: float = ...,
        many: int = ...,
        least_sdp: Floats,
        least_below: Sequence[tuple[float, Floats]] = ...,
    ) -> None: ...

class SearchArrays:
    @property
    def offset(self) -> NDArray[np.int64]: ...
    @property
    def masks(self) -> Sets: ...
    @property
    def sdps(self) -> Floats: ...
    @property
    def best_masks(self) -> Sets: ...
    @property
    def best_sdps(self) -> Floats: ...
    @property
    def is_complete(self) -> NDArray[np.bool_]: ...
    @property
    def level_below(self) -> Floats: ...

def distinct_rows(*, projection: Projection, rows: Rows) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]: ...
def search(
    *,
    projection: Projection,
    rows: Rows,
    options: SearchOptions,
    n_threads: int,
    progress: Progress = None,
) -> tuple[SearchArrays, SearchArrays]: ...

class LookedAt:
    def __init__(self, *, few: int, most: int, enough: int) -> None: ...

class SetCells:
    def __init__(
        self,
        *,
        forest: Forest,
        projection: Projection,
        columns: NDArray[np.int32],
        min_node_size: int,
        looked_at: LookedAt = ...,
    ) -> None: ...
    @property
    def n_bytes(self) -> int: ...

class RuleOptions:
    def __init__(
        self, *, pi: float, everywhere: bool, by_volume: bool, max_nodes: int, max_regions: int = ...
    ) -> None: ...

class RuleArrays:
    @property
    def exists(self) -> NDArray[np.bool_]: ...
    @property
    def sdp(self) -> Floats: ...
    @property
    def low(self) -> Matrix: ...
    @property
    def high(self) -> Matrix: ...
    @property
    def missing(self) -> NDArray[np.bool_]: ...
    @property
    def has_values(self) -> NDArray[np.bool_]: ...
    @property
    def n_looked_at(self) -> NDArray[np.int64]: ...
    @property
    def value(self) -> Floats: ...
    @property
    def bound(self) -> Floats: ...
    @property
    def mean_sdp(self) -> Floats: ...
    @property
    def is_optimal(self) -> NDArray[np.bool_]: ...
    @property
    def holds_everywhere(self) -> NDArray[np.bool_]: ...

def find_rules(
    *, cells: SetCells, rows: Rows, options: RuleOptions, n_threads: int, progress: Progress = None
) -> RuleArrays: ...

class ValueBoxes:
    def __init__(self, *, low: Matrix, high: Matrix, has_values: Flags, missing: Flags) -> None: ...

class ChangeOptions:
    def __init__(
        self,
        *,
        variable_of: Sequence[int],
        allowed: Sequence[Sequence[float]],
        pi: float,
        min_plausibility: float,
        everywhere: bool,
        votes: bool,
        minimal_only: bool,
        min_size: int,
        max_size: int,
        n_changes: int,
        max_sets: int,
        max_nodes: int,
        n_candidates: int,
        min_node_size: int,
    ) -> None: ...

def find_changes(
    *,
    forest: Forest,
    options: ChangeOptions,
    regions: ValueBoxes,
    limits: ValueBoxes,
    wanted: Flags,
    target: NDArray[np.int32],
    n_threads: int,
    progress: Progress = None,
) -> list[tuple[list[dict[str, Any]], dict[str, Any] | None, bool, bool]]: ...

class PieceTrees:
    def __init__(
        self,
        *,
        n_pieces: NDArray[np.int32],
        column_of_split: NDArray[np.int32],
        goes_left: NDArray[np.uint8],
        roots: NDArray[np.int32],
        split: NDArray[np.int32],
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        value: Floats,
    ) -> None: ...

class ProofOptions:
    def __init__(self, *, wanted: int, max_nodes: int, max_seconds: float, starts: Sequence[int]) -> None: ...

def search_box(
    *,
    trees: PieceTrees,
    options: ProofOptions,
    allowed: NDArray[np.uint8],
    weights: Floats,
    level: float,
    is_strict: bool,
    cost: NDArray[np.int64],
    most_cost: int,
) -> tuple[bool, bool, NDArray[np.int32], float, float, int, int]: ...
def sum_leaves(*, trees: PieceTrees, points: NDArray[np.int32]) -> Floats: ...
def kernel_names() -> list[str]: ...
def use_kernels(*, name: str) -> None: ...
