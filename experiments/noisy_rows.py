"""Copies of rows with a little noise on their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._table.encoding import Column
from suffice._table.frames import as_frame
from suffice._table.table import Table

Floats = NDArray[np.float64]


def noise_of_columns(training: Table, columns: Sequence[Column], scale: float) -> dict[int, tuple[float, bool]]:
    """Choose the noise of each column of numbers."""
    return {
        column.source: (scale * _deviation(training.numbers(column.source)), column.kind == "whole")
        for column in columns
        if column.kind != "category" and column.part is None
    }


def _deviation(values: Floats) -> float:
    return float(np.nanstd(values)) if not np.isnan(values).all() else 0.0


def noisy_copies(
    X: Any, names: tuple[str, ...], noise: Mapping[int, tuple[float, bool]], n_copies: int, rng: np.random.Generator
) -> Any:
    """Copy rows, with noise on their numbers. Missing values stay missing, and whole numbers whole."""
    frame = as_frame(X)
    if frame is not None and all(isinstance(name, str) for name in frame.columns):
        import narwhals.stable.v2 as nw

        repeated = frame[np.repeat(np.arange(len(frame)), n_copies).tolist()]
        for source, (deviation, is_whole) in noise.items():
            column = repeated[names[source]]
            values = _with_noise(column.cast(nw.Float64).to_numpy(), deviation, is_whole, rng)
            # A model that predicts the copies should get whole numbers where it was fitted on whole numbers.
            is_kept = column.dtype.is_integer() and not np.isnan(values).any()
            if column.dtype.is_unsigned_integer():
                values = np.maximum(values, 0)
            series = nw.new_series(names[source], values, nw.Float64, backend=repeated.implementation)
            repeated = repeated.with_columns(series.cast(column.dtype) if is_kept else series)
        return repeated.to_native()
    rows = frame.to_numpy() if frame is not None else X
    array = np.asarray(rows)
    if array.dtype.kind in "US":  # NumPy has turned the numbers of a list with text into text
        array = np.asarray(rows, dtype=object)
    array = np.repeat(array, n_copies, axis=0)
    array = array.astype(np.float64) if array.dtype.kind in "iuf" else array
    for source, (deviation, is_whole) in noise.items():
        array[:, source] = _with_noise(array[:, source].astype(np.float64), deviation, is_whole, rng)
    return array


def _with_noise(values: Floats, deviation: float, is_whole: bool, rng: np.random.Generator) -> Floats:
    noisy = values + rng.normal(scale=deviation, size=len(values))
    return np.round(noisy) if is_whole else noisy
