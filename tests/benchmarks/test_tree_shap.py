"""SHAP values towards the outcome, against those of shap itself."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from benchmarks.reason_study.tree_shap import shap_towards, top_variables
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.neighbors import KNeighborsClassifier

X = np.random.default_rng(0).normal(size=(200, 3))
Y = np.where(X[:, 1] > 0, "yes", "no")


def test_a_forest_is_explained_towards_the_class_of_each_row():
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)
    values = shap_towards(forest, X[:6], forest.classes_, Y[:6])
    import shap  # here, since it warns when it is imported first

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


def test_numbers_count_by_their_size():
    forest = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, X[:, 1])
    assert (shap_towards(forest, X[:5], None, X[:5, 1]) >= 0).all()


def test_a_model_that_shap_does_not_take_is_refused_with_its_name():
    model = KNeighborsClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=r"shap.TreeExplainer does not take this KNeighborsClassifier"):
        shap_towards(model, X[:2], model.classes_, Y[:2])


def test_without_shap_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match=r"pip install 'suffice\[bench\]'"):
        shap_towards(None, X, None, X[:, 0])


def test_top_variables_are_positive_and_ties_go_by_name():
    values = np.array([[0.5, 0.5, -2.0, 0.1], [0.0, 0.0, 0.0, 0.0]])
    assert top_variables(values, ("b", "a", "c", "d"), 2) == [("a", "b"), ()]
