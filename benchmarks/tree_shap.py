"""SHAP values of tree models towards the outcome of each row, computed by the package ``shap``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of shap about the packages that it uses
    import shap


def shap_towards(
    model: Any, X: Any, classes: NDArray[Any], outcomes: NDArray[Any], background: Any = None
) -> NDArray[np.float64]:
    """Compute how far each column moves the model towards the class of each row.

    Without a background table, the cover of the trees stands for it, as most users of shap have it.
    """
    values = np.asarray(shap.TreeExplainer(model, background).shap_values(X, check_additivity=False), dtype=np.float64)
    position = np.searchsorted(classes, outcomes)
    if values.ndim == 3:
        return np.asarray(values[np.arange(len(values)), :, position])
    return np.asarray(np.where(position == 1, 1.0, -1.0)[:, None] * values)


def top_variables(values: NDArray[np.float64], names: tuple[str, ...], n: int) -> list[tuple[str, ...]]:
    """List the variables with the largest positive values of each row."""
    tops = []
    for line in values.tolist():
        order = sorted((v for v in range(len(names)) if line[v] > 0), key=lambda v: (-line[v], names[v]))
        tops.append(tuple(names[v] for v in order[:n]))
    return tops
