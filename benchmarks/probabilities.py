"""How far a model's probability may move and count as kept: quantiles of the forest, or a fixed radius.

``python -m benchmarks.probabilities`` prints the table of docs/evidence/tables.md (minutes; the data folder is named by
``SUFFICE_DATA``).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from benchmarks.printing import number, print_table
from benchmarks.real_tables import Part, load_table
from suffice import SufficientExplainer

TABLES = ("breast cancer", "german credit", "bank", "attrition")
INTERVALS = {"quantiles": {"alpha": 0.05}, **{f"radius {r}": {"radius": r} for r in (0.05, 0.1, 0.15, 0.2, 0.25)}}
MEASURES = ("sets", "width", "size", "coverage", "held out", "forest agrees")
# A rule says something about held-out rows if it covers this many of them.
LEAST_COVERED = 5


def make_models(X: Any) -> Iterator[Any]:
    """A boosted model, a logistic regression and a forest, as people use them on a table with categories."""
    labels = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    numbers = [name for name in X if name not in labels]
    coded = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    codes = (coded, labels)
    indicators = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), labels), (StandardScaler(), numbers))
    yield make_pipeline(
        make_column_transformer(codes, remainder="passthrough"), HistGradientBoostingClassifier(random_state=0)
    )
    yield make_pipeline(indicators, LogisticRegression(max_iter=2000))
    forest = RandomForestClassifier(80, min_samples_leaf=5, random_state=0)
    yield make_pipeline(make_column_transformer(codes, remainder="passthrough"), forest)


def measure(explainer: SufficientExplainer, rows: Any, fresh: Part) -> list[float]:
    """The measures of `MEASURES` for some rows; `fresh` are held-out rows with the model's own probabilities."""
    explanations = explainer.explain(rows, sets="minimal")
    widths = explanations.intervals[:, 1] - explanations.intervals[:, 0]
    sizes = [len(e.best_set.variables) for e in explanations if e.is_sufficient]
    coverages, precisions = [], []
    for explanation in explanations:
        if explanation.rule is not None:
            covered = explanation.rule.covers(fresh.X)
            coverages.append(covered.mean())
            if np.count_nonzero(covered) >= LEAST_COVERED:
                precisions.append(explanation.keeps(fresh.y[covered]).mean())
    means = [float(np.mean(values)) if values else np.nan for values in (sizes, coverages, precisions)]
    return [explanations.has_set.mean(), widths.mean(), *means, explanations.forest_agrees.mean()]


def compare(names: tuple[str, ...], n_explained: int, data: str | None = None) -> dict[str, list[float]]:
    """The mean measures of each interval, over tables and models."""
    measures: dict[str, list[list[float]]] = {name: [] for name in INTERVALS}
    for name in names:
        train, explained, fresh = load_table(name, data).split(0, n_explained)
        for model in make_models(train.X):
            model.fit(train.X, train.y)
            label = model.classes_[1]
            probabilities = Part(fresh.X, model.predict_proba(fresh.X)[:, 1])
            explainer = SufficientExplainer.for_model(
                model, train.X, probability_of=label, random_state=0, unseen="missing", max_sets=20_000
            )
            for interval, settings in INTERVALS.items():
                measures[interval].append(measure(explainer.with_settings(**settings), explained.X, probabilities))
    return {interval: np.nanmean(of_interval, axis=0).tolist() for interval, of_interval in measures.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    means = compare(TABLES, 100)
    print_table(["interval", *MEASURES], [[name, *map(number, values)] for name, values in means.items()])


if __name__ == "__main__":
    main()
