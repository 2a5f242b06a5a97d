"""A fitted forest with its training table: what it predicts, and the compiled core's view of it.

Sets of variables are the concern of ``projection``, and fitting that of ``fitting``.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from suffice import _core
from suffice._engine.trees import OTHER_TABLE, Counts, TreeArrays, count_rows, list_trees, why_other_leaves

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
    """A fitted forest with its training table.

    Parameters
    ----------
    trees : estimator or PlainForest
        The forest whose trees hold the rows of `X`.
    X : ndarray of shape (n_rows, n_columns), float32
        The training table.
    y_rank : ndarray of shape (n_rows,)
        The position of each row's outcome in `y_values`.
    y_values : ndarray
        The distinct outcomes, ascending; 0, 1, ... for classes.

    Attributes
    ----------
    core : Forest
        The forest in the compiled core.
    values : tuple of ndarray of shape (n_nodes, n_values)
        What the nodes of each tree predict.
    """

    trees: Any
    X: NDArray[np.float32]
    y_rank: NDArray[np.uint32]
    y_values: NDArray[np.float64]
    core: _core.Forest = field(init=False, repr=False)
    values: tuple[NDArray[np.float64], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Hand the trees to the compiled core, and keep what their nodes predict."""
        core = _core.Forest(X=self.X, y_rank=self.y_rank, y_values=self.y_values)
        values = []
        trees = list_trees(self.trees)
        while some := list(itertools.islice(trees, N_TOGETHER)):
            try:
                core.add_trees(trees=[self._core_tree(tree) for tree in some])
            except _core.OtherTableError:
                raise ValueError(why_other_leaves(self.X)) from None
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
        return type(self), (self.trees, self.X, self.y_rank, self.y_values)

    @classmethod
    def from_training(
        cls,
        estimator: Any,
        X: NDArray[np.float32],
        y: NDArray[Any],
        kept: NDArray[np.intp],
        counts: Counts,
        *,
        is_own: bool = True,
    ) -> FittedForest:
        """Take over a forest that was just fitted, and choose the rows that are counted.

        Parameters
        ----------
        estimator : estimator
            The forest.
        X : ndarray of shape (n_rows, n_columns), float32
            Its training table.
        y : ndarray of shape (n_rows,)
            The outcomes: numbers, or positions in the forest's `classes_`.
        kept : ndarray of int
            The rows that may be counted, ascending.
        counts : {"out-of-bag", "bootstrap"}
            Which of them each tree counts.
        is_own : bool, default=True
            Whether the trees were grown on rows of `X` only.

        Returns
        -------
        FittedForest
            The forest with the rows that each tree counts.
        """
        is_thinned = len(kept) < len(X)
        is_recounted = is_thinned or counts == "out-of-bag" or not is_own
        trees = count_rows(estimator, X, counts, kept, is_own=is_own) if is_recounted else estimator
        if is_thinned:
            X, y = X[kept], y[kept]
        values, ranks = np.unique(y, return_inverse=True)
        if len(values) < 2:
            raise ValueError(f"All {len(X)} `reference_rows` have the same outcome: keep more of them.")
        if hasattr(estimator, "classes_"):
            values, ranks = np.arange(len(estimator.classes_)), y
        return cls(trees, X, ranks.astype(np.uint32), values.astype(np.float64))

    def count_splits(self) -> NDArray[np.int64]:
        """Count the splits on each column.

        Returns
        -------
        ndarray of shape (n_columns,)
            The number of splits, over all trees.
        """
        columns = np.concatenate([tree.column for tree in list_trees(self.trees)])
        return np.bincount(columns[columns >= 0], minlength=self.X.shape[1])

    def predict_leaves(self, X: NDArray[np.float32], n_threads: int) -> NDArray[np.float64]:
        """Average the trees' own predictions, in the order of the trees.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32
            The rows.
        n_threads : int
            How many threads look up the leaves.

        Returns
        -------
        ndarray of shape (n_rows, n_values)
            Class probabilities, or one number a row. Same bits as scikit-learn with one thread.
        """
        return _core.predict(forest=self.core, X=X, n_threads=n_threads)

    def predict_out_of_bag(
        self, is_out: NDArray[np.bool_], n_threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict each training row by the trees that did not see it.

        Parameters
        ----------
        is_out : ndarray of shape (n_trees, n_rows)
            Whether each tree has not seen each row.
        n_threads : int
            How many threads look up the leaves.

        Returns
        -------
        predictions : ndarray of shape (n_rows, n_values)
            As `predict_leaves`; meaningless for rows that every tree has seen.
        is_known : ndarray of shape (n_rows,)
            Whether some tree has not seen the row.
        """
        total = np.zeros((len(self.X), self.values[0].shape[1]))
        for begin in range(0, len(self.X), N_AT_ONCE):
            part = slice(begin, begin + N_AT_ONCE)
            leaves = _core.leaves(forest=self.core, X=self.X[part], n_threads=n_threads)
            for t, value in enumerate(self.values):
                total[part] += np.where(is_out[t, part, None], value[leaves[:, t]], 0.0)
        n_trees = is_out.sum(axis=0)
        return total / np.maximum(n_trees, 1)[:, None], n_trees > 0


def choose_rows(n_rows: int, n_kept: int | None, random_state: Any) -> NDArray[np.intp]:
    """Choose the training rows that may be counted.

    Parameters
    ----------
    n_rows : int
        The number of training rows.
    n_kept : int or None
        How many of them to keep, if there are more; None for all.
    random_state : int, RandomState or None
        The seed by which rows are kept.

    Returns
    -------
    ndarray of int
        The rows, ascending.
    """
    if n_kept is None or n_kept >= n_rows:
        return np.arange(n_rows)
    return np.sort(check_random_state(random_state).choice(n_rows, n_kept, replace=False))


def rows_out_of_bag(estimator: Any, n_rows: int, kept: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Find the rows that each tree did not draw.

    Parameters
    ----------
    estimator : estimator
        A fitted forest.
    n_rows : int
        The number of its training rows.
    kept : ndarray of int
        The rows in question.

    Returns
    -------
    ndarray of shape (n_trees, n_kept)
        Whether each tree did not draw each of the rows.
    """
    is_out = np.empty((len(estimator.estimators_), len(kept)), dtype=bool)
    samples = estimator.estimators_samples_
    for t in range(len(samples)):
        drawn, samples[t] = samples[t], None
        of_tree = np.ones(n_rows, dtype=bool)
        of_tree[drawn] = False
        is_out[t] = of_tree[kept]
    return is_out
