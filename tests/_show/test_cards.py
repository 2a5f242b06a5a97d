"""The cards that notebooks show: what they say, what they draw, and that nothing of a table becomes markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import (
    Explanation,
    GlobalRulesClassifier,
    GlobalRulesRegressor,
    Rule,
    SufficientExplainer,
    SufficientSet,
)
from suffice._table.encoding import Column
from suffice._text import counted, printable
from suffice.explaining.rule import Condition
from suffice.explaining.sentences import NOT_COMPLETE

INF = np.inf
TOWNS = tuple(f"town {letter}" for letter in "ABCDEFGHIJKLMNOPQRST")
TABLE = {"table", "thead", "tbody", "tr", "th", "td"}
TAGS = {"div", "span", "style", "b", "ul", "li", *TABLE}
HOSTILE = [
    '<script>alert("1")</script>',
    "</style><img src=x onerror=alert(1)>",
    "{{data}} 'a' & \"b\"",
    "e\u0301 \u2028 \u4e2d",
]

HOUR = Column("hour", 0, "whole", extent=(0.0, 23.0))
TEMP = Column("temp", 1, "number", extent=(-10.0, 30.0))
TOWN = Column("town", 2, "category", labels=tuple((town,) for town in TOWNS), extent=(0.0, 19.0))
COLUMNS = (HOUR, TEMP, TOWN)


class Read(HTMLParser):
    """The tags of a piece of HTML, its elements by class, and its text."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.elements, self.texts, self.open = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open, "some element is not closed"

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.tags.append(tag)
        self.open.append(tag)
        self.elements.append((set((named.get("class") or "").split()), named, []))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)
            self.elements[-1][2].append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def all(self, name):
        return [(named, "".join(texts)) for classes, named, texts in self.elements if name in classes]

    def styles(self, name):
        return [named["style"] for named, _ in self.all(name)]


def read(shown):
    return Read(shown._repr_html_())


def rule(*conditions, **changes):
    figures = {"outcome": "busy", "interval": None, "sdp": 0.95, "support": 12, "coverage": 0.12, "precision": 1.0}
    rest = {"mae": None, "optimal": True, "bound": 12.0, "everywhere": False, "target": "traffic"}
    return Rule(conditions, **{**figures, **rest, **changes})


def explanation(*conditions, hour=6, temp=10.0, town="town C", **changes):
    values = (("hour", (("hour", hour),)), ("temp", (("temp", temp),)), ("town", (("town", town),)))
    sets = (SufficientSet(("hour",), 0.95), SufficientSet(("temp", "town"), 0.91))
    plain = {"outcome": "busy", "interval": None, "pi": 0.9, "sufficient_sets": sets, "best_set": sets[0]}
    rules = (rule(*conditions),) if conditions else ()
    return Explanation(**{**plain, "values": values, "rules": rules, "columns": COLUMNS, **changes})


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"hour": rng.integers(0, 24, 300), "temp": rng.normal(size=300), "town": rng.choice(TOWNS[:3], 300)}
    )
    y = pd.Series(np.where((X["hour"] > 11) & (X["town"] != "town A"), "busy", "calm"), name="traffic")
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, random_state=0).fit(X, y)
    return explainer, explainer.explain(X[:60], y[:60], progress=False)


@pytest.fixture(scope="module")
def fitted_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"hour": rng.integers(0, 24, 300), "temp": rng.normal(size=300)})
    y = pd.Series(10.0 * X["hour"] + X["temp"], name="count")
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    # The rows out of bag of 20 trees are too few for rules of each row; what is shown does not depend on the counts.
    explainer = SufficientExplainer(forest, counts="bootstrap", random_state=0).fit(X, y)
    return explainer, explainer.explain(X[:40], y[:40], progress=False)


# --- an explanation --------------------------------------------------------------------------------------------------


def test_a_card_shows_the_outcome_the_rule_and_its_figures():
    text = read(explanation(Condition("hour", 5.0, 9.0, True, True), Condition("temp", high=12.5))).text
    assert "Outcome, observed busy" in text
    assert "IF 5 <= hour <= 9 AND temp <= 12.5 THEN busy" in text
    assert "SDP needed 0.9 0.95 coverage 12 % precision" in text
    assert "1 of 3 variables is enough" in text
    assert "None of them may be missing." in text
    assert "Read with care" not in text


def test_a_card_lists_the_sufficient_sets_and_the_importance():
    sets = (SufficientSet(("hour", "temp"), 0.95), SufficientSet(("temp", "town"), 0.91))
    card = read(explanation(Condition("hour", high=9.0), sufficient_sets=sets, best_set=sets[0]))
    assert "2 sufficient sets each alone is enough hour and temp 0.95 temp and town 0.91" in card.text
    assert "Importance share of the smallest sufficient sets with the variable" in card.text
    assert "temp 1.00 hour 0.50 town 0.50" in card.text
    assert card.styles("importance") == ["width:100%", "width:50%", "width:50%"]


def test_larger_sets_are_listed_but_do_not_count_for_the_importance():
    card = read(explanation(Condition("hour", high=9.0)))
    assert "2 sufficient sets each alone is enough hour 0.95 temp and town 0.91" in card.text
    assert "Importance" not in card.text  # one smallest set: its variables have 1


def test_a_card_shows_five_sets_and_says_how_many_more_there_are():
    sets = tuple(SufficientSet((name,), 0.99 - i / 100) for i, name in enumerate(["hour", "temp", "town"] * 3))
    text = read(explanation(sufficient_sets=sets)).text
    assert "9 sufficient sets" in text
    assert "and 4 more" in text


def test_the_importance_is_left_out_where_it_says_nothing():
    assert "Importance" not in read(explanation(sufficient_sets=(SufficientSet(("hour",), 0.95),))).text


def test_a_number_shows_its_interval():
    outcome = {"outcome": 20.123456789, "interval": (12.0, 31.00000001)}
    shown = explanation(
        outcome=20.123456789, interval=(12.0, 31.00000001), rules=(rule(Condition("temp", 1.0), **outcome),)
    )
    text = read(shown).text
    assert "20.123 kept within [12, 31]" in text
    assert "THEN traffic in [12, 31]" in text


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({"prediction": "calm"}, "Read with care. The forest predicts calm here."),
        (
            {"outcome": 5.0, "interval": (1.0, 6.0), "prediction": 7.25},
            "Read with care. The forest predicts 7.25 here.",
        ),
        ({"outcome": 9.0, "interval": (1.0, 6.0)}, "Read with care. The outcome lies outside the interval"),
        ({"is_search_complete": False}, f"Read with care. {NOT_COMPLETE}"),
        ({"prediction": "calm", "is_search_complete": False}, f"The forest predicts calm here. {NOT_COMPLETE}"),
    ],
)
def test_a_card_warns_where_the_forest_disagrees_and_where_the_search_ended_early(changes, warning):
    assert warning in read(explanation(**changes)).text


def test_without_a_sufficient_set_the_nearest_is_shown():
    best = SufficientSet(("temp", "town"), 0.899)
    card = read(explanation(sufficient_sets=(), best_set=best, offered_pi=0.85))
    assert "no sufficient set" in card.text
    assert "No set of the candidates keeps it with probability 0.9." in card.text
    assert "Nearest set" in card.text
    assert "With pi=0.85, temp and town are enough." in card.text
    assert [text for _, text in card.all("name")] == ["temp", "town"]
    assert "SDP needed 0.9 0.89" in card.text
    assert "sufficient sets" not in card.text
    assert card.styles("tick") == ["left:90%"]
    assert "With pi" not in read(explanation(sufficient_sets=(), best_set=best)).text


def test_without_a_rule_the_values_of_the_first_set_are_shown():
    card = read(explanation())
    assert "hour = 6 alone is enough to keep it with probability 0.95 (0.9 is needed)." in card.text
    assert [text for _, text in card.all("name")] == ["hour"]


def test_the_card_of_an_outcome_that_needs_no_variable():
    nothing = SufficientSet((), 0.95)
    text = read(explanation(sufficient_sets=(nothing,), best_set=nothing, rules=(rule(),))).text
    assert "no variable is needed" in text
    assert "ALWAYS busy" in text
    assert "1 sufficient set" not in text


# --- drawings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "band", "sides"),
    [
        (Condition("temp", 0.0, 20.0), "left:25%;right:25%", {"from", "to"}),
        (Condition("temp", 0.0), "left:25%;right:0%", {"from"}),
        (Condition("temp", high=-2.0), "left:0%;right:80%", {"to"}),
        (Condition("temp", -50.0, 20.0), "left:0%;right:25%", {"from", "to"}),
        # 24 whole numbers, each with half a step on either side
        (Condition("hour", 6.0, 11.0, True, True), "left:25%;right:50%", {"from", "to"}),
        (Condition("hour", 5.0, 12.0, False, False), "left:25%;right:50%", {"from", "to"}),
        (Condition("hour", 5.5), "left:25%;right:0%", {"from"}),
    ],
)
def test_the_band_lies_where_the_condition_does(condition, band, sides):
    [(classes, named, _)] = [element for element in read(explanation(condition)).elements if "band" in element[0]]
    assert named["style"] == band
    assert classes == {"band", *sides}


def test_the_row_is_a_dot_with_its_value():
    card = read(explanation(Condition("temp", 0.0)))
    assert card.styles("dot") == ["left:50%"]
    assert [text for _, text in card.all("value")] == ["10"]
    assert [text for _, text in card.all("end")] == ["-10", "30"]


def test_a_value_beyond_the_range_stays_on_the_line():
    assert read(explanation(Condition("temp", 0.0), temp=99.0)).styles("dot") == ["left:100%"]


def test_a_missing_number_has_no_dot():
    card = read(explanation(Condition("temp", 0.0, missing=True), temp=None))
    assert card.all("dot") == []
    assert [text for _, text in card.all("value")] == ["missing"]
    assert "A missing value is allowed." in card.text


def test_a_column_with_one_value_is_drawn():
    column = Column("temp", 1, extent=(3.0, 3.0))
    card = read(explanation(Condition("temp", 1.0), temp=3.0, columns=(HOUR, column, TOWN)))
    assert card.styles("dot") == ["left:50%"]
    assert card.styles("band") == ["left:0%;right:0%"]


@pytest.mark.parametrize("columns", [(), (HOUR, Column("temp", 1), TOWN)])
def test_a_column_of_unknown_range_is_described_in_words(columns):
    card = read(explanation(Condition("temp", 1.0), columns=columns))
    assert card.all("track") == []
    assert "temp > 1 (here 10)" in card.text


def test_labels_are_chips():
    column = Column("town", 2, "category", labels=(("x",), ("y",), ("z",)))
    shown = explanation(Condition("town", labels=("x", "z")), town="z", columns=(HOUR, TEMP, column))
    chips = {text: named["class"] for named, text in read(shown).all("chip")}
    assert chips == {"x": "chip in", "y": "chip", "z": "chip own in"}


def test_a_condition_that_excludes_labels_fills_the_others():
    column = Column("town", 2, "category", labels=(("x",), ("y", "q"), ("z",)), rare=1)
    shown = explanation(Condition("town", labels=("x",), excluded=True), town="x", columns=(HOUR, TEMP, column))
    chips = {text: named["class"] for named, text in read(shown).all("chip")}
    assert chips == {"x": "chip own", "2 rare ones": "chip in", "z": "chip in"}


@pytest.mark.parametrize(
    ("town", "missing", "expected"),
    [(None, True, "chip own in"), (None, False, "chip own"), ("town B", True, "chip in"), ("town B", False, None)],
)
def test_a_missing_label_is_a_separate_chip(town, missing, expected):
    shown = explanation(Condition("town", labels=("town B",), missing=missing), town=town)
    chips = {text: named["class"] for named, text in read(shown).all("chip")}
    assert chips.get("missing") == expected


def test_long_lists_of_labels_are_cut():
    card = read(explanation(Condition("town", labels=TOWNS[:15]), town="town T"))
    assert "town in {town A, town B, town C, town D, town E, town F and 9 more}" in card.text
    chips = [(text, named["class"]) for named, text in card.all("chip")]
    assert len(chips) == 12
    assert chips[-1] == ("town T", "chip own")
    assert sum("in" in kind.split() for _, kind in chips) == 7
    assert "and 8 more, 8 of them in the rule" in card.text


def test_indicators_that_are_off_are_not_drawn():
    values = (("wind", (("wind_N", 0), ("wind_S", 1), ("wind_W", 0))),)
    shown = explanation(values=values, sufficient_sets=(), best_set=SufficientSet(("wind",), 0.5), columns=())
    assert [text for _, text in read(shown).all("name")] == ["wind_S"]


# --- texts -----------------------------------------------------------------------------------------------------------


def test_numbers_of_things():
    assert [counted(n, "row") for n in (0, 1, 1000)] == ["0 rows", "1 row", "1,000 rows"]


# --- other cards -----------------------------------------------------------------------------------------------------


def test_the_card_of_a_rule():
    text = read(rule(Condition("hour", 5.5), Condition("town", labels=("x", "y")), everywhere=True)).text
    assert "IF hour > 5.5 AND town in {x, y} THEN busy" in text
    assert "SDP 0.95 coverage 12 % precision" in text
    assert "12 training rows (12 % of all) are within these bounds. These are few rows" in text
    assert "No other such rule covers more." in text
    assert "proven for every point" in text


def test_the_card_of_a_rule_that_excludes_labels_says_so():
    card = read(rule(Condition("town", labels=("x",), excluded=True), optimal=False))
    assert "town not x" in card.text
    assert [named["class"] for named, _ in card.all("chip")] == ["chip"]
    assert "A rule that covers more may exist." in card.text


def test_the_card_of_a_rule_without_conditions():
    assert "ALWAYS busy" in read(rule()).text


def test_the_card_of_all_explanations(fitted):
    explainer, explanations = fitted
    text = read(explanations).text
    n = sum(e.is_sufficient for e in explanations)
    assert f"Explanations of traffic 60 rows {n} of 60 with a sufficient set" in text
    assert "fidelity of the forest (out-of-bag accuracy)" in text
    assert "Mean importance share of the smallest sufficient sets with the variable" in text
    n_single = sum(len(e.best_set.variables) == 1 for e in explanations if e.is_sufficient)
    assert f"rows by its size 1 variable {n_single} " in text
    assert all(e.forest_agrees for e in explanations)
    assert "does not agree with the outcome" not in text
    rows = pd.DataFrame([dict(column for _, held in e.values for column in held) for e in explanations[:3]])
    contradicted = ["calm" if e.outcome == "busy" else "busy" for e in explanations[:3]]
    text = read(explainer.explain(rows, contradicted, progress=False)).text
    assert "does not agree with the outcome of 3 rows" in text


def test_the_card_of_all_explanations_says_how_many_searches_ended_early(fitted):
    """The card once left out that searches had ended early."""
    explainer, explanations = fitted
    assert "ended" not in read(explanations).text
    cut_short = explainer.with_settings(max_sets=1)
    X, _ = explainer.training
    with pytest.warns(UserWarning, match="ended"):
        explanations = cut_short.explain(X, progress=False)
    n = len(explanations) - sum(explanations.is_search_complete)
    assert n > 0
    assert f"The search ended before all sets of {counted(n, 'row')} were looked at" in read(explanations).text


def test_the_card_of_a_rule_list_shows_its_first_rules(fitted_numbers):
    _, explanations = fitted_numbers
    rule_list = GlobalRulesRegressor.from_explanations(explanations, min_precision=-INF, min_support=1)
    card = read(rule_list)
    n = len(rule_list.rules_)
    assert n > 10
    assert f"GlobalRulesRegressor {n} rules" in card.text
    assert f"And {n - 10} more. The first that covers a row decides. All other rows: count = " in card.text
    assert card.tags.count("tr") == 11  # with the head
    assert "THEN count = " in card.text


def test_the_card_of_a_rule_list_says_what_decides_other_rows(fitted):
    _, explanations = fitted
    text = read(GlobalRulesClassifier.from_explanations(explanations)).text
    assert "All other rows: " in text
    abstaining = GlobalRulesClassifier.from_explanations(explanations, abstain=True)
    assert "No other row is decided." in read(abstaining).text
    assert re.search(r"coverage \d+ % of 300 rows", text)


def test_the_card_of_a_rule_list_without_rules(fitted):
    _, explanations = fitted
    assert "There is no rule." in read(GlobalRulesClassifier.from_explanations(explanations, min_support=301)).text


def test_the_card_of_an_explainer(fitted):
    text = read(fitted[0]).text
    assert "SufficientExplainer explains traffic" in text
    assert "300 rows, 3 columns" in text
    assert "RandomForestClassifier, 20 trees" in text
    assert "accuracy" in text
    assert "of busy" in text


@pytest.mark.parametrize("unfitted", [SufficientExplainer(), GlobalRulesClassifier(), GlobalRulesRegressor()])
def test_an_estimator_that_is_not_fitted_shows_scikit_learns_diagram(unfitted):
    for shown in (unfitted._repr_html_(), unfitted._repr_mimebundle_()["text/html"]):
        assert "sk-container" in shown
        assert "suffice card" not in shown


def test_a_fitted_estimator_shows_its_card(fitted):
    explainer, explanations = fitted
    for shown in (explainer, GlobalRulesClassifier.from_explanations(explanations)):
        bundle = shown._repr_mimebundle_()
        assert bundle["text/html"] == shown._repr_html_()
        assert "suffice card" in bundle["text/html"]
        assert bundle["text/plain"] == repr(shown)


def test_a_user_who_wants_text_gets_text(fitted):
    with sklearn.config_context(display="text"):
        assert set(fitted[0]._repr_mimebundle_()) == {"text/plain"}


# --- safe and self-contained -----------------------------------------------------------------------------------------


def cards_of(fitted, fitted_numbers):
    for explainer, explanations in (fitted, fitted_numbers):
        yield from (explainer, explanations, *explanations[:5], next(r for r in explanations.rules if r))
    yield GlobalRulesClassifier.from_explanations(fitted[1])
    yield GlobalRulesRegressor.from_explanations(fitted_numbers[1])


def test_a_card_needs_nothing_from_elsewhere(fitted, fitted_numbers):
    for shown in cards_of(fitted, fitted_numbers):
        html = shown._repr_html_()
        assert not re.search(r"https?:|url\(|@import|src=|<script|<link", html)
        assert set(Read(html).tags) <= TAGS
        assert len(html) < 40_000


def test_numbers_in_cards_are_short(fitted, fitted_numbers):
    for shown in cards_of(fitted, fitted_numbers):
        assert not re.search(r"\d{7}|\.\d{6}", read(shown).text)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_table_becomes_markup(text):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({text: rng.choice(["a", text], 200), f"{text}2": rng.normal(size=200)})
    y = pd.Series(np.where((X[text] == "a") ^ (rng.random(200) < 0.02), text, "other"), name=text)
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, random_state=0).fit(X, y)
    explanations = explainer.explain(X[:20], progress=False)
    i = next(i for i, rule in enumerate(explanations.rules) if rule and rule.outcome == text)
    rule_list = GlobalRulesClassifier.from_explanations(explanations)
    for shown in (explainer, explanations, explanations[i], explanations[i].rule, rule_list):
        card = Read(shown._repr_html_())
        assert set(card.tags) <= TAGS
        assert card.tags.count("style") == 1
        assert all(not name.startswith("on") for _, named, _ in card.elements for name in named)
        assert re.sub(r"\s+", " ", printable(text)) in card.text
