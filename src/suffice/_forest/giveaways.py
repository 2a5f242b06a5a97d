"""Columns that alone predict the outcomes nearly without error: they cause a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from suffice._text import join
from suffice.errors import GiveawayWarning, warn

if TYPE_CHECKING:
    from suffice._forest.fitted import Fitted

# What one column must reach on rows that its tree has not seen, and what share of a constant prediction's errors it may
# leave: 0.99 says little if 0.97 of the rows have the same class.
LEAST_ACCURACY, LEAST_R2 = 0.99, 0.999
MOST_ERRORS = 0.2
# The forest itself is this good out of bag, or no column is tried: most tables end here, at no cost.
LEAST_OF_FOREST = 0.9
# The columns that are tried, the most important first, and the rows, half of which grow the tree.
N_COLUMNS, N_ROWS = 5, 4000
# Fewer rows tell little, and a tree of few rows is poor.
LEAST_ROWS = 40


def find_giveaways(fitted: Fitted, seed: int = 0) -> list[tuple[str, float]]:
    """Find the columns that alone predict the outcomes nearly without error."""
    X, is_class = fitted.forest.X, fitted.classes is not None
    y: NDArray[Any] = fitted.forest.y_rank if is_class else fitted.forest.y_values[fitted.forest.y_rank]
    if not fitted.fidelity >= LEAST_OF_FOREST or len(y) < LEAST_ROWS or X.shape[1] < 2:
        return []
    rows = np.random.default_rng(seed).permutation(len(y))[:N_ROWS]
    halves = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    ranked = np.argsort(-fitted.estimator.feature_importances_, kind="stable")[:N_COLUMNS]
    giveaways = []
    for c in ranked.tolist():
        column = X[:, c].astype(np.float64)
        scores = [_score_column(column, y, *order, is_class) for order in (halves, halves[::-1])]
        worst = min(scores)
        if worst > 0:
            giveaways.append((fitted.encoding.columns[c].name, worst))
    return giveaways


def _score_column(
    x: NDArray[np.float64], y: NDArray[Any], grown: NDArray[np.intp], other: NDArray[np.intp], is_class: bool
) -> float:
    """Return the accuracy or R2 on other rows of a model that knows one column; 0 if it is not enough."""
    X = x[:, None]
    if is_class:
        tree = DecisionTreeClassifier(max_leaf_nodes=64, min_samples_leaf=2, random_state=0).fit(X[grown], y[grown])
        accuracy = float(np.mean(tree.predict(X[other]) == y[other]))
        of_constant = float(np.mean(y[other] == np.bincount(y[grown]).argmax()))
        is_enough = accuracy >= LEAST_ACCURACY and 1 - accuracy <= MOST_ERRORS * (1 - of_constant)
        return accuracy if is_enough else 0.0
    if np.isnan(x[grown]).all():
        return 0.0
    # Nothing is known beyond the smallest and the largest value.
    other = other[~((x[other] < np.nanmin(x[grown])) | (x[other] > np.nanmax(x[grown])))]
    tree = DecisionTreeRegressor(min_samples_leaf=2, random_state=0).fit(X[grown], y[grown])
    guesses = [tree.predict(X[other])]
    if not np.isnan(x).any():  # a tree of few rows follows a straight line in steps that are too large
        values, places = np.unique(x[grown], return_inverse=True)
        means = np.bincount(places, weights=y[grown]) / np.bincount(places)
        guesses.append(np.interp(x[other], values, means))
    spread = float(np.var(y[other]))
    error = min(float(np.mean((guess - y[other]) ** 2)) for guess in guesses)
    r2 = 1 - error / spread if spread else 0.0
    return r2 if r2 >= LEAST_R2 else 0.0


def warn_of_giveaways(fitted: Fitted) -> None:
    """Warn of columns that alone predict the outcomes nearly without error."""
    columns = find_giveaways(fitted)
    if columns:
        measure = "R2" if fitted.classes is None else "accuracy"
        listed = join([f"{name!r} ({measure} {score:.3f})" for name, score in columns])
        is_one = len(columns) == 1
        warn(
            f"One column alone is enough to predict {fitted.target!r} nearly without error: {listed}. "
            f"{'It' if is_one else 'Each'} may be the outcome under another name, or be known only after the outcome; "
            f"leave {'it' if is_one else 'them'} out if so.",
            GiveawayWarning,
        )
