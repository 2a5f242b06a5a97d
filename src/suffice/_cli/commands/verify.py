"""``suffice verify``: compute records of decisions again, and report which differ and how."""

from __future__ import annotations

from typing import Annotated

import typer

from suffice._cli.commands import options
from suffice._cli.printing import note, say, working

DIFFERS = 5  # the exit code
N_SHOWN = 20  # records that are printed


def verify(
    records: Annotated[
        str, typer.Argument(metavar="RECORDS", help="The records that [bold]suffice reasons[/] has written.")
    ],
    explainer: options.Explainer,
    rows: Annotated[
        str | None,
        typer.Argument(metavar="ROWS", help="The table with the rows; by default the values in the records."),
    ] = None,
    codes: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The code book: CSV or JSON. By default the one that was written beside the records."
        ),
    ] = None,
    model: options.DecidingModel = None,
    key: options.Key = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help=f"A CSV file that names all records that differ; at most {N_SHOWN} are printed.",
        ),
    ] = None,
) -> None:
    """Compute every record again from its values, and report which records differ and how.

    Each record holds its own digest, so that every edit is found, even of a space. Records of another explainer or
    code book are named.

    [bold]Examples[/]

    [cyan]suffice verify records.jsonl loans.suffice[/]

    [cyan]suffice verify records.jsonl loans.suffice new.csv || echo 'look at the records'[/]

    [cyan]suffice verify records.jsonl loans.suffice -o differ.csv[/]

    [bold]Exit codes[/]

    0: every record is as it was written, and the same when computed again; 5: some are not; 2: bad input.
    """
    from suffice import records as recorded

    with working("Computing the records again"):
        result = recorded.verify(
            records, explainer, rows, codes=codes, model=options.import_model(model), key=key, output=output
        )
    say(result.text(N_SHOWN))
    if output is None and result.n_problems > N_SHOWN:
        note("--output FILE writes all of them to a CSV file.")
    if not result.is_true:
        raise typer.Exit(DIFFERS)
