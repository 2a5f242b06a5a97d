"""Columns along the axes of a plot, and where conditions are drawn on them."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

from suffice._show.row_figures import Scale
from suffice._table.encoding import Column
from suffice.explaining.rule import Condition

HOUR = Column("hour", 0, "whole", extent=(0.0, 23.0))
TOWN = Column("town", 1, "category", labels=(("x",), ("y",), ("z",)))


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def visible(scale, condition):
    """Where a condition is drawn within the limits."""
    low, high = scale.limits
    return [(max(start, low), min(end, high)) for start, end in scale.spans(condition)]


def test_bounds_on_whole_numbers_lie_between_them():
    scale = Scale(HOUR, np.zeros(1), 0.0, (-0.6, 23.6), None)
    assert scale.spans(Condition("hour", 6.0, 9.0, True, True)) == [(5.5, 9.5)]
    assert visible(scale, Condition("hour", 6.0, low_closed=True)) == [(5.5, 23.6)]
    assert visible(scale, None) == [(-0.6, 23.6)]


def test_an_end_that_a_condition_does_not_have_lies_beyond_the_limits():
    scale = Scale(HOUR, np.zeros(1), 0.0, (-0.6, 23.6), None)
    [(low, high)] = scale.spans(Condition("hour", missing=False))
    assert low < -100
    assert high > 100


def test_missing_numbers_have_a_strip_to_the_left():
    scale = Scale(HOUR, np.zeros(1), 0.0, (0.0, 20.0), -2.0)
    assert scale.strip == (-3.0, -1.0)
    assert scale.limits == (-3.0, 20.0)
    assert scale.spans(Condition("hour", values=False, missing=True)) == [(-3.0, -1.0)]
    assert visible(scale, Condition("hour", high=9.0)) == [(0.0, 9.5)]
    assert visible(scale, Condition("hour", -50.0, 9.0)) == [(0.0, 9.5)]
    assert visible(scale, Condition("hour", high=9.0, missing=True)) == [(0.0, 9.5), (-3.0, -1.0)]
    assert visible(scale, None) == [(-3.0, 20.0)]


def test_missing_labels_have_a_strip_to_the_right():
    scale = Scale(TOWN, np.zeros(1), 0.0, (-0.5, 2.5), 3.0)
    assert scale.limits == (-0.5, 3.5)
    assert scale.spans(Condition("town", labels=("y",), excluded=True, missing=True)) == [
        (-0.5, 0.5),
        (1.5, 2.5),
        (2.5, 3.5),
    ]
    assert scale.spans(Condition("town", values=False, missing=True)) == [(2.5, 3.5)]


def test_many_categories_are_not_all_labelled():
    column = Column("city", 0, "category", labels=tuple((f"c{i}",) for i in range(70)))
    scale = Scale(column, np.zeros(1), 0.0, (-0.5, 69.5), None)
    _, ax = plt.subplots()
    scale.set_axis(ax, "y")
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"c{i}" for i in range(0, 70, 3)]
