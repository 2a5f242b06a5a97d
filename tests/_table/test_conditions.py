"""One condition: which values satisfy it, and how it reads."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from drawn_rules import HOUR, TEMP, WORK, rows_of, rule

from suffice._table.condition import Condition
from suffice._table.condition_text import parse_conditions

NAN, INF = math.nan, math.inf


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
        (Condition("income", high=2000.0, missing=True), "(income <= 2000 or income is missing)"),
        (Condition("income", 3.0, 7.0, missing=True), "(3 < income <= 7 or income is missing)"),
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
        (
            Condition("x", labels=("snow", "rain"), excluded=True, missing=True),
            "(x not in {rain, snow} or x is missing)",
        ),
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


def test_the_dates_of_a_column_without_times_have_hour_0():
    frame = pl.DataFrame({"when": ["2024-02-29", None]}).with_columns(pl.col("when").str.to_date())
    assert rule(Condition("when", high=0, part="hour")).covers(frame).tolist() == [True, False]


def drawn_ends():
    """All ends from -2 to 3 in steps of a quarter and a half, open and closed, and none."""
    places = [-INF, *np.arange(-2, 3.1, 0.5).tolist(), 0.25, INF]
    for low, high, low_closed, high_closed in itertools.product(places, places, (False, True), (False, True)):
        try:
            yield Condition("x", low, high, low_closed, high_closed, missing=low_closed)
        except ValueError:  # no number lies between
            continue


@pytest.mark.parametrize("reads", ["whole", "yes/no"])
def test_the_text_covers_the_same_whole_numbers_as_the_condition(reads):
    """`19 <= hour < 20` reads `hour = 19`, and `holiday > 0.5` reads `holiday = yes`."""
    values = np.array([*(range(-4, 6) if reads == "whole" else (0, 1)), np.nan], dtype=float)
    n = 0
    for exact in drawn_ends():
        written = replace(exact, reads=reads)
        assert written == exact
        assert np.array_equal(written.covers(values), exact.covers(values))
        if "missing or known" in str(written):
            assert exact.covers(values).all()
            continue
        [read] = parse_conditions(f"IF {written}", ["x"])
        assert np.array_equal(read.covers(values), exact.covers(values)), (str(written), exact)
        n += str(written) != str(exact)
    assert n > 150


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Condition("hr", 19, 20, True, False, reads="whole"), "hr = 19"),
        (Condition("hr", 18.5, reads="whole"), "hr >= 19"),
        (Condition("x", 2.5, 7.2, reads="whole"), "3 <= x <= 7"),
        (Condition("x", 2.2, 2.4, reads="whole"), "2.2 < x <= 2.4"),
        (Condition("x", 2.5, 7.2, missing=True, reads="whole"), "(3 <= x <= 7 or x is missing)"),
        (Condition("holiday", 0.5, reads="yes/no"), "holiday = yes"),
        (Condition("holiday", 0, 0, True, reads="yes/no"), "holiday = no"),
        (Condition("holiday", high=1.5, reads="yes/no"), "holiday is known"),
        (Condition("holiday", low=1.5, reads="yes/no"), "holiday > 1.5"),
        (Condition("holiday", labels=(True,)), "holiday = yes"),
        (Condition("holiday", labels=(True, False)), "holiday in {no, yes}"),
    ],
)
def test_whole_numbers_and_flags_read_as_such(condition, text):
    assert str(condition) == text


def test_yes_and_no_are_read_back_for_booleans_for_0_and_1_and_for_words():
    [yes] = parse_conditions("IF x = yes", ["x"])
    for values in ([True, False], [1, 0], [1.0, 0.0], ["yes", "no"]):
        assert yes.covers(values).tolist() == [True, False]
    assert yes.covers([1, 2]).tolist() == [False, False]
    assert yes.covers(["True", "False"]).tolist() == [False, False]
