"""Trees that count a sample of their rows: more rows than `MOST_COUNTED` are not counted."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from oracle import Oracle, trees_of
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer
from suffice.explaining.search import find_sufficient_sets

RNG = np.random.default_rng(0)
X = RNG.integers(0, 6, size=(400, 4)).astype(np.float32)
NUMBERS = X[:, 0] * 2 + X[:, 1] + RNG.normal(size=400).round(2)
CLASSES = np.where(X[:, 0] + X[:, 1] > 5, "high", "low")
OUTCOMES = {"classes": CLASSES, "numbers": NUMBERS}
FORESTS = {
    "classes": RandomForestClassifier(6, min_samples_leaf=8, random_state=3),
    "numbers": RandomForestRegressor(6, min_samples_leaf=8, random_state=3),
}


@pytest.fixture
def most(request, monkeypatch):
    monkeypatch.setattr("suffice._forest.trees.MOST_COUNTED", request.param)
    return request.param


def fit(kind, **params):
    return SufficientExplainer(FORESTS[kind], random_state=1, **params).fit(X, OUTCOMES[kind])


# 8 rows of a leaf are 4 of half the rows, but a cell of a table of 400 rows holds at least 5 out of bag.
@pytest.mark.parametrize(
    ("counts", "most", "least"),
    [("bootstrap", 200, 4), ("out-of-bag", 73, 5), ("all", 100, 2)],
    indirect=["most"],
)
@pytest.mark.parametrize("kind", OUTCOMES)
def test_probabilities_are_those_of_the_definition_on_the_rows_counted(kind, counts, most, least):
    explainer = fit(kind, counts=counts)
    assert explainer.min_node_size_ == least
    trees = trees_of(explainer.forest_, counts, len(X))
    for tree, counted in zip(trees, explainer.fitted_.forest.trees, strict=True):
        n_times, n_before = (np.bincount(rows, minlength=len(X)) for rows in (counted.rows, tree.rows))
        assert len(counted.rows) == most
        assert (n_times <= n_before).all()
        tree.rows = counted.rows
    assert len({tuple(tree.rows) for tree in trees}) == 6  # another sample in each tree
    oracle = Oracle(trees, X.astype(float), OUTCOMES[kind], least, voters="informed")
    for i in range(0, 40, 5):
        explanation = explainer.explain(X[i : i + 1])[0]
        outcome = explanation.outcome if explanation.interval is None else explanation.interval
        for S in ([0], [1, 2], [0, 1, 3]):
            sdp = explainer.sdp(X[i : i + 1], S)[0]
            assert sdp == pytest.approx(float(oracle.sdp(X[i], tuple(S), outcome)), abs=1e-12)


@pytest.mark.parametrize("most", [20], indirect=True)
def test_predictions_stay_those_of_the_whole_forest(most):
    for kind, y in OUTCOMES.items():
        np.testing.assert_array_equal(fit(kind).predict(X), clone(FORESTS[kind]).fit(X, y).predict(X))


@pytest.mark.parametrize("most", [20], indirect=True)
def test_an_interval_comes_from_the_last_node_that_has_rows(most):
    """With 20 of 400 rows and leaves of 8 most leaves hold none."""
    explainer = fit("numbers", alpha=0.01, counts="bootstrap")
    trees = explainer.fitted_.forest.trees
    assert sum((tree.n_rows[tree.left < 0] == 0).sum() for tree in trees) > 10
    values = np.sort(explainer.fitted_.training[1])
    for e in explainer.explain(X[:50], rules=None):
        assert set(e.interval) <= set(values)
    shares = explainer.cdf(X[:50], None, [values[0] - 1, values[-1]])
    np.testing.assert_allclose(shares, np.tile([0.0, 1.0], (50, 1)), atol=1e-12)


@pytest.mark.parametrize("most", [100], indirect=True)
@pytest.mark.parametrize("counts", ["bootstrap", "out-of-bag"])
@pytest.mark.parametrize("kind", OUTCOMES)
def test_a_copy_a_pickle_and_a_file_give_the_same_answers(kind, counts, most, tmp_path):
    explainer = fit(kind, counts=counts)
    explainer.save(tmp_path / "some.suffice")
    expected = list(explainer.explain(X[:7]))
    for again in (
        SufficientExplainer.load(tmp_path / "some.suffice"),
        pickle.loads(pickle.dumps(explainer)),
        copy.deepcopy(explainer),
    ):
        assert list(again.explain(X[:7])) == expected
        assert again.min_node_size_ == explainer.min_node_size_
        assert again.fitted_.counts == counts


def test_the_number_of_threads_can_be_changed_after_fit(monkeypatch):
    explainer = fit("numbers", n_jobs=1)
    expected = list(explainer.explain(X[:5]))
    n_threads = []

    def spy(fitted, rows, outcomes, **options):
        n_threads.append(fitted.settings.n_threads)
        return find_sufficient_sets(fitted, rows, outcomes, **options)

    monkeypatch.setattr("suffice.explaining.explanations.find_sufficient_sets", spy)
    assert list(explainer.set_params(n_jobs=3).explain(X[:5])) == expected
    assert n_threads == [3]
