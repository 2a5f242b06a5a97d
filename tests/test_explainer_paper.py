"""The settings of the paper, and of the authors' package, which counts all rows."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from experiments.data.synthetic import make_switch
from experiments.metrics import detection
from oracle import Oracle, trees_of
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._forest.fitting import consistent_leaf_size

RNG = np.random.default_rng(0)
X = RNG.integers(0, 5, size=(80, 4)).astype(np.float32)
NUMBERS = X[:, 0] + 2 * X[:, 1] * (X[:, 2] > 2) + RNG.normal(size=80)
CLASSES = np.digitize(NUMBERS, [2, 6])


def test_the_parameters_are_those_of_the_paper_and_else_the_defaults():
    of_paper = {
        "counts": "bootstrap",
        "voters": "all",
        "candidates": "splits",
        "alpha": 0.1,
        "pi": 0.9,
        "min_size": 1,
        "levels": "same",
        "min_support": 0,
        "min_node_size": None,
    }
    assert SufficientExplainer.paper().get_params() == SufficientExplainer().get_params() | of_paper


def test_every_parameter_can_be_replaced():
    forest = RandomForestClassifier(3)
    explainer = SufficientExplainer.paper(forest, counts="all", min_size=0, pi=0.8)
    assert explainer.forest is forest
    changed = {"counts": "all", "min_size": 0, "pi": 0.8, "forest": forest}
    expected = SufficientExplainer.paper().get_params(deep=False) | changed
    assert explainer.get_params(deep=False) == expected
    assert clone(explainer).get_params(deep=False).keys() == expected.keys()
    assert (clone(explainer).counts, clone(explainer).voters) == ("all", "all")
    assert SufficientExplainer.paper().set_params(voters="informed").voters == "informed"
    with pytest.raises(TypeError, match="unexpected keyword argument 'count'"):
        SufficientExplainer.paper(count="all")


@pytest.mark.parametrize("counts", ["bootstrap", "all"])
@pytest.mark.parametrize("is_class", [True, False], ids=["classes", "numbers"])
@pytest.mark.filterwarnings("ignore::suffice.errors.FidelityWarning")
def test_the_sets_of_small_forests_are_those_of_the_oracle(is_class, counts):
    kind, y = (RandomForestClassifier, CLASSES) if is_class else (RandomForestRegressor, NUMBERS)
    n_sets = 0
    for depth, leaf, n_trees in product([1, 3, None], [1, 5], [1, 4]):
        forest = kind(n_trees, max_depth=depth, min_samples_leaf=leaf, max_features=2, random_state=0).fit(X, y)
        explainer = SufficientExplainer.paper(forest, counts=counts, pi=0.7, n_jobs=1).fit(X, y)
        oracle = Oracle(trees_of(forest, counts, len(X)), X, y, leaf)
        used = {int(name[1:]) for name in explainer.candidates_}
        for x, e in zip(X[:6], explainer.explain(X[:6], sets="all", rules=None), strict=True):
            outcome = e.outcome if is_class else tuple(oracle.quantile(x, None, level) for level in (0.05, 0.95))
            expected = oracle.sufficient_sets(x, outcome, used, 0.7)
            sets = {tuple(sorted(int(name[1:]) for name in s.variables)): s.sdp for s in e.sufficient_sets}
            assert sets == pytest.approx({S: float(sdp) for S, sdp in expected.items()}, abs=1e-12)
            n_sets += len(sets)
    assert n_sets > 50


@pytest.mark.parametrize("counts", ["bootstrap", "all"])
def test_the_variables_of_the_switch_model_are_found(counts):
    """X5 decides whether X1 and X2 or X3 and X4 make the outcome; the other columns are noise."""
    rng = np.random.default_rng(0)
    train, test = (make_switch(n, n_columns=20, random_state=rng) for n in (5000, 100))
    leaf = consistent_leaf_size(5000)
    forest = RandomForestRegressor(20, min_samples_leaf=leaf, max_features=0.7, n_jobs=2, random_state=0)
    explainer = SufficientExplainer.paper(forest, counts=counts).fit(train.X, train.y)
    explanations = explainer.explain(test.X, sets="minimal", rules=None)
    true_positives, false_discoveries = detection([e.best_set.variables for e in explanations], test.true_sets)
    assert true_positives > 0.95
    assert false_discoveries < 0.06


@pytest.mark.parametrize("counts", ["bootstrap", "all"])
@pytest.mark.parametrize("is_class", [True, False], ids=["classes", "numbers"])
def test_a_saved_explainer_answers_the_same(is_class, counts, tmp_path):
    y = CLASSES if is_class else NUMBERS
    explainer = SufficientExplainer.paper(counts=counts, random_state=0, n_jobs=1).fit(X, y)
    explainer.save(tmp_path / "paper.suffice")
    loaded = SufficientExplainer.load(tmp_path / "paper.suffice")
    params = explainer.get_params()
    assert {**loaded.get_params(), "n_jobs": 1, "random_state": 0} == params
    assert loaded.describe()["settings"] == explainer.describe()["settings"]
    assert loaded.describe()["settings"]["counts"] == counts
    assert list(loaded.explain(X[:9])) == list(explainer.explain(X[:9]))
