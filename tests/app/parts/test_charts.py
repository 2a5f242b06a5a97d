"""Plotly figures: boxes, distributions, rules and curves."""

import numpy as np
import pytest

from suffice._show.picture import picture_line
from suffice._table.encoding import Column
from suffice.app.pages.rule_list import find_rules
from suffice.app.parts import charts
from suffice.app.state.jobs import Job
from suffice.app.state.view import View
from suffice.explaining.curve import Curve
from suffice.explaining.rule import Condition, Rule

HOUR = Column("hour", 0, "whole", extent=(0.0, 23.0))
TEMP = Column("temp", 1, "number", extent=(0.0, 10.0))
SKY = Column("sky", 2, "category", labels=(("clear",), ("mist",), ("rain",)))
HOURS, TEMPS = np.arange(24) % 24, np.linspace(0, 10, 24)


@pytest.fixture
def rule_of(mixed):
    """Make a rule with the conditions."""
    rule = mixed.rule(View(row=7))
    return lambda *conditions: Rule(**{**vars(rule), "conditions": conditions})


def plane_of(first, second, values, other_values):
    points = np.stack([values, other_values], axis=1).astype(np.float32)
    return charts.Plane((first, second), points, np.arange(24) < 12, (7.0, 1.0))


def drawn_boxes(figure):
    return [(shape.x0, shape.x1, shape.y0, shape.y1) for shape in figure.layout.shapes]


def test_a_box_on_whole_numbers_takes_half_a_step_on_each_side(rule_of):
    """6 <= hour <= 9 was drawn from 6 to 9, where cards and the report draw it from 5.5 to 9.5."""
    rule = rule_of(Condition("hour", 6.0, 9.0, low_closed=True), Condition("temp", 2.0, 3.0))
    figure = charts.boxes(plane_of(HOUR, TEMP, HOURS, TEMPS), rule, "busy", "light")
    assert drawn_boxes(figure) == [(5.5, 9.5, 2.0, 3.0)]


@pytest.mark.parametrize("name", ["hour", "temp"])
def test_a_condition_that_only_missing_values_satisfy_has_no_box(rule_of, name):
    """It was drawn over all known values."""
    rule = rule_of(Condition(name, values=False, missing=True))
    figure = charts.boxes(plane_of(HOUR, TEMP, HOURS, TEMPS), rule, "busy", "light")
    assert drawn_boxes(figure) == []
    assert f"{name} is missing" in figure.layout.annotations[0].text


def test_a_side_without_a_condition_takes_in_all_values(rule_of):
    figure = charts.boxes(plane_of(HOUR, TEMP, HOURS, TEMPS), rule_of(Condition("hour", 17.5)), "busy", "light")
    assert drawn_boxes(figure) == [(17.5, 23.5, pytest.approx(-0.2), pytest.approx(10.2))]


def test_separate_categories_are_separate_boxes(rule_of):
    rule = rule_of(Condition("sky", labels=("clear", "rain")), Condition("hour", -np.inf, 3.0))
    figure = charts.boxes(plane_of(SKY, HOUR, HOURS % 3, HOURS), rule, "busy", "light")
    assert drawn_boxes(figure) == [(-0.5, 0.5, -0.5, 3.5), (1.5, 2.5, -0.5, 3.5)]
    assert figure.layout.xaxis.ticktext == ("clear", "mist", "rain")


def test_rows_are_drawn_by_their_outcome_and_the_row_as_a_ring(rule_of):
    figure = charts.boxes(plane_of(HOUR, TEMP, HOURS, np.where(HOURS == 3, np.nan, TEMPS)), None, "busy", "dark")
    others, own, ring = figure.data
    assert (others.name, len(others.x)) == ("another outcome", 12)
    assert (own.name, len(own.x)) == ("busy", 11)
    assert (ring.x, ring.y) == ((7.0,), (1.0,))
    assert ring.marker.symbol == "circle-open"  # a star hid small boxes
    assert drawn_boxes(figure) == []


def test_a_row_with_a_missing_value_is_not_drawn():
    plane = plane_of(HOUR, TEMP, HOURS, TEMPS)
    figure = charts.boxes(
        charts.Plane(plane.columns, plane.points, plane.has_outcome, (np.nan, 1.0)), None, "", "light"
    )
    assert [trace.name for trace in figure.data] == ["another outcome", ""]


def test_text_is_escaped_and_shortened():
    assert charts.escape("<b>$x$ & y") == "&lt;b&gt;&#36;x&#36; &amp; y"
    assert charts.escape("x" * 50) == "x" * 38 + "…"
    assert charts.empty("light", "No <rules>.").layout.annotations[0].text == "No &lt;rules&gt;."


def test_the_distribution_has_both_curves_and_the_interval(diabetes):
    view = View(row=3)
    explanation = diabetes.explain(view)
    values = np.unique(np.quantile(diabetes.training[1], np.linspace(0, 1, 50)))
    figure = charts.cdf(values, *diabetes.distribution(view, values), explanation, "count", "light")
    assert [trace.name for trace in figure.data] == ["all variables", "this set"]
    band, line = figure.layout.shapes
    assert (band.x0, band.x1) == explanation.interval
    assert line.x0 == explanation.outcome
    low, high = figure.layout.xaxis.range
    assert low < explanation.interval[0]
    assert high > max(explanation.interval[1], explanation.outcome)


def test_marked_rules_stand_out(mixed):
    rules = find_rules(mixed, View(), 100, Job("", 100)).rules_
    figure = charts.coverage_precision(rules, {0: "decides", 1: "chosen"}, "precision", "light")
    [trace] = figure.data
    assert trace.x == tuple(rule.coverage for rule in rules)
    assert trace.y == tuple(rule.precision for rule in rules)
    assert trace.marker.symbol[:2] == ("star", "circle")
    assert trace.marker.line.width[:3] == (0, 1.5, 0)
    assert trace.marker.color[0] == trace.marker.color[1] != trace.marker.color[2]
    assert trace.text[0].startswith("1. IF ") or trace.text[0].startswith("1. ")
    assert trace.text[0].endswith(f"→ {charts.escape(picture_line(rules[0]).output)}")


def column(workspace, name):
    return [c.name for c in workspace.columns].index(name)


def test_numbers_are_steps_with_the_level_and_the_row(mixed):
    view = View(row=7)
    curve = mixed.curve(view, column(mixed, "hour"))
    figure = charts.curve(curve, "light")
    of_all, of_set = figure.data[:2]
    assert np.asarray(of_set.y)[:-1] == pytest.approx(curve.curve.of_set)
    assert np.asarray(of_all.y)[:-1] == pytest.approx(curve.curve.of_all)
    assert of_set.line.shape == "hv"
    assert (of_set.x[0], of_set.x[-1]) == curve.range
    assert figure.data[2].name == "level = 0.89"
    assert set(figure.data[2].y) == {mixed.explain(view).pi}
    assert list(figure.data[-1].x) == [mixed.values(7)["hour"]]
    rule = mixed.rule(view)
    n_bounded = any(condition.name == "hour" for condition in rule.conditions)
    assert bool(figure.layout.shapes) == n_bounded


def test_categories_are_bars_with_their_labels(mixed):
    curve = mixed.curve(View(row=7), column(mixed, "sky"))
    figure = charts.curve(curve, "dark")
    assert np.asarray(figure.data[0].y) == pytest.approx(curve.curve.of_set)
    assert sorted(figure.layout.xaxis.ticktext) == ["clear", "mist", "rain"]


def test_a_missing_value_has_its_own_place(mixed):
    row = int(np.flatnonzero(mixed.frame["temp"].is_null().to_numpy())[0])
    curve = mixed.curve(View(row=row), column(mixed, "temp"))
    figure = charts.curve(curve, "light")
    own = figure.data[-1]
    assert own.name.startswith("this row: missing")
    assert own.x[0] < curve.range[0]
    assert own.y[0] == pytest.approx(curve.curve.at_missing[0])
    assert [note.text for note in figure.layout.annotations] == ["missing"]


@pytest.mark.parametrize(("column", "first"), [(TEMP, "0.89"), (SKY, "clear: 0.89")])
def test_a_probability_below_the_level_never_reads_as_the_level_when_the_mouse_is_over_it(column, first):
    values = np.array([0.899, 0.95, 0.2])
    curve = Curve(column, np.arange(4.0), values, values, None, 0.0, (0.899, 0.899), is_exact=True)
    line = charts.target_curve(curve, "good", 0.9, "light").data[0]
    assert line.customdata[0] == first
    assert "%{y" not in line.hovertemplate
