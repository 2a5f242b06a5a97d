"""The other methods that propose changes: own code here, theirs where it is installed, and limits of time."""

import time

import numpy as np
import pytest
from experiments import counterfactual_peers
from experiments.counterfactual_peers import PEERS, Peer, make_tweaking, propose
from experiments.counterfactual_tables import Columns, Problem, fit_model


@pytest.fixture(scope="module")
def problem():
    """Two numbers and a category, and a forest that learns: 1 above a diagonal, and for cooks."""
    rng = np.random.default_rng(0)
    train = np.column_stack([rng.integers(0, 3, 400), rng.uniform(0, 10, size=(400, 2))]).astype(float)
    y = ((train[:, 1] + train[:, 2] > 11) | (train[:, 0] == 1)).astype(int)
    columns = Columns(("job", "a", "b"), {0: ("baker", "cook", "smith")}, frozenset())
    return Problem(columns, train, fit_model("forest", columns, train, y, 0), 1)


@pytest.fixture(scope="module")
def rows(problem):
    return problem.train[~problem.reaches(problem.train)][:5]


@pytest.mark.parametrize("target", [0, 1])
def test_feature_tweaking_finds_near_points_that_the_forest_confirms(problem, target):
    problem = Problem(problem.columns, problem.train, problem.model, target)
    rows = problem.train[~problem.reaches(problem.train)][:10]
    tweak = make_tweaking(problem, 0)
    points = np.array([tweak(row) for row in rows])
    assert problem.reaches(points).all()
    assert set(points[:, 0]) <= {0.0, 1.0, 2.0}


def test_feature_tweaking_goes_just_past_the_thresholds_of_the_nearest_leaf():
    """One column, classes 1 in (5, 8]: the forest's thresholds are near 5 and 8 in every tree."""
    train = np.linspace(0, 10, 2001)[:, None]
    y = ((train[:, 0] > 5) & (train[:, 0] <= 8)).astype(int)
    columns = Columns(("a",), {}, frozenset())
    tweak = make_tweaking(Problem(columns, train, fit_model("forest", columns, train, y, 0), 1), 0)
    step = 0.01 * train.std()
    assert tweak(np.array([2.0]))[0] == pytest.approx(5 + step, abs=0.02)
    assert tweak(np.array([9.5]))[0] == pytest.approx(8 - step, abs=0.02)


def test_feature_tweaking_of_numbers_moves_into_the_interval():
    rng = np.random.default_rng(1)
    train = rng.uniform(0, 10, size=(400, 2))
    columns = Columns(("a", "b"), {}, frozenset())
    problem = Problem(columns, train, fit_model("forest", columns, train, train.sum(axis=1), 0), (12.0, 14.0))
    point = make_tweaking(problem, 0)(np.array([2.0, 3.0]))
    assert 12 <= problem.model.predict(point[None])[0] <= 14


def test_a_method_runs_in_a_process_of_its_own(problem, rows):
    answers = propose("feature tweaking", problem, rows, seed=0, seconds=60)
    assert answers.notes == []
    assert len(answers.seconds) == len(rows)
    np.testing.assert_array_equal(answers.points, [make_tweaking(problem, 0)(row) for row in rows])


def test_a_method_that_is_not_installed_is_left_out(problem, rows, monkeypatch):
    monkeypatch.setitem(PEERS, "absent", Peer(make_tweaking, "no_such_package"))
    monkeypatch.setitem(PEERS, "elsewhere", Peer(make_tweaking, environment=".venv-no-such"))
    for name in ("absent", "elsewhere"):
        answers = propose(name, problem, rows, seed=0, seconds=60)
        assert answers.points.shape == (0, 3)
        assert answers.notes == [f"{name} was left out: it is not installed."]


def test_a_method_that_fails_at_its_start_is_left_out_with_the_reason(problem, rows):
    network = Problem(problem.columns, problem.train, object(), 1)
    answers = propose("feature tweaking", network, rows, seed=0, seconds=60)
    assert answers.notes == ["feature tweaking was left out: AttributeError: 'object' object has no attribute 'steps'"]


class _Slow:
    """Stands in for a process that answers one row and then takes its time."""

    def __init__(self, command, **options):
        import os
        import threading

        read, self.write = os.pipe()
        self.stdout = os.fdopen(read, "rb")

        def answer():
            os.write(self.write, b'"ready"\n{"point": [1, 2, 3], "seconds": 0.1, "problem": ""}\n{"point": nu')
            time.sleep(2)
            os.close(self.write)

        self.thread = threading.Thread(target=answer)
        self.thread.start()

    def kill(self):
        self.thread.join()

    def communicate(self):
        self.stdout.close()


@pytest.mark.parametrize(("seconds", "why"), [(0.3, "its time of 0.3 s was up"), (30, "its process ended")])
def test_rows_are_left_out_when_the_time_is_up_or_the_process_ends(problem, rows, monkeypatch, seconds, why):
    monkeypatch.setattr(counterfactual_peers.subprocess, "Popen", _Slow)
    answers = propose("feature tweaking", problem, rows, seed=0, seconds=seconds)
    assert answers.points.tolist() == [[1, 2, 3]]
    assert answers.seconds == [0.1]
    assert answers.notes == [f"feature tweaking answered 1 of 5 rows: {why}."]


@pytest.mark.parametrize("name", [name for name, peer in PEERS.items() if peer.package and not peer.environment])
def test_the_points_of_other_methods_are_in_the_table_s_columns(problem, rows, name):
    pytest.importorskip(PEERS[name].package)
    answers = propose(name, problem, rows[:2], seed=0, seconds=120)
    found = answers.points[~np.isnan(answers.points).any(axis=1)]
    assert len(found)
    assert problem.reaches(found).all()
    assert set(found[:, 0]) <= {0.0, 1.0, 2.0}
