"""The page about many rows."""

import threading

import numpy as np
import polars as pl
import pytest
from app_client import WAIT, all_text

from suffice.app.pages.many_rows import ExplainedRows, explain_rows, show_results
from suffice.app.state.jobs import Job
from suffice.app.state.view import View
from suffice.errors import SearchSizeWarning


@pytest.mark.slow
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
    page.wait_for_selector("#groups .ag-row")
    first = ExplainedRows(explanations, list(range(40))).groups()[0]
    assert app.text("#groups .ag-row[row-index='0'] .ag-cell[col-id='n']") == str(first["n"])
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
    job = Job("")
    job.run(lambda job: ExplainedRows(explanations, list(range(10))))
    tiles, cautions, _, groups = show_results(job)
    assert f"all sets of {n_early} row" in all_text(cautions)
    assert all_text(tiles[0]) == "rows explained 10 π = 0.9 for busy and 0.89 for calm"
    assert sum(group["n"] for group in groups) == 10


def test_rows_explained_a_few_at_a_time_are_explained_as_at_once(mixed):
    rows = mixed.frame[:60].select(mixed.names)
    explanations = explain_rows(mixed, View(pi=0.8), rows, None, Job("", 60))
    assert explanations.to_dict() == mixed.explainer_for(View(pi=0.8)).explain(rows).to_dict()
    assert explanations.mean_importance() == mixed.explainer_for(View(pi=0.8)).explain(rows).mean_importance()


def test_rows_are_grouped_by_their_best_set(mixed):
    rows = list(range(5, 45))
    explained = ExplainedRows(explain_rows(mixed, View(), mixed.frame[rows], None, Job("", 40)), rows)
    groups, focus = explained.groups(), mixed.explainer.focus_
    assert sum(group["n"] for group in groups) == 40
    largest = max(groups, key=lambda group: group["n"])
    members = [
        (row, one)
        for row, one in zip(rows, explained.explanations, strict=True)
        if one.is_sufficient and list(one.best_set.variables) == largest["variables"]
    ]
    assert len(members) == largest["n"] > 8
    members.sort(key=lambda member: member[1].outcome != focus)
    assert largest["rows"] == ", ".join(str(row) for row, _ in members[:8]) + ", …"
    for label in {one.outcome for _, one in members}:
        assert f"{label} ({sum(one.outcome == label for _, one in members)})" in largest["outcomes"]


def test_sets_of_the_focus_class_come_first(mixed):
    explanations = explain_rows(mixed, View(), mixed.frame[:60], None, Job("", 60))
    focus = mixed.explainer.focus_
    groups = ExplainedRows(explanations, list(range(60))).groups()
    counts = {}
    for one in explanations:
        key = one.best_set.variables if one.is_sufficient else ("(no sufficient set)",)
        n_of_focus, n = counts.get(key, (0, 0))
        counts[key] = n_of_focus + (one.is_sufficient and one.outcome == focus), n + 1
    by_focus, by_size = (sorted(counts.values(), key=key, reverse=True) for key in (None, lambda of_set: of_set[1]))
    assert by_focus != by_size
    assert [group["n"] for group in groups] == [n for _, n in by_focus]


def test_rows_without_a_sufficient_set_are_one_group(mixed):
    view = View(pi=1.0, n_candidates=1)
    rows = list(range(20))
    explained = ExplainedRows(explain_rows(mixed, view, mixed.frame[rows], None, Job("", 20)), rows)
    n_without = sum(not one.is_sufficient for one in explained.explanations)
    assert n_without > 0
    assert [g["n"] for g in explained.groups() if g["variables"] == ["(no sufficient set)"]] == [n_without]
