from suffice._show.picture import picture_line
from suffice.app.state.jobs import Job
from suffice.app.state.opening import demo_workspace
from suffice.app.state.rule_lists import find_rules
from suffice.app.state.view import View


def test_errors_and_precisions_of_numbers_are_written_as_elsewhere(open_app):
    diabetes = demo_workspace(1)
    page = open_app(diabetes).open("#rules-tiles .tile", tab="rules", row=3)
    page.wait_for_selector("#rule-grid .ag-row")
    pictures = [
        picture_line(line) for line in find_rules(diabetes, View(), 500, Job("", 500)).simplify(max_loss=0.01).rules_
    ]
    for name in ("output", "precision", "mae"):
        cells = page.locator(f"#rule-grid .ag-center-cols-container .ag-row[row-index='0'] [col-id={name}]")
        expected = getattr(pictures[0], name)
        assert cells.inner_text().strip() == (expected.text if name == "precision" else expected)


def test_global_rules_are_listed_searched_simplified_and_saved(open_app, cancer, tmp_path):
    app = open_app(cancer)
    page = app.open("#rules-tiles .tile", tab="rules", row=3)
    full = find_rules(cancer, View(), 500, Job("", 500))
    rules = full.simplify(max_loss=0.01)
    assert len(rules.rules_) > 2
    assert app.text("#rules-tiles .tile .large") == str(len(rules.rules_))
    page.wait_for_selector("#rule-grid .ag-row")
    row = cancer.row_of(View(row=3))
    covering = [i for i, line in enumerate(rules.rules_) if line.rule.covers(row)[0]]
    assert rules.decision_path(row)[0] == covering[0]
    assert app.text("#decided").startswith(f"Row 3: rule {covering[0] + 1} decides; {len(covering) - 1} other")
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
    page.fill("#rules-max", "2")
    app.wait_for_text("#rules-tiles .tile .large", "2")
    page.locator("#tolerance [role=slider]").focus()
    page.keyboard.press("Home")
    app.wait_for_text("#rules-tiles .tile .large", str(len(full.rules_)))
    page.click("text=One row")
    page.wait_for_selector("#pane-row:not([hidden]) #outcome")
    page.click("#scheme-toggle")
    page.wait_for_selector("html[data-mantine-color-scheme='dark']")
