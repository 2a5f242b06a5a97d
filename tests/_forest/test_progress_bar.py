"""The progress bar of long work."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer
from suffice._forest.progress import progress_bar, report_steps


@pytest.fixture(scope="module")
def explain():
    X = np.random.default_rng(0).normal(size=(60, 3))
    explainer = SufficientExplainer(RandomForestClassifier(n_estimators=5, random_state=0)).fit(X, X[:, 0] > 0)
    return lambda progress: explainer.explain(X, progress=progress)


def as_terminal(monkeypatch, is_terminal):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)


def test_a_bar_is_written_to_stderr_on_request(explain, capsys):
    explain(True)
    out, errors = capsys.readouterr()
    assert out == ""
    assert "explaining: 100%" in errors
    assert "60/60" in errors


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_written_without_a_terminal(explain, capsys, monkeypatch, progress):
    as_terminal(monkeypatch, is_terminal=False)
    explain(progress)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_written_on_a_terminal_for_short_work(explain, capsys, monkeypatch, progress):
    as_terminal(monkeypatch, is_terminal=True)
    explain(progress)
    assert capsys.readouterr().err.strip() == ""


def test_the_bar_changes_no_answer(explain, capsys):
    assert list(explain(True)) == list(explain(False))


@pytest.mark.parametrize(
    ("show", "is_terminal", "in_notebook", "is_shown"),
    [
        (None, False, False, False),
        (None, True, False, True),
        (None, False, True, True),
        (False, True, True, False),
        (True, False, False, True),
    ],
)
def test_a_bar_is_shown_on_a_terminal_or_in_a_notebook(show, is_terminal, in_notebook, is_shown, monkeypatch, capsys):
    as_terminal(monkeypatch, is_terminal)
    if in_notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", sys)
    with progress_bar(10, show) as show_done:
        assert (show_done is not None) == is_shown


def test_a_bar_shows_how_many_rows_are_done(capsys):
    with progress_bar(10, True) as show_done:
        show_done(4)
        show_done(4)
        show_done(7)
    assert capsys.readouterr().err.rstrip().splitlines()[-1].split("\r")[-1].startswith("explaining:  70%")


def test_rows_that_were_done_before_are_shown_from_the_start(capsys):
    with progress_bar(10, True, n_before=5) as show_done:
        assert "50%" in capsys.readouterr().err
        show_done(7)
    assert " 7/10 " in capsys.readouterr().err


def test_a_notebook_is_known_by_its_kernel(monkeypatch, capsys):
    as_terminal(monkeypatch, is_terminal=False)
    with progress_bar(10, None) as show_done:
        assert show_done is None
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    with progress_bar(10, None) as show_done:
        assert show_done is not None


def test_steps_are_counted_for_a_function():
    done = []
    with report_steps(3, done.append, "growing", "forest") as step:
        for _ in range(3):
            step()
    assert done == [1, 2, 3]


def test_steps_are_counted_in_a_bar(capsys):
    with report_steps(2, True, "growing", "forest") as step:
        step()
        step()
    shown = capsys.readouterr().err
    assert "growing: 100%" in shown
    assert "2/2" in shown
    assert "forest/s" in shown
    with report_steps(2, False, "growing", "forest") as step:
        step()
    assert capsys.readouterr().err == ""
