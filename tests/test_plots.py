"""Plots: what is drawn where, what is written, and that nothing of the user's is touched."""

from __future__ import annotations

import dataclasses
import pickle
import re
import sys
import warnings

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import pytest
from drawn_plots import (
    LONG,
    all_explanations,
    explainer_of_classes,
    explainer_of_numbers,
    explanation,
    insufficient,
    mixed_table,
    numbers,
    ring,
    texts,
    ticks,
)
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from rare_classes import first, rare_explanations

from suffice import (
    GlobalRulesClassifier,
    SufficientSet,
    plots,
)
from suffice._show.drawing import BLUE, GREY, shorten

with warnings.catch_warnings():  # shap 0.51 uses what matplotlib 3.11 is going to deprecate
    warnings.simplefilter("ignore")


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


# --- what all plots share --------------------------------------------------------------------------------------------


def unlike_any(explanations):
    """A row without a sufficient set, with long names."""
    best = SufficientSet(("weather", LONG), 0.71)
    return dataclasses.replace(explanations[0], sufficient_sets=(), best_set=best, rules=())


@pytest.fixture(scope="module")
def drawings(explanations):
    rule_list = GlobalRulesClassifier.from_explanations(explanations)
    explanations_quality = explainer_of_classes().quality(n_explained=20)
    return {
        "importance of a row": lambda ax: plots.importance(explanations[0], ax=ax),
        "mean importance": lambda ax: plots.importance(explanations, ax=ax),
        "overview": lambda ax: plots.overview(explanations, ax=ax),
        "sets": lambda ax: plots.sets(explanations[0], ax=ax),
        "rule": lambda ax: plots.rule(explanations, 0, ax=ax),
        "rule on one column": lambda ax: plots.rule(explanations, 0, "hour", ax=ax),
        "coverage and precision": lambda ax: plots.coverage_precision(rule_list, ax=ax),
        "sets without a sufficient one": lambda ax: plots.sets(unlike_any(explanations), ax=ax),
        "curve": lambda ax: plots.curve(explanations, 0, "hour", ax=ax),
        "quality": lambda ax: plots.quality(explanations_quality, ax=ax),
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
        mine.draw_without_rendering()
        plt.close("all")


def test_without_axes_a_new_figure_is_made_that_holds_all_text_and_no_setting_changes(drawings):
    before = dict(mpl.rcParams)
    for name, draw in drawings.items():
        current = plt.figure()
        ax = draw(None)
        figure = ax.figure
        assert figure is not current, name
        assert current.axes == [], name
        assert figure.get_layout_engine() is not None, name
        figure.canvas.draw()
        box = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
        assert box.x0 > -3, name
        assert box.y0 > -3, name
        assert box.x1 < figure.bbox.x1 + 3, name
        assert box.y1 < figure.bbox.y1 + 3, name
        plt.close("all")
    assert dict(mpl.rcParams) == before


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
    ax = plots.importance(explanation(), sets="all")
    assert ticks(ax) == ["b = 2.5", "a = 1", "c = rain", "d = missing", "1 other"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([2 / 3, 1 / 3, 1 / 3, 1 / 3, 0])
    assert [text.get_text() for text in ax.texts] == ["0.67", "0.33", "0.33", "0.33", "0"]
    assert ax.get_xlabel() == "importance: share of all sufficient sets with the variable"
    assert ax.get_title(loc="left") == "Outcome: busy (observed)\n3 sufficient sets"
    assert ax.yaxis_inverted()


def test_the_variables_of_the_smallest_sets_count_unless_all_are_asked_for():
    ax = plots.importance(explanation())
    assert ticks(ax) == ["a = 1", "4 others"]
    assert [text.get_text() for text in ax.texts] == ["1.00", "0"]
    assert ax.get_title(loc="left") == "Outcome: busy (observed)\n1 minimal sufficient set"
    meaning = "importance: share of the smallest sufficient sets with the variable"
    assert " ".join(ax.get_xlabel().split()) == meaning
    assert ticks(plots.importance([explanation(), explanation()])) == ["a", "4 others"]
    assert ticks(plots.importance(explanation(), sets="minimal")) == ticks(ax)


def test_equally_important_variables_are_drawn_in_the_order_of_the_sets():
    sets = tuple(SufficientSet(*s) for s in [(("b", "d"), 0.97), (("a", "c"), 0.95)])
    ax = plots.importance(explanation(sufficient_sets=sets, best_set=sets[0]))
    assert ticks(ax) == ["b = 2.5", "d = missing", "a = 1", "c = rain", "1 other"]
    assert [text.get_text() for text in ax.texts] == ["0.50", "0.50", "0.50", "0.50", "0"]
    assert ax.get_title(loc="left") == "Outcome: busy (observed)\n2 minimal sufficient sets"


def test_variables_beyond_the_number_asked_for_share_a_bar_of_the_largest():
    ax = plots.importance(explanation(), n_variables=1, sets="all")
    assert ticks(ax) == ["b = 2.5", "4 others (at most)"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([2 / 3, 1 / 3])
    assert [to_hex(bar.get_facecolor(), keep_alpha=False).upper() for bar in ax.patches] == [BLUE, GREY]


def test_the_title_shows_the_interval_of_a_number():
    ax = plots.importance(explanation(outcome=20.0, interval=(12.0, 31.5)))
    assert ax.get_title(loc="left").replace("\u00a0", " ").startswith("Outcome: 20, kept within [12, 31.5]")


def test_the_title_names_the_target_and_its_source():
    """Titles said "outcome" for every target, and not whether it was predicted."""
    ax = plots.importance(explanation(target="Churn", source="forest", id="1677-D"))
    assert ax.get_title(loc="left") == "Row 1677-D, Churn: busy (predicted)\n1 minimal sufficient set"


def test_a_label_longer_than_the_axes_is_broken():
    """Beside long names of variables the meaning of importance ran out of the figure."""
    sets = (SufficientSet(("monthly charges in all",), 0.97),)
    values = (("monthly charges in all", (("monthly charges in all", "before tax"),)),)
    ax = plots.importance(explanation(sufficient_sets=sets, best_set=sets[0], values=values))
    ax.figure.canvas.draw()
    assert ax.xaxis.label.get_window_extent().x1 < ax.figure.bbox.x1
    assert " ".join(ax.get_xlabel().split()).endswith("smallest sufficient sets with the variable")


def test_mean_importance_leaves_rows_without_a_set_out():
    ax = plots.importance([explanation(), insufficient()], sets="all")
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
        "Outcome: busy (observed) No set of the candidates keeps it with probability 0.9. "
        f"{insufficient().sentences.lead.partition('0.9. ')[2]}"
    )
    assert texts(plots.importance([insufficient()])) == ["No row has a sufficient set."]


@pytest.mark.parametrize("values", [[], [1], ["busy"]])
def test_values_that_are_not_explanations_are_refused(values):
    with pytest.raises(TypeError, match=r"`explanations` must be what `explain` gave: Explanations, or some of them\."):
        plots.importance(values)


def test_an_unknown_kind_of_sets_and_a_wrong_number_are_refused():
    with pytest.raises(ValueError, match=r"`sets` must be one of \['minimal', 'all'\], got 'most'\."):
        plots.importance(explanation(), sets="most")
    with pytest.raises(ValueError, match=r"`n_variables` must be a whole number >= 1, got 0\."):
        plots.importance(explanation(), n_variables=0)


def test_importances_over_all_sets_need_all_sets(explainer, table):
    minimal = explainer.explain(table[0][:2])
    with pytest.raises(ValueError, match="sets='all'"):
        plots.importance(minimal, sets="all")


# --- sets ------------------------------------------------------------------------------------------------------------


def test_the_sets_of_a_row_are_columns_of_dots_under_bars():
    ax = plots.sets(explanation())
    assert ticks(ax) == ["SDP 1.0", "0.5", "0", "b = 2.5", "a = 1", "c = rain", "d = missing"]
    held = [line for line in ax.lines if line.get_linestyle() == "-"]
    assert [(line.get_xdata()[0], list(line.get_ydata())) for line in held] == [(0, [1]), (1, [0, 2]), (2, [0, 3])]
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_width() == pytest.approx(0.6)]
    assert [-bar.get_height() / 3 for bar in bars] == pytest.approx([0.97, 0.95, 0.9])
    assert {"0.97", "0.95", "0.90", "level = 0.9"} <= set(texts(ax))
    assert ax.get_title(loc="left") == "Outcome: busy (observed)\n3 sufficient sets"
    [pi, base] = ax.collections
    assert pi.get_segments()[0][0][1] - base.get_segments()[0][0][1] == pytest.approx(-3 * 0.9)


def test_the_first_of_many_sets_are_drawn():
    ax = plots.sets(explanation(), n_sets=2)
    assert ax.get_title(loc="left") == "Outcome: busy (observed)\nthe first 2 of 3 sufficient sets"
    assert "d = missing" not in ticks(ax)


def test_without_a_sufficient_set_the_nearest_is_drawn_grey():
    ax = plots.sets(insufficient())
    assert " ".join(ax.get_title(loc="left").split()).endswith(
        f"{insufficient().sentences.verdict} This set comes nearest."
    )
    assert "0.71" in texts(ax)
    assert {line.get_color() for line in ax.lines if line.get_linestyle() == "-"} == {GREY}


def test_the_empty_set_is_drawn_without_dots():
    ax = plots.sets(explanation(sufficient_sets=(SufficientSet((), 0.95),)))
    assert ticks(ax)[-1] == "nothing at all"


def test_importances_say_that_no_variable_is_needed():
    """The figure had one bar, "4 others", of length 0."""
    explanations = rare_explanations()
    row = first(explanations, "no", is_sufficient=True)
    assert explanations[row].sentences.lead in " ".join(texts(plots.importance(explanations[row]))).replace("\n", " ")
    alone = [explanations[row]]
    assert "No variable is needed" in " ".join(texts(plots.importance(alone)))
    assert "ALWAYS no" in " ".join(texts(plots.rule(explanations, row)))


def test_sets_of_several_rows_and_no_sets_are_refused(explanations):
    with pytest.raises(TypeError, match=r"`sets` draws one row, such as explanations\[0\], got Explanations\."):
        plots.sets(explanations)
    with pytest.raises(ValueError, match=r"`n_sets` must be a whole number >= 1, got 0\."):
        plots.sets(explanation(), n_sets=0)


# --- methods ---------------------------------------------------------------------------------------------------------


def test_explanations_draw_themselves(explanations):
    _, ax = plt.subplots()
    assert explanations[0].plot(ax=ax) is ax
    assert explanations[0].plot("sets", n_sets=1).get_title(loc="left").startswith("Row 0, outcome: ")
    assert " ".join(explanations.plot().get_xlabel().split()) == (
        "mean importance: share of the smallest sufficient sets with the variable"
    )
    assert ring(explanations.plot("rule", row=1, variables=["hour", LONG]))[0] == explanations[1].values[0][1][0][1]


KINDS = ["importance", "overview", "sets", "rule", "curve"]


def test_an_unknown_kind_of_plot_names_the_known_ones(explanations):
    for answer in (explanations, explanations[0]):
        with pytest.raises(ValueError, match=rf"`kind` must be one of {re.escape(str(KINDS))}, got 'rules'\. Did you"):
            answer.plot("rules")


def test_a_kind_of_plot_is_the_name_of_its_function():
    assert set(KINDS) <= set(plots.__all__)


def test_one_explanation_draws_its_rule_and_its_curve(explanations):
    """Only importance and sets could be drawn of one explanation."""
    later = explanations[5:20][3]  # its place among the others is not its row
    assert ring(later.plot("rule", variables=["hour", LONG])) == ring(
        explanations.plot("rule", row=8, variables=["hour", LONG])
    )
    assert later.plot("curve", variable="hour").get_title(loc="left") == plots.curve(explanations, 8, "hour").get_title(
        loc="left"
    )
    with pytest.raises(TypeError, match="`rule` takes `row` with several explanations only"):
        later.plot("rule", row=2)
    with pytest.raises(TypeError, match="`overview` draws what `explain` gave for several rows, got Explanation"):
        later.plot("overview")


def test_a_pickled_explanation_leaves_the_forest_behind(explanations):
    copied = pickle.loads(pickle.dumps(explanations[0]))
    assert copied == explanations[0]
    assert len(pickle.dumps(copied)) < 20_000
    with pytest.raises(ValueError, match="`curve` draws training rows, which an explanation that was pickled"):
        copied.plot("curve")
