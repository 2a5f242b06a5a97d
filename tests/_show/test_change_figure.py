"""A change as a figure."""

from __future__ import annotations

import numpy as np
import pytest
from loans import ROW, loan_explainer
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer, plots

pytest.importorskip("matplotlib").use("agg")


def test_every_column_of_the_box_has_axes():
    changes = loan_explainer().what_if({**ROW, "account": "empty"}, "good")
    axes = np.atleast_1d(changes.plot())
    assert len(axes) == len(changes[0].best.conditions)
    texts = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert any(text.startswith("the row: ") for text in texts)
    assert any(text.startswith("the least change: ") for text in texts)
    assert [bool(ax.get_title(loc="left") or ax.get_title()) for ax in axes] == [i == 0 for i in range(len(axes))]
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


def test_whole_numbers_have_a_bar_each():
    """Thirty bins between 1 and 4 drew a thin bar beside each number, and marks at 1.5 and 2.5."""
    from matplotlib.patches import Rectangle

    stars = np.random.default_rng(0).integers(1, 5, (200, 1))
    explainer = SufficientExplainer(RandomForestClassifier(5, random_state=0)).fit(stars, stars[:, 0] > 2)
    axes = explainer.what_if([[1]], True).plot()
    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle) and bar.get_width() == 1.0]
    assert {bar.get_x() for bar in bars} == {0.5, 1.5, 2.5, 3.5}
    assert all(mark == round(mark) for mark in axes.get_xticks())
