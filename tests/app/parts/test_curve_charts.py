"""The curve as a Plotly figure."""

import numpy as np
import pytest

from suffice.app.parts.curve_charts import draw_curve
from suffice.app.state.view import View


def column(workspace, name):
    return [c.name for c in workspace.columns].index(name)


def test_numbers_are_steps_with_the_level_and_the_row(mixed):
    view = View(row=7)
    curve = mixed.curve(view, column(mixed, "hour"))
    figure = draw_curve(curve, "light")
    of_all, of_set = figure.data[:2]
    assert np.asarray(of_set.y)[:-1] == pytest.approx(curve.curve.of_set)
    assert np.asarray(of_all.y)[:-1] == pytest.approx(curve.curve.of_all)
    assert of_set.line.shape == "hv"
    assert (of_set.x[0], of_set.x[-1]) == curve.range
    assert figure.data[2].name == "pi = 0.9"
    assert list(figure.data[-1].x) == [mixed.values(7)["hour"]]
    rule = mixed.rule(view)
    n_bounded = any(condition.name == "hour" for condition in rule.conditions)
    assert bool(figure.layout.shapes) == n_bounded


def test_categories_are_bars_with_their_labels(mixed):
    curve = mixed.curve(View(row=7), column(mixed, "sky"))
    figure = draw_curve(curve, "dark")
    assert np.asarray(figure.data[0].y) == pytest.approx(curve.curve.of_set)
    assert sorted(figure.layout.xaxis.ticktext) == ["clear", "mist", "rain"]


def test_a_missing_value_has_its_own_place(mixed):
    row = int(np.flatnonzero(mixed.frame["temp"].is_null().to_numpy())[0])
    curve = mixed.curve(View(row=row), column(mixed, "temp"))
    figure = draw_curve(curve, "light")
    own = figure.data[-1]
    assert own.name.startswith("this row: missing")
    assert own.x[0] < curve.range[0]
    assert own.y[0] == pytest.approx(curve.curve.at_missing[0])
    assert [note.text for note in figure.layout.annotations] == ["missing"]
