"""Types of the compiled core (src/suffice/_core)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Table = NDArray[np.float32]
Ranks = NDArray[np.uint32]
Sets = NDArray[np.uint64]

class OtherTableError(ValueError): ...

def set_leak_warnings(is_on: bool) -> None: ...

class Forest:
    def __init__(self, X: Table, y_rank: Ranks, y_values: Floats) -> None: ...
    def add_tree(
        self,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        column: NDArray[np.int64],
        threshold: Floats,
        missing_go_to_left: NDArray[np.uint8],
        n_rows: Floats,
        rows: NDArray[np.int32],
    ) -> None: ...

class Projection:
    def __init__(
        self, forest: Forest, variable_of: NDArray[np.int32], n_variables: int, few_rows: int = ...
    ) -> None: ...
    @property
    def n_bytes(self) -> int: ...

def leaves(forest: Forest, X: Table, n_threads: int) -> NDArray[np.int32]: ...
def sdp(
    projection: Projection,
    X: Table,
    sets: Sets,
    lo: Ranks,
    hi: Ranks,
    min_node_size: int,
    n_threads: int,
    progress: Callable[[int], object] | None,
) -> Floats: ...
def search(
    projection: Projection,
    X: Table,
    lo: Ranks,
    hi: Ranks,
    pi: float,
    min_node_size: int,
    min_size: int,
    max_size: int,
    minimal_only: bool,
    max_sets: int,
    n_threads: int,
    progress: Callable[[int], object] | None,
) -> tuple[NDArray[np.int64], Sets, Floats, Sets, Floats, NDArray[np.uint8]]: ...
def mean(
    forest: Forest, projection: Projection | None, X: Table, sets: Sets | None, min_node_size: int, n_threads: int
) -> Floats: ...
def cumulative_shares(
    forest: Forest,
    projection: Projection | None,
    X: Table,
    sets: Sets | None,
    min_node_size: int,
    n_threads: int,
    end: Ranks,
) -> Floats: ...
def quantiles(
    forest: Forest,
    projection: Projection | None,
    X: Table,
    sets: Sets | None,
    min_node_size: int,
    n_threads: int,
    levels: Floats,
) -> Floats: ...

class SetCells:
    def __init__(self, forest: Forest, columns: NDArray[np.int32], min_node_size: int, n_threads: int = 1) -> None: ...
    @property
    def n_bytes(self) -> int: ...

def row_sdps(cells: SetCells, lo: int, hi: int) -> Floats: ...
def find_rules(
    cells: SetCells,
    X: Table,
    lo: Ranks,
    hi: Ranks,
    pi: float,
    everywhere: bool,
    by_volume: bool,
    max_nodes: int,
    max_regions: int,
    n_threads: int,
    progress: Callable[[int], object] | None,
) -> dict[str, NDArray[Any]]: ...
def kernel_names() -> list[str]: ...
def use_kernels(name: str) -> None: ...
