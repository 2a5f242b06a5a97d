"""The fitted state: everything that `fit` learnt, frozen, which every question takes."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from suffice._forest.candidates import choose_candidates, is_by_row
from suffice._forest.intervals import DEFAULT_ALPHA, OutOfBagErrors, calibrated_level, prediction_and_spread
from suffice._forest.outcomes import (
    Floats,
    Outcomes,
    outcomes_of_classes,
    outcomes_of_intervals,
    read_focus,
)
from suffice._forest.projection import MAX_VARIABLES, ProjectedForest
from suffice._forest.settings import LEAST_LEVEL, Settings, level_by_odds
from suffice._forest.trees import Counts, FittedForest, PlainForest
from suffice._table.input import as_finite, check_finite
from suffice._text import format_confidence, format_level, join
from suffice.errors import check_number

if TYPE_CHECKING:
    from suffice._forest.model_outputs import ExplainedModel
    from suffice._forest.rounded_bounds import Ends
    from suffice._table.encoding import Encoding
    from suffice._table.table import Table
    from suffice._table.variables import Variables, VariableSet

Rows = NDArray[np.intp]

# Training rows over which it is averaged what a variable adds alone.
N_AVERAGED = 256


class Declared(NamedTuple):
    """What users declare at fit: the class that people care about, and the variables that they cannot change."""

    focus: Any = None
    fixed: Sequence[str | int] = ()

    def read(self, classes: NDArray[Any] | None, ranks: NDArray[Any], variables: Variables) -> Declared:
        """Check both, name the variables, and take the default class if none is declared."""
        fixed = variables.read("fixed", self.fixed)
        return Declared(read_focus(self.focus, classes, ranks), tuple(variables.names[v] for v in fixed))


NOTHING_DECLARED = Declared()


@dataclass(frozen=True, eq=False)
class SetAside:
    """Rows that had no part in fitting."""

    X: NDArray[np.float32]
    outcomes: NDArray[Any]


def draw_rows(y: NDArray[Any], share: float, is_class: bool, random_state: Any) -> tuple[Rows, Rows]:
    """Draw the rows to set aside.

    Every row has the same probability `share`. The shares of the classes stay the same, up to one row.
    """
    check_number("holdout", share, "a share of the rows in (0, 1)", lambda v: 0 < v < 1)
    random, n_rows = check_random_state(random_state), len(y)
    order = random.permutation(n_rows)
    if is_class:
        _, codes = np.unique(y, return_inverse=True)
        order = order[np.argsort(codes[order], kind="stable")]
    # Every 1 / share-th row, from a random first one on: systematic sampling.
    steps = np.floor(random.uniform() + share * np.arange(n_rows + 1))
    is_aside = np.zeros(n_rows, dtype=bool)
    is_aside[order] = np.diff(steps) > 0
    rest, aside = np.flatnonzero(~is_aside), np.flatnonzero(is_aside)
    if len(aside) < 2 or len(rest) < 2:
        raise ValueError(
            f"`holdout={share:g}` sets {len(aside)} of {n_rows} rows aside; at least 2 rows must be set aside, and at "
            "least 2 must be left to fit on."
        )
    if is_class:
        lost = np.setdiff1d(y, y[rest])
        if len(lost):
            raise ValueError(
                f"`holdout={share:g}` leaves no row of the class {lost.tolist()[0]!r} to fit on: choose a smaller "
                "share, or leave out the rows of so rare a class."
            )
    return rest, aside


# Settings that a description names, besides the smallest size of a cell.
MOST_CLASSES = 3  # of which a sentence states the levels
_DESCRIBED = (
    *("pi", "levels", "confidence", "alpha", "radius", "min_size", "max_size", "max_sets", "min_support"),
    *("n_candidates", "unseen", "dates"),
)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What an explainer has learnt. Several threads may use it."""

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
    settings: Settings
    errors: OutOfBagErrors | None = None  # of numbers
    interval_scores: Floats | None = None  # of an older file
    calibrates_all: bool = True  # whether votes state the probability given all variables; not so in older files
    least_level: float = LEAST_LEVEL  # of a class; 0 in older files
    model_name: str | None = None
    set_aside: SetAside | None = None
    is_probability: bool = False
    default_radius: float | None = None
    default_alpha: float = DEFAULT_ALPHA
    absent_model: str | None = None
    declared: Declared = NOTHING_DECLARED
    model: ExplainedModel | None = None  # never saved

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what was learnt, not what is cached: other threads may add to that at the same time."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def focus(self) -> Any:
        """The class that people care about; None if there is none."""
        return self.declared.focus

    @property
    def radius(self) -> float | None:
        """The radius of the intervals; None if they lie between quantiles."""
        return self.default_radius if self.settings.radius is None else self.settings.radius

    @property
    def interval_share(self) -> float:
        """The share of outcomes that the intervals between quantiles hold."""
        settings = self.settings
        if self.errors is None:
            return 1 - (self.default_alpha if settings.alpha is None else settings.alpha)
        return self.errors.share_within(self.errors.factor(settings.alpha, settings.pi, self.default_alpha))

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
    def averaged_rows(self) -> tuple[NDArray[np.float32], Outcomes]:
        """Training rows, evenly spread, over which it is averaged what variables add alone; and their outcomes."""
        n_rows = len(self.forest.X)
        n = min(N_AVERAGED, n_rows)
        X = self.forest.X[np.arange(n) * n_rows // n]
        return X, self.outcomes(X, self.predict(X))

    @cached_property
    def mean_gains(self) -> dict[int, Any]:
        """What variables add alone on average over training rows, kept for the order of reasons."""
        return {}

    @cached_property
    def _column_names(self) -> list[str]:
        return [column.name for column in self.encoding.columns]

    @property
    def training(self) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """The training table as the forest sees it, and its outcomes."""
        values = self.forest.y_values if self.classes is None else self.classes
        return self.forest.X, values[self.forest.y_rank]

    @cached_property
    def set_aside_table(self) -> Table | None:
        """The rows that were set aside as a table, in which rules cover the same rows; None if there are none."""
        return None if self.set_aside is None else self.encoding.decode(self.set_aside.X)

    @property
    def training_table(self) -> tuple[Table, NDArray[Any]]:
        """The training table in the user's values, and its outcomes. One category stands for all rare ones."""
        matrix, outcomes = self.training
        return self.encoding.decode(matrix), outcomes

    @property
    def without_model(self) -> Fitted:
        """The same state without the explained model: results hold it, and can then be copied to other processes."""
        return self if self.model is None else replace(self, model=None)

    def with_changes(self, changes: Mapping[str, Any]) -> Fitted:
        """Return the same state with some settings changed."""
        state = self.with_settings(replace(self.settings, **changes))
        # A level of the interval that was asked for replaces the default radius, even if it is the level of before.
        return replace(state, default_radius=None) if "alpha" in changes else state

    def with_settings(self, settings: Settings) -> Fitted:
        """Return the same state with other settings. Forest and caches are shared."""
        settings = settings.for_task(self.task)
        projected = self.projected
        if not _same_candidates(settings, self.settings):
            candidates = choose_candidates(self.forest, self._estimator_for(settings), self.variables, settings)
            projected = replace(projected, candidates=candidates)
        default_radius = self.default_radius if settings.alpha == self.settings.alpha else None
        return replace(self, projected=projected, settings=settings, default_radius=default_radius)

    def _estimator_for(self, settings: Settings) -> Any:
        if settings.candidates == "impurity" and isinstance(self.estimator, PlainForest):
            raise ValueError(
                "The impurities of a forest are not saved: list the `candidates`, or choose them by 'row' or 'splits'."
            )
        return self.estimator

    def ranking(self) -> VariableSet:
        """List all variables that can be candidates."""
        if not isinstance(self.settings.candidates, str):
            return self.candidates
        by_impurity = self.settings.candidates == "impurity" and isinstance(self.estimator, PlainForest)
        candidates = "splits" if by_impurity else self.settings.candidates
        settings = replace(self.settings, n_candidates=MAX_VARIABLES, candidates=candidates)
        ranked = choose_candidates(self.forest, self.estimator, self.variables, settings)
        return tuple(dict.fromkeys((*self.candidates, *ranked)))

    def encode(self, table: Table, unseen: Literal["error", "missing"] | None = None) -> NDArray[np.float32]:
        """Turn a table with the columns of the training table into the finite matrix that the forest sees."""
        X = self.encoding.encode(table, self.settings.unseen if unseen is None else unseen)
        check_finite(X, self._column_names, self.forest.trees.takes_missing)
        return X

    def predict(self, X: NDArray[np.float32]) -> NDArray[Any]:
        """Predict outcomes by the forest itself."""
        return self.decide(self.votes(X))

    def votes(self, X: NDArray[np.float32]) -> Floats:
        """Return the shares of the classes, or the numbers in one column, that the forest predicts."""
        return self.forest.predict_leaves(X, self.settings.n_threads)

    def decide(self, votes: Floats) -> NDArray[Any]:
        """Return the predictions that follow from votes."""
        return votes[:, 0] if self.classes is None else self.classes[np.argmax(votes, axis=1)]

    def outcomes(self, X: NDArray[np.float32], y: NDArray[Any]) -> Outcomes:
        """Make the outcomes of rows, with their intervals."""
        if self.classes is not None:
            return outcomes_of_classes(y, self.classes)
        numbers = as_finite(y)
        if self.radius is not None:
            intervals: Floats = np.stack([numbers - self.radius, numbers + self.radius], axis=1)
            if self.is_probability:
                intervals = np.clip(intervals, 0.0, 1.0)
        else:
            intervals = self._intervals_at(X)
        return outcomes_of_intervals(numbers, intervals, self.forest.y_values)

    def _intervals_at(self, X: NDArray[np.float32]) -> Floats:
        """Compute the intervals within which numbers are kept. Files of version 0.2 or before have scores."""
        settings, y_values = self.settings, self.forest.y_values
        if self.errors is not None:
            prediction, spread = prediction_and_spread(self.projected, self.errors, X, settings.n_threads)
            reach = self.errors.factor(settings.alpha, settings.pi, self.default_alpha) * spread
            # No training outcome lies beyond the first and last one.
            return np.clip(np.stack([prediction - reach, prediction + reach], axis=1), y_values[0], y_values[-1])
        alpha = self.default_alpha if settings.alpha is None else settings.alpha
        if self.interval_scores is not None:
            alpha = min(calibrated_level(self.interval_scores, alpha), max(alpha, 1 - settings.pi))
        return self.projected.quantiles(X, None, np.array([alpha / 2, 1 - alpha / 2]), settings.n_threads)

    @cached_property
    def has_whole_outcomes(self) -> bool:
        """Whether the outcomes are numbers, and all training outcomes are whole."""
        y_values = self.forest.y_values
        return self.classes is None and bool(np.all(y_values == np.floor(y_values)))

    @cached_property
    def _n_up_to(self) -> NDArray[np.int64]:
        """The number of training rows with an outcome below each rank, and the number of all."""
        n_of_rank = np.bincount(self.forest.y_rank, minlength=len(self.forest.y_values))
        return np.concatenate([[0], np.cumsum(n_of_rank)])

    def base_rates(self, outcomes: Outcomes) -> Floats:
        """Compute how often outcomes are kept among all training rows."""
        n_up_to = self._n_up_to
        n_kept = n_up_to[outcomes.high.astype(np.int64) + 1] - n_up_to[outcomes.low]
        shares: Floats = np.maximum(n_kept, 0) / len(self.forest.X)
        return shares

    @cached_property
    def _levels_of_classes(self) -> Floats:
        assert self.classes is not None
        base_rates = self.base_rates(outcomes_of_classes(self.classes, self.classes))
        return level_by_odds(self.settings.pi, base_rates, self.least_level)

    def levels(self, outcomes: Outcomes) -> Floats:
        """Compute the probability that a sufficient set of each row must reach."""
        if self.settings.levels == "same" or self.classes is None:
            return np.full(len(outcomes.values), self.settings.pi)
        levels: Floats = self._levels_of_classes[outcomes.low]
        return levels

    def level_of_rules(self) -> float | dict[Any, float]:
        """Return the probability that a rule promises."""
        if self.settings.levels == "same" or self.classes is None:
            return self.settings.pi
        return dict(zip(self.classes.tolist(), self._levels_of_classes.tolist(), strict=True))

    @property
    def level_text(self) -> str:
        """What a sufficient set must reach, as part of a sentence."""
        settings, levels = self.settings, self.level_of_rules()
        if not isinstance(levels, dict):
            text = f"probability {settings.pi:g}"
        elif len(set(levels.values())) == 1:
            text = f"probability {format_level(next(iter(levels.values())))}"
        elif len(levels) <= MOST_CLASSES:
            text = f"probability {join([f'{format_level(level)} for {label}' for label, level in levels.items()])}"
        else:
            text = f"a level for each class: {settings.pi / (1 - settings.pi):.3g} times its odds"
        how = "" if settings.confidence is None else f", at {format_confidence(settings.confidence)} confidence"
        return f"{text}{how}"

    def describe(self) -> dict[str, Any]:
        """Describe what was fitted to what, and by which settings."""
        settings = {name: getattr(self.settings, name) for name in _DESCRIBED}
        settings |= {name: getattr(self, name) for name in ("radius", "min_node_size", "counts")}
        return {
            **{name: getattr(self, name) for name in ("task", "task_reason", "target")},
            "classes": None if self.classes is None else self.classes.tolist(),
            "focus": self.focus,
            "fixed": list(self.declared.fixed),
            "model": self.model_name or self.absent_model,
            "n_rows": len(self.forest.X),
            "n_set_aside": 0 if self.set_aside is None else len(self.set_aside.outcomes),
            "columns": list(self.encoding.names),
            "variables": list(self.variables.names),
            "candidates": list(self.candidate_names),
            **{name: getattr(self, name) for name in ("n_searched", "fidelity", "fidelity_by_class", "has_signal")},
            "forest": self.forest.trees.describe(),
            "settings": settings,
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
