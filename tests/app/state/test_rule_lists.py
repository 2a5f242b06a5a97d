from suffice import GlobalRulesClassifier
from suffice._cli.results import training_rows
from suffice.app.state.jobs import Job
from suffice.app.state.rule_lists import RuleLists, find_rules, rules_of_row
from suffice.app.state.view import View


def test_global_rules_are_those_of_the_library(mixed):
    rules = find_rules(mixed, View(), 10**6, Job("", 400))
    X, y = training_rows(mixed.explainer)
    expected = GlobalRulesClassifier.from_explanations(mixed.explainer.explain(X, y, sets="minimal"))
    assert rules.rules_ == expected.rules_
