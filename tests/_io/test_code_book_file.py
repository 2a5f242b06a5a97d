"""Code books from files: formats, encodings, and what is wrong with a file."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from suffice import CodeBook, Condition
from suffice._io.code_book_file import codes_beside, read_condition, write_code_book
from suffice._io.sources import TableFileWarning
from suffice.reasons.code_book import CodeLine

CSV = "variable,condition,direction,code,text\nincome,< 10,,R1,Very low\nincome,,low,R2,Größe {value}\nhome,,,R3,Home\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="codes.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def test_code_books_do_not_need_polars(write):
    """It is not installed with the library alone: `reasons(X, codes=...)` failed without it."""
    code = (
        f"from suffice import CodeBook; CodeBook.read({str(write(CSV))!r}); import sys; print('polars' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_csv_json_and_dictionaries_say_the_same(write):
    lines = [
        {"variable": "income", "condition": "< 10", "code": "R1", "text": "Very low"},
        {"variable": "income", "direction": "low", "code": "R2", "text": "Größe {value}"},
        {"variable": "home", "code": "R3", "text": "Home"},
    ]
    by_name = {
        "income": [{name: line[name] for name in line if name != "variable"} for line in lines[:2]],
        "home": ["R3", "Home"],
    }
    expected = CodeBook.read(write(CSV))
    assert [line.code for line in expected.lines] == ["R1", "R2", "R3"]
    assert expected.lines[0].condition == Condition("income", high=10.0, high_closed=False)
    for source in (lines, by_name, write(json.dumps(lines), "a.json"), write(json.dumps(by_name), "b.json")):
        assert CodeBook.read(source) == expected
    assert CodeBook.read(str(write(CSV.replace(",", ";"), "semicolon.csv"))) == expected
    assert CodeBook.read(write(CSV.replace("\n", "\r\n"), "windows.csv")) == expected


def test_a_text_alone_has_the_variable_as_its_code():
    assert CodeBook.read({"home": "Home"}) == CodeBook.read({"home": ("home", "Home")})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_are_recognised(write, encoding):
    assert CodeBook.read(write(CSV, encoding=encoding)).lines[1].text == "Größe {value}"


def test_windows_encodings_are_read_with_a_note(write):
    with pytest.warns(TableFileWarning, match="is not UTF-8; it is read as Windows-1252"):
        assert CodeBook.read(write(CSV, encoding="cp1252")).lines[1].text == "Größe {value}"


def test_a_line_may_say_that_people_cannot_change_the_variable(write, tmp_path):
    book = CodeBook.read(write("variable,code,text,fixed\na,A,x,yes\nb,B,y,\nc,C,z,No\nd,D,w, TRUE\n"))
    assert book.fixed == ("a", "d")
    lines = [{"variable": name, "code": name, "text": name, "fixed": name == "b"} for name in "ab"]
    of_values = CodeBook.read(lines)
    assert of_values.fixed == ("b",)
    write_code_book(of_values, tmp_path / "again.json")
    assert CodeBook.read(tmp_path / "again.json") == of_values
    # Books without such lines keep their digests.
    plain = CodeBook.read([{name: line[name] for name in ("variable", "code", "text")} for line in lines])
    assert "fixed" not in plain.lines[0].to_dict()
    assert plain.digest != of_values.digest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "names its columns variable, condition, direction, code, text, fixed .*: missing"),
        ("variable,text\na,b\n", r"missing \['code'\]"),
        ("variable,code,text,conditon\na,b,c,d\n", r"unknown \['conditon'\]. Did you mean 'condition'?"),
        ("variable,code,text,code\na,b,c,d\n", "has two columns 'code'"),
        ("variable,code,text\n", "has no lines: write one for each variable"),
        ("variable,code,text\na,b,c\na,b\n", r"codes.csv, line 3: 2 values for 3 columns"),
        ("variable,code,text\na,b,\n", "codes.csv, line 2: `text` must be a text that is not empty, got ''"),
        ("variable,code,text\na,b,c\na,d,e\n", "two lines for 'a': codes 'b' and 'd'"),
        ('variable,code,text\na,b,"c\n', "codes.csv, line 2"),
        ("variable,code,text,condition\na,b,c,below 7\n", "line 2: `condition` cannot be read from 'below 7'"),
        ("variable,code,text,direction\na,b,c,up\n", "line 2: `direction` must be 'low' or 'high', got 'up'"),
        ("variable,code,text,fixed\na,b,c,perhaps\n", "line 2: `fixed` must be yes or no, got 'perhaps'"),
        ("variable,code,text\na,b,{income}\n", "line 2: The text of code 'b' holds {income}"),
        (b"variable,code,text\na,b,\x00\x00c\n", "contains NUL bytes, so it is not a text file"),
        (b"variable,code,text\na,b,\x07c\n", "control character"),
    ],
)
def test_bad_csv_gets_a_clear_sentence(write, content, message):
    with pytest.raises(ValueError, match=message):
        CodeBook.read(write(content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1]", "codes.json, line 1: a line is an object with variable, code, text, got 1"),
        ("{", "codes.json, line 1: this is not JSON"),
        ('{"a": "b", "a": "c"}', "has the key 'a' twice in one object"),
        ('[{"variable": "a", "code": "b", "code": "c", "text": "d"}]', "has the key 'code' twice"),
        ("7", "holds int: a code book is a list of lines, or an object"),
        ('{"a": 7}', "'a': a variable has a text, a pair"),
        ('[{"variable": "a", "code": "b", "txt": "c"}]', "got 'txt'. Did you mean 'text'?"),
        ('[{"variable": "a", "code": "b", "text": "c", "condition": 7}]', "`condition` must be a text"),
        ("[]", "has no lines"),
        ("[" * 100_000, "nested too deeply"),
        (f'{{"a": {"1" * 5000}}}', r"codes.json has a number of 5,000 digits, which is too long\.$"),
    ],
)
def test_bad_json_gets_a_clear_sentence(write, content, message):
    with pytest.raises(ValueError, match=message):
        CodeBook.read(write(content, "codes.json"))


def test_a_file_that_is_not_there(tmp_path):
    (tmp_path / "codes.csv").write_text(CSV)
    with pytest.raises(ValueError, match=r"There is no file '.*code.csv'. Did you mean '.*codes.csv'\?"):
        CodeBook.read(tmp_path / "code.csv")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("<20000", "v < 20000"),
        (">= 1e3", "v >= 1000"),
        ("= 5", "v = 5"),
        ("5..7.5", "5 <= v <= 7.5"),
        ("= rent", "v = rent"),
        ('= "a, b"', 'v = "a, b"'),
        ("!= rent", "v != rent"),
        ("in {rent, free}", "v in {free, rent}"),
        ("not in {rent, free}", "v not in {free, rent}"),
        ("is missing", "v is missing"),
        ("missing", "v is missing"),
    ],
)
def test_conditions_are_read(text, written):
    assert str(read_condition("v", text)) == written


@pytest.mark.parametrize("text", ["7", "low", "< x", "7..5", "= ", "5..", "< 3 AND v > 1"])
def test_other_conditions_are_refused(text):
    with pytest.raises(ValueError, match=r"`condition` cannot be read from|No number satisfies"):
        read_condition("v", text)


def test_many_lines_are_read(write):
    n = 10_000
    lines = [f"v{i},< {i % 50},R{i},Text {{value}} {i}" for i in range(n)]
    book = CodeBook.read(write("variable,condition,code,text\n" + "\n".join(lines)))
    assert len(book.lines) == n
    assert book.find(f"v{n - 1}", 3, None).code == f"R{n - 1}"
    assert len(book.digest) == 64


def test_a_script_is_text_like_any_other():
    book = CodeBook.read({"a": ("R1", "<script>alert('{value}')</script>")})
    assert book.lines[0].write("1", "") == "<script>alert('1')</script>"


def test_a_written_code_book_reads_as_the_same_lines(tmp_path):
    texts = ["< 10", ">= 0.1", "5..7.25", "= rent", "in {rent, free}", "is missing", ""]
    lines = [
        {"variable": "income", "condition": text, "code": f"R{i}", "text": f"Größe {{value}} {i}"}
        for i, text in enumerate(texts)
    ]
    book = CodeBook.read([*lines, {"variable": "age", "direction": "low", "code": "A", "text": "Young"}])
    path = codes_beside(tmp_path / "decisions.jsonl")
    assert path.name == "decisions.codes.json"
    write_code_book(book, path)
    assert CodeBook.read(path) == book
    assert CodeBook.read(path).digest == book.digest


def test_a_code_book_that_no_file_can_say_is_not_written(tmp_path):
    half_open = CodeLine("income", "R1", "Income", Condition("income", 1.0, 2.0, low_closed=False, high_closed=True))
    write_code_book(CodeBook((half_open,)), tmp_path / "codes.json")
    assert not (tmp_path / "codes.json").exists()
