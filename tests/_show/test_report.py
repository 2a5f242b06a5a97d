"""The report: what its page says, and that it is one safe file."""

from __future__ import annotations

import html
import os
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from rare_classes import rare_explanations
from reported import HOSTILE, cards_of, table, text_of
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer
from suffice._show.cards import explanation_parts, rule_sentence
from suffice._show.overview import make_overview
from suffice._show.picture import picture_line
from suffice._show.report import make_report, report_rules
from suffice._text import format_share, plain_advice
from suffice.explaining.sentences import NOT_COMPLETE


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
    text = text_of(make_report(classes))
    n = sum(e.is_sufficient for e in classes)
    assert "Explanations of traffic" in text
    assert "130 rows explained by 500 training rows" in text
    assert f"{n} rows, probability 0.73 for busy and 0.8 for calm" in text
    assert f"does not agree with the outcome of {sum(not e.forest_agrees for e in classes)} rows" in text
    assert "500 rows, 7 columns, 6 variables" in text
    assert "Forest 20 trees" in text
    assert "Outcome that matters busy" in text
    assert "scikit-learn" in text
    assert "Interval" not in text
    assert "the forest's own 80 % interval" in text_of(make_report(numbers))


def test_the_overview_has_a_panel_for_each_outcome(classes):
    page = make_report(classes)
    text = text_of(page.partition('id="overview"')[2].partition("</section>")[0])
    for of_outcome in make_overview(classes):
        assert f"{of_outcome.label} {of_outcome.note}" in text
    assert text.index("busy ") < text.index("calm ")
    assert "How well busy is predicted" not in text


def test_a_radius_is_shown_as_a_distance():
    X = table(200)
    forest = RandomForestRegressor(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, radius=20.0, random_state=0).fit(X, 10.0 * X["hour"])
    assert "the outcome plus or minus 20." in make_report(explainer.explain(X[:5], progress=False))


def test_every_row_has_its_card(classes, numbers, cut_short):
    for explanations in (classes, numbers, cut_short):
        cards = cards_of(make_report(explanations))
        assert sorted(cards) == list(range(len(explanations)))
        for i, e in enumerate(explanations):
            text = text_of(cards[i][1])
            assert f"{e.sentences.outcome_sentence} {e.sentences.lead}" in text
            assert (NOT_COMPLETE in text) == (not e.is_search_complete)
            assert all(
                f"{name} {e.sentences.value_text(name, own)}" in text for _, held in e.values for name, own in held
            )
            if e.rule is not None:
                assert e.rule.rows_text in text
            states = {"disagrees": not e.forest_agrees, "set": e.is_sufficient, "contested": e.is_contested}
            assert {state for state in cards[i][0]["state"].split() if state != "none"} == {
                s for s in states if states[s]
            }
            named = [explanations.variable_names[int(v)] for v in cards[i][0]["variable"].split()]
            assert named == list(e.best_set.variables)


def test_rows_are_drawn_as_their_cards_are(classes):
    cards = cards_of(make_report(classes))
    for i, e in enumerate(classes[:20]):
        own = e._repr_html_().partition("</style>")[2].removesuffix("</div>")
        shared = re.sub(r'class="outline s\d+"', 'class="outline"', cards[i][1].partition("<details>")[0])
        assert shared == re.sub(r' style="clip-path:[^"]+"', "", "".join(explanation_parts(e, reword=plain_advice)))
        if not e.sentences.advice:
            assert shared == re.sub(r' style="clip-path:[^"]+"', "", own)


def test_cards_of_the_outcome_that_matters_come_first(classes):
    assert classes.fitted.focus == "busy"
    order = list(cards_of(make_report(classes)))
    n = int(np.count_nonzero(classes.has_set & (classes.outcomes == "busy")))
    assert n > 10
    assert all(classes.has_set[i] and classes.outcomes[i] == "busy" for i in order[:n])
    assert order[n:] == sorted(order[n:])


def test_the_rules_of_the_report_are_those_of_the_global_model(classes, numbers):
    for explanations, rule_list in (
        (classes, GlobalRulesClassifier.from_explanations(classes)),
        (numbers, GlobalRulesRegressor.from_explanations(numbers)),
    ):
        page = make_report(explanations)
        rows, _ = explanations.explained
        assert sorted(map(str, report_rules(explanations))) == sorted(map(str, rule_list.rules_))
        coverages = [line.coverage for line in report_rules(explanations)]
        assert coverages == sorted(coverages, reverse=True)
        written = re.findall(r"<tr><td>.*?</tr>", page.partition('id="rules"')[2].partition("</section>")[0], re.S)
        assert len(written) == len(rule_list.rules_)
        texts = {text_of(line): line for line in written}
        for line in rule_list.rules_:
            picture = picture_line(line)
            sentence = text_of(rule_sentence(line.rule.conditions, picture.conclusion))
            text = next(text for text in texts if text.startswith(f"{sentence} ") and picture.coverage.text in text)
            assert f"{picture.precision.text}" in text
            covered = np.flatnonzero(line.rule.covers(rows)).tolist()
            named = re.search(r'data-rows="([\d ]*)"', texts[text])
            assert ([] if named is None else list(map(int, named[1].split()))) == covered


def test_rules_of_the_outcome_that_matters_come_first_beside_their_base_rate(classes):
    """The first twenty rules of a report all said the common class."""
    text = text_of(make_report(classes)).partition("The distinct rules")[2]
    assert 0 < text.index("busy: ") < text.index("calm: ")
    base = np.mean(classes.training[1] == "busy")
    assert base != 0.5
    assert f"{format_share(base)} of all rows" in text.partition("calm: ")[0]


def test_explanations_without_rules_make_a_report():
    X = table(200)
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, random_state=0).fit(X, X["hour"] > 11)
    page = make_report(explainer.explain(X[:10], rules=None, progress=False))
    assert 'id="rules"' not in page
    assert "#rules" not in page


def test_no_parameter_of_python_stands_on_the_page(classes, numbers, cut_short):
    """The page for readers said `n_candidates=18` and `levels='odds'`."""
    offered = rare_explanations()
    assert any("With pi=" in e.sentences.advice for e in offered)
    for explanations in (classes, numbers, cut_short, offered):
        text = text_of(make_report(explanations))
        parameters = {*SufficientExplainer().get_params(), *explanations.about["settings"]} - {"counts", "forest"}
        named = {name for name in parameters if "_" in name or name in ("pi", "alpha")}
        assert not [name for name in named if re.search(rf"\b{name}\b", text)]
        assert not re.search(r"\w=['\d]|`", text)


def test_many_rows_take_little_and_more_are_counted(classes, monkeypatch):
    page = make_report(classes)
    assert len(page) < 9_000 * len(classes)  # 200 rows stay under 2 MB
    assert page.count("clip-path") <= 3  # the silhouette of each column of numbers stands once
    monkeypatch.setattr("suffice._show.report.MAX_CARDS", 7)
    page = make_report(classes)
    assert len(cards_of(page)) == 7
    assert "The first 7 rows are drawn; the figures above count all 130." in page


# --- safe ------------------------------------------------------------------------------------------------------------


def test_nothing_of_a_table_becomes_markup(hostile, tmp_path):
    page = make_report(hostile, title=HOSTILE[1])
    tags = Tags(page)
    assert tags.tags.count("script") == 1
    assert "img" not in tags.tags
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert html.escape(HOSTILE[0]) in page
    assert page.count("{{data}}") > 0  # a name that looks like a place of the template stays what it is


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
    cards = cards_of(page)
    for i, answer in enumerate(reasons):
        written = " ".join(map(str, answer.reasons)) or answer.lead
        assert f"Reasons {' '.join(written.split())}" in text_of(cards[i][1])
    assert 'id="reasons"' in page
    assert 'id="reasons"' not in make_report(explanations)


def test_reasons_of_other_rows_are_refused(reasoned):
    X, explainer = reasoned
    explanations = explainer.explain(X[:20], progress=False)
    with pytest.raises(TypeError, match=r"`reasons` must be what `explainer.reasons` returns, got list"):
        make_report(explanations, reasons=[])
    with pytest.raises(ValueError, match="those of 3 rows, but 20 are explained"):
        make_report(explanations, reasons=explainer.reasons(X[:3], progress=False))
    with pytest.raises(ValueError, match="`reasons` are those of other rows: row 0 has other values"):
        make_report(explanations, reasons=explainer.reasons(X[1:21].reset_index(drop=True), progress=False))
