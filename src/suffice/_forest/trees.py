"""The trees of a forest as plain arrays, and the forest in the compiled core with the rows that it counts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, get_tags

from suffice import _core

Counts: TypeAlias = Literal["out-of-bag", "bootstrap", "all"]

# Parameters of a forest that have no effect on its trees once these are grown, or that every growth chooses anew.
_NOT_KEPT = ("n_jobs", "random_state", "verbose", "warm_start", "oob_score")
# Parameters of a forest that its description names.
_DESCRIBED = ("n_estimators", "min_samples_leaf", "max_depth", "max_features")

OTHER_TABLE = (
    "The rows that `forest` drew do not fall into its leaves as they did when it was fitted. If it was fitted before, "
    "pass the very `X` (same rows, same order) that it was fitted on, or pass an unfitted forest. If its rows or "
    "classes have weights, leave these out."
)


@dataclass(frozen=True)
class TreeArrays:
    """One tree as scikit-learn stores it, with its training rows."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    column: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.uint8]
    n_rows: NDArray[np.float64]
    value: NDArray[np.float64]
    rows: NDArray[np.int32]


@dataclass(frozen=True)
class PlainForest:
    """A forest as its trees alone. It is not a scikit-learn estimator: it has no `fit` and no `predict`."""

    kind: str
    params: dict[str, Any]
    takes_missing: bool
    trees: tuple[TreeArrays, ...] = field(repr=False)

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.trees)


def describe_forest(forest: Any) -> dict[str, Any]:
    """Describe a forest by its kind and its most important parameters."""
    params = forest_params(forest)
    return {"kind": params["kind"], **{name: params[name] for name in _DESCRIBED if name in params}}


def forest_params(forest: Any) -> dict[str, Any]:
    """Return the kind of a forest and the parameters with which it can be grown again."""
    if isinstance(forest, PlainForest):
        return {"kind": forest.kind, **forest.params}
    params = {name: value for name, value in forest.get_params().items() if name not in _NOT_KEPT}
    return {"kind": type(forest).__name__, **params}


def takes_missing(forest: Any) -> bool:
    """Return whether a forest accepts missing values."""
    if forest is None:
        return True
    if isinstance(forest, PlainForest):
        return forest.takes_missing
    return bool(get_tags(forest).input_tags.allow_nan and getattr(forest, "monotonic_cst", None) is None)


def list_trees(forest: Any) -> Iterator[TreeArrays]:
    """Yield the trees of a forest."""
    if isinstance(forest, PlainForest):
        yield from forest.trees
        return
    samples = forest.estimators_samples_
    for i, tree in enumerate(forest.estimators_):
        nodes = tree.tree_
        rows, samples[i] = samples[i], None  # one tree's at a time: they take 8 bytes a row
        yield TreeArrays(
            left=nodes.children_left,
            right=nodes.children_right,
            column=nodes.feature,
            threshold=nodes.threshold,
            missing_left=nodes.missing_go_to_left,
            n_rows=nodes.weighted_n_node_samples,
            value=nodes.value[:, 0, :],
            # Sorted, because a saved forest has no other order, and sums must have the same bits after loading.
            rows=np.sort(rows).astype(np.int32),
        )


# The rows that a tree counts at most, another sample of its rows in each tree. On flights, 8,192 to 16,384 rows changed
# the answers no more than another seed did.
MOST_COUNTED = 16_384
# Fewer if the forest has so many splits that their bits, one for each row of the tree, would take more than 1 GiB.
MOST_BITS, LEAST_COUNTED = 2**33, 4096


def most_counted(forest: Any) -> int:
    """Return how many rows a tree counts at most."""
    if isinstance(forest, PlainForest):
        n_splits = sum(len(tree.left) // 2 for tree in forest.trees)
    else:
        n_splits = sum(tree.tree_.node_count // 2 for tree in forest.estimators_)
    return min(MOST_COUNTED, max(LEAST_COUNTED, MOST_BITS // max(1, n_splits)))


def count_rows(
    forest: Any,
    X: NDArray[np.float32],
    counts: Counts,
    random_state: Any = 0,
    *,
    is_own: bool = True,
) -> PlainForest:
    """Choose the training rows that each tree counts. Its splits and its predictions stay as they are."""
    most, rng = most_counted(forest), check_random_state(random_state)
    trees = []
    for tree, estimator in zip(list_trees(forest), forest.estimators_, strict=True):
        if tree.rows.max() >= len(X):
            raise ValueError(OTHER_TABLE)
        leaves = estimator.tree_.apply(X)
        # The counted rows alone could not show that the forest was fitted on another table.
        if is_own and not _are_same_leaves(leaves[tree.rows], tree):
            raise ValueError(OTHER_TABLE)
        rows = _counted_rows(tree.rows, len(X), counts)
        if len(rows) > most:
            rows = np.sort(rng.choice(rows, most, replace=False))
        trees.append(replace(tree, rows=rows, n_rows=_count_leaves(leaves[rows], tree)))
    params = forest_params(forest)
    return PlainForest(params.pop("kind"), params, takes_missing(forest), tuple(trees))


def _counted_rows(drawn: NDArray[np.int32], n_rows: int, counts: Counts) -> NDArray[np.int32]:
    if counts == "bootstrap":
        return drawn
    is_counted = np.ones(n_rows, dtype=bool)
    if counts == "out-of-bag":
        is_counted[drawn] = False
    return np.flatnonzero(is_counted).astype(np.int32) if is_counted.any() else drawn


def _are_same_leaves(leaves: NDArray[np.intp], tree: TreeArrays) -> bool:
    is_leaf = tree.left < 0
    return np.allclose(_count_leaves(leaves, tree)[is_leaf], tree.n_rows[is_leaf], rtol=0, atol=1e-6)


def _count_leaves(leaves: NDArray[np.intp], tree: TreeArrays) -> NDArray[np.float64]:
    return np.bincount(leaves, minlength=len(tree.left)).astype(np.float64)


# Rows whose leaves are looked up together: 4 bytes a row and tree.
N_AT_ONCE = 20_000
# Trees that are handed to the core together: each part of the table is read once for all of them. More would keep the
# rows of more trees at a time.
N_TOGETHER = 16

_FAULTY_SPLIT = (
    "The forest has a split without a threshold: before version 1.8, scikit-learn can split on missing values in a way "
    "that its own predictions do not follow. Pass the forest unfitted, as `sklearn.base.clone(forest)`: it is then "
    "mended after it is fitted."
)


@dataclass(frozen=True, eq=False)
class FittedForest:
    """A fitted forest with its training table."""

    trees: Any
    X: NDArray[np.float32]
    y_rank: NDArray[np.uint32]
    y_values: NDArray[np.float64]
    n_levels: tuple[int, ...] = ()  # by column: its categories, which are separated; 0 for numbers; () for none
    core: _core.Forest = field(init=False, repr=False)
    values: tuple[NDArray[np.float64], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Hand the trees to the compiled core, and keep what their nodes predict."""
        core = _core.Forest(X=self.X, y_rank=self.y_rank, y_values=self.y_values, n_levels=list(self.n_levels))
        values = []
        trees = list_trees(self.trees)
        while some := list(itertools.islice(trees, N_TOGETHER)):
            try:
                core.add_trees(trees=[self._core_tree(tree) for tree in some])
            except _core.OtherTableError:
                raise ValueError(OTHER_TABLE) from None
            values += [tree.value for tree in some]
        object.__setattr__(self, "core", core)
        object.__setattr__(self, "values", tuple(values))

    def _core_tree(self, tree: TreeArrays) -> _core.Tree:
        if tree.rows.max() >= len(self.X):
            raise ValueError(OTHER_TABLE)
        if np.isnan(tree.threshold).any():
            raise ValueError(_FAULTY_SPLIT)
        return _core.Tree(
            left=tree.left,
            right=tree.right,
            column=tree.column,
            threshold=tree.threshold,
            missing_go_to_left=tree.missing_left,
            n_rows=tree.n_rows,
            value=tree.value,
            rows=tree.rows,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the compiled core out of pickles: it is built again from the trees and the table."""
        return type(self), (self.trees, self.X, self.y_rank, self.y_values, self.n_levels)

    @classmethod
    def from_training(
        cls,
        estimator: Any,
        X: NDArray[np.float32],
        y: NDArray[Any],
        counts: Counts,
        random_state: Any = 0,
        *,
        is_own: bool = True,
        n_levels: tuple[int, ...] = (),
    ) -> FittedForest:
        """Take over a forest that was just fitted, and choose the rows that are counted."""
        is_recounted = counts != "bootstrap" or not is_own or len(X) > most_counted(estimator)
        trees = count_rows(estimator, X, counts, random_state, is_own=is_own) if is_recounted else estimator
        values, ranks = np.unique(y, return_inverse=True)
        if hasattr(estimator, "classes_"):
            values, ranks = np.arange(len(estimator.classes_)), y
        return cls(trees, X, ranks.astype(np.uint32), values.astype(np.float64), n_levels)

    def count_splits(self) -> NDArray[np.int64]:
        """Count the splits on each column."""
        columns = np.concatenate([tree.column for tree in list_trees(self.trees)])
        return np.bincount(columns[columns >= 0], minlength=self.X.shape[1])

    def predict_leaves(self, X: NDArray[np.float32], n_threads: int) -> NDArray[np.float64]:
        """Average the trees' own predictions, in the order of the trees."""
        return _core.predict(forest=self.core, X=X, n_threads=n_threads)

    def predict_out_of_bag(
        self, is_out: NDArray[np.bool_], n_threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict each training row by the trees that did not see it."""
        total = np.zeros((len(self.X), self.values[0].shape[1]))
        for begin in range(0, len(self.X), N_AT_ONCE):
            part = slice(begin, begin + N_AT_ONCE)
            leaves = _core.leaves(forest=self.core, X=self.X[part], n_threads=n_threads)
            for t, value in enumerate(self.values):
                total[part] += np.where(is_out[t, part, None], value[leaves[:, t]], 0.0)
        n_trees = is_out.sum(axis=0)
        return total / np.maximum(n_trees, 1)[:, None], n_trees > 0


def choose_rows(n_rows: int, n_kept: int, random_state: Any) -> NDArray[np.intp]:
    """Choose so many rows at random, or all."""
    if n_kept >= n_rows:
        return np.arange(n_rows)
    return np.sort(check_random_state(random_state).choice(n_rows, n_kept, replace=False))


def rows_out_of_bag(estimator: Any, n_rows: int) -> NDArray[np.bool_]:
    """Find the rows that each tree did not draw."""
    is_out = np.ones((len(estimator.estimators_), n_rows), dtype=bool)
    samples = estimator.estimators_samples_
    for t in range(len(samples)):
        drawn, samples[t] = samples[t], None
        is_out[t, drawn] = False
    return is_out
