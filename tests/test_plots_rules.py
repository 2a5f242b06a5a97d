"""Plots of rules, distributions and lists of rules."""

from __future__ import annotations

import dataclasses

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn_plots import (
    LONG,
    all_explanations,
    boxes,
    explainer_of_classes,
    explainer_of_numbers,
    extents,
    legend,
    mixed_table,
    numbers,
    one_rule,
    points,
    ring,
    texts,
    ticks,
)
from sklearn.ensemble import RandomForestClassifier

from suffice import (
    Condition,
    GlobalRulesClassifier,
    GlobalRulesRegressor,
    Rule,
    SufficientExplainer,
    plots,
)
from suffice._show.drawing import shorten


@pytest.fixture(autouse=True)
def figures():
    """Leave no figure behind; drawing must work on every backend, so each figure is drawn once."""
    yield
    for number in plt.get_fignums():
        plt.figure(number).draw_without_rendering()
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    return mixed_table()


@pytest.fixture(scope="module")
def explainer():
    return explainer_of_classes()


@pytest.fixture(scope="module")
def explanations():
    return all_explanations()


@pytest.fixture(scope="module")
def counts():
    return numbers()


@pytest.fixture(scope="module")
def regression():
    return explainer_of_numbers()


# --- rule ------------------------------------------------------------------------------------------------------------


def test_a_rule_is_a_box_between_its_bounds(explanations, table):
    X, y = table
    row = X.iloc[0]
    with_rule = one_rule(explanations, Condition(LONG, -0.5, 0.75), Condition("temp", 10.0, missing=True))
    ax = plots.rule(with_rule, 0, [LONG, "temp"])
    known, missing = boxes(ax)
    assert extents(known)[:3] == pytest.approx((-0.5, 0.75, 10.0))
    assert extents(known)[3] > ax.get_ylim()[1]  # there is no upper end
    assert missing.get_y() < ax.get_ylim()[0] + 1e-9
    assert ring(ax) == pytest.approx([row[LONG], row["temp"]])
    assert legend(ax) == ["busy", "calm", "the rule", "Row 0"]
    assert ax.get_xlabel() == shorten(LONG)
    assert ax.get_ylabel() == "temp"
    assert "missing" in ticks(ax)
    drawn = points(ax)
    assert {label: len(at) for label, at in drawn.items()} == {c: np.count_nonzero(y == c) for c in ("busy", "calm")}
    assert sorted(drawn["busy"][:, 0]) == pytest.approx(sorted(X[LONG][y == "busy"].astype(np.float32)))


def test_only_rows_that_satisfy_the_other_conditions_are_drawn(explanations, table):
    X, _ = table
    is_drawn = (X["hour"] >= 7).to_numpy()
    with_rule = one_rule(explanations, Condition("hour", 7.0, low_closed=True), Condition(LONG, -0.5))
    ax = plots.rule(with_rule, 0, [LONG, "temp"])
    assert sum(map(len, points(ax).values())) == is_drawn.sum()
    title = " ".join(ax.get_title(loc="left").split())
    assert title.startswith(f"IF hour >= 7 AND {LONG} > -0.5 THEN {explanations[0].outcome}")
    assert title.endswith(f"Drawn: the {is_drawn.sum()} training rows with hour >= 7")


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [
        (Condition("hour", 7.0, 9.0, low_closed=True), 6.5, 9.5),
        (Condition("hour", 7.0, 9.0, high_closed=False), 7.5, 8.5),
        (Condition("hour", 6.5, 9.5), 6.5, 9.5),
    ],
)
def test_bounds_on_whole_numbers_are_drawn_between_them(explanations, condition, low, high):
    ax = plots.rule(one_rule(explanations, condition), 0, ["hour", LONG])
    [box] = boxes(ax)
    assert extents(box)[:2] == (low, high)
    jittered = np.concatenate([at[:, 0] for at in points(ax).values()])
    assert np.abs(jittered - np.round(jittered)).max() < 0.31
    assert np.ptp(jittered - np.round(jittered)) > 0.3


def test_categories_stand_on_an_axis_with_their_labels(explanations, table):
    X, _ = table
    codes = [labels[0] for labels in next(c.labels for c in explanations[0].columns if c.name == "weather")]
    outer = (codes[0], codes[2])
    ax = plots.rule(one_rule(explanations, Condition("weather", labels=outer)), 0, ["weather", LONG])
    assert ticks(ax, "x") == codes
    assert [extents(box)[:2] for box in boxes(ax)] == [(-0.5, 0.5), (1.5, 2.5)]
    assert ring(ax)[0] == codes.index(X["weather"][0])
    assert ax.get_xlim() == (-0.5, 2.5)
    ax = plots.rule(one_rule(explanations, Condition("weather", labels=outer[:1], excluded=True)), 0, ["weather", LONG])
    assert [extents(box)[:2] for box in boxes(ax)] == [(0.5, 2.5)]  # neighbours make one box


def test_a_missing_value_of_the_row_has_its_place(explanations, table):
    X, _ = table
    row = int(np.flatnonzero(X["temp"][:40].isna())[0])
    ax = plots.rule(one_rule(explanations, Condition("temp", values=False, missing=True), row=row), row, ["temp", LONG])
    x, _ = ring(ax)
    assert x < X["temp"].min()
    [box] = boxes(ax)
    assert extents(box)[0] < x < extents(box)[1] < X["temp"].min()
    assert ticks(ax, "x")[-1] == "missing"
    assert ax.get_xticks()[-1] == pytest.approx(x)


def test_a_column_alone_is_a_histogram_with_a_band(explanations, table):
    X, y = table
    ax = plots.rule(one_rule(explanations, Condition("hour", 7.0, 9.0, low_closed=True)), 0, "hour")
    [band] = boxes(ax)
    assert extents(band)[:2] == (6.5, 9.5)
    heights = {c.get_label(): [bar.get_height() for bar in c] for c in ax.containers}
    counts = {c: np.bincount(X["hour"][y == c], minlength=24).tolist() for c in ("busy", "calm")}
    assert heights == counts
    assert ring(ax)[0] == X["hour"][0]
    assert ring(ax)[1] > np.bincount(X["hour"]).max()
    assert ax.get_ylabel() == "training rows"
    assert legend(ax) == ["busy", "calm", "the rule", "Row 0"]


def test_missing_values_have_a_bar_of_their_own(explanations, table):
    X, _ = table
    ax = plots.rule(one_rule(explanations, Condition("temp", 10.0)), 0, "temp")
    assert sum(c[-1].get_height() for c in ax.containers) == X["temp"].isna().sum()
    assert sum(bar.get_height() for c in ax.containers for bar in c) == len(X)


def test_a_number_is_drawn_inside_or_outside_of_its_interval(regression, table, counts):
    X, _ = table
    explanations = regression.explain(X[:3])
    low, high = explanations[0].interval
    ax = plots.rule(explanations, 0, [LONG, "temp"])
    inside, outside, *others = legend(ax)
    assert inside.startswith("count in\n[")
    assert [outside, *others] == ["outside", "the rule", "Row 0"]
    is_covered = explanations[0].rule.covers(X)  # the rule tests neither column
    assert len(points(ax)[inside]) == np.count_nonzero(counts[is_covered].between(low, high))
    assert len(points(ax)[outside]) == np.count_nonzero(~counts[is_covered].between(low, high))


def test_the_columns_that_keep_out_other_outcomes_are_chosen(explanations):
    conditions = Condition(LONG, -3.0), Condition("hour", 6.5), Condition("weather", labels=("rain",), excluded=True)
    busy = next(i for i, e in enumerate(explanations) if e.outcome == "busy")
    ax = plots.rule(one_rule(explanations, *conditions, row=busy), busy)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("hour", "weather")
    assert plots.rule(one_rule(explanations, conditions[1]), 0).get_xlabel() == "hour"


def test_several_rules_are_several_boxes(explanations):
    row = next(i for i, e in enumerate(explanations) if e.rule.conditions[0].name == "hour")
    first = explanations[row].rules[0]
    second = dataclasses.replace(first, conditions=(Condition(LONG, -1.0, 1.0),))
    elsewhere = dataclasses.replace(first, conditions=(Condition("temp", -1.0, 100.0),))
    two = one_rule(explanations, row=row)
    two.answers.rules[row] = (first, second, elsewhere)
    ax = plots.rule(two, row, ["hour", LONG], which="all")
    assert len({box.get_linestyle() for box in boxes(ax)}) == len(boxes(ax)) == 2
    assert f"rule on {shorten(LONG)}" in [" ".join(label.split()) for label in legend(ax)]
    assert ax.get_title(loc="left").startswith(f"2 of 3 rules for {first.outcome}")
    [box] = boxes(plots.rule(two, row, ["hour", LONG], which=1))
    assert extents(box)[2:] == pytest.approx((-1.0, 1.0))


def test_a_sample_of_many_rows_keeps_points_of_the_rare_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 2))
    y = np.where(np.arange(9000) < 100, "rare", "common")
    X[:100] += 3
    forest = RandomForestClassifier(5, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, n_candidates=2, n_jobs=1).fit(X, y)
    explanations = one_rule(explainer.explain([[0.0, 0.0]]), Condition("x0", high=2.0))
    drawn = points(plots.rule(explanations, 0, ["x0", "x1"]))
    assert len(drawn["rare"]) == 100
    assert len(drawn["common"]) == round(5000 * 8900 / 9000)


def test_a_rule_without_bounds_and_a_row_without_rules_show_a_message(explanations, explainer, table):
    assert "no bounds" in texts(plots.rule(one_rule(explanations), 0))[0]
    strict = SufficientExplainer(pi=1.0, max_size=1, random_state=0, n_jobs=1).fit(*table).explain(table[0][:40])
    row = next(i for i, e in enumerate(strict) if not e.is_sufficient)
    assert "keeps it with probability 1." in texts(plots.rule(strict, row))[0].replace("\n", " ")
    none = explainer.explain(table[0][:1], rules=None)
    assert "explain(X, rules='minimal')" in texts(plots.rule(none, 0, which="all"))[0].replace("\n", " ")


def test_without_a_row_the_first_rule_is_drawn(explanations, explainer, table):
    """`explanations.plot("rule")` raised a TypeError: the row was a required argument."""
    first_two = list(explanations.answers.rules)
    first_two[:2] = [(), ()]
    later = type(explanations)(
        explanations.answers._replace(rules=first_two), explanations.fitted, explanations.sets, explanations.library
    )
    assert ring(later.plot("rule"))[0] == ring(later.plot("rule", row=2))[0]
    without = explainer.explain(table[0][:5], rules=None)
    assert any("has no rules" in text for text in texts(without.plot("rule")))


def test_the_ring_around_the_row_leaves_a_small_box_visible(explanations):
    """A filled star of 17 points hid boxes that were smaller than it."""
    value = explanations[0].values[0][1][0][1]
    small = one_rule(explanations, Condition("hour", value - 0.01, value + 0.01, low_closed=True))
    ax = plots.rule(small, 0, ["hour", LONG])
    [mark] = [line for line in ax.lines if line.get_label().startswith("Row ")]
    assert mark.get_markerfacecolor() == "none"
    assert mark.get_markersize() <= 10


def test_long_category_labels_do_not_run_into_each_other():
    rng = np.random.default_rng(0)
    towns = [f"Town number {k} of the county" for k in rng.integers(0, 28, 900)]
    X = pd.DataFrame({"town": pd.Categorical(towns, ordered=True), "z": rng.normal(size=900)})
    explanations = SufficientExplainer(random_state=0, n_jobs=1).fit(X, X["z"] > 0).explain(X[:3])
    ax = plots.rule(one_rule(explanations, Condition("z", 0.0)), 0, ["town", "z"])
    assert len(ticks(ax, "x")) == 14


def test_wrong_rules_rows_and_columns_are_refused(explanations):
    n = len(explanations[0].rules)
    with pytest.raises(ValueError, match=rf"The row has {n} rules?; there is no number 99: explain\(X, rules='all'\)"):
        plots.rule(explanations, 0, which=99)
    with pytest.raises(ValueError, match=r"`which` must be one of \['all'\], got 'al'\. Did you mean 'all'\?"):
        plots.rule(explanations, 0, which="al")
    with pytest.raises(TypeError, match=r"`which` must be 'all' or a whole number >= 0, got 1\.5\."):
        plots.rule(explanations, 0, which=1.5)
    with pytest.raises(ValueError, match=r"Unknown column 'hours'\. Did you mean 'hour'\?"):
        plots.rule(explanations, 0, "hours")
    with pytest.raises(ValueError, match=r"`variables` must be one or two columns, got \['hour', 'temp', "):
        plots.rule(explanations, 0, ["hour", "temp", "weather"])
    with pytest.raises(ValueError, match=r"`variables` must be one or two columns, got \['hour', 'hour'\]\."):
        plots.rule(explanations, 0, ["hour", "hour"])
    with pytest.raises(IndexError, match=r"There are 40 explanations; there is no number 40\."):
        plots.rule(explanations, 40)
    with pytest.raises(TypeError, match=r"`rule` draws what `explain` gave, got list\."):
        plots.rule([explanations[0]], 0)


def test_parts_of_dates_are_columns():
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 24 * 365, 300), "h")
    y = (when.day_of_week < 5) & (when.hour > 8)
    X = pd.DataFrame({"when": when, "noise": rng.normal(size=300)})
    explanations = SufficientExplainer(dates="parts", random_state=0, n_jobs=1).fit(X, y).explain(X[:5])
    ax = plots.rule(explanations, 0, ["when.weekday", "when.hour"])
    assert ticks(ax, "x") == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert ring(ax) == [when[0].weekday(), when[0].hour]


# --- coverage and precision ------------------------------------------------------------------------------------------


def global_rules():
    figures = (None, 0.95, 2, 0.5, 1.0, None, True, 2.0, False)
    boxes = [Condition("x0", high=2.5), Condition("x0", 2.5), Condition("x0", high=3.5)]
    X, y = [[1.0], [2.0], [3.0], [4.0]], ["calm", "calm", "busy", "calm"]
    rules = [Rule((box,), "calm", *figures) for box in boxes]
    return GlobalRulesClassifier.from_explanations(rules, X, y)


def test_the_lines_of_a_list_are_drawn_with_coverage_and_precision():
    rule_list = global_rules()  # x0 <= 2.5 is calm (2 of 2), x0 <= 3.5 calm (2 of 3), x0 > 2.5 busy (1 of 2)
    ax = rule_list.plot()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[:2] == ["1. IF x0 <= 2.5 THEN calm", "2. IF x0 <= 3.5 THEN calm"]
    assert labels[3].startswith("ELSE ")
    assert [bar.get_width() for bar in ax.patches] == [0.5, 0.75, 0.5, 0.0]
    drawn = {line.get_label(): line.get_xdata().tolist() for line in ax.lines}
    assert drawn["precision"][:3] == pytest.approx([1.0, 2 / 3, 0.5])
    assert np.isnan(drawn["precision"][3])  # no row is left for the default line
    assert drawn["of all rows"] == [0.75, 0.75, 0.25, 0.75]
    assert "in training" not in drawn
    assert ax.get_title(loc="left").startswith("3 rules on 4 training rows")


def test_rules_are_measured_on_the_rows_given():
    ax = plots.coverage_precision(global_rules(), X=[[1.0], [2.0]], y=["busy", "calm"])
    drawn = {line.get_label(): line.get_xdata() for line in ax.lines}
    assert drawn["precision"][:2].tolist() == [0.5, 0.5]
    assert np.isnan(drawn["precision"][2])  # it covers none of the rows
    assert drawn["in training"][:3].tolist() == pytest.approx([1.0, 2 / 3, 0.5])
    assert ax.get_title(loc="left").startswith("3 rules on 2 fresh rows")


def test_the_precision_of_numbers_is_that_of_the_model(regression, table, counts):
    X, _ = table
    rule_list = GlobalRulesRegressor.from_explanations(regression.explain(X[:10], counts[:10]))
    ax = plots.coverage_precision(rule_list)
    drawn = {line.get_label(): line.get_xdata() for line in ax.lines}
    n_rules = len(rule_list.rules_)
    assert set(drawn) == {"precision: 1 - MSE / variance"}
    assert drawn["precision: 1 - MSE / variance"][:n_rules] == pytest.approx([r.precision for r in rule_list.rules_])
    assert [bar.get_width() for bar in ax.patches][:n_rules] == pytest.approx([r.coverage for r in rule_list.rules_])


def test_of_a_long_list_the_first_rules_are_drawn():
    figures = (None, 0.9, 2, 0.5, 1.0, None, True, 2.0, False)
    rules = [Rule((Condition("x0", high=i + 0.5),), "calm", *figures) for i in range(25)]
    X, y = np.arange(30.0)[:, None], ["calm", "busy"] * 15
    ax = GlobalRulesClassifier.from_explanations(rules, X, y).plot()
    assert len(ax.get_yticklabels()) == 21
    assert "The first 20 are drawn." in ax.get_title(loc="left").replace("\n", " ")


def test_a_rule_list_without_rules_shows_a_message_and_x_without_y_is_refused():
    rule_list = global_rules()
    with pytest.raises(ValueError, match=r"Give `X` and `y` together, or neither for the training rows\."):
        plots.coverage_precision(rule_list, X=[[1.0]])
    strict = GlobalRulesClassifier.from_explanations([], [[1.0]], ["calm"])
    assert texts(plots.coverage_precision(strict)) == ["The list has no rules."]
    narrow = GlobalRulesClassifier.from_explanations([rule_list.rules_[0].rule], [[1.0], [4.0]], ["calm", "busy"])
    assert texts(plots.coverage_precision(narrow, X=[[9.0]], y=["busy"])) == ["No rule covers any of these rows."]
