"""Explanations as the lines of a table: the same columns, in the same order, whatever library holds the table.

Which library that is, and where the rows come from, is left to ``results``, ``streaming``, ``spark`` and ``dask``.
"""

from __future__ import annotations

from typing import Any

from suffice.explanation import Explanation

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
        # The figures at the end of the sentence have columns of their own.
        "rule": None if rule is None else str(rule).rpartition("  (coverage")[0],
        "rule_sql": None if rule is None else rule.to_sql(),
        "support": None if rule is None else rule.support,
        "coverage": None if rule is None else rule.coverage,
        "precision": None if rule is None else rule.precision,
        "optimal": None if rule is None else rule.optimal,
        "n_sufficient_sets": len(explanation.sufficient_sets),
    }
