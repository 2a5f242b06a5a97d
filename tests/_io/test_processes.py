"""Work in a process of its own."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from processes import children_of, wait_for

from suffice import SufficientExplainer
from suffice._io.processes import CannotSendError, run_in_process
from suffice.explaining.best_set import find_mean_gains

TESTS = str(Path(__file__).parents[1])


def test_the_result_and_the_refusal_come_back():
    assert run_in_process("json:loads", "[1, 2]", max_bytes=2**30) == [1, 2]
    assert run_in_process("os:getpid", max_bytes=2**30) != os.getpid()
    with pytest.raises(ValueError, match="Expecting value: line 1"):
        run_in_process("json:loads", "[1,", max_bytes=2**30)
    with pytest.raises(ValueError, match=r"^Something is wrong with the program: KeyError\.$"):
        run_in_process("operator:getitem", {}, 0, max_bytes=2**30)
    with pytest.raises(ValueError, match=r"^Something is wrong with the program: SystemExit\.$"):
        run_in_process("sys:exit", 3, max_bytes=2**30)


def test_a_process_that_dies_ends_only_its_work():
    """A reader that aborted took the app with it, and the work of everybody else."""
    with pytest.raises(ValueError, match=r"^The process that did this work has ended \(signal 6\)"):
        run_in_process("os:abort", max_bytes=2**30)
    with pytest.raises(ValueError, match=r"has ended \(exit code 7\)"):
        run_in_process("os:_exit", 7, max_bytes=2**30)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process by its data")
def test_a_process_takes_no_more_memory_than_it_may():
    assert len(run_in_process("operator:mul", b"x", 10**6, max_bytes=2**27)) == 10**6
    with pytest.raises(ValueError, match=r"^There is not enough memory for this"):
        run_in_process("operator:mul", b"x", 2**28, max_bytes=2**27)


def test_work_that_is_no_longer_wanted_ends_at_once():
    def give_up(n_steps):
        raise KeyboardInterrupt

    before = set(children_of(os.getpid()))  # of other tests
    with pytest.raises(KeyboardInterrupt):
        run_in_process("time:sleep", 600, watch=give_up)
    assert not set(children_of(os.getpid())) - before
    assert run_in_process("operator:add", 1, 2, watch=lambda n_steps: None) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_work_ends_with_the_process_that_wanted_it(tmp_path):
    """A killed app would leave its fits behind."""
    begun = tmp_path / "begun"
    call = f"run_in_process('processes:mark_and_sleep', {str(begun)!r})"
    program = f"from suffice._io.processes import run_in_process; {call}"
    paths = os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": paths}) as parent:
        wait_for(begun.exists)
        [child] = children_of(parent.pid)
        parent.kill()
    wait_for(lambda: not Path(f"/proc/{child}").exists())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux chooses by this number")
def test_the_process_is_the_first_to_go_when_memory_is_short():
    score = run_in_process("linecache:getline", "/proc/self/oom_score_adj", 1)
    assert int(score) == 1000


def test_the_steps_of_the_work_are_reported(monkeypatch):
    def watch(n_steps, total=0, stage=""):
        seen.append(n_steps)
        stages.add((total, stage))
        if n_steps == 600:
            raise KeyboardInterrupt
        assert time.monotonic() < end, "waited in vain"

    seen, stages, end = [], set(), time.monotonic() + 120
    monkeypatch.setenv("PYTHONPATH", TESTS, prepend=os.pathsep)
    with pytest.raises(KeyboardInterrupt):
        run_in_process("processes:count_slowly", 600, watch=watch, counts_steps=True)
    assert seen == sorted(seen)
    assert set(seen) <= {0, *range(1, 601)}
    assert stages <= {(0, ""), (600, "counting")}
    assert (600, "counting") in stages
    assert run_in_process("processes:count_slowly", 1, counts_steps=True) == 1


def test_what_another_process_cannot_have_is_refused():
    with pytest.raises(CannotSendError, match="cannot be sent to another process"):
        run_in_process("operator:call", lambda: 1)
    sys.modules["only_here"] = module = ModuleType("only_here")
    exec("class Thing: pass", module.__dict__)
    with pytest.raises(CannotSendError, match="cannot read its arguments: No module named 'only_here'"):
        run_in_process("operator:not_", module.Thing())
    del sys.modules["only_here"]


def test_an_explainer_is_sent_without_what_other_threads_may_be_adding_to_it():
    """The app sent one while another thread explained a row: "dictionary changed size during iteration"."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X, X[:, 0] > 0)
    find_mean_gains(explainer.fitted_, {0})
    assert explainer.fitted_.mean_gains
    sent = pickle.loads(pickle.dumps(explainer))
    assert set(vars(sent.fitted_)) == {field.name for field in fields(sent.fitted_)}
    assert str(sent.explain(X[:3])) == str(explainer.explain(X[:3]))
