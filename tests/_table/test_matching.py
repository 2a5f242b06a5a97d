import re

import pytest

from suffice._table.input import match_columns


def test_columns_of_a_list_of_names_are_ignored():
    assert match_columns(["id", "b", "a"], ["a", "b"], ["id", "when"]) == [2, 1]
    message = "`X` has 4 columns, there were 2 at fit: missing [], unexpected ['c']. With extra_columns='ignore'"
    with pytest.raises(ValueError, match=re.escape(message)):
        match_columns(["id", "b", "a", "c"], ["a", "b"], ["id", "when"])


def test_a_missing_column_is_named_with_a_near_one_that_would_be_ignored():
    message = "missing ['hour'], unexpected ['id', 'hours']. Did you mean 'hours'?"
    with pytest.raises(ValueError, match=re.escape(message)):
        match_columns(["id", "hours"], ["hour"], ["id", "hours"])


def test_long_lists_of_columns_are_cut():
    names = [f"c{i}" for i in range(60)]
    with pytest.raises(ValueError, match=re.escape(f"missing {names[:50]} and 10 more, unexpected ['x'].")):
        match_columns(["x"], names, "error")
    with pytest.raises(ValueError, match=re.escape(f"missing [], unexpected {names[:50]} and 10 more.")):
        match_columns(["x", *names], ["x"], "error")


@pytest.mark.parametrize("extra", ["ignore", [f"extra {i}" for i in range(500)]])
def test_columns_are_matched_without_comparing_all_pairs(extra):
    """A set of the names was made for each name: 40,000 columns took minutes."""
    n_touched = 0

    class Name(str):
        __slots__ = ()

        def __eq__(self, other):
            nonlocal n_touched
            n_touched += 1
            return str.__eq__(self, other)

        def __hash__(self):
            nonlocal n_touched
            n_touched += 1
            return str.__hash__(self)

    fitted = [Name(f"column {i}") for i in range(500)]
    names = [*(Name(f"extra {i}") for i in range(500)), *fitted]
    assert match_columns(names, fitted, extra) == list(range(500, 1000))
    assert n_touched < 20 * len(names)
