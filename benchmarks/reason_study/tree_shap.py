"""SHAP values of a tree model beside our reasons: the package ``shap`` computes them, if it is installed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOT_INSTALLED = "The package shap is not installed, so there is nothing to compare with: pip install 'suffice[bench]'."


def shap_towards(model: Any, X: Any, classes: NDArray[Any] | None, outcomes: NDArray[Any]) -> NDArray[np.float64]:
    """Compute how far each column moves the model towards the outcome of each row."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of shap about the packages that it uses
            import shap

            # Without a background table: the cover of the trees stands for it, as most users of shap have it.
            values = np.asarray(shap.TreeExplainer(model).shap_values(X, check_additivity=False), dtype=np.float64)
    except ImportError:
        raise ImportError(NOT_INSTALLED) from None
    except Exception as error:  # shap raises errors of many kinds for models that it does not support
        raise ValueError(f"shap.TreeExplainer does not take this {type(model).__name__}: {error}") from None
    if classes is None:
        return np.abs(values)
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
