"""Which variables are searched: those of each row, by splits, impurity, or as listed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from small_explainers import CLASSES, FRAME, N_ROWS, NUMBERS, X, classifier

from suffice import SufficientExplainer
from suffice.errors import FidelityWarning

GROUPS = {"look": ["day", "hue"]}


def ranking(importance, variables=range(5)):
    return tuple(sorted(variables, key=lambda v: (-importance[v], v)))


def test_candidates_are_the_variables_with_most_splits(explainer):
    explainer = explainer.with_settings(candidates="splits")
    splits = np.zeros(5)
    for tree in explainer.forest_.estimators_:
        for node in range(tree.tree_.node_count):
            if tree.tree_.children_left[node] != tree.tree_.children_right[node]:
                splits[tree.tree_.feature[node]] += 1
    assert splits[4] == 0
    assert explainer.candidates_ == tuple(f"x{v}" for v in ranking(splits, range(4)))


def test_candidates_by_impurity_are_ranked_as_scikit_learn_does(explainer):
    y = CLASSES if explainer.task_ == "classification" else NUMBERS
    explainer = clone(explainer).set_params(candidates="impurity").fit(X, y)
    importance = explainer.forest_.feature_importances_
    assert explainer.candidates_ == tuple(f"x{v}" for v in ranking(importance, range(4)))
    grouped = clone(explainer).set_params(groups={"pair": [1, 2]}).fit(X, y)
    by_name = {"x0": importance[0], "pair": importance[1] + importance[2], "x3": importance[3]}
    assert grouped.candidates_ == ranking(by_name, by_name)


def test_listed_candidates_keep_their_order():
    explainer = classifier(candidates=["dust", 1, "speed", "load"], n_candidates=1).fit(FRAME, CLASSES)
    assert explainer.candidates_ == ("dust", "load", "speed")
    assert explainer.explain(FRAME[:5]).candidates == ("dust", "load", "speed")
    held = {name for e in explainer.explain(FRAME) for s in e.sufficient_sets for name in s.variables}
    assert held <= {"dust", "load", "speed"}


def test_a_group_may_be_listed_as_a_candidate():
    assert classifier(candidates=["look"], groups=GROUPS).fit(FRAME, CLASSES).candidates_ == ("look",)


@pytest.mark.parametrize("candidates", ["row", "splits", "impurity"])
def test_a_variable_without_splits_is_no_candidate(candidates):
    explainer = classifier(candidates=candidates, n_candidates=64).fit(FRAME, CLASSES)
    assert sorted(explainer.candidates_) == ["day", "hue", "load", "speed"]


def test_a_forest_without_splits_has_all_variables_as_candidates():
    forest = RandomForestClassifier(n_estimators=3, min_samples_leaf=N_ROWS, random_state=0)
    for counts, message in (("bootstrap", "hardly better than a constant"), ("out-of-bag", "say nothing about")):
        with pytest.warns(FidelityWarning, match=message):
            explainer = SufficientExplainer(forest, counts=counts).fit(X, CLASSES)
        assert explainer.candidates_ == ("x0", "x1", "x2", "x3", "x4")


@pytest.mark.parametrize("n_candidates", [1, 3, np.int64(2)])
def test_no_more_candidates_are_taken_than_asked_for(of_classes, n_candidates):
    all_of_them = of_classes.with_settings(candidates="splits").candidates_
    explainer = classifier(n_candidates=n_candidates, candidates="splits").fit(X, CLASSES)
    assert explainer.candidates_ == all_of_them[:n_candidates]
    assert explainer.fitted_.n_searched == n_candidates


def test_each_row_may_have_any_variable_as_a_candidate(tmp_path):
    explainer = classifier(n_candidates=2, candidates="row").fit(X, CLASSES)
    importance = explainer.forest_.feature_importances_
    assert explainer.candidates_ == tuple(f"x{v}" for v in ranking(importance, range(4)))
    assert explainer.fitted_.n_searched == 2
    assert explainer.describe()["n_searched"] == 2
    explanations = explainer.explain(X)
    assert max(len(s.variables) for e in explanations for s in e.sufficient_sets) <= 2
    # Fewer or more of them need no other projection.
    more = explainer.with_settings(n_candidates=3)
    assert more.fitted_.projected is explainer.fitted_.projected
    assert more.fitted_.n_searched == 3
    # A file has no impurities: the variables are ranked by splits then.
    explainer.with_settings(candidates="splits").save(tmp_path / "e.suffice")
    loaded = SufficientExplainer.load(tmp_path / "e.suffice").with_settings(candidates="row", n_candidates=2)
    assert sorted(loaded.candidates_) == sorted(explainer.candidates_)
    assert loaded.fitted_.n_searched == 2


def test_the_candidates_of_rows_are_among_the_64_most_important_variables():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(300, 90))
    y = (wide[:, 80] + wide[:, 85] > 0).astype(int)
    forest = RandomForestClassifier(40, min_samples_leaf=2, random_state=0)
    explainer = SufficientExplainer(forest, candidates="row").fit(wide, y)
    assert len(explainer.candidates_) == 64
    assert set(explainer.candidates_[:2]) == {"x80", "x85"}
    assert len(explainer.with_settings(n_candidates=80).fit(wide, y).candidates_) == 80


@pytest.mark.parametrize("candidates", ["row", "impurity"])
def test_splits_that_gain_nothing_are_no_reason_for_a_warning(candidates):
    table = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 0.0]])
    y = np.array([0.0, 1.0, 0.0, 1.0])
    forest = RandomForestRegressor(1, max_depth=1, max_features=1, bootstrap=False, random_state=0).fit(table, y)
    with np.errstate(invalid="ignore"):
        assert np.isnan(forest.feature_importances_).all()
    explainer = SufficientExplainer(forest, counts="bootstrap", candidates=candidates)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", FidelityWarning)
        assert len(explainer.fit(table, y).candidates_) == 1
