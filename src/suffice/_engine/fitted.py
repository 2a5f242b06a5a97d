"""The fitted state: everything that `fit` learnt, frozen, as it is handed from room to room."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
import sklearn
from numpy.typing import NDArray

from suffice._engine.candidates import choose_candidates, is_by_row
from suffice._engine.drawn_rows import DrawnRows
from suffice._engine.ends import Ends
from suffice._engine.forest import FittedForest
from suffice._engine.intervals import calibrated_level
from suffice._engine.outcomes import (
    Floats,
    Outcomes,
    intervals_around,
    outcomes_of_classes,
    outcomes_of_intervals,
)
from suffice._engine.projection import MAX_VARIABLES, ProjectedForest
from suffice._engine.set_aside import SetAside
from suffice._engine.settings import Settings, check_task_settings
from suffice._engine.trees import Counts, PlainForest, describe_forest, takes_missing
from suffice._table.checks import as_finite, check_finite
from suffice._table.encoding import Encoding
from suffice._table.table import Table
from suffice._table.variables import Variables, VariableSet

# Settings that a description names, besides the smallest size of a cell.
_DESCRIBED = (
    "pi",
    "levels",
    "confidence",
    "alpha",
    "radius",
    "min_size",
    "max_size",
    "max_sets",
    "min_support",
    "reference_rows",
    "n_candidates",
    "unseen",
    "dates",
)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What an explainer has learnt. Several threads may use it.

    Parameters
    ----------
    estimator : estimator or PlainForest
        The forest that was fitted.
    projected : ProjectedForest
        The same with the training rows that are counted, and its projection.
    encoding : Encoding
        How the table becomes the matrix that the forest sees.
    ends : Ends
        How the ends of boxes are written in the user's own values.
    counts : {"out-of-bag", "bootstrap"}
        Which training rows each tree counts.
    task : {"classification", "regression"}
        What the outcomes are.
    task_reason : str
        Why, in one line.
    classes : ndarray or None
        The labels; None for a regression.
    target : str
        What the outcomes are called.
    fidelity : float
        Out-of-bag accuracy or R2 of the forest.
    fidelity_by_class : dict of object to float, or None
        For each class the share of its rows that the forest gets right; None for a regression.
    has_signal : bool
        Whether the variables say anything about the outcomes. If not, no set of them is called sufficient.
    out_of_bag : ndarray of shape (n_rows, n_classes), float32, or None
        Classification: the class probabilities of each training row by the trees that did not draw it; NaN where every
        tree did. None if the rows out of bag are not counted.
    interval_scores : ndarray or None
        Regression: by which the intervals are calibrated, ascending; None if they are not.
    settings : Settings
        The settings.
    model_name : str or None, default=None
        The class of the model that is explained; None if the data are.
    set_aside : SetAside or None, default=None
        Rows that `fit` has not used, for certificates.
    is_probability : bool, default=False
        Regression: whether the outcomes are probabilities; their intervals then end at 0 and 1.
    default_radius : float or None, default=None
        Regression: the radius of the intervals if the settings have none; None takes quantiles. Another `alpha` in the
        settings ends it.
    drawn : DrawnRows or None, default=None
        Rows that were drawn for the model to be asked about, on which the trees were grown as well.
    absent_model : str or None, default=None
        The class of the model that was explained when the explainer was saved; the model itself is not there.
    """

    estimator: Any
    projected: ProjectedForest
    encoding: Encoding
    ends: Ends
    counts: Counts
    task: str
    task_reason: str
    classes: NDArray[Any] | None
    target: str
    fidelity: float
    fidelity_by_class: dict[Any, float] | None
    has_signal: bool
    out_of_bag: NDArray[np.float32] | None
    interval_scores: Floats | None
    settings: Settings
    model_name: str | None = None
    set_aside: SetAside | None = None
    is_probability: bool = False
    default_radius: float | None = None
    drawn: DrawnRows | None = None
    absent_model: str | None = None

    @property
    def radius(self) -> float | None:
        """The radius of the intervals; None if they lie between quantiles."""
        return self.default_radius if self.settings.radius is None else self.settings.radius

    @property
    def forest(self) -> FittedForest:
        """The forest with its training table."""
        return self.projected.forest

    @property
    def variables(self) -> Variables:
        """The variables of the table."""
        return self.projected.variables

    @property
    def candidates(self) -> VariableSet:
        """The variables that are searched, the most important first."""
        return self.projected.candidates

    @cached_property
    def n_searched(self) -> int:
        """How many of the candidates are searched at each row."""
        n = len(self.candidates)
        return min(self.settings.n_candidates, n) if is_by_row(self.settings.candidates) else n

    @property
    def min_node_size(self) -> int:
        """The smallest size of a cell."""
        return self.projected.min_node_size

    @property
    def candidate_names(self) -> tuple[str, ...]:
        """The names of the candidates."""
        return tuple(self.variables.names[v] for v in self.candidates)

    @cached_property
    def mean_gains(self) -> dict[int, Any]:
        """What variables add alone on average over training rows, for those that ``reason_order`` has asked for."""
        return {}

    @cached_property
    def _column_names(self) -> list[str]:
        return [column.name for column in self.encoding.columns]

    @cached_property
    def _takes_missing(self) -> bool:
        return takes_missing(self.estimator)

    @property
    def training(self) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """The training table as the forest sees it, and its outcomes."""
        values = self.forest.y_values if self.classes is None else self.classes
        return self.forest.X, values[self.forest.y_rank]

    @cached_property
    def set_aside_table(self) -> Table | None:
        """The rows that were set aside as a table, in which rules cover the same rows; None if there are none."""
        return None if self.set_aside is None else self.encoding.decode(self.set_aside.X)

    def with_settings(self, settings: Settings) -> Fitted:
        """Return the same state with other settings. Forest and caches are shared.

        Parameters
        ----------
        settings : Settings
            The settings. If they name other candidates, these are chosen anew.

        Returns
        -------
        Fitted
            The state.
        """
        check_task_settings(settings, self.task)
        projected = self.projected
        if not _same_candidates(settings, self.settings):
            candidates = choose_candidates(self.forest, self._estimator_for(settings), self.variables, settings)
            projected = replace(projected, candidates=candidates)
        default_radius = self.default_radius if settings.alpha == self.settings.alpha else None
        return replace(self, projected=projected, settings=settings, default_radius=default_radius)

    def _estimator_for(self, settings: Settings) -> Any:
        if settings.candidates == "impurity" and isinstance(self.estimator, PlainForest):
            raise ValueError(
                "The impurities of a forest are not saved: list the `candidates`, or choose them by 'row', 'splits' or "
                "'permutation'."
            )
        return self.estimator

    def ranking(self) -> VariableSet:
        """List all variables that can be candidates.

        Returns
        -------
        tuple of int
            The variables, the most important first. It begins with the candidates: a ranking by permutation is random.
        """
        if not isinstance(self.settings.candidates, str):
            return self.candidates
        by_impurity = self.settings.candidates == "impurity" and isinstance(self.estimator, PlainForest)
        settings = replace(
            self.settings,
            n_candidates=MAX_VARIABLES,
            candidates="splits" if by_impurity else self.settings.candidates,
        )
        ranked = choose_candidates(self.forest, self.estimator, self.variables, settings)
        return tuple(dict.fromkeys((*self.candidates, *ranked)))

    def encode(self, table: Table, unseen: Literal["error", "missing"] | None = None) -> NDArray[np.float32]:
        """Turn a table with the columns of the training table into the matrix that the forest sees.

        Parameters
        ----------
        table : Table
            The table.
        unseen : {"error", "missing"}, default=None
            What to do with categories that were not there at fit; None goes by the settings.

        Returns
        -------
        ndarray of shape (n_rows, n_columns), float32
            The matrix.
        """
        X = self.encoding.encode(table, self.settings.unseen if unseen is None else unseen)
        self.check_matrix(X)
        return X

    def check_matrix(self, X: NDArray[np.float32]) -> None:
        """Refuse infinite numbers, and missing ones if the forest cannot take them.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32
            Rows as the forest sees them.
        """
        check_finite(X, self._column_names, self._takes_missing)

    def predict(self, X: NDArray[np.float32]) -> NDArray[Any]:
        """Predict outcomes by the forest itself.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels or numbers.
        """
        predictions = self.forest.predict_leaves(X, self.settings.n_threads)
        return predictions[:, 0] if self.classes is None else self.classes[np.argmax(predictions, axis=1)]

    def outcomes(self, X: NDArray[np.float32], y: NDArray[Any]) -> Outcomes:
        """Make the outcomes of rows, with their intervals.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns), float32
            The rows.
        y : ndarray of shape (n_rows,)
            Labels or numbers.

        Returns
        -------
        Outcomes
            The outcomes.
        """
        if self.classes is not None:
            return outcomes_of_classes(y, self.classes)
        numbers = as_finite(y)
        settings = self.settings
        if self.radius is not None:
            intervals: Floats = intervals_around(numbers, self.radius)
            if self.is_probability:
                intervals = np.clip(intervals, 0.0, 1.0)
        else:
            alpha = settings.alpha
            if self.interval_scores is not None:
                # With a larger level, even all variables together would not keep the outcome with probability pi.
                alpha = min(calibrated_level(self.interval_scores, alpha), max(alpha, 1 - settings.pi))
            levels = np.array([alpha / 2, 1 - alpha / 2])
            intervals = self.projected.quantiles(X, None, levels, settings.n_threads)
        return outcomes_of_intervals(numbers, intervals, self.forest.y_values)

    @cached_property
    def _n_up_to(self) -> NDArray[np.int64]:
        """The number of training rows with an outcome below each rank, and the number of all."""
        n_of_rank = np.bincount(self.forest.y_rank, minlength=len(self.forest.y_values))
        return np.concatenate([[0], np.cumsum(n_of_rank)])

    def base_rates(self, outcomes: Outcomes) -> Floats:
        """Compute how often outcomes are kept among all training rows.

        Parameters
        ----------
        outcomes : Outcomes
            The outcomes.

        Returns
        -------
        ndarray of shape (n_rows,)
            The shares of the training rows.
        """
        n_up_to = self._n_up_to
        n_kept = n_up_to[outcomes.high.astype(np.int64) + 1] - n_up_to[outcomes.low]
        shares: Floats = np.maximum(n_kept, 0) / len(self.forest.X)
        return shares

    def levels(self, outcomes: Outcomes) -> Floats:
        """Compute the probability that a sufficient set of each row must reach.

        Parameters
        ----------
        outcomes : Outcomes
            The outcomes.

        Returns
        -------
        ndarray of shape (n_rows,)
            pi or, with ``levels="odds"``, the probability whose odds are pi / (1 - pi) times those of the class, if
            that is less.
        """
        pi = self.settings.pi
        if self.settings.levels == "same":
            return np.full(len(outcomes.values), pi)
        base = self.base_rates(outcomes)
        # odds / (1 + odds), without a division by 0 at pi = 1.
        gain = pi * base
        levels: Floats = np.minimum(pi, gain / (gain + (1 - pi) * (1 - base)))
        return levels

    def level_of_rules(self) -> float | dict[Any, float]:
        """Return the probability that a rule promises.

        Returns
        -------
        float or dict of object to float
            pi or, with ``levels="odds"``, the level of each class.
        """
        if self.settings.levels == "same" or self.classes is None:
            return self.settings.pi
        levels = self.levels(outcomes_of_classes(self.classes, self.classes))
        return dict(zip(self.classes.tolist(), levels.tolist(), strict=True))

    def describe(self) -> dict[str, Any]:
        """Describe what was fitted to what, and by which settings.

        Returns
        -------
        dict
            Plain values by name.
        """
        settings = {name: getattr(self.settings, name) for name in _DESCRIBED}
        return {
            "task": self.task,
            "task_reason": self.task_reason,
            "target": self.target,
            "classes": None if self.classes is None else self.classes.tolist(),
            "model": self.model_name or self.absent_model,
            "n_rows": len(self.forest.X),
            "n_set_aside": 0 if self.set_aside is None else len(self.set_aside.outcomes),
            "n_drawn": 0 if self.drawn is None else len(self.drawn.X),
            "columns": list(self.encoding.names),
            "variables": list(self.variables.names),
            "candidates": list(self.candidate_names),
            "n_searched": self.n_searched,
            "fidelity": self.fidelity,
            "fidelity_by_class": self.fidelity_by_class,
            "has_signal": self.has_signal,
            "forest": describe_forest(self.estimator),
            "settings": {
                **settings,
                "radius": self.radius,
                "min_node_size": self.min_node_size,
                "counts": self.counts,
            },
            "versions": dict(_versions()),
        }


def _same_candidates(settings: Settings, other: Settings) -> bool:
    first, second = settings.candidates, other.candidates
    if isinstance(first, str) != isinstance(second, str):
        return False
    if isinstance(first, str):
        # The search takes so many of them at each row, if each row has its own candidates.
        return first == second and (is_by_row(first) or settings.n_candidates == other.n_candidates)
    return list(first) == list(second)  # all variables of a list are candidates


@cache
def _versions() -> dict[str, str]:
    return {
        "suffice": version("suffice"),
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
