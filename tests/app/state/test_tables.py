"""Tables of users as polars frames, identifiers of their rows, and the search for rows."""

import datetime

import numpy as np
import polars as pl
import pytest

from suffice.app.state.tables import (
    as_polars,
    example_search,
    find_ids,
    find_rows,
    plain_value,
    read_date,
)


@pytest.mark.parametrize(
    ("frame", "ids"),
    [
        (pl.DataFrame({"x": [1.5, 2.5], "id": ["a", "b"]}), ["a", "b"]),
        (pl.DataFrame({"x": [1.5, 2.5], "id": [17, 18]}), ["17", "18"]),
        (pl.DataFrame({"x": [1.5, 2.5], "id": ["a", "a"]}), None),  # it repeats
        (pl.DataFrame({"x": [1.5, 2.5], "id": ["a", None]}), None),
        (pl.DataFrame({"x": [1.5, 2.5], "share": [0.1, 0.2]}), None),  # fractions are no identifiers
        (pl.DataFrame({"x": ["a", "b"]}), None),  # the explainer knows it
    ],
)
def test_identifiers_are_an_unused_column_without_repeats(frame, ids):
    assert find_ids(frame, {"x"}) == ids


def test_arrays_and_single_values_are_read():
    assert as_polars(np.array([[1, 2], [3, 4]]), ["a", "b"]).to_dict(as_series=False) == {"a": [1, 3], "b": [2, 4]}
    assert plain_value(float("nan")) is None
    assert read_date("day", "2024-01-31") == datetime.datetime(2024, 1, 31)
    with pytest.raises(ValueError, match="'x' is not a date: write the value of 'day' as 2024-01-31"):
        read_date("day", "x")


FRAME = pl.DataFrame(
    {
        "customerID": ["7590-VHVEG", "1677-AEVQX", "0042", "a AND b"],
        "id": [1, 2, 3, 4],
        "age": [21.5, 35.0, None, 50.0],
        "plan": ["two year", "month to month", "two year", None],
        "new": [True, False, True, False],
    }
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("customerID = 1677-AEVQX", [1]),
        ("customerID=1677-AEVQX", [1]),
        ('customerID = "1677-AEVQX"', [1]),
        ("customerID = 0042", [2]),  # text that looks like a number
        ("customerID != 1677-AEVQX", [0, 2, 3]),
        ("plan = two year AND id > 1", [2]),
        ("id = 2 and plan = month to month", [1]),
        ("customerID in {1677-AEVQX, 0042}", [1, 2]),
        ("plan = two year or missing", [0, 2, 3]),
        ("plan not in {two year}", [1]),
        ("plan is missing", [3]),
        ("new = True", [0, 2]),
        ("age > 21.5", [1, 3]),
        ("1677", [1]),
        ("", [0, 1, 2, 3]),
    ],
)
def test_rows_are_found(text, rows):
    """`customerID = 1677-AEVQX` was answered by "Did you mean 'customerID'?"."""
    assert find_rows(FRAME, text).tolist() == rows


def test_a_wrong_name_or_category_is_answered_by_a_near_one():
    with pytest.raises(ValueError, match=r"Did you mean 'customerID'\?"):
        find_rows(FRAME, "customerId = 1677-AEVQX")
    with pytest.raises(ValueError, match=r"no category '1677-AEVQ'\. Did you mean '1677-AEVQX'\?"):
        find_rows(FRAME, "customerID = 1677-AEVQ")
    with pytest.raises(ValueError, match="The column 'age' holds numbers, got '12-34'"):
        find_rows(FRAME, "age = 12-34")


def test_the_example_is_made_of_columns_of_the_table():
    frame = pl.DataFrame({"age": [20, 30, 40] * 10, "plan": ["a", "b", "b"] * 10, "name": [f"n{i}" for i in range(30)]})
    assert example_search(frame, ["name", "age", "plan"]) == "age > 30 AND name = n0"
    assert example_search(frame, ["age", "plan"]) == "age > 30 AND plan = b"
    assert example_search(frame.rename({"plan": "kind of the contract"}), ["age", "kind of the contract"]) == "age > 30"
    assert example_search(frame.select("plan"), ["plan"]) == "plan = b"
    assert example_search(pl.DataFrame({"constant": [1, 1]}), ["constant"]) == ""
    for text in ("age > 30 AND plan = b", "age > 30"):
        assert len(find_rows(frame, text)) > 0
