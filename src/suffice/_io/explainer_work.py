"""Long work about a fitted explainer that the app does in a process of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from suffice.explainer import SufficientExplainer
from suffice.explaining.stability import SetStability
from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rule_lists.mining import mine_rules

MIN_SUPPORT = 10  # of the rules for numbers


def collect_rules(
    explainer: SufficientExplainer, table: Any, outcomes: NDArray[Any], n_rows: int, *, step: Callable[[int], None]
) -> Any:
    """Collect the rules of training rows at several levels."""
    rules = mine_rules(explainer, table, outcomes, n_rows=n_rows, report=lambda share: step(round(share * n_rows)))
    if explainer.task_ == "regression":
        return GlobalRulesRegressor.from_explanations(
            rules, table, outcomes, min_precision=-math.inf, min_support=MIN_SUPPORT
        )
    return GlobalRulesClassifier.from_explanations(rules, table, outcomes)


def measure_stability(
    explainer: SufficientExplainer, row: Any, outcome: Any, n_forests: int, *, step: Callable[[int], None]
) -> SetStability:
    """Measure whether the best set of a row returns when the forest is grown again."""
    return explainer.stability(row, [outcome], n_seeds=n_forests, n_resamples=n_forests, random_state=0, progress=step)
