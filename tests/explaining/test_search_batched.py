"""Rows that are searched in batches have the answers that each has alone, to the bit."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from forests import arrays_of, core_forest, core_rows, project
from oracle import trees_of
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import _core
from suffice.explaining.search import NO_LIMIT

N_COLUMNS = 6
GROUP = [(0, 3), (1,), (2,), (4,), (5,)]


@cache
def make_forest(is_class, counts, n_trees=20, n_rows=240):
    """A forest on whole numbers, some of them missing: three classes, or numbers of many values."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, size=(n_rows, N_COLUMNS)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    total = np.nan_to_num(X[:, 0] + X[:, 1] - X[:, 2], nan=3.0) + rng.normal(0, 0.5, n_rows)
    y = np.digitize(total, [3, 8]) if is_class else total
    model = RandomForestClassifier if is_class else RandomForestRegressor
    forest = model(n_trees, min_samples_leaf=4, random_state=0).fit(X, y)
    trees = trees_of(forest)
    if counts == "out-of-bag":
        for tree in trees:
            tree.rows = np.setdiff1d(np.arange(n_rows), tree.rows)
    return X, y, core_forest(trees, X, y)


def make_rows(X, y, is_class, n):
    """Rows of the table and copies of some of them, with outcomes of their own or of others."""
    rng = np.random.default_rng(1)
    chosen = rng.integers(len(X), size=n)
    rank = np.unique(y, return_inverse=True)[1][chosen]
    if is_class:
        rank = np.where(rng.random(n) < 0.2, 2 - rank, rank)
        return core_rows(X[chosen], rank, rank)
    low = np.maximum(rank - rng.integers(5, 60, size=n), 0)
    return core_rows(X[chosen], low, np.minimum(rank + rng.integers(5, 60, size=n), len(np.unique(y)) - 1))


def search(projection, rows, batch_size, n_threads=1, needs_best=True, n_first_trees=0, **options):
    defaults = {"pi": 0.85, "min_node_size": 4, "min_size": 0, "max_size": 9, "minimal_only": True}
    defaults |= {"max_sets": NO_LIMIT, "n_by_row": 4, "least_sdp": np.zeros(0)}
    return arrays_of(
        _core.search(
            projection=projection,
            rows=rows,
            options=_core.SearchOptions(**defaults | options),
            n_threads=n_threads,
            needs_best=needs_best,
            batch_size=batch_size,
            n_first_trees=n_first_trees,
        )
    )


def assert_same(one, other):
    for name, values in one.items():
        np.testing.assert_array_equal(other[name], values, err_msg=name)


@pytest.mark.parametrize(
    ("counts", "voters"), [("bootstrap", "all"), ("out-of-bag", "all"), ("out-of-bag", "informed")]
)
@pytest.mark.parametrize("groups", [None, GROUP], ids=["columns", "a group"])
@pytest.mark.parametrize("is_class", [True, False], ids=["classes", "numbers"])
def test_batched_rows_have_the_answers_of_each_alone(kernels, is_class, groups, counts, voters):
    X, y, forest = make_forest(is_class, counts)
    projection = project(forest, N_COLUMNS, groups, voters)
    rows = make_rows(X, y, is_class, 130)
    alone = search(projection, rows, 1)
    n_sets = np.diff(alone["offset"])
    assert 0 < np.count_nonzero(n_sets) < len(n_sets)  # some rows have a set
    for batch_size, n_threads in [(2, 1), (50, 2), (1000, 1)]:
        assert_same(alone, search(projection, rows, batch_size, n_threads))


@pytest.mark.parametrize("is_class", [True, False], ids=["classes", "numbers"])
def test_trees_whose_splits_take_several_words(is_class):
    X, y, forest = make_forest(is_class, "bootstrap", n_trees=4, n_rows=1500)
    rows = make_rows(X, y, is_class, 60)
    projection = project(forest, N_COLUMNS)
    assert_same(search(projection, rows, 1, pi=0.95), search(projection, rows, 60, pi=0.95))


@pytest.mark.parametrize(
    "options",
    [
        {"minimal_only": False},
        {"minimal_only": False, "n_by_row": 0, "pi": 0.7},
        {"minimal_only": False, "max_sets": 9},
        {"max_sets": 4},
        {"max_size": 2},
        {"max_size": 1},
        {"max_size": 0},
        {"min_size": 1},
        {"min_size": 2, "minimal_only": False},
        {"min_size": 3, "max_size": 3},
        {"pi": 0.99},
        {"pi": 1e-3},
        {"pi": np.inf, "max_size": 0},
        {"least_sdp": np.linspace(1.05, 0.85, 60)},
        {"least_sdp": np.linspace(1.05, 0.85, 60), "minimal_only": False},
        {"needs_best": False},
        {"n_first_trees": 1},
        {"n_first_trees": 3, "minimal_only": False},
        {"min_node_size": 300},
        {"min_node_size": 40, "minimal_only": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("is_class", [True, False], ids=["classes", "numbers"])
def test_every_option_has_the_same_effect_on_batched_rows(is_class, options):
    X, y, forest = make_forest(is_class, "out-of-bag")
    projection = project(forest, N_COLUMNS)
    rows = make_rows(X, y, is_class, 60)
    assert_same(search(projection, rows, 1, **options), search(projection, rows, 60, **options))


def test_more_than_64_variables_in_batches():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 70))
    y = (X[:, 0] + X[:, 66] > 0).astype(int)
    forest = RandomForestClassifier(12, min_samples_leaf=5, max_features=None, random_state=0).fit(X, y)
    projection = project(core_forest(trees_of(forest), X, y), 70)
    rows = core_rows(X[:40], y[:40], y[:40])
    alone = search(projection, rows, 1, pi=0.9)
    assert alone["masks"][:, 1].any()  # sets with one of the last variables
    assert_same(alone, search(projection, rows, 40, pi=0.9))


def test_many_rows_are_batched_by_default():
    """Whatever is chosen by the number of rows and the size of the trees, the answers are the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0).fit(X, y)
    projection = project(core_forest(trees_of(forest), X, y), 5)
    rows = core_rows(X[:600], y[:600], y[:600])
    assert_same(search(projection, rows, 1), search(projection, rows, 0))


def test_an_interrupted_batched_search_ends():
    X, y, forest = make_forest(True, "bootstrap")

    def interrupt(n_done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.search(
            projection=project(forest, N_COLUMNS),
            rows=make_rows(X, y, True, 130),
            options=_core.SearchOptions(
                pi=0.85,
                min_node_size=4,
                min_size=0,
                max_size=9,
                minimal_only=True,
                max_sets=NO_LIMIT,
                n_by_row=4,
                least_sdp=np.zeros(0),
            ),
            n_threads=1,
            batch_size=50,
            progress=interrupt,
        )
