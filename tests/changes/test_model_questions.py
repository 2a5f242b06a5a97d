"""Rows with the values of training rows, in the user's own columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
from loans import loan_explainer, make_loans

from suffice import SufficientExplainer
from suffice.changes.model import MovableRows, MovedRows


def test_copies_have_the_values_of_training_rows_in_some_columns():
    state = loan_explainer().fitted_
    X, _ = make_loans()
    rows, _ = make_loans(5, seed=9)
    income, account, _, debt = range(4)
    moved = [
        MovedRows(np.array([0, 0, 4]), [income, account], np.array([7, 8, 9])),
        MovedRows(np.array([2]), [debt], np.array([11])),
    ]
    table = MovableRows(state, rows, loan_explainer().encode(rows)).table(moved)
    expected = rows.iloc[[0, 0, 4, 2]].reset_index(drop=True)
    for copy, source in enumerate((7, 8, 9)):
        expected.loc[copy, ["income", "account"]] = X.loc[source, ["income", "account"]]
    expected.loc[3, "debt"] = X.loc[11, "debt"]
    pd.testing.assert_frame_equal(table.reset_index(drop=True), expected, check_dtype=False)


def test_a_model_is_not_asked_about_parts_of_a_date():
    days = pd.date_range("2026-01-01", periods=200)
    X = pd.DataFrame({"day": days, "size": np.arange(200) % 7})
    y = np.where(days.month > 3, "late", "early")
    explainer = SufficientExplainer(random_state=0, dates="parts").fit(X, y)
    state = explainer.fitted_
    movable = MovableRows(state, X, explainer.encode(X))
    parts = [c for c, column in enumerate(state.encoding.columns) if column.part is not None]
    others = [c for c, column in enumerate(state.encoding.columns) if column.part is None]
    assert parts
    assert others
    assert movable.can_ask(others)
    assert not movable.can_ask([*others, parts[0]])
