"""Fitting: whether outcomes are classes or numbers, which forest to fit, and how well it follows the outcomes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

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

from suffice._engine.candidates import choose_candidates
from suffice._engine.drawn_rows import Question, draw_near, grow_on_drawn
from suffice._engine.ends import Ends
from suffice._engine.fitted import Fitted
from suffice._engine.forest import FittedForest, choose_rows, rows_out_of_bag
from suffice._engine.intervals import out_of_bag_scores
from suffice._engine.misplaced_rows import grow
from suffice._engine.outcomes import rank_classes
from suffice._engine.projection import ProjectedForest
from suffice._engine.settings import Settings, check_task_settings, least_cell
from suffice._engine.trees import OTHER_TABLE, Counts, takes_missing
from suffice._table.checks import as_finite, check_classes, check_finite
from suffice._table.encoding import Encoding
from suffice._table.table import Table
from suffice._table.variables import Variables
from suffice.errors import CountsWarning, FidelityWarning, warn

CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier)
REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)

# Numbers without fractions are taken for classes up to this many distinct values.
MAX_INTEGER_CLASSES = 20
NO_WEIGHTS = (
    "Weights, like repeated rows, change the shares of the outcomes, and every probability would speak of a world with "
    "those shares, not of your rows. For rare classes, take `levels='odds'`."
)
# The rows that a leaf of the default forest holds at least, if rows out of bag are counted. Larger leaves of numbers
# cost accuracy (`python -m benchmarks.honesty` prints the figures).
LEAST_LEAF = {"classification": 10, "regression": 5}
# The out-of-bag rows that a cell holds at least. With 5, more claims about sets that are not sufficient in truth.
LEAST_CELL = 10
# A forest that removes less than this share of a constant prediction's error is called poor.
POOR_FIDELITY = 0.2
# A forest must be better than a constant prediction by this many standard errors of the mean gain.
SIGNAL = 2.0


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
        if forest.class_weight is not None:
            raise ValueError(f"`forest` must not have a `class_weight`. {NO_WEIGHTS}")
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


def default_forest(task: str, n_rows: int, counts: Counts, n_jobs: int, random_state: Any) -> Any:
    """Make the forest that is fitted when the user brings none.

    Its leaves hold at least as many rows as `consistent_leaf_size` says, and never fewer than 5 (10 for classes, if
    rows out of bag are counted), so that a share of a cell's rows can be read as a probability. For numbers a split
    considers 0.7 of the columns: the sets are smaller than with all of them. docs/tables.md has the figures.

    Parameters
    ----------
    task : {"classification", "regression"}
        The task.
    n_rows : int
        The number of training rows.
    counts : {"out-of-bag", "bootstrap"}
        Which rows its trees will count.
    n_jobs : int
        The number of threads.
    random_state : int, RandomState or None
        The seed.

    Returns
    -------
    estimator
        An unfitted forest of 100 trees.
    """
    least = LEAST_LEAF[task] if counts == "out-of-bag" else 5
    leaf = max(least, consistent_leaf_size(n_rows))
    shared = {"n_estimators": 100, "min_samples_leaf": leaf, "n_jobs": n_jobs, "random_state": random_state}
    if task == "classification":
        return RandomForestClassifier(**shared)
    return RandomForestRegressor(**shared, max_features=0.7)


def decide_counts(counts: str, forest: Any) -> Counts:
    """Decide which rows the trees count.

    Parameters
    ----------
    counts : {"auto", "out-of-bag", "bootstrap"}
        The user's choice.
    forest : estimator or None
        The user's forest.

    Returns
    -------
    {"out-of-bag", "bootstrap"}
        "auto" is out of bag, unless the trees of the forest draw all rows; a `CountsWarning` then says so.
    """
    draws_all = forest is not None and not forest.bootstrap
    if counts == "bootstrap" or (counts == "out-of-bag" and not draws_all):
        return cast("Counts", counts)
    if not draws_all:
        return "out-of-bag"
    if counts == "out-of-bag":
        raise ValueError(
            "`counts='out-of-bag'` needs a forest with `bootstrap=True`: each tree of this one draws all rows, so that "
            "none is left to count. Set `bootstrap=True`, or take `counts='bootstrap'`."
        )
    warn(
        "Each tree of `forest` draws all rows, so the rows that grew it are counted and probabilities come out too "
        "high. Set `bootstrap=True` to count the rows out of bag, or `counts='bootstrap'` to accept this.",
        CountsWarning,
    )
    return "bootstrap"


def fit_forest(forest: Any, task: str, X: NDArray[np.float32], y: NDArray[Any], settings: Settings) -> Any:
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
    settings : Settings
        The number of threads and the counts of the default forest, and the seed of a forest that has none of its own.

    Returns
    -------
    estimator
        A fitted forest.
    """
    if hasattr(forest, "estimators_"):
        if forest.n_features_in_ != X.shape[1]:
            raise ValueError(f"`forest` was fitted on {forest.n_features_in_} columns, `X` has {X.shape[1]}.")
        if getattr(forest, "_n_samples", len(X)) != len(X):
            raise ValueError(OTHER_TABLE)
        if forest.n_outputs_ != 1:
            raise ValueError(f"`forest` predicts {forest.n_outputs_} outputs; explain one output at a time.")
        return forest
    if forest is None:
        counts = decide_counts(settings.counts, None)
        fresh = default_forest(task, len(X), counts, settings.n_threads, settings.random_state)
    else:
        fresh = clone(forest)
        if fresh.random_state is None:
            fresh.set_params(random_state=settings.random_state)
    return grow(fresh, X, y)


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


class Fidelity(NamedTuple):
    """How well a forest follows the outcomes, on rows that its trees did not see.

    Parameters
    ----------
    value : float
        Accuracy or R2; NaN if no row is out of bag.
    by_class : list of float
        For each class the share of its rows that are right; empty for a regression.
    has_signal : bool
        Whether the forest is better than the shares of the classes, or the mean, by more than chance explains; True
        if no row is out of bag.
    predictions : ndarray of shape (n_rows, n_values)
        What the trees predict for the rows that they did not see; NaN for rows that every tree has seen.
    """

    value: float
    by_class: list[float]
    has_signal: bool
    predictions: NDArray[np.float64]


def measure_fidelity(forest: FittedForest, is_out: NDArray[np.bool_], task: str, n_threads: int) -> Fidelity:
    """Measure how well the forest follows the outcomes, on rows that its trees did not see.

    Parameters
    ----------
    forest : FittedForest
        The forest.
    is_out : ndarray of shape (n_trees, n_rows)
        Whether each tree has not seen each row.
    task : {"classification", "regression"}
        The task.
    n_threads : int
        The number of threads.

    Returns
    -------
    Fidelity
        The measures.
    """
    all_predictions, is_known = forest.predict_out_of_bag(is_out, n_threads)
    all_predictions[~is_known] = math.nan
    n_classes = len(forest.y_values) if task == "classification" else 0
    if not is_known.any():
        return Fidelity(math.nan, [math.nan] * n_classes, True, all_predictions)
    predictions, rank = all_predictions[is_known], forest.y_rank[is_known]
    if task == "regression":
        y = forest.y_values[rank]
        error, constant = (y - predictions[:, 0]) ** 2, (y - y.mean()) ** 2
        r2 = 1 - float(error.mean() / constant.mean()) if constant.any() else math.nan
        return Fidelity(r2, [], _is_less(error, constant), all_predictions)
    is_right = np.argmax(predictions, axis=1) == rank
    n_rows, n_right = np.bincount(rank, minlength=n_classes), np.bincount(rank[is_right], minlength=n_classes)
    by_class = [r / n if n else math.nan for r, n in zip(n_right.tolist(), n_rows.tolist(), strict=True)]
    has_class = np.eye(n_classes)[rank]
    error, constant = (((has_class - shares) ** 2).sum(axis=1) for shares in (predictions, n_rows / len(rank)))
    return Fidelity(float(is_right.mean()), by_class, _is_less(error, constant), all_predictions)


def _is_less(error: NDArray[np.float64], constant: NDArray[np.float64]) -> bool:
    """Return whether the errors of the forest are smaller than those of a constant, by two standard errors."""
    gain = constant - error
    return bool(gain.mean() > SIGNAL * gain.std() / math.sqrt(len(gain)))


def warn_of_poor_fidelity(fidelity: Fidelity, forest: FittedForest, counts: Counts) -> None:
    """Warn if the forest follows the outcomes poorly, or not at all.

    Parameters
    ----------
    fidelity : Fidelity
        How well it does.
    forest : FittedForest
        The forest.
    counts : {"out-of-bag", "bootstrap"}
        Which rows are counted.
    """
    is_regression = not fidelity.by_class
    measure, best_constant = (
        ("R2", 0.0) if is_regression else ("accuracy", np.bincount(forest.y_rank).max() / len(forest.X))
    )
    if counts == "out-of-bag" and not fidelity.has_signal:
        warn(
            f"The variables say nothing about the outcomes: on rows out of bag the forest (out-of-bag {measure} "
            f"{fidelity.value:.2f}) is no better than {'the mean' if is_regression else 'the shares of the classes'}. "
            "No set of variables is called sufficient; try other variables or more rows.",
            FidelityWarning,
        )
    elif 1 - fidelity.value > (1 - POOR_FIDELITY) * (1 - best_constant):
        warn(
            f"The forest follows the outcomes poorly: out-of-bag {measure} {fidelity.value:.2f}, hardly better than a "
            f"constant prediction{'' if is_regression else f' ({best_constant:.2f})'}. Its explanations say little "
            "about these data; try other variables or more rows.",
            FidelityWarning,
        )


def fit(
    table: Table, y: NDArray[Any], target: str, forest: Any, settings: Settings, question: Question | None = None
) -> Fitted:
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
    question : Question or None, default=None
        A model that is asked about further rows near those of the table; the trees are grown on these, too.

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
    counts = decide_counts(settings.counts, forest)
    estimator = fit_forest(forest, task, X, y, settings)
    classes = estimator.classes_ if task == "classification" else None
    if classes is not None:
        y = rank_classes(y, classes)
    drawn = None
    if question is not None:
        drawn = draw_near(X, encoding, variables, classes, question, settings.random_state)
        grow_on_drawn(estimator, X, y, drawn, settings.n_threads)
    kept = choose_rows(len(X), settings.reference_rows, settings.random_state)
    counted = FittedForest.from_training(estimator, X, y, kept, counts, is_own=drawn is None)
    if estimator is forest:
        check_outcomes(estimator, y)
    least = LEAST_CELL if counts == "out-of-bag" else 1
    min_node_size = least_cell(settings.min_node_size, estimator.min_samples_leaf, len(X), len(kept), least)
    candidates = choose_candidates(counted, estimator, variables, settings)
    is_out = rows_out_of_bag(estimator, len(X), kept)
    fidelity = measure_fidelity(counted, is_out, task, settings.n_threads)
    warn_of_poor_fidelity(fidelity, counted, counts)
    is_honest = counts == "out-of-bag"
    return Fitted(
        estimator=estimator,
        projected=ProjectedForest(counted, variables, candidates, min_node_size),
        encoding=encoding,
        ends=Ends(encoding, counted.X),
        counts=counts,
        task=task,
        task_reason=reason,
        classes=classes,
        target=target,
        fidelity=fidelity.value,
        fidelity_by_class=None if classes is None else dict(zip(classes.tolist(), fidelity.by_class, strict=True)),
        has_signal=fidelity.has_signal or counts == "bootstrap",
        out_of_bag=None if classes is None or not is_honest else fidelity.predictions.astype(np.float32),
        interval_scores=(
            out_of_bag_scores(counted, is_out, settings.n_threads) if classes is None and is_honest else None
        ),
        settings=settings,
        drawn=drawn,
    )


def _check_outcomes_of_task(y: NDArray[Any], task: str, settings: Settings) -> NDArray[Any]:
    if task == "regression":
        y = as_finite(y)
    else:
        check_classes(y, "take task='regression' to explain them as numbers")
    check_task_settings(settings, task)
    values = np.unique(y)
    if len(values) == 1:
        kind = "class" if task == "classification" else "value"
        raise ValueError(f"`y` has one {kind} only, {values.tolist()[0]!r}: there is nothing to explain.")
    return y
