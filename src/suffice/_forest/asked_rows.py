"""The rows of a question, encoded and with their outcomes, and the questions that need no search.

These are probabilities, predictions and quantiles given some of the variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, r2_score

from suffice._table.encoding import EncodedRows
from suffice._table.frames import for_model
from suffice._table.input import read_outcomes

if TYPE_CHECKING:
    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Floats, Outcomes
    from suffice._table.variables import VariableSet

OutcomeSource = Literal["forest", "model", "given"]
"""Where outcomes come from: predictions of the forest, outputs of the explained model, or the user."""


@dataclass(frozen=True, eq=False)
class AskedRows:
    """Rows as the user passed them and as the forest sees them, with their outcomes."""

    X: Any
    matrix: NDArray[np.float32]
    values: NDArray[Any]
    source: OutcomeSource
    library: str | None = None
    ids: tuple[str, ...] | None = None

    def outcomes(self, state: Fitted) -> Outcomes:
        """Return what is to be kept: the classes, or the numbers with their intervals."""
        return state.outcomes(self.matrix, self.values)

    def predictions(self, state: Fitted) -> NDArray[Any]:
        """Return the predictions of the forest."""
        return self.values if self.source == "forest" else state.predict(self.matrix)


def ask_about(
    state: Fitted,
    X: Any,
    matrix: NDArray[np.float32],
    y: Any,
    library: str | None = None,
    ids: tuple[str, ...] | None = None,
) -> AskedRows:
    """Take the outcomes of rows from the user, from the model that is explained, or from the forest."""
    if state.model is not None and isinstance(X, EncodedRows):
        raise TypeError("`X` is what `encode` returned, which the model cannot read: pass the rows themselves.")
    if y is not None:
        return AskedRows(X, matrix, read_outcomes(y, len(matrix)), "given", library, ids)
    if state.model is None:
        return AskedRows(X, matrix, state.predict(matrix), "forest", library, ids)
    values = state.model.ask(for_model(X), len(matrix)) if len(matrix) else state.predict(matrix)
    return AskedRows(X, matrix, values, "model", library, ids)


Matrix = NDArray[np.float32]


def sdp(state: Fitted, rows: AskedRows, S: Any) -> Floats:
    """Compute the same-decision probability of sets of variables."""
    sets = state.variables.subsets(S, len(rows.matrix))
    return state.projected.sdp(rows.matrix, sets, rows.outcomes(state), state.settings.n_threads)


def cdf(state: Fitted, X: Matrix, S: Any, values: ArrayLike) -> Floats:
    """Compute the probability of Y <= value, given the variables in S."""
    _check_regression(state, "cdf")
    at = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if at.ndim != 1 or np.isnan(at).any():
        raise ValueError("`values` must be a list of numbers without NaN.")
    order = np.argsort(at, kind="stable")
    end = np.searchsorted(state.forest.y_values, at[order], side="right").astype(np.uint32)
    shares = np.empty((len(X), len(at)))
    shares[:, order] = state.projected.cumulative_shares(X, _sets(state, S, len(X)), end, state.settings.n_threads)
    return shares


def predict(state: Fitted, X: Matrix, S: Any) -> NDArray[Any]:
    """Predict the likeliest class or the mean, given the variables in S; all of them if S is None."""
    sets = _sets(state, S, len(X))
    if sets is None:
        return state.predict(X)
    if state.classes is not None:
        return np.asarray(state.classes[np.argmax(probabilities(state, X, S), axis=1)])
    return state.projected.mean(X, sets, state.settings.n_threads)


def probabilities(state: Fitted, X: Matrix, S: Any) -> Floats:
    """Compute the probabilities of the classes, given the variables in S."""
    sets, n_threads = _sets(state, S, len(X)), state.settings.n_threads
    if sets is None:
        return state.forest.predict_leaves(X, n_threads)
    end = np.arange(1, len(state.forest.y_values) + 1, dtype=np.uint32)
    return np.diff(state.projected.cumulative_shares(X, sets, end, n_threads), axis=1, prepend=0.0)


def quantile(state: Fitted, X: Matrix, levels: ArrayLike, S: Any) -> Floats:
    """Compute conditional quantiles."""
    _check_regression(state, "quantile")
    at = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if at.ndim != 1 or not np.all((at >= 0) & (at <= 1)):
        raise ValueError(f"`levels` must be in [0, 1], got {levels!r}.")
    quantiles = state.projected.quantiles(X, _sets(state, S, len(X)), at, state.settings.n_threads)
    return quantiles[:, 0] if np.ndim(levels) == 0 else quantiles


def interval(state: Fitted, rows: AskedRows) -> Floats:
    """Return the intervals within which outcomes count as kept."""
    _check_regression(state, "interval")
    intervals = rows.outcomes(state).intervals
    assert intervals is not None
    return intervals


def score(state: Fitted, predictions: NDArray[Any], y: Any) -> float:
    """Measure predictions by accuracy or R2."""
    measure = accuracy_score if state.classes is not None else r2_score
    return float(measure(read_outcomes(y, len(predictions)), predictions))


def _sets(state: Fitted, S: Any, n_rows: int) -> list[VariableSet] | None:
    return None if S is None else state.variables.subsets(S, n_rows)


def _check_regression(state: Fitted, name: str) -> None:
    if state.classes is not None:
        raise ValueError(f"`{name}` is for regression; `y` held classes. See `predict_proba`.")
