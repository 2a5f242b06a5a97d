"""The outcomes that are explained: classes or numbers with their intervals, and both as ranges of ranks.

The rank of a class is its position among the classes, that of a number its position among the training outcomes. The
core compares ranks only: an outcome is kept while the rank of Y stays in a closed range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import InputValueError

Floats = NDArray[np.float64]
Ranks = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The outcomes of some rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Labels or numbers.
    intervals : ndarray of shape (n_rows, 2) or None
        Regression: the closed intervals within which the outcomes count as kept.
    low, high : ndarray of shape (n_rows,), uint32
        The outcomes as ranks, both ends included; low > high if no training outcome lies in the interval.
    """

    values: NDArray[Any]
    intervals: Floats | None
    low: Ranks
    high: Ranks

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def take(self, rows: NDArray[np.intp]) -> Outcomes:
        """Return the outcomes of some of the rows.

        Parameters
        ----------
        rows : ndarray of int
            Their positions.

        Returns
        -------
        Outcomes
            Their outcomes.
        """
        intervals = None if self.intervals is None else self.intervals[rows]
        return Outcomes(self.values[rows], intervals, self.low[rows], self.high[rows])

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """Join the outcomes of several parts of a table.

        Parameters
        ----------
        parts : sequence of Outcomes
            The outcomes, in the order of the rows.

        Returns
        -------
        Outcomes
            All of them.
        """
        intervals = [part.intervals for part in parts if part.intervals is not None]
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate(intervals) if intervals else None,
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
        )


def rank_classes(labels: NDArray[Any], classes: NDArray[Any]) -> Ranks:
    """Find the positions of labels among the classes.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        The labels.
    classes : ndarray of shape (n_classes,)
        The labels that were there at fit.

    Returns
    -------
    ndarray of shape (n_rows,), uint32
        The positions.
    """
    rank_of = {label: rank for rank, label in enumerate(classes.tolist())}
    try:
        return np.array([rank_of[label] for label in labels.tolist()], dtype=np.uint32)
    except (KeyError, TypeError):
        row, unknown = next((row, label) for row, label in enumerate(labels.tolist()) if label not in rank_of)
        raise InputValueError(
            f"`y` holds the label {unknown!r}",
            f", which was not among the labels at fit: {classes.tolist()}.",
            row=row,
            value=unknown,
        ) from None


def outcomes_of_classes(labels: NDArray[Any], classes: NDArray[Any]) -> Outcomes:
    """Make the outcomes of labels.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        The labels.
    classes : ndarray of shape (n_classes,)
        The labels that were there at fit.

    Returns
    -------
    Outcomes
        The outcomes, without intervals.
    """
    ranks = rank_classes(labels, classes)
    return Outcomes(labels, None, ranks, ranks)


def outcomes_of_intervals(numbers: Floats, intervals: Floats, y_values: Floats) -> Outcomes:
    """Make the outcomes of numbers with their intervals.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,)
        The numbers.
    intervals : ndarray of shape (n_rows, 2)
        Their closed intervals.
    y_values : ndarray
        The distinct training outcomes, ascending.

    Returns
    -------
    Outcomes
        The outcomes.
    """
    low = np.searchsorted(y_values, intervals[:, 0], side="left")
    end = np.searchsorted(y_values, intervals[:, 1], side="right")
    is_empty = end <= low
    low, high = np.where(is_empty, 1, low), np.where(is_empty, 0, end - 1)
    return Outcomes(numbers, intervals, low.astype(np.uint32), high.astype(np.uint32))


def intervals_around(numbers: Floats, radius: float) -> Floats:
    """Make intervals of a fixed radius.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows,)
        The numbers.
    radius : float
        The distance from a number to the ends of its interval.

    Returns
    -------
    ndarray of shape (n_rows, 2)
        The closed intervals.
    """
    return np.stack([numbers - radius, numbers + radius], axis=1)
