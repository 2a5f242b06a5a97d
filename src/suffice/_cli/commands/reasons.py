"""``suffice reasons``: the reasons of the decisions on the rows of a table file, and a record of each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice._cli.commands.change import read_names, read_target
from suffice._cli.commands.explain import BATCH, N_SHOWN
from suffice._cli.commands.options import (
    AdverseOption,
    CandidatesOption,
    CodesOption,
    ConfidenceOption,
    ExplainerArgument,
    IdOption,
    IgnoreOption,
    InputOption,
    LevelsOption,
    LimitOption,
    PiOption,
    ProtectedOption,
    RowsArgument,
    UnseenOption,
    changed_settings,
)
from suffice._cli.printing import note, say, say_block
from suffice._text import counted

if TYPE_CHECKING:
    from suffice._cli.recording import ReasonQuestion
    from suffice.explainer import SufficientExplainer

EXAMPLES = (
    "[bold]Examples[/]\n\n[cyan]suffice reasons loans.suffice new.csv --adverse bad[/]\n\n"
    "[cyan]suffice reasons loans.suffice new.parquet --codes codes.csv --adverse bad --protected sex,age --id customer "
    "-o records.jsonl[/]\n\n"
    "[cyan]suffice reasons loans.suffice new.csv --adverse '<=500' --target score -o records.jsonl[/]\n\n"
    "A code book is a CSV file with the columns [bold]variable, condition, direction, code, text[/], or JSON. "
    "[bold]suffice verify[/] computes the records again.\n\n"
    "[bold]Exit codes[/]\n\n0: every adverse row has reasons; 4: some were refused and need human review; "
    "2: bad input."
)
REFUSED = 4  # the exit code

ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODULE:NAME",
        help="The model that decides, in your own code: it is asked whether it uses the variables of each reason.",
    ),
]

KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="A file with a secret of 16 bytes or more: records are signed with it (HMAC), and nobody without it can "
        "write one that [bold]suffice verify[/] takes for true.",
    ),
]


def reasons(
    explainer: ExplainerArgument,
    rows: RowsArgument,
    codes: CodesOption = None,
    adverse: AdverseOption = None,
    n: Annotated[int, typer.Option("--reasons", min=1, metavar="N", help="How many reasons a row gets at most.")] = 4,
    protected: ProtectedOption = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="COL", help="The decisions are in this column; by default the forest decides."
        ),
    ] = None,
    model: ModelOption = None,
    change: Annotated[
        str | None,
        typer.Option(
            "--change", metavar="WANTED", help="Record what would change the outcome to this one, as `suffice change`."
        ),
    ] = None,
    key: KeyOption = None,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write a record of each row: .jsonl; - is standard output."
        ),
    ] = "-",
    n_rows: LimitOption = None,
    ids: IdOption = None,
    pi: PiOption = None,
    levels: LevelsOption = None,
    confidence: ConfidenceOption = None,
    candidates: CandidatesOption = None,
    unseen: UnseenOption = None,
    ignore_extra: IgnoreOption = False,
    input_format: InputOption = None,
    batch: Annotated[
        int,
        typer.Option("--batch", min=1, metavar="N", help="Rows per part. A stopped run keeps its finished parts."),
    ] = BATCH,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard the parts that an earlier run has finished.")
    ] = False,
) -> None:
    """Give the reasons of each decision in order, refuse where they would not be true, and record how they came about.

    On a terminal the reasons of the first rows are printed. Records are written part by part: if the run is stopped,
    the same command continues it.
    """
    from suffice._io.explainer_file import load_explainer_file
    from suffice._io.output import format_of_output

    is_text = output == "-" and (sys.stdout.isatty() or n_rows is not None)
    if output != "-":
        format_of_output(output, ("jsonl",), [explainer, rows, codes])
    loaded = load_explainer_file(explainer, changed_settings(pi, levels, confidence, unseen, ignore_extra, candidates))
    limit = n_rows if n_rows is not None or not is_text else N_SHOWN
    opened = _open(
        loaded,
        rows,
        limit,
        {"input_format": input_format, "target": target, "kept": ids or []},
        {"codes": codes, "adverse": adverse, "n": n, "protected": protected, "model": model, "change": change},
        explainer,
        key,
    )
    opened.check()
    if is_text:
        _print(opened)
        return
    opened.write(output, explainer_path=explainer, batch=batch, restart=restart)
    if output != "-":
        _report(output)


def _open(
    explainer: SufficientExplainer,
    rows: str,
    limit: int | None,
    reading: dict[str, Any],
    written: dict[str, Any],
    explainer_path: str,
    key_path: str | None,
) -> ReasonQuestion:
    """Open the rows, and read the options."""
    from suffice._cli.questions import open_question
    from suffice._cli.recording import ReasonQuestion, import_model
    from suffice._io.records import RecordContext, digest_of, read_key
    from suffice._io.sources import file_digest
    from suffice.reasons.code_book import CodeBook

    is_class = explainer.task_ == "classification"
    book = None if written["codes"] is None else CodeBook.read(written["codes"])
    adverse, change = (
        None if written[name] is None else read_target(written[name], is_class, explainer, f"--{name}")
        for name in ("adverse", "change")
    )
    options = {
        "codes": book,
        "adverse": adverse,
        "n": written["n"],
        "protected": read_names(written["protected"]),
        "model": import_model(written["model"]),
    }
    key = read_key(key_path)
    # Parts that were signed with another key, or not at all, are not continued.
    fingerprint = {**written, "codes": None if book is None else book.digest, "key": key and digest_of("key", key)}
    question = open_question(explainer, rows, limit=limit, **reading, **fingerprint)
    context = RecordContext(file_digest(explainer_path), change, question.target, question.kept, key)
    return ReasonQuestion(question, options, context)


def _print(opened: ReasonQuestion) -> None:
    question = opened.question
    reasons = opened.reasons(question.read(0, question.end))
    for answer in reasons:
        say_block(answer.label, answer.text)
    say("", str(reasons))
    if question.n_more:
        note(f"{counted(question.n_more, 'more row')}: --rows N shows more of them, -o FILE records all.")
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
