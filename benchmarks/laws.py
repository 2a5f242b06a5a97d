"""Laws of (X, Y) whose same-decision probabilities are known, exactly or by integration in one dimension.

A law draws rows and computes P(Y is kept | X_S = x_S) for any set S. Normal columns that are equally correlated stay
normal given some of them, so all that is left to integrate is one number: a linear score, or a switch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from experiments.data.lucas_network import lucas_sdp, make_lucas
from experiments.data.synthetic import make_switch
from scipy.special import expit, ndtr, ndtri

# Nodes of the Gauss-Hermite rule for a smooth integrand, and points of equal probability for one with a jump.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
POINTS = ndtri((np.arange(400) + 0.5) / 400)


class Law(Protocol):
    """A law of rows and outcomes."""

    name: str

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Draw a table and its outcomes."""
        ...

    def sdp(self, X: Any, S: Sequence[str], kept: Any) -> Any:
        """P(Y is kept | X_S = x_S) for each row; `kept` holds a class, or the low and high ends of an interval."""
        ...


@dataclass(frozen=True)
class NormalColumns:
    """Normal columns x0, x1, ... with mean 0 and one variance, every two with the same covariance."""

    n_columns: int
    variance: float = 1.0
    covariance: float = 0.0

    def draw(self, n_rows: int, rng: np.random.Generator) -> Any:
        own = math.sqrt(self.variance - self.covariance) * rng.standard_normal((n_rows, self.n_columns))
        return own + math.sqrt(self.covariance) * rng.standard_normal((n_rows, 1))

    def given(self, X: Any, S: Sequence[int]) -> tuple[Any, Any]:
        """The means (n_rows, n_columns) and covariances (n_columns, n_columns) of all columns given those in S."""
        covariances = np.full((self.n_columns, self.n_columns), self.covariance)
        np.fill_diagonal(covariances, self.variance)
        S = list(S)
        if not S:
            return np.zeros((len(X), self.n_columns)), covariances
        slopes = np.linalg.solve(covariances[np.ix_(S, S)], covariances[S])
        return X[:, S] @ slopes, covariances - covariances[:, S] @ slopes


@dataclass(frozen=True)
class Null:
    """Y is 1 with the same probability in every row; ten normal columns say nothing about it."""

    base_rate: float
    columns: NormalColumns = NormalColumns(10)

    @property
    def name(self) -> str:
        return f"null, {self.base_rate:.2f}"

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        return as_frame(self.columns.draw(n_rows, rng)), (rng.random(n_rows) < self.base_rate).astype(int)

    def sdp(self, X: Any, S: Sequence[str], kept: Any) -> Any:
        return np.where(np.asarray(kept) == 1, self.base_rate, 1 - self.base_rate)


@dataclass(frozen=True)
class Logistic:
    """P(Y = 1 | X) is logistic in some of ten normal columns."""

    name: str
    intercept: float
    slopes: tuple[float, ...]
    columns: NormalColumns = NormalColumns(10)

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        X = self.columns.draw(n_rows, rng)
        p = expit(self.intercept + X[:, : len(self.slopes)] @ np.array(self.slopes))
        return as_frame(X), (rng.random(n_rows) < p).astype(int)

    def sdp(self, X: Any, S: Sequence[str], kept: Any) -> Any:
        mean, deviation = score_given(self.columns, self.slopes, X, S)
        scores = self.intercept + mean[:, None] + deviation * NODES
        p = expit(scores) @ WEIGHTS / WEIGHTS.sum()
        return np.where(np.asarray(kept) == 1, p, 1 - p)


@dataclass(frozen=True)
class Linear:
    """Y is linear in some of ten normal columns, plus normal noise."""

    name: str
    slopes: tuple[float, ...]
    noise: float
    columns: NormalColumns = NormalColumns(10)

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        X = self.columns.draw(n_rows, rng)
        return as_frame(X), X[:, : len(self.slopes)] @ np.array(self.slopes) + self.noise * rng.standard_normal(n_rows)

    def sdp(self, X: Any, S: Sequence[str], kept: Any) -> Any:
        mean, deviation = score_given(self.columns, self.slopes, X, S)
        low, high = np.asarray(kept).T
        return normal_between(mean, math.hypot(deviation, self.noise), low, high)


@dataclass(frozen=True)
class Switch:
    """The paper's switch model with noise: Y is X1 + X2 where X5 <= 0, and X3 + X4 elsewhere."""

    name: str = "switch"
    noise: float = 1.0
    n_columns: int = 10

    @property
    def columns(self) -> NormalColumns:
        return NormalColumns(self.n_columns, 5.8, 0.8)

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        data = make_switch(n_rows, n_columns=self.n_columns, noise=self.noise, random_state=rng)
        return data.X, data.y.to_numpy()

    def sdp(self, X: Any, S: Sequence[str], kept: Any) -> Any:
        low, high = np.asarray(kept).T
        means, covariances = self.columns.given(X.to_numpy(), [int(name[1:]) - 1 for name in S])
        spread = math.sqrt(max(covariances[4, 4], 0.0))  # of X5; 0 if it is known
        points = POINTS if spread > 0 else np.zeros(1)
        x5 = means[:, 4, None] + spread * points
        p = np.zeros(x5.shape)
        for pair, is_active in (((0, 1), x5 <= 0), ((2, 3), x5 > 0)):
            a, b = pair
            mean, variance = means[:, a] + means[:, b], covariances[np.ix_(pair, pair)].sum()
            slope = (covariances[a, 4] + covariances[b, 4]) / covariances[4, 4] if spread > 0 else 0.0
            deviation = math.sqrt(max(variance - slope**2 * spread**2, 0.0) + self.noise**2)
            centre = mean[:, None] + slope * (x5 - means[:, 4, None])
            p += is_active * normal_between(centre, deviation, low[:, None], high[:, None])
        return p.mean(axis=1)


@dataclass(frozen=True)
class Xor:
    """Y is 1 if x0 and x1 have the same sign, but for a share of rows; the other columns say nothing about it."""

    name: str = "XOR"
    flipped: float = 0.05
    columns: NormalColumns = NormalColumns(10)

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        X = self.columns.draw(n_rows, rng)
        is_one = (X[:, 0] > 0) == (X[:, 1] > 0)
        return as_frame(X), (is_one != (rng.random(n_rows) < self.flipped)).astype(int)

    def sdp(self, X: Any, S: Sequence[str], kept: Any) -> Any:
        if not {"x0", "x1"} <= set(S):
            return np.full(len(X), 0.5)
        is_one = (X["x0"] > 0) == (X["x1"] > 0)
        return np.where(is_one.to_numpy() == (np.asarray(kept) == 1), 1 - self.flipped, self.flipped)


@dataclass(frozen=True)
class Binned:
    """The classes 0, 1, ... between the cuts of a law of numbers; a share of the rows has the next class instead."""

    name: str
    law: Law
    cuts: tuple[float, ...]
    flipped: float = 0.0

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        X, y = self.law.draw(n_rows, rng)
        return X, (np.digitize(y, self.cuts) + (rng.random(n_rows) < self.flipped)) % (len(self.cuts) + 1)

    def sdp(self, X: Any, S: Sequence[str], kept: Any) -> Any:
        ends, labels = np.array([-np.inf, *self.cuts, np.inf]), np.asarray(kept, dtype=int)

        def share(bins: Any) -> Any:
            return self.law.sdp(X, S, np.column_stack([ends[bins], ends[bins + 1]]))

        return (1 - self.flipped) * share(labels) + self.flipped * share((labels - 1) % (len(self.cuts) + 1))


@dataclass(frozen=True)
class Lucas:
    """The network LUCAS of twelve binary variables."""

    name: str = "LUCAS"

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        data = make_lucas(n_rows, random_state=rng)
        return data.X, data.y.to_numpy()

    def sdp(self, X: Any, S: Sequence[str], kept: Any) -> Any:
        return lucas_sdp(X, S, kept)


def score_given(columns: NormalColumns, slopes: Sequence[float], X: Any, S: Sequence[str]) -> tuple[Any, float]:
    """The mean, by row, and the standard deviation of a linear score given the columns in S."""
    means, covariances = columns.given(X.to_numpy(), [int(name[1:]) for name in S])
    weights = np.zeros(columns.n_columns)
    weights[: len(slopes)] = slopes
    return means @ weights, math.sqrt(max(weights @ covariances @ weights, 0.0))


def normal_between(mean: Any, deviation: float, low: Any, high: Any) -> Any:
    return ndtr((high - mean) / deviation) - ndtr((low - mean) / deviation)


def as_frame(X: Any) -> Any:
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])


NULLS = tuple(Null(rate) for rate in (0.5, 0.7, 0.8, 0.88, 0.95))
CORRELATED = NormalColumns(10, 1.0, 0.5)
LAWS = (
    Logistic("weak", 1.0, (0.8, 0.6, 0.4)),
    Logistic("medium", 0.5, (1.6, 1.2, 0.8, 0.4)),
    Logistic("medium, correlated", 0.5, (1.6, 1.2, 0.8, 0.4), CORRELATED),
    Logistic("strong", 0.0, (4.0, 3.0, 2.0)),
    Lucas(),
    Linear("linear", (2.0, 1.0, 0.5), 1.0, CORRELATED),
    Linear("linear, weak", (2.0, 1.0, 0.5), 3.0),
    Switch(),
)
# Classes of which single variables say little or nothing, and three classes.
CLASSES = (
    Xor(),
    Binned("noisy switch", Switch(noise=0.1, n_columns=20), (0.0,), 0.05),
    Binned("three classes", Linear("", (2.0, 1.0), 0.5), (-1.0, 1.0)),
)
