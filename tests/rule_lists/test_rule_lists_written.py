"""A list of rules as text, a frame, SQL, a dictionary and JSON."""

from __future__ import annotations

import dataclasses
import json
import math
import sqlite3

import numpy as np
import pytest
from rule_boxes import INF, LEFT, MIDDLE, RIGHT, X, Y, box, classifier, random_rules, regressor
from scipy.special import betaincinv

from suffice._table.condition import Condition
from suffice.rule_lists.code import lines_to_python, lines_to_sql
from suffice.rule_lists.estimators import GlobalRulesClassifier

ABOUT_LABELS = "Figures are those of the training rows; expected is the precision estimated for new rows."
ABOUT_NUMBERS = "Figures are those of the training rows."


def test_a_rule_list_reads_as_numbered_sentences():
    assert str(classifier([LEFT, RIGHT])).splitlines() == [
        "2 rules, coverage 80 % of 10 training rows; the first that covers a row decides. " + ABOUT_LABELS,
        "1. IF x0 <= 2.5 THEN a  (support 3, few rows, coverage 30 %, precision 1.00, 0.66 expected)",
        "2. IF x0 > 4.5 THEN b  (support 5, few rows, coverage 50 %, precision 0.80, 0.52 expected)",
        "ELSE b  (support 2, few rows, coverage 20 %, precision 1.00, 0.55 expected)",
    ]
    assert str(regressor([MIDDLE], abstain=True)).splitlines() == [
        "1 rule, coverage 40 % of 10 training rows; the first that covers a row decides. " + ABOUT_NUMBERS,
        "1. IF 2.5 < x0 <= 6.5 THEN y = 5  (support 4, few rows, coverage 40 %, MSE 1, MAE 1)",
    ]
    assert (
        str(classifier([box()]).rules_[0])
        == "ALWAYS b  (support 10, few rows, coverage 100 %, precision 0.60, 0.40 expected)"
    )
    assert str(GlobalRulesClassifier()) == "GlobalRulesClassifier()"


def test_the_frame_has_a_line_for_each_rule():
    frame = classifier([LEFT, RIGHT]).to_frame()
    assert frame.columns.tolist() == ["rule", "output", "support", "coverage", "precision", "frequencies", "expected"]
    expected = classifier([LEFT, RIGHT]).rules_[1].expected
    assert frame.iloc[1].tolist() == ["x0 > 4.5", "b", 5, 0.5, 0.8, {"a": 0.2, "b": 0.8}, expected]
    frame = regressor([MIDDLE]).to_frame()
    assert frame.columns.tolist() == [
        "rule",
        "output",
        "support",
        "coverage",
        "precision",
        "std",
        "mse",
        "mae",
        "expected",
    ]
    assert frame[["output", "std", "mse", "mae"]].to_numpy().tolist() == [[5.0, 1.0, 1.0, 1.0]]
    assert len(regressor([]).to_frame()) == 0


def run_sql(rule_list, table):
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(f'"x{i}" REAL' for i in range(table.shape[1]))
    connection.execute(f"CREATE TABLE t (i INTEGER, {columns})")
    rows = [(i, *(None if math.isnan(v) else v for v in row)) for i, row in enumerate(table.tolist())]
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * (table.shape[1] + 1))})", rows)
    values = connection.execute(f"SELECT {rule_list.to_sql()} FROM t ORDER BY i").fetchall()
    connection.close()
    return [value for (value,) in values]


def run_python(rule_list, table):
    known = {}
    exec(rule_list.to_python(), known)
    return [known["predict"]({f"x{i}": v for i, v in enumerate(row)}) for row in table.tolist()]


RUNS = pytest.mark.parametrize("run", [run_sql, run_python])


def test_the_python_is_a_function_that_can_be_read():
    assert classifier([LEFT, RIGHT]).to_python().splitlines()[4:] == [
        "def predict(row):",
        f"    {classifier([LEFT, RIGHT]).heading!r}",
        "    if has_value(row['x0']) and row['x0'] <= 2.5:",
        "        return 'a'",
        "    if has_value(row['x0']) and 4.5 < row['x0']:",
        "        return 'b'",
        "    return 'b'",
    ]
    assert classifier([], abstain=True).to_python().endswith("\n    return None\n")


DATES = ["2024-01-01 05:00", "2024-02-03 17:30", None]


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        (Condition("x", 1.0, 2.5, low_closed=True, high_closed=False), [0.5, 1.0, 2.0, 2.5, None, math.nan]),
        (Condition("x", high=2.5, missing=True), [2.5, 3.0, None, math.nan]),
        (Condition("x", missing=True, values=False), [2.5, None]),
        (Condition("x", low=0.1), [0.1, 0.1 + 1e-16, 0.2, math.inf]),
        (Condition("x", labels=("it's", "b")), ["it's", "c", None]),
        (Condition("x", labels=("a",), excluded=True), ["a", "b", None]),
        (Condition("x", labels=("a",), excluded=True, missing=True), ["a", "b", None]),
        (Condition("x", 1.5, part="month"), DATES),
        (Condition("x", labels=("Mon", "Sun"), part="weekday"), DATES),
    ],
)
def test_a_condition_in_python_covers_what_it_covers(condition, values):
    held = values
    if condition.part is not None:
        values = np.array(values, dtype="datetime64[s]")
        held = [None if np.isnat(value) else value.item() for value in values]
    expected = condition.covers(np.array(values, dtype=object) if isinstance(held[0], str) else np.array(values))
    rule_list = classifier([box()])
    rule = dataclasses.replace(rule_list.rules_[0].rule, conditions=(condition,))
    lines = dataclasses.replace(
        rule_list.lines_, rules=(dataclasses.replace(rule_list.rules_[0], rule=rule),), additions=None
    )
    known = {}
    exec(lines_to_python(lines, "other", 'a "heading" \\'), known)
    assert known["predict"].__doc__ == 'a "heading" \\'
    assert [known["predict"]({"x": value}) != "other" for value in held] == expected.tolist()


def test_the_sql_is_one_case():
    text = classifier([LEFT, RIGHT]).to_sql()
    expected = """CASE WHEN "x0" <= 2.5e0 THEN 'a' WHEN "x0" > 4.5e0 THEN 'b' ELSE 'b' END"""
    assert " ".join(text.split()) == expected
    assert "ELSE NULL" in classifier([LEFT, RIGHT], abstain=True).to_sql()
    assert (classifier([]).to_sql(), classifier([], abstain=True).to_sql()) == ("'b'", "NULL")
    assert lines_to_sql(classifier([LEFT, RIGHT]).lines_, "'b'") == text
    assert "THEN FALSE\n" in classifier([LEFT], y=Y == "b").to_sql()


@RUNS
@pytest.mark.parametrize("labels", [["it's", "\"q\" -- ''"], [0, -7], [False, True], [1.0, -2e15]])
@pytest.mark.parametrize("abstain", [True, False])
def test_the_code_says_what_predict_says(run, labels, abstain):
    rng = np.random.default_rng(3)
    table = np.round(rng.normal(size=(60, 3)), 2)
    table[rng.random(table.shape) < 0.2] = np.nan
    y = np.array(labels)[rng.integers(0, 2, size=60)]
    rule_list = classifier(random_rules(rng, 6, table, missing=True), X=table, y=y, abstain=abstain)
    expected = rule_list.predict(table).tolist()
    assert {*([None] if abstain else []), *rule_list.classes_.tolist()} == set(expected)
    assert run(rule_list, table) == expected


@RUNS
@pytest.mark.parametrize("abstain", [True, False])
def test_the_code_of_numbers_says_what_predict_says(run, abstain):
    rng = np.random.default_rng(3)
    table = np.round(rng.normal(size=(60, 3)), 2)
    y = 1e-6 * rng.normal(size=60)
    rule_list = regressor(random_rules(rng, 6, table), X=table, y=y, min_precision=-INF, abstain=abstain)
    expected = rule_list.predict(table)
    numbers = np.array(run(rule_list, table), dtype=float)
    assert 0 < np.count_nonzero(~rule_list.covered(table)) < 60
    assert numbers == pytest.approx(expected, rel=1e-14, nan_ok=True)  # SQLite may misread the last bit


@RUNS
@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("abstain", [True, False])
def test_the_code_of_a_sum_says_what_predict_says(run, n_classes, abstain):
    rng = np.random.default_rng(3)
    table = np.round(rng.normal(size=(300, 3)), 2)
    score = table[:, 0] + table[:, 1] ** 2 + 0.3 * rng.normal(size=300)
    table[rng.random(table.shape) < 0.1] = np.nan
    make, y = regressor, 1e-6 * score
    if n_classes > 1:
        make, y = classifier, np.array(["it's", "b", "c"])[np.digitize(score, [0.5, 2.0][: n_classes - 1])]
    rules = random_rules(rng, 20, table, missing=True)
    rule_list = make(rules, X=table, y=y, max_rules=5, abstain=abstain)
    assert len(rule_list.rules_) > 2
    expected = rule_list.predict(table).tolist()
    found = run(rule_list, table)
    if n_classes > 1:
        assert found == expected
        assert len(set(expected)) > 1
    else:
        assert np.array(found, dtype=float) == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_a_sum_as_text_and_as_a_dictionary():
    x = np.arange(400.0)[:, None]
    y = np.where((x[:, 0] < 100) & (x[:, 0] % 20 != 1), "a", "b")
    rule_list = classifier([box(high=99.5)], X=x, y=y, max_rules=3)
    heading, line, otherwise = str(rule_list).splitlines()
    base = "each that covers a row adds to the base, a 0.028, b 0.972, and the largest sum decides."
    assert heading == f"1 rule, coverage 25 % of 400 training rows; {base} {ABOUT_LABELS}"
    figures = "support 100, coverage 25 %, precision 0.95, 0.92 expected, 3.8 times as likely as on average"
    assert line == f"1. IF x0 <= 99.5 THEN a +0.838  ({figures})"
    assert otherwise == "ELSE b  (support 300, coverage 75 %, precision 1.00, 0.99 expected)"
    common = classifier(
        [box(high=99.5)], X=x, y=np.where(y == "a", "b", np.where(x[:, 0] % 3 == 0, "b", "a")), max_rules=3
    )
    assert "precision 0.97, 0.94 expected, 0.49 among all rows)" in str(common)
    assert rule_list.to_frame()["adds"].tolist() == [rule_list.rules_[0].addition] == [0.838]
    values = rule_list.to_dict()
    assert values["base"] == {"a": 0.028, "b": 0.972}
    assert values["rules"][0]["adds"] == {"a": 0.838, "b": -0.838}
    assert json.loads(rule_list.to_json()) == values
    numbers = regressor([box(high=99.5)], X=x, y=100.0 * (x[:, 0] < 100), max_rules=3)
    assert " THEN y +88.24  (support 100, coverage 25 %, mean 100, MSE 0, MAE 0)" in str(numbers)
    assert numbers.to_dict()["base"] == pytest.approx(numbers.lines_.additions.base[0])


# --- dictionaries and JSON -------------------------------------------------------------------------------------------


def test_a_list_as_a_dictionary():
    lines = classifier([LEFT, RIGHT]).to_dict()
    assert {name: value for name, value in lines.items() if name not in ("rules", "default")} == {
        "task": "classification",
        "target": "y",
        "n_rows": 10,
        "coverage": 0.8,
    }
    assert lines["rules"][1] == {
        "if": "x0 > 4.5",
        "sql": '"x0" > 4.5e0',
        "output": "b",
        "support": 5,
        "coverage": 0.5,
        "precision": 0.8,
        "expected": pytest.approx(betaincinv(4.5, 1.5, 0.1)),
        "frequencies": {"a": 0.2, "b": 0.8},
        "conditions": RIGHT.to_dict()["conditions"],
    }
    default = {name: lines["default"][name] for name in ("if", "output", "support", "precision", "conditions")}
    assert default == {"if": "", "output": "b", "support": 2, "precision": 1.0, "conditions": []}
    assert classifier([LEFT], abstain=True).to_dict()["default"] is None
    line = regressor([MIDDLE]).to_dict()["rules"][0]
    assert {name: line[name] for name in ("output", "support", "coverage", "mse", "mae")} == {
        "output": 5.0,
        "support": 4,
        "coverage": 0.4,
        "mse": 1.0,
        "mae": 1.0,
    }
    assert "frequencies" not in line


LABELS = [["it's", '"q"'], [0, -7], [False, True], [1.0, 2.0], [np.str_("a"), np.str_("b")]]


@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_json_gives_back_the_dictionary(labels):
    rng = np.random.default_rng(3)
    table = np.round(rng.normal(size=(60, 3)), 2)
    table[rng.random(table.shape) < 0.2] = np.nan
    y = np.array(labels)[rng.integers(0, 2, size=60)]
    rule_list = classifier(random_rules(rng, 6, table, missing=True), X=table, y=y)
    back = json.loads(rule_list.to_json(indent=1))
    assert back == rule_list.to_dict()
    assert [line["output"] for line in back["rules"]] == [line.output for line in rule_list.rules_]
    assert rule_list.to_json(indent=1).startswith('{\n "task": "classification"')
    assert len(back["rules"]) == len(rule_list.rules_) > 1
    for line, rule in zip(back["rules"], rule_list.rules_, strict=True):
        assert {c["column"] for c in line["conditions"]} == {c.column for c in rule.rule.conditions}


@pytest.mark.parametrize("rules", [[LEFT, MIDDLE, RIGHT], [box()], []])
def test_json_of_numbers_gives_back_the_dictionary(rules):
    rule_list = regressor(rules, min_precision=-INF)
    back = json.loads(rule_list.to_json(allow_nan=False))
    assert back == rule_list.to_dict()
    assert back["task"] == "regression"
    assert len(back["rules"]) == len(rule_list.rules_) == len(rules)
    assert back["coverage"] == (np.mean(rule_list.covered(X)) if rules else 0.0)
