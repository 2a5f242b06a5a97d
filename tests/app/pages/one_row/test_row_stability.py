import threading

import pytest
from app_client import all_text
from processes import wait_for

from suffice.app.pages.one_row.stability import stability_panel, update_stability
from suffice.app.state.desk import Desk
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.view import View
from suffice.app.state.workspace import N_REFITS, Workspace
from suffice.explainer import SufficientExplainer

START, TICK, CANCEL = "stability-start", "stability-tick", "stability-cancel"


def wait_for_end(job):
    wait_for(lambda: job.state != "running")


def test_the_stability_of_a_row_is_measured_on_request(mixed):
    desk, jobs, view = Desk(mixed), Jobs(), View(row=3)
    started = update_stability(desk, jobs, view.to_store(), None, START)
    assert (started["is_idle"], started["cannot_start"], started["cannot_cancel"]) == (False, True, False)
    assert "Growing forests" in all_text(started["content"])
    job = jobs.get(started["name"])
    wait_for_end(job)
    assert job.done == 2 * N_REFITS
    shown = update_stability(desk, jobs, view.to_store(), started["name"], TICK)
    assert (shown["is_idle"], shown["cannot_start"], shown["cannot_cancel"]) == (True, False, True)
    best_set = mixed.explain(view)[0].best_set
    expected = mixed.explainer.stability(
        mixed.row_of(view), n_seeds=N_REFITS, n_resamples=N_REFITS, random_state=0, progress=False
    )
    assert all_text(shown["content"]).endswith(str(expected))
    assert all(name in all_text(shown["content"]) for name in best_set.variables)


def test_the_stability_of_a_view_is_kept(mixed):
    steps = []
    view = View(row=4)
    first = mixed.stability(view, steps.append)
    assert steps == sorted(steps)
    assert steps[-1] == 2 * N_REFITS
    n_steps = len(steps)
    assert mixed.stability(view, steps.append) is first
    assert len(steps) == n_steps
    assert mixed.stability(view.with_(pi=0.8), lambda done: None) is not first


def test_another_view_cancels_and_clears(mixed):
    desk, jobs, waiting = Desk(mixed), Jobs(), threading.Event()
    name = jobs.start(Job("Growing forests", 20), lambda job: [waiting.wait(30), job.step(1)])
    shown = update_stability(desk, jobs, View(row=5).to_store(), name, "shown")
    assert shown["content"] is None
    assert shown["is_idle"]
    waiting.set()
    wait_for_end(jobs.get(name))
    assert jobs.get(name).state == "cancelled"


def test_a_cancelled_job_says_so(mixed):
    desk, jobs, waiting = Desk(mixed), Jobs(), threading.Event()
    name = jobs.start(Job("Growing forests", 20), lambda job: [waiting.wait(30), job.step(1)])
    assert not update_stability(desk, jobs, View().to_store(), name, CANCEL)["is_idle"]
    waiting.set()
    wait_for_end(jobs.get(name))
    shown = update_stability(desk, jobs, View().to_store(), name, TICK)
    assert all_text(shown["content"]) == "Cancelled."
    assert not shown["cannot_start"]


def test_an_explainer_that_cannot_be_refitted_says_why(mixed):
    explainer = SufficientExplainer(reference_rows=200, random_state=0)
    explainer.fit(mixed.frame.select(mixed.names), mixed.observed)
    desk, jobs = Desk(Workspace.of(explainer)), Jobs()
    name = update_stability(desk, jobs, View().to_store(), None, START)["name"]
    wait_for_end(jobs.get(name))
    assert "without `reference_rows`" in all_text(
        update_stability(desk, jobs, View().to_store(), name, TICK)["content"]
    )


@pytest.mark.parametrize("view", [View(data="gone"), View(tab="rows")])
def test_nothing_happens_on_another_page(mixed, view):
    updated = update_stability(Desk(mixed), Jobs(), view.to_store(), None, START)
    assert len({id(value) for value in updated.values()}) == 1  # no_update everywhere


def test_the_panel_has_a_button():
    assert "How stable is this?" in all_text(stability_panel())


def test_the_button_works_in_the_browser(open_app, mixed):
    app = open_app(mixed)
    page = app.open(row=7)
    page.click("#stability-start")
    app.wait_for_text("#stability", "The same best set in")
    assert str(mixed.stability(View(row=7), lambda done: None)) in app.text("#stability-sentence")
    page.click("#next")
    page.wait_for_function("() => document.querySelector('#stability').innerText === ''")
