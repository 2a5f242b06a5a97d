"""``suffice explain``: explain the rows of a table file, as text, JSON, a table or a page."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from suffice._cli.commands.options import (
    CandidatesOption,
    CheckOption,
    ConfidenceOption,
    ExplainerArgument,
    FormulasOption,
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
from suffice._cli.commands.report import write_report
from suffice._cli.printing import name_options, note, say, say_block
from suffice._text import counted

if TYPE_CHECKING:
    from suffice._cli.questions import ExplainedRows

EXAMPLES = (
    "[bold]Examples[/]\n\n[cyan]suffice explain bikes.suffice today.csv[/]\n\n"
    "[cyan]suffice explain loans.suffice new.parquet --id customer -o why.parquet[/]\n\n"
    "[cyan]suffice explain bikes.suffice today.csv --sets minimal | jq .best_set.variables[/]\n\n"
    "A table has one line for each row: [bold]row[/] (from 0), the columns of --id, [bold]outcome, low, high[/] (its "
    "interval), [bold]prediction, forest_agrees, is_sufficient, best_set, size, sdp, sdp_lower "
    "(its lower bound), sdp_of_all (if all variables are known), lift (sdp / share of all rows), rule, rule_sql, "
    "support, coverage, precision, optimal, n_sufficient_sets, is_search_complete[/]. JSON holds everything."
)
TABLE_FORMATS = ("csv", "parquet", "arrow")
N_SHOWN = 5  # rows that are explained in words unless --rows says otherwise
BATCH = 10_000  # rows of a part: seconds of work that a crash can lose, and some MB

OutputFormat = Literal["text", "json", "jsonl", "csv", "parquet", "arrow", "html"]


def explain(
    explainer: ExplainerArgument,
    rows: RowsArgument,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write: .parquet, .csv, .json, .jsonl, .arrow or .html; - is standard output.",
        ),
    ] = "-",
    format: Annotated[  # noqa: A002
        OutputFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="The format; by default the suffix of FILE decides. Without a file: text on a terminal, else jsonl.",
        ),
    ] = None,
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
    batch: Annotated[
        int,
        typer.Option(
            "--batch", min=1, metavar="N", help="With -o FILE: rows per part. A stopped run keeps its finished parts."
        ),
    ] = BATCH,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard the parts that an earlier run has finished.")
    ] = False,
    escape_formulas: FormulasOption = True,
) -> None:
    """Show which few variables are enough to keep the outcome of each row, and within which bounds.

    On a terminal the first rows are explained in words.

    Many rows are written to a file part by part: if the run is stopped, the same command continues it.
    """
    from suffice._cli.questions import explain_whole, open_question
    from suffice._cli.streaming import explain_in_parts, is_in_parts
    from suffice._io.explainer_file import load_explainer_file

    kind = _output_format(output, format, [explainer, rows])
    question = open_question(
        load_explainer_file(explainer, changed_settings(pi, levels, confidence, unseen, ignore_extra, candidates)),
        rows,
        input_format=input_format,
        limit=n_rows if n_rows is not None or kind != "text" else N_SHOWN,
        target=target,
        kept=ids or [],
        sets=sets,
        rules=None if rules == "none" else rules,
        check=check,
    )
    if is_in_parts(question, output, kind, batch):
        explain_in_parts(
            question,
            output,
            kind,
            explainer_path=explainer,
            batch=batch,
            restart=restart,
            escape_formulas=escape_formulas,
        )
        note(f"{counted(question.n_rows, 'row')} explained, written to {output}.")
        return
    explained = explain_whole(question)
    _write(explained, output, kind, escape_formulas)
    if output != "-":
        note(f"{counted(len(explained.explanations), 'row')} explained, written to {output}.")
    if explained.n_more and n_rows is None:
        note(f"{counted(explained.n_more, 'more row')}: --rows N shows more of them, -o FILE writes all.")


def _output_format(output: str, requested: str | None, inputs: list[str]) -> str:
    from suffice._io.output import check_output, format_of_output

    if output != "-":
        if requested is None:
            return format_of_output(output, (*TABLE_FORMATS, "json", "jsonl", "html"), inputs)
        check_output(output, inputs)
        return requested
    if requested is None:
        return "text" if sys.stdout.isatty() else "jsonl"
    if requested in ("parquet", "arrow") and sys.stdout.isatty():
        raise ValueError(f"A terminal cannot show {requested}: name a file with -o, or choose another --format.")
    return requested


def _write(explained: ExplainedRows, output: str, kind: str, escape_formulas: bool) -> None:
    from suffice._io.output import write_bytes, write_table

    if kind == "text":
        _write_text(explained, output)
    elif kind == "html":
        write_report(explained.explanations, output, None)
    elif kind == "json":
        content = {**explained.explanations.to_dict(), "explanations": list(explained.dicts())}
        write_bytes((json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode(), output)
    elif kind == "jsonl":
        lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in explained.dicts())
        write_bytes(lines.encode(), output)
    else:
        write_table(explained.to_frame(), output, kind, escape_formulas=escape_formulas)


def _write_text(explained: ExplainedRows, output: str) -> None:
    from suffice._io.output import write_bytes

    if output == "-":
        for explanation in explained.explanations:
            say_block(explanation.label, name_options(explanation.text))
        say("", name_options(str(explained.explanations)))
        return
    parts = [f"{explanation.label}\n{explanation.text}\n\n" for explanation in explained.explanations]
    write_bytes(name_options("".join([*parts, f"{explained.explanations}\n"])).encode(), output)
