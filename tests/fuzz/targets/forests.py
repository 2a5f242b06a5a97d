"""SDPs and sufficient sets of drawn forests, against the oracle."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from forests import core_forest, core_rows, fitted_forests, mask, project
from hypothesis import strategies as st
from oracle import Oracle, trees_of

from suffice import _core

MAX_ROWS = 4
CASES = st.tuples(
    fitted_forests(max_columns=4, max_rows=80),
    st.integers(1, 8),
    st.sampled_from(_core.kernel_names()),
)


def check(case):
    """Every SDP of a few rows, for every set of columns, equals the oracle's fraction."""
    (X, y, _task, fitted), min_node_size, kernels = case
    X = X.astype(np.float32)
    _core.use_kernels(name=kernels)
    trees = trees_of(fitted)
    forest = core_forest(trees, X, y)
    projection = project(forest, X.shape[1])
    values = np.unique(y)
    oracle = Oracle(trees, X, y, min_node_size)
    n_compared = 0
    for row in range(min(MAX_ROWS, len(X))):
        rank = int(np.searchsorted(values, y[row]))
        for size in range(X.shape[1] + 1):
            for S in combinations(range(X.shape[1]), size):
                [sdp] = _core.sdp(
                    projection=projection,
                    rows=core_rows(X[row : row + 1], rank),
                    sets=np.array([mask(S)], dtype=np.uint64),
                    min_node_size=min_node_size,
                    n_threads=1,
                )
                expected = float(oracle.sdp(X[row], S, y[row]))
                assert abs(sdp - expected) < 1e-12, (row, S, sdp, expected)
                n_compared += 1
    return n_compared
