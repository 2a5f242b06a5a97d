"""Tables and fitted models of each library, and rows at and beside every threshold of what was read of them."""

from __future__ import annotations

import numpy as np
import pandas as pd


def number_table(n=400, seed=0, missing=False):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": random.integers(18, 70, n).astype(float),
            "income": random.normal(50, 20, n),
            "debt": random.exponential(5, n),
        }
    )
    if missing:
        X = X.mask(random.random(X.shape) < 0.15)
    score = X.age.fillna(40) / 20 + X.income.fillna(90) / 30 - X.debt.fillna(0) / 4 + random.normal(0, 0.5, n)
    return X, score.to_numpy()


def mixed_table(n=400, seed=0, missing=True, labels=("cook", "nurse", "smith", "judge", "pilot")):
    random = np.random.default_rng(seed)
    X, score = number_table(n, seed, missing)
    codes = random.choice(len(labels), n, p=np.linspace(2, 1, len(labels)) / np.linspace(2, 1, len(labels)).sum())
    X["job"] = pd.Categorical.from_codes(codes, labels)
    X["rooms"] = random.integers(1, 5, n)
    score = score + np.array([2.0, -1.0, 0.5, 3.0, -2.0])[codes % 5] + 0.4 * X.rooms.to_numpy()
    if missing:
        X.loc[random.random(n) < 0.1, "job"] = np.nan
    return X, score


def classes_of(score, labels=("no", "yes")):
    cuts = np.quantile(score, np.linspace(0, 1, len(labels) + 1)[1:-1])
    return np.array(list(labels))[np.searchsorted(cuts, score)]


def rows_at_thresholds(ensemble, X, n, seed=1, missing=True, largest=3e38):
    """Rows of every kind: drawn from the table, and with numbers at and next to each threshold, huge ones and -0.0."""
    random = np.random.default_rng(seed)
    rows = X.iloc[random.integers(0, len(X), n)].reset_index(drop=True)
    for c, column in enumerate(ensemble.columns):
        if column.labels is not None or column.name not in X:
            if column.labels is not None:
                drawn = pd.Series(random.choice(np.array(column.labels, dtype=object), n))
                drawn = drawn.mask(random.random(n) < 0.1) if missing and X[column.name].isna().any() else drawn
                rows[column.name] = drawn.astype(X[column.name].dtype)
            continue
        at = ensemble.threshold[(ensemble.column == c) & (ensemble.label_set < 0)]
        at = np.unique(at[np.abs(at) < largest]) if len(at) else np.zeros(1)
        at = at if len(at) else np.zeros(1)
        single = at.astype(np.float32)
        near = [at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf), single.astype(float)]
        near += [np.nextafter(single, np.float32(end)).astype(float) for end in (np.inf, -np.inf)]
        near += [(near[3] + near[4]) / 2, (near[3] + near[5]) / 2, at + random.normal(0, 1, len(at))]
        near += [[0.0, -0.0, 1e-35, -1e-35, 1e-45, -1e-45, 1e30, -1e30]]
        numbers = random.choice(np.concatenate(near), n)
        keep = random.random(n) < 0.3
        numbers = np.where(keep, rows[column.name].astype(float), numbers)
        if missing:
            numbers = np.where(random.random(n) < 0.1, np.nan, numbers)
        rows[column.name] = numbers.astype(X[column.name].dtype) if X[column.name].dtype.kind == "f" else numbers
    return rows
