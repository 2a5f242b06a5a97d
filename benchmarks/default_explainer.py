"""The explainer as a new user has it, fitted and asked the same way in all parts of ``benchmarks.estimator``."""

from __future__ import annotations

import ast
import os
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from experiments.data.loaders import FOLDER_VARIABLE

from suffice import SufficientExplainer
from suffice._forest.fitting import decide_task, default_forest
from suffice.errors import FidelityWarning, RareCategoriesWarning, SearchSizeWarning

FOREST = "forest."
# The seeds of one draw and of the next are this far apart.
DRAW = 1000


@dataclass(frozen=True)
class Plan:
    """How much is measured, on which draws, and what differs from the default."""

    is_quick: bool = False
    n_seeds: int = 5
    draw: int = 0
    n_jobs: int = 1
    data: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def seeds(self) -> range:
        return range(DRAW * self.draw, DRAW * self.draw + self.n_seeds)

    @property
    def has_data(self) -> bool:
        return bool(self.data or os.environ.get(FOLDER_VARIABLE))

    def pick(self, full: Any, quick: Any) -> Any:
        return quick if self.is_quick else full

    def fit(self, X: Any, y: Any, seed: int) -> SufficientExplainer:
        """Fit the default explainer with the settings of the plan; those of the forest begin with "forest."."""
        settings = {key: value for key, value in self.settings.items() if not key.startswith(FOREST)}
        of_forest = {key.removeprefix(FOREST): value for key, value in self.settings.items() if key.startswith(FOREST)}
        if of_forest:
            task = decide_task("auto", None, np.asarray(y))[0]
            forest = default_forest(task, len(X), "out-of-bag", self.n_jobs, seed)
            settings["forest"] = forest.set_params(**of_forest)
        explainer = SufficientExplainer(random_state=seed, n_jobs=self.n_jobs, **settings)
        with warnings.catch_warnings():
            for category in (FidelityWarning, RareCategoriesWarning):
                warnings.simplefilter("ignore", category)
            return explainer.fit(X, y)


def explain(explainer: SufficientExplainer, X: Any, sets: str = "minimal") -> Any:
    """Find the sets of rows, without rules."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchSizeWarning)
        return explainer.explain(X, sets=sets, rules=None, progress=False)


def has_claim(explanations: Any) -> Any:
    """Whether a set of at least one variable is called sufficient."""
    return explanations.has_set & np.array([bool(best.variables) for best in explanations.best_sets])


def read_setting(text: str) -> tuple[str, Any]:
    """Read "key=value"; a value that is no literal of Python is taken as text."""
    key, _, value = text.partition("=")
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value
