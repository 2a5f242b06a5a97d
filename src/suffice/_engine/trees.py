"""The trees of a forest as plain arrays, whether scikit-learn holds them or a file did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from suffice._engine.misplaced_rows import has_misplaced_rows

Counts: TypeAlias = Literal["out-of-bag", "bootstrap"]

# Parameters of a forest that have no effect on its trees once these are grown, or that every growth chooses anew.
_NOT_KEPT = ("n_jobs", "random_state", "verbose", "warm_start", "oob_score")
# Parameters of a forest that its description names.
_DESCRIBED = ("n_estimators", "min_samples_leaf", "max_depth", "max_features")

OTHER_TABLE = (
    "The rows that `forest` drew do not fall into its leaves as they did when it was fitted. If it was fitted before, "
    "pass the very `X` (same rows, same order) that it was fitted on, or pass an unfitted forest. If its rows or "
    "classes have weights, leave these out."
)
_MISPLACED = (
    "The training rows do not fall into the leaves of the forest as they did when it was fitted: before version 1.8, "
    "scikit-learn can put rows on the wrong side of a split on a column with missing values. Pass the forest unfitted, "
    "as `sklearn.base.clone(forest)`: it is then mended after it is fitted."
)


def why_other_leaves(X: NDArray[np.float32]) -> str:
    """Say why rows do not fall into the leaves that they were in when the forest was fitted."""
    return _MISPLACED if has_misplaced_rows(X) else OTHER_TABLE


@dataclass(frozen=True)
class TreeArrays:
    """One tree as scikit-learn stores it, with its training rows.

    Parameters
    ----------
    left, right : ndarray of int64
        The children of each node; -1 at a leaf.
    column : ndarray of int64
        The column of each split; negative at a leaf.
    threshold : ndarray of float64
        The threshold of each split: values up to it go left.
    missing_left : ndarray of uint8
        Whether missing values go left.
    n_rows : ndarray of float64
        The counted training rows of each leaf.
    value : ndarray of shape (n_nodes, n_values)
        What each node predicts: class shares, or a number.
    rows : ndarray of int32
        The training rows that the tree counts, ascending: those that it drew (a row drawn twice is there twice), or
        those that it did not draw.
    """

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
    """A forest as its trees alone. It is not a scikit-learn estimator: it has no `fit` and no `predict`.

    Parameters
    ----------
    kind : str
        The name of the scikit-learn class that the forest had.
    params : dict of str to object
        Its parameters, without `n_jobs`, `random_state` and the like. Files of earlier versions hold only a few.
    takes_missing : bool
        Whether its trees know where missing values go.
    trees : tuple of TreeArrays
        The trees.
    """

    kind: str
    params: dict[str, Any]
    takes_missing: bool
    trees: tuple[TreeArrays, ...] = field(repr=False)

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.trees)


def describe_forest(forest: Any) -> dict[str, Any]:
    """Describe a forest by its kind and its most important parameters.

    Parameters
    ----------
    forest : estimator or PlainForest
        The forest.

    Returns
    -------
    dict of str to object
        The kind, the number of trees, the smallest size of a leaf and the like.
    """
    params = forest_params(forest)
    return {"kind": params["kind"], **{name: params[name] for name in _DESCRIBED if name in params}}


def forest_params(forest: Any) -> dict[str, Any]:
    """Return the kind of a forest and the parameters with which it can be grown again.

    Parameters
    ----------
    forest : estimator or PlainForest
        The forest.

    Returns
    -------
    dict of str to object
        The name of its class as "kind", and its parameters.
    """
    if isinstance(forest, PlainForest):
        return {"kind": forest.kind, **forest.params}
    params = {name: value for name, value in forest.get_params().items() if name not in _NOT_KEPT}
    return {"kind": type(forest).__name__, **params}


def takes_missing(forest: Any) -> bool:
    """Return whether a forest accepts missing values.

    Parameters
    ----------
    forest : estimator, PlainForest or None
        The forest; None for the default one.

    Returns
    -------
    bool
        Whether it does.
    """
    if forest is None:
        return True
    if isinstance(forest, PlainForest):
        return forest.takes_missing
    return bool(get_tags(forest).input_tags.allow_nan and getattr(forest, "monotonic_cst", None) is None)


def list_trees(forest: Any) -> Iterator[TreeArrays]:
    """Yield the trees of a forest.

    Parameters
    ----------
    forest : estimator or PlainForest
        The forest.

    Yields
    ------
    TreeArrays
        A tree.
    """
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


def count_rows(
    forest: Any, X: NDArray[np.float32], counts: Counts, kept: NDArray[np.intp], *, is_own: bool = True
) -> PlainForest:
    """Choose the training rows that each tree counts. Its splits and its predictions stay as they are.

    Parameters
    ----------
    forest : estimator
        A forest, fitted on `X`.
    X : ndarray of shape (n_rows, n_columns), float32
        Its training table.
    counts : {"out-of-bag", "bootstrap"}
        Whether a tree counts the rows that it did not draw, each once, or those that it drew, as often as it drew them.
        A tree that drew every row has none out of bag; it counts the rows that it drew.
    kept : ndarray of int
        The rows that may be counted, ascending.
    is_own : bool, default=True
        Whether the trees were grown on rows of `X` only. If so, these must fall into the leaves as they did then.

    Returns
    -------
    PlainForest
        The forest with the rows ``X[kept]``.
    """
    place = np.full(len(X), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    trees = []
    for tree, estimator in zip(list_trees(forest), forest.estimators_, strict=True):
        if tree.rows.max() >= len(X):
            raise ValueError(OTHER_TABLE)
        leaves = estimator.tree_.apply(X)
        # The counted rows alone could not show that the forest was fitted on another table.
        if is_own and not _are_same_leaves(leaves[tree.rows], tree):
            raise ValueError(why_other_leaves(X))
        rows = place[tree.rows if counts == "bootstrap" else _rows_not_drawn(tree.rows, len(X))]
        rows = rows[rows >= 0]
        if not len(rows):
            raise ValueError(f"A tree counts none of the {len(kept)} `reference_rows`: keep more of them.")
        trees.append(replace(tree, rows=rows, n_rows=_count_leaves(leaves[kept][rows], tree)))
    params = forest_params(forest)
    return PlainForest(params.pop("kind"), params, takes_missing(forest), tuple(trees))


def _rows_not_drawn(drawn: NDArray[np.int32], n_rows: int) -> NDArray[np.int32]:
    is_out = np.ones(n_rows, dtype=bool)
    is_out[drawn] = False
    return np.flatnonzero(is_out).astype(np.int32) if is_out.any() else drawn


def _are_same_leaves(leaves: NDArray[np.intp], tree: TreeArrays) -> bool:
    is_leaf = tree.left < 0
    return np.allclose(_count_leaves(leaves, tree)[is_leaf], tree.n_rows[is_leaf], rtol=0, atol=1e-6)


def _count_leaves(leaves: NDArray[np.intp], tree: TreeArrays) -> NDArray[np.float64]:
    return np.bincount(leaves, minlength=len(tree.left)).astype(np.float64)
