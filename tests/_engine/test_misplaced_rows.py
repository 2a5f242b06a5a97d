"""Before version 1.8, scikit-learn puts some rows on the wrong side while it grows a tree on missing values."""

from functools import partial

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._engine.misplaced_rows import grow, has_misplaced_rows, mend_forest

FORESTS = {
    "classes": RandomForestClassifier,
    "extra classes": partial(ExtraTreesClassifier, bootstrap=True),
    "numbers": RandomForestRegressor,
    "extra numbers": ExtraTreesRegressor,
}


@pytest.fixture(scope="module")
def holes():
    """A table whose first two columns have gaps, which tell something about the outcome."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    numbers = X[:, 0] + X[:, 2] + 0.2 * rng.normal(size=300)
    X[rng.random(300) < np.where(numbers > 0, 0.5, 0.1), 0] = np.nan
    X[rng.random(300) < 0.2, 1] = np.nan
    return X, numbers, np.where(numbers > 0.5, "high", np.where(numbers > -0.5, "even", "low"))


def expected_leaf(forest, outcomes):
    """What a leaf with these outcomes predicts."""
    if hasattr(forest, "classes_"):
        return [np.mean(outcomes == label) for label in forest.classes_]
    return [np.mean(outcomes)]


def path_of(tree, x):
    """Go down a tree as scikit-learn predicts; its own `decision_path` sends missing values elsewhere."""
    path = [0]
    while tree.children_left[path[-1]] >= 0:
        i = path[-1]
        value = x[tree.feature[i]]
        goes_left = tree.missing_go_to_left[i] if np.isnan(value) else value <= tree.threshold[i]
        path.append(tree.children_left[i] if goes_left else tree.children_right[i])
    return path


@pytest.mark.parametrize("kind", FORESTS)
def test_leaves_hold_and_predict_the_rows_that_the_finished_tree_sends_there(holes, kind):
    X, numbers, labels = holes
    y = labels if "classes" in kind else numbers
    forest = FORESTS[kind](n_estimators=4, min_samples_leaf=3, random_state=0).fit(X, y)
    for tree in forest.estimators_:  # as an old scikit-learn may leave them
        is_leaf = tree.tree_.children_left < 0
        tree.tree_.weighted_n_node_samples[is_leaf] += 1
        tree.tree_.value[is_leaf] = 1 - tree.tree_.value[is_leaf]
    mend_forest(forest, X, y)
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        leaves = np.array([path_of(tree.tree_, x)[-1] for x in X[drawn]])
        for leaf in np.flatnonzero(tree.tree_.children_left < 0):
            of_leaf = y[drawn][leaves == leaf]
            assert tree.tree_.weighted_n_node_samples[leaf] == len(of_leaf) > 0
            np.testing.assert_allclose(tree.tree_.value[leaf, 0], expected_leaf(forest, of_leaf), rtol=1e-12)


@pytest.mark.parametrize("missing_left", [0, 1])
def test_a_split_without_a_threshold_gets_one_and_sends_all_rows_where_it_did(holes, missing_left):
    X, numbers, _ = holes
    forest = RandomForestRegressor(n_estimators=1, min_samples_leaf=3, random_state=0).fit(X, numbers)
    tree = forest.estimators_[0].tree_
    split = np.flatnonzero(tree.feature == 0)[0]
    tree.threshold[split], tree.missing_go_to_left[split] = np.nan, missing_left
    leaves = tree.apply(X)
    mend_forest(forest, X, numbers)
    assert not np.isnan(tree.threshold).any()
    np.testing.assert_array_equal(tree.apply(X), leaves)
    empty = np.setdiff1d(np.flatnonzero(tree.children_left < 0), leaves)
    assert len(empty)
    assert (tree.weighted_n_node_samples[empty] == 0).all()
    drawn = forest.estimators_samples_[0]
    passes = np.zeros((len(drawn), tree.node_count), dtype=bool)
    for passes_row, x in zip(passes, X[drawn], strict=True):
        passes_row[path_of(tree, x)] = True
    for leaf in empty:  # the nearest ancestor with rows
        node = leaf
        while not passes[:, node].any():
            [node] = np.flatnonzero((tree.children_left == node) | (tree.children_right == node))
        np.testing.assert_allclose(tree.value[leaf, 0], np.mean(numbers[drawn][passes[:, node]]), rtol=1e-12)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_forest_of_a_new_release_stays_as_it_is(holes, kind):
    """Mending changes nothing where no row is misplaced: without missing values, with any release."""
    X, numbers, labels = holes
    X, y = np.nan_to_num(X), labels if "classes" in kind else numbers
    forest = FORESTS[kind](n_estimators=4, min_samples_leaf=3, random_state=0).fit(X, y)
    before = forest.predict_proba(X) if "classes" in kind else forest.predict(X)
    n_rows = [tree.tree_.weighted_n_node_samples.copy() for tree in forest.estimators_]
    mend_forest(forest, X, y)
    np.testing.assert_allclose(forest.predict_proba(X) if "classes" in kind else forest.predict(X), before, rtol=1e-12)
    for tree, expected in zip(forest.estimators_, n_rows, strict=True):
        np.testing.assert_array_equal(tree.tree_.weighted_n_node_samples, expected)


def test_only_old_releases_misplace_rows_and_only_with_missing_values(holes):
    X = holes[0]
    assert has_misplaced_rows(X, "1.7.2")
    assert has_misplaced_rows(X, "1.6.0")
    assert not has_misplaced_rows(np.nan_to_num(X), "1.7.2")
    assert not has_misplaced_rows(X, "1.8.0")
    assert not has_misplaced_rows(X, "1.10.dev0")


def test_growing_mends_if_it_must(holes, monkeypatch):
    X, numbers, _ = holes
    for is_due in (False, True):
        mended = []
        monkeypatch.setattr("suffice._engine.misplaced_rows.has_misplaced_rows", lambda X, is_due=is_due: is_due)
        monkeypatch.setattr("suffice._engine.misplaced_rows.mend_forest", lambda *args, to=mended: to.append(args))
        forest = RandomForestRegressor(n_estimators=2, random_state=0)
        assert grow(forest, X, numbers) is forest
        assert len(mended) == is_due


@pytest.mark.parametrize("counts", ["bootstrap", "out-of-bag"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_table_with_gaps_is_fitted_and_grown_again_by_any_release(holes, kind, counts):
    """With scikit-learn before 1.8, most tables with gaps could not be fitted."""
    X, numbers, labels = holes
    y = labels if kind == "classes" else numbers
    forest = FORESTS[kind](n_estimators=20, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, counts=counts, random_state=0).fit(X, y)
    assert len(explainer.explain(X[:5])) == 5
    assert explainer.stability(X[:3], n_seeds=1, n_resamples=1, random_state=0) is not None
