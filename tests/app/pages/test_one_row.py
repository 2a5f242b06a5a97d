"""The page about one row, in the browser."""

import math

import pytest

from suffice._text import join
from suffice.app.state.view import View

pytestmark = pytest.mark.slow


def test_one_row_of_numbers_is_explained_edited_and_linked(open_app, bike):
    app = open_app(bike)
    row = next(i for i in range(100, 200) if len(bike.explain(View(row=i, pi=0.8)).sufficient_sets) > 1)
    view = View(row=row, pi=0.8)
    page = app.open(row=row, pi=0.8)
    expected = bike.explainer_for(view).explain(bike.row_of(view))[0]
    low, high = expected.interval
    assert app.text(".outcome .kept") == f"kept within [{math.ceil(low)}, {math.floor(high)}]"
    assert app.text("#outcome") == expected.sentences.outcome_text
    assert page.locator("#rule .drawing").count() == len(expected.rule.conditions)

    # The other sets and their rules are loaded when they are opened.
    page.get_by_role("button", name="Other sufficient sets").click()
    other = expected.sufficient_sets[1].variables
    rule = bike.explainer_for(view).rule(bike.row_of(view), list(other))[0]
    app.wait_for_text("#more-sets", rule.rows_text)
    page.get_by_role("button", name="Distribution of the outcome").click()
    page.wait_for_selector("#more-distribution .js-plotly-plot")

    # An edit changes the explanation at once, and stands in the link.
    i = bike.names.index("hour")
    app.set_number(i, 3)
    edited = View(row=row, pi=0.8, edits={"hour": 3})
    expected = bike.explain(edited)
    app.wait_for_text("#outcome", expected.sentences.outcome_text)
    app.wait_for_link("x.hour=3")
    assert app.text("#answer").startswith(f"count, predicted for row {row} · 1 value changed")

    # The link alone gives the same page.
    link = page.evaluate("window.location.search")
    assert View.from_search(link) == edited.with_(data=app.link.data)
    before = app.text("#answer")
    page.reload()
    page.wait_for_selector("#outcome")
    assert app.text("#answer") == before
    page.click("#reset")
    app.wait_for_text("#answer", "observed")


def test_while_an_answer_is_computed_the_old_one_is_dimmed(open_app, mixed):
    """It stayed at full brightness, as if it were about the new row."""
    app = open_app(mixed)
    page = app.open(row=7)
    app.wait_for_text("#what-would", "traffic")
    dim = "() => getComputedStyle(document.querySelector('#answer')).opacity < 1"
    page.route("**/_dash-update-component", lambda route: (page.wait_for_timeout(1500), route.continue_()))
    page.click("#next")
    page.wait_for_function(dim)
    page.unroute("**/_dash-update-component")
    app.wait_for_text("#answer", "row 8")
    page.wait_for_function("() => getComputedStyle(document.querySelector('#answer')).opacity === '1'")


def test_one_row_of_classes_is_chosen_set_and_not_enough(open_app, cancer):
    app = open_app(cancer)
    page = app.open(row=5)
    assert app.text("#outcome") == cancer.explain(View(row=5)).outcome

    # Moving: next, by search, at random among the matches, from the table.
    page.click("#next")
    app.wait_for_link("row=6")
    page.fill("#find", "mean radius > 20 AND diagnosis = malignant")
    app.wait_for_text("#find-note", "rows match")
    matches = cancer.find("mean radius > 20 AND diagnosis = malignant")
    assert app.text("#find-note") == f"{len(matches)} of 569 rows match"
    app.wait_for_link(f"row={matches[0]}")
    assert len(matches) > 1
    for _ in range(20):  # a random row may be the one that is shown already
        page.click("#random")
        page.wait_for_timeout(200)
        if int(page.input_value("#row")) != matches[0]:
            break
    assert int(page.input_value("#row")) in matches[1:]
    page.fill("#find", "mean radus > 20")
    app.wait_for_text("#find-note", "Did you mean 'mean radius'?")
    page.click("#browse")
    page.click("#browser .ag-row[row-index='3'] .ag-cell[col-id='c1']")
    app.wait_for_text("#answer", "row 3")

    # Nothing is sufficient at this pi: the page names a pi that would do, and offers it as a button.
    candidates = cancer.explainer.candidates_[:2]
    view = View(row=5, pi=1.0, candidates=candidates)
    app.open("#answer .message", row=5, pi=1.0, candidates=candidates)
    nearest, message = cancer.explain(view), app.text("#answer")
    assert "No set of the candidates keeps it with probability 1." in message
    verb = "is" if len(nearest.best_set.variables) == 1 else "are"
    assert f"With π = {nearest.offered_pi:g}, {join(nearest.best_set.variables)} {verb} enough." in message
    page.click("#answer .message button")
    page.wait_for_function("() => !document.querySelector('#answer .message')")
    app.wait_for_link(f"pi={nearest.offered_pi:g}")
    app.wait_for_link("levels=same")
    page.wait_for_function("t => document.querySelector('#pi-text').textContent === t", arg=f"{nearest.offered_pi:g}")


def test_categories_gaps_and_unseen_ones(open_app, mixed):
    app = open_app(mixed)
    page = app.open("#answer .message", edits={"sky": "snow"})
    assert "This row cannot be explained." in app.text("#answer")
    assert "'snow'" in app.text("#answer")
    page.click("#settings summary")
    page.click("label:has-text('Unseen categories')")
    page.wait_for_selector("#outcome")
    app.wait_for_link("unseen=true")
    app.open()
    page.click("input[id*='\"column\":2'][id*='value']")
    page.click("[role=option]:has-text('rain')")
    app.wait_for_link("x.sky=%22rain%22")
    app.set_number(0, "")
    app.wait_for_link("x.hour=null")
    view = mixed.check(View.from_search(page.evaluate("window.location.search")))
    app.wait_for_text("#answer", "2 values changed")
    assert app.text("#outcome") == mixed.explain(view).outcome


def test_a_change_is_applied_by_a_click(open_app, mixed):
    app = open_app(mixed)
    row = next(row for row in range(50) if mixed.explainer.what_if(mixed.row_of(View(row=row)), progress=False)[0].best)
    page = app.open(row=row)
    app.wait_for_text("#what-would", "Apply")
    before = app.text("#outcome")
    page.locator("#what-would button").first.click()
    app.wait_for_link("x.")
    page.wait_for_function("t => document.querySelector('#outcome').innerText !== t", arg=before)
    app.wait_for_text("#what-would", "already reached")
    assert page.locator(".editor.edited").count() >= 1
