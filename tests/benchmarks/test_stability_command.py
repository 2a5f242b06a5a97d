"""`suffice stability`."""

from __future__ import annotations

from pathlib import Path

from shop import command


def test_the_page_is_written(here, capsys):
    args = "stability buys.suffice shop.csv --ignore-extra --adverse no --rows 4 --changes 1 --seed 1 -o page.html"
    assert command(args) == 0
    printed = capsys.readouterr()
    assert "of 4 rows have reasons." in printed.out
    assert "Another seed of the forest:" in printed.out
    assert "Written to page.html." in printed.err
    assert "Stability of the reasons for buys" in Path("page.html").read_text(encoding="utf-8")
    assert command(f"{args} --target buys --noise 0 --protected code") == 0


def test_bad_input_is_refused(here, capsys):
    for args, message in (
        ("buys.suffice shop.csv --ignore-extra -o page.txt", "use one of .html"),
        ("buys.suffice shop.csv --ignore-extra --adverse maybe -o page.html", "maybe"),
        ("spent.suffice shop.csv --ignore-extra -o page.html", "--adverse is needed for numbers"),
        (
            "buys.suffice shop.csv --ignore-extra --adverse no --target bought -o page.html",
            "there is no column 'bought'",
        ),
        ("buys.suffice shop.csv --ignore-extra --adverse no --noise -1 -o page.html", "must be a number >= 0"),
    ):
        assert command(f"stability {args}") == 2
        assert message in capsys.readouterr().err
