"""How numbers, labels and lists are written."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice._text import (
    counted,
    first_repeated,
    format_exactly,
    format_label,
    format_number,
    format_percent,
    format_probability,
    format_share,
    format_value,
    join,
    to_plain,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-3.0, "-3"),
        (1157.0, "1157"),
        (0.13450000286102295, "0.1345"),
        (99999.4, "99999"),
        (99999.6, "100000"),
        (1234567.8, "1234568"),
        (1e15, "1e+15"),
        (1e-7, "1e-07"),
        (math.inf, "inf"),
        (math.nan, "missing"),
    ],
)
def test_a_number_has_five_digits_at_most(value, text):
    assert format_number(value) == text


@given(st.floats(0, 1))
def test_a_probability_is_never_rounded_up(value):
    assert float(format_probability(value)) <= value + 1e-8
    assert float(format_probability(value)) > value - 0.01


@pytest.mark.parametrize(
    ("value", "text"), [(0.899, "0.89"), (0.29, "0.29"), (0.9, "0.90"), (1.0, "1.00"), (0, "0.00")]
)
def test_a_probability_has_two_digits(value, text):
    assert format_probability(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0"), (0.00012, "0.012"), (0.25, "25"), (0.996, "99"), (0.99999, "99"), (1, "100")]
)
def test_a_hundred_per_cent_are_all_rows(share, text):
    assert format_percent(share) == text


@given(st.floats(0.1, 1))
def test_a_share_reads_the_same_with_two_digits_and_in_per_cent(share):
    """A recall of 0.906 was written 0.90 in one place and 91 % in another."""
    assert round(100 * float(format_share(share))) == int(format_percent(share))


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.906, "0.91"),
        (0.285, "0.28"),
        (0.284, "0.28"),
        (0.999, "0.99"),
        (1.0, "1.00"),
        (-0.126, "-0.13"),
        (-0.001, "0.00"),
    ],
)
def test_a_share_is_rounded_but_only_all_rows_are_1(share, text):
    assert format_share(share) == text


def test_an_unknown_share_is_a_dash():
    assert format_share(math.nan) == "-"


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("light rain", "light rain"),
        ("Bern, CH", '"Bern, CH"'),
        ("3", '"3"'),
        (3, "3"),
        (2.5, "2.5"),
        (2.0, "2"),
        (True, "True"),
        ("True", '"True"'),
        ("a AND b", '"a AND b"'),
        ("rain ", '"rain "'),
        ("", '""'),
        ('say "x"', '"say \\"x\\""'),
        ("Zürich", "Zürich"),
    ],
)
def test_a_label_that_could_be_misread_is_quoted(label, text):
    assert format_label(label) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "missing"), (True, "yes"), (False, "no"), (0.5, "0.5"), (7, "7"), ("clear", "clear")]
)
def test_a_value_of_a_row_is_written_as_what_it_is(value, text):
    assert format_value(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_an_exact_number_reads_back_as_itself(value):
    assert float(format_exactly(value)) == value
    assert not format_exactly(value).endswith(".0")


def test_one_thing_is_singular():
    assert [counted(n, "row") for n in (0, 1, 2, 1000)] == ["0 rows", "1 row", "2 rows", "1,000 rows"]


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_a_list_ends_with_and(names, text):
    assert join(names) == text


@pytest.mark.parametrize(
    ("value", "plain"),
    [(np.float32(0.5), 0.5), (np.int8(3), 3), (np.bool_(True), True), (np.str_("a"), "a"), (None, None)],
)
def test_a_plain_value_is_of_python(value, plain):
    assert to_plain(value) == plain
    assert type(to_plain(value)) is type(plain)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (7, "7"),
        (-3.0, "-3"),
        (1157.0, "1157"),
        (123456.0, "123456"),
        (1e14, "100000000000000"),
        (1e15, "1e+15"),
        (0.5, "0.5"),
        (2 / 3, "0.66667"),
        (np.float32(0.1345).item(), "0.1345"),
        (-12.345678, "-12.346"),
        (1.5e-7, "1.5e-07"),
        (99999.4, "99999"),
        (99999.5, "100000"),
        (99999.6, "100000"),
        (-99999.6, "-100000"),
        (123456.7, "123457"),
        (1.5e300, "1.5e+300"),
        (math.nan, "missing"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
    ],
)
def test_a_number_is_written_short(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.00"), (0.005, "0.00"), (0.29, "0.29"), (0.57, "0.57"), (0.899, "0.89"), (0.99999, "0.99"), (1.0, "1.00")],
)
def test_a_probability_is_rounded_down(value, text):
    assert format_probability(value) == text


def test_whole_percents_are_written_as_they_are():
    assert [format_probability(i / 100) for i in range(101)] == [f"{i / 100:.2f}" for i in range(101)]


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (("a", "b", "c"), "a, b and c"), (list("abcd"), "a, b, c and d")],
)
def test_names_are_joined_as_a_person_would(names, text):
    assert join(names) == text


@pytest.mark.parametrize(
    ("value", "plain"), [(np.int8(3), 3), (np.str_("a"), "a"), (np.True_, True), (np.float64(0.5), 0.5), ("a", "a")]
)
def test_numpy_scalars_become_plain_values(value, plain):
    assert to_plain(value) == plain
    assert type(to_plain(value)) is type(plain)


def test_a_repeated_name_is_found_without_comparing_all_pairs():
    """The check of 40,000 names in a header took 27 seconds."""
    n_compared = 0

    class Name(str):
        __slots__ = ()

        def __eq__(self, other):
            nonlocal n_compared
            n_compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    names = [Name(f"column {i}") for i in range(2000)]
    assert first_repeated(names) is None
    assert first_repeated([*names, Name("column 1999")]) == "column 1999"
    assert n_compared < 20 * len(names)
