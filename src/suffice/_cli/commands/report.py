"""``suffice report``: write a page about the explanations of the rows of a table file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice._cli.commands.options import (
    CandidatesOption,
    CheckOption,
    ConfidenceOption,
    ExplainerArgument,
    IdOption,
    IgnoreOption,
    InputOption,
    LevelsOption,
    LimitOption,
    ObservedOption,
    PiOption,
    RowsArgument,
    RulesOption,
    SetsOption,
    UnseenOption,
    changed_settings,
)
from suffice._cli.printing import note
from suffice.words import counted

if TYPE_CHECKING:
    from suffice.explanations import Explanations

EXAMPLES = (
    "[bold]Examples[/]\n\n[cyan]suffice report bikes.suffice today.csv -o today.html[/]\n\n"
    '[cyan]suffice report loans.suffice new.parquet -o loans.html --title "Loans of May"[/]'
)


def report(
    explainer: ExplainerArgument,
    rows: RowsArgument,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the HTML page; - for standard output.")
    ],
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    n_rows: LimitOption = None,
    target: ObservedOption = None,
    ids: IdOption = None,
    sets: SetsOption = "all",
    rules: RulesOption = "minimal",
    check: CheckOption = "rows",
    pi: PiOption = None,
    levels: LevelsOption = None,
    confidence: ConfidenceOption = None,
    candidates: CandidatesOption = None,
    unseen: UnseenOption = None,
    ignore_extra: IgnoreOption = False,
    input_format: InputOption = None,
) -> None:
    """Write a page about the explanations of all rows, to be opened in a browser."""
    from suffice._cli.questions import explain_whole, open_question
    from suffice._io.explainer_file import load_explainer_file
    from suffice._io.output import format_of_output
    from suffice._io.sources import STDIO

    if output != STDIO:
        format_of_output(output, ["html"], [explainer, rows])
    question = open_question(
        load_explainer_file(explainer, changed_settings(pi, levels, confidence, unseen, ignore_extra, candidates)),
        rows,
        input_format=input_format,
        limit=n_rows,
        target=target,
        kept=ids or [],
        sets=sets,
        rules=None if rules == "none" else rules,
        check=check,
    )
    explanations = explain_whole(question).explanations
    write_report(explanations, output, title)
    place = "standard output" if output == STDIO else output
    note(f"{counted(len(explanations), 'row')} explained, written to {place}.")


def write_report(explanations: Explanations, output: str, title: str | None) -> None:
    """Write the page.

    Parameters
    ----------
    explanations : Explanations
        The explanations.
    output : str
        The path, or "-" for standard output.
    title : str or None
        The title of the page; None for the usual one.
    """
    import tempfile

    from suffice._io.output import write_bytes
    from suffice._io.sources import STDIO

    if output != STDIO:
        explanations.report(output, title=title)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        explanations.report(path, title=title)
        write_bytes(path.read_bytes(), output)
