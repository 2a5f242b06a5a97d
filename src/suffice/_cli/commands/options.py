"""Arguments and options that several commands have in common."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import typer

InputFormat = Literal["csv", "parquet", "arrow", "jsonl", "json"]

ExplainerArgument = Annotated[
    str, typer.Argument(metavar="EXPLAINER", help="An explainer saved by [bold]suffice fit[/].")
]
RowsArgument = Annotated[
    str, typer.Argument(metavar="ROWS", help="The rows to explain: a table file, or - for standard input.")
]
InputOption = Annotated[
    InputFormat | None,
    typer.Option("--input-format", help="The format of the table file; by default it is recognised."),
]
ObservedOption = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COL", help="Explain the outcomes in this column, not the predictions."),
]
SetsOption = Annotated[
    Literal["all", "minimal"], typer.Option(help="Find all sufficient sets of a row, or only the smallest ones.")
]
RulesOption = Annotated[
    Literal["minimal", "all", "none"],
    typer.Option(help="Which sets get a rule: the minimal set with the highest probability, all, or none."),
]
CheckOption = Annotated[
    Literal["rows", "everywhere"],
    typer.Option(help="Where in a rule the probability must hold: at every training row, or at every point."),
]
PiOption = Annotated[
    float | None,
    typer.Option("--pi", help="The probability that a sufficient set must reach, in place of the one at fit."),
]
LevelsOption = Annotated[
    Literal["same", "odds"] | None,
    typer.Option(
        "--levels",
        help="Classes: whether all must reach pi, or a rare one its own level, pi / (1 - pi) times its odds; "
        "in place of the setting at fit.",
    ),
]
ConfidenceOption = Annotated[
    float | None,
    typer.Option(
        "--confidence",
        help="Ask that the lower bound of the probability at this confidence, such as 0.95, reach the level too.",
    ),
]
UnseenOption = Annotated[
    Literal["error", "missing"] | None,
    typer.Option("--unseen", help="How to treat categories that were not there at fit: by default, as an error."),
]
IgnoreOption = Annotated[bool, typer.Option("--ignore-extra", help="Ignore columns that were not there at fit.")]
CandidatesOption = Annotated[
    str | None,
    typer.Option(
        "--candidates",
        metavar="N|NAMES|WORD",
        help="The variables that are searched: how many (at most 128), their names as A,B,C, or a word that says how "
        "they are chosen, such as [bold]splits[/].",
    ),
]
IdOption = Annotated[
    list[str] | None,
    typer.Option("--id", metavar="COL", help="Call rows by a column of ROWS, and keep it; may be repeated."),
]
FormulasOption = Annotated[
    bool,
    typer.Option(
        "--escape-formulas/--keep-formulas",
        help="In a CSV file, write ' before text that a spreadsheet would take for a formula.",
    ),
]
LimitOption = Annotated[
    int | None, typer.Option("--rows", "-n", min=1, metavar="N", help="Explain only the first N rows.")
]
AskedModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODULE:NAME",
        help="The model that is explained, in your own code: it is asked whether it agrees with each change.",
    ),
]
CodesOption = Annotated[
    str | None,
    typer.Option("--codes", metavar="FILE", help="The code book: CSV or JSON. By default the variables are the codes."),
]
AdverseOption = Annotated[
    str | None,
    typer.Option(
        "--adverse",
        metavar="OUTCOMES",
        help="The outcomes that need reasons: a class, classes as A,B, 'not A', or numbers as '<=500', '>=200' or "
        "'200..250'. By default all.",
    ),
]
ProtectedOption = Annotated[
    str | None,
    typer.Option("--protected", metavar="NAMES", help="Variables on which no decision must rest, as A,B,C."),
]


def read_candidates(text: str | None) -> dict[str, Any]:
    """Read which variables are searched."""
    import csv

    from suffice._forest.candidates import IMPORTANCES

    if text is None:
        return {}
    if re.fullmatch(r"\s*-?[0-9]+\s*", text):
        return {"n_candidates": int(text)}
    if text in IMPORTANCES:
        return {"candidates": text}
    names = [name for name in next(csv.reader([text], skipinitialspace=True)) if name]
    if not names:
        raise ValueError(f"--candidates must be a number, names as A,B,C, or one of {', '.join(IMPORTANCES)}.")
    return {"candidates": names}


def changed_settings(
    pi: float | None,
    levels: str | None,
    confidence: float | None,
    unseen: str | None,
    ignore_extra: bool,
    candidates: str | None = None,
) -> dict[str, Any]:
    """Collect the settings of a saved explainer that options change."""
    return {
        "pi": pi,
        "levels": levels,
        "confidence": confidence,
        "unseen": unseen,
        "extra_columns": "ignore" if ignore_extra else None,
        **read_candidates(candidates),
    }
