"""Rows that are drawn near the training rows, for a model to be asked about: docs/method.md, section 1.8.

A drawn row is a copy of a training row with about half of its variables taken from a near neighbour. Trees are grown on
drawn rows as well, but only training rows are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.utils import check_random_state

from suffice._forest.outcomes import rank_classes
from suffice._forest.trees import bootstrap_rows
from suffice._table.input import as_finite, read_input
from suffice._table.rows import recombine_rows
from suffice.errors import check_number

if TYPE_CHECKING:
    from suffice._forest.model_outputs import ExplainedModel
    from suffice._table.encoding import Encoding
    from suffice._table.table import Table
    from suffice._table.variables import Variables

N_NEIGHBOURS = 10
# The probability with which a variable is taken from the neighbour.
SHARE_MOVED = 0.5
# Neighbours are searched among this many training rows at most, drawn at random.
N_SEARCHED = 2000
# Rows whose distances are computed together.
_N_AT_ONCE = 256

Rows: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows that were drawn near the training rows, with the outputs of the model that is explained."""

    X: NDArray[np.float32]
    outcomes: NDArray[np.float64]
    parents: Rows

    def among(self, rows: Rows, n_rows: int) -> DrawnRows:
        """Keep those that were made of some of the training rows only."""
        place = np.full(n_rows, -1, dtype=np.intp)
        place[rows[::-1]] = np.arange(len(rows))[::-1]
        parents = place[self.parents]
        is_kept = (parents >= 0).all(axis=1)
        return DrawnRows(self.X[is_kept], self.outcomes[is_kept], parents[is_kept])

    def shuffled(self, rng: np.random.Generator) -> DrawnRows:
        """Return the same rows with their outcomes in another order."""
        return replace(self, outcomes=self.outcomes[rng.permutation(len(self.outcomes))])


@dataclass(frozen=True, eq=False)
class Drawing:
    """A model that can be asked about further rows."""

    n_drawn: int
    ask: Callable[[Rows], tuple[Table, NDArray[Any]]]

    def of_rows(self, rows: Rows) -> Drawing:
        """Return the same for a training table that holds only some of the rows."""
        return Drawing(self.n_drawn, lambda picks: self.ask(rows[picks]))


def plan_drawing(explainer: Any, explained: ExplainedModel, n_drawn: Any) -> Drawing | None:
    """Plan further rows for the model, and refuse parameters that do not go with them."""
    check_number("drawn_rows", n_drawn, "a whole number >= 0", lambda v: v >= 0, Integral)
    if not n_drawn:
        return None
    if hasattr(explainer.forest, "estimators_"):
        raise ValueError(
            "`forest` is fitted already, so that it cannot be grown on `drawn_rows`: pass a forest that is not fitted."
        )

    def ask(picks: Rows) -> tuple[Table, NDArray[Any]]:
        made = recombine_rows(explained.rows, picks)
        return read_input(explainer, made), explained.ask(made, len(picks))

    return Drawing(int(n_drawn), ask)


def draw_near(
    X: NDArray[np.float32],
    encoding: Encoding,
    variables: Variables,
    classes: NDArray[Any] | None,
    drawing: Drawing,
    random_state: Any,
) -> DrawnRows:
    """Draw rows near the training rows, and ask a model about them."""
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    own = np.resize(rng.permutation(len(X)), drawing.n_drawn)  # every row as often as every other, up to once
    other = near_rows(X, encoding, variables, own, rng)
    is_moved = rng.random((len(own), len(variables))) < SHARE_MOVED
    picks = np.repeat(own[:, None], len(encoding.names), axis=1)
    for v, columns in enumerate(variables.columns):
        for source in {encoding.columns[c].source for c in columns}:
            picks[:, source] = np.where(is_moved[:, v], other, own)
    table, outputs = drawing.ask(picks)
    made, parents = encoding.encode(table, "error"), np.stack([own, other], axis=1)
    if classes is None:
        return DrawnRows(made, as_finite(outputs), parents)
    is_known = np.isin(outputs, classes)
    ranks = rank_classes(outputs[is_known], classes).astype(np.float64)
    return DrawnRows(made[is_known], ranks, parents[is_known])


def near_rows(
    X: NDArray[np.float32], encoding: Encoding, variables: Variables, own: Rows, rng: np.random.Generator
) -> Rows:
    """Draw one of the ten nearest training rows for each row.

    The distance of two rows is the mean over the variables of: the difference of the ranks of numbers, from 0 to 1; 1
    for different categories; 1 if one value is missing. The columns of a variable share its weight.
    """
    searched = np.arange(len(X))
    if len(X) > N_SEARCHED:
        searched = np.sort(rng.choice(len(X), N_SEARCHED, replace=False))
    n_near = min(N_NEIGHBOURS, len(searched) - 1)
    choice = rng.integers(n_near, size=len(own))
    scaled = [_scaled(X[:, c], encoding.columns[c].kind == "category") for c in range(X.shape[1])]
    weights = {c: 1 / len(columns) for columns in variables.columns for c in columns}
    distinct, place = np.unique(own, return_inverse=True)
    near = np.empty((len(distinct), n_near), dtype=np.intp)
    for begin in range(0, len(distinct), _N_AT_ONCE):
        rows = distinct[begin : begin + _N_AT_ONCE]
        distance = np.zeros((len(rows), len(searched)))
        for c, (values, is_category) in enumerate(scaled):
            first, second = values[rows][:, None], values[searched]
            gap = first != second if is_category else np.minimum(np.abs(first - second), 1.0)
            distance += weights[c] * gap
        distance[rows[:, None] == searched] = np.inf
        near[begin : begin + len(rows)] = searched[np.argsort(distance, axis=1, kind="stable")[:, :n_near]]
    return near[place, choice]


def _scaled(values: NDArray[np.float32], is_category: bool) -> tuple[NDArray[np.float64], bool]:
    """Scale a column such that values differ by at most 1, and by 1 or more from a missing one."""
    is_missing = np.isnan(values)
    if is_category or is_missing.all():
        return np.where(is_missing, -1.0, values), True
    ranks = np.full(len(values), 2.0)
    known = rankdata(values[~is_missing])
    ranks[~is_missing] = (known - known.min()) / max(float(np.ptp(known)), 1.0)
    return ranks, False


def grow_on_drawn(estimator: Any, X: NDArray[np.float32], y: NDArray[Any], drawn: DrawnRows, n_threads: int) -> None:
    """Grow the trees of a forest again, each on the training rows that it drew and on rows made of these alone.

    A tree does not see a drawn row that has a value of a training row out of its bag: the training rows that it counts
    have no part in its splits.
    """
    both_X = np.concatenate([X, drawn.X])
    both_y = np.concatenate([y.astype(np.float64), drawn.outcomes])

    def grow(tree: Any, rows: Rows) -> Any:
        n_times = np.bincount(rows, minlength=len(X)).astype(np.float64)
        is_seen = (n_times[drawn.parents] > 0).all(axis=1)
        return clone(tree).fit(both_X, both_y, sample_weight=np.concatenate([n_times, is_seen]))

    samples = bootstrap_rows(estimator)
    estimator.estimators_ = Parallel(n_jobs=n_threads, prefer="threads")(
        delayed(grow)(tree, rows) for tree, rows in zip(estimator.estimators_, samples, strict=True)
    )
