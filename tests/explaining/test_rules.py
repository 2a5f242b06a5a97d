"""Rules: which rows they cover, and the same in SQL, pandas, polars, JSON and words."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import re
import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pytest
from drawn_rules import (
    HOUR,
    ROUND,
    TEMP,
    WORK,
    counted,
    covered_rows,
    is_missing,
    polars_frame,
    rows_of,
    rule,
    rules,
    rules_with_tables,
    unused_name,
)
from hypothesis import given, settings
from thoroughness import n_examples

from suffice._table.condition import Condition
from suffice.explaining.rule import Rule

NAN, INF = math.nan, math.inf


# --- what a rule covers ----------------------------------------------------------------------------------------------


@settings(max_examples=n_examples(300), deadline=None)
@given(rules_with_tables())
def test_a_rule_covers_the_rows_that_a_plain_loop_finds(drawn_and_table):
    drawn, table = drawn_and_table
    expected = covered_rows(drawn, table)
    assert rows_of(drawn.covers(table)) == expected
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


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ({"hours": [1.0]}, ValueError, "`X` has no column 'hour'. Did you mean 'hours'?"),
        (pd.DataFrame({"hours": [1.0]}), ValueError, "`X` has no column 'hour'. Did you mean 'hours'?"),
        (pl.DataFrame({"wind": [1.0]}), ValueError, "`X` has no column 'hour'."),
        ([[1.0]], ValueError, "`X` has no column 'hour'."),
        (
            pd.DataFrame([[1, 2]], columns=["hour", "hour"]),
            ValueError,
            "`X` has two columns named 'hour'; rename",
        ),
        ([1.0, 2.0], ValueError, "`X` must be a table, got shape (2,); for one row, give it as [row]."),
        (
            {"a": [1.0, 2.0], "hour": [1.0]},
            ValueError,
            "Column 'hour' of `X` must have 2 values, got shape (1,).",
        ),
        ({"hour": ["noon"]}, TypeError, "Column 'hour' of `X` must hold numbers, got the text 'noon' (row 0)."),
        (
            pd.DataFrame({"hour": ["noon"]}),
            TypeError,
            "Column 'hour' of `X` must hold numbers, got the text 'noon' (row 0).",
        ),
        (
            pl.DataFrame({"hour": ["noon"]}),
            TypeError,
            "Column 'hour' of `X` must hold numbers, got the text 'noon' (row 0).",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused(X, error, message):
    with pytest.raises(error, match=re.escape(message)):
        rule(HOUR).covers(X)


# --- SQL, pandas, polars ---------------------------------------------------------------------------------------------


@settings(max_examples=n_examples(300), deadline=None)
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
        selected = database.execute(f"SELECT {key} FROM rows WHERE {drawn.to_sql()} ORDER BY {key}").fetchall()
    finally:
        database.close()
    assert [int(row) for (row,) in selected] == rows_of(drawn.covers(table))


@pytest.mark.parametrize(
    ("conditions", "sql"),
    [
        ((), "1 = 1"),
        ((HOUR, TEMP), '"hour" > 5.5e0 AND "temp" > 3 AND "temp" <= 7'),
        ((Condition("x", 0.1, 1e22, low_closed=True, high_closed=False),), '"x" >= 0.1e0 AND "x" < 1e+22'),
        ((Condition("x", 34.0, 2.0**24),), '"x" > 34 AND "x" <= 16777216.0e0'),
        (
            (Condition('a "b"', high=-2.0, missing=True), WORK),
            '("a ""b""" <= -2 OR "a ""b""" IS NULL) AND "workingday" <= 0.5e0',
        ),
        ((Condition("x", 1.0, 2.0, missing=True),), '("x" > 1 AND "x" <= 2 OR "x" IS NULL)'),
        ((Condition("x"),), '"x" IS NOT NULL'),
        ((Condition("x", missing=True, values=False),), '"x" IS NULL'),
        ((Condition("x", labels=("b", "it's")),), "\"x\" IN ('b', 'it''s')"),
        ((Condition("x", labels=(True,), excluded=True, missing=True),), '("x" NOT IN (TRUE) OR "x" IS NULL)'),
        ((Condition("x", low=6, low_closed=True, part="hour"),), 'EXTRACT(HOUR FROM "x") >= 6'),
        ((Condition("x", labels=("Sat", "Mon"), part="weekday"),), 'EXTRACT(ISODOW FROM "x") IN (1, 6)'),
    ],
)
def test_sql_worked_out_by_hand(conditions, sql):
    assert rule(*conditions).to_sql() == sql


def test_float32_columns_are_compared_as_float64_everywhere():
    values = np.array([0.1, 0.05], dtype=np.float32)
    drawn = rule(Condition("x", high=0.1))
    assert drawn.covers({"x": values}).tolist() == [False, True]
    assert drawn.covers(pd.DataFrame({"x": values})).tolist() == [False, True]
    assert drawn.covers(pl.DataFrame({"x": values})).tolist() == [False, True]


# --- values ----------------------------------------------------------------------------------------------------------


@settings(max_examples=n_examples(300), deadline=None)
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


def test_a_rule_of_a_rare_class_states_its_lift():
    rare = dataclasses.replace(counted(Condition("x", high=2.0)), outcome="yes", interval=None, base_rate=0.2)
    assert str(rare) == "IF x <= 2 THEN yes  (coverage 1.2 %, 12 rows, SDP 0.94, 4.7 times as likely as on average)"
    assert "likely" not in str(dataclasses.replace(rare, base_rate=0.34))
    assert "likely" not in str(dataclasses.replace(rare, base_rate=None))
    assert "likely" not in str(dataclasses.replace(rare, interval=(1.0, 2.0)))


def test_a_dictionary_without_a_base_rate_is_read():
    """Rules of earlier versions have none."""
    rule = counted(Condition("x", high=2.0))
    values = rule.to_dict()
    del values["base_rate"], values["is_whole"], values["conditions"][0]["reads"]
    assert Rule.from_dict(values) == rule


def test_a_rule_about_whole_numbers_reads_so_and_stays_exact():
    x = Condition("x", 18.5, 20.0, high_closed=False, reads="whole")
    whole = dataclasses.replace(counted(x), interval=(180.54, 240.2), is_whole=True)
    assert whole.sentence == "IF x = 19 THEN count in [181, 240]"
    assert (whole.interval, whole.conditions[0].low, whole.conditions[0].high) == ((180.54, 240.2), 18.5, 20.0)
    assert whole == dataclasses.replace(whole, is_whole=False)
    read = Rule.from_dict(json.loads(json.dumps(whole.to_dict())))
    assert (read, str(read)) == (whole, str(whole))
    empty = dataclasses.replace(whole, interval=(180.54, 180.9))
    assert empty.conclusion == "count in [180.54, 180.9]"


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
                "reads": "number",
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
        "n_kept": None,
        "certificate": None,
        "base_rate": None,
        "is_whole": False,
        "n_looked_at": None,
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


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "A rule is a mapping of its fields, got None."),
        (rule(HOUR).to_dict() | {"conditions": [None]}, "A condition is a mapping of its fields, got None."),
        (rule(HOUR).to_dict() | {"certificate": 5}, "A certificate is a mapping of its fields, got 5."),
    ],
)
def test_what_is_no_dictionary_is_refused(values, message):
    with pytest.raises(TypeError, match=re.escape(message)):
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
    ("written", "text"),
    [
        (
            counted(HOUR, WORK, TEMP),
            "IF hour > 5.5 AND workingday <= 0.5 AND 3 < temp <= 7 THEN count in [12, 31]  "  # noqa: ISC004
            "(coverage 1.2 %, 12 rows, SDP 0.94)",
        ),
        (rule(HOUR, sdp=0.899), "IF hour > 5.5 THEN malignant  (coverage 1.2 %, 12 rows, SDP 0.89)"),
        (rule(outcome=1, coverage=1.0), "ALWAYS 1  (coverage 100 %, 12 rows, SDP 0.94)"),
        (
            counted(target="y", interval=(0.25, 1e6)),
            "ALWAYS y in [0.25, 1000000]  (coverage 1.2 %, 12 rows, SDP 0.94)",
        ),
        (
            rule(Condition("income", missing=True, values=False), TEMP, optimal=False, everywhere=False),
            "IF income is missing AND 3 < temp <= 7 THEN malignant  (coverage 1.2 %, 12 rows, SDP 0.94)",
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
    assert f"(coverage {text} %, 12 rows, SDP" in str(rule(coverage=coverage))


@pytest.mark.parametrize(
    ("base_rate", "sdp", "texts"),
    [
        (0.89, 0.94, ["0.89 among all rows"]),  # near: more than half of the rest is left
        (0.89, 0.95, []),
        (0.5, 0.74, ["0.50 among all rows"]),
        (0.5, 0.76, []),
        (0.2, 0.9, ["4.5 times as likely as on average"]),
        (None, 0.5, []),
    ],
)
def test_a_probability_near_the_base_rate_is_never_stated_alone(base_rate, sdp, texts):
    near = rule(HOUR, sdp=sdp, base_rate=base_rate)
    assert near.lift_texts(sdp) == texts
    assert str(near).endswith(", ".join([f"SDP {sdp:.2f}", *texts]) + ")")
    assert counted(HOUR, base_rate=base_rate).lift_texts(sdp) == []
