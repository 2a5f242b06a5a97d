"""`suffice report`."""

from __future__ import annotations

import re
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
    """`report` had no such option."""
    assert command("report buys.suffice new.csv -o out.html --ignore-extra --rows 3 --id id --target buys") == 0
    assert re.search("Row c[0-9]", Path("out.html").read_text())


def test_the_text_of_a_row_has_its_name(here, capsys):
    assert command("explain buys.suffice new.csv --ignore-extra --rows 2 --id id -f text") == 0
    assert "\nRow c" in capsys.readouterr().out
