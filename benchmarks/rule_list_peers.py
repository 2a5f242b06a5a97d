"""Short lists of rules against other models of few rules, on held-out rows: ``make bench-rules``.

Every model has at most 20 rules: ``max_rules=20`` for this package, RuleFit, FIGS (where these are splits) and RIPPER;
the 20 best rules of SkopeRules; 20 steps of GreedyRuleList; 20 leaves of a tree. Tables have at most 3000 training
rows. Text columns are one-hot columns for the other models, except for RIPPER, which takes the table as it is; missing
numbers are replaced by the median.

"score" is the accuracy on all held-out rows, or R2. Rows that no rule of this package covers get the most frequent
label, or the mean. "covered" is the share of the rows that a rule decides, and "score there" the score on these rows;
models that add up their rules, and trees, decide every row. SkopeRules and RIPPER have rules for one class, here the
rarer one, and the other class is the answer where no rule holds.
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
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.printing import number, print_table
from benchmarks.real_tables import load_table
from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer

TABLES = ("german credit", "bank", "compas", "bike", "california")
N_RULES = 20
# Splits 0 to 2 served to choose how rules are chosen; the figures are those of other splits.
FIRST_SPLIT = 10
MAX_TRAINING, MAX_TEST = 3000, 4000
COLUMNS = ("rules", "conditions", "score", "AUC", "covered", "score there", "CPU seconds")


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

    n_rules: int
    n_conditions: float
    predicted: Any
    probability: Any = None  # of the class 1
    covered: Any = None  # all rows, if None


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


def fit_ours(split: Split, seed: int) -> Fitted:
    explainer = SufficientExplainer(random_state=seed, unseen="missing")
    kind = GlobalRulesClassifier if split.is_class else GlobalRulesRegressor
    rule_list = kind(explainer, max_rules=N_RULES).fit(split.X, split.y)
    lines = rule_list.rules_
    return Fitted(
        len(lines),
        float(np.mean([len(line.rule.conditions) for line in lines])) if lines else math.nan,
        rule_list.predict(split.X_test),
        rule_list.predict_proba(split.X_test)[:, 1] if split.is_class else None,
        rule_list.covered(split.X_test),
    )


def fit_tree(split: Split, seed: int) -> Fitted:
    kind = DecisionTreeClassifier if split.is_class else DecisionTreeRegressor
    tree = kind(max_leaf_nodes=N_RULES, random_state=seed).fit(split.numbers, split.y)
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


def fit_rulefit(split: Split, seed: int) -> Fitted:
    from imodels import RuleFitClassifier, RuleFitRegressor

    kind = RuleFitClassifier if split.is_class else RuleFitRegressor
    model = kind(max_rules=N_RULES, include_linear=False, random_state=seed)
    model.fit(split.numbers.to_numpy(), split.y)
    used = [str(rule) for rule, weight in zip(model.rules_, model.coef, strict=False) if weight != 0]
    probability = model.predict_proba(split.numbers_test.to_numpy())[:, 1] if split.is_class else None
    return Fitted(len(used), _mean_conditions(used), model.predict(split.numbers_test.to_numpy()), probability)


def fit_figs(split: Split, seed: int) -> Fitted:
    from imodels import FIGSClassifier, FIGSRegressor

    model = (FIGSClassifier if split.is_class else FIGSRegressor)(max_rules=N_RULES, random_state=seed)
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


def fit_skope(split: Split, seed: int) -> Fitted | None:
    from imodels import SkopeRulesClassifier

    if not split.is_class:
        return None
    model = SkopeRulesClassifier(random_state=seed)
    model.fit(split.numbers.to_numpy(), split.y, feature_names=list(split.numbers.columns))
    rules = [str(rule) for rule in model.rules_][:N_RULES]
    held = [split.numbers_test.eval(rule.replace(" and ", " & ")).to_numpy() for rule in rules]
    covered = np.any(held, axis=0) if held else np.zeros(len(split.y_test), dtype=bool)
    share = np.mean(held, axis=0) if held else np.zeros(len(split.y_test))
    return Fitted(len(rules), _mean_conditions(rules), covered.astype(int), share, covered)


def fit_greedy(split: Split, seed: int) -> Fitted | None:
    from imodels import GreedyRuleListClassifier

    if not split.is_class:
        return None
    model = GreedyRuleListClassifier(max_depth=N_RULES)
    model.fit(split.numbers.to_numpy(), split.y)
    n_rules = sum("cutoff" in rule for rule in model.rules_)
    probability = model.predict_proba(split.numbers_test.to_numpy())[:, 1]
    return Fitted(n_rules, 1.0, model.predict(split.numbers_test.to_numpy()), probability)


def fit_ripper(split: Split, seed: int) -> Fitted | None:
    import wittgenstein

    if not split.is_class:
        return None
    model = wittgenstein.RIPPER(max_rules=N_RULES, random_state=seed)
    model.fit(split.X, y=split.y, pos_class=1)
    covered = np.array(model.predict(split.X_test), dtype=bool)
    rules = model.ruleset_.rules
    n_conditions = float(np.mean([len(rule.conds) for rule in rules])) if rules else math.nan
    probability = model.predict_proba(split.X_test)[:, 1]
    return Fitted(len(rules), n_conditions, covered.astype(int), probability, covered)


def _mean_conditions(rules: list[str]) -> float:
    return float(np.mean([rule.count(" and ") + 1 for rule in rules])) if rules else math.nan


MODELS: dict[str, Callable[[Split, int], Fitted | None]] = {
    "suffice": fit_ours,
    "RuleFit": fit_rulefit,
    "SkopeRules": fit_skope,
    "FIGS": fit_figs,
    "GreedyRuleList": fit_greedy,
    "RIPPER": fit_ripper,
    "tree": fit_tree,
}


# --- measuring --------------------------------------------------------------------------------------------------------


def measure(split: Split, fitted: Fitted, seconds: float) -> list[float]:
    covered = np.ones(len(split.y_test), dtype=bool) if fitted.covered is None else fitted.covered
    predicted = np.asarray(fitted.predicted, dtype=float)

    def score(rows: Any) -> float:
        if not rows.any():
            return math.nan
        if split.is_class:
            return float(np.mean(predicted[rows] == split.y_test[rows]))
        # The variance of all rows: that of the covered rows alone differs from model to model.
        return float(1 - np.mean((predicted[rows] - split.y_test[rows]) ** 2) / split.y_test.var())

    auc = roc_auc_score(split.y_test, fitted.probability) if split.is_class else math.nan
    whole = score(np.ones(len(covered), dtype=bool)) if split.is_class else r2_score(split.y_test, predicted)
    return [fitted.n_rules, fitted.n_conditions, whole, auc, covered.mean(), score(covered), seconds]


def run(tables: list[str], models: list[str], n_seeds: int, data: str | None) -> None:
    print(f"{date.today()}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores, {n_seeds} splits\n")
    for name in tables:
        figures: dict[str, list[list[float]]] = {}
        for seed in range(FIRST_SPLIT, FIRST_SPLIT + n_seeds):
            split = split_table(name, seed, data)
            for model in models:
                start = time.process_time()
                with warnings.catch_warnings(), contextlib.redirect_stdout(None):
                    warnings.simplefilter("ignore")  # the peers use deprecated functions
                    fitted = MODELS[model](split, seed)
                if fitted is not None:
                    figures.setdefault(model, []).append(measure(split, fitted, time.process_time() - start))
        digits = (1, 1, 3, 3, 2, 3, 1)
        means = {model: np.nanmean(np.array(lines, dtype=float), axis=0) for model, lines in figures.items()}
        print(f"**{name}** ({len(split.y)} training rows)\n")
        print_table(
            ["model", *COLUMNS],
            [[model, *(number(v, d) for v, d in zip(line, digits, strict=True))] for model, line in means.items()],
        )
        print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Short lists of rules against other models of few rules.")
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", default=None, help="the folder of the tables; by default that of SUFFICE_DATA")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of no figures
        run(options.tables, options.models, options.seeds, options.data)


if __name__ == "__main__":
    main()
