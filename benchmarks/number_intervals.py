"""How wide the intervals of numbers are, what they hold, and whether sets can keep them.

``python -m benchmarks.number_intervals`` prints the figures of docs/evidence/honesty.md (minutes; the data folder is
named by ``SUFFICE_DATA``). The first compares widths; the seeds are not those with which intervals were first made (0
and 1). The second, `levels`, compares pairs of alpha and pi: the default was chosen on the first three tables.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.held_out import precision_on
from benchmarks.laws import LAWS
from benchmarks.printing import number, print_table
from benchmarks.real_tables import LOADERS, Part, load_table
from suffice import SufficientExplainer
from suffice._forest.intervals import HEADROOM, N_STEPS
from suffice.errors import FidelityWarning

SEEDS = (2, 3, 4)
ALPHAS = (None, 0.05, 0.1)
N_EXPLAINED, N_LAW = 60, 2000
MEASURES = ("within", "width", "residual", "normalised", "with set", "size", "all variables")
# Pairs of alpha and pi, and whether the interval is widened until leaves keep it with probability pi, as by default.
PAIRS = [(0.05, 0.9), (0.1, 0.85), (0.1, 0.8), (0.2, 0.8), (0.2, 0.75), (0.2, 0.7)]
WIDENED = [(0.05, 0.9), (0.1, 0.85), (0.1, 0.8), (0.2, 0.8), (0.2, 0.75)]
# An adaptive row takes the narrowest of these intervals that some set keeps.
ADAPTIVE = (0.2, 0.1, 0.05)
ROW_MEASURES = ("with set", "size", "width", "share", "SDP", "stated", "held-out", "own")


def draw_claims(n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw insurance claims: a skewed amount, whole numbers, categories and a few combined effects."""
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows),
            "children": rng.poisson(1.0, n_rows),
            "smoker": rng.random(n_rows) < 0.2,
            "region": rng.choice(["north", "east", "south", "west"], n_rows, p=[0.3, 0.3, 0.2, 0.2]),
            "car": rng.choice(["small", "family", "sport", "van"], n_rows, p=[0.4, 0.35, 0.1, 0.15]),
            "bmi": rng.normal(27, 5, n_rows).round(1),
            "km": rng.lognormal(9.3, 0.5, n_rows).round(-2),
        }
    )
    log_mean = 6.5 + 0.02 * (X["age"] - 40) + 0.3 * np.log(X["km"] / 11_000) + 0.2 * (X["region"] == "south")
    log_mean += X["smoker"] * (1.0 + 0.06 * np.maximum(X["bmi"] - 30, 0))
    log_mean += 0.6 * ((X["car"] == "sport") & (X["age"] < 30))
    return X, np.exp(log_mean + 0.35 * rng.standard_normal(n_rows)).round().to_numpy()


def draw_parts(name: str, seed: int) -> tuple[Part, Part, Part]:
    """Training rows, rows to explain and fresh rows: of a table, or of a law with this name."""
    if name in LOADERS:
        return load_table(name).split(seed, N_EXPLAINED)
    rng, draws = np.random.default_rng(seed), {"claims": draw_claims, **{law.name: law.draw for law in LAWS}}
    return tuple(Part(*draws[name](n, rng)) for n in (N_LAW, N_EXPLAINED, N_LAW))


def fit_explainer(train: Part, seed: int) -> SufficientExplainer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)
        return SufficientExplainer(random_state=seed, n_jobs=1, unseen="missing").fit(train.X, train.y)


def half_width(scores: Any, share: float) -> float:
    """The score that a share of the scores does not exceed."""
    return float(np.quantile(scores, share, method="higher"))


def measure(explainer: SufficientExplainer, explained: Any, fresh: Part) -> list[float]:
    """The measures of `MEASURES`; residual intervals are made wide enough to hold the same share of fresh rows."""
    predictions = explainer.predict(fresh.X)
    low, high = explainer.interval(fresh.X).T
    within = float(np.mean((low <= fresh.y) & (fresh.y <= high)))
    # A residual interval that holds the same share reaches as far as this share of the fresh errors.
    misses = np.abs(fresh.y - predictions)
    plain = 2 * half_width(misses, within)
    spread = np.ptp(explainer.quantile(fresh.X, [0.1, 0.9]), axis=1)
    scaled = 2 * half_width(misses / np.maximum(spread, 1e-9), within) * np.mean(spread)
    explanations = explainer.explain(explained, sets="minimal", rules=None, progress=False)
    sizes = [len(best.variables) for best, has in zip(explanations.best_sets, explanations.has_set, strict=True) if has]
    size = float(np.mean(sizes)) if sizes else np.nan
    own = float(np.mean(explanations.answers.sdps_of_all))
    return [within, float(np.mean(high - low)), plain, scaled, float(explanations.has_set.mean()), size, own]


def measure_all(names: tuple[str, ...], seeds: tuple[int, ...] = SEEDS) -> Iterator[tuple[str, Any, list[float]]]:
    """The mean measures of each table or law and alpha."""
    for name in names:
        runs: dict[Any, list[list[float]]] = {alpha: [] for alpha in ALPHAS}
        for seed in seeds:
            train, explained, fresh = draw_parts(name, seed)
            explainer = fit_explainer(train, seed)
            for alpha, of_alpha in runs.items():
                of_alpha.append(measure(explainer.with_settings(alpha=alpha), explained.X, fresh))
        for alpha, of_alpha in runs.items():
            yield name, alpha, np.nanmean(of_alpha, axis=0).tolist()


def widened(explainer: SufficientExplainer, alpha: float, pi: float) -> float:
    """The alpha of an interval that leaves keep with probability pi on average, or this alpha if it is lower."""
    errors = explainer.fitted_.errors
    near = float(errors.near[math.ceil((1 - HEADROOM * (1 - pi)) * N_STEPS - 1e-9)])
    return max(1 - errors.share_within(max(errors.factor(alpha, pi), near)), 1e-3)


def measure_rows(explainer: SufficientExplainer, explained: Part, fresh: Part, alpha: float, pi: float) -> Any:
    """The measures of `ROW_MEASURES` for each explained row: NaN where there is no set, or no rule."""
    explanations = explainer.explain(explained.X, sets="minimal", progress=False, alpha=alpha, pi=pi)
    spread = float(np.std(explanations.training[1]))
    precisions: dict[Any, float] = {}
    rows = []
    for explanation, y in zip(explanations, explained.y, strict=True):
        low, high = explanation.interval
        best, rule = explanation.best_set, explanation.rule
        row = [explanation.is_sufficient, np.nan, (high - low) / spread, *[np.nan] * 5]
        if explanation.is_sufficient:
            row[1], row[3], row[4], row[7] = len(best.variables), explanation.base_rate, best.sdp, low <= y <= high
        if rule is not None and rule.precision is not None:
            key = rule.conditions, rule.interval
            if key not in precisions:
                precisions[key] = precision_on(rule, fresh)
            row[5:7] = [np.nan, np.nan] if np.isnan(precisions[key]) else [rule.precision, precisions[key]]
        rows.append(row)
    return np.array(rows, dtype=float)


def measure_pairs(name: str, seeds: tuple[int, ...] = SEEDS) -> dict[str, list[float]]:
    """The mean measures of each pair of alpha and pi; widths in standard deviations of the training outcomes."""
    runs: dict[str, list[Any]] = {}
    for seed in seeds:
        train, explained, fresh = draw_parts(name, seed)
        explainer = fit_explainer(train, seed)
        rows_at = partial(measure_rows, explainer, explained, fresh)
        found = {f"{alpha}, {pi}": rows_at(alpha, pi) for alpha, pi in PAIRS}
        found |= {f"{alpha}, {pi}, widened": rows_at(widened(explainer, alpha, pi), pi) for alpha, pi in WIDENED}
        for pi in (0.9, 0.8):
            choices = [rows_at(alpha, pi) for alpha in ADAPTIVE]
            chosen = choices[-1]
            for rows in reversed(choices[:-1]):
                chosen = np.where(rows[:, :1] == 1, rows, chosen)
            found[f"adaptive, {pi}"] = chosen
        for label, rows in found.items():
            runs.setdefault(label, []).append(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no row has a set
        return {label: np.nanmean(np.concatenate(of_label), axis=0).tolist() for label, of_label in runs.items()}


def print_widths() -> None:
    names = ("bike", "california", "diabetes", "switch model", "linear", "linear, weak")
    lines = [
        [name, "default" if alpha is None else str(alpha), *(number(value, 3) for value in values)]
        for name, alpha, values in measure_all(names)
    ]
    print_table(["table or law", "alpha", *MEASURES], lines)


def print_levels() -> None:
    lines = []
    for name in ("bike", "california", "switch model", "diabetes", "claims"):
        measures = measure_pairs(name)
        for label, values in measures.items():
            relative = values[2] / measures["0.05, 0.9"][2]
            digits = (2, 1, 2, 2, 3, 3, 3, 2)
            cells = [number(value, n) for value, n in zip(values, digits, strict=True)]
            lines.append([name, label, *cells[:3], number(relative, 2), *cells[3:]])
    print_table(["table", "alpha, pi", *ROW_MEASURES[:3], "relative", *ROW_MEASURES[3:]], lines)


def main() -> None:
    if sys.argv[1:] != ["levels"]:
        print_widths()
    print_levels()


if __name__ == "__main__":
    main()
