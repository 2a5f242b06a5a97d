import time

import pytest

from suffice.app.state.jobs import N_JOBS, Cancelled, Job, Jobs


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
    deadline = time.monotonic() + 10
    while "running" in {jobs.get(n).state for n in (name, bad, worse)} and time.monotonic() < deadline:
        time.sleep(0.02)
    assert jobs.get(name).state == "cancelled"
    assert jobs.get(bad).message.startswith("invalid literal")
    assert jobs.get(worse).message == "Something is wrong with the program: KeyError."
    with pytest.raises(Cancelled):
        jobs.get(name).step(1)
