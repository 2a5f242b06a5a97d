"""Forests for the tests: made by hand, node by node, or drawn by hypothesis and fitted by scikit-learn."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st
from oracle import OracleTree
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from suffice import _core


def tree(nested, rows):
    """A tree from (column, threshold, left, right) or (column, threshold, left, right, missing left); None a leaf."""
    left, right, column, threshold, missing = [], [], [], [], []

    def add(node):
        i = len(left)
        for array in (left, right, column, threshold, missing):
            array.append(-1)
        threshold[i], missing[i] = -2.0, 0
        if node is not None:
            column[i], threshold[i], missing[i] = node[0], node[1], node[4] if len(node) > 4 else 0
            left[i], right[i] = add(node[2]), add(node[3])
        return i

    add(nested)
    arrays = (np.array(a, dtype=np.int64) for a in (left, right, column))
    return OracleTree(*arrays, np.array(threshold, dtype=np.float64), np.array(missing, np.uint8), np.asarray(rows))


def core_forest(trees, X, y, votes=None):
    """The trees in the compiled core. `votes` are what the nodes of each tree predict."""
    values, rank = np.unique(y, return_inverse=True)
    X = np.ascontiguousarray(X, dtype=np.float32)
    n_levels = list(trees[0].n_levels) if trees else []
    forest = _core.Forest(X=X, y_rank=rank.astype(np.uint32), y_values=values.astype(np.float64), n_levels=n_levels)
    core_trees = [
        _core.Tree(
            left=t.left,
            right=t.right,
            column=t.column,
            threshold=t.threshold,
            missing_go_to_left=t.missing_go_to_left,
            n_rows=node_sizes(t, X),
            value=np.zeros((len(t.left), 1)) if votes is None else votes[i],
            rows=t.rows.astype(np.int32),
        )
        for i, t in enumerate(trees)
    ]
    forest.add_trees(trees=core_trees)
    return forest


def core_rows(X, lo, hi=None):
    """Rows with the outcomes lo <= rank <= hi; one rank each without `hi`. Numbers hold for all rows."""
    X = np.ascontiguousarray(X, dtype=np.float32)
    lo, hi = (np.array(np.broadcast_to(ends, len(X)), dtype=np.uint32) for ends in (lo, lo if hi is None else hi))
    return _core.Rows(X=X, lo=lo, hi=hi)


def node_sizes(t, X):
    sizes, rows_of = np.zeros(len(t.left)), {0: t.rows}
    for node in range(len(t.left)):  # parents come before their children
        rows = rows_of[node]
        sizes[node] = len(rows)
        if not t.is_leaf(node):
            left = t.goes_left(node, X[rows, t.column[node]])
            rows_of[t.left[node]], rows_of[t.right[node]] = rows[left], rows[~left]
    return sizes


def project(forest, n_columns, groups=None, voters="all"):
    """The projection on all variables: single columns, or the given groups."""
    groups = groups or [(c,) for c in range(n_columns)]
    variable_of = np.full(n_columns, -1, dtype=np.int32)
    for v, columns in enumerate(groups):
        variable_of[list(columns)] = v
    return _core.Projection(forest=forest, variable_of=variable_of, n_variables=len(groups), all_vote=voters == "all")


def set_cells(forest, columns, min_node_size, looked_at=None, *, n_columns=None):
    """The cells of a set of columns, the last of which is the last of the table; all rows are looked at by default."""
    few, most, enough = looked_at or (10**6, 10**6, 10**6)
    return _core.SetCells(
        forest=forest,
        projection=project(forest, max(columns, default=-1) + 1 if n_columns is None else n_columns),
        columns=np.array(columns, np.int32),
        min_node_size=min_node_size,
        looked_at=_core.LookedAt(few=few, most=most, enough=enough),
    )


def sdps_of(cells, X, lo, hi):
    """The SDP of rows as the search for rules sees it. No row reaches the level, so there are no rules."""
    options = _core.RuleOptions(pi=1.5, everywhere=False, by_volume=False, max_nodes=1)
    return _core.find_rules(cells=cells, rows=core_rows(X, lo, hi), options=options, n_threads=1).sdp


def mask(S):
    return sum(1 << v for v in S)


def shapes(n_splits, splits):
    """Every tree with `n_splits` splits taken from `splits`, as nested tuples."""
    if n_splits == 0:
        yield None
        return
    for n_left in range(n_splits):
        for split, left, right in product(splits, shapes(n_left, splits), shapes(n_splits - 1 - n_left, splits)):
            yield (split[0], split[1], left, right, *split[2:])


@st.composite
def fitted_forests(draw, task=None, max_columns=5, max_rows=150):
    """A table with ties, duplicates, constant columns and gaps, its outcomes, and a forest fitted on them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_columns = draw(st.integers(2, max_rows)), draw(st.integers(1, max_columns))
    n_values = draw(st.sampled_from([2, 3, 5, 1000]))
    X = rng.integers(0, n_values, size=(n_rows, n_columns)).astype(np.float64)
    if draw(st.booleans()):
        X[:, rng.integers(n_columns)] = 1.0
    if draw(st.booleans()):
        X = X[rng.integers(n_rows, size=n_rows)]
    if draw(st.booleans()):
        X[rng.random(X.shape) < draw(st.sampled_from([0.1, 0.5]))] = np.nan
    task = task or draw(st.sampled_from(["classification", "regression"]))
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, -1]) * rng.random()
    if task == "regression":
        y = np.round(signal + rng.normal(size=n_rows), draw(st.sampled_from([0, 3])))
    else:
        y = (signal + rng.integers(0, 2, size=n_rows)).astype(int) % draw(st.sampled_from([2, 3, 4]))
    y[:2] = 0, 1  # never constant
    kinds = {
        "classification": [RandomForestClassifier, ExtraTreesClassifier],
        "regression": [RandomForestRegressor, ExtraTreesRegressor],
    }
    bootstrap = draw(st.booleans())
    forest = draw(st.sampled_from(kinds[task]))(
        n_estimators=draw(st.integers(1, 4)),
        max_depth=draw(st.sampled_from([1, 2, 4, None])),
        min_samples_leaf=draw(st.sampled_from([1, 2, 5])),
        max_features=draw(st.sampled_from([1, 1.0])),
        bootstrap=bootstrap,
        max_samples=draw(st.sampled_from([None, max(1, n_rows // 2)])) if bootstrap else None,
        random_state=draw(st.integers(0, 1000)),
    )
    return X, y, task, forest.fit(X.astype(np.float32), y)


def arrays_of(result):
    """The arrays of a result of the core, by name."""
    values = {name: getattr(result, name) for name in dir(result) if not name.startswith("_")}
    return {name: value if isinstance(value, np.ndarray) else arrays_of(value) for name, value in values.items()}
