"""Growing the forest again, with another seed, on other rows or for other outcomes, and its best sets."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from suffice._forest.candidates import AUTO
from suffice._forest.drawn_rows import grow_on_drawn
from suffice._forest.fitting import CLASSIFIERS, REGRESSORS
from suffice._forest.projection import ProjectedForest
from suffice._forest.trees import FittedForest, OutOfBag, PlainForest
from suffice.explaining.search import find_sufficient_sets

if TYPE_CHECKING:
    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Outcomes
    from suffice.explaining.found_sets import FoundSets

_KINDS = {kind.__name__: kind for kind in (*CLASSIFIERS, *REGRESSORS)}


def check_refits(fitted: Fitted) -> None:
    """Refuse an explainer whose forest cannot be grown again."""
    if isinstance(fitted.estimator, PlainForest) and fitted.estimator.kind not in _KINDS:
        raise ValueError(
            f"`stability` cannot grow a forest of the kind {fitted.estimator.kind!r} after loading. Call it before "
            "the explainer is saved."
        )


def regrow(fitted: Fitted, seed: int, rows: NDArray[np.intp] | None = None) -> Fitted:
    """Grow the forest again with its own parameters, candidates, counts and drawn rows, or on some rows alone."""
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
    drawn = fitted.drawn
    if drawn is not None:
        drawn = drawn if rows is None else drawn.among(rows, len(forest.X))
        grow_on_drawn(estimator, X, y, drawn, fitted.settings.n_threads)
    counted, out_of_bag = FittedForest.from_training(
        estimator,
        X,
        y_rank,
        forest.y_values,
        fitted.counts,
        seed,
        is_own=drawn is None,
        n_levels=forest.n_levels,
        n_threads=fitted.settings.n_threads,
    )
    projected = ProjectedForest(
        counted, fitted.variables, fitted.candidates, fitted.min_node_size, fitted.projected.all_vote
    )
    return replace(fitted, estimator=estimator, projected=projected, drawn=drawn), out_of_bag


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
