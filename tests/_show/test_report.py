"""The report: what its page says, that it is one safe file, and how it draws, searches, sorts and pages."""

from __future__ import annotations

import html
import json
import math
import os
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer
from suffice._show.axis import missing_text
from suffice._show.picture import picture_line
from suffice._show.report import embed_json, make_report
from suffice.explanation import NOT_COMPLETE
from suffice.words import format_number, format_percent, format_value, join

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "{{data}} 'a' & \"b\" <!--",
    "\u2028 \u4e2d",
]
SEED = 0


def table(n):
    """Numbers, whole numbers, many labels, booleans, indicators, and gaps."""
    rng = np.random.default_rng(SEED)
    X = pd.DataFrame({"hour": rng.integers(0, 24, n), "temp": rng.normal(10, 8, n), "rain": rng.exponential(size=n)})
    X["town"] = rng.choice([f"town {k}" for k in range(16)], n)
    X["holiday"] = rng.random(n) < 0.3
    X.loc[rng.random(n) < 0.15, "temp"] = np.nan
    X.loc[rng.random(n) < 0.1, "town"] = None
    is_north = rng.random(n) < 0.5
    X["wind_N"], X["wind_S"] = is_north.astype(int), (~is_north).astype(int)
    return X


@pytest.fixture(scope="module")
def classes():
    X = table(500)
    is_busy = (X["hour"] > 11) & (X["town"].str.len() == 6) | (X["temp"] > 15) & ~X["holiday"]
    flip = np.random.default_rng(1).random(len(X)) < 0.05
    y = pd.Series(np.where(is_busy ^ flip, "busy", "calm"), name="traffic")
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, groups={"wind": ["wind_N", "wind_S"]}, pi=0.8, random_state=0).fit(X, y)
    return explainer.explain(X[:130], y[:130], progress=False)


@pytest.fixture(scope="module")
def numbers():
    X = table(500)
    y = pd.Series(10.0 * X["hour"] + 3 * X["temp"].fillna(0), name="count")
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    # Rows out of bag of 20 trees are few: with the counts of the paper more rows have rules to draw.
    explainer = SufficientExplainer(forest, alpha=0.2, pi=0.8, counts="bootstrap", min_size=1, random_state=0).fit(X, y)
    return explainer.explain(X[:60], y[:60] + np.where(np.arange(60) < 3, 500, 0), progress=False)


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(["a", *HOSTILE], 300) for name in HOSTILE})
    X["number"] = rng.normal(size=300)
    y = pd.Series(np.where(X[HOSTILE[0]] == "a", HOSTILE[0], HOSTILE[1]), name=HOSTILE[0])
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    return SufficientExplainer(forest, random_state=0).fit(X, y).explain(X[:30], progress=False)


def rows_of(gaps, n_rows):
    """The rows that a list of gaps stands for."""
    is_covered, *distances = gaps
    named = np.cumsum(distances).astype(int).tolist()
    return named if is_covered else sorted(set(range(n_rows)) - set(named))


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes


# --- the file --------------------------------------------------------------------------------------------------------


def test_a_report_is_written_where_it_was_asked_for(classes, tmp_path):
    path = classes.report(tmp_path / "report.html", title="A <title>")
    assert path == tmp_path / "report.html"
    page = path.read_text(encoding="utf-8")
    assert "<h1>A &lt;title&gt;</h1>" in page
    assert page == make_report(classes, title="A <title>")
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_report_has_the_rights_of_any_new_file(classes, tmp_path):
    (tmp_path / "other").touch()
    path = classes.report(str(tmp_path / "report.html"))
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_report_that_cannot_be_written_leaves_the_old_one(classes, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        classes.report(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_wrong_input_is_refused(classes, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"The folder of 'report.html' does not exist: .*nowhere"):
        classes.report(tmp_path / "nowhere" / "report.html")
    with pytest.raises(TypeError, match="`explanations` must be what `explain` returns, got list"):
        make_report(list(classes))


def test_the_page_says_what_was_explained_by_what(classes, numbers):
    page = html.unescape(re.sub(r"<[^>]+>", " ", make_report(classes).split('<script type="application/json"')[0]))
    text = re.sub(r"\s+", " ", page)
    n = sum(e.is_sufficient for e in classes)
    assert "Explanations of traffic" in text
    assert "130 rows explained by 500 training rows" in text
    assert f"{n} rows, probability 0.8" in text
    assert f"Forest disagrees {sum(not e.forest_agrees for e in classes)} " in text
    assert "500 rows, 7 columns, 6 variables" in text
    assert "RandomForestClassifier, 20 trees" in text
    assert re.search(r"By class recall and precision out of bag busy \([\d,]+ rows\) recall 0\.\d\d precision \d", text)
    assert "pi 0.8" in text
    assert "scikit-learn" in text
    assert "Interval" not in text
    assert "the forest's own 80 % interval" in html.unescape(make_report(numbers))


def test_a_forest_that_explains_itself_does_not_disagree():
    """The page said "Forest disagrees: 0" where nothing but the forest's own predictions was explained."""
    X = table(200)
    forest = RandomForestRegressor(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, random_state=0).fit(X, 10.0 * X["hour"])
    assert "Forest disagrees" not in make_report(explainer.explain(X[:5], progress=False))
    assert "Forest disagrees" in make_report(explainer.explain(X[:5], 10.0 * X["hour"][:5], progress=False))


def test_a_radius_is_shown_as_a_distance():
    X = table(200)
    forest = RandomForestRegressor(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, radius=20.0, random_state=0).fit(X, 10.0 * X["hour"])
    assert "the outcome plus or minus 20." in make_report(explainer.explain(X[:5], progress=False))


def test_the_data_are_those_of_the_explanations(classes):
    data = data_of(make_report(classes))
    rows, names = data["rows"], data["variables"]
    for i, explanation in enumerate(classes):
        assert data["classes"][rows["outcome"][i]] == explanation.outcome
        assert rows["nSets"][i] == len(explanation.sufficient_sets)
        listed = explanation.sufficient_sets[:5] or (explanation.shown_set,)
        sets = [data["sets"][s] for s in rows["sets"][i][::2]]
        assert [tuple(names[v] for v in held) for _, *held in sets] == [s.variables for s in listed]
        assert [text for text, *_ in sets] == [join(s.variables) or "nothing at all" for s in listed]
        assert (rows["box"][i] < 0) == (explanation.rule is None)
        for column, value in ((c, c["values"][i]) for c in data["columns"]):
            own = next(v for _, held in explanation.values for n, v in held if n == column["name"])
            text = "missing" if value is None else column["labels"][value] if "labels" in column else str(value)
            assert text == format_value(own)


def test_importances_are_ranked_as_everywhere_else(classes):
    """The page once listed equally important variables in another order than the cards and the text."""
    data = data_of(make_report(classes))
    n_ranked = 0
    for listed, n_sets, explanation in zip(data["rows"]["importance"], data["rows"]["nSets"], classes, strict=True):
        if n_sets < 2:
            assert listed == 0
            continue
        ranked = [(data["variables"][v], f"{n / 100:.2f}") for v, n in zip(listed[::2], listed[1::2], strict=True)]
        assert ranked == [(name, f"{value:.2f}") for name, value in explanation.ranked_importance()]
        assert (data["setsTexts"][str(n_sets)][0]) == f"{n_sets} sufficient sets"
        n_ranked += 1
    assert n_ranked > 10


def test_the_rules_of_the_report_are_those_of_the_global_model(classes, numbers):
    for explanations, rule_list in (
        (classes, GlobalRulesClassifier.from_explanations(classes)),
        (numbers, GlobalRulesRegressor.from_explanations(numbers)),
    ):
        data = data_of(make_report(explanations))
        rows, _ = explanations.explained
        assert len(data["lines"]) == len(rule_list.rules_)
        for line, written in zip(rule_list.rules_, data["lines"], strict=True):
            words, _, coverage, missing = data["boxes"][written["box"]]
            texts = [data["conditions"][k][1] if k >= 0 else data["keys"][-1 - k] for k in words]
            assert [*texts, written["conclusion"]] == [word.text for word in picture_line(line).sentence]
            assert (coverage, missing) == (f"{format_percent(line.coverage)} %", missing_text(line.rule.conditions))
            assert written["rows"] == np.count_nonzero(line.rule.covers(rows))
            assert rows_of(written["gaps"], rows.n_rows) == np.flatnonzero(line.rule.covers(rows)).tolist()
            assert written["coverage"] == pytest.approx(line.coverage, rel=1e-12)
            picture = picture_line(line)
            assert (written["conclusion"], written["precisionText"]) == (picture.conclusion, picture.precision.text)
            assert (written["precision"], written["note"]) == (pytest.approx(line.expected, rel=1e-12), picture.note)
        first = rule_list._decide(rows)
        assert data["rows"]["line"] == first.tolist()


def test_explanations_without_rules_make_a_report():
    X = table(200)
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, random_state=0).fit(X, X["hour"] > 11)
    page = make_report(explainer.explain(X[:10], rules=None, progress=False))
    assert "There are no rules" in page
    assert data_of(page)["lines"] == []


@pytest.fixture(scope="module")
def cut_short():
    """Explanations of which some searches ended early."""
    X = table(300)
    y = np.where((X["hour"] > 11) & (X["rain"] < 1), "busy", "calm")
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, max_sets=8, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="ended"):
        return explainer.explain(X[:40], progress=False)


def test_every_row_has_the_sentences_of_its_explanation(classes, cut_short):
    for explanations in (classes, cut_short):
        data = data_of(make_report(explanations))
        rows = data["rows"]
        assert [data["leads"][i] for i in rows["lead"]] == [f"{e.outcome_sentence} {e.lead}" for e in explanations]
        assert [data["advice"][i] for i in rows["advice"]] == [[a.text for a in e.advice] for e in explanations]
        supports = ["" if e.rule is None else e.rule.rows_text for e in explanations]
        assert [data["supports"][i] for i in rows["support"]] == supports


def test_a_report_says_which_searches_ended_early(cut_short, classes):
    """The report once left out that the search of a row had ended early."""
    page = make_report(cut_short)
    data = data_of(page)
    n_early = 40 - sum(cut_short.is_search_complete)
    assert n_early > 0
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert f"Search ended early {n_early} row{'s' if n_early > 1 else ''} that may have more sufficient sets" in text
    assert "The search for a row's sets stopped" in html.unescape(text)
    for care, explanation in zip(data["rows"]["care"], cut_short, strict=True):
        reasons, disagrees = data["cautions"][care]
        assert (NOT_COMPLETE in reasons) == (not explanation.is_search_complete)
        assert disagrees == (not explanation.forest_agrees)
    assert "Search ended early" not in make_report(classes)


def test_a_row_takes_few_bytes(classes):
    page = make_report(classes)
    empty = re.sub(r'(id="data">).*?(</script>)', r"\1\2", page, flags=re.S)
    assert len(page) - len(empty) < 400 * len(classes)  # the sentences take 160 bytes of a row
    assert len(empty) < 60_000


# --- safe ------------------------------------------------------------------------------------------------------------


def test_embedded_json_has_no_markup_and_reads_back():
    data = {"a": [*HOSTILE, "\u2028\u2029\x00\ud800", 1.5, None]}
    text = embed_json(data)
    assert not re.search("[<>&\u2028\u2029]", text)
    assert text.isascii()
    assert json.loads(text) == data
    with pytest.raises(ValueError, match="JSON compliant"):
        embed_json([math.nan])


def test_nothing_of_a_table_becomes_markup(hostile, tmp_path):
    page = make_report(hostile, title=HOSTILE[1])
    tags = Tags(page)
    assert tags.tags.count("script") == 2
    assert "img" not in tags.tags
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert data_of(page)["columns"][0]["name"] == HOSTILE[0]
    assert page.count("{{data}}") > 0  # a name that looks like a place of the template stays what it is
    assert page.count('id="data"') == 1


def test_a_page_needs_nothing_from_elsewhere(classes):
    page = make_report(classes)
    tags = Tags(page)
    assert not {"link", "img", "iframe", "object", "base"} & set(tags.tags)
    assert not [name for name, _ in tags.attributes if name == "src"]
    assert all(value.startswith("#") for name, value in tags.attributes if name == "href")
    assert not re.search(
        r"https?://|url\(|@import|fetch\(|XMLHttp|innerHTML|insertAdjacent|document\.write|eval\(", page
    )
    assert "default-src 'none'" in page


def test_a_broken_text_can_be_written(classes, tmp_path):
    """A label with half of a surrogate pair has no UTF-8: the page must be written all the same."""
    path = classes.report(tmp_path / "report.html", title="half \ud800 pair")
    assert "half " in path.read_text(encoding="utf-8")


# --- in a browser ----------------------------------------------------------------------------------------------------


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


def test_the_first_page_shows_the_first_rows(classes, show):
    page = show(classes)
    assert rows_shown(page) == list(range(20))
    assert page.inner_text("#row-count") == "130 rows"
    assert page.inner_text("#row-pager .count") == "Page 1 of 7"


def test_pages_turn(classes, show):
    page = show(classes)
    pager = page.locator("#row-pager")
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


def test_a_search_finds_values_outcomes_and_rules(classes, show):
    page = show(classes)
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


def test_rows_are_filtered(classes, show):
    page = show(classes)
    explanations = list(classes)
    for field, option, keeps in [
        ("outcome", "calm", lambda e: e.outcome == "calm"),
        ("sufficient", "found", lambda e: e.is_sufficient),
        ("sufficient", "none", lambda e: not e.is_sufficient),
        ("agrees", "disagrees", lambda e: not e.forest_agrees),
        ("variable", "wind", lambda e: "wind" in e.shown_set.variables),
        ("variable", "hour", lambda e: "hour" in e.shown_set.variables),
    ]:
        page.select_option(f"#{field}", label=option)
        wanted = [i for i, e in enumerate(explanations) if keeps(e)]
        assert page.inner_text("#row-count") == count_text(len(wanted), 130)
        assert rows_shown(page) == wanted[:20]
        page.get_by_text("Clear").click()
        wait_for_count(page, "130 rows")
    assert 0 < sum(not e.is_sufficient for e in explanations) < 130
    assert 0 < sum(not e.forest_agrees for e in explanations) < 130


def test_numbers_are_filtered_by_their_ends(numbers, show):
    page = show(numbers)
    page.fill("#outcome-from", "100")
    page.fill("#outcome-to", "150.5")
    wanted = [i for i, e in enumerate(numbers) if 100 <= e.outcome <= 150.5]
    assert wanted
    wait_for_count(page, count_text(len(wanted), 60))
    assert rows_shown(page) == wanted


def test_rows_are_ordered(classes, show):
    page = show(classes)
    page.select_option("#order", "covers")
    coverage = [-1 if e.rule is None else e.rule.coverage for e in classes]
    assert rows_shown(page) == sorted(range(130), key=lambda i: (-coverage[i], i))[:20]
    page.select_option("#order", "unsure")
    sdp = [math.floor(100 * e.shown_set.sdp + 1e-7) for e in classes]
    assert rows_shown(page) == sorted(range(130), key=lambda i: (sdp[i], i))[:20]


def places(page):
    return page.eval_on_selector_all("#rule-table td.place", "cells => cells.map(c => Number(c.textContent))")


def test_rules_are_sorted(classes, show):
    page = show(classes)
    lines = GlobalRulesClassifier.from_explanations(classes).rules_
    header = page.locator("#rule-table th")
    by_coverage = sorted(range(len(lines)), key=lambda k: (-lines[k].coverage, k))
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


def test_rules_are_searched(classes, show):
    page = show(classes)
    lines = GlobalRulesClassifier.from_explanations(classes).rules_
    page.fill("#rule-search", "hour then busy")
    wanted = [k + 1 for k, line in enumerate(lines) if "hour" in line.text and line.output == "busy"]
    assert 0 < len(wanted) < len(lines)
    wait_for_count(page, count_text(len(wanted), len(lines), "rule"), of="rule")
    page.locator("#rule-table th button").first.click()
    assert places(page) == wanted[:20]


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_the_rows_of_every_rule_are_those_that_it_covers(kind, show, request):
    explanations = request.getfixturevalue(kind)
    page = show(explanations)
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
            notes = [note.removesuffix(explanation.bound_note).strip() for note in card["notes"]]
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
    assert n_drawn > 5


def test_the_page_shows_that_a_search_ended_early(cut_short, show):
    page = show(cut_short)
    for i in rows_shown(page):
        care = page.locator(f"#row-{i} .care")
        text = care.inner_text() if care.count() else ""
        assert (NOT_COMPLETE in text) == (not cut_short[i].is_search_complete)
        assert ("The forest predicts" in text) == (not cut_short[i].forest_agrees)


def test_all_values_of_a_row_unfold(classes, show):
    page = show(classes)
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


@pytest.mark.parametrize("width", [340, 600, 720, 1600])
def test_nothing_is_wider_than_the_window(classes, hostile, show, width):
    for explanations in (classes, hostile):
        page = show(explanations)
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_printed_page_leaves_the_controls_out(classes, show):
    page = show(classes)
    page.emulate_media(media="print")
    assert not page.locator("#row-controls").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator("#row-0").is_visible()


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


@pytest.fixture(scope="module")
def reasoned():
    X = table(300)
    y = pd.Series(np.where(X["hour"] > 11, "busy", "calm"), name="traffic")
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    return X, SufficientExplainer(forest, pi=0.8, random_state=0).fit(X, y)


def test_the_cards_of_rows_state_their_reasons(reasoned):
    X, explainer = reasoned
    explanations = explainer.explain(X[:20], progress=False)
    reasons = explainer.reasons(X[:20], adverse="busy", progress=False)
    page = make_report(explanations, reasons=reasons)
    data = data_of(page)
    for i, answer in enumerate(reasons):
        assert data["reasons"][data["rows"]["reasons"][i]] == [answer.lead, *map(str, answer.reasons)]
    assert "<h2>Reasons</h2>" in page
    assert "Reasons</h2>" not in make_report(explanations)
    assert "reasons" not in data_of(make_report(explanations))["rows"]


def test_reasons_of_other_rows_are_refused(reasoned):
    X, explainer = reasoned
    explanations = explainer.explain(X[:20], progress=False)
    with pytest.raises(TypeError, match=r"`reasons` must be what `explainer.reasons` returns, got list"):
        make_report(explanations, reasons=[])
    with pytest.raises(ValueError, match="those of 3 rows, but 20 are explained"):
        make_report(explanations, reasons=explainer.reasons(X[:3], progress=False))
    with pytest.raises(ValueError, match="`reasons` are those of other rows: row 0 has other values"):
        make_report(explanations, reasons=explainer.reasons(X[1:21].reset_index(drop=True), progress=False))
