import os
import signal
import sys

import numpy as np
import polars as pl
import pytest
from app_client import BAD_FILES, HOSTILE, traffic_table
from processes import children_of, wait_for


def test_a_table_is_opened_fitted_and_explained(open_app, own_processes, tmp_path):
    app = open_app()
    page = app.open_start()
    traffic_table(300).write_csv(tmp_path / "traffic.csv")
    page.set_input_files("#upload input", str(tmp_path / "traffic.csv"))
    page.wait_for_selector("#preview .ag-row")
    assert page.input_value("#target") == "traffic"
    page.click("#focus")
    assert page.get_by_role("option").all_inner_texts() == ["busy", "calm"]
    page.get_by_role("option", name="busy").click()
    page.click("#fixed")
    page.get_by_role("option", name="hour").click()
    page.keyboard.press("Escape")
    page.click("#fit")
    page.wait_for_selector("#outcome")
    assert "300 rows · 4 variables · traffic" in app.text("header")
    assert "data=" in page.evaluate("window.location.search")
    app.wait_for_text("#what-would", "hour stays as it is.")
    page.goto(f"{app.root}?data=0123456789abcdef")
    app.wait_for_text("#start-message", "no longer here")


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
    page.wait_for_selector("#curve .js-plotly-plot")
    page.click("text=Global rules")
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
