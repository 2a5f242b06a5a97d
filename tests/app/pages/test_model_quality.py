"""The page about model quality."""

from dataclasses import replace

import numpy as np
import pytest
from app_client import all_text
from processes import wait_for

from suffice import Quality
from suffice.app.pages.model_quality import at_threshold, layout, numbers_chart, show_threshold, update_quality
from suffice.app.parts.controls import advance
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.sessions import Sessions
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace


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
    assert "Ranking and calibration" in text
    assert "By class" in text


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
def test_the_page_shows_the_quality_in_the_browser(open_app, rare):
    app, quality = open_app(rare), rare.quality(False)
    page = app.open("#quality-tiles .tile", tab="quality")
    assert app.text("#quality-tiles .tile .large") == f"{quality.n_rows:,}"
    page.wait_for_selector("#quality-content .confusion")
    page.wait_for_selector("#quality-curves > :nth-child(3) .js-plotly-plot")
    before = app.text("#quality-at .confusion")
    slider = page.locator("#quality-threshold [role=slider]")
    assert slider.get_attribute("aria-label") == "Threshold"
    slider.focus()
    page.keyboard.press("Home")
    app.wait_for_text("#quality-at .tile .large", "0.01")
    n_yes = int(np.count_nonzero(quality.votes[:, 1] >= 0.01))
    app.wait_for_text("#quality-at .tile", f"{n_yes:,} rows predicted to be yes")
    assert app.text("#quality-at .confusion") != before
    page.click("text=rows of the open table")
    app.wait_for_text("#quality-title", "Rows that the forest was fitted on")
    page.click("text=One row")
    page.wait_for_selector("#outcome")


def test_a_threshold_parts_the_rows_by_their_probability(mixed):
    quality = mixed.quality(False)
    scores, has_class = quality.votes[:, 0], quality.observed == "busy"
    for threshold in (0.2, 0.5, 0.8):
        at = at_threshold(quality, "busy", threshold)
        predicted = scores >= threshold
        right = np.count_nonzero(predicted & has_class)
        assert at.classes == ("busy", "calm")
        assert at.confusion[0].tolist() == [right, np.count_nonzero(has_class) - right]
        assert at.by_class[0].precision == pytest.approx(right / np.count_nonzero(predicted))
        job = Job("")
        job.run(lambda job: quality)
        shown, curves = show_threshold(job, "0", threshold, "dark")
        assert f"threshold {threshold:.2f} {np.count_nonzero(predicted)} rows predicted to be busy" in all_text(shown)
        roc, recall, calibration = (one.children[1].figure for one in curves)
        assert (recall.data[2].x[0], recall.data[2].y[0]) == (at.by_class[0].recall, at.by_class[0].precision)
        others = ~has_class
        assert roc.data[2].x[0] == pytest.approx(np.count_nonzero(predicted & others) / np.count_nonzero(others))
        assert roc.data[2].y[0] == at.by_class[0].recall
        assert np.mean(calibration.data[1].y) == pytest.approx(has_class.mean(), abs=0.01)
        assert np.all(np.diff(calibration.data[1].x) >= 0)


def test_one_of_many_classes_stands_against_the_others():
    votes = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.4, 0.3, 0.3]])
    observed, predicted = np.array(["a", "b", "c", "c"]), np.array(["a", "b", "c", "a"])
    quality = Quality("y", "the forest", "the observed outcomes", "4 rows", observed, predicted, ("a", "b", "c"))
    at = at_threshold(replace(quality, votes=votes), "c", 0.3)
    assert at.classes == ("c", "not c")
    assert at.confusion.tolist() == [[2, 0], [1, 1]]


def test_numbers_are_drawn_around_the_diagonal():
    observed = np.arange(5000.0)
    quality = Quality("y", "the forest", "the outputs of Model", "rows", observed, observed + 1, None)
    figure = numbers_chart(quality, "light")
    assert len(figure.data[1].x) == 3000
    assert list(figure.data[0].x) == list(figure.data[0].y) == [0.0, 5000.0]
    assert figure.layout.xaxis.title.text == "y, output of the model"
