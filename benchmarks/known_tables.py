"""Tables of which it is known which variables matter: interactions, pure noise, and signal beside noise columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.synthetic import make_moons, make_switch
from experiments.metrics import detection, moons_detection

from benchmarks.decision_tables import LAWS as DECISIONS
from benchmarks.laws import Logistic, as_frame

N_NOISE = 20
Sets = Sequence[Collection[str]]


@dataclass(frozen=True)
class Interaction:
    """Training rows, other rows to explain, and for each of these the variables that decide its outcome."""

    X: Any
    y: Any
    rows: Any
    true_sets: Sequence[frozenset[str]]

    def detect(self, sets: Sets) -> tuple[float, float]:
        """The true positive rate and the false discovery rate of one set for each row."""
        return detection(sets, self.true_sets)

    def is_exact(self, sets: Sets) -> Any:
        return np.array([set(S) == T for S, T in zip(sets, self.true_sets, strict=True)])

    def has_noise(self, sets: Sets) -> Any:
        """Whether a set holds a variable that decides the outcome of no row."""
        known = frozenset[str]().union(*self.true_sets)
        return np.array([not known.issuperset(S) for S in sets])


@dataclass(frozen=True)
class Moons(Interaction):
    """The two moons, where Z1 with X1, with X2 or with both decides the outcome."""

    def detect(self, sets: Sets) -> tuple[float, float]:
        return moons_detection(sets)

    def is_exact(self, sets: Sets) -> Any:
        return np.array([len(S) > 1 and "Z1" in S and set(S) <= {"X1", "X2", "Z1"} for S in sets])


def switch(n_train: int, n_rows: int, rng: np.random.Generator) -> Interaction:
    train, test = make_switch(n_train, random_state=rng), make_switch(n_rows, random_state=rng)
    return Interaction(train.X, train.y, test.X, test.true_sets)


def moons(n_train: int, n_rows: int, rng: np.random.Generator) -> Interaction:
    train, test = make_moons(n_train, random_state=rng), make_moons(n_rows, random_state=rng)
    return Moons(train.X, train.y, test.X, [test.true_variables] * n_rows)


def _of_uniform(n_known: int, label: Callable[[Any], Any]) -> Callable[[int, int, np.random.Generator], Interaction]:
    """Uniform columns on (-1, 1): the first ones give the label, the others are noise."""

    def draw(n_train: int, n_rows: int, rng: np.random.Generator) -> Interaction:
        X = as_frame(rng.uniform(-1, 1, (n_train + n_rows, n_known + N_NOISE)))
        y = label(X.to_numpy()[:, :n_known]) % 2
        true_set = frozenset(X.columns[:n_known])
        return Interaction(X[:n_train], y[:n_train], X[n_train:].reset_index(drop=True), [true_set] * n_rows)

    return draw


INTERACTIONS: dict[str, Callable[[int, int, np.random.Generator], Interaction]] = {
    "switch": switch,
    "moons": moons,
    "xor": _of_uniform(2, lambda known: (known > 0).sum(axis=1)),
    "checkerboard": _of_uniform(2, lambda known: np.floor(2 * known).astype(int).sum(axis=1)),
    "parity": _of_uniform(3, lambda known: (known > 0).sum(axis=1)),
}


def numbers(n_rows: int, n_columns: int, rng: np.random.Generator) -> Any:
    return as_frame(rng.standard_normal((n_rows, n_columns)))


def categories(n_rows: int, levels: Sequence[int], rng: np.random.Generator) -> Any:
    """A column of equally frequent categories for each number of levels."""
    return pd.DataFrame(
        {f"c{i}": np.array([f"v{k:02d}" for k in range(n)])[rng.integers(n, size=n_rows)] for i, n in enumerate(levels)}
    )


# Columns by their kind, drawn without regard to an outcome.
NO_SIGNAL: dict[str, Callable[[int, np.random.Generator], Any]] = {
    "numbers": lambda n, rng: numbers(n, 10, rng),
    "8 x 20 levels": lambda n, rng: categories(n, [20] * 8, rng),
    "5 x 30 levels, 5 numbers": lambda n, rng: categories(n, [30] * 5, rng).join(numbers(n, 5, rng)),
    "2 to 50 levels": lambda n, rng: categories(n, [2, 3, 5, 8, 12, 20, 30, 50], rng),
}

NUMBER, CATEGORY = "noise_number", "noise_category"
# The columns that the laws of these tables leave out, and that go with no other column.
OWN_NOISE = {
    "telco-like": ("gender", "senior", "partner", "paperless"),
    "adult-like": ("sector", "population_weight"),
    "credit-like": ("purpose", "credit_lines", "region"),
}
# Two of ten columns matter a little, and 86 % of the rows are in one class.
FREQUENT = Logistic("base rate .86", 2.35, (1.0, 0.7))


@dataclass(frozen=True)
class NoisyTable:
    """A table of signal and noise columns; `noise` names the columns that are independent of all else."""

    X: Any
    y: Any
    noise: frozenset[str]


def noisy_table(name: str, n_rows: int, seed: int) -> NoisyTable:
    """Draw a table and add two columns of noise, a number and a category of 30 levels."""
    rng = np.random.default_rng(seed)
    if name == FREQUENT.name:
        X, y = FREQUENT.draw(n_rows, rng)
        own = tuple(X.columns[len(FREQUENT.slopes) :])
    else:
        table = DECISIONS[name](n_rows, seed)
        X, y, own = table.X, table.y.to_numpy(), OWN_NOISE[name]
    X = X.assign(**{NUMBER: rng.standard_normal(n_rows), CATEGORY: categories(n_rows, [30], rng)["c0"]})
    return NoisyTable(X, y, frozenset({*own, NUMBER, CATEGORY}))
