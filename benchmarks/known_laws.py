"""Laws that are known: whether the sets that are called sufficient are, and how far stated probabilities are off."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.laws import Law, Null
from benchmarks.printing import number, print_table
from suffice import SufficientExplainer
from suffice.errors import FidelityWarning

COUNTS = ("bootstrap", "out-of-bag")
# A claim that misses the level by more than this is more than a matter of rounding.
FAR = 0.05


def explain_fresh(law: Law, n_train: int, counts: str, seed: int, n_fresh: int) -> tuple[Any, Any]:
    """Fit on rows of a law, and explain the predictions for fresh ones."""
    rng = np.random.default_rng(seed)
    X, y = law.draw(n_train, rng)
    fresh, _ = law.draw(n_fresh, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)
        explainer = SufficientExplainer(counts=counts, random_state=seed).fit(X, y)
    return fresh, explainer.explain(fresh, sets="minimal", rules=None, progress=False)


def true_sdps(law: Law, X: Any, explanations: Any) -> Any:
    """The true SDP of the best set of each row, for the outcome that is explained."""
    kept = explanations.outcomes if explanations.intervals is None else explanations.intervals
    rows_of = defaultdict(list)
    for row, best in enumerate(explanations.best_sets):
        rows_of[best.variables].append(row)
    truth = np.empty(len(X))
    for S, rows in rows_of.items():
        truth[rows] = law.sdp(X.iloc[rows].reset_index(drop=True), list(S), kept[rows])
    return truth


def measure_law(law: Law, n_train: int, counts: str, seed: int, n_fresh: int) -> dict[str, float]:
    """What is claimed of fresh rows, and what is true of it."""
    X, explanations = explain_fresh(law, n_train, counts, seed, n_fresh)
    truth, stated, pi = true_sdps(law, X, explanations), explanations.answers.sets.best_sdps, explanations.levels
    is_empty = np.array([not best.variables for best in explanations.best_sets])
    has_claim = explanations.has_set & ~is_empty
    lowers = lower_bounds(explanations)
    return {
        "true": np.mean(has_claim & (truth >= pi)),
        "false": np.mean(has_claim & (truth < pi)),
        "far": np.mean(has_claim & (truth < pi - FAR)),
        "empty": np.mean(explanations.has_set & is_empty),
        "stated": mean_of(stated, has_claim),
        "truth": mean_of(truth, has_claim),
        "bias": mean_of(stated - truth, has_claim),
        "bias of all": float(np.mean(stated - truth)),
        "bound": math.nan if lowers is None else mean_of(lowers, has_claim),
        "holds": math.nan if lowers is None else mean_of(lowers <= truth + 1e-9, has_claim),
        "holds for all": math.nan if lowers is None else float(np.mean(lowers <= truth + 1e-9)),
    }


def lower_bounds(explanations: Any) -> Any:
    """The lower bounds of the best sets' SDPs; None if the explainer states none."""
    lowers = getattr(explanations.answers.sets, "best_lowers", None)
    if lowers is None and hasattr(explanations.best_sets[0], "lower"):
        lowers = [best.lower for best in explanations.best_sets]
    return None if lowers is None else np.array(lowers, dtype=float)


def mean_of(values: Any, is_chosen: Any) -> float:
    return float(np.mean(values[is_chosen])) if is_chosen.any() else math.nan


def mean_over_seeds(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Means over the seeds in which a figure is known."""
    columns = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    return {name: mean_of(values, ~np.isnan(values)) for name, values in columns.items()}


NO_SIGNAL = """
## No signal

The outcome is independent of all ten columns; one class has the base rate. With set: the share of fresh rows with a
sufficient set of at least one variable, all of them false claims (goal: at most 0.02). Empty: no variable is needed,
which is true from a base rate of 0.9 on.
"""


def print_nulls(nulls: Sequence[Null], sizes: Sequence[int], seeds: range, n_fresh: int) -> None:
    print(NO_SIGNAL)
    lines = []
    for law, n_train, counts in product(nulls, sizes, COUNTS):
        runs = [measure_law(law, n_train, counts, seed, n_fresh) for seed in seeds]
        claims = [run["true"] + run["false"] for run in runs]
        figures = np.mean(claims), max(claims), np.mean([run["empty"] for run in runs])
        lines.append([number(law.base_rate, 2), str(n_train), counts, *map(number, figures)])
    print_table(["base rate", "rows", "counts", "with set", "worst seed", "empty"], lines)


KNOWN = f"""
## Laws that are known

Shares of fresh rows. True, false: the best set is called sufficient, and its true SDP reaches pi or not; far: it misses
pi by more than {FAR}; empty: no variable is needed. Bias: the stated SDP of these sets less the true one (goal: at most
0.015 from 2000 rows on); of all: for the best sets of all rows. Bound, holds: the mean lower bound of the SDP, and the
share of sets whose true SDP is not below it (goal: 0.95).
"""
SHARES = ("true", "false", "far", "empty", "stated", "truth", "bias", "bias of all", "bound", "holds", "holds for all")


def print_laws(laws: Sequence[Law], sizes: Sequence[int], seeds: range, n_fresh: int) -> None:
    print(KNOWN)
    lines = []
    for law, n_train, counts in product(laws, sizes, COUNTS):
        runs = [measure_law(law, n_train, counts, seed, n_fresh) for seed in seeds]
        figures = mean_over_seeds(runs)
        lines.append([law.name, str(n_train), counts, *(number(figures[name]) for name in SHARES)])
    print_table(["law", "rows", "counts", *SHARES], lines)
