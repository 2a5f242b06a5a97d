"""Forests: which one to fit, its bootstrap rows, and how well it follows the outcomes.

Leaves everything about sets of variables to ``projection``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import type_of_target

from suffice import _core
from suffice.errors import FidelityWarning

CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier)
REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)

# Numbers without fractions are taken for classes up to this many distinct values.
MAX_INTEGER_CLASSES = 20
# Rows whose leaves are looked up together: 4 bytes a row and tree.
N_AT_ONCE = 20_000
# A forest that removes less than this share of a constant prediction's error is called poor.
POOR_FIDELITY = 0.2


def task_of_forest(forest: object) -> str | None:
    """Tell what a forest is for.

    Parameters
    ----------
    forest : estimator or None
        A scikit-learn forest.

    Returns
    -------
    {"classification", "regression"} or None
        None if there is no forest.
    """
    if forest is None:
        return None
    if isinstance(forest, CLASSIFIERS):
        return "classification"
    if isinstance(forest, REGRESSORS):
        return "regression"
    raise TypeError(
        "`forest` must be None or a scikit-learn RandomForest or ExtraTrees classifier or regressor, "
        f"got {type(forest).__name__}. To explain another model, use SufficientExplainer.for_model(model, X)."
    )


def decide_task(task: str, forest: object, y: NDArray[Any]) -> tuple[str, str]:
    """Decide between classification and regression.

    The forest decides if there is one. Otherwise strings, booleans and at most 20 distinct whole numbers (and fewer
    than one for every ten rows, or only two) are classes; other numbers are a regression.

    Parameters
    ----------
    task : {"auto", "classification", "regression"}
        The user's choice.
    forest : estimator or None
        The user's forest.
    y : ndarray of shape (n_rows,)
        The outcomes.

    Returns
    -------
    task : {"classification", "regression"}
        The task.
    reason : str
        Why, in one line.
    """
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"`task` must be 'auto', 'classification' or 'regression', got {task!r}.")
    of_forest = task_of_forest(forest)
    if of_forest is not None:
        if task not in ("auto", of_forest):
            raise ValueError(f"`task` is {task!r}, but `forest` is for {of_forest}.")
        return of_forest, f"{of_forest}: that is what the forest is for"
    if task != "auto":
        return task, f"{task}: as asked for"
    change = {"classification": "regression", "regression": "classification"}
    task, seen = _task_of_values(y)
    return task, f"{task}: the outcomes are {seen} (task={change[task]!r} to change)"


def _task_of_values(y: NDArray[Any]) -> tuple[str, str]:
    if y.dtype.kind not in "iuf":
        return "classification", "booleans" if y.dtype.kind == "b" else "text"
    if type_of_target(y) == "continuous":
        return "regression", "numbers with fractions"
    n_values = len(np.unique(y))
    is_few = n_values <= 2 or (n_values <= MAX_INTEGER_CLASSES and n_values * 10 < len(y))
    return "classification" if is_few else "regression", f"{n_values} different whole numbers in {len(y)} rows"


def default_forest(task: str, n_rows: int, n_jobs: int, random_state: Any) -> Any:
    """Make the forest that is fitted when the user brings none.

    Its leaves hold at least the paper's sqrt(n) ln(n)^1.5 / 250 rows, with which the estimator is consistent, and
    never fewer than 5, so that a share of a cell's rows can be read as a probability. For numbers a split looks at 0.7
    of the columns: the sets are smaller than with all of them. docs/tables.md has the figures.

    Parameters
    ----------
    task : {"classification", "regression"}
        The task.
    n_rows : int
        The number of training rows.
    n_jobs : int
        The number of threads.
    random_state : int, RandomState or None
        The seed.

    Returns
    -------
    estimator
        An unfitted forest of 100 trees.
    """
    leaf = max(5, math.floor(math.sqrt(n_rows) * math.log(n_rows) ** 1.5 / 250))
    shared = {"n_estimators": 100, "min_samples_leaf": leaf, "n_jobs": n_jobs, "random_state": random_state}
    if task == "classification":
        return RandomForestClassifier(**shared)
    return RandomForestRegressor(**shared, max_features=0.7)


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
        The training rows of each node.
    value : ndarray of shape (n_nodes, n_values)
        What each node predicts: class shares, or a number.
    rows : ndarray of int32
        The training rows that the tree drew; a row drawn twice stands twice.
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
class SavedForest:
    """A forest as its trees, without scikit-learn: read from a file, or with some of its training rows only.

    Parameters
    ----------
    kind : str
        The class that it was.
    params : dict of str to object
        Some of its parameters.
    takes_missing : bool
        Whether it can be asked about missing values.
    trees : tuple of TreeArrays
        The trees.
    """

    kind: str
    params: dict[str, Any]
    takes_missing: bool
    trees: tuple[TreeArrays, ...]

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.trees)


def describe_forest(forest: Any) -> dict[str, Any]:
    """Tell what kind of forest it is, with the parameters that matter most.

    Parameters
    ----------
    forest : estimator or SavedForest
        The forest.

    Returns
    -------
    dict of str to object
        Its kind, the number of trees, the least size of a leaf and such.
    """
    if isinstance(forest, SavedForest):
        return {"kind": forest.kind, **forest.params}
    params = forest.get_params()
    told = ("n_estimators", "min_samples_leaf", "max_depth", "max_features")
    return {"kind": type(forest).__name__, **{name: params[name] for name in told}}


def takes_missing(forest: Any) -> bool:
    """Tell whether a forest can be asked about missing values.

    Parameters
    ----------
    forest : estimator, SavedForest or None
        The forest; None for the default one.

    Returns
    -------
    bool
        Whether it can.
    """
    if forest is None:
        return True
    if isinstance(forest, SavedForest):
        return forest.takes_missing
    return bool(get_tags(forest).input_tags.allow_nan and getattr(forest, "monotonic_cst", None) is None)


def list_trees(forest: Any) -> Iterator[TreeArrays]:
    """Give the trees of a forest one after the other.

    Parameters
    ----------
    forest : estimator or SavedForest
        The forest.

    Yields
    ------
    TreeArrays
        A tree.
    """
    if isinstance(forest, SavedForest):
        yield from forest.trees
        return
    samples = forest.estimators_samples_
    for i, tree in enumerate(forest.estimators_):
        nodes = tree.tree_
        rows, samples[i] = samples[i], None  # one tree's at a time: they are 8 bytes a row
        yield TreeArrays(
            nodes.children_left,
            nodes.children_right,
            nodes.feature,
            nodes.threshold,
            nodes.missing_go_to_left,
            nodes.weighted_n_node_samples,
            nodes.value[:, 0, :],
            # In their own order sums over them would be the same after saving only by chance.
            np.sort(rows).astype(np.int32),
        )


def thin_forest(forest: Any, X: NDArray[np.float32], kept: NDArray[np.intp]) -> SavedForest:
    """Keep some of a forest's training rows. Its splits, and what it predicts, stay as they are.

    Parameters
    ----------
    forest : estimator
        A forest, fitted on `X`.
    X : ndarray of shape (n_rows, n_columns), float32
        Its training table.
    kept : ndarray of int
        The rows to keep, ascending.

    Returns
    -------
    SavedForest
        The forest, fitted on ``X[kept]`` as it were.
    """
    place = np.full(len(X), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    trees = []
    for tree, estimator in zip(list_trees(forest), forest.estimators_, strict=True):
        if tree.rows.max() >= len(X):
            raise ValueError(_OTHER_TABLE)
        leaves = estimator.tree_.apply(X)
        is_leaf = tree.left < 0
        # Of the kept rows alone it could not be seen that the forest was fitted on another table.
        if not np.allclose(_count_leaves(leaves[tree.rows], tree)[is_leaf], tree.n_rows[is_leaf], rtol=0, atol=1e-6):
            raise ValueError(_OTHER_TABLE)
        rows = place[tree.rows]
        rows = rows[rows >= 0]
        if not len(rows):
            raise ValueError(f"A tree has drawn none of the {len(kept)} `reference_rows`: keep more of them.")
        trees.append(replace(tree, rows=rows, n_rows=_count_leaves(leaves[kept][rows], tree)))
    told = describe_forest(forest)
    return SavedForest(told.pop("kind"), told, takes_missing(forest), tuple(trees))


def _count_leaves(leaves: NDArray[np.intp], tree: TreeArrays) -> NDArray[np.float64]:
    return np.bincount(leaves, minlength=len(tree.left)).astype(np.float64)


@dataclass
class FittedForest:
    """A fitted forest with its training table.

    Parameters
    ----------
    estimator : estimator or SavedForest
        The forest.
    X : ndarray of shape (n_rows, n_columns), float32
        The training table.
    y_rank : ndarray of shape (n_rows,)
        The position of each row's outcome in `y_values`.
    y_values : ndarray
        The distinct outcomes, ascending; 0, 1, ... for classes.
    core : Forest
        The same for the compiled core.
    values : tuple of ndarray of shape (n_nodes, n_values)
        What the nodes of each tree predict.
    n_threads : int
        How many threads work on a call.
    """

    estimator: Any
    X: NDArray[np.float32]
    y_rank: NDArray[np.uint32]
    y_values: NDArray[np.float64]
    core: _core.Forest
    values: tuple[NDArray[np.float64], ...]
    n_threads: int

    @classmethod
    def of_training(
        cls,
        estimator: Any,
        X: NDArray[np.float32],
        y: NDArray[Any],
        n_kept: int | None,
        n_threads: int,
        random_state: Any,
    ) -> FittedForest:
        """Take over a forest that was just fitted, with all of its training rows or some.

        Parameters
        ----------
        estimator : estimator
            The forest.
        X : ndarray of shape (n_rows, n_columns), float32
            Its training table.
        y : ndarray of shape (n_rows,)
            The outcomes: numbers, or positions in the forest's `classes_`.
        n_kept : int or None
            How many rows to keep, if there are more; None for all.
        n_threads : int
            How many threads work on a call.
        random_state : int, RandomState or None
            The seed by which rows are kept.

        Returns
        -------
        FittedForest
            The forest with the bootstrap rows of each tree.
        """
        forest = estimator
        if n_kept is not None and n_kept < len(X):
            kept = np.sort(check_random_state(random_state).choice(len(X), n_kept, replace=False))
            forest = thin_forest(estimator, X, kept)
            X, y = X[kept], y[kept]
        values, ranks = np.unique(y, return_inverse=True)
        if len(values) < 2:
            raise ValueError(f"All {len(X)} `reference_rows` have the same outcome: keep more of them.")
        if hasattr(estimator, "classes_"):
            values, ranks = np.arange(len(estimator.classes_)), y
        return cls.from_estimator(forest, X, ranks.astype(np.uint32), values.astype(np.float64), n_threads)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: NDArray[np.float32],
        y_rank: NDArray[np.uint32],
        y_values: NDArray[np.float64],
        n_threads: int = 1,
    ) -> FittedForest:
        """Take over a fitted forest.

        Parameters
        ----------
        estimator : estimator or SavedForest
            The forest, fitted on `X`.
        X : ndarray of shape (n_rows, n_columns), float32
            Its training table.
        y_rank : ndarray of shape (n_rows,)
            The position of each row's outcome in `y_values`.
        y_values : ndarray
            The distinct outcomes.
        n_threads : int, default=1
            How many threads work on a call.

        Returns
        -------
        FittedForest
            The forest with the bootstrap rows of each tree.
        """
        core = _core.Forest(X=X, y_rank=y_rank, y_values=y_values)
        values = []
        for tree in list_trees(estimator):
            if tree.rows.max() >= len(X):
                raise ValueError(_OTHER_TABLE)
            if np.isnan(tree.threshold).any():
                raise ValueError(_FAULTY_SPLIT)
            try:
                core.add_tree(
                    left=tree.left,
                    right=tree.right,
                    column=tree.column,
                    threshold=tree.threshold,
                    missing_go_to_left=tree.missing_left,
                    n_rows=tree.n_rows,
                    rows=tree.rows,
                )
            except _core.OtherTableError:
                raise ValueError(_OTHER_TABLE) from None
            values.append(tree.value)
        return cls(estimator, X, y_rank, y_values, core, tuple(values), n_threads)

    def count_splits(self) -> NDArray[np.int64]:
        """Count the splits on each column.

        Returns
        -------
        ndarray of shape (n_columns,)
            The number of splits, over all trees.
        """
        columns = np.concatenate([tree.column for tree in list_trees(self.estimator)])
        return np.bincount(columns[columns >= 0], minlength=self.X.shape[1])

    def predict_leaves(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """Average the trees' own predictions, in the order of the trees.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_values)
            Class probabilities, or one number a row. Same bits as scikit-learn with one thread.
        """
        total = np.zeros((len(X), self.values[0].shape[1]))
        for begin in range(0, len(X), N_AT_ONCE):
            part = slice(begin, begin + N_AT_ONCE)
            leaves = _core.leaves(forest=self.core, X=X[part], n_threads=self.n_threads)
            for t, value in enumerate(self.values):
                total[part] += value[leaves[:, t]]
        return total / len(self.values)

    def predict_out_of_bag(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict each training row by the trees that did not see it.

        Returns
        -------
        predictions : ndarray of shape (n_rows, n_values)
            As `predict_leaves`; meaningless where no tree can tell.
        is_known : ndarray of shape (n_rows,)
            Whether there is such a tree.
        """
        total = np.zeros((len(self.X), self.values[0].shape[1]))
        is_out = np.ones((len(self.values), len(self.X)), dtype=bool)
        for t, tree in enumerate(list_trees(self.estimator)):
            is_out[t, tree.rows] = False
        for begin in range(0, len(self.X), N_AT_ONCE):
            part = slice(begin, begin + N_AT_ONCE)
            leaves = _core.leaves(forest=self.core, X=self.X[part], n_threads=self.n_threads)
            for t, value in enumerate(self.values):
                total[part] += np.where(is_out[t, part, None], value[leaves[:, t]], 0.0)
        n_trees = is_out.sum(axis=0)
        return total / np.maximum(n_trees, 1)[:, None], n_trees > 0


_OTHER_TABLE = (
    "The rows that `forest` drew do not fall into its leaves as they did when it was fitted. If it was fitted before, "
    "pass the very `X` (same rows, same order) that it was fitted on, or pass an unfitted forest. If its rows or "
    "classes have weights, leave these out."
)


_FAULTY_SPLIT = (
    "The forest has a split without a threshold: before version 1.8, scikit-learn can split on missing values in a way "
    "that its own predictions do not follow. Use scikit-learn 1.8 or later, fill in the missing values, or fit with a "
    "larger `min_samples_leaf`."
)


def fit_forest(forest: Any, task: str, X: NDArray[np.float32], y: NDArray[Any], n_jobs: int, random_state: Any) -> Any:
    """Fit the user's forest or the default one; a fitted forest stays as it is.

    Parameters
    ----------
    forest : estimator or None
        The user's forest.
    task : {"classification", "regression"}
        The task.
    X : ndarray of shape (n_rows, n_columns), float32
        The training table.
    y : ndarray of shape (n_rows,)
        The outcomes, as the user gave them.
    n_jobs : int
        The number of threads of the default forest.
    random_state : int, RandomState or None
        The seed of a forest that has none of its own.

    Returns
    -------
    estimator
        A fitted forest.
    """
    if forest is None:
        return default_forest(task, len(X), n_jobs, random_state).fit(X, y)
    if hasattr(forest, "estimators_"):
        if forest.n_features_in_ != X.shape[1]:
            raise ValueError(f"`forest` was fitted on {forest.n_features_in_} columns, `X` has {X.shape[1]}.")
        if getattr(forest, "_n_samples", len(X)) != len(X):
            raise ValueError(_OTHER_TABLE)
        if forest.n_outputs_ != 1:
            raise ValueError(f"`forest` predicts {forest.n_outputs_} outputs; explain one output at a time.")
        return forest
    fresh = clone(forest)
    if fresh.random_state is None:
        fresh.set_params(random_state=random_state)
    return fresh.fit(X, y)


def check_outcomes(forest: Any, y: NDArray[Any]) -> None:
    """Refuse outcomes other than those that a fitted forest was trained on.

    Parameters
    ----------
    forest : estimator
        The forest.
    y : ndarray of shape (n_rows,)
        The outcomes of its training rows: numbers, or positions in its `classes_`.
    """
    drawn = y[forest.estimators_samples_[0]]
    if hasattr(forest, "classes_"):
        at_root = np.bincount(drawn, minlength=len(forest.classes_)) / len(drawn)
    else:
        center = np.median if forest.criterion == "absolute_error" else np.mean
        at_root = np.array([center(drawn)])
    value = forest.estimators_[0].tree_.value[0, 0]
    if not np.allclose(value, at_root, rtol=1e-6, atol=1e-6 * float(np.ptp(y))):
        raise ValueError("`forest` is fitted already, but on other outcomes: pass the very `y` that it was fitted on.")


def fidelity(forest: FittedForest, task: str) -> tuple[float, list[float]]:
    """Measure how well the forest follows the outcomes, on rows that its trees did not see.

    Parameters
    ----------
    forest : FittedForest
        The forest.
    task : {"classification", "regression"}
        The task.

    Returns
    -------
    value : float
        Out-of-bag accuracy or R2; NaN if no row is out of bag. Warns if it is poor.
    of_classes : list of float
        For each class the share of its rows that are right; empty for a regression.
    """
    predictions, is_known = forest.predict_out_of_bag()
    n_classes = len(forest.y_values) if task == "classification" else 0
    if not is_known.any():
        return math.nan, [math.nan] * n_classes
    rank = forest.y_rank[is_known]
    of_classes: list[float] = []
    if task == "classification":
        is_wrong = np.argmax(predictions[is_known], axis=1) != rank
        n_rows = np.bincount(rank, minlength=n_classes)
        n_right = np.bincount(rank[~is_wrong], minlength=n_classes)
        of_classes = [r / n if n else math.nan for r, n in zip(n_right.tolist(), n_rows.tolist(), strict=True)]
        wrong = float(np.mean(is_wrong))
        wrong_constant = 1.0 - float(np.max(np.bincount(rank))) / len(rank)
        value, name = 1.0 - wrong, "accuracy"
    else:
        y = forest.y_values[rank]
        wrong = float(np.mean((y - predictions[is_known, 0]) ** 2))
        wrong_constant = float(np.var(y))
        value, name = 1.0 - wrong / wrong_constant if wrong_constant else math.nan, "R2"
    if wrong > (1 - POOR_FIDELITY) * wrong_constant:
        warnings.warn(
            f"The forest follows the outcomes poorly: out-of-bag {name} {value:.2f}, hardly better than a constant "
            "prediction. Its explanations say little about these data; try other variables or more rows.",
            FidelityWarning,
            stacklevel=3,
        )
    return value, of_classes
