"""Short lists of rules against other models of few rules, on held-out rows: ``make bench-rules``.

Every model has at most n rules, for n = 5, 10 and 20: `max_rules` of this package, RuleFit, FIGS (where these are
splits) and RIPPER; the n best rules of SkopeRules; n steps of GreedyRuleList; n stumps of BoostedRules; n + 1 leaves of
a tree. "optimal" is STreeD, a tree of at most n splits with the least training error (for numbers, squared error) of
all such trees on five thresholds a column, of depth 3 for 5 rules and 4 for more: at depth 5 one fit takes half a
minute. Tables have at most 3000 training rows. Text columns are one-hot columns for the other models, except for
RIPPER, which takes the table as it is; missing numbers are replaced by the median. SkopeRules and RIPPER have rules for
one class, here the rarer one, and the other class is the answer where no rule holds.

"score" is the accuracy on held-out rows, or R2; "mean rank" is that of the scores over all tables and splits that a
model can do. Three models without a limit stand beside them, and have no rank: "paper" is the list of the paper with a
default line; the explainable boosting machine (EBM, with 4 outer bags in place of 14, which would take half an hour)
and "forest", the forest of the explainer, are what no list of few rules reaches.

``--results FILE`` keeps every fit in a file, and takes those that are there from it; ``--page`` puts the tables in the
place of those in docs/evidence/printed/rule_lists.txt, of which docs/evidence/rule_lists.md has the main ones.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.printing import number, print_table
from benchmarks.real_tables import load_table
from benchmarks.run import head
from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer

# The choice of rules was made on splits 0 and 1 of all but the last four tables; the figures are those of other splits.
TABLES = (
    *("breast cancer", "german credit", "bank", "attrition", "bike", "california", "diabetes"),
    *("compas", "nhanes", "pima", "switch model"),
)
N_RULES = (5, 10, 20)
FIRST_SPLIT = 10
MAX_TRAINING, MAX_TEST = 3000, 4000
COLUMNS = ("rules", "conditions", "score", "balanced accuracy", "AUC", "CPU seconds", "coverage", "score where covered")
DIGITS = dict(zip(COLUMNS, (1, 1, 3, 3, 3, 1, 2, 3), strict=True))
WITHOUT_LIMIT = ("paper", "EBM", "forest")  # fitted once a split
MAX_DEPTH = {5: 3, 10: 4, 20: 4}  # of optimal trees
BEGIN, END = "<!-- printed by make bench-rules -->", "<!-- end -->"
LARGE, N_LARGE = ("bike", "california"), 10_000  # tables on which mining and choosing is timed, and their rows


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
    covered: Any = None  # which rows a rule covers, for a list that could abstain


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


def fit_paper(split: Split, n_rules: int, seed: int) -> Fitted:
    kind = GlobalRulesClassifier if split.is_class else GlobalRulesRegressor
    rule_list = kind.paper(abstain=False, random_state=seed)
    rule_list.explainer.set_params(unseen="missing")
    rule_list.fit(split.X, split.y)
    lines = rule_list.rules_
    return Fitted(
        len(lines),
        float(np.mean([len(line.rule.conditions) for line in lines])) if lines else math.nan,
        rule_list.predict(split.X_test),
        rule_list.predict_proba(split.X_test)[:, 1] if split.is_class else None,
        rule_list.covered(split.X_test),
    )


def fit_ebm(split: Split, n_rules: int, seed: int) -> Fitted:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingClassifier if split.is_class else ExplainableBoostingRegressor
    model = kind(outer_bags=4, random_state=seed, n_jobs=1).fit(split.numbers, split.y)
    probability = model.predict_proba(split.numbers_test)[:, 1] if split.is_class else None
    return Fitted(math.nan, math.nan, model.predict(split.numbers_test), probability)


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


def fit_optimal(split: Split, n_rules: int, seed: int) -> Fitted:
    from pystreed import STreeDClassifier, STreeDRegressor

    depth = MAX_DEPTH[n_rules]
    n_splits = min(n_rules, 2**depth - 1)
    limits = {"max_depth": depth, "max_num_nodes": n_splits, "cost_complexity": 0.0, "time_limit": 120}
    model = STreeDClassifier(**limits) if split.is_class else STreeDRegressor(**limits)
    X, X_test = split.numbers.to_numpy(), split.numbers_test.to_numpy()
    model.fit(X, split.y)
    probability = model.predict_proba(X_test)[:, 1] if split.is_class else None
    return Fitted(n_splits + 1, math.nan, model.predict(X_test), probability)


def fit_boosted(split: Split, n_rules: int, seed: int) -> Fitted:
    from imodels import BoostedRulesClassifier, BoostedRulesRegressor

    kind = BoostedRulesClassifier if split.is_class else BoostedRulesRegressor
    model = kind(n_estimators=n_rules, random_state=seed).fit(split.numbers.to_numpy(), split.y)
    probability = model.predict_proba(split.numbers_test.to_numpy())[:, 1] if split.is_class else None
    return Fitted(len(model.estimators_), 1.0, model.predict(split.numbers_test.to_numpy()), probability)


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
    "BoostedRules": fit_boosted,
    "RIPPER": fit_ripper,
    "tree": fit_tree,
    "optimal": fit_optimal,
    "paper": fit_paper,
    "EBM": fit_ebm,
    "forest": fit_forest,
}


# --- measuring --------------------------------------------------------------------------------------------------------

Figures = dict[tuple[int, str, str], list[list[float]]]  # of a number of rules, a table and a model, one line a split


def score_rows(split: Split, predicted: Any, rows: Any = slice(None)) -> float:
    if not split.is_class:
        return float(r2_score(split.y_test[rows], predicted[rows]))
    return float(np.mean(predicted[rows] == split.y_test[rows]))


def measure(split: Split, fitted: Fitted, seconds: float) -> list[float]:
    predicted = np.asarray(fitted.predicted, dtype=float)
    balanced = auc = coverage = where_covered = math.nan
    if split.is_class:
        balanced, auc = (
            balanced_accuracy_score(split.y_test, predicted),
            roc_auc_score(split.y_test, fitted.probability),
        )
    if fitted.covered is not None:
        coverage = float(np.mean(fitted.covered))
        where_covered = score_rows(split, predicted, fitted.covered) if coverage else math.nan
    sizes = [fitted.n_rules, fitted.n_conditions]
    return [*sizes, score_rows(split, predicted), float(balanced), float(auc), seconds, coverage, where_covered]


def fit_all(options: argparse.Namespace) -> Figures:
    """Fit the models to splits of the tables, except for fits that a file of results has."""
    path = None if options.results is None else Path(options.results)
    known = {} if path is None or not path.exists() else json.loads(path.read_text())
    figures: Figures = {}
    for table in options.tables:
        for seed in range(FIRST_SPLIT, FIRST_SPLIT + options.seeds):
            split = None
            for model in options.models:
                for n_rules in options.rules:
                    of_rules = 0 if model in WITHOUT_LIMIT else n_rules
                    key = f"{table}/{seed}/{model}/{of_rules}"
                    if key not in known:
                        split = split_table(table, seed, options.data) if split is None else split
                        known[key] = fit_one(split, model, n_rules, seed)
                    if known[key] is not None:
                        figures.setdefault((n_rules, table, model), []).append(known[key])
            if path is not None:
                path.write_text(json.dumps(known))
    return figures


def fit_one(split: Split, model: str, n_rules: int, seed: int) -> list[float] | None:
    start = time.process_time()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # the peers use deprecated functions
        fitted = MODELS[model](split, n_rules, seed)
    return None if fitted is None else measure(split, fitted, time.process_time() - start)


# --- printing ---------------------------------------------------------------------------------------------------------


def print_figures(figures: Figures, options: argparse.Namespace) -> None:
    print(f"{head()}, {options.seeds} splits.\n")
    means = {key: np.mean(lines, axis=0) for key, lines in figures.items()}
    ranked = [model for model in options.models if model not in WITHOUT_LIMIT]
    ranks = {n: mean_ranks(figures, n, options.tables, ranked) for n in options.rules}
    order = sorted(ranked, key=lambda model: float(np.mean([ranks[n].get(model, math.nan) for n in ranks])))
    shown = [*order, *(model for model in options.models if model in WITHOUT_LIMIT)]
    print("The mean rank of the scores, over all tables and splits that a model can do:\n")
    print_table(["rules", *order], [[str(n), *(number(ranks[n][m], 2) for m in order)] for n in ranks])
    print("\nBy how much the score of this package is below the best of those with as many rules, at most:\n")
    names = {True: "accuracy", False: "R2"}
    is_class = {table: not math.isnan(means[n, table, "suffice"][3]) for n in ranks for table in options.tables}
    lines = []
    for n in ranks:
        short = {t: max(means[n, t, m][2] for m in ranked if (n, t, m) in means) for t in options.tables}
        short = {t: best - means[n, t, "suffice"][2] for t, best in short.items()}
        worst = {kind: max((t for t in short if is_class[t] == kind), key=short.get, default=None) for kind in names}
        lines.append([str(n), *("-" if t is None else f"{short[t]:.3f} ({t})" for t in worst.values())])
    print_table(["rules", *names.values()], lines)
    of_ten = 10 if 10 in ranks else max(ranks)
    columns = [(n, "score") for n in ranks]
    columns += [(of_ten, column) for column in ("AUC", "balanced accuracy", "conditions", "CPU seconds")]
    for n, column in columns:
        print_measure(means, n, column, options.tables, shown)
    print("\nThe list of the paper, with the score of its default line and without the rows that it decides:\n")
    wanted = ("rules", "conditions", "score", "coverage", "score where covered")
    lines = [
        [t, *(number(means[of_ten, t, "paper"][COLUMNS.index(c)], DIGITS[c]) for c in wanted)]
        for t in options.tables
        if (of_ten, t, "paper") in means
    ]
    print_table(["table", *wanted], lines)


def print_measure(means: dict[Any, Any], n_rules: int, column: str, tables: list[str], models: list[str]) -> None:
    place, digits = COLUMNS.index(column), DIGITS[column]
    if column == "conditions":
        models = [model for model in models if model not in ("EBM", "forest", "optimal")]
    lines = [
        [t, *(number(means[n_rules, t, m][place], digits) if (n_rules, t, m) in means else "-" for m in models)]
        for t in tables
    ]
    print(f"\n**{n_rules} rules: {column}**\n")
    print_table(["table", *models], [line for line in lines if set(line[1:]) != {"-"}])


def mean_ranks(figures: Figures, n_rules: int, tables: list[str], models: list[str]) -> dict[str, float]:
    ranks: dict[str, list[float]] = {}
    for table in tables:
        able = [model for model in models if (n_rules, table, model) in figures]
        scores = np.array([[line[2] for line in figures[n_rules, table, model]] for model in able])
        for model, of_model in zip(able, rankdata(-scores, axis=0), strict=True):
            ranks.setdefault(model, []).extend(of_model.tolist())
    return {model: float(np.mean(of_model)) for model, of_model in ranks.items()}


def print_times(data: str | None) -> None:
    """Time mining and choosing without the fit of the explainer, on one core."""
    print(f"\nMining and choosing 10 rules from {N_LARGE:,} rows, in seconds of one core:\n")
    lines = []
    for name in LARGE:
        table = load_table(name, data)
        rows = np.random.default_rng(0).permutation(len(table.y))[:N_LARGE]
        explainer = SufficientExplainer(random_state=0, unseen="missing", n_jobs=1)
        explainer.fit(table.X.iloc[rows].reset_index(drop=True), table.y[rows])
        start = time.process_time()
        (GlobalRulesClassifier if table.is_class else GlobalRulesRegressor).from_explainer(explainer)
        lines.append([name, number(time.process_time() - start, 1)])
    print_table(["table", "seconds"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Short lists of rules against other models of few rules.")
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--rules", nargs="+", type=int, default=list(N_RULES), choices=list(MAX_DEPTH))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--data", default=None, help="the folder of the tables; by default that of SUFFICE_DATA")
    parser.add_argument("--results", default=None, help="a JSON file that keeps the fits")
    parser.add_argument("--page", type=Path, default=None, help="a page whose tables are replaced")
    options = parser.parse_args()
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of no figures
        print_figures(fit_all(options), options)
        print_times(options.data)
    print(printed.getvalue())
    if options.page is not None:
        page = options.page.read_text()
        start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
        options.page.write_text(f"{page[:start]}\n\n{printed.getvalue().strip()}\n\n{page[end:]}")


if __name__ == "__main__":
    main()
