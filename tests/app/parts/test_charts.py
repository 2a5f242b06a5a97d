"""Plotly figures: distributions and curves."""

import numpy as np
import pytest

from suffice.app.parts import charts
from suffice.app.state.view import View


def test_text_is_escaped_and_shortened():
    assert charts.escape("<b>$x$ & y") == "&lt;b&gt;&#36;x&#36; &amp; y"
    assert charts.escape("x" * 50) == "x" * 38 + "…"


def test_the_distribution_has_both_curves_and_the_interval(diabetes):
    view = View(row=3)
    explanation = diabetes.explain(view)
    values = np.unique(np.quantile(diabetes.training[1], np.linspace(0, 1, 50)))
    figure = charts.cdf(values, diabetes.distribution(view, values), explanation, "light")
    assert [trace.name for trace in figure.data] == ["all variables", "this set"]
    band, line = figure.layout.shapes
    assert (band.x0, band.x1) == explanation.interval
    assert line.x0 == explanation.outcome
    low, high = figure.layout.xaxis.range
    assert low < explanation.interval[0]
    assert high > max(explanation.interval[1], explanation.outcome)


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
    assert list(of_set.x) == curve.ends
    assert figure.data[2].name == "level = 0.89"
    assert set(figure.data[2].y) == {mixed.explain(view).pi}
    assert list(figure.data[-1].x) == [mixed.values(7)["hour"]]
    rule = mixed.explain(view).rule
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
    assert own.x[0] < curve.ends[0]
    assert own.y[0] == pytest.approx(curve.curve.at_missing[0])
    assert [note.text for note in figure.layout.annotations] == ["missing"]
