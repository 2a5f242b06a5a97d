"""The report in a browser: how it filters rows, and that it can be read on any screen and on paper.

By default it opens and shows hostile texts as texts; all else runs with the slow tests.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from playwright.sync_api import expect
from reported import HOSTILE

from suffice._show.report import report_rules


@pytest.fixture
def show(browser, tmp_path):
    """Open a report; the test fails if the page has an error, opens a dialog or asks for anything else."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    trouble = []

    def open_page(explanations, title=None):
        path = explanations.report(tmp_path / "report.html", title=title)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: None if request.url == path.as_uri() else trouble.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    context.close()
    assert trouble == []


def rows_shown(page):
    visible = "cards => cards.filter(card => card.checkVisibility()).map(card => Number(card.dataset.row))"
    return set(page.eval_on_selector_all("#cards article", visible))


def test_rows_are_searched_and_filtered(classes, show):
    page = show(classes)
    assert rows_shown(page) == set(range(130))
    assert page.inner_text("output") == "130 of 130 rows"
    page.select_option("[name=outcome]", label="busy")
    page.select_option("[name=state]", "set")
    page.select_option("[name=variable]", label="hour")
    wanted = {i for i, e in enumerate(classes) if e.outcome == "busy" and e.is_sufficient}
    wanted = {i for i in wanted if "hour" in classes[i].best_set.variables}
    assert rows_shown(page) == wanted
    assert page.inner_text("output") == f"{len(wanted)} of 130 rows"
    page.click("text=Show all")
    # wait_for_function() would evaluate text in the page, which its content security policy forbids.
    expect(page.locator("output")).to_have_text("130 of 130 rows")
    page.fill("[name=words]", '"town 7" calm')
    held = [dict(column for _, columns in e.values for column in columns) for e in classes]
    shown = rows_shown(page)
    assert {i for i, values in enumerate(held) if values["town"] == "town 7" and classes[i].outcome == "calm"} <= shown
    assert 0 < len(shown) < 130


@pytest.mark.slow
def test_numbers_are_filtered_by_their_half(numbers, show):
    page = show(numbers)
    middle = np.median(numbers.outcomes)
    page.select_option("[name=outcome]", "0")
    assert rows_shown(page) == set(np.flatnonzero(numbers.outcomes > middle).tolist())
    page.select_option("[name=state]", "none")
    assert rows_shown(page) == set(np.flatnonzero((numbers.outcomes > middle) & ~numbers.has_set).tolist())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_buttons_lead_to_the_rows_of_rules_and_variables(kind, show, request):
    explanations = request.getfixturevalue(kind)
    page = show(explanations)
    rows, _ = explanations.explained
    covered = {frozenset(np.flatnonzero(line.rule.covers(rows)).tolist()) for line in report_rules(explanations)}
    button = page.locator("#rules button").first
    button.press("Enter")
    assert frozenset(rows_shown(page)) in covered
    assert page.inner_text("output").endswith(f": {button.get_attribute('aria-label')}")
    assert page.evaluate("document.activeElement.name") == "words"
    button = page.locator("#overview button").first
    button.click()
    n, _, what = button.get_attribute("aria-label").partition(" rows with ")
    shown = rows_shown(page)
    assert len(shown) == int(n)
    assert all(what.partition(",")[0] in explanations[i].best_set.variables for i in shown)


def test_hostile_texts_are_shown_as_texts(hostile, show):
    page = show(hostile, title=HOSTILE[0])
    assert page.title() == HOSTILE[0]
    assert page.inner_text("h1") == HOSTILE[0]
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
    assert set(page.locator("#cards .outcome").all_inner_texts()) == {e.outcome for e in hostile}
    assert HOSTILE[0] in page.locator("[name=variable]").inner_text()
    page.fill("[name=words]", "</script><img")
    assert 0 < len(rows_shown(page)) <= 30
    page.locator("#cards article:not([hidden]) summary").first.click()
    assert HOSTILE[1] in page.locator("#cards details[open] .facts").inner_text()


@pytest.mark.slow
def test_the_page_can_be_read_without_its_script(classes, browser, tmp_path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(classes.report(tmp_path / "report.html").as_uri())
    assert page.locator("#cards article").count() == 130
    assert page.locator("#cards article").last.is_visible()
    assert not page.locator("#row-controls").is_visible()
    context.close()


@pytest.mark.slow
def test_every_input_has_a_label_and_headings_are_in_order(classes, show):
    page = show(classes)
    unnamed = "[...document.querySelectorAll('input, select')].filter(e => !e.labels.length).length"
    assert page.evaluate(unnamed) == 0
    levels = page.eval_on_selector_all("h1, h2, h3", "all => all.map(one => Number(one.tagName[1]))")
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    targets = page.eval_on_selector_all("nav a", "all => all.map(one => document.querySelector(one.hash).tagName)")
    assert set(targets) == {"SECTION"}


@pytest.mark.slow
@pytest.mark.parametrize("width", [340, 600, 720, 1600])
def test_nothing_is_wider_than_the_window(classes, hostile, show, width):
    for explanations in (classes, hostile):
        page = show(explanations)
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_a_printed_page_leaves_the_controls_out(classes, show):
    page = show(classes)
    page.emulate_media(media="print")
    assert not page.locator("#row-controls").is_visible()
    assert page.locator("#cards article").first.is_visible()
    assert not page.locator("#cards summary").first.is_visible()
