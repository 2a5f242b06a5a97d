"""Global rules: what is collected, who decides, abstention and fallbacks, simplifying, and the views."""

from __future__ import annotations

import math
import pickle
import sqlite3
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import SufficientExplainer
from suffice.global_rules import GlobalRule, GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rules import Condition, Rule

SMALL = {"n_estimators": 10, "min_samples_leaf": 5, "random_state": 0}
INF = math.inf
# Ten rows, x0 = 0, ..., 9.
X = np.arange(10.0)[:, None]
Y = np.array(list("aaabbbbabb"))
NUMBERS = np.array([1.0, 1, 1, 4, 6, 4, 6, 9, 1, 2])


def box(low=-INF, high=INF, column="x0", sdp=0.9, **condition):
    """A local rule; what it says of its own row does not matter here."""
    conditions = () if (low, high, condition) == (-INF, INF, {}) else (Condition(column, low, high, **condition),)
    return Rule(conditions, "?", None, sdp, 1, 0.1, 1.0, None, True, 1.0, False)


LEFT = box(high=2.5)  # a a a
MIDDLE = box(2.5, 6.5)  # b b b b
RIGHT = box(4.5)  # b b a b b
MIXED = box(high=3.5)  # a a a b
ALL_FOUR = [RIGHT, None, MIXED, LEFT, MIDDLE, LEFT]


def classifier(rules, X=X, y=Y, **params):
    return GlobalRulesClassifier.from_explanations(rules, X, y, **params)


def regressor(rules, X=X, y=NUMBERS, **params):
    return GlobalRulesRegressor.from_explanations(rules, X, y, **{"min_support": 1, **params})


def test_boxes_of_few_rows_say_nothing_of_numbers_by_default():
    assert regressor([LEFT, RIGHT]).rules_
    assert GlobalRulesRegressor.from_explanations([LEFT, RIGHT], X, NUMBERS).rules_ == ()


def boxes(model):
    return [line.rule for line in model.rules_]


def quality(model, X, y):
    """Coverage and precision on a table, by the definition."""
    is_covered = model.covered(X)
    predicted = model.predict(X)[is_covered]
    if isinstance(model, GlobalRulesClassifier):
        return is_covered.mean(), np.mean(predicted == y[is_covered])
    return is_covered.mean(), 1 - np.mean((predicted.astype(float) - y[is_covered]) ** 2) / y.var()


def random_rules(rng, n_rules, X, missing=False):
    """Boxes on two columns each, with ends drawn from the data."""
    rules = []
    for _ in range(n_rules):
        columns = np.sort(rng.choice(X.shape[1], 2, replace=False))
        ends = [np.sort(rng.choice(X[~np.isnan(X[:, c]), c], 2, replace=False)) for c in columns]
        conditions = tuple(
            Condition(f"x{c}", low, high, low_closed=True, missing=missing and bool(rng.integers(2)))
            for c, (low, high) in zip(columns, ends, strict=True)
        )
        rules.append(Rule(conditions, "?", None, 0.9, 1, 0.1, 1.0, None, True, 1.0, False))
    return rules


# --- collecting -------------------------------------------------------------------------------------------------------


def test_rules_are_measured_and_sorted_by_precision_then_support():
    model = classifier(ALL_FOUR)
    assert boxes(model) == [MIDDLE, LEFT, RIGHT, MIXED]
    assert [line.output for line in model.rules_] == ["b", "a", "b", "a"]
    assert [line.support for line in model.rules_] == [4, 3, 5, 4]
    assert [line.coverage for line in model.rules_] == [0.4, 0.3, 0.5, 0.4]
    assert [line.precision for line in model.rules_] == [1.0, 1.0, 0.8, 0.75]
    assert model.rules_[3].frequencies == {"a": 0.75, "b": 0.25}


def test_numbers_are_measured_by_mean_mse_and_mae():
    middle, left = regressor([MIDDLE, box(2.5, 4.5)]).rules_, regressor([LEFT]).rules_
    assert [(line.output, line.mse, line.mae, line.std) for line in middle] == [(5.0, 1.0, 1.0, 1.0)] * 2
    assert [(line.output, line.mse, line.mae, line.precision) for line in left] == [(1.0, 0.0, 0.0, 1.0)]
    assert middle[0].precision == 1 - 1 / NUMBERS.var()
    assert [line.support for line in middle] == [4, 2]  # equal MSE: the larger support first


def test_equal_precision_and_support_are_sorted_by_text():
    rules = [box(0.5, 2.5), box(-0.5, 1.5), box(high=1.5)]  # rows 1 and 2, 0 and 1, 0 and 1: all a
    assert [line.text for line in classifier(rules).rules_] == ["-0.5 < x0 <= 1.5", "0.5 < x0 <= 2.5", "x0 <= 1.5"]
    assert boxes(classifier(rules[::-1])) == boxes(classifier(rules))


def test_of_equally_frequent_labels_the_first_class_is_the_output():
    line = classifier([box(6.5, 8.5)]).rules_[0]  # a b
    assert (line.output, line.precision) == ("a", 0.5)


def test_a_box_is_listed_once_with_its_surest_rule():
    model = classifier([box(high=2.5, sdp=0.91), box(high=2.5, sdp=0.97), box(high=2.5, sdp=0.93)])
    assert [line.rule.sdp for line in model.rules_] == [0.97]


def test_the_order_of_conditions_does_not_make_another_box():
    one, two = Condition("x0", high=2.5), Condition("x1", high=9.5)
    rules = [Rule(pair, "?", None, 0.9, 1, 0.1, 1.0, None, True, 1.0, False) for pair in [(one, two), (two, one)]]
    assert len(classifier(rules, X=np.hstack([X, X])).rules_) == 1


def test_rules_of_little_precision_or_support_are_left_out():
    assert boxes(classifier(ALL_FOUR, min_precision=0.8)) == [MIDDLE, LEFT, RIGHT]
    assert boxes(classifier(ALL_FOUR, min_support=4)) == [MIDDLE, RIGHT, MIXED]
    worse = box(6.5, 8.5)  # 9 and 1: varies more than all rows do
    assert boxes(regressor([worse, LEFT])) == [LEFT]
    assert boxes(regressor([worse, LEFT], min_precision=-INF)) == [LEFT, worse]
    share = regressor([MIDDLE]).rules_[0].precision
    assert len(regressor([MIDDLE], min_precision=share).rules_) == 1
    assert len(regressor([MIDDLE], min_precision=share + 1e-9).rules_) == 0


def test_a_rule_that_covers_no_row_is_left_out():
    assert boxes(classifier([box(20.0), LEFT])) == [LEFT]


def test_constant_numbers_have_no_error_though_their_mean_is_rounded():
    y = np.full(10, 0.1)
    assert np.mean(y[:3]) != 0.1
    line = regressor([LEFT], y=y).rules_[0]
    assert (line.output, line.mse, line.mae, line.precision) == (0.1, 0.0, 0.0, 1.0)


# --- deciding ---------------------------------------------------------------------------------------------------------


def test_the_first_rule_that_covers_a_row_decides():
    model = classifier([MIXED, RIGHT, LEFT])  # sorted: LEFT, RIGHT, MIXED; nothing covers row 4
    assert model.decision_path(X).tolist() == [0, 0, 0, 2, -1, 1, 1, 1, 1, 1]
    assert model.covered(X).tolist() == [True] * 4 + [False] + [True] * 5
    assert model.coverage(X) == 0.9
    assert model.predict(X).tolist() == ["a", "a", "a", "a", None, "b", "b", "b", "b", "b"]


def test_of_two_rules_that_disagree_the_more_precise_one_speaks():
    assert classifier([MIXED, MIDDLE]).predict([[3.0]]).tolist() == ["b"]
    assert regressor([MIXED, box(2.5, 3.5)]).predict([[3.0], [2.0]]).tolist() == [4.0, 1.75]


def test_no_rows_have_no_coverage():
    model = classifier([LEFT])
    assert math.isnan(model.coverage(np.empty((0, 1))))
    assert model.predict(np.empty((0, 1))).shape == (0,)


def test_probabilities_are_the_shares_of_the_deciding_rule():
    model = classifier([MIXED, RIGHT])
    assert model.predict_proba([[0.0], [9.0]]).tolist() == [[0.75, 0.25], [0.2, 0.8]]


def test_missing_values_are_covered_where_a_rule_allows_them():
    model = classifier([box(high=2.5, missing=True), RIGHT])
    assert model.decision_path([[math.nan], [9.0], [3.0]]).tolist() == [0, 1, -1]


# --- rows that no rule covers -----------------------------------------------------------------------------------------


def test_a_classifier_without_fallback_abstains():
    model = classifier([LEFT])
    predicted = model.predict([[0.0], [5.0]])
    assert predicted.dtype == object
    assert predicted.tolist() == ["a", None]
    assert np.isnan(model.predict_proba([[5.0]])).all()
    assert model.predict([[0.0]]).dtype == model.classes_.dtype


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [1.0, 2.0]])
def test_labels_keep_their_kind(labels):
    y = np.array(labels)[(Y == "b").astype(int)]
    model = classifier(ALL_FOUR, y=y)
    assert model.predict(X).dtype == y.dtype
    assert model.predict(X).tolist() == [labels[0]] * 3 + [labels[1]] * 7
    assert [type(value) for value in classifier([LEFT], y=y).predict(X)] == [type(labels[0])] * 3 + [type(None)] * 7


def test_a_regressor_without_fallback_abstains():
    assert np.array_equal(regressor([LEFT]).predict([[0.0], [5.0]]), [1.0, np.nan], equal_nan=True)


def test_a_model_without_rules_abstains_everywhere():
    assert classifier([]).predict(X).tolist() == [None] * 10
    assert np.isnan(regressor([None]).predict(X)).all()
    assert classifier([]).simplify().rules_ == ()


def test_the_constant_fallback_speaks_where_no_rule_does():
    model = classifier([LEFT], fallback="majority")  # 4 a, 6 b
    assert model.predict([[0.0], [5.0]]).tolist() == ["a", "b"]
    assert model.predict_proba([[0.0], [5.0]]).tolist() == [[1.0, 0.0], [0.4, 0.6]]
    assert regressor([LEFT], fallback="mean").predict([[0.0], [5.0]]).tolist() == [1.0, 3.5]


def test_an_estimator_as_fallback_is_cloned_and_fitted():
    tree = DecisionTreeClassifier(random_state=0)
    model = classifier([box(high=7.5)], fallback=tree)  # a a a b b b b a: a tie, so a
    assert model.predict(X).tolist() == ["a"] * 8 + ["b"] * 2
    assert model.predict_proba(X).tolist() == [[0.5, 0.5]] * 8 + [[0.0, 1.0]] * 2
    assert not hasattr(tree, "tree_")
    line = LinearRegression().fit(X, NUMBERS)
    assert regressor([LEFT], fallback=LinearRegression()).predict([[0.0], [5.0]]) == pytest.approx(
        [1.0, line.predict([[5.0]])[0]]
    )


def test_a_fallback_without_probabilities_is_told():
    model = classifier([LEFT], fallback=RidgeClassifier())
    assert model.predict_proba([[0.0]]).tolist() == [[1.0, 0.0]]
    with pytest.raises(AttributeError, match="The fallback RidgeClassifier has no `predict_proba`"):
        model.predict_proba(X)


@pytest.fixture(scope="module")
def wide():
    """A frame of 120 rows with classes and numbers that two of its columns make."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["hour", "temp", "noise"])
    busy = (frame["hour"] > 0) & (frame["temp"] > -0.5)
    labels = np.where(busy, "busy", "calm")
    numbers = pd.Series(10.0 * busy + rng.normal(size=120), name="count")
    return frame, labels, numbers


@pytest.fixture(scope="module")
def fitted(wide):
    frame, labels, numbers = wide
    trees = {"n_estimators": 20, "min_samples_leaf": 5, "random_state": 0}
    return (
        GlobalRulesClassifier(SufficientExplainer(RandomForestClassifier(**trees)), fallback="forest").fit(
            frame, labels
        ),
        GlobalRulesRegressor(SufficientExplainer(RandomForestRegressor(**trees)), fallback="forest").fit(
            frame, numbers
        ),
    )


def of_two_rules(model, X):
    """A model of two of the rules, so that some rows are not covered."""
    params = {"explainer": model.explainer_, "fallback": "forest"}
    return type(model).from_explanations(boxes(model)[:2], X, model.training_outcomes_, **params)


def test_the_forest_speaks_where_no_rule_does(wide, fitted):
    frame, _, _ = wide
    for model in fitted:
        few = of_two_rules(model, frame)
        is_covered = few.covered(frame)
        assert 0 < is_covered.sum() < len(frame)
        assert few.explainer_ is model.explainer_  # fitted: not fitted again
        forest = model.explainer_.predict(frame)
        assert few.predict(frame)[~is_covered].tolist() == forest[~is_covered].tolist()
    few = of_two_rules(fitted[0], frame)
    shares = fitted[0].explainer_.predict_proba(frame)
    assert few.predict_proba(frame)[~few.covered(frame)].tolist() == shares[~few.covered(frame)].tolist()


def test_the_forest_is_fitted_for_the_fallback_if_it_is_not(wide):
    frame, labels, _ = wide
    explainer = SufficientExplainer(RandomForestClassifier(**SMALL))
    model = classifier([], X=frame, y=labels, explainer=explainer, fallback="forest")
    assert model.predict(frame).tolist() == clone(explainer).fit(frame, labels).predict(frame).tolist()


# --- fitting ----------------------------------------------------------------------------------------------------------


def test_fit_is_made_of_the_rules_of_the_training_rows(wide, fitted):
    frame, *outcomes = wide
    for model, y in zip(fitted, outcomes, strict=True):
        explanations = model.explainer_.explain(frame, y, sets="minimal")
        made = type(model).from_explanations(explanations, frame, y)
        assert made.rules_ == model.rules_
        assert made.rules_ == type(model).from_explanations(iter(explanations.rules), frame, y).rules_
        has_rule = np.array([rule is not None for rule in explanations.rules])
        assert len(model.rules_) > 2
        assert model.covered(frame)[has_rule].all()  # a rule covers its own row
        coverage, precision = quality(model, frame, np.asarray(y))
        assert coverage > 0.5
        assert precision > 0.7


def test_support_agrees_with_that_of_the_local_rules(fitted):
    """The local rules count float32 rows, the global ones float64 rows: their ends part both alike."""
    for model in fitted:
        assert [line.support for line in model.rules_] == [line.rule.support for line in model.rules_]


def test_the_name_of_the_outcome_is_kept(fitted):
    assert " THEN count = " in str(fitted[1])


def test_the_seed_is_that_of_the_model_unless_the_explainer_has_one(wide):
    frame, labels, _ = wide
    explainer = SufficientExplainer(RandomForestClassifier(n_estimators=3), random_state=5)
    assert GlobalRulesClassifier(explainer, random_state=1).fit(frame, labels).explainer_.random_state == 5
    explainer.set_params(random_state=None)
    assert GlobalRulesClassifier(explainer, random_state=1).fit(frame, labels).explainer_.random_state == 1
    assert explainer.random_state is None


def test_without_an_explainer_the_default_one_is_fitted(wide):
    frame, labels, numbers = wide
    whole = (numbers > 5).astype(int)  # would be classes, were it not for the regressor
    assert GlobalRulesRegressor(random_state=0).fit(frame, whole).explainer_.task_ == "regression"
    model = GlobalRulesClassifier(random_state=0).fit(frame, labels)
    assert (model.explainer_.task_, model.explainer_.random_state) == ("classification", 0)


def test_frames_arrays_and_polars_give_the_same_answers(wide, fitted):
    frame, labels, _ = wide
    model = fitted[0]
    assert model.predict(pl.from_pandas(frame)).tolist() == model.predict(frame).tolist()
    array = clone(model).fit(frame.to_numpy(), labels)
    assert array.predict(frame.to_numpy()).tolist() == model.predict(frame).tolist()
    assert "x0" in array.rules_[0].text or "x1" in array.rules_[0].text
    assert clone(model).fit(pl.from_pandas(frame), labels).rules_ == model.rules_


def test_a_pickled_model_is_the_same(wide, fitted):
    for model in fitted:
        again = pickle.loads(pickle.dumps(model))
        assert again.rules_ == model.rules_
        assert again.predict(wide[0]).tolist() == model.predict(wide[0]).tolist()
        assert str(again.simplify()) == str(model.simplify())


# --- simplifying ------------------------------------------------------------------------------------------------------


def test_rules_that_decide_nothing_go_at_no_cost():
    model = classifier(ALL_FOUR)
    simple = model.simplify(tolerance=0)
    assert boxes(simple) == [MIDDLE, LEFT, RIGHT]
    assert simple.predict(X).tolist() == model.predict(X).tolist()
    assert len(model.rules_) == 4


def test_the_cheapest_rule_goes_first():
    # Full: coverage 1, accuracy 0.9. Without MIDDLE rows 5 and 6 go to RIGHT, rows 3 and 4 are lost: 0.8 and 7 / 8.
    # Without LEFT: 0.7 and 6 / 7. Without RIGHT: 0.7 and 1. The sums: 1.675, 1.557 and 1.7.
    model = classifier([LEFT, MIDDLE, RIGHT])
    assert boxes(model.simplify(0.19)) == [MIDDLE, LEFT, RIGHT]
    assert boxes(model.simplify(0.2)) == [LEFT, RIGHT]
    assert boxes(model.simplify(0.3)) == [MIDDLE, LEFT]
    assert boxes(model.simplify(0.6)) == [MIDDLE]


def test_a_rule_that_another_replaces_goes_though_it_decides():
    # LEFT decides rows 0 to 2, and MIXED row 3; without LEFT, MIXED says the same of all four.
    model = classifier([LEFT, MIXED])
    assert boxes(model.simplify(0)) == [MIXED]


def test_equal_numbers_need_one_rule():
    assert boxes(regressor([box(high=1.5), LEFT, box(0.5, 2.5)]).simplify(0)) == [LEFT]


def drop_naively(covers, is_right, tolerance):
    """The same greedy search, each list tried in full."""

    def measure(kept):
        if not kept:
            return 0.0, -INF
        first = [next((r for r in kept if covers[r, i]), None) for i in range(covers.shape[1])]
        n_covered = sum(r is not None for r in first)
        n_wrong = sum(r is not None and not is_right[r, i] for i, r in enumerate(first))
        return n_covered / len(first), 1 - n_wrong / max(n_covered, 1)

    kept = list(range(len(covers)))
    first = {next((r for r in kept if covers[r, i]), None) for i in range(covers.shape[1])}
    full = measure(kept)
    kept = [r for r in kept if r in first]
    while len(kept) > 1:
        tried = [(measure([k for k in kept if k != r]), r) for r in kept]
        allowed = [(c + p, r) for (c, p), r in tried if c > 0 and min(c - full[0], p - full[1]) >= -tolerance - 1e-12]
        if not allowed:
            break
        kept.remove(max(allowed)[1])
    return kept


@pytest.mark.parametrize("seed", range(30))
def test_simplify_agrees_with_a_search_that_tries_each_list(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 6, size=(30, 3)).astype(float) + rng.normal(size=(30, 3)) / 100
    y = rng.integers(0, 3, size=30)
    model = classifier(random_rules(rng, 15, table), X=table, y=y)
    covers = np.array([line.rule.covers(table) for line in model.rules_])
    is_right = np.array([line.output == y for line in model.rules_])
    tolerance = [0.0, 0.02, 0.1, 0.4][seed % 4]
    expected = [model.rules_[r] for r in drop_naively(covers, is_right, tolerance)]
    assert list(model.simplify(tolerance).rules_) == expected


@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.05, 0.3])
@pytest.mark.parametrize("make", [classifier, regressor])
def test_simplify_keeps_its_promise(make, tolerance):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(200, 4))
    table[rng.random(table.shape) < 0.1] = np.nan
    y = np.nan_to_num(table[:, 0]) + rng.normal(size=200)
    y = np.round(y).astype(int) if make is classifier else y
    model = make(random_rules(rng, 80, table, missing=True), X=table, y=y)
    simple = model.simplify(tolerance)
    full, left = quality(model, table, y), quality(simple, table, y)
    assert min(left[0] - full[0], left[1] - full[1]) >= -tolerance - 1e-9
    places = [model.rules_.index(line) for line in simple.rules_]
    assert places == sorted(places)
    assert len(places) < len(model.rules_)
    assert simple.simplify(0).rules_ == simple.rules_  # what could go at no cost is gone


def test_a_simplified_model_falls_back_as_before():
    simple = classifier(ALL_FOUR, fallback="majority").simplify(0.6)
    assert boxes(simple) == [MIDDLE]
    assert simple.predict([[4.0], [0.0]]).tolist() == ["b", "b"]
    assert simple.simplify(0).rules_ == simple.rules_


@pytest.mark.slow
def test_a_thousand_rules_of_ten_thousand_rows_take_seconds():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(10_000, 5))
    y = (table[:, 0] + table[:, 1] > 0).astype(int)
    model = classifier(random_rules(rng, 1000, table), X=table, y=y)
    assert len(model.rules_) > 990
    start = time.perf_counter()
    simple = model.simplify(0.05)
    assert time.perf_counter() - start < 20  # 1 s on two cores
    assert len(simple.rules_) < 500


# --- views ------------------------------------------------------------------------------------------------------------


def test_the_model_reads_as_numbered_sentences():
    assert str(classifier([LEFT, RIGHT], fallback="majority")).splitlines() == [
        "2 rules, coverage 80 % of 10 rows; the first that covers a row decides.",
        "1. IF x0 <= 2.5 THEN a  (support 3, coverage 30 %, precision 1.00)",
        "2. IF x0 > 4.5 THEN b  (support 5, coverage 50 %, precision 0.80)",
        "ELSE majority",
    ]
    assert str(regressor([MIDDLE], fallback=LinearRegression())).splitlines() == [
        "1 rule, coverage 40 % of 10 rows; the first that covers a row decides.",
        "1. IF 2.5 < x0 <= 6.5 THEN y = 5  (support 4, coverage 40 %, MSE 1, MAE 1)",
        "ELSE LinearRegression",
    ]
    assert str(classifier([box()]).rules_[0]) == "ALWAYS b  (support 10, coverage 100 %, precision 0.60)"
    assert str(GlobalRulesClassifier()) == "GlobalRulesClassifier()"


def test_a_rule_is_a_value():
    one, two = classifier([LEFT]).rules_[0], classifier([LEFT]).rules_[0]
    assert isinstance(one, GlobalRule)
    assert one == two
    assert len({one, two}) == 1
    with pytest.raises(AttributeError, match="cannot assign"):
        one.output = "b"


def test_the_frame_has_a_line_for_each_rule():
    frame = classifier([LEFT, RIGHT]).to_frame()
    assert frame.columns.tolist() == ["rule", "output", "support", "coverage", "precision", "frequencies"]
    assert frame.iloc[1].tolist() == ["x0 > 4.5", "b", 5, 0.5, 0.8, {"a": 0.2, "b": 0.8}]
    frame = regressor([MIDDLE]).to_frame()
    assert frame.columns.tolist() == ["rule", "output", "support", "coverage", "precision", "std", "mse", "mae"]
    assert frame[["output", "std", "mse", "mae"]].to_numpy().tolist() == [[5.0, 1.0, 1.0, 1.0]]
    assert len(regressor([]).to_frame()) == 0


def run_sql(model, table):
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(f'"x{i}" REAL' for i in range(table.shape[1]))
    connection.execute(f"CREATE TABLE t (i INTEGER, {columns})")
    rows = [(i, *(None if math.isnan(v) else v for v in row)) for i, row in enumerate(table.tolist())]
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * (table.shape[1] + 1))})", rows)
    found = connection.execute(f"SELECT {model.to_sql()} FROM t ORDER BY i").fetchall()
    connection.close()
    return [value for (value,) in found]


def test_the_sql_is_one_case():
    text = classifier([LEFT, RIGHT]).to_sql()
    expected = """CASE WHEN "x0" <= 2.5e0 THEN 'a' WHEN "x0" > 4.5e0 THEN 'b' ELSE NULL END"""
    assert " ".join(text.split()) == expected
    assert classifier([]).to_sql() == "NULL"
    assert "THEN FALSE\n" in classifier([LEFT], y=Y == "b").to_sql()


@pytest.mark.parametrize("labels", [["it's", "\"q\" -- ''"], [0, -7], [False, True], [1.0, -2e15]])
def test_the_sql_says_what_predict_says(labels):
    rng = np.random.default_rng(3)
    table = np.round(rng.normal(size=(60, 3)), 2)
    table[rng.random(table.shape) < 0.2] = np.nan
    y = np.array(labels)[rng.integers(0, 2, size=60)]
    model = classifier(random_rules(rng, 6, table, missing=True), X=table, y=y)
    expected = model.predict(table).tolist()
    assert {None, *model.classes_.tolist()} == set(expected)
    assert run_sql(model, table) == expected


def test_the_sql_of_numbers_says_what_predict_says():
    rng = np.random.default_rng(3)
    table = np.round(rng.normal(size=(60, 3)), 2)
    y = 1e-6 * rng.normal(size=60)
    model = regressor(random_rules(rng, 6, table), X=table, y=y, min_precision=-INF)
    expected = model.predict(table)
    found = np.array(run_sql(model, table), dtype=float)
    assert 0 < np.isnan(expected).sum() < 60
    assert found == pytest.approx(expected, rel=1e-14, nan_ok=True)  # SQLite may misread the last bit


# --- wrong input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        (
            {"explainer": RandomForestClassifier()},
            TypeError,
            "`explainer` must be None or a SufficientExplainer, got Ra",
        ),
        ({"min_precision": 1.5}, ValueError, r"`min_precision` must be in \[0, 1\], got 1.5"),
        ({"min_precision": -0.1}, ValueError, r"`min_precision` must be in \[0, 1\], got -0.1"),
        ({"min_support": 0}, ValueError, "`min_support` must be a whole number >= 1, got 0"),
        ({"min_support": 1.5}, TypeError, "`min_support` must be a whole number >= 1, got 1.5"),
        ({"fallback": "mean"}, ValueError, "one of .'forest', 'majority'. or an estimator, got 'mean'"),
        ({"fallback": "forrest"}, ValueError, "Did you mean 'forest'?"),
        ({"fallback": 3}, TypeError, "`fallback` must be None, one of .* or an estimator, got 3"),
    ],
)
def test_wrong_parameters_are_refused(params, error, message):
    with pytest.raises(error, match=message):
        GlobalRulesClassifier(**params).fit(X, Y)
    with pytest.raises(error, match=message):
        classifier([LEFT], **params)


def test_a_regressor_knows_no_majority():
    with pytest.raises(ValueError, match=r"one of .'forest', 'mean'. or an estimator, got 'majority'"):
        regressor([LEFT], fallback="majority")
    with pytest.raises(ValueError, match="`min_precision` must be a number <= 1, got 2"):
        regressor([LEFT], min_precision=2)


@pytest.mark.parametrize("tolerance", [-0.1, 1.0])
def test_a_tolerance_out_of_range_is_refused(tolerance):
    with pytest.raises(ValueError, match=r"`tolerance` must be in \[0, 1\)"):
        classifier([LEFT]).simplify(tolerance)


def test_an_explainer_for_another_task_is_refused():
    with pytest.raises(ValueError, match="`explainer` has the task 'regression', GlobalRulesClassifier needs"):
        GlobalRulesClassifier(SufficientExplainer(task="regression")).fit(X, Y)
    with pytest.raises(ValueError, match="`task` is 'classification', but `forest` is for regression"):
        GlobalRulesClassifier(SufficientExplainer(ExtraTreesRegressor())).fit(X, Y)


def test_what_is_no_rule_is_refused(wide):
    with pytest.raises(TypeError, match="`rules` must hold Rule values or None, got 'x0 < 3'"):
        classifier(["x0 < 3"])
    with pytest.raises(ValueError, match=r"`X` has no column 'hours'. Did you mean 'hour'?"):
        classifier([box(0.0, column="hours")], X=wide[0], y=wide[1])


def test_other_columns_than_at_fit_are_refused(wide, fitted):
    with pytest.raises(ValueError, match=r"3 at fit: missing \['hour'\], unexpected \['h'\]"):
        fitted[0].predict(wide[0].rename(columns={"hour": "h"}))
    with pytest.raises(TypeError, match="Column 'temp' of `X` must hold numbers, got the text 'warm'"):
        fitted[0].predict(wide[0].assign(temp="warm"))


@pytest.mark.parametrize("model", [GlobalRulesClassifier(), GlobalRulesRegressor()])
@pytest.mark.parametrize("method", ["simplify", "to_frame", "to_sql"])
def test_a_model_that_is_not_fitted_says_so(model, method):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        getattr(model, method)()


# --- scikit-learn: all checks pass, so none is listed as an expected failure -----------------------------------------


@parametrize_with_checks(
    [
        GlobalRulesClassifier(SufficientExplainer(RandomForestClassifier(**SMALL), n_jobs=1), fallback="majority"),
        GlobalRulesRegressor(SufficientExplainer(RandomForestRegressor(**SMALL), n_jobs=1), fallback="mean"),
    ],
)
@pytest.mark.filterwarnings("ignore::suffice.FidelityWarning")  # the checks fit noise
def test_scikit_learn_finds_no_fault(estimator, check):
    check(estimator)


@pytest.mark.parametrize("as_frame", [True, False])
def test_explanations_bring_their_own_table(as_frame):
    X, y = load_breast_cancer(return_X_y=True, as_frame=as_frame)
    explainer = SufficientExplainer(RandomForestClassifier(5, random_state=0)).fit(X, y)
    explanations = explainer.explain(X[:60], sets="minimal")
    alone = GlobalRulesClassifier.from_explanations(explanations, fallback="majority")
    with_table = GlobalRulesClassifier.from_explanations(explanations, X, y, fallback="majority")
    assert alone.rules_ == with_table.rules_
    np.testing.assert_array_equal(alone.predict(X), with_table.predict(X))


def test_a_model_without_a_table_tells_what_it_needs():
    X, y = load_breast_cancer(return_X_y=True)
    explanations = SufficientExplainer(RandomForestClassifier(5, random_state=0)).fit(X, y).explain(X[:5])
    with pytest.raises(ValueError, match="Give `X` and `y`: only explanations know"):
        GlobalRulesClassifier.from_explanations(explanations.rules)
    with pytest.raises(ValueError, match="Give `X` and `y`, on which the fallback 'forest' is fitted"):
        GlobalRulesClassifier.from_explanations(explanations, fallback="forest")
