"""Predictions of the training rows by the trees that did not draw them.

They are computed from the rows that each tree counts, so that a loaded explainer and one that keeps only some of its
training rows have them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import _core
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


@dataclass(frozen=True, eq=False)
class RankWeights:
    """The outcomes that trees which did not draw them expect of some training rows, as weights of ranks.

    Parameters
    ----------
    rows : ndarray of int
        The training rows.
    rank : ndarray of uint32
        The ranks of outcomes that their leaves hold, row by row.
    weight : ndarray of float32
        The weight of each; those of a row sum to one.
    begin : ndarray of shape (n_rows + 1,)
        Where the ranks of each row begin.
    """

    rows: NDArray[np.intp]
    rank: NDArray[np.uint32]
    weight: NDArray[np.float32]
    begin: NDArray[np.intp]

    def shares(self, is_wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Compute the share of wanted outcomes that is expected of each row.

        Parameters
        ----------
        is_wanted : ndarray of shape (n_ranks,), bool
            Whether each rank is wanted.

        Returns
        -------
        ndarray of shape (n_rows,)
            The shares.
        """
        up_to = np.concatenate([[0.0], np.cumsum(np.where(is_wanted[self.rank], self.weight, 0.0), dtype=np.float64)])
        shares: NDArray[np.float64] = np.clip(np.diff(up_to[self.begin]), 0.0, 1.0)
        return shares


def expected_ranks(fitted: Fitted, n_most: int) -> RankWeights:
    """Find what the trees expect of training rows that they did not draw, by the other rows in their leaves.

    Parameters
    ----------
    fitted : Fitted
        The fitted state.
    n_most : int
        How many rows at most; they are evenly spaced in the table.

    Returns
    -------
    RankWeights
        Weights of ranks. Rows that share no leaf out of bag with another row are left out.
    """
    forest = fitted.forest
    sampled_rows = np.linspace(0, len(forest.X) - 1, min(n_most, len(forest.X))).astype(np.intp)
    is_out = rows_not_drawn(forest, fitted.counts)[:, sampled_rows]
    leaves = _core.leaves(forest=forest.core, X=forest.X, n_threads=fitted.settings.n_threads)
    parts: list[tuple[NDArray[np.intp], NDArray[np.uint32], NDArray[np.float32]]] = []
    n_trees = np.zeros(len(sampled_rows))
    for t, tree in enumerate(list_trees(forest.trees)):
        counted = tree.rows[np.argsort(leaves[tree.rows, t], kind="stable")]
        of_leaf = leaves[counted, t]
        places = np.flatnonzero(is_out[t])
        own = leaves[sampled_rows[places], t]
        first, last = np.searchsorted(of_leaf, own), np.searchsorted(of_leaf, own, side="right")
        is_counted = np.isin(sampled_rows[places], counted)
        n_others = last - first - is_counted
        places, first, last, n_others = (values[n_others > 0] for values in (places, first, last, n_others))
        place = np.repeat(places, last - first)
        starts = np.repeat(first - np.concatenate([[0], np.cumsum(last - first)[:-1]]), last - first)
        rows = counted[np.arange(len(place)) + starts]
        is_other = rows != sampled_rows[place]
        weight = np.repeat(1 / np.maximum(n_others, 1), last - first)
        parts.append((place[is_other], forest.y_rank[rows[is_other]], weight[is_other].astype(np.float32)))
        n_trees[places] += 1
    place, rank, weight = (np.concatenate([part[i] for part in parts]) for i in range(3))
    order = np.argsort(place, kind="stable")
    place, rank, weight = place[order], rank[order], weight[order]
    known = np.flatnonzero(n_trees)
    begin = np.searchsorted(place, np.append(known, len(sampled_rows)))
    return RankWeights(sampled_rows[known], rank, (weight / n_trees[place]).astype(np.float32), begin)
