"""Rules as values: what they cover, in Python, SQL, pandas and polars, and how they read."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import re
import sqlite3
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, event, example, given, settings
from hypothesis import strategies as st

from suffice.rules import Condition, Rule, parse_conditions, round_end, round_whole_end

NAN, INF = math.nan, math.inf
MAX32 = float(np.finfo(np.float32).max)
TINY32 = 2.0**-149  # the smallest positive float32
HOUR = Condition("hour", low=5.5)
WORK = Condition("workingday", high=0.5)
TEMP = Condition("temp", 3.0, 7.0)


def rule(*conditions, **changes):
    plain = {"outcome": "malignant", "interval": None, "sdp": 0.94, "support": 12, "coverage": 0.012, "precision": 1.0}
    proof = {"mae": None, "optimal": True, "bound": 12.0, "everywhere": False}
    return Rule(conditions, **{**plain, **proof, **changes})


def counted(*conditions, **changes):
    return rule(*conditions, **{"outcome": 20.0, "interval": (12.0, 31.0), "mae": 4.2, "target": "count", **changes})


# --- drawn by hypothesis ---------------------------------------------------------------------------------------------

PLAIN = ["hour", "hour2", "temp", "temp max", "a.b", "a=b", "é", "日本", "class", "it's", "index", "Temp_2"]
ODD = [
    "*",
    "^a$",
    "^.*$",
    "$",
    "",
    " ",
    '"',
    '""',
    "`",
    "\\",
    "a\nb",
    "\t",
    "x AND y",
    "3 < z",
    "z <= 3",
    "5",
    "or missing",
]
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
NAMES = st.one_of(st.sampled_from(PLAIN), st.sampled_from(ODD), TEXT)
# Few enough digits for SQLite: of 20000 doubles with 17 digits, its version 3.40 misread 45 by a bit.
ROUND = st.one_of(
    st.integers(-9, 9).map(float), st.sampled_from([0.1, -0.3, 5.5, 1e-07, 12345.678, -1e15, 1e22, 2.5e-05])
)
FINITE = st.one_of(ROUND, st.floats(allow_nan=False, allow_infinity=False))
WORDS = ["clear", "light rain", "a, b", "it's", 'say "so"', "", "3", "True", "x AND y", "or missing", "{", "日本", " a"]
LABELS = [st.one_of(st.sampled_from(WORDS), TEXT), st.booleans(), st.integers(-9, 9)]


@st.composite
def conditions_on(draw, column, numbers=FINITE):
    kind = draw(st.sampled_from(["missing", "known", "low", "high", "both", "both", "one", "labels", "labels"]))
    if kind == "labels":
        labels = draw(st.sampled_from(LABELS).flatmap(lambda known: st.lists(known, min_size=1, max_size=4)))
        return Condition(column, labels=labels, excluded=draw(st.booleans()), missing=draw(st.booleans()))
    if kind in ("missing", "known"):
        return Condition(column, missing=kind == "missing", values=kind == "known")
    low, high = sorted([draw(numbers), draw(numbers)])
    closed = {"low_closed": draw(st.booleans()), "high_closed": draw(st.booleans())}
    if kind == "one":
        low, closed = high, {"low_closed": True, "high_closed": True}
    elif kind != "both":
        low, high = (low, INF) if kind == "low" else (-INF, high)
    elif math.nextafter(low, INF) >= high:
        closed = {"low_closed": True, "high_closed": True}
    return Condition(column, low, high, **closed, missing=draw(st.booleans()))


@st.composite
def rules(draw, names=NAMES, numbers=FINITE):
    columns = draw(st.lists(names, max_size=4, unique_by=str.casefold))
    conditions = [draw(conditions_on(column, numbers)) for column in columns]
    shares = st.floats(0, 1)
    if draw(st.booleans()):
        kind = {"outcome": draw(st.one_of(st.integers(), st.text(), st.booleans(), st.floats(allow_nan=False)))}
    else:
        low, high = sorted([draw(numbers), draw(numbers)])
        kind = {"outcome": low, "interval": (low, draw(st.sampled_from([high, INF]))), "mae": draw(st.floats(0, 9))}
    numbers_of = {"sdp": draw(shares), "coverage": draw(shares), "precision": draw(st.one_of(st.none(), shares))}
    proof = {
        "optimal": draw(st.booleans()),
        "bound": draw(st.sampled_from([3.0, INF])),
        "everywhere": draw(st.booleans()),
    }
    return rule(*conditions, **kind, **numbers_of, **proof, support=draw(st.integers(0, 99)), target=draw(NAMES))


@st.composite
def rules_with_tables(draw, names=NAMES, numbers=FINITE):
    """A rule, and a dict of columns whose values are the rule's own ends, numbers beside them, or missing."""
    drawn = draw(rules(names, numbers))
    n_rows = draw(st.integers(1, 8))
    table = {"another": draw(st.lists(st.sampled_from([0.0, NAN]), min_size=n_rows, max_size=n_rows))}
    for condition in drawn.conditions:
        if condition.labels is not None:
            others = {str: ["clear", "other", "3"], bool: [True, False], int: [0, 3]}[type(condition.labels[0])]
            values = st.sampled_from([*condition.labels, *condition.labels, *others, None])
            table[condition.column] = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
            continue
        ends = [end for end in (condition.low, condition.high) if math.isfinite(end)]
        beside = [math.nextafter(end, to) for end in ends for to in (-INF, INF)]
        values = st.sampled_from([*ends, *ends, *beside, 0.0, NAN, INF, -INF])
        table[condition.column] = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
    return drawn, table


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_satisfied(condition, value):
    if is_missing(value):
        return condition.missing
    if condition.labels is not None:
        return (value not in condition.labels) if condition.excluded else (value in condition.labels)
    above = condition.low == -INF or value > condition.low or (condition.low_closed and value == condition.low)
    below = condition.high == INF or value < condition.high or (condition.high_closed and value == condition.high)
    return condition.values and above and below


def covered_rows(drawn, table):
    n_rows = len(table["another"])
    return [i for i in range(n_rows) if all(is_satisfied(c, table[c.column][i]) for c in drawn.conditions)]


def polars_frame(table, missing):
    """The table with null or NaN for the missing values of each column."""
    types = {name: next((type(v) for v in values if not is_missing(v)), float) for name, values in table.items()}
    columns = {
        name: [(missing[name] if types[name] is float else None) if is_missing(v) else v for v in values]
        for name, values in table.items()
    }
    of_type = {float: pl.Float64, str: pl.String, bool: pl.Boolean, int: pl.Int64}
    return pl.DataFrame(columns, schema={name: of_type[types[name]] for name in table})


def unused_name(table):
    return "k" * (1 + max(len(name) for name in table))


def rows_of(covered):
    assert covered.dtype == np.bool_
    return np.flatnonzero(covered).tolist()


# --- conditions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "covered"),
    [
        (Condition("x", 1.0, 3.0), [False, False, True, True, False, False]),
        (Condition("x", 1.0, 3.0, low_closed=True), [False, True, True, True, False, False]),
        (Condition("x", 1.0, 3.0, high_closed=False), [False, False, True, False, False, False]),
        (Condition("x", 1.0, 3.0, missing=True), [False, False, True, True, False, True]),
        (Condition("x", low=1.0), [False, False, True, True, True, False]),
        (Condition("x", high=1.0), [True, True, False, False, False, False]),
        (Condition("x"), [True, True, True, True, True, False]),
        (Condition("x", missing=True), [True] * 6),
        (Condition("x", missing=True, values=False), [False, False, False, False, False, True]),
    ],
)
def test_a_condition_covers_the_values_between_its_ends(condition, covered):
    values = [-INF, 1.0, 2.0, 3.0, INF, NAN]
    assert condition.covers(values).tolist() == covered
    assert condition.covers(np.array(values)).tolist() == covered
    assert condition.covers(pd.Series(values, dtype="Float64")).tolist() == covered
    assert condition.covers([[value] for value in values]).tolist() == [[one] for one in covered]
    assert condition.is_trivial is all(covered)


def test_values_are_compared_as_float64():
    """0.1 as float32 is a little more than 0.1."""
    assert not Condition("x", high=0.1).covers(np.array([0.1], dtype=np.float32))[0]
    assert Condition("x", high=0.1).covers(np.array([0.1]))[0]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"column": 3}, TypeError, "`column` must be the name of a column, got 3."),
        ({"low": NAN}, ValueError, "`low` must be a number, got nan."),
        ({"high": NAN}, ValueError, "`high` must be a number, got nan."),
        ({"low": "1"}, TypeError, "`low` must be a number, got '1'."),
        ({"high": None}, TypeError, "`high` must be a number, got None."),
        ({"values": False}, ValueError, "Nothing satisfies the condition on 'x': allow `values` or `missing`."),
        (
            {"values": False, "missing": True, "low": 1.0},
            ValueError,
            "The condition on 'x' allows no values: give it no",
        ),
        ({"low": 2.0, "high": 1.0}, ValueError, "No number satisfies the condition on 'x': {"),
        ({"low": 1.0, "high": 1.0}, ValueError, "No number satisfies the condition on 'x': {"),
        ({"low": 1.0, "high": 1.0, "low_closed": True, "high_closed": False}, ValueError, "No number satisfies"),
        ({"low": 1.0, "high": math.nextafter(1.0, 2.0), "high_closed": False}, ValueError, "No number satisfies"),
        ({"low": INF}, ValueError, "No number satisfies the condition on 'x': {"),
        ({"low": INF, "low_closed": True}, ValueError, "No number satisfies the condition on 'x': {"),
        ({"high": -INF}, ValueError, "No number satisfies the condition on 'x': {"),
    ],
)
def test_a_condition_that_makes_no_sense_is_refused(changes, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Condition(**{"column": "x", **changes})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Condition("x", -INF, 1.0, low_closed=True), Condition("x", high=1.0)),
        (Condition("x", 1.0, INF, high_closed=False), Condition("x", low=1.0)),
        (Condition("x", -0.0), Condition("x", 0.0)),
        (Condition("x", high=-0.0), Condition("x", high=0.0)),
        (Condition("x", np.float32(0.5), 2, missing=np.bool_(True)), Condition("x", 0.5, 2.0, missing=True)),
    ],
)
def test_conditions_that_the_same_values_satisfy_are_equal(one, other):
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == repr(other)


# --- what a rule covers ----------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(rules_with_tables())
def test_a_rule_covers_the_rows_that_a_plain_loop_finds(drawn_and_table):
    drawn, table = drawn_and_table
    expected = covered_rows(drawn, table)
    array = np.array(list(table.values()), dtype=object).T
    assert rows_of(drawn.covers(table)) == expected
    assert rows_of(drawn.covers(array, column_names=list(table))) == expected
    assert rows_of(drawn.covers(pd.DataFrame(table))) == expected
    for missing in (None, NAN):
        assert rows_of(drawn.covers(polars_frame(table, dict.fromkeys(table, missing)))) == expected


def test_the_columns_of_an_array_without_names_are_numbered():
    assert rule(Condition("x1", low=2.0)).covers([[9, 1], [0, 3]]).tolist() == [False, True]
    # scikit-learn gives no names to such a frame, so neither does the explainer.
    assert rule(Condition("x1", low=2.0)).covers(pd.DataFrame([[9, 1], [0, 3]])).tolist() == [False, True]


@pytest.mark.parametrize(
    "X", [np.empty((3, 2)), pd.DataFrame({"a": [1, 2, 3]}), pl.DataFrame({"a": [1, 2, 3]}), {"a": list("abc")}]
)
def test_a_rule_without_conditions_covers_every_row(X):
    assert rule().covers(X).tolist() == [True, True, True]
    assert rule().covers({}).tolist() == []


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None, 0], dtype="Int64"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([1.0, None, 0.0], dtype="float32"),
        pd.Series([1, None, 0], dtype=object),
    ],
    ids=lambda column: str(column.dtype),
)
def test_missing_values_of_any_kind_of_column_are_missing(column):
    frame = pd.DataFrame({"x": column})
    polars_frame = pl.DataFrame(
        {
            "x": [
                None if value is None or value != value else value
                for value in column.astype(object).where(column.notna(), None)
            ]
        }
    )
    for drawn, expected in [
        (rule(Condition("x", low=0.5)), [0]),
        (rule(Condition("x", low=0.5, missing=True)), [0, 1]),
        (rule(Condition("x", missing=True, values=False)), [1]),
        (rule(Condition("x")), [0, 2]),
    ]:
        assert rows_of(drawn.covers(frame)) == expected
        assert rows_of(drawn.covers(polars_frame)) == expected
        assert frame.query(drawn.to_pandas_query()).index.tolist() == expected
        assert polars_frame.with_row_index("row").filter(drawn.to_polars())["row"].to_list() == expected


@pytest.mark.parametrize(
    ("X", "column_names", "error", "message"),
    [
        ({"hours": [1.0]}, None, ValueError, "`X` has no column 'hour'. Did you mean 'hours'?"),
        (pd.DataFrame({"hours": [1.0]}), None, ValueError, "`X` has no column 'hour'. Did you mean 'hours'?"),
        (pl.DataFrame({"wind": [1.0]}), None, ValueError, "`X` has no column 'hour'."),
        ([[1.0]], None, ValueError, "`X` has no column 'hour'."),
        (
            pd.DataFrame([[1, 2]], columns=["hour", "hour"]),
            None,
            ValueError,
            "`X` has two columns named 'hour'; rename",
        ),
        ([[1, 2]], ["hour", "hour"], ValueError, "`X` has two columns named 'hour'; rename one."),
        ([[1.0, 2.0]], ["hour"], ValueError, "`column_names` has 1 names for the 2 columns of `X`."),
        ([1.0, 2.0], ["hour"], ValueError, "`X` must be a table, got shape (2,); for one row, give it as [row]."),
        ({"hour": [1.0]}, ["hour"], ValueError, "`column_names` are for an array: the columns of this `X` have names."),
        (
            {"a": [1.0, 2.0], "hour": [1.0]},
            None,
            ValueError,
            "Column 'hour' of `X` must have 2 values, got shape (1,).",
        ),
        ({"hour": ["noon"]}, None, TypeError, "Column 'hour' of `X` must hold numbers, got the text 'noon' (row 0)."),
        (
            pd.DataFrame({"hour": ["noon"]}),
            None,
            TypeError,
            "Column 'hour' of `X` must hold numbers, got the text 'noon' (row 0).",
        ),
        (
            pl.DataFrame({"hour": ["noon"]}),
            None,
            TypeError,
            "Column 'hour' of `X` must hold numbers, got the text 'noon' (row 0).",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused(X, column_names, error, message):
    with pytest.raises(error, match=re.escape(message)):
        rule(HOUR).covers(X, column_names)


# --- SQL, pandas, polars ---------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(rules_with_tables(numbers=ROUND))
def test_sql_selects_the_rows_that_the_rule_covers(drawn_and_table):
    drawn, table = drawn_and_table
    key = unused_name(table)
    quoted = ['"' + name.replace('"', '""') + '"' for name in [key, *table]]
    rows = zip(range(99), *table.values(), strict=False)
    database = sqlite3.connect(":memory:")
    try:
        database.execute(f"CREATE TABLE rows ({', '.join(quoted)})")
        stored = [[None if is_missing(value) else value for value in row] for row in rows]
        database.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(quoted))})", stored)
        found = database.execute(f"SELECT {key} FROM rows WHERE {drawn.to_sql()} ORDER BY {key}").fetchall()
    finally:
        database.close()
    assert [int(row) for (row,) in found] == rows_of(drawn.covers(table))


@pytest.mark.parametrize(
    ("conditions", "sql"),
    [
        ((), "1 = 1"),
        ((HOUR, TEMP), '"hour" > 5.5e0 AND "temp" > 3.0e0 AND "temp" <= 7.0e0'),
        ((Condition("x", 0.1, 1e22, low_closed=True, high_closed=False),), '"x" >= 0.1e0 AND "x" < 1e+22'),
        (
            (Condition('a "b"', high=-2.0, missing=True), WORK),
            '("a ""b""" <= -2.0e0 OR "a ""b""" IS NULL) AND "workingday" <= 0.5e0',
        ),
        ((Condition("x", 1.0, 2.0, missing=True),), '("x" > 1.0e0 AND "x" <= 2.0e0 OR "x" IS NULL)'),
        ((Condition("x"),), '"x" IS NOT NULL'),
        ((Condition("x", missing=True, values=False),), '"x" IS NULL'),
        ((Condition("x", labels=("b", "it's")),), "\"x\" IN ('b', 'it''s')"),
        ((Condition("x", labels=(True,), excluded=True, missing=True),), '("x" NOT IN (TRUE) OR "x" IS NULL)'),
        ((Condition("x", low=6, low_closed=True, part="hour"),), 'EXTRACT(HOUR FROM "x") >= 6.0e0'),
        ((Condition("x", labels=("Sat", "Mon"), part="weekday"),), 'EXTRACT(ISODOW FROM "x") IN (1, 6)'),
    ],
)
def test_sql_worked_out_by_hand(conditions, sql):
    assert rule(*conditions).to_sql() == sql


@settings(max_examples=200, deadline=None)
@given(rules_with_tables())
def test_a_pandas_query_selects_the_rows_that_the_rule_covers(drawn_and_table):
    drawn, table = drawn_and_table
    try:
        query = drawn.to_pandas_query()
    except ValueError as error:
        event("refused")
        assume("A pandas query cannot name the column" not in str(error))
        raise
    assert pd.DataFrame(table).query(query).index.tolist() == rows_of(drawn.covers(table))


@pytest.mark.parametrize(
    "name", ["hour", "temp max", "a.b", "a=b", "é", "日本", "class", "index", "True", "1", "", "sin"]
)
def test_a_pandas_query_can_name_most_columns(name):
    frame = pd.DataFrame({name: [1.0, 2.0, NAN]})
    assert frame.query(rule(Condition(name, low=1.0)).to_pandas_query()).index.tolist() == [1]
    assert frame.query(rule(Condition(name, high=1.0, missing=True)).to_pandas_query()).index.tolist() == [0, 2]


@pytest.mark.parametrize("name", ["a\nb", "\t", "ﬁ", "inf", "__pd_eval_local_a"])
def test_a_name_that_a_pandas_query_cannot_hold_is_refused(name):
    message = f"A pandas query cannot name the column {name!r}: rename it, or use frame[rule.covers(frame)]."
    with pytest.raises(ValueError, match=re.escape(message)):
        rule(HOUR, Condition(name, low=1.0)).to_pandas_query()


def test_names_that_pandas_takes_for_the_same_are_refused():
    with pytest.raises(ValueError, match=r"A pandas query cannot name the column 'a \(b\)': rename it"):
        rule(Condition("a (b)", low=1.0), Condition("a_(b)", high=2.0)).to_pandas_query()


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, 2]}),
        pd.DataFrame({"index": [1, NAN]}),
        pd.DataFrame({"a": [1, 2]}, index=[NAN, NAN]),
        pd.DataFrame({"a": [1, 2]}, index=pd.MultiIndex.from_tuples([(1, 2), (1, 3)])),
        pd.DataFrame({"a": [1, 2]}, index=["x", "y"]),
    ],
)
def test_a_pandas_query_without_conditions_selects_every_row(frame):
    assert len(frame.query(rule().to_pandas_query())) == 2


@settings(max_examples=200, deadline=None)
@given(rules_with_tables(), st.data())
def test_a_polars_expression_selects_the_rows_that_the_rule_covers(drawn_and_table, data):
    drawn, table = drawn_and_table
    expected = covered_rows(drawn, table)
    key = unused_name(table)
    missing = {name: data.draw(st.sampled_from([None, NAN])) for name in table}
    frame = polars_frame(table, missing).with_columns(pl.Series(key, range(len(table["another"]))))
    assert frame.filter(drawn.to_polars())[key].to_list() == expected
    others = frame.filter(~drawn.to_polars())[key].to_list()  # null would be in neither
    assert sorted(expected + others) == frame[key].to_list()


def test_float32_columns_are_compared_as_float64_everywhere():
    values = np.array([0.1, 0.05], dtype=np.float32)
    drawn = rule(Condition("x", high=0.1))
    assert drawn.covers({"x": values}).tolist() == [False, True]
    assert pd.DataFrame({"x": values}).query(drawn.to_pandas_query()).index.tolist() == [1]
    assert pl.DataFrame({"x": values}).filter(drawn.to_polars())["x"].to_list() == [values[1]]


@pytest.mark.parametrize(("module", "method"), [("pandas", "to_pandas_query"), ("polars", "to_polars")])
def test_a_library_that_is_not_there_is_named(monkeypatch, module, method):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=f"`{method}` needs {module}: pip install {module}."):
        getattr(rule(HOUR), method)()


# --- values ----------------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(rules())
def test_a_rule_comes_back_from_json_as_it_was(drawn):
    text = (
        json.dumps(drawn.to_dict(), allow_nan=False)
        if drawn.outcome not in (INF, -INF)
        else json.dumps(drawn.to_dict())
    )
    back = Rule.from_dict(json.loads(text))
    assert back == drawn
    assert hash(back) == hash(drawn)
    assert repr(back) == repr(drawn)
    assert type(back.outcome) is type(drawn.outcome)
    assert pickle.loads(pickle.dumps(drawn)) == drawn


def test_a_rule_as_a_dictionary():
    x = Condition("x", high=2.0, missing=True)
    assert counted(x, bound=INF).to_dict() == {
        "conditions": [
            {
                "column": "x",
                "low": None,
                "high": 2.0,
                "low_closed": False,
                "high_closed": True,
                "missing": True,
                "values": True,
                "labels": None,
                "excluded": False,
                "part": None,
            }
        ],
        "outcome": 20.0,
        "interval": [12.0, 31.0],
        "sdp": 0.94,
        "support": 12,
        "coverage": 0.012,
        "precision": 1.0,
        "mae": 4.2,
        "optimal": True,
        "bound": None,
        "everywhere": False,
        "target": "count",
    }


def test_a_dictionary_of_other_fields_is_refused():
    values = rule(HOUR).to_dict()
    message = "These are not the fields of a rule: missing ['sdp'], unexpected ['spd']."
    with pytest.raises(ValueError, match=re.escape(message)):
        Rule.from_dict({("spd" if name == "sdp" else name): value for name, value in values.items()})
    del values["conditions"][0]["low"]
    with pytest.raises(
        ValueError, match=r"These are not the fields of a condition: missing \['low'\], unexpected \[\]."
    ):
        Rule.from_dict(values)


def test_numpy_values_become_plain_ones():
    drawn = rule(HOUR, outcome=np.int64(3), sdp=np.float64(0.5), support=np.int32(4), optimal=np.bool_(True))
    assert drawn == rule(HOUR, outcome=3, sdp=0.5, support=4)
    assert [type(value) for value in (drawn.outcome, drawn.sdp, drawn.support, drawn.optimal)] == [
        int,
        float,
        int,
        bool,
    ]
    assert type(rule(outcome=np.str_("a")).outcome) is str
    assert counted(interval=[np.float32(1.5), 2]).interval == (1.5, 2.0)
    assert rule(*[HOUR, TEMP]) == dataclasses.replace(rule(), conditions=[HOUR, TEMP])


def test_rules_are_equal_by_value():
    assert rule(HOUR, TEMP) == rule(Condition("hour", 5.5), Condition("temp", 3, 7))
    assert len({rule(HOUR), rule(Condition("hour", 5.5)), rule(TEMP)}) == 2
    assert rule(HOUR) != rule(HOUR, sdp=0.95)
    assert rule(HOUR) != rule(Condition("hour", 5.5, low_closed=True))
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'sdp'"):
        rule(HOUR).sdp = 1.0


@pytest.mark.parametrize(
    ("conditions", "changes", "message"),
    [
        ((HOUR, Condition("hour", 7.0)), {}, "A rule has one condition for a column, got two on 'hour'."),
        ((Condition("x", missing=True),), {}, "The condition on 'x' excludes nothing: leave it out."),
        ((), {"interval": (2.0, 1.0)}, "`interval` must be (low, high) with low <= high, got (2.0, 1.0)."),
        ((), {"interval": (NAN, 1.0)}, "`interval` must be (low, high) with low <= high, got (nan, 1.0)."),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(conditions, changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        rule(*conditions, **changes)


# --- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (HOUR, "hour > 5.5"),
        (WORK, "workingday <= 0.5"),
        (TEMP, "3 < temp <= 7"),
        (Condition("temp", 3.0, 7.0, low_closed=True, high_closed=False), "3 <= temp < 7"),
        (Condition("temp", 3.0, low_closed=True), "temp >= 3"),
        (Condition("temp", high=3.0, high_closed=False), "temp < 3"),
        (Condition("temp", 3.0, 3.0, low_closed=True), "temp = 3"),
        (Condition("income", high=2000.0, missing=True), "income <= 2000 or missing"),
        (Condition("income", 3.0, 7.0, missing=True), "3 < income <= 7 or missing"),
        (Condition("income", missing=True, values=False), "income is missing"),
        (Condition("income"), "income is known"),
        (Condition("x", 0.1345, 123456.75), "0.1345 < x <= 123456.75"),
        (Condition("x", -1e-07, 1e22), "-1e-07 < x <= 1e+22"),
        (Condition("x", low=-0.0), "x > 0"),
        (Condition("x", low=100000.0), "x > 100000"),
        (Condition("x", low=0.1 + 0.2), "x > 0.30000000000000004"),
        (Condition("x", labels=("mist", "clear")), "x in {clear, mist}"),
        (Condition("x", labels=("light rain",)), "x = light rain"),
        (Condition("x", labels=("snow",), excluded=True), "x != snow"),
        (Condition("x", labels=("snow", "rain"), excluded=True, missing=True), "x not in {rain, snow} or missing"),
        (Condition("x", labels=(True,)), "x = True"),
        (Condition("x", labels=(2, 1)), "x in {1, 2}"),
        (Condition("x", labels=(2,)), "x in {2}"),
        (Condition("x", labels=("2",)), 'x = "2"'),
        (Condition("x", labels=("a, b", 'say "so"')), 'x in {"a, b", "say \\"so\\""}'),
        (Condition("x", low=6, low_closed=True, part="hour"), "x.hour >= 6"),
        (Condition("x", labels=("Sun", "Sat"), part="weekday"), "x.weekday in {Sat, Sun}"),
    ],
)
def test_a_condition_reads_like_this(condition, text):
    assert str(condition) == text
    assert parse_conditions(f"IF {text}", ["hour", "workingday", "temp", "income", "x"]) == (condition,)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (
            counted(HOUR, WORK, TEMP),
            "IF hour > 5.5 AND workingday <= 0.5 AND 3 < temp <= 7 THEN count in [12, 31]  (coverage 1.2 %, SDP 0.94)",
        ),
        (rule(HOUR, sdp=0.899), "IF hour > 5.5 THEN malignant  (coverage 1.2 %, SDP 0.89)"),
        (rule(outcome=1, coverage=1.0), "ALWAYS 1  (coverage 100 %, SDP 0.94)"),
        (counted(target="y", interval=(0.25, 1e6)), "ALWAYS y in [0.25, 1000000]  (coverage 1.2 %, SDP 0.94)"),
        (
            rule(Condition("income", missing=True, values=False), TEMP, optimal=False, everywhere=False),
            "IF income is missing AND 3 < temp <= 7 THEN malignant  (coverage 1.2 %, SDP 0.94)",
        ),
    ],
)
def test_a_rule_reads_like_this(written, text):
    assert str(written) == text
    assert written.sentence == text.split("  (coverage")[0]


@pytest.mark.parametrize(
    ("coverage", "text"),
    [
        (1.0, "100"),
        (0.9999, "99"),
        (0.987, "99"),
        (0.5, "50"),
        (0.29, "29"),
        (0.126, "13"),
        (0.0126, "1.3"),
        (0.01, "1"),
        (0.00123, "0.12"),
        (1e-6, "0.0001"),
        (1.26e-8, "0.0000013"),
        (0.0, "0"),
    ],
)
def test_coverage_has_two_digits_and_is_0_or_100_for_no_or_all_rows_only(coverage, text):
    assert f"(coverage {text} %, SDP" in str(rule(coverage=coverage))


@settings(max_examples=300, deadline=None)
@given(rules(names=st.sampled_from([*PLAIN, "", "x AND y", "or", "is known", "IF", "THEN", "5", "-3", "a < b"])))
@example(rule(Condition("temp", 1.0), Condition("temp max", 2.0)))
@example(rule(Condition("a < b", 1.0, 2.0), Condition("5", 1.0, 2.0), Condition("x AND y", high=2.0)))
def test_the_conditions_of_a_rule_are_read_back_from_its_sentence(drawn):
    names = [*PLAIN, "", "x AND y", "or", "is known", "IF", "THEN", "5", "-3", "a < b"]
    assert parse_conditions(str(drawn), names) == drawn.conditions


@settings(max_examples=300, deadline=None)
@given(rules(), st.lists(NAMES))
def test_a_sentence_is_read_back_whatever_the_names_unless_it_can_be_read_in_two_ways(drawn, other_names):
    names = [condition.column for condition in drawn.conditions]
    try:
        found = parse_conditions(str(drawn), names + other_names)
    except ValueError as error:
        event("in two ways")
        if "be read in two ways" not in str(error):
            raise
    else:
        assert found == drawn.conditions


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_text_that_is_read_gives_the_same_text(data):
    columns = data.draw(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=4, unique=True))
    texts = []
    for column in columns:
        low, high = sorted(data.draw(st.lists(st.integers(-99, 99), min_size=2, max_size=2, unique=True)))
        one, other = (data.draw(st.sampled_from(["<", "<="])) for _ in range(2))
        sign = data.draw(st.sampled_from(["<", "<=", ">", ">=", "="]))
        compared = data.draw(st.sampled_from([f"{low} {one} {column} {other} {high}.5", f"{column} {sign} {low}"]))
        missing = data.draw(st.sampled_from(["", " or missing"]))
        fact = data.draw(st.sampled_from([f"{column} is missing", f"{column} is known"]))
        texts.append(data.draw(st.sampled_from([compared + missing, fact])))
    text = f"IF {' AND '.join(texts)}"
    conditions = parse_conditions(text, PLAIN)
    assert [condition.column for condition in conditions] == columns
    assert str(rule(*conditions)).startswith(f"{text} THEN malignant  (")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hour > 5", "A rule begins with 'IF ' or 'ALWAYS ', got 'hour > 5'."),
        (
            "IF hours > 5 THEN a",
            "Cannot read a condition on a known column from 'hours > 5 THEN a'. Did you mean 'hour'?",
        ),
        ("IF temp > 5 AND hour >5", "Cannot read a condition on a known column from 'hour >5'."),
        ("IF hour", "from 'hour'."),
        ("IF ", "from ''."),
        ("IF 7 < hour <= 3", "from '7 < hour <= 3'."),
        ("IF 3 < hour", "from '3 < hour'."),
        ("IF 3 < hour > 5", "from '3 < hour > 5'."),
        ("IF 3 < hour is known", "from '3 < hour is known'."),
        ("IF hour > 3 is known", "from 'hour > 3 is known'."),
        ("IF hour or missing", "from 'hour or missing'."),
        ("IF hour > 5 AND hour < 7", "from 'hour < 7'."),
        ("IF hour > 5 ELSE", "from 'hour > 5 ELSE'."),
        ("IF hour > 1e999", "from 'hour > 1e999'."),
    ],
)
def test_a_text_that_cannot_be_read_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_conditions(text, ["hour", "temp"])


def test_a_text_that_can_be_read_in_two_ways_is_refused():
    assert len(parse_conditions("IF a > 5 AND b <= 3", ["a", "b"])) == 2
    assert len(parse_conditions("IF a > 5 AND b <= 3", ["b", "a > 5 AND b"])) == 1
    with pytest.raises(ValueError, match="The names of the columns let 'IF a > 5 AND b <= 3' be read in two ways"):
        parse_conditions("IF a > 5 AND b <= 3", ["a", "b", "a > 5 AND b"])


# --- rounding --------------------------------------------------------------------------------------------------------


def rounded(value):
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def next32(value, to=INF):
    with np.errstate(over="ignore"):
        return float(np.nextafter(np.float32(value), np.float32(to)))


def parts(end, below, above):
    """Whether float64 <= end is float32 <= below, and float64 > end is float32 >= above, for these float32 values.

    Rounding is monotone, so that the end and the next float64 speak for all.
    """
    is_low_enough = above == INF or rounded(end) < above
    return is_low_enough and (below == -INF or rounded(math.nextafter(end, INF)) > below)


ONE, NEXT, SECOND = 1.0, next32(1.0), next32(next32(1.0))  # the mantissas of 1 and SECOND are even, that of NEXT is odd


@pytest.mark.parametrize(
    ("below", "above", "threshold", "end"),
    [
        (12.5, 17.75, 15.125, 15.0),
        (0.5, 17.75, 9.125, 9.0),
        (2.0, 3.0, 2.5, 2.5),
        (1.0, 4.0, 2.5, 2.0),
        (-4.0, -1.0, -2.5, -3.0),
        (-5.0, 300.0, 147.5, 100.0),
        (-1.0, 1.0, 0.0, 0.0),
        (-1.0, 1.0, -0.0, 0.0),
        (rounded(0.1), rounded(0.2), 0.15000000223517418, 0.15),
        (rounded(0.1), rounded(0.3), 0.2000000048428774, 0.2),
        # 5 itself is no end: 5.0000001 rounds to the float32 5.
        (5.0, 7.0, 5.0, 6.0),
        (5.0, 5.5, 5.0, 5.1),
        # The middle between two neighbours rounds to the even one of them.
        (ONE, NEXT, ONE, (ONE + NEXT) / 2),
        (NEXT, SECOND, NEXT, math.nextafter((NEXT + SECOND) / 2, 0)),
        (-NEXT, -ONE, -NEXT, math.nextafter(-(ONE + NEXT) / 2, -2)),
        (-SECOND, -NEXT, -SECOND, -(NEXT + SECOND) / 2),
        (ONE, SECOND, NEXT, 1.0000001),
        # Zero and the smallest numbers.
        (0.0, TINY32, 0.0, TINY32 / 2),
        (-TINY32, 0.0, -TINY32, math.nextafter(-TINY32 / 2, -1)),
        (TINY32, 2 * TINY32, TINY32, math.nextafter(1.5 * TINY32, 0)),
        (-0.0, 1.0, 0.5, 0.5),
        (0.0, 1.0, 0.0, 0.1),
        (0.0, 1.0, 1e-300, 0.1),
        (0.0, 1.0, 1e-30, 1e-30),
        # The largest numbers: from 2**128 - 2**103 on, float32 is infinite.
        (next32(MAX32, 0), MAX32, next32(MAX32, 0), next32(MAX32, 0) / 2 + MAX32 / 2),
        (1e38 // 1, MAX32, 2e38, 2e38),
        # Nothing below, or nothing above: no further away than on the other side.
        (-INF, 38.0, 37.5, 37.0),
        (-INF, 37.75, 37.5, 37.5),
        (-INF, 50.0, 37.5, 40.0),
        (35.0, INF, 37.5, 40.0),
        (36.0, INF, 37.5, 37.0),
        (37.0, INF, 37.5, 38.0),
        (37.5, INF, 37.5, (37.5 + next32(37.5)) / 2),
        (MAX32, INF, MAX32, math.nextafter(2.0**128 - 2.0**103, 0)),
        (-INF, -MAX32, -4e38, -4e38),
        (-INF, INF, 0.1 + 0.2, 0.1 + 0.2),
        (-INF, INF, -1.7e308, -1.7e308),
    ],
)
def test_an_end_is_rounded_like_this(below, above, threshold, end):
    found = round_end(rounded(below), rounded(above), threshold)
    assert repr(found) == repr(end)
    assert parts(found, rounded(below), rounded(above))


FLOAT32 = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, TINY32, -TINY32, ONE, NEXT, SECOND, -NEXT, MAX32, -MAX32, next32(MAX32, 0), 2.0**-126]),
)


@settings(max_examples=500, deadline=None)
@given(FLOAT32, st.data())
def test_a_rounded_end_parts_all_numbers_as_the_definition_asks(below, data):
    above = data.draw(st.one_of(st.just(next32(below)), st.just(INF), FLOAT32))
    below = data.draw(st.sampled_from([below, below, -INF]))
    assume(below < above)
    largest = math.nextafter(above, -INF)
    threshold = data.draw(st.one_of(st.sampled_from([below, largest]), st.floats(below, largest)))
    assume(math.isfinite(threshold))
    end = round_end(below, above, threshold)
    assert math.isfinite(end)
    assert parts(end, below, above)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.one_of(ROUND, st.floats(-1e38, 1e38), st.floats(-2, 2)), min_size=1, max_size=8), st.data())
def test_a_rounded_end_parts_the_training_values_as_the_threshold_does(values, data):
    near = [math.nextafter(rounded(value), to) for value in values for to in (-INF, INF)]
    halves = [rounded(one) / 2 + rounded(other) / 2 for one in values for other in values]
    # Numbers that float32 can hardly tell apart.
    values = values + [value * (1 + data.draw(st.integers(-3, 3)) * 2.0**-25) for value in values]
    table = np.array(values).astype(np.float32)
    threshold = data.draw(st.one_of(st.sampled_from([*table.tolist(), *near, *halves]), st.floats(-1e38, 1e38)))
    goes_left = table.astype(np.float64) <= threshold
    below, above = max(table[goes_left], default=-INF), min(table[~goes_left], default=INF)
    end = round_end(float(below), float(above), threshold)
    assert (np.array(values) <= end).tolist() == goes_left.tolist()


def count_digits(number):
    return len(re.sub(r"e.*|\.0$|[-.]", "", repr(number)).strip("0")) or 1


FEW_DIGITS = {
    1: [sign * float(f"{k}e{p}") for sign in (1, -1) for p in range(-3, 2) for k in range(10)],
    2: [sign * float(f"{k}e{p}") for sign in (1, -1) for p in range(-3, 1) for k in range(11, 100) if k % 10],
}


@settings(max_examples=300, deadline=None)
@given(st.lists(st.floats(-50, 50, width=32), min_size=2, max_size=2, unique=True).map(sorted), st.floats(0.01, 0.99))
def test_no_end_with_fewer_digits_or_nearer_to_the_threshold_would_do(ends, where):
    below, above = ends
    threshold = below + where * (above - below)
    assume(below <= threshold < above and parts(threshold, below, above))
    end = round_end(below, above, threshold)
    for digits in (1, 2):
        fitting = [number for number in FEW_DIGITS[digits] if parts(number, below, above)]
        if count_digits(end) == digits:
            distance = abs(Fraction(end) - Fraction(threshold))
            assert all(distance <= abs(Fraction(number) - Fraction(threshold)) for number in fitting)
        elif count_digits(end) > digits:
            assert not fitting


@pytest.mark.parametrize(
    ("below", "above", "threshold", "message"),
    [
        (1.0, 2.0, 2.0, "`threshold` must lie in [below, above), got 2.0 for [1.0, 2.0)."),
        (1.0, 2.0, 0.5, "`threshold` must lie in [below, above), got 0.5 for [1.0, 2.0)."),
        (1.0, 2.0, NAN, "`threshold` must lie in [below, above), got nan for [1.0, 2.0)."),
        (-INF, 2.0, -INF, "`threshold` must lie in [below, above), got -inf for [-inf, 2.0)."),
        (0.1, 2.0, 1.0, "`below` and `above` must be float32 values, got 0.1 and 2.0."),
        (0.5, 0.7, 0.6, "`below` and `above` must be float32 values, got 0.5 and 0.7."),
        (0.5, 1e300, 0.6, "`below` and `above` must be float32 values, got 0.5 and 1e+300."),
    ],
)
def test_ends_that_do_not_enclose_the_threshold_are_refused(below, above, threshold, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        round_end(below, above, threshold)


def test_a_column_whose_name_is_a_number_is_read_back():
    """ "5 < 5" was read as a lower end of the column "5" without an upper one, and refused."""
    assert parse_conditions("IF 5 < 5 THEN busy", ["5"]) == (Condition("5", high=5.0, high_closed=False),)
    both = parse_conditions("IF 5 < 5 <= 7 or missing AND 6 is known THEN busy", ["5", "6"])
    assert both == (Condition("5", low=5.0, high=7.0, missing=True), Condition("6"))


# --- labels, dates and whole numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"labels": ()}, ValueError, "No label satisfies the condition on 'x': give some `labels`."),
        ({"labels": ("a",), "low": 1.0}, ValueError, "The condition on 'x' has labels: give it no `low` and no `high`"),
        ({"excluded": True}, ValueError, "The condition on 'x' excludes labels: give `labels`."),
        ({"labels": ("a",), "values": False, "missing": True}, ValueError, "no `low`, no `high` and no `labels`."),
        ({"labels": (None,)}, TypeError, "A label must be a string, a boolean or a number, got None."),
        ({"labels": (NAN,)}, TypeError, "A label must be a string, a boolean or a number, got nan."),
        ({"part": "minute"}, ValueError, "`part` must be one of ['year', 'month', 'day', 'weekday', 'hour'], got 'min"),
    ],
)
def test_a_condition_on_labels_that_makes_no_sense_is_refused(options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Condition("x", **options)


def test_the_order_of_labels_does_not_matter():
    assert Condition("x", labels=("b", "a", "a")) == Condition("x", labels=("a", "b"))
    assert Condition("x", labels=(np.str_("a"),)) == Condition("x", labels=("a",))
    assert Condition("x", labels=("a",)) != Condition("x", labels=("a",), excluded=True)
    assert Condition("x", labels=(), excluded=True, missing=True).is_trivial


DATES = ["2024-02-29 05:00", "2024-03-02 18:30", None, "2023-12-31 00:00"]  # Thursday, Saturday, missing, Sunday
WHEN = {
    "pandas": pd.DataFrame({"when": pd.to_datetime(DATES)}),
    "pandas with a zone": pd.DataFrame({"when": pd.to_datetime(DATES).tz_localize("Asia/Tokyo")}),
    "objects": pd.DataFrame({"when": pd.Series([None if d is None else pd.Timestamp(d) for d in DATES], dtype=object)}),
    "polars": pl.DataFrame({"when": DATES}).with_columns(pl.col("when").str.to_datetime("%Y-%m-%d %H:%M")),
    "array": {"when": np.array([d or "NaT" for d in DATES], dtype="M8[m]")},
}


@pytest.mark.parametrize("kind", WHEN)
@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        (Condition("when", low=6, part="hour"), [1]),
        (Condition("when", high=5, part="hour", missing=True), [0, 2, 3]),
        (Condition("when", labels=("Sat", "Sun"), part="weekday"), [1, 3]),
        (Condition("when", labels=("Sat", "Sun"), excluded=True, part="weekday"), [0]),
        (Condition("when", low=2024, high=2024, low_closed=True, part="year"), [0, 1]),
        (Condition("when", low=28, part="day"), [0, 3]),
        (Condition("when", high=3, part="month"), [0, 1]),
        (Condition("when", part="month"), [0, 1, 3]),
        (Condition("when", missing=True, values=False), [2]),
    ],
)
def test_a_rule_asks_for_parts_of_dates(kind, condition, rows):
    frame, drawn = WHEN[kind], rule(condition)
    assert rows_of(drawn.covers(frame)) == rows
    if kind.startswith("pandas"):
        assert frame.query(drawn.to_pandas_query()).index.tolist() == rows
    if kind == "polars":
        assert frame.with_row_index("row").filter(drawn.to_polars())["row"].to_list() == rows


def test_the_dates_of_a_column_without_times_have_hour_0():
    frame = pl.DataFrame({"when": ["2024-02-29", None]}).with_columns(pl.col("when").str.to_date())
    assert rule(Condition("when", high=0, part="hour")).covers(frame).tolist() == [True, False]


@pytest.mark.parametrize(
    ("below", "above", "threshold", "low", "high"),
    [
        (5, 6, 5.5, (6.0, True), (5.0, True)),
        (5, 9, 7.0, (8.0, True), (7.0, True)),
        (99, 100, 99.5, (100.0, True), (100.0, False)),
        (980, 1031, 1005.5, (1000.0, True), (1000.0, False)),
        (19, 20, 19.5, (20.0, True), (20.0, False)),
        (9, 10, 9.5, (10.0, True), (9.0, True)),
        (-3, -2, -2.5, (-2.0, True), (-3.0, True)),
        (0, 1, 0.5, (1.0, True), (0.0, True)),
        (-INF, 3, 1.5, (2.0, True), (1.0, True)),
        (3, INF, 7.5, (8.0, True), (7.0, True)),
    ],
)
def test_ends_of_whole_numbers(below, above, threshold, low, high):
    assert round_whole_end(below, above, threshold, "low") == low
    assert round_whole_end(below, above, threshold, "high") == high


@settings(max_examples=300, deadline=None)
@given(st.integers(-2000, 2000), st.integers(1, 3000), st.floats(0, 0.999), st.sampled_from(["low", "high", None]))
def test_ends_of_whole_numbers_leave_every_value_on_its_side(below, gap, share, within):
    above = below + gap
    threshold = float(np.float32(below + share * gap))
    assume(below <= threshold < above)
    beyond = {}
    for side in ("low", "high"):
        end, closed = round_whole_end(below, above, threshold, side, within)
        assert end == int(end)
        beyond[side] = end if side == "low" else end + closed  # the first number that is not on the lower side
        assert below < beyond[side] <= above
        if within == "low":
            assert beyond[side] > threshold
        if within == "high":
            assert beyond[side] - 1 <= threshold
    assert beyond["low"] == beyond["high"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=3, max_size=3, unique=True))
def test_ends_within_a_threshold_let_nothing_pass_that_it_stops(three):
    below, threshold, above = sorted(three)
    for side in ("low", "high"):
        end = round_end(below, above, threshold, side)
        beside = [math.nextafter(end, -INF), end, math.nextafter(end, INF)]
        for value in beside:
            is_left = float(np.float32(value)) <= threshold
            assert is_left if side == "high" and value <= end else True
            assert not is_left if side == "low" and value > end else True
        assert float(np.float32(below)) <= end < above
