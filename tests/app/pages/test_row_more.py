"""The parts of the page about one row that are loaded when they are opened."""

from __future__ import annotations

import threading

import numpy as np
import polars as pl
import pytest
from app_client import all_text, with_class
from dash.exceptions import PreventUpdate
from processes import wait_for
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer
from suffice._io.saved import from_bytes, to_bytes
from suffice._text import format_percent
from suffice.app.pages import row_more
from suffice.app.pages.row_more import (
    MAX_CELLS,
    covered,
    curve,
    distribution,
    importance,
    other_sets,
    pair,
    update_stability,
)
from suffice.app.parts.controls import advance
from suffice.app.state import workspace as workspaces
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.sessions import Sessions
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.explaining.explanations import Explanations

START, TICK, CANCEL = "stability-start", "stability-tick", "stability-cancel"


def lines_of(table):
    """The texts of the cells of a table, line by line."""
    head, body = table.children
    return [[all_text(cell) for cell in line.children] for line in (*head.children, *body.children)]


# --- sets, importance and rows ----------------------------------------------------------------------------------------


def test_the_other_sets_are_listed_with_their_rules(mixed):
    view = next(
        view for view in (View(row=row, pi=0.6) for row in range(50)) if len(mixed.explain(view).sufficient_sets) > 1
    )
    text = all_text(other_sets(mixed, view))
    for one in mixed.explain(view).sufficient_sets[1:]:
        rule = mixed.rule_of(view, one.variables)
        assert f"{rule.sentence}. {rule.rows_text}" in text
    alone = next(view for view in map(row_view, range(50)) if len(mixed.explain(view).sufficient_sets) == 1)
    assert all_text(other_sets(mixed, alone)) == "No other set of this size is sufficient."


def row_view(row):
    return View(row=row)


def test_the_importance_is_that_of_the_explanation(mixed):
    ranked = mixed.explain(View(row=7)).ranked_importance()
    drawn = importance(mixed, View(row=7))
    assert [all_text(one) for one in with_class(drawn, "number")] == [f"{share:.2f}" for _, share in ranked]


def test_the_rows_of_the_rule_are_listed_those_with_another_outcome_first(mixed):
    view = View(row=7)
    explanation = mixed.explain(view)
    note, listed = covered(mixed, view)
    assert all_text(note).startswith(f"{explanation.rule.support} rows, ")
    assert len(listed.rowData) == explanation.rule.support
    assert listed.columnDefs[1]["headerName"] in explanation.best_set.variables
    has_outcome = [line["outcome"] == explanation.outcome for line in listed.rowData]
    assert has_outcome == sorted(has_outcome)
    assert all_text(covered(mixed, View(row=7, pi=1.0, candidates=("hour",)))) == "There is no rule."


# --- distributions and curves -----------------------------------------------------------------------------------------


def test_the_distribution_belongs_to_the_task(mixed, diabetes):
    bars = distribution(mixed, View(row=7))
    assert all_text(with_class(bars, "own")) == mixed.explain(View(row=7)).outcome
    assert len(with_class(bars, "number")) == 4  # two classes, given the set and given everything
    [graph] = distribution(diabetes, View(row=7), None)
    assert len(graph.figure.data) == 2


def test_a_curve_is_drawn_along_the_first_variable_or_the_picked_one(mixed, diabetes):
    view = View(row=7)
    best = mixed.explain(view).best_set
    [graph] = curve(mixed, view, None)
    assert graph.figure.layout.xaxis.title.text == best.variables[0]
    assert graph.figure.data[-1].y[0] == pytest.approx(best.sdp)
    assert curve(mixed, view, "1", "dark")[0].figure.layout.xaxis.title.text == "temp"
    assert curve(mixed, view, "99")[0].figure.layout.xaxis.title.text == best.variables[0]
    assert curve(diabetes, View(row=3), None)[0].figure.data


# --- two variables ----------------------------------------------------------------------------------------------------


def test_two_variables_are_counted_in_a_table(mixed):
    """Two categories were drawn as a cloud of points that nobody could read."""
    view, frame = View(row=7), mixed.frame
    names = list(mixed.names)
    [note, box] = pair(mixed, view, str(names.index("sky")), str(names.index("holiday")))
    outcome = mixed.explain(view).outcome
    assert all_text(note).startswith(f"Share of the training rows with traffic = {outcome}")
    head, *lines = lines_of(box.children)
    assert head == ["holiday ↓  sky →", *head[1:]]
    for line in lines:
        for sky, cell in zip(head[1:], line[1:], strict=True):
            chosen = frame.filter((pl.col("sky") == sky) & (pl.col("holiday") == (line[0] == "yes")))
            share = np.mean(np.asarray(chosen["traffic"]) == outcome)
            assert cell == f"{format_percent(share)} % {chosen.height} rows"
    [mine] = with_class(box, "mine")
    own = frame[7]
    assert all_text(mine).endswith(
        f" {frame.filter((pl.col('sky') == own['sky'][0]) & (pl.col('holiday') == own['holiday'][0])).height} rows"
    )


def test_numbers_are_cut_into_a_few_cells_and_gaps_have_their_own(mixed):
    names = list(mixed.names)
    box = pair(mixed, View(row=7), str(names.index("hour")), str(names.index("temp")))[1]
    head, *lines = lines_of(box.children)
    assert len(head) <= MAX_CELLS + 1
    assert lines[-1][0] == "missing"
    counts = [int(cell.split()[-2]) for line in lines for cell in line[1:] if cell != "-"]
    assert sum(counts) == mixed.frame.height
    assert all_text(pair(mixed, View(row=7), "0", "0")) == "Choose two different variables."


def test_the_category_of_the_row_has_a_cell_however_rare_it_is(fit_here):
    rng = np.random.default_rng(0)
    towns = [f"t{i % 20}" for i in range(399)] + ["t19"]
    frame = pl.DataFrame({"town": towns, "size": rng.normal(size=400)}).with_columns(y=pl.col("size") > 0)
    workspace = fit_here(frame, "y")
    box = pair(workspace, View(row=399), "0", "1")[1]
    head = lines_of(box.children)[0]
    assert "t19" in head
    assert head[-1] == "others"
    assert len(head) <= MAX_CELLS + 2


def test_the_explanation_of_a_view_is_built_once(mixed, monkeypatch):
    """Five parts of the page each built it again."""
    views, build = [], Explanations.__getitem__
    monkeypatch.setattr(Explanations, "__getitem__", lambda self, i: (views.append(i), build(self, i))[1])
    space = Workspace(mixed.explainer, mixed.frame, mixed.observed, "traffic")  # nothing is kept yet
    for show in (other_sets, importance, covered, distribution):
        show(space, View(row=7, pi=0.87))
    curve(space, View(row=7, pi=0.87), None)
    assert len(views) == 1


# --- stability --------------------------------------------------------------------------------------------------------


@pytest.fixture
def n_refits(monkeypatch):
    """Grow two forests of each kind."""
    for module in (workspaces, row_more):
        monkeypatch.setattr(module, "N_REFITS", 2)
    return 2


def stability_after(sessions, jobs, view, name, event):
    """What the page changes after an event."""
    update = lambda event, job, form: update_stability(sessions, event, job, form)  # noqa: E731
    return advance(jobs, update, event, CANCEL, name, {"view": view.to_store()})


def wait_for_end(job):
    wait_for(lambda: job.state != "running")


def test_the_stability_of_a_row_is_measured_on_request(mixed, n_refits):
    sessions, jobs, view = Sessions(mixed), Jobs(), View(row=3)
    started = stability_after(sessions, jobs, view, None, START)
    assert (started["is_idle"], started["cannot_start"], started["cannot_cancel"]) == (False, True, False)
    assert "Growing forests" in all_text(started["progress"])
    job = jobs.get(started["job"])
    wait_for_end(job)
    assert job.done == 2 * n_refits
    shown = stability_after(sessions, jobs, view, started["job"], TICK)
    assert (shown["is_idle"], shown["cannot_start"], shown["cannot_cancel"]) == (True, False, True)
    best_set = mixed.explain(view).best_set
    expected = mixed.explainer.stability(
        mixed.row_of(view), n_seeds=n_refits, n_resamples=n_refits, random_state=0, progress=False
    )
    assert all_text(shown["progress"]).endswith(str(expected))
    assert all(name in all_text(shown["progress"]) for name in best_set.variables)


def test_the_stability_of_a_view_is_kept(mixed, n_refits):
    steps = []
    view = View(row=4)
    first = mixed.stability(view, steps.append)
    assert steps == sorted(steps)
    assert steps[-1] == 2 * n_refits
    n_steps = len(steps)
    assert mixed.stability(view, steps.append) is first
    assert len(steps) == n_steps
    assert mixed.stability(view.with_(pi=0.8), lambda done: None) is not first


def test_another_view_cancels_and_clears(mixed):
    sessions, jobs, waiting = Sessions(mixed), Jobs(), threading.Event()
    name = jobs.start(Job("Growing forests", 20), lambda job: [waiting.wait(30), job.step(1)])
    shown = stability_after(sessions, jobs, View(row=5), name, "shown")
    assert shown["progress"] is None
    assert shown["is_idle"]
    waiting.set()
    wait_for_end(jobs.get(name))
    assert jobs.get(name).state == "cancelled"


def test_a_cancelled_job_says_so(mixed):
    sessions, jobs, waiting = Sessions(mixed), Jobs(), threading.Event()
    name = jobs.start(Job("Growing forests", 20), lambda job: [waiting.wait(30), job.step(1)])
    assert not stability_after(sessions, jobs, View(), name, CANCEL)["is_idle"]
    waiting.set()
    wait_for_end(jobs.get(name))
    shown = stability_after(sessions, jobs, View(), name, TICK)
    assert all_text(shown["progress"]) == "Cancelled."
    assert not shown["cannot_start"]


def test_an_explainer_that_cannot_be_refitted_says_why(mixed):
    class OwnForest(RandomForestClassifier):
        pass

    explainer = SufficientExplainer(OwnForest(5), random_state=0)
    explainer.fit(mixed.frame.select(mixed.names), mixed.observed)
    sessions, jobs = Sessions(Workspace.of(from_bytes(to_bytes(explainer)))), Jobs()
    name = stability_after(sessions, jobs, View(), None, START)["job"]
    wait_for_end(jobs.get(name))
    assert "cannot grow a forest of the kind 'OwnForest'" in all_text(
        stability_after(sessions, jobs, View(), name, TICK)["progress"]
    )


@pytest.mark.parametrize("view", [View(data="gone"), View(tab="rows")])
def test_nothing_happens_on_another_page(mixed, view):
    with pytest.raises(PreventUpdate):
        stability_after(Sessions(mixed), Jobs(), view, None, START)


@pytest.mark.slow
def test_the_button_works_in_the_browser(open_app, mixed, own_processes):
    app = open_app(mixed)
    page = app.open(row=7)
    page.get_by_role("button", name="How stable is this?").click()
    page.click("#stability-start")
    app.wait_for_text("#stability", "The same best set in")
    assert str(mixed.stability(View(row=7), lambda done: None)) in app.text("#stability-sentence")
    page.click("#next")
    page.wait_for_function("() => document.querySelector('#stability').innerText === ''")
