"""``suffice report``: write a page about the explanations of the rows of a table file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice._cli.commands import options
from suffice._cli.printing import note
from suffice._text import counted

if TYPE_CHECKING:
    from suffice._cli.rows import FileRows
    from suffice.explaining.explanations import Explanations
    from suffice.reasons.values import Reasons


def report(
    explainer: options.Explainer,
    rows: options.Rows,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the HTML page; - for standard output.")
    ],
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    n_rows: options.Limit = None,
    target: options.Observed = None,
    ids: options.Ids = None,
    adverse: options.Adverse = None,
    codes: options.Codes = None,
    protected: options.Protected = None,
    sets: options.Sets = "minimal",
    rules: options.Rules = "minimal",
    check: options.Check = "everywhere",
    pi: options.Pi = None,
    levels: options.Levels = None,
    confidence: options.Confidence = None,
    candidates: options.Candidates = None,
    unseen: options.Unseen = None,
    ignore_extra: options.IgnoreExtra = False,
    input_format: options.InputFormat = None,
) -> None:
    """Write a page about the explanations of all rows, to be opened in a browser.

    [bold]Examples[/]

    [cyan]suffice report bikes.suffice today.csv -o today.html[/]

    [cyan]suffice report loans.suffice new.parquet -o loans.html --title "Loans of May"[/]

    [cyan]suffice report loans.suffice new.csv --adverse bad --codes codes.csv -o loans.html[/]

    With [bold]--adverse[/], [bold]--codes[/] or [bold]--protected[/] the page has the reasons of each row, as
    [bold]suffice reasons[/] gives them.
    """
    from suffice._cli.rows import open_rows
    from suffice._io.explainer_file import load_explainer_file
    from suffice._io.output import format_of_output

    if output != "-":
        format_of_output(output, ["html"], [explainer, rows])
    settings = options.changed_settings(pi, levels, confidence, unseen, ignore_extra, candidates)
    opened = open_rows(
        load_explainer_file(explainer, settings),
        rows,
        input_format=input_format,
        limit=n_rows,
        target=target,
        kept=ids or [],
        sets=sets,
        rules=None if rules == "none" else rules,
        check=check,
    )
    has_reasons = (adverse, codes, protected) != (None, None, None)
    # Errors in the code book are reported before anything runs.
    reason_options = _reason_options(opened, adverse, codes, protected) if has_reasons else {}
    explanations = opened.explain_all().explanations
    reasons = None
    if has_reasons:
        part = opened.part(opened.read(0, opened.end))
        reasons = opened.explainer.reasons(part.X, part.y, ids=part.ids, progress=False, **reason_options)
    write_report(explanations, output, title, reasons)
    place = "standard output" if output == "-" else output
    note(f"{counted(len(explanations), 'row')} explained, written to {place}.")


def _reason_options(opened: FileRows, adverse: str | None, codes: str | None, protected: str | None) -> dict[str, Any]:
    from suffice.reasons.code_book import CodeBook

    explainer = opened.explainer
    reason_options: dict[str, Any] = {
        "adverse": None if adverse is None else options.read_target(adverse, explainer, "--adverse"),
        "codes": None if codes is None else CodeBook.read(codes),
        "protected": options.read_names(protected),
    }
    explainer.reasons(opened.empty(), progress=False, **reason_options)
    return reason_options


def write_report(explanations: Explanations, output: str, title: str | None, reasons: Reasons | None = None) -> None:
    """Write the page."""
    from suffice._io.output import write_bytes
    from suffice._show.report import make_report

    page = make_report(explanations, title=title, reasons=reasons)
    write_bytes(page.encode(errors="xmlcharrefreplace"), output)
