"""``suffice reasons`` and ``suffice verify``: reasons of decisions, records of them, and whether these are true."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice._cli.commands import options
from suffice._cli.printing import note, say, say_block, working
from suffice._text import counted

if TYPE_CHECKING:
    from suffice._cli.rows import ReasonedRows

REFUSED = 4  # the exit code


def reasons(
    explainer: options.Explainer,
    rows: options.Rows,
    codes: options.Codes = None,
    adverse: options.Adverse = None,
    n: Annotated[int, typer.Option("--reasons", min=1, metavar="N", help="How many reasons a row gets at most.")] = 4,
    protected: options.Protected = None,
    target: Annotated[str | None, options.outcome_column("The column of decisions; by default the forest's.")] = None,
    model: options.Model = None,
    change: Annotated[
        str | None,
        typer.Option(metavar="WANTED", help="Record what would change the outcome to this one, as `suffice change`."),
    ] = None,
    key: options.Key = None,
    output: Annotated[str, options.output("Write a record of each row: .jsonl; - is standard output.")] = "-",
    n_rows: options.Limit = None,
    ids: options.Ids = None,
    pi: options.Pi = None,
    levels: options.Levels = None,
    confidence: options.Confidence = None,
    candidates: options.Candidates = None,
    unseen: options.Unseen = None,
    ignore_extra: options.IgnoreExtra = False,
    batch: options.Batch = options.BATCH,
) -> None:
    """Give the reasons of each decision in order, refuse where they would not be true, and record how they came about.

    On a terminal the reasons of the first rows are printed. Records are written part by part: if the run is stopped,
    the same command continues it.

    [bold]Examples[/]

    [cyan]suffice reasons loans.suffice new.csv --adverse bad[/]

    [cyan]suffice reasons loans.suffice new.parquet --codes codes.csv --adverse bad --protected sex,age --id customer -o
    records.jsonl[/]

    [cyan]suffice reasons loans.suffice new.csv --adverse '<=500' --target score -o records.jsonl[/]

    A code book is a CSV file with the columns [bold]variable, condition, direction, code, text, fixed[/], or JSON.
    [bold]suffice verify[/] computes the records again.

    [bold]Exit codes[/]

    0: every adverse row has reasons; 4: some were refused and need human review; 2: bad input.
    """
    from suffice._cli.rows import ReasonedRows, open_rows
    from suffice._io.output import format_of_output
    from suffice._io.records import RecordContext, digest_of, read_key
    from suffice._io.sources import file_digest
    from suffice.reasons.code_book import CodeBook

    is_text = output == "-" and (sys.stdout.isatty() or n_rows is not None)
    format_of_output(output, ("jsonl",), [explainer, rows, codes])
    loaded = options.load(
        explainer, ignore_extra, candidates, pi=pi, levels=levels, confidence=confidence, unseen=unseen
    )
    book, secret = None if codes is None else CodeBook.read(codes), read_key(key)
    # Parts of a run with other options, or signed with another key, are not continued.
    fingerprint: dict[str, Any] = {
        "codes": None if book is None else book.digest,
        "adverse": adverse,
        "n": n,
        "protected": protected,
        "model": model,
        "change": change,
        "key": None if secret is None else digest_of("key", secret),
    }
    limit = n_rows if n_rows is not None or not is_text else options.N_SHOWN
    reason_options = {
        "codes": book,
        "adverse": options.read_target(adverse, loaded, "--adverse"),
        "n": n,
        "protected": options.read_names(protected),
        "model": options.import_model(model),
    }
    wanted = options.read_target(change, loaded, "--change")
    file_rows = open_rows(loaded, rows, target=target, kept=ids or [], limit=limit, **fingerprint)
    context = RecordContext(file_digest(explainer), wanted, file_rows.target, file_rows.kept, secret)
    opened = ReasonedRows(file_rows, reason_options, context)
    opened.check()
    if is_text:
        _print(opened)
        return
    opened.write(output, explainer_path=explainer, batch=batch)
    if output != "-":
        _report(output)


def _print(opened: ReasonedRows) -> None:
    rows = opened.rows
    reasons = opened.reasons(rows.read(0, rows.end))
    for answer in reasons:
        say_block(answer.label, answer.text)
    say("", str(reasons))
    if rows.n_more:
        note(f"{counted(rows.n_more, 'more row')}: --rows N shows more of them, -o FILE records all.")
    if reasons.n_refused:
        raise typer.Exit(REFUSED)


def _report(output: str) -> None:
    """Say what was written, and exit with a code of its own if rows were refused."""
    from suffice._io.records import count_statuses
    from suffice.reasons.values import REFUSALS

    with open(output, "rb") as lines:
        counts = count_statuses(lines)
    n_records = sum(counts.get(status, 0) for status in ("reasons", "refused", "not_adverse"))
    note(f"{counted(n_records, 'record')} written to {output}: {counts.get('reasons', 0)} with reasons.")
    n_refused = counts.get("refused", 0)
    if n_refused:
        listed = "; ".join(f"{meaning} ({counts[kind]})" for kind, meaning in REFUSALS.items() if kind in counts)
        note(f"{counted(n_refused, 'row')} {'needs' if n_refused == 1 else 'need'} human review: {listed}.")
        raise typer.Exit(REFUSED)


DIFFERS = 5  # the exit code
N_SHOWN = 20  # records that are printed


def verify(
    records: Annotated[str, typer.Argument(metavar="RECORDS", help="The records from [bold]suffice reasons[/].")],
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
    model: options.Model = None,
    key: options.Key = None,
) -> None:
    """Compute every record again from its values, and report which records differ and how.

    Each record holds its own digest, so that every edit is found, even of a space. Whoever knows how can write the
    digest of an edited record: what only [bold]--key[/], or the table, could have shown is named as not checked.

    [bold]Examples[/]

    [cyan]suffice verify records.jsonl loans.suffice[/]

    [cyan]suffice verify records.jsonl loans.suffice new.csv || echo 'look at the records'[/]

    [bold]Exit codes[/]

    0: every record is the same when computed again; 5: some are not; 2: bad input.
    """
    from suffice import records as recorded

    with working("Computing the records again"):
        result = recorded.verify(records, explainer, rows, codes=codes, model=options.import_model(model), key=key)
    say(result.text(N_SHOWN))
    if not result.is_true:
        raise typer.Exit(DIFFERS)
