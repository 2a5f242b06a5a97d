"""The drawing of a curve: the steps or bars, the row, the level and the bounds of the rule."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn_plots import (
    LONG,
    all_explanations,
    explainer_of_classes,
    explainer_of_numbers,
    legend,
    mixed_table,
    one_rule,
    span_of,
    ticks,
)
from matplotlib.patches import Rectangle, StepPatch

from suffice import Condition, SufficientExplainer, plots
from suffice._show.row_figures import find_column
from suffice._text import join


@pytest.fixture(autouse=True)
def figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def explanations():
    return all_explanations()


def steps(ax):
    return {patch.get_label(): patch.get_data() for patch in ax.patches if isinstance(patch, StepPatch)}


def ring(ax):
    [line] = [line for line in ax.lines if line.get_label().startswith("the row")]
    return [float(v[0]) for v in line.get_data()]


def shades(ax):
    return [patch for patch in ax.patches if patch.get_alpha() == 0.1]


def test_numbers_are_steps_with_the_row_the_level_and_the_bounds(explanations):
    row = next(i for i in range(40) if "hour" in explanations[i].best_set.variables)
    explanation = explanations[row]
    ruled = one_rule(explanations, Condition("hour", 6.0, 18.0, low_closed=True), row=row)
    ax = plots.curve(ruled, row, "hour")
    drawn = steps(ax)
    assert len(drawn) == 2
    own = dict(explanation.values)["hour"][0][1]
    assert ring(ax) == pytest.approx([own, explanation.best_set.sdp])
    of_set = next(data for label, data in drawn.items() if label != "given all variables")
    assert of_set.values[own] == pytest.approx(explanation.best_set.sdp)
    assert drawn["given all variables"].values[own] == pytest.approx(explanation.sdp_of_all)
    [shade] = shades(ax)
    assert span_of(shade) == (5.5, 18.5)
    level = f"level = {explanation.sentences.level_text}"
    assert level in legend(ax)
    assert [line.get_ydata()[0] for line in ax.lines if line.get_label() == level] == [explanation.pi]


def test_the_title_names_the_row(explanations):
    title = plots.curve(explanations, 3, "hour").get_title(loc="left")
    assert title.startswith(f"Row 3, outcome: {explanations[3].outcome} (predicted)\n")


def test_one_level_for_all_classes_is_called_pi():
    same = explainer_of_classes().with_settings(levels="same").explain(mixed_table()[0][:1])
    ax = plots.curve(same, 0, "hour")
    assert [line.get_ydata()[0] for line in ax.lines if line.get_label() == "pi = 0.9"] == [0.9]


def test_without_a_sufficient_set_the_set_that_the_sentence_names_is_known():
    """The set with the highest SDP was, which may hold many more variables than the one that the sentence names."""
    explanations = explainer_of_numbers().explain(mixed_table()[0][:20], radius=3.0, candidates="row")
    row = next(i for i, e in enumerate(explanations) if not e.is_sufficient and e.best_set.variables)
    best = explanations[row].best_set
    ax = plots.curve(explanations, row, best.variables[0])
    assert ring(ax)[1] == pytest.approx(best.sdp)
    assert f"given {join(best.variables)}" in legend(ax)


def test_categories_are_bars_and_missing_values_have_a_place(explanations):
    ax = plots.curve(explanations, 0, "weather")
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_width() == 0.6]
    assert len(bars) == 3
    assert sorted(ticks(ax, "x")) == ["clear", "mist", "rain"]
    missing = mixed_table()[0].index[mixed_table()[0]["temp"].isna()][0]
    rows = mixed_table()[0][missing : missing + 1]
    ax = explainer_of_numbers().explain(rows).plot("curve", variable="temp")
    assert ticks(ax, "x")[-1] == "missing"
    assert ring(ax)[0] < ax.get_xlim()[0] + 0.15 * np.ptp(ax.get_xlim())
    assert "the row: missing" in legend(ax)[-1]


def test_a_variable_outside_of_the_set_is_known_as_well(explanations):
    outside = next(name for name in (LONG, "temp") if name not in explanations[0].best_set.variables)
    ax = plots.curve(explanations, 0, outside)
    assert any(label.startswith("given") and label[6:].split()[0] != "all" for label in legend(ax))
    assert not shades(ax)  # the rule does not bound it


def test_without_a_name_the_first_variable_of_the_set_moves(explanations):
    ax = explanations.plot("curve", row=-1)
    assert ax.get_xlabel() == explanations[-1].best_set.variables[0]


def test_a_row_without_a_value_or_a_rule_and_wrong_names_are_answered(explanations):
    with pytest.raises(ValueError, match=r"Unknown variable 'hours'\. Did you mean 'hour'\?"):
        plots.curve(explanations, 0, "hours")
    with pytest.raises(TypeError, match="`curve` takes `row` with several explanations only"):
        plots.curve(explanations[0], 0, "hour")


def test_a_group_asks_for_one_of_its_columns():
    rng = np.random.default_rng(0)
    when = pd.date_range("2024-01-01", periods=300, freq="7h")
    X = pd.DataFrame({"when": when, "z": rng.normal(size=300)})
    explainer = SufficientExplainer(random_state=0, n_jobs=1, dates="parts").fit(X, when.hour > 11)
    with pytest.raises(ValueError, match=r"The variable 'when' has \d columns: name one of them, such as 'when\."):
        find_column(explainer.fitted_, "when")
    ax = explainer.explain(X[:2]).plot("curve", variable="when.hour")
    assert ax.get_xlabel() == "when.hour"
