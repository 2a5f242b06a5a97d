"""Refits: the forest grown again with other seeds or on half of the rows, and which best sets return."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from suffice._forest.candidates import choose_candidates
from suffice._forest.drawn_rows import grow_on_drawn
from suffice._forest.fitted import Fitted, out_of_bag_scores
from suffice._forest.fitting import CLASSIFIERS, REGRESSORS, measure_fidelity
from suffice._forest.outcomes import Outcomes
from suffice._forest.projection import ProjectedForest
from suffice._forest.trees import FittedForest, PlainForest, count_rows, forest_params, rows_out_of_bag
from suffice.explaining.search import FoundSets, find_sufficient_sets
from suffice.explaining.stability import Recurrence

_KINDS = {kind.__name__: kind for kind in (*CLASSIFIERS, *REGRESSORS)}

# Leaves and cells of this size or smaller are not made smaller for half of the rows.
LEAST_SIZE = 5

Integers = NDArray[np.int64]
Draw = tuple[int, NDArray[np.intp] | None]


def check_refits(fitted: Fitted) -> None:
    """Refuse an explainer whose forest cannot be grown again."""
    n_kept = fitted.settings.reference_rows
    if n_kept is not None and len(fitted.forest.X) == n_kept:
        raise ValueError(
            "The forest would have to be grown again, which needs all of its training rows, but this explainer keeps "
            f"only {n_kept} of them. Fit it without `reference_rows`."
        )
    if isinstance(fitted.estimator, PlainForest) and fitted.estimator.kind not in _KINDS:
        raise ValueError(
            f"`stability` cannot grow a forest of the kind {fitted.estimator.kind!r} after loading. Call it before "
            "the explainer is saved."
        )


def draw_refits(n_seeds: int, n_resamples: int, n_rows: int, rng: np.random.Generator) -> tuple[list[Draw], list[Draw]]:
    """Draw the seeds and the rows of refits.

    Half of the rows are drawn, without repeating any. The mean of such a half varies around that of the table as the
    mean of a table varies around the truth. A bootstrap would repeat rows, and a tree could count a copy of a row that
    it was grown on as a row that it has not seen.
    """
    seeds = rng.integers(2**31 - 1, size=n_seeds + n_resamples).tolist()
    halves = [np.sort(rng.choice(n_rows, max(2, n_rows // 2), replace=False)) for _ in range(n_resamples)]
    return [(seed, None) for seed in seeds[:n_seeds]], list(zip(seeds[n_seeds:], halves, strict=True))


def for_halves(fitted: Fitted) -> Fitted:
    """Make leaves and cells half as large: half of the rows then fill as many of them as all rows do.

    With leaves as large as before, half of a table of 400 rows often has no sufficient set where other tables of 400
    rows have one. Sizes of 5 and less stay: a share of fewer rows says little. `python -m benchmarks.stability
    resamples` prints the figures.
    """
    estimator, leaf = fitted.estimator, forest_params(fitted.estimator).get("min_samples_leaf", 1)
    if isinstance(leaf, Integral):  # a share of the rows shrinks by itself
        smaller = {"min_samples_leaf": _half_size(int(leaf))}
        if isinstance(estimator, PlainForest):
            estimator = replace(estimator, params={**estimator.params, **smaller})
        else:
            estimator = copy(estimator).set_params(**smaller)
    projected = replace(fitted.projected, min_node_size=_half_size(fitted.min_node_size))
    return replace(fitted, estimator=estimator, projected=projected)


def _half_size(size: int) -> int:
    return max(min(size, LEAST_SIZE), math.ceil(size / 2))


def regrow(
    fitted: Fitted, seed: int, rows: NDArray[np.intp] | None = None, y_rank: NDArray[np.uint32] | None = None
) -> Fitted:
    """Grow the forest again with its own parameters, for the same candidates and counts, and on the same drawn rows.

    With `rows`, these are the drawn rows that were made of `rows` alone.
    """
    forest = fitted.forest
    chosen: Any = slice(None) if rows is None else rows
    X, y_rank = forest.X[chosen], (forest.y_rank if y_rank is None else y_rank)[chosen]
    estimator = _unfitted(fitted.estimator)
    estimator.set_params(random_state=seed, n_jobs=fitted.settings.n_threads)
    if rows is not None and isinstance(getattr(estimator, "max_samples", None), Integral):
        estimator.set_params(max_samples=max(1, round(estimator.max_samples * len(X) / len(forest.X))))
    y = y_rank if fitted.classes is not None else forest.y_values[y_rank]
    estimator.fit(X, y)
    drawn = fitted.drawn
    if drawn is not None:
        drawn = drawn if rows is None else drawn.among(rows, len(forest.X))
        grow_on_drawn(estimator, X, y, drawn, fitted.settings.n_threads)
    is_kept = fitted.counts == "bootstrap" and drawn is None
    is_own = drawn is None
    trees = estimator if is_kept else count_rows(estimator, X, fitted.counts, np.arange(len(X)), is_own=is_own)
    counted = FittedForest(trees, X, y_rank, forest.y_values)
    projected = ProjectedForest(counted, fitted.variables, fitted.candidates, fitted.min_node_size)
    return replace(fitted, estimator=estimator, projected=projected, drawn=drawn)


def shuffle_outcomes(fitted: Fitted, rng: np.random.Generator) -> Fitted:
    """Fit the forest to the same table with shuffled outcomes, and choose the candidates as for the true ones."""
    forest = fitted.forest
    y_rank = forest.y_rank[rng.permutation(len(forest.X))]
    if fitted.drawn is not None:
        fitted = replace(fitted, drawn=fitted.drawn.shuffled(rng))
    state = regrow(fitted, int(rng.integers(2**31 - 1)), y_rank=y_rank)
    settings, n_threads = state.settings, state.settings.n_threads
    if isinstance(settings.candidates, str):
        candidates = choose_candidates(state.forest, state.estimator, state.variables, settings)
        state = replace(state, projected=replace(state.projected, candidates=candidates))
    if state.counts == "bootstrap":
        return state
    is_out = rows_out_of_bag(state.estimator, len(forest.X), np.arange(len(forest.X)))
    has_signal = measure_fidelity(state.forest, is_out, state.task, n_threads).has_signal
    scores = None if state.interval_scores is None else out_of_bag_scores(state.forest, is_out, n_threads)
    return replace(state, has_signal=has_signal, interval_scores=scores)


def share_with_sets(fitted: Fitted, rows: NDArray[np.intp]) -> tuple[float, float]:
    """Compute the share of training rows whose prediction has a sufficient set."""
    X = fitted.forest.X[rows]
    sets = best_sets(fitted, X, fitted.outcomes(X, fitted.predict(X)))
    has_set, is_empty = sets.n_by_row() > 0, (sets.best_masks == 0).all(axis=1)
    return float(np.mean(has_set & ~is_empty)), float(np.mean(has_set & is_empty))


def _unfitted(forest: Any) -> Any:
    """Make an unfitted forest of the same kind, with the same parameters and as many trees."""
    if not isinstance(forest, PlainForest):
        return clone(forest).set_params(n_estimators=len(forest.estimators_), warm_start=False)
    fresh = _KINDS[forest.kind]()
    known = fresh.get_params()
    params = {name: value for name, value in forest.params.items() if name in known}
    return fresh.set_params(**{**params, "n_estimators": len(forest)})


def count_recurrence(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    own: FoundSets,
    draws: Iterable[Draw],
    step: Callable[[], object],
) -> Recurrence:
    """Grow the forest again and again, and count how often the best sets of rows return.

    The refits come one after the other, each on all threads: measured, that is as fast as several refits at once on one
    thread each, takes the memory of one forest, and can be interrupted.
    """
    n_refits = 0
    n_same_set, n_sufficient = np.zeros(len(X), dtype=np.int64), np.zeros(len(X), dtype=np.int64)
    n_holding = np.zeros((len(X), len(fitted.candidates)), dtype=np.int64)
    for seed, rows in draws:
        sets = best_sets(regrow(fitted, seed, rows), X, outcomes)
        is_sufficient = sets.n_by_row() > 0
        has_same_verdict = is_sufficient == (own.n_by_row() > 0)
        n_same_set += has_same_verdict & (sets.best_masks == own.best_masks).all(axis=1)
        n_sufficient += is_sufficient
        n_holding += has_same_verdict[:, None] & held_candidates(sets.best_masks, len(fitted.candidates))
        n_refits += 1
        step()
    return Recurrence(n_refits, n_same_set, n_sufficient, n_holding)


def best_sets(fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes) -> FoundSets:
    """Find the best set of each row in a forest, without a warning if the search ended early."""
    return find_sufficient_sets(fitted, X, outcomes, minimal_only=True, progress=None, warns=False)


def held_candidates(masks: NDArray[np.uint64], n_candidates: int) -> NDArray[np.bool_]:
    """Return which candidates each set holds."""
    bits = [masks[:, i // 64] >> np.uint64(i % 64) & np.uint64(1) for i in range(n_candidates)]
    return np.stack(bits, axis=1).astype(bool)
