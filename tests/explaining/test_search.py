"""Sufficient sets against brute force, and the choice of candidates."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from forests import arrays_of, core_forest, core_rows, fitted_forests, mask, project, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import Oracle, trees_of
from sklearn.ensemble import RandomForestClassifier
from thoroughness import n_examples

from suffice import SufficientExplainer, _core
from suffice._forest.bounds import least_sdps, lower_bounds
from suffice._forest.outcomes import outcomes_of_classes
from suffice.explaining.found_sets import BY_ROW, FoundSets, ScoredSet
from suffice.explaining.search import ExplainOptions, find_maximal_rules, find_sufficient_sets

NO_LIMIT = 2**64 - 1


OPTIONS = {
    "pi": 0.9,
    "min_node_size": 1,
    "min_size": 1,
    "max_size": 64,
    "minimal_only": False,
    "max_sets": NO_LIMIT,
    "n_by_row": 0,
    "least_sdp": np.zeros(0),
}
FIRST = ["offset", "masks", "sdps", "best_masks", "best_sdps"]


def search(projection, X, lo, hi, n_threads=1, **options):
    """Search with `OPTIONS`, some of them changed. The last value, `is_complete`, is left out without a limit."""
    options = {**OPTIONS, **options}
    result = arrays_of(
        _core.search(
            projection=projection,
            rows=core_rows(X, lo, hi),
            options=_core.SearchOptions(**options),
            n_threads=n_threads,
            progress=None,
        )[0]
    )
    assert sorted(result) == sorted([*FIRST, "is_complete", "level_below"])
    assert result["is_complete"].dtype == np.bool_
    sets, best = as_numbers(result["masks"]), as_numbers(result["best_masks"])
    sdps, best_sdp, is_complete = result["sdps"], result["best_sdps"], result["is_complete"]
    sufficient = [
        list(zip(sets[a:b], sdps[a:b].tolist(), strict=True)) for a, b in itertools.pairwise(result["offset"])
    ]
    if options["max_sets"] == NO_LIMIT:
        assert is_complete.all()
        return sufficient, best, best_sdp
    return sufficient, best, best_sdp, is_complete


def as_numbers(sets):
    return np.array([low | high << 64 for low, high in sets.tolist()] + [None], dtype=object)[:-1]


@settings(max_examples=n_examples(150), deadline=None)
@given(
    drawn=fitted_forests(max_columns=4, max_rows=80),
    pi=st.sampled_from([0.5, 0.75, 0.9, 1.0]),
    min_node_size=st.sampled_from([1, 2, 7]),
    min_size=st.integers(0, 2),
    seed=st.integers(0, 99),
    voters=st.sampled_from(["all", "informed"]),
)
def test_all_and_minimal_sets_equal_brute_force(drawn, pi, min_node_size, min_size, seed, voters):
    X, y, task, forest = drawn
    n = X.shape[1]
    min_size = min(min_size, n)
    rng = np.random.default_rng(seed)
    oracle = Oracle(trees_of(forest), X, y, min_node_size, voters=voters)
    projection = project(core_forest(oracle.trees, X, y), n, voters=voters)
    values = np.unique(y)
    queries = X[rng.integers(len(X), size=4)]
    lo = rng.integers(len(values), size=4)
    hi = lo if task == "classification" else np.minimum(lo + rng.integers(3, size=4), len(values) - 1)
    sufficient, best, best_sdp = search(
        projection, queries, lo, hi, pi=pi, min_node_size=min_node_size, min_size=min_size
    )
    minimal, _, _ = search(
        projection, queries, lo, hi, pi=pi, min_node_size=min_node_size, min_size=min_size, minimal_only=True
    )
    for i, x in enumerate(queries):
        outcome = (values[lo[i]], values[hi[i]])
        expected = oracle.sufficient_sets(x, outcome, range(n), pi, min_size)
        assert {S for S, _ in sufficient[i]} == {mask(S) for S in expected}
        for S, sdp in sufficient[i]:
            exact = expected[tuple(v for v in range(n) if S >> v & 1)]
            assert abs(sdp - exact) < 1e-15 * 10
        order = [(S.bit_count(), -sdp) for S, sdp in sufficient[i]]
        assert order == sorted(order)
        sizes = [len(S) for S in expected]
        assert {S for S, _ in minimal[i]} == {mask(S) for S in expected if len(S) == min(sizes)}
        if expected:
            assert (best[i], best_sdp[i]) == sufficient[i][0]
        else:
            top = oracle.best_of_chain(x, outcome, oracle.chain(x, outcome, range(n), n)[min_size:])
            assert best[i] == mask(top)
            assert abs(best_sdp[i] - oracle.sdp(x, top, outcome)) < 1e-14


def switch_forest(n_trees=3, n_columns=6, seed=0):
    """Trees over many columns, with outcomes that depend on the first three."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(300, n_columns)).astype(float)
    y = (X[:, 0] > 0.5) * 2 + (X[:, 1] > 0.5) + (X[:, 2 % n_columns] > 1.5)

    def grow(depth):
        if depth == 0:
            return None
        column = int(rng.integers(min(3, n_columns))) if depth > 2 else int(rng.integers(n_columns))
        return (column, float(rng.choice([0.5, 1.5])), grow(depth - 1), grow(depth - 1))

    return [tree(grow(5), rng.integers(300, size=300)) for _ in range(n_trees)], X, y


def test_a_tie_with_pi_counts_as_reached():
    """Four fifths in each of ten trees reach pi = 0.8, although ten times 0.8 add up to 7.999999999999999."""
    X, y = np.array([[0.0]] * 5 + [[1.0]]), np.array([0, 0, 0, 0, 1, 1])
    trees = [tree((0, 0.5, None, None), np.arange(6))] * 10
    assert sum([0.8] * 10) < 8
    assert Oracle(trees, X, y, 1).sdp(X[0], (0,), 0) == Fraction(4, 5)
    sufficient, _, _ = search(project(core_forest(trees, X, y), 1), X[:1], [0], [0], pi=0.8)
    assert [S for S, _ in sufficient[0]] == [1]
    # One fifth less in one tree does not.
    trees[0] = tree((0, 0.5, None, None), [0, 1, 2, 4, 4, 5])
    sufficient, best, best_sdp = search(project(core_forest(trees, X, y), 1), X[:1], [0], [0], pi=0.8)
    assert sufficient == [[]]
    assert (best[0], best_sdp[0]) == (1, pytest.approx(0.78))


@pytest.mark.parametrize("n", [64, 65, pytest.param(128, marks=pytest.mark.slow)])
def test_many_candidates(n):
    trees, X, y = switch_forest(n_columns=n)
    projection = project(core_forest(trees, X, y), n)
    oracle = Oracle(trees, X, y, 5)
    ranks = np.searchsorted(np.unique(y), y[:3])
    sufficient, _, _ = search(projection, X[:3], ranks, ranks, pi=0.45, min_node_size=5, max_size=2)
    for i in range(3):
        expected = oracle.sufficient_sets(X[i], y[i], range(n), 0.45, max_size=2)
        assert {S for S, _ in sufficient[i]} == {mask(S) for S in expected}
    assert any(sufficient)


@pytest.mark.parametrize("n_candidates", [15, 16, 17])
@pytest.mark.parametrize("n_wide", [60, 100])
def test_narrow_and_wide_masks_agree(n_candidates, n_wide):
    trees, X, y = switch_forest(n_columns=n_candidates)
    narrow = project(core_forest(trees, X, y), n_candidates)
    # The same variables with others that no tree uses need wide masks.
    wide = project(core_forest(trees, np.column_stack([X, np.zeros((300, n_wide - n_candidates))]), y), n_wide)
    ranks = np.searchsorted(np.unique(y), y[:5])
    one, _, _ = search(narrow, X[:5], ranks, ranks, pi=0.7, min_node_size=5, max_size=3)
    padded = np.column_stack([X[:5], np.zeros((5, n_wide - n_candidates))])
    other, _, _ = search(wide, padded, ranks, ranks, pi=0.7, min_node_size=5, max_size=3)
    inside = [[(S, sdp) for S, sdp in row if 1 << n_candidates > S] for row in other]
    assert one == inside


def test_the_best_set_of_a_search_too_large_to_remember():
    """Beyond 65536 dropped sets the best one is found by a second enumeration."""
    n = 17
    trees, X, y = switch_forest(n_columns=n, n_trees=2)
    projection = project(core_forest(trees, X, y), n)
    lo = hi = [int(np.searchsorted(np.unique(y), y[0]))]
    sufficient, best, best_sdp = search(projection, X[:1], lo, hi, pi=1.0, min_node_size=40)
    assert sufficient == [[]]
    masks = np.arange(1, 1 << n, dtype=np.uint64)
    same = core_rows(np.repeat(X[:1], len(masks), axis=0), lo[0])
    sdp = _core.sdp(projection=projection, rows=same, sets=masks, min_node_size=40, n_threads=2)
    assert best_sdp[0] == sdp.max()
    ties = [int(m) for m in masks[sdp > sdp.max() - 1e-10]]
    assert int(best[0]) == min(ties, key=lambda m: (m.bit_count(), m))


@pytest.mark.parametrize("minimal", [True, False])
def test_threads_and_the_order_of_rows_change_no_bit(kernels, minimal):
    trees, X, y = switch_forest(n_trees=5)
    projection = project(core_forest(trees, X, y), 6)
    ranks = np.searchsorted(np.unique(y), y)
    options = {"pi": 0.8, "min_node_size": 5, "minimal_only": minimal}
    sufficient, best, best_sdp = search(projection, X, ranks, ranks, **options)
    order = np.random.default_rng(0).permutation(len(X))
    for n_threads in (2, 3, 8):
        again, best_again, sdp_again = search(
            projection, X[order], ranks[order], ranks[order], n_threads=n_threads, **options
        )
        assert again == [sufficient[i] for i in order]
        np.testing.assert_array_equal(best_again, best[order])
        np.testing.assert_array_equal(sdp_again, best_sdp[order])


def test_trees_twice_leave_the_sets_as_they_were():
    trees, X, y = switch_forest()
    ranks = np.searchsorted(np.unique(y), y)
    answers = []
    for forest in (trees, trees * 2):
        sufficient, _, _ = search(project(core_forest(forest, X, y), 6), X, ranks, ranks, pi=0.8, min_node_size=5)
        answers.append([[S for S, _ in row] for row in sufficient])
    assert answers[0] == answers[1]


def test_the_order_of_columns_and_monotone_transforms_leave_the_sets_as_they_were():
    trees, X, y = switch_forest()
    ranks = np.searchsorted(np.unique(y), y)
    sufficient, _, _ = search(project(core_forest(trees, X, y), 6), X, ranks, ranks, pi=0.8, min_node_size=5)

    order = np.array([3, 0, 5, 1, 4, 2])  # column j of the new table is column order[j] of the old
    place = np.argsort(order)
    for t in trees:
        split = t.column >= 0
        t.column[split] = place[t.column[split]]
        t.threshold[split] = 8 * t.threshold[split] - 3
    moved = 8 * X[:, order] - 3
    again, _, _ = search(project(core_forest(trees, moved, y), 6), moved, ranks, ranks, pi=0.8, min_node_size=5)
    for row, row_again in zip(sufficient, again, strict=True):
        back = {(sum(1 << order[j] for j in range(6) if S >> j & 1), sdp) for S, sdp in row_again}
        assert back == set(row)


def test_an_outcome_that_no_training_row_has():
    trees, X, y = switch_forest()
    sufficient, _, best_sdp = search(project(core_forest(trees, X, y), 6), X[:2], [1, 1], [0, 0], pi=0.1)
    assert sufficient == [[], []]
    assert best_sdp.tolist() == [0.0, 0.0]


def test_a_forest_of_leaves_and_the_empty_set():
    X, y = np.zeros((4, 2)), np.array([0, 0, 0, 1])
    projection = project(core_forest([tree(None, np.arange(4))], X, y), 2)
    sufficient, best, best_sdp = search(projection, X[:1], [0], [0], pi=0.75, min_size=0)
    assert sufficient == [[(0, 0.75)]]
    assert (best[0], best_sdp[0]) == (0, 0.75)
    sufficient, _, _ = search(projection, X[:1], [0], [0], pi=0.75)
    assert sufficient == [[(1, 0.75), (2, 0.75)]]


def test_a_search_ends_when_every_larger_set_holds_a_sufficient_one():
    """With 40 candidates that are all enough alone, the search went on through the 10^12 sets of larger sizes."""
    trees, X, y = switch_forest(n_columns=40)
    sufficient, _, _ = search(project(core_forest(trees, X, y), 40), X[:1], [0], [4], pi=0.01)
    assert [S for S, _ in sufficient[0]] == [1 << v for v in range(40)]


@pytest.mark.parametrize("n", [6, 17, 70])
def test_a_search_with_a_limit_finds_what_is_among_the_first_sets(n):
    """Sets are ordered by size and then by mask, so the limit cuts the list of all sets at a known place."""
    trees, X, y = switch_forest(n_columns=n, n_trees=4)
    projection = project(core_forest(trees, X, y), n)
    ranks = np.searchsorted(np.unique(y), y[:6])
    options = {"pi": 0.6, "min_node_size": 5, "max_size": 2}
    sufficient, _, _ = search(projection, X[:6], ranks, ranks, **options)
    assert max(len(row) for row in sufficient) > 1
    for max_sets in (1, 3, n, n + 1, n + 5, n * (n + 1) // 2):
        some, best, best_sdp, is_complete = search(projection, X[:6], ranks, ranks, max_sets=max_sets, **options)
        for i, row in enumerate(sufficient):
            alone = {S for S, _ in row if S.bit_count() == 1}
            left = [1 << v for v in range(n) if 1 << v not in alone]
            pairs = sorted(a | b for a, b in itertools.combinations(left, 2))
            seen = [1 << v for v in range(n)] + pairs
            assert some[i] == [(S, sdp) for S, sdp in row if S in seen[:max_sets]]
            assert is_complete[i] == (len(seen) <= max_sets)
            if not some[i]:  # sets of two are in the chain if all of them were searched
                oracle = Oracle(trees, X, y, 5)
                chain = oracle.chain(X[i], y[i], range(n), 2 if is_complete[i] else 1)
                top = oracle.best_of_chain(X[i], y[i], chain[1:])
                assert best[i] == mask(top)
                assert best_sdp[i] == pytest.approx(float(oracle.sdp(X[i], top, y[i])), abs=1e-12)


def test_the_best_set_is_no_larger_than_those_that_were_all_searched():
    """Else it might be sufficient, and not be among the sufficient sets."""
    n = 70
    trees, X, y = switch_forest(n_columns=n, n_trees=2)
    projection = project(core_forest(trees, X, y), n)
    lo = hi = [int(np.searchsorted(np.unique(y), y[0]))]
    sizes = []
    for max_sets in (1, 70, 70 + 2414, 70 + 2415, 70 + 2415 + 54_740):
        sufficient, best, _, is_complete = search(
            projection, X[:1], lo, hi, pi=1.0, min_node_size=10, max_size=4, max_sets=max_sets
        )
        assert sufficient == [[]]
        assert not is_complete[0]
        sizes.append(best[0].bit_count())
    assert sizes == [1, 1, 1, 2, 3]


# --- the sets that were found, as arrays -----------------------------------------------------------------------------


def as_words(S):
    return [sum(1 << i for i in S if i < 64), sum(1 << (i - 64) for i in S if i >= 64)]


def found_sets(by_row, candidates, is_complete=None):
    """The sets of rows, each a list of (positions of candidates, SDP)."""
    sets = [pair for row in by_row for pair in row]
    best = [row[0] if row else ((0,), 0.1) for row in by_row]
    return FoundSets(
        candidates=candidates,
        offset=np.cumsum([0, *(len(row) for row in by_row)]),
        masks=np.array([as_words(S) for S, _ in sets], dtype=np.uint64).reshape(len(sets), 2),
        sdps=np.array([sdp for _, sdp in sets]),
        best_masks=np.array([as_words(S) for S, _ in best], dtype=np.uint64).reshape(len(best), 2),
        best_sdps=np.array([sdp for _, sdp in best]),
        best_squares=np.array([sdp / 3 for _, sdp in best]),
        is_complete=np.array([True] * len(by_row) if is_complete is None else is_complete, dtype=bool),
        offered=np.array([np.nan if row else 0.1 for row in by_row]),
    )


CANDIDATES = tuple((7 * i) % 97 for i in range(90))  # in no order
ROWS_OF_SETS = [[((0,), 0.9), ((2, 1, 70), 1.0)], [], [((63, 64), 0.95)], [((89, 0), 0.91), ((5,), 0.92), ((6,), 0.93)]]


def test_the_variables_of_a_set_are_listed_in_their_order():
    sets = found_sets(ROWS_OF_SETS[:1] + ROWS_OF_SETS[2:], CANDIDATES)
    expected = [tuple(sorted(CANDIDATES[i] for i in S)) for row in ROWS_OF_SETS for S, _ in row]
    assert [sets.members(m) for m in sets.masks] == expected
    assert sets.sizes() == [1, 3, 2, 2, 1, 1]
    for i in (0, 1, 63, 64, 70, 89, 88):
        assert sets.holds(i).tolist() == [CANDIDATES[i] in S for S in expected]


def test_sets_are_counted_and_listed_by_row():
    sets = found_sets([ROWS_OF_SETS[0], ROWS_OF_SETS[1], ROWS_OF_SETS[2]], CANDIDATES)
    every = [(row, tuple(sorted(CANDIDATES[i] for i in S))) for row, S in [(0, (0,)), (0, (1, 2, 70)), (2, (63, 64))]]
    assert sets.n_by_row().tolist() == [2, 0, 1]
    assert sets.by_row() == every
    assert sets.best_by_row() == [every[0], every[2]]
    nothing = found_sets([[], []], CANDIDATES)
    assert nothing.best_by_row() == nothing.by_row() == []
    assert nothing.sizes() == []


def test_joined_sets_are_those_of_all_rows():
    rows = [[((0,), 0.9), ((1, 2), 1.0)], [], [((3,), 0.95)], [((4, 0), 0.91)]]
    complete = [True, False, True, False]
    whole = found_sets(rows, CANDIDATES, complete)
    parts = [found_sets(rows[a:b], CANDIDATES, complete[a:b]) for a, b in ((0, 1), (1, 1), (1, 3), (3, 4))]
    joined = FoundSets.joined(parts)
    assert joined.candidates == whole.candidates
    for name in ("offset", "masks", "sdps", *BY_ROW):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
        assert getattr(joined, name).dtype == getattr(whole, name).dtype


def test_smaller_sets_stay_with_their_rows():
    small = ScoredSet((1,), 0.88)
    first, last = found_sets([[((0,), 0.9)], []], CANDIDATES), found_sets([[((3,), 0.95)]], CANDIDATES)
    joined = FoundSets.joined([first, replace(last, smaller={0: small})])
    assert joined.smaller == {2: small}
    assert joined.in_order(np.array([2, 0])).smaller == {0: small}
    assert joined.in_order(np.array([1, 0])).smaller == {}


def test_sets_are_put_into_another_order():
    rows = [*ROWS_OF_SETS, []]
    whole = found_sets(rows, CANDIDATES, [True, False, True, False, True])
    for order in ([4, 2, 0, 3, 1], [0, 1, 2, 3, 4], [1, 4, 3, 2, 0]):
        turned = whole.in_order(np.array(order))
        expected = found_sets([rows[i] for i in order], CANDIDATES)
        for name in ("offset", "masks", "sdps"):
            np.testing.assert_array_equal(getattr(turned, name), getattr(expected, name))
            assert getattr(turned, name).dtype == getattr(whole, name).dtype
        for name in BY_ROW:
            np.testing.assert_array_equal(getattr(turned, name), getattr(whole, name)[order])
    nothing = found_sets([], CANDIDATES).in_order(np.zeros(0, dtype=np.intp))
    assert nothing.offset.tolist() == [0]


# --- with confidence -------------------------------------------------------------------------------------------------


@settings(max_examples=n_examples(40), deadline=None)
@given(
    drawn=fitted_forests(task="classification", max_columns=3, max_rows=80),
    pi=st.sampled_from([0.3, 0.5, 0.75]),
    confidence=st.sampled_from([0.5, 0.8]),
    min_node_size=st.sampled_from([1, 7]),
    min_size=st.integers(0, 1),
    seed=st.integers(0, 99),
)
def test_sets_with_confidence_equal_brute_force(drawn, pi, confidence, min_node_size, min_size, seed):
    X, y, _, forest = drawn
    n = X.shape[1]
    rng = np.random.default_rng(seed)
    oracle = Oracle(trees_of(forest), X, y, min_node_size)
    projection = project(core_forest(oracle.trees, X, y), n)
    values = np.unique(y)
    queries, lo = X[rng.integers(len(X), size=3)], rng.integers(len(values), size=3)
    least = least_sdps(pi, confidence)
    options = {"pi": pi, "min_node_size": min_node_size, "min_size": min_size}
    sufficient, best, best_sdp = search(projection, queries, lo, lo, least_sdp=least, **options)
    for i, x in enumerate(queries):
        expected = oracle.sufficient_sets(x, values[lo[i]], range(n), pi, min_size, least_sdp=least)
        assert {S for S, _ in sufficient[i]} == {mask(S) for S in expected}
        if not expected:
            top = oracle.best_of_chain(x, values[lo[i]], oracle.chain(x, values[lo[i]], range(n), n)[min_size:])
            assert best[i] == mask(top)
            assert abs(best_sdp[i] - oracle.sdp(x, top, values[lo[i]])) < 1e-14
        else:
            assert (best[i], best_sdp[i]) == sufficient[i][0]


def levelled(seed=0, n_rows=400, **options):
    """Three classes, the last of them rare, and an explainer that finds sets for each at its own level."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_rows, 4)).astype(float)
    y = np.where((X[:, 0] == 3) & (X[:, 1] > 1) & (rng.random(n_rows) < 0.8), 2, X[:, 2] > 1)
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    return SufficientExplainer(forest, n_jobs=2, **options).fit(X, y), X, y


@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_a_set_passes_exactly_if_the_bound_that_is_shown_reaches_pi(confidence):
    """The core compares with a table of least SDPs, and the bound is computed from the SDP and the weights."""
    explainer, X, _ = levelled(pi=0.6)
    whole = explainer.explain(X, rules=None)
    sure = explainer.with_settings(confidence=confidence).explain(X, rules=None)
    fitted = explainer.fitted_
    n_passed = n_failed = 0
    for i, (every, some) in enumerate(zip(whole, sure, strict=True)):
        outcomes = sure.answers.outcomes.take(np.array([i]))
        if some.is_sufficient:
            assert some.best_set.lower >= 0.6 - 1e-9
        for s in every.sufficient_sets:
            S = tuple(int(name[1:]) for name in s.variables)
            row = sure.answers.X[i : i + 1]
            sdp = fitted.projected.sdp(row, [S], outcomes, 1)
            [bound] = lower_bounds(sdp, fitted.projected.squared_weights(row, [S], 1), confidence)
            is_sure = s.variables in {t.variables for t in some.sufficient_sets}
            assert is_sure == (bound >= 0.6)
            n_passed, n_failed = n_passed + is_sure, n_failed + (not is_sure)
    assert n_passed > 20
    assert n_failed > 20


# --- levels by class -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pi", [0.5, 0.9, 1.0])
def test_the_odds_of_a_level_are_those_of_pi_times_those_of_the_class(pi):
    explainer, _, y = levelled(pi=pi, levels="odds")
    outcomes = outcomes_of_classes(np.array([2, 0, 1, 2]), np.arange(3))
    levels = explainer.fitted_.levels(outcomes)
    shares = np.array([np.mean(y == label) for label in (2, 0, 1, 2)])
    np.testing.assert_allclose(explainer.fitted_.base_rates(outcomes), shares)
    if pi == 1:
        assert levels.tolist() == [1.0] * 4
    else:
        odds = pi / (1 - pi) * shares / (1 - shares)
        np.testing.assert_allclose(levels, np.clip(odds / (1 + odds), 0.5, pi))  # the outcome stays the most likely one
    assert explainer.with_settings(levels="same").fitted_.levels(outcomes).tolist() == [pi] * 4


@pytest.mark.parametrize("confidence", [None, 0.5])
def test_rows_of_several_classes_have_the_sets_of_each_class_alone(confidence):
    explainer, X, y = levelled(pi=0.8, levels="odds", confidence=confidence)
    fitted, matrix = explainer.fitted_, explainer.encode(X[:90])
    outcomes = outcomes_of_classes(y[:90], np.arange(3))
    n_done = []
    together = find_sufficient_sets(fitted, matrix, outcomes, minimal_only=False, progress=n_done.append)
    assert n_done == sorted(n_done)
    n_sets = set()
    for i in range(90):
        alone = find_sufficient_sets(
            fitted, matrix[[i]], outcomes.take(np.array([i])), minimal_only=False, progress=None
        )
        begin, end = together.offset[i : i + 2]
        np.testing.assert_array_equal(together.masks[begin:end], alone.masks)
        np.testing.assert_array_equal(together.sdps[begin:end], alone.sdps)
        for name in BY_ROW:
            np.testing.assert_array_equal(getattr(together, name)[i], getattr(alone, name)[0])
        n_sets.add((int(y[i]), len(alone.sdps) > 0))
        level = fitted.levels(outcomes)[i]
        assert np.all(alone.sdps >= level - 1e-9)
    assert {(0, True), (1, True), (2, True)} <= n_sets


def test_the_rules_of_a_class_hold_at_its_level():
    explainer, X, y = levelled(pi=0.8, levels="odds")
    fitted, matrix = explainer.fitted_, explainer.encode(X[:90])
    outcomes = outcomes_of_classes(y[:90], np.arange(3))
    levels = fitted.levels(outcomes)
    pairs = [(i, S) for i in range(90) for S in ((0, 1), (2,))]
    boxes = find_maximal_rules(fitted, matrix, outcomes, pairs, ExplainOptions())
    n_rare = 0
    for (i, S), found_box in zip(pairs, boxes, strict=True):
        [sdp] = fitted.projected.sdp(matrix[[i]], [S], outcomes.take(np.array([i])), 1)
        assert (found_box is not None) == (sdp >= levels[i] - 1e-9)
        n_rare += found_box is not None and y[i] == 2 and sdp < 0.8
    assert n_rare > 0  # rules that pi itself would not allow
    explanation = next(e for e in explainer.explain(X[:90], y[:90]) if e.outcome == 2)
    assert explanation.pi == pytest.approx(levels[y[:90] == 2][0])
