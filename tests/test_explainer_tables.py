"""Explanations of tables with numbers, booleans, categories, text and dates, from the table to the sentence."""

from __future__ import annotations

import re
import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from rentals import (
    BUSY,
    COLUMNS,
    FRAMES,
    LEVELS,
    N_ROWS,
    NAMES,
    NIGHT,
    ROWS,
    TARGETS,
    WHEN,
    WITHOUT_ORDER,
    as_array,
    as_pandas,
    as_polars,
    as_pyarrow,
    explain_dict,
    explainer_for,
    take,
)
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, Rule, SufficientExplainer
from suffice.explaining.rule import Condition

pytestmark = pytest.mark.filterwarnings("ignore:The forest follows the outcomes poorly")


@pytest.fixture(scope="module", params=["classification", "regression"])
def fitted(request):
    """The task, the explainer, and the explanations of some rows, with all rules."""
    explainer = explainer_for(request.param).fit(as_pandas(), TARGETS[request.param])
    return request.param, explainer, explainer.explain(take(as_pandas()), rules="all")


def some_rules(explanations):
    return list(dict.fromkeys(rule for explanation in explanations for rule in explanation.rules))


# --- an encoded table given back -------------------------------------------------------------------------------------


def test_what_encode_returned_stands_for_the_rows_that_it_was_made_of(fitted):
    """With ``unseen="missing"`` all categories in it counted as missing, without a word."""
    _, explainer, explanations = fitted
    rows = take(as_pandas())
    encoded = explainer.encode(rows)
    for given in (encoded, encoded.copy(), explainer.encode(encoded)):
        answers = explainer.explain(given, rules="all", unseen="missing")
        assert [answer.to_dict() for answer in answers] == [
            {name: value for name, value in expected.to_dict().items() if name != "id"} for expected in explanations
        ]
    assert explainer.predict(encoded[3:5]).tolist() == explainer.predict(rows[3:5]).tolist()
    assert str(explainer.reasons(encoded[:4])) == str(explainer.reasons(explainer.encode(rows[:4])))


def test_the_encoding_is_that_of_the_matrix_not_that_of_the_explainer():
    frame = pd.DataFrame({"size": pd.Categorical([3, 1, 2] * 60), "n": np.arange(180) % 7})
    y = (frame["size"].astype(int) == 2) & (frame["n"] > 2)
    first, second = (SufficientExplainer(random_state=0).fit(frame[::step], y[::step]) for step in (1, -1))
    assert first.predict(second.encode(frame)).tolist() == first.predict(frame).tolist()


def test_numbers_in_a_column_that_held_text_are_refused():
    frame = pd.DataFrame({"sky": ["rain", "clear", "mist"] * 60, "n": np.arange(180) % 7})
    explainer = SufficientExplainer(random_state=0, unseen="missing").fit(frame, frame["sky"] == "rain")
    plain = np.asarray(explainer.encode(frame[:6]))
    message = r"Column 'sky' of `X` holds the number \d\.0 \(row 0\), but held text at fit: pass the rows as they were"
    with pytest.warns(UserWarning, match="feature names"), pytest.raises(ValueError, match=message):
        explainer.explain(plain)
    plain[:, 0] = np.nan
    with pytest.warns(UserWarning, match="feature names"):
        assert len(explainer.explain(plain)) == 6  # missing values are no codes


def test_a_model_cannot_read_an_encoded_table():
    frame = pd.DataFrame({"sky": ["rain", "clear", "mist"] * 60, "n": np.arange(180) % 7})
    explainer = SufficientExplainer.for_model(lambda X: X["sky"] == "rain", frame, random_state=0)
    with pytest.raises(TypeError, match="`X` is what `encode` returned, which the model cannot read"):
        explainer.explain(explainer.encode(frame[:2]))


# --- the same table from every library -------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TARGETS)
def test_every_library_gives_the_same_explanations(task):
    expected = explain_dict(task, as_pandas())
    assert any(e["rules"] for e in expected["explanations"])
    for make in FRAMES.values():
        assert explain_dict(task, make()) == expected


@pytest.mark.parametrize("task", TARGETS)
def test_every_library_gives_the_same_rules(task):
    rules_by_library = []
    for make in FRAMES.values():
        X = make()
        rules_by_library.append(
            explainer_for(task, pi=0.6).fit(X, TARGETS[task]).rule(take(X), ["temp", "weather", "workingday"])
        )
    assert any(rule is not None for rule in rules_by_library[0])
    assert all(rules == rules_by_library[0] for rules in rules_by_library)


@pytest.mark.parametrize("task", TARGETS)
def test_an_array_of_objects_gives_the_same_explanations_but_for_the_names(task):
    names = list(WITHOUT_ORDER)
    numbered = {f"x{i}": values for i, values in enumerate(WITHOUT_ORDER.values())}
    frame = as_pandas(WITHOUT_ORDER).rename(columns=dict(zip(names, numbered, strict=True)))
    assert explain_dict(task, as_array(WITHOUT_ORDER)) == explain_dict(task, frame)
    rules = explainer_for(task, pi=0.6).fit(frame, TARGETS[task]).rule(take(frame), ["x0", "x3"])
    array = as_array(WITHOUT_ORDER)
    assert explainer_for(task, pi=0.6).fit(array, TARGETS[task]).rule(take(array), [0, 3]) == rules


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_table_of_another_library_may_be_explained(fitted, make):
    _, explainer, explanations = fitted
    again = explainer.explain(take(make()), rules="all")
    assert again.to_dict() == explanations.to_dict()
    assert list(map(str, again)) == list(map(str, explanations))
    np.testing.assert_array_equal(explainer.predict(make()), explainer.predict(as_pandas()))
    S = ["temp", "wind"]
    np.testing.assert_array_equal(explainer.sdp(make(), S), explainer.sdp(as_pandas(), S))


# --- laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_columns_may_come_in_another_order(fitted, make):
    _, explainer, explanations = fitted
    permuted = make({name: COLUMNS[name] for name in ["wind", "city", "temp", "weather", "workingday", "hour"]})
    assert explainer.explain(take(permuted), rules="all").to_dict() == explanations.to_dict()


def test_rows_in_another_order_have_the_same_explanations(fitted):
    _, explainer, explanations = fitted
    order = np.random.default_rng(1).permutation(len(ROWS))
    again = explainer.explain(take(as_pandas(), np.array(ROWS)[order]), rules="all")
    assert [e.to_dict() for e in again] == [explanations[int(i)].to_dict() for i in order]


@pytest.mark.parametrize("task", TARGETS)
def test_renamed_categories_are_renamed_in_the_explanations_and_no_more(task):
    new_name = {"clear": "z", "mist": "rain", "rain": "mist", "hail": "b", "fog": "a", None: None}
    renamed = {**COLUMNS, "weather": [new_name[label] for label in COLUMNS["weather"]]}
    old = explain_dict(task, as_pandas(), pi=0.6)
    new = explain_dict(task, as_pandas(renamed), pi=0.6)
    n_renamed = 0
    for before, after in zip(old["explanations"], new["explanations"], strict=True):
        for key in ("outcome", "interval", "sufficient_sets", "best_set", "importance"):
            assert before[key] == after[key]
        for one, other in zip(before["rules"], after["rules"], strict=True):
            for condition in one["conditions"]:
                if condition["column"] == "weather" and condition["labels"] is not None:
                    condition["labels"] = sorted(new_name[label] for label in condition["labels"])
                    n_renamed += 1
            assert one == other
    assert n_renamed > 0


@pytest.mark.parametrize("transform", [lambda x: 2 * x + 1, lambda x: x / 8 - 100, lambda x: 64 * x])
@pytest.mark.parametrize("task", TARGETS)
def test_a_rising_function_of_a_column_changes_nothing_but_its_ends(task, transform):
    """All numbers and the means of two numbers are exact in float32, so the forest splits the rows as before.

    The functions are linear, because others move the midpoint between two values: a split there could separate other
    rows than before.
    """
    frame = as_pandas()
    changed = frame.assign(temp=transform(frame["temp"] * 4))  # whole numbers
    frame = frame.assign(temp=frame["temp"] * 4)
    assert (changed["temp"].astype("float32").astype("float64") == changed["temp"])[frame["temp"].notna()].all()
    target = TARGETS[task]
    one = explainer_for(task).fit(frame, target).explain(frame.iloc[ROWS], rules="all")
    other = explainer_for(task).fit(changed, target).explain(changed.iloc[ROWS], rules="all")
    for e, f in zip(one, other, strict=True):
        assert e.sufficient_sets == f.sufficient_sets
        assert e.best_set == f.best_set
        for rule, twin in zip(e.rules, f.rules, strict=True):
            assert (rule.support, rule.sdp, rule.precision) == (twin.support, twin.sdp, twin.precision)
            assert rule.covers(frame).tolist() == twin.covers(changed).tolist()


# --- rules in the words of the user ----------------------------------------------------------------------------------


def test_a_rule_speaks_of_the_values_of_the_table(fitted):
    _, _, explanations = fitted
    texts = " ".join(map(str, some_rules(explanations)))
    assert re.search(r"weather (not )?in \{[a-z]+(, [a-z]+)*\}|weather !?= [a-z]+", texts)
    assert re.search(r"workingday = (yes|no)", texts)
    assert re.search(r"hour (>=|<=|<) [0-9]+", texts)
    assert not re.search(r"hour [<>=]+ [0-9]+\.|[0-9]+\.[0-9]+ <=? hour", texts)
    assert not re.search(r"workingday [<>]", texts)
    assert " is missing)" in texts


def test_the_rule_of_a_row_whose_value_is_missing_may_ask_for_just_that():
    label = np.array(["known"] * N_ROWS, dtype=object)
    label[[value is None for value in COLUMNS["weather"]]] = "missing"
    explainer = explainer_for(leaf=1).fit(as_pandas(), label)
    row = COLUMNS["weather"].index(None)
    [rule] = explainer.rule(as_pandas().iloc[[row]], ["weather"])
    assert str(rule).startswith("IF weather is missing THEN missing")
    assert rule.support == COLUMNS["weather"].count(None)
    [rule] = explainer.rule(as_pandas().iloc[[COLUMNS["weather"].index("mist")]], ["weather"])
    assert str(rule).startswith("IF weather is known THEN known")


def test_labels_of_rare_categories_are_all_that_are_not_named(of_rentals):
    frame = as_pandas()
    hail = frame["weather"].isin(["hail", "fog"])
    explainer = explainer_for(leaf=1).fit(frame, np.where(hail, "rare", "frequent"))
    [rule] = explainer.rule(frame[hail].iloc[:1], ["weather"])
    [condition] = rule.conditions
    assert condition.excluded
    assert condition.labels == ("clear", "mist", "rain")
    assert rule.covers(frame).tolist() == hail.tolist()
    assert rule.covers({"weather": ["sleet"]}).all()  # a label that was never seen is rare too


def test_a_rule_covers_its_support_in_every_language(fitted):
    _, _, explanations = fitted
    pandas, polars = as_pandas(), as_polars()
    for make in FRAMES.values():
        X = make()
        assert all(rule.covers(X).sum() == rule.support for rule in some_rules(explanations))
    database = sqlite3.connect(":memory:")
    pandas.astype({"wind": object, "city": object}).to_sql("rentals", database, index=False)
    for rule in some_rules(explanations):
        covered = rule.covers(pandas)
        assert len(pandas[covered]) == len(polars.filter(covered)) == rule.support
        counted = database.execute(f"SELECT COUNT(*) FROM rentals WHERE {rule.to_sql()}").fetchone()
        assert counted == (rule.support,)
    database.close()


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1.5, float("nan"), None]),
        pl.Series([1, None]),
        pl.Series([True, None]),
        pl.Series(["a", "nan", None]),
        pl.Series(["a", None], dtype=pl.Categorical),
        pl.Series(["a", None], dtype=pl.Enum(["a"])),
        pl.Series(WHEN).head(9),
    ],
    ids=lambda column: str(column.dtype),
)
def test_polars_knows_missing_values_of_every_kind(column):
    frame = pl.DataFrame({"a": column})
    for options in ({"missing": True, "values": False}, {"missing": False}):
        rule = Rule((Condition("a", **options),), "y", None, 1.0, 1, 1.0, 1.0, None, True, 1.0, False)
        covered = rule.covers(frame).tolist()
        assert covered == [(value is None or value != value) == options["missing"] for value in column]


def test_a_rule_covers_its_row(fitted):
    _, _, explanations = fitted
    for row, explanation in zip(ROWS, explanations, strict=True):
        assert all(rule.covers(as_pandas().iloc[[row]]).all() for rule in explanation.rules)


def test_a_rule_covers_a_row_beyond_the_training_values():
    """A row with 5 where the training table had 0 and 1 was not covered by its rule "x0 = 1"."""
    X = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
    explainer = explainer_for().fit(X, np.where(X[:, 0] > 0, "high", "low"))
    for value in (0.0, 1.0, 5.0, -3.0, 0.7, 0.3):
        rows = [[value, 0.0]]
        for check in ("rows", "everywhere"):
            [rule] = explainer.rule(rows, [0], check=check)
            assert rule.covers(rows).all()


def test_a_split_between_known_and_missing_categories_makes_no_condition():
    """The threshold of such a split may be the largest code; its condition excluded nothing, which raised an error."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        weather = rng.choice(["a", "b", "c", "r", "s", None], 70, p=[0.25, 0.25, 0.2, 0.1, 0.1, 0.1]).astype(object)
        X = pd.DataFrame({"weather": weather, "hour": np.where(rng.random(70) < 0.3, np.nan, rng.integers(0, 4, 70))})
        y = X["weather"].isna() * 3 + X["hour"].fillna(1) + rng.normal(size=70)
        explainer = explainer_for("regression", ExtraTreesRegressor, leaf=4, pi=0.6).fit(X, y)
        for check in ("rows", "everywhere"):
            rules = [rule for rule in explainer.rule(X, ["weather"], check=check) if rule is not None]
            assert len(rules) > 50
            for rule in rules:
                assert rule.covers(X).sum() == rule.support
                assert not any(c.is_trivial for c in rule.conditions)


@pytest.mark.parametrize(
    "labels",
    [pd.cut(np.tile([0.1, 0.9], 100), 2), pd.Categorical(pd.to_datetime(["2024-01-01", "2024-01-02"] * 100))],
    ids=["intervals", "dates"],
)
def test_categories_that_are_no_labels_are_explained(labels):
    """Fitting accepted them, and the first rule raised an error."""
    X = pd.DataFrame({"a": labels, "b": np.random.default_rng(0).normal(size=200)})
    explainer = explainer_for().fit(X, np.where(X["a"].cat.codes > 0, "high", "low"))
    [rule] = explainer.rule(X.iloc[:1], ["a"])
    assert rule.covers(X).sum() == rule.support == 100


# --- other columns, other categories ---------------------------------------------------------------------------------


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_columns_that_were_not_there_are_refused_unless_they_are_to_be_ignored(make):
    more = make({"snow": [1.0] * N_ROWS, **COLUMNS, "name": ["a"] * N_ROWS})
    explainer = explainer_for().fit(make(), BUSY)
    message = (
        "`X` has 8 columns, there were 6 at fit: missing [], unexpected ['snow', 'name']. With extra_columns='ignore'"
    )
    calls = [explainer.explain, explainer.predict, lambda X: explainer.sdp(X, ["temp"])]
    for call in calls:
        with pytest.raises(ValueError, match=re.escape(message)):
            call(take(more))
    expected = explainer.explain(take(make())).to_dict()
    explainer.set_params(extra_columns="ignore")
    assert explainer.explain(take(more)).to_dict() == expected


def test_a_column_that_is_not_there_is_missed(of_rentals):
    message = "`X` has 5 columns, there were 6 at fit: missing ['temp'], unexpected []."
    with pytest.raises(ValueError, match=re.escape(message)):
        of_rentals.explain(as_pandas().drop(columns="temp"))
    message = "missing ['temp'], unexpected ['tmp']. Did you mean 'tmp'?"
    with pytest.raises(ValueError, match=re.escape(message)):
        of_rentals.explain(as_pandas().rename(columns={"temp": "tmp"}))


@pytest.mark.parametrize("make", [as_polars, as_pyarrow], ids=["polars", "pyarrow"])
def test_an_unseen_category_is_refused_or_missing(make):
    new = make({**COLUMNS, "weather": ["rian", *COLUMNS["weather"][1:]]})
    explainer = explainer_for().fit(as_pandas(), BUSY)
    with pytest.raises(
        ValueError, match=re.escape("Column 'weather' of `X` holds 'rian' (row 0), which was not among")
    ):
        explainer.explain(take(new))
    with pytest.raises(ValueError, match=re.escape("Did you mean 'rain'? With unseen='missing' it counts as missing")):
        explainer.predict(new)
    explainer.set_params(unseen="missing")
    gap = make({**COLUMNS, "weather": [None, *COLUMNS["weather"][1:]]})
    assert explainer.explain(take(new)).to_dict() == explainer.explain(take(gap)).to_dict()


def test_a_declared_level_is_not_an_unseen_category(of_rentals):
    stormy = as_pandas().iloc[:3].assign(wind=pd.Categorical(["storm"] * 3, LEVELS, ordered=True))
    assert of_rentals.explain(stormy)[0].to_dict()["values"]["wind"] == "storm"


@pytest.mark.parametrize(("option", "value"), [("unseen", "ignore"), ("extra_columns", "drop"), ("dates", "hours")])
def test_an_unknown_word_is_refused(option, value):
    with pytest.raises(ValueError, match=rf"`{option}` must be one of \[.*\], got '{value}'"):
        explainer_for(**{option: value}).fit(as_pandas(), BUSY)


def test_a_fitted_forest_knows_no_categories():
    numbers = np.random.default_rng(0).normal(size=(N_ROWS, 6))
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(numbers, BUSY)
    message = (
        "Column 'weather' of `X` holds categories, but `forest` is fitted already: pass the numbers that it was fitted "
        "on, or a forest that is not fitted."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        SufficientExplainer(forest).fit(as_pandas(), BUSY)


@pytest.mark.parametrize("value", [1.5, 7, "same", True, None])
def test_a_column_that_is_always_the_same_is_in_no_sufficient_set(value):
    for make in (as_pandas, as_polars):
        X = make({**COLUMNS, "constant": [value] * N_ROWS})
        explanations = explainer_for().fit(X, BUSY).explain(take(X))
        assert "constant" in explanations.variable_names
        assert explanations.mean_importance()["constant"] == 0
        assert all("constant" not in str(rule) for rule in some_rules(explanations))
        assert explanations[0].to_dict()["values"]["constant"] == value


# --- groups and dates ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, int])
def test_the_columns_of_an_encoder_may_be_one_variable(dtype):
    encoded = pd.get_dummies(as_pandas(), columns=["weather", "city"], dtype=dtype)
    declared = {name: [column for column in encoded if column.startswith(f"{name}_")] for name in ("weather", "city")}
    explainer = explainer_for(groups=declared).fit(encoded, BUSY)
    assert explainer.variable_names_ == ("temp", "hour", "workingday", "wind", "weather", "city")
    row = encoded.iloc[[COLUMNS["weather"].index("rain")]]
    [rule] = explainer_for(groups=declared, pi=0.5).fit(encoded, BUSY).rule(row, ["weather", "temp"], y=None)
    assert {condition.column for condition in rule.conditions} <= {"temp", *declared["weather"]}
    assert rule.covers(encoded).sum() == rule.support


def dated(**more):
    return pd.DataFrame({"noise": np.random.default_rng(3).normal(size=N_ROWS), "when": WHEN, **more})


def test_dates_are_refused_unless_their_parts_are_asked_for():
    with pytest.raises(TypeError, match="Column 'when' of `X` holds dates: leave it out, or use its year, month, day"):
        explainer_for().fit(dated(), NIGHT)


@pytest.mark.parametrize(
    "convert", [lambda X: X, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pyarrow"]
)
def test_the_parts_of_a_date_are_one_variable(convert):
    X = convert(dated())
    explainer = explainer_for(dates="parts", leaf=1).fit(X, NIGHT)
    assert explainer.variable_names_ == ("noise", "when")
    explanations = explainer.explain(take(X))
    assert explanations[1].best_set.variables == ("when",)
    rule = explanations[1].rule
    assert {condition.column for condition in rule.conditions} == {"when"}
    assert {condition.part for condition in rule.conditions} <= {"year", "month", "day", "weekday", "hour"}
    assert "hour" in {condition.part for condition in rule.conditions}
    assert re.search(r"when\.hour (<|<=|>=|>|=) [0-9]+(?!\.)", str(rule))
    assert rule.covers(X).sum() == rule.support
    frame = dated()
    assert rule.covers(frame).sum() == rule.covers(pl.from_pandas(frame)).sum() == rule.support
    values = explanations[1].to_dict()["values"]
    date = WHEN[ROWS[1]]
    assert values["when.hour"] == date.hour
    assert values["when.weekday"] == date.strftime("%a")
    assert f"when (when.year = {date.year}, when.month = {date.month}" in str(explanations[1])


def test_a_group_may_hold_a_date():
    X = dated(shift=np.arange(N_ROWS) % 3)
    explainer = explainer_for(dates="parts", groups={"time": ["when", "shift"]}, leaf=1).fit(X, NIGHT)
    assert explainer.variable_names_ == ("noise", "time")
    [rule] = explainer.rule(X.iloc[[0]], ["time"])
    assert {condition.column for condition in rule.conditions} <= {"when", "shift"}
    assert rule.covers(X).sum() == rule.support
    with pytest.raises(ValueError, match=r"Column 'when\.hour' belongs to the variable 'time': name that instead"):
        explainer.sdp(X, ["when.hour"])


# --- frames of the kind that came in ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kind"), [(as_pandas, pd.DataFrame), (as_polars, pl.DataFrame), (as_pyarrow, pa.Table)]
)
@pytest.mark.parametrize("task", TARGETS)
def test_a_frame_of_explanations_is_of_the_kind_of_the_table(make, kind, task):
    X = make()
    explainer = explainer_for(task).fit(X, TARGETS[task])
    explanations = explainer.explain(take(X))
    sets, importance = explanations.to_frame(), explanations.to_frame("importance")
    assert isinstance(sets, kind)
    assert isinstance(importance, kind)
    assert importance.shape == (len(ROWS), len(NAMES))
    n_sets = sum(max(1, len(e.sufficient_sets)) for e in explanations)
    assert sets.shape == (n_sets, 13 if task == "classification" else 15)
    assert isinstance(
        explainer.explain(take(as_polars())).to_frame(), pl.DataFrame
    )  # as the rows, not the training table


def test_explanations_of_an_array_come_as_a_pandas_frame():
    X = as_array(WITHOUT_ORDER)
    assert isinstance(explainer_for().fit(X, BUSY).explain(take(X)).to_frame(), pd.DataFrame)


# --- global rules ----------------------------------------------------------------------------------------------------


MODELS = {"classification": GlobalRulesClassifier, "regression": GlobalRulesRegressor}


@pytest.mark.parametrize("task", TARGETS)
def test_global_rules_of_a_table_are_the_same_from_pandas_and_polars(task):
    models = [MODELS[task](explainer_for(task)).fit(make(), TARGETS[task]) for make in (as_pandas, as_polars)]
    assert models[0].rules_ == models[1].rules_
    assert len(models[0].rules_) > 1
    expected = models[0].predict(as_pandas())
    permuted = {name: COLUMNS[name] for name in reversed(NAMES)}
    for model in models:
        for make in (as_pandas, as_polars):
            np.testing.assert_array_equal(model.predict(make(permuted)), expected)
        assert model.score(as_polars(permuted), TARGETS[task]) > 0.5


@pytest.mark.parametrize("make", [as_pandas, as_polars])
@pytest.mark.parametrize("task", TARGETS)
def test_explanations_know_the_table_on_which_global_rules_are_measured(task, make):
    X, y = make(), TARGETS[task]
    explanations = explainer_for(task).fit(X, y).explain(take(X))
    known = MODELS[task].from_explanations(explanations)
    with_table = MODELS[task].from_explanations(explanations, X, y)
    assert known.rules_ == with_table.rules_
    assert len(known.rules_) > 0
    assert known.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(known.predict(X), with_table.predict(X))


# --- rules that hold everywhere --------------------------------------------------------------------------------------


def points_inside(rule, n_points):
    """Random rows of the printed rule: values of the table, and numbers between and beyond them."""
    rng = np.random.default_rng(7)
    points = pd.DataFrame(
        {
            "temp": np.where(rng.random(n_points) < 0.1, np.nan, rng.uniform(-20, 40, n_points)),
            "hour": np.where(rng.random(n_points) < 0.1, np.nan, rng.integers(-3, 30, n_points)),
            "workingday": rng.choice(np.array([True, False, None], dtype=object), n_points),
            "weather": rng.choice(np.array(["clear", "mist", "rain", "hail", "fog", None], dtype=object), n_points),
            "wind": pd.Categorical(rng.choice(np.array([*LEVELS, None], dtype=object), n_points), LEVELS, ordered=True),
            "city": pd.Categorical(rng.choice(np.array(["Oslo", "Lima", "Bern", None], dtype=object), n_points)),
        }
    )
    for condition in rule.conditions:  # else few points would lie in a small box
        if condition.column == "temp" and condition.values:
            low, high = max(condition.low, -20), min(condition.high, 40)
            points["temp"] = rng.uniform(low, high, n_points)
            points.loc[:1, "temp"] = [low, high]
        if condition.column == "hour" and condition.values:
            points["hour"] = rng.integers(int(max(condition.low, -3)), int(min(condition.high, 30)) + 1, n_points)
    return points[rule.covers(points)]


@pytest.mark.parametrize("task", TARGETS)
def test_a_rule_that_holds_everywhere_keeps_the_outcome_at_every_point(task):
    explainer = explainer_for(task, pi=0.7, radius=30.0 if task == "regression" else None).fit(
        as_pandas(), TARGETS[task]
    )
    X = take(as_pandas())
    n_points = 0
    for S in (["temp", "hour"], ["temp", "weather", "workingday"], ["hour", "wind", "city", "temp"]):
        for row, rule in enumerate(explainer.rule(X, S, check="everywhere")):
            if rule is None or not rule.everywhere:
                continue
            inside = points_inside(rule, 200)
            n_points += len(inside)
            if len(inside):
                y = np.repeat(np.array([rule.outcome]), len(inside))
                assert explainer.sdp(inside, S, y).min() >= 0.7 - 1e-9, (row, str(rule))
    assert n_points > 500
