"""The report: what its page says, and that it is one safe file."""

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
from reported import HOSTILE, data_of, table
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer
from suffice._show.axis import missing_text
from suffice._show.picture import picture_line
from suffice._show.report import embed_json, make_report
from suffice._text import format_percent, join
from suffice.explaining.sentences import NOT_COMPLETE


def rows_of(gaps, n_rows):
    """The rows that a list of gaps stands for."""
    is_covered, *distances = gaps
    named = np.cumsum(distances).astype(int).tolist()
    return named if is_covered else sorted(set(range(n_rows)) - set(named))


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


def test_the_page_says_what_was_explained_by_what(classes, numbers):
    page = html.unescape(re.sub(r"<[^>]+>", " ", make_report(classes).split('<script type="application/json"')[0]))
    text = re.sub(r"\s+", " ", page)
    n = sum(e.is_sufficient for e in classes)
    assert "Explanations of traffic" in text
    assert "130 rows explained by 500 training rows" in text
    assert f"{n} rows, probability 0.73 for busy and 0.8 for calm" in text
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
        listed = explanation.sufficient_sets[:5] or (explanation.best_set,)
        sets = [data["sets"][s] for s in rows["sets"][i][::2]]
        assert [tuple(names[v] for v in held) for _, *held in sets] == [s.variables for s in listed]
        assert [text for text, *_ in sets] == [join(s.variables) or "nothing at all" for s in listed]
        assert (rows["box"][i] < 0) == (explanation.rule is None)
        for column, value in ((c, c["values"][i]) for c in data["columns"]):
            own = next(v for _, held in explanation.values for n, v in held if n == column["name"])
            text = "missing" if value is None else column["labels"][value] if "labels" in column else str(value)
            assert text == explanation.sentences.value_text(column["name"], own)


def test_importances_are_ranked_as_everywhere_else(classes):
    """The page once listed equally important variables in another order than the cards and the text."""
    data = data_of(make_report(classes))
    n_ranked = 0
    for listed, n_sets, explanation in zip(data["rows"]["importance"], data["rows"]["nSets"], classes, strict=True):
        if not explanation.importance_differs:
            assert listed == 0
            continue
        ranked = [(data["variables"][v], f"{n / 100:.2f}") for v, n in zip(listed[::2], listed[1::2], strict=True)]
        assert ranked == [(name, f"{value:.2f}") for name, value in explanation.ranked_importance()]
        assert (data["setsTexts"][str(n_sets)][0]) == f"{n_sets} sufficient sets"
        n_ranked += 1
    assert n_ranked > 2


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
            assert written["trainingRows"] == line.rule.support > 0
            assert rows_of(written["gaps"], rows.n_rows) == np.flatnonzero(line.rule.covers(rows)).tolist()
            assert written["coverage"] == pytest.approx(line.coverage, rel=1e-12)
            picture = picture_line(line)
            assert (written["conclusion"], written["precisionText"]) == (picture.conclusion, picture.precision.text)
            assert (written["precision"], written["note"]) == (pytest.approx(line.expected, rel=1e-12), picture.note)
        first = rule_list.decision_path(rows)
        assert data["rows"]["line"] == first.tolist()


def test_explanations_without_rules_make_a_report():
    X = table(200)
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, random_state=0).fit(X, X["hour"] > 11)
    page = make_report(explainer.explain(X[:10], rules=None, progress=False))
    assert "There are no rules" in page
    assert data_of(page)["lines"] == []


def test_every_row_has_the_sentences_of_its_explanation(classes, cut_short):
    for explanations in (classes, cut_short):
        data = data_of(make_report(explanations))
        rows = data["rows"]
        assert [data["leads"][i] for i in rows["lead"]] == [
            f"{e.sentences.outcome_sentence} {e.sentences.lead}" for e in explanations
        ]
        assert [data["advice"][i] for i in rows["advice"]] == [e.sentences.advice for e in explanations]
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


# --- reasons ---------------------------------------------------------------------------------------------------------


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
