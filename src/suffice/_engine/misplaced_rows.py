"""Forests that an old scikit-learn grew on missing values: mended, so that rows and leaves agree.

Before version 1.8, scikit-learn puts a few rows on the wrong side while it grows a tree on a column with missing values
(about 3 in 1,000 of a table with gaps in every seventh place). The finished tree, which predicts, sends these rows
elsewhere than its leaves were filled from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray


def has_misplaced_rows(X: NDArray[np.float32], sklearn_version: str = sklearn.__version__) -> bool:
    """Return whether a forest that is grown on a table may have rows in the wrong leaves.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), float32
        The training table.
    sklearn_version : str
        The version of scikit-learn that grows the forest.

    Returns
    -------
    bool
        Whether it may.
    """
    is_old = tuple(int(part) for part in sklearn_version.split(".")[:2]) < (1, 8)
    return is_old and bool(np.isnan(X).any())


def grow(forest: Any, X: NDArray[np.float32], y: NDArray[Any]) -> Any:
    """Fit a forest so that its training rows are in its leaves.

    Parameters
    ----------
    forest : estimator
        An unfitted forest.
    X : ndarray of shape (n_rows, n_columns), float32
        The training table.
    y : ndarray of shape (n_rows,)
        The outcomes.

    Returns
    -------
    estimator
        The same forest, fitted; mended if scikit-learn is old and `X` has missing values.
    """
    forest.fit(X, y)
    if has_misplaced_rows(X):
        mend_forest(forest, X, y)
    return forest


def mend_forest(forest: Any, X: NDArray[np.float32], y: NDArray[Any]) -> None:
    """Fill the leaves of a forest again, with the rows that the finished trees send there.

    The splits stay. Every leaf with rows then holds and predicts what the same tree would have if scikit-learn had not
    misplaced any. A leaf that no row reaches predicts what the rows of its nearest ancestor with rows have, which is
    what the cells of the projected forest give there.

    Parameters
    ----------
    forest : estimator
        A forest that was just fitted; its trees are changed.
    X : ndarray of shape (n_rows, n_columns), float32
        Its training table.
    y : ndarray of shape (n_rows,)
        The outcomes: numbers, or the labels in `classes_`.
    """
    classes = getattr(forest, "classes_", None)
    outcomes = y if classes is None else np.searchsorted(classes, y)
    n_classes = None if classes is None else len(classes)
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        mend_tree(tree.tree_, X[drawn], outcomes[drawn], n_classes)


def mend_tree(nodes: Any, X: NDArray[np.float32], outcomes: NDArray[Any], n_classes: int | None) -> None:
    """Fill the leaves of one tree again.

    Parameters
    ----------
    nodes : Tree
        The nodes of a tree of scikit-learn (`tree_`), which are changed.
    X : ndarray of shape (n_rows, n_columns), float32
        The rows that it was grown on, each as often as the tree saw it.
    outcomes : ndarray of shape (n_rows,)
        Numbers, or positions among the classes.
    n_classes : int or None
        The number of classes; None for numbers.
    """
    _give_thresholds(nodes)
    leaves = nodes.apply(X)
    order = np.argsort(leaves, kind="stable")
    filled, begins = np.unique(leaves[order], return_index=True)
    nodes.weighted_n_node_samples[nodes.children_left < 0] = 0
    for leaf, of_leaf in zip(filled, np.split(outcomes[order], begins[1:]), strict=True):
        nodes.weighted_n_node_samples[leaf] = len(of_leaf)
        if n_classes is not None:
            nodes.value[leaf, 0] = np.bincount(of_leaf.astype(np.intp), minlength=n_classes) / len(of_leaf)
        else:
            nodes.value[leaf, 0] = np.mean(of_leaf)  # these releases refuse medians of tables with gaps
    if len(filled) < np.count_nonzero(nodes.children_left < 0):
        _fill_empty_leaves(nodes)


def _fill_empty_leaves(nodes: Any) -> None:
    """Let leaves without rows predict what the rows of their nearest ancestor with rows have."""
    is_leaf = nodes.children_left < 0
    n_rows = np.where(is_leaf, nodes.weighted_n_node_samples, 0.0)
    sums = n_rows[:, None] * nodes.value[:, 0]
    splits = np.flatnonzero(~is_leaf)
    for i in splits[::-1]:  # children come after their parents
        children = [nodes.children_left[i], nodes.children_right[i]]
        n_rows[i], sums[i] = n_rows[children].sum(), sums[children].sum(axis=0)
    nearest = np.arange(len(n_rows))
    for i in splits:
        for child in (nodes.children_left[i], nodes.children_right[i]):
            if n_rows[child] == 0:
                nearest[child] = nearest[i]
    is_empty = is_leaf & (n_rows == 0)
    of_ancestors = nearest[is_empty]
    nodes.value[is_empty, 0] = sums[of_ancestors] / n_rows[of_ancestors, None]


def _give_thresholds(nodes: Any) -> None:
    """Turn splits without a threshold, which send all known values to the right, into splits that send them left."""
    for i in np.flatnonzero(np.isnan(nodes.threshold)):
        nodes.children_left[i], nodes.children_right[i] = nodes.children_right[i], nodes.children_left[i]
        nodes.threshold[i] = np.inf
        nodes.missing_go_to_left[i] = 1 - nodes.missing_go_to_left[i]
