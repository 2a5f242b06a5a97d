"""Stability: how many different explanations noisy copies of rows get."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest
from experiments.noisy_rows import noisy_copies
from experiments.rule_stability import Stability, draw_stability, rule_keys, rule_stability
from matplotlib.figure import Figure

from suffice import Condition, Rule, SufficientExplainer


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "hour": rng.integers(0, 24, 300),
            "weather": rng.choice(["rain", "clear"], 300),
            "temp": rng.normal(0, 100.0, 300),
            "constant": np.ones(300),
        }
    )
    X.loc[:20, "temp"] = np.nan
    return X, np.where(X["hour"] > 11, "busy", "calm")


@pytest.fixture(scope="module")
def explainer(table):
    return SufficientExplainer(random_state=0, n_jobs=1).fit(*table)


def test_copies_without_noise_have_the_explanation_of_their_row(explainer, table):
    stability = rule_stability(explainer, table[0][:5], scale=0.0, n_copies=3)
    assert stability.n_rules.tolist() == stability.n_sets.tolist() == [1] * 5
    assert stability.same_rule.tolist() == stability.same_set.tolist() == stability.same_outcome.tolist() == [1.0] * 5
    assert (stability.scale, stability.n_copies) == (0.0, 3)


def test_a_row_on_the_edge_gets_other_rules_and_one_far_from_it_does_not(explainer, table):
    X = table[0].iloc[30:32].assign(hour=[12, 23])
    stability = rule_stability(explainer, X, scale=0.3, n_copies=40, random_state=0)
    edge, far = stability.n_rules
    assert edge > far == 1
    assert stability.same_outcome[0] < 1 == stability.same_outcome[1]
    assert stability.same_rule[0] < 1 == stability.same_rule[1]


def test_counts_are_those_of_the_explanations(explainer, table):
    X = table[0][30:34]
    rng = np.random.default_rng(7)
    stability = rule_stability(explainer, X, scale=0.5, n_copies=10, random_state=7)
    names = tuple(X.columns)
    noise = {0: (0.5 * table[0]["hour"].std(ddof=0), True), 2: (0.5 * table[0]["temp"].std(ddof=0), False)}
    copies = noisy_copies(X, names, {**noise, 3: (0.0, True)}, 10, rng)
    of_rows, of_copies = explainer.explain(X, sets="minimal"), explainer.explain(copies, sets="minimal")
    for i in range(4):
        mine = [of_rows[i], *of_copies[10 * i : 10 * i + 10]]
        rules = [
            e.rule and (e.outcome, tuple(c.name for c in e.rule.conditions), tuple(e.rule.covers(table[0])))
            for e in mine
        ]
        assert stability.n_rules[i] == len(set(rules))
        assert stability.n_sets[i] == len({e.best_set.variables for e in mine})
        assert stability.same_rule[i] == rules[1:].count(rules[0]) / 10
        assert stability.same_outcome[i] == np.mean([e.outcome == mine[0].outcome for e in mine[1:]])


def test_rules_are_the_same_if_their_classes_columns_and_covered_rows_are(explainer, table):
    rule = next(e.rule for e in explainer.explain(table[0][:9]) if e.rule)

    def key(**changes):
        return rule_keys([dataclasses.replace(rule, **changes)], table[0])[0]

    assert key() == key(sdp=0.5, support=1)
    assert key() != key(conditions=(Condition("temp", 1.0),))
    assert key() != key(outcome="other")
    assert key(interval=(0, 1), outcome=0.5) == key(interval=(0, 2), outcome=0.6)
    assert rule_keys([None], table[0]) == [None]
    whole, broken = Condition("hour", low=12, low_closed=True), Condition("hour", low=11.5)
    assert key(conditions=(whole,)) == key(conditions=(broken,))  # the same hours, written differently
    assert key(conditions=(whole,)) != key(conditions=(Condition("hour", low=12.5),))
    everything = Condition("temp", low=-1e9, missing=True)  # covers every row, but tests a column
    assert key(conditions=(whole,)) != key(conditions=(whole, everything))


def test_bounds_that_are_written_differently_make_the_same_rule():
    def rule(*conditions):
        return Rule(conditions, 1, None, 0.95, 2, 0.5, 1.0, None, True, 2.0, False)

    train = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]})
    whole, noisy = rule(Condition("a", -np.inf, 2.0)), rule(Condition("a", -np.inf, 2.5))
    wider, other = rule(Condition("a", -np.inf, 3.0)), rule(Condition("b", -np.inf, 2.0))
    first, same, *others = rule_keys([whole, noisy, wider, other, None], train)
    assert first == same
    assert len({first, *others}) == 4
    assert others[-1] is None


def test_copies_keep_the_outcomes_that_are_given(explainer, table):
    X, y = table
    stability = rule_stability(explainer, X[:4], y[:4], scale=2.0, n_copies=5, random_state=0)
    assert stability.same_outcome.tolist() == [1.0] * 4


def test_a_number_is_the_same_while_it_stays_in_the_interval_of_the_row(table):
    X, _ = table
    regression = SufficientExplainer(random_state=0, n_jobs=1, counts="bootstrap").fit(X, 10.0 * X["hour"])
    stability = rule_stability(regression, X[:3], scale=0.0, n_copies=2)
    assert stability.same_outcome.tolist() == [1.0] * 3
    assert rule_stability(regression, X[:3], scale=1.0, n_copies=20, random_state=0).same_outcome.max() < 1


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, pd.DataFrame.to_numpy])
def test_noise_is_added_to_numbers_only(kind, table):
    X = table[0].iloc[18:24]
    noise = {0: (3.0, True), 2: (1.0, False), 3: (0.0, False)}
    frame = kind(X)
    copies = noisy_copies(frame, tuple(X.columns), noise, 50, np.random.default_rng(0))
    assert type(copies) is type(frame)
    columns = np.asarray(copies, dtype=object).T
    repeated = X.loc[np.repeat(X.index, 50)]
    hour, temp = columns[0].astype(float), columns[2].astype(float)
    assert (hour == np.round(hour)).all()
    assert np.std(hour - repeated["hour"]) == pytest.approx(3.0, abs=0.4)
    assert np.nanstd(temp - repeated["temp"].to_numpy()) == pytest.approx(1.0, abs=0.15)
    assert np.isnan(temp).tolist() == repeated["temp"].isna().tolist()
    assert columns[1].tolist() == repeated["weather"].tolist()
    assert set(columns[3]) == {1.0}
    if kind is not pd.DataFrame.to_numpy:
        assert str(copies["hour"].dtype).lower() == "int64"


def test_arrays_and_lists_are_copied_too():
    rng = np.random.default_rng(0)
    for frame in (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]], pd.DataFrame([[1, 2], [3, 4]])):
        copies = noisy_copies(frame, ("x0", "x1"), {1: (0.5, False)}, 3, rng)
        assert copies[:, 0].tolist() == [1, 1, 1, 3, 3, 3]
        assert len(set(copies[:, 1])) == 6
    mixed = noisy_copies([["a", 1.0]], ("x0", "x1"), {1: (0.5, False)}, 2, rng)
    assert mixed[:, 0].tolist() == ["a", "a"]
    assert isinstance(mixed[0, 1], float)
    small = pl.DataFrame({"n": pl.Series([0] * 9, dtype=pl.UInt8)})
    assert noisy_copies(small, ("n",), {0: (3.0, True)}, 9, rng)["n"].dtype == pl.UInt8


def test_a_seed_gives_the_same_numbers(explainer, table):
    first, again = (rule_stability(explainer, table[0][:6], n_copies=5, random_state=3) for _ in range(2))
    assert first.n_rules.tolist() == again.n_rules.tolist()
    assert first.same_rule.tolist() == again.same_rule.tolist()


def test_stability_prints_its_numbers():
    shares = np.array([1.0, 0.5])
    stability = Stability(np.array([1, 4]), np.array([1, 2]), shares, shares, shares, 0.1, 50)
    assert str(stability) == (
        "2 rows with 50 noisy copies each (noise of 0.1 standard deviations): 2.50 different rules and 1.50 different "
        "best sets on average; 1 row has the same rule as all its copies."
    )
    assert str(Stability(np.array([2]), np.array([1]), *(shares[:1],) * 3, 1.0, 5)).endswith(
        "0 rows have the same rule as all their copies."
    )


def test_wrong_numbers_and_no_rows_are_refused(explainer, table):
    with pytest.raises(ValueError, match=r"`scale` must be a number >= 0, got -1\."):
        rule_stability(explainer, table[0], scale=-1)
    with pytest.raises(ValueError, match=r"`n_copies` must be a whole number >= 1, got 0\."):
        rule_stability(explainer, table[0], n_copies=0)
    with pytest.raises(TypeError, match=r"`n_copies` must be a whole number >= 1, got 1\.5\."):
        rule_stability(explainer, table[0], n_copies=1.5)
    with pytest.raises(ValueError, match=r"`X` has no rows: there is nothing to repeat\."):
        rule_stability(explainer, table[0][:0])


def test_stability_is_drawn_as_shares_of_the_rows():
    shares = np.array([1.0, 0.5, 0.5, 0.2])
    stability = Stability(np.array([1, 1, 2, 4]), np.array([1, 1, 1, 2]), shares, shares, shares, 0.1, 50)
    ax = Figure().subplots()
    assert draw_stability(stability, ax) is ax
    rules, sets = ax.containers
    assert [bar.get_height() for bar in rules] == [50, 25, 0, 25]
    assert [bar.get_height() for bar in sets] == [75, 25, 0, 0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["rules (mean 2.00)", "best sets (mean 1.25)"]
    assert ax.get_title(loc="left") == "4 rows, noise of 0.1 standard deviations"
    assert ax.get_xlabel() == "different ones among a row and its 50 noisy copies"
