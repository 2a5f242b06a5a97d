"""The search in boxes of pieces, at the arrays of the core. Its answers are tested in tests/proofs."""

import numpy as np
import pytest
from proof_models import forest_ensemble
from sklearn.ensemble import RandomForestClassifier

from suffice import _core
from suffice.proofs.domain import Domain
from suffice.proofs.search import Prover

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


def ask(trees, allowed, level, n_threads=1, max_nodes=100, wanted=0):
    n = len(allowed)
    answers = _core.search_boxes(
        trees=trees,
        options=_core.ProofOptions(
            wanted=wanted, max_nodes=max_nodes, max_seconds=60.0, starts=[], n_threads=n_threads
        ),
        allowed=np.asarray(allowed, dtype=np.uint8),
        weights=np.ones((n, 1)),
        level=np.full(n, level),
        strict=np.zeros(n, dtype=np.uint8),
        cost=np.empty((0, 0), dtype=np.int64),
        most_cost=np.zeros(n, dtype=np.int64),
    )
    return [(answer[0], answer[1], answer[2].tolist(), *answer[3:]) for answer in answers]


def test_a_split_is_answered_on_both_sides():
    trees = _core.PieceTrees(**ARRAYS)
    left, right, empty = ask(trees, [[1, 1, 0], [1, 1, 1], [0, 0, 0]], 2.0)
    assert left[:2] == (True, False)
    assert right[:4] == (True, True, [2], 2.0)
    assert empty[:2] == (True, False)
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
    with pytest.raises(ValueError, match="one box with its weights"):
        ask(trees, [[1, 1]], 2.0)
    with pytest.raises(ValueError, match="unknown piece"):
        _core.sum_leaves(trees=trees, points=np.array([[3]], dtype=np.int32))
    with pytest.raises(ValueError, match="`wanted`"):
        ask(trees, [[1, 1, 1]], 2.0, wanted=3)


def test_threads_do_not_change_a_bit():
    X = np.random.default_rng(0).normal(size=(200, 5))
    forest = RandomForestClassifier(15, max_depth=4, random_state=0).fit(X, (X[:, 0] * X[:, 1] > 0).astype(int))
    model = forest_ensemble(forest, list("abcde"))
    trees = Prover(Domain.learn(model, X)).trees
    n_pieces = Prover(Domain.learn(model, X)).domain.begins[-1]
    allowed = (np.random.default_rng(1).random((12, n_pieces)) < 0.7).astype(np.uint8)

    def answers(n_threads):
        return _core.search_boxes(
            trees=trees,
            options=_core.ProofOptions(wanted=1, max_nodes=50, max_seconds=60.0, starts=[], n_threads=n_threads),
            allowed=allowed,
            weights=np.tile([-1.0, 1.0], (12, 1)),
            level=np.full(12, -9.0),
            strict=np.zeros(12, dtype=np.uint8),
            cost=np.empty((0, 0), dtype=np.int64),
            most_cost=np.zeros(12, dtype=np.int64),
        )

    one, four = answers(1), answers(4)
    assert [(*a[:2], a[2].tolist(), *a[3:]) for a in one] == [(*a[:2], a[2].tolist(), *a[3:]) for a in four]
    assert any(a[-1] > 1 for a in one)
