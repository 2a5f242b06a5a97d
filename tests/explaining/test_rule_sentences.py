"""Conditions are read back from the sentence of a rule."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from drawn_rules import NAMES, PLAIN, rule, rules
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from read_sentences import parse_conditions
from thoroughness import n_examples

from suffice._table.condition import Condition

NAN, INF = math.nan, math.inf


def in_words(conditions):
    """Conditions as their text is read back: booleans are written as yes and no, as text may be."""
    words = {True: "yes", False: "no"}
    return tuple(
        replace(c, labels=tuple(words[v] if isinstance(v, bool) else v for v in c.labels)) if c.labels else c
        for c in conditions
    )


@settings(max_examples=n_examples(300), deadline=None)
@given(rules(names=st.sampled_from([*PLAIN, "", "x AND y", "or", "is known", "IF", "THEN", "5", "-3", "a < b"])))
@example(rule(Condition("temp", 1.0), Condition("temp max", 2.0)))
@example(rule(Condition("a < b", 1.0, 2.0), Condition("5", 1.0, 2.0), Condition("x AND y", high=2.0)))
def test_the_conditions_of_a_rule_are_read_back_from_its_sentence(drawn):
    names = [*PLAIN, "", "x AND y", "or", "is known", "IF", "THEN", "5", "-3", "a < b"]
    assert parse_conditions(str(drawn), names) == in_words(drawn.conditions)


@settings(max_examples=n_examples(300), deadline=None)
@given(rules(), st.lists(NAMES))
def test_a_sentence_is_read_back_whatever_the_names_unless_it_can_be_read_in_two_ways(drawn, other_names):
    names = [condition.column for condition in drawn.conditions]
    try:
        conditions = parse_conditions(str(drawn), names + other_names)
    except ValueError as error:
        event("in two ways")
        if "be read in two ways" not in str(error):
            raise
    else:
        assert conditions == in_words(drawn.conditions)


@settings(max_examples=n_examples(200), deadline=None)
@given(st.data())
def test_a_text_that_is_read_gives_the_same_text(data):
    columns = data.draw(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=4, unique=True))
    texts = []
    for column in columns:
        low, high = sorted(data.draw(st.lists(st.integers(-99, 99), min_size=2, max_size=2, unique=True)))
        one, other = (data.draw(st.sampled_from(["<", "<="])) for _ in range(2))
        sign = data.draw(st.sampled_from(["<", "<=", ">", ">=", "="]))
        compared = data.draw(st.sampled_from([f"{low} {one} {column} {other} {high}.5", f"{column} {sign} {low}"]))
        either = data.draw(st.sampled_from([compared, f"({compared} or {column} is missing)"]))
        fact = data.draw(st.sampled_from([f"{column} is missing", f"{column} is known"]))
        texts.append(data.draw(st.sampled_from([either, fact])))
    text = f"IF {' AND '.join(texts)}"
    conditions = parse_conditions(text, PLAIN)
    assert [condition.column for condition in conditions] == columns
    assert str(rule(*conditions)).startswith(f"{text} THEN malignant  (")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hour > 5", "A rule begins with 'IF ' or 'ALWAYS ', got 'hour > 5'."),
        (
            "IF hours > 5 THEN a",
            "Cannot read a condition on a known column from 'hours > 5 THEN a'. Did you mean 'hour'?",
        ),
        ("IF temp > 5 AND hour >5", "Cannot read a condition on a known column from 'hour >5'."),
        ("IF hour", "from 'hour'."),
        ("IF ", "from ''."),
        ("IF 7 < hour <= 3", "from '7 < hour <= 3'."),
        ("IF 3 < hour", "from '3 < hour'."),
        ("IF 3 < hour > 5", "from '3 < hour > 5'."),
        ("IF 3 < hour is known", "from '3 < hour is known'."),
        ("IF hour > 3 is known", "from 'hour > 3 is known'."),
        ("IF hour or missing", "from 'hour or missing'."),
        ("IF hour > 5 AND hour < 7", "from 'hour < 7'."),
        ("IF hour > 5 ELSE", "from 'hour > 5 ELSE'."),
        ("IF hour > 1e999", "from 'hour > 1e999'."),
    ],
)
def test_a_text_that_cannot_be_read_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_conditions(text, ["hour", "temp"])


def test_a_text_that_can_be_read_in_two_ways_is_refused():
    assert len(parse_conditions("IF a > 5 AND b <= 3", ["a", "b"])) == 2
    assert len(parse_conditions("IF a > 5 AND b <= 3", ["b", "a > 5 AND b"])) == 1
    with pytest.raises(ValueError, match="The names of the columns let 'IF a > 5 AND b <= 3' be read in two ways"):
        parse_conditions("IF a > 5 AND b <= 3", ["a", "b", "a > 5 AND b"])


@pytest.mark.parametrize(
    ("older", "text"),
    [
        ("IF 2 < x <= 5 or missing AND y is known", "IF (2 < x <= 5 or x is missing) AND y is known"),
        ("IF x <= 5 or missing THEN a", "IF (x <= 5 or x is missing) THEN a"),
        ("IF x in {a, b} or missing", "IF (x in {a, b} or x is missing)"),
        ("IF x != a or missing THEN b", "IF (x != a or x is missing) THEN b"),
    ],
)
def test_the_older_words_for_missing_values_are_read_too(older, text):
    conditions = parse_conditions(text, ["x", "y"])
    assert conditions[0].missing
    assert parse_conditions(older, ["x", "y"]) == conditions


@pytest.mark.parametrize(
    "text", ["IF (x <= 5 or y is missing)", "IF (x <= 5", "IF (x <= 5 or missing)", "IF (x is known)"]
)
def test_brackets_belong_to_a_condition_that_allows_missing_values(text):
    with pytest.raises(ValueError, match="Cannot read a condition"):
        parse_conditions(text, ["x", "y"])


def test_a_column_whose_name_is_a_number_is_read_back():
    """ "5 < 5" was read as a lower end of the column "5" without an upper one, and refused."""
    assert parse_conditions("IF 5 < 5 THEN busy", ["5"]) == (Condition("5", high=5.0, high_closed=False),)
    both = parse_conditions("IF 5 < 5 <= 7 or missing AND 6 is known THEN busy", ["5", "6"])
    assert both == (Condition("5", low=5.0, high=7.0, missing=True), Condition("6"))
