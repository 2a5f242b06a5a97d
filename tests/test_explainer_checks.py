"""Tests of the checks of an explainer that grow its forest again on shuffled outcomes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from suffice import SufficientExplainer
from suffice.checks.refits import share_with_sets, shuffle_outcomes
from suffice.errors import FidelityWarning


def table(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, np.where(rng.random(n_rows) < np.where(X[:, 0] > 0, 0.97, 0.03), "yes", "no")


@pytest.fixture(scope="module")
def explainer():
    """Of the table; no test may change it."""
    return SufficientExplainer(random_state=0).fit(*table())


def numbers(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, 3 * (X[:, 0] > 0) + rng.normal(scale=0.3, size=n_rows)


def categories(n_rows=500, seed=0):
    """Eight columns of twenty categories that say nothing about the outcomes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"c{i}": rng.integers(20, size=n_rows).astype(str) for i in range(8)})
    return X, np.where(rng.random(n_rows) < 0.8, "yes", "no")


def test_the_outcomes_have_no_part_in_the_codes_of_categories():
    """They were ordered by the outcomes of all rows, so that rows out of bag had a part in the trees.

    Half of the rows of a table without signal got a sufficient set, and `check_signal`, which shuffles the outcomes of
    encoded rows, said that none would.
    """
    X, y = categories()
    with pytest.warns(FidelityWarning):
        explainer = SufficientExplainer(random_state=0).fit(X, y)
    with pytest.warns(FidelityWarning):
        other = SufficientExplainer(random_state=0).fit(X, np.random.default_rng(1).permutation(y))
    assert explainer.fitted_.encoding == other.fitted_.encoding
    best_sets = explainer.explain(X[:100], sets="minimal", rules=None).best_sets
    assert sum(bool(best.variables) and best.sdp >= 0.9 for best in best_sets) <= 2
    assert explainer.check_signal(n_rows=50, random_state=0).shuffled_share <= 0.02


@pytest.mark.parametrize("make", [table, numbers])
def test_shuffled_outcomes_give_no_sets(make):
    X, y = make()
    explainer = SufficientExplainer(random_state=0).fit(X, y)
    check = explainer.check_signal(n_rows=100, random_state=0)
    assert check.n_rows == 100
    assert check.share > 0.5
    assert check.shuffled_share == 0


@pytest.mark.parametrize("counts", ["bootstrap", "all"])
def test_with_the_counts_of_the_paper_shuffled_outcomes_give_sets(counts):
    """Without the check of the signal, and with the rows that grew the trees, noise is called sufficient."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), rng.random(500) < 0.85
    with pytest.warns(FidelityWarning, match="poorly"):
        explainer = SufficientExplainer(counts=counts, min_size=1, random_state=0).fit(X, y)
    with pytest.warns(FidelityWarning, match="would if the outcomes were shuffled"):
        check = explainer.check_signal(n_rows=60, random_state=0)
    assert check.is_near
    assert check.shuffled_share > 0.4


def test_the_check_has_a_seed_and_leaves_the_explainer_as_it_was(explainer, tmp_path):
    X, _ = table()
    before = explainer.explain(X[:20]).to_dict()
    first, again = (explainer.check_signal(n_rows=50, random_state=3) for _ in range(2))
    assert first == again
    assert explainer.explain(X[:20]).to_dict() == before
    explainer.save(tmp_path / "explainer.suffice")
    assert SufficientExplainer.load(tmp_path / "explainer.suffice").check_signal(n_rows=50, random_state=3) == first


def test_the_same_outcomes_are_shuffled(explainer):
    state = explainer.fitted_
    shuffled = shuffle_outcomes(state, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(shuffled.forest.y_rank), np.sort(state.forest.y_rank))
    assert np.mean(shuffled.forest.y_rank == state.forest.y_rank) < 0.7
    np.testing.assert_array_equal(shuffled.forest.X, state.forest.X)
    assert not shuffled.has_signal


def test_the_empty_set_is_no_claim_about_variables():
    X, y = table()
    y[np.arange(len(y)) % 20 > 0] = "no"
    y[X[:, 0] > 1.8] = "yes"
    explainer = SufficientExplainer(random_state=0).fit(X, y)
    state = explainer.fitted_
    rows = np.arange(100)
    outcomes = state.outcomes(state.forest.X[rows], np.repeat("no", 100))
    assert state.base_rates(outcomes)[0] > 0.9
    explanations = explainer.explain(X[rows], sets="minimal", rules=None)
    is_empty = np.array([not best.variables for best in explanations.best_sets])
    assert (explanations.has_set & is_empty).mean() > 0.8
    has_set = explanations.has_set
    assert share_with_sets(state, rows) == ((has_set & ~is_empty).mean(), (has_set & is_empty).mean())


@pytest.mark.parametrize("n_rows", [0, -1, 2.5, "many"])
def test_a_senseless_number_of_rows_is_refused(explainer, n_rows):
    with pytest.raises((TypeError, ValueError), match="`n_rows` must be a whole number >= 1"):
        explainer.check_signal(n_rows=n_rows)
