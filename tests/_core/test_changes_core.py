"""Counterfactual rules of the core against every box that there is."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from change_oracle import INF, ChangeOracle, region_of_row
from forests import core_forest, fitted_forests, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import trees_of
from sklearn.ensemble import RandomForestClassifier
from thoroughness import n_examples

from suffice import _core

LOWEST = np.float32(-INF)


def value_boxes(boxes):
    """Boxes of the oracle as the core takes them."""
    boxes = np.array(boxes, dtype=np.float64)
    low, high = boxes[..., 0].astype(np.float32), boxes[..., 1].astype(np.float32)
    return _core.ValueBoxes(
        low=low, high=high, has_values=(low < high).astype(np.uint8), missing=boxes[..., 2].astype(np.uint8)
    )


def search(trees, X, y, wanted, regions, limits, groups=None, *, pi=0.9, everywhere=True, allowed=(), **options):
    """What is found for some regions; `wanted` are outcomes. `votes` are what the nodes of each tree predict."""
    votes = options.pop("votes", None)
    forest = core_forest(trees, X, y, votes)
    variable_of = np.full(X.shape[1], -1, dtype=np.int32)
    groups = groups or [(c,) for c in range(X.shape[1])]
    for v, columns in enumerate(groups):
        variable_of[list(columns)] = v
    defaults = {
        "min_plausibility": 0.0,
        "minimal_only": True,
        "min_size": 1,
        "max_size": 2,
        "n_changes": 1,
        "max_sets": 1000,
        "max_nodes": 100_000,
        "n_candidates": 10,
        "min_node_size": 1,
    }
    options = {**defaults, **options, "variable_of": variable_of.tolist(), "allowed": allowed or [()] * X.shape[1]}
    return _core.find_changes(
        forest=forest,
        options=_core.ChangeOptions(pi=pi, everywhere=everywhere, votes=votes is not None, **options),
        regions=value_boxes(regions),
        limits=value_boxes(limits),
        wanted=np.isin(np.unique(y), list(wanted)).astype(np.uint8)[None, :],
        target=np.zeros(len(regions), dtype=np.int32),
        n_threads=1,
    )


def as_float32(end):
    """The largest float32 up to a threshold: no value lies between the two."""
    rounded = np.float32(end)
    return float(rounded if float(rounded) <= end else np.nextafter(rounded, LOWEST))


def rounded(region):
    """A region with the ends that the core has."""
    return [(as_float32(low), as_float32(high), missing) for low, high, missing in region]


def limits_of(x):
    """Every value may be taken; a known one does not become missing."""
    return [(-INF, INF, bool(np.isnan(v))) for v in x]


def box_of(change, columns):
    """The box of a change as the oracle writes it."""
    return [
        (float(change["low"][c]), float(change["high"][c]), bool(change["missing"][c]))
        if change["has_values"][c]
        else (INF, -INF, True)
        for c in columns
    ]


def variables_in(mask):
    return tuple(v for v in range(63) if int(mask) >> v & 1)


def changes_of(*args, **options):
    """The changes of the only region."""
    [(changes, *_)] = search(*args, **options)
    return changes


def check_against_oracle(oracle, changes, region, limits, wanted, pi, everywhere, max_size, min_size=1):
    """The smallest set that has a box, and the best box of all sets of its size."""
    n = len(oracle.groups)
    for size in range(min_size, max_size + 1):
        best = {
            S: oracle.best_plausibility(region, S, limits, wanted, pi, everywhere) for S in combinations(range(n), size)
        }
        most = max(best.values(), default=0)
        if most > 0:
            assert len(changes) >= 1
            assert len(variables_in(changes[0]["mask"])) == size
            assert changes[0]["plausibility"] == pytest.approx(float(most), abs=1e-9)
            assert changes[0]["bound"] == pytest.approx(float(most), abs=1e-9)
            break
    else:
        assert len(changes) == 0
    for change in changes:
        S = variables_in(change["mask"])
        box = box_of(change, oracle.columns(S))
        plausibility, mean = oracle.measure(region, S, box, wanted)
        assert change["plausibility"] == pytest.approx(float(plausibility), abs=1e-9)
        assert change["mean"] == pytest.approx(float(mean), abs=1e-9)
        assert change["cdp"] == pytest.approx(float(oracle.cdp(region, S, wanted)), abs=1e-9)
        # The core's ends are float32: so are those of the region, for this comparison.
        assert not oracle.meets_region(rounded(region), S, box)
        if everywhere:
            assert oracle.is_everywhere(region, S, box, wanted, pi)
        else:
            assert float(mean) >= pi - 1e-9


@settings(max_examples=n_examples(60), deadline=None)
@given(st.data())
@pytest.mark.parametrize("everywhere", [True, False])
def test_the_best_boxes_of_the_smallest_sets_are_found(everywhere, data):
    X, y, _, forest = data.draw(fitted_forests("classification", max_columns=3, max_rows=25))
    trees = trees_of(forest)
    min_node_size = data.draw(st.sampled_from([1, 3]))
    pi = data.draw(st.sampled_from([0.5, 0.75, 1.0]))
    wanted = {data.draw(st.sampled_from(sorted(set(y.tolist()))))}
    row = data.draw(st.integers(0, len(X) - 1))
    region, limits = region_of_row(X[row]), limits_of(X[row])
    oracle = ChangeOracle(trees, X, y, min_node_size)
    if sum(len(t) for t in oracle.thresholds) > 9:
        return
    min_size = data.draw(st.sampled_from([1, 2]))
    options = {"everywhere": everywhere, "min_node_size": min_node_size, "n_changes": 3, "min_size": min_size}
    changes = changes_of(trees, X, y, wanted, [region], [limits], pi=pi, **options)
    check_against_oracle(oracle, changes, region, limits, wanted, pi, everywhere, 2, min_size)


@settings(max_examples=n_examples(40), deadline=None)
@given(st.data())
@pytest.mark.parametrize("everywhere", [True, False])
def test_limits_and_groups_are_kept(everywhere, data):
    X, y, _, forest = data.draw(fitted_forests("classification", max_columns=3, max_rows=20))
    trees = trees_of(forest)
    wanted = {data.draw(st.sampled_from(sorted(set(y.tolist()))))}
    row = data.draw(st.integers(0, len(X) - 1))
    region, limits = region_of_row(X[row]), limits_of(X[row])
    groups = [(0,), tuple(range(1, X.shape[1]))] if X.shape[1] > 1 else None
    oracle = ChangeOracle(trees, X, y, 1, groups)
    ends = sorted({*oracle.thresholds[0], *X[~np.isnan(X[:, 0]), 0].tolist()} - {INF})
    if ends:  # at a threshold, or between two
        limits[0] = (-INF, as_float32(data.draw(st.sampled_from(ends))), limits[0][2])
    if sum(len(t) for t in oracle.thresholds) > 6:
        return
    changes = changes_of(trees, X, y, wanted, [region], [limits], groups, pi=0.5, everywhere=everywhere, max_size=1)
    check_against_oracle(oracle, changes, region, limits, wanted, 0.5, everywhere, 1)


@settings(max_examples=n_examples(40), deadline=None)
@given(st.data())
@pytest.mark.parametrize("everywhere", [True, False])
def test_regions_go_both_ways_where_they_straddle_a_split(everywhere, data):
    """A box may begin right next to the region, also where no leaf that the set reaches ends there.

    Only thresholds of reached leaves were ends of boxes: a region that ends between two of them took up all of the
    piece between them, and boxes in the rest of it were missed.
    """
    X, y, _, forest = data.draw(fitted_forests("classification", max_columns=3, max_rows=20))
    trees = trees_of(forest)
    wanted = {data.draw(st.sampled_from(sorted(set(y.tolist()))))}
    oracle = ChangeOracle(trees, X, y, 1)
    if sum(len(t) for t in oracle.thresholds) > 6:
        return
    region = []
    for ends in oracle.thresholds:
        known = [-INF, *(end for end in ends if end < INF), INF]
        low = data.draw(st.integers(0, len(known) - 2))
        region.append((known[low], known[data.draw(st.integers(low + 1, len(known) - 1))], False))
    limits = [(-INF, INF, False)] * X.shape[1]
    changes = changes_of(trees, X, y, wanted, [rounded(region)], [limits], pi=0.5, everywhere=everywhere, max_size=2)
    check_against_oracle(oracle, changes, region, limits, wanted, 0.5, everywhere, 2)


@settings(max_examples=n_examples(40), deadline=None)
@given(st.data())
def test_leaves_can_say_what_their_trees_predict(data):
    """The trees count other rows than those that they were fitted on: a leaf may have none of them, but has a vote."""
    X, y, _, forest = data.draw(fitted_forests("classification", max_columns=3, max_rows=25))
    trees = [replace(t, rows=np.unique(t.rows)[: max(1, len(t.rows) // 3)]) for t in trees_of(forest)]
    votes = [np.ascontiguousarray(e.tree_.value[:, 0, :]) for e in forest.estimators_]
    pi = data.draw(st.sampled_from([0.5, 0.75, 1.0]))
    wanted = {data.draw(st.sampled_from(sorted(set(y.tolist()))))}
    row = data.draw(st.integers(0, len(X) - 1))
    region, limits = region_of_row(X[row]), limits_of(X[row])
    oracle = ChangeOracle(trees, X, y, 1, votes=votes)
    if sum(len(t) for t in oracle.thresholds) > 9:
        return
    changes = changes_of(trees, X, y, wanted, [region], [limits], pi=pi, votes=votes, n_changes=2)
    check_against_oracle(oracle, changes, region, limits, wanted, pi, True, 2)


def test_trees_that_predict_numbers_do_not_vote():
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    trees = [tree((0, 1.5, None, None), np.arange(4))]
    with pytest.raises(ValueError, match="do not vote for classes"):
        search(trees, X, y, {1}, [region_of_row([0.0])], [[(-INF, INF, False)]], votes=[np.zeros((3, 1))])


def checked_change(trees, X, y, wanted, x, limit):
    """The best change of a row whose first column is limited, checked against the oracle."""
    region, limits = region_of_row(x), [(-INF, limit, False), *limits_of(x)[1:]]
    changes = changes_of(trees, X, y, wanted, [region], [limits], pi=0.5, max_size=1)
    check_against_oracle(ChangeOracle(trees, X, y, 1), changes, region, limits, wanted, 0.5, True, 1)
    return changes[0]


def test_a_box_ends_at_a_limit_between_two_reached_thresholds():
    """The box was written without its limit: from 0.5 to infinity, with the plausibility of 0.5 to 1.5."""
    X = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]], dtype=float)
    y = np.array([0, 1, 1, 0, 0, 1])
    trees = [tree((1, 0.5, (0, 0.5, None, None), (0, 1.5, None, None)), np.arange(6))]
    change = checked_change(trees, X, y, {1}, X[0], 1.5)
    assert (change["low"][0], change["high"][0]) == (0.5, 1.5)
    assert change["plausibility"] == pytest.approx(1 / 3)
    assert change["rows"].tolist() == [1]


def test_a_row_beyond_a_limit_forbids_nothing_within_it():
    """The limit lies next to the row, with no threshold between: all values up to the next threshold were forbidden."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 1, 1, 1])
    trees = [tree((0, 0.5, None, None), np.arange(4))]
    change = checked_change(trees, X, y, {1}, X[3], 2.0)
    assert (change["low"][0], change["high"][0]) == (0.5, 2.0)
    assert change["plausibility"] == pytest.approx(0.5)


def test_only_allowed_values_count():
    """Of the values 0 to 3, only 0 and 3 are allowed: the rows with 2 do not count, and the box begins beyond them."""
    X = np.repeat(np.arange(4.0), 5)[:, None]
    y = np.repeat([0, 0, 1, 1], 5)
    trees = [tree((0, 1.5, None, (0, 2.5, None, None)), np.arange(20))]
    region, limits = region_of_row([0.0]), [(-INF, INF, False)]
    [change] = changes_of(trees, X, y, {1}, [region], [limits], allowed=[[0.0, 3.0]])
    assert change["plausibility"] == pytest.approx(0.25)
    assert change["low"][0] == 2.5
    [change] = changes_of(trees, X, y, {1}, [region], [limits])
    assert change["plausibility"] == pytest.approx(0.5)
    assert change["low"][0] == 1.5


def test_a_budget_gives_a_box_with_a_bound():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (300, 2)).astype(float)
    y = ((X[:, 0] + X[:, 1]) % 5 < 2).astype(int)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    trees = trees_of(forest)
    region, limits = region_of_row(X[np.flatnonzero(y == 0)[0]]), [(-INF, INF, False)] * 2
    for everywhere in (True, False):
        options = {"everywhere": everywhere, "max_size": 2}
        found = changes_of(trees, X, y, {1}, [region], [limits], max_nodes=1, **options)
        [best] = changes_of(trees, X, y, {1}, [region], [limits], **options)
        if found and found[0]["mask"] == best["mask"]:
            assert found[0]["plausibility"] <= best["plausibility"] + 1e-12 <= found[0]["bound"] + 2e-12
