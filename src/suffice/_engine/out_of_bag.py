"""Predictions of the training rows by the trees that did not draw them.

They are computed from the rows that each tree counts, so that a loaded explainer and one that keeps only some of its
training rows have them too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._engine.fitted import Fitted
from suffice._engine.forest import FittedForest
from suffice._engine.trees import Counts, list_trees


def rows_not_drawn(forest: FittedForest, counts: Counts) -> NDArray[np.bool_]:
    """Find the training rows that each tree did not draw.

    Parameters
    ----------
    forest : FittedForest
        The forest with the rows that its trees count.
    counts : {"out-of-bag", "bootstrap"}
        Whether these are the rows that a tree did not draw, or those that it drew.

    Returns
    -------
    ndarray of shape (n_trees, n_rows)
        Whether each tree did not draw each row.
    """
    trees = list(list_trees(forest.trees))
    is_counted = np.zeros((len(trees), len(forest.X)), dtype=bool)
    for t, tree in enumerate(trees):
        is_counted[t, tree.rows] = True
    if counts == "bootstrap":
        return ~is_counted
    # A tree that drew every row counts the rows that it drew: it has no row out of bag.
    is_counted[is_counted.all(axis=1)] = False
    return is_counted


def predict_out_of_bag(fitted: Fitted) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Predict each training row by the trees that did not draw it.

    Parameters
    ----------
    fitted : Fitted
        The fitted state.

    Returns
    -------
    predictions : ndarray of shape (n_rows,)
        Labels or numbers; meaningless for rows that every tree drew.
    is_known : ndarray of shape (n_rows,), bool
        Whether some tree did not draw the row.
    """
    is_out = rows_not_drawn(fitted.forest, fitted.counts)
    values, is_known = fitted.forest.predict_out_of_bag(is_out, fitted.settings.n_threads)
    predictions = values[:, 0] if fitted.classes is None else fitted.classes[np.argmax(values, axis=1)]
    return predictions, is_known
