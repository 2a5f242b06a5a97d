"""Changes as tables."""

from __future__ import annotations

from loans import ROW, loan_explainer, make_loans

from suffice._io.result_table import change_columns, changed_row_columns


def test_one_line_for_each_change_or_row():
    X, _ = make_loans(15, seed=3)
    changes = loan_explainer().what_if(X, "good")
    by_change, by_row = change_columns(changes), changed_row_columns(changes)
    assert len(by_change["row"]) == sum(len(answer.changes) for answer in changes)
    assert by_row["row"] == list(range(15))
    assert by_row["what_changes"] == [answer.best.sentence if answer.best else None for answer in changes]
    assert len({len(column) for column in by_row.values()}) == 1


def test_a_miss_has_columns_of_its_own():
    columns = changed_row_columns(loan_explainer().what_if(ROW, "good", fixed=["income"]))
    assert columns["what_changes"] == [None]
    assert columns["nearest_probability"][0] < 0.9
    assert columns["nearest"][0]
