from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from benchmarks import speed
from benchmarks.speed import Known, Timed, print_times, rows_within
from benchmarks.speed_bounds import figures_of
from benchmarks.speed_questions import times_of_single_rows
from benchmarks.speed_tables import TABLES, held_out_rows, is_known
from benchmarks.speed_worker import largest_error, time_calls
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer


def test_more_rows_than_there_are_become_moved_copies():
    X = pd.DataFrame({"size": np.arange(30.0), "code": np.arange(30) % 3, "town": ["a", "b", "c"] * 10})
    assert held_out_rows(X, 10).equals(X[:10])
    rows = held_out_rows(X, 90)
    assert rows[:30].equals(X)
    assert rows["size"].nunique() == 90
    assert set(rows["code"]) == {0, 1, 2}
    nearest = rows["size"].round().clip(0, 29).astype(int)
    assert (rows["town"] == X["town"].to_numpy()[nearest]).all()
    assert (rows["size"] - nearest).abs().max() < 0.5


def test_rows_with_a_category_that_training_lacks_are_found():
    training = pd.DataFrame({"town": ["a", "b"], "size": [1, 2]})
    assert is_known(training, pd.DataFrame({"town": ["b", "c"], "size": [3, 4]})).tolist() == [True, False]


def test_a_method_gets_the_rows_that_fit_into_the_limit():
    at_ten_a_second = Known(1, 0.6), Known(31, 3.6)
    assert rows_within(100.0, *at_ten_a_second, 300) == 300
    assert rows_within(20.0, *at_ten_a_second, 300) == 100  # 195, one digit kept
    assert rows_within(0.1, *at_ten_a_second, 300) == 1
    assert rows_within(1.0, Known(1, 5.0), Known(31, 4.9), 300) == 1


def test_fewer_rows_are_stated():
    assert str(Timed(1.23456, 300, 300)) == "1.235"
    assert str(Timed(12.3456, 20, 300)) == "12.3 (20 rows)"


def test_calls_are_timed_and_restored():
    class Owner:
        def double(self, value):
            return 2 * value

    original = Owner.double
    with time_calls(Owner, ["double"]) as spent:
        assert Owner().double(3) == 6
    assert len(spent) == 1
    assert Owner.double is original


def test_values_that_add_up_have_no_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2)).astype(np.float32)
    forest = RandomForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0)
    at_root = np.mean([tree.tree_.value[0, 0, 1] for tree in forest.estimators_])
    gain = forest.predict_proba(X)[:, 1] - at_root
    values = np.column_stack([gain, np.zeros(100)])
    assert largest_error(forest, X, values) == pytest.approx(0)
    values[0, 1] = forest.predict_proba(X)[:, 1].std()
    assert largest_error(forest, X, values) == pytest.approx(1)


def test_single_rows_take_time_inside_and_outside_of_the_core():
    table = TABLES["breast cancer"](3)
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(table.X, table.y)
    mean, worst, outside = times_of_single_rows(explainer, table.rows, {"sets": "minimal", "rules": None})
    assert 0 < outside < mean <= worst


def test_a_table_is_timed_without_other_methods(capsys, monkeypatch):
    monkeypatch.setattr(speed, "N_ROUNDS", 1)
    options = Namespace(before=None, no_peers=True, seconds=0.5)
    print_times("breast cancer", TABLES["breast cancer"](5), (1, 5), ("minimal sets",), options)
    lines = capsys.readouterr().out.splitlines()
    assert "### Breast cancer" in lines
    assert any(line.startswith("- 341 training rows, 30 columns (0 with missing values); 100 trees") for line in lines)
    (line,) = (line for line in lines if line.startswith("| suffice, minimal sets"))
    assert len(line.split("|")) == 8
    assert [cell.strip() for cell in line.split("|")[5:7]] == ["-", "-"]


def test_the_least_number_of_shares_counts_sets_and_trees():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 4)).astype(float)
    y = ((X[:, 0] + X[:, 1] + X[:, 2]) % 2).astype(int)  # three variables together, and none of them alone or with one
    forest = RandomForestClassifier(20, max_features=None, random_state=0)
    explainer = SufficientExplainer(forest, random_state=0, n_jobs=1, counts="bootstrap").fit(X, y)
    assert explainer.explain(X[:1], progress=False)[0].best_set.variables == explainer.variable_names_[:3]
    n_sets, n_shares, _ = figures_of(explainer, X[:1])
    assert n_sets == 6 + 4  # of two and of three of the four variables
    assert n_shares == 9 * 3 + 1 * 20  # SDP < .9 takes three of 20 trees with share 0, the sufficient set all of them
