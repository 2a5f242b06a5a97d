"""The search with many trees and many rows: what it shares between sets and between rows changes no bit."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from forests import arrays_of, core_forest, core_rows, mask, project
from oracle import trees_of
from sklearn.ensemble import RandomForestClassifier

from suffice import _core
from suffice.explaining.search import NO_LIMIT

MIN_NODE_SIZE = 5
# With a maximal depth of 2, a tree splits on at most three variables: the sums of all sets are computed together.
DEPTHS = pytest.mark.parametrize("depth", [2, 12], ids=["small trees", "large trees"])


@cache
def fit_trees(depth, n_columns=7, n_trees=60, n_rows=300):
    rng = np.random.default_rng(depth)
    X = rng.integers(0, 6, size=(n_rows, n_columns)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    total = np.nan_to_num(X[:, 0] + X[:, 1] - X[:, 2], nan=3.0) + rng.normal(0, 0.5, n_rows)
    y = np.digitize(total, [2, 6])
    forest = RandomForestClassifier(n_trees, max_depth=depth, min_samples_leaf=5, random_state=0).fit(X, y)
    return X, y, trees_of(forest)


def make_forest(depth, **sizes):
    """A forest of many trees on whole numbers, some of them missing, with three classes."""
    X, y, trees = fit_trees(depth, **sizes)
    return X, y, core_forest(trees, X, y)


def search(projection, queries, outcomes, n_threads=1, **options):
    defaults = {"pi": 0.8, "min_node_size": MIN_NODE_SIZE, "min_size": 0, "max_size": 9, "minimal_only": False}
    defaults |= {"max_sets": NO_LIMIT, "n_by_row": 0, "least_sdp": np.zeros(0)}
    return arrays_of(
        _core.search(
            projection=projection,
            rows=core_rows(queries, outcomes, outcomes),
            options=_core.SearchOptions(**defaults | options),
            n_threads=n_threads,
        )[0]
    )


@DEPTHS
@pytest.mark.parametrize("pi", [0.6, 0.8, 0.99])
def test_the_sets_of_a_forest_of_many_trees_are_those_of_all_sdps(kernels, depth, pi):
    X, y, forest = make_forest(depth)
    n = X.shape[1]
    projection = project(forest, n)
    sets = [S for size in range(n + 1) for S in combinations(range(n), size)]
    masks = np.array([mask(S) for S in sets], dtype=np.uint64)
    found = search(projection, X[:12], y[:12], pi=pi)
    for i in range(12):
        rows = core_rows(np.repeat(X[i : i + 1], len(sets), axis=0), y[i], y[i])
        shared = {"projection": projection, "min_node_size": MIN_NODE_SIZE, "n_threads": 1}
        sdp = dict(zip(sets, _core.sdp(rows=rows, sets=masks, **shared), strict=True))
        expected = []
        for S in sets:
            if sdp[S] >= pi - 1e-10 and not any(set(T) <= set(S) for T in expected):
                expected.append(S)
        begin, end = found["offset"][i : i + 2]
        stated = dict(zip(found["masks"][begin:end, 0].tolist(), found["sdps"][begin:end].tolist(), strict=True))
        assert stated == {mask(S): sdp[S] for S in expected}  # to the bit
        # The surest of the smallest sufficient sets; if there is none, the first of the surest sets of the chain.
        chain = [()]
        while not expected and len(chain) <= n:
            sets_with_one_more = [S for S in sets if len(S) == len(chain) and set(chain[-1]) < set(S)]
            highest = max(sdp[S] for S in sets_with_one_more)
            chain.append(min((S for S in sets_with_one_more if sdp[S] >= highest - 1e-10), key=mask))
        surest = [S for S in chain if sdp[S] >= max(sdp[T] for T in chain) - 1e-10]
        best = min(expected or surest, key=lambda S: (len(S), -sdp[S], mask(S)))
        assert found["best_masks"][i, 0] == mask(best)
        assert found["best_sdps"][i] == sdp[best]


@DEPTHS
@pytest.mark.parametrize("groups", [None, [(0, 3), (1,), (2,), (4,), (5,), (6,)]], ids=["columns", "a group"])
@pytest.mark.parametrize("n_by_row", [0, 3])
def test_many_rows_have_the_answers_that_each_has_alone(kernels, depth, groups, n_by_row):
    """Rows share what is known of single variables and of small trees."""
    X, _, forest = make_forest(depth)
    projection = project(forest, X.shape[1], groups)
    rng = np.random.default_rng(0)
    queries = X[rng.integers(len(X), size=260)]
    outcomes = rng.integers(3, size=260)
    together = search(projection, queries, outcomes, n_threads=2, n_by_row=n_by_row)
    offset = together["offset"]
    for i in [*range(0, 250, 5), *range(250, 260)]:
        alone = search(projection, queries[i : i + 1], outcomes[i : i + 1], n_by_row=n_by_row)
        for name in ("masks", "sdps"):
            np.testing.assert_array_equal(together[name][offset[i] : offset[i + 1]], alone[name], err_msg=name)
        for name in ("best_masks", "best_sdps"):
            np.testing.assert_array_equal(together[name][i : i + 1], alone[name], err_msg=name)


def test_without_the_best_set_only_rows_that_have_none_differ(kernels):
    X, y, forest = make_forest(12)
    projection = project(forest, X.shape[1])
    whole, part = (search(projection, X[:60], y[:60], pi=0.8, needs_best=needs) for needs in (True, False))
    for name in ("offset", "masks", "sdps", "is_complete"):
        np.testing.assert_array_equal(whole[name], part[name])
    has_set = np.diff(whole["offset"]) > 0
    assert has_set.any()
    assert not has_set.all()
    for name in ("best_masks", "best_sdps"):
        np.testing.assert_array_equal(whole[name][has_set], part[name][has_set])
    assert not part["best_masks"][~has_set].any()
    assert not part["best_sdps"][~has_set].any()


@DEPTHS
def test_a_search_of_few_rows_leaves_its_memory_to_the_next_and_no_trace(kernels, depth):
    X, y, forest = make_forest(depth)
    projection = project(forest, X.shape[1])
    options = [{"pi": 0.8}, {"pi": 0.6, "n_by_row": 4}, {"pi": 0.8, "minimal_only": True}, {"min_node_size": 20}]
    for i, changed in enumerate(options * 3):
        rows, outcomes = X[i : i + 3], y[i : i + 3]
        again = search(projection, rows, outcomes, **changed)
        anew = search(project(forest, X.shape[1]), rows, outcomes, **changed)
        for name, values in anew.items():
            np.testing.assert_array_equal(again[name], values)
