"""The trees of a forest as plain arrays, and the forest in the compiled core with the rows that it counts."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, get_tags

from suffice import _core

Counts: TypeAlias = Literal["out-of-bag", "bootstrap", "all"]

# Parameters of a forest that have no effect on its trees once these are grown, or that every growth chooses anew.
_NOT_KEPT = ("n_jobs", "random_state", "verbose", "warm_start", "oob_score")
# Parameters of a forest that its description names.
_DESCRIBED = ("n_estimators", "min_samples_leaf", "max_depth", "max_features")

OTHER_TABLE = (
    "The rows that `forest` drew do not fall into its leaves as they did when it was fitted. If it was fitted before, "
    "pass the very `X` (same rows, same order) that it was fitted on, or pass an unfitted forest. If its rows or "
    "classes have weights, leave these out."
)


@dataclass(frozen=True)
class TreeArrays:
    """One tree as scikit-learn stores it, with its training rows."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    column: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.uint8]
    n_rows: NDArray[np.float64]
    value: NDArray[np.float64]
    rows: NDArray[np.int32]


@dataclass(frozen=True)
class PlainForest:
    """A forest as its trees alone. It is not a scikit-learn estimator: it has no `fit` and no `predict`."""

    kind: str
    params: dict[str, Any]
    takes_missing: bool
    trees: tuple[TreeArrays, ...] = field(repr=False)

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.trees)

    def __iter__(self) -> Iterator[TreeArrays]:
        """Iterate over the trees."""
        return iter(self.trees)

    def describe(self) -> dict[str, Any]:
        """Describe the forest by its kind and its most important parameters."""
        return {"kind": self.kind, **{name: self.params[name] for name in _DESCRIBED if name in self.params}}


def takes_missing(forest: Any) -> bool:
    """Return whether a forest of scikit-learn, or the default one, accepts missing values."""
    if forest is None:
        return True
    return bool(get_tags(forest).input_tags.allow_nan and getattr(forest, "monotonic_cst", None) is None)


def bootstrap_rows(forest: Any) -> Iterator[NDArray[np.int32]]:
    """Yield the rows that each tree of a fitted forest drew, one tree's at a time: those of all take much memory."""
    one = copy.copy(forest)
    for tree in forest.estimators_:
        one.estimators_ = [tree]
        yield one.estimators_samples_[0].astype(np.int32, copy=False)


def _arrays_of(nodes: Any, rows: NDArray[np.int32]) -> TreeArrays:
    """Return a tree of scikit-learn with rows, which are sorted: a saved forest has no other order."""
    return TreeArrays(
        left=nodes.children_left,
        right=nodes.children_right,
        column=nodes.feature,
        threshold=nodes.threshold,
        missing_left=nodes.missing_go_to_left,
        n_rows=nodes.weighted_n_node_samples,
        value=nodes.value[:, 0, :],
        rows=rows,
    )


# The rows that a tree counts at most, another sample of its rows in each tree. On the switch model, best sets differ
# from those of all rows in 16 % of the rows with 8,192 and in 8 % with 16,384, and between two seeds in 6 %.
MOST_COUNTED = 16_384
# Fewer if the forest has so many splits that their bits, one for each row of the tree, would take more than 1 GiB.
MOST_BITS, LEAST_COUNTED = 2**33, 4096


def most_counted(forest: Any) -> int:
    """Return how many rows a tree counts at most."""
    if isinstance(forest, PlainForest):
        n_splits = sum(len(tree.left) // 2 for tree in forest.trees)
    else:
        n_splits = sum(tree.tree_.node_count // 2 for tree in forest.estimators_)
    return min(MOST_COUNTED, max(LEAST_COUNTED, MOST_BITS // max(1, n_splits)))


def _counted_rows(drawn: NDArray[np.int32], is_out: NDArray[np.bool_], counts: Counts) -> NDArray[np.int32]:
    if counts == "all":
        return np.arange(len(is_out), dtype=np.int32)
    is_honest = counts == "out-of-bag" and is_out.any()
    return np.flatnonzero(is_out).astype(np.int32) if is_honest else np.sort(drawn)


# Training rows on which errors of numbers are measured, at most.
N_MEASURED = 4_000
# Rows whose leaves are looked up together: 4 bytes a row and tree.
N_AT_ONCE = 20_000
# Trees that are handed to the core together: each part of the table is read once for all of them. More would keep the
# rows of more trees at a time.
N_TOGETHER = 16

_FAULTY_SPLIT = (
    "The forest has a split without a threshold: before version 1.8, scikit-learn can split on missing values in a way "
    "that its own predictions do not follow. Pass the forest unfitted, as `sklearn.base.clone(forest)`: it is then "
    "mended after it is fitted."
)


class OutOfBag(NamedTuple):
    """What the trees that did not draw the training rows predict for them."""

    votes: NDArray[np.float64]  # NaN in rows that all trees drew
    n_trees: NDArray[np.uint32]
    measured: NDArray[np.int64]  # the rows on which errors of numbers are measured
    is_out: NDArray[np.bool_]  # by such a row and tree


@dataclass(frozen=True, eq=False)
class FittedForest:
    """A fitted forest with its training table."""

    trees: PlainForest
    X: NDArray[np.float32]
    y_rank: NDArray[np.uint32]
    y_values: NDArray[np.float64]
    n_levels: tuple[int, ...] = ()  # by column: its categories, which are separated; 0 for numbers; () for none
    core: _core.Forest = field(default=None, repr=False)  # type: ignore[assignment]  # made from the others
    # What is computed from it once, when somebody asks.
    learnt: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Hand the trees to the compiled core."""
        if self.core is None:
            core = _core.Forest(X=self.X, y_rank=self.y_rank, y_values=self.y_values, n_levels=list(self.n_levels))
            for begin in range(0, len(self.trees), N_TOGETHER):
                _add_trees(core, self.trees.trees[begin : begin + N_TOGETHER])
            object.__setattr__(self, "core", core)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave the compiled core out of pickles: it is built again from the trees and the table."""
        return type(self), (self.trees, self.X, self.y_rank, self.y_values, self.n_levels)

    @classmethod
    def from_training(
        cls,
        estimator: Any,
        X: NDArray[np.float32],
        y_rank: NDArray[Any],
        y_values: NDArray[np.float64],
        counts: Counts,
        random_state: Any = 0,
        *,
        n_levels: tuple[int, ...] = (),
        n_threads: int = 1,
    ) -> tuple[FittedForest, OutOfBag]:
        """Take over a forest that was just fitted, choose the rows that are counted, and predict those out of bag.

        All rows go down each tree once.
        """
        y_rank = y_rank.astype(np.uint32)
        core = _core.Forest(X=X, y_rank=y_rank, y_values=y_values, n_levels=list(n_levels))
        most, rng, samples = most_counted(estimator), check_random_state(random_state), bootstrap_rows(estimator)
        trees: list[TreeArrays] = []
        measured = spaced_rows(len(X), N_MEASURED)
        is_out_of = np.empty((len(measured), len(estimator.estimators_)), dtype=bool)
        for begin in range(0, len(estimator.estimators_), N_TOGETHER):
            drawn = []
            for tree in estimator.estimators_[begin : begin + N_TOGETHER]:
                drawn.append(next(samples))
                if drawn[-1].max() >= len(X):
                    raise ValueError(OTHER_TABLE)
                is_out = np.ones(len(X), dtype=bool)
                is_out[drawn[-1]] = False
                is_out_of[:, len(trees)] = is_out[measured]
                rows = _counted_rows(drawn[-1], is_out, counts)
                if len(rows) > most:
                    rows = np.sort(rng.choice(rows, most, replace=False))
                trees.append(_arrays_of(tree.tree_, rows))
            n_rows = _add_trees(core, trees[begin:], drawn=drawn, n_threads=n_threads)
            trees[begin:] = [replace(tree, n_rows=n) for tree, n in zip(trees[begin:], n_rows, strict=True)]
        params = {name: value for name, value in estimator.get_params().items() if name not in _NOT_KEPT}
        plain = PlainForest(type(estimator).__name__, params, takes_missing(estimator), tuple(trees))
        total, n_trees = _core.take_votes(forest=core)
        votes = np.divide(total, n_trees[:, None], out=np.full_like(total, np.nan), where=n_trees[:, None] > 0)
        return cls(plain, X, y_rank, y_values, n_levels, core), OutOfBag(votes, n_trees, measured, is_out_of)

    def count_splits(self) -> NDArray[np.int64]:
        """Count the splits on each column."""
        columns = np.concatenate([tree.column for tree in self.trees])
        return np.bincount(columns[columns >= 0], minlength=self.X.shape[1])

    def predict_leaves(self, X: NDArray[np.float32], n_threads: int) -> NDArray[np.float64]:
        """Average the trees' own predictions, in the order of the trees."""
        return _core.predict(forest=self.core, X=X, n_threads=n_threads)

    def predict_out_of_bag(
        self, is_out: NDArray[np.bool_], n_threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict each training row by the trees that did not see it."""
        total = np.zeros((len(self.X), self.trees.trees[0].value.shape[1]))
        for begin in range(0, len(self.X), N_AT_ONCE):
            part = slice(begin, begin + N_AT_ONCE)
            leaves = _core.leaves(forest=self.core, X=self.X[part], n_threads=n_threads)
            for t, tree in enumerate(self.trees):
                total[part] += np.where(is_out[t, part, None], tree.value[leaves[:, t]], 0.0)
        n_trees = is_out.sum(axis=0)
        return total / np.maximum(n_trees, 1)[:, None], n_trees > 0


def _core_tree(tree: TreeArrays) -> _core.Tree:
    if np.isnan(tree.threshold).any():
        raise ValueError(_FAULTY_SPLIT)
    arrays = dict(vars(tree))
    return _core.Tree(missing_go_to_left=arrays.pop("missing_left"), **arrays)


def _add_trees(core: _core.Forest, trees: Sequence[TreeArrays], **options: Any) -> list[NDArray[np.float64]]:
    """Hand trees to the core, which counts the rows in their leaves."""
    try:
        return core.add_trees(trees=[_core_tree(tree) for tree in trees], **options)
    except _core.OtherTableError:
        raise ValueError(OTHER_TABLE) from None


def spaced_rows(n_rows: int, n_most: int) -> NDArray[np.int64]:
    """Choose evenly spaced rows, at most so many."""
    return np.linspace(0, n_rows - 1, min(n_most, n_rows)).astype(np.int64)


def choose_rows(n_rows: int, n_kept: int, random_state: Any) -> NDArray[np.intp]:
    """Choose so many rows at random, or all."""
    if n_kept >= n_rows:
        return np.arange(n_rows)
    return np.sort(check_random_state(random_state).choice(n_rows, n_kept, replace=False))
