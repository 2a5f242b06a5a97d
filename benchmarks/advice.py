"""Whether the advice of docs/guide/troubleshooting.md helps: ``python -m benchmarks.advice --data FOLDER``."""

from __future__ import annotations

import argparse
import os
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.loaders import FOLDER_VARIABLE
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from benchmarks.printing import print_table
from benchmarks.real_tables import load_table
from suffice import Explanations, SufficientExplainer

N_EXPLAINED = 150


def load(name: str, folder: str) -> tuple[pd.DataFrame, pd.Series]:
    """Load a table in random order."""
    table = load_table(name, folder)
    order = np.random.default_rng(0).permutation(len(table.y))
    return table.X.iloc[order].reset_index(drop=True), pd.Series(np.asarray(table.y)[order], name="outcome")


def share(explanations: Explanations) -> str:
    return f"{explanations.has_set.mean():.2f}"


def print_levels(folder: str) -> None:
    X, y = load("german credit", folder)
    explainer = SufficientExplainer(random_state=0, unseen="missing").fit(X[:700], y[:700])
    rows = X[700 : 700 + N_EXPLAINED]
    calls: list[dict[str, Any]] = [{}, {"n_candidates": 20}, {"pi": 0.8}, {"pi": 0.7}]
    print_table(
        ["German credit", "with a set"], [[str(call), share(explainer.explain(rows, **call))] for call in calls]
    )
    offered = [(i, e.offered_pi) for i, e in enumerate(explainer.explain(rows)) if e.offered_pi is not None]
    again = [explainer.explain(rows.iloc[[i]], pi=pi, levels="same")[0].is_sufficient for i, pi in offered]
    print(f"\nThe offered level gives a set to {sum(again)} of {len(again)} rows.\n")


def print_rare(folder: str) -> None:
    lines = []
    for name, n in (("attrition", 1200), ("bank", 5000)):
        X, y = load(name, folder)
        explainer = SufficientExplainer(random_state=0, unseen="missing").fit(X[:n], y[:n])
        rows = X[n : n + 2000]
        rows = rows[explainer.predict(rows) == explainer.focus_]
        lines.append(
            [name, str(len(rows)), *(share(explainer.explain(rows, levels=levels)) for levels in ("same", "odds"))]
        )
    print_table(["rare class of", "predicted", "with a set: same", "odds"], lines)


def print_numbers(folder: str) -> None:
    X, y = load("bike", folder)
    explainer = SufficientExplainer(random_state=0).fit(X[:6000], y[:6000])
    rows = X[6000 : 6000 + N_EXPLAINED]
    lines = []
    for call in ({}, {"alpha": 0.2}, {"alpha": 0.2, "pi": 0.7}, {"radius": 50, "pi": 0.7}):
        explanations = explainer.explain(rows, **call)
        lines.append([str(call), share(explanations), f"{np.ptp(explanations.intervals, axis=1).mean():.0f}"])
    print_table(["bike", "with a set", "width"], lines)
    lines = []
    for call in ({"sets": "all"}, {}, {"max_size": 3}, {"n_candidates": 6}):
        start = time.process_time()
        explanations = explainer.explain(rows, **call)
        lines.append([str(call), share(explanations), f"{1000 * (time.process_time() - start) / len(rows):.0f}"])
    print_table(["bike", "with a set", "CPU ms a row"], lines)


def print_fidelity(folder: str) -> None:
    X, y = load("attrition", folder)
    X = X.apply(lambda column: column if column.dtype.kind in "iufb" else pd.factorize(column, sort=True)[0])
    model = HistGradientBoostingClassifier(random_state=0).fit(X[:500], y[:500])
    forest = RandomForestClassifier(500, min_samples_leaf=2, random_state=0)
    fits = {
        "its 500 training rows": SufficientExplainer.for_model(model, X[:500], random_state=0),
        "the same, 500 trees": SufficientExplainer.for_model(model, X[:500], forest=forest, random_state=0),
        "and 800 other rows": SufficientExplainer.for_model(model, X[:1300], random_state=0),
        "the 800 other rows only": SufficientExplainer.for_model(model, X[500:1300], random_state=0),
    }
    lines = [[name, f"{e.fidelity_:.3f}", f"{e.fidelity_by_class_['Yes']:.2f}"] for name, e in fits.items()]
    print_table(["a boosted model of attrition, explained with", "fidelity", "for Yes"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help=f"the folder of the tables; else that of the variable {FOLDER_VARIABLE}")
    folder = parser.parse_args().data or os.environ.get(FOLDER_VARIABLE)
    if not folder:
        parser.error(f"give --data FOLDER or set {FOLDER_VARIABLE}")
    warnings.simplefilter("ignore")
    for part in (print_levels, print_rare, print_numbers, print_fidelity):
        part(folder)
        print()


if __name__ == "__main__":
    main()
