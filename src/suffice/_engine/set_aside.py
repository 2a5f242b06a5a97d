"""Rows that are set aside: drawn before anything is learnt, so that they can check what was learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from suffice._table.checks import check_number

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SetAside:
    """Rows that had no part in fitting.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), float32
        The rows as the forest sees them. A category that no training row has is missing.
    outcomes : ndarray of shape (n_rows,)
        Their outcomes: labels or numbers.
    """

    X: NDArray[np.float32]
    outcomes: NDArray[Any]


def draw_rows(y: NDArray[Any], share: float, is_class: bool, random_state: Any) -> tuple[Rows, Rows]:
    """Draw the rows to set aside.

    Every row has the same probability `share`. The shares of the classes stay the same, up to one row.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        The outcomes.
    share : float
        The share of the rows that is set aside, in (0, 1).
    is_class : bool
        Whether the outcomes are classes.
    random_state : int, RandomState or None
        The seed.

    Returns
    -------
    rest, aside : ndarray of int
        The positions of the rows to fit on and of the rows set aside, ascending.
    """
    check_number("holdout", share, "a share of the rows in (0, 1)", lambda v: 0 < v < 1)
    random, n_rows = check_random_state(random_state), len(y)
    order = random.permutation(n_rows)
    if is_class:
        _, codes = np.unique(y, return_inverse=True)
        order = order[np.argsort(codes[order], kind="stable")]
    # Every 1 / share-th row, from a random first one on: systematic sampling.
    steps = np.floor(random.uniform() + share * np.arange(n_rows + 1))
    is_aside = np.zeros(n_rows, dtype=bool)
    is_aside[order] = np.diff(steps) > 0
    rest, aside = np.flatnonzero(~is_aside), np.flatnonzero(is_aside)
    if len(aside) < 2 or len(rest) < 2:
        raise ValueError(
            f"`holdout={share:g}` sets {len(aside)} of {n_rows} rows aside; at least 2 rows must be set aside, and at "
            "least 2 must be left to fit on."
        )
    if is_class:
        lost = np.setdiff1d(y, y[rest])
        if len(lost):
            raise ValueError(
                f"`holdout={share:g}` leaves no row of the class {lost.tolist()[0]!r} to fit on: choose a smaller "
                "share, or leave out the rows of so rare a class."
            )
    return rest, aside
