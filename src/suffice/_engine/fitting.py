"""Fitting: whether outcomes are classes or numbers, which forest to fit, and how well it follows the outcomes."""

from __future__ import annotations

import math
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
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from suffice._engine.candidates import choose_candidates
from suffice._engine.ends import Ends
from suffice._engine.fitted import Fitted
from suffice._engine.forest import FittedForest
from suffice._engine.outcomes import rank_classes
from suffice._engine.projection import ProjectedForest
from suffice._engine.settings import Settings, check_radius, least_cell
from suffice._engine.trees import OTHER_TABLE, takes_missing
from suffice._table.checks import as_finite, check_finite
from suffice._table.encoding import Encoding
from suffice._table.table import Table
from suffice._table.variables import Variables
from suffice.errors import FidelityWarning, warn

CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier)
REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)

# Numbers without fractions are taken for classes up to this many distinct values.
MAX_INTEGER_CLASSES = 20
# A forest that removes less than this share of a constant prediction's error is called poor.
POOR_FIDELITY = 0.2


def task_of_forest(forest: object) -> str | None:
    """Return the task of a forest.

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
        return task, f"{task}: as given by `task`"
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


def consistent_leaf_size(n_rows: int) -> int:
    """Return the paper's t_n, the smallest size of a leaf with which the estimator is consistent.

    Parameters
    ----------
    n_rows : int
        The number of training rows.

    Returns
    -------
    int
        sqrt(n) ln(n)^1.5 / 250, rounded down.
    """
    return int(math.sqrt(n_rows) * math.log(n_rows) ** 1.5 / 250)


def default_forest(task: str, n_rows: int, n_jobs: int, random_state: Any) -> Any:
    """Make the forest that is fitted when the user brings none.

    Its leaves hold at least as many rows as `consistent_leaf_size` says, and never fewer than 5, so that a share of a
    cell's rows can be read as a probability. For numbers a split considers 0.7 of the columns: the sets are smaller
    than with all of them. docs/tables.md has the figures.

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
    leaf = max(5, consistent_leaf_size(n_rows))
    shared = {"n_estimators": 100, "min_samples_leaf": leaf, "n_jobs": n_jobs, "random_state": random_state}
    if task == "classification":
        return RandomForestClassifier(**shared)
    return RandomForestRegressor(**shared, max_features=0.7)


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
            raise ValueError(OTHER_TABLE)
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


def measure_fidelity(forest: FittedForest, task: str, n_threads: int) -> tuple[float, list[float]]:
    """Measure how well the forest follows the outcomes, on rows that its trees did not see.

    Parameters
    ----------
    forest : FittedForest
        The forest.
    task : {"classification", "regression"}
        The task.
    n_threads : int
        The number of threads.

    Returns
    -------
    fidelity : float
        Out-of-bag accuracy or R2; NaN if no row is out of bag. A poor one raises a `FidelityWarning`.
    by_class : list of float
        For each class the share of its rows that are right; empty for a regression.
    """
    predictions, is_known = forest.predict_out_of_bag(n_threads)
    n_classes = len(forest.y_values) if task == "classification" else 0
    if not is_known.any():
        return math.nan, [math.nan] * n_classes
    rank = forest.y_rank[is_known]
    by_class: list[float] = []
    if task == "classification":
        is_wrong = np.argmax(predictions[is_known], axis=1) != rank
        n_rows = np.bincount(rank, minlength=n_classes)
        n_right = np.bincount(rank[~is_wrong], minlength=n_classes)
        by_class = [r / n if n else math.nan for r, n in zip(n_right.tolist(), n_rows.tolist(), strict=True)]
        wrong = float(np.mean(is_wrong))
        wrong_constant = 1.0 - float(np.max(np.bincount(rank))) / len(rank)
        fidelity, measure = 1.0 - wrong, "accuracy"
    else:
        y = forest.y_values[rank]
        wrong = float(np.mean((y - predictions[is_known, 0]) ** 2))
        wrong_constant = float(np.var(y))
        fidelity, measure = 1.0 - wrong / wrong_constant if wrong_constant else math.nan, "R2"
    if wrong > (1 - POOR_FIDELITY) * wrong_constant:
        warn(
            f"The forest follows the outcomes poorly: out-of-bag {measure} {fidelity:.2f}, hardly better than a "
            "constant prediction. Its explanations say little about these data; try other variables or more rows.",
            FidelityWarning,
        )
    return fidelity, by_class


def fit(table: Table, y: NDArray[Any], target: str, forest: Any, settings: Settings) -> Fitted:
    """Fit a forest to a table, choose the candidates, and measure the fidelity.

    Parameters
    ----------
    table : Table
        The training table.
    y : ndarray of shape (n_rows,)
        Its outcomes.
    target : str
        What the outcomes are called.
    forest : estimator or None
        The user's forest: unfitted, or fitted on this very table. None fits the default one.
    settings : Settings
        The settings.

    Returns
    -------
    Fitted
        The fitted state.
    """
    task, reason = decide_task(settings.task, forest, y)
    y = _check_outcomes_of_task(y, task, settings)
    encoding = Encoding.learn(table, y, task == "classification", settings.dates)
    if hasattr(forest, "estimators_"):
        encoding.check_numeric()
    X = encoding.encode(table, settings.unseen)
    check_finite(X, [column.name for column in encoding.columns], takes_missing(forest))
    variables = Variables.of_matrix(encoding, X, settings.groups)
    estimator = fit_forest(forest, task, X, y, settings.n_threads, settings.random_state)
    classes = estimator.classes_ if task == "classification" else None
    if classes is not None:
        y = rank_classes(y, classes)
    counted = FittedForest.from_training(estimator, X, y, settings.reference_rows, settings.random_state)
    if estimator is forest:
        check_outcomes(estimator, y)
    min_node_size = least_cell(settings.min_node_size, estimator.min_samples_leaf, len(X), len(counted.X))
    candidates = choose_candidates(counted, estimator, variables, settings)
    fidelity, by_class = measure_fidelity(counted, task, settings.n_threads)
    return Fitted(
        estimator=estimator,
        projected=ProjectedForest(counted, variables, candidates, min_node_size),
        encoding=encoding,
        ends=Ends(encoding, counted.X),
        task=task,
        task_reason=reason,
        classes=classes,
        target=target,
        fidelity=fidelity,
        fidelity_by_class=None if classes is None else dict(zip(classes.tolist(), by_class, strict=True)),
        settings=settings,
    )


def _check_outcomes_of_task(y: NDArray[Any], task: str, settings: Settings) -> NDArray[Any]:
    if task == "regression":
        y = as_finite(y)
    else:
        check_classification_targets(y)
        check_radius(settings, task)
    values = np.unique(y)
    if len(values) == 1:
        kind = "class" if task == "classification" else "value"
        raise ValueError(f"`y` has one {kind} only, {values.tolist()[0]!r}: there is nothing to explain.")
    return y
