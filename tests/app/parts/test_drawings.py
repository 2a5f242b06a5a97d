import numpy as np
import pytest
from app_client import all_text, with_class

from suffice._show.axis import band
from suffice._table.encoding import Column
from suffice.app.parts.pieces import MAX_BARS, MAX_DRAWN, draw_rule
from suffice.app.state.view import View
from suffice.explaining.rule import Condition, Rule


@pytest.fixture
def rule_of(mixed):
    """Make a rule with one condition."""
    rule = mixed.rule(View(row=7))
    return lambda condition: Rule(**{**vars(rule), "conditions": (condition,)})


def draw(column, values, own, rule):
    matrix = np.asarray(values, dtype=np.float32)[:, None]
    return draw_rule([(0, column)], matrix, np.array([own], dtype=np.float32), rule)


def bands(drawn):
    return [
        (float(band.style["left"].rstrip("%")), float(band.style["width"].rstrip("%")))
        for band in with_class(drawn, "band")
    ]


@pytest.mark.parametrize("last", [23, 99])
def test_a_band_on_whole_numbers_takes_half_a_step_on_each_side(rule_of, last):
    """From 40 numbers on, the band ended at the numbers themselves."""
    column = Column("hour", 0, "whole", extent=(0.0, last))
    drawn = draw(column, range(last + 1), 7, rule_of(Condition("hour", 6.0, 9.0, low_closed=True)))
    n = last + 1
    assert bands(drawn) == [pytest.approx((100 * 6 / n, 100 * 4 / n), abs=0.001)]
    if n <= 40:
        assert len(with_class(drawn, "in")) == 4
    [own] = with_class(drawn, "own")
    assert float(own.style["left"].rstrip("%")) == pytest.approx(100 * 7.5 / n, abs=0.001)


def test_a_condition_that_only_missing_values_satisfy_has_no_band(rule_of):
    column = Column("temp", 0, "number", extent=(0.0, 10.0))
    drawn = draw(column, [0, 5, 10, np.nan], np.nan, rule_of(Condition("temp", values=False, missing=True)))
    assert bands(drawn) == []
    assert with_class(drawn, "in") == []
    assert with_class(drawn, "own") == []
    assert "is missing" in all_text(drawn)
    assert "25 % missing" in all_text(drawn)


def test_without_a_condition_any_value_is_allowed(rule_of):
    column = Column("temp", 0, "number", extent=(0.0, 10.0))
    drawn = draw(column, [0, 5, 10], 5, rule_of(Condition("hour", 6.0, 9.0)))
    assert "any value" in all_text(drawn)
    assert bands(drawn) == []


def test_without_a_rule_no_bounds_are_named():
    """Where there was no rule, every column of the best set was said to allow any value."""
    drawn = draw(Column("temp", 0, "number", extent=(0.0, 10.0)), [0, 5, 10], 5, None)
    assert "any value" not in all_text(drawn)
    assert bands(drawn) == []


def test_a_column_of_one_number_or_none_is_drawn(rule_of):
    column = Column("x", 0, "number", extent=(3.0, 3.0))
    drawn = draw(column, [3, 3], 3, rule_of(Condition("x", 2.0)))
    assert bands(drawn) == [(0, 100)]
    assert with_class(drawn, "in")[0].style["left"] == "50.000%"
    assert with_class(drawn, "own")[0].style["left"] == "50.000%"
    empty = Column("x", 0, "number", extent=(np.nan, np.nan))
    assert "All values are missing." in all_text(draw(empty, [np.nan], np.nan, None))


@pytest.mark.parametrize(("low", "high"), [(2.9, np.inf), (-np.inf, 3.1), (2.9, 3.1), (3.5, np.inf)])
@pytest.mark.parametrize("last", [3.0, 10.0])
def test_a_band_lies_where_cards_and_reports_draw_it(rule_of, low, high, last):
    """On a column of one number, the band ended within half a unit of that number."""
    column, condition = Column("x", 0, "number", extent=(3.0, last)), Condition("x", low, high)
    drawn = draw(column, [3, last], 3, rule_of(condition))
    expected = band(column, condition)
    width = max(100 * (expected.end - expected.start), 0.6)
    assert bands(drawn) == [pytest.approx((100 * expected.start, width), abs=0.001)]
    assert with_class(drawn, "band")[0].className == f"band{expected.sides}"


def test_the_categories_of_a_condition_are_marked(rule_of):
    column = Column("sky", 0, "category", labels=(("clear",), ("mist",), ("rain",)))
    drawn = draw(column, [0, 0, 1, 2], 1, rule_of(Condition("sky", labels=("mist", "rain"))))
    assert [all_text(one).strip() for one in with_class(drawn, "in")] == ["mist", "rain"]
    assert [all_text(one).strip() for one in with_class(drawn, "mine")] == ["mist"]
    assert with_class(drawn, "level")[0].title == "clear: 2 rows"


def test_only_the_most_frequent_of_many_categories_are_drawn():
    column = Column("town", 0, "category", labels=tuple((f"t{i}",) for i in range(50)))
    drawn = draw(column, [*range(50), 49], 49, None)
    assert len(with_class(drawn, "level")) == MAX_BARS
    assert all_text(with_class(drawn, "tag")[0]) == "t49"


def test_a_rule_on_many_columns_is_cut():
    columns = [(i, Column(f"x{i}", i, "number", extent=(0.0, 1.0))) for i in range(MAX_DRAWN + 3)]
    matrix = np.linspace(0, 1, 2 * len(columns), dtype=np.float32).reshape(2, -1)
    assert len(with_class(draw_rule(columns, matrix, matrix[0], None), "hist-box")) == MAX_DRAWN
