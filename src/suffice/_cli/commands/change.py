"""``suffice change``: what would change the outcomes of the rows of a table file."""

from __future__ import annotations

import csv
import json
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from suffice._cli.commands.options import (
    AskedModelOption,
    ExplainerArgument,
    FormulasOption,
    IdOption,
    IgnoreOption,
    InputOption,
    LimitOption,
    PiOption,
    RowsArgument,
    UnseenOption,
    changed_settings,
)
from suffice._cli.printing import note, say, say_block
from suffice._text import counted

if TYPE_CHECKING:
    import polars as pl

    from suffice.changes.values import Changes
    from suffice.explainer import SufficientExplainer

EXAMPLES = (
    "[bold]Examples[/]\n\n[cyan]suffice change loans.suffice new.csv --target good --fixed age,sex[/]\n\n"
    "[cyan]suffice change churn.suffice june.csv --target No --only Contract,MonthlyCharges -o offers.csv[/]\n\n"
    "[cyan]suffice change bikes.suffice today.csv --target '>=200' --direction temp=up --bounds hour=6..20[/]\n\n"
    "A table has one line for each row: its outcome and target, whether the target [bold]is_reached[/], the best "
    "change in words ([bold]what_changes[/]) and as a [bold]box[/], its [bold]probability, plausibility, support[/], "
    "and the [bold]nearest[/] miss if there is none."
)
N_SHOWN = 5  # rows that are answered in words unless --rows says otherwise
FORMATS = ("csv", "parquet", "arrow", "json", "jsonl")


def change(
    explainer: ExplainerArgument,
    rows: RowsArgument,
    target: Annotated[
        str,
        typer.Option(
            "--target",
            "-t",
            metavar="WANTED",
            help="The wanted outcome: a class, classes as A,B, 'not A', or numbers as '>=200', '<=100', '200..250', "
            "'+50' (so much more) or '-50'.",
        ),
    ],
    fixed: Annotated[
        str | None, typer.Option("--fixed", metavar="NAMES", help="Variables that must not change, as A,B,C.")
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="NAMES", help="The variables that may change, as A,B,C.")
    ] = None,
    direction: Annotated[
        list[str] | None,
        typer.Option("--direction", metavar="NAME=up|down", help="May only grow or shrink; may be repeated."),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            "--bounds", metavar="NAME=LOW..HIGH|A,B", help="Numbers or categories that are allowed; may be repeated."
        ),
    ] = None,
    n: Annotated[int, typer.Option("--changes", min=1, help="How many changes of a row are shown at most.")] = 3,
    max_size: Annotated[int, typer.Option("--max-size", min=1, help="How many variables may change at most.")] = 3,
    min_size: Annotated[
        int, typer.Option("--min-size", min=1, help="How many variables are free to change at least.")
    ] = 1,
    min_plausibility: Annotated[
        float, typer.Option("--min-plausibility", help="How probable the new values must be, given the others.")
    ] = 0.02,
    check: Annotated[
        Literal["everywhere", "mean"],
        typer.Option(help="Whether the target must be given at every point of a box, or by its rows on average."),
    ] = "everywhere",
    model: AskedModelOption = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Write .csv, .parquet, .arrow, .json or .jsonl."),
    ] = "-",
    n_rows: LimitOption = None,
    ids: IdOption = None,
    pi: PiOption = None,
    unseen: UnseenOption = None,
    ignore_extra: IgnoreOption = False,
    input_format: InputOption = None,
    escape_formulas: FormulasOption = True,
) -> None:
    """Show what would change the outcome of each row: the fewest variables, and the values that they would need.

    It is what rows like this one show in the data, not what would happen if someone acted.
    """
    from suffice._io.explainer_file import load_explainer_file
    from suffice._io.output import format_of_output

    kind = "text" if output == "-" else format_of_output(output, FORMATS, [explainer, rows])
    if output == "-" and not sys.stdout.isatty():
        kind = "text" if n_rows is not None else "jsonl"
    loaded = load_explainer_file(explainer, changed_settings(None, None, None, unseen, ignore_extra))
    frame, kept = read_rows(loaded, rows, input_format, ids or [], n_rows if n_rows or kind != "text" else N_SHOWN)
    if model is not None:
        loaded = with_model(loaded, model)
    ways: Any = dict(_pair("--direction", text) for text in direction or ())
    changes = loaded.what_if(
        frame,
        read_target(target, loaded.task_ == "classification", loaded),
        fixed=read_names(fixed),
        only=None if only is None else read_names(only),
        direction=ways,
        bounds={
            name: _bounds(loaded, name, value) for name, value in (_pair("--bounds", text) for text in bounds or ())
        },
        n=n,
        max_size=max_size,
        min_size=min_size,
        min_plausibility=min_plausibility,
        pi=pi,
        check=check,
        ids=kept,
    )
    _write(changes, output, kind, escape_formulas)
    if output != "-":
        note(f"{counted(len(changes), 'row')} answered, written to {output}.")


def read_names(text: str | None) -> list[str]:
    """Read names with commas between them."""
    return [name for name in next(csv.reader([text], skipinitialspace=True)) if name] if text else []


def read_target(text: str, is_class: bool, explainer: Any = None, option: str = "--target") -> Any:
    """Read the wanted outcomes."""
    text = text.strip()
    if is_class:
        known = [] if explainer is None else [str(label) for label in explainer.classes_.tolist()]
        if text in known:
            return text
        if text.lower().startswith("not "):
            return {"not": text[4:].strip()}
        return read_names(text)
    number = r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
    if match := re.fullmatch(rf"(>=|<=|>|<)\s*({number})", text):
        return {"above" if match[1].startswith(">") else "below": float(match[2])}
    if match := re.fullmatch(rf"({number})\s*\.\.\s*({number})", text):
        return float(match[1]), float(match[2])
    if match := re.fullmatch(rf"([-+])\s*({number})", text):
        return {"more" if match[1] == "+" else "less": float(match[2])}
    raise ValueError(f"{option} must say which numbers are meant: '>=200', '<=100', '200..250' or '+50', got {text!r}.")


def _pair(option: str, text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name or not value:
        raise ValueError(f"{option} must be NAME=VALUE, got {text!r}.")
    return name, value


def _bounds(explainer: SufficientExplainer, name: str, text: str) -> Any:
    columns = {column.name: column for column in explainer.fitted_.encoding.columns}
    column = columns.get(name)
    if column is not None and column.kind == "category":
        by_text = {str(label): label for labels in column.labels for label in labels}
        return [by_text.get(label, label) for label in read_names(text)]
    low, sign, high = text.partition("..")
    if not sign:
        raise ValueError(f"--bounds of {name!r} must be LOW..HIGH, either of which may be empty, got {text!r}.")
    return low or None, high or None


def with_model(explainer: SufficientExplainer, name: str) -> SufficientExplainer:
    """Let a loaded explainer ask the model that it explains, which its file does not hold."""
    from suffice._cli.recording import import_model
    from suffice._forest.model_outputs import ExplainedModel

    copy = explainer.with_settings()
    model, probability_of = import_model(name), None
    prefix, _, label = copy.target_name_.partition("probability of ")
    if label and not prefix:
        known = {str(one): one for one in getattr(model, "classes_", ())}
        probability_of = known.get(label, label)
    explained = ExplainedModel(model, probability_of)
    copy.fitted_ = replace(copy.fitted_, model=explained, model_name=explained.name)
    return copy


def read_rows(
    explainer: SufficientExplainer, path: str, input_format: str | None, ids: list[str], limit: int | None
) -> tuple[pl.DataFrame, list[str] | None]:
    """Read the rows of a table file, and what they are called."""
    from suffice._cli.columns import check_column
    from suffice._io.explainer_file import text_columns
    from suffice._io.files import read_table

    frame: pl.DataFrame = read_table(path, format=input_format, text_columns=text_columns(explainer))
    frame = frame if limit is None else frame.head(limit)
    for name in ids:
        check_column(frame.columns, name, path, "--id")
    named = [" ".join(map(str, row)) for row in frame.select(ids).rows()] if ids else None
    fitted = explainer.fitted_.encoding.names
    drop = [name for name in frame.columns if name not in fitted and name in (*ids, explainer.target_name_)]
    return frame.drop(drop), named


def _write(changes: Changes, output: str, kind: str, escape_formulas: bool) -> None:
    import polars as pl

    from suffice._io.output import write_bytes, write_table
    from suffice._io.result_table import changed_row_columns

    if kind == "text":
        for answer in changes:
            say_block(answer.label, answer.text)
        say("", str(changes))
    elif kind == "json":
        write_bytes(f"{changes.to_json(ensure_ascii=False, indent=1)}\n".encode(), output)
    elif kind == "jsonl":
        lines = "".join(json.dumps(answer.to_dict(), ensure_ascii=False, default=str) + "\n" for answer in changes)
        write_bytes(lines.encode(), output)
    else:
        frame = pl.DataFrame(changed_row_columns(changes), strict=False)
        write_table(frame, output, kind, escape_formulas=escape_formulas)
