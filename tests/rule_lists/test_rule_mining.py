"""Rules for a short list: of a sample of rows, at several levels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._table.table import read_columns
from suffice.rule_lists import mining as rule_mining
from suffice.rule_lists.mining import mine_rules

SMALL = {"n_estimators": 15, "min_samples_leaf": 10, "random_state": 0}


def make_table(n=600):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"]), rng.random(n)


@pytest.fixture(scope="module")
def uncertain():
    """One class in five rows, and nowhere surer than 0.75: no rule reaches 0.9 for it, the level of both classes."""
    X, u = make_table()
    y = np.where(u < np.where(X["a"] > 0.7, 0.75, 0.05), "rare", "usual")
    return SufficientExplainer(RandomForestClassifier(**SMALL), levels="same", n_jobs=1).fit(X, y), X, y


@pytest.fixture(scope="module")
def numbers():
    X, u = make_table()
    y = 10.0 * (X["a"] > 0) + 3.0 * (X["b"] > 0) + u
    return SufficientExplainer(RandomForestRegressor(**SMALL), n_jobs=1).fit(X, y), X, y.to_numpy()


def levels_used(explainer, table, y, monkeypatch, **options):
    """The levels at which rows are explained, for each class the highest first, and the rules."""
    used = []
    of_level = SufficientExplainer.with_settings

    def with_settings(self, **changes):
        used.append(changes["pi"])
        return of_level(self, **changes)

    monkeypatch.setattr(SufficientExplainer, "with_settings", with_settings)
    return used, mine_rules(explainer, table, y, **options)


def test_uncertain_rows_get_rules_at_lower_levels(uncertain, monkeypatch):
    explainer, X, y = uncertain
    share = np.mean(y == "rare")
    assert all(rule is None or rule.outcome == "usual" for rule in explainer.explain(X, y, sets="minimal").rules)
    used, rules = levels_used(explainer, read_columns(X), y, monkeypatch)
    assert {rule.outcome for rule in rules} == {"rare", "usual"}
    expected = [0.9, share + 0.5 * (1 - share), 0.5, 0.9, 1 - 0.5 * share, 1 - 0.75 * share]
    assert used == pytest.approx([*expected[:3], *sorted(expected[3:], reverse=True)][: len(used)])
    assert used[:3] == pytest.approx(expected[:3])  # 0.25 of what is uncertain would be below a half


def test_the_level_of_a_rare_class_is_mined_instead_of_pi(uncertain, monkeypatch):
    explainer, X, y = uncertain
    share = np.mean(y == "rare")
    used, rules = levels_used(explainer.with_settings(levels="odds"), read_columns(X), y, monkeypatch)
    by_odds = 0.9 * share / (0.9 * share + 0.1 * (1 - share))
    assert used[:3] == pytest.approx(sorted([by_odds, share + 0.5 * (1 - share), 0.5], reverse=True))
    assert {rule.outcome for rule in rules} == {"rare", "usual"}


def test_no_level_is_below_the_least_one(uncertain, monkeypatch):
    explainer, X, y = uncertain
    used, rules = levels_used(explainer, read_columns(X), y, monkeypatch, least=0.85)
    assert min(used) >= 0.85
    assert {rule.outcome for rule in rules} == {"usual"}


def test_further_levels_are_mined_too(uncertain, monkeypatch):
    explainer, X, y = uncertain
    used, _ = levels_used(explainer, read_columns(X), y, monkeypatch, further_levels=[0.97])
    assert used[0] == 0.97


def test_rows_that_a_rule_covers_are_passed_over(uncertain, monkeypatch):
    explainer, X, y = uncertain
    n_explained = []
    rules_of = SufficientExplainer.rules_of

    def count(self, X, y, **options):
        n_explained.append(len(y))
        return rules_of(self, X, y, **options)

    monkeypatch.setattr(SufficientExplainer, "rules_of", count)
    monkeypatch.setattr(rule_mining, "N_AT_ONCE", 20)
    rules = mine_rules(explainer, read_columns(X), y)
    assert max(n_explained) <= 20
    # Each row at each of three levels would be three times the sample.
    assert sum(n_explained) < 1.5 * rule_mining.N_EXPLAINED
    assert all(rule.conditions for rule in rules)


def test_no_more_rows_are_explained_than_the_sample_has(uncertain, monkeypatch):
    explainer, X, y = uncertain
    outcomes = []
    rules_of = SufficientExplainer.rules_of

    def record(self, X, y, **options):
        outcomes.append(list(y))
        return rules_of(self, X, y, **options)

    monkeypatch.setattr(SufficientExplainer, "rules_of", record)
    mine_rules(explainer, read_columns(X), y, n_rows=8)
    first_of_class = {labels[0]: len(labels) for labels in reversed(outcomes)}
    assert first_of_class == {"rare": 2, "usual": round(8 * np.mean(y == "usual"))}


def test_numbers_are_mined_at_parts_of_the_level(numbers, monkeypatch):
    explainer, X, y = numbers
    used, rules = levels_used(explainer, read_columns(X), y, monkeypatch)
    assert used == pytest.approx([0.8, 0.72, 0.64])
    assert all(rule.interval is not None for rule in rules)


def test_the_same_rules_come_again(uncertain, numbers):
    for explainer, X, y in (uncertain, numbers):
        assert mine_rules(explainer, read_columns(X), y) == mine_rules(explainer, *explainer.training)


def test_levels_by_odds_are_those_of_each_class(uncertain, monkeypatch):
    explainer, X, y = uncertain
    share = np.mean(y == "rare")
    odds = explainer.with_settings(levels="odds")
    used, _ = levels_used(odds, read_columns(X), y, monkeypatch)
    assert used[0] == pytest.approx(0.9 * share / (0.9 * share + 0.1 * (1 - share)))
