"""What the forest says when only some variables are known: the part of an explainer that needs no search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from suffice._engine.fitted import Fitted
from suffice._engine.fitting import task_of_forest
from suffice._engine.model_outputs import ask_model
from suffice._engine.outcomes import Floats, Outcomes
from suffice._engine.settings import CHANGEABLE
from suffice._table.checks import read_input, read_outcomes
from suffice._table.frames import for_model
from suffice._table.single_row import read_single_row
from suffice._table.table import Table
from suffice._table.variables import VariableSet


def _has_classes(explainer: ConditionalForest) -> bool:
    task = getattr(explainer, "task_", explainer.task)
    if task == "regression" or (task == "auto" and task_of_forest(explainer.forest) == "regression"):
        raise AttributeError("`predict_proba` is for classification; for a regression see `cdf`.")
    return True


class ConditionalForest(BaseEstimator):  # type: ignore[misc]
    """A fitted forest that answers questions about sets of variables. `SufficientExplainer` is one.

    A subclass has the parameters that `Settings` lists, and the parameter `forest`; its `fit` leaves ``fitted_``.
    """

    fitted_: Fitted

    # --- the fitted state -------------------------------------------------------------------------------------------

    def _state(self) -> Fitted:
        """Return the fitted state. Parameters that were set since the fit take effect if they need no other fit."""
        check_is_fitted(self)
        settings = self.fitted_.settings
        if any(getattr(settings, name) is not getattr(self, name) for name in CHANGEABLE):
            changes = {name: getattr(self, name) for name in CHANGEABLE}
            self.fitted_ = self.fitted_.with_settings(replace(settings, **changes))
        return self.fitted_

    def describe(self) -> dict[str, Any]:
        """Describe what was fitted to what, and by which settings.

        Returns
        -------
        dict
            Plain values by name: the task, the target, the forest and its fidelity, settings and versions.
        """
        return self._state().describe()

    @property
    def forest_(self) -> Any:
        """The fitted forest."""
        return self.fitted_.estimator

    @property
    def task_(self) -> str:
        """What was fitted: "classification" or "regression"."""
        return self.fitted_.task

    @property
    def task_reason_(self) -> str:
        """Why `task_` is what it is, in one line."""
        return self.fitted_.task_reason

    @property
    def fidelity_(self) -> float:
        """Out-of-bag accuracy or R2 of the forest."""
        return self.fitted_.fidelity

    @property
    def fidelity_by_class_(self) -> dict[Any, float]:
        """Classification: for each class the out-of-bag share of its rows that the forest gets right."""
        shares = self.fitted_.fidelity_by_class
        if shares is None:
            raise AttributeError("`fidelity_by_class_` is for classification.")
        return shares

    @property
    def classes_(self) -> NDArray[Any]:
        """Classification: the labels."""
        classes = self.fitted_.classes
        if classes is None:
            raise AttributeError("`classes_` is for classification.")
        return classes

    @property
    def target_name_(self) -> str:
        """The name of the outcomes."""
        return self.fitted_.target

    @property
    def variable_names_(self) -> tuple[str, ...]:
        """The variables: the columns, with each group as one."""
        return self.fitted_.variables.names

    @property
    def candidates_(self) -> tuple[str, ...]:
        """The variables that may be searched, the most important first; `n_candidates` of them at each row."""
        return self.fitted_.candidate_names

    @property
    def min_node_size_(self) -> int:
        """The smallest size of a cell."""
        return self.fitted_.min_node_size

    # --- probabilities ----------------------------------------------------------------------------------------------

    def sdp(self, X: Any, S: Any, y: Any = None) -> Floats:
        """Compute the same-decision probability of sets of variables.

        For the set of all variables it can differ a little from `sdp_of_all`, which explanations state as "all
        variables together": that one counts the rows of the leaves, while a cell has at least `min_node_size` rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        S : list of str or int, or one such list per row
            The variables that keep their values, by name or by position in `variable_names_`.
        y : array-like of shape (n_rows,), default=None
            The outcomes; None for the predictions of the model that is explained, or of the forest itself.

        Returns
        -------
        ndarray of shape (n_rows,)
            The probabilities.
        """
        matrix, state = self.encode(X), self.fitted_
        sets = self._sets(S, len(matrix))
        outcomes = state.outcomes(matrix, self._outcome_values(X, matrix, y))
        return state.projected.sdp(matrix, sets, outcomes, state.settings.n_threads)

    def cdf(self, X: Any, S: Any, values: ArrayLike) -> Floats:
        """Compute the probability of Y <= value, given the variables in S (regression only).

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        S : list of str or int, or one such list per row, or None
            The variables that keep their values; None for the forest's own distribution.
        values : array-like of shape (n_values,)
            Where to compute it.

        Returns
        -------
        ndarray of shape (n_rows, n_values)
            The probabilities.
        """
        matrix, state = self.encode(X), self.fitted_
        self._only_regression("cdf")
        at = np.atleast_1d(np.asarray(values, dtype=np.float64))
        if at.ndim != 1 or np.isnan(at).any():
            raise ValueError("`values` must be a list of numbers without NaN.")
        order = np.argsort(at, kind="stable")
        end = np.searchsorted(state.forest.y_values, at[order], side="right").astype(np.uint32)
        sets = self._sets_or_none(S, len(matrix))
        cdf = np.empty((len(matrix), len(at)))
        cdf[:, order] = state.projected.cumulative_shares(matrix, sets, end, state.settings.n_threads)
        return cdf

    def predict(self, X: Any, S: Any = None) -> NDArray[Any]:
        """Predict from the variables in S alone.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        S : list of str or int, or one such list per row, default=None
            The variables that keep their values; None for the forest's own prediction.

        Returns
        -------
        ndarray of shape (n_rows,)
            The likeliest class, or the conditional mean.
        """
        matrix, state = self.encode(X), self.fitted_
        sets = self._sets_or_none(S, len(matrix))
        if sets is None:
            return state.predict(matrix)
        if state.classes is not None:
            return np.asarray(state.classes[np.argmax(self._probabilities(matrix, sets), axis=1)])
        return state.projected.mean(matrix, sets, state.settings.n_threads)

    def score(self, X: Any, y: Any) -> float:
        """Measure how well the forest predicts outcomes, such as those of rows that it was not fitted on.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            Their outcomes.

        Returns
        -------
        float
            Accuracy (classification) or R2 (regression): `fidelity_` on other rows.
        """
        predictions = self.predict(X)
        outcomes = read_outcomes(y, len(predictions))
        measure = accuracy_score if self.task_ == "classification" else r2_score
        return float(measure(outcomes, predictions))

    @available_if(_has_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, S: Any = None) -> Floats:
        """Compute class probabilities from the variables in S alone (classification only).

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        S : list of str or int, or one such list per row, default=None
            The variables that keep their values; None for the forest's own probabilities.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, in the order of `classes_`.
        """
        matrix = self.encode(X)
        return self._probabilities(matrix, self._sets_or_none(S, len(matrix)))

    def _probabilities(self, matrix: NDArray[np.float32], sets: list[VariableSet] | None) -> Floats:
        state, n_threads = self.fitted_, self.fitted_.settings.n_threads
        if sets is None:
            return state.forest.predict_leaves(matrix, n_threads)
        end = np.arange(1, len(self.classes_) + 1, dtype=np.uint32)
        return np.diff(state.projected.cumulative_shares(matrix, sets, end, n_threads), axis=1, prepend=0.0)

    def quantile(self, X: Any, levels: ArrayLike, S: Any = None) -> Floats:
        """Compute conditional quantiles: the smallest outcomes whose CDF reaches the levels (regression only).

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        levels : float or array-like of shape (n_levels,)
            The levels, in [0, 1].
        S : list of str or int, or one such list per row, default=None
            The variables that keep their values; None for the forest's own distribution.

        Returns
        -------
        ndarray of shape (n_rows, n_levels), or (n_rows,) for a single number
            Outcomes of training rows.
        """
        matrix, state = self.encode(X), self.fitted_
        self._only_regression("quantile")
        at = np.atleast_1d(np.asarray(levels, dtype=np.float64))
        if at.ndim != 1 or not np.all((at >= 0) & (at <= 1)):
            raise ValueError(f"`levels` must be in [0, 1], got {levels!r}.")
        sets = self._sets_or_none(S, len(matrix))
        quantiles = state.projected.quantiles(matrix, sets, at, state.settings.n_threads)
        return quantiles[:, 0] if np.ndim(levels) == 0 else quantiles

    def interval(self, X: Any, y: Any = None) -> Floats:
        """Return the interval within which each outcome counts as kept (regression only).

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), default=None
            The outcomes; None for predictions, as in `sdp`. They matter only if `radius` is set.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Low and high ends, both included.
        """
        check_is_fitted(self)
        self._only_regression("interval")
        intervals = self.outcomes(X, y).intervals
        assert intervals is not None
        return intervals

    # --- input ------------------------------------------------------------------------------------------------------

    def encode(self, X: Any) -> NDArray[np.float32]:
        """Turn a table into the numbers that the forest sees.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_matrix_columns), float32
            Numbers as they are, categories as codes, the parts of dates; NaN for missing values.
        """
        return self._state().encode(self._read_rows(X))

    def _read_rows(self, X: Any) -> Table:
        """Read rows that have the columns of the training table; those that said nothing at fit may be absent."""
        state = self.fitted_
        return read_input(self, X, extra_columns=state.settings.extra_columns, fillers=state.encoding.fillers)

    def _encode(self, X: Any) -> tuple[NDArray[Any], str | None]:
        """Read and encode rows, a single row the quick way if possible. Return the library of the frame, too."""
        state = self.fitted_
        plain = read_single_row(X, state.encoding) if state.encoding.has_names else None
        if plain is None:
            table = self._read_rows(X)
            return state.encode(table), table.library
        state.check_matrix(plain[0])
        return plain

    def outcomes(self, X: Any, y: Any = None) -> Outcomes:
        """Return the outcomes of rows: what `explain` explains.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), default=None
            The outcomes; None for the predictions of the model that is explained, or of the forest itself.

        Returns
        -------
        Outcomes
            The values and, for a regression, the intervals.
        """
        matrix = self.encode(X)
        return self.fitted_.outcomes(matrix, self._outcome_values(X, matrix, y))

    def _outcome_values(self, X: Any, matrix: NDArray[np.float32], y: Any) -> NDArray[Any]:
        if y is not None:
            return read_outcomes(y, len(matrix))
        if hasattr(self, "model_") and len(matrix):
            return read_outcomes(ask_model(self.model_, for_model(X), len(matrix), self.probability_of_), len(matrix))
        return self.fitted_.predict(matrix)

    def _sets(self, S: Any, n_rows: int) -> list[VariableSet]:
        return self.fitted_.variables.subsets(S, n_rows)

    def _sets_or_none(self, S: Any, n_rows: int) -> list[VariableSet] | None:
        return None if S is None else self._sets(S, n_rows)

    def _only_regression(self, name: str) -> None:
        if self.task_ != "regression":
            raise ValueError(f"`{name}` is for regression; `y` held classes. See `predict_proba`.")

    # --- scikit-learn -----------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Tags:
        """Return the tags by which scikit-learn knows which input is allowed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.forest is None or get_tags(self.forest).input_tags.allow_nan
        kind = self.task if self.task != "auto" or self.forest is None else task_of_forest(self.forest)
        if kind == "classification":
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        elif kind == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags
