"""The search among the candidates of each row against the oracle, and what is shown of rows without a set."""

from __future__ import annotations

import numpy as np
import pytest
from forests import arrays_of, core_forest, core_rows, fitted_forests, project
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import Oracle, trees_of
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from thoroughness import n_examples

from suffice import SufficientExplainer, _core
from suffice.explaining.search import NO_LIMIT

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.FidelityWarning")


def search(projection, queries, lo, hi, **options):
    defaults = {"pi": 0.9, "min_node_size": 1, "min_size": 0, "max_size": 9, "minimal_only": False}
    defaults |= {"max_sets": NO_LIMIT, "n_by_row": 0, "least_sdp": np.zeros(0)}
    return arrays_of(
        _core.search(
            projection=projection,
            rows=core_rows(queries, lo, hi),
            options=_core.SearchOptions(**defaults | options),
            n_threads=1,
        )[0]
    )


def members(word, n):
    return tuple(v for v in range(n) if int(word) >> v & 1)


@settings(max_examples=n_examples(150), deadline=None)
@given(
    drawn=fitted_forests(max_columns=5, max_rows=80),
    pi=st.sampled_from([0.6, 0.8, 0.9, 1.0]),
    min_node_size=st.sampled_from([1, 2, 7]),
    min_size=st.integers(0, 1),
    n_by_row=st.integers(1, 4),
    n_first=st.integers(0, 3),
    seed=st.integers(0, 99),
    voters=st.sampled_from(["all", "informed"]),
)
def test_the_sets_of_a_row_are_those_among_its_own_candidates(
    drawn, pi, min_node_size, min_size, n_by_row, n_first, seed, voters
):
    X, y, task, forest = drawn
    n = X.shape[1]
    rng = np.random.default_rng(seed)
    oracle = Oracle(trees_of(forest), X, y, min_node_size, voters=voters)
    projection = project(core_forest(oracle.trees, X, y), n, voters=voters)
    values = np.unique(y)
    queries = X[rng.integers(len(X), size=3)]
    lo = rng.integers(len(values), size=3)
    hi = lo if task == "classification" else np.minimum(lo + rng.integers(3, size=3), len(values) - 1)
    options = {"pi": pi, "min_node_size": min_node_size, "min_size": min_size, "n_by_row": n_by_row}
    options["n_first_trees"] = n_first
    result = search(projection, queries, lo, hi, **options)
    for i, x in enumerate(queries):
        outcome = (values[lo[i]], values[hi[i]])
        alone = oracle.sufficient_sets(x, outcome, range(n), pi, min_size, max_size=1)
        left = [v for v in range(n) if (v,) not in alone] if () not in alone else []
        chain = oracle.chain(x, outcome, left, n_by_row, n_first)
        chosen = chain[-1]
        expected = alone | oracle.sufficient_sets(x, outcome, chosen, pi, 2)
        begin, end = result["offset"][i : i + 2]
        assert {members(word, n) for word in result["masks"][begin:end, 0]} == set(expected)
        best = members(result["best_masks"][i, 0], n)
        if not expected:
            assert best == oracle.best_of_chain(x, outcome, chain[min_size:])


def test_a_variable_without_splits_has_the_share_of_the_first_trees():
    """It was once compared by all trees."""
    codes = [28, 1, 31, 31, 12, 27, 18, 16, 0, 29, 19, 23, 29]
    X = (np.array(codes)[:, None] >> np.arange(4, -1, -1) & 1).astype(float)
    y = np.array([0, 1, 1, 2, 1, 3, 0, 3, 1, 3, 2, 1, 3], dtype=float)
    forest = RandomForestRegressor(2, max_depth=1, max_features=1, random_state=26).fit(X, y)
    oracle = Oracle(trees_of(forest), X, y, 1, voters="informed")
    projection = project(core_forest(oracle.trees, X, y), 5, voters="informed")
    rows, ranks = X[[11, 8, 6]], np.array([1, 1, 0])
    options = {"pi": 0.9, "n_by_row": 1, "n_first_trees": 1}
    result = search(projection, rows, ranks, ranks, **options)
    for i, x in enumerate(rows):
        outcome = (float(ranks[i]), float(ranks[i]))
        chain = oracle.chain(x, outcome, range(5), 1, 1)
        assert members(result["best_masks"][i, 0], 5) == oracle.best_of_chain(x, outcome, chain)


@settings(max_examples=n_examples(100), deadline=None)
@given(
    drawn=fitted_forests(max_columns=4, max_rows=80),
    pi=st.sampled_from([0.8, 0.95, 1.0]),
    seed=st.integers(0, 99),
    many=st.sampled_from([0, 1, 9]),
)
def test_sets_below_the_level_are_the_smallest_of_the_highest_step_that_is_reached(drawn, pi, seed, many):
    X, y, task, forest = drawn
    n, rng = X.shape[1], np.random.default_rng(seed)
    oracle = Oracle(trees_of(forest), X, y, 2)
    values = np.unique(y)
    queries, ranks = X[rng.integers(len(X), size=3)], rng.integers(len(values), size=3)
    options = {"pi": pi, "min_node_size": 2, "min_size": 0, "max_size": n, "minimal_only": True, "many": many}
    at_level, below = _core.search(
        projection=project(core_forest(oracle.trees, X, y), n),
        rows=core_rows(queries, ranks, ranks),
        options=_core.SearchOptions(max_sets=NO_LIMIT, n_by_row=0, least_sdp=np.zeros(0), step=0.05, **options),
        n_threads=1,
    )
    for i, x in enumerate(queries):
        kept = values[ranks[i]] if task == "classification" else (values[ranks[i]], values[ranks[i]])
        sdps = {members(mask, n): float(oracle.sdp(x, members(mask, n), kept)) for mask in range(2**n)}
        found = {members(mask, n) for mask, _ in below.masks[below.offset[i] : below.offset[i + 1]]}
        level = below.level_below[i]
        if at_level.offset[i] < at_level.offset[i + 1]:
            size = len(members(at_level.best_masks[i, 0], n))
            assert level == (pi - 0.05 if size > many else 0.0)
        else:
            assert level <= max(sdps.values()) + 1e-9
            assert all(sdps[S] < level + 0.05 + 1e-9 for S in found)  # none reaches the next step
            assert level == round(level * 20) / 20
            assert level > 0 or max(sdps.values()) < 0.05 + 1e-9 or not found
        enough = [S for S, sdp in sdps.items() if sdp >= level - 1e-9]
        if level > 0:
            assert found == {S for S in enough if len(S) == min(map(len, enough))}
        else:
            assert not found


@pytest.fixture(scope="module")
def majority():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(6000, 11)).astype(float)
    y = (X.sum(axis=1) >= 6).astype(int)  # six of the variables decide for sure, fewer nearly
    return SufficientExplainer(random_state=0, pi=0.97, n_jobs=1).fit(X, y), X[:50]


def test_a_large_sufficient_set_has_a_smaller_one_of_a_level_lower_by_a_step(majority):
    explainer, X = majority
    explanations = explainer.explain(X, progress=False)
    below = explainer.explain(X, pi=0.92, progress=False)
    assert any(one.smaller_set is not None for one in explanations)
    for one, at_lower in zip(explanations, below, strict=True):
        is_large = one.is_sufficient and len(one.best_set.variables) > 4
        is_smaller = len(at_lower.best_set.variables) < len(one.best_set.variables)
        assert one.smaller_set == (at_lower.best_set if is_large and is_smaller else None)


def test_a_set_of_as_many_variables_is_no_smaller_one(majority, monkeypatch):
    explainer, X = majority
    monkeypatch.setattr("suffice.explaining.search.STEP", 1e-9)  # the level stays the same, and so do the sets
    explanations = explainer.explain(X, progress=False)
    assert any(len(one.best_set.variables) > 4 for one in explanations)
    assert [one.smaller_set for one in explanations] == [None] * len(X)


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_a_row_without_a_sufficient_set_shows_the_best_one_of_the_offered_level(majority, confidence):
    """What is offered has been tried: with that level, the row has this set, and with no higher one it has any."""
    explainer, X = majority
    explainer = explainer.with_settings(pi=0.999, confidence=confidence, max_size=4, levels="same")
    explanations = explainer.explain(X, progress=False)
    rows = np.flatnonzero(~explanations.has_set)
    assert len(rows) > 5
    for i in rows[:12]:
        one = explanations[int(i)]
        assert one.offered_pi == round(round(one.offered_pi / 0.05) * 0.05, 2)
        at_level = explainer.explain(X[i : i + 1], pi=one.offered_pi, progress=False)[0]
        assert at_level.is_sufficient
        assert at_level.best_set == one.best_set
        reached = one.best_set.sdp if confidence is None else one.best_set.lower
        assert 0 <= reached - one.offered_pi + 1e-12 < 0.05
        assert f"With pi={one.offered_pi:g}" in str(one)


def test_no_variable_is_chosen_where_the_empty_set_is_sufficient():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] > 1.9).astype(int)
    explainer = SufficientExplainer(random_state=0, n_candidates=2).fit(X, y)
    assert explainer.explain(X[:1], np.zeros(1, dtype=int))[0].best_set.variables == ()


def test_each_row_has_the_candidates_that_matter_there():
    # Which variable decides depends on the first one; no two variables are enough for all rows.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 8))
    y = np.where(X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 0).astype(int)
    rows = np.zeros((2, 8))
    rows[0, [0, 1]] = 1.5
    rows[1, [0, 2]] = -1.5
    explainer = SufficientExplainer(random_state=0, n_candidates=2).fit(X, y)
    assert [e.best_set.variables for e in explainer.explain(rows)] == [("x0", "x1"), ("x0", "x2")]
    assert explainer.fitted_.n_searched == 2
    assert set(explainer.candidates_) == {"x0", "x1", "x2"}  # the others gain nothing
    splits = explainer.with_settings(candidates="splits")
    assert splits.explain(rows).has_set.sum() <= 1
    assert len(splits.candidates_) == 2


@pytest.mark.parametrize("n_first", [0, 2, 6, 7])
def test_the_first_trees_choose_the_finalists_of_a_row(n_first):
    """Two trees split on the first columns, five on the last ones: the best variable may not be a finalist."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = (X.sum(axis=1) > 0).astype(int)
    trees = []
    for n_trees, hidden in [(2, slice(4, 8)), (5, slice(0, 4))]:
        part = X.copy()
        part[:, hidden] = 0.0
        trees += trees_of(RandomForestClassifier(n_trees, min_samples_leaf=10, random_state=0).fit(part, y))
    oracle = Oracle(trees, X, y, 10)
    projection = project(core_forest(trees, X, y), 8)
    options = {"pi": 1.0, "min_node_size": 10, "min_size": 2, "max_size": 2, "n_by_row": 2}
    result = search(projection, X[:16], y[:16], y[:16], **options, n_first_trees=n_first)
    chosen = [oracle.chain(x, (k, k), range(8), 2, n_first)[-1] for x, k in zip(X[:16], y, strict=False)]
    assert [members(word, 8) for word in result["best_masks"][:, 0]] == chosen
    best = [oracle.chain(x, (k, k), range(8), 2)[-1] for x, k in zip(X[:16], y, strict=False)]
    assert (chosen != best) == (n_first == 2)
