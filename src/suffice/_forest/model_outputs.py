"""Models by their outputs alone: estimators with ``predict``, or any function of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from suffice._table.input import read_outcomes
from suffice.errors import did_you_mean

# How far a probability may move and count as kept, unless the user sets `radius` or `alpha`. A model's probabilities
# lie near 0 and 1, so that the quantiles of a cell that holds both are as wide as [0, 1] (docs/evidence/tables.md).
PROBABILITY_RADIUS = 0.2


@dataclass(frozen=True, eq=False)
class ExplainedModel:
    """The model whose outputs are explained, with the rows that it was explained by."""

    model: Any
    probability_of: Any = None
    rows: Any = None

    @property
    def name(self) -> str:
        """The class of the model."""
        return type(self.model).__name__

    @property
    def target(self) -> str:
        """What its outputs are called."""
        return "prediction" if self.probability_of is None else f"probability of {self.probability_of}"

    def ask(self, table: Any, n_rows: int) -> NDArray[Any]:
        """Compute its outputs for the rows of a table."""
        return read_outcomes(ask_model(self.model, table, n_rows, self.probability_of), n_rows)


def ask_model(model: Any, X: Any, n_rows: int, probability_of: Any = None) -> NDArray[Any]:
    """Compute the outputs of a model for the rows of a table: its decisions, or the probability of one class."""
    outputs, name = _call(model, X, wants_scores=probability_of is not None)
    shape: Sequence[int] = outputs.shape
    if outputs.ndim not in (1, 2) or shape[0] != n_rows or 0 in shape[1:]:
        raise ValueError(
            f"`{name}` must give one output for each of the {n_rows} rows, or one score for each class, got shape "
            f"{tuple(shape)}."
        )
    if outputs.ndim == 1 or shape[1] == 1:
        if probability_of is not None:
            raise ValueError(f"`probability_of` needs one column for each class; `{name}` gave one number a row.")
        return outputs.reshape(n_rows)
    classes = np.asarray(getattr(model, "classes_", np.arange(shape[1])))
    if len(classes) != shape[1]:
        raise ValueError(f"`{name}` gave scores of {shape[1]} classes, but the model has {len(classes)}.")
    if probability_of is None:
        return np.asarray(classes[np.argmax(outputs, axis=1)])
    known = classes.tolist()
    if probability_of not in known:
        raise ValueError(
            f"`probability_of` must be one of the model's classes, {known}, got {probability_of!r}."
            f"{did_you_mean(probability_of, map(str, known))}"
        )
    return np.asarray(outputs[:, known.index(probability_of)])


def _call(model: Any, X: Any, *, wants_scores: bool) -> tuple[NDArray[Any], str]:
    """Return the outputs of a model, or its scores for each class, and what was asked."""
    method = "predict_proba" if wants_scores else "predict"
    if hasattr(model, method):
        outputs, name = getattr(model, method)(X), f"model.{method}"
    elif callable(model) and not hasattr(model, "predict"):
        outputs, name = model(X), "model"
    elif wants_scores:
        raise TypeError(
            f"`probability_of` needs a model with `predict_proba` or a function, got {type(model).__name__}."
        )
    else:
        raise TypeError(
            f"`model` must have a method `predict` or be a function of the table, got {type(model).__name__}."
        )
    if hasattr(outputs, "detach"):  # torch: a tensor that can be differentiated does not become an array by itself
        outputs = outputs.detach().cpu()
    return np.asarray(outputs), name


def are_probabilities(model: Any, outputs: NDArray[Any], probability_of: Any = None) -> bool:
    """Return whether the outputs of a model are probabilities."""
    if probability_of is not None:
        return True
    if hasattr(model, "predict") or outputs.dtype.kind != "f":
        return False
    return bool(np.all((outputs >= 0) & (outputs <= 1)) and np.any((outputs > 0) & (outputs < 1)))


def task_of_model(model: Any) -> str:
    """Return the task of a model, if scikit-learn knows it."""
    # Releases of XGBoost before 3.0 have this attribute, but not the tags that scikit-learn reads since 1.6.
    declared = getattr(model, "_estimator_type", None)
    if declared in ("classifier", "regressor"):
        return "classification" if declared == "classifier" else "regression"
    try:
        if is_classifier(model):
            return "classification"
        return "regression" if is_regressor(model) else "auto"
    except (AttributeError, TypeError, ValueError):  # not an estimator
        return "auto"
