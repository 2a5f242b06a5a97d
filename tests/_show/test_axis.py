"""Where conditions lie on the axis of their column: every kind of end, missing values, included and rare labels."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from suffice._show.axis import (
    NO_ROW,
    Band,
    Chip,
    Distribution,
    Spans,
    band,
    bounds_text,
    code_text,
    condition_text,
    draw,
    drawn_range,
    end_texts,
    included_codes,
    missing_text,
    share,
    spans,
)
from suffice._table.encoding import Column
from suffice.explaining.rule import Condition

INF = math.inf
HOUR = Column("hour", 0, "whole", extent=(0.0, 23.0))
TEMP = Column("temp", 1, "number", extent=(-10.0, 30.0))
TOWN = Column("town", 2, "category", labels=(("A",), ("B",), ("p", "q", "r"), ("C",), ("D",)), rare=2)
TOWNS = tuple(f"town {letter}" for letter in "ABCDEFGHIJKLMNOPQRST")
MANY = Column("town", 2, "category", labels=tuple((town,) for town in TOWNS))

ENDS = [-INF, 4.0, 4.3, 4.5, 4.9, 5.0, 6.0, 6.5, INF]


def conditions():
    """All conditions on numbers with these ends, open and closed."""
    for low, high, low_closed, high_closed in itertools.product(ENDS, ENDS, [False, True], [False, True]):
        try:
            yield Condition("hour", low, high, low_closed, high_closed)
        except ValueError:  # no number satisfies it
            continue


def holds_at(where, place):
    """Whether a place on the axis lies in one of the intervals."""
    return any(start <= place <= end for start, end in where.known)


# --- spans -----------------------------------------------------------------------------------------------------------


def test_on_whole_numbers_spans_hold_the_numbers_that_satisfy_the_condition_with_half_a_step():
    n_checked = 0
    numbers = np.arange(-20, 20)
    for condition in conditions():
        where = spans(HOUR, condition)
        satisfied = numbers[condition.covers(numbers.astype(float))]
        assert [n for n in numbers if holds_at(where, n)] == satisfied.tolist()
        if len(satisfied) == 0:
            assert where.known == ()
            continue
        [(low, high)] = where.known
        assert low == (-INF if condition.low == -INF else satisfied[0] - 0.5)
        assert high == (INF if condition.high == INF else satisfied[-1] + 0.5)
        n_checked += 1
    assert n_checked > 100


def test_on_other_numbers_spans_are_the_ends_of_the_condition():
    for condition in conditions():
        assert spans(TEMP, condition) == Spans(((condition.low, condition.high),), missing=False)


@pytest.mark.parametrize(
    ("condition", "known"),
    [
        (Condition("hour", 6.0, 9.0, True, True), ((5.5, 9.5),)),
        (Condition("hour", 5.0, 10.0, False, False), ((5.5, 9.5),)),
        (Condition("hour", 5.3, 9.9), ((5.5, 9.5),)),
        (Condition("hour", 5.5), ((5.5, INF),)),
        (Condition("hour", high=9.0), ((-INF, 9.5),)),
        (Condition("hour", 9.0, 9.0, True, True), ((8.5, 9.5),)),
        (Condition("hour", -3.0, -1.0, True, False), ((-3.5, -1.5),)),
        (Condition("hour", 5.2, 5.8), ()),
        (Condition("hour"), ((-INF, INF),)),
    ],
)
def test_six_to_nine_is_drawn_from_half_past_five_to_half_past_nine(condition, known):
    """The app once drew 6 <= hour <= 9 from 6 to 9."""
    assert spans(HOUR, condition).known == known


@pytest.mark.parametrize("column", [HOUR, TEMP, TOWN])
def test_a_condition_that_asks_for_a_missing_value_holds_nowhere_else(column):
    """The app once drew "is missing" over all known values."""
    where = spans(column, Condition(column.name, values=False, missing=True))
    assert where == Spans((), missing=True)
    assert where.within(-100.0, 100.0) == []
    assert band(HOUR, Condition("hour", values=False, missing=True)) is None


def test_no_condition_allows_everything():
    assert spans(HOUR, None) == spans(TOWN, None) == Spans(((-INF, INF),), missing=True)
    assert included_codes(TOWN, None) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("column", [HOUR, TEMP])
def test_missing_values_are_allowed_where_the_condition_allows_them(column, missing):
    assert spans(column, Condition(column.name, 1.0, missing=missing)).missing is missing


def test_labels_are_unit_intervals_and_neighbours_are_joined():
    rare = ("p", "q", "r")
    for n in range(1, 5):
        for chosen in itertools.combinations(range(5), n):
            labels = tuple(label for code in chosen for label in TOWN.labels[code])
            for excluded in (False, True):
                condition = Condition("town", labels=labels, excluded=excluded, missing=excluded)
                codes = [code for code in range(5) if (code in chosen) != excluded]
                assert included_codes(TOWN, condition) == codes
                where = spans(TOWN, condition)
                assert where.missing is excluded
                assert [code for code in range(5) if holds_at(where, code)] == codes
                assert all((low + 0.5).is_integer() and (high + 0.5).is_integer() for low, high in where.known)
                gaps = [after[0] - before[1] for before, after in itertools.pairwise(where.known)]
                assert all(gap >= 1 for gap in gaps)
    assert spans(TOWN, Condition("town", labels=("A", "B", *rare, "D"))).known == ((-0.5, 2.5), (3.5, 4.5))
    assert spans(TOWN, Condition("town")).known == ((-0.5, 4.5),)


def test_spans_are_cut_at_the_drawn_range():
    where = Spans(((-INF, 1.5), (3.0, 4.0), (7.0, INF)), missing=False)
    assert where.within(0.0, 8.0) == [(0.0, 1.5), (3.0, 4.0), (7.0, 8.0)]
    assert where.within(3.5, 5.0) == [(3.5, 4.0)]
    assert where.within(1.5, 2.0) == [(1.5, 1.5)]
    assert where.within(4.5, 6.0) == []


# --- shares of a range -----------------------------------------------------------------------------------------------


def test_the_drawn_range_has_half_a_step_around_whole_numbers_and_codes():
    assert drawn_range(HOUR) == (-0.5, 23.5)
    assert drawn_range(TEMP) == (-10.0, 30.0)
    assert drawn_range(TOWN) == (-0.5, 4.5)


@pytest.mark.parametrize(
    ("value", "ends", "expected"),
    [
        (0.0, (-10.0, 30.0), 0.25),
        (-INF, (-10.0, 30.0), 0.0),
        (INF, (-10.0, 30.0), 1.0),
        (99.0, (-10.0, 30.0), 1.0),
        (3.0, (3.0, 3.0), 0.5),
        (2.0, (3.0, 3.0), 0.0),
        (INF, (3.0, 3.0), 1.0),
    ],
)
def test_a_value_lies_somewhere_in_the_range(value, ends, expected):
    assert share(value, ends) == expected


@pytest.mark.parametrize(
    ("column", "condition", "expected"),
    [
        (TEMP, Condition("temp", 0.0, 20.0), Band(0.25, 0.75, True, True)),
        (TEMP, Condition("temp", 0.0), Band(0.25, 1.0, True, False)),
        (TEMP, Condition("temp", -50.0, 20.0), Band(0.0, 0.75, True, True)),
        (HOUR, Condition("hour", 6.0, 11.0, True, True), Band(0.25, 0.5, True, True)),
        (HOUR, Condition("hour", 5.0, 12.0, False, False), Band(0.25, 0.5, True, True)),
        (HOUR, Condition("hour", 5.2, 11.9), Band(0.25, 0.5, True, True)),
        (HOUR, Condition("hour", 5.2, 5.9), None),
        (HOUR, Condition("hour", missing=False), Band(0.0, 1.0, False, False)),
        (HOUR, None, None),
    ],
)
def test_the_band_is_the_share_of_the_range_in_which_the_condition_holds(column, condition, expected):
    assert band(column, condition) == expected


def test_the_ends_of_a_range_are_written_with_few_digits_but_whole_numbers_in_full():
    assert end_texts(Column("a", 0, extent=(-1.23456, 98765.4))) == ("-1.235", "98770")
    assert end_texts(Column("a", 0, "whole", extent=(0.0, 1234567.0))) == ("0", "1234567")


# --- drawings --------------------------------------------------------------------------------------------------------


def test_a_number_is_drawn_on_its_range():
    drawing = draw("temp", Condition("temp", 0.0, missing=True), TEMP, 10.0)
    assert (drawing.kind, drawing.at, drawing.value, drawing.ends) == ("range", 0.5, "10", ("-10", "30"))
    assert (drawing.condition, drawing.bounds) == ("(temp > 0 or temp is missing)", "> 0, or missing")
    assert drawing.band == Band(0.25, 1.0, True, False)


def test_a_missing_number_has_no_place_and_no_row_has_no_value():
    missing = draw("temp", None, TEMP, None)
    assert (missing.at, missing.value, missing.band, missing.bounds) == (None, "missing", None, "")
    without = draw("temp", None, TEMP, NO_ROW)
    assert (without.at, without.value) == (None, None)


@pytest.mark.parametrize("column", [None, Column("temp", 1)])
def test_a_column_of_unknown_range_is_in_words(column):
    drawing = draw("temp", Condition("temp", 1.0), column, 3.0)
    assert (drawing.kind, drawing.bounds, drawing.value, drawing.ends) == ("words", "> 1", "3", ())


def test_labels_are_chips_with_the_row_s_own_and_the_rare_ones_marked():
    drawing = draw("town", Condition("town", labels=("A",), excluded=True, missing=True), TOWN, "B")
    assert drawing.kind == "labels"
    assert drawing.bounds == ""
    assert drawing.chips == (
        Chip("A", 0, False, False),
        Chip("B", 1, True, True),
        Chip("3 rare ones", 2, True, False),
        Chip("C", 3, True, False),
        Chip("D", 4, True, False),
        Chip("missing", None, True, False),
    )


def test_the_row_s_own_rare_label_is_marked():
    own = [chip for chip in draw("town", None, TOWN, TOWN.decode(2)).chips if chip.is_own]
    assert own == [Chip("3 rare ones", 2, False, True)]


def test_a_missing_label_is_a_chip():
    drawing = draw("town", Condition("town", values=False, missing=True), TOWN, None)
    assert drawing.bounds == "is missing"
    assert [chip for chip in drawing.chips if chip.is_in or chip.is_own] == [Chip("missing", None, True, True)]


def test_labels_of_an_unknown_column_are_those_of_the_condition():
    drawing = draw("town", Condition("town", labels=("A", "B"), excluded=True), None)
    assert drawing.before == "not"
    assert [(chip.text, chip.is_in, chip.is_own) for chip in drawing.chips] == [
        ("A", False, False),
        ("B", False, False),
    ]
    assert draw("town", Condition("town", labels=("A",)), None).before == ""


@pytest.mark.parametrize("own", range(0, 20, 3))
@pytest.mark.parametrize("n_in", [1, 5, 11, 15, 20])
def test_long_lists_of_labels_are_cut_but_keep_the_row_s_own(own, n_in):
    drawing = draw("town", Condition("town", labels=TOWNS[:n_in]), MANY, TOWNS[own])
    chips = drawing.chips
    assert len(chips) == 12
    assert [chip.text for chip in chips if chip.is_own] == [TOWNS[own]]
    assert [chip.code for chip in chips] == sorted(chip.code for chip in chips)
    n_hidden = n_in - sum(chip.is_in for chip in chips)
    assert drawing.more == "and 8 more" + (f", {n_hidden} of them in the rule" if n_hidden else "")
    assert sum(chip.is_in for chip in chips) >= min(n_in, 7)


# --- texts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "text", "bounds"),
    [
        (Condition("a", 0.123456789), "a > 0.12346", "> 0.12346"),
        (Condition("a", 0.123456781, 0.123456789), "0.123456781 < a <= 0.123456789", "> 0.123456781, ≤ 0.123456789"),
        (Condition("a", 2.0, 2.0, True), "a = 2", "= 2"),
        (Condition("a", 2.0, 5.0, True, False), "2 <= a < 5", "≥ 2, < 5"),
        (Condition("a", 2.0, 5.0, True, True), "2 <= a <= 5", "2 to 5"),
        (Condition("a", high=5.0, missing=True), "(a <= 5 or a is missing)", "≤ 5, or missing"),
        (Condition("a", missing=True, values=False), "a is missing", "is missing"),
        (Condition("a"), "a is known", "any value"),
        (Condition("a", labels=("x",)), "a = x", "= x"),
        (
            Condition("a", labels=tuple("ABCDEFG"), excluded=True, missing=True),
            "(a not in {A, B, C, D, E, F and 1 more} or a is missing)",
            "not in {A, B, C, D, E, F and 1 more}, or missing",
        ),
    ],
)
def test_conditions_are_written_in_few_digits(condition, text, bounds):
    assert condition_text(condition) == text
    assert bounds_text(condition) == bounds


def test_missing_values_are_mentioned_in_one_sentence():
    known, missing = Condition("a", 1.0), Condition("b", 1.0, missing=True)
    assert missing_text([known]) == "A missing value is not allowed."
    assert missing_text([known, known]) == "None of them may be missing."
    assert missing_text([known, missing]) == "Missing values are allowed for b only."
    assert missing_text([Condition("a", missing=True, values=False)]) == ""
    assert missing_text([missing]) == "A missing value is allowed."
    assert missing_text([missing, missing]) == "Missing values are allowed."


def test_rare_categories_are_counted():
    assert [code_text(TOWN, code) for code in range(5)] == ["A", "B", "3 rare ones", "C", "D"]


# --- 0 and 1 ---------------------------------------------------------------------------------------------------------


HOLIDAY = Column("holiday", 0, "whole", extent=(0.0, 1.0))


@pytest.mark.parametrize(
    ("condition", "included", "text"),
    [
        (Condition("holiday", 0.5, reads="yes/no"), [1], "holiday = yes"),
        (Condition("holiday", high=0.5, reads="yes/no"), [0], "holiday = no"),
        (Condition("holiday", 0.0, 1.0, True, False), [0], "0 <= holiday < 1"),  # of an earlier version
    ],
)
def test_0_and_1_are_drawn_as_two_categories(condition, included, text):
    """They were drawn on a continuous axis, where 1 lay at three quarters."""
    drawn = draw("holiday", condition, HOLIDAY, 1)
    chips = (Chip("no", 0, included == [0], False), Chip("yes", 1, included == [1], True))
    assert (drawn.kind, drawn.chips, drawn.value, drawn.condition) == ("labels", chips, "yes", text)
    assert included_codes(HOLIDAY.drawn, condition) == included
    assert spans(HOLIDAY, condition).known == ((included[0] - 0.5, included[0] + 0.5),)
    assert draw("holiday", condition, HOLIDAY, 2).value == "2"
    assert HOUR.drawn is HOUR
    assert Column("when.hour", 0, "whole", "hour", extent=(0.0, 1.0)).reads == "whole"


def test_whole_bounds_are_written_by_the_numbers_within():
    hour = Condition("hour", 19, 20, True, False, reads="whole")
    assert (bounds_text(hour), condition_text(hour)) == ("= 19", "hour = 19")
    assert bounds_text(Condition("hour", 2.5, 7.2, reads="whole")) == "3 to 7"
    assert bounds_text(Condition("open", labels=(True,))) == "= yes"


# --- training values -------------------------------------------------------------------------------------------------


def height_at(outline, place):
    """The height of an outline at a place in per cent."""
    return max((height for (x, height), (end, _) in itertools.pairwise(outline) if x <= place < end), default=0)


def test_an_outline_counts_each_whole_number_of_a_short_range():
    hours = np.array([0, 0, 0, 0, 12, 12, 23, np.nan], dtype=np.float32)
    shape = Distribution.of_values(HOUR, hours)
    assert shape.missing == 1 / 8
    assert shape.outline[:8] == ((0, 0), (0, 100), (4, 100), (4, 0), (50, 0), (50, 50), (54, 50), (54, 0))
    assert shape.outline[8:] == ((96, 0), (96, 25), (100, 25), (100, 0))


def test_bins_of_many_whole_numbers_hold_as_many_of_them():
    """Bins of equal width would hold now one and now two of them: a comb."""
    column = Column("year", 0, "whole", extent=(0.0, 40.0))
    outline = Distribution.of_values(column, np.arange(41, dtype=np.float32)).outline
    assert outline == ((0, 0), (0, 100), (100, 100), (100, 0))  # the last bin holds one number, in half the width


def test_a_bin_of_few_rows_is_seen_and_an_empty_one_is_not_there():
    temps = np.concatenate([np.full(1000, -10.0), [30.0]]).astype(np.float32)
    outline = Distribution.of_values(TEMP, temps).outline
    assert (height_at(outline, 2), height_at(outline, 50), height_at(outline, 98)) == (100, 0, 8)


def test_categories_and_yes_no_columns_have_shares_of_all_rows():
    codes = np.array([0, 0, 1, np.nan], dtype=np.float32)
    assert Distribution.of_values(TOWN, codes).shares == (0.5, 0.25, 0, 0, 0)
    member = Column("member", 0, "whole", extent=(0.0, 1.0))
    assert Distribution.of_values(member, codes).shares == (0.5, 0.25)


def test_a_column_of_one_value_or_of_none_has_a_drawing():
    same = Column("same", 0, "number", extent=(2.0, 2.0))
    assert Distribution.of_values(same, np.full(5, 2.0, dtype=np.float32)).outline[1] == (48, 100)
    nothing = Distribution.of_values(Column("empty", 0), np.full(5, np.nan, dtype=np.float32))
    assert (nothing.outline, nothing.missing) == ((), 1.0)


def test_a_drawing_has_the_training_values_and_says_how_many_are_missing():
    shape = Distribution.of_values(TEMP, np.array([-10, 30, np.nan, np.nan], dtype=np.float32))
    drawing = draw("temp", Condition("temp", low=0.0), TEMP, 12.0, shape)
    assert drawing.outline == shape.outline
    assert drawing.missing == "50 % missing"
    towns = Distribution.of_values(TOWN, np.array([0, 0, 1, np.nan], dtype=np.float32))
    chips = draw("town", None, TOWN, "A", towns).chips
    assert [chip.share for chip in chips] == [0.5, 0.25, 0, 0, 0, 0.25]
    assert chips[-1].text == "missing"


def test_of_many_categories_the_most_frequent_are_drawn():
    codes = np.repeat(np.arange(20), np.arange(20)).astype(np.float32)
    drawing = draw("town", None, MANY, "town A", Distribution.of_values(MANY, codes))
    assert [chip.text for chip in drawing.chips] == ["town A", *TOWNS[-11:]]


def test_fewer_categories_are_drawn_if_their_labels_are_long():
    labels = tuple((f"{'a very long label ' * 2}{i}",) for i in range(20))
    column = Column("town", 2, "category", labels=labels)
    assert len(draw("town", None, column).chips) == 4
