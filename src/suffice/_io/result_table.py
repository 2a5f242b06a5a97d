"""Explanations as the lines of a table: the same columns, in the same order, whatever library holds the table.

Which library that is, and where the rows come from, is left to ``results``, ``streaming``, ``spark`` and ``dask``.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.explanation import Explanation
from suffice.explanations import Explanations
from suffice.rules import Rule

# What a column holds. "outcome" stands for the kind of the outcomes: numbers, or labels of some kind.
LINE_COLUMNS = {
    "outcome": "outcome",
    "low": "float",
    "high": "float",
    "prediction": "outcome",
    "forest_agrees": "bool",
    "is_sufficient": "bool",
    "best_set": "list of str",
    "size": "int",
    "sdp": "float",
    "rule": "str",
    "rule_sql": "str",
    "support": "int",
    "coverage": "float",
    "precision": "float",
    "optimal": "bool",
    "n_sufficient_sets": "int",
    "is_search_complete": "bool",
}

_OF_RULE: dict[str, Callable[[Rule], Any]] = {
    # The figures at the end of the sentence have columns of their own.
    "rule": lambda rule: str(rule).rpartition("  (coverage")[0],
    "rule_sql": Rule.to_sql,
    "support": attrgetter("support"),
    "coverage": attrgetter("coverage"),
    "precision": attrgetter("precision"),
    "optimal": attrgetter("optimal"),
}


def line_of(explanation: Explanation) -> dict[str, Any]:
    """Give the best set and the rule of a row.

    Parameters
    ----------
    explanation : Explanation
        The explanation of the row.

    Returns
    -------
    dict
        A value for each of `LINE_COLUMNS`; None where there is none.
    """
    rule = explanation.rule
    low, high = explanation.interval or (None, None)
    return {
        "outcome": explanation.outcome,
        "low": low,
        "high": high,
        "prediction": explanation.prediction,
        "forest_agrees": explanation.forest_agrees,
        "is_sufficient": explanation.is_sufficient,
        "best_set": list(explanation.best_set.variables),
        "size": len(explanation.best_set.variables),
        "sdp": explanation.best_set.sdp,
        **{name: None if rule is None else of_rule(rule) for name, of_rule in _OF_RULE.items()},
        "n_sufficient_sets": len(explanation.sufficient_sets),
        "is_search_complete": explanation.is_search_complete,
    }


def columns_of(explanations: Explanations) -> dict[str, list[Any]]:
    """Give the best sets and the rules of all rows, column by column.

    It takes less than a tenth of the time of `line_of`, which needs the values of every row as the user knows them.

    Parameters
    ----------
    explanations : Explanations
        The explanations of the rows.

    Returns
    -------
    dict of str to list
        The columns `LINE_COLUMNS`, with the values of `line_of`.
    """
    found, outcomes, predictions = explanations._found, explanations._outcomes, explanations._predictions
    intervals, n_rows = explanations._intervals, len(explanations)
    n_sets = np.diff(found.offset)
    masks = [mask.tobytes() for mask in found.best_masks]
    row_of = dict(zip(masks, range(n_rows), strict=True))  # a few sets are the best ones of many rows
    named = {mask: explanations._named(found.best_masks[row], 0.0).variables for mask, row in row_of.items()}
    agrees: NDArray[Any] = predictions == outcomes
    low = high = [None] * n_rows
    if intervals is not None:
        agrees = _within(intervals, predictions) & _within(intervals, outcomes)
        low, high = intervals.T.tolist()
    rules = explanations.rules
    return {
        "outcome": outcomes.tolist(),
        "low": low,
        "high": high,
        "prediction": predictions.tolist(),
        "forest_agrees": agrees.tolist(),
        "is_sufficient": (n_sets > 0).tolist(),
        "best_set": [list(named[mask]) for mask in masks],
        "size": [len(named[mask]) for mask in masks],
        "sdp": found.best_sdps.tolist(),
        **{name: [None if rule is None else of_rule(rule) for rule in rules] for name, of_rule in _OF_RULE.items()},
        "n_sufficient_sets": n_sets.tolist(),
        "is_search_complete": found.is_complete.tolist(),
    }


def _within(intervals: NDArray[np.float64], numbers: NDArray[Any]) -> NDArray[np.bool_]:
    within: NDArray[np.bool_] = (intervals[:, 0] <= numbers) & (numbers <= intervals[:, 1])
    return within
