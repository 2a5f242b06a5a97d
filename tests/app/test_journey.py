"""The whole way from a table to what would change a row, as a person goes it: by the keyboard, in a browser."""

from __future__ import annotations

import pytest
from app_client import traffic_table

from suffice.app.state.view import View


def test_a_table_is_opened_explained_and_changed_by_the_keyboard_alone(open_app, tmp_path):
    app = open_app()
    page = app.open_start()
    assert page.locator("h1").count() == 1
    traffic_table(300).write_csv(tmp_path / "traffic.csv")

    # Open a table, and answer the questions.
    app.tab_to("#upload")
    with page.expect_file_chooser() as chooser:
        app.press("Space")
    chooser.value.set_files(str(tmp_path / "traffic.csv"))
    page.wait_for_selector("#preview .ag-row")
    page.wait_for_selector("#focus-question label")
    assert app.violations() == []
    assert page.input_value("#target") == "traffic"
    app.tab_to("#focus-question")
    app.press("ArrowDown", "ArrowUp")
    chosen = page.locator("#focus-question .mantine-Radio-root:has(input:checked)").inner_text()
    app.tab_to("#fixed")
    app.press("ArrowDown", "Enter", "Escape")  # the first column, hour
    app.tab_to("#fit")
    app.press("Enter")

    # The first row has the outcome that matters, and a set.
    page.wait_for_selector("#lead")
    assert "300 rows · 4 variables · traffic" in app.text("header")
    assert chosen.startswith(f"{app.text('#outcome')} (")
    app.wait_for_text("#reasons", "probability")
    app.wait_for_text("#what-would", "hour stays as it is.")
    assert app.violations() == []

    # Change a value: the answer changes, and what was there is said.
    before = app.text("#answer")
    app.tab_to("input[id*='\"column\":0'][id*='value']")
    app.press("Control+a")
    page.keyboard.type("23")
    app.wait_for_link("x.hour=23")
    app.wait_for_text("#answer", "1 value changed")
    app.wait_for_text("#values", "was ")
    app.tab_to("#reset", "Shift+Tab")
    app.press("Enter")
    page.wait_for_function("t => document.querySelector('#answer').innerText === t", arg=before)

    # What is folded is loaded when it is opened; another tab is reached by an arrow.
    app.tab_to("#more")
    app.press("Enter")
    page.wait_for_function("() => document.querySelector('#more-sets').innerText !== ''")
    app.tab_to("[role=tab]", "Shift+Tab")
    app.press("ArrowRight")
    page.wait_for_selector("#table .ag-row")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_leaves_anybody_out(open_app, mixed, diabetes, scheme):
    """Six sliders had no name, a field for files no label, tabs led nowhere, and no page had a heading."""
    for workspace in (mixed, diabetes):
        app = open_app(workspace)
        app.page.emulate_media(color_scheme=scheme)
        page = app.open(row=7)
        page.evaluate("scheme => window.dash_clientside.set_props('scheme', {data: scheme})", scheme)
        for summary in page.locator("details summary").all():
            summary.click()
        for control in page.locator("#more button[aria-expanded]").all():
            control.click()
        page.wait_for_selector("#more-curve .js-plotly-plot")
        page.wait_for_selector("#more-pair table")
        assert app.violations() == []
        page.click("#browse")
        page.wait_for_selector("#browser .ag-row")
        assert app.violations() == []
        for tab, ready in (("rows", "#table .ag-row"), ("rules", "#rules-tiles .tile"), ("quality", ".tile")):
            page = app.open(ready, tab=tab)
            if tab == "rows":
                page.click("#explain")
                page.wait_for_selector("#many-tiles .tile")
            page.wait_for_load_state("networkidle")
            assert page.locator("h1").count() == 1
            assert app.violations() == []


@pytest.mark.slow
def test_on_a_phone_the_answer_comes_before_the_fields(open_app, mixed):
    app = open_app(mixed)
    app.page.set_viewport_size({"width": 390, "height": 844})
    page = app.open(row=7)
    app.wait_for_text("#what-would", "traffic")
    tops = [page.locator(name).bounding_box()["y"] for name in ("#choosing", "#answer", "#what-would-panel", "#values")]
    assert tops == sorted(tops)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert View.from_search(page.evaluate("window.location.search")).row == 7
