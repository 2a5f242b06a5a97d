"""A change as a figure."""

from __future__ import annotations

import numpy as np
import pytest
from loans import ROW, loan_explainer

from suffice import plots

pytest.importorskip("matplotlib").use("agg")


def test_every_column_of_the_box_has_axes():
    changes = loan_explainer().what_if({**ROW, "account": "empty"}, "good")
    axes = np.atleast_1d(changes.plot())
    assert len(axes) == len(changes[0].best.conditions)
    texts = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert any(text.startswith("the row: ") for text in texts)
    assert any(text.startswith("the least change: ") for text in texts)
    one = plots.change(changes, column="income")
    assert one.get_xlabel() == "income"


def test_what_cannot_be_drawn_is_refused():
    explainer = loan_explainer()
    with pytest.raises(ValueError, match="no change to draw"):
        explainer.what_if({**ROW, "income": 50}, "good").plot()
    changes = explainer.what_if(ROW, "good")
    with pytest.raises(ValueError, match="`number` must be from 0 to"):
        changes.plot(number=9)
    with pytest.raises(ValueError, match="`column` must be one of"):
        changes.plot(column="incom")
