"""Names, groups and sets of variables."""

from __future__ import annotations

import re

import numpy as np
import pytest

from suffice._table.variables import Variables

COLUMNS = ["hour", "rain", "snow", "temp"]
PLAIN = Variables.from_columns(COLUMNS)
GROUPED = Variables.from_columns(COLUMNS, {"weather": ["snow", "rain"]})


def test_without_groups_each_column_is_a_variable():
    assert PLAIN.names == tuple(COLUMNS)
    assert PLAIN.columns == ((0,), (1,), (2,), (3,))
    assert PLAIN.column_names == tuple(COLUMNS)
    assert len(PLAIN) == 4


@pytest.mark.parametrize(
    ("groups", "names", "columns"),
    [
        (None, ("hour", "rain", "snow", "temp"), ((0,), (1,), (2,), (3,))),
        ({}, ("hour", "rain", "snow", "temp"), ((0,), (1,), (2,), (3,))),
        ({"weather": ["rain", "snow"]}, ("hour", "weather", "temp"), ((0,), (1, 2), (3,))),
        ({"weather": ["snow", "rain"]}, ("hour", "weather", "temp"), ((0,), (1, 2), (3,))),
        ({"weather": [2, "rain", 1]}, ("hour", "weather", "temp"), ((0,), (1, 2), (3,))),
        ({"ends": ["temp", "hour"]}, ("ends", "rain", "snow"), ((0, 3), (1,), (2,))),
        ({"b": ["temp", "rain"], "a": ["snow", "hour"]}, ("a", "b"), ((0, 2), (1, 3))),
        ({"only": ["snow"]}, ("hour", "rain", "only", "temp"), ((0,), (1,), (2,), (3,))),
        ({"snow": ["rain", "snow"]}, ("hour", "snow", "temp"), ((0,), (1, 2), (3,))),
        ({"rain": ["snow", "rain"], "snow": ["temp"]}, ("hour", "rain", "snow"), ((0,), (1, 2), (3,))),
    ],
)
def test_a_group_stands_where_its_first_column_stood(groups, names, columns):
    variables = Variables.from_columns(COLUMNS, groups)
    assert variables.names == names
    assert variables.columns == columns
    assert variables.column_names == tuple(COLUMNS)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ({"temp": ["rain", "snow"]}, ValueError, "The group 'temp' has the name of a column outside it; name it other"),
        ({"a": ["rain"], "b": ["snow", "rain"]}, ValueError, "Column 'rain' is in two groups, 'a' and 'b': keep one."),
        ({"a": []}, ValueError, "The group 'a' has no columns."),
        ({"a": ["rian"]}, ValueError, "In the group 'a': Unknown variable 'rian'. Did you mean 'rain'?"),
        ({"a": [4]}, ValueError, "In the group 'a': Unknown variable 4: there are 4, numbered from 0."),
        ({"a": "rain"}, TypeError, "In the group 'a': A set of variables is a list of names or numbers, got 'rain'."),
        ({"a": 3}, TypeError, "In the group 'a': A set of variables is a list of names or numbers, got 3."),
        ({3: ["rain"]}, TypeError, "The name of a group must be a string, got 3."),
        (
            [["rain", "snow"]],
            TypeError,
            "`groups` must be a dict of names to lists of columns, got [['rain', 'snow']].",
        ),
    ],
)
def test_a_wrong_group_is_refused(groups, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Variables.from_columns(COLUMNS, groups)


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(ValueError, match=r"`X` has two columns named 'rain'; rename one."):
        Variables.from_columns(["rain", "hour", "rain"])


@pytest.mark.parametrize(
    ("variable", "position"), [("hour", 0), ("weather", 1), ("temp", 2), (0, 0), (2, 2), (np.int64(1), 1)]
)
def test_a_variable_is_found_by_name_or_position(variable, position):
    assert GROUPED.position(variable) == position
    assert type(GROUPED.position(variable)) is int


@pytest.mark.parametrize(
    ("variable", "error", "message"),
    [
        ("hours", ValueError, "Unknown variable 'hours'. Did you mean 'hour'?"),
        ("wether", ValueError, "Unknown variable 'wether'. Did you mean 'weather'?"),
        ("rain", ValueError, "Column 'rain' belongs to the variable 'weather': name that instead."),
        (3, ValueError, "Unknown variable 3: there are 3, numbered from 0."),
        (-1, ValueError, "Unknown variable -1: there are 3, numbered from 0."),
        (np.int64(7), ValueError, "Unknown variable 7: there are 3, numbered from 0."),
        (True, TypeError, "A variable is given by its name or its number, got True."),
        (np.True_, TypeError, f"A variable is given by its name or its number, got {np.True_!r}."),
        (1.0, TypeError, "A variable is given by its name or its number, got 1.0."),
        (None, TypeError, "A variable is given by its name or its number, got None."),
        (b"hour", TypeError, "A variable is given by its name or its number, got b'hour'."),
    ],
)
def test_an_unknown_variable_is_refused(variable, error, message):
    with pytest.raises(error, match=re.escape(message)):
        GROUPED.position(variable)


def test_the_column_of_a_group_of_one_belongs_to_it():
    with pytest.raises(ValueError, match="Column 'snow' belongs to the variable 'only': name that instead"):
        Variables.from_columns(COLUMNS, {"only": ["snow"]}).position("snow")


def test_nothing_is_suggested_for_a_word_like_no_variable():
    with pytest.raises(ValueError, match=r"^Unknown variable 'xyz'.$"):
        GROUPED.position("xyz")


@pytest.mark.parametrize(
    ("variables", "subset"),
    [
        ([], ()),
        (["temp", "hour"], (0, 3)),
        (("snow", 0), (0, 2)),
        ({"rain", "temp"}, (1, 3)),
        (frozenset({3}), (3,)),
        (np.array([2, 0]), (0, 2)),
        (np.array(["snow", "rain"]), (1, 2)),
        (range(4), (0, 1, 2, 3)),
        (["rain", 1, "rain"], (1,)),
        ({"hour": 1, "temp": 2}.keys(), (0, 3)),
    ],
)
def test_a_set_is_ascending_and_without_repetition(variables, subset):
    assert PLAIN.subset(variables) == subset
    assert PLAIN.subsets(variables, 3) == [subset] * 3


def test_one_set_per_row_is_kept_per_row():
    S = [["temp", "hour"], [], {"rain"}]
    assert PLAIN.subsets(S, 3) == [(0, 3), (), (1,)]
    assert PLAIN.subsets(np.array([[0, 1], [3, 2]]), 2) == [(0, 1), (2, 3)]
    assert PLAIN.subsets([], 0) == []
    assert PLAIN.subsets([[]], 1) == [()]


@pytest.mark.parametrize("S", ["hour", b"hour", 3, None, {"hour": 1}, 1.5])
def test_a_set_that_is_not_a_list_is_refused(S):
    with pytest.raises(
        TypeError, match=re.escape(f"`S` must be a list of variables, or one such list per row, got {S!r}.")
    ):
        PLAIN.subsets(S, 2)


@pytest.mark.parametrize("S", [["hour", ["rain"]], [["rain"], 1], [[], "hour"], {frozenset({0}), frozenset({1})}])
def test_a_mix_of_variables_and_lists_is_refused(S):
    with pytest.raises(TypeError, match="`S` mixes variables and lists of variables: give one list, or one list per"):
        PLAIN.subsets(S, 2)


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_another_number_of_sets_than_rows_is_refused(n_rows):
    with pytest.raises(ValueError, match=f"`S` has 2 sets for the {n_rows} rows of `X`: give one per row, or one list"):
        PLAIN.subsets([[0], [1]], n_rows)


def test_columns_get_the_number_of_the_set_that_holds_them():
    assert GROUPED.number_columns([(0,), (1,)]).tolist() == [0, 1, 1, -1]
    assert GROUPED.number_columns([(1, 2)]).tolist() == [-1, 0, 0, 0]
    assert GROUPED.number_columns([(2,), (), (0,)]).tolist() == [2, -1, -1, 0]
    assert GROUPED.number_columns([]).tolist() == [-1] * 4
    assert GROUPED.number_columns([]).dtype == np.int32


def test_variables_are_values():
    again = Variables.from_columns(COLUMNS, {"weather": [1, 2]})
    assert again == GROUPED
    assert hash(again) == hash(GROUPED)
    assert again != PLAIN
    with pytest.raises(AttributeError, match="cannot assign to field 'names'"):
        PLAIN.names = ()
