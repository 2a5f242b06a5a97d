"""Rows that are searched one after the other, in the same memory, have the answers that each has alone."""

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
        return X[chosen], rank, rank
    low = np.maximum(rank - rng.integers(5, 60, size=n), 0)
    return X[chosen], low, np.minimum(rank + rng.integers(5, 60, size=n), len(np.unique(y)) - 1)


def search(projection, rows, n_threads=1, **options):
    defaults = {"pi": 0.85, "min_node_size": 4, "min_size": 0, "max_size": 9, "minimal_only": True}
    defaults |= {"max_sets": NO_LIMIT, "n_by_row": 4, "least_sdp": np.zeros(0)}
    options = _core.SearchOptions(**defaults | options)
    at_level, below = _core.search(projection=projection, rows=core_rows(*rows), options=options, n_threads=n_threads)
    return list(zip(by_row(arrays_of(at_level)), by_row(arrays_of(below)), strict=True))


def by_row(arrays):
    """The answers of each row as bytes."""
    of_sets, offset = ("masks", "sdps"), arrays["offset"]
    return [
        b"".join(
            (values[offset[i] : offset[i + 1]] if name in of_sets else values[i]).tobytes()
            for name, values in arrays.items()
            if name != "offset"
        )
        for i in range(len(offset) - 1)
    ]


def backwards(rows):
    return tuple(values[::-1] for values in rows)


@pytest.mark.parametrize(
    ("counts", "voters"), [("bootstrap", "all"), ("out-of-bag", "all"), ("out-of-bag", "informed")]
)
@pytest.mark.parametrize("groups", [None, GROUP], ids=["columns", "a group"])
@pytest.mark.parametrize("is_class", [True, False], ids=["classes", "numbers"])
def test_no_row_has_an_effect_on_another(kernels, is_class, groups, counts, voters):
    X, y, forest = make_forest(is_class, counts)
    rows = make_rows(X, y, is_class, 130)
    together = search(project(forest, N_COLUMNS, groups, voters), rows)
    assert len(set(together)) > 20
    projection = project(forest, N_COLUMNS, groups, voters)
    assert search(projection, backwards(rows))[::-1] == together
    assert search(projection, rows, n_threads=2) == together
    alone = [search(projection, tuple(values[i : i + 1] for values in rows))[0] for i in range(20)]
    assert alone == together[:20]


@pytest.mark.parametrize("is_class", [True, False], ids=["classes", "numbers"])
def test_trees_whose_splits_take_several_words(is_class):
    X, y, forest = make_forest(is_class, "bootstrap", n_trees=4, n_rows=1500)
    rows = make_rows(X, y, is_class, 60)
    together = search(project(forest, N_COLUMNS), rows, pi=0.95)
    assert search(project(forest, N_COLUMNS), backwards(rows), pi=0.95)[::-1] == together


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
        {"step": 0.05, "pi": 0.99},
        {"step": 0.05, "many": 1},
        {"n_first_trees": 1},
        {"n_first_trees": 3, "minimal_only": False},
        {"min_node_size": 300},
        {"min_node_size": 40, "minimal_only": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("is_class", [True, False], ids=["classes", "numbers"])
def test_with_every_option_rows_have_no_effect_on_each_other(is_class, options):
    X, y, forest = make_forest(is_class, "out-of-bag")
    rows = make_rows(X, y, is_class, 60)
    together = search(project(forest, N_COLUMNS), rows, **options)
    assert search(project(forest, N_COLUMNS), backwards(rows), **options)[::-1] == together


def test_more_than_64_variables_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 70))
    y = (X[:, 0] + X[:, 66] > 0).astype(int)
    forest = RandomForestClassifier(12, min_samples_leaf=5, max_features=None, random_state=0).fit(X, y)
    core = core_forest(trees_of(forest), X, y)
    rows = X[:40], y[:40], y[:40]
    together = search(project(core, 70), rows, pi=0.9)
    assert search(project(core, 70), backwards(rows), pi=0.9)[::-1] == together


def test_an_interrupted_search_ends():
    X, y, forest = make_forest(True, "bootstrap")

    def interrupt(n_done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.search(
            projection=project(forest, N_COLUMNS),
            rows=core_rows(*make_rows(X, y, True, 130)),
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
            progress=interrupt,
        )
