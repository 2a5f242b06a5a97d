"""Global-SR and other rule models on Diabetes and Breast Cancer (the paper's table 3)."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from experiments.data.loaders import load_diabetes
from experiments.peers import fit_and_score
from experiments.runs import BY_DEFAULT, Claim, Experiment, Line, Outcome, Plan, naming
from suffice import GlobalRulesClassifier

# Name, share of test rows, and the paper's accuracies: G-SR, its coverage, RuleFit, SkopeRules, tree, forest.
TABLES = {
    "Breast Cancer": (0.2, ("0.95", "0.92", "0.95", "0.93", "0.95", "0.96")),
    "Diabetes, 2000 rows": (0.5, ("0.98", "0.81", "0.76", "0.71", "0.90", "0.92")),
    "Diabetes, 768 rows": (0.2, ("0.98", "0.81", "0.76", "0.71", "0.90", "0.92")),
}
OURS = ("G-SR", f"G-SR, {BY_DEFAULT}")
PEERS = ("RuleFit", "SkopeRules", "DT", "RF")


def run(plan: Plan, seed: int) -> Outcome:
    """Fit every model on the same split, and measure it on the test rows, and on those that our rules cover."""
    outcome = Outcome()
    for name, (test_size, _) in TABLES.items():
        with naming(name):
            _run_table(outcome, plan, name, test_size, seed)
    return outcome


def _run_table(outcome: Outcome, plan: Plan, name: str, test_size: float, seed: int) -> None:
    X, y = _load(name, plan)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=test_size, random_state=seed)
    lists = {}
    for method in OURS:
        if method == "G-SR":
            rule_list = GlobalRulesClassifier.paper(RandomForestClassifier(18, max_depth=15, random_state=seed))
        else:
            rule_list = GlobalRulesClassifier(random_state=seed)
        start = time.perf_counter()
        lists[method] = rule_list.fit(X_train, y_train)
        if method == "G-SR":
            outcome.seconds[f"suffice, global rules, {name}"] = (time.perf_counter() - start) / len(X_train)
        _measure_ours(outcome, f"{method} {name}", lists[method], X_test, y_test)
    is_covered = lists["G-SR"].covered(X_test)
    peers: dict[str, Any] = {
        "DT": DecisionTreeClassifier(random_state=seed),
        "RF": RandomForestClassifier(random_state=seed),
    }
    if plan.peers:
        from experiments.peers import rule_models

        peers |= rule_models(seed)
    for peer, other in peers.items():
        start = time.perf_counter()
        right = fit_and_score(other, X_train, y_train, X_test, y_test)
        outcome.seconds[f"{peer}, {name}"] = (time.perf_counter() - start) / len(X_train)
        outcome.figures[f"{peer} {name}"] = float(right.mean())
        outcome.figures[f"{peer} {name} covered"] = float(right[is_covered].mean())
    if seed == 0 and name == "Breast Cancer":
        outcome.data["sentences"] = [str(line) for line in lists["G-SR"].rules_[:3]]


def _measure_ours(outcome: Outcome, key: str, rule_list: GlobalRulesClassifier, X_test: Any, y_test: Any) -> None:
    """Add the figures of a list of rules, alone and with its forest on the rows that it does not cover."""
    is_covered, predicted = rule_list.covered(X_test), rule_list.predict(X_test)
    is_right = np.array([a == b for a, b in zip(predicted, y_test, strict=True)])
    of_forest = rule_list.explainer_.predict(X_test) == y_test.to_numpy()
    outcome.figures |= {
        key: float(is_right[is_covered].mean()) if is_covered.any() else math.nan,
        f"{key} coverage": float(is_covered.mean()),
        f"{key} whole": float(np.where(is_covered, is_right, of_forest).mean()),
        f"{key} rules": float(len(rule_list.rules_)),
    }


def _load(name: str, plan: Plan) -> tuple[Any, Any]:
    if name == "Breast Cancer":
        return load_breast_cancer(return_X_y=True, as_frame=True)
    return load_diabetes(plan.data, variant="kaggle2000" if "2000" in name else "pima")


def _lines() -> list[Line]:
    lines = []
    for name, (_, (_, _, *others)) in TABLES.items():
        on_covered, on_all = "accuracy on the rows that G-SR covers", "accuracy on all rows"
        for method in OURS:
            lines += [
                Line(f"{method}, {name}", on_covered, f"{method} {name}"),
                Line(f"{method}, {name}", "coverage", f"{method} {name} coverage"),
                Line(f"{method}, {name}", "rules", f"{method} {name} rules", digits=0),
                Line(f"{method}, {name}", on_all, f"{method} {name} whole"),
            ]
        for peer, paper in zip(PEERS, others, strict=True):
            needs = () if peer in ("DT", "RF") else ("peers",)
            lines += [
                Line(f"{peer}, {name}", on_covered, f"{peer} {name} covered", needs=needs),
                Line(f"{peer}, {name}", on_all, f"{peer} {name}", paper, needs=needs),
            ]
    return lines


EXPERIMENT = Experiment(
    name="global",
    title="Global-SR and other rule models",
    setting=(
        "18 trees of depth 15, square root of the columns, pi = 0.9, rules with a precision of at least 0.9: the "
        "authors' notebook. *By default* is `GlobalRulesClassifier()`: ten rules. Breast Cancer: 20 % for testing. "
        "The paper does not name its file of Diabetes: the one with 2000 rows (half for testing) matches its figures "
        "for trees and forests, but has only 744 different rows; the original 768 rows give the honest figure. Others "
        "have their own defaults. Accuracy *on covered rows*: of all methods on the rows that G-SR covers."
    ),
    lines=_lines(),
    claims=[
        Claim(
            f"{what}, {name}",
            printed,
            f"G-SR {name}{key}",
            f"{OURS[1]} {name}{key}",
            ">=",
            slip="out of reach" if printed == "0.98" else "",
        )
        for name, (_, papers) in TABLES.items()
        for what, key, printed in (("accuracy on covered rows", "", papers[0]), ("coverage", " coverage", papers[1]))
        if "768" not in name
    ],
    run=run,
    reading=(
        "G-SR abstains on some rows, so the paper's comparison favours it; on the rows that it covers, and with its "
        "forest elsewhere, it is still as good as the others on two of three tables. RuleFit is ahead on the 768 "
        "rows: a weighted sum of rules may follow a weak trend better. SkopeRules predicts the second class where any "
        "rule holds, as skope-rules does; the vote of imodels 3.0.4 gives half of the rows nothing."
    ),
    n_seeds=(10, 1, 1),
    version=4,
)
