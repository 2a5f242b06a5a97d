"""What would change the outcome of all rows of a rule."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from loans import ask_instead, loan_explainer, make_loans
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import GlobalRulesClassifier, SufficientExplainer, rule
from suffice._forest.model_outputs import ExplainedModel
from suffice._forest.outcomes import read_targets
from suffice._table.condition import Condition
from suffice.changes.finding import _cut_box, read_rules, search_regions
from suffice.changes.limits import read_limits, regions_of
from suffice.changes.model import MovableRows
from suffice.changes.search import ChangeOptions, ChangeSearch

POOR = "income <= 25 and account in [some, much]"


@pytest.fixture(scope="module")
def explainer():
    return loan_explainer()


def test_rules_get_an_unless(explainer):
    X, _ = make_loans()
    explanations = explainer.explain(X[:40], sets="minimal")
    bad = [rule for rule in explanations.rules if rule is not None and rule.outcome == "bad"]
    regional = explainer.what_if_rules(bad, pi=0.8)
    assert len(regional) == len(bad)
    found = [change for change in regional if change.unless]
    assert found
    for change in found:
        assert change.probability >= 0.8 - 1e-9
        assert "UNLESS" in str(change)
        assert {c.column for c in change.unless} <= {"income", "account", "age", "debt"}
    assert regional.to_frame()["rule"].tolist() == [change.rule_text for change in regional]
    # Explanations and one explanation stand for their rules.
    at_bad = next(i for i, rule in enumerate(explanations.rules) if rule == bad[0])
    assert list(explainer.what_if_rules(explanations[at_bad], pi=0.8)) == list(regional[:1])
    assert list(explainer.what_if_rules(explanations[[at_bad]], pi=0.8)) == list(regional[:1])
    json.loads(regional.to_json())


def test_a_change_everywhere_holds_for_every_row_of_the_rule(explainer):
    """Moved into the box, every row of the rule gets the target from the forest, whatever the rule leaves open."""
    X, _ = make_loans()
    rules = {str(rule): rule for rule in explainer.explain(X[:60], sets="minimal").rules if rule is not None}
    bad = [rule for rule in rules.values() if rule.outcome == "bad"]
    regional = explainer.what_if_rules(bad, pi=0.8, check="everywhere", min_plausibility=0.0)
    assert [change.reached for change in regional if change.unless] == [1.0] * sum(bool(c.unless) for c in regional)
    found = [(line, change) for line, change in zip(bad, regional, strict=True) if change.unless]
    assert found
    for line, change in found:
        covered = X[line.covers(X)]
        inside = np.all([c.covers(X[c.column].to_numpy()) for c in change.unless], axis=0)
        for _, values in X[inside][:5].iterrows():
            moved = covered.assign(**{name: values[name] for name in change.variables}).astype(X.dtypes.to_dict())
            assert (explainer.predict(moved) == "good").all()


def test_of_several_boxes_the_one_that_changes_most_rows_is_chosen(explainer):
    X, _ = make_loans()
    rules = [rule for rule in explainer.explain(X[:40], sets="minimal").rules if rule is not None]
    for change in explainer.what_if_rules(rules, pi=0.8):
        if change.unless:
            assert 0.5 < change.reached <= 1
            assert f"reached by {round(100 * change.reached)} % of rows moved there" in str(change)
            assert change.to_dict()["reached"] == change.reached


def test_more_variables_are_searched_until_rows_of_the_rule_are_reached():
    """Good needs both a and b, which go together: rows with a high a are good, but not rows of the rule moved there."""
    rng = np.random.default_rng(0)
    a = rng.random(600)
    b = np.where(rng.random(600) < 0.8, a, rng.random(600))
    X = pd.DataFrame({"a": a, "b": b, "c": rng.random(600)}).round(3)
    y = np.where((X["a"] > 0.5) & (X["b"] > 0.5), "good", "bad")
    forest = RandomForestClassifier(20, max_features=None, min_samples_leaf=3, random_state=0)
    explainer = SufficientExplainer(forest).fit(X, y)
    row = X[(X["a"] < 0.3) & (X["b"] < 0.3)][:1]
    rule = explainer.rule(row, ["a"])[0]
    assert rule.outcome == "bad"
    [alone] = explainer.what_if_rules([rule], "good", max_size=1, pi=0.8)
    assert alone.variables == ("a",)
    assert alone.probability > 0.8 > alone.reached
    [change] = explainer.what_if_rules([rule], "good", pi=0.8)
    assert change.variables == ("a", "b")
    assert change.reached >= 0.8


def test_a_list_of_rules_gets_a_table(explainer):
    X, y = make_loans()
    rules = GlobalRulesClassifier.from_explanations(explainer.explain(X[:60], y[:60], sets="minimal"), X, y)
    regional = explainer.what_if_rules(rules, pi=0.8)
    assert [change.outcome for change in regional] == [line.output for line in rules.rules_]
    for change in regional:
        assert change.wanted == ("good" if change.outcome == "bad" else "bad")
        assert "THEN" in str(change)
    assert regional[:1][0] == regional[0]


def test_a_rule_of_ones_own_is_a_region(explainer):
    [change] = explainer.what_if_rules(rule(POOR, explainer), pi=0.8)
    assert (change.outcome, change.wanted) == ("bad", "good")
    assert change.rule_text == "income <= 25 AND account in {much, some}"
    assert change.variables == ("income",)
    assert change.reached >= 0.8
    others = [rule(text, explainer) for text in ("12 <= income <= 25", "account = empty")]
    assert [one.rule_text for one in explainer.what_if_rules(others, pi=0.8)] == [
        "12 <= income <= 25",
        "account = empty",
    ]


def test_a_rule_with_the_wanted_outcome_has_it_already(explainer):
    lines = [rule("income <= 25", explainer), rule("income >= 40 and account in [some, much]", explainer)]
    regional = explainer.what_if_rules(lines, "good", pi=0.8)
    assert [change.is_reached for change in regional] == [False, True]
    assert regional[0].unless
    assert str(regional[1]) == (
        "IF income >= 40 AND account in {much, some} THEN good  (the target is already reached)"
    )
    assert "The target is already reached." in regional._repr_html_()
    assert regional.to_frame()["is_reached"].tolist() == [False, True]


def test_a_rule_of_numbers_has_their_mean():
    x = np.random.default_rng(0).integers(0, 10, (300, 1))
    explainer = SufficientExplainer(RandomForestRegressor(5, min_samples_leaf=5, random_state=0)).fit(x, 10.0 * x[:, 0])
    [change] = explainer.what_if_rules(rule("0 <= x0 <= 1", explainer), {"more": 30})
    assert 0 < change.outcome < 10
    assert change.variables == ("x0",)
    assert change.unless_text.startswith("x0 >= 3")


class GoodAbove:
    """A model that knows one threshold of the income, and refuses tables with other types than its own."""

    def __init__(self, least, dtypes):
        self.least, self.dtypes = least, dict(dtypes)

    def predict(self, X):
        assert {name: X[name].dtype for name in X.columns} == self.dtypes
        return np.where((X["income"] >= self.least) & (X["account"] != "empty"), "good", "bad")


@pytest.fixture(scope="module")
def of_model():
    X, _ = make_loans()
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    return SufficientExplainer.for_model(GoodAbove(31, X.dtypes), X, forest=forest)


def test_the_model_is_asked_about_rows_of_the_rule_in_the_box(of_model):
    """Each of up to 20 rows of the rule has the values of each of up to 20 rows in the box; the rest stays."""
    X, _ = make_loans()
    tables_asked_about = []
    model = of_model.model_
    spy = of_model.with_settings()
    ask_instead(spy, lambda table: (tables_asked_about.append(table), model.predict(table))[1])
    [change] = spy.what_if_rules(rule(POOR, spy), pi=0.8)
    assert change.variables == ("income",)
    assert (change.confirmed, change.confirmed_share, change.n_asked) == (True, 1.0, 400)
    [table] = tables_asked_about
    poor = X[(X["income"] <= 25) & (X["account"] != "empty")]
    others = ["account", "age", "debt"]
    assert table[others].drop_duplicates().merge(poor[others]).shape[0] == 20
    assert change.unless[0].covers(table["income"].to_numpy()).all()
    assert str(change).endswith("GoodAbove confirms this; it agrees for 400 of 400 rows moved into this range.")
    [alone] = of_model.what_if_rules(rule(POOR, of_model), pi=0.8, confirm=False)
    assert (alone.confirmed, alone.confirmed_share, alone.n_asked) == (None, None, 0)
    assert "agrees" not in str(alone)


def test_a_rule_that_the_model_does_not_confirm_is_marked(of_model):
    """Another model than the one that the forest has learnt: it wants a higher income."""
    X, _ = make_loans()
    other = of_model.with_settings()
    ask_instead(other, GoodAbove(50, X.dtypes))
    # The part in which it agrees holds a fifth of the rows.
    regional = other.what_if_rules([rule(POOR, other), rule("account = empty", other)], pi=0.8, min_plausibility=0.3)
    assert [change.confirmed for change in regional] == [False, False]
    assert 0 < regional[0].confirmed_share < 0.5
    n_agreed = round(400 * regional[0].confirmed_share)
    said = f"GoodAbove does NOT confirm this; it agrees for {n_agreed} of 400 rows moved into this range."
    assert said in str(regional[0])
    assert said in regional._repr_html_()
    assert regional.to_frame()["confirmed"].tolist() == [False, False]
    [line, _] = json.loads(regional.to_json())["rules"]
    assert (line["confirmed"], line["confirmed_share"], line["n_asked"]) == (False, regional[0].confirmed_share, 400)


def test_a_box_that_the_model_refuses_is_cut_to_where_it_agrees(of_model):
    X, _ = make_loans()
    other = of_model.with_settings()
    ask_instead(other, GoodAbove(50, X.dtypes))
    [change] = other.what_if_rules(rule(POOR, other), pi=0.8)
    assert change.variables == ("income",)
    assert 50 <= change.unless[0].low <= 52
    assert (change.confirmed, change.confirmed_share) == (True, 1.0)
    assert 0 < change.n_asked <= 300
    assert not change.optimal
    [alone] = other.what_if_rules(rule(POOR, other), pi=0.8, confirm=False)
    assert alone.unless[0].low < 35
    assert alone.optimal


def test_the_model_chooses_among_the_boxes():
    """For the forest either variable is enough, and the income is more plausible; the model looks at the debt alone."""
    X, _ = make_loans()
    explainer = SufficientExplainer.for_model(
        lambda table: np.where((table["income"] > 30) | (table["debt"] < 2), "good", "bad"), X, random_state=0
    )
    ask_instead(explainer, lambda table: np.where(table["debt"] < 2, "good", "bad"))
    own = rule("income <= 25 and debt >= 3", explainer)
    [by_forest] = explainer.what_if_rules(own, "good", pi=0.8, confirm=False)
    [by_model] = explainer.what_if_rules(own, "good", pi=0.8)
    assert by_forest.variables == ("income",)
    assert by_model.variables == ("debt",)
    assert by_model.confirmed


def test_the_model_is_asked_about_boxes_in_parts(of_model, monkeypatch):
    rules = [rule(text, of_model) for text in (POOR, "account = empty", "income <= 20")]
    together = of_model.what_if_rules(rules, "good", pi=0.8)
    monkeypatch.setattr("suffice.changes.finding.N_TOGETHER", 1)
    assert of_model.what_if_rules(rules, "good", pi=0.8).to_json() == together.to_json()


def test_the_model_may_be_asked_about_other_rows(of_model):
    """Also as an array, and none of them may be in the rule: then nothing is asked."""
    X, _ = make_loans(50, seed=3)
    [change] = of_model.what_if_rules(rule(POOR, of_model), pi=0.8, X=X)
    n_poor = int(((X["income"] <= 25) & (X["account"] != "empty")).sum())
    assert 0 < n_poor < 20
    assert change.n_asked == 20 * n_poor
    [nothing] = of_model.what_if_rules(rule(POOR, of_model), pi=0.8, X=X[X["income"] > 25])
    assert nothing.unless
    assert nothing.confirmed is None


def test_parts_of_dates_are_not_asked_about():
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=600, freq="D")
    X = pd.DataFrame({"day": rng.permutation(days), "x": rng.random(600).round(2)})
    explainer = SufficientExplainer.for_model(
        lambda table: np.where(table["day"].dt.month > 6, "late", "early"), X, dates="parts", random_state=0
    )
    [change] = explainer.what_if_rules(rule("1 <= day.month <= 3", explainer), "late")
    assert change.unless
    assert change.confirmed is None


def test_nothing_is_cut_where_the_model_cannot_be_asked(of_model):
    """No row of the table is in the rule, or the values are parts of dates."""

    def refuse(table):
        raise AssertionError("It must not be asked.")

    def cut(explainer, text, target, rows):
        state = explainer.fitted_
        [(conditions, outcome)] = read_rules(rule(text, explainer))
        regions = regions_of(state, [[Condition(**vars(condition)) for condition in conditions]])
        targets = read_targets(target, np.array([outcome]), state.classes)
        limits, options = read_limits(state, (), None, None, None), ChangeOptions("mean", 10, 1)
        search = ChangeSearch(state, targets, np.array([0.8]), limits, options)
        [box] = search_regions(search, regions)
        assert box.exists
        movable = MovableRows(replace(state, model=ExplainedModel(refuse)), rows, explainer.encode(rows))
        return list(_cut_box(search, regions, 0, box.found, movable))

    X, _ = make_loans()
    assert cut(of_model, POOR, "good", X[X["income"] > 25]) == []
    with pytest.raises(AssertionError, match="must not be asked"):
        cut(of_model, POOR, "good", X)
    days = pd.date_range("2024-01-01", periods=600, freq="D")
    table = pd.DataFrame({"day": days, "x": np.arange(600) % 7})
    explainer = SufficientExplainer(dates="parts", random_state=0).fit(table, np.where(days.month > 6, "late", "early"))
    assert cut(explainer, "1 <= day.month <= 3", "late", table) == []


@pytest.mark.parametrize("rules", [[3], 3, None])
def test_other_things_are_no_rules(rules):
    with pytest.raises(TypeError, match=r"`rules` must (hold|be) rules"):
        read_rules(rules)
