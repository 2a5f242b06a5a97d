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
from experiments.runs import BY_DEFAULT, Experiment, Line, Outcome, Plan, naming
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
    for name, (_, (ours, coverage, *others)) in TABLES.items():
        on_covered, on_all = "accuracy on the rows that G-SR covers", "accuracy on all rows"
        for method in OURS:
            elsewhere = method.replace("G-SR", "G-SR with its forest elsewhere")
            lines += [
                Line(f"{method}, {name}", on_covered, f"{method} {name}", ours),
                Line(f"{method}, {name}", "coverage", f"{method} {name} coverage", coverage),
                Line(f"{method}, {name}", "rules", f"{method} {name} rules", digits=0),
                Line(f"{elsewhere}, {name}", on_all, f"{method} {name} whole"),
            ]
        for peer, paper in zip(PEERS, others, strict=True):
            needs = () if peer in ("DT", "RF") else ("peers",)
            lines += [
                Line(f"{peer}, {name}", on_covered, f"{peer} {name} covered", needs=needs),
                Line(f"{peer}, {name}", on_all, f"{peer} {name}", paper, needs=needs),
            ]
        vote = f"SkopeRules, vote {name}"
        lines.append(Line(f"SkopeRules, imodels' vote, {name}", on_all, vote, needs=("peers",)))
        for compared, rows in (("as the paper compares", ""), ("on the rows that it covers", " covered")):
            lines += [
                Line(
                    f"G-SR {compared}, {name}",
                    f"against {peer}",
                    f"G-SR {name}",
                    goal=(">=", f"{peer} {name}{rows}"),
                )
                for peer in ("RuleFit", "SkopeRules", "DT")
            ]
    return lines


EXPERIMENT = Experiment(
    name="global",
    title="Global-SR and other rule models",
    setting=(
        "18 trees of depth 15 with scikit-learn's default max_features, a square root; pi = 0.9; rules with a "
        "precision of at least 0.9 on training rows. These are the settings of the authors' notebook. The line *by "
        "default* is `GlobalRulesClassifier()` as it is; its accuracy is measured on the rows that this list of rules "
        "covers. Breast Cancer: 20 % for testing, as in the notebook. Diabetes: the paper does not name its file. The "
        "file with 2000 rows, half of them for testing, matches its figures for trees and forests, but has only 744 "
        "different rows. The original 768 rows, with 20 % for testing, give the honest figure. The other methods use "
        "their own defaults (imodels, scikit-learn)."
    ),
    lines=_lines(),
    run=run,
    reading=(
        "G-SR abstains on some rows and the others do not, so the paper's comparison favours G-SR. Two more figures "
        "are therefore shown: the accuracy of the others on exactly the rows that G-SR covers, and the accuracy on "
        "all rows of G-SR with its forest on the rows that it does not cover. SkopeRules predicts the second class "
        "where any of its rules holds, as skope-rules itself does; in imodels 3.0.4 the rules vote, and then hardly "
        "any row gets half of the votes.\n\n"
        "Why RuleFit does better on one table: it is a weighted sum of rules, while G-SR predicts what a single rule "
        "predicts. "
        "On the 768 rows of Diabetes no model is right on much more than three quarters of the rows. A sum may "
        "follow such a weak trend better, but this was not examined. The paper's 0.98 on Diabetes is out of reach "
        "for every model here: on the 2000 rows, most of which are copies, a forest reaches 0.92."
    ),
    n_seeds=(10, 1, 1),
    version=3,
)
