"""Synthetic data of the paper with their truth: the switch model and the two moons.

Both generators return pandas objects. The LUCAS network is in `experiments.data.lucas_network`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import make_moons as draw_moons


@dataclass(frozen=True, eq=False)
class SwitchData:
    """Rows of the switch model with their true means and true sets.

    Parameters
    ----------
    X : pandas.DataFrame of shape (n_rows, n_columns)
        The columns X1, X2 and so on.
    y : pandas.Series of shape (n_rows,)
        The outcomes, named Y.
    mean : pandas.Series of shape (n_rows,)
        E(Y | X): the outcomes without noise.
    true_sets : tuple of frozenset of str
        For each row the variables that decide its mean: X1, X2, X5 or X3, X4, X5.
    """

    X: Any
    y: Any
    mean: Any
    true_sets: tuple[frozenset[str], ...]


@dataclass(frozen=True, eq=False)
class MoonsData:
    """Rows of the two moons with noise columns, with the variables that matter.

    Parameters
    ----------
    X : pandas.DataFrame of shape (n_rows, 2 + n_noise)
        The columns X1, X2 (the plane of the moons), Z1, Z2 and so on.
    y : pandas.Series of shape (n_rows,)
        The labels 0 and 1, named Y: the moon, the other one where Z1 > 0.
    moon : pandas.Series of shape (n_rows,)
        The moon that the row lies on: 0 (upper) or 1 (lower).
    true_variables : frozenset of str
        The variables that the label depends on: X1, X2, Z1. Each row needs Z1, and X1 or X2 or both.
    """

    X: Any
    y: Any
    moon: Any
    true_variables: frozenset[str]


def make_switch(
    n_rows: int = 10_000, *, n_columns: int = 100, noise: float = 0.0, random_state: Any = None
) -> SwitchData:
    """Draw rows of the switch model of the paper's section 5.

    X is normal with mean 0 and covariance 0.8 J + 5 I, with J all ones. Y = X1 + X2 where X5 <= 0, and X3 + X4
    elsewhere.

    Parameters
    ----------
    n_rows : int, default=10000
        The number of rows.
    n_columns : int, default=100
        The number of columns, at least 5; those from X6 on are noise.
    noise : float, default=0.0
        The standard deviation of the normal noise on Y; the paper has none.
    random_state : int, Generator or None, default=None
        The seed.

    Returns
    -------
    SwitchData
        The rows, their true means and their true sets.

    Examples
    --------
    >>> data = make_switch(1000, random_state=0)
    >>> data.X.shape
    (1000, 100)
    >>> [sorted(S) for S in data.true_sets[:2]] == [
    ...     ["X1", "X2", "X5"] if x <= 0 else ["X3", "X4", "X5"] for x in data.X["X5"][:2]
    ... ]
    True
    """
    check_count("n_rows", n_rows, 1)
    check_count("n_columns", n_columns, 5)
    if not 0 <= noise < math.inf:
        raise ValueError(f"`noise` must be a number >= 0, got {noise!r}.")
    rng = np.random.default_rng(random_state)
    X = _draw_normal(n_rows, n_columns, rng)
    is_first = X[:, 4] <= 0
    mean = np.where(is_first, X[:, 0] + X[:, 1], X[:, 2] + X[:, 3])
    y = mean + noise * rng.standard_normal(n_rows) if noise else mean
    first, second = frozenset({"X1", "X2", "X5"}), frozenset({"X3", "X4", "X5"})
    return SwitchData(
        pd.DataFrame(X, columns=_numbered("X", n_columns)),
        pd.Series(y, name="Y"),
        pd.Series(mean, name="mean"),
        tuple(first if is_first_row else second for is_first_row in is_first),
    )


def make_moons(n_rows: int = 10_000, *, n_noise: int = 100, random_state: Any = None) -> MoonsData:
    """Draw rows of the two moons of the paper's appendix, with normal columns, one of which flips the labels.

    Z has the distribution of the switch model's X. The label is the moon, flipped where Z1 > 0.

    Parameters
    ----------
    n_rows : int, default=10000
        The number of rows, half of them on each moon.
    n_noise : int, default=100
        The number of normal columns, at least 1: Z1 flips the label, the others are noise.
    random_state : int, Generator or None, default=None
        The seed.

    Returns
    -------
    MoonsData
        The rows and the variables that matter.

    Examples
    --------
    >>> data = make_moons(1000, random_state=0)
    >>> list(data.X.columns[:4]), sorted(data.true_variables)
    (['X1', 'X2', 'Z1', 'Z2'], ['X1', 'X2', 'Z1'])
    """
    check_count("n_rows", n_rows, 2)
    check_count("n_noise", n_noise, 1)
    rng = np.random.default_rng(random_state)
    # The paper does not state the moons' own noise; with 0.05 its forest reaches the paper's AUC of 0.99.
    plane, moon = draw_moons(n_rows, noise=0.05, random_state=int(rng.integers(10**6)))
    Z = _draw_normal(n_rows, n_noise, rng)
    return MoonsData(
        pd.DataFrame(np.column_stack([plane, Z]), columns=["X1", "X2", *_numbered("Z", n_noise)]),
        pd.Series(np.where(Z[:, 0] > 0, 1 - moon, moon), name="Y"),
        pd.Series(moon, name="moon"),
        frozenset({"X1", "X2", "Z1"}),
    )


def _draw_normal(n_rows: int, n_columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from N(0, 0.8 J + 5 I) as the sum of a part shared by all columns of a row and a part of each column."""
    own = math.sqrt(5) * rng.standard_normal((n_rows, n_columns))
    return own + math.sqrt(0.8) * rng.standard_normal((n_rows, 1))


def _numbered(letter: str, n: int) -> list[str]:
    return [f"{letter}{i}" for i in range(1, n + 1)]


def check_count(name: str, value: Any, least: int) -> None:
    """Check that a count is a whole number and not too small.

    Parameters
    ----------
    name : str
        The name of the argument, for the message.
    value : object
        The count.
    least : int
        The smallest count allowed.

    Raises
    ------
    TypeError
        If the count is not a whole number.
    ValueError
        If it is smaller than `least`.
    """
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise TypeError(f"`{name}` must be a whole number, got {value!r}.")
    if value < least:
        raise ValueError(f"`{name}` must be at least {least}, got {value!r}.")
