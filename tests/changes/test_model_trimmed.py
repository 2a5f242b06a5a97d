"""The part of a box in which a model agrees, compared with every box that points span."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from loans import ROW, loan_explainer

from suffice import SufficientExplainer
from suffice._forest.outcomes import read_targets
from suffice.changes.limits import read_limits, region_of_rows
from suffice.changes.model import largest_agreed_part, trim_box
from suffice.changes.search import ChangeOptions, ChangeSearch, FoundChange, find_changes


def largest_by_trying(points, agrees, weights):
    """The largest weight of points with agreement in a box without any other, by trying every box."""
    points = np.where(np.isnan(points), -np.inf, points)
    best = 0.0
    ranges = [[(a, b) for a in set(column) for b in set(column) if a <= b] for column in points.T.tolist()]
    for box in product(*ranges):
        low, high = np.array(box).T
        is_in = ((low <= points) & (points <= high)).all(axis=1)
        if not (is_in & ~agrees).any():
            best = max(best, float(weights[is_in].sum()))
    return best


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_no_other_box_holds_more(seed, n_columns):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 6, size=(14, n_columns)).astype(float)
    points[rng.random(points.shape) < 0.1] = np.nan
    agrees = rng.random(14) < 0.6
    # Equal points get the same answer.
    _, first, same = np.unique(points, axis=0, return_index=True, return_inverse=True, equal_nan=True)
    agrees = agrees[first][same.ravel()]
    weights = rng.random(14).round(2) + 0.01
    low, high = largest_agreed_part(points, agrees, weights)
    is_in = ((low <= np.nan_to_num(points, nan=-np.inf)) & (np.nan_to_num(points, nan=-np.inf) <= high)).all(axis=1)
    assert not (is_in & ~agrees).any()
    assert weights[is_in].sum() == pytest.approx(largest_by_trying(points, agrees, weights))


def test_a_model_that_never_agrees_leaves_nothing():
    assert largest_agreed_part(np.zeros((3, 1)), np.zeros(3, dtype=bool), np.ones(3)) is None


def test_a_search_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr("suffice.changes.model.MAX_PARTS", 1)
    points, agrees = np.arange(5.0)[:, None], np.array([True, False, True, True, False])
    assert largest_agreed_part(points, agrees, np.ones(5)) is None


def box_of_incomes():
    """A box of incomes in which the loan of a row would be good, without an end above."""
    explainer = loan_explainer()
    state = explainer.fitted_
    matrix = explainer.encode(ROW)
    [target] = read_targets("good", np.array(["bad"]), state.classes)
    limits = read_limits(state, (), ["income"], None, None)
    search = ChangeSearch(state, [target], np.array([0.8]), limits, ChangeOptions(n=1))
    [found] = find_changes(search, region_of_rows(matrix), limits.boxes(matrix))
    return state, found.changes[0], target


def test_a_box_is_cut_where_the_model_disagrees_and_keeps_its_other_end():
    state, box, target = box_of_incomes()
    [column] = state.variables.columns[box.variables[0]]
    incomes = state.forest.X[box.rows, column]
    middle = float(np.median(incomes))
    part = trim_box(state, box, target, [column], np.arange(len(incomes)), incomes > middle)
    assert part.low[column] >= middle
    assert part.high[column] == box.high[column]
    assert sorted(part.rows) == sorted(box.rows[incomes > middle])
    assert part.plausibility == pytest.approx(box.plausibility * part.weights.sum() / box.weights.sum())
    assert part.bound == 1.0
    is_wanted = target.holds(state.training[1][part.rows])
    assert part.mean == pytest.approx(part.weights @ is_wanted / part.weights.sum())
    low_part = trim_box(state, box, target, [column], np.arange(len(incomes)), incomes <= middle)
    assert low_part.low[column] == box.low[column]
    assert low_part.high[column] == middle
    assert sorted(low_part.rows) == sorted(box.rows[incomes <= middle])


def test_rows_that_the_model_was_not_asked_about_count_as_well():
    state, box, target = box_of_incomes()
    [column] = state.variables.columns[box.variables[0]]
    incomes = state.forest.X[box.rows, column]
    places = np.arange(0, len(incomes), 2)
    part = trim_box(state, box, target, [column], places, np.ones(len(places), dtype=bool))
    assert len(part.rows) == len(box.rows)
    assert part.plausibility == pytest.approx(box.plausibility)
    assert trim_box(state, box, target, [column], places, np.zeros(len(places), dtype=bool)) is None


def test_missing_values_are_cut_off_and_rows_are_counted_by_their_weights():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2)).round(3)
    X[::4, 0] = np.nan
    y = np.where(rng.random(200) < X[:, 1], "good", "bad")
    state = SufficientExplainer(random_state=0).fit(X, y).fitted_
    [target] = read_targets("good", np.array(["bad"]), state.classes)
    weights = rng.random(200)
    ends = np.full(2, np.inf, dtype=np.float32)
    box = FoundChange(
        (0,), -ends, ends, np.ones(2, bool), np.ones(2, bool), 0.5, 0.4, 0.4, 0.5, 0.5, np.arange(200), weights
    )
    is_missing = np.isnan(X[:, 0])
    known = trim_box(state, box, target, [0], np.arange(200), ~is_missing)
    assert sorted(known.rows) == np.flatnonzero(~is_missing).tolist()
    assert not known.missing[0]
    assert known.plausibility == pytest.approx(0.4 * weights[~is_missing].sum() / weights.sum())
    assert known.mean == pytest.approx(weights[~is_missing] @ (y[~is_missing] == "good") / weights[~is_missing].sum())
    missing = trim_box(state, box, target, [0], np.arange(200), is_missing)
    assert sorted(missing.rows) == np.flatnonzero(is_missing).tolist()
    assert missing.missing[0]
    assert not missing.has_values[0]
