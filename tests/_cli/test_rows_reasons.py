"""The reasons of the rows of a file."""

from __future__ import annotations

import pytest

from suffice import SufficientExplainer
from suffice._cli.rows import ReasonedRows, open_rows
from suffice._io.records import RecordContext


@pytest.fixture
def opened(rows_here):
    rows = open_rows(SufficientExplainer.load("buys.suffice"), "rows.parquet", target="buys", kept=["id"])
    return ReasonedRows(rows, {"adverse": "no"}, RecordContext("0" * 64))


def test_reasons_have_the_positions_and_names_of_the_file(opened):
    reasons = opened.reasons(opened.rows.read(10, 50), 10)
    assert [answer.row for answer in reasons] == [*range(10, 20), *range(42, 50)]
    assert reasons[0].label == "Row c10"
    assert reasons.settings.adverse == ("no",)


def test_errors_name_the_row_of_the_file(opened):
    frame = opened.rows.read(42, 50)
    frame[3, "city"] = "Atlantis"
    with pytest.raises(ValueError, match=r"holds 'Atlantis' \(row 45\)"):
        opened.reasons(frame, 42)


def test_the_columns_are_checked_before_any_row_is_read(opened):
    opened.check()
    wrong = ReasonedRows(opened.rows, {"adverse": "none"}, opened.context)
    with pytest.raises(ValueError, match="`adverse` must be among the classes"):
        wrong.check()
