"""The page about one row, in the browser."""

import math

import pytest

from suffice._text import format_probability, join
from suffice.app.state.view import View


@pytest.mark.slow
def test_one_row_of_numbers_is_explained_edited_and_linked(open_app, bike):
    app = open_app(bike)
    row = next(i for i in range(100, 200) if len(bike.explain(View(row=i, pi=0.8)).sufficient_sets) > 1)
    view = View(row=row, pi=0.8)
    page = app.open(row=row, pi=0.8)
    expected = bike.explainer_for(view).explain(bike.row_of(view))[0]
    low, high = expected.interval
    assert app.text("#interval") == f"kept within [{math.ceil(low)}, {math.floor(high)}]"
    assert app.text("#outcome") == expected.sentences.outcome_text
    assert page.get_attribute("#sentence", "title") == str(expected.rule)

    # The sets: all of them, and the rule of the one that is clicked.
    page.wait_for_selector("#sets .ag-row[row-index='1']")
    other = expected.sufficient_sets[1].variables
    page.click("#sets .ag-row[row-index='1'] .ag-cell[col-id='variables']")
    rule = bike.explainer_for(view).rule(bike.row_of(view), list(other))[0]
    page.wait_for_function("t => document.querySelector('#sentence').title === t", arg=str(rule))
    app.wait_for_link("set=")
    app.wait_for_text("#covered-note", f"{rule.support} row")
    assert page.locator("#distribution .js-plotly-plot").count() == 1

    # An edit changes the explanation at once, and stands in the link.
    i = bike.names.index("hour")
    app.set_number(i, 3)
    edited = View(row=row, pi=0.8, edits={"hour": 3}, chosen=other)
    expected = bike.explain(edited)
    app.wait_for_text("#outcome", expected.sentences.outcome_text)
    app.wait_for_link("x.hour=3")
    assert app.text("#outcome-card").startswith(f"count, predicted for row {row} · 1 value edited")

    # The link alone gives the same page.
    link = page.evaluate("window.location.search")
    assert View.from_search(link) == edited.with_(data=app.link.data)
    before = app.text("#outcome-card"), app.text("#rule")
    page.reload()
    page.wait_for_selector("#outcome")
    assert (app.text("#outcome-card"), app.text("#rule")) == before
    page.click("#reset")
    app.wait_for_text("#outcome-card", "observed")


@pytest.mark.slow
def test_the_page_of_a_large_table_is_soon_there(open_app, bike):
    app = open_app(bike)
    app.page.add_init_script(
        "new MutationObserver(() => {"
        "  if (!window.seen && document.querySelector('#outcome')) window.seen = performance.now();"
        "}).observe(document, {childList: true, subtree: true});"
    )
    page = app.open()
    assert page.evaluate("window.seen") > 0


def test_one_row_of_classes_is_chosen_set_and_not_enough(open_app, cancer):
    app = open_app(cancer)
    page = app.open(row=5)
    expected = cancer.explain(View(row=5))
    assert app.text("#outcome") == expected.outcome
    assert app.text("#importance .number") == f"{expected.ranked_importance()[0][1]:.2f}"
    of_set, _ = cancer.distribution(View(row=5))
    page.wait_for_selector("#classes .number")
    assert app.text("#classes .number") == format_probability(of_set.max())

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
    app.wait_for_text("#outcome-card", "row 3")

    # Nothing is sufficient at this pi: the page names a pi that would do, and offers it as a button.
    app.open("#row-message .message", row=5, pi=1.0, n_candidates=2)
    nearest = cancer.explain(View(row=5, pi=1.0, n_candidates=2))
    message = app.text("#row-message")
    assert "No set of the candidates keeps it with probability 1." in message
    verb = "is" if len(nearest.best_set.variables) == 1 else "are"
    assert f"With π = {nearest.offered_pi:g}, {join(nearest.best_set.variables)} {verb} enough." in message
    page.click("#row-message button")
    page.wait_for_function("() => !document.querySelector('#row-message .message')")
    app.wait_for_link(f"pi={nearest.offered_pi:g}")
    app.wait_for_link("levels=same")
    assert app.text("#pi-text") == f"{nearest.offered_pi:g}"
    app.wait_for_text("#effect", "as fitted: ")


@pytest.mark.slow
def test_categories_gaps_and_unseen_ones(open_app, mixed):
    app = open_app(mixed)
    page = app.open("#row-message .message", edits={"sky": "snow"})
    assert "This row cannot be explained." in app.text("#row-message")
    assert "'snow'" in app.text("#row-message")
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
    app.wait_for_text("#outcome-card", "2 values edited")
    assert app.text("#outcome") == mixed.explain(view).outcome
