"""Our points for rows, and the lines of the counterfactual experiments."""

from types import SimpleNamespace

import numpy as np
import pytest
from experiments import counterfactual_ours, counterfactuals
from experiments.counterfactual_ours import (
    DEFAULTS,
    INSIDE,
    LEAST,
    REGIONAL,
    REGIONAL_ANY,
    USUAL,
    VARIANTS,
    OursOnTable,
)
from experiments.counterfactual_peers import PEERS
from experiments.counterfactual_tables import Columns, Problem, fit_model
from experiments.counterfactuals import EXPERIMENTS, MOVES, Move
from experiments.runs import Plan

from suffice._table.condition import Condition


@pytest.fixture(scope="module")
def problem():
    """Two numbers and a category: 1 if the first number is large, or for cooks."""
    rng = np.random.default_rng(0)
    train = np.column_stack([rng.integers(0, 3, 500), rng.uniform(0, 10, size=(500, 2))]).astype(float)
    y = ((train[:, 1] > 6) | (train[:, 0] == 1)).astype(int)
    columns = Columns(("job", "a", "b"), {0: ("baker", "cook", "smith")}, frozenset())
    return Problem(columns, train, fit_model("forest", columns, train, y, 0), 1)


@pytest.fixture(scope="module")
def ours(problem):
    return OursOnTable(problem.columns, problem.train, problem.model, 0, Plan("tiny"))


def test_every_variant_proposes_points_that_the_model_confirms(problem, ours):
    rows = problem.train[~problem.reaches(problem.train)][:8]
    answers = ours.propose(problem, rows)
    assert set(answers) == set(VARIANTS)
    for variant in (LEAST, INSIDE, DEFAULTS):
        points = answers[variant].points
        assert not np.isnan(points).any()
        assert problem.reaches(points).all()
        assert ((points != rows).sum(axis=1) <= 2).all()
    assert answers[LEAST].proven == 1.0
    assert answers[LEAST].ms > 0
    # The point inside is a value of training rows; the least change goes no further than the border.
    moved_a = answers[LEAST].points[:, 1] != rows[:, 1]
    assert (answers[INSIDE].points[moved_a, 1] >= answers[LEAST].points[moved_a, 1]).all()
    assert np.isin(answers[INSIDE].points[:, 1], problem.train[:, 1]).all()
    # A regional rule holds for most of the rows of a region.
    for variant in (REGIONAL, REGIONAL_ANY):
        assert problem.reaches(answers[variant].points).mean() >= 0.5
    assert ours.agreement(problem.train) > 0.9


def test_points_inside_take_the_best_rated_training_values_of_all_boxes(problem, ours):
    rows = np.array([[0, 2.0, 5.0], [0, 3.0, 5.0]])
    cook = (Condition("job", labels=("cook",)), Condition("b", 4.0, 6.0))
    boxes = [[((Condition("a", 7.0, 8.0),), ("a",)), (cook, ("job", "b"))], []]
    points = ours._points_inside(rows, boxes)
    a_values = problem.train[(problem.train[:, 1] > 7) & (problem.train[:, 1] <= 8), 1]
    cooks = problem.train[(problem.train[:, 0] == 1) & (problem.train[:, 2] > 4) & (problem.train[:, 2] <= 6), 2]
    candidates = np.array([*([0, a, 5.0] for a in a_values), *([1, 2.0, b] for b in cooks)])
    scores = ours.isolation.decision_function(problem.columns.indicators(candidates))
    np.testing.assert_array_equal(points[0], candidates[np.argmax(scores)])
    assert np.isnan(points[1]).all()


def test_a_usual_point_has_the_fewest_changes_with_which_the_model_agrees(problem, ours, monkeypatch):
    rows = np.array([[0, 2.0, 5.0]])
    both = ((Condition("a", 4.0, 9.0), Condition("b", 4.0, 6.0)), ("a", "b"))
    one = ((Condition("a", 4.0, 9.0),), ("a",))
    late = SimpleNamespace(reaches=lambda points: points[:, 1] > 8)  # the most usual values are near 7
    monkeypatch.setattr(counterfactual_ours, "USUAL_SCORE", -0.1)
    [point] = ours._points_inside(rows, [[both, one]], problem=late)
    assert point[1] > 8
    assert point[2] == 5.0
    monkeypatch.setattr(counterfactual_ours, "USUAL_SCORE", 1.0)  # nothing is as usual: the best rated point is taken
    [best] = ours._points_inside(rows, [[both, one]], problem=late)
    assert best[1] > 8
    ratings = ours.isolation.decision_function(problem.columns.indicators(np.array([point, best])))
    assert ratings[1] > ratings[0]
    assert best[2] != 5.0


def test_moves_concern_rows_without_the_target_or_below_a_number():
    assert Move("1 to 0", "1 to 0", 0).concerns(np.array([0, 1, 1])).tolist() == [False, True, True]
    assert Move("up", "up", (2.0, 2.5), below=1.0).concerns(np.array([0.5, 1.0, 2.2])).tolist() == [True, False, False]
    assert [move.name for move in MOVES["Compas"]] == ["1 to 0", "0 to 1"]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)
def test_lines_are_told_apart_and_claims_have_the_keys_of_both_our_points_once(experiment):
    names = [(line.method, line.label) for line in experiment.lines]
    assert len(names) == len(set(names))
    assert len(experiment.claims) == (3 if "california" in experiment.name else 6)
    assert not {line.key for line in experiment.lines} & {claim.default for claim in experiment.claims}
    assert all(claim.default == claim.key.replace(USUAL, DEFAULTS) != claim.key for claim in experiment.claims)


def test_a_run_asks_the_other_methods_and_takes_the_best_of_them(problem, monkeypatch):
    outcome = SimpleNamespace(figures={}, notes=[], seconds={}, data={})
    rows = problem.train[~problem.reaches(problem.train)][:2]
    nothing = SimpleNamespace(propose=lambda problem, rows: {})
    monkeypatch.setattr(counterfactuals, "QUICK_PEERS", ("feature tweaking", "nearest unlike row"))
    monkeypatch.setitem(PEERS, "nearest unlike row", counterfactuals.PEERS["feature tweaking"])
    move = Move("0 to 1", "0 to 1", 1)
    counterfactuals._run_move(outcome, Plan("quick"), "Diabetes", "forest", move, problem, nothing, rows, 0)
    figures = outcome.figures
    assert figures["feature tweaking forest 0 to 1 accuracy"] == 1.0
    assert figures["peers forest 0 to 1 product"] == figures["feature tweaking forest 0 to 1 product"]
    assert figures["feature tweaking forest 0 to 1 rows"] == 2
    assert counterfactuals._different(["a", "b", "a"]) == ["a (2 rows)", "b"]
