"""``evaluate``: the rules of a list on any rows, against plain loops."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from rule_boxes import ALL_FOUR, INF, LEFT, MIDDLE, NUMBERS, RIGHT, X, Y, box, classifier, random_rules, regressor
from sklearn.exceptions import NotFittedError

from suffice.rule_lists.estimators import GlobalRulesClassifier

NAN = math.nan


def evaluate_slowly(rule_list, table, y, training):
    """Row by row and rule by rule. The training outcomes give the variance by which squared errors are divided."""
    lines = rule_list.rules_
    covers = [[bool(line.rule.covers(table[[i]])[0]) for i in range(len(table))] for line in lines]

    def loss(line, i):
        return float(line.output != y[i]) if line.mse is None else (line.output - y[i]) ** 2 / np.var(training)

    def measure(losses):
        return len(losses) / len(table) if len(table) else NAN, 1 - sum(losses) / len(losses) if losses else NAN

    first = [next((r for r in range(len(lines)) if covers[r][i]), -1) for i in range(len(table))]
    alone = [measure([loss(lines[r], i) for i in range(len(table)) if covers[r][i]]) for r in range(len(lines))]
    together = [
        measure([loss(lines[r], i) for i, r in enumerate(first) if 0 <= r < n_first])
        for n_first in range(1, len(lines) + 1)
        if any(0 <= r < n_first for r in first)
    ]
    errors = [abs(lines[r].output - y[i]) for i, r in enumerate(first) if r >= 0 and lines[r].mse is not None]
    return covers, first, alone, together, sum(errors) / len(errors) if errors else None


def assert_evaluated(rule_list, evaluation, table, y, training):
    covers, first, alone, together, mae = evaluate_slowly(rule_list, table, y, training)
    n_rules = len(rule_list.rules_)
    assert evaluation.covers.shape == (n_rules, len(table))
    assert evaluation.covers.dtype == np.bool_
    assert evaluation.covers.tolist() == covers
    assert evaluation.outcomes.tolist() == list(y)
    assert evaluation.first.tolist() == first
    for figures, expected in (
        ((evaluation.coverage, evaluation.precision), alone),
        ((evaluation.coverage_of_first, evaluation.precision_of_first), together),
    ):
        for array, numbers in zip(figures, zip(*expected, strict=True) if expected else ((), ()), strict=True):
            assert array.tolist() == pytest.approx(list(numbers), nan_ok=True)
    n_covered = sum(r >= 0 for r in first)
    assert evaluation.total_coverage == pytest.approx(n_covered / len(table) if len(table) else NAN, nan_ok=True)
    assert evaluation.total_precision == pytest.approx(together[-1][1] if together else NAN, nan_ok=True)
    if mae is not None:
        assert evaluation.mae == pytest.approx(mae)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("make", [classifier, regressor])
def test_rules_are_evaluated_as_a_loop_does(make, seed):
    rng = np.random.default_rng(seed)
    tables = [rng.integers(0, 6, size=(n, 3)) + rng.normal(size=(n, 3)) / 100 for n in (40, 25)]
    for table in tables:
        table[rng.random(table.shape) < 0.1] = np.nan
    signal = [np.nan_to_num(table[:, 0]) + rng.normal(size=len(table)) for table in tables]
    y, other_y = (np.round(s).astype(int) % 3 for s in signal) if make is classifier else signal
    params = {} if make is classifier else {"min_precision": -INF}
    rule_list = make(random_rules(rng, 12, tables[0], missing=True), X=tables[0], y=y, **params)
    assert len(rule_list.rules_) > 3
    assert_evaluated(rule_list, rule_list.evaluate(), tables[0], y.tolist(), y)
    assert_evaluated(rule_list, rule_list.evaluate(tables[0], y), tables[0], y.tolist(), y)
    assert_evaluated(rule_list, rule_list.evaluate(tables[1], other_y), tables[1], other_y.tolist(), y)
    assert_evaluated(rule_list, rule_list.evaluate(tables[1][:0], other_y[:0]), tables[1][:0], [], y)


def test_a_list_worked_out_by_hand():
    evaluation = classifier([LEFT, RIGHT]).evaluate()  # a a a, and b b a b b
    assert evaluation.covers.astype(int).tolist() == [[1] * 3 + [0] * 7, [0] * 5 + [1] * 5]
    assert evaluation.first.tolist() == [0, 0, 0, -1, -1, 1, 1, 1, 1, 1]
    assert evaluation.coverage.tolist() == [0.3, 0.5]
    assert evaluation.precision.tolist() == [1.0, 0.8]
    assert evaluation.coverage_of_first.tolist() == [0.3, 0.8]
    assert evaluation.precision_of_first.tolist() == [1.0, 0.875]
    assert (evaluation.total_coverage, evaluation.total_precision) == (0.8, 0.875)
    assert evaluation.mae is None
    assert evaluation.outcomes.tolist() == Y.tolist()


def test_numbers_worked_out_by_hand():
    rule_list = regressor([MIDDLE])  # 4 6 4 6
    evaluation = rule_list.evaluate()
    assert rule_list.outputs_.tolist() == [5.0]
    assert evaluation.mae == 1.0
    assert evaluation.precision.tolist() == [1 - 1 / NUMBERS.var()]
    other = rule_list.evaluate([[3.0], [4.0], [0.0]], [5.0, 8.0, 100.0])
    assert other.mae == 1.5
    assert other.precision.tolist() == pytest.approx([1 - 4.5 / NUMBERS.var()])
    assert other.coverage.tolist() == pytest.approx([2 / 3])


@pytest.mark.parametrize("make", [classifier, regressor])
def test_no_rules_cover_nothing(make):
    for evaluation in (make([]).evaluate(), make([]).evaluate(X, Y if make is classifier else NUMBERS)):
        assert evaluation.covers.shape == (0, 10)
        assert evaluation.first.tolist() == [-1] * 10
        assert evaluation.coverage.tolist() == evaluation.precision.tolist() == []
        assert evaluation.coverage_of_first.tolist() == evaluation.precision_of_first.tolist() == []
        assert evaluation.total_coverage == 0.0
        assert math.isnan(evaluation.total_precision)


@pytest.mark.parametrize(("make", "y"), [(classifier, ["a", "b"]), (regressor, [1.0, 2.0])])
def test_rows_that_no_rule_covers_have_no_precision(make, y):
    evaluation = make([LEFT, MIDDLE]).evaluate([[50.0], [60.0]], y)
    assert evaluation.first.tolist() == [-1, -1]
    assert evaluation.coverage.tolist() == [0.0, 0.0]
    assert np.isnan(evaluation.precision).all()
    assert evaluation.precision_of_first.tolist() == []
    assert (evaluation.total_coverage, math.isnan(evaluation.total_precision)) == (0.0, True)


def test_classes_have_no_mean_error_and_numbers_without_a_covered_row_an_unknown_one():
    assert classifier([LEFT]).evaluate().mae is None
    assert math.isnan(regressor([LEFT]).evaluate([[50.0]], [1.0]).mae)
    assert math.isnan(regressor([]).evaluate().mae)


@pytest.mark.parametrize("make", [classifier, regressor])
def test_the_figures_on_the_training_rows_are_those_of_the_lines(make):
    params = {} if make is classifier else {"min_precision": -INF}
    rule_list = make([*ALL_FOUR, box()], **params)
    evaluation = rule_list.evaluate()
    assert evaluation.coverage.tolist() == pytest.approx([line.coverage for line in rule_list.rules_])
    assert evaluation.precision.tolist() == pytest.approx([line.precision for line in rule_list.rules_])
    assert evaluation.covers.sum(axis=1).tolist() == [line.support for line in rule_list.rules_]
    assert rule_list.outputs_.tolist() == [line.output for line in rule_list.rules_]
    assert evaluation.first.tolist() == rule_list.decision_path(X).tolist()
    assert evaluation.total_coverage == rule_list.coverage(X)


def test_a_simplified_list_is_evaluated_by_its_own_rules():
    simple = classifier(ALL_FOUR).simplify(0)
    assert simple.evaluate().covers.shape == (3, 10)
    assert_evaluated(simple, simple.evaluate(), X, Y.tolist(), Y)


def test_an_evaluation_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'mae'"):
        classifier([LEFT]).evaluate().mae = 3.0


def test_what_cannot_be_evaluated_is_refused():
    rule_list = regressor([LEFT])
    for arguments in ({"X": X}, {"y": NUMBERS}):
        with pytest.raises(ValueError, match="Give `X` and `y` together, or neither for the training rows"):
            rule_list.evaluate(**arguments)
    with pytest.raises(ValueError, match="`y` has 3 entries, `X` has 10 rows"):
        rule_list.evaluate(X, NUMBERS[:3])
    with pytest.raises(NotFittedError, match="not fitted"):
        GlobalRulesClassifier().evaluate()
