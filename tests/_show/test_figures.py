"""The larger drawings of the plots; what the public functions make of them is tested with those."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from suffice import Explanation, SufficientSet
from suffice._show.figures import (
    Distributions,
    draw_distributions,
    draw_sets,
    find_frontier,
    held_variables,
)

SETS = (SufficientSet(("b",), 0.97), SufficientSet(("a", "c"), 0.93), SufficientSet(("a", "d"), 0.9))


@pytest.fixture
def ax():
    return Figure().add_subplot()


def explanation(**changes):
    values = tuple((name, ((name, 1.0),)) for name in "abcd")
    plain = {"outcome": "busy", "interval": None, "pi": 0.9, "sufficient_sets": SETS, "best_set": SETS[0]}
    return Explanation(**{**plain, "values": values, **changes})


def test_variables_of_the_smallest_sets_come_first():
    assert held_variables(explanation(), SETS) == ["b", "a", "c", "d"]
    assert held_variables(explanation(), SETS[:1]) == ["b"]
    assert held_variables(explanation(), [SufficientSet((), 1.0)]) == []


def test_sets_are_dots_below_bars(ax):
    draw_sets(ax, explanation(), SETS[:2], ["a", "b", "c"])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["SDP 1.0", "0.5", "0", "a = 1", "b = 1", "c = 1"]
    held = [list(line.get_ydata()) for line in ax.lines if line.get_linestyle() == "-"]
    assert held == [[1], [0, 2]]
    assert ax.get_title(loc="left") == "Outcome: busy (observed)\nthe first 2 of 3 sufficient sets"


def test_a_line_goes_down_to_the_lower_bound(ax):
    """A probability of 1 is three units above the axis of the bars, which stands at -0.9 and points down."""
    draw_sets(ax, explanation(), [SufficientSet(("b",), 0.97, 0.9), SufficientSet(("a",), 0.9)], ["a", "b"])
    lines = [list(line.get_ydata()) for line in ax.lines if line.get_color() == "black"]
    assert lines == [pytest.approx([-3.6, -3.81]), pytest.approx([-3.6, -3.6])]


def test_the_level_of_a_class_is_named(ax):
    draw_sets(ax, explanation(pi=9 / 13, levels="odds"), SETS, ["a", "b", "c", "d"])
    assert "level = 0.69" in [text.get_text() for text in ax.texts]


def test_the_empty_set_is_named(ax):
    draw_sets(ax, explanation(), [SufficientSet((), 1.0)], [])
    assert ax.get_yticklabels()[-1].get_text() == "nothing at all"


def test_distributions_are_steps_with_the_outcome_in_view(ax):
    grid = np.array([0.0, 1.0, 2.0])
    of_set, of_all = np.array([0.1, 0.6, 1.0]), np.array([0.0, 0.2, 1.0])
    draw_distributions(ax, Distributions(grid, of_set, of_all, (), 5.0, (-1.0, 1.5), 0.899, "count"))
    assert [line.get_ydata().tolist() for line in ax.lines[:2]] == [of_all.tolist(), of_set.tolist()]
    assert ax.get_xlim() == (-1.0, 5.0)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["interval [-1, 1.5]", "given all variables", "given nothing at all", "outcome 5"]
    assert ax.get_title(loc="left").startswith("SDP 0.89:")


def test_the_frontier_holds_the_rules_that_no_other_beats():
    coverage, precision = np.array([0.5, 0.2, 0.5, 0.1, 0.3]), np.array([0.8, 0.9, 0.7, 0.9, 0.85])
    assert find_frontier(coverage, precision).tolist() == [1, 4, 0]
    rng = np.random.default_rng(0)
    coverage, precision = rng.integers(1, 6, 40) / 5, rng.integers(1, 6, 40) / 5
    better = [
        any((coverage >= c) & (precision >= p) & ((coverage > c) | (precision > p)))
        for c, p in zip(coverage, precision, strict=True)
    ]
    best = {(coverage[i], precision[i]) for i in np.flatnonzero(~np.array(better))}
    assert {(coverage[i], precision[i]) for i in find_frontier(coverage, precision)} == best
