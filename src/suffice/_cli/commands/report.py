"""``suffice report``: write a page about the explanations of the rows of a table file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice._cli.commands.change import read_names, read_target
from suffice._cli.commands.options import (
    AdverseOption,
    CandidatesOption,
    CheckOption,
    CodesOption,
    ConfidenceOption,
    ExplainerArgument,
    IdOption,
    IgnoreOption,
    InputOption,
    LevelsOption,
    LimitOption,
    ObservedOption,
    PiOption,
    ProtectedOption,
    RowsArgument,
    RulesOption,
    SetsOption,
    UnseenOption,
    changed_settings,
)
from suffice._cli.printing import note
from suffice._text import counted

if TYPE_CHECKING:
    from suffice._cli.questions import Question
    from suffice.explaining.explanations import Explanations
    from suffice.reasons.values import Reasons

EXAMPLES = (
    "[bold]Examples[/]\n\n[cyan]suffice report bikes.suffice today.csv -o today.html[/]\n\n"
    '[cyan]suffice report loans.suffice new.parquet -o loans.html --title "Loans of May"[/]\n\n'
    "[cyan]suffice report loans.suffice new.csv --adverse bad --codes codes.csv -o loans.html[/]\n\n"
    "With [bold]--adverse[/], [bold]--codes[/] or [bold]--protected[/] the page has the reasons of each row, as "
    "[bold]suffice reasons[/] gives them."
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
    adverse: AdverseOption = None,
    codes: CodesOption = None,
    protected: ProtectedOption = None,
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
    # What is wrong with the code book is said before anything runs.
    reasons_options = _reasons_options(question, adverse, codes, protected)
    explanations = explain_whole(question).explanations
    reasons = None
    if reasons_options is not None:
        part = question.part(question.read(0, question.end))
        reasons = question.explainer.reasons(part.X, part.y, ids=part.ids, progress=False, **reasons_options)
    write_report(explanations, output, title, reasons)
    place = "standard output" if output == STDIO else output
    note(f"{counted(len(explanations), 'row')} explained, written to {place}.")


def _reasons_options(
    question: Question, adverse: str | None, codes: str | None, protected: str | None
) -> dict[str, Any] | None:
    """Read the options of reasons; None if the page needs none."""
    if adverse is None and codes is None and protected is None:
        return None
    from suffice.reasons.code_book import CodeBook

    explainer = question.explainer
    is_class = explainer.task_ == "classification"
    options: dict[str, Any] = {
        "adverse": None if adverse is None else read_target(adverse, is_class, explainer, "--adverse"),
        "codes": None if codes is None else CodeBook.read(codes),
        "protected": read_names(protected),
    }
    explainer.reasons(question.empty(), progress=False, **options)
    return options


def write_report(explanations: Explanations, output: str, title: str | None, reasons: Reasons | None = None) -> None:
    """Write the page."""
    import tempfile

    from suffice._io.output import write_bytes
    from suffice._io.sources import STDIO

    if output != STDIO:
        explanations.report(output, title=title, reasons=reasons)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        explanations.report(path, title=title, reasons=reasons)
        write_bytes(path.read_bytes(), output)
