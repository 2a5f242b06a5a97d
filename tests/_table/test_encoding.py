"""From a table to the matrix that a forest sees, and back."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import n_examples

from suffice._table.encoding import MAX_WHOLE, MIN_CATEGORY_ROWS, Column, Encoding, order_by_profile
from suffice._table.table import WEEKDAYS, read_columns
from suffice.errors import InputValueError, RareCategoriesWarning
from suffice.explaining.rule import Condition, Rule

NAN, INF = np.nan, np.inf
ENOUGH = MIN_CATEGORY_ROWS


def learn(X, dates=None):
    return Encoding.learn(read_columns(X), dates)


def encode(X, dates=None):
    return learn(X, dates).encode(read_columns(X))


def column_of(values, **others):
    return learn({"a": np.array(values, dtype=object), **others}).columns[0]


# --- the order of unordered categories -------------------------------------------------------------------------------


def profiles(codes, n_groups, others):
    """The rows' features, all columns of variance 1, and the mean of each category, less that of all rows."""
    is_known = ~np.isnan(codes)
    blocks = []
    for values, n_levels in others:
        known = values[is_known].astype(np.float64)
        known = np.where(np.isnan(known), n_levels, known)
        block = (known[:, None] == np.arange(n_levels + 1)).astype(np.float64) if n_levels else known[:, None]
        if block.var(axis=0).sum() > 1e-9:
            blocks.append(block / np.sqrt(block.var(axis=0).sum()))
    features = np.hstack([np.zeros((is_known.sum(), 1)), *blocks])
    return np.array([(features - features.mean(axis=0))[codes[is_known] == g].mean(axis=0) for g in range(n_groups)])


@settings(max_examples=n_examples(100), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_groups=st.integers(3, 6), n_levels=st.lists(st.integers(0, 4), max_size=3))
def test_categories_stand_in_the_order_of_their_profiles(seed, n_groups, n_levels):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=40), [np.nan]]).astype(np.float32)
    others = [(rng.integers(n or 9, size=len(codes)).astype(np.float32), n) for n in n_levels]
    for values, n in others:
        values[rng.random(len(codes)) < 0.2 * (n > 0)] = np.nan
    order = order_by_profile(codes, n_groups, others)
    assert sorted(order.tolist()) == list(range(n_groups))
    means = profiles(codes, n_groups, others)
    weights = np.bincount(codes[~np.isnan(codes)].astype(int))
    values, vectors = np.linalg.eigh((means * weights[:, None]).T @ means)
    if len(values) > 1 and values[-1] > 1.01 * values[-2]:
        scores = (means @ vectors[:, -1])[order]
        assert (np.diff(scores) >= -1e-9).all() or (np.diff(scores) <= 1e-9).all()


def test_categories_that_are_alike_in_other_columns_stand_side_by_side():
    """Years tell the order of schools, which neither their names nor their numbers of rows do."""
    rng = np.random.default_rng(0)
    school = np.repeat(["college", "none", "primary", "high school", "university"], [90, 30, 50, 80, 60])
    years = np.repeat([14, 2, 6, 12, 17], [90, 30, 50, 80, 60]) + rng.normal(size=310)
    in_order = ("university", "college", "high school", "primary", "none")
    mixed = rng.permutation(310)
    for rows in (np.arange(310), mixed):
        others = {"years": years[rows], "noise": rng.normal(size=310)}
        assert column_of(school[rows], **others).labels == tuple((label,) for label in in_order)
    trade = np.array([{"none": "farm", "primary": "farm", "high school": "shop"}.get(s, "office") for s in school])
    assert column_of(school, trade=trade).labels[-2:] == (("primary",), ("none",))


def test_without_other_columns_the_most_frequent_category_comes_first_and_equal_ones_go_by_name():
    values = ["b"] * 12 + ["d"] * 15 + ["a"] * 12 + ["c"] * 20
    for rows in (values, values[::-1]):
        assert column_of(rows).labels == (("c",), ("d",), ("a",), ("b",))
        assert column_of(rows, constant=np.ones(len(rows))).labels == (("c",), ("d",), ("a",), ("b",))


def test_renamed_categories_get_the_same_codes():
    rng = np.random.default_rng(0)
    rows = rng.choice(5, size=300, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    other = rows % 3 + rng.normal(size=300)
    matrices = [
        encode({"a": np.array([None if code == 2 else names[code] for code in rows], dtype=object), "b": other})
        for names in (["p", "q", "r", "s", "t"], ["t", "s", "r", "q", "p"], ["z z", "", "x", "-", "0"])
    ]
    for matrix in matrices[1:]:
        np.testing.assert_array_equal(matrix, matrices[0])


# --- rare categories -------------------------------------------------------------------------------------------------


def repeated(**n_rows):
    return [label for label, n in n_rows.items() for _ in range(n)]


@pytest.mark.parametrize(
    ("n_rows", "labels", "rare"),
    [
        ({"a": 10, "b": 10}, (("a",), ("b",)), None),
        ({"a": 10, "b": 9}, (("a",), ("b",)), None),  # a single rare category keeps its own code
        ({"a": 10, "b": 1}, (("a",), ("b",)), None),
        ({"a": 3}, (("a",),), None),
        ({"a": 20, "b": 9, "c": 9}, (("a",), ("b", "c")), 1),
        ({"b": 1, "a": 20, "c": 9}, (("a",), ("b", "c")), 1),
        ({"b": 1, "a": 20, "c": 1, "d": 10, "e": 3}, (("a",), ("d",), ("b", "c", "e")), 2),
        ({"a": 20, "b": 10, "c": 9}, (("a",), ("b",), ("c",)), None),
    ],
)
def test_two_or_more_categories_of_few_rows_share_a_code(n_rows, labels, rare):
    # There are no other columns, so that the codes go by numbers of rows.
    column = column_of(repeated(**n_rows))
    assert column.labels == labels
    assert column.rare == rare
    assert (column.name, column.source, column.kind, column.part) == ("a", 0, "category", None)


def test_rare_categories_are_ordered_by_their_common_profile():
    values = repeated(a=12, r=2, b=12, s=2)
    column = column_of(values, other=np.array([1.0] * 12 + [2.0] * 2 + [3.0] * 12 + [2.0] * 2))
    assert column.labels == (("a",), ("r", "s"), ("b",))
    assert column.rare == 1
    table = read_columns({"a": values})
    codes = Encoding((column,), ("a",), True).encode(table)[:, 0]
    assert codes.tolist() == [0] * 12 + [1] * 2 + [2] * 12 + [1] * 2


def test_a_column_that_names_its_rows_is_one_code_and_warns():
    names = np.array([f"id {i}" for i in range(30)], dtype=object)
    message = (
        "Most rows of the column 'who' hold categories with fewer than 10 rows, which are taken together as one. Leave "
        "the column out if it only names the rows."
    )
    with pytest.warns(RareCategoriesWarning, match=f"^{re.escape(message)}$"):
        encoding = learn({"who": names}, np.arange(30.0))
    assert encoding.columns[0].labels == (tuple(names),)
    assert encoding.columns[0].rare == 0
    assert encoding.encode(read_columns({"who": names}))[:, 0].tolist() == [0] * 30


def test_the_warning_comes_when_more_than_half_of_the_rows_are_rare():
    column_of(repeated(a=18, b=9, c=9))
    with pytest.warns(RareCategoriesWarning, match="Most rows of the column 'a' hold categories with fewer than 10"):
        column_of(repeated(a=17, b=9, c=9))
    column_of(repeated(a=10, b=9) + [None] * 5)


def test_categories_of_few_rows_keep_their_order_if_they_have_one():
    for frame in (
        pd.DataFrame({"a": pd.Categorical(["low", "high", None], ["low", "mid", "high", "top"], ordered=True)}),
        pl.DataFrame({"a": pl.Series(["low", "high", None], dtype=pl.Enum(["low", "mid", "high", "top"]))}),
    ):
        encoding = learn(frame, [9.0, 1.0, 5.0])
        assert encoding.columns[0].labels == (("low",), ("mid",), ("high",), ("top",))
        assert encoding.columns[0].rare is None
        np.testing.assert_array_equal(encoding.encode(read_columns(frame))[:, 0], [0, 2, NAN])
        declared = read_columns({"a": ["mid", "top"]})  # not seen, but declared
        assert encoding.encode(declared)[:, 0].tolist() == [1, 3]


# --- numbers and booleans --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.5, 1.0], "number"),
        ([1.0, 2.0], "whole"),
        ([1, 2], "whole"),
        ([-3, 0, 7], "whole"),
        ([0, 1], "whole"),
        ([1.0, 0.0, NAN], "whole"),
        ([0, 0], "whole"),
        ([1, 1], "whole"),
        ([1, 2, NAN], "whole"),
        ([0, 1, 0.5], "number"),
        ([NAN, NAN], "number"),
        ([1.0, INF], "number"),
        ([-INF, 1.0], "number"),
        ([0, MAX_WHOLE - 1], "whole"),
        ([0, MAX_WHOLE], "number"),
        ([-MAX_WHOLE + 1], "whole"),
        ([-MAX_WHOLE], "number"),
        ([1e300], "number"),
    ],
)
def test_numbers_may_be_whole(values, kind):
    with np.errstate(invalid="ignore"):  # pandas 2.2 casts infinity to an integer to see whether it is one
        nullable = pd.DataFrame({"a": values}).convert_dtypes()
    for X in (
        {"a": np.array(values)},
        np.array(values)[:, None],
        np.array(values, dtype=np.float32)[:, None] if np.nanmax(np.abs([*values, 0])) < 1e30 else {"a": values},
        {"a": np.array(values, dtype=object)},
        pd.DataFrame({"a": values}),
        nullable,
        pl.DataFrame({"a": values}, strict=False),
    ):
        [column] = learn(X).columns
        assert (column.source, column.kind, column.part, column.labels) == (0, kind, None, ())


@pytest.mark.parametrize(
    ("dtype", "smallest", "kind"),
    [(np.int8, -(2**7), "whole"), (np.int32, -(2**31), "number"), (np.int64, -(2**63), "number")],
)
def test_the_smallest_integer_is_not_small(dtype, smallest, kind):
    """Its absolute value overflows to a negative number in its own integer type."""
    [column] = learn(np.array([[smallest], [3]], dtype=dtype)).columns
    assert column.kind == kind


@pytest.mark.parametrize(
    ("values", "extent"),
    [([2.5, NAN, -1.0], (-1.0, 2.5)), ([3, 3], (3.0, 3.0)), ([NAN], (NAN, NAN))],
)
def test_the_extent_of_a_column_is_that_of_its_training_values(values, extent):
    [column] = learn({"a": np.array(values, dtype=object)}).columns
    np.testing.assert_array_equal(column.extent, extent)


def test_a_number_stays_what_it_is():
    values = [0.1, -2.5, NAN, 1e300, -1e300, 2.0**25]
    with np.errstate(over="ignore"):
        expected = np.array(values, dtype=np.float32)
    for X in ({"a": values}, pd.DataFrame({"a": values}), pl.DataFrame({"a": values}), np.array(values)[:, None]):
        matrix = encode(X)
        assert matrix.dtype == np.float32
        np.testing.assert_array_equal(matrix[:, 0], expected)


def test_a_matrix_is_never_the_array_of_the_user():
    X = np.ones((3, 2), dtype=np.float32)
    matrix = encode(X)
    assert not np.shares_memory(matrix, X)
    assert matrix.flags.c_contiguous
    assert encode(np.asfortranarray(X)).flags.c_contiguous


@pytest.mark.parametrize("values", [[True, None, False], [False, None, True], [None, True, True], [False, False, None]])
def test_false_is_0_and_true_is_1_whatever_the_outcome(values):
    expected = [NAN if value is None else float(value) for value in values]
    for X in (
        {"a": np.array(values, dtype=object)},
        pd.DataFrame({"a": pd.Series(values, dtype="boolean")}),
        pd.DataFrame({"a": pd.Series(values, dtype=object)}),
        pl.DataFrame({"a": values}),
    ):
        encoding = learn(X, [5.0, 3.0, 1.0])
        assert [(c.name, c.kind, c.labels, c.rare) for c in encoding.columns] == [
            ("a", "category", ((False,), (True,)), None)
        ]
        np.testing.assert_array_equal(encoding.encode(read_columns(X))[:, 0], expected)


def test_zero_and_one_are_booleans_where_the_training_table_had_some():
    encoding = learn({"a": [True, False]})
    assert encoding.encode(read_columns({"a": np.array([0.0, 1.0])}))[:, 0].tolist() == [0, 1]
    with pytest.raises(ValueError, match=re.escape("Column 'a' of `X` holds 2.0 (row 1), which was not among its")):
        encoding.encode(read_columns({"a": np.array([0.0, 2.0])}))


def test_text_is_refused_where_the_training_table_had_numbers():
    encoding = learn({"a": [1.0, 2.0]})
    with pytest.raises(TypeError, match="Column 'a' of `X` must hold numbers, got the text 'x'"):
        encoding.encode(read_columns({"a": ["x", "y"]}))


# --- dates -----------------------------------------------------------------------------------------------------------

START = datetime.datetime(2023, 12, 30, 22)
HOURS = [START + datetime.timedelta(hours=h) for h in (0, 1, 30, 60)] + [None]


def dates_as(X):
    return {"dict": X, "pandas": pd.DataFrame(X), "polars": pl.DataFrame(X)}.values()


def test_dates_are_refused_by_default():
    message = "Column 'when' of `X` holds dates: leave it out, or use its year, month, day, weekday and hour by dates="
    for X in dates_as({"temp": [1.0] * 5, "when": HOURS}):
        with pytest.raises(TypeError, match=re.escape(f"{message}'parts'.")):
            learn(X)


def test_dates_become_the_parts_that_vary():
    for X in dates_as({"temp": [1.0, 2.5] * 2 + [3.0], "when": HOURS}):
        encoding = learn(X, dates="parts")
        assert encoding.names == ("temp", "when")
        assert [(c.name, c.source, c.kind, c.part) for c in encoding.columns] == [
            ("temp", 0, "number", None),
            ("when.year", 1, "whole", "year"),
            ("when.month", 1, "whole", "month"),
            ("when.day", 1, "whole", "day"),
            ("when.weekday", 1, "category", "weekday"),
            ("when.hour", 1, "whole", "hour"),
        ]
        assert encoding.columns[4].labels == tuple((day,) for day in WEEKDAYS)
        expected = [[d.year, d.month, d.day, d.weekday(), d.hour] for d in HOURS[:-1]] + [[NAN] * 5]
        np.testing.assert_array_equal(encoding.encode(read_columns(X))[:, 1:], expected)


@pytest.mark.parametrize(
    ("days", "names"),
    [
        ([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], ["a", "d.day", "d.weekday"]),
        ([datetime.date(2024, 1, 1), datetime.date(2024, 1, 8)], ["a", "d.day"]),
        ([datetime.date(2024, 1, 1), datetime.date(2024, 1, 1)], ["a"]),
        ([None, None, datetime.date(2024, 1, 1)], ["a", "d.year", "d.month", "d.day", "d.weekday", "d.hour"]),
    ],
)
def test_a_part_that_is_always_the_same_is_left_out(days, names):
    encoding = learn({"a": np.arange(len(days)), "d": days}, dates="parts")
    assert [column.name for column in encoding.columns] == names


def test_dates_that_are_all_the_same_leave_nothing():
    with pytest.raises(ValueError, match="No column of `X` varies: there is nothing to explain by"):
        learn({"d": [datetime.date(2024, 1, 1)] * 3}, dates="parts")


def test_a_part_must_not_have_the_name_of_a_column():
    X = {"when": HOURS, "when.hour": [1, 2, 3, 4, 5]}
    with pytest.raises(
        ValueError, match=re.escape("`X` has a column 'when.hour' besides the dates 'when'; rename it.")
    ):
        learn(X, dates="parts")


# --- categories that were not there at fit ---------------------------------------------------------------------------


def test_a_category_that_was_not_there_is_refused_with_its_column_and_row():
    encoding = learn({"n": [1, 2] * ENOUGH, "weather": ["clear", "rain"] * ENOUGH}, list(range(2 * ENOUGH)))
    new = read_columns({"n": [1, 2, 3], "weather": ["rain", None, "claer"]})
    message = (
        "Column 'weather' of `X` holds 'claer' (row 2), which was not among its categories at fit: 'clear', 'rain'. "
        "Did you mean 'clear'? With unseen='missing' it counts as missing."
    )
    with pytest.raises(InputValueError, match=f"^{re.escape(message)}$") as caught:
        encoding.encode(new)
    assert (caught.value.row, caught.value.column, caught.value.value) == (2, "weather", "claer")
    np.testing.assert_array_equal(encoding.encode(new, unseen="missing")[:, 1], [1, NAN, NAN])


def test_the_error_names_the_first_row_with_an_unseen_category():
    encoding = learn({"a": ["x", "y"] * ENOUGH})
    message = (
        "Column 'a' of `X` holds 'snow' (row 1), which was not among its categories at fit: 'x', 'y'. With unseen="
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        encoding.encode(read_columns({"a": ["x", "snow", "hail", "snow"]}))


def test_only_some_of_many_categories_are_listed_and_no_rare_ones():
    many = [f"c{i:02}" for i in range(12) for _ in range(ENOUGH)]
    listed = ", ".join(f"'c{i:02}'" for i in range(10))
    with pytest.raises(ValueError, match=re.escape(f"at fit: {listed}, .... With unseen=")):
        learn({"a": many}).encode(read_columns({"a": ["?"]}))
    rare = learn({"a": repeated(a=20, uvw=2, xyz=2)})
    with pytest.raises(ValueError, match=re.escape("at fit: 'a'. Did you mean 'xyz'? With unseen=")):
        rare.encode(read_columns({"a": ["xyzz"]}))
    assert rare.encode(read_columns({"a": ["xyz", "a", "uvw"]}))[:, 0].tolist() == [1, 0, 1]


def test_a_missing_value_is_never_unseen():
    encoding = learn({"a": ["x", "y"] * ENOUGH})
    for value in (None, NAN, pd.NA):
        assert np.isnan(encoding.encode(read_columns({"a": np.array([value], dtype=object)}))).all()


# --- forests that are fitted already ---------------------------------------------------------------------------------


def test_a_fitted_forest_takes_numbers_and_booleans_only():
    learn({"a": [1.5, 2.0], "b": [True, False], "c": [0, 1]}).check_numeric()
    fix = ", but `forest` is fitted already: pass the numbers that it was fitted on, or a forest that is not fitted."
    for X, held in [({"a": [1.5], "b": ["x"]}, "categories"), ({"a": [1.5] * 5, "b": HOURS}, "dates")]:
        with pytest.raises(ValueError, match=re.escape(f"Column 'b' of `X` holds {held}{fix}")):
            learn(X, dates="parts").check_numeric()


# --- and back --------------------------------------------------------------------------------------------------------


def test_a_number_of_the_matrix_becomes_a_value_of_the_user():
    assert Column("a", 0).decode(0.5) == 0.5
    assert Column("a", 0).decode(2.0) == 2.0
    assert type(Column("a", 0).decode(2.0)) is float
    assert type(Column("a", 0, "whole").decode(1.0)) is int
    assert Column("a", 0, "whole").decode(1.5) == 1.5
    assert Column("a", 0, "category", labels=((False,), (True,))).decode(1.0) is True
    weekday = Column("d.weekday", 0, "category", "weekday", tuple((day,) for day in WEEKDAYS))
    assert weekday.decode(6.0) == "Sun"
    rare = Column("a", 0, "category", labels=(("x",), ("p", "q", "r", "s")), rare=1)
    assert rare.decode(0.0) == "x"
    assert rare.decode(1.0) == "a rare one (p, q, r, ...)"
    assert (rare.value_of(0.0), rare.value_of(1.0)) == ("x", "p")
    for column in (Column("a", 0), Column("a", 0, "whole"), rare, weekday):
        assert column.decode(NAN) is None


def training_table(seed):
    """A table with every kind of column and gaps in each, of numbers that float32 holds."""
    rng = np.random.default_rng(seed)
    n_rows = 70
    table = {
        "number": (rng.integers(-20, 20, n_rows) / 8).astype(object),
        "whole": rng.integers(0, 5, n_rows).astype(object),
        "indicator": rng.integers(0, 2, n_rows).astype(object),
        "flag": (rng.random(n_rows) < 0.5).astype(object),
        "text": rng.choice(["a", "b", "c", "r1", "r2", "r3"], n_rows, p=[0.3, 0.3, 0.25, 0.05, 0.05, 0.05]).astype(
            object
        ),
        "ordered": rng.choice(["low", "high"], n_rows).astype(object),
        "when": np.array(
            [START + datetime.timedelta(hours=int(h)) for h in rng.integers(0, 9000, n_rows)], dtype=object
        ),
    }
    for values in table.values():
        values[rng.random(n_rows) < 0.15] = None
    frame = pd.DataFrame({name: pd.Series(values.tolist()) for name, values in table.items()})
    frame["ordered"] = pd.Categorical(table["ordered"], ["low", "mid", "high"], ordered=True)
    return frame, rng.normal(size=n_rows)


@st.composite
def conditions(draw, column, name, matrix_column):
    options = {"missing": draw(st.booleans()), "part": column.part}
    if draw(st.integers(0, 5)) == 0:
        return Condition(name, **options) if not options["missing"] else Condition(name, **options, values=False)
    if column.kind == "category":
        codes = draw(st.sets(st.integers(0, len(column.labels) - 1)))
        excluded = column.rare in codes if column.rare is not None else draw(st.booleans())
        named = [code for code in range(len(column.labels)) if code != column.rare and (code in codes) != excluded]
        labels = tuple(label for code in named for label in column.labels[code])
        if not labels:
            return Condition(name, **options) if not options["missing"] else Condition(name, **options, values=False)
        return Condition(name, labels=labels, excluded=excluded, **options)
    ends = draw(st.tuples(*[st.sampled_from(matrix_column[~np.isnan(matrix_column)].tolist())] * 2))
    low, high = draw(st.sampled_from([(min(ends), max(ends) + 1), (-INF, ends[0]), (ends[0], INF)]))
    closed = {"low_closed": draw(st.booleans()), "high_closed": draw(st.booleans())}
    return Condition(name, low, high, **closed, **options)


@settings(max_examples=n_examples(50), deadline=None)
@given(data=st.data(), seed=st.integers(0, 30))
def test_a_rule_covers_the_same_rows_of_the_table_and_of_the_decoded_matrix(data, seed):
    frame, _ = training_table(seed)
    table = read_columns(frame)
    encoding = Encoding.learn(table, "parts")
    matrix = encoding.encode(table)
    decoded = encoding.decode(matrix)
    assert decoded.names == table.names
    assert decoded.n_rows == table.n_rows
    chosen = data.draw(st.sets(st.sampled_from(range(len(encoding.columns))), min_size=1, max_size=3))
    drawn = []
    for c in sorted(chosen):
        column = encoding.columns[c]
        drawn.append(data.draw(conditions(column, encoding.names[column.source], matrix[:, c])))
    rule = Rule(tuple(drawn), "a", None, 1.0, 1, 0.1, 1.0, None, True, 1.0, False)
    assert rule.covers(decoded).tolist() == rule.covers(frame).tolist()


def test_rare_categories_become_one_that_rules_cover_alike():
    values = repeated(a=12, r=2, b=12, s=2)
    encoding = learn({"a": values})
    decoded = encoding.decode(encoding.encode(read_columns({"a": values})))
    assert decoded.labels(0)[0] == ("a", "b", "r")
    for condition in (
        Condition("a", labels=("a",), excluded=True),
        Condition("a", labels=("a", "b"), excluded=True),
        Condition("a", labels=("b",)),
    ):
        assert condition.covers_rows(decoded).tolist() == condition.covers(values).tolist()
    assert Condition("a", labels=("a", "b"), excluded=True).covers_rows(decoded).sum() == 4


def test_a_table_without_names_stays_without():
    X = np.array([["x", 1.5]] * ENOUGH + [["y", 2.5]] * ENOUGH, dtype=object)
    encoding = learn(X)
    decoded = encoding.decode(encoding.encode(read_columns(X)))
    assert not decoded.has_names
    assert decoded.names == encoding.names == ("x0", "x1")
    assert decoded.numbers(1).tolist() == X[:, 1].tolist()
