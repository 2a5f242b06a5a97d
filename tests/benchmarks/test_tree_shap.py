"""SHAP values towards the outcome, against those of shap itself."""

from __future__ import annotations

import numpy as np
from benchmarks.tree_shap import shap, shap_towards, top_variables
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

X = np.random.default_rng(0).normal(size=(200, 3))
Y = np.where(X[:, 1] > 0, "yes", "no")


def test_a_forest_is_explained_towards_the_class_of_each_row():
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)
    values = shap_towards(forest, X[:6], forest.classes_, Y[:6])
    expected = np.asarray(shap.TreeExplainer(forest).shap_values(X[:6]))
    for i in range(6):
        assert values[i].tolist() == expected[i, :, ["no", "yes"].index(Y[i])].tolist()
        assert np.argmax(values[i]) == 1


def test_a_margin_changes_its_sign_with_the_class():
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, Y)
    towards_yes = shap_towards(model, X[:3], model.classes_, np.array(["yes"] * 3))
    towards_no = shap_towards(model, X[:3], model.classes_, np.array(["no"] * 3))
    assert np.array_equal(towards_yes, -towards_no)
    assert towards_yes[0, 1] * (1 if Y[0] == "yes" else -1) > 0


def test_a_background_table_changes_the_values():
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, Y)
    outcomes = np.array(["yes"] * 3)
    values = shap_towards(model, X[:3], model.classes_, outcomes, X[:20])
    expected = shap.TreeExplainer(model, X[:20]).shap_values(X[:3], check_additivity=False)
    assert values.tolist() == np.asarray(expected).tolist()
    assert not np.array_equal(values, shap_towards(model, X[:3], model.classes_, outcomes))


def test_top_variables_are_positive_and_ties_go_by_name():
    values = np.array([[0.5, 0.5, -2.0, 0.1], [0.0, 0.0, 0.0, 0.0]])
    assert top_variables(values, ("b", "a", "c", "d"), 2) == [("a", "b"), ()]
