"""``evaluate``: the rules of a list on any rows, against plain loops."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from rule_boxes import ALL_FOUR, INF, LEFT, MIDDLE, NUMBERS, RIGHT, X, Y, box, classifier, random_rules, regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import brier_score_loss, r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from suffice import SufficientExplainer
from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rule_lists.evaluating import Evaluation

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
    together = measure([loss(lines[r], i) for i, r in enumerate(first) if r >= 0])
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
    for array, numbers in zip((evaluation.coverage, evaluation.precision), zip(*alone, strict=True), strict=True):
        assert array.tolist() == pytest.approx(list(numbers), nan_ok=True)
    assert evaluation.total_coverage == pytest.approx(together[0], nan_ok=True)
    assert evaluation.total_precision == pytest.approx(together[1], nan_ok=True)
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
    assert (evaluation.total_coverage, evaluation.total_precision) == (0.8, 0.875)
    assert evaluation.mae is None
    assert evaluation.outcomes.tolist() == Y.tolist()


def test_numbers_worked_out_by_hand():
    rule_list = regressor([MIDDLE])  # 4 6 4 6
    evaluation = rule_list.evaluate()
    assert rule_list.lines_.outputs.tolist() == [5.0]
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
        assert evaluation.total_coverage == 0.0
        assert math.isnan(evaluation.total_precision)


@pytest.mark.parametrize(("make", "y"), [(classifier, ["a", "b"]), (regressor, [1.0, 2.0])])
def test_rows_that_no_rule_covers_have_no_precision(make, y):
    evaluation = make([LEFT, MIDDLE]).evaluate([[50.0], [60.0]], y)
    assert evaluation.first.tolist() == [-1, -1]
    assert evaluation.coverage.tolist() == [0.0, 0.0]
    assert np.isnan(evaluation.precision).all()
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
    assert rule_list.lines_.outputs.tolist() == [line.output for line in rule_list.rules_]
    assert evaluation.first.tolist() == rule_list.decision_path(X).tolist()
    assert evaluation.total_coverage == rule_list.coverage(X)


def test_a_shorter_list_is_evaluated_by_its_own_rules():
    simple = classifier(ALL_FOUR).edit(drop=[1])
    assert simple.evaluate().covers.shape == (3, 10)
    assert_evaluated(simple, simple.evaluate(), X, Y.tolist(), Y)


def test_an_evaluation_is_frozen():
    assert isinstance(classifier([LEFT]).evaluate(), Evaluation)
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


# --- in sentences -----------------------------------------------------------------------------------------------------


def test_an_evaluation_on_the_training_rows_reads_as_sentences():
    assert str(classifier([LEFT, RIGHT]).evaluate()).splitlines() == [
        "2 rules on 10 training rows, of which 80 % are covered.",
        "The list: accuracy 0.900, Brier score 0.080.",
        "1. IF x0 <= 2.5 THEN a: covers 3 rows (30 %), 1.00 of them a (0.40 of all rows).",
        "2. IF x0 > 4.5 THEN b: covers 5 rows (50 %), 0.80 of them b (0.60 of all rows).",
        "ELSE b: covers 2 rows (20 %), 1.00 of them b (0.60 of all rows).",
    ]


def test_an_evaluation_on_fresh_rows_states_what_it_was_in_training_and_a_baseline():
    evaluation = classifier([LEFT, RIGHT]).evaluate([[0.0], [1.0], [6.0]], ["a", "b", "b"])
    assert str(evaluation).splitlines() == [
        "2 rules on 3 fresh rows, of which 100 % are covered.",
        "The list: accuracy 0.667, Brier score 0.347.",
        "The most frequent class for every row: accuracy 0.667, Brier score 0.227.",
        "1. IF x0 <= 2.5 THEN a: covers 2 rows (67 %), 0.50 of them a (0.33 of all rows; 1.00 in training).",
        "2. IF x0 > 4.5 THEN b: covers 1 row (33 %), 1.00 of them b (0.67 of all rows; 0.80 in training).",
        "ELSE b: covers none of these rows.",
    ]
    abstaining = classifier([LEFT], abstain=True).evaluate([[0.0], [6.0]], ["b", "b"])
    assert str(abstaining).splitlines()[1] == "The list, where it predicts: accuracy 0.000, Brier score 1.000."
    assert "ELSE" not in str(abstaining)


def test_an_evaluation_of_numbers_states_means():
    assert str(regressor([MIDDLE]).evaluate([[3.0], [4.0], [0.0]], [5.0, 8.0, 100.0])).splitlines() == [
        "1 rule on 3 fresh rows, of which 67 % are covered.",
        (
            f"The list: R2 {1 - (9 + (100 - 2.5) ** 2) / (3 * np.var([5, 8, 100])):.3f}, "
            f"MSE {(9 + (100 - 2.5) ** 2) / 3:.5g}."
        ),
        (
            f"The mean for every row: R2 {r2_score([5, 8, 100], [3.5] * 3):.3f}, "
            f"MSE {np.mean((np.array([5, 8, 100]) - 3.5) ** 2):.5g}."
        ),
        (
            "1. IF 2.5 < x0 <= 6.5 THEN y = 5: covers 2 rows (67 %), with a mean of 6.5 (37.667 of all rows; 5 in "
            "training) and an MAE of 1.5."
        ),
        (
            "ELSE y = 2.5: covers 1 row (33 %), with a mean of 100 (37.667 of all rows; 2.5 in training)"
            " and an MAE of 97.5."
        ),
    ]


@pytest.mark.parametrize("is_class", [True, False])
def test_a_tree_of_as_many_leaves_stands_beside_a_list(is_class):
    rng = np.random.default_rng(0)
    table, score = rng.normal(size=(400, 3)), rng.normal(size=400)
    score += 2 * table[:, 0] + table[:, 1]
    y = np.where(score > 0, "b", "a") if is_class else score
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(table[:200], y[:200])
    kind = GlobalRulesClassifier if is_class else GlobalRulesRegressor
    rule_list = kind.from_explainer(explainer, max_rules=3)
    figures = rule_list.evaluate(table[200:], y[200:]).figures
    tree = (DecisionTreeClassifier if is_class else DecisionTreeRegressor)(max_leaf_nodes=4, random_state=0)
    tree.fit(np.float32(table[:200]), y[:200])
    assert list(figures)[:2] == ["the list", "a tree of 4 leaves"]
    for figure, model in zip(figures.values(), (rule_list, tree), strict=False):
        predicted = model.predict(table[200:])
        if is_class:
            brier = brier_score_loss(y[200:] == "b", model.predict_proba(table[200:])[:, 1])
            expected = {"accuracy": np.mean(predicted == y[200:]), "Brier score": brier}
        else:
            expected = {"R2": r2_score(y[200:], predicted), "MSE": np.mean((predicted - y[200:]) ** 2)}
        assert figure == pytest.approx(expected)


def test_the_brier_score_of_three_classes_is_a_sum_over_them():
    y = np.array(list("aaabbbbacc"))
    evaluation = classifier([LEFT, RIGHT], y=y).evaluate()
    shares = np.array([[1, 0, 0]] * 3 + [[0, 1, 0]] * 2 + [[0.2, 0.4, 0.4]] * 5)
    brier = np.mean(((shares - (y[:, None] == ["a", "b", "c"])) ** 2).sum(axis=1))
    assert evaluation.figures["the list"]["Brier score"] == pytest.approx(brier)


def test_the_list_of_a_model_states_its_fidelity_and_asks_the_model_for_outcomes():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 3))
    model = LinearRegression().fit(table, 2 * table[:, 0] + table[:, 1] + rng.normal(size=300))
    rule_list = GlobalRulesRegressor.from_explainer(
        SufficientExplainer.for_model(model, table[:200], random_state=0), max_rules=3
    )
    predicted = rule_list.predict(table)
    fidelity = r2_score(model.predict(table[:200]), predicted[:200])
    assert f"Fidelity to LinearRegression: R2 {fidelity:.3f}, MSE" in rule_list.heading
    figures = rule_list.evaluate(table[200:]).figures["the list"]
    assert figures["R2"] == pytest.approx(r2_score(model.predict(table[200:]), predicted[200:]))
    assert "Fidelity" not in regressor([MIDDLE]).heading
    with pytest.raises(ValueError, match="Give `X` and `y` together"):
        regressor([MIDDLE]).evaluate(X)
