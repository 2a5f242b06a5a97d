"""Rules for the tests: made by hand, or drawn by hypothesis together with a table that has their ends."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from hypothesis import strategies as st

from suffice._table.condition import Condition
from suffice.explaining.rule import Rule

NAN, INF = math.nan, math.inf
HOUR = Condition("hour", low=5.5)
WORK = Condition("workingday", high=0.5)
TEMP = Condition("temp", 3.0, 7.0)


def rule(*conditions, **changes):
    plain = {"outcome": "malignant", "interval": None, "sdp": 0.94, "support": 12, "coverage": 0.012, "precision": 1.0}
    proof = {"mae": None, "optimal": True, "bound": 12.0, "everywhere": False}
    return Rule(conditions, **{**plain, **proof, **changes})


def counted(*conditions, **changes):
    return rule(*conditions, **{"outcome": 20.0, "interval": (12.0, 31.0), "mae": 4.2, "target": "count", **changes})


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
