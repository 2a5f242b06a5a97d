"""Bicycle rentals: a table with columns of every kind, in every library, and explainers of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer

N_ROWS = 300
LEVELS = ["calm", "breeze", "gale", "storm"]


def make_table():
    """Bicycle rentals: one column of every kind, gaps in each, and counts that depend on most of them."""
    rng = np.random.default_rng(0)
    temp = rng.integers(-40, 120, N_ROWS) / 4
    hour = rng.integers(0, 24, N_ROWS)
    workingday = rng.random(N_ROWS) < 0.6
    weather = rng.choice(["clear", "mist", "rain", "hail", "fog"], N_ROWS, p=[0.5, 0.3, 0.16, 0.02, 0.02])
    wind = rng.choice(LEVELS[:3], N_ROWS)
    city = rng.choice(["Oslo", "Lima", "Bern"], N_ROWS)
    count = 4 * temp + 60 * (np.abs(hour - 13) < 6) + 30 * workingday - 50 * (weather == "rain") + 20 * (wind == "calm")
    columns = {"temp": temp, "hour": hour, "workingday": workingday, "weather": weather, "wind": wind, "city": city}
    lists = {name: values.astype(object) for name, values in columns.items()}
    for values in lists.values():
        values[rng.random(N_ROWS) < 0.08] = None
    return {name: values.tolist() for name, values in lists.items()}, np.round(count + rng.normal(size=N_ROWS) * 5, 2)


COLUMNS, COUNT = make_table()
BUSY = np.where(np.median(COUNT) < COUNT, "busy", "quiet")
TARGETS = {"classification": BUSY, "regression": COUNT}
ROWS = list(range(0, 60, 4))
NAMES = list(COLUMNS)
WHEN = pd.Series(pd.date_range("2023-12-30", periods=N_ROWS, freq="7h")).where(np.arange(N_ROWS) % 17 != 3)
NIGHT = np.where(WHEN.dt.hour < 6, "night", "day")


def as_pandas(columns=COLUMNS):
    frame = pd.DataFrame(columns)
    if "wind" in frame:
        frame["wind"] = pd.Categorical(frame["wind"], LEVELS, ordered=True)
    frame["city"] = pd.Categorical(frame["city"])
    return frame


def as_polars(columns=COLUMNS):
    import polars as pl  # it cannot be loaded under the thread sanitizer

    dtypes = {"wind": pl.Enum(LEVELS), "city": pl.Categorical}
    return pl.DataFrame({name: pl.Series(values, dtype=dtypes.get(name)) for name, values in columns.items()})


def as_pyarrow(columns=COLUMNS):
    arrays = {name: pa.array(values) for name, values in columns.items()}
    arrays["city"] = arrays["city"].dictionary_encode()
    if "wind" in columns:
        codes = pa.array([None if level is None else LEVELS.index(level) for level in columns["wind"]], pa.int8())
        arrays["wind"] = pa.DictionaryArray.from_arrays(codes, pa.array(LEVELS), ordered=True)
    return pa.table(arrays)


def as_array(columns):
    array = np.empty((N_ROWS, len(columns)), dtype=object)
    for i, values in enumerate(columns.values()):
        array[:, i] = values
    return array


FRAMES = {
    "pandas": as_pandas,
    "pandas nullable": lambda columns=COLUMNS: as_pandas(columns).convert_dtypes(),
    "polars": as_polars,
    "pyarrow": as_pyarrow,
}
WITHOUT_ORDER = {name: values for name, values in COLUMNS.items() if name != "wind"}


def take(X, rows=ROWS):
    if isinstance(X, pd.DataFrame):
        return X.iloc[rows].reset_index(drop=True)  # as in the other libraries, rows are counted from 0
    return X.take(rows) if isinstance(X, pa.Table) else X[rows]


def explainer_for(task="classification", kind=None, **options):
    kind = kind or {"classification": RandomForestClassifier, "regression": RandomForestRegressor}[task]
    forest = kind(n_estimators=10, min_samples_leaf=options.pop("leaf", 3), random_state=0)
    # Sets of every kind of column are needed here; the counts of the paper find them with few trees and rows.
    return SufficientExplainer(forest, **{"pi": 0.8, "counts": "bootstrap", "min_size": 1, **options})


def explain_dict(task, X, y=None, rows=ROWS, **options):
    explainer = explainer_for(task, **options).fit(X, TARGETS[task] if y is None else y)
    return explainer.explain(take(X, rows), rules="all").to_dict()
