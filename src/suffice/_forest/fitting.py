"""Fitting: classes or numbers, which forest, how well it follows the outcomes, and the rows set aside."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

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

from suffice._forest.candidates import AUTO, choose_candidates, gaining_variables
from suffice._forest.fitted import NOTHING_DECLARED, Declared, Fitted, SetAside, draw_rows
from suffice._forest.model_outputs import PROBABILITY_RADIUS, ExplainedModel, are_probabilities
from suffice._forest.out_of_bag import measure_errors
from suffice._forest.outcomes import rank_classes
from suffice._forest.progress import enter_stage, is_watched
from suffice._forest.projection import ProjectedForest
from suffice._forest.rounded_bounds import Ends
from suffice._forest.settings import Settings, least_cell
from suffice._forest.trees import (
    OTHER_TABLE,
    Counts,
    FittedForest,
    OutOfBag,
    bootstrap_rows,
    choose_rows,
    most_counted,
    takes_missing,
)
from suffice._table.encoding import Encoding
from suffice._table.input import as_finite, check_classes, check_finite
from suffice._table.variables import Variables
from suffice._text import format_share
from suffice.errors import CountsWarning, FidelityWarning, warn

if TYPE_CHECKING:
    from suffice._table.table import Table

CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier)
REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)

# Numbers without fractions are taken for classes up to this many distinct values.
MAX_INTEGER_CLASSES = 20
NO_WEIGHTS = (
    "Weights, like repeated rows, change the shares of the outcomes, and the probabilities would no longer describe "
    "your data."
)
# The rows that a leaf of the default forest for numbers holds at least. Larger leaves cost accuracy.
LEAST_LEAF = 5
# The out-of-bag rows that a cell holds at least, and a leaf of classes: sqrt(n / 20), within these limits. With 5 rows
# in tables of 2,000, more claims are about sets that are not sufficient in truth; with 10 in tables of 400, half of the
# rows that could have a sufficient set have none.
LEAST_CELL, ROWS_OF_LEAST_CELL = (5, 10), 20
# The share of the columns that a split considers. Classes: with 0.7, fewer rows have a sufficient set where variables
# matter only together. Numbers: with all of them, sets are larger.
MAX_FEATURES = {"classification": 1.0, "regression": 0.7}
# The rows that a tree of the default forest draws at most.
MOST_GROWN = 100_000
# The rows of a large table on which the variables of the default forest are chosen.
SCREENED_ROWS = 10_000
TREES_A_STEP = 5  # that grow between two reports of the progress
# A forest that removes less than this share of a constant prediction's error is called poor.
POOR_FIDELITY = 0.2
# A forest must be better than a constant prediction by this many standard errors of the mean gain.
SIGNAL = 2.0


def refuse_arguments(others: Mapping[str, Any]) -> None:
    """Refuse what `fit` does not take."""
    for name in others:
        hint = f" {NO_WEIGHTS}" if "weight" in name else ""
        raise TypeError(f"`fit` takes `X`, `y`, `holdout`, `focus` and `fixed`, got {name!r}.{hint}")


def task_of_forest(forest: object) -> str | None:
    """Return the task of a forest."""
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
    """Return the paper's t_n, the smallest size of a leaf with which the estimator is consistent."""
    return int(math.sqrt(n_rows) * math.log(n_rows) ** 1.5 / 250)


def least_counted(n_rows: int) -> int:
    """Return how many out-of-bag rows a cell holds at least, so that their share can be read as a probability."""
    return int(min(max(LEAST_CELL[0], math.sqrt(n_rows / ROWS_OF_LEAST_CELL)), LEAST_CELL[1]))


def default_forest(task: str, n_rows: int, counts: Counts, n_jobs: int, random_state: Any) -> Any:
    """Make the forest that is fitted when the user brings none; docs/method.md (1.2) has its leaves and features."""
    is_class = task == "classification"
    least = least_counted(n_rows) if is_class and counts == "out-of-bag" else LEAST_LEAF
    share = min(1.0, MOST_GROWN / n_rows)
    shared = {
        "n_estimators": 100,
        "max_samples": None if share == 1 else share,
        "min_samples_leaf": max(least, int(share * consistent_leaf_size(n_rows))),
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    if not is_class:
        return RandomForestRegressor(**shared, max_features=MAX_FEATURES[task])
    # The rows that grew a tree are counted as in the paper, whose forests are scikit-learn's.
    return RandomForestClassifier(**shared, max_features=MAX_FEATURES[task] if counts == "out-of-bag" else "sqrt")


def decide_counts(counts: str, forest: Any) -> Counts:
    """Decide which rows the trees count."""
    draws_all = forest is not None and not forest.bootstrap
    if draws_all and counts == "out-of-bag":
        raise ValueError(
            "`counts='out-of-bag'` needs a forest with `bootstrap=True`: each tree of this one draws all rows, so that "
            "none is left to count. Set `bootstrap=True`, or take `counts='bootstrap'`."
        )
    if counts != "auto":
        return cast("Counts", counts)
    if not draws_all:
        return "out-of-bag"
    warn(
        "Each tree of `forest` draws all rows, so the rows that grew it are counted and probabilities come out too "
        "high. Set `bootstrap=True` to count the rows out of bag, or `counts='bootstrap'` to accept this.",
        CountsWarning,
    )
    return "bootstrap"


def fit_forest(forest: Any, task: str, X: NDArray[np.float32], y: NDArray[Any], settings: Settings) -> Any:
    """Fit the user's forest or the default one; a fitted forest stays as it is."""
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


def grow(forest: Any, X: NDArray[np.float32], y: NDArray[Any], stage: str = "Growing trees") -> Any:
    """Fit a forest; where somebody watches, a few trees at a time, which gives the same trees."""
    n_trees = getattr(forest, "n_estimators", 0)
    if not is_watched() or not isinstance(forest.random_state, int):
        return forest.fit(X, y)
    for n_done in range(0, n_trees, TREES_A_STEP):
        enter_stage(stage, n_done, n_trees)
        forest.set_params(warm_start=True, n_estimators=min(n_done + TREES_A_STEP, n_trees)).fit(X, y)
    enter_stage("Counting the rows that trees have not seen")
    return forest.set_params(warm_start=False)


def fit_screened_forest(
    X: NDArray[np.float32], y: NDArray[Any], variables: Variables, counts: Counts, settings: Settings
) -> Any:
    """Fit the default forest of classes on the variables whose splits gain something on the rows that trees count.

    A first forest, on a sample of a large table, finds them. Without the others, more splits are on variables that
    matter, which counts most for those that matter only together.
    """

    def fit_default(X: NDArray[np.float32], y: NDArray[Any], stage: str) -> Any:
        forest = default_forest("classification", len(X), counts, settings.n_threads, settings.random_state)
        return grow(forest, X, y, stage)

    rows = choose_rows(len(X), SCREENED_ROWS, 0)
    first = fit_default(X[rows], y[rows], "Growing trees to find variables that matter")
    ranks, codes = rank_classes(y[rows], first.classes_), np.arange(len(first.classes_), dtype=np.float64)
    counted, _ = FittedForest.from_training(
        first, X[rows], ranks, codes, counts, settings.random_state, n_threads=settings.n_threads
    )
    gaining = gaining_variables(counted, variables, settings.n_threads)
    if len(gaining) == len(variables) and len(rows) == len(X):
        return first
    del first, counted  # before the next forest takes memory
    columns = [column for v in gaining for column in variables.columns[v]]
    masked = np.zeros_like(X)  # no tree splits on a constant column
    masked[:, columns] = X[:, columns]
    return fit_default(masked, y, "Growing trees")


def check_outcomes(forest: Any, y: NDArray[Any]) -> None:
    """Refuse outcomes other than those that a fitted forest was trained on."""
    drawn = y[next(bootstrap_rows(forest))]
    if hasattr(forest, "classes_"):
        at_root = np.bincount(drawn, minlength=len(forest.classes_)) / len(drawn)
    else:
        center = np.median if forest.criterion == "absolute_error" else np.mean
        at_root = np.array([center(drawn)])
    value = forest.estimators_[0].tree_.value[0, 0]
    if not np.allclose(value, at_root, rtol=1e-6, atol=1e-6 * float(np.ptp(y))):
        raise ValueError("`forest` is fitted already, but on other outcomes: pass the very `y` that it was fitted on.")


class Fidelity(NamedTuple):
    """How well a forest follows the outcomes, on rows that its trees did not see."""

    value: float
    by_class: list[float]
    has_signal: bool


def measure_fidelity(forest: FittedForest, votes: NDArray[np.float64], task: str) -> Fidelity:
    """Measure how well the forest follows the outcomes, by what its trees predict for rows that they did not see."""
    is_known = ~np.isnan(votes[:, 0])
    n_classes = len(forest.y_values) if task == "classification" else 0
    if not is_known.any():
        return Fidelity(math.nan, [math.nan] * n_classes, True)
    predictions, rank = votes[is_known], forest.y_rank[is_known]
    if task == "regression":
        y = forest.y_values[rank]
        error, constant = (y - predictions[:, 0]) ** 2, (y - y.mean()) ** 2
        r2 = 1 - float(error.mean() / constant.mean()) if constant.any() else math.nan
        return Fidelity(r2, [], _is_less(error, constant))
    is_right = np.argmax(predictions, axis=1) == rank
    n_rows, n_right = np.bincount(rank, minlength=n_classes), np.bincount(rank[is_right], minlength=n_classes)
    by_class = [r / n if n else math.nan for r, n in zip(n_right.tolist(), n_rows.tolist(), strict=True)]
    has_class = np.eye(n_classes)[rank]
    error, constant = (((has_class - shares) ** 2).sum(axis=1) for shares in (predictions, n_rows / len(rank)))
    return Fidelity(float(is_right.mean()), by_class, _is_less(error, constant))


def _is_less(error: NDArray[np.float64], constant: NDArray[np.float64]) -> bool:
    """Return whether the errors of the forest are smaller than those of a constant, by two standard errors."""
    gain = constant - error
    return bool(gain.mean() > SIGNAL * gain.std() / math.sqrt(len(gain)))


def warn_of_poor_fidelity(fidelity: Fidelity, forest: FittedForest, counts: Counts) -> None:
    """Warn if the forest follows the outcomes poorly, or not at all."""
    is_regression = not fidelity.by_class
    measure, best_constant = (
        ("R2", 0.0) if is_regression else ("accuracy", np.bincount(forest.y_rank).max() / len(forest.X))
    )
    reached = f"out-of-bag {measure} {format_share(fidelity.value)}"
    if counts == "out-of-bag" and not fidelity.has_signal:
        warn(
            f"The variables say nothing about the outcomes: on rows out of bag the forest ({reached}) "
            f"is no better than {'the mean' if is_regression else 'the shares of the classes'}. "
            "No set of variables is called sufficient; try other variables or more rows.",
            FidelityWarning,
        )
    elif 1 - fidelity.value > (1 - POOR_FIDELITY) * (1 - best_constant):
        warn(
            f"The forest follows the outcomes poorly: {reached}, hardly better than a constant prediction"
            f"{'' if is_regression else f' ({format_share(best_constant)})'}. Its explanations say little "
            "about these data; try other variables or more rows.",
            FidelityWarning,
        )


def fit(
    table: Table,
    y: NDArray[Any],
    target: str,
    forest: Any,
    settings: Settings,
    holdout: float | None = None,
    declared: Declared = NOTHING_DECLARED,
) -> Fitted:
    """Fit a forest to a table, choose the candidates, and measure the fidelity."""
    if holdout is not None:
        return _fit_with_holdout(table, y, target, forest, settings, holdout, declared)
    task, reason = decide_task(settings.task, forest, y)
    settings = settings.for_task(task)
    y = _check_outcomes_of_task(y, task)
    encoding = Encoding.learn(table, settings.dates)
    if hasattr(forest, "estimators_"):
        encoding.check_numeric()
    X = encoding.encode(table, settings.unseen)
    check_finite(X, [column.name for column in encoding.columns], takes_missing(forest))
    variables = Variables.of_encoding(encoding, settings.groups)
    labels, ranks = np.unique(y, return_inverse=True)
    declared = declared.read(labels if task == "classification" else None, ranks, variables)
    counts = decide_counts(settings.counts, forest)
    if forest is None and settings.candidates == AUTO and task == "classification":
        estimator = fit_screened_forest(X, y, variables, counts, settings)
    else:
        estimator = fit_forest(forest, task, X, y, settings)
    classes = estimator.classes_ if task == "classification" else None
    y_values = labels
    if classes is not None:
        if not np.array_equal(labels, classes):
            ranks = rank_classes(y, classes).astype(np.intp)
        y = ranks
        y_values = np.arange(len(classes), dtype=np.float64)
    # The cells of a forest that is brought fitted stay those of its own splits.
    n_levels = () if estimator is forest else encoding.n_levels
    counted, out_of_bag = FittedForest.from_training(
        estimator, X, ranks, y_values, counts, settings.random_state, n_levels=n_levels, n_threads=settings.n_threads
    )
    if estimator is forest:
        check_outcomes(estimator, y)
    min_node_size = _cell_size(estimator, out_of_bag, counts, settings, is_default=forest is None)
    candidates = choose_candidates(counted, estimator, variables, settings)
    fidelity = measure_fidelity(counted, out_of_bag.votes, task)
    warn_of_poor_fidelity(fidelity, counted, counts)
    is_honest = counts == "out-of-bag"
    return Fitted(
        estimator=estimator,
        projected=ProjectedForest(counted, variables, candidates, min_node_size, settings.voters == "all"),
        encoding=encoding,
        ends=Ends(encoding, counted.X),
        counts=counts,
        task=task,
        task_reason=reason,
        classes=classes,
        target=target,
        fidelity=fidelity.value,
        fidelity_by_class=None if classes is None else dict(zip(classes.tolist(), fidelity.by_class, strict=True)),
        has_signal=fidelity.has_signal or not is_honest,
        out_of_bag=None if classes is None or not is_honest else out_of_bag.votes.astype(np.float32),
        settings=settings,
        errors=measure_errors(counted, out_of_bag) if classes is None and is_honest else None,
        declared=declared,
    )


def _cell_size(estimator: Any, out_of_bag: OutOfBag, counts: Counts, settings: Settings, *, is_default: bool) -> int:
    """Choose how many rows a cell holds at least: as many as a leaf, in proportion to the rows that are counted."""
    n_rows, is_honest = len(out_of_bag.votes), counts == "out-of-bag"
    leaf, most = estimator.min_samples_leaf, most_counted(estimator)
    n_of_tree = float(n_rows if counts == "all" else len(next(bootstrap_rows(estimator))))
    if is_honest:
        n_of_tree = float(out_of_bag.n_trees.sum() / len(estimator.estimators_))
    if is_default and estimator.max_samples is not None:  # as large as the cells of a forest that draws all rows
        leaf, n_of_tree = round(leaf / estimator.max_samples), n_rows / (math.e if is_honest else 1)
    n_counted = n_rows if n_of_tree <= most else n_rows * most / n_of_tree
    return least_cell(settings.min_node_size, leaf, n_rows, n_counted, least_counted(n_rows) if is_honest else 1)


def _check_outcomes_of_task(y: NDArray[Any], task: str) -> NDArray[Any]:
    if task == "regression":
        y = as_finite(y)
    else:
        check_classes(y, "take task='regression' to explain them as numbers")
    values = np.unique(y)
    if len(values) == 1:
        kind = "class" if task == "classification" else "value"
        raise ValueError(f"`y` has one {kind} only, {values.tolist()[0]!r}: there is nothing to explain.")
    return y


def _fit_with_holdout(
    table: Table, y: NDArray[Any], target: str, forest: Any, settings: Settings, holdout: float, declared: Declared
) -> Fitted:
    """Set rows aside at random, and fit on the others.

    The set-aside rows take no part in choosing anything, how categories are encoded included. All rows together decide
    between classes and numbers.
    """
    if hasattr(forest, "estimators_"):
        raise ValueError(
            "`forest` is fitted already and has seen all rows, so `holdout` can set none aside: pass a forest that is "
            "not fitted, or pass fresh rows to `certify`."
        )
    task, reason = decide_task(settings.task, forest, y)
    is_class = task == "classification"
    if not is_class:
        y = as_finite(y)
    rest, aside = draw_rows(y, holdout, is_class, settings.random_state)
    fitted = fit(table.take(rest), y[rest], target, forest, replace(settings, task=task), None, declared)
    X = fitted.encode(table.take(aside), unseen="missing")
    values = y[aside] if fitted.classes is None else np.asarray(y[aside], dtype=fitted.classes.dtype)
    settings = settings.for_task(task)
    return replace(fitted, task_reason=reason, settings=settings, set_aside=SetAside(X, values))


def state_of_model(fitted: Fitted, explained: ExplainedModel, outputs: NDArray[Any], has_alpha: bool) -> Fitted:
    """Return the state of an explainer that was fitted on the outputs of a model."""
    is_probability = fitted.task == "regression" and are_probabilities(
        explained.model, outputs, explained.probability_of
    )
    return replace(
        fitted,
        target=explained.target,
        model_name=explained.name,
        is_probability=is_probability,
        default_radius=PROBABILITY_RADIUS if is_probability and not has_alpha else None,
        model=explained,
    )
