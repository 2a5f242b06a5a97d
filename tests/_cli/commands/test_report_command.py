"""`suffice report`."""

from __future__ import annotations

from pathlib import Path

from shop import command


def test_a_report_is_a_page(here, capsys):
    assert command("report buys.suffice new.csv --ignore-extra -o out.txt") == 2
    assert "Use one of .html" in capsys.readouterr().err
    assert command("report buys.suffice new.csv --ignore-extra -o out.html --rows 3 --target buys") == 0
    assert "3 rows explained, written to out.html." in capsys.readouterr().err


def test_a_report_goes_to_standard_output(here, capsys):
    """`-o -` was refused because it has no suffix."""
    assert command("report buys.suffice new.csv --ignore-extra -o - --rows 3") == 0
    written = capsys.readouterr()
    assert written.out.startswith("<!doctype html>")
    assert written.out.rstrip().endswith("</html>")
    assert "3 rows explained, written to standard output." in written.err


def test_rows_of_a_page_are_called_by_a_column(here, capsys):
    """`explain -o page.html` dropped the column, and `report` had no such option."""
    for args in ("report buys.suffice new.csv --ignore-extra -o out.html", "explain buys.suffice new.csv -o out.html"):
        assert command(f"{args} --ignore-extra --rows 3 --id id --target buys") == 0
        assert '"names":["c' in Path("out.html").read_text()


def test_the_text_of_a_row_has_its_name(here, capsys):
    assert command("explain buys.suffice new.csv --ignore-extra --rows 2 --id id -f text") == 0
    assert "\nRow c" in capsys.readouterr().out


def test_a_report_states_the_reasons_of_rows_in_the_words_of_a_code_book(here, capsys):
    lines = [
        f"{name},R{i},The {name} in our words" for i, name in enumerate(("age", "city", "code", "income", "member"))
    ]
    Path("codes.csv").write_text("\n".join(["variable,code,text", *lines]))
    line = "report buys.suffice new.csv --ignore-extra -o out.html --rows 20 --adverse no"
    assert command(f"{line} --codes codes.csv --protected city") == 0
    page = Path("out.html").read_text()
    assert "rows whose outcome is no have reasons." in page
    assert "in our words" in page
    assert command("report buys.suffice new.csv --ignore-extra -o plain.html --rows 20") == 0
    assert "have reasons." not in Path("plain.html").read_text()


def test_a_bad_code_book_is_refused_before_the_report(here, capsys):
    Path("codes.csv").write_text("variable,code,text\nage,A1,Age\n")
    line = "report buys.suffice new.csv --ignore-extra -o never.html"
    for options, message in (
        ("--codes codes.csv", "has no code: ['city']"),
        ("--adverse maybe", "'maybe'"),
        ("--protected citty", "Did you mean 'city'?"),
    ):
        assert command(f"{line} {options}") == 2
        assert message in capsys.readouterr().err
    assert not Path("never.html").exists()
