"""The compiled core: forests, projections, cells and the searches in them, in C++20.

Arrays go in and arrays come out: names, tables and messages for people belong to the modules above. Each header covers
one idea, and only ``module.cpp`` and ``bind_*.cpp`` know Python, one file for each theme. Every argument is a keyword.
Calls release the GIL, stop at Ctrl-C, and return the same bits for any number of threads.
"""

from suffice._core._native import (
    ChangeOptions,
    ChangeSpace,
    Forest,
    OtherTableError,
    Projection,
    Rows,
    RuleOptions,
    SearchOptions,
    SetCells,
    Tree,
    ValueBoxes,
    cumulative_shares,
    find_changes,
    find_rules,
    kernel_names,
    leaf_sdp,
    leaves,
    mean,
    predict,
    quantiles,
    row_sdps,
    sdp,
    search,
    set_leak_warnings,
    squared_weights,
    use_kernels,
)

__all__ = [
    "ChangeOptions",
    "ChangeSpace",
    "Forest",
    "OtherTableError",
    "Projection",
    "Rows",
    "RuleOptions",
    "SearchOptions",
    "SetCells",
    "Tree",
    "ValueBoxes",
    "cumulative_shares",
    "find_changes",
    "find_rules",
    "kernel_names",
    "leaf_sdp",
    "leaves",
    "mean",
    "predict",
    "quantiles",
    "row_sdps",
    "sdp",
    "search",
    "set_leak_warnings",
    "squared_weights",
    "use_kernels",
]
