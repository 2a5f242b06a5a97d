import os
import signal
import sys

import numpy as np
import polars as pl
import pytest
from app_client import BAD_FILES, HOSTILE, traffic_table
from processes import children_of, wait_for

from suffice.app.pages.start import ask_focus, chosen_focus
from suffice.app.state.sessions import PendingTable, fit_workspace


def test_the_outcome_that_matters_is_one_of_few_classes():
    frame = pl.DataFrame({"flag": [True, False, True, None], "n": [1, 2, 2, 3], "x": [0.5, 1.5, 2.5, 3.5]})
    table = PendingTable(frame, "table")
    [stack], chosen, is_hidden = ask_focus(table, "0")
    assert [radio.label for radio in stack.children] == ["True (67 % of the rows)", "False (33 % of the rows)"]
    assert (chosen, is_hidden) == ("1", False)  # the rarer of two
    [stack], chosen, _ = ask_focus(table, "1")
    assert (stack.children[-1].label, chosen) == ("none more than the others", "")  # nobody knows which of three
    for target in ("2", "9", None):
        assert ask_focus(table, target) == ([], "", True)
    assert ask_focus(None, "0")[2]


def test_a_class_without_a_name_can_matter(fit_here):
    """Its radio button was that of "none more than the others"."""
    frame = pl.DataFrame({"kind": ["", "a", "b"] * 40, "x": range(120)})
    [stack], chosen, _ = ask_focus(PendingTable(frame, "table"), "0")
    assert [radio.label for radio in stack.children] == [
        *(f"{name} (33 % of the rows)" for name in ('""', "a", "b")),
        "none more than the others",
    ]
    assert len({radio.value for radio in stack.children}) == 4
    assert chosen == stack.children[-1].value == ""
    for value, focus in (("0", ""), ("1", "a"), ("", None)):
        assert chosen_focus(PendingTable(frame, "table"), "0", value) == focus
    workspace = fit_here(frame, "kind", make=lambda *args: fit_workspace(*args, focus=""))
    assert workspace.explainer.focus_ == ""


def test_a_class_that_is_true_or_false_can_matter(fit_here):
    """What was asked for as "true" was compared with "True", and ignored."""
    frame = traffic_table(200).with_columns(busy=pl.col("traffic") == "busy").drop("traffic")
    for label in ("True", "False"):
        workspace = fit_here(frame, "busy", make=lambda *args, label=label: fit_workspace(*args, focus=label))
        assert str(workspace.explainer.focus_) == label


@pytest.mark.slow
def test_hostile_uploads_are_harmless(open_app, own_processes, tmp_path):
    app = open_app()
    page = app.open_start()
    for name in ("empty.csv", "bomb.csv", "nul.csv", "broken.parquet"):
        (tmp_path / name).write_bytes(BAD_FILES[name][0])
        page.set_input_files("#upload input", str(tmp_path / name))
        app.wait_for_text("#start-message", BAD_FILES[name][1])
    rng = np.random.default_rng(0)
    wide = pl.DataFrame({f"v{i}": rng.normal(size=150).round(3) for i in range(199)})
    is_high = (wide["v0"] > 0).to_numpy()
    wide = wide.rename({"v0": HOSTILE, "v1": "<img src=x onerror=alert(2)>"})
    wide = wide.with_columns(pl.Series("kind", np.where(is_high, HOSTILE, "b & c")))
    wide.write_csv(tmp_path / "wide.csv")
    page.set_input_files("#upload input", str(tmp_path / "wide.csv"))
    app.wait_for_text("#choose", "150 rows, 200 columns")
    page.click("#fit")
    page.wait_for_selector("#outcome")
    assert app.text("#outcome") in (HOSTILE, "b & c")
    assert HOSTILE in app.text("#values")
    page.click("[role=tab]:has-text('Rules')")
    page.wait_for_selector("#rules-tiles .tile")
    assert page.locator("main script").count() == 0
    assert page.locator("main img").count() == 0


def start_fit(app, path):
    """Upload a table and start its fit. Returns the process that fits."""
    page = app.open_start()
    page.set_input_files("#upload input", str(path))
    page.wait_for_selector("#preview .ag-row")
    before = set(children_of(os.getpid()))
    page.click("#fit")
    [process] = wait_for(lambda: set(children_of(os.getpid())) - before)
    return process


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.slow
def test_a_fit_that_is_killed_says_so_and_ends_nothing_else(open_app, own_processes, mixed, tmp_path):
    """A fit that ran out of memory took the app with it, and the work of everybody else."""
    traffic_table(20_000).write_csv(tmp_path / "large.csv")
    traffic_table(300).write_csv(tmp_path / "small.csv")
    unlucky, other, reader = open_app(), open_app(), open_app(mixed)
    process = start_fit(unlucky, tmp_path / "large.csv")
    os.kill(process, signal.SIGSTOP)  # so that it has not ended when the other has begun
    start_fit(other, tmp_path / "small.csv")
    os.kill(process, signal.SIGKILL)
    unlucky.wait_for_text("#fit-progress", "The process that did this work has ended (signal 9)")
    assert not unlucky.page.is_visible("#fit-cancel")
    other.page.wait_for_selector("#outcome")
    assert "300 rows" in other.text("header")
    reader.open()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.slow
def test_a_fit_can_be_cancelled(open_app, own_processes, tmp_path):
    traffic_table(20_000).write_csv(tmp_path / "large.csv")
    app = open_app()
    process = start_fit(app, tmp_path / "large.csv")
    app.page.click("#fit-cancel")
    app.wait_for_text("#fit-progress", "Cancelled.")
    assert process not in children_of(os.getpid())
    assert not app.page.is_visible("#fit-cancel")
