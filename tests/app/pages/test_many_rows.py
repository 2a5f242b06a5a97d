"""The page about many rows."""

import threading

import numpy as np
import polars as pl
import pytest
from app_client import WAIT, all_text
from dash.exceptions import PreventUpdate

from suffice._text import format_probability
from suffice.app.pages.many_rows import ExplainedRows, choose_line, explain_rows, show_results, show_row, show_rows
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
    explained = ExplainedRows(explanations, list(range(40)))
    page.wait_for_selector("#explained .ag-row")
    line = explained.overview[0].lines[0]
    app.wait_for_text("#many-overview .bounds .name", line.variable)
    n_malignant = int(np.count_nonzero(explained.overview[0].is_in))
    assert app.text("#many-count") == f"{n_malignant} of 40 rows"
    page.locator("#many-overview button").first.press("Enter")
    app.wait_for_text("#many-count", f"{len(line.rows)} of 40 rows")
    shown = page.locator("#explained .ag-center-cols-container .ag-row [col-id=row]").all_inner_texts()
    assert sorted(map(int, shown)) == sorted(line.rows)[: len(shown)] != []
    page.locator("#explained .ag-header-cell[col-id=sdp] .ag-header-cell-label").click()
    first = min(line.rows, key=lambda i: explanations.best_sets[i].sdp)
    chosen = page.locator("#explained .ag-center-cols-container .ag-row[row-index='0'] [col-id=row]")
    chosen.filter(has_text=str(first)).click()
    app.wait_for_text("#many-row .saying", explanations[first].sentences.lead)
    assert f"row={first}" in page.locator("#many-row a").get_attribute("href")
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


def explained(space, rows, view=None):
    return explain_rows(space, view or View(), rows, Job("", len(rows)))


def done(result):
    job = Job("")
    job.run(lambda job: result)
    return job


def test_rows_whose_search_ended_early_are_counted(mixed):
    """The page did not mention it."""
    rows = mixed.frame[:10].select(mixed.names)
    with pytest.warns(SearchSizeWarning):
        explanations = mixed.explainer.with_settings(max_sets=1).explain(rows)
    n_early = 10 - sum(explanations.is_search_complete)
    assert n_early > 0
    tiles, cautions, outcomes = show_results(done(ExplainedRows(explanations, list(range(10)))))
    assert f"all sets of {n_early} row" in all_text(cautions)
    assert all_text(tiles[0]) == "rows explained 10 π = 0.9 for busy and 0.89 for calm"
    assert [one["label"] for one in outcomes] == ["calm", "busy", "all outcomes"]


def test_rows_explained_a_few_at_a_time_are_explained_as_at_once(mixed):
    rows = mixed.frame[:60].select(mixed.names)
    explanations = explain_rows(mixed, View(pi=0.8), list(range(60)), Job("", 60)).explanations
    assert explanations.to_dict() == mixed.explainer_for(View(pi=0.8)).explain(rows).to_dict()
    assert explanations.mean_importance() == mixed.explainer_for(View(pi=0.8)).explain(rows).mean_importance()


def test_rows_are_chosen_by_outcome_state_and_variable(mixed):
    shown = explained(mixed, list(range(5, 65)), View(candidates=("hour", "sky")))
    found = shown.explanations
    conditions = {
        "all rows": lambda e: True,
        "with a sufficient set": lambda e: e.is_sufficient,
        "no sufficient set": lambda e: not e.is_sufficient,
        "contested": lambda e: e.is_contested,
        "the forest disagrees": lambda e: not e.forest_agrees,
    }
    assert found.has_set.any()
    assert not found.has_set.all()
    for group, label in (("0", mixed.explainer.focus_), ("1", "busy"), ("all", None)):
        for state, holds in conditions.items():
            wanted = [i for i, e in enumerate(found) if holds(e) and label in (None, e.outcome)]
            assert shown.chosen(group, state, None).tolist() == wanted
    with_hour = [i for i, e in enumerate(found) if e.is_sufficient and "hour" in e.best_set.variables]
    assert shown.chosen("all", "all rows", "hour").tolist() == with_hour != []


def test_a_line_of_the_grid_says_what_is_known_of_its_row(mixed):
    shown = explained(mixed, list(range(5, 65)), View(candidates=("hour", "sky")))
    for i, line in enumerate(shown.lines(np.arange(60))):
        e = shown.explanations[i]
        variables = list(e.best_set.variables) or ["(no variable)"]
        assert (line["row"], line["outcome"], line["variables"]) == (i + 5, e.outcome, variables)
        assert (line["sdp"], line["shown"]) == (e.best_set.sdp, format_probability(e.best_set.sdp))
        assert ("no set" in line["note"]) == (not e.is_sufficient)
        assert ("contested" in line["note"]) == e.is_contested


def test_the_overview_counts_sets_and_leads_to_their_rows(mixed):
    shown = explained(mixed, list(range(60)))
    job = done(shown)
    drawn, lines, count = show_rows(job, "0", "all rows", None)
    calm = [e for e in shown.explanations if e.outcome == mixed.explainer.focus_]
    assert len(lines) == len(calm)
    assert count == f"{len(calm)} of 60 rows"
    for of_outcome in shown.overview:
        for line in of_outcome.lines:
            wanted = [
                i for i in np.flatnonzero(of_outcome.is_in) if line.variable in shown.explanations[i].best_set.variables
            ]
            assert list(line.rows) == [i for i in wanted if shown.explanations[i].is_sufficient]
            assert line.share == pytest.approx(len(line.rows) / of_outcome.n_sets)
    assert all_text(drawn).startswith(f"{shown.overview[0].label} {shown.overview[0].note}")
    group, state, variable = choose_line(job, {"type": "many-line", "index": "1-0"})
    line = shown.overview[1].lines[0]
    assert variable == line.variable
    assert shown.chosen(group, state, variable).tolist() == list(line.rows)
    with pytest.raises(PreventUpdate):
        choose_line(job, None)


def test_numbers_are_parted_at_their_median(diabetes):
    shown = explained(diabetes, list(range(30)))
    outcomes = shown.explanations.outcomes
    assert shown.chosen("0", "all rows", None).tolist() == np.flatnonzero(outcomes > np.median(outcomes)).tolist()


def test_the_chosen_row_is_drawn_as_its_card(mixed):
    shown = explained(mixed, [7, 9, 11])
    card = show_row(done(shown), [{"key": "2"}], View(tab="rows", edits={"hour": 3}))
    assert shown.explanations[2].sentences.lead in all_text(card)
    assert card.children[-1].children.href == "?row=11"
    assert show_row(done(shown), [], View()) is None
