"""All rows at a glance: bars for how often variables are in the best set, and the values of these rows."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn_plots import all_explanations, texts

from suffice import SufficientExplainer, plots
from suffice._text import format_number


@pytest.fixture(autouse=True)
def figures():
    yield
    for number in plt.get_fignums():
        plt.figure(number).draw_without_rendering()
    plt.close("all")


@pytest.fixture(scope="module")
def explanations():
    return all_explanations()


def bars_of(ax):
    """The bars of each lane: where they begin, and how long they are."""
    lanes = {}
    for bar in ax.patches:
        lanes.setdefault(round(bar.get_y() + bar.get_height() / 2), []).append((bar.get_x(), bar.get_width()))
    return lanes


def test_the_overview_counts_best_sets_and_places_values(explanations):
    ax = explanations.plot("overview")
    names = [label.get_text() for label in ax.get_yticklabels()]
    best = [set(explanation.best_set.variables) if explanation.is_sufficient else set() for explanation in explanations]
    counts = {name: sum(name in of_row for of_row in best) for name in explanations.variable_names}
    assert len(names) == sum(n > 0 for n in counts.values())
    lanes = bars_of(ax)
    shown = sorted((n for n in counts.values() if n), reverse=True)
    assert [sum(width for _, width in lanes[i]) for i in range(len(names))] == pytest.approx(
        np.array(shown) / len(best)
    )
    assert sum(len(points.get_offsets()) for points in ax.collections if hasattr(points, "get_sizes")) == sum(shown)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == set(map(str, explanations.outcomes))
    assert len(plots.overview(explanations, n_variables=1).get_yticklabels()) == 1


def test_larger_values_lie_to_the_right_and_missing_ones_on_the_left():
    X = pd.DataFrame({"a": np.arange(300.0) % 77, "b": np.arange(300) % 3})
    X.loc[::10, "a"] = np.nan
    y = np.where(X["a"] > 40, "large", "small")
    found = SufficientExplainer(random_state=0).fit(X, y).explain(X[:80], rules=None)
    ax = found.plot("overview")
    assert next(label.get_text() for label in ax.get_yticklabels()) == "a"
    drawn = [np.asarray(c.get_offsets()) for c in ax.collections if hasattr(c, "get_sizes")][:2]  # of the first lane
    large, small = (points[:, 0] for points in drawn)
    assert large.min() > np.median(small)
    assert "missing" in texts(ax)
    assert small.min() == pytest.approx(1.45 - 0.14 * 1.5)


def test_the_overview_of_numbers_parts_them_at_the_median():
    X = np.random.default_rng(0).normal(size=(200, 2))
    counts = SufficientExplainer(random_state=0).fit(X, 9 * X[:, 0]).explain(X[:20], rules=None)
    labels = [text.get_text() for text in plots.overview(counts).get_legend().get_texts()]
    middle = np.median(counts.outcomes)
    assert labels[0].endswith(f" up to {format_number(middle)}")
    assert labels[1].endswith(f" above {format_number(middle)}")


def test_an_overview_without_sets_says_so():
    X = np.random.default_rng(0).normal(size=(120, 2))
    explainer = SufficientExplainer(random_state=0).fit(X, X[:, 0] > 0)
    nothing = explainer.explain(X[:5], X[:5, 0] <= 0, rules=None)
    assert texts(plots.overview(nothing)) == ["No row has a sufficient set."]
    with pytest.raises(TypeError, match="`overview` draws what `explain` gave for several rows, got list"):
        plots.overview([nothing[0]])


def test_groups_and_dates_have_lanes_of_their_own():
    X = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=300, freq="31h"), "red": np.arange(300) % 3 == 0})
    X["blue"] = np.arange(300) % 3 == 1
    X[["red", "blue"]] = X[["red", "blue"]].astype(int)
    y = X["red"].map({1: "x", 0: "z"}).where(X["when"].dt.month > 3, "w")
    found = SufficientExplainer(random_state=0, dates="parts", groups={"colour": ["red", "blue"]}).fit(X, y)
    ax = found.explain(X[:200], rules=None).plot("overview")
    assert {label.get_text() for label in ax.get_yticklabels()} == {"when", "colour"}
    assert {"red", "blue", "none"} <= set(texts(ax))
