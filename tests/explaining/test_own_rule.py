"""Rules that a person writes: conclusions and figures counted by hand, certificates, and printed rules read back."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from drawn_rules import PLAIN, ROUND, rules_with_tables
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binomtest
from thoroughness import n_examples

import suffice
from suffice import Condition, GlobalRulesClassifier, GlobalRulesRegressor, Rule, SufficientExplainer
from suffice.explaining.own_rule import MIDDLE, rule

X = pd.DataFrame({"tenure": [1, 2, 3, 9, 9, 9, 9, 9, 9, 9], "plan": list("aabaabbbbb")})
Y = np.array(["go", "go", "stay", "stay", "go", "stay", "stay", "stay", "stay", "stay"])
SMALL = {"random_state": 0, "n_jobs": 1}
NUMBERS = pd.Series(np.arange(10.0), name="count")


def test_a_rule_is_measured_on_the_rows():
    own = suffice.rule("tenure < 6", X, Y)
    assert own.conditions == (Condition("tenure", high=6.0, high_closed=False),)
    assert (own.outcome, own.interval, own.support, own.coverage, own.n_kept) == ("go", None, 3, 0.3, 2)
    assert own.base_rate == 0.3
    assert own.precision == pytest.approx(beta.ppf(0.1, 2.5, 1.5))  # Jeffreys
    assert (own.sdp, own.optimal, own.bound, own.everywhere, own.certificate) == (None, False, math.inf, False, None)
    figures = "coverage 30 %, 3 rows, precision 0.67, 0.32 expected, as likely as on average"
    assert str(own) == f"IF tenure < 6 THEN go  ({figures})"
    assert own.covers(X).tolist() == [True] * 3 + [False] * 7


@pytest.mark.parametrize(
    ("text", "then", "outcome", "n_kept"),
    [
        ("tenure < 6", "stay", "stay", 1),
        ("tenure < 6 then stay", None, "stay", 1),
        ("IF tenure < 6 THEN stay +0.34  (support 3, coverage 30 %)", None, "stay", 1),
        ("tenure < 6 then stay", "go", "go", 2),
        ("tenure > 6", None, "stay", 6),
        ("ALWAYS go", None, "go", 3),
        (Condition("tenure", low=2.5), None, "stay", 7),
        ([Condition("tenure", low=2.5), Condition("plan", labels=("a",))], None, "go", 1),
    ],
)
def test_a_rule_concludes_what_is_stated_or_most_frequent(text, then, outcome, n_kept):
    own = rule(text, X, Y, then=then)
    assert (own.outcome, own.n_kept) == (outcome, n_kept)
    assert own.base_rate == np.mean(outcome == Y)


def test_a_rule_for_numbers_promises_the_middle_or_what_is_stated():
    own = rule("tenure > 6", X, NUMBERS)
    held = np.arange(3.0, 10)
    assert own.interval == pytest.approx(np.quantile(held, MIDDLE))
    assert (own.outcome, own.target, own.mae, own.is_whole, own.base_rate) == (6.0, "count", 12 / 7, True, None)
    assert own.n_kept == 5
    stated = rule("tenure > 6 then count in [5, 7]", X, NUMBERS)
    assert (stated.interval, stated.n_kept) == ((5.0, 7.0), 3)
    assert rule("tenure > 6", X, NUMBERS, then=(5, 7)) == stated
    assert str(stated).startswith("IF tenure > 6 THEN count in [5, 7]  (coverage 70 %, 7 rows, precision 0.43, 0.2")
    assert rule("IF tenure > 6 THEN count +3.5  (support 7)", X, NUMBERS) == own  # a line of a sum has no interval


def test_whole_numbers_are_classes_or_numbers_as_the_conclusion_says():
    few = np.arange(10) % 2
    assert rule("tenure < 6", X, few).outcome == 0
    assert rule("tenure < 6 then 1", X, few).outcome == 1
    assert rule("tenure < 6", X, few, then=(0.5, 1)).interval == (0.5, 1.0)


def test_an_explainer_and_a_list_stand_for_their_training_rows():
    explainer = SufficientExplainer(**SMALL).fit(np.c_[np.arange(200.0)], np.arange(200) > 90)
    own = rule("x0 > 95", explainer)
    assert (own.support, own.n_kept, own.outcome, own.base_rate) == (104, 104, True, 109 / 200)
    rule_list = GlobalRulesClassifier.from_explainer(explainer)
    assert rule("x0 > 95", rule_list) == own
    numbers = SufficientExplainer(**SMALL).fit(np.c_[np.arange(200.0)], pd.Series(np.arange(200) * 0.5, name="price"))
    assert rule("x0 > 189", numbers).interval == pytest.approx((95.45, 99.05))
    assert rule("x0 > 189", numbers).target == "price"
    with pytest.raises(TypeError, match="`X` must be rows, or a fitted explainer or list that knows its training rows"):
        rule("x0 > 95", GlobalRulesClassifier.from_explanations([own], [[1.0], [99.0]], [True, False]))


def test_a_certificate_counts_fresh_rows():
    own = rule("tenure < 50 then go")
    tenure, y = np.arange(100), np.where(np.arange(100) < 46, "go", "stay")
    certificate = own.certify({"tenure": tenure}, y, level=0.8, confidence=0.9).certificate
    assert (certificate.n_rows, certificate.n_kept, certificate.level, certificate.is_set_aside) == (50, 46, 0.8, False)
    assert certificate.lower == pytest.approx(beta.ppf(0.1, 46, 5))
    assert certificate.p_adjusted == pytest.approx(binomtest(46, 50, 0.8, "greater").pvalue)
    assert certificate.verdict == "holds"
    assert own.certify({"tenure": tenure}, y, level=0.99).certificate.verdict == "does not hold"
    assert str(own) == "IF tenure < 50 THEN go"
    assert "THEN go  (checked on 50 fresh rows: right in 92 %" in str(own.certify({"tenure": tenure}, y))
    numbers = rule("tenure < 50", then=(0.0, 45.0)).certify({"tenure": tenure}, tenure)
    assert (numbers.certificate.n_rows, numbers.certificate.n_kept) == (50, 46)
    with pytest.raises(ValueError, match=re.escape("`y` has 3 entries, `X` has 100 rows.")):
        own.certify({"tenure": tenure}, [1, 2, 3])


def test_an_own_rule_is_a_value_like_others():
    own = rule("tenure < 6", X, Y).certify(X, Y)
    assert Rule.from_dict(json.loads(json.dumps(own.to_dict()))) == own
    assert own.to_sql().startswith('"tenure" < 6 /* checked on 3 fresh rows')
    html = own._repr_html_()
    assert "0.32" in html
    assert "SDP" not in html
    assert "This outcome" not in rule("tenure < 6 then go")._repr_html_()
    explainer = SufficientExplainer(**SMALL).fit(np.c_[np.arange(200.0)], np.arange(200) > 90)
    checked = explainer.certify([rule("x0 > 95", explainer)], np.c_[np.arange(99.0)], np.arange(99) > 90)
    assert checked.rules[0].certificate.n_rows == 3


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("tenure < 6", X), ValueError, "Give `X` and `y` together, or neither"),
        (("tenure < 6",), ValueError, "What does the rule conclude? Pass `then`"),
        (("tenure < 0", X, Y), ValueError, "The rule covers none of the rows: say by `then` what it concludes."),
        (("tenure < 0", X, NUMBERS), ValueError, "The rule covers none of the rows"),
        (
            ("tenure < 6 then sty", X, Y),
            ValueError,
            "concludes 'sty', which no row has: the classes are ['go', 'stay'].",
        ),
        (("tenure < 6 then sty", X, Y), ValueError, "Did you mean 'stay'?"),
        (([5], X, Y), TypeError, "`conditions` must be a text or conditions, got 5."),
        (("tenur < 6", X, Y), ValueError, "Unknown column 'tenur'. Did you mean 'tenure'?"),
        (("plan > 3", X, Y), ValueError, "Cannot read the condition on 'plan'"),
    ],
)
def test_what_makes_no_rule_is_refused(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        rule(*arguments)


def test_a_stated_conclusion_needs_no_row():
    assert rule("tenure < 0 then go", X, Y).precision is None
    assert str(rule("tenure < 0", X, Y, then="go")) == "IF tenure < 0 THEN go  (coverage 0 %, 0 rows)"
    empty = rule("tenure < 0", X, NUMBERS, then=(1.0, 2.0))
    assert (empty.outcome, empty.mae, empty.precision) == (1.5, None, None)


@settings(max_examples=n_examples(300), deadline=None)
@given(rules_with_tables(st.sampled_from(PLAIN), ROUND))  # the means of larger numbers overflow
def test_the_sentence_of_any_rule_makes_the_same_sentence(drawn_with_table):
    drawn, table = drawn_with_table
    assume(drawn.interval is None or (drawn.target and not re.search(r" in \[", drawn.target)))
    is_small = isinstance(drawn.outcome, int) and abs(drawn.outcome) < 2**53
    is_text = isinstance(drawn.outcome, str) and "\0" not in drawn.outcome  # NumPy cuts it off
    assume(drawn.interval is not None or is_small or is_text)
    n_rows = len(table["another"])
    y = pd.Series([drawn.outcome] * n_rows, name=drawn.target)
    own = rule(str(drawn), table, y if drawn.interval is None else y.astype(float))
    assert own.sentence == drawn.sentence
    assert own.n_kept == own.support or drawn.interval is not None
    assert type(own.outcome) is type(drawn.outcome)


@pytest.mark.parametrize("kind", [GlobalRulesClassifier, GlobalRulesRegressor])
def test_lines_of_lists_and_local_rules_are_read_back(kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a b": rng.normal(size=400), "plan": rng.choice(["x y", "z, w"], 400), "n": rng.integers(0, 9, 400)}
    )
    y = frame["a b"] + (frame["plan"] == "x y") + frame["n"] / 5
    y = (y > 1).map({True: "very high", False: "low"}) if kind is GlobalRulesClassifier else y.rename("price")
    explainer = SufficientExplainer(**SMALL).fit(frame, y)
    lists = [kind.from_explainer(explainer), kind.from_explainer(explainer, max_rules=None)]
    lines = [line for rule_list in lists for line in rule_list.rules_]
    local = [made for made in explainer.explain(frame[:20]).rules if made is not None]
    assert len(local) > 1
    for line in lines:
        assert rule(str(line), explainer).covers(frame).tolist() == line.rule.covers(frame).tolist()
        if kind is GlobalRulesClassifier:
            assert rule(str(line), explainer).outcome == line.output
    for made in local:
        own = rule(str(made), frame, y)
        assert own.sentence == made.sentence
        assert (own.support, own.n_kept if kind is GlobalRulesClassifier else None) == (
            made.support, made.n_kept if kind is GlobalRulesClassifier else None,
        )  # fmt: skip
