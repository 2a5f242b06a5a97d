from fractions import Fraction

import numpy as np
import pytest

from suffice.proofs.ensemble import ModelColumn
from suffice.proofs.joining import SINGLE, Tree, join_trees, of_float32


def _tree(leaves, output=0, **changes):
    parts = {
        "column": np.array([0, -1, -1]),
        "threshold": np.array([1.0, 0, 0]),
        "missing_left": np.array([False] * 3),
        "left": np.array([1, -1, -1]),
        "right": np.array([2, -1, -1]),
        "leaves": np.array([0.0, *leaves]),
        "label_sets": {},
        "output": output,
    }
    return Tree(**{**parts, **changes})


def _join(trees, labels=None, n_outputs=1, **settings):
    how = {"decides_by": "number", "classes": None} if n_outputs == 1 else {"decides_by": "largest", "classes": [1, 2]}
    return join_trees(trees, [ModelColumn("x", labels)], np.zeros(n_outputs), "model", **how, **settings)


@pytest.mark.parametrize("bits", [SINGLE, 53])
def test_a_sum_in_floats_is_as_near_as_stated(bits):
    random = np.random.default_rng(0)
    dtype = np.float32 if bits == SINGLE else np.float64
    largest = 0.0
    for _ in range(200):
        leaves = random.normal(size=(50, 2)).astype(dtype) * 10.0 ** random.integers(-3, 3)
        model = _join([_tree(pair) for pair in leaves.astype(float)], bits=bits)
        chosen = leaves[np.arange(50), random.integers(0, 2, 50)]
        total = dtype(0)
        for leaf in random.permutation(chosen):
            total = dtype(total + leaf)
        error = abs(Fraction(float(total)) - sum(Fraction(float(leaf)) for leaf in chosen))
        largest = max(largest, float(error) / model.rounding)
    assert 0.002 < largest <= 1


def test_sums_of_multiples_of_one_small_number_are_exact():
    assert _join([_tree([0.25, -3]), _tree([1, 0.5])]).rounding == 0
    assert _join([_tree([0.25, -3]), _tree([1, 0.5])], is_as_added=False).rounding > 0
    assert _join([_tree([2.0**30, 1]), _tree([1, 1])]).rounding == 0
    assert _join([_tree([2.0**30, 1]), _tree([1, 1])], bits=SINGLE).rounding > 0
    assert _join([_tree([0.1, 0.2])], slack=0.5).rounding > 0.5


def test_the_bound_counts_the_trees_of_one_output():
    two = _join([_tree([0.1, 0.3]), _tree([0.1, 0.3], 1)], n_outputs=2)
    assert two.rounding == _join([_tree([0.1, 0.3])]).rounding
    np.testing.assert_array_equal(two.value[[1, 4]], [[0.1, 0], [0, 0.1]])


def test_codes_of_labels_up_to_a_threshold_are_a_set():
    model = _join([_tree([1, 2]), _tree([1, 2], label_sets={0: np.array([False, True])})], labels=("a", "b", "c", "d"))
    np.testing.assert_array_equal(model.label_sets, [[False, True, False, False], [True, True, False, False]])
    assert model.decide(model.encode({"x": ["a", "b", "c"]})).tolist() == [3, 2, 4]


def test_forged_trees_are_refused():
    with pytest.raises(ValueError, match="model cannot be read as trees: it has none"):
        _join([])
    with pytest.raises(ValueError, match="adds to output 1 of 1"):
        _join([_tree([1, 2], 1)])
    with pytest.raises(ValueError, match="a number that is not whole"):
        _join([_tree([1, 2], left=np.array([np.nan, -1, -1]))])


def test_thresholds_of_float32_are_moved_to_the_last_float64_number_that_is_rounded_below():
    ends = np.array([0.0, -0.0, 1e-45, 1.0, 3.4028234663852886e38, -3.4028234663852886e38, np.inf, -1e300, 1e300])
    singles = np.random.default_rng(0).normal(size=1000).astype(np.float32).astype(float)
    at = np.concatenate([ends, singles, np.nextafter(singles, np.inf), np.random.default_rng(1).normal(size=1000)])
    moved = of_float32(at)
    with np.errstate(over="ignore"):
        assert np.all(moved.astype(np.float32) <= at)
        finite = moved < np.inf
        assert np.all(np.nextafter(moved[finite], np.inf).astype(np.float32) > at[finite])
