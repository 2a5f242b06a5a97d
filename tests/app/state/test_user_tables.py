"""Tables of users as polars frames, and identifiers of their rows."""

import datetime

import numpy as np
import polars as pl
import pytest

from suffice.app.state.user_tables import as_polars, find_ids, plain_value, read_date


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
