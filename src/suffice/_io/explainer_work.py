"""Long work about a fitted explainer that the app does in a process of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from suffice.explainer import SufficientExplainer
from suffice.global_rules import GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rule_mining import mine_rules
from suffice.set_stability import SetStability

MIN_SUPPORT = 10  # of the rules for numbers


def collect_rules(
    explainer: SufficientExplainer, table: Any, outcomes: NDArray[Any], n_rows: int, *, step: Callable[[int], None]
) -> Any:
    """Collect the rules of training rows at several levels.

    Parameters
    ----------
    explainer : SufficientExplainer
        The fitted explainer.
    table : array or frame
        The training rows.
    outcomes : ndarray
        Their outcomes.
    n_rows : int
        How many rows are explained, drawn at random.
    step : callable
        Is called with the number of rows that are done.

    Returns
    -------
    GlobalRulesClassifier or GlobalRulesRegressor
        The rules, measured on all training rows.
    """
    rules = mine_rules(explainer, table, outcomes, n_rows=n_rows, report=lambda share: step(round(share * n_rows)))
    if explainer.task_ == "regression":
        return GlobalRulesRegressor.from_explanations(
            rules, table, outcomes, min_precision=-math.inf, min_support=MIN_SUPPORT
        )
    return GlobalRulesClassifier.from_explanations(rules, table, outcomes)


def measure_stability(
    explainer: SufficientExplainer, row: Any, outcome: Any, n_forests: int, *, step: Callable[[int], None]
) -> SetStability:
    """Measure whether the best set of a row returns when the forest is grown again.

    Parameters
    ----------
    explainer : SufficientExplainer
        The fitted explainer.
    row : array or frame of shape (1, n_columns)
        The row.
    outcome : object
        Its outcome.
    n_forests : int
        How many forests are grown with other seeds, and how many on halves of the training rows.
    step : callable
        Is called with the number of forests that are grown.

    Returns
    -------
    SetStability
        The stability of one row.
    """
    return explainer.stability(row, [outcome], n_seeds=n_forests, n_resamples=n_forests, random_state=0, progress=step)
