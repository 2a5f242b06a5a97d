"""Rules as the explainer gives them: each property of the definition, on data and on forests' own predictions."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pandas as pd
import pytest
from forests import fitted_forests
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from small_explainers import PAPER
from thoroughness import n_examples

from suffice import Rule, SufficientExplainer, _core
from suffice._forest import projection

pytestmark = pytest.mark.filterwarnings("ignore:The forest follows the outcomes poorly")


@pytest.fixture(scope="module")
def numbers():
    X, y = make_friedman1(400, n_features=6, random_state=0)
    X = pd.DataFrame(X, columns=list("abcdef"))
    forest = RandomForestRegressor(10, min_samples_leaf=4, random_state=0)
    explainer = SufficientExplainer(forest, n_candidates=6, **PAPER)
    return explainer.fit(X, pd.Series(y, name="yield")), X, y


def check_precision(rule, explainer, covered, sdps):
    """The share of the covered rows, discounted, and not more than what rows out of bag say of them."""
    if explainer.fitted_.counts != "out-of-bag":
        assert rule.precision == rule.n_kept / rule.support
        return
    discounted = beta.ppf(0.1, rule.n_kept + 0.5, rule.support - rule.n_kept + 0.5)
    of_class = explainer.classes_.tolist().index(rule.outcome)
    known = explainer.fitted_.out_of_bag[covered, of_class].astype(float)
    known = known[~np.isnan(known)]
    most = max(sdps.mean(), known.mean()) if len(known) else sdps.mean()
    assert rule.precision == pytest.approx(min(discounted, most), abs=1e-6)


@pytest.mark.filterwarnings("ignore::suffice.errors.FidelityWarning")
@settings(max_examples=n_examples(60), deadline=None)
@given(
    drawn=fitted_forests(max_rows=80),
    check=st.sampled_from(["rows", "everywhere"]),
    volume=st.sampled_from(["rows", "lebesgue"]),
    seed=st.integers(0, 99),
    counts=st.sampled_from(["bootstrap", "out-of-bag", "all"]),
)
def test_a_rule_holds_what_the_definition_says(drawn, check, volume, seed, counts):
    X, y, task, forest = drawn
    counts = counts if forest.bootstrap or counts == "all" else "bootstrap"
    rng = np.random.default_rng(seed)
    explainer = SufficientExplainer(forest, pi=0.7, levels="same", counts=counts).fit(X, y)
    S = [c for c in range(X.shape[1]) if rng.random() < 0.7] or [0]
    queries = X[rng.integers(len(X), size=3)]
    sdp = explainer.sdp(queries, S)
    rules = explainer.rule(queries, S, check=check, volume=volume)
    outcomes = explainer.predict(queries)
    intervals = explainer.interval(queries) if task == "regression" else None
    for i, rule in enumerate(rules):
        assert (rule is None) == (sdp[i] < 0.7 - 1e-9)
        if rule is None:
            continue
        assert rule.sdp == sdp[i]
        assert rule.outcome == outcomes[i]
        assert {c.column for c in rule.conditions} <= {f"x{c}" for c in S}
        assert rule.covers(queries)[i]
        covered = rule.covers(X)
        assert rule.support == covered.sum()
        assert rule.coverage == rule.support / len(X)
        assert rule.optimal
        inside = X[covered]
        if len(inside) and task == "classification":
            assert explainer.sdp(inside, S, np.repeat(outcomes[i], len(inside))).min() >= 0.7 - 1e-9
            assert rule.n_kept == np.sum(y[covered] == outcomes[i])
            check_precision(rule, explainer, covered, explainer.sdp(inside, S, np.repeat(outcomes[i], len(inside))))
        elif len(inside):
            low, high = intervals[i]
            assert rule.interval == (low, high)
            assert rule.n_kept == np.sum((low <= y[covered]) & (y[covered] <= high))
            assert rule.mae == pytest.approx(np.abs(y[covered] - y[covered].mean()).mean())


def test_explain_gives_the_rule_of_the_surest_minimal_set(numbers):
    explainer, X, _ = numbers
    explanations = explainer.explain(X[:20], min_support=0)
    for i, e in enumerate(explanations):
        assert (e.rule is None) == (not e.is_sufficient)
        assert e.rules == (() if e.rule is None else (e.rule,))
        if e.rule:
            assert explainer.rule(X[i : i + 1], list(e.best_set.variables)) == [e.rule]
            assert e.rule.covers(X).sum() == e.rule.support  # float64 values, rounded ends
            assert f"Rule: {e.rule.sentence}\n" in str(e)
            assert Rule.from_dict(e.to_dict()["rules"][0]) == e.rule
    assert explanations.rules == tuple(e.rule for e in explanations)
    assert any(explanations.rules)
    assert any(rule is None for rule in explainer.set_params(pi=1.0).explain(X[:20]).rules)
    explainer.set_params(pi=0.9)


def test_explain_gives_a_rule_for_every_set_or_none(numbers):
    explainer, X, _ = numbers
    for e in explainer.explain(X[:10], rules="all"):
        assert len(e.rules) == len(e.sufficient_sets)
        for rule, s in zip(e.rules, e.sufficient_sets, strict=True):
            assert rule.sdp == s.sdp
            assert {c.column for c in rule.conditions} <= set(s.variables)
    assert explainer.explain(X[:10], rules=None).rules == (None,) * 10


def test_the_sentence_has_the_names_of_the_table(numbers):
    explainer, X, _ = numbers
    rule = next(rule for rule in explainer.explain(X[:20]).rules if rule)
    assert str(rule).startswith("IF ")
    assert " THEN yield in [" in str(rule)


def test_a_rule_that_holds_everywhere_covers_no_more_and_is_right_at_fresh_points(numbers):
    explainer, X, _ = numbers
    rows = X[:30]
    S = ["a", "b", "d"]
    fresh = pd.DataFrame(np.random.default_rng(1).random((3000, 6)), columns=X.columns)
    pairs = zip(explainer.rule(rows, S), explainer.rule(rows, S, check="everywhere"), strict=True)
    n_checked = 0
    for i, (on_rows, everywhere) in enumerate(pairs):
        if on_rows is None:
            assert everywhere is None
            continue
        assert everywhere.everywhere
        assert everywhere.support <= on_rows.support
        inside = fresh[everywhere.covers(fresh)]
        if len(inside):
            half = explainer.interval(rows[i : i + 1])[0]
            cdf = explainer.cdf(inside, S, [np.nextafter(half[0], -np.inf), half[1]])
            # The ends of a rule are rounded: points between a rounded end and its threshold are not part of the proof.
            assert np.mean(cdf[:, 1] - cdf[:, 0] >= 0.9 - 1e-9) > 0.9
            n_checked += len(inside)
    assert n_checked > 0


def test_the_cells_of_a_set_are_kept_within_bounds(numbers, monkeypatch):
    explainer, X, _ = numbers
    expected = explainer.explain(X[:20]).rules
    assert len(explainer.fitted_.projected.cells) > 1
    monkeypatch.setattr(projection, "CELLS_BYTES", 0)
    limited = pickle.loads(pickle.dumps(explainer))  # its caches are made anew
    assert len(limited.fitted_.projected.cells) == 0
    assert limited.explain(X[:20]).rules == expected
    assert len(limited.fitted_.projected.cells) == 1


def test_threads_pickles_and_single_rows_leave_the_rules_as_they_are(numbers):
    explainer, X, y = numbers
    expected = explainer.explain(X[:20]).rules
    assert pickle.loads(pickle.dumps(explainer)).explain(X[:20]).rules == expected
    one_thread = clone(explainer).set_params(n_jobs=1).fit(X, pd.Series(y, name="yield"))
    assert one_thread.explain(X[:20]).rules == expected
    assert tuple(explainer.explain(X[i : i + 1]).rules[0] for i in range(20)) == expected


@pytest.mark.parametrize("max_nodes", [10_000, 1])
def test_a_rule_of_a_large_table_says_how_many_rows_were_looked_at(numbers, max_nodes, monkeypatch):
    explainer, X, _ = numbers
    fitted = pickle.loads(pickle.dumps(explainer))  # without the cells of other tests
    limits = _core.LookedAt(few=20, most=len(X) // 2, enough=10**6)
    monkeypatch.setattr(_core, "SetCells", functools.partial(_core.SetCells, looked_at=limits))
    sets = [best.variables for best in explainer.explain(X[:20]).best_sets]
    rules = [rule for rule in fitted.rule(X[:20], sets, max_nodes=max_nodes) if rule is not None]
    assert {rule.optimal for rule in rules} >= {max_nodes > 1}
    for rule in rules:
        assert rule.n_looked_at == len(X) // 2
        assert rule.coverage == rule.support / len(X)
        assert rule.bound == rule.support if rule.optimal else rule.bound >= rule.support + 2
    assert {rule.n_looked_at for rule in explainer.explain(X[:20]).rules if rule is not None} == {None}


def test_groups_and_missing_values_in_rules():
    rng = np.random.default_rng(0)
    # Two large values: before version 1.8, scikit-learn does not split missing values from a single known one.
    X = rng.integers(0, 4, size=(300, 3)).astype(float)
    X[rng.random(300) < 0.3, 0] = np.nan
    y = np.where(np.isnan(X[:, 0]), 1, (X[:, 0] > 1) * 2)
    forest = RandomForestClassifier(10, random_state=0).fit(X.astype(np.float32), y)
    explainer = SufficientExplainer(forest, groups={"pair": ["x1", "x2"]}, **PAPER).fit(X, y)
    missing, large = X[np.isnan(X[:, 0])][0], X[X[:, 0] == 2][0]
    assert [str(c) for c in explainer.rule([missing], ["x0"])[0].conditions] == ["x0 is missing"]
    assert [str(c) for c in explainer.rule([large], ["x0"])[0].conditions] == ["x0 >= 2"]
    rule = explainer.rule([large], ["x0", "pair"])[0]
    assert {c.column for c in rule.conditions} <= {"x0", "x1", "x2"}


def test_a_split_between_missing_and_known_values():
    """Its threshold is infinite: "above" it there are only missing values, which was read as a range of numbers."""
    X = np.array([[np.nan], [1.0], [0.0]] * 20)
    y = np.array([1, 0, 0] * 20)
    forest = RandomForestClassifier(1, bootstrap=False, random_state=0).fit(X.astype(np.float32), y)
    assert np.isinf(forest.estimators_[0].tree_.threshold[0])
    missing, known = SufficientExplainer(forest, **PAPER).fit(X, y).explain(X[:2]).rules
    assert [str(c) for c in missing.conditions] == ["x0 is missing"]
    assert [str(c) for c in known.conditions] == ["x0 is known"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"S": []}, "`S` must name at least one variable"),
        ({"S": [["a"], []]}, "`S` must name at least one variable"),
        ({"S": ["z"]}, "Unknown variable 'z'"),
        ({"S": ["a"], "check": "everwhere"}, "Did you mean 'everywhere'"),
        ({"S": ["a"], "volume": "coverage"}, "`volume` must be one of"),
        ({"S": ["a"], "max_nodes": 0}, "`max_nodes` must be a whole number"),
    ],
)
def test_wrong_questions_for_rules_are_refused(numbers, options, message):
    explainer, X, _ = numbers
    with pytest.raises(ValueError, match=message):
        explainer.rule(X[:2], **options)


def test_wrong_kinds_of_rules_are_refused(numbers):
    explainer, X, _ = numbers
    with pytest.raises(ValueError, match=r"`rules` must be one of \['minimal', 'all', None\], got 'best'"):
        explainer.explain(X[:1], rules="best")
    with pytest.raises(ValueError, match="`check` must be one of"):
        explainer.explain(X[:1], check="points")
