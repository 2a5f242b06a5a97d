"""Predictions of training rows by the trees that did not draw them."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import rows_out_of_bag
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from small_explainers import CLASSES, NUMBERS, X

from suffice import SufficientExplainer
from suffice._forest import trees
from suffice._forest.out_of_bag import expected_ranks, rows_not_drawn, votes_out_of_bag


@pytest.mark.parametrize("counts", ["out-of-bag", "bootstrap"])
def test_the_rows_are_those_that_scikit_learn_did_not_draw(counts):
    forest = RandomForestClassifier(n_estimators=12, random_state=0)
    explainer = SufficientExplainer(forest, counts=counts).fit(X, CLASSES)
    expected = rows_out_of_bag(explainer.forest_, len(X))
    assert np.array_equal(rows_not_drawn(explainer.fitted_.forest, counts), expected)


@pytest.mark.parametrize("counts", ["out-of-bag", "bootstrap"])
def test_predictions_are_those_of_scikit_learn(counts):
    forest = RandomForestRegressor(n_estimators=60, oob_score=True, random_state=0)
    explainer = SufficientExplainer(forest, counts=counts).fit(X, NUMBERS)
    predictions, is_known = votes_out_of_bag(explainer.fitted_)
    assert is_known.all()
    assert predictions[:, 0] == pytest.approx(explainer.forest_.oob_prediction_)


def test_a_loaded_explainer_predicts_the_same(tmp_path):
    explainer = SufficientExplainer(random_state=0).fit(X, NUMBERS)
    explainer.save(tmp_path / "e.suffice")
    loaded = SufficientExplainer.load(tmp_path / "e.suffice")
    assert np.array_equal(votes_out_of_bag(loaded.fitted_)[0], votes_out_of_bag(explainer.fitted_)[0])


def test_a_forest_without_bootstrap_knows_no_row():
    forest = RandomForestRegressor(n_estimators=5, bootstrap=False, random_state=0)
    explainer = SufficientExplainer(forest, counts="bootstrap").fit(X, NUMBERS)
    assert not votes_out_of_bag(explainer.fitted_)[1].any()


def test_rows_that_are_all_counted_do_not_show_which_were_drawn(tmp_path):
    """The fidelity is out of bag all the same."""
    forest = RandomForestRegressor(n_estimators=60, oob_score=True, random_state=0)
    explainer = SufficientExplainer(forest, counts="all", candidates="row", voters="all").fit(X, NUMBERS)
    assert explainer.fidelity_ == pytest.approx(explainer.forest_.oob_score_)
    explainer.save(tmp_path / "e.suffice")
    for again in (explainer, SufficientExplainer.load(tmp_path / "e.suffice")):
        assert again.fidelity_ == explainer.fidelity_
        assert not votes_out_of_bag(again.fitted_)[1].any()
        with pytest.raises(ValueError, match="the trees drew all rows, count all rows, or"):
            again.quality()


@pytest.mark.parametrize("counts", ["out-of-bag", "bootstrap", "all"])
def test_a_sample_of_the_drawn_rows_does_not_show_which_were_not_drawn(counts, monkeypatch, tmp_path):
    """Drawn rows that a tree did not count were taken for rows out of bag, and the quality was far too high."""
    monkeypatch.setattr(trees, "MOST_COUNTED", 40)
    explainer = SufficientExplainer(RandomForestClassifier(12, random_state=0), counts=counts).fit(X, CLASSES)
    explainer.save(tmp_path / "e.suffice")
    is_out = rows_out_of_bag(explainer.forest_, len(X))
    for again in (explainer, SufficientExplainer.load(tmp_path / "e.suffice")):
        found = rows_not_drawn(again.fitted_.forest, counts)
        assert not (found & ~is_out).any()
        assert found.any() == (counts == "out-of-bag")


def test_a_tree_that_drew_every_row_has_none_out_of_bag():
    """Such a tree counts the rows that it drew."""
    forest = RandomForestClassifier(n_estimators=200, random_state=0)
    few, labels = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    with pytest.warns(UserWarning, match="forest"):
        explainer = SufficientExplainer(forest).fit(few, labels)
    expected = rows_out_of_bag(explainer.forest_, 4)
    assert not expected.any(axis=1).all()
    assert np.array_equal(rows_not_drawn(explainer.fitted_.forest, "out-of-bag"), expected)


@pytest.mark.parametrize("most", [30, 10_000])
def test_the_ranks_that_are_expected_of_a_row_are_those_of_the_other_rows_in_its_leaves(most, monkeypatch):
    """Row by row and tree by tree: trees that drew the row, and leaves without another counted row, have no say."""
    monkeypatch.setattr(trees, "MOST_COUNTED", most)
    forest = RandomForestRegressor(n_estimators=8, min_samples_leaf=3, random_state=0)
    state = SufficientExplainer(forest).fit(X, NUMBERS).fitted_
    is_out = rows_out_of_bag(state.estimator, len(X))
    is_counted = rows_not_drawn(state.forest, "out-of-bag")
    assert np.array_equal(is_counted, is_out) == (most > 30)
    leaves = np.column_stack([tree.apply(state.forest.X) for tree in state.estimator.estimators_])
    is_wanted = state.forest.y_values > np.median(NUMBERS)
    wanted = is_wanted[state.forest.y_rank]
    expected = {}
    for row in range(len(X)):
        shares = []
        for t in np.flatnonzero(is_out[:, row]):
            others = np.flatnonzero(is_counted[t] & (leaves[:, t] == leaves[row, t]))
            others = others[others != row]
            if len(others):
                shares.append(wanted[others].mean())
        if shares:
            expected[row] = np.mean(shares)
    weights = expected_ranks(state.forest, np.arange(len(X)), is_out.T)
    assert weights.rows.tolist() == list(expected)
    assert weights.shares(is_wanted) == pytest.approx(list(expected.values()), abs=1e-5)
    few = expected_ranks(state.forest, np.array([5, 40]), is_out[:, [5, 40]].T)
    assert set(few.rows.tolist()) <= {5, 40}
    assert few.shares(is_wanted) == pytest.approx([expected[row] for row in few.rows], abs=1e-5)
