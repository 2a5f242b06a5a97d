"""Real tables for benchmarks, in one form: columns, outcomes, and whether the outcomes are classes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.loaders import (
    FOLDER_VARIABLE,
    load_attrition,
    load_bike,
    load_california,
    load_compas,
    load_diabetes,
    load_nhanes,
)
from experiments.data.synthetic import make_switch
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.datasets import load_diabetes as load_progression
from sklearn.model_selection import train_test_split

# A table of up to this many rows; larger ones are thinned. Training takes 60 % of it.
MAX_ROWS = 10_000


@dataclass(frozen=True)
class RealTable:
    """A table and its outcomes."""

    name: str
    X: Any
    y: Any
    is_class: bool

    def split(self, seed: int, n_explained: int) -> tuple[Part, Part, Part]:
        """Training rows (60 %), held-out rows to explain, and the other held-out rows, on which claims are checked."""
        labels = self.y if self.is_class else None
        rows = np.arange(len(self.y))
        if len(rows) > MAX_ROWS:
            rows = train_test_split(rows, train_size=MAX_ROWS, random_state=seed, stratify=labels)[0]
        labels = self.y[rows] if self.is_class else None
        train, held_out = train_test_split(rows, test_size=0.4, random_state=seed, stratify=labels)
        n_explained = min(n_explained, len(held_out) // 2)
        parts = train, held_out[:n_explained], held_out[n_explained:]
        return tuple(Part(self.X.iloc[part].reset_index(drop=True), self.y[part]) for part in parts)


@dataclass(frozen=True)
class Part:
    """Some rows of a table with their outcomes."""

    X: Any
    y: Any


def load_german(data: str | None) -> tuple[Any, Any]:
    table = pd.read_csv(_folder(data) / "german_credit.csv")
    return table.drop(columns="class"), table["class"]


def load_bank(data: str | None) -> tuple[Any, Any]:
    # The length of a call is known only after its outcome.
    table = pd.read_csv(_folder(data) / "bank_marketing.csv.gz").drop(columns="duration")
    return table.drop(columns="subscribed"), table["subscribed"]


def _folder(data: str | None) -> Path:
    return Path(data or os.environ[FOLDER_VARIABLE])


def _as_frame(load: Any) -> Any:
    return lambda data: load(return_X_y=True, as_frame=True)


def load_switch(data: str | None) -> tuple[Any, Any]:
    drawn = make_switch(10_000, n_columns=10, noise=1.0, random_state=np.random.default_rng(0))
    return drawn.X, drawn.y


# The loader of each table, and whether its outcomes are classes.
LOADERS = {
    "german credit": (load_german, True),
    "bank": (load_bank, True),
    "attrition": (load_attrition, True),
    "compas": (load_compas, True),
    "nhanes": (load_nhanes, True),
    "pima": (load_diabetes, True),
    "breast cancer": (_as_frame(load_breast_cancer), True),
    "wine": (_as_frame(load_wine), True),
    "bike": (load_bike, False),
    "california": (load_california, False),
    "diabetes": (_as_frame(load_progression), False),
    "switch model": (load_switch, False),
}
# Tables that come with scikit-learn, and need no folder.
BUNDLED = ("breast cancer", "wine", "diabetes")


def load_table(name: str, data: str | None = None) -> RealTable:
    load, is_class = LOADERS[name]
    X, y = load(data)
    labels = y.to_numpy()
    return RealTable(name, X, labels.astype(str) if labels.dtype.kind not in "biuf" else labels, is_class)
