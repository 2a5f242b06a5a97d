"""Conditions are read back from the sentence of a rule, and from what people write."""

from __future__ import annotations

import math
import re
import time
from dataclasses import replace

import pandas as pd
import pytest
from drawn_rules import NAMES, PLAIN, rule, rules, rules_with_tables
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from thoroughness import n_examples

from suffice._table.condition import Condition
from suffice._table.condition_text import parse_conditions, read_rule_text
from suffice._table.table import read_columns

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


# --- what people write ------------------------------------------------------------------------------------------------

TABLE = read_columns(
    pd.DataFrame(
        {
            "tenure": [1.0, 2.0, 7.0, None],
            "contract": ["Month-to-month", "Two year", "One year", None],
            "worst radius": [1, 2, 3, 4],
            "flag": [True, False, True, True],
            "code": ["0042", "0043", "1", "x"],
            "holiday": [0, 1, 0, 1],
            "when": pd.to_datetime(["2024-01-01"] * 4),
            "level": pd.Categorical([1, 2, 1, 2]),
        }
    )
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tenure < 6 and contract == 'Month-to-month'", "tenure < 6 AND contract = Month-to-month"),
        ("tenure<6 AND contract=Month-to-month", "tenure < 6 AND contract = Month-to-month"),
        ("  if tenure<=.5e1\nand (`worst radius` >= +2 ) ", "tenure <= 5 AND worst radius >= 2"),
        ("6 > tenure >= 2", "2 <= tenure < 6"),
        ("2 <= tenure <6", "2 <= tenure < 6"),
        ("3 < tenure", "tenure > 3"),
        ("3 >= tenure", "tenure <= 3"),
        ("tenure > 1 and tenure <= 5 and tenure < 5", "1 < tenure < 5"),
        ("tenure >= 1 and tenure > 1 and flag = no", "tenure > 1 AND flag = no"),
        ("tenure == 2", "tenure = 2"),
        ("tenure != 2", "tenure not in {2}"),
        ("contract in ['Two year', One year] and flag = yes", "contract in {One year, Two year} AND flag = yes"),
        ("contract in { Two year , One year }", "contract in {One year, Two year}"),
        ('contract not  in ("Two year")', "contract != Two year"),
        ("code = 0042", 'code = "0042"'),
        ("code in [1, x]", 'code in {"1", x}'),
        ("(tenure < 3 or tenure is missing)", "(tenure < 3 or tenure is missing)"),
        ("tenure < 3 or missing and flag == 1", "(tenure < 3 or tenure is missing) AND flag = yes"),
        ("tenure is missing", "tenure is missing"),
        ("(contract is not missing)", "contract is known"),
        ("holiday == True", "holiday = yes"),
        ("when.weekday in {Mon, Tue} and when.hour < 5", "when.weekday in {Mon, Tue} AND when.hour < 5"),
        ("level = 1", "level in {1}"),
        ("level in [2, 1.0]", "level in {1, 2}"),
        ("IF contract = Two year and tenure < 5 THEN stays", "contract = Two year AND tenure < 5"),
        ("IF contract = Never seen AND tenure < 5 THEN stays", "contract = Never seen AND tenure < 5"),
    ],
)
def test_what_people_write_is_read(text, sentence):
    assert " AND ".join(map(str, read_rule_text(text, TABLE).conditions)) == sentence


def test_labels_are_those_of_the_table():
    [code, flag, level] = read_rule_text("code = 0042 and flag = yes and level = 2", TABLE).conditions
    assert (code.labels, flag.labels, level.labels) == (("0042",), (True,), (2,))


@pytest.mark.parametrize(
    ("text", "message", "spot"),
    [
        ("tenur < 6 and flag", "Unknown column 'tenur'. Did you mean 'tenure'?", 0),
        ("tenure < 6 and contracts = 5", "Unknown column 'contracts'. Did you mean 'contract'?", 15),
        ("tenure < 6 and `conract` = x", "Unknown column 'conract'. Did you mean 'contract'?", 15),
        ("tenure ~ 6", "Cannot read the condition on 'tenure': write x < 5,", 0),
        ("flag = yes and tenure < six", "Cannot read the condition on 'tenure'", 15),
        ("flag = yes and tenure > 3 > 4", "Cannot read the condition on 'tenure'", 15),
        ("tenure < 6 and", "Cannot read the condition on 'tenure'", 0),
        ("tenure < 6 or flag = yes", "is missing. Rules have no `or`: write one for each side.", 0),
        ("contract > 3", "Cannot read the condition on 'contract'", 0),
        ("contract == 'Month-to-mont'", "no category 'Month-to-mont'. Did you mean 'Month-to-month'?", 13),
        ("level = 3", "The column 'level' has no category '3'.", 8),
        ("tenure = abc", "The column 'tenure' holds numbers, got 'abc'.", 9),
        ("__import__('os').system('x')", "Unknown column \"__import__('os').system('x')\".", 0),
        ("tenure < 1 + 1", "Cannot read the condition on 'tenure'", 0),
        ("", "Unknown column ''.", 0),
    ],
)
def test_what_cannot_be_read_is_marked(text, message, spot):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read_rule_text(text, TABLE)
    assert "\n" not in str(caught.value)
    assert caught.value.__notes__ == [f"  {text}\n  {' ' * spot}^"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tenure > 5 and tenure < 3", "No number satisfies both tenure > 5 and tenure < 3."),
        ("flag = yes and flag = no", "one condition for a column, got two on 'flag'"),
        ("tenure < 3 and tenure is missing", "one condition for a column, got two on 'tenure'"),
        ("IF tenure > 1 AND holiday > 5 AND a THEN b", "Unknown column 'a THEN b'"),
    ],
)
def test_conditions_that_make_no_rule_are_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_rule_text(text, TABLE)


@pytest.mark.parametrize(
    ("text", "names", "then"),
    [
        ("tenure < 6 and Contract == 'Month-to-month' then Yes", ["tenure", "Contract"], "Yes"),
        ("IF worst radius > 16.8 AND 2 < `a and b` <= 3 THEN bad", ["worst radius", "a and b"], "bad"),
        ("6 >= tenure and sky not in [clear]", ["tenure", "sky"], None),
        ("is_old is missing and x.y in {a, b}", ["is_old", "x.y"], None),
    ],
)
def test_without_a_table_what_is_compared_is_the_name_of_a_column(text, names, then):
    read = read_rule_text(text)
    assert [condition.column for condition in read.conditions] == names
    assert read.then == then


@settings(max_examples=n_examples(300), deadline=None)
@given(rules_with_tables(names=st.sampled_from(PLAIN)))
def test_a_printed_rule_is_read_back_with_a_table(drawn):
    """Whatever its labels and numbers are; the table may have labels that the rule does not name."""
    printed, table = drawn
    read = read_rule_text(printed.sentence, read_columns(table))
    assert [str(condition) for condition in read.conditions] == [str(condition) for condition in printed.conditions]
    covered = [condition.covers_rows(read_columns(table)).tolist() for condition in read.conditions]
    assert covered == [condition.covers_rows(read_columns(table)).tolist() for condition in printed.conditions]
    assert read.then == printed.conclusion


@pytest.mark.parametrize(
    "text", ["x in [" + "1, " * 5000, "x" * 9000 + " <", "(" * 9000, " " * 9000 + "a", "x < 1 and " * 3000]
)
def test_long_texts_are_refused_in_no_time(text):
    start = time.perf_counter()
    with pytest.raises(ValueError, match=r"\S"):
        read_rule_text(text, read_columns({"x": [1.0, 2.0]}))
    assert time.perf_counter() - start < 5
