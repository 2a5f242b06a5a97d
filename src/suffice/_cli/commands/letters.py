"""``suffice letters``: write a page for each decision record that has reasons."""

from __future__ import annotations

import datetime
from typing import Annotated

import typer

from suffice._cli.printing import say, working

EXAMPLES = (
    "[bold]Examples[/]\n\n[cyan]suffice letters decisions.jsonl -o letters[/]\n\n"
    "[cyan]suffice letters decisions.jsonl -o letters --template our-letter.html[/]\n\n"
    "A template is HTML for jinja2 with the fields [bold]id, row, date, outcome, target, reasons, values, change[/] "
    "and [bold]record[/]; every value is escaped. letters.csv in the folder has a line for each record."
)


def letters(
    records: Annotated[
        str, typer.Argument(metavar="RECORDS", help="JSON lines of [bold]suffice reasons[/], or - for standard input.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="A new or an empty folder for the pages.")
    ],
    template: Annotated[
        str | None,
        typer.Option("--template", metavar="FILE", help="A jinja2 template (HTML); by default a plain letter."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="FILE", help="The file with the key with which the records were signed, if any."),
    ] = None,
    date: Annotated[
        datetime.datetime | None,
        typer.Option("--date", formats=["%Y-%m-%d"], help="The date of the letters; by default today."),
    ] = None,
) -> None:
    """Write a letter, one HTML page to be printed on A4, for each record that has reasons.

    Rows that were refused get no letter: they are counted, and a person should look at them. If a record was edited,
    no letters are written at all.
    """
    from suffice.letters import read_records, write_letters

    with working("Writing letters"):
        written = write_letters(
            read_records(records, key=key), output, template=template, date=None if date is None else date.date()
        )
    say(str(written))
