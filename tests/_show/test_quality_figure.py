"""The drawing of a confusion matrix and of predicted against observed numbers."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn_plots import explainer_of_classes, explainer_of_numbers, texts, ticks

from suffice import Quality, plots
from suffice._show.figures import MAX_POINTS
from suffice._show.picture import gather_rare


@pytest.fixture(autouse=True)
def figures():
    yield
    plt.close("all")


def of_labels(observed, predicted, classes):
    return Quality("y", "the forest", "the observed outcomes", "rows", np.array(observed), np.array(predicted), classes)


def test_cells_have_counts_and_shares_with_recall_and_sets_beside_them():
    quality = explainer_of_classes().quality(n_explained=10)
    ax = plots.quality(quality)
    shown = texts(ax)
    counts = quality.confusion
    shares = counts / counts.sum(axis=1, keepdims=True)
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(shares)
    assert any(text.startswith(f"{counts[0, 0]:,}\n") for text in shown)
    assert {"recall", "rows with\na set"} <= set(shown)
    assert [tick.split("\n")[0] for tick in ticks(ax, "x")] == ["busy", "calm"]
    assert ticks(ax, "y") == ["busy", "calm"]


def test_numbers_are_points_around_the_diagonal():
    explainer = explainer_of_numbers()
    ax = plots.quality(explainer)
    quality = explainer.quality(n_explained=0)
    assert np.asarray(ax.collections[0].get_offsets()) == pytest.approx(np.c_[quality.observed, quality.predicted])
    [line] = ax.lines
    assert line.get_xdata().tolist() == line.get_ydata().tolist()
    assert ax.get_xlabel() == "count, observed"
    assert len(quality.observed) < MAX_POINTS


def test_rare_classes_share_a_line_of_the_matrix():
    observed = ["a"] * 5 + ["b"] * 3 + ["c", "d"]
    predicted = ["a"] * 4 + ["c"] + ["b"] * 2 + ["a"] + ["d", "b"]
    labels, counts, shares = gather_rare(of_labels(observed, predicted, ("a", "b", "c", "d")), 2)
    assert labels == ["a", "b", "2 others"]
    assert counts.tolist() == [[4, 0, 1], [1, 2, 0], [0, 1, 1]]
    assert shares.tolist() == [[0.8, 0.0, 0.2], [1 / 3, 2 / 3, 0.0], [0.0, 0.5, 0.5]]


def test_a_class_without_rows_has_no_recall():
    ax = plots.quality(of_labels(["a", "a"], ["a", "a"], ("a", "never")))
    assert "-" in texts(ax)
