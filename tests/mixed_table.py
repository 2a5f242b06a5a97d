"""A table with a column of every kind, and its explanations on one machine, for the tests of batches and engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer

N_ROWS = 120
COLUMNS = ["amount", "count", "account", "flag", "city", "colour", "grade", "when"]
SPARE = ["id", "label", "number"]


def make_table(n_rows=N_ROWS, seed=0):
    """Rows with gaps in every column of the model, an identifier beyond 2**53, and outcomes of two kinds."""
    rng = np.random.default_rng(seed)
    amount = rng.normal(size=n_rows).round(3)
    count = rng.integers(0, 30, n_rows)
    city = rng.choice(["Rome", "Oslo", "Bern, CH"], n_rows)
    hour = rng.integers(0, 24, n_rows)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 60, n_rows) * 24 + hour, unit="h")
    table = pd.DataFrame(
        {
            "id": 2**60 + np.arange(n_rows),
            "amount": amount,
            "count": pd.array(count, dtype="Int64"),
            "account": pd.array(2**55 + 3 * rng.integers(0, 2**50, n_rows), dtype="Int64"),
            "flag": pd.array(rng.random(n_rows) < 0.4, dtype="boolean"),
            "city": pd.array(city, dtype=object),
            "colour": pd.Categorical(rng.choice(["red", "green"], n_rows)),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n_rows), ["low", "mid", "high"], ordered=True),
            "when": when.as_unit("us"),
        }
    )
    score = amount + (count > 12) + (city == "Oslo") + (hour > 11)
    table["label"] = np.where(score > 1.5, "buys", "leaves")
    table["number"] = score.round(2)
    for column in COLUMNS:
        table.loc[rng.random(n_rows) < 0.08, column] = None
    return table


def as_arrow(table):
    """The table as Spark can take it: its categories as text."""
    import pyarrow as pa

    plain = table.astype({name: object for name in ("colour", "grade") if name in table})
    return pa.Table.from_pandas(plain, preserve_index=False)


def expected_line(explanation):
    """The line of a row in the result table, value by value from its explanation."""
    rule = explanation.rule
    is_regression = explanation.interval is not None
    return {
        "outcome": explanation.outcome,
        "low": explanation.interval[0] if is_regression else None,
        "high": explanation.interval[1] if is_regression else None,
        "prediction": explanation.prediction,
        "forest_agrees": explanation.forest_agrees,
        "is_sufficient": explanation.is_sufficient,
        "best_set": list(explanation.best_set.variables),
        "size": len(explanation.best_set.variables),
        "sdp": explanation.best_set.sdp,
        "sdp_lower": explanation.best_set.lower,
        "sdp_of_all": explanation.sdp_of_all,
        "is_contested": explanation.is_contested,
        "lift": explanation.lift,
        "base_rate": explanation.base_rate,
        "rule": None if rule is None else rule.sentence,
        "rule_sql": None if rule is None else rule.to_sql(),
        "support": None if rule is None else rule.support,
        "coverage": None if rule is None else rule.coverage,
        "precision": None if rule is None else rule.precision,
        "optimal": None if rule is None else rule.optimal,
        "n_sufficient_sets": len(explanation.sufficient_sets),
        "is_search_complete": explanation.is_search_complete,
    }


@dataclass(frozen=True)
class Case:
    """An explainer, and the lines of the whole table explained at once."""

    explainer: SufficientExplainer
    target: str | None
    lines: list[dict[str, Any]]


def make_case(table, target, task):
    """Fit on other rows like those of the table, and explain the outcomes of the table, or its predictions."""
    train = make_table(300, seed=1)
    forests = {"classification": RandomForestClassifier, "regression": RandomForestRegressor}
    forest = forests[task](15, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, dates="parts", random_state=0)
    explainer.fit(train[COLUMNS], train["label" if task == "classification" else "number"])
    y = None if target is None else table[target]
    explanations = explainer.explain(table[COLUMNS], y, sets="minimal")
    ids = table["id"].tolist()
    lines = [{"id": i, **expected_line(explanation)} for i, explanation in zip(ids, explanations, strict=True)]
    return Case(explainer, target, lines)


CASES = {
    "labels": ("label", "classification"),
    "predicted labels": (None, "classification"),
    "numbers": ("number", "regression"),
    "predicted numbers": (None, "regression"),
}


def sorted_lines(lines):
    """Lines of a result in the order of the table."""
    return sorted(lines, key=lambda line: line["id"])
