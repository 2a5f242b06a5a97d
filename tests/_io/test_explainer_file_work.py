"""Rules and stability as the app computes them, with their steps."""

from __future__ import annotations

import math

import pytest
from small_explainers import CLASSES, FRAME, NUMBERS, classifier, regressor

from suffice import GlobalRulesClassifier, GlobalRulesRegressor
from suffice._io import explainer_file
from suffice._io.explainer_file import collect_rules, measure_stability
from suffice.rule_lists.mining import mine_rules


def test_rules_of_classes_are_those_of_the_library():
    explainer, steps = classifier().fit(FRAME, CLASSES), []
    rules = collect_rules(explainer, FRAME, CLASSES, 40, step=steps.append)
    expected = GlobalRulesClassifier.from_explanations(mine_rules(explainer, FRAME, CLASSES, n_rows=40), FRAME, CLASSES)
    assert rules.rules_ == expected.rules_ != []
    assert steps == sorted(steps)
    assert 0 <= steps[0] < steps[-1] <= 40


def test_rules_of_numbers_have_enough_rows_and_any_precision(monkeypatch):
    explainer = regressor().fit(FRAME, NUMBERS)
    mined = mine_rules(explainer, FRAME, NUMBERS, n_rows=40)
    supports = sorted(rule.support for rule in mined)
    enough = supports[len(supports) // 2] + 1  # many rules have fewer rows than that
    monkeypatch.setattr(explainer_file, "MIN_SUPPORT", enough)
    rules = collect_rules(explainer, FRAME, NUMBERS, 40, step=lambda n_rows: None)
    limits = {"min_precision": -math.inf, "min_support": enough}
    assert rules.rules_ == GlobalRulesRegressor.from_explanations(mined, FRAME, NUMBERS, **limits).rules_ != []
    assert min(line.support for line in rules.rules_) >= enough


@pytest.mark.filterwarnings("ignore")
def test_the_stability_of_a_row_is_that_of_the_library():
    explainer, steps = classifier().fit(FRAME, CLASSES), []
    stability = measure_stability(explainer, FRAME[:1], CLASSES[0], 2, step=steps.append)
    expected = explainer.stability(FRAME[:1], CLASSES[:1], n_seeds=2, n_resamples=2, random_state=0, progress=False)
    assert stability[0] == expected[0]
    assert steps == [1, 2, 3, 4]
