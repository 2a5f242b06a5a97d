"""The trees of one model, joined to an ensemble, and how far a library's sum of them is from the exact one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._table.input import match_columns
from suffice._table.table import Table, numbered_names
from suffice._text import counted
from suffice.proofs.ensemble import LEAF, Ensemble, Floats, ModelColumn

DOUBLE, SINGLE = 53, 24  # bits of a float64 and of a float32


def names_of(fitted: Any, n_columns: int, table: Table | None) -> list[str]:
    """Return the names of a model's columns, and refuse a table of another model."""
    names = None if fitted is None else [str(name) for name in fitted]
    if names is not None and len(names) != n_columns:
        raise ValueError(f"The model names {len(names)} columns and has {n_columns}.")
    own = list(table.names) if table is not None and table.has_names else None
    if own is not None and names is not None:
        match_columns(own, names, "error")
    elif table is not None and len(table.names) != n_columns:
        without = "" if names else " without names"
        raise ValueError(f"`X` has {len(table.names)} columns, the model was fitted on {n_columns}{without}.")
    return names or own or numbered_names(n_columns)


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree; its root is node 0."""

    column: NDArray[Any]  # LEAF at a leaf
    threshold: Floats
    missing_left: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    leaves: Floats  # what nodes add, (n_nodes, n_outputs), or (n_nodes,) to one output
    label_sets: Mapping[int, NDArray[np.bool_]]  # by node: which codes go left
    output: int = 0


def unreadable(name: str, why: str) -> ValueError:
    """Make the error about a model that cannot be read."""
    return ValueError(f"{name} cannot be read as trees: {why}.")


def join_trees(
    trees: Sequence[Tree],
    columns: Sequence[ModelColumn],
    start: Floats,
    name: str,
    *,
    is_float32: bool = False,
    bits: int = DOUBLE,
    is_as_added: bool = True,
    slack: float = 0.0,
    **decision: Any,
) -> Ensemble:
    """Make one ensemble of trees; thresholds on codes of labels become sets of labels.

    If the library rounds numbers to float32 first, thresholds become those of the numbers before.
    """
    if not trees:
        raise unreadable(name, "it has none")
    sizes = [len(tree.column) for tree in trees]
    first = np.cumsum([0, *sizes[:-1]])
    column, threshold, missing_left, left, right = (
        np.concatenate([getattr(tree, part) for tree in trees])
        for part in ("column", "threshold", "missing_left", "left", "right")
    )
    if any(part.dtype.kind not in "iub" for part in (column, missing_left, left, right)):
        raise unreadable(name, "a node has a number that is not whole")
    n_labels = np.array([0 if c.labels is None else len(c.labels) for c in columns])
    sets = {at + node: goes for at, tree in zip(first, trees, strict=True) for node, goes in tree.label_sets.items()}
    is_known = (column >= 0) & (column < len(columns))
    for node in np.flatnonzero(is_known & (n_labels[np.where(is_known, column, 0)] > 0)):
        if node not in sets:
            sets[node] = np.arange(n_labels[column[node]]) <= threshold[node]
    label_set, label_sets = number_sets(sets, len(column), int(n_labels.max(initial=0)))
    is_leaf = column == LEAF
    value = np.zeros((len(column), len(start)))
    for at, tree in zip(first, trees, strict=True):
        if not 0 <= tree.output < len(start):
            raise unreadable(name, f"a tree adds to output {tree.output} of {len(start)}")
        of_tree = slice(at, at + len(tree.column)), slice(None) if tree.leaves.ndim > 1 else tree.output
        value[of_tree] = tree.leaves
    value[~is_leaf] = 0
    left, right = (np.where(is_leaf, LEAF, np.clip(p, -1, len(p)) + np.repeat(first, sizes)) for p in (left, right))
    return Ensemble(
        tuple(columns),
        roots=first.astype(np.int32),
        column=column.astype(np.int32),
        threshold=np.where(is_leaf | (label_set >= 0), 0.0, of_float32(threshold) if is_float32 else threshold),
        label_set=label_set,
        label_sets=label_sets,
        missing_left=missing_left.astype(bool) & ~is_leaf,
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        value=value,
        start=start,
        rounding=slack + bound_of_rounding(value, is_leaf, first, start, bits, is_as_added),
        name=f"{name} ({counted(len(trees), 'tree')})",
        **decision,
    )


def of_float32(thresholds: Floats) -> Floats:
    """Return the largest float64 numbers that, rounded to float32, are at most these thresholds."""
    with np.errstate(over="ignore"):
        single = np.asarray(thresholds).astype(np.float32)
        below = np.where(single > thresholds, np.nextafter(single, np.float32(-np.inf)), single)
        above = np.nextafter(below, np.float32(np.inf))
        # Half way between both; 2**128 would follow on the largest float32.
        low, high = (np.clip(end.astype(np.float64), -(2.0**128), 2.0**128) for end in (below, above))
        middle = low / 2 + high / 2
        is_below = middle.astype(np.float32) <= below
    return np.where(below == np.inf, np.inf, np.where(is_below, middle, np.nextafter(middle, -np.inf)))


def number_sets(
    sets: Mapping[int, NDArray[np.bool_]], n_nodes: int, n_labels: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """List the different sets of labels, and give each node the place of its set, or -1."""
    label_set, numbers = np.full(n_nodes, -1, dtype=np.int32), dict[bytes, int]()
    for node, goes_left in sets.items():
        line = np.zeros(n_labels, dtype=bool)
        line[: len(goes_left)] = goes_left[:n_labels]
        label_set[node] = numbers.setdefault(line.tobytes(), len(numbers))
    lines = [np.frombuffer(line, dtype=bool) for line in numbers]
    return label_set, np.array(lines, dtype=bool).reshape(len(lines), n_labels)


def bound_of_rounding(
    value: Floats, is_leaf: NDArray[np.bool_], first: NDArray[np.intp], start: Floats, bits: int, is_as_added: bool
) -> float:
    """Bound how far the sum of the leaves in floats, in any order, is from the exact sum.

    The error of adding n floats is at most (n - 1) u / (1 - (n - 1) u) times the sum of their sizes, u = 2**-bits; two
    more operations scale each of them and the sum. There is none if all are multiples of one power of 2 that are small
    enough.
    """
    sizes = np.abs(value)
    every = np.concatenate([sizes[is_leaf].ravel(), np.abs(start)])
    if not np.isfinite(every).all():
        return 0.0  # the ensemble refuses them
    largest_of_tree = np.maximum.reduceat(sizes, first)
    largest = float(np.max(np.abs(start) + largest_of_tree.sum(axis=0)))
    mantissa, exponent = np.frexp(every[every > 0])
    digits = (mantissa * 2.0**DOUBLE).astype(np.int64)
    unit = np.min(np.ldexp((digits & -digits).astype(np.float64), exponent - DOUBLE), initial=np.inf)
    if is_as_added and largest <= unit * 2.0 ** (bits - 2):
        return 0.0
    relative = float(np.max((largest_of_tree > 0).sum(axis=0)) + 2) * 2.0**-bits
    return relative / (1 - relative) * largest
