"""The search in boxes of pieces, at the arrays of the core. Its answers are tested in tests/proofs."""

import numpy as np
import pytest

from suffice import _core

ARRAYS = {
    "n_pieces": np.array([3], dtype=np.int32),
    "column_of_split": np.array([0], dtype=np.int32),
    "goes_left": np.array([1, 1, 0], dtype=np.uint8),
    "roots": np.array([0], dtype=np.int32),
    "split": np.array([0, -1, -1], dtype=np.int32),
    "left": np.array([1, -1, -1], dtype=np.int32),
    "right": np.array([2, -1, -1], dtype=np.int32),
    "value": np.array([[0.0], [1.0], [2.0]]),
}


def ask(trees, allowed, level, wanted=0):
    return _core.search_box(
        trees=trees,
        options=_core.ProofOptions(wanted=wanted, max_nodes=100, max_seconds=60.0, starts=[]),
        allowed=np.array(allowed, dtype=np.uint8),
        weights=np.ones(1),
        level=level,
        is_strict=False,
        cost=np.empty(0, dtype=np.int64),
        most_cost=0,
    )


def test_a_split_is_answered_on_both_sides():
    trees = _core.PieceTrees(**ARRAYS)
    assert ask(trees, [1, 1, 0], 2.0)[:2] == (True, False)
    is_complete, is_reached, point, value, *_ = ask(trees, [1, 1, 1], 2.0)
    assert (is_complete, is_reached, point.tolist(), value) == (True, True, [2], 2.0)
    assert ask(trees, [0, 0, 0], 2.0)[:2] == (True, False)
    np.testing.assert_array_equal(
        _core.sum_leaves(trees=trees, points=np.array([[0], [2]], dtype=np.int32)), [[1], [2]]
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_pieces": np.array([0], dtype=np.int32)}, "has no pieces"),
        ({"goes_left": np.array([1], dtype=np.uint8)}, "too short"),
        ({"column_of_split": np.array([1], dtype=np.int32)}, "unknown column"),
        ({"split": np.array([1, -1, -1], dtype=np.int32)}, "unknown split"),
        ({"left": np.array([2, -1, -1], dtype=np.int32)}, "no forest"),
        ({"left": np.array([0, -1, -1], dtype=np.int32)}, "no root"),
        ({"roots": np.array([7], dtype=np.int32)}, "no root"),
        ({"value": np.zeros((2, 1))}, "one entry for each node"),
    ],
)
def test_trees_that_are_none_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        _core.PieceTrees(**{**ARRAYS, **changes})


def test_arrays_of_another_size_are_refused():
    trees = _core.PieceTrees(**ARRAYS)
    with pytest.raises(ValueError, match="A box must have all pieces"):
        ask(trees, [1, 1], 2.0)
    with pytest.raises(ValueError, match="unknown piece"):
        _core.sum_leaves(trees=trees, points=np.array([[3]], dtype=np.int32))
    with pytest.raises(ValueError, match="`wanted`"):
        ask(trees, [1, 1, 1], 2.0, wanted=3)
