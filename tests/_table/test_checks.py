"""What the user passes: numbers, tables and targets."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from numbers import Integral

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from suffice._table.input import as_finite, check_finite, read_outcomes
from suffice.errors import InputTypeError, InputValueError, check_number

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("value", [0.5, 1, np.float32(0.25), np.int64(1)])
def test_a_number_in_range_passes(value):
    check_number("pi", value, "in (0, 1]", lambda v: 0 < v <= 1)


@pytest.mark.parametrize("value", [0, 1.5, NAN, -INF])
def test_a_number_out_of_range_is_a_wrong_value(value):
    with pytest.raises(ValueError, match=re.escape(f"`pi` must be in (0, 1], got {value!r}.")):
        check_number("pi", value, "in (0, 1]", lambda v: 0 < v <= 1)


@pytest.mark.parametrize("value", ["0.5", None, True, [0.5], 1j])
def test_a_value_that_is_not_a_number_is_a_type_error(value):
    with pytest.raises(TypeError, match=re.escape(f"`pi` must be in (0, 1], got {value!r}.")):
        check_number("pi", value, "in (0, 1]", lambda v: 0 < v <= 1)


@pytest.mark.parametrize("value", [1.0, np.float64(3), False])
def test_a_fraction_is_not_a_whole_number(value):
    with pytest.raises(TypeError, match="`size` must be a whole number, got"):
        check_number("size", value, "a whole number", lambda v: True, Integral)


def table(*rows):
    return np.array(rows, dtype=np.float32)


HUGE = float(np.finfo(np.float32).max)


@pytest.mark.parametrize("takes_missing", [True, False])
@pytest.mark.parametrize("X", [table([1, 2], [3, 4]), table([HUGE, HUGE]), table([-HUGE, HUGE]), table().reshape(0, 2)])
def test_a_finite_table_passes(X, takes_missing):
    check_finite(X, ["a", "b"], takes_missing)


def test_missing_values_pass_where_the_forest_takes_them():
    check_finite(table([1, NAN], [NAN, 4]), ["a", "b"], takes_missing=True)


@pytest.mark.parametrize(
    ("X", "takes_missing", "message"),
    [
        (
            table([1, 2], [3, NAN]),
            False,
            "Column 'b' of `X` holds NaN (row 1): this forest cannot take missing values, ",
        ),
        (
            table([1, 2], [INF, 4]),
            False,
            "Column 'a' of `X` holds infinity or a number too large for float32 (row 1): ",
        ),
        (
            table([1, 2], [3, -INF]),
            True,
            "Column 'b' of `X` holds infinity or a number too large for float32 (row 1): ",
        ),
        (table([NAN, 2], [3, INF]), True, "Column 'b' of `X` holds infinity"),
        (table([NAN, 2], [3, INF]), False, "Column 'a' of `X` holds NaN (row 0)"),
        (
            table([1, INF], [3, -INF]),
            True,
            "Column 'b' of `X` holds infinity or a number too large for float32 (row 0)",
        ),
    ],
)
def test_a_value_that_the_forest_cannot_take_is_named(X, takes_missing, message):
    with pytest.raises(InputValueError, match=re.escape(message)) as caught:
        check_finite(X, ["a", "b"], takes_missing)
    error = caught.value
    assert f"Column {error.column!r} of `X`" in message
    assert f"(row {error.row})" in str(error)
    np.testing.assert_equal(error.value, float(X[error.row, "ab".index(error.column)]))
    assert not np.isfinite(error.value)


@pytest.mark.parametrize(("takes_missing", "fix"), [(True, ", or NaN if it is missing"), (False, "")])
def test_nan_is_proposed_only_where_it_is_allowed(takes_missing, fix):
    with pytest.raises(ValueError, match=f"give a finite number{fix}\\.$"):
        check_finite(table([INF]), ["a"], takes_missing)


@pytest.mark.parametrize(
    ("y", "kind", "values"),
    [
        ([1, 2, 2], "i", [1, 2, 2]),
        ((1.5, 2, 3), "f", [1.5, 2.0, 3.0]),
        (["a", "b", "a"], "U", ["a", "b", "a"]),
        ([True, False, True], "b", [True, False, True]),
        ([np.str_("a"), "b", "c"], "U", ["a", "b", "c"]),
        (np.array([3, -1, 2], dtype=np.int8), "i", [3, -1, 2]),
        (np.array([3, 1, 2], dtype=np.uint8), "u", [3, 1, 2]),
        (np.array(["a", "b", "a"], dtype=object), "U", ["a", "b", "a"]),
        (np.array([True, False, True], dtype=object), "b", [True, False, True]),
        (np.array([1, 2.5, 3], dtype=object), "f", [1.0, 2.5, 3.0]),
        (pd.Series([1, 2, 3], index=[7, 7, 9]), "i", [1, 2, 3]),
        (pd.Series(["a", "b", "a"]), "U", ["a", "b", "a"]),
        (pd.Series(["a", "b", "a"], dtype="category"), "U", ["a", "b", "a"]),
        (pd.Series([1, 2, 3], dtype="Int64"), "i", [1, 2, 3]),
        (pd.Series([True, False, True], dtype="boolean"), "b", [True, False, True]),
        (pl.Series(["a", "b", "a"]), "U", ["a", "b", "a"]),
    ],
)
def test_labels_and_numbers_of_any_source_become_one_array(y, kind, values):
    target = read_outcomes(y, 3)
    assert target.dtype.kind == kind
    assert target.tolist() == values


MISSING = "`y` has a missing value (row 1): leave out the rows without an outcome."
NOT_FINITE = "`y` holds NaN or inf (row 1): leave out the rows without a finite outcome."


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        ([1, 2], ValueError, "`y` has 2 entries, `X` has 3 rows."),
        (np.zeros((3, 2)), ValueError, "`y` has 2 columns; explain one output at a time: fit(X, y[:, 0])."),
        ([[1, 2], [3, 4], [5, 6]], ValueError, "`y` has 2 columns; explain one output at a time"),
        (pd.DataFrame({"a": [1, 2, 3], "b": [1, 2, 3]}), ValueError, "`y` has 2 columns; explain one output at a time"),
        (5, ValueError, "y should be a 1d array"),
        (["a", None, "b"], ValueError, MISSING),
        (["a", NAN, "b"], ValueError, MISSING),
        ([1.0, NAN, 2.0], ValueError, MISSING),
        (np.array(["a", NAN, "b"], dtype=object), ValueError, MISSING),
        (pd.Series(["a", None, "b"]), ValueError, MISSING),
        (pd.Series(["a", None, "b"], dtype="category"), ValueError, MISSING),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), ValueError, MISSING),
        (pd.array([True, pd.NA, False], dtype="boolean"), ValueError, MISSING),
        (pl.Series(["a", None, "b"]), ValueError, MISSING),
        (np.array([1.0, NAN, 2.0]), ValueError, NOT_FINITE),
        ([1.0, INF, 2.0], ValueError, NOT_FINITE),
        (np.array([1.0, -INF, 2.0], dtype=np.float32), ValueError, NOT_FINITE),
        (
            [1, "a", 2],
            TypeError,
            "`y` mixes text with other labels, of the types ['int', 'str'] (row 1): make them all strings.",
        ),
        (
            np.array([True, "a", 2], dtype=object),
            TypeError,
            "of the types ['bool', 'int', 'str'] (row 1): make them all strings.",
        ),
        (np.arange(3).astype("datetime64[D]"), TypeError, "`y` must hold labels or numbers, got datetime64[D]."),
        (np.arange(3).astype("timedelta64[s]"), TypeError, "`y` must hold labels or numbers, got timedelta64[s]."),
        (pd.Series(pd.date_range("2020", periods=3)), TypeError, "`y` must hold labels or numbers, got datetime64"),
        (
            [datetime.date(2020, 1, 1)] * 3,
            TypeError,
            "`y` must hold labels or numbers, got objects of the types ['date']",
        ),
        ([Decimal("1.5")] * 3, TypeError, "`y` must hold labels or numbers, got objects of the types ['Decimal']."),
        (np.zeros(3, dtype=complex), ValueError, "Complex data not supported"),
    ],
)
def test_a_target_of_the_wrong_kind_is_refused(y, error, message):
    with pytest.raises(error, match=re.escape(message)):
        read_outcomes(y, 3)


@pytest.mark.parametrize(
    ("y", "error", "row", "value"),
    [
        (["a", None, "b"], InputValueError, 1, None),
        (np.array([1.0, 2.0, -INF]), InputValueError, 2, -INF),
        ([1, 2, "a"], InputTypeError, 2, "a"),
        (["a", "b", 2.5], InputTypeError, 2, 2.5),
    ],
)
def test_an_error_about_the_outcomes_knows_its_row_and_value(y, error, row, value):
    with pytest.raises(error) as caught:
        read_outcomes(y, 3)
    assert (caught.value.row, caught.value.column, caught.value.value) == (row, None, value)


def test_a_missing_label_in_a_list_does_not_count_as_a_label():
    """NumPy turns ["a", nan] into the strings "a" and "nan", and the second was fitted as a class."""
    with pytest.raises(ValueError, match="missing value"):
        read_outcomes(["a", float("nan")], 2)


def test_a_column_vector_is_flattened_with_a_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert read_outcomes(np.array([[1], [2]]), 2).tolist() == [1, 2]


def test_no_rows_have_no_outcomes():
    assert len(read_outcomes([], 0)) == 0


@pytest.mark.parametrize("y", [np.array([1, 2]), np.array([True, False]), np.array(["1.5", "2"]), np.array([1, 2.5])])
def test_finite_numbers_become_float64(y):
    assert as_finite(y).dtype == np.float64
    assert as_finite(y).tolist() == [float(v) for v in y.tolist()]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array(["a", "b"]), "`y` must hold numbers for a regression; give task='classification' for labels."),
        (np.array([0.0, NAN]), NOT_FINITE),
        (np.array([0.0, INF]), NOT_FINITE),
        (np.array(["0", "nan"]), NOT_FINITE),
    ],
)
def test_a_value_that_is_not_a_finite_number_is_refused(y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        as_finite(y)
