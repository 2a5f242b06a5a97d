"""The larger drawings of the plots; what the public functions make of them is tested with those."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from suffice import Explanation, SufficientSet
from suffice._show.figures import draw_sets

SETS = (SufficientSet(("b",), 0.97), SufficientSet(("a", "c"), 0.93), SufficientSet(("a", "d"), 0.9))


@pytest.fixture
def ax():
    return Figure().add_subplot()


def explanation(**changes):
    values = tuple((name, ((name, 1.0),)) for name in "abcd")
    plain = {"outcome": "busy", "interval": None, "pi": 0.9, "sufficient_sets": SETS, "best_set": SETS[0]}
    return Explanation(**{**plain, "values": values, **changes})


def sets_of(*sets, **changes):
    return explanation(sufficient_sets=sets, best_set=sets[0], **changes)


def labels(ax):
    """The labels of the variables, below those of the probabilities."""
    return [text.get_text() for text in ax.get_yticklabels()[3:]]


def test_variables_of_most_sets_come_first_and_then_those_of_the_best_set(ax):
    assert labels(draw_sets(explanation(), 10, ax)) == ["a = 1", "b = 1", "c = 1", "d = 1"]


def test_sets_are_dots_below_bars(ax):
    draw_sets(explanation(), 2, ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["SDP 1.0", "0.5", "0", "b = 1", "a = 1", "c = 1"]
    held = [list(line.get_ydata()) for line in ax.lines if line.get_linestyle() == "-"]
    assert held == [[0], [1, 2]]
    assert ax.get_title(loc="left") == "Outcome: busy (observed)\nthe first 2 of 3 sufficient sets"


def test_a_line_goes_down_to_the_lower_bound(ax):
    """A probability of 1 is three units above the axis of the bars, which stands at -0.9 and points down."""
    draw_sets(sets_of(SufficientSet(("b",), 0.97, 0.9), SufficientSet(("a",), 0.9)), 10, ax)
    lines = [list(line.get_ydata()) for line in ax.lines if line.get_color() == "black"]
    assert lines == [pytest.approx([-3.6, -3.81]), pytest.approx([-3.6, -3.6])]


def test_the_level_of_a_class_is_named(ax):
    draw_sets(explanation(pi=9 / 13, levels="odds"), 10, ax)
    assert "level = 0.69" in [text.get_text() for text in ax.texts]


def test_the_empty_set_is_named(ax):
    assert labels(draw_sets(sets_of(SufficientSet((), 1.0)), 10, ax)) == ["nothing at all"]
