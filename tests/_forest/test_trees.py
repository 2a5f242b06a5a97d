"""The trees of a forest as arrays, with all of their training rows or some."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._forest.trees import FittedForest, PlainForest, takes_missing

RNG = np.random.default_rng(0)
X = RNG.integers(0, 6, size=(400, 4)).astype(np.float32)
NUMBERS = X[:, 0] * 2 + X[:, 1] + RNG.normal(size=400).round(2)
CLASSES = np.where(X[:, 0] + X[:, 1] > 5, "high", "low")
FORESTS = {
    "classes": RandomForestClassifier(6, min_samples_leaf=8, random_state=3),
    "numbers": RandomForestRegressor(6, min_samples_leaf=8, random_state=3),
}


def test_a_fitted_forest_of_another_table_is_still_refused():
    forest = ExtraTreesClassifier(3, bootstrap=True, random_state=0).fit(X, CLASSES)
    SufficientExplainer(forest).fit(X, CLASSES)
    for table in (X[::-1].copy(), X + 1):
        with pytest.raises(ValueError, match="do not fall into its leaves"):
            SufficientExplainer(forest).fit(table, CLASSES)
    with pytest.raises(ValueError, match="on other outcomes"):
        SufficientExplainer(forest).fit(X, np.where(CLASSES == "high", "low", "high"))


# --- arrays ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORESTS)
def test_the_arrays_are_those_of_scikit_learn(kind):
    forest = clone(FORESTS[kind]).fit(X, {"classes": CLASSES, "numbers": NUMBERS}[kind])
    trees = count_rows(forest, X, "bootstrap")
    assert len(trees) == 6
    for tree, estimator, drawn in zip(trees, forest.estimators_, forest.estimators_samples_, strict=True):
        assert tree.rows.tolist() == sorted(drawn.tolist())
        assert tree.left is estimator.tree_.children_left or (tree.left == estimator.tree_.children_left).all()
        np.testing.assert_array_equal(tree.threshold, estimator.tree_.threshold)
        assert tree.value.shape == (estimator.tree_.node_count, 2 if kind == "classes" else 1)


def count_rows(forest, table, counts):
    fitted, _ = FittedForest.from_training(forest, table, np.zeros(len(table), int), np.arange(2.0), counts)
    return fitted.trees


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("counts", ["bootstrap", "out-of-bag", "all"])
def test_a_forest_with_other_counts_keeps_its_splits(kind, counts):
    forest = clone(FORESTS[kind]).fit(X, {"classes": CLASSES, "numbers": NUMBERS}[kind])
    counted = count_rows(forest, X, counts)
    assert isinstance(counted, PlainForest)
    assert len(counted) == 6
    for tree, estimator, rows in zip(counted, forest.estimators_, forest.estimators_samples_, strict=True):
        np.testing.assert_array_equal(tree.threshold, estimator.tree_.threshold)
        np.testing.assert_array_equal(tree.value, estimator.tree_.value[:, 0, :])
        drawn = sorted(rows.tolist())
        out = [row for row in range(400) if row not in drawn]
        assert tree.rows.tolist() == {"bootstrap": drawn, "out-of-bag": out, "all": list(range(400))}[counts]
        assert tree.rows.dtype == np.int32
        leaves = estimator.tree_.apply(X[tree.rows])
        assert tree.n_rows.tolist() == np.bincount(leaves, minlength=len(tree.left)).tolist()


def test_a_tree_that_drew_every_row_counts_the_rows_that_it_drew():
    """One of the trees draws both rows, which leaves none out of bag; the others draw one of them twice."""
    rows = np.array([[0.0], [1.0]], dtype=np.float32)
    forest = RandomForestClassifier(20, random_state=0).fit(rows, [0, 1])
    trees = count_rows(forest, rows, "out-of-bag").trees
    kinds = set()
    for tree, drawn in zip(trees, forest.estimators_samples_, strict=True):
        out = sorted({0, 1} - set(drawn.tolist()))
        assert tree.rows.tolist() == (out or sorted(drawn.tolist()))
        assert tree.n_rows.sum() == len(tree.rows)
        kinds.add(len(out))
    assert kinds == {0, 1}


@pytest.mark.parametrize("counts", ["bootstrap", "out-of-bag"])
@pytest.mark.parametrize("table", [X[::-1].copy(), X + 1, X[:300]], ids=["turned", "moved", "cut"])
def test_the_rows_of_another_table_are_refused_though_any_rows_could_be_counted(table, counts):
    forest = clone(FORESTS["classes"]).fit(X, CLASSES)
    with pytest.raises(ValueError, match="do not fall into its leaves as they did when it was fitted"):
        count_rows(forest, table, counts)


def test_a_forest_is_described_by_its_parameters():
    assert count_rows(clone(FORESTS["numbers"]).fit(X, NUMBERS), X, "bootstrap").describe() == {
        "kind": "RandomForestRegressor",
        "n_estimators": 6,
        "min_samples_leaf": 8,
        "max_depth": None,
        "max_features": 1.0,
    }
    assert PlainForest("ExtraTreesRegressor", {"n_estimators": 3}, True, ()).describe() == {
        "kind": "ExtraTreesRegressor",
        "n_estimators": 3,
    }


@pytest.mark.parametrize(
    ("forest", "is_taken"),
    [
        (None, True),
        (RandomForestClassifier(), True),
        (RandomForestClassifier(monotonic_cst=[1, 0, 0, 0]), False),
    ],
)
def test_whether_a_forest_takes_missing_values(forest, is_taken):
    assert takes_missing(forest) is is_taken
