"""Lists that are edited by hand: which rules remain, what a sum adds then, and how predictions change."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from rule_boxes import ALL_FOUR, LEFT, MIDDLE, MIXED, RIGHT, X, Y, classifier, regressor
from sklearn.metrics import accuracy_score, brier_score_loss, mean_squared_error, r2_score

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer, rule
from suffice.rule_lists.choosing import RIDGE
from suffice.rule_lists.editing import edit_lines


def make_table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "sky": rng.choice(["clear", "mist"], n)})
    score = table["a"] + 0.7 * table["b"] + (table["sky"] == "mist") + rng.normal(size=n) / 2
    return table, score


@pytest.fixture(scope="module")
def classes():
    table, score = make_table()
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(table, np.where(score > 0.6, "busy", "calm"))
    return GlobalRulesClassifier.from_explainer(explainer, max_rules=4)


@pytest.fixture(scope="module")
def numbers():
    table, score = make_table()
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(table, score.rename("count"))
    return GlobalRulesRegressor.from_explainer(explainer, max_rules=4)


def conditions_of(rule_list):
    return [line.rule.conditions for line in rule_list.rules_]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"drop": [1]}, [0, 2]),
        ({"order": [2]}, [2, 0, 1]),
        ({"order": [2, 1, 0]}, [2, 1, 0]),
        ({"order": [1], "drop": [0]}, [1, 2]),
        ({"drop": [0, 1, 2]}, []),
        ({}, [0, 1, 2]),
    ],
)
@pytest.mark.parametrize("make", [classifier, regressor])
def test_the_first_rule_of_an_edited_list_decides(make, arguments, expected):
    before = make([RIGHT, MIXED, MIDDLE], **({} if make is classifier else {"min_precision": -np.inf}))
    assert len(before.rules_) == 3
    after = before.edit(**arguments)
    assert after.rules_ == tuple(before.rules_[i] for i in expected)
    covers = np.array([line.rule.covers(X) for line in after.rules_]).reshape(-1, 10)
    decided = [
        next((after.rules_[i].output for i in np.flatnonzero(of_row)), after.default_.output) for of_row in covers.T
    ]
    assert after.predict(X).tolist() == decided
    assert after.default_.support == np.count_nonzero(~covers.any(axis=0))
    assert len(before.rules_) == 3
    assert after.collected_ is None


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_what_a_sum_adds_is_fitted_again_to_the_rules_that_remain(kind, request):
    before = request.getfixturevalue(kind)
    after = before.edit(drop=[1], add="a > 0.5 and sky = mist", order=[3])
    assert conditions_of(after)[:3] == [conditions_of(before)[i] for i in (3, 0, 2)]
    assert str(after.rules_[3].text) == "a > 0.5 AND sky = mist"
    table, outcomes = before.explainer_.training
    z = np.array([line.rule.covers(table) for line in after.rules_], dtype=float)
    targets = outcomes[:, None] == before.classes_ if kind == "classes" else np.asarray(outcomes)[:, None]
    centred = z - z.mean(axis=1, keepdims=True)
    adds = np.linalg.solve(centred @ centred.T + RIDGE * np.eye(4), centred @ targets)
    fitted = [list(line.adds.values()) if kind == "classes" else [line.adds] for line in after.rules_]
    assert np.array(fitted) == pytest.approx(adds, abs=0.001)
    assert len(before.rules_) == 4
    assert [line.adds for line in after.collected_.rules_] == [None] * 4
    assert conditions_of(after.collected_) == conditions_of(after)


def test_a_list_without_its_rules_predicts_what_all_rows_have(classes, numbers):
    none = classes.edit(drop=range(4))
    assert none.rules_ == ()
    assert none.predict(make_table()[0]).tolist() == [none.default_.output] * 400
    shares = none.predict_proba(make_table()[0])[0]
    assert shares == pytest.approx([np.mean(none.training_outcomes_ == label) for label in none.classes_], abs=0.001)
    assert numbers.edit(drop=range(4)).predict(make_table()[0])[0] == pytest.approx(make_table()[1].mean(), abs=0.001)


def test_an_added_rule_is_for_the_class_that_it_states_or_for_the_most_frequent_one(classes):
    table, outcomes = classes.explainer_.training
    own = classes.edit(add=["a > 2", "a < -1 then busy", rule("b > 0.1", then="busy")])
    assert [line.output for line in own.rules_[4:]] == ["busy", "busy", "busy"]
    assert own.rules_[5].adds["busy"] < 0  # it is kept, although it lowers what it is for
    assert own.rules_[5].precision == np.mean(outcomes[classes.explainer_.training[0].numbers(0) < -1] == "busy")
    assert own.rules_[4].support == np.count_nonzero(table.numbers(0) > 2)


def test_edited_lists_are_simplified_and_certified_by_their_own_rules(classes):
    table, score = make_table(3000, seed=1)
    y = np.where(score > 0.6, "busy", "calm")
    edited = classes.edit(drop=[0, 1, 2, 3], add=["a > 0.5 and sky = mist then busy", "a < -0.5 then calm"])
    assert len(edited.simplify(max_rules=1).rules_) == 1
    certified = edited.certify(table, y, precision=0.7)
    assert set(conditions_of(certified)) <= set(conditions_of(edited))
    assert len(certified.rules_) == 2
    again = certified.edit(drop=[0], add="b > 1 then busy")
    assert again.rules_[0].certificate == certified.rules_[1].certificate  # it is about that rule alone
    assert again.rules_[1].certificate is None
    whole = edited.certify(table, y, precision=0.7, of="list")
    assert whole.certificate_ is not None
    assert whole.edit(order=[1, 0]).certificate_ is None
    assert [line.certificate for line in whole.edit(order=[1, 0]).rules_] == [
        line.certificate for line in whole.rules_[::-1]
    ]


def test_certificates_of_the_lines_of_a_sum_stay_with_their_rules(classes):
    table, score = make_table(500, seed=1)
    checked = classes.explainer_.certify(classes, table, np.where(score > 0.6, "busy", "calm")).attached
    after = checked.edit(drop=[0], order=[3])
    assert [line.certificate for line in after.rules_] == [checked.rules_[i].certificate for i in (3, 1, 2)]
    assert after.rules_[0].certificate.n_rows == np.count_nonzero(after.rules_[0].rule.covers(table))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"drop": [4]}, ValueError, "`drop` must hold different positions of rules, from 0 to 3, got [4]."),
        ({"order": [-1]}, ValueError, "`order` must hold different positions"),
        ({"order": [1, 1]}, ValueError, "`order` must hold different positions"),
        ({"drop": ["a"]}, ValueError, "`drop` must hold different positions"),
        ({"add": ["a > 1", "a>1"]}, ValueError, "The list already has a rule with these conditions: a > 1."),
        ({"add": "a > 1000 then busy"}, ValueError, "A rule that covers no training row cannot be added: IF a > 1000"),
        ({"add": "c > 1"}, ValueError, "Unknown column 'c'."),
        ({"add": [3]}, TypeError, "`add` must hold texts or rules, got 3."),
    ],
)
def test_what_cannot_be_edited_is_refused(classes, arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        classes.edit(**arguments)


def test_a_list_in_which_the_first_rule_decides_is_its_own_pool():
    lines, alone = edit_lines(classifier([LEFT, RIGHT]).lines_, [1], [], [], None)
    assert lines is alone
    assert lines.packed_covers.tolist() == classifier([LEFT, RIGHT]).lines_.packed_covers[::-1].tolist()


def test_a_list_without_its_training_rows_cannot_measure_another_rule():
    with pytest.raises(ValueError, match="use from_explanations to add rules"):
        classifier([LEFT]).edit(add="x0 > 3")


# --- comparing --------------------------------------------------------------------------------------------------------


def test_a_comparison_counts_the_predictions_that_change(classes):
    table, score = make_table(300, seed=2)
    y = np.where(score > 0.6, "busy", "calm")
    after = classes.edit(drop=[0, 2])
    compared = classes.compare(after, table, y)
    before_rows, after_rows = classes.predict(table), after.predict(table)
    assert compared.changed.tolist() == np.flatnonzero(before_rows != after_rows).tolist()
    assert len(compared.changed) > 3
    for figures, rule_list in ((compared.before, classes), (compared.after, after)):
        assert figures == {
            "rules": len(rule_list.rules_),
            "coverage": pytest.approx(rule_list.coverage(table)),
            "accuracy": pytest.approx(accuracy_score(y, rule_list.predict(table))),
            "Brier score": pytest.approx(brier_score_loss(y == "calm", rule_list.predict_proba(table)[:, 1])),
        }
    n_right = np.count_nonzero((after_rows == y) & (before_rows != y))
    n_wrong = np.count_nonzero((after_rows != y) & (before_rows == y))
    changes = f"changes in {len(compared.changed)} of 300 rows: {n_right} of them become right, {n_wrong} wrong."
    assert str(compared).endswith(f"The prediction {changes}")
    assert str(compared).startswith("rules 4 -> 2, coverage ")
    assert str(classes.compare(classes)).endswith("The prediction changes in 0 of 400 rows.")


def test_a_comparison_of_numbers_states_the_mean_change(numbers):
    table, score = make_table(300, seed=2)
    after = numbers.edit(drop=[0])
    compared = numbers.compare(after, table, score)
    change = np.abs(after.predict(table) - numbers.predict(table))
    assert compared.before["R2"] == pytest.approx(r2_score(score, numbers.predict(table)))
    assert compared.after["MSE"] == pytest.approx(mean_squared_error(score, after.predict(table)))
    assert compared.changed.tolist() == np.flatnonzero(change).tolist()
    assert f"in {len(compared.changed)} of 300 rows, by {change[change > 0].mean():.5g} on average." in str(compared)


def test_rows_without_a_prediction_are_left_out_of_figures():
    before, after = (classifier(rules, abstain=True) for rules in ([LEFT, RIGHT], [LEFT]))
    compared = before.compare(after)
    assert compared.before == {"rules": 2, "coverage": 0.8, "accuracy": 0.875, "Brier score": pytest.approx(0.1)}
    assert (compared.after["accuracy"], compared.after["coverage"]) == (1.0, pytest.approx(0.3))
    assert compared.changed.tolist() == [5, 6, 7, 8, 9]
    numbers = regressor([MIDDLE], abstain=True)
    assert numbers.compare(numbers).changed.tolist() == []
    assert np.isnan(numbers.edit(drop=[0]).compare(numbers).before["R2"])


def test_lists_of_other_training_rows_need_rows_to_be_compared():
    other = classifier(ALL_FOUR, X=X[:9], y=Y[:9])
    with pytest.raises(ValueError, match="different training rows: pass `X` and `y`"):
        classifier(ALL_FOUR).compare(other)
    assert classifier(ALL_FOUR).compare(other, X, Y).changed.tolist() == []
