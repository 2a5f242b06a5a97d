"""Rules that hold at every point against rules that hold at the training rows: ``python -m benchmarks.rule_checks``.

For each table the default explainer finds the sets of held-out rows once. The rules of these sets are then searched
with ``check="rows"`` and with ``check="everywhere"``, which take turns on one thread, the cells of the sets being in
the cache; the best CPU time of the rounds counts. Tables of files need the folder in SUFFICE_DATA.
"""

from __future__ import annotations

import argparse
import math
import os
import time
import warnings

import numpy as np
from experiments.data.loaders import load_bike, load_california
from experiments.data.synthetic import make_switch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from benchmarks.decision_tables import adult_like, telco_like
from benchmarks.printing import print_table
from benchmarks.real_tables import load_bank
from suffice import SufficientExplainer

CHECKS = ("rows", "everywhere")
MAX_ROWS = 10_000  # training rows; larger tables are thinned
N_ROUNDS = 3


def switch():
    data = make_switch(MAX_ROWS + 1000, n_columns=100, random_state=0)
    return data.X, data.y


def drawn(make):
    table = make(MAX_ROWS + 1000, 0)
    return table.X, table.y


TABLES = {
    "switch, 100 columns": switch,
    "telco-like": lambda: drawn(telco_like),
    "adult-like": lambda: drawn(adult_like),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True, as_frame=True),
    "bank": lambda: load_bank(None),
    "bike": load_bike,
    "california": load_california,
}
FILES = ("bank", "bike", "california")


def fit(load, n_rows, **settings):
    """Fit the default explainer to a table, and draw held-out rows."""
    X, y = load()
    n_train = min(MAX_ROWS, len(X) * 4 // 5)
    X_train, X_test, y_train, _ = train_test_split(X, y, train_size=n_train, random_state=0)
    explainer = SufficientExplainer(n_jobs=1, random_state=0, **settings).fit(X_train, y_train)
    return explainer, X_test.iloc[:n_rows].reset_index(drop=True)


def measure(explainer, rows):
    """Return the CPU seconds and the rules of each check, for the sets whose rules `explain` shows."""
    explanations = explainer.explain(rows, sets="minimal")
    best = [e.best_set.variables if e.is_sufficient else None for e in explanations]
    chosen = {S: [i for i, one in enumerate(best) if one == S] for S in dict.fromkeys(best) if S is not None}
    seconds, rules = dict.fromkeys(CHECKS, math.inf), {}
    for _ in range(N_ROUNDS):
        for check in CHECKS:
            start = time.process_time()
            by_set = [explainer.rule(rows.iloc[of_set], list(S), check=check) for S, of_set in chosen.items()]
            seconds[check] = min(seconds[check], time.process_time() - start)
            rules[check] = [rule for of_set in by_set for rule in of_set]
    return seconds, rules


def line_of(name, explainer, rows):
    seconds, rules = measure(explainer, rows)
    pairs = [pair for pair in zip(*(rules[check] for check in CHECKS), strict=True) if None not in pair]
    shares = [
        np.mean([[getattr(rule, field) for rule in pair] for pair in pairs], axis=0)
        for field in ("optimal", "everywhere", "coverage")
    ]
    least = explainer.min_support
    shares.append(np.mean([[rule.support >= least for rule in pair] for pair in pairs], axis=0))
    same = np.mean([one.conditions == other.conditions for one, other in pairs])
    ms = [1000 * seconds[check] / len(pairs) for check in CHECKS]
    sizes = np.mean([len(rule.conditions) for rule in rules["everywhere"]])
    figures = [f"{figure:.3f}" for share in shares for figure in share]
    return [
        name,
        str(len(pairs)),
        f"{sizes:.1f}",
        *(f"{one:.2f}" for one in ms),
        f"{ms[1] / ms[0]:.1f}",
        *figures,
        f"{same:.2f}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", help="names of tables, or how they begin; by default all")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--candidates", default=None, help="of the explainers; else the default")
    arguments = parser.parse_args()
    settings = {} if arguments.candidates is None else {"candidates": arguments.candidates}
    lines = []
    for name, load in TABLES.items():
        if arguments.tables and not name.startswith(tuple(arguments.tables)):
            continue
        if name in FILES and not os.environ.get("SUFFICE_DATA"):
            print(f"{name}: left out, SUFFICE_DATA names no folder of data.")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lines.append(line_of(name, *fit(load, arguments.rows, **settings)))
    figures = [
        f"{figure}, {check}"
        for figure in ("proven maximal", "proven everywhere", "coverage", "enough rows")
        for check in CHECKS
    ]
    print_table(["table", "rules", "conditions", "ms, rows", "ms, everywhere", "ratio", *figures, "same rule"], lines)


if __name__ == "__main__":
    main()
