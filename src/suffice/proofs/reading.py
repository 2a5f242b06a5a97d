"""Read a fitted model of trees as an ensemble over the columns of the user's table.

The dumps of the libraries are read in ``sklearn_trees`` and ``boosters``, the steps of a pipeline in ``steps``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._table.frames import as_frame
from suffice._table.table import read_columns
from suffice.proofs import boosters
from suffice.proofs.ensemble import Ensemble
from suffice.proofs.joining import names_of
from suffice.proofs.sklearn_trees import READERS, encoder_of
from suffice.proofs.steps import read_behind

READABLE = (
    "Models that can be read: DecisionTree, ExtraTree, RandomForest, ExtraTrees, GradientBoosting and "
    "HistGradientBoosting of scikit-learn, XGBoost, LightGBM and CatBoost, each alone or as the last step of a Pipeline"
)
_NUMBERS_TOLERANCE = 1e-6  # of predicted numbers, relative: some libraries return them in float32


def read_model(model: Any, X: Any = None) -> Ensemble:
    """Read a fitted model, or a pipeline that ends in one.

    Parameters
    ----------
    model : estimator or Booster
        A fitted model of trees.
    X : table, default=None
        Rows as the model is given them. A pipeline, and a model of categories, is read by their values and types.

    Returns
    -------
    Ensemble
        Its trees, over the columns of the table.
    """
    library, kind = type(model).__module__.partition(".")[0], type(model).__name__
    if library == "sklearn" and kind == "Pipeline":
        return _read_pipeline(model, X)
    if library == "sklearn":
        return _read_sklearn(model, kind, X)
    if library not in ("xgboost", "lightgbm", "catboost"):
        raise TypeError(f"A {kind} cannot be read as trees. {READABLE}.")
    return read_boosted(library, boosters.dump_catboost(model, X) if library == "catboost" else model, X)


def read_boosted(library: str, model: Any, X: Any) -> Ensemble:
    """Read a booster of XGBoost or LightGBM, or the dump of one of CatBoost."""
    readers = {"xgboost": boosters.read_xgboost, "lightgbm": boosters.read_lightgbm, "catboost": boosters.read_catboost}
    try:
        return readers[library](model, None if X is None else read_columns(X))
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise ValueError(
            f"The dump of this model is not what {library} documents: {type(error).__name__}, {error}."
        ) from error


def _read_sklearn(model: Any, kind: str, X: Any) -> Ensemble:
    family = kind.removesuffix("Classifier").removesuffix("Regressor")
    if family not in READERS:
        raise TypeError(f"A {kind} cannot be read as trees. {READABLE}.")
    if not hasattr(model, "n_features_in_"):
        raise ValueError(f"This {kind} is not fitted: call `fit` first.")
    table, fitted = None if X is None else read_columns(X), getattr(model, "feature_names_in_", None)
    ensemble = READERS[family](model, names_of(fitted, model.n_features_in_, table), kind)
    encoder = encoder_of(model)
    if encoder is None:
        return ensemble
    if X is None or not len(X):
        raise ValueError(f"This {kind} has categories: pass `X`, rows as the model is given them.")
    return read_behind(ensemble, encoder, X)


def _read_pipeline(pipeline: Any, X: Any) -> Ensemble:
    if X is None or not len(X):
        raise ValueError("A Pipeline is read by the values of rows: pass `X`, rows as the model is given them.")
    steps, model = pipeline[:-1], pipeline[-1]
    X = X if isinstance(X, np.ndarray) or as_frame(X) is not None else np.asarray(X)
    if not len(steps):
        return read_model(model, X)
    encoded = steps.transform(X)
    return read_behind(read_model(model, encoded.toarray() if hasattr(encoded, "toarray") else encoded), steps, X)


def compare_outputs(ensemble: Ensemble, X: Any, outputs: Any) -> float:
    """Return the share of rows for which an ensemble decides otherwise than these outputs say.

    Numbers may differ by what rounding allows.
    """
    decided, outputs = ensemble.decide(ensemble.encode(X)), np.asarray(outputs)
    if len(decided) != len(outputs):
        raise ValueError(f"`outputs` has {len(outputs)} values for {len(decided)} rows.")
    if not len(outputs):
        return 0.0
    differs: NDArray[np.bool_]
    if ensemble.classes is None:
        numbers = outputs.astype(np.float64)
        differs = ~(np.abs(decided - numbers) <= ensemble.rounding + _NUMBERS_TOLERANCE * (1 + np.abs(numbers)))
    else:
        differs = np.array([a != b for a, b in zip(decided.tolist(), outputs.tolist(), strict=True)])
    return float(np.mean(differs))
