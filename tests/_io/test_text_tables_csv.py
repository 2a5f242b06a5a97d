"""CSV files: separators, line ends, quotes, missing values, numbers and dates."""

from __future__ import annotations

import datetime

import polars as pl
import pytest
from table_files import read

from suffice._io.sources import TableFileWarning
from suffice._table.table import MISSING_TEXTS as MISSING


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way_and_the_last_need_not(end, tmp_path):
    expected = {"a": [1, 2], "b": ["x", "y"]}
    for text in ("a,b\n1,x\n2,y", "a,b\n1,x\n2,y\n", "\n\na,b\n\n1,x\n2,y\n\n\n", 'a,b\n1,"x"\n2,y'):
        assert read(tmp_path, text.replace("\n", end)).to_dict(as_series=False) == expected


def test_spaces_around_fields_do_not_count(tmp_path):
    table = read(tmp_path, "age, city , income\n1, Rome, 2.5\n NA ,Oslo ,3\n")
    assert table.to_dict(as_series=False) == {"age": [1, None], "city": ["Rome", "Oslo"], "income": [2.5, 3.0]}


@pytest.mark.parametrize("word", MISSING)
def test_words_for_missing_values(word, tmp_path):
    table = read(tmp_path, f"a,b,c\n1,x,2024-01-01\n{word},{word},{word}\n")
    assert table.rows() == [(1, "x", datetime.date(2024, 1, 1)), (None, None, None)]


def test_none_with_a_small_letter_is_a_category(tmp_path):
    assert read(tmp_path, "a,b\nnone,1\nmild,2\n")["a"].to_list() == ["none", "mild"]


def test_a_quoted_empty_field_is_missing(tmp_path):
    assert read(tmp_path, 'a,b\n"",1\nx,2\n')["a"].to_list() == [None, "x"]


def test_in_a_single_column_a_blank_line_is_a_missing_value_except_at_the_end(tmp_path):
    assert read(tmp_path, "a\n1\n\n3\n\n\n")["a"].to_list() == [1, None, 3]


def test_a_quote_inside_a_field_stays(tmp_path):
    assert read(tmp_path, 'a,b\n5" pipe,1\nx,2\n')["a"].to_list() == ['5" pipe', "x"]


def test_the_separator_is_not_taken_from_within_fields(tmp_path):
    table = read(tmp_path, 'name;note\nA;"one, two, three"\nB;one, two\nC;none\n')
    assert table.columns == ["name", "note"]
    assert table["note"].to_list() == ["one, two, three", "one, two", "none"]


def test_times_of_day_and_zones(tmp_path):
    table = read(tmp_path, "t,u\n2024-01-01 10:00,2024-01-01T10:00:00Z\n2024-01-02 11:30,\n")
    assert table["t"].dtype == pl.Datetime
    assert table["u"][0].hour == 10


def test_a_column_that_was_text_stays_text(tmp_path):
    text = "code,flag,day\n007,true,2024-01-01\nNA,false,2024-01-02\n"
    table = read(tmp_path, text, text_columns={"code", "flag", "day", "elsewhere"})
    assert table.rows() == [("007", "true", "2024-01-01"), (None, "false", "2024-01-02")]


def test_an_empty_column_holds_missing_numbers(tmp_path):
    table = read(tmp_path, "a,b\n1,\n2,NA\n")
    assert table["b"].dtype == pl.Float64
    assert table["b"].to_list() == [None, None]


def test_a_column_without_a_name_gets_one(tmp_path):
    with pytest.warns(TableFileWarning, match="A column of .* has no name; it is called 'unnamed_1'"):
        assert read(tmp_path, ",a\n0,5\n1,6\n").columns == ["unnamed_1", "a"]


def test_a_separator_at_the_end_of_every_line_makes_no_column(tmp_path):
    assert read(tmp_path, "a,b,\n1,2,\n3,4,\n").to_dict(as_series=False) == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_decimal_comma_is_read_where_it_is_clear(separator, tmp_path):
    text = "a|b|c\n1,5|2|1,500\n-2|3|2,250\n|4|\n".replace("|", separator)
    table = read(tmp_path, text)
    assert table.to_dict(as_series=False) == {"a": [1.5, -2.0, None], "b": [2, 3, 4], "c": [1.5, 2.25, None]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a;b\n1,500;2\n2,250;3\n", "1,500"),  # thousands, or a decimal comma
        ("a;b\n1,5;2.5\n2,5;3.5\n", "1,5"),  # the other column has a decimal point
        ('a,b\n"1,5",2\n"2,5",3\n', "1,5"),
        ("a;b\n1.234,5;2\n2.345,6;3\n", "1.234,5"),
        ("a,b\n$5,1\n$6.50,2\n", "$5"),
        ("a,b\n5 %,1\n6 %,2\n", "5 %"),
    ],
)
def test_other_text_that_looks_like_numbers_gets_a_warning(text, value, tmp_path):
    with pytest.warns(TableFileWarning) as messages:
        table = read(tmp_path, text)
    assert table["a"].dtype == pl.String
    assert f"The column 'a' of {tmp_path / 'table.csv'} is read as text, although values such as '{value}'" in str(
        messages[0].message
    )


def test_a_word_among_numbers_gets_a_warning(tmp_path):
    with pytest.warns(TableFileWarning, match=r"1 of 4 values, such as '\?', are not numbers"):
        read(tmp_path, "a,b\n1,x\n2,x\n?,x\n4,x\n")


def test_dates_that_begin_with_the_day_get_a_warning(tmp_path):
    with pytest.warns(TableFileWarning, match="such as '01/02/2024', are read as day, month, year"):
        table = read(tmp_path, "a,b\n1,01/02/2024\n2,13/02/2024\n")
    assert table["b"][0] == datetime.date(2024, 2, 1)


@pytest.mark.parametrize("text", ["a,b\nx1,1\ny2,2\n", "a,b\n1.2.3,1\nx,2\n", "a,b\n1,2\n2,3\n"])
def test_plain_text_and_plain_numbers_get_no_warning(text, tmp_path):
    read(tmp_path, text)  # a warning would be an error
