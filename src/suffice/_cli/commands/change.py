"""``suffice change``: what would change the outcomes of the rows of a table file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from suffice._cli.commands import options
from suffice._cli.printing import note, say, say_block
from suffice._text import counted

if TYPE_CHECKING:
    from suffice.changes.values import Changes
    from suffice.explainer import SufficientExplainer


def change(
    explainer: options.Explainer,
    rows: options.Rows,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="WANTED",
            help="The wanted outcome: a class, classes as A,B, 'not A', or numbers as '>=200', '<=100', '200..250', "
            "'+50' (more than now) or '-50'. By default any class but that of the row.",
        ),
    ] = None,
    fixed: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Variables that must not change, as A,B,C; by default as at fit."),
    ] = None,
    only: Annotated[str | None, typer.Option(metavar="NAMES", help="The variables that may change: A,B,C.")] = None,
    direction: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=up|down", help="Let a variable only grow or shrink; may be repeated."),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=LOW..HIGH|A,B", help="Numbers or categories that are allowed; may be repeated."),
    ] = None,
    n: Annotated[int, typer.Option("--changes", min=1, help="How many changes of a row are shown at most.")] = 3,
    max_size: Annotated[int, typer.Option(min=1, help="How many variables may change at most.")] = 3,
    min_plausibility: Annotated[float, typer.Option(help="The least probability of the new values.")] = 0.02,
    model: options.Model = None,
    output: Annotated[str, options.output("Write .csv, .parquet, .json or .jsonl.")] = "-",
    n_rows: options.Limit = None,
    ids: options.Ids = None,
    pi: options.Pi = None,
    unseen: options.Unseen = None,
    ignore_extra: options.IgnoreExtra = False,
) -> None:
    """Show what would change the outcome of each row: the fewest variables, and the values that they would need.

    This describes similar rows in the data, not the effect of acting.

    [bold]Examples[/]

    [cyan]suffice change loans.suffice new.csv --target good --fixed age,sex[/]

    [cyan]suffice change churn.suffice june.csv --target No --only Contract,MonthlyCharges -o offers.csv[/]

    [cyan]suffice change bikes.suffice today.csv --target '>=200' --direction temp=up --bounds hour=6..20[/]

    A table has one line for each row: its outcome and target, whether the target [bold]is_reached[/], the best change
    in words ([bold]what_changes[/]) and as a [bold]box[/], its [bold]probability, plausibility, support[/], and the
    [bold]nearest[/] miss if there is none.
    """
    from suffice._cli.rows import read_rows
    from suffice._io.output import format_of_output

    is_text = sys.stdout.isatty() or n_rows is not None
    kind = format_of_output(output, options.FORMATS, [explainer, rows]) or ("text" if is_text else "jsonl")
    loaded = options.load(explainer, ignore_extra, unseen=unseen)
    limit = n_rows if n_rows or kind != "text" else options.N_SHOWN
    part = read_rows(loaded, rows, kept=ids or [], limit=limit, outcomes="unused")
    loaded = options.with_model(loaded, model)
    changes = loaded.what_if(
        part.X,
        options.read_target(target, loaded),
        fixed=None if fixed is None else options.read_names(fixed),
        only=None if only is None else options.read_names(only),
        direction=cast("Any", dict(_pair("--direction", text) for text in direction or ())),
        bounds={name: _bounds(loaded, name, text) for name, text in (_pair("--bounds", pair) for pair in bounds or ())},
        n=n,
        max_size=max_size,
        min_plausibility=min_plausibility,
        pi=pi,
        ids=part.ids,
    )
    _write(changes, output, kind)
    if output != "-":
        note(f"{counted(len(changes), 'row')} answered, written to {output}.")


def _pair(option: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise ValueError(f"{option} must be NAME=VALUE, got {text!r}.")
    return name, value


def _bounds(explainer: SufficientExplainer, name: str, text: str) -> Any:
    column = {column.name: column for column in explainer.fitted_.encoding.columns}.get(name)
    if column is not None and column.kind == "category":
        by_text = {str(label): label for labels in column.labels for label in labels}
        return [by_text.get(label, label) for label in options.read_names(text)]
    low, sign, high = text.partition("..")
    if not sign:
        raise ValueError(f"--bounds of {name!r} must be LOW..HIGH, either of which may be empty, got {text!r}.")
    return low or None, high or None


def _write(changes: Changes, output: str, kind: str) -> None:
    import polars as pl

    from suffice._io.output import json_lines, write_bytes, write_table
    from suffice._io.result_table import changed_row_columns

    if kind == "text":
        for answer in changes:
            say_block(answer.label, answer.text)
        say("", str(changes))
    elif kind == "json":
        write_bytes(f"{changes.to_json(ensure_ascii=False, indent=1)}\n".encode(), output)
    elif kind == "jsonl":
        write_bytes(json_lines(answer.to_dict() for answer in changes), output)
    else:
        frame = pl.DataFrame(changed_row_columns(changes), strict=False)
        write_table(frame, output, kind)
