"""`suffice report`."""

from __future__ import annotations

from shop import command


def test_a_report_is_a_page(here, capsys):
    assert command("report buys.suffice new.csv --ignore-extra -o out.txt") == 2
    assert "use one of .html" in capsys.readouterr().err
    assert command("report buys.suffice new.csv --ignore-extra -o out.html --rows 3 --target buys") == 0
    assert "3 rows explained, written to out.html." in capsys.readouterr().err
