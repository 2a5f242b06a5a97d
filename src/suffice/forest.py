"""Forests: which one to fit, its bootstrap rows, and how well it follows the outcomes.

Leaves everything about sets of variables to ``projection``.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
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
from sklearn.utils.multiclass import type_of_target

from suffice import _core
from suffice.errors import FidelityWarning

CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier)
REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)

# Numbers without fractions are taken for classes up to this many distinct values.
MAX_INTEGER_CLASSES = 20
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
    never fewer than 5, so that a share of a cell's rows can be read as a probability.

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
    kind = RandomForestClassifier if task == "classification" else RandomForestRegressor
    return kind(n_estimators=100, min_samples_leaf=leaf, n_jobs=n_jobs, random_state=random_state)


@dataclass(frozen=True)
class FittedForest:
    """A fitted forest with its training table.

    Parameters
    ----------
    estimator : estimator
        The scikit-learn forest.
    X : ndarray of shape (n_rows, n_columns), float32
        The training table.
    y_rank : ndarray of shape (n_rows,)
        The position of each row's outcome in `y_values`.
    y_values : ndarray
        The distinct outcomes, ascending; 0, 1, ... for classes.
    core : Forest
        The same for the compiled core.
    """

    estimator: Any
    X: NDArray[np.float32]
    y_rank: NDArray[np.uint32]
    y_values: NDArray[np.float64]
    core: _core.Forest

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: NDArray[np.float32], y_rank: NDArray[np.uint32], y_values: NDArray[np.float64]
    ) -> FittedForest:
        """Take over a fitted scikit-learn forest.

        Parameters
        ----------
        estimator : estimator
            The forest, fitted on `X`.
        X : ndarray of shape (n_rows, n_columns), float32
            Its training table.
        y_rank : ndarray of shape (n_rows,)
            The position of each row's outcome in `y_values`.
        y_values : ndarray
            The distinct outcomes.

        Returns
        -------
        FittedForest
            The forest with the bootstrap rows of each tree.
        """
        core = _core.Forest(X, y_rank, y_values)
        samples = estimator.estimators_samples_
        for i, tree in enumerate(estimator.estimators_):
            nodes = tree.tree_
            rows, samples[i] = samples[i], None  # one tree's at a time: they are 8 bytes a row
            if rows.max() >= len(X):
                raise ValueError(_OTHER_TABLE)
            if np.isnan(nodes.threshold).any():
                raise ValueError(_FAULTY_SPLIT)
            try:
                core.add_tree(
                    nodes.children_left,
                    nodes.children_right,
                    nodes.feature,
                    nodes.threshold,
                    nodes.missing_go_to_left,
                    nodes.weighted_n_node_samples,
                    rows.astype(np.int32),
                )
            except _core.OtherTableError:
                raise ValueError(_OTHER_TABLE) from None
        return cls(estimator, X, y_rank, y_values, core)

    def count_splits(self) -> NDArray[np.int64]:
        """Count the splits on each column.

        Returns
        -------
        ndarray of shape (n_columns,)
            The number of splits, over all trees.
        """
        columns = np.concatenate([tree.tree_.feature for tree in self.estimator.estimators_])
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
        trees = self.estimator.estimators_
        total = np.zeros((len(X), trees[0].tree_.value.shape[2]))
        for tree in trees:
            total += tree.tree_.predict(X).reshape(total.shape)
        return total / len(trees)

    def predict_out_of_bag(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict each training row by the trees that did not see it.

        Returns
        -------
        predictions : ndarray of shape (n_rows, n_values)
            As `predict_leaves`; meaningless where no tree can tell.
        is_known : ndarray of shape (n_rows,)
            Whether there is such a tree.
        """
        trees = self.estimator.estimators_
        total = np.zeros((len(self.X), trees[0].tree_.value.shape[2]))
        n_trees = np.zeros(len(self.X), dtype=np.int64)
        samples = self.estimator.estimators_samples_
        for i, tree in enumerate(trees):
            out = np.ones(len(self.X), dtype=bool)
            out[samples[i]] = False
            samples[i] = None
            out_rows = np.flatnonzero(out)
            for part in np.array_split(out_rows, max(1, len(out_rows) // 20_000)):  # copies of few rows at a time
                total[part] += tree.tree_.predict(self.X[part]).reshape(len(part), total.shape[1])
            n_trees += out
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


def check_outcomes(forest: FittedForest, task: str) -> None:
    """Refuse outcomes other than those that a fitted forest was trained on.

    Parameters
    ----------
    forest : FittedForest
        The forest.
    task : {"classification", "regression"}
        The task.
    """
    tree = forest.estimator.estimators_[0].tree_
    rank = forest.y_rank[forest.estimator.estimators_samples_[0]]
    if task == "classification":
        at_root = np.bincount(rank, minlength=len(forest.y_values)) / len(rank)
    else:
        center = np.median if forest.estimator.criterion == "absolute_error" else np.mean
        at_root = np.array([center(forest.y_values[rank])])
    if not np.allclose(tree.value[0, 0], at_root, rtol=1e-6, atol=1e-6 * float(np.ptp(forest.y_values))):
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
