"""Panels and inputs, and the job of a page."""

import threading

import pytest
from app_client import all_text
from dash import no_update
from processes import wait_for

from suffice.app.parts import controls
from suffice.app.parts.controls import advance, progress
from suffice.app.state.jobs import Job, Jobs


@pytest.mark.parametrize(
    ("state", "text"), [("failed", "No such thing."), ("cancelled", "Cancelled."), ("running", "Fitting … 0 s")]
)
def test_the_state_of_a_job_is_shown(state, text):
    job = Job("Fitting")
    job.state, job.message = state, "No such thing."
    assert all_text(progress(job)) == text


def test_progress_is_shown_in_steps():
    job = Job("Explaining rows", 40)
    job.step(10)
    assert all_text(progress(job)).startswith("Explaining rows: 10 of 40, about 0 s left")
    assert progress(job).children[1].value == 25


def test_nothing_is_shown_of_a_job_that_is_done():
    job = Job("")
    job.state = "done"
    assert progress(job) is None
    assert progress(None) is None


def test_panels_and_sliders():
    panel = controls.panel("Title", "body", note="note", name="id", wide=True)
    assert (panel.id, panel.className, all_text(panel)) == ("id", "panel wide", "Title note body")
    row = controls.slider_setting("Probability", "pi", 0.9, 0.5, 1.0, 0.01, "note")
    assert all_text(row) == "Probability 0.9 note"
    assert controls.message("error", "text").role == "alert"
    assert controls.message("care", "text").role == "status"


def test_an_event_starts_shows_cancels_or_forgets_the_job_of_a_page():
    jobs, gate = Jobs(), threading.Event()
    start = {"job": (Job("Counting", 4), lambda job: [gate.wait(60), job.step(1)]), "is_hidden": True}
    started = advance(jobs, lambda event, job, form: dict(start), "count", "stop", None, {})
    assert (started["is_idle"], started["cannot_start"], started["cannot_cancel"]) == (False, True, False)
    assert started["is_hidden"]
    assert "Counting: 0 of 4" in all_text(started["progress"])
    seen = []

    def look(event, job, form):
        seen.append((event, job, form))
        return {}

    running = advance(jobs, look, "tick", "stop", started["job"], {"row": 3})
    assert seen == [("tick", jobs.get(started["job"]), {"row": 3})]
    assert (running["job"], running["is_idle"]) == (no_update, False)
    advance(jobs, look, "stop", "stop", started["job"], {})
    gate.set()
    wait_for(lambda: jobs.get(started["job"]).state == "cancelled")
    ended = advance(jobs, look, "tick", "stop", started["job"], {})
    assert (ended["is_idle"], ended["cannot_start"], ended["cannot_cancel"]) == (True, False, True)
    assert all_text(ended["progress"]) == "Cancelled."
    forgotten = advance(jobs, lambda *_: {"job": None}, "other", "stop", started["job"], {})
    assert (forgotten["job"], forgotten["is_idle"], forgotten["progress"]) == (None, True, None)


def test_a_job_that_ends_at_once_is_looked_at_again():
    """Its page was never told: the timer was off before the result was shown."""
    jobs, done = Jobs(), Job("")
    jobs.start = lambda job, work: (job.run(work), "name")[1]
    started = advance(jobs, lambda *_: {"job": (done, lambda job: 3)}, "start", "stop", None, {})
    assert done.state == "done"
    assert (started["job"], started["is_idle"], started["cannot_start"]) == ("name", False, False)


def test_a_click_is_not_lost_if_a_tick_comes_at_the_same_time():
    """On a slow machine Dash hands over several events at once, the tick first: the job was never cancelled."""
    buttons = ("cancel", "explain", "cancel")
    assert controls.choose_event("many-tick", ["many-tick", "cancel"], buttons) == "cancel"
    assert controls.choose_event("many-tick", ["many-tick", "explain"], buttons) == "explain"
    assert controls.choose_event("many-tick", ["many-tick"], buttons) == "many-tick"
    assert controls.choose_event(None, [], ("",)) is None
