"""Short lists of rules against other models of few rules, on held-out rows: ``make bench-rules``.

Every model has at most n rules, for n = 5, 10 and 20: `max_rules` of this package, RuleFit, FIGS (where these are
splits) and RIPPER; the n best rules of SkopeRules; n steps of GreedyRuleList; n + 1 leaves of a tree. Tables have at
most 3000 training rows. Text columns are one-hot columns for the other models, except for RIPPER, which takes the table
as it is; missing numbers are replaced by the median. SkopeRules and RIPPER have rules for one class, here the rarer
one, and the other class is the answer where no rule holds.

"score" is the accuracy on held-out rows, or R2; "mean rank" is that of the scores over all tables and splits that a
model can do. "forest" is the forest of the explainer, which no list of few rules reaches.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.printing import number, print_table
from benchmarks.real_tables import load_table
from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer

# The choice of rules was made on splits 0 and 1 of all but the last four tables; the figures are those of other splits.
TABLES = (
    *("breast cancer", "german credit", "bank", "attrition", "bike", "california", "diabetes"),
    *("compas", "nhanes", "pima", "switch model"),
)
N_RULES = (5, 10, 20)
FIRST_SPLIT = 10
MAX_TRAINING, MAX_TEST = 3000, 4000
COLUMNS = ("rules", "conditions", "score", "balanced accuracy", "AUC", "CPU seconds")


@dataclass(frozen=True)
class Split:
    """Training and held-out rows of a table, as frames and as numbers for the other models; classes as 0 and 1."""

    is_class: bool
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    numbers: Any
    numbers_test: Any


@dataclass(frozen=True)
class Fitted:
    """What a model says of the held-out rows, and how large it is."""

    n_rules: float
    n_conditions: float
    predicted: Any
    probability: Any = None  # of the class 1


def split_table(name: str, seed: int, data: str | None) -> Split:
    table = load_table(name, data)
    y = table.y
    if table.is_class:  # 1 is the rarer class
        labels, counts = np.unique(y, return_counts=True)
        y = (y == labels[np.argmin(counts)]).astype(int)
    rows, test = train_test_split(
        np.arange(len(y)), test_size=0.4, random_state=seed, stratify=y if table.is_class else None
    )
    rows, test = rows[:MAX_TRAINING], test[:MAX_TEST]
    X, X_test = (table.X.iloc[part].reset_index(drop=True) for part in (rows, test))
    numbers = pd.get_dummies(pd.concat([X, X_test]), dtype=float)
    # imodels reads rules back from text: names must be plain words.
    numbers.columns = [f"x{i}" for i in range(numbers.shape[1])]
    numbers = numbers.fillna(numbers.iloc[: len(rows)].median())
    return Split(table.is_class, X, y[rows], X_test, y[test], numbers[: len(rows)], numbers[len(rows) :])


# --- the models -------------------------------------------------------------------------------------------------------


def fit_ours(split: Split, n_rules: int, seed: int) -> Fitted:
    explainer = SufficientExplainer(random_state=seed, unseen="missing")
    kind = GlobalRulesClassifier if split.is_class else GlobalRulesRegressor
    rule_list = kind(explainer, max_rules=n_rules).fit(split.X, split.y)
    lines = rule_list.rules_
    return Fitted(
        len(lines),
        float(np.mean([len(line.rule.conditions) for line in lines])) if lines else math.nan,
        rule_list.predict(split.X_test),
        rule_list.predict_proba(split.X_test)[:, 1] if split.is_class else None,
    )


def fit_forest(split: Split, n_rules: int, seed: int) -> Fitted:
    task = "classification" if split.is_class else "regression"
    forest = SufficientExplainer(random_state=seed, unseen="missing", task=task).fit(split.X, split.y)
    probability = forest.predict_proba(split.X_test)[:, 1] if split.is_class else None
    return Fitted(math.nan, math.nan, forest.predict(split.X_test), probability)


def fit_tree(split: Split, n_rules: int, seed: int) -> Fitted:
    kind = DecisionTreeClassifier if split.is_class else DecisionTreeRegressor
    tree = kind(max_leaf_nodes=n_rules + 1, random_state=seed).fit(split.numbers, split.y)
    depths = _leaf_depths(tree.tree_)
    probability = tree.predict_proba(split.numbers_test)[:, 1] if split.is_class else None
    return Fitted(len(depths), float(np.mean(depths)), tree.predict(split.numbers_test), probability)


def _leaf_depths(tree: Any) -> list[int]:
    depths, nodes = [], [(0, 0)]
    while nodes:
        node, depth = nodes.pop()
        if tree.children_left[node] < 0:
            depths.append(depth)
        else:
            nodes += [(tree.children_left[node], depth + 1), (tree.children_right[node], depth + 1)]
    return depths


def fit_rulefit(split: Split, n_rules: int, seed: int) -> Fitted:
    from imodels import RuleFitClassifier, RuleFitRegressor

    kind = RuleFitClassifier if split.is_class else RuleFitRegressor
    model = kind(max_rules=n_rules, include_linear=False, random_state=seed)
    model.fit(split.numbers.to_numpy(), split.y)
    used = [str(rule) for rule, weight in zip(model.rules_, model.coef, strict=False) if weight != 0]
    probability = model.predict_proba(split.numbers_test.to_numpy())[:, 1] if split.is_class else None
    return Fitted(len(used), _mean_conditions(used), model.predict(split.numbers_test.to_numpy()), probability)


def fit_figs(split: Split, n_rules: int, seed: int) -> Fitted:
    from imodels import FIGSClassifier, FIGSRegressor

    model = (FIGSClassifier if split.is_class else FIGSRegressor)(max_rules=n_rules, random_state=seed)
    model.fit(split.numbers.to_numpy(), split.y)
    depths: list[int] = []
    nodes = [(root, 0) for root in model.trees_]
    while nodes:
        node, depth = nodes.pop()
        if node.left is None:
            depths.append(depth)
        else:
            nodes += [(node.left, depth + 1), (node.right, depth + 1)]
    probability = model.predict_proba(split.numbers_test.to_numpy())[:, 1] if split.is_class else None
    predicted = model.predict(split.numbers_test.to_numpy())
    return Fitted(model.complexity_, float(np.mean(depths)), predicted, probability)


def fit_skope(split: Split, n_rules: int, seed: int) -> Fitted | None:
    from imodels import SkopeRulesClassifier

    if not split.is_class:
        return None
    model = SkopeRulesClassifier(random_state=seed)
    model.fit(split.numbers.to_numpy(), split.y, feature_names=list(split.numbers.columns))
    rules = [str(rule) for rule in model.rules_][:n_rules]
    held = [split.numbers_test.eval(rule.replace(" and ", " & ")).to_numpy() for rule in rules]
    covered = np.any(held, axis=0) if held else np.zeros(len(split.y_test), dtype=bool)
    share = np.mean(held, axis=0) if held else np.zeros(len(split.y_test))
    return Fitted(len(rules), _mean_conditions(rules), covered.astype(int), share)


def fit_greedy(split: Split, n_rules: int, seed: int) -> Fitted | None:
    from imodels import GreedyRuleListClassifier

    if not split.is_class:
        return None
    model = GreedyRuleListClassifier(max_depth=n_rules)
    model.fit(split.numbers.to_numpy(), split.y)
    n_used = sum("cutoff" in rule for rule in model.rules_)
    probability = model.predict_proba(split.numbers_test.to_numpy())[:, 1]
    return Fitted(n_used, 1.0, model.predict(split.numbers_test.to_numpy()), probability)


def fit_ripper(split: Split, n_rules: int, seed: int) -> Fitted | None:
    import wittgenstein

    if not split.is_class:
        return None
    model = wittgenstein.RIPPER(max_rules=n_rules, random_state=seed)
    model.fit(split.X, y=split.y, pos_class=1)
    covered = np.array(model.predict(split.X_test), dtype=bool)
    rules = model.ruleset_.rules
    n_conditions = float(np.mean([len(rule.conds) for rule in rules])) if rules else math.nan
    probability = model.predict_proba(split.X_test)[:, 1]
    return Fitted(len(rules), n_conditions, covered.astype(int), probability)


def _mean_conditions(rules: list[str]) -> float:
    return float(np.mean([rule.count(" and ") + 1 for rule in rules])) if rules else math.nan


MODELS: dict[str, Callable[[Split, int, int], Fitted | None]] = {
    "suffice": fit_ours,
    "RuleFit": fit_rulefit,
    "SkopeRules": fit_skope,
    "FIGS": fit_figs,
    "GreedyRuleList": fit_greedy,
    "RIPPER": fit_ripper,
    "tree": fit_tree,
    "forest": fit_forest,
}


# --- measuring --------------------------------------------------------------------------------------------------------


def measure(split: Split, fitted: Fitted, seconds: float) -> list[float]:
    predicted = np.asarray(fitted.predicted, dtype=float)
    if not split.is_class:
        score, balanced, auc = r2_score(split.y_test, predicted), math.nan, math.nan
    else:
        score, balanced = np.mean(predicted == split.y_test), balanced_accuracy_score(split.y_test, predicted)
        auc = roc_auc_score(split.y_test, fitted.probability)
    return [fitted.n_rules, fitted.n_conditions, score, balanced, auc, seconds]


def measure_models(
    table: str, n_rules: int, models: list[str], seeds: range, data: str | None
) -> dict[str, list[list[float]]]:
    """Fit the models to some splits of a table."""
    figures: dict[str, list[list[float]]] = {}
    for seed in seeds:
        split = split_table(table, seed, data)
        for model in models:
            start = time.process_time()
            with warnings.catch_warnings(), contextlib.redirect_stdout(None):
                warnings.simplefilter("ignore")  # the peers use deprecated functions
                fitted = MODELS[model](split, n_rules, seed)
            if fitted is not None:
                figures.setdefault(model, []).append(measure(split, fitted, time.process_time() - start))
    return figures


def run(tables: list[str], models: list[str], numbers: list[int], n_seeds: int, data: str | None) -> None:
    print(f"{date.today()}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores, {n_seeds} splits\n")
    seeds = range(FIRST_SPLIT, FIRST_SPLIT + n_seeds)
    for n_rules in numbers:
        figures = {table: measure_models(table, n_rules, models, seeds, data) for table in tables}
        print_summary(n_rules, models, figures)


def print_summary(n_rules: int, models: list[str], figures: dict[str, dict[str, list[list[float]]]]) -> None:
    """Print the mean figures of each table, one table of figures for each measure, and the mean ranks."""
    means = {(t, m): np.mean(lines, axis=0) for t, of_table in figures.items() for m, lines in of_table.items()}
    for column, digits in zip(COLUMNS, (1, 1, 3, 3, 3, 1), strict=True):
        place = COLUMNS.index(column)
        lines = [
            [t, *(number(means[t, m][place], digits) if (t, m) in means else "-" for m in models)] for t in figures
        ]
        print(f"**{n_rules} rules: {column}**\n")
        print_table(["table", *models], lines)
        print(flush=True)
    ranks: dict[str, list[float]] = {}
    for of_table in figures.values():
        ranked = [model for model in of_table if model != "forest"]
        scores = np.array([[line[2] for line in of_table[model]] for model in ranked])
        for model, of_model in zip(ranked, rankdata(-scores, axis=0), strict=True):
            ranks.setdefault(model, []).extend(of_model.tolist())
    order = sorted((float(np.mean(of_model)), model) for model, of_model in ranks.items())
    print(f"mean rank, {n_rules} rules: " + ", ".join(f"{model} {rank:.2f}" for rank, model in order) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Short lists of rules against other models of few rules.")
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--rules", nargs="+", type=int, default=list(N_RULES))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--data", default=None, help="the folder of the tables; by default that of SUFFICE_DATA")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of no figures
        run(options.tables, options.models, options.rules, options.seeds, options.data)


if __name__ == "__main__":
    main()
