import numpy as np
import pandas as pd
import pytest
from benchmarks import large_tables
from benchmarks.large_tables import LargeTable, counted
from benchmarks.real_tables import Part

from suffice._forest import fitting, trees
from suffice._table.condition import Condition
from suffice.explaining.rule import Rule


def rule_above(bound, precision=0.9):
    return Rule((Condition("a", bound, np.inf),), 1, None, 1.0, 3, 0.1, precision, None, True, 3.0, False)


@pytest.fixture
def small_table(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(700, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] > 0, "yes", "no")
    table = LargeTable(X[:500], y[:500], X[500:].reset_index(drop=True), y[500:])
    monkeypatch.setattr(large_tables, "TABLES", {"small": lambda: table})
    monkeypatch.setattr(large_tables, "N_EXPLAINED", 20)
    monkeypatch.setattr(large_tables, "COUNTED", (60, 100, 10**9))
    monkeypatch.setattr(trees, "MOST_COUNTED", 100)


def test_rows_counted_differ_and_forests_are_grown_once(small_table, monkeypatch, capsys):
    seeds, grow = [], fitting.fit_screened_forest

    def recorded(X, y, variables, counts, settings):
        seeds.append(settings.random_state)
        return grow(X, y, variables, counts, settings)

    monkeypatch.setattr(fitting, "fit_screened_forest", recorded)
    bits = trees.MOST_BITS
    counted(["small"])
    assert seeds == [0, 1]
    assert (fitting.fit_screened_forest, trees.MOST_COUNTED, trees.MOST_BITS) == (recorded, 100, bits)
    printed = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()]
    names, _, *lines = ([cell.strip() for cell in line] for line in printed)
    by_name = [dict(zip(names, line, strict=True)) for line in lines]
    assert [(line["most"], line["seed"]) for line in by_name] == [("60", "0"), ("100", "0"), ("all", "0"), ("100", "1")]
    n_counted = [int(line["rows counted"]) for line in by_name]
    assert n_counted[:2] == [60, 100]
    assert 150 < n_counted[2] < 200  # a bootstrap leaves out 37 % of 500 rows
    assert by_name[2]["same set as all"] == by_name[1]["same set as 100, seed 0"] == "1.000"
    assert all(float(line["has a set"]) > 0.9 and float(line["fresh"]) > 0.9 for line in by_name)


def test_rules_are_scored_where_they_cover_enough_other_rows():
    others = Part(pd.DataFrame({"a": np.arange(100.0)}), np.arange(100) % 4 == 0)
    rules = [rule_above(59.5), None, rule_above(70.5, 0.8), rule_above(69.5, 0.7)]
    stated, fresh = large_tables.score_rules(rules, others)
    assert stated == [0.9, 0.7]
    assert fresh == pytest.approx([10 / 40, 7 / 30])
