"""``suffice explain`` and ``suffice report``: explain the rows of a table file, as text, JSON, a table or a page."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from suffice._cli.commands import options
from suffice._cli.printing import name_options, note, say, say_block
from suffice._text import counted

if TYPE_CHECKING:
    from suffice._cli.rows import ExplainedRows, FileRows
    from suffice.explainer import SufficientExplainer


def explain(
    explainer: options.Explainer,
    rows: options.Rows,
    output: Annotated[
        str, options.output("Where to write: .parquet, .csv, .json or .jsonl; - is standard output.")
    ] = "-",
    format: Annotated[  # noqa: A002
        Literal["text", "json", "jsonl", "csv", "parquet"] | None,
        typer.Option(
            "--format",
            "-f",
            help="The format; by default the suffix of FILE decides. Without a file: text on a terminal, else jsonl.",
        ),
    ] = None,
    n_rows: options.Limit = None,
    target: options.Observed = None,
    ids: options.Ids = None,
    sets: options.Sets = "minimal",
    rules: options.Rules = "minimal",
    check: options.Check = "everywhere",
    pi: options.Pi = None,
    levels: options.Levels = None,
    confidence: options.Confidence = None,
    candidates: options.Candidates = None,
    unseen: options.Unseen = None,
    ignore_extra: options.IgnoreExtra = False,
    batch: options.Batch = options.BATCH,
) -> None:
    """Show which few variables are enough to keep the outcome of each row, and within which bounds.

    On a terminal the first rows are explained in words.

    Many rows are written to a file part by part: if the run is stopped, the same command continues it.

    [bold]Examples[/]

    [cyan]suffice explain bikes.suffice today.csv[/]

    [cyan]suffice explain loans.suffice new.parquet --id customer -o why.parquet[/]

    [cyan]suffice explain bikes.suffice today.csv | jq .best_set.variables[/]

    A table has one line for each row: [bold]row[/] (from 0), the columns of --id, [bold]outcome, low, high[/] (its
    interval), [bold]prediction, forest_agrees, is_sufficient, best_set, size, sdp, sdp_lower (its lower bound),
    sdp_of_all (the row's own probability), is_contested, lift (sdp / base_rate), base_rate (share of all rows), rule,
    rule_sql, support, coverage, precision, optimal, n_sufficient_sets, is_search_complete[/]. JSON holds everything.
    """
    from suffice._cli.parts import explain_in_parts, is_in_parts
    from suffice._io.output import format_of_output
    from suffice._io.result_table import check_kept

    kind = format_of_output(output, options.FORMATS, [explainer, rows], requested=format)
    kind = kind or ("text" if sys.stdout.isatty() else "jsonl")
    if kind == "parquet" and output == "-" and sys.stdout.isatty():
        raise ValueError("A terminal cannot show parquet: name a file with -o, or choose another --format.")
    loaded = options.load(
        explainer, ignore_extra, candidates, pi=pi, levels=levels, confidence=confidence, unseen=unseen
    )
    limit = n_rows if n_rows is not None or kind != "text" else options.N_SHOWN
    opened = _open(loaded, rows, rules, ids, limit=limit, target=target, sets=sets, check=check)
    if kind in ("csv", "parquet"):
        check_kept(opened.kept, "--id", with_row=True)
    if is_in_parts(opened, output, kind, batch):
        explain_in_parts(opened, output, kind, explainer_path=explainer, batch=batch)
    else:
        _write(opened.explain_all(), output, kind)
    if output != "-":
        note(f"{counted(opened.n_rows, 'row')} explained, written to {output}.")
    if opened.n_more and n_rows is None:
        note(f"{counted(opened.n_more, 'more row')}: --rows N shows more of them, -o FILE writes all.")


def _open(explainer: SufficientExplainer, rows: str, rules: str, ids: list[str] | None, **questions: Any) -> FileRows:
    """Open the rows that are to be explained."""
    from suffice._cli.rows import open_rows

    return open_rows(explainer, rows, kept=ids or [], rules=None if rules == "none" else rules, **questions)


def _write(explained: ExplainedRows, output: str, kind: str) -> None:
    from suffice._io.output import json_lines, write_bytes, write_table

    if kind == "text":
        _write_text(explained, output)
    elif kind == "json":
        content = {**explained.explanations.to_dict(), "explanations": list(explained.dicts())}
        write_bytes((json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode(), output)
    elif kind == "jsonl":
        write_bytes(json_lines(explained.dicts()), output)
    else:
        write_table(explained.to_frame(), output, kind)


def _write_text(explained: ExplainedRows, output: str) -> None:
    from suffice._io.output import write_bytes

    if output == "-":
        for explanation in explained.explanations:
            say_block(explanation.label, name_options(explanation.text))
        say("", name_options(str(explained.explanations)))
        return
    parts = [f"{explanation.label}\n{explanation.text}\n\n" for explanation in explained.explanations]
    write_bytes(name_options("".join([*parts, f"{explained.explanations}\n"])).encode(), output)


def report(
    explainer: options.Explainer,
    rows: options.Rows,
    output: Annotated[str, options.output("Where to write the HTML page; - for standard output.")],
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    n_rows: options.Limit = None,
    target: options.Observed = None,
    ids: options.Ids = None,
    sets: options.Sets = "minimal",
    rules: options.Rules = "minimal",
    check: options.Check = "everywhere",
    pi: options.Pi = None,
    levels: options.Levels = None,
    confidence: options.Confidence = None,
    candidates: options.Candidates = None,
    unseen: options.Unseen = None,
    ignore_extra: options.IgnoreExtra = False,
) -> None:
    """Write a page about the explanations of all rows, to be opened in a browser.

    [bold]Examples[/]

    [cyan]suffice report bikes.suffice today.csv -o today.html[/]

    [cyan]suffice report loans.suffice new.parquet -o loans.html --title "Loans of May"[/]
    """
    from suffice._io.output import format_of_output, write_bytes
    from suffice._show.report import make_report

    format_of_output(output, ["html"], [explainer, rows])
    loaded = options.load(
        explainer, ignore_extra, candidates, pi=pi, levels=levels, confidence=confidence, unseen=unseen
    )
    opened = _open(loaded, rows, rules, ids, limit=n_rows, target=target, sets=sets, check=check)
    explanations = opened.explain_all().explanations
    page = make_report(explanations, title=title)
    write_bytes(page.encode(errors="xmlcharrefreplace"), output)
    place = "standard output" if output == "-" else output
    note(f"{counted(len(explanations), 'row')} explained, written to {place}.")
