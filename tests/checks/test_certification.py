"""Certifying rules: what is counted, what is tested together, and where certificates travel."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixed_table import COLUMNS, make_table
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, Rule, SufficientExplainer
from suffice._io.result_table import CHECK_COLUMNS, RESULT_COLUMNS
from suffice._show.report import make_report
from suffice._table.condition import Condition
from suffice._table.table import read_columns
from suffice.checks.certificates import FreshRows, count_kept
from suffice.explaining.rule import Promise

N = 900


def make_data(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(list("xyz"), n), "c": rng.normal(size=n)})
    p = np.where((X["a"] > 0) & (X["b"] != "z"), 0.97, 0.02)
    return X, np.where(rng.random(n) < p, "yes", "no"), 5 * X["a"] + (X["b"] == "z") + rng.normal(size=n)


@pytest.fixture(scope="module")
def classes():
    X, y, _ = make_data()
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    return SufficientExplainer(forest, n_jobs=1, random_state=0).fit(X, y, holdout=0.3)


@pytest.fixture(scope="module")
def numbers():
    X, _, y = make_data()
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    return SufficientExplainer(forest, n_jobs=1, random_state=0).fit(X, y, holdout=0.3)


@pytest.fixture(scope="module")
def explanations(classes):
    return classes.explain(make_data(1)[0][:30])


def test_outcomes_are_counted_as_promises_keep_them():
    """Bounds of intervals are closed, and several promises may share their conditions."""
    x, y = np.arange(12.0), np.array([3.0, 1, 2, 2, 5, 4, 1, 3, 2, 5, 4, 1])
    rows = FreshRows(read_columns({"x": x}), y, is_set_aside=False)
    left, right = (Condition("x", high=6.5),), (Condition("x", 6.5),)
    intervals = [(2.0, 4.0), (1.0, 1.0), (5.5, 9.0), (-np.inf, 2.0)]
    promises = [Promise(conditions, None, interval) for conditions in (left, right, ()) for interval in intervals]
    is_covered = {left: x <= 6.5, right: x > 6.5, (): x >= 0}
    n_rows, n_kept = count_kept(promises, rows)
    assert n_rows == [is_covered[promise.conditions].sum() for promise in promises]
    assert n_kept == [promise.keeps(y[is_covered[promise.conditions]]).sum() for promise in promises]


def test_counts_are_those_of_covers_on_a_table_of_any_kind():
    """Numbers, categories, booleans, dates and gaps: a certificate counts the rows that `Rule.covers` covers."""
    table = make_table(n_rows=240, seed=3)
    X, y = table[list(COLUMNS)], table["label"]
    known = y.notna()
    X, y = X[known], y[known]
    forest = RandomForestClassifier(10, min_samples_leaf=3, random_state=0)
    options = {"counts": "bootstrap", "min_size": 1, "dates": "parts", "unseen": "missing"}
    explainer = SufficientExplainer(forest, n_jobs=1, random_state=0, **options)
    explainer.fit(X[:120], y[:120])
    checked = explainer.certify(explainer.explain(X[:60], check="rows"), X[120:], y[120:])
    assert len(checked.rules) > 5
    assert checked.n_rows == len(X) - 120
    for rule in checked.rules:
        covered = rule.covers(X[120:])
        assert rule.certificate.n_rows == covered.sum()
        assert rule.certificate.n_kept == (y[120:][covered] == rule.outcome).sum()


def test_numbers_are_kept_in_the_interval(numbers):
    X, _, y = make_data(2)
    checked = numbers.certify(numbers.explain(X[:20]), X, y)
    for rule in checked.rules:
        covered = y[rule.covers(X)]
        low, high = rule.interval
        assert rule.certificate.n_kept == ((covered >= low) & (covered <= high)).sum()
    assert checked.certified


def test_distinct_rules_are_tested_once(classes, explanations):
    rules = [rule for rule in explanations.rules if rule is not None]
    twice = classes.certify([*rules, None, *rules])
    once = classes.certify(explanations)
    assert len(twice.rules) == len(once.rules) == len({rule.promise for rule in rules}) < len(rules)
    assert [rule.certificate for rule in twice.rules] == [rule.certificate for rule in once.rules]
    assert len(twice.attached) == 2 * len(rules)


def test_explain_checks_each_rule_alone(classes, explanations):
    """Certificates of an explanation do not depend on the rows that are explained with it."""
    alone = classes.explain(make_data(1)[0][:1])[0]
    assert alone == explanations[0]
    certificate = alone.rule.certificate
    assert certificate.adjustment is None
    assert certificate.is_set_aside
    assert certificate == classes.certify(alone, adjust=None).rules[0].certificate
    shares = dict(zip(*np.unique(classes.training[1], return_counts=True), strict=True))
    odds = min(1, shares[alone.outcome] / (sum(shares.values()) - shares[alone.outcome])) * 9
    assert certificate.level == pytest.approx(odds / (1 + odds))
    assert certificate.level == alone.pi < classes.pi_
    assert "Checked on" in str(alone)
    assert "rows that were set aside: right in" in str(alone)
    assert certificate.sentence in alone._repr_html_().replace("Checked", "checked")


def test_what_is_passed_comes_back_with_certificates(classes, explanations):
    X, y, _ = make_data(2)
    checked = classes.certify(explanations, X, y, adjust="holm")
    assert [e.rule.certificate.adjustment for e in checked.attached if e.rule] == ["holm"] * sum(
        map(bool, explanations.rules)
    )
    assert classes.certify(explanations[0], X, y).attached.rule.certificate.n_rows > 0
    assert isinstance(classes.certify(explanations[0].rule, X, y).attached, Rule)
    rule_list = GlobalRulesClassifier.from_explanations(explanations)
    lines = classes.certify(rule_list, X, y).attached.rules_
    for line in lines:
        covered = line.rule.covers(X)
        assert (line.certificate.n_rows, line.certificate.n_kept) == (covered.sum(), (y[covered] == line.output).sum())


def test_a_model_is_asked_for_the_outcomes():
    X, _, _ = make_data()
    model = lambda table: np.where(table["a"] > 0, "up", "down")  # noqa: E731
    explainer = SufficientExplainer.for_model(model, X, holdout=0.2, random_state=0, n_jobs=1)
    fresh = make_data(5)[0]
    checked = explainer.certify(explainer.explain(X[:5]), fresh)
    assert checked.n_rows == N
    assert all(rule.certificate.share > 0.95 for rule in checked.rules)
    assert explainer.describe()["n_set_aside"] == 180


def test_outcomes_are_needed_without_a_model(classes, explanations, tmp_path):
    classes.save(tmp_path / "a.suffice")
    loaded = SufficientExplainer.load(tmp_path / "a.suffice")
    with pytest.raises(ValueError, match=r"`y` is needed: .* a saved file does not hold the model"):
        loaded.certify(explanations, make_data(2)[0])
    with pytest.raises(ValueError, match="`y` was passed without `X`"):
        loaded.certify(explanations, None, ["yes"])
    with pytest.raises(ValueError, match="`y` holds none of the classes \\['no', 'yes'\\], but 1"):
        loaded.certify(explanations, make_data(2)[0], np.ones(N, dtype=int))


def test_without_rows_set_aside_fresh_rows_are_needed(explanations):
    X, y, _ = make_data()
    explainer = SufficientExplainer(RandomForestClassifier(5, random_state=0), n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match="No rows were set aside: pass fresh rows"):
        explainer.certify(explanations)
    assert explainer.explain(X[:1])[0].rule.certificate is None


@pytest.mark.parametrize("what", ["rules", 3, [3]])
def test_other_things_are_refused(classes, what):
    with pytest.raises(TypeError, match="`what` must"):
        classes.certify(what)


def test_explanations_without_rules_are_refused(classes):
    with pytest.raises(ValueError, match="These explanations hold no rules"):
        classes.certify(classes.explain(make_data(1)[0][:5], rules=None))


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_saved_file_holds_the_rows_set_aside(kind, request, tmp_path):
    explainer = request.getfixturevalue(kind)
    explainer.save(tmp_path / "a.suffice")
    loaded = SufficientExplainer.load(tmp_path / "a.suffice")
    rows = make_data(1)[0][:10]
    assert [str(e) for e in loaded.explain(rows)] == [str(e) for e in explainer.explain(rows)]
    assert loaded.describe()["n_set_aside"] == 270
    at_one_level = loaded.with_settings(pi=0.7, levels="same").explain(rows)
    assert at_one_level.rules[0].certificate.level == 0.7
    of_rule = loaded.with_settings(pi=0.7).explain(rows).rules[0].certificate
    assert of_rule.level == (0.7 if kind == "numbers" else explainer.explain(rows, pi=0.7)[0].pi)
    assert (of_rule.level < 0.7) == (kind == "classes")


def test_certificates_travel(explanations, tmp_path):
    rule = explanations[0].rule
    assert Rule.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule
    old = {name: value for name, value in rule.to_dict().items() if name != "certificate"}
    assert Rule.from_dict(old).certificate is None
    lines = explanations.to_frame("rows")
    assert list(lines.columns) == ["row", *RESULT_COLUMNS, *CHECK_COLUMNS]
    assert lines["n_checked"][0] == rule.certificate.n_rows
    assert lines["checked_lower"][0] == rule.certificate.lower
    assert bool(lines["is_certified"][0]) is rule.certificate.is_certified
    assert rule.certificate.sentence[1:] in make_report(explanations)


def test_the_comment_in_sql_leaves_the_query_as_it_is(explanations):
    X, _, _ = make_data(4)
    rule = next(r for r in explanations.rules if r is not None and "AND" in r.sentence)
    assert rule.to_sql().endswith(f" /* {rule.certificate.sentence} */")
    database = sqlite3.connect(":memory:")
    X.assign(row=np.arange(N)).to_sql("t", database, index=False)
    for where in (rule.to_sql(), f"({rule.to_sql()}) AND 1 = 1", f"NOT NOT ({rule.to_sql()})"):
        rows = [row for (row,) in database.execute(f"SELECT row FROM t WHERE {where} ORDER BY row")]
        assert rows == np.flatnonzero(rule.covers(X)).tolist()


def test_frames_text_and_json_of_the_result(classes, explanations):
    checked = classes.certify(explanations)
    frame = checked.to_frame()
    assert frame["verdict"].tolist() == [rule.certificate.verdict for rule in checked.rules]
    assert len(frame) == len(checked.certified) + len(checked.refuted) + len(checked.undecided)
    values = json.loads(checked.to_json())
    assert values["n_certified"] == len(checked.certified) > 0
    assert [Rule.from_dict(rule) for rule in values["rules"]] == list(checked.rules)
    assert str(checked).splitlines()[0] == checked.heading
    on_rows = "on 270 rows that were set aside (95 % confidence); "
    assert f"rules certified at the level of their class {on_rows}" in checked.heading
    assert f"rules certified at 90 % {on_rows}" in classes.certify(explanations, level=0.9).heading
    assert str(checked).splitlines()[1].startswith(f"{checked.rules[0].certificate.verdict}: IF ")


def test_polars_rows_and_numbered_columns(classes, explanations):
    X, y, _ = make_data(2)
    by_polars = classes.certify(explanations, pl.from_pandas(X), pl.Series("y", y))
    assert by_polars.to_frame().equals(classes.certify(explanations, X, y).to_frame())


def test_false_certificates_are_rare():
    """Rules of known precision: with a precision just below the level, at most 5 % of the checks certify it."""
    rng = np.random.default_rng(0)
    n_certified = {None: 0, "holm": 0, "benjamini-hochberg": 0}
    forest = RandomForestClassifier(2, random_state=0)
    explainer = SufficientExplainer(forest, levels="same", counts="bootstrap", n_jobs=1)
    X, y, _ = make_data(n=60)
    rules = explainer.fit(X, y).explain(X[:1]).rules
    box = replace(rules[0], outcome="yes", interval=None)
    many = [replace(box, conditions=(Condition("a", high=float(k)),)) for k in range(1, 9)]
    n_trials = 150
    for _ in range(n_trials):
        rows = pd.DataFrame({"a": rng.uniform(0, 8, 400), "b": "x", "c": 0.0})
        outcomes = np.where(rng.random(400) < 0.899, "yes", "no")
        for adjust in n_certified:
            checked = explainer.certify(many, rows, outcomes, adjust=adjust)
            n_certified[adjust] += bool(checked.certified)
    assert n_certified["holm"] <= 0.05 * n_trials + 3 * np.sqrt(0.05 * n_trials)
    assert n_certified["benjamini-hochberg"] <= 0.05 * n_trials + 3 * np.sqrt(0.05 * n_trials)
    assert n_certified[None] > n_certified["holm"]


def test_global_rules_of_numbers_promise_their_interval(numbers):
    X, _, y = make_data(2)
    rule_list = GlobalRulesRegressor.from_explanations(numbers.explain(*numbers.training, sets="minimal"))
    checked = numbers.certify(rule_list, X, y)
    line = checked.attached.rules_[0]
    low, high = line.rule.interval
    covered = y[line.rule.covers(X)]
    assert line.certificate.n_kept == ((covered >= low) & (covered <= high)).sum()
    assert f"{line.rule.conclusion}: checked on" in str(line)
    assert line.to_dict()["interval"] == [low, high]


def test_a_rule_of_a_rare_class_is_checked_at_the_level_of_its_class():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=1500), "b": rng.normal(size=1500)})
    y = np.where((X["a"] > 1) & (rng.random(1500) < 0.8), "yes", "no")
    explainer = SufficientExplainer(levels="odds", random_state=0, n_jobs=1).fit(X, y, holdout=0.3)
    levels = explainer.fitted_.level_of_rules()
    assert levels["no"] == 0.9
    base = float(np.mean(explainer.training[1] == "yes"))
    assert levels["yes"] / (1 - levels["yes"]) == pytest.approx(9 * base / (1 - base))
    rows = X[X["a"] > 1.2][:10]
    explanations = explainer.explain(rows)
    checked = explainer.certify(explanations)
    assert {rule.certificate.level for rule in checked.rules if rule.outcome == "yes"} == {levels["yes"]}
    assert {rule.certificate.level for rule in explanations.rules if rule is not None} <= set(levels.values())
    assert checked.level is None
    assert "certified at the level of their class" in checked.heading
    assert explainer.with_settings(levels="same").fitted_.level_of_rules() == 0.9
