import pytest
from app_client import all_text

from suffice.app.parts.progress import progress
from suffice.app.state.jobs import Job


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
