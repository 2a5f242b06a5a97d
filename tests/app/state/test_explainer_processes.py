"""Rules and stability are computed in a process of their own."""

import os
import signal
import sys
import threading
from types import ModuleType

import polars as pl
import pytest
from processes import children_of, wait_for

from suffice import SufficientExplainer
from suffice._io import explainer_file
from suffice.app.pages.rule_list import find_rules
from suffice.app.state.jobs import Job, Jobs, run_on_explainer
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace

pytestmark = pytest.mark.usefixtures("own_processes")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


def long_rules(workspace):
    return lambda job: find_rules(workspace, View(), 400, job)


def long_stability(workspace):
    return lambda job: workspace.stability(View(row=11, pi=0.83), job.step)


WORK = [long_rules, pytest.param(long_stability, marks=pytest.mark.slow)]


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("work", WORK)
def test_work_that_is_killed_says_so_and_ends_nothing_else(mixed, work):
    """Rules and stability ran in the process of the app: one that died took all others along."""
    jobs = Jobs()
    waiting = threading.Event()
    other = jobs.start(Job("other"), lambda job: waiting.wait(300) and "done")
    before = set(children_of(os.getpid()))  # of other tests
    killed = jobs.start(Job("work", 400), work(mixed))
    [process] = wait_for(lambda: set(children_of(os.getpid())) - before)
    os.kill(process, signal.SIGKILL)
    wait_for(lambda: jobs.get(killed).state != "running")
    assert jobs.get(killed).state == "failed"
    assert "The process that did this work has ended (signal 9)" in jobs.get(killed).message
    waiting.set()
    wait_for(lambda: jobs.get(other).state == "done")


@LINUX
@pytest.mark.parametrize("work", WORK)
def test_cancelled_work_leaves_no_process(mixed, work):
    jobs, job = Jobs(), Job("work", 400)
    before = set(children_of(os.getpid()))  # of other tests
    name = jobs.start(job, work(mixed))
    [process] = wait_for(lambda: set(children_of(os.getpid())) - before)
    job.cancel()
    wait_for(lambda: jobs.get(name).state == "cancelled")
    assert process not in children_of(os.getpid())


class Unpicklable:
    """A model that no other process can have."""

    def __init__(self):
        self.lock = threading.Lock()

    def predict(self, X):
        return X["a"].to_numpy() > 0.5


def test_the_explained_model_stays_here(monkeypatch):
    X = pl.DataFrame({"a": [i / 100 for i in range(100)], "b": [i % 7 for i in range(100)]})
    explainer = SufficientExplainer.for_model(Unpicklable(), X, random_state=0)
    expected = explainer_file.collect_rules(explainer, X, X["a"].to_numpy() > 0.5, 50, step=lambda n_rows: None)
    assert expected.rules_
    monkeypatch.setattr(explainer_file, "collect_rules", None)  # nothing is computed in this process
    rules = find_rules(Workspace.of(explainer, X), View(), 50, Job("", 50))
    assert [line.text for line in rules.rules_] == [line.text for line in expected.rules_]
    assert hasattr(explainer, "model_")


@pytest.mark.slow
def test_an_error_of_the_step_ends_the_work(mixed):
    """So that a cancelled job does not go on until its result is there."""

    def give_up(n_steps):
        raise KeyError(n_steps)

    row, outcome = mixed.frame.drop("traffic")[:1], mixed.frame["traffic"][0]
    with pytest.raises(KeyError):
        run_on_explainer("measure_stability", mixed.explainer, row, outcome, 3, step=give_up)


def test_an_explainer_that_cannot_be_sent_is_asked_here(mixed, monkeypatch):
    module = ModuleType("notebook")
    exec("class Column(str): pass", module.__dict__)
    monkeypatch.setitem(sys.modules, "notebook", module)
    monkeypatch.setattr(
        explainer_file, "measure_stability", lambda e, row, *, step: (os.getpid(), step(3)), raising=True
    )
    explainer = mixed.explainer.with_settings()
    explainer.named_by = module.Column("x")
    steps = []
    assert run_on_explainer("measure_stability", explainer, None, step=steps.append)[0] == os.getpid()
    assert steps[-1] == 3
