import threading
import time

import polars as pl
import pytest
from processes import wait_for

from suffice.app.state.jobs import N_JOBS, N_RUNNING, Cancelled, Job, Jobs


def test_a_job_can_be_cancelled_and_keeps_the_message_of_its_error():
    jobs = Jobs()

    def work(job):
        for i in range(1000):
            job.step(i)
            time.sleep(0.01)

    name = jobs.start(Job("", 1000), work)
    jobs.get(name).cancel()
    bad = jobs.start(Job(""), lambda job: int("x"))
    worse = jobs.start(Job(""), lambda job: {}[0])
    deadline = time.monotonic() + 60
    while "running" in {jobs.get(n).state for n in (name, bad, worse)} and time.monotonic() < deadline:
        time.sleep(0.02)
    assert jobs.get(name).state == "cancelled"
    assert jobs.get(bad).message.startswith("invalid literal")
    assert jobs.get(worse).message == "Something is wrong with the program: KeyError."
    with pytest.raises(Cancelled):
        jobs.get(name).step(1)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (pl.exceptions.PanicException("out of memory"), "Something is wrong with the program: PanicException."),
        (SystemExit(3), "Something is wrong with the program: SystemExit."),
        (MemoryError(), "There is not enough memory for this: take fewer rows or columns."),
    ],
)
def test_a_job_ends_whatever_is_raised(error, message):
    """polars' PanicException is no Exception: the thread died, and the page went on saying "Fitting"."""

    def work(_):
        raise error

    job = Job("")
    job.run(work)
    assert (job.state, job.message) == ("failed", message)


def test_a_job_too_many_fails_at_once():
    jobs, gate = Jobs(), threading.Event()
    names = [jobs.start(Job(""), lambda job: gate.wait(120)) for _ in range(N_RUNNING + 2)]
    assert [jobs.get(name).state for name in names] == ["running"] * N_RUNNING + ["failed"] * 2
    assert jobs.get(names[-1]).message == "8 jobs are running already: wait until one of them ends."
    gate.set()


def test_only_finished_jobs_are_dropped():
    jobs, gate = Jobs(), threading.Event()
    waiting = jobs.start(Job(""), lambda job: gate.wait(120))
    names = []
    for _ in range(N_JOBS):
        names.append(jobs.start(Job(""), lambda job: "result"))
        while jobs.get(names[-1]).state == "running":
            time.sleep(0.01)
    deadline = time.monotonic() + 60
    while "running" in {jobs.get(name).state for name in names if jobs.get(name)} and time.monotonic() < deadline:
        time.sleep(0.02)
    last = jobs.start(Job(""), lambda job: None)
    assert jobs.get(waiting).state == "running"
    assert jobs.get(names[0]) is None
    assert jobs.get(names[-1]).result == "result"
    assert jobs.get(last) is not None
    assert jobs.get(None) is None
    gate.set()


def test_refused_jobs_leave_the_results_of_others():
    """In a soak with 592 fits, 47 were forgotten before their pages could show them."""
    jobs, gate = Jobs(), threading.Event()
    done = jobs.start(Job(""), lambda job: "result")
    wait_for(lambda: jobs.get(done).state == "done")
    for _ in range(N_RUNNING):
        jobs.start(Job(""), lambda job: gate.wait(120))
    refused = [jobs.start(Job(""), lambda job: None) for _ in range(3 * N_JOBS)]
    assert jobs.get(done).result == "result"
    assert [jobs.get(name) is not None for name in refused] == [False] * (2 * N_JOBS) + [True] * N_JOBS
    gate.set()
