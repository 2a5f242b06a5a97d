"""Rules in JSON files."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer
from suffice._io.rule_file import read_rules


@pytest.fixture(scope="module", params=["classes", "numbers"])
def explanations(request):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(list("xyz"), 200)})
    y = X["a"] * 3 + rng.normal(size=200)
    is_class = request.param == "classes"
    forest = (RandomForestClassifier if is_class else RandomForestRegressor)(10, min_samples_leaf=5, random_state=0)
    return (
        SufficientExplainer(forest, n_jobs=1).fit(X, np.where(y > 0, "up", "down") if is_class else y).explain(X[:30])
    )


def promises_of(lines):
    return [line.promise for line in lines if line is not None]


def test_rules_of_explanations_are_read_back(explanations, tmp_path):
    path = tmp_path / "why.json"
    path.write_text(explanations.to_json())
    assert [rule.promise for rule in read_rules(str(path), "y")] == promises_of(explanations.rules)
    path.write_text("\n".join(json.dumps(explanation.to_dict()) for explanation in explanations))
    assert [rule.promise for rule in read_rules(str(path), "y")] == promises_of(explanations.rules)


def test_rules_of_a_list_are_read_back(explanations, tmp_path):
    kind = GlobalRulesClassifier if explanations.intervals is None else GlobalRulesRegressor
    rule_list = kind.from_explanations(explanations, min_support=1)
    path = tmp_path / "rules.json"
    path.write_text(rule_list.to_json())
    read = read_rules(str(path), "y")
    assert [rule.promise for rule in read] == promises_of(rule_list.rules_)
    again = tmp_path / "again.json"
    again.write_text(json.dumps([rule.to_dict() for rule in read]))
    assert read_rules(str(again), "y") == read
    local = next(rule for rule in explanations.rules if rule is not None)
    if local.interval is not None:
        assert local.conclusion in {rule.conclusion for rule in read_rules(str(path), "y")} or len(read) < 30


@pytest.mark.parametrize("text", ["{", "3", "[1]", '{"a": 1}', '{"rules": [{"conditions": 3, "outcome": 1}]}'])
def test_other_files_are_refused(text, tmp_path):
    path = tmp_path / "rules.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"The rules in .* cannot be read"):
        read_rules(str(path), "y")


WHOLE = '{"conditions": [], "outcome": %s}'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("null", "a rule is an object with conditions and an outcome, got null"),
        ('{"rules": [null]}', "a rule is an object with conditions and an outcome, got null"),
        ('{"rules": [{"conditions": null, "outcome": 1}]}', "`conditions` must be a list, got None"),
        ('{"rules": [{"conditions": [null], "outcome": 1}]}', "A condition is a mapping of its fields, got None"),
        ('{"rules": [{"conditions": []}]}', "a rule has no outcome"),
        (WHOLE % ("1" * 5000), "it has a number of 5,000 digits, which is too long"),
        (WHOLE % '1, "interval": 5', "`interval` must be a list, got 5"),
    ],
)
def test_what_is_wrong_is_said_in_words_of_the_package(text, problem, tmp_path):
    """Python's own words were shown: NoneType is not iterable, exceeds the limit for integer string conversion."""
    path = tmp_path / "rules.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"cannot be read ({problem}): pass the JSON of")):
        read_rules(str(path), "y")


def test_a_file_without_rules_is_refused(tmp_path):
    path = tmp_path / "rules.json"
    path.write_text('{"rules": []}')
    with pytest.raises(ValueError, match="has no rules"):
        read_rules(str(path), "y")
