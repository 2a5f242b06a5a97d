"""What would change it: readings compared on real tables, and stories (docs/evidence/what_if.md and its tables).

Run ``python -m benchmarks.what_if`` for all of it, or name the parts: ``readings``, ``defaults``, ``reported``,
``laws``, ``reported_laws``, ``misses``, ``asked``, ``asked_reported``, ``asked_rules``, ``speed``, ``stories``.
``defaults-nhanes`` compares the defaults on one table only. SUFFICE_DATA is the folder of the tables.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
from experiments.data.loaders import load_attrition, load_bike, load_diabetes
from sklearn.ensemble import RandomForestClassifier

from benchmarks.asked_changes import print_asked, print_asked_reported, print_asked_rules
from benchmarks.change_defaults import (
    boosted,
    only_confirmed,
    print_defaults,
    print_laws,
    print_misses,
    print_reported,
    print_reported_laws,
)
from benchmarks.printing import print_table
from benchmarks.real_tables import load_bank, load_german
from suffice import SufficientExplainer
from suffice.errors import FidelityWarning

N_ROWS = 20
N_TIMED = 60
MOST_ROWS = 6000
# Check, pi, least plausibility.
READINGS = (
    ("everywhere", 0.9, 0.05),
    ("everywhere", 0.8, 0.05),
    ("everywhere", 0.7, 0.05),
    ("mean", 0.9, 0.05),
    ("mean", 0.9, 0.1),
)


def tables() -> dict[str, tuple[Any, Any, str]]:
    """The tables with the class that rows are to reach."""
    X, y = load_diabetes()
    diabetes = X, np.where(np.asarray(y) == 1, "ill", "well")
    return {
        "german_credit": (*load_german(None), "good"),
        "bank": (*load_bank(None), "yes"),
        "attrition": (*load_attrition(), "No"),
        "diabetes": (*diabetes, "well"),
    }


def print_readings() -> None:
    """How many rows get a change, how often the model agrees, and how long it takes, by reading."""
    lines, cdps = [], []
    for name, (X, y, wanted) in tables().items():
        chosen = np.sort(np.random.default_rng(0).permutation(len(X))[:MOST_ROWS])
        rows_of_table, labels = X.iloc[chosen].reset_index(drop=True), np.asarray(y)[chosen].astype(str)
        model = boosted(rows_of_table, labels)
        forest = RandomForestClassifier(20, max_depth=10, random_state=0)
        explainer = SufficientExplainer.for_model(model, rows_of_table, forest=forest, n_jobs=1)
        rows = rows_of_table[model.predict(rows_of_table) != wanted][:N_ROWS]
        cdps.append([name, *best_cdps(explainer, rows, wanted)])
        for check, pi, plausibility in READINGS:
            settings = {"check": check, "pi": pi, "min_plausibility": plausibility, "progress": False}
            with only_confirmed():
                best = [answer.best for answer in explainer.what_if(rows, wanted, **settings) if answer.best]
            lines.append(
                [
                    name,
                    check,
                    f"{pi:g}",
                    f"{plausibility:g}",
                    f"{len(best) / len(rows):.2f}",
                    _mean([change.confirmed for change in best]),
                    _mean([change.confirmed_share for change in best if change.confirmed_share is not None]),
                    _mean([len(change.variables) for change in best]),
                    _mean([change.plausibility for change in best]),
                    _mean([change.optimal for change in best]),
                ]
            )
    print("CDP of the best set at a row, median (least to most)\n")
    print_table(["table", "one variable", "two variables"], cdps)
    print("\nReadings: rows that the boosted model predicts otherwise, 20 trees of depth 10, one thread\n")
    head = ["table", "check", "pi", "least plausibility", "found", "confirmed", "moved rows", "size", "plausibility"]
    print_table([*head, "optimal"], lines)


def print_speed() -> None:
    """How long one row takes, asked alone: time on the clock, and of the processor, which other work cannot take."""
    lines = []
    for name, (X, y, wanted) in tables().items():
        if name == "bank":  # no row has a change there
            continue
        labels = boosted(X, np.asarray(y).astype(str)).predict(X)
        forest = RandomForestClassifier(20, max_depth=10, random_state=0)
        explainer = SufficientExplainer(forest, n_jobs=1).fit(X, labels)
        rows = np.flatnonzero(labels != wanted)[:N_TIMED]
        for pi in (0.9, 0.8):
            clock, processor, found = [], [], []
            for i in rows.tolist():
                start, start_processor = time.perf_counter(), time.process_time()
                [answer] = explainer.what_if(X[i : i + 1], wanted, labels[i : i + 1], pi=pi, progress=False)
                found += answer.changes
                clock.append(1000 * (time.perf_counter() - start))
                processor.append(1000 * (time.process_time() - start_processor))
            quantiles = np.quantile(processor, [0.5, 0.9])
            times = [f"{np.median(clock):.1f}", *(f"{q:.1f}" for q in quantiles)]
            proven = _mean([change.optimal for change in found])
            lines.append([name, str(len(X)), f"{pi:g}", *times, str(len(found)), proven])
    head = ["table", "rows", "pi", "ms on the clock (median)", "ms of processor (median)", "(90 %)", "boxes", "proven"]
    print_table(head, lines)


def best_cdps(explainer: SufficientExplainer, rows: Any, wanted: str) -> list[str]:
    """The highest CDP of one and of two variables at each row: what remains is known."""
    names = explainer.variable_names_
    label = [wanted] * len(rows)
    alone = {name: explainer.sdp(rows, [n for n in names if n != name], label) for name in names}
    ranked = sorted(names, key=lambda name: -float(np.mean(alone[name])))[:8]
    pairs = [
        explainer.sdp(rows, [n for n in names if n not in (a, b)], label)
        for i, a in enumerate(ranked)
        for b in ranked[i + 1 :]
    ]
    texts = []
    for values in (np.max(list(alone.values()), axis=0), np.max(pairs, axis=0)):
        texts.append(f"{np.median(values):.2f} ({values.min():.2f} to {values.max():.2f})")
    return texts


def _mean(values: list[Any]) -> str:
    return f"{np.mean(values):.2f}" if values else "-"


def print_stories() -> None:
    """Stories: a loan, a member of staff who may leave, and the demand for bikes."""
    X, y = load_german(None)
    model = boosted(X, y)
    explainer = SufficientExplainer.for_model(model, X, random_state=0)
    refused = X[model.predict(X) == "bad"]
    print("A loan\n")
    fixed = ["age", "personal_status_sex", "foreign_worker"]
    changes = explainer.what_if(refused[:20], "good", fixed=fixed, pi=0.8)
    print(changes)
    print(next(answer for answer in changes if answer.best))
    asked_again = next(answer for answer in changes if answer.best and answer.best.by == "model")
    print(asked_again)
    few = explainer.what_if(refused[:20], "good", only=["purpose", "credit_amount"], pi=0.8)
    print(next(answer for answer in few if not answer.best))

    print("\nStaff who may leave\n")
    X, y = load_attrition()
    explainer = SufficientExplainer(random_state=0).fit(X, y)
    leaving = X[explainer.predict(X) == "Yes"]
    may_change = ["OverTime", "MonthlyIncome", "JobLevel", "StockOptionLevel", "BusinessTravel", "JobRole"]
    changes = explainer.what_if(leaving[:20], "No", only=may_change, direction={"MonthlyIncome": "up"}, pi=0.8)
    print(changes)
    print(next((answer for answer in changes if answer.best), changes[0]))

    print("\nThe demand for bikes\n")
    X, y = load_bike()
    explainer = SufficientExplainer(random_state=0).fit(X[::2], y[::2])
    row = X[9001:9002]
    print(row.to_dict("records")[0])
    print(explainer.what_if(row, {"more": 50}, fixed=["year", "month", "season"], pi=0.8)[0])


def main() -> None:
    """Print the parts that are named, or all."""
    parts = {
        "readings": print_readings,
        "defaults": print_defaults,
        "reported": print_reported,
        "laws": print_laws,
        "reported_laws": print_reported_laws,
        "misses": print_misses,
        "asked": print_asked,
        "asked_reported": print_asked_reported,
        "asked_rules": print_asked_rules,
        "speed": print_speed,
        "stories": print_stories,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)
        for name in sys.argv[1:] or parts:
            part, _, table = name.partition("-")
            if table:
                print_defaults([table])
            else:
                parts[part]()


if __name__ == "__main__":
    main()
