"""The report in a browser: how it draws, searches, sorts and pages.

By default it opens, turns pages and shows hostile texts as texts; all else runs with the slow tests.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from reported import HOSTILE
from sklearn.ensemble import RandomForestClassifier

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer
from suffice._text import format_number
from suffice.explaining.sentences import NOT_COMPLETE


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write each report once."""
    folder, paths = tmp_path_factory.mktemp("reports"), {}

    def path_of(explanations, title):
        key = (id(explanations), title)
        if key not in paths:
            paths[key] = explanations.report(folder / f"{len(paths)}.html", title=title)
        return paths[key]

    return path_of


@pytest.fixture
def show(browser, written):
    """Open a report; the test fails if the page has an error, opens a dialog or asks for anything else."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    trouble = []

    def open_page(explanations, title=None):
        path = written(explanations, title)
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
    return page.eval_on_selector_all("#cards article", "cards => cards.map(card => Number(card.id.slice(4)))")


def wait_for_count(page, text, of="row"):
    page.wait_for_function(
        "([id, text]) => document.getElementById(id).textContent === text", arg=[f"{of}-count", text]
    )


def count_text(n, n_all, what="row"):
    return f"{n} of {n_all} {what}s" if n < n_all else f"{n_all} {what}s"


def test_the_first_page_shows_the_first_rows_and_pages_turn(classes, show):
    page = show(classes)
    page.select_option("#order", "row")
    assert rows_shown(page) == list(range(20))
    assert page.inner_text("#row-count") == "130 rows"
    pager = page.locator("#row-pager")
    assert pager.locator(".count").inner_text() == "Page 1 of 7"
    assert pager.get_by_text("Previous").is_disabled()
    pager.get_by_text("Next").click()
    assert rows_shown(page) == list(range(20, 40))
    pager.get_by_text("Last").click()
    assert rows_shown(page) == list(range(120, 130))
    assert pager.get_by_text("Next").is_disabled()
    pager.get_by_text("Previous").click()
    assert rows_shown(page) == list(range(100, 120))
    pager.get_by_text("First").click()
    assert rows_shown(page) == list(range(20))


@pytest.mark.slow
def test_a_search_finds_values_outcomes_and_rules(classes, show):
    page = show(classes)
    page.select_option("#order", "row")
    value = {i: dict(c for _, held in e.values for c in held) for i, e in enumerate(classes)}
    page.fill("#row-search", '"town = town 1;" BUSY')
    wanted = [i for i, e in enumerate(classes) if value[i]["town"] == "town 1" and "busy" in str(e.outcome)]
    assert 0 < len(wanted) < 20
    wait_for_count(page, count_text(len(wanted), 130))
    assert rows_shown(page) == wanted
    page.fill("#row-search", '"if hour"')
    wanted = [i for i, e in enumerate(classes) if str(e.rule).startswith("IF hour")]
    assert 0 < len(wanted) < 130
    wait_for_count(page, count_text(len(wanted), 130))
    page.fill("#row-search", "no such text")
    wait_for_count(page, "0 of 130 rows")
    assert "No row matches." in page.inner_text("#cards")


@pytest.mark.slow
def test_rows_are_filtered(classes, show):
    page = show(classes)
    explanations = list(classes)
    for field, option, keeps in [
        ("outcome", "calm", lambda e: e.outcome == "calm"),
        ("sufficient", "found", lambda e: e.is_sufficient),
        ("sufficient", "none", lambda e: not e.is_sufficient),
        ("agrees", "disagrees", lambda e: not e.forest_agrees),
        ("variable", "temp", lambda e: "temp" in e.best_set.variables),
        ("variable", "hour", lambda e: "hour" in e.best_set.variables),
    ]:
        page.select_option("#order", "row")
        page.select_option(f"#{field}", label=option)
        wanted = [i for i, e in enumerate(explanations) if keeps(e)]
        assert page.inner_text("#row-count") == count_text(len(wanted), 130)
        assert rows_shown(page) == wanted[:20]
        page.get_by_text("Clear").click()
        wait_for_count(page, "130 rows")
    assert 0 < sum(not e.is_sufficient for e in explanations) < 130
    assert 0 < sum(not e.forest_agrees for e in explanations) < 130


@pytest.mark.slow
def test_numbers_are_filtered_by_their_ends(numbers, show):
    page = show(numbers)
    page.fill("#outcome-from", "100")
    page.fill("#outcome-to", "150.5")
    wanted = [i for i, e in enumerate(numbers) if 100 <= e.outcome <= 150.5]
    assert wanted
    wait_for_count(page, count_text(len(wanted), 60))
    assert rows_shown(page) == wanted


@pytest.mark.slow
def test_rows_are_ordered(classes, show):
    page = show(classes)
    page.select_option("#order", "covers")
    coverage = [-1 if e.rule is None else e.rule.coverage for e in classes]
    assert rows_shown(page) == sorted(range(130), key=lambda i: (-coverage[i], i))[:20]
    page.select_option("#order", "unsure")
    sdp = [math.floor(100 * e.best_set.sdp + 1e-7) for e in classes]
    assert rows_shown(page) == sorted(range(130), key=lambda i: (sdp[i], i))[:20]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_rows_and_rules_of_the_focus_class_come_first(kind, show, request):
    explanations = request.getfixturevalue(kind)
    focus, rows = explanations.fitted.focus, list(explanations)
    page = show(explanations)
    if kind == "numbers":
        assert focus is None
        assert rows_shown(page) == list(range(20))
        return
    wanted = sorted(range(130), key=lambda i: not (rows[i].outcome == focus and rows[i].is_sufficient))
    assert wanted[:20] != list(range(20))
    assert rows_shown(page) == wanted[:20]
    lines = GlobalRulesClassifier.from_explanations(explanations).rules_
    by_focus = sorted(range(len(lines)), key=lambda k: (lines[k].rule.outcome != focus, -lines[k].coverage, k))
    assert places(page) == [k + 1 for k in by_focus[:20]]
    assert f"At first, rules for {focus} are listed before others." in page.inner_text("body")
    page.select_option("#order", "row")
    assert rows_shown(page) == list(range(20))
    page.get_by_text("Clear").click()
    page.wait_for_function("() => document.getElementById('order').value === 'focus'")


def places(page):
    return page.eval_on_selector_all("#rule-table td.place", "cells => cells.map(c => Number(c.textContent))")


@pytest.mark.slow
def test_rules_are_sorted(classes, show):
    page = show(classes)
    lines = GlobalRulesClassifier.from_explanations(classes).rules_
    header = page.locator("#rule-table th")
    by_coverage = sorted(range(len(lines)), key=lambda k: (-lines[k].coverage, k))
    assert header.nth(2).get_attribute("aria-sort") is None
    header.nth(2).locator("button").click()
    assert header.nth(2).get_attribute("aria-sort") == "descending"
    assert places(page) == [k + 1 for k in by_coverage[:20]]
    header.nth(2).locator("button").click()
    assert header.nth(2).get_attribute("aria-sort") == "ascending"
    assert places(page)[0] == 1 + min(range(len(lines)), key=lambda k: (lines[k].coverage, k))
    header.nth(0).locator("button").press("Enter")
    assert places(page) == list(range(1, 21))[: len(lines)]
    header.nth(3).locator("button").click()
    assert places(page)[0] == 1 + max(range(len(lines)), key=lambda k: (lines[k].expected, -k))
    assert header.nth(2).get_attribute("aria-sort") is None


@pytest.mark.slow
def test_rules_are_searched(classes, show):
    page = show(classes)
    lines = GlobalRulesClassifier.from_explanations(classes).rules_
    page.fill("#rule-search", "hour then calm")
    wanted = [k + 1 for k, line in enumerate(lines) if "hour" in line.text and line.output == "calm"]
    assert 0 < len(wanted) < len(lines)
    wait_for_count(page, count_text(len(wanted), len(lines), "rule"), of="rule")
    page.locator("#rule-table th button").first.click()
    assert places(page) == wanted[:20]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_the_rows_of_every_rule_are_those_that_it_covers(kind, show, request):
    explanations = request.getfixturevalue(kind)
    page = show(explanations)
    page.select_option("#order", "row")
    page.locator("#rule-table th button").first.click()
    table, _ = explanations.explained
    rule_list_class = GlobalRulesClassifier if kind == "classes" else GlobalRulesRegressor
    lines = rule_list_class.from_explanations(explanations).rules_[:20]
    assert len(lines) > 5
    for k, line in enumerate(lines):
        page.locator("#rule-table tbody tr").nth(k).locator("button").click()
        wanted = np.flatnonzero(line.rule.covers(table)).tolist()
        assert rows_shown(page) == wanted[:20]
        assert page.inner_text("#row-count") == count_text(len(wanted), len(explanations))
        assert f"Covered by rule {k + 1}" in page.inner_text("#by-rule")
    page.locator("#by-rule button").click()
    assert page.inner_text("#row-count") == f"{len(explanations)} rows"
    assert page.inner_text("#by-rule") == ""


def percents(texts):
    return [float(number) for text in texts for number in re.findall(r"([\d.]+)%", text)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_the_page_draws_a_row_as_its_card_does(kind, browser, show, request):
    explanations = request.getfixturevalue(kind)
    page = show(explanations)
    card_page = browser.new_page()
    read = """root => ({
      bands: [...root.querySelectorAll('.band')].map(e => `${e.className} ${e.style.left} ${e.style.right}`),
      dots: [...root.querySelectorAll('.dot')].map(e => e.style.left),
      chips: [...root.querySelectorAll('.chip')].map(e => [e.className, e.textContent, e.title]),
      names: [...root.querySelectorAll('.bounds')].map(e => e.textContent),
      sentence: root.querySelector('.sentence')?.textContent.trim(),
      saying: root.querySelector('.saying').textContent,
      advice: [...root.querySelectorAll('.advice li')].map(e => e.textContent),
      fills: [...root.querySelectorAll('.figure .fill, .narrow .fill')].map(e => e.style.width),
      care: root.querySelector('.care')?.textContent,
      titles: [...root.querySelectorAll('.part > .title')].map(e => e.textContent.replace(/\\s/g, '')),
      numbers: [...root.querySelectorAll('.halves .number')].map(e => e.textContent),
      notes: [...root.querySelectorAll('.badge, .note.under, .more')].map(e => e.textContent),
    })"""
    n_drawn = 0
    for order in ("unsure", "covers"):  # rows without a sufficient set first, then rows with a rule
        page.select_option("#order", order)
        for i in rows_shown(page):
            explanation = explanations[i]
            card_page.set_content(explanation._repr_html_())
            card = card_page.eval_on_selector(".card", read)
            # The page says once, under "How to read it", what "at least" means.
            notes = [note.removesuffix(explanation.sentences.bound_note).strip() for note in card["notes"]]
            card["notes"] = [note for note in notes if note]
            drawn = page.eval_on_selector(f"#row-{i}", read)
            if kind == "numbers":  # the page also draws the outcome on the range of the training outcomes
                for key in ("bands", "dots", "names"):
                    assert drawn[key].pop(0)
            for key in ("names", "sentence", "saying", "advice", "care", "notes", "titles", "numbers"):
                assert drawn[key] == card[key]
            assert drawn["chips"] == card["chips"]
            for key in ("bands", "dots"):
                assert percents(drawn[key]) == pytest.approx(percents(card[key]), abs=0.01)
            assert percents(drawn["fills"]) == pytest.approx(percents(card["fills"]), abs=1.0)  # whole per cents
            n_drawn += len(card["bands"])
    card_page.close()
    assert n_drawn > 2


@pytest.mark.slow
def test_the_page_shows_that_a_search_ended_early(cut_short, show):
    page = show(cut_short)
    for i in rows_shown(page):
        care = page.locator(f"#row-{i} .care")
        text = care.inner_text() if care.count() else ""
        assert (NOT_COMPLETE in text) == (not cut_short[i].is_search_complete)
        assert ("The forest predicts" in text) == (not cut_short[i].forest_agrees)


@pytest.mark.slow
def test_all_values_of_a_row_unfold(classes, show):
    page = show(classes)
    page.select_option("#order", "row")
    card = page.locator("#row-3")
    card.locator("summary").click()
    text = card.locator("details .facts").inner_text()
    value = dict(c for _, held in classes[3].values for c in held)
    assert re.search(rf"town\s+{value['town'] or 'missing'}\b", text)
    assert re.search(rf"hour\s+{value['hour']}\b", text)


def test_hostile_texts_are_shown_as_texts(hostile, show):
    page = show(hostile, title=HOSTILE[0])
    assert page.title() == HOSTILE[0]
    assert page.inner_text("h1") == HOSTILE[0]
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    outcomes = set(page.locator("#cards .outcome").all_inner_texts())
    assert outcomes == {e.outcome for e in hostile[:20]}
    assert HOSTILE[0] in page.locator("#variable").inner_text()
    page.fill("#row-search", '"= </script><img"')
    of_rows = [[e.outcome, *(value for _, held in e.values for _, value in held)] for e in hostile]
    wanted = [i for i, values in enumerate(of_rows) if HOSTILE[1] in values]
    assert 0 < len(wanted) < 30
    wait_for_count(page, count_text(len(wanted), 30))
    page.locator("#cards summary").first.click()
    assert HOSTILE[1] in page.locator("#cards details .facts").inner_text()


@pytest.mark.slow
def test_everything_can_be_reached_by_the_keyboard(classes, show):
    page = show(classes)
    page.focus("#row-search")
    reached = []
    for _ in range(8):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert reached[:6] == ["outcome", "sufficient", "agrees", "variable", "order", "BUTTON"]
    unnamed = page.evaluate(
        "[...document.querySelectorAll('input, select')].filter(e => !e.labels.length).map(e => e.id)"
    )
    assert unnamed == []


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
    page.select_option("#order", "row")
    page.emulate_media(media="print")
    assert not page.locator("#row-controls").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator("#row-0").is_visible()


@pytest.mark.slow
def test_the_page_writes_numbers_as_the_cards_do(show):
    """Numbers that need more digits, or an exponent, once read differently on the page."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"1e{k}": rng.normal(size=200) * 10.0**k for k in (-12, -5, -3, 0, 4, 6, 20)})
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, random_state=0).fit(X, X["1e0"] > 0)
    page = show(explainer.explain(X[:20], progress=False))
    for i in range(20):
        page.locator(f"#row-{i} summary").click()
        page.wait_for_selector(f"#row-{i} .facts")
        texts = page.locator(f"#row-{i} .facts > :not(.key)").all_inner_texts()[:7]
        assert texts == [format_number(value) for value in X.iloc[i].astype("float32").tolist()]
