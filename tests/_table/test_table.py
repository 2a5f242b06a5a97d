"""Tables of every library: what their columns hold, as numbers, as labels and as dates."""

from __future__ import annotations

import datetime
import decimal
import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import n_examples

from suffice._table.table import (
    DATE_PARTS,
    Table,
    is_missing,
    read_columns,
)
from suffice.errors import InputTypeError

NAN, INF = math.nan, math.inf
DATE, DATETIME, DECIMAL = datetime.date, datetime.datetime, decimal.Decimal
COLUMNS = {
    "number": [1.5, None, -2.0, 0.25, 1.5],
    "whole": [3, 1, None, 3, 0],
    "flag": [True, None, False, True, False],
    "text": ["b", "a", None, "b", "c d"],
    "when": [DATETIME(2024, 2, 29, 23), None, DATETIME(2023, 12, 31), DATETIME(2024, 1, 1, 7, 59), None],
    "day": [DATE(2024, 2, 29), DATE(2023, 12, 31), None, DATE(1999, 5, 8), DATE(2024, 2, 29)],
}
KINDS = {
    "number": "number",
    "whole": "number",
    "flag": "boolean",
    "text": "category",
    "when": "date",
    "day": "date",
}


def as_array(columns):
    array = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for i, values in enumerate(columns.values()):
        array[:, i] = values
    return array


def as_nullable(columns):
    with np.errstate(invalid="ignore"):  # pandas 2.2 casts large numbers to integers to see whether they are whole
        return pd.DataFrame(columns).convert_dtypes()


READERS = {
    "pandas": lambda columns: read_columns(pd.DataFrame(columns)),
    "pandas nullable": lambda columns: read_columns(as_nullable(columns)),
    "pandas pyarrow": lambda columns: read_columns(pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)),
    "polars": lambda columns: read_columns(pl.DataFrame(columns, strict=False)),
    "pyarrow": lambda columns: read_columns(pa.table(columns)),
    "array": lambda columns: Table(tuple(columns), list(as_array(columns).T), len(as_array(columns))),
    "dict": read_columns,
}
EVERY_READER = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


def is_gap(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def expected_labels(values):
    known = list(dict.fromkeys(value for value in values if not is_gap(value)))
    return tuple(known), [-1 if is_gap(value) else known.index(value) for value in values]


def expected_part(value, part):
    if value is None:
        return NAN
    if part == "weekday":
        return float(value.weekday())
    return float(getattr(value, part)) if hasattr(value, part) else 0.0


def assert_reads(table, columns, kinds):
    assert table.names == tuple(columns)
    assert table.n_rows == len(next(iter(columns.values())))
    assert table.has_names
    for i, (name, values) in enumerate(columns.items()):
        assert table.kind(i) == kinds[name], name
        assert table.position(name) == i
        assert table.is_missing(i).tolist() == [is_gap(value) for value in values]
        labels, codes = table.labels(i)
        assert (labels, codes.tolist()) == expected_labels(values)
        assert codes.dtype == np.intp
        if kinds[name] in ("number", "boolean"):
            numbers = table.numbers(i)
            np.testing.assert_array_equal(numbers, [NAN if v is None else float(v) for v in values])
            np.testing.assert_array_equal(table.raw(i), numbers)
            assert numbers.dtype == np.float64
        if kinds[name] == "date":
            for part in DATE_PARTS:
                parts = table.date_part(i, part)
                np.testing.assert_array_equal(parts, [expected_part(value, part) for value in values])
                assert parts.dtype == np.float64


# --- the same table, from every library ------------------------------------------------------------------------------


@EVERY_READER
def test_every_library_gives_the_same_table(read):
    assert_reads(read(COLUMNS), COLUMNS, KINDS)


def gappy(values):
    """Five values, the first of them not missing: a column of missing values only has no kind."""
    return st.tuples(values, *[st.one_of(st.none(), values)] * 4).map(list)


@settings(max_examples=n_examples(25), deadline=None)
@given(
    columns=st.fixed_dictionaries(
        {
            "number": gappy(st.floats(allow_nan=False) | st.sampled_from([0.5, -0.0, 1e300])),
            "whole": gappy(st.integers(-(2**53), 2**53) | st.integers(0, 2)),
            "flag": gappy(st.booleans()),
            "text": gappy(
                st.text(st.characters(codec="utf-8"), max_size=3) | st.sampled_from(["nan", "", "1", "None"])
            ),
            "when": gappy(st.datetimes(DATETIME(1700, 1, 1), DATETIME(2200, 1, 1))),
            "day": gappy(st.dates(DATE(1700, 1, 1), DATE(2200, 1, 1))),
        }
    )
)
def test_every_library_gives_the_same_table_whatever_it_holds(columns):
    for read in READERS.values():
        assert_reads(read(columns), columns, KINDS)


@EVERY_READER
def test_nan_is_missing_as_none_is(read):
    columns = {"number": [NAN, 1.0, None, INF, -INF]}
    table = read(columns)
    assert table.kind(0) == "number"
    assert table.is_missing(0).tolist() == [True, False, True, False, False]
    np.testing.assert_array_equal(table.numbers(0), [NAN, 1, NAN, INF, -INF])
    labels, codes = table.labels(0)
    assert labels == (1.0, INF, -INF)
    assert codes.tolist() == [-1, 0, -1, 1, 2]


@EVERY_READER
def test_a_column_of_only_missing_values_is_one_of_numbers(read):
    table = read({"a": [None, None], "b": [1.0, 2.0]})
    assert table.labels(0)[0] == ()
    assert table.labels(0)[1].tolist() == [-1, -1]
    assert table.is_missing(0).tolist() == [True, True]
    np.testing.assert_array_equal(table.numbers(0), [NAN, NAN])
    assert table.kind(0) == "number"


@EVERY_READER
def test_a_table_without_rows_has_columns(read):
    table = read({name: values[:0] for name, values in COLUMNS.items()})
    assert table.n_rows == 0
    assert table.names == tuple(COLUMNS)
    for i in range(len(COLUMNS)):
        assert table.labels(i)[0] == ()
        assert len(table.labels(i)[1]) == 0


def test_only_frames_belong_to_a_library():
    libraries = {name: read(COLUMNS).library for name, read in READERS.items()}
    assert libraries == {
        "pandas": "pandas",
        "pandas nullable": "pandas",
        "pandas pyarrow": "pandas",
        "polars": "polars",
        "pyarrow": "pyarrow",
        "array": None,
        "dict": None,
    }


# --- kinds -----------------------------------------------------------------------------------------------------------


ORDERED = ["low", "mid", "high"]
CODES = pa.array([1, 0, None], pa.int8())
NEW_YORK = "America/New_York"


def of_pandas(values, **options):
    return pd.DataFrame({"a": pd.Series(values, **options)})


def of_polars(values, dtype=None):
    return pl.DataFrame({"a": pl.Series(values, dtype=dtype)})


def of_pyarrow(values, dtype=None):
    return pa.table({"a": pa.array(values, dtype)})


FOUND = {
    # pandas
    "pandas float32": (of_pandas([1, None], dtype="float32"), "number"),
    "pandas int8": (of_pandas([1, 2], dtype="int8"), "number"),
    "pandas uint64": (of_pandas([1, 2], dtype="uint64"), "number"),
    "pandas Int64 with gaps": (of_pandas([1, None], dtype="Int64"), "number"),
    "pandas Float32 with gaps": (of_pandas([1, None], dtype="Float32"), "number"),
    "pandas int64[pyarrow] with gaps": (of_pandas([1, None], dtype="int64[pyarrow]"), "number"),
    "pandas bool": (of_pandas([True, False]), "boolean"),
    "pandas boolean with gaps": (of_pandas([True, None], dtype="boolean"), "boolean"),
    "pandas bool[pyarrow] with gaps": (of_pandas([True, None], dtype="bool[pyarrow]"), "boolean"),
    "pandas object booleans with None": (of_pandas([True, None], dtype=object), "boolean"),
    "pandas object booleans with NaN": (of_pandas([True, NAN], dtype=object), "boolean"),
    "pandas object numbers with None": (of_pandas([1, None, 2.5], dtype=object), "number"),
    "pandas object strings": (of_pandas(["a", None, "b"], dtype=object), "category"),
    "pandas string": (of_pandas(["a", None], dtype="string"), "category"),
    "pandas string[pyarrow]": (of_pandas(["a", None], dtype="string[pyarrow]"), "category"),
    "pandas unordered": (of_pandas(pd.Categorical(["a", None, "b"])), "category"),
    "pandas unordered numbers": (of_pandas(pd.Categorical([3, 1, None])), "category"),
    "pandas ordered": (of_pandas(pd.Categorical(["low", None], ORDERED, ordered=True)), "ordered"),
    "pandas ordered numbers": (of_pandas(pd.Categorical([3, 1], ordered=True)), "ordered"),
    "pandas datetime": (of_pandas(pd.to_datetime(["2024-01-01", None])), "date"),
    "pandas datetime with a zone": (of_pandas(pd.to_datetime(["2024-01-01"]).tz_localize(NEW_YORK)), "date"),
    "pandas date32[pyarrow]": (of_pandas([DATE(2024, 1, 1), None], dtype="date32[pyarrow]"), "date"),
    "pandas object dates": (of_pandas([DATE(2024, 1, 1), None], dtype=object), "date"),
    "pandas object datetimes": (of_pandas([DATETIME(2024, 1, 1), pd.NaT], dtype=object), "date"),
    "pandas decimal[pyarrow]": (
        of_pandas([DECIMAL("1.5"), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
        "number",
    ),
    "pandas object Decimals": (of_pandas([DECIMAL("1.5"), None], dtype=object), "number"),
    # polars
    "polars Float32": (of_polars([1.0, None], pl.Float32), "number"),
    "polars UInt8": (of_polars([1, None], pl.UInt8), "number"),
    "polars Decimal": (of_polars([DECIMAL("1.5"), None]), "number"),
    "polars Boolean": (of_polars([True, None]), "boolean"),
    "polars String": (of_polars(["a", None]), "category"),
    "polars Categorical": (of_polars(["a", None], pl.Categorical), "category"),
    "polars Enum": (of_polars(["low", None], pl.Enum(ORDERED)), "ordered"),
    "polars Date": (of_polars([DATE(2024, 1, 1), None]), "date"),
    "polars Datetime": (of_polars([DATETIME(2024, 1, 1), None], pl.Datetime("ns")), "date"),
    "polars Datetime with a zone": (of_polars([DATETIME(2024, 1, 1)], pl.Datetime("ms", NEW_YORK)), "date"),
    "polars Object strings": (of_polars(["a", None], pl.Object), "category"),
    # pyarrow
    "pyarrow float": (of_pyarrow([1.0, None], pa.float32()), "number"),
    "pyarrow uint8": (of_pyarrow([1, None], pa.uint8()), "number"),
    "pyarrow decimal": (of_pyarrow([DECIMAL("1.5"), None]), "number"),
    "pyarrow bool": (of_pyarrow([True, None]), "boolean"),
    "pyarrow string": (of_pyarrow(["a", None]), "category"),
    "pyarrow large_string": (of_pyarrow(["a", None], pa.large_string()), "category"),
    "pyarrow dictionary": (pa.table({"a": pa.array(["b", "a", None]).dictionary_encode()}), "category"),
    "pyarrow ordered dictionary": (
        pa.table({"a": pa.DictionaryArray.from_arrays(CODES, pa.array(ORDERED), ordered=True)}),
        "ordered",
    ),
    "pyarrow date32": (of_pyarrow([DATE(2024, 1, 1), None]), "date"),
    "pyarrow timestamp with a zone": (of_pyarrow([DATETIME(2024, 1, 1)], pa.timestamp("us", NEW_YORK)), "date"),
    # arrays
    "array of float16": ({"a": np.array([1, NAN], dtype=np.float16)}, "number"),
    "array of uint64": ({"a": np.array([1, 2], dtype=np.uint64)}, "number"),
    "array of booleans": ({"a": np.array([True, False])}, "boolean"),
    "array of text": ({"a": np.array(["a", "b"])}, "category"),
    "array of days": ({"a": np.array(["2024-01-01", "NaT"], dtype="M8[D]")}, "date"),
    "array of nanoseconds": ({"a": np.array(["2024-01-01", "NaT"], dtype="M8[ns]")}, "date"),
    "objects: booleans with None": ({"a": [True, None]}, "boolean"),
    "objects: np.bool_": ({"a": np.array([np.True_, None], dtype=object)}, "boolean"),
    "objects: booleans and numbers": ({"a": [True, 2, None]}, "number"),
    "objects: numbers of many kinds": ({"a": [1, 2.5, np.float32(3), Fraction(1, 2), None]}, "number"),
    "objects: Decimals": ({"a": [DECIMAL("1.5"), None]}, "number"),
    "objects: np.str_": ({"a": np.array([np.str_("a"), "b", None], dtype=object)}, "category"),
    "objects: dates and datetimes": ({"a": [DATE(2024, 1, 1), DATETIME(2024, 1, 1, 5), None]}, "date"),
    "objects: np.datetime64": ({"a": np.array([np.datetime64("2024-01-01"), None], dtype=object)}, "date"),
}


@pytest.mark.parametrize(("X", "kind"), FOUND.values(), ids=FOUND)
def test_a_column_has_the_kind_of_its_values(X, kind):
    table = read_columns(X)
    assert table.kind(0) == kind
    assert table.labels(0)[1].max() == len(table.labels(0)[0]) - 1
    assert table.is_missing(0).tolist() == (table.labels(0)[1] < 0).tolist()


def test_a_pandas_column_of_pyarrow_dictionaries_holds_categories():
    encoded = pa.table({"a": pa.array(["b", "a", None]).dictionary_encode()})
    table = read_columns(encoded.to_pandas(types_mapper=pd.ArrowDtype))
    assert table.labels(0)[0] == ("b", "a")
    assert table.kind(0) == "category"


@pytest.mark.parametrize(
    ("X", "held"),
    [
        (of_pandas(pd.to_timedelta(["1D"])), "Duration("),
        (of_pandas([[1], [2]]), "list (row 0)"),
        (of_pandas([{"b": 1}]), "dict (row 0)"),
        (of_pandas([b"a"]), "objects of the types ['bytes'] (row 0)."),
        (of_pandas([datetime.time(1)]), "objects of the types ['time'] (row 0)."),
        (of_pandas([1, "a"], dtype=object), "objects of the types ['int', 'str'] (row 1): make them all strings."),
        (of_pandas([True, "a", None], dtype=object), "objects of the types ['bool', 'str'] (row 1): make them all"),
        (of_pandas([DATE(2024, 1, 1), 1], dtype=object), "objects of the types ['date', 'int'] (row 1)."),
        (of_pandas(pd.period_range("2024", periods=2, freq="M")), "objects of the types ['Period'] (row 0)."),
        (of_polars([datetime.timedelta(1)]), "Duration("),
        (of_polars([[1], [2]]), "List(Int64)."),
        (of_polars([{"b": 1}]), "Struct({'b': Int64})."),
        (of_polars([b"a"]), "Binary."),
        (of_polars([datetime.time(1)]), "Time."),
        (of_polars(["a", 1], pl.Object), "objects of the types ['int', 'str'] (row 1): make them all strings."),
        (of_pyarrow([datetime.timedelta(1)]), "Duration("),
        (of_pyarrow([[1], [2]]), "List(Int64)."),
        (of_pyarrow([{"b": 1}]), "Struct({'b': Int64})."),
        (of_pyarrow([b"a"]), "Binary."),
        (of_pyarrow([datetime.time(1)]), "Time."),
        ({"a": np.array([1], dtype="m8[s]")}, "timedelta64[s]."),
        ({"a": np.array([b"a"])}, "|S1."),
        ({"a": np.array([1j])}, "complex128."),
        ({"a": ["a", None, 1]}, "objects of the types ['int', 'str'] (row 2): make them all strings."),
        ({"a": np.array([None, [1]], dtype=object)}, "list (row 1)"),
    ],
)
def test_what_is_neither_number_nor_label_nor_date_is_refused_by_the_name_of_its_column(X, held):
    message = f"Column 'a' of `X` must hold numbers, labels or dates, got {held}"
    with pytest.raises(InputTypeError, match=re.escape(message)) as caught:
        read_columns(X).kind(0)
    error = caught.value
    assert error.column == "a"
    assert (f"(row {error.row})" in message) == (error.row is not None)


@pytest.mark.parametrize(
    ("values", "row", "value"), [(["a", None, "b", 1], 3, 1), ([None, [1], 2], 1, [1]), ([None, b"a", "b"], 1, b"a")]
)
def test_the_first_value_of_another_kind_is_known_to_the_error(values, row, value):
    for X in (of_pandas(values, dtype=object), {"a": np.array([*values, None], dtype=object)}):
        with pytest.raises(InputTypeError) as caught:
            read_columns(X).kind(0)
        assert (caught.value.row, caught.value.column, caught.value.value) == (row, "a", value)


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_an_array_of_numbers_is_kept_as_it_is():
    array = np.array([[1, 2], [3, 4]], dtype=np.int32)
    table = read_columns(array)
    assert table.array is array
    assert table.raw(1).dtype == np.int32
    assert table.numbers(1).dtype == np.float64
    assert not table.has_names
    assert table.names == ("x0", "x1")


@pytest.mark.parametrize("array", [np.array([[True, False]]), np.array([["a", "b"]]), np.array([[1, None]])])
def test_an_array_of_anything_else_is_no_array_of_numbers(array):
    assert read_columns(array).array is None


@pytest.mark.parametrize(
    "X",
    [
        of_pandas([DECIMAL("1.5"), None], dtype=object),
        of_polars([DECIMAL("1.5"), None]),
        of_pyarrow([DECIMAL("1.5"), None]),
        {"a": [DECIMAL("1.5"), None]},
        {"a": [Fraction(3, 2), None]},
        of_pandas([1.5, pd.NA], dtype=object),
        of_polars([1.5, None], pl.Object),
        {"a": np.array([1.5, pd.NA], dtype=object)},
    ],
    ids=[
        "pandas Decimal",
        "polars Decimal",
        "pyarrow Decimal",
        "Decimal",
        "Fraction",
        "pandas objects with NA",
        "polars Object",
        "objects with NA",
    ],
)
def test_numbers_of_other_kinds_become_floats(X):
    table = read_columns(X)
    assert table.numbers(0).tolist()[:1] == [1.5]
    assert np.isnan(table.numbers(0)).tolist() == [False, True]
    assert table.is_missing(0).tolist() == [False, True]


@EVERY_READER
def test_booleans_are_numbers_too(read):
    np.testing.assert_array_equal(read({"a": [True, None, False]}).numbers(0), [1, NAN, 0])


@pytest.mark.parametrize("dtype", [pa.int64(), pa.uint64()])
def test_whole_numbers_beyond_those_of_float64_are_rounded(dtype):
    """Arrow refused to cast them: "must hold numbers, got something else"."""
    X = pa.table({"a": pa.array([2**60 + 1, None, 3], dtype)})
    np.testing.assert_array_equal(read_columns(X).numbers(0), [2.0**60, NAN, 3])


def test_objects_that_are_booleans_or_missing_are_numbers_too():
    np.testing.assert_array_equal(read_columns(of_pandas([True, pd.NA], dtype=object)).numbers(0), [1, NAN])


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    ("values", "held", "row"),
    [
        ([None, "a", "b"], "the text 'a' (row 1)", 1),
        ([DATE(2024, 1, 1), None], "something else", None),
    ],
)
def test_a_value_that_is_not_a_number_is_refused_in_a_column_of_numbers(read, values, held, row):
    message = re.escape(f"Column 'a' of `X` must hold numbers, got {held}.")
    with pytest.raises(InputTypeError, match=f"^{message}$") as caught:
        read({"a": values}).numbers(0)
    error = caught.value
    assert error.column == "a"
    assert (error.row, error.value) == (row, None if row is None else values[row])


# --- labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, NAN, np.float32(NAN), pd.NaT, pd.NA, np.datetime64("NaT"), DECIMAL("NaN")])
def test_these_stand_for_a_missing_value(value):
    assert is_missing(value)
    labels, codes = read_columns({"a": np.array(["x", value, "y", value], dtype=object)}).labels(0)
    assert labels == ("x", "y")
    assert codes.tolist() == [0, -1, 1, -1]


@pytest.mark.parametrize("value", [0, False, "", "nan", "None", "NA", INF, DATE(2024, 1, 1), (), np.arange(3)])
def test_these_do_not_stand_for_a_missing_value(value):
    assert not is_missing(value)


def test_labels_come_in_the_order_of_their_first_rows():
    for values in itertools.product(["a", "b", None], repeat=4):
        labels, codes = read_columns({"a": np.array(values, dtype=object)}).labels(0)
        assert (labels, codes.tolist()) == expected_labels(values)


def test_categories_are_all_that_were_declared_in_their_order():
    declared = pd.Categorical(["mid", "low", None], ORDERED, ordered=True)
    dictionary = pa.DictionaryArray.from_arrays(CODES, pa.array(ORDERED), ordered=True)
    frames = [of_pandas(declared), of_polars(["mid", "low", None], pl.Enum(ORDERED)), pa.table({"a": dictionary})]
    for X in frames:
        table = read_columns(X)
        assert table.categories(0) == ("low", "mid", "high")
        assert table.labels(0)[0] == ("mid", "low")
        assert table.labels(0)[1].tolist() == [0, 1, -1]


def test_categories_that_are_numbers_stay_numbers():
    table = read_columns(of_pandas(pd.Categorical([3, 1, None], ordered=True)))
    assert table.categories(0) == (1, 3)
    assert table.labels(0)[0] == (3, 1)


# --- dates -----------------------------------------------------------------------------------------------------------


EVENING = DATETIME(2024, 2, 29, 23, 30)
PARTS_OF_EVENING = {"year": 2024, "month": 2, "day": 29, "weekday": 3, "hour": 23}  # a Thursday


@pytest.mark.parametrize(
    "X",
    [
        of_pandas([pd.Timestamp(EVENING, tz=NEW_YORK), None]),
        of_polars([EVENING, None]).with_columns(pl.col("a").dt.replace_time_zone(NEW_YORK)),
        pa.table({"a": pa.array(pd.DatetimeIndex([pd.Timestamp(EVENING, tz=NEW_YORK), pd.NaT]))}),
        {"a": np.array([EVENING, None], dtype="M8[s]")},
        {"a": np.array([EVENING, None], dtype="M8[ns]")},
        {"a": [pd.Timestamp(EVENING, tz=NEW_YORK), pd.NaT]},
        {"a": np.array([np.datetime64(EVENING), None], dtype=object)},
    ],
    ids=["pandas", "polars", "pyarrow", "seconds", "nanoseconds", "objects", "objects of NumPy"],
)
@pytest.mark.parametrize("part", DATE_PARTS)
def test_a_part_of_a_date_is_that_of_its_own_clock(X, part):
    np.testing.assert_array_equal(read_columns(X).date_part(0, part), [PARTS_OF_EVENING[part], NAN])


@EVERY_READER
def test_weekdays_count_from_monday(read):
    days = [DATE(2024, 1, 1) + datetime.timedelta(d) for d in range(9)]
    assert read({"a": days}).date_part(0, "weekday").tolist() == [0, 1, 2, 3, 4, 5, 6, 0, 1]


@EVERY_READER
@pytest.mark.parametrize("values", [[1.0, 2.0], ["a", "b"], [True, None]])
def test_only_dates_have_parts(read, values):
    with pytest.raises(TypeError, match=r"^Column 'a' of `X` must hold dates.$"):
        read({"a": values}).date_part(0, "year")


# --- what was read is kept -------------------------------------------------------------------------------------------


@EVERY_READER
def test_a_column_is_read_once(read):
    table = read(COLUMNS)
    for i, name in enumerate(COLUMNS):
        assert table.labels(i) is table.labels(i)
        if KINDS[name] in ("number", "boolean"):
            assert table.numbers(i) is table.numbers(i)
        if KINDS[name] == "date":
            assert all(table.date_part(i, part) is table.date_part(i, part) for part in DATE_PARTS)
            assert table.date_part(i, "year") is not table.date_part(i, "month")


def test_what_is_known_of_a_column_is_not_read():
    labels = (("a", "b"), np.array([1, -1, 0]))
    table = Table(("a",), [np.empty(0)], 3, read={(0, "labels"): labels})
    assert table.labels(0) is labels
    assert table.is_missing(0).tolist() == [False, True, False]


def test_a_table_that_was_read_is_read_no_more():
    table = read_columns(COLUMNS)
    assert read_columns(table) is table


# --- columns of the training table in another table ------------------------------------------------------------------


@EVERY_READER
@pytest.mark.parametrize("positions", [[0, 1], [5, 0, 3], [0, 1, 2, 3, 4, 5], []])
def test_columns_are_chosen_in_an_order_of_your_own(read, positions):
    table = read(COLUMNS)
    chosen = table.choose(positions)
    names = list(COLUMNS)
    assert chosen.names == tuple(names[i] for i in positions)
    assert (chosen is table) == (positions == list(range(6)))
    assert (chosen.n_rows, chosen.library, chosen.has_names) == (5, table.library, True)
    for new, old in enumerate(positions):
        assert chosen.labels(new)[0] == table.labels(old)[0]


def test_the_value_that_makes_a_column_text_is_the_one_named():
    """The error named the first value, "6", which is a number, and not the one at fault."""
    table = read_columns({"months": np.array(["6", "WRONG", "12"], dtype=object)})
    with pytest.raises(InputTypeError, match=r"must hold numbers, got the text 'WRONG' \(row 1\)\.") as caught:
        table.numbers(0)
    assert (caught.value.row, caught.value.column, caught.value.value) == (1, "months", "WRONG")
    numbers = read_columns({"months": np.array(["6", " 12 ", " ", None], dtype=object)}).numbers(0)
    np.testing.assert_array_equal(numbers, [6, 12, NAN, NAN])


def test_one_text_among_numbers_is_named_with_its_row():
    table = read_columns({"months": np.array([6, 7.5, "n/k", 12, "3"], dtype=object)})
    message = "Column 'months' of `X` must hold numbers, got the text 'n/k' (row 2): give a number, or NaN if it is"
    with pytest.raises(InputTypeError, match=re.escape(message)) as caught:
        table.kind(0)
    assert (caught.value.row, caught.value.column, caught.value.value) == (2, "months", "n/k")


def test_blanks_among_numbers_written_as_text_are_unknown():
    table = read_columns({"fare": ["2.5", " ", None, "4"], "town": ["a", " ", None, "b"], "age": [1.0, NAN, 3.0, 4.0]})
    assert table.is_unknown(0).tolist() == [False, True, True, False]
    assert table.is_missing(0).tolist() == [False, False, True, False]
    assert table.is_unknown(1).tolist() == [False, False, True, False]
    assert table.is_unknown(2).tolist() == [False, True, False, False]


def test_the_names_are_not_listed_for_each_column(monkeypatch):
    """Columns were read by position, which lists all names: the time grew with the square of their number."""
    columns, n_listed = pl.DataFrame.columns, 0

    def listed(frame):
        nonlocal n_listed
        n_listed += 1
        return columns.fget(frame)

    wide = pl.DataFrame({f"c{i}": [1, 2] for i in range(200)})
    monkeypatch.setattr(pl.DataFrame, "columns", property(listed))
    table = read_columns(wide)
    assert table.names[-1] == "c199"
    assert n_listed < 20
