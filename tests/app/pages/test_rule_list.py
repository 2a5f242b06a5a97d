"""The page about global rules."""

import numpy as np
import polars as pl
import pytest
from app_client import all_text

from suffice import GlobalRulesClassifier
from suffice._io.explainer_file import training_rows
from suffice._show.picture import picture_line
from suffice._text import format_percent, format_share
from suffice.app.pages.rule_list import RuleLists, find_rules, rule_line, rule_tiles, rules_of_row
from suffice.app.parts.markup import to_components
from suffice.app.state.jobs import Cancelled, Job
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.rule_lists.mining import mine_rules


def test_errors_and_precisions_of_numbers_are_written_as_elsewhere(diabetes):
    rules = find_rules(diabetes, View(), 100, Job("", 100))
    line, picture = rule_line(0, 0, rules.rules_[0], rules, ""), picture_line(rules.rules_[0])
    assert line["output"] == picture.output
    assert (line["precision_text"], line["mae_text"]) == (picture.precision.text, picture.mae)


@pytest.mark.slow
def test_the_grid_shows_the_texts_of_errors_and_precisions(open_app, diabetes):
    page = open_app(diabetes).open("#rules-tiles .tile", tab="rules", row=3)
    page.wait_for_selector("#rule-grid .ag-row")
    rules = find_rules(diabetes, View(), 500, Job("", 500)).simplify(max_loss=0.01).rules_
    picture = picture_line(rules[0])
    for name, expected in (("output", picture.output), ("precision", picture.precision.text), ("mae", picture.mae)):
        cell = page.locator(f"#rule-grid .ag-center-cols-container .ag-row[row-index='0'] [col-id={name}]")
        assert cell.inner_text().strip() == expected


@pytest.mark.slow
def test_global_rules_are_listed_searched_simplified_and_saved(open_app, cancer, tmp_path):
    app = open_app(cancer)
    full = find_rules(cancer, View(), 500, Job("", 500))
    rules = full.simplify(max_loss=0.01)
    covered = [sum(line.rule.covers(cancer.row_of(View(row=i)))[0] for line in rules.rules_) for i in range(30)]
    place = int(np.argmax(covered))
    page = app.open("#rules-tiles .tile", tab="rules", row=place)
    assert len(rules.rules_) > 2
    assert app.text("#rules-tiles .tile .large") == str(len(rules.rules_))
    page.wait_for_selector("#rule-grid .ag-row")
    row = cancer.row_of(View(row=place))
    covering = [i for i, line in enumerate(rules.rules_) if line.rule.covers(row)[0]]
    first = rules.decision_path(row)[0]
    assert app.text("#decided").startswith(f"Row {place}: rule {first + 1} adds most; {len(covering) - 1} other")
    assert page.locator("#rules-decide li").count() == len(covering)
    # A word in some of the rules, but not in more than the grid has room for.
    words = sorted({word for name in cancer.names for word in name.split()})
    n_with = {word: sum(word in line.text for line in rules.rules_) for word in words}
    word, n = next((word, n) for word, n in n_with.items() if 0 < n < min(10, len(rules.rules_)))
    page.fill("#rules-search", word)
    page.wait_for_function(
        """([word, n]) => {
          const rows = [...document.querySelectorAll('#rule-grid .ag-center-cols-container .ag-row')];
          return rows.length === n && rows.every(row => row.innerText.includes(word));
        }""",
        arg=[word, n],
    )
    page.fill("#rules-search", "")
    texts = {"sql": rules.to_sql(), "json": rules.to_json(ensure_ascii=False, indent=1), "txt": str(rules)}
    for kind, expected in texts.items():
        with page.expect_download() as caught:
            page.click(f"#rules-{kind}")
        caught.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_text(encoding="utf-8") == expected + "\n"
    page.locator("#rule-grid .ag-center-cols-container .ag-row[row-index='1']").click()
    page.wait_for_selector("#rules-drop:not([disabled])")
    page.locator("#rules-drop").press("Enter")
    edited = rules.edit(drop=[1])
    app.wait_for_text("#rules-edited", "1 rule left out.")
    app.wait_for_text("#rules-edited", str(rules.compare(edited)))
    assert app.text("#rules-tiles .tile .large") == str(len(rules.rules_) - 1)
    with page.expect_download() as caught:
        page.click("#rules-txt")
    caught.value.save_as(tmp_path / "edited")
    assert (tmp_path / "edited").read_text(encoding="utf-8") == f"{edited}\n"
    page.click("#rules-restore")
    app.wait_for_text("#rules-tiles .tile .large", str(len(rules.rules_)))
    page.fill("#rules-max", "2")
    app.wait_for_text("#rules-tiles .tile .large", "2")
    page.locator("#tolerance [role=slider]").focus()
    page.keyboard.press("Home")
    app.wait_for_text("#rules-tiles .tile .large", str(len(full.rules_)))
    page.click("text=One row")
    page.wait_for_selector("#pane-row:not([hidden]) #outcome")
    page.click("#scheme-toggle")
    page.wait_for_selector("html[data-mantine-color-scheme='dark']")


@pytest.mark.slow
def test_the_rules_fit_the_screen_of_a_phone_with_all_their_figures(open_app, cancer):
    """The grid scrolled sideways: a phone showed half of each rule, and no figure."""
    app = open_app(cancer)
    app.page.set_viewport_size({"width": 390, "height": 844})
    page = app.open("#rules-tiles .tile", tab="rules")
    page.wait_for_selector("#rule-grid .ag-row .rule .note")
    page.wait_for_selector("#rule-grid [col-id=support]", state="detached")
    viewport = page.locator("#rule-grid .ag-center-cols-viewport")
    assert viewport.evaluate("one => one.scrollWidth <= one.clientWidth")
    # What a rule adds was cut: +0.099 read +0.09.
    outputs = page.locator("#rule-grid .ag-row [col-id=output], #rule-grid .ag-row [col-id=output] *")
    assert outputs.count() > 1
    assert outputs.evaluate_all("cells => cells.every(one => one.scrollWidth <= one.clientWidth || !one.clientWidth)")
    rules = find_rules(cancer, View(), 500, Job("", 500)).simplify(max_loss=0.01)
    line = rule_line(0, 0, rules.rules_[0], rules, "")
    note = page.locator("#rule-grid .ag-row[row-index='0'] .rule .note").inner_text()
    for name in ("shown", "precision_text", "base_text", "lift_text", "support_text"):
        assert line[name] in note


def test_global_rules_are_those_of_the_library(mixed):
    rules = find_rules(mixed, View(), 10**6, Job("", 400))
    X, y = training_rows(mixed.explainer)
    expected = GlobalRulesClassifier.from_explanations(mine_rules(mixed.explainer, X, y), X, y)
    assert rules.rules_ == expected.rules_
    assert RuleLists(rules).simplified(3).rules_ == expected.simplify().rules_


def test_rows_that_are_uncertain_have_global_rules_too(fit_here):
    """The app took rules at one level only: on a table without sure rows it had none, where Python had a list."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=600), "z": rng.normal(size=600)})
    noisy = (frame["x"].to_numpy() > 0) ^ (rng.random(600) < 0.25)
    space = fit_here(frame.with_columns(kind=np.where(noisy, "up", "down")), "kind", has_dates=True)
    job = Job("", 300)
    rules = RuleLists(find_rules(space, View(), 300, job)).simplified(3)
    assert {line.output for line in rules.rules_} == {"up", "down"}
    assert rules.evaluate().total_coverage > 0.6
    assert job.done == 300


def test_rules_stand_beside_their_base_rate(mixed):
    rules = RuleLists(find_rules(mixed, View(), 200, Job("", 200))).simplified(3)
    outcomes = np.asarray(mixed.training[1])
    for i, rule in enumerate(rules.rules_):
        line, base = rule_line(i, i, rule, rules, ""), float(np.mean(outcomes == rule.output))
        assert (line["base"], line["base_text"]) == (base, format_share(base))
        assert line["lift"] == pytest.approx(rule.expected / base)
        assert line["lift_text"] == f"{rule.expected / base:.1f}"


def test_a_list_without_some_rules_is_measured_beside_the_whole(mixed):
    lists = RuleLists(find_rules(mixed, View(), 200, Job("", 200)))
    form = {"tolerance": 3, "max_rules": 10}
    whole, same = lists.chosen(form, [])
    assert same is whole
    whole, edited = lists.chosen(form, [0])
    assert edited.rules_ == whole.edit(drop=[0]).rules_
    assert lists.chosen(form, [0])[1] is edited
    tiles = [all_text(tile) for tile in to_components(rule_tiles(edited, whole, 99))]
    accuracy, before = (of.evaluate().figures["the list"]["accuracy"] for of in (edited, whole))
    assert tiles[0] == f"rules {len(whole.rules_) - 1} of 99 before simplifying"
    assert f"({format_percent(whole.evaluate().total_coverage)} % with all rules)" in tiles[1]
    assert tiles[2].startswith(f"accuracy {format_share(accuracy)} ")
    assert tiles[2].endswith(f"by the most frequent class ({format_share(before)} with all rules)")
    assert "with all rules" not in all_text(to_components(rule_tiles(whole, whole, 99)))


def test_finding_rules_can_be_cancelled(mixed):
    job = Job("", 400)
    job.cancel()
    with pytest.raises(Cancelled):
        find_rules(mixed, View(), 400, job)


def test_a_simplified_list_is_made_once(mixed, monkeypatch):
    lists = RuleLists(find_rules(mixed, View(), 100, Job("", 100)))
    assert lists.simplified(0) is lists.full
    shorter = lists.simplified(3)
    assert shorter.rules_ == lists.full.simplify(max_loss=0.01).rules_
    assert len(lists.simplified(3, 1).rules_) == 1 < len(shorter.rules_)
    monkeypatch.setattr(type(lists.full), "simplify", None)
    assert lists.simplified(3) is shorter
    assert len(lists.simplified(3, 1).rules_) == 1


def test_the_first_rule_that_covers_a_row_decides(mixed):
    rules = find_rules(mixed, View(), 200, Job("", 200))
    for row in range(5):
        marks = rules_of_row(mixed, View(row=row), rules)
        decides = rules.decision_path(mixed.frame[row].select(mixed.names))[0]
        assert [i for i, mark in marks.items() if mark == "decides"] == ([decides] if decides >= 0 else [])
    view = View(row=0, edits={"hour": 23, "sky": "clear"})
    covering = [i for i, line in enumerate(rules.rules_) if line.rule.covers(mixed.edited_row(view))[0]]
    assert list(rules_of_row(mixed, view, rules)) == covering


def test_rules_of_dates_need_the_table(days):
    assert find_rules(days, View(), 50, Job("", 50)).rules_
    without = Workspace(days.explainer, days.frame.drop("kind"), None, "days")
    with pytest.raises(ValueError, match="The explainer was fitted on dates"):
        find_rules(without, View(), 50, Job("", 50))
