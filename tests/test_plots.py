"""Plots: what is drawn where, what is written, and that nothing of the user's is touched."""

from __future__ import annotations

import dataclasses
import sys
import warnings

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from rare_classes import first, rare_explanations

from suffice import (
    Condition,
    Explanation,
    Explanations,
    GlobalRulesClassifier,
    GlobalRulesRegressor,
    Rule,
    SufficientExplainer,
    SufficientSet,
    plots,
)
from suffice._show.drawing import BLUE, GREY, shorten
from suffice.stability import Stability

with warnings.catch_warnings():  # shap 0.51 uses what matplotlib 3.11 is going to deprecate
    warnings.simplefilter("ignore")
    import shap

LONG = "monthly charges before tax and discount"


@pytest.fixture(autouse=True)
def figures():
    """Leave no figure behind; drawing must work on every backend, so each figure is drawn once."""
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 400
    hour = rng.integers(0, 24, n)
    temp = rng.normal(15, 5, n)
    temp[rng.random(n) < 0.1] = np.nan
    weather = rng.choice(["rain", "mist", "clear"], n)
    X = pd.DataFrame({"hour": hour, "temp": temp, "weather": weather, LONG: rng.normal(size=n)})
    return X, np.where((hour >= 7) & (weather != "rain"), "busy", "calm")


@pytest.fixture(scope="module")
def explainer(table):
    return SufficientExplainer(random_state=0, n_jobs=1).fit(*table)


@pytest.fixture(scope="module")
def explanations(explainer, table):
    return explainer.explain(table[0][:40], rules="all")


@pytest.fixture(scope="module")
def counts(table):
    X, _ = table
    rng = np.random.default_rng(1)
    return pd.Series(10.0 * X["hour"] + rng.normal(size=len(X)), name="count")


@pytest.fixture(scope="module")
def regression(table, counts):
    return SufficientExplainer(random_state=0, n_jobs=1).fit(table[0], counts)


def row_values(*values):
    return tuple((name, ((name, value),)) for name, value in zip("abcde", values, strict=True))


def explanation(**changes):
    sets = tuple(SufficientSet(*s) for s in [(("a",), 0.97), (("b", "c"), 0.95), (("b", "d"), 0.9)])
    plain = {
        "outcome": "busy",
        "interval": None,
        "pi": 0.9,
        "sufficient_sets": sets,
        "best_set": sets[0],
        "values": row_values(1, 2.5, "rain", None, 5),
    }
    return Explanation(**{**plain, **changes})


def insufficient():
    return explanation(sufficient_sets=(), best_set=SufficientSet(("a", "b"), 0.71))


def ticks(ax, axis="y"):
    return [tick.get_text() for tick in (ax.get_yticklabels() if axis == "y" else ax.get_xticklabels())]


def texts(ax):
    return [text.get_text() for text in ax.findobj(Text) if text.get_text()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def boxes(ax):
    return [patch for patch in ax.patches if isinstance(patch, Rectangle) and not patch.get_fill()]


def extents(box):
    return box.get_x(), box.get_x() + box.get_width(), box.get_y(), box.get_y() + box.get_height()


def points(ax):
    return {collection.get_label(): np.asarray(collection.get_offsets()) for collection in ax.collections}


def star(ax):
    [line] = [line for line in ax.lines if line.get_marker() == "*"]
    return [float(v[0]) for v in line.get_data()]


def one_rule(explanations, *conditions, row=0, **changes):
    """The explanations with a rule of our own for a row."""
    e = explanations[row]
    figures = {"sdp": 0.95, "support": 9, "coverage": 0.1, "precision": 1.0, "mae": None, "optimal": True, "bound": 9.0}
    box = Rule(conditions, e.outcome, e.interval, everywhere=False, **{**figures, **changes})
    rules = list(explanations.answers.rules)
    rules[row] = (box,)
    answers = explanations.answers._replace(rules=rules)
    return Explanations(answers, explanations.fitted, explanations.sets, explanations.library)


# --- what all plots share --------------------------------------------------------------------------------------------


@pytest.fixture
def drawings(explanations, regression, table):
    X, _ = table
    rule_list = GlobalRulesClassifier.from_explanations(explanations)
    stability = Stability(*(np.array([1, 2]),) * 2, *(np.array([1.0, 0.5]),) * 3, 0.1, 5)
    return {
        "importance of a row": lambda ax: plots.importance(explanations[0], ax=ax),
        "mean importance": lambda ax: plots.importance(explanations, ax=ax),
        "heatmap": lambda ax: plots.importance_heatmap(explanations, ax=ax),
        "sets": lambda ax: plots.sets(explanations[0], ax=ax),
        "rule": lambda ax: plots.rule(explanations, 0, ax=ax),
        "rule on one column": lambda ax: plots.rule(explanations, 0, "hour", ax=ax),
        "cdf": lambda ax: plots.cdf(regression, X[:1], ["hour"], ax=ax),
        "stability": lambda ax: plots.stability(stability, ax=ax),
        "coverage and precision": lambda ax: plots.coverage_precision(rule_list, ax=ax),
        "nothing sufficient": lambda ax: plots.importance(insufficient(), ax=ax),
    }


def test_the_axes_given_are_drawn_on_and_the_current_figure_stays(drawings):
    for name, draw in drawings.items():
        mine, ax = plt.subplots()
        current = plt.figure()
        own_axes = current.gca()
        assert draw(ax) is ax, name
        assert plt.gcf() is current, name
        assert current.axes == [own_axes], name
        assert not own_axes.has_data(), name
        assert ax.has_data() or ax.texts, name
        mine.canvas.draw()
        plt.close("all")


def test_without_axes_a_new_figure_is_made_and_no_setting_changes(drawings):
    before = dict(mpl.rcParams)
    for name, draw in drawings.items():
        current = plt.figure()
        ax = draw(None)
        assert ax.figure is not current, name
        assert current.axes == [], name
        assert ax.figure.get_layout_engine() is not None, name
        plt.close("all")
    assert dict(mpl.rcParams) == before


def test_no_text_runs_out_of_the_figure(drawings):
    for name, draw in drawings.items():
        ax = draw(None)
        figure = ax.figure
        figure.canvas.draw()
        box = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
        assert box.x0 > -3, name
        assert box.y0 > -3, name
        assert box.x1 < figure.bbox.x1 + 3, name
        assert box.y1 < figure.bbox.y1 + 3, name
        plt.close("all")


@pytest.mark.parametrize("ax", [[1], "axes"])
def test_a_value_that_is_not_axes_is_refused(ax):
    with pytest.raises(TypeError, match=r"`ax` must be a matplotlib Axes, got (list|str)\."):
        plots.importance(explanation(), ax=ax)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(ImportError, match=r"Plots need matplotlib: pip install 'suffice\[plot\]'\."):
        plots.importance(explanation())


# --- importance ------------------------------------------------------------------------------------------------------


def test_the_importance_of_a_row_is_drawn_with_its_values():
    ax = plots.importance(explanation(), index="share")
    assert ticks(ax) == ["b = 2.5", "a = 1", "c = rain", "d = missing", "1 other"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([2 / 3, 1 / 3, 1 / 3, 1 / 3, 0])
    assert [text.get_text() for text in ax.texts] == ["0.67", "0.33", "0.33", "0.33", "0"]
    assert ax.get_xlabel() == "importance (LXI): share of the sufficient sets with the variable"
    assert ax.get_title(loc="left") == "Outcome: busy\n3 sufficient sets"
    assert ax.yaxis_inverted()


def test_the_variable_that_is_enough_alone_is_drawn_first():
    ax = plots.importance(explanation())
    assert ticks(ax) == ["a = 1", "b = 2.5", "c = rain", "d = missing", "1 other"]
    assert [text.get_text() for text in ax.texts] == ["1.00", "0.50", "0.50", "0.50", "0"]
    assert ax.get_xlabel().startswith("importance: 1 / size of the smallest sufficient set")
    assert ticks(plots.importance([explanation(), explanation()]))[:2] == ["a", "b"]


def test_the_importance_in_minimal_sets_is_drawn_on_request():
    ax = plots.importance(explanation(), sets="minimal")
    assert ticks(ax) == ["a = 1", "4 others"]
    assert ax.get_title(loc="left") == "Outcome: busy\n1 minimal sufficient set"


def test_variables_beyond_the_number_asked_for_share_a_bar_of_the_largest():
    ax = plots.importance(explanation(), n_variables=1, index="share")
    assert ticks(ax) == ["b = 2.5", "4 others (at most)"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([2 / 3, 1 / 3])
    assert [to_hex(bar.get_facecolor(), keep_alpha=False).upper() for bar in ax.patches] == [BLUE, GREY]


def test_the_title_shows_the_interval_of_a_number():
    ax = plots.importance(explanation(outcome=20.0, interval=(12.0, 31.5)))
    assert ax.get_title(loc="left").replace("\u00a0", " ").startswith("Outcome: 20, kept within [12, 31.5]")


def test_mean_importance_leaves_rows_without_a_set_out():
    ax = plots.importance([explanation(), insufficient()], index="share")
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([2 / 3, 1 / 3, 1 / 3, 1 / 3, 0])
    assert ticks(ax) == ["b", "a", "c", "d", "1 other"]
    assert ax.get_title(loc="left") == "Mean of 1 row with a sufficient set, of 2 in all"


def test_mean_importance_of_explanations_is_their_own(explanations):
    ax = plots.importance(explanations)
    drawn = dict(zip(ticks(ax), [bar.get_width() for bar in ax.patches], strict=True))
    own = dict(explanations.ranked_importance())
    assert [name for name in drawn if not name.endswith("(at most)")][: len(own)] == [shorten(name) for name in own]
    assert {name: drawn[shorten(name)] for name in own} == pytest.approx(own)
    assert plots.importance(explanations[:3]).get_title(loc="left") == "Mean of 3 rows"


def test_without_a_sufficient_set_the_axes_say_so():
    ax = plots.importance(insufficient())
    [text] = texts(ax)
    assert " ".join(text.split()) == (
        "Outcome: busy No set of the candidate variables keeps it with probability 0.9, so there is no rule. "
        f"{insufficient().lead.partition('rule. ')[2]}"
    )
    assert texts(plots.importance([insufficient()])) == ["No row has a sufficient set."]
    assert texts(plots.importance_heatmap([insufficient()])) == ["No row has a sufficient set."]


@pytest.mark.parametrize("values", [[], [1], ["busy"]])
def test_values_that_are_not_explanations_are_refused(values):
    with pytest.raises(TypeError, match=r"`explanations` must be what `explain` gave: Explanations, or some of them\."):
        plots.importance(values)


def test_an_unknown_kind_of_sets_and_a_wrong_number_are_refused():
    with pytest.raises(ValueError, match=r"`sets` must be 'all' or 'minimal', got 'most'\."):
        plots.importance(explanation(), sets="most")
    with pytest.raises(ValueError, match=r"`n_variables` must be a whole number >= 1, got 0\."):
        plots.importance(explanation(), n_variables=0)


# --- heatmap ---------------------------------------------------------------------------------------------------------


def test_the_heatmap_puts_equal_rows_together_and_rows_without_a_set_last():
    only_a = explanation(sufficient_sets=(SufficientSet(("a",), 0.95),))
    rows = [only_a, explanation(), insufficient(), only_a, explanation()]
    ax = plots.importance_heatmap(rows)
    order = [int(text) for text in ticks(ax)]
    assert order[-1] == 2
    assert {tuple(order[:2]), tuple(order[2:4])} == {(0, 3), (1, 4)}
    [image] = ax.images
    drawn = image.get_array()
    names = ticks(ax, "x")
    assert names == ["a", "b", "c", "d"]
    for line, row in zip(drawn[:-1], order[:-1], strict=True):
        assert line.tolist() == pytest.approx([rows[row].importance_by()[name] for name in names])
    assert drawn.mask[-1].all()
    assert image.get_clim() == (0, 1)
    assert ax.get_title(loc="left") == "Grey: 1 row without a sufficient set"
    assert any(other.get_ylabel() == "importance" for other in ax.figure.axes)


def test_similar_rows_stand_near_each_other():
    order = plots._order_alike(np.array([[0.0], [1.0], [0.1], [0.9], [0.0]]))
    assert order.tolist() in ([0, 4, 2, 3, 1], [1, 3, 2, 0, 4])


def test_a_heatmap_draws_a_sample_of_many_rows(explanations):
    ax = plots.importance_heatmap(explanations, max_rows=35, n_variables=2)
    assert ax.get_ylabel() == "35 of 40 rows, similar ones together"
    assert ax.images[0].get_array().shape == (35, 2)
    assert ticks(ax) == []
    assert plots.importance_heatmap(explanations).get_ylabel() == "40 rows, similar ones together"


def test_a_heatmap_of_one_row_works_and_of_one_explanation_is_refused(explanations):
    assert plots.importance_heatmap(explanations[:1]).images[0].get_array().shape[0] == 1
    with pytest.raises(TypeError, match=r"`importance_heatmap` draws several rows; for one see `importance`\."):
        plots.importance_heatmap(explanation())
    with pytest.raises(ValueError, match=r"`max_rows` must be a whole number >= 1, got 0\."):
        plots.importance_heatmap(explanations, max_rows=0)


# --- sets ------------------------------------------------------------------------------------------------------------


def test_the_sets_of_a_row_are_columns_of_dots_under_bars():
    ax = plots.sets(explanation())
    assert ticks(ax) == ["SDP 1.0", "0.5", "0", "a = 1", "b = 2.5", "c = rain", "d = missing"]
    held = [line for line in ax.lines if line.get_linestyle() == "-"]
    assert [(line.get_xdata()[0], list(line.get_ydata())) for line in held] == [(0, [0]), (1, [1, 2]), (2, [1, 3])]
    bars = [patch for patch in ax.patches if patch.get_width() == pytest.approx(0.6)]
    assert [-bar.get_height() / 3 for bar in bars] == pytest.approx([0.97, 0.95, 0.9])
    assert {"0.97", "0.95", "0.90", "pi = 0.9"} <= set(texts(ax))
    assert ax.get_title(loc="left") == "Outcome: busy\n3 sufficient sets"
    [pi, base] = ax.collections
    assert pi.get_segments()[0][0][1] - base.get_segments()[0][0][1] == pytest.approx(-3 * 0.9)


def test_the_first_of_many_sets_are_drawn():
    ax = plots.sets(explanation(), n_sets=2)
    assert ax.get_title(loc="left") == "Outcome: busy\nthe first 2 of 3 sufficient sets"
    assert "d = missing" not in ticks(ax)


def test_without_a_sufficient_set_the_nearest_is_drawn_grey():
    ax = plots.sets(insufficient())
    assert " ".join(ax.get_title(loc="left").split()).endswith(f"{insufficient().verdict} Nearest comes this set.")
    assert "0.71" in texts(ax)
    assert {line.get_color() for line in ax.lines if line.get_linestyle() == "-"} == {GREY}


def test_the_empty_set_is_drawn_without_dots():
    ax = plots.sets(explanation(sufficient_sets=(SufficientSet((), 0.95),)))
    assert ticks(ax)[-1] == "nothing at all"


def test_importances_say_that_no_variable_is_needed():
    """The figure had one bar, "4 others", of length 0."""
    explanations = rare_explanations()
    row = first(explanations, "no", is_sufficient=True)
    assert explanations[row].lead in " ".join(texts(plots.importance(explanations[row]))).replace("\n", " ")
    alone = [explanations[row]]
    for draw in (plots.importance, plots.importance_heatmap):
        assert "No variable is needed" in " ".join(texts(draw(alone)))
    assert "ALWAYS no" in " ".join(texts(plots.rule(explanations, row)))


def test_sets_of_several_rows_and_no_sets_are_refused(explanations):
    with pytest.raises(TypeError, match=r"`sets` draws one row, such as explanations\[0\], got Explanations\."):
        plots.sets(explanations)
    with pytest.raises(ValueError, match=r"`n_sets` must be a whole number >= 1, got 0\."):
        plots.sets(explanation(), n_sets=0)


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
    assert star(ax) == pytest.approx([row[LONG], row["temp"]])
    assert legend(ax) == ["busy", "calm", "the rule", "the row"]
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
    assert star(ax)[0] == codes.index(X["weather"][0])
    assert ax.get_xlim() == (-0.5, 2.5)
    ax = plots.rule(one_rule(explanations, Condition("weather", labels=outer[:1], excluded=True)), 0, ["weather", LONG])
    assert [extents(box)[:2] for box in boxes(ax)] == [(0.5, 2.5)]  # neighbours make one box


def test_a_missing_value_of_the_row_has_its_place(explanations, table):
    X, _ = table
    row = int(np.flatnonzero(X["temp"][:40].isna())[0])
    ax = plots.rule(one_rule(explanations, Condition("temp", values=False, missing=True), row=row), row, ["temp", LONG])
    x, _ = star(ax)
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
    assert star(ax)[0] == X["hour"][0]
    assert star(ax)[1] > np.bincount(X["hour"]).max()
    assert ax.get_ylabel() == "training rows"
    assert legend(ax) == ["busy", "calm", "the rule", "the row"]


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
    assert [outside, *others] == ["outside", "the rule", "the row"]
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
    explainer = SufficientExplainer(n_candidates=2, random_state=0, n_jobs=1).fit(X, y)
    explanations = one_rule(explainer.explain([[0.0, 0.0]]), Condition("x0", high=2.0))
    drawn = points(plots.rule(explanations, 0, ["x0", "x1"]))
    assert len(drawn["rare"]) == 100
    assert len(drawn["common"]) == round(5000 * 8900 / 9000)


def test_a_rule_without_bounds_and_a_row_without_rules_show_a_message(explanations, explainer, table):
    assert "no bounds" in texts(plots.rule(one_rule(explanations), 0))[0]
    strict = SufficientExplainer(pi=1.0, max_size=1, random_state=0, n_jobs=1).fit(*table).explain(table[0][:40])
    row = next(i for i, e in enumerate(strict) if not e.is_sufficient)
    assert "keeps it with probability 1, so there is no rule." in texts(plots.rule(strict, row))[0].replace("\n", " ")
    none = explainer.explain(table[0][:1], rules=None)
    assert "explain(X, rules='minimal')" in texts(plots.rule(none, 0, which="all"))[0].replace("\n", " ")


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
    with pytest.raises(TypeError, match=r"`rule` needs all explanations and the position of a row, got Explanation\."):
        plots.rule(explanations[0], 0)


def test_parts_of_dates_are_columns():
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 24 * 365, 300), "h")
    y = (when.day_of_week < 5) & (when.hour > 8)
    X = pd.DataFrame({"when": when, "noise": rng.normal(size=300)})
    explanations = SufficientExplainer(dates="parts", random_state=0, n_jobs=1).fit(X, y).explain(X[:5])
    ax = plots.rule(explanations, 0, ["when.weekday", "when.hour"])
    assert ticks(ax, "x") == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert star(ax) == [when[0].weekday(), when[0].hour]


# --- cdf -------------------------------------------------------------------------------------------------------------


def test_the_cdf_of_a_set_is_drawn_beside_that_of_all(regression, table):
    X, _ = table
    ax = plots.cdf(regression, X[:1], ["temp", 0], y=100.0)
    low, high = regression.interval(X[:1])[0]
    lines = {line.get_label(): line for line in ax.lines}
    known, full = lines["given temp and hour"], lines["given all variables"]
    for line, S in ((known, ["temp", "hour"]), (full, None)):
        at, shares = line.get_data()
        assert shares.tolist() == pytest.approx(regression.cdf(X[:1], S, at)[0].tolist())
        assert (shares[0], shares[-1]) == (0, pytest.approx(1))
        assert line.get_drawstyle() == "steps-post"
    assert lines["outcome 100"].get_xdata() == [100.0, 100.0]
    [span] = [patch for patch in ax.patches if patch.get_label().startswith("interval")]
    assert (span.get_x(), span.get_x() + span.get_width()) == pytest.approx((low, high))
    assert ax.get_xlabel() == "count"
    assert f"SDP {regression.sdp(X[:1], ['hour', 'temp'])[0]:.2f}"[:7] in ax.get_title(loc="left")


def test_the_cdf_is_drawn_where_it_is_asked_for(regression, table):
    ax = plots.cdf(regression, table[0][:1], [], values=[50.0, 10.0, 200.0])
    [line] = [line for line in ax.lines if line.get_label() == "given nothing at all"]
    assert line.get_xdata()[1:-1].tolist() == [10.0, 50.0, 200.0]
    [outcome] = [line for line in ax.lines if line.get_label().startswith("outcome")]
    assert outcome.get_xdata()[0] == pytest.approx(regression.predict(table[0][:1])[0])


def test_cdf_refuses_classes_several_rows_and_a_bare_name(explainer, regression, table):
    X, _ = table
    with pytest.raises(ValueError, match=r"`cdf` draws the distribution of a number, but `y` held classes\."):
        plots.cdf(explainer, X[:1], ["hour"])
    with pytest.raises(ValueError, match=r"`X_row` must be one row, such as X\[:1\], got 3\."):
        plots.cdf(regression, X[:3], ["hour"])
    with pytest.raises(TypeError, match=r"`S` must be a list of variables, such as \['hour'\]\."):
        plots.cdf(regression, X[:1], "hour")


# --- stability -------------------------------------------------------------------------------------------------------


def test_stability_is_drawn_as_shares_of_the_rows():
    shares = np.array([1.0, 0.5, 0.5, 0.2])
    result = Stability(np.array([1, 1, 2, 4]), np.array([1, 1, 1, 2]), shares, shares, shares, 0.1, 50)
    ax = plots.stability(result)
    rules, sets = ax.containers
    assert [bar.get_height() for bar in rules] == [50, 25, 0, 25]
    assert [bar.get_height() for bar in sets] == [75, 25, 0, 0]
    assert legend(ax) == ["rules (mean 2.00)", "best sets (mean 1.25)"]
    assert ax.get_title(loc="left") == "4 rows, noise of 0.1 standard deviations"
    assert ax.get_xlabel() == "different ones among a row and its 50 noisy copies"


def test_stability_of_an_explainer_is_computed(explainer, table):
    ax = plots.stability(explainer, table[0][:3], scale=0.0, n_copies=2, random_state=0)
    assert [bar.get_height() for bar in ax.containers[0]] == [100]
    with pytest.raises(TypeError, match=r"Give the rows `X` of which noisy copies are made\."):
        plots.stability(explainer)


# --- coverage and precision ------------------------------------------------------------------------------------------


def global_rules():
    figures = (None, 0.95, 2, 0.5, 1.0, None, True, 2.0, False)
    boxes = [Condition("x0", high=2.5), Condition("x0", 2.5), Condition("x0", high=3.5)]
    X, y = [[1.0], [2.0], [3.0], [4.0]], ["calm", "calm", "busy", "calm"]
    rules = [Rule((box,), "calm", *figures) for box in boxes]
    return GlobalRulesClassifier.from_explanations(rules, X, y)


def test_rules_are_drawn_by_coverage_and_precision():
    rule_list = global_rules()  # x0 <= 2.5 is calm (2 of 2), x0 <= 3.5 calm (2 of 3), x0 > 2.5 busy (1 of 2)
    ax = plots.coverage_precision(rule_list)
    drawn = points(ax)
    assert sorted(map(tuple, drawn["a rule for calm"])) == [(50.0, 1.0), (75.0, pytest.approx(2 / 3))]
    assert drawn["a rule for busy"].tolist() == [[50.0, 0.5]]
    lines = {line.get_label(): np.array(line.get_data()).T.tolist() for line in ax.lines}
    assert lines["best single rules"] == [[50.0, 1.0], [75.0, pytest.approx(2 / 3)]]
    assert lines["the first rules together"] == [[50.0, 1.0], [75.0, pytest.approx(2 / 3)], [100.0, 0.5]]
    assert lines["all 3 rules: 100 %, 0.500"] == [[100.0, 0.5]]
    assert ax.get_title(loc="left") == "3 rules on 4 training rows"


def test_rules_are_measured_on_the_rows_given():
    ax = plots.coverage_precision(global_rules(), X=[[1.0], [2.0]], y=["busy", "calm"])
    drawn = points(ax)
    assert drawn["a rule for calm"].tolist() == [[100.0, 0.5], [100.0, 0.5]]
    assert set(drawn) == {"a rule for calm"}  # the other covers none of the rows
    assert ax.get_title(loc="left") == "2 rules on 2 rows"


def test_the_precision_of_numbers_is_that_of_the_model(regression, table, counts):
    X, _ = table
    rule_list = GlobalRulesRegressor.from_explanations(regression.explain(X[:10], counts[:10]))
    ax = plots.coverage_precision(rule_list)
    expected = sorted((100 * line.coverage, line.precision) for line in rule_list.rules_)
    assert np.sort(points(ax)["a rule"], axis=0) == pytest.approx(np.sort(expected, axis=0))
    assert ax.get_ylabel() == "precision: 1 - MSE / variance"
    again = plots.coverage_precision(rule_list, X=X, y=counts)
    assert points(again)["a rule"] == pytest.approx(points(ax)["a rule"])


def test_a_rule_list_without_rules_shows_a_message_and_x_without_y_is_refused():
    rule_list = global_rules()
    with pytest.raises(ValueError, match=r"Give `X` and `y` together, or neither for the training rows\."):
        plots.coverage_precision(rule_list, X=[[1.0]])
    strict = GlobalRulesClassifier.from_explanations([], [[1.0]], ["calm"])
    assert texts(plots.coverage_precision(strict)) == ["The list has no rules."]
    narrow = GlobalRulesClassifier.from_explanations([rule_list.rules_[0].rule], [[1.0], [4.0]], ["calm", "busy"])
    assert texts(plots.coverage_precision(narrow, X=[[9.0]], y=["busy"])) == ["No rule covers any of these rows."]


# --- to_shap ---------------------------------------------------------------------------------------------------------


def test_shap_gets_the_importances_and_the_values_of_the_user(explanations, table):
    X, _ = table
    shap_values = plots.to_shap(explanations, index="share")
    assert np.array_equal(plots.to_shap(explanations).values, explanations.importance_matrix(index="responsibility"))
    assert shap_values.values == pytest.approx(np.array([list(e.importance.values()) for e in explanations]))
    assert shap_values.feature_names == list(X.columns)
    assert shap_values.data[0].tolist() == [e[0][1] for _, e in explanations[0].values]
    assert shap_values.data[0][2] == X["weather"][0]
    assert shap_values.base_values.tolist() == [0.0] * 40
    minimal = plots.to_shap(explanations, sets="minimal", index="share")
    assert minimal.values[0].tolist() == list(explanations[0].importance_in("minimal").values())


def test_shap_gets_numbers_as_numbers_and_one_row_as_one():
    numbers = explanation(values=row_values(1, 2, 3, None, 5))
    shap_values = plots.to_shap(numbers, index="share")
    assert shap_values.values.tolist() == list(numbers.importance.values())
    assert shap_values.data.dtype == np.float64
    assert shap_values.data[:3].tolist() == [1, 2, 3]
    assert np.isnan(shap_values.data[3])
    group = explanation(values=(("a", (("a_x", 1), ("a_y", 0))), *explanation().values[1:]))
    assert plots.to_shap(group).data[0] == "a_x = 1, a_y = 0"


@pytest.mark.filterwarnings("default")  # of shap's own
@pytest.mark.parametrize("plot", ["bar", "beeswarm", "heatmap", "waterfall"])
def test_plots_of_shap_work_on_it(explanations, plot):
    shap_values = plots.to_shap(explanations)
    drawn = getattr(shap.plots, plot)(shap_values[0] if plot == "waterfall" else shap_values, show=False)
    labels = [
        tick.get_text() for tick in (drawn.get_yticklabels() if drawn is not None else plt.gca().get_yticklabels())
    ]
    assert any("hour" in label for label in labels)


def test_without_shap_the_error_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match=r"`to_shap` needs shap: pip install shap\."):
        plots.to_shap(explanation())


# --- methods ---------------------------------------------------------------------------------------------------------


def test_explanations_draw_themselves(explanations):
    _, ax = plt.subplots()
    assert explanations[0].plot(ax=ax) is ax
    assert explanations[0].plot("sets", n_sets=1).get_title(loc="left").startswith("Row 0, outcome: ")
    assert explanations.plot().get_xlabel() == "mean importance"
    assert len(explanations.plot("heatmap").images) == 1
    assert star(explanations.plot("rule", row=1, variables=["hour", LONG]))[0] == explanations[1].values[0][1][0][1]


def test_an_unknown_kind_of_plot_names_the_known_ones(explanations):
    with pytest.raises(ValueError, match=r"`kind` must be one of \['importance', 'sets'\], got 'set'\. Did you"):
        explanations[0].plot("set")
    with pytest.raises(ValueError, match=r"`kind` must be one of \['importance', 'heatmap', 'rule'\], got 'rules'\."):
        explanations.plot("rules")
