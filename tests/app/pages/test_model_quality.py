"""The page about model quality."""

import time

from app_client import all_text, with_class

from suffice.app.pages.model_quality import layout, update_quality
from suffice.app.state.desk import Desk
from suffice.app.state.jobs import Jobs
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace


def finished(workspace, rows, scheme=None):
    """The contents of the page when its job is done."""
    desk, jobs = Desk(workspace), Jobs()
    stored = View(tab="quality").to_store()
    first = update_quality(desk, jobs, stored, None, (rows, scheme))
    assert not first["is_idle"]
    end = time.monotonic() + 300
    while time.monotonic() < end:
        answer = update_quality(desk, jobs, stored, first["name"], (rows, scheme))
        if answer["is_idle"]:
            return answer
        time.sleep(0.05)
    raise AssertionError("The job did not end.")


def test_classes_have_a_matrix_and_figures_by_class(mixed):
    answer = finished(mixed, "training")
    assert answer["title"] == "Quality of the forest, traffic: 400 training rows, predicted out of bag."
    text = all_text(answer["content"])
    assert "Confusion matrix" in text
    assert "By class" in text
    assert len(with_class(answer["content"], "right")) == 2


def test_numbers_are_drawn_and_the_open_table_is_named(bike):
    answer = finished(bike, "table", "dark")
    assert "Rows that the forest was fitted on are predicted better than others." in answer["title"]
    assert "Predicted and observed" in all_text(answer["content"])


def test_without_outcomes_only_the_training_rows_can_be_chosen(mixed):
    unknown = Workspace(mixed.explainer, mixed.frame.select(mixed.names), None, "unknown")
    for workspace, style in ((mixed, {}), (unknown, {"display": "none"})):
        panel = layout(workspace).children[0]
        choice = panel.children[0].children[-1]
        assert choice.style == style


def test_the_page_shows_the_quality_in_the_browser(open_app, mixed):
    app = open_app(mixed)
    page = app.open("#quality-tiles .tile", tab="quality")
    assert app.text("#quality-tiles .tile .large") == "400"
    page.wait_for_selector("#quality-content .confusion")
    page.click("text=rows of the open table")
    app.wait_for_text("#quality-title", "Rows that the forest was fitted on")
    page.click("text=One row")
    page.wait_for_selector("#outcome")
