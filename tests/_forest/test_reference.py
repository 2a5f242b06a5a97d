"""Counting on some of the training rows: the forest sees all, the projected forest counts a sample."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from oracle import Oracle, trees_of
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import GlobalRulesClassifier, SufficientExplainer
from suffice._forest.trees import count_rows
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


def fit(kind, **params):
    return SufficientExplainer(FORESTS[kind], random_state=1, **params).fit(X, OUTCOMES[kind])


def kept_of(explainer):
    """The rows that were kept, drawn again with the same seed."""
    kept = np.sort(np.random.RandomState(1).choice(len(X), explainer.reference_rows, replace=False))
    np.testing.assert_array_equal(explainer.fitted_.training[0], X[kept])
    return kept


def oracle_of(explainer, kind):
    """The definition, on the counted rows that were kept."""
    kept = kept_of(explainer)
    place = {int(row): i for i, row in enumerate(kept)}
    trees = trees_of(explainer.forest_, explainer.fitted_.counts, len(X))
    for tree in trees:
        tree.rows = np.array([place[int(row)] for row in tree.rows if int(row) in place])
    return Oracle(trees, X[kept].astype(float), OUTCOMES[kind][kept], explainer.min_node_size_, voters="informed")


@pytest.mark.parametrize("kind", OUTCOMES)
def test_all_rows_as_reference_change_nothing(kind):
    whole, all_rows = fit(kind), fit(kind, reference_rows=400)
    more = fit(kind, reference_rows=1000)
    assert list(all_rows.explain(X[:9])) == list(whole.explain(X[:9])) == list(more.explain(X[:9]))
    assert all_rows.min_node_size_ == 8
    assert fit(kind, counts="bootstrap").min_node_size_ == 8


# 8 of 400 rows are 2 of 100, but a cell of a table of 400 rows holds at least 5 out of bag.
@pytest.mark.parametrize(("counts", "least"), [("bootstrap", 2), ("out-of-bag", 5), ("all", 2)])
@pytest.mark.parametrize("kind", OUTCOMES)
def test_probabilities_are_those_of_the_definition_on_the_rows_kept(kind, counts, least):
    explainer = fit(kind, reference_rows=100, counts=counts)
    assert explainer.min_node_size_ == least
    oracle = oracle_of(explainer, kind)
    for i in range(0, 40, 5):
        explanation = explainer.explain(X[i : i + 1])[0]
        outcome = explanation.outcome if explanation.interval is None else explanation.interval
        for S in ([0], [1, 2], [0, 1, 3]):
            sdp = explainer.sdp(X[i : i + 1], S)[0]
            assert sdp == pytest.approx(float(oracle.sdp(X[i], tuple(S), outcome)), abs=1e-12)


def test_predictions_stay_those_of_the_whole_forest():
    for kind, y in OUTCOMES.items():
        explainer = fit(kind, reference_rows=20)
        np.testing.assert_array_equal(explainer.predict(X), clone(FORESTS[kind]).fit(X, y).predict(X))


def test_an_interval_comes_from_the_last_node_that_has_rows():
    """With 20 of 400 rows and leaves of 8 most leaves hold none."""
    explainer = fit("numbers", reference_rows=20, alpha=0.01)
    trees = count_rows(explainer.forest_, X, "out-of-bag", kept_of(explainer)).trees
    assert sum((tree.n_rows[tree.left < 0] == 0).sum() for tree in trees) > 10
    values = np.sort(explainer.fitted_.training[1])
    for e in explainer.explain(X[:50], rules=None):
        assert set(e.interval) <= set(values)
    shares = explainer.cdf(X[:50], None, [values[0] - 1, values[-1]])
    np.testing.assert_allclose(shares, np.tile([0.0, 1.0], (50, 1)), atol=1e-12)


@pytest.mark.parametrize(("counts", "least"), [("bootstrap", 3), ("out-of-bag", 5)])
@pytest.mark.parametrize("kind", OUTCOMES)
def test_a_copy_a_pickle_and_a_file_give_the_same_answers(kind, counts, least, tmp_path):
    explainer = fit(kind, reference_rows=150, counts=counts)
    explainer.save(tmp_path / "some.suffice")
    expected = list(explainer.explain(X[:7]))
    for again in (
        SufficientExplainer.load(tmp_path / "some.suffice"),
        pickle.loads(pickle.dumps(explainer)),
        copy.deepcopy(explainer),
    ):
        assert list(again.explain(X[:7])) == expected
        assert again.min_node_size_ == least
        assert again.fitted_.counts == counts
        assert len(again.training[1]) == 150


def test_the_rest_of_the_house_works_on_the_rows_kept():
    frame = pd.DataFrame(X, columns=list("abcd"))
    forest = RandomForestClassifier(min_samples_leaf=5)
    explainer = SufficientExplainer(forest, reference_rows=200, random_state=0).fit(frame, CLASSES)
    assert explainer.fidelity_ > 0.95
    explanations = explainer.explain(frame[:20])
    rules = [rule for rule in explanations.rules if rule is not None]
    assert len(rules) >= 10
    assert [rule.coverage for rule in rules] == [rule.support / 200 for rule in rules]
    assert len(GlobalRulesClassifier.from_explanations(explanations).rules_) > 0
    assert explainer.describe()["settings"]["reference_rows"] == 200


@pytest.mark.parametrize("candidates", ["splits", "impurity", "permutation"])
def test_candidates_are_chosen_as_before(candidates):
    explainer = fit("numbers", reference_rows=100, candidates=candidates)
    assert set(explainer.candidates_[:2]) == {"x0", "x1"}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"reference_rows": 1}, "`reference_rows` must be None or at least 2"),
        ({"reference_rows": 2.5}, "`reference_rows` must be None or at least 2"),
    ],
)
def test_a_wrong_number_of_rows_is_refused(params, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fit("classes", **params)


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
