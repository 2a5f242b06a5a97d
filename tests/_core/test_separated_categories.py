"""Splits that separate the categories of a column: the core against the oracle, and the share that a category has."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from forests import arrays_of, core_forest, core_rows, mask, project, sdps_of, set_cells
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import Oracle, boundaries, cell_rows, trees_of
from sklearn.ensemble import RandomForestClassifier
from thoroughness import n_examples

from suffice import _core

SETS = [S for size in range(4) for S in combinations(range(3), size)]


@st.composite
def forests(draw, max_rows=200):
    """A table of two columns of categories and one of numbers, with gaps, and the trees of a forest on it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(30, max_rows))
    n_levels = (draw(st.integers(2, 7)), draw(st.sampled_from([2, 5, 30])), 0)
    X = np.stack(
        [rng.integers(n_levels[0], size=n), rng.integers(n_levels[1], size=n), rng.integers(9, size=n)], axis=1
    )
    X = X.astype(np.float32)
    if draw(st.booleans()):
        X[rng.random(X.shape) < draw(st.sampled_from([0.05, 0.4]))] = np.nan
    effect = rng.normal(size=30)
    y = np.digitize(effect[np.nan_to_num(X[:, 1]).astype(int)] + np.nan_to_num(X[:, 0]) + rng.normal(size=n), [1, 3])
    y[:2] = 0, 1
    forest = RandomForestClassifier(
        draw(st.integers(1, 4)), max_depth=draw(st.sampled_from([1, 2, None])), min_samples_leaf=3, random_state=0
    ).fit(X, y)
    counts = draw(st.sampled_from(["bootstrap", "out-of-bag"]))
    return X, y, [replace(tree, n_levels=n_levels) for tree in trees_of(forest, counts, n)]


def queries_of(X, rng, n=6):
    """Rows of the table, rows with a missing value, and new combinations."""
    mixed = np.stack([X[rng.integers(len(X), size=n), c] for c in range(3)], axis=1)
    mixed[0, rng.integers(3)] = np.nan
    return mixed


@settings(max_examples=n_examples(25), deadline=None)
@given(table=forests(), min_node_size=st.sampled_from([1, 4, 10]), seed=st.integers(0, 99))
def test_shares_and_squared_weights_equal_the_oracle(table, min_node_size, seed):
    X, y, trees = table
    oracle, projection = Oracle(trees, X, y, min_node_size), project(core_forest(trees, X, y), 3)
    pairs = list(product(queries_of(X, np.random.default_rng(seed)), SETS))
    rows = np.array([x for x, _ in pairs], dtype=np.float32)
    query = {"sets": np.array([mask(S) for _, S in pairs], np.uint64), "min_node_size": min_node_size, "n_threads": 1}
    sdp = _core.sdp(projection=projection, rows=core_rows(rows, 1), **query)
    np.testing.assert_allclose(sdp, [float(oracle.sdp(x, S, 1)) for x, S in pairs], rtol=0, atol=1e-15)
    squares = _core.squared_weights(projection=projection, X=rows, **query)
    np.testing.assert_allclose(squares, [float(oracle.squared_weights(x, S)) for x, S in pairs], rtol=1e-12)


@settings(max_examples=n_examples(20), deadline=None)
@given(table=forests(), pi=st.sampled_from([0.5, 0.7, 0.9]), seed=st.integers(0, 99))
def test_rows_have_the_sets_of_the_oracle(table, pi, seed):
    X, y, trees = table
    oracle, projection = Oracle(trees, X, y, 4), project(core_forest(trees, X, y), 3)
    queries = queries_of(X, np.random.default_rng(seed), n=8)
    options = {"pi": pi, "min_node_size": 4, "min_size": 0, "max_size": 3, "minimal_only": False, "max_sets": 99}
    found = _core.search(
        projection=projection,
        rows=core_rows(queries, 1),
        options=_core.SearchOptions(n_by_row=0, least_sdp=np.zeros(0), **options),
        n_threads=1,
    )[0]
    for i, x in enumerate(queries):
        begin, end = found.offset[i : i + 2]
        expected = oracle.sufficient_sets(x, 1, range(3), pi, min_size=0)
        assert {int(S) for S in found.masks[begin:end, 0]} == {mask(S) for S in expected}


@settings(max_examples=n_examples(20), deadline=None)
@given(table=forests(), min_node_size=st.sampled_from([1, 5]))
def test_the_cells_of_all_rows_equal_the_oracle(table, min_node_size):
    X, y, trees = table
    oracle, forest = Oracle(trees, X, y, min_node_size), core_forest(trees, X, y)
    for S in [(0,), (1,), (0, 1), (0, 1, 2)]:
        cells = set_cells(forest, S, min_node_size, n_columns=X.shape[1])
        sdps = sdps_of(cells, X, 1, 1)
        expected = [float(oracle.sdp(x, S, 1)) for x in X[:20]]
        np.testing.assert_allclose(sdps[:20], expected, rtol=0, atol=1e-14)


@settings(max_examples=n_examples(20), deadline=None)
@given(table=forests(), seed=st.integers(0, 99))
def test_a_rule_that_holds_everywhere_holds_for_every_category(table, seed):
    X, y, trees = table
    oracle, forest = Oracle(trees, X, y, 4), core_forest(trees, X, y)
    cells = set_cells(forest, [0, 1], 4, n_columns=X.shape[1])
    queries = queries_of(X, np.random.default_rng(seed), n=4)
    options = _core.RuleOptions(pi=0.6, everywhere=True, by_volume=False, max_nodes=10**5, max_regions=10**5)
    rules = arrays_of(_core.find_rules(cells=cells, rows=core_rows(queries, 1), options=options, n_threads=1))
    values = [[*range(trees[0].n_levels[c]), np.nan] for c in range(2)]
    for i, x in enumerate(queries):
        if oracle.sdp(x, (0, 1), 1) < Fraction(6, 10):
            continue
        assert rules["exists"][i]
        assert rules["holds_everywhere"][i]
        for point in product(*values):
            is_inside = all(
                rules["missing"][i, c]
                if np.isnan(v)
                else rules["has_values"][i, c] and rules["low"][i, c] < v <= rules["high"][i, c]
                for c, v in enumerate(point)
            )
            if is_inside:
                assert oracle.sdp(np.array([*point, 0]), (0, 1), 1) >= Fraction(6, 10)


@settings(max_examples=n_examples(25), deadline=None)
@given(table=forests(max_rows=400), min_node_size=st.sampled_from([1, 10, 20]))
def test_the_cell_of_categories_with_enough_rows_is_these_rows(table, min_node_size):
    """The statement of docs/method.md, 1.1."""
    X, _, trees = table
    for tree, x, S in product(trees, X[:10], [(0,), (1,), (0, 1)]):
        is_same = [(X[tree.rows, c] == x[c]) | (np.isnan(X[tree.rows, c]) & np.isnan(x[c])) for c in S]
        exact = tree.rows[np.all(is_same, axis=0)]
        if len(exact) >= max(10, min_node_size):
            np.testing.assert_array_equal(cell_rows(tree, X, x, S, min_node_size), exact)


def test_boundaries_are_those_worked_out_by_hand():
    """Categories 2 and 3 have few rows: the boundary between them is left out."""
    X = np.repeat([[0.0], [1.0], [2.0], [3.0], [4.0]], [10, 12, 3, 3, 10], axis=0)
    forest = RandomForestClassifier(1, bootstrap=False, max_depth=1).fit(X, X[:, 0] > 2)
    [tree] = [replace(tree, n_levels=(5,)) for tree in trees_of(forest)]
    assert boundaries(tree, X) == [(0, np.inf), (0, 1.5), (0, 0.5), (0, 3.5)]
    [without] = [replace(tree, n_levels=(0,)) for tree in [tree]]
    assert boundaries(without, X) == []
