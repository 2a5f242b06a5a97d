"""Code books as values: which line is for a value, its text, and what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from suffice import CodeBook, Condition
from suffice.reasons.code_book import ANY_VALUE, CodeLine, bound_text, direction_of, satisfies

LINES = (
    CodeLine("income", "R1", "Income below 10", Condition("income", high=10, high_closed=False)),
    CodeLine("income", "R2", "Low income", direction="low"),
    CodeLine("income", "R3", "Income of {value}: {bound}"),
    CodeLine("home", "R4", "Home", Condition("home", labels=("rent",))),
)


@pytest.mark.parametrize(
    ("value", "direction", "code"),
    [(9, "high", "R1"), (9, "low", "R1"), (10, "low", "R2"), (10, "high", "R3"), (10, None, "R3"), (None, None, "R3")],
)
def test_the_first_line_that_is_for_a_value_counts(value, direction, code):
    assert CodeBook(LINES).find("income", value, direction).code == code


def test_a_value_may_have_no_line():
    book = CodeBook(LINES)
    assert book.find("home", "rent", None).code == "R4"
    assert book.find("home", "own", None) is None
    assert book.find("other", 1, None) is None
    assert book.needs_direction("income")
    assert not book.needs_direction("home")


def test_placeholders_are_filled_in_and_nothing_else():
    line = CodeLine("a", "R", "{value}/{bound} {{value}} 50% {")
    assert line.write("{bound}", "<b>") == "{bound}/<b> {value} 50% {"


@pytest.mark.parametrize("text", ["{income}", "{value.__class__}", "{0}", "{ value }"])
def test_other_placeholders_are_refused(text):
    with pytest.raises(ValueError, match=r"only \{value\} and \{bound\} are filled in"):
        CodeLine("a", "R", text)


@pytest.mark.parametrize("name", ["variable", "code", "text"])
@pytest.mark.parametrize("value", ["", "  ", None, 3])
def test_empty_texts_are_refused(name, value):
    with pytest.raises(ValueError, match=f"`{name}` must be a text that is not empty"):
        CodeLine(**{"variable": "a", "code": "b", "text": "c", name: value})


def test_a_direction_is_low_or_high():
    with pytest.raises(ValueError, match="`direction` must be 'low' or 'high', got 'up'"):
        CodeLine("a", "b", "c", direction="up")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (CodeLine("income", "R9", "x"), "two lines for 'income': codes 'R3' and 'R9'. Keep one."),
        (CodeLine("income", "R9", "x", direction="low"), "two lines for 'income' with the direction 'low'"),
        (
            CodeLine("income", "R9", "x", Condition("income", high=10, high_closed=False)),
            "two lines for 'income' with the condition income < 10",
        ),
        (CodeLine("debt", "R4", "Other"), "Code 'R4' has two texts, 'Home' and 'Other'"),
    ],
)
def test_lines_that_contradict_each_other_are_refused(line, message):
    with pytest.raises(ValueError, match=message):
        CodeBook((*LINES, line))


def test_equal_books_have_the_same_digest_and_other_books_another():
    again = CodeBook.read([line.to_dict() for line in LINES])
    assert again == CodeBook(LINES)
    assert again.digest == CodeBook(LINES).digest
    digests = {CodeBook(lines).digest for lines in itertools.permutations(LINES[1:])}
    assert len(digests) == 6


def test_satisfying_one_value_is_covering_it():
    numbers = [None, -math.inf, -1.0, 0.0, 1.0, 1.5, 2.0, math.inf]
    for low, high in itertools.product([-math.inf, 0.0, 1.0], [1.0, 2.0, math.inf]):
        for low_closed, high_closed, missing in itertools.product([False, True], repeat=3):
            if low == high and not (low_closed and high_closed):
                continue
            condition = Condition("a", low, high, low_closed, high_closed, missing)
            covered = condition.covers(np.array([np.nan if v is None else v for v in numbers])).tolist()
            assert [satisfies(condition, v) for v in numbers] == covered, condition
    labels = [None, "a", "b"]
    for excluded, missing in itertools.product([False, True], repeat=2):
        condition = Condition("x", labels=("a",), excluded=excluded, missing=missing)
        assert [satisfies(condition, v) for v in labels] == condition.covers(labels).tolist()
    unknown = Condition("x", values=False, missing=True)
    assert [satisfies(unknown, v) for v in labels] == unknown.covers(labels).tolist()


@pytest.mark.parametrize(
    ("condition", "value", "direction"),
    [
        (Condition("a", high=5), 7, "low"),
        (Condition("a", low=5), 1, "high"),
        (Condition("a", 1, 9), 3, "low"),
        (Condition("a", 1, 9), 4, "high"),
        (None, 3, "low"),
        (None, 4, "high"),
        (Condition("a", high=5, missing=True), None, None),
    ],
)
def test_the_rule_decides_on_the_direction_and_then_the_median(condition, value, direction):
    assert direction_of(condition, value, 3.0) == direction


@pytest.mark.parametrize(
    ("condition", "direction", "text"),
    [
        (None, None, ANY_VALUE),
        (Condition("a", high=5), None, "at most 5"),
        (Condition("a", high=5, high_closed=False), None, "below 5"),
        (Condition("a", low=5), None, "above 5"),
        (Condition("a", low=5, low_closed=True), None, "at least 5"),
        (Condition("a", 1, 5.25), None, "above 1 and at most 5.25"),
        (Condition("a", 1, 5.25), "low", "5.25"),
        (Condition("a", 1, 5.25), "high", "1"),
        (Condition("a", low=5), "low", "above 5"),
        (Condition("a", 5, 5, low_closed=True), None, "5"),
        (Condition("a", high=5, missing=True), None, "at most 5 or missing"),
        (Condition("a", values=False, missing=True), None, "missing"),
        (Condition("a"), None, "known"),
        (Condition("a", labels=("x",)), None, "x"),
        (Condition("a", labels=("x", "y", "z")), None, "x, y or z"),
        (Condition("a", labels=("x", "y"), excluded=True), None, "not x or y"),
        (Condition("a", labels=tuple("abcdefg")), None, "a, b, c, d, e or 2 more"),
    ],
)
def test_bounds_in_words(condition, direction, text):
    assert bound_text(condition, direction) == text


def test_a_code_book_must_be_readable():
    with pytest.raises(TypeError, match="A code book is a file, a dictionary or a list of lines, got int"):
        CodeBook.read(3)
    assert CodeBook.read(CodeBook(LINES)) == CodeBook(LINES)
