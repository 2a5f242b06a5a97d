import re

import pytest

from suffice._table.matching import match_columns


def test_columns_of_a_list_of_names_are_ignored():
    assert match_columns(["id", "b", "a"], ["a", "b"], ["id", "when"]) == [2, 1]
    message = "`X` has 4 columns, there were 2 at fit: missing [], unexpected ['c']. With extra_columns='ignore'"
    with pytest.raises(ValueError, match=re.escape(message)):
        match_columns(["id", "b", "a", "c"], ["a", "b"], ["id", "when"])


def test_a_missing_column_is_named_with_a_near_one_that_would_be_ignored():
    message = "missing ['hour'], unexpected ['id', 'hours']. Did you mean 'hours'?"
    with pytest.raises(ValueError, match=re.escape(message)):
        match_columns(["id", "hours"], ["hour"], ["id", "hours"])
