"""The bootstrap rows of a forest, and what it predicts."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from oracle import rows_out_of_bag
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._forest.trees import FittedForest, bootstrap_rows, choose_rows
from suffice.errors import FidelityWarning

X, LABELS = make_classification(n_samples=200, n_features=5, random_state=0)
_, NUMBERS = make_regression(n_samples=200, n_features=5, random_state=0)
NUMBERS = NUMBERS + X[:, 0] * 300
KINDS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]


def outcomes_for(kind):
    return LABELS if "Classifier" in kind.__name__ else NUMBERS


@pytest.mark.parametrize("is_fitted", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"bootstrap": False}, {"bootstrap": True}, {"bootstrap": True, "max_samples": 0.3}]
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_that_each_tree_drew_are_found_again(kind, options, is_fitted):
    y = outcomes_for(kind)
    forest = kind(n_estimators=7, random_state=np.random.RandomState(0), **options)
    if is_fitted:
        forest.fit(X, y)
    explainer = SufficientExplainer(forest, counts="bootstrap").fit(X, y)
    at_roots = np.mean([tree.tree_.value[0, 0] for tree in explainer.forest_.estimators_], axis=0)
    if "Classifier" in kind.__name__:
        np.testing.assert_allclose(explainer.predict_proba(X[:2], S=[]), [at_roots] * 2)
    else:
        np.testing.assert_allclose(explainer.predict(X[:2], S=[]), at_roots.repeat(2))


def test_a_forest_that_no_seed_can_repeat_is_taken_over():
    forest = RandomForestRegressor(n_estimators=7, random_state=None).fit(X, NUMBERS)
    explainer = SufficientExplainer(forest, counts="bootstrap").fit(X, NUMBERS)
    np.testing.assert_allclose(explainer.predict(X, S=range(5)), forest.predict(X))


WEIGHTS = np.random.default_rng(0).random(200)


@pytest.mark.parametrize("kind", [ExtraTreesClassifier, ExtraTreesRegressor])
def test_a_forest_trained_with_weights_is_refused(kind):
    forest = kind(n_estimators=3, random_state=0).fit(X, outcomes_for(kind), sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match=r"If its rows or classes have weights, leave these out."):
        SufficientExplainer(forest, counts="bootstrap").fit(X, outcomes_for(kind))


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {0: 1, 1: 5}])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_a_forest_that_would_weight_its_classes_is_refused_with_the_reason(kind, class_weight):
    """The message said that an unfitted forest was already fitted."""
    forest = kind(n_estimators=3, class_weight=class_weight, random_state=0)
    y = np.where(np.arange(200) < 20, 0, LABELS)
    message = (
        r"^`forest` must not have a `class_weight`\. Weights, like repeated rows, change the shares of the outcomes.*"
        r"describe your data\.$"
    )
    with pytest.raises(ValueError, match=message):
        SufficientExplainer(forest).fit(X, y)
    with pytest.raises(ValueError, match=message):
        SufficientExplainer(forest.fit(X, y)).fit(X, y)


def test_a_forest_that_draws_rows_by_weight_is_followed_and_one_that_weights_them_refused():
    """scikit-learn weights rows before 1.9, and draws them by their weights since: then there are no weights left."""
    forest = RandomForestRegressor(n_estimators=7, random_state=0).fit(X, NUMBERS, sample_weight=WEIGHTS)
    if tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9):
        with pytest.raises(ValueError, match="leave these out"):
            SufficientExplainer(forest).fit(X, NUMBERS)
    else:
        explainer = SufficientExplainer(forest, counts="bootstrap").fit(X, NUMBERS)
        np.testing.assert_allclose(explainer.predict(X, S=range(5)), forest.predict(X))


def test_fidelity_leaves_out_rows_that_every_tree_saw():
    forest = RandomForestRegressor(n_estimators=2, random_state=0).fit(X, NUMBERS)
    drawn = [set(rows) for rows in forest.estimators_samples_]
    out = [i for i in range(200) if not all(i in rows for rows in drawn)]
    assert len(out) < 200
    trees = list(zip(forest.estimators_, drawn, strict=True))
    votes = [[tree.predict(X[[i]])[0] for tree, rows in trees if i not in rows] for i in out]
    errors = NUMBERS[out] - np.array([np.mean(v) for v in votes])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)
        explainer = SufficientExplainer(forest).fit(X, NUMBERS)
    assert explainer.fidelity_ == pytest.approx(1 - np.mean(errors**2) / np.var(NUMBERS[out]))


def test_a_fitted_forest_refuses_a_table_with_more_rows():
    forest = RandomForestRegressor(3, random_state=0).fit(X[:150], NUMBERS[:150])
    with pytest.raises(ValueError, match="do not fall into its leaves"):
        SufficientExplainer(forest).fit(X, NUMBERS)


def test_a_split_without_a_threshold_is_refused():
    """Before 1.8, scikit-learn could write NaN as the threshold of a split between missing and known values."""
    forest = RandomForestRegressor(3, random_state=0).fit(X, NUMBERS)
    forest.estimators_[1].tree_.threshold[0] = np.nan
    with pytest.raises(ValueError, match=r"split without a threshold.*Pass the forest unfitted"):
        SufficientExplainer(forest, counts="bootstrap").fit(X, NUMBERS)


# --- predictions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("at_once", [7, 20_000])
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_have_the_bits_of_scikit_learn(kind, at_once, n_threads, monkeypatch):
    monkeypatch.setattr("suffice._forest.trees.N_AT_ONCE", at_once)
    table = X.astype(np.float32)
    forest = kind(n_estimators=7, random_state=1).fit(table, outcomes_for(kind))
    counts = "out-of-bag" if forest.bootstrap else "bootstrap"
    fitted = SufficientExplainer(forest, counts=counts).fit(table, outcomes_for(kind)).fitted_.forest
    expected = forest.predict_proba(table) if "Classifier" in kind.__name__ else forest.predict(table)[:, None]
    np.testing.assert_array_equal(fitted.predict_leaves(table, n_threads), expected)
    assert fitted.predict_leaves(table[:0], n_threads).shape == (0, expected.shape[1])


@pytest.mark.parametrize("counts", ["bootstrap", "out-of-bag"])
@pytest.mark.parametrize("at_once", [7, 20_000])
def test_out_of_bag_predictions_are_those_of_the_trees_that_did_not_see_the_row(at_once, counts, monkeypatch):
    monkeypatch.setattr("suffice._forest.trees.N_AT_ONCE", at_once)
    forest = RandomForestRegressor(n_estimators=4, random_state=0).fit(X, NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)
        fitted = SufficientExplainer(forest, counts=counts).fit(X, NUMBERS).fitted_.forest
    predictions, is_known = fitted.predict_out_of_bag(rows_out_of_bag(forest, len(X)), 2)
    assert not is_known.all()
    for i in range(len(X)):
        votes = [
            tree.predict(X[[i]])[0]
            for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True)
            if i not in rows
        ]
        assert is_known[i] == bool(votes)
        if votes:
            assert predictions[i, 0] == pytest.approx(np.mean(votes))


@pytest.mark.parametrize("options", [{}, {"max_samples": 30}, {"bootstrap": False}])
def test_the_rows_of_one_tree_at_a_time_are_those_of_all_trees(options):
    forest = RandomForestRegressor(n_estimators=4, random_state=0, **options).fit(X, NUMBERS)
    for rows, drawn in zip(bootstrap_rows(forest), forest.estimators_samples_, strict=True):
        assert rows.dtype == np.int32
        np.testing.assert_array_equal(rows, drawn)
    assert len(forest.estimators_) == 4


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("counts", ["bootstrap", "out-of-bag", "all"])
@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_votes_come_from_the_trees_that_did_not_draw_a_row_to_the_bit(kind, counts, n_threads):
    """More rows than one part of the table has, and more trees than are handed to the core together."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(1500, 60)).astype(np.float32)
    ranks = (np.nan_to_num(table[:, 0]) > 0).astype(np.uint32) + (table[:, 1] > 1)
    table[rng.random(table.shape) < 0.1] = np.nan
    forest = kind(n_estimators=17, min_samples_leaf=4, max_features=0.3, random_state=0).fit(table, ranks)
    fitted, (votes, n_trees, *_) = FittedForest.from_training(
        forest, table, ranks, np.arange(3.0), counts, n_threads=n_threads
    )
    total, is_out = np.zeros(votes.shape), rows_out_of_bag(forest, len(table))
    for tree, of_tree in zip(forest.estimators_, is_out, strict=True):
        total += np.where(of_tree[:, None], tree.tree_.predict(table).reshape(len(table), -1), 0.0)
    np.testing.assert_array_equal(n_trees, is_out.sum(axis=0))
    assert (n_trees == 0).any()
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(votes, total / n_trees[:, None])
    again = FittedForest(fitted.trees, table, fitted.y_rank, fitted.y_values)
    np.testing.assert_array_equal(again.predict_leaves(table, 1), fitted.predict_leaves(table, 1))


@pytest.mark.parametrize("n_kept", [200, 201])
def test_all_rows_are_chosen_if_there_are_no_more(n_kept):
    assert choose_rows(200, n_kept, 0).tolist() == list(range(200))


def test_chosen_rows_are_ascending_and_repeatable():
    kept = choose_rows(200, 50, 3)
    assert kept.tolist() == sorted(set(kept.tolist()))
    assert len(kept) == 50
    assert kept.tolist() == choose_rows(200, 50, 3).tolist() != choose_rows(200, 50, 4).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_splits_are_counted_by_column(kind):
    forest = kind(n_estimators=5, max_depth=3, random_state=1).fit(X[:, :3], outcomes_for(kind))
    fitted = SufficientExplainer(forest, counts="bootstrap").fit(X[:, :3], outcomes_for(kind)).fitted_.forest
    expected = np.zeros(3, dtype=int)
    for tree in forest.estimators_:
        for column in tree.tree_.feature[tree.tree_.children_left >= 0]:
            expected[column] += 1
    assert fitted.count_splits().tolist() == expected.tolist()


def test_a_forest_comes_back_from_a_pickle_with_a_core_of_its_own():
    fitted = SufficientExplainer(random_state=0).fit(X, LABELS).fitted_.forest
    again = pickle.loads(pickle.dumps(fitted))
    assert again.core is not fitted.core
    table = X.astype(np.float32)
    np.testing.assert_array_equal(again.predict_leaves(table, 1), fitted.predict_leaves(table, 1))
