"""Control characters in names, labels and identifiers: nothing that is printed or shown holds them raw."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from suffice import GlobalRulesClassifier, SufficientExplainer, rule

RED = "\x1b[31m"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
N = 200


@pytest.fixture(scope="module")
def told():
    """What the package says about a table of such names, by what it is."""
    rng = np.random.default_rng(0)
    colours = [f"re{RED}d", "bl\x9bue", "\u202egreen", "x\x00y"]
    numbers = {f"size{RED}": rng.normal(size=N).round(2), "bell\x07": rng.integers(0, 2, N)}
    X = pd.DataFrame({**numbers, f"hue\r{RED}": rng.choice(colours, N), "count\u202e": rng.integers(0, 5, N)})
    y = np.where((X.iloc[:, 0] > 0) & (X.iloc[:, 2] != colours[0]), f"yes{RED}", "no\x1b]0;t\x07")
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, n_jobs=1).fit(X, y, focus=f"yes{RED}", fixed=["count\u202e"])
    explained = explainer.explain(X[:20], ids=[f"id{RED}{i}" for i in range(20)], rules="all")
    changes = explainer.what_if(X[:20], f"yes{RED}", ids=[f"id{RED}{i}" for i in range(20)])
    reasons = explainer.reasons(X[:20], adverse=f"yes{RED}", ids=[f"id{RED}{i}" for i in range(20)])
    rules = GlobalRulesClassifier(explainer).fit(X, y)
    numbers, wanted = X.iloc[:, :2], np.where(X.iloc[:, 0] > 0, f"yes{RED}", "no\x07")
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(numbers, wanted)
    of_model = SufficientExplainer.for_model(tree, numbers, forest=forest)
    proven = of_model.explain(numbers[:5], rules="all")
    many = [explained, changes, reasons, rules, explainer.stability(X[:2]), explainer.quality()]
    many += [of_model.certain_reasons(numbers[:5]), of_model.prove(proven), rules.evaluate(X, y), rules.certify(X, y)]
    reached = next(one for one in changes if one.changes)
    many += [explained[0], explained[0].rules[0], reached, reached.changes[0], reasons[0], proven[0], rules.rules_[0]]
    return many, explained, X, y


def test_nothing_printed_holds_control_characters(told):
    """Names and labels could clear the screen, or turn the text around them."""
    for one in told[0]:
        for name, text in [("str", str(one)), ("repr", repr(one)), ("text", getattr(one, "text", ""))]:
            assert not RAW.search(text if isinstance(text, str) else ""), (type(one).__name__, name)
        if hasattr(one, "_repr_html_"):
            assert not RAW.search(one._repr_html_()), type(one).__name__
    assert "\\u001b" in str(told[1])


def test_the_report_holds_no_control_characters(told, tmp_path):
    told[1].report(tmp_path / "report.html")
    assert not RAW.search((tmp_path / "report.html").read_text())


def test_a_printed_rule_with_control_characters_is_read_back(told):
    _, explained, X, y = told
    rules = [one for explanation in explained for one in explanation.rules]
    assert any("\\u" in str(one) for one in rules)
    for one in rules:
        read = rule(str(one.sentence).split(" THEN ")[0], X, y)
        printed = rule(str(one).split(" THEN ")[0], X, y)
        assert read.conditions == printed.conditions == one.conditions


def test_the_mark_below_an_error_stands_where_the_text_is_wrong():
    with pytest.raises(ValueError, match="Unknown column") as caught:
        rule(f"a{RED} < 1 and b{RED} < 2", pd.DataFrame({f"a{RED}": [1.0, 2.0]}), [0, 1])
    line, mark = caught.value.__notes__[0].splitlines()
    assert line[mark.index("^") :] == "b\\u001b[31m < 2"
