"""Growing the forest again: with other seeds, on halves of the rows, or for shuffled outcomes.

With other seeds and on other rows, it shows whether best sets return; for shuffled outcomes, how many rows get a
sufficient set without any signal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from suffice._forest.asked_rows import AskedRows
from suffice._forest.candidates import AUTO, choose_candidates
from suffice._forest.fitted import Fitted
from suffice._forest.fitting import CLASSIFIERS, REGRESSORS, measure_fidelity
from suffice._forest.out_of_bag import measure_errors
from suffice._forest.outcomes import Outcomes
from suffice._forest.progress import report_steps
from suffice._forest.projection import ProjectedForest
from suffice._forest.trees import Counts, FittedForest, OutOfBag, PlainForest
from suffice._text import counted, format_percent, printed
from suffice.errors import FidelityWarning, check_number, warn
from suffice.explaining.found_sets import FoundSets
from suffice.explaining.search import find_sufficient_sets
from suffice.explaining.stability import Recurrence, SetStability

_KINDS = {kind.__name__: kind for kind in (*CLASSIFIERS, *REGRESSORS)}


def check_refits(fitted: Fitted) -> None:
    """Refuse an explainer whose forest cannot be grown again."""
    if isinstance(fitted.estimator, PlainForest) and fitted.estimator.kind not in _KINDS:
        raise ValueError(
            f"`stability` cannot grow a forest of the kind {fitted.estimator.kind!r} after loading. Call it before "
            "the explainer is saved."
        )


def regrow(fitted: Fitted, seed: int, rows: NDArray[np.intp] | None = None) -> Fitted:
    """Grow the forest again with its own parameters, candidates and counts, or on some rows alone."""
    return regrow_out_of_bag(fitted, seed, rows)[0]


def regrow_out_of_bag(
    fitted: Fitted, seed: int, rows: NDArray[np.intp] | None = None, y_rank: NDArray[np.uint32] | None = None
) -> tuple[Fitted, OutOfBag]:
    """Do the same, for other outcomes if they are given, and return what its trees predict for rows out of bag, too."""
    forest = fitted.forest
    chosen: Any = slice(None) if rows is None else rows
    X, y_rank = forest.X[chosen], (forest.y_rank if y_rank is None else y_rank)[chosen]
    estimator = _unfitted(fitted.estimator)
    estimator.set_params(random_state=seed, n_jobs=fitted.settings.n_threads)
    if rows is not None and isinstance(getattr(estimator, "max_samples", None), Integral):
        estimator.set_params(max_samples=max(1, round(estimator.max_samples * len(X) / len(forest.X))))
    y = y_rank if fitted.classes is not None else forest.y_values[y_rank]
    is_screened = fitted.classes is not None and fitted.settings.candidates == AUTO
    # The first forest was fitted without the columns that gain nothing.
    estimator.fit(np.where(forest.count_splits() > 0, X, np.float32(0)) if is_screened else X, y)
    n_levels, n_threads = forest.n_levels, fitted.settings.n_threads
    counted, out_of_bag = FittedForest.from_training(
        estimator, X, y_rank, forest.y_values, fitted.counts, seed, n_levels=n_levels, n_threads=n_threads
    )
    projected = ProjectedForest(
        counted, fitted.variables, fitted.candidates, fitted.min_node_size, fitted.projected.all_vote
    )
    return replace(fitted, estimator=estimator, projected=projected), out_of_bag


def _unfitted(forest: Any) -> Any:
    """Make an unfitted forest of the same kind, with the same parameters and as many trees."""
    if not isinstance(forest, PlainForest):
        return clone(forest).set_params(n_estimators=len(forest.estimators_), warm_start=False)
    fresh = _KINDS[forest.kind]()
    known = fresh.get_params()
    params = {name: value for name, value in forest.params.items() if name in known}
    return fresh.set_params(**{**params, "n_estimators": len(forest)})


def best_sets(fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes) -> FoundSets:
    """Find the best set of each row in a forest, without a warning if the search ended early."""
    return find_sufficient_sets(fitted, X, outcomes, minimal_only=True, progress=None, warns=False)


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
    estimator, leaf = fitted.estimator, fitted.forest.trees.params.get("min_samples_leaf", 1)
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


# Warn if the share with shuffled outcomes is more than this part of the real one.
NEAR = 0.5


@dataclass(frozen=True)
class SignalCheck:
    """The share of rows with a sufficient set, beside the share without any signal.

    The empty set does not count, since it says nothing about the variables; `empty_share` is the share of rows that
    have it.

    Parameters
    ----------
    n_rows : int
        How many training rows were explained, drawn at random.
    share : float
        The share of them that get a sufficient set of at least one variable.
    shuffled_share : float
        The same share for a forest that was fitted to the same table with shuffled outcomes.
    empty_share : float, default=0.0
        The share of them for which the empty set is sufficient: no variable is needed to keep their outcome.
    counts : {"out-of-bag", "bootstrap", "all"}, default="out-of-bag"
        Which rows the trees count.

    Examples
    --------
    >>> print(SignalCheck(200, 0.76, 0.02))
    76 % of rows get a sufficient set; 2 % would if the outcomes were shuffled (200 rows).
    """

    n_rows: int
    share: float
    shuffled_share: float
    empty_share: float = 0.0
    counts: Counts = "out-of-bag"

    @property
    def is_near(self) -> bool:
        """Whether shuffled outcomes give nearly as many sets, so that the explanations say little."""
        return self.shuffled_share > NEAR * self.share

    @printed
    def __str__(self) -> str:
        """Return both shares in one sentence, followed by the share of rows that need no variable."""
        needed = " of variables" if self.empty_share else ""
        empty = f" {format_percent(self.empty_share)} % need no variable." if self.empty_share else ""
        return (
            f"{format_percent(self.share)} % of rows get a sufficient set{needed}; "
            f"{format_percent(self.shuffled_share)} % would if the outcomes were shuffled "
            f"({counted(self.n_rows, 'row')}).{empty}"
        )

    def warn_if_near(self) -> None:
        """Warn if shuffled outcomes give nearly as many sets."""
        if self.is_near:
            honest = ", or `counts='out-of-bag'`" if self.counts != "out-of-bag" else ""
            warn(
                f"{self} Such sets are found without any signal, so the explanations say little about these data: "
                f"try more rows, other variables, a higher `pi`{honest}.",
                FidelityWarning,
            )


def check_signal(state: Fitted, n_rows: int, random_state: Any) -> SignalCheck:
    """Compare the share of rows that get a sufficient set with the share if the outcomes were shuffled."""
    check_number("n_rows", n_rows, "a whole number >= 1", lambda v: v >= 1, Integral)
    check_refits(state)
    rng = np.random.default_rng(random_state)
    n_training = len(state.forest.X)
    rows = np.sort(rng.choice(n_training, min(n_rows, n_training), replace=False))
    shuffled = shuffle_outcomes(state, rng)
    share, empty_share = share_with_sets(state, rows)
    check = SignalCheck(len(rows), share, share_with_sets(shuffled, rows)[0], empty_share, state.counts)
    check.warn_if_near()
    return check


def shuffle_outcomes(fitted: Fitted, rng: np.random.Generator) -> Fitted:
    """Fit the forest to the same table with shuffled outcomes, and choose the candidates as for the true ones."""
    forest = fitted.forest
    # The codes of categories stay: they are learnt without the outcomes.
    y_rank = forest.y_rank[rng.permutation(len(forest.X))]
    state, out_of_bag = regrow_out_of_bag(fitted, int(rng.integers(2**31 - 1)), y_rank=y_rank)
    settings = state.settings
    if isinstance(settings.candidates, str):
        candidates = choose_candidates(state.forest, state.estimator, state.variables, settings)
        state = replace(state, projected=replace(state.projected, candidates=candidates))
    if state.counts != "out-of-bag":
        return state
    has_signal = measure_fidelity(state.forest, out_of_bag.votes, state.task).has_signal
    errors = None if state.errors is None else measure_errors(state.forest, out_of_bag)
    return replace(state, has_signal=has_signal, errors=errors)


def share_with_sets(fitted: Fitted, rows: NDArray[np.intp]) -> tuple[float, float]:
    """Compute the share of training rows whose prediction has a sufficient set."""
    X = fitted.forest.X[rows]
    sets = best_sets(fitted, X, fitted.outcomes(X, fitted.predict(X)))
    has_set, is_empty = sets.n_by_row() > 0, ~sets.best_masks.any(axis=1)
    return float(np.mean(has_set & ~is_empty)), float(np.mean(has_set & is_empty))
