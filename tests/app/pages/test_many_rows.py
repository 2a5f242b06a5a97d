import threading

import numpy as np
import polars as pl
import pytest
from app_client import WAIT, all_text

from suffice.app.pages.many_rows import _results
from suffice.app.state.explained_rows import ExplainedRows
from suffice.app.state.jobs import Job, Jobs
from suffice.errors import SearchSizeWarning


def test_many_rows_are_filtered_explained_cancelled_and_saved(open_app, cancer, tmp_path, monkeypatch):
    app = open_app(cancer)
    page = app.open("#table .ag-row", tab="rows")
    radius = page.locator("#table .ag-floating-filter input").first
    radius.fill("14")
    expected = np.flatnonzero(cancer.frame["mean radius"] == 14).tolist()
    app.wait_for_text("#n-chosen", f"{len(expected)} of 569 rows chosen")
    radius.fill("")
    page.wait_for_function("() => document.querySelector('#n-chosen').innerText === '569 rows'")
    page.fill("#n-most", "40")
    page.click("#explain")
    page.wait_for_selector("#many-tiles .tile")
    explanations = cancer.explainer.explain(cancer.frame[:40].select(cancer.names))
    assert app.text("#many-tiles .tile .large") == "40"
    assert app.text("#many-importance .number") == f"{explanations.ranked_importance()[0][1]:.2f}"
    page.wait_for_selector("#heatmap .js-plotly-plot")
    page.wait_for_selector("#groups .ag-row")
    counts: dict[object, int] = {}
    for one in explanations:
        key = one.best_set.variables if one.is_sufficient else None
        counts[key] = counts.get(key, 0) + 1
    assert app.text("#groups .ag-row[row-index='0'] .ag-cell[col-id='n']") == str(max(counts.values()))
    for kind in ("csv", "parquet", "html"):
        with page.expect_download() as caught:
            page.click(f"#save-{kind}")
        path = tmp_path / f"rows.{kind}"
        caught.value.save_as(path)
        if kind == "html":
            assert "Breast cancer" in path.read_text(encoding="utf-8")
        else:
            frame = pl.read_csv(path) if kind == "csv" else pl.read_parquet(path)
            assert frame["row"].to_list() == list(range(40))
            assert frame["sdp"].to_list() == pytest.approx([one.best_set.sdp for one in explanations])
    # The work waits until it is cancelled, so that it cannot be finished before.
    cancelled, cancel, step = threading.Event(), Job.cancel, Job.step
    monkeypatch.setattr(Job, "cancel", lambda job: (cancel(job), cancelled.set()))
    monkeypatch.setattr(Job, "step", lambda job, done: (cancelled.wait(WAIT / 1000), step(job, done)))
    page.fill("#n-most", "569")
    page.click("#explain")
    page.wait_for_selector("#many-progress .progress")
    page.click("#cancel")
    page.wait_for_function("() => document.querySelector('#many-progress').innerText === 'Cancelled.'")
    assert page.locator("#many-results").is_hidden()


def test_rows_whose_search_ended_early_are_counted(mixed):
    """The page did not mention it."""
    rows = mixed.frame[:10].select(mixed.names)
    with pytest.warns(SearchSizeWarning):
        explanations = mixed.explainer.with_settings(max_sets=1).explain(rows)
    n_early = 10 - sum(explanations.is_search_complete)
    assert n_early > 0
    jobs, is_done = Jobs(), threading.Event()
    name = jobs.start(Job(""), lambda job: ExplainedRows(explanations, list(range(10))))
    while jobs.get(name).state == "running":
        is_done.wait(0.01)
    tiles, cautions, _, _, groups = _results(jobs, False, None, name)
    assert f"all sets of {n_early} row" in all_text(cautions)
    assert all_text(tiles[0]) == "rows explained 10 π = 0.9"
    assert sum(group["n"] for group in groups) == 10
