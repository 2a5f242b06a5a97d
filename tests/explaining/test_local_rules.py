"""The rules of single rows: which sets get one, and what it holds."""

from __future__ import annotations

import pytest
from small_explainers import ROWS

from suffice.explaining.rule import Rule
from suffice.explaining.search import ExplainOptions, find_maximal_rules, find_rules, find_sufficient_sets


@pytest.fixture
def searched(explainer):
    explainer = explainer.with_settings(pi=0.6, min_support=0)
    fitted, matrix, outcomes = explainer.fitted_, explainer.encode(ROWS), explainer.outcomes(ROWS)
    return fitted, matrix, outcomes, find_sufficient_sets(fitted, matrix, outcomes, minimal_only=False, progress=None)


def test_every_set_or_the_first_has_a_rule(searched):
    fitted, matrix, outcomes, sets = searched
    every = find_rules(fitted, matrix, outcomes, sets, ExplainOptions(rules="all"), False)
    first = find_rules(fitted, matrix, outcomes, sets, ExplainOptions(), False)
    assert [len(rules) for rules in every] == sets.n_by_row().tolist()
    assert first == [rules[:1] for rules in every]


def test_a_bar_is_shown_if_there_may_be_one(searched, capsys):
    fitted, matrix, outcomes, sets = searched
    for kind in ("all", "minimal"):
        options = ExplainOptions(rules=kind)
        shown = find_rules(fitted, matrix, outcomes, sets, options, True)
        assert "rules" in capsys.readouterr().err
        assert shown == find_rules(fitted, matrix, outcomes, sets, options, False)
        assert capsys.readouterr().err == ""


def test_a_rule_has_the_outcome_and_the_figures_of_its_box(searched):
    fitted, matrix, outcomes, sets = searched
    row_sets = [*sets.by_row(), (0, (3,))]  # the last is not sufficient
    rules = find_maximal_rules(fitted, matrix, outcomes, row_sets, ExplainOptions())
    for rule, (row, _) in zip(rules, row_sets, strict=True):
        if rule is None:
            continue
        assert isinstance(rule, Rule)
        assert rule.outcome == outcomes.values[row]
        if outcomes.intervals is None:
            assert rule.base_rate == fitted.base_rates(outcomes)[row]
        else:
            assert list(rule.interval) == outcomes.intervals[row].tolist()
    assert rules[-1] is None
