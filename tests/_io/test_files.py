"""Table files: every encoding, separator and compression, what is refused, and writing."""

from __future__ import annotations

import bz2
import datetime
import gzip
import io
import lzma
import os
import sys
import types
import zipfile

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from suffice._io.files import (
    MISSING,
    TableFileWarning,
    check_target,
    format_of_target,
    read_table,
    replacing,
    write_table,
)

ENCODINGS = {
    "utf-8": lambda text: text.encode("utf-8"),
    "utf-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16-be with a mark": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "utf-16-le without a mark": lambda text: text.encode("utf-16-le"),
    "utf-16-be without a mark": lambda text: text.encode("utf-16-be"),
    "utf-32": lambda text: text.encode("utf-32"),
    "cp1252": lambda text: text.encode("cp1252"),
    "latin-1": lambda text: text.encode("latin-1"),
}
COMPRESSIONS = {"": lambda data: data, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
PEOPLE = pl.DataFrame(
    {
        "name": ["Zoë", "O'Neil; or, |\tso", 'says "hi"', "two\nlines", None],
        "age": [31, None, 45, 27, 60],
        "height": [1.5, 1.75, None, 1.8, 2.0],
        "since": [datetime.date(2024, 1, day) for day in range(1, 6)],
        "member": [True, False, None, True, True],
    }
)


def people_csv(separator, end):
    lines = [
        ["name", "age", "height", "since", "member"],
        ["Zoë", "31", "1.5", "2024-01-01", "true"],
        ['"O\'Neil; or, |\tso"', "NA", "1.75", "2024-01-02", "false"],
        ['"says ""hi"""', "45", "", "2024-01-03", "N/A"],
        ['"two\nlines"', "27", "1.8", "2024-01-04", "True"],
        ["null", "60", "2.0", "2024-01-05", "TRUE"],
    ]
    return "".join(separator.join(line) + end for line in lines)


def read(tmp_path, data, name="table.csv", **options):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_table(str(path), **options)


# --- CSV --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_csv_file_of_any_make_is_the_same_table(encoding, separator, compression, tmp_path):
    text = people_csv(separator, "\n" if separator != ";" else "\r\n")
    data = COMPRESSIONS[compression](ENCODINGS[encoding](text))
    if encoding in ("cp1252", "latin-1"):
        with pytest.warns(TableFileWarning, match="is not UTF-8; it is read as Windows-1252"):
            found = read(tmp_path, data, f"table.csv{compression}")
    else:
        found = read(tmp_path, data, f"table.csv{compression}")
    assert_frame_equal(found, PEOPLE)


def test_windows_1252_has_its_own_characters(tmp_path):
    with pytest.warns(TableFileWarning, match="it is read as Windows-1252"):
        assert read(tmp_path, "a,b\n1,€ “x”\n".encode("cp1252"))["b"].to_list() == ["€ “x”"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way_and_the_last_need_not(end, tmp_path):
    expected = {"a": [1, 2], "b": ["x", "y"]}
    for text in ("a,b\n1,x\n2,y", "a,b\n1,x\n2,y\n", "\n\na,b\n\n1,x\n2,y\n\n\n", 'a,b\n1,"x"\n2,y'):
        assert read(tmp_path, text.replace("\n", end)).to_dict(as_series=False) == expected


def test_spaces_around_fields_do_not_count(tmp_path):
    found = read(tmp_path, "age, city , income\n1, Rome, 2.5\n NA ,Oslo ,3\n")
    assert found.to_dict(as_series=False) == {"age": [1, None], "city": ["Rome", "Oslo"], "income": [2.5, 3.0]}


@pytest.mark.parametrize("word", MISSING)
def test_words_for_missing_values(word, tmp_path):
    found = read(tmp_path, f"a,b,c\n1,x,2024-01-01\n{word},{word},{word}\n")
    assert found.rows() == [(1, "x", datetime.date(2024, 1, 1)), (None, None, None)]


def test_none_with_a_small_letter_is_a_category(tmp_path):
    assert read(tmp_path, "a,b\nnone,1\nmild,2\n")["a"].to_list() == ["none", "mild"]


def test_a_quoted_empty_field_is_missing(tmp_path):
    assert read(tmp_path, 'a,b\n"",1\nx,2\n')["a"].to_list() == [None, "x"]


def test_in_a_single_column_a_blank_line_is_a_missing_value_except_at_the_end(tmp_path):
    assert read(tmp_path, "a\n1\n\n3\n\n\n")["a"].to_list() == [1, None, 3]


def test_a_quote_inside_a_field_stays(tmp_path):
    assert read(tmp_path, 'a,b\n5" pipe,1\nx,2\n')["a"].to_list() == ['5" pipe', "x"]


def test_the_separator_is_not_taken_from_within_fields(tmp_path):
    found = read(tmp_path, 'name;note\nA;"one, two, three"\nB;one, two\nC;none\n')
    assert found.columns == ["name", "note"]
    assert found["note"].to_list() == ["one, two, three", "one, two", "none"]


def test_times_of_day_and_zones(tmp_path):
    found = read(tmp_path, "t,u\n2024-01-01 10:00,2024-01-01T10:00:00Z\n2024-01-02 11:30,\n")
    assert found["t"].dtype == pl.Datetime
    assert found["u"][0].hour == 10


def test_a_column_that_was_text_stays_text(tmp_path):
    text = "code,flag,day\n007,true,2024-01-01\nNA,false,2024-01-02\n"
    found = read(tmp_path, text, text_columns={"code", "flag", "day", "elsewhere"})
    assert found.rows() == [("007", "true", "2024-01-01"), (None, "false", "2024-01-02")]


def test_an_empty_column_holds_missing_numbers(tmp_path):
    found = read(tmp_path, "a,b\n1,\n2,NA\n")
    assert found["b"].dtype == pl.Float64
    assert found["b"].to_list() == [None, None]


def test_a_column_without_a_name_gets_one(tmp_path):
    with pytest.warns(TableFileWarning, match="A column of .* has no name; it is called 'unnamed_1'"):
        assert read(tmp_path, ",a\n0,5\n1,6\n").columns == ["unnamed_1", "a"]


def test_a_separator_at_the_end_of_every_line_makes_no_column(tmp_path):
    assert read(tmp_path, "a,b,\n1,2,\n3,4,\n").to_dict(as_series=False) == {"a": [1, 3], "b": [2, 4]}


# --- numbers that are text --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_decimal_comma_is_read_where_it_is_clear(separator, tmp_path):
    text = "a|b|c\n1,5|2|1,500\n-2|3|2,250\n|4|\n".replace("|", separator)
    found = read(tmp_path, text)
    assert found.to_dict(as_series=False) == {"a": [1.5, -2.0, None], "b": [2, 3, 4], "c": [1.5, 2.25, None]}


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
def test_other_text_that_looks_like_numbers_is_told(text, value, tmp_path):
    with pytest.warns(TableFileWarning) as told:
        found = read(tmp_path, text)
    assert found["a"].dtype == pl.String
    assert f"The column 'a' of {tmp_path / 'table.csv'} is taken as text, although values such as '{value}'" in str(
        told[0].message
    )


def test_a_word_among_numbers_is_told(tmp_path):
    with pytest.warns(TableFileWarning, match=r"1 of 4 values, such as '\?', are no numbers"):
        read(tmp_path, "a,b\n1,x\n2,x\n?,x\n4,x\n")


def test_dates_that_begin_with_the_day_are_told(tmp_path):
    with pytest.warns(TableFileWarning, match="such as '01/02/2024', are read as day, month, year"):
        found = read(tmp_path, "a,b\n1,01/02/2024\n2,13/02/2024\n")
    assert found["b"][0] == datetime.date(2024, 2, 1)


@pytest.mark.parametrize("text", ["a,b\nx1,1\ny2,2\n", "a,b\n1.2.3,1\nx,2\n", "a,b\n1,2\n2,3\n"])
def test_plain_text_and_plain_numbers_are_not_told(text, tmp_path):
    read(tmp_path, text)  # a warning would be an error


# --- what is refused --------------------------------------------------------------------------------------------------


def zipped():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.csv", b"", "a.csv is empty."),
        ("a.csv", b" \n\n", "a.csv is empty."),
        ("a.csv", gzip.compress(b"", mtime=0), "a.csv is empty."),
        ("a.csv", b"a,b\n", "a.csv has a header, but no rows."),
        ("a.csv", b"\xef\xbb\xbfa,b\n\n", "a.csv has a header, but no rows."),
        ("a.csv", b"a,b\n1,2\n3\n4,5\n", "a.csv, line 3: 1 field, but the header names 2 columns."),
        ("a.csv", b"a,b\n1,2\n\n3,4,5\n", "a.csv, line 4: 3 fields, but the header names 2 columns."),
        ("a.csv", b'a,b\n1,"x\ny"\n3,4,5\n', "a.csv, line 4: 3 fields, but the header names 2 columns."),
        ("a.csv", b'a,b\n1,2\n3,"4\n5,6\n', "a.csv, line 3: a quote opens a field that does not end."),
        ("a.csv", b'a,b\n1,"2"x\n', "a.csv, line 2: a quoted field goes on after its closing quote"),
        ("a.csv", b"a,b,a\n1,2,3\n", "a.csv has two columns named 'a': rename one."),
        ("a.csv", b"a,b\n1,\x00\n", "a.csv holds NUL bytes: it is not a table of text."),
        ("a.csv", b"a,b\n1,\x07\n", "a.csv, line 2: the control character '\\x07' cannot stand in a table of text."),
        ("a.csv", bytes(range(256)) * 4, "a.csv holds NUL bytes: it is not a table of text."),
        ("a.csv", b"\xff\xfea\x00,\x00b", "a.csv begins as UTF-16-LE, but does not go on like that."),
        ("a.csv", b"a,b\n1,\x81\x82\n", "a.csv, line 2: the text is neither UTF-8 nor Windows-1252;"),
        ("a.csv", "a,b\né,é\né,".encode() + b"\xe9\n", "a.csv, line 3: a byte is not UTF-8, in which the rest is"),
        ("a.csv", zipped(), "a.csv is a zip archive: unpack it first, or save a workbook as CSV."),
        ("a.xlsx", zipped(), "a.xlsx is a zip archive: unpack it first, or save a workbook as CSV."),
        ("a.csv", b"SQLite format 3\x00", "a.csv is a SQLite database: export the table as CSV."),
        ("a.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-5], "a.csv.gz is compressed, but damaged or cut off."),
        ("a.csv.gz", b"\x1f\x8b\x08rubbish", "a.csv.gz is compressed, but damaged or cut off."),
        ("a.csv.xz", lzma.compress(b"a,b\n1,2\n")[:-5], "a.csv.xz is compressed, but damaged or cut off."),
        ("a.parquet", b"a,b\n1,2\n", "a.parquet is not a file of the kind Parquet."),
        ("a.parquet", b"PAR1" + bytes(20), "a.parquet cannot be read as Parquet: "),
        ("a.arrow", b"ARROW1" + bytes(20), "a.arrow cannot be read as Arrow: "),
        ("a.feather", b"FEA1" + bytes(20), "a.feather is a Feather file of version 1:"),
        ("a.jsonl", b'{"a": 1}\n{"a":\n', "a.jsonl, line 2: a JSON object is expected on every line."),
        ("a.jsonl", b'{"a": 1}\n[1]\n', "a.jsonl, line 2: a JSON object is expected on every line."),
        ("a.json", b"[1, 2", "a.json cannot be read as JSON: "),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_one_sentence(name, data, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError) as error:  # noqa: PT011 (compared below)
        read_table(name)
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    (tmp_path / "train.csv").touch()
    with pytest.raises(ValueError, match=r"There is no file '.*/trian.csv'. Did you mean '.*/train.csv'\?"):
        read_table(str(tmp_path / "trian.csv"))
    with pytest.raises(ValueError, match=r"There is no file '/nowhere/at/all.csv'\.$"):
        read_table("/nowhere/at/all.csv")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is a folder: give a file"):
        read_table(str(tmp_path))


def test_a_file_without_permission_is_refused(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)  # an administrator may read everything
    with pytest.raises(ValueError, match="There is no permission to read"):
        read_table(str(tmp_path / "a.csv"))


# --- the other formats ------------------------------------------------------------------------------------------------


def as_bytes(frame, kind):
    data = io.BytesIO()
    {
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
        "stream": frame.write_ipc_stream,
        "jsonl": frame.write_ndjson,
        "json": frame.write_json,
        "csv": frame.write_csv,
    }[kind](data)
    return data.getvalue()


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "jsonl", "json", "csv"])
@pytest.mark.parametrize("name", ["table", "table.data"])
def test_the_content_tells_the_format(kind, name, tmp_path):
    assert_frame_equal(read(tmp_path, as_bytes(PEOPLE, kind), name), PEOPLE)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_the_content_counts_more_than_the_suffix(kind, tmp_path):
    assert_frame_equal(read(tmp_path, as_bytes(PEOPLE, kind), "table.csv"), PEOPLE)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "jsonl", "json", "csv"])
def test_standard_input(kind, monkeypatch):
    stdin = types.SimpleNamespace(buffer=io.BytesIO(as_bytes(PEOPLE, kind)), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)
    assert_frame_equal(read_table("-"), PEOPLE)


def test_a_terminal_is_no_table(monkeypatch):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(isatty=lambda: True))
    with pytest.raises(ValueError, match="Standard input is a terminal"):
        read_table("-")


def test_a_format_that_is_given_counts(tmp_path):
    assert read(tmp_path, '{"a"},b\n1,2\n', "x.jsonl", format="csv").columns == ['{"a"}', "b"]


def test_json_lines_may_leave_values_out(tmp_path):
    found = read(tmp_path, '{"a": 1, "b": "x"}\n\n{"a": 2.5}\n{"c": true}\n', "a.jsonl")
    assert found.rows() == [(1.0, "x", None), (2.5, None, None), (None, None, True)]


# --- round trips ------------------------------------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).filter(
    lambda word: word not in MISSING
)
VALUES = {
    pl.Int64: st.integers(-(2**62), 2**62),
    pl.Float64: st.floats(allow_nan=False, allow_infinity=False),
    pl.String: WORDS,
    pl.Boolean: st.booleans(),
    pl.Date: st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
}


@st.composite
def frames(draw):
    n_rows = draw(st.integers(1, 6))
    names = draw(st.lists(WORDS, min_size=2, max_size=5, unique=True))
    columns = []
    for name in names:
        dtype = draw(st.sampled_from(list(VALUES)))
        values = draw(st.lists(VALUES[dtype] | st.none(), min_size=n_rows, max_size=n_rows))
        if all(value is None for value in values):
            dtype = pl.Float64  # nothing tells what an empty column was
        columns.append(pl.Series(name, values, dtype=dtype))
    return pl.DataFrame(columns)


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "jsonl", "json"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(frame=frames())
def test_a_table_comes_back_as_it_was(kind, frame, tmp_path):
    path = str(tmp_path / f"table.{kind}")
    write_table(frame, path, kind)
    text_columns = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    found = read_table(path, text_columns=text_columns)
    assert_frame_equal(found, frame, check_exact=True)


# --- writing ----------------------------------------------------------------------------------------------------------


def test_lists_are_joined_in_a_csv_file_and_stay_in_others(tmp_path):
    frame = pl.DataFrame({"a": [1, 2], "set": [["x", "y"], ["z"]]})
    write_table(frame, str(tmp_path / "a.csv"), "csv")
    assert (tmp_path / "a.csv").read_text() == "a,set\n1,x; y\n2,z\n"
    write_table(frame, str(tmp_path / "a.parquet"), "parquet")
    assert_frame_equal(read_table(str(tmp_path / "a.parquet")), frame)


def test_a_file_is_replaced_completely_or_not_at_all(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(str(target)) as path:  # noqa: PT012
        path.write_text("half")
        raise KeyboardInterrupt
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]
    with replacing(str(target)) as path:
        path.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    with replacing(str(tmp_path / "link.txt")) as path:
        path.write_text("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_device_is_written_to():
    # A terminal of its own: a fault would replace /dev/null for the whole machine, if the tests run as root.
    ours, theirs = os.openpty()
    try:
        device = os.ttyname(theirs)
        with replacing(device) as path:
            assert str(path) == device
        assert not os.path.isfile(device)
    finally:
        os.close(ours)
        os.close(theirs)


def test_the_suffix_tells_the_format(tmp_path):
    known = ("csv", "parquet", "html")
    assert format_of_target(str(tmp_path / "a.PARQUET"), known) == "parquet"
    with pytest.raises(
        ValueError, match=r"the suffix '\.xlsx' is not known: use one of \.csv, \.parquet, \.pq, \.html"
    ):
        format_of_target(str(tmp_path / "a.xlsx"), known)
    with pytest.raises(ValueError, match="it has no suffix"):
        format_of_target(str(tmp_path / "a"), known)


def test_a_target_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    check_target(str(tmp_path / "a.csv"))
    with pytest.raises(ValueError, match="is a folder: give a file"):
        check_target(str(tmp_path))
    with pytest.raises(ValueError, match=r"There is no folder '.*/nowhere' to write 'a.csv' in"):
        check_target(str(tmp_path / "nowhere" / "a.csv"))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ValueError, match="There is no permission to write"):
        check_target(str(tmp_path / "a.csv"))


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="A table cannot be written as 'html'"):
        write_table(PEOPLE, str(tmp_path / "a.html"), "html")
    assert os.listdir(tmp_path) == []
