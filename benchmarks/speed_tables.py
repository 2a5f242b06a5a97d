"""The tables of benchmarks.speed: training rows, and as many distinct rows to explain as are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.loaders import load_flights
from sklearn.model_selection import train_test_split

from benchmarks.real_tables import load_table
from benchmarks.switch import switch_forest
from suffice._forest.settings import PAPER

# Copies of rows differ in their numbers by this share of a standard deviation.
JITTER = 0.01
# Columns with fewer different values are taken for codes, which are not jittered.
MIN_VALUES = 20
MAX_FRESH = 5_000


@dataclass(frozen=True)
class SpeedTable:
    """A table to fit, rows to explain, and fresh rows with outcomes, on which models are scored."""

    X: Any
    y: Any
    rows: Any
    fresh: tuple[Any, Any]
    n_real: int  # how many of the rows to explain are rows of the table
    forest: Any = None  # the default one
    settings: dict[str, Any] = field(default_factory=dict)


def held_out_rows(X: Any, n_rows: int) -> Any:
    """Rows of a table; beyond its size, copies of random ones whose numbers are moved a little."""
    if n_rows <= len(X):
        return X[:n_rows]
    rng = np.random.default_rng(0)
    copies = X.iloc[rng.integers(len(X), size=n_rows - len(X))].reset_index(drop=True)
    for name in X.columns:
        values = X[name]
        if values.dtype.kind in "iuf" and values.nunique() > MIN_VALUES:
            noise = JITTER * values.std() * rng.standard_normal(len(copies))
            copies[name] = copies[name].astype(float) + noise
    return pd.concat([X, copies], ignore_index=True)


def is_known(training: Any, X: Any) -> Any:
    """Which rows hold only categories of the training rows; the others would have to count as missing."""
    texts = [name for name in X.columns if X[name].dtype.kind not in "biuf"]
    return np.logical_and.reduce([np.ones(len(X), bool), *(X[n].isin(training[n].unique()) for n in texts)])


def split(X: Any, y: Any, n_rows: int, n_train: int | None, labels: Any) -> SpeedTable:
    train, held_out = train_test_split(np.arange(len(y)), test_size=0.4, random_state=0, stratify=labels)
    if n_train is not None:  # the others are held out, too
        train, held_out = train[:n_train], np.concatenate([held_out, train[n_train:]])
    held_out = held_out[is_known(X.iloc[train], X.iloc[held_out])]
    parts = [X.iloc[part].reset_index(drop=True) for part in (train, held_out)]
    rows = held_out_rows(parts[1], n_rows)
    fresh = parts[1][:MAX_FRESH], y[held_out[:MAX_FRESH]]
    return SpeedTable(parts[0], y[train], rows, fresh, min(n_rows, len(held_out)))


def load_real(name: str, n_rows: int, n_train: int | None = None) -> SpeedTable:
    table = load_table(name)
    return split(table.X, table.y, n_rows, n_train, table.y if table.is_class else None)


def load_bank(n_rows: int) -> SpeedTable:
    return load_real("bank", n_rows, 5_000)


def load_late_flights(n_rows: int) -> SpeedTable:
    X, y = load_flights(late=True)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:-10_000], order[-10_000:]
    rows, labels = X.iloc[test].reset_index(drop=True), y.to_numpy()
    fresh = rows[:MAX_FRESH], labels[test[:MAX_FRESH]]
    settings = {"unseen": "missing"}
    return SpeedTable(
        X.iloc[train], labels[train], held_out_rows(rows, n_rows), fresh, min(n_rows, len(rows)), settings=settings
    )


def load_switch(n_rows: int) -> SpeedTable:
    train, test, forest = switch_forest(10_000)
    forest.set_params(n_jobs=1)
    rows = held_out_rows(test.X, n_rows)
    fresh = test.X, test.y.to_numpy()
    return SpeedTable(
        train.X, train.y.to_numpy(), rows, fresh, min(n_rows, len(test.X)), forest=forest, settings=dict(PAPER)
    )


TABLES = {
    "breast cancer": lambda n: load_real("breast cancer", n),
    "german credit": lambda n: load_real("german credit", n),
    "bank": load_bank,
    "bike": lambda n: load_real("bike", n),
    "switch model": load_switch,
    "flights": load_late_flights,
}
