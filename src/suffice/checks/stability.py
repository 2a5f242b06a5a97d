"""Whether best sets return when the forest is grown again, with other seeds and on halves of the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice._forest.progress import report_steps
from suffice._forest.trees import PlainForest, forest_params
from suffice.checks.refits import best_sets, check_refits, regrow
from suffice.errors import check_number
from suffice.explaining.stability import Recurrence, SetStability

if TYPE_CHECKING:
    from suffice._forest.asked_rows import AskedRows
    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Outcomes
    from suffice.explaining.found_sets import FoundSets

# Leaves and cells of at most this size stay for half of the rows: a share of fewer rows says little.
LEAST_SIZE = 5

Draw = tuple[int, NDArray[np.intp] | None]


def measure_stability(
    state: Fitted,
    rows: AskedRows,
    n_forests: tuple[int, int],
    random_state: Any,
    progress: bool | Callable[[int], object] | None,
) -> SetStability:
    """Grow the forest again, with other seeds and on halves of the rows, and count how often best sets return."""
    for name, number in zip(("n_seeds", "n_resamples"), n_forests, strict=True):
        check_number(name, number, "a whole number >= 0", lambda v: v >= 0, Integral)
    if sum(n_forests) == 0:
        raise ValueError("`n_seeds` and `n_resamples` are both 0: there is no forest to compare with.")
    check_refits(state)
    outcomes = rows.outcomes(state)
    sets = best_sets(state, rows.matrix, outcomes)
    names = state.variables.names
    draws = draw_refits(*n_forests, len(state.forest.X), np.random.default_rng(random_state))
    counts = []
    with report_steps(sum(n_forests), progress, "growing forests", "forest") as step:
        for grown, draws_of_kind in zip((state, for_halves(state)), draws, strict=True):
            counts.append(count_recurrence(grown, rows.matrix, outcomes, sets, draws_of_kind, step))
    return SetStability(
        candidates=state.candidate_names,
        best_sets=tuple(tuple(names[v] for v in sets.members(mask)) for mask in sets.best_masks),
        is_sufficient=sets.n_by_row() > 0,
        seeds=counts[0],
        resamples=counts[1],
        library=rows.library,
    )


def draw_refits(n_seeds: int, n_resamples: int, n_rows: int, rng: np.random.Generator) -> tuple[list[Draw], list[Draw]]:
    """Draw the seeds of refits, and the rows of those on half of the table."""
    # Half of the rows, none twice: the mean of such a half varies around that of the table as the mean of a table
    # varies around the truth. With a bootstrap, a tree could count a copy of a row that it was grown on as unseen.
    seeds = rng.integers(2**31 - 1, size=n_seeds + n_resamples).tolist()
    halves = [np.sort(rng.choice(n_rows, max(2, n_rows // 2), replace=False)) for _ in range(n_resamples)]
    return [(seed, None) for seed in seeds[:n_seeds]], list(zip(seeds[n_seeds:], halves, strict=True))


def for_halves(fitted: Fitted) -> Fitted:
    """Make leaves and cells half as large, so that half of the rows fill as many of them as all rows do."""
    # With leaves as large as before, half of a table of 400 rows often has no sufficient set where other tables of 400
    # rows have one: `python -m benchmarks.stability resamples` prints the figures.
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


def count_recurrence(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    own: FoundSets,
    draws: Iterable[Draw],
    step: Callable[[], object],
) -> Recurrence:
    """Grow the forest again and again, and count how often the best sets of rows return."""
    # One refit after another, each on all threads: as fast as several refits at once on one thread each, but with the
    # memory of one forest, and it can be interrupted.
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


def held_candidates(masks: NDArray[np.uint64], n_candidates: int) -> NDArray[np.bool_]:
    """Return which candidates each set holds."""
    bits = [masks[:, i // 64] >> np.uint64(i % 64) & np.uint64(1) for i in range(n_candidates)]
    return np.stack(bits, axis=1).astype(bool)
