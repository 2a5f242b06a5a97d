"""Which variables are searched, and how many training rows a rule covers: what each choice gives on rows set aside.

Called by ``python -m benchmarks.defaults candidates choosing support``.
"""

from __future__ import annotations

import math
import time
import warnings
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.real_tables import LOADERS, Part, load_table
from suffice import SufficientExplainer
from suffice.explaining import search

N_TRAIN = 3000
N_EXPLAINED = 60
N_ROWS_OF_LOSS = 200
# Splits 0 and 1 served to choose the defaults; the figures are those of other splits.
SEEDS = (2, 3)
MOST_FOR_ALL = 20
MEASURES = ("found", "size", "cover", "of all", "claimed", "held-out", "ms")
FIRST_TREES = (10, 25, 50, 0)
SUPPORTS = (0, 5, 10, 20, 50, 100)


def fit_on(name: str, data: str | None, seed: int) -> tuple[SufficientExplainer, Part, Part]:
    """An explainer for at most `N_TRAIN` rows of a table, rows to explain, and rows on which rules are checked."""
    train, explained, checked = load_table(name, data).split(seed, N_EXPLAINED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of forests that follow badly, and of searches that end early
        explainer = SufficientExplainer(random_state=seed, n_jobs=1).fit(train.X[:N_TRAIN], train.y[:N_TRAIN])
    return explainer, explained, checked


def by_loss(explainer: SufficientExplainer) -> list[str]:
    """Rank variables by the mean loss of SDP when each leaves the set of all of them, on some training rows."""
    state = explainer.fitted_
    rows = np.random.default_rng(0).permutation(len(state.forest.X))[:N_ROWS_OF_LOSS]
    X = state.forest.X[rows]
    outcomes = state.outcomes(X, state.predict(X))
    every = range(len(state.variables))
    without = [tuple(u for u in every if u != v) for v in every]
    kept = [state.projected.sdp(X, [S] * len(X), outcomes, 1).mean() for S in without]
    return [state.variables.names[v] for v in np.argsort(kept, kind="stable")]


def by_paths(explainer: SufficientExplainer) -> list[str]:
    """Rank variables by the number of decision paths of training rows on which they are."""
    state = explainer.fitted_
    n_paths = np.zeros(len(state.variables))
    for tree in explainer.forest_.estimators_:
        is_on_path = tree.decision_path(state.forest.X)
        for v, columns in enumerate(state.variables.columns):
            nodes = np.flatnonzero(np.isin(tree.tree_.feature, columns))
            n_paths[v] += np.count_nonzero(is_on_path[:, nodes].sum(axis=1))
    return [state.variables.names[v] for v in np.argsort(-n_paths, kind="stable")]


def choices(explainer: SufficientExplainer) -> dict[str, dict[str, Any]]:
    """The settings that are compared."""
    names = explainer.variable_names_
    settings: dict[str, dict[str, Any]] = {name: {"candidates": name} for name in ("splits", "impurity")}
    settings["loss of SDP"] = {"candidates": by_loss(explainer)[:10]}
    settings["decision paths"] = {"candidates": by_paths(explainer)[:10]}
    if len(names) <= MOST_FOR_ALL:  # the search ends early, else it would take minutes for a row without a set
        settings["all variables"] = {"candidates": list(names), "max_sets": 20_000}
    for n in (6, 8, 10, 12):
        settings[f"each row, {n}"] = {"candidates": "row", "n_candidates": n}
    return settings


def held_out(rule: Any, checked: Part) -> tuple[int, int]:
    """How many held-out rows a rule covers, and how many of them have its outcome."""
    low, high = rule.interval or (rule.outcome, rule.outcome)
    is_kept = (low <= checked.y) & (checked.y <= high) if rule.interval else checked.y == rule.outcome
    covers = np.asarray(rule.covers(checked.X))
    return int(covers.sum()), int(is_kept[covers].sum())


def measure(explainer: SufficientExplainer, explained: Part, checked: Part) -> tuple[float, ...]:
    """Measure what `MEASURES` names."""
    start = time.process_time()
    explanations = explainer.explain(explained.X, sets="minimal", progress=False)
    ms = 1000 * (time.process_time() - start) / len(explanations)
    figures = []
    for explanation in explanations:
        if not explanation.is_sufficient:
            continue
        rule, size = explanation.rule, len(explanation.best_set.variables)
        if rule is None:
            figures.append((size, math.nan, math.nan, math.nan))
            continue
        n_covered, n_kept = held_out(rule, checked)
        known = n_covered > 0 and rule.precision is not None
        figures.append(
            (size, rule.coverage, rule.precision if known else math.nan, n_kept / n_covered if known else math.nan)
        )
    found = len(figures) / len(explanations)
    size, cover, claimed, held = (
        np.ma.masked_invalid(figures).mean(axis=0).filled(math.nan) if figures else [math.nan] * 4
    )
    return found, size, cover, found * cover if figures else 0.0, claimed, held, ms


def candidates(data: str | None, only: list[str], each: bool) -> None:
    print(
        f"Candidates: at most {N_TRAIN} training rows, up to {N_EXPLAINED} held-out rows explained, "
        f"means of {len(SEEDS)} splits\n"
        "found: share of rows with a sufficient set; size: variables in it; cover: coverage of the rule; of all: the\n"
        "same with 0 for rows without a set; claimed: precision of the rule; held-out: the share of other held-out\n"
        "rows in the rule that have its outcome; ms: CPU time a row, one thread"
    )
    print(f"  {'':32s} {' '.join(f'{name:>8s}' for name in MEASURES)}")
    runs: dict[str, dict[str, Any]] = {}
    for name in only or LOADERS:
        by_choice: dict[str, list[Any]] = {}
        for seed in SEEDS:
            explainer, explained, checked = fit_on(name, data, seed)
            for choice, settings in choices(explainer).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of forests that follow badly, and of searches that end early
                    figures = measure(explainer.with_settings(**settings), explained, checked)
                by_choice.setdefault(choice, []).append(figures)
        for choice, figures in by_choice.items():
            means = np.ma.masked_invalid(figures).mean(axis=0).filled(math.nan)
            runs.setdefault(choice, {})[name] = means
            if each:
                print_line(f"{name}, {choice}", means)
    everywhere = [choice for choice in runs if choice != "all variables"]
    print_means(runs, everywhere, list(runs["splits"]))
    if "all variables" in runs:
        few = list(runs["all variables"])
        print(f"  {len(few)} tables of up to {MOST_FOR_ALL} variables:")
        print_means(runs, list(runs), few)


def choosing(data: str | None, only: list[str], each: bool) -> None:
    print(
        f"Trees over which all variables of a row are compared: at most {N_TRAIN} training rows, up to {N_EXPLAINED}\n"
        f"held-out rows, means of {len(SEEDS)} splits; the columns are those of `candidates`"
    )
    print(f"  {'':32s} {' '.join(f'{name:>8s}' for name in MEASURES)}")
    runs: dict[str, dict[str, Any]] = {}
    for name in only or LOADERS:
        for seed in SEEDS:
            explainer, explained, checked = fit_on(name, data, seed)
            for n_trees in FIRST_TREES:
                with warnings.catch_warnings(), patch.object(search, "FIRST_TREES", n_trees):
                    warnings.simplefilter("ignore")
                    figures = measure(explainer, explained, checked)
                runs.setdefault(f"{n_trees or 'all'} trees", {}).setdefault(name, []).append(figures)
    for choice, by_table in runs.items():
        for name, figures in by_table.items():
            by_table[name] = np.ma.masked_invalid(figures).mean(axis=0).filled(math.nan)
            if each:
                print_line(f"{name}, {choice}", by_table[name])
    print_means(runs, list(runs), list(only or LOADERS))


def print_means(runs: dict[str, dict[str, Any]], of_choices: list[str], tables: list[str]) -> None:
    for choice in of_choices:
        figures = [runs[choice][table] for table in tables]
        print_line(choice, np.ma.masked_invalid(figures).mean(axis=0).filled(math.nan))


def print_line(label: str, figures: Any) -> None:
    shown = " ".join("       -" if math.isnan(figure) else f"{figure:8.3f}" for figure in figures)
    print(f"  {label:32s} {shown}", flush=True)


def support(data: str | None, only: list[str], each: bool) -> None:
    print(
        f"Rules by the number of training rows that they cover: those of the first six sufficient sets of up to "
        f"{N_EXPLAINED} rows\n"
        "share: of all rules; claimed: their mean precision; held-out: the share of the held-out rows in them that\n"
        "have the outcome; unseen: rules without a held-out row"
    )
    found = []
    for name in only or LOADERS:
        for seed in SEEDS:
            explainer, explained, checked = fit_on(name, data, seed)
            explanations = explainer.explain(explained.X, rules="all", progress=False)
            found += [
                (rule.support, rule.precision or 0.0, *held_out(rule, checked))
                for explanation in explanations
                for rule in explanation.rules[:6]
            ]
    table = np.array(found)
    print(f"  {'rows':>12s}    share  claimed held-out   unseen")
    for low, high in zip(SUPPORTS, (*SUPPORTS[1:], math.inf), strict=True):
        part = table[(low <= table[:, 0]) & (table[:, 0] < high)]
        if not len(part):
            continue
        rows = f"{low} and more" if high == math.inf else f"{low} - {high - 1}"
        kept = part[:, 3].sum() / part[:, 2].sum() if part[:, 2].any() else math.nan
        print(
            f"  {rows:>12s} {len(part) / len(table):8.3f} {part[:, 1].mean():8.3f} {kept:8.3f} "
            f"{np.mean(part[:, 2] == 0):8.3f}"
        )
