"""Why the defaults are what they are: ``python -m benchmarks.defaults --data FOLDER [PART ...]``.

``encodings`` compares ways to turn unordered categories into numbers for a forest, ``forest`` forests for the
explainer, ``candidates`` which variables are searched, ``choosing`` over how many trees, ``sizes`` how large sets may
be, ``nearest`` what is named where no set is sufficient, ``support`` rules by the number of rows that they cover. All
fit on one part of the rows and measure on the other.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.loaders import (
    load_attrition,
    load_bike,
    load_california,
    load_compas,
    load_diabetes,
    load_flights,
    load_nhanes,
)
from experiments.data.synthetic import make_switch
from experiments.switch import least_leaf
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.candidates import candidates, choosing, support
from benchmarks.nearest_sets import nearest
from benchmarks.run import head
from benchmarks.set_sizes import sizes
from suffice import SufficientExplainer
from suffice.errors import FidelityWarning


@dataclass(frozen=True)
class Problem:
    """A table with its categories as text, and outcomes as numbers (0 and 1 for classes)."""

    name: str
    X: Any
    y: Any
    is_class: bool

    @property
    def categories(self) -> list[str]:
        return list(self.X.select_dtypes(exclude=["number", "bool"]).columns)

    def split(self, seed: int, n_train: int | None = None, test_size: float = 0.4) -> list[Any]:
        return train_test_split(
            self.X,
            self.y.to_numpy(),
            test_size=test_size,
            train_size=n_train,
            random_state=seed,
            stratify=self.y if self.is_class else None,
        )

    def forest(self, **options: Any) -> Any:
        return (RandomForestClassifier if self.is_class else RandomForestRegressor)(n_jobs=-1, **options)


# --- encodings --------------------------------------------------------------------------------------------------------

N_SEEDS = 5
N_FLIGHTS = 20_000


def encoding_problems(data: str | None) -> list[Problem]:
    compas, recid = load_compas(data)
    charges, _ = load_compas(data, charge_desc=True)
    employees, left = load_attrition(data)
    bike, count = load_bike(data)
    flights, late = load_flights(data, late=True)
    sample = np.random.default_rng(0).permutation(len(flights))[:N_FLIGHTS]
    return [
        Problem("compas", compas, recid, True),
        Problem("compas + charge", charges, recid, True),
        Problem("attrition", employees, (left == "Yes").astype(int), True),
        Problem("bike", bike.astype(dict.fromkeys(["season", "weather", "weekday", "month"], str)), count, False),
        Problem("flights", flights.iloc[sample], late.iloc[sample].astype(int), True),
    ]


def alphabetical(values: Any, y: Any) -> Callable[[Any], Any]:
    """Number the categories in alphabetical order; -1 for one that is not known."""
    code_of = {value: code for code, value in enumerate(sorted(set(values)))}
    return lambda new: np.array([code_of.get(value, -1) for value in new], dtype=float)[:, None]


def one_hot(values: Any, y: Any) -> Callable[[Any], Any]:
    """Make one column of 0 and 1 for each category."""
    known = np.array(sorted(set(values)), dtype=object)
    return lambda new: (np.asarray(new, dtype=object)[:, None] == known[None, :]).astype(float)


def by_target(least: int = 1, smoothing: float = 0.0) -> Callable[[Any, Any], Callable[[Any], Any]]:
    """Number the categories in the order of their mean outcomes.

    Categories of fewer than `least` rows get one number together, as do those that are not known. A mean is drawn
    towards that of all rows as if `smoothing` more rows had it.
    """

    def fit(values: Any, y: Any) -> Callable[[Any], Any]:
        table = pd.DataFrame({"value": np.asarray(values, dtype=object), "y": y})
        n_rows = table.groupby("value")["y"].transform("size")
        table.loc[n_rows < least, "value"] = None  # the pool
        groups = table.groupby("value", dropna=False)["y"].agg(["sum", "size"])
        mean = (groups["sum"] + smoothing * np.mean(y)) / (groups["size"] + smoothing)
        mean = mean.sort_values(kind="stable")
        code_of = {value: code for code, value in enumerate(mean.index) if isinstance(value, str)}
        pool = [code for code, value in enumerate(mean.index) if not isinstance(value, str)]
        # Without a pool, what is not known goes between the categories below and above the mean of all rows.
        other = pool[0] if pool else np.searchsorted(mean.to_numpy(), np.mean(y)) - 0.5
        return lambda new: np.array([code_of.get(value, other) for value in new], dtype=float)[:, None]

    return fit


# From the third on, categories are ordered by mean outcome, with increasing care for rare categories.
ENCODINGS = {
    "alphabetical": alphabetical,
    "one-hot": one_hot,
    "by target": by_target(),
    "smoothing 10": by_target(1, 10),
    "pool < 10": by_target(10),
    "pool < 5, smoothing 10": by_target(5, 10),
    "pool < 10, smoothing 10": by_target(10, 10),
    "pool < 20, smoothing 10": by_target(20, 10),
}


def encode(problem: Problem, fit: Any, X_train: Any, y_train: Any, *tables: Any) -> list[Any]:
    """Turn tables into numbers, with what is learnt of the training rows alone."""
    encoders = {name: fit(X_train[name], y_train) for name in problem.categories}
    return [
        np.column_stack(
            [
                encoders[name](table[name]) if name in encoders else table[name].to_numpy(float)[:, None]
                for name in table.columns
            ]
        )
        for table in tables
    ]


def measure_encoding(problem: Problem, fit: Any, seed: int) -> tuple[float, ...]:
    """Columns, held-out score, out-of-bag score less that, and held-out accuracy."""
    X_train, X_test, y_train, y_test = problem.split(seed)
    A, B = encode(problem, fit, X_train, y_train, X_train, X_test)
    forest = problem.forest(n_estimators=100, min_samples_leaf=5, oob_score=True, random_state=seed).fit(A, y_train)
    if problem.is_class:
        held_out = roc_auc_score(y_test, forest.predict_proba(B)[:, 1])
        out_of_bag = roc_auc_score(y_train, forest.oob_decision_function_[:, 1])
        return A.shape[1], held_out, out_of_bag - held_out, accuracy_score(y_test, forest.predict(B))
    held_out = r2_score(y_test, forest.predict(B))
    return A.shape[1], held_out, r2_score(y_train, forest.oob_prediction_) - held_out, math.nan


def encodings(data: str | None, only: list[str], each: bool) -> None:
    print(
        f"Encodings of categories: forests of 100 trees with leaves of 5, means of {N_SEEDS} splits 60/40\n"
        "score: held-out AUC (bike: R2); gain: to alphabetical order on the same splits, with its standard error;\n"
        "optimism: out-of-bag score less held-out score; leak: optimism less that of alphabetical order, which has none"
    )
    print(f"  {'':16s} {'':24s} columns    score            gain  optimism     leak accuracy")
    means = {}
    for problem in encoding_problems(data):
        if only and problem.name not in only:
            continue
        runs = {
            e: np.array([measure_encoding(problem, fit, s) for s in range(N_SEEDS)]) for e, fit in ENCODINGS.items()
        }
        base = runs["alphabetical"]
        means[problem.name] = {}
        for name, run in runs.items():
            n_columns, score, optimism, accuracy = run.mean(axis=0)
            gains = run[:, 1] - base[:, 1]
            gain, error, leak = gains.mean(), gains.std(ddof=1) / math.sqrt(N_SEEDS), (run - base)[:, 2].mean()
            means[problem.name][name] = n_columns, score, gain, leak
            print(
                f"  {problem.name:16s} {name:24s} {n_columns:7.0f} {score:8.4f} {gain:+8.4f} ({error:.4f}) "
                f"{optimism:+8.4f} {leak:+8.4f} {show(accuracy):>8s}",
                flush=True,
            )
    print_best(means)


def print_best(means: dict[str, dict[str, Any]]) -> None:
    for name, figures in means.items():
        best = max(figures, key=lambda e: figures[e][1])
        leaks = max(figures, key=lambda e: figures[e][3])
        print(
            f"  {name}: best score {best.strip()} ({figures[best][1]:.4f}), most leak {leaks.strip()} "
            f"({figures[leaks][3]:+.4f}), fewest columns all orders ({figures['alphabetical'][0]:.0f}; one-hot "
            f"{figures['one-hot'][0]:.0f})"
        )
    print("  over the tables:")
    for e in ENCODINGS:
        columns, _, gain, leak = np.transpose([figures[e] for figures in means.values()])
        print(
            f"    {e:24s} gain {gain.mean():+.4f} (at worst {gain.min():+.4f}), leak at most {leak.max():+.4f}, "
            f"columns at most {columns.max():.0f}"
        )


# --- forest -----------------------------------------------------------------------------------------------------------

N_TRAIN = 2500
N_HELD_OUT = 4000
N_EXPLAINED = 100
N_SPLITS = 2
MEASURES = ("score", "SDP", "kept", "prec.", "held-out", "found", "size", "cover", "width", "ms")


def forest_problems(data: str | None) -> list[Problem]:
    compas, recid = load_compas(data)
    nhanes, died = load_nhanes(data)
    employees, left = load_attrition(data)
    women, ill = load_diabetes(data)
    tumours, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    bike, count = load_bike(data)
    california, value = load_california(data)
    switch = make_switch(N_TRAIN + N_HELD_OUT, n_columns=30, random_state=0)
    return [
        Problem("compas", compas, recid, True),
        Problem("nhanes", nhanes, died.astype(int), True),
        Problem("attrition", employees, (left == "Yes").astype(int), True),
        Problem("diabetes", women, ill, True),
        Problem("breast cancer", tumours, benign, True),
        Problem("bike", bike, count, False),
        Problem("california", california, value, False),
        Problem("switch", switch.X, switch.y, False),
    ]


@dataclass(frozen=True)
class Forest:
    """A forest to try; "paper" is the paper's leaf, None the larger of that and 5, or scikit-learn's `max_features`."""

    trees: int = 100
    leaf: int | str | None = None
    max_features: float | str | None = None

    def __str__(self) -> str:
        features = "default" if self.max_features is None else self.max_features
        features = f"{features:.2f}" if isinstance(features, float) else features
        return f"{self.trees:3d} trees, leaf {self.leaf or 'max(5, paper)'}, features {features}"

    def options(self, n_rows: int) -> dict[str, Any]:
        paper = least_leaf(n_rows)
        leaf = {None: max(5, paper), "paper": paper}.get(self.leaf, self.leaf)
        features = {} if self.max_features is None else {"max_features": self.max_features}
        return {"n_estimators": self.trees, "min_samples_leaf": leaf, **features}


# One setting at a time is changed, first from the first forest, then from the best one.
CHOICES = [
    Forest(),
    *[Forest(trees=n) for n in (20, 50, 200)],
    *[Forest(leaf=leaf) for leaf in (1, 2, 10, 20, "paper")],
    *[Forest(max_features=share) for share in ("sqrt", 1 / 3, 0.7, 1.0)],
    Forest(50, None, 0.7),
    *[Forest(leaf=10, max_features=share) for share in (1 / 3, 0.7, 1.0)],
]


def measure_forest(problem: Problem, choice: Forest, seed: int) -> tuple[float, ...]:
    """Measure what `MEASURES` names; `forest` prints what they are."""
    n_train = min(N_TRAIN, int(0.6 * len(problem.X)))
    X_train, X_test, y_train, y_test = problem.split(seed, n_train, min(N_HELD_OUT, len(problem.X) - n_train))
    A, B = encode(problem, by_target(10, 10), X_train, y_train, X_train, X_test)
    explainer = SufficientExplainer.paper(problem.forest(**choice.options(n_train), random_state=seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)  # the score is in the table
        explainer.fit(A, y_train)
    start = time.process_time()
    explanations = explainer.explain(B[:N_EXPLAINED], sets="minimal", progress=False)
    ms = 1000 * (time.process_time() - start) / N_EXPLAINED
    figures = []
    for row, explanation in enumerate(explanations):
        rule = explanation.rule
        if rule is not None:
            low, high = rule.interval or (rule.outcome, rule.outcome)
            is_kept = (low <= y_test) & (y_test <= high)
            # A rule that covers no training row has no precision to compare.
            held_out = is_kept[rule.covers(B)].mean() if rule.support else math.nan
            precision = rule.precision if rule.support else math.nan
            size = len(explanation.best_set.variables)
            figures.append((rule.sdp, is_kept[row], precision, held_out, size, rule.coverage))
    sdp, kept, precision, held_out, size, coverage = mean_of_known(figures) if figures else [math.nan] * 6
    score, share = explainer.score(B, y_test), len(figures) / N_EXPLAINED
    width = math.nan if problem.is_class else np.diff(explainer.interval(B[:N_EXPLAINED])).mean() / y_test.std()
    return score, sdp, kept, precision, held_out, share, size, coverage, width, ms


def forest(data: str | None, only: list[str], each: bool) -> None:
    print(
        f"Forests for the explainer: at most {N_TRAIN} training rows, {N_EXPLAINED} held-out rows explained, means of "
        f"{N_SPLITS} splits\n"
        "score: accuracy or R2 on held-out rows; SDP: claimed for the set; kept: share of the explained rows whose\n"
        "own outcome is kept; prec.: of the rule on training rows; held-out: the same on held-out rows; found: share\n"
        "of rows with a sufficient set; size: variables in it; cover: coverage of the rule; width: of the\n"
        "interval that is kept, in standard deviations of the outcome; ms: CPU time a row"
    )
    problems = [p for p in forest_problems(data) if not only or p.name in only]
    for is_class, task in ((True, "Classes"), (False, "Numbers")):
        chosen = [p for p in problems if p.is_class == is_class]
        if not chosen:
            continue
        tables = ", ".join(p.name for p in chosen)
        print(f"{task} ({tables})\n  {'':46s} {' '.join(f'{name:>8s}' for name in MEASURES)}")
        for choice in CHOICES:
            if choice.max_features == ("sqrt" if is_class else 1.0):
                continue  # scikit-learn's default, for which None stands
            figures = [[measure_forest(p, choice, seed) for seed in range(N_SPLITS)] for p in chosen]
            by_problem = np.mean(figures, axis=1)
            print_figures(str(choice), mean_of_known(by_problem))
            for problem, measured in zip(chosen, by_problem, strict=True) if each else ():
                print_figures(f"    {problem.name}", measured)


def print_figures(name: str, figures: Any) -> None:
    print(f"  {name:46s} {' '.join(f'{show(figure):>8s}' for figure in figures)}", flush=True)


def show(figure: float) -> str:
    return "-" if math.isnan(figure) else f"{figure:.3f}"


def mean_of_known(figures: Any) -> Any:
    return np.ma.masked_invalid(figures).mean(axis=0).filled(math.nan)


PARTS = {
    "encodings": encodings,
    "forest": forest,
    "candidates": candidates,
    "choosing": choosing,
    "sizes": sizes,
    "nearest": nearest,
    "support": support,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--data", help="the folder of the tables; else that of the variable SUFFICE_DATA")
    parser.add_argument("--only", action="append", default=[], metavar="TABLE", help="a table to use; all by default")
    parser.add_argument("--each", action="store_true", help="print each table, not only means")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    print(head())
    for part in options.parts or PARTS:
        PARTS[part](options.data, options.only, options.each)


if __name__ == "__main__":
    main()
