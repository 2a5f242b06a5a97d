"""The page about model quality."""

from dataclasses import replace

import numpy as np
import pytest
from app_client import all_text, with_class
from processes import wait_for

from suffice import Quality
from suffice.app.pages.model_quality import (
    class_table,
    confusion_table,
    layout,
    numbers_chart,
    quality_tiles,
    update_quality,
)
from suffice.app.parts.controls import advance
from suffice.app.state.jobs import Jobs
from suffice.app.state.sessions import Sessions
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.checks.quality import SetShare


def finished(workspace, rows, scheme=None):
    """The contents of the page when its job is done."""
    sessions, jobs = Sessions(workspace), Jobs()
    form = {"view": View(tab="quality").to_store(), "rows": rows, "scheme": scheme, "of": None}

    def look(name):
        return advance(jobs, lambda event, job, form: update_quality(sessions, job, form), None, "", name, form)

    first = look(None)
    assert not first["is_idle"]
    assert first["of"] == rows
    form["of"] = rows
    wait_for(lambda: jobs.get(first["job"]).state != "running")
    return look(first["job"])


def test_classes_have_a_matrix_and_figures_by_class(mixed):
    answer = finished(mixed, "training")
    assert answer["title"] == "Quality of the forest, traffic: 400 training rows, predicted out of bag."
    text = all_text(answer["content"])
    assert "Confusion matrix" in text
    assert "By class" in text
    assert len(with_class(answer["content"], "right")) == 2


def test_numbers_are_drawn_and_the_open_table_is_named(diabetes):
    answer = finished(diabetes, "table", "dark")
    assert "Rows that the forest was fitted on are predicted better than others." in answer["title"]
    assert "Predicted and observed" in all_text(answer["content"])


def test_without_outcomes_only_the_training_rows_can_be_chosen(mixed):
    unknown = Workspace(mixed.explainer, mixed.frame.select(mixed.names), None, "unknown")
    for workspace, style in ((mixed, {}), (unknown, {"display": "none"})):
        panel = layout(workspace).children[0]
        choice = panel.children[0].children[-1]
        assert choice.style == style


@pytest.mark.slow
def test_the_page_shows_the_quality_in_the_browser(open_app, mixed):
    app = open_app(mixed)
    page = app.open("#quality-tiles .tile", tab="quality")
    assert app.text("#quality-tiles .tile .large") == "400"
    page.wait_for_selector("#quality-content .confusion")
    page.click("text=rows of the open table")
    app.wait_for_text("#quality-title", "Rows that the forest was fitted on")
    page.click("text=One row")
    page.wait_for_selector("#outcome")


QUALITY = Quality(
    "traffic",
    "the forest",
    "the observed outcomes",
    "5 training rows, predicted out of bag",
    np.array(["a", "a", "b", "b", "b"]),
    np.array(["a", "b", "b", "b", "b"]),
    ("a", "b", "never"),
    (SetShare("a", 2, 2, 1), SetShare("b", 3, 3, 3), SetShare("never", 0, 0, 0)),
    "probability 0.9",
)


def test_the_confusion_matrix_is_a_table_of_counts_and_shares():
    table = confusion_table(QUALITY)
    assert [all_text(one) for one in with_class(table, "right")] == ["1 50 %", "3 100 %", "0 0 %"]
    assert "observed ↓  predicted →" in all_text(table)


def test_classes_have_recall_precision_and_a_share_of_rows_with_a_set():
    text = all_text(class_table(QUALITY))
    assert "a 2 0.50 1.00 50 % (1 of 2)" in text
    assert "b 3 1.00 0.75 100 % (3 of 3)" in text
    assert text.endswith("never 0 - - -")


def test_tiles_name_the_figures():
    assert [all_text(tile) for tile in quality_tiles(QUALITY)] == [
        "rows 5 predicted out of bag",
        "accuracy 0.80 0.60 by the most frequent class alone",
        "with a sufficient set 80 % probability 0.9; 5 rows searched",
    ]
    scores = np.array([0.9, 0.4, 0.2, 0.6, 0.1])
    tiles = [all_text(tile) for tile in quality_tiles(replace(QUALITY, focus="a", scores=scores))]
    assert tiles[2:4] == [
        "F1 of a 0.67 precision 1.00, recall 0.50",
        "ROC AUC of a 0.83 average precision 0.83",
    ]
    numbers = Quality("y", "the forest", "the observed outcomes", "3 rows", *[np.array([1.0, 2.0, 4.0])] * 2, None)
    assert [all_text(tile) for tile in quality_tiles(numbers)][1:] == [
        "R² 1.00 share of the variance that is predicted",
        "mean absolute error 0 of y",
    ]


def test_numbers_are_drawn_around_the_diagonal():
    observed = np.arange(5000.0)
    quality = Quality("y", "the forest", "the outputs of Model", "rows", observed, observed + 1, None)
    figure = numbers_chart(quality, "light")
    assert len(figure.data[1].x) == 3000
    assert list(figure.data[0].x) == list(figure.data[0].y) == [0.0, 5000.0]
    assert figure.layout.xaxis.title.text == "y, output of the model"
