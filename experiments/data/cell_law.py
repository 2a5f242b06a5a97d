"""A made-up table whose law is known: dependent columns, and an outcome that depends on the cell of a grid.

Each column lies in [0, 1) and is cut into parts of equal length. The probability of each cell of the grid, and that of
the outcome in each cell, are drawn once; values are uniform within a cell. Every conditional probability is a sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Box: TypeAlias = Mapping[int, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class CellLaw:
    """The law of a table.

    Parameters
    ----------
    shares : ndarray of shape (n_parts,) * n_columns
        The probability of each cell.
    chances : ndarray of shape (n_parts,) * n_columns
        The probability of the outcome 1 in each cell.
    """

    shares: Floats
    chances: Floats

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self.shares.ndim

    @property
    def n_parts(self) -> int:
        """The number of parts that each column is cut into."""
        return int(self.shares.shape[0])

    def draw(self, n_rows: int, random_state: Any = None) -> tuple[Floats, NDArray[np.int64]]:
        """Draw rows and outcomes.

        Parameters
        ----------
        n_rows : int
            How many.
        random_state : int or numpy.random.Generator, default=None
            The seed.

        Returns
        -------
        X : ndarray of shape (n_rows, n_columns)
            The rows.
        y : ndarray of shape (n_rows,)
            The outcomes, 0 or 1.
        """
        rng = np.random.default_rng(random_state)
        cells = rng.choice(self.shares.size, size=n_rows, p=self.shares.ravel())
        corners = np.column_stack(np.unravel_index(cells, self.shares.shape))
        X = (corners + rng.random((n_rows, self.n_columns))) / self.n_parts
        return X, (rng.random(n_rows) < self.chances.ravel()[cells]).astype(np.int64)

    def chance(self, row: Floats, free: Sequence[int], box: Box | None = None) -> tuple[float, float]:
        """Compute the probabilities of the outcome 1, and of a box, if some columns are free and the others are known.

        Parameters
        ----------
        row : ndarray of shape (n_columns,)
            The row; its values in the columns that are not free are known.
        free : sequence of int
            The positions of the free columns.
        box : mapping of int to (float, float), default=None
            Lower and upper ends in free columns, of which the first does not belong to the box and the second does;
            None for no ends.

        Returns
        -------
        tuple of float
            The probability of the outcome in the box, P(Y = 1 | X_S in C, X_R = x_R), and that of the box,
            P(X_S in C | X_R = x_R). The first is NaN if the second is 0.
        """
        weights = self.shares
        for column in range(self.n_columns):
            shape = [1] * self.n_columns
            shape[column] = self.n_parts
            weights = weights * self._inside(column, row, free, {}).reshape(shape)
        total = float(weights.sum())
        for column in free:
            shape = [1] * self.n_columns
            shape[column] = self.n_parts
            weights = weights * self._inside(column, row, free, box or {}).reshape(shape)
        inside = float(weights.sum())
        return (float((weights * self.chances).sum()) / inside if inside else float("nan")), inside / total

    def _inside(self, column: int, row: Floats, free: Sequence[int], box: Box) -> Floats:
        """Compute the share of each part of a column that is known, or lies within the ends of a box."""
        starts = np.arange(self.n_parts) / self.n_parts
        if column not in free:
            return np.asarray(np.arange(self.n_parts) == int(row[column] * self.n_parts), dtype=np.float64)
        low, high = box.get(column, (-np.inf, np.inf))
        overlap = np.minimum(high, starts + 1 / self.n_parts) - np.maximum(low, starts)
        return np.asarray(np.clip(overlap, 0.0, None) * self.n_parts, dtype=np.float64)

    def draw_inside(self, row: Floats, free: Sequence[int], box: Box, n_rows: int, random_state: Any = None) -> Any:
        """Draw fresh outcomes of rows that keep the known values of a row and lie in a box elsewhere.

        Parameters
        ----------
        row : ndarray of shape (n_columns,)
            The row.
        free : sequence of int
            The positions of the free columns.
        box : mapping of int to (float, float)
            Lower and upper ends in free columns.
        n_rows : int
            How many.
        random_state : int or numpy.random.Generator, default=None
            The seed.

        Returns
        -------
        ndarray of shape (n_rows,)
            The outcomes, 0 or 1.
        """
        rng = np.random.default_rng(random_state)
        return (rng.random(n_rows) < self.chance(row, free, box)[0]).astype(np.int64)


def make_cell_law(n_columns: int = 3, n_parts: int = 4, *, random_state: Any = None) -> CellLaw:
    """Make a law: cells of unequal probability, in each of which an outcome is rare (0.03) or likely (0.97).

    Parameters
    ----------
    n_columns, n_parts : int
        The number of columns, and of parts of each.
    random_state : int or numpy.random.Generator, default=None
        The seed.

    Returns
    -------
    CellLaw
        The law.
    """
    rng = np.random.default_rng(random_state)
    shape = (n_parts,) * n_columns
    shares = 0.5 + rng.random(shape)
    return CellLaw(shares / shares.sum(), np.where(rng.random(shape) < 0.4, 0.97, 0.03))
