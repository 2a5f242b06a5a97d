"""Arguments and options that several commands share, and how their texts are read."""

from __future__ import annotations

import csv
import importlib
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from suffice.explainer import SufficientExplainer

FORMATS = ("csv", "parquet", "json", "jsonl")
N_SHOWN = 5  # rows that are printed as text unless --rows says otherwise
BATCH = 10_000  # rows of a part: seconds of work that a crash can lose, and some MB

Explainer = Annotated[str, typer.Argument(metavar="EXPLAINER", help="An explainer saved by [bold]suffice fit[/].")]
Rows = Annotated[str, typer.Argument(metavar="ROWS", help="The rows: a table file, or - for standard input.")]
Observed = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COL", help="Explain the outcomes in this column, not the predictions."),
]
Sets = Annotated[Literal["minimal", "all"], typer.Option(help="Find the smallest sufficient sets of a row, or all.")]
Rules = Annotated[Literal["minimal", "all", "none"], typer.Option(help="Which sets get a rule: the best, all or none.")]
Check = Annotated[
    Literal["rows", "everywhere"],
    typer.Option(help="Where in a rule the probability must hold: at every point, or only at the training rows."),
]
Pi = Annotated[float | None, typer.Option(help="The probability that a set must reach; by default that of the fit.")]
Levels = Annotated[
    Literal["same", "odds"] | None,
    typer.Option(
        help="Classes: whether all must reach pi, or a rare one its own level, pi / (1 - pi) times its odds; "
        "by default as at fit."
    ),
]
Confidence = Annotated[
    float | None,
    typer.Option(
        help="Require the lower bound of the probability at this confidence, such as 0.95, to reach the level, too."
    ),
]
Unseen = Annotated[
    Literal["error", "missing"] | None,
    typer.Option(help="How to treat categories that did not occur at fit: by default, as an error."),
]
IgnoreExtra = Annotated[bool, typer.Option("--ignore-extra", help="Ignore columns that were not there at fit.")]
Candidates = Annotated[
    str | None,
    typer.Option(
        metavar="N|NAMES|WORD",
        help="The variables that are searched: how many (at most 128), their names as A,B,C, or how they are chosen, "
        "such as [bold]splits[/].",
    ),
]
Ids = Annotated[
    list[str] | None,
    typer.Option("--id", metavar="COL", help="Identify rows by a column of ROWS, and keep it; may be repeated."),
]
Limit = Annotated[int | None, typer.Option("--rows", "-n", min=1, metavar="N", help="Explain only the first N rows.")]
Batch = Annotated[int, typer.Option(min=1, metavar="N", help="Rows per part. A stopped run keeps its finished parts.")]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:NAME",
        help="The model that decides, in your own code: it is asked whether it agrees with each change, or uses the "
        "variables of each reason.",
    ),
]
Codes = Annotated[
    str | None, typer.Option(metavar="FILE", help="The code book: CSV or JSON. By default the variables are the codes.")
]
Adverse = Annotated[
    str | None,
    typer.Option(
        metavar="OUTCOMES",
        help="The outcomes that need reasons: a class, classes as A,B, 'not A', or numbers as '<=500', '>=200' or "
        "'200..250'. By default the focus class of the fit; without one, all.",
    ),
]
Protected = Annotated[str | None, typer.Option(metavar="NAMES", help="Variables on which no decision may rest: A,B,C.")]
Key = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A file with a secret of at least 16 bytes: records are signed with it (HMAC), so that nobody without it "
        "can write one that [bold]suffice verify[/] accepts.",
    ),
]


def output(meaning: str) -> Any:
    """Make the option for the file that is written."""
    return typer.Option("--output", "-o", metavar="FILE", help=meaning)


def outcome_column(meaning: str) -> Any:
    """Make the option for the column with the outcomes."""
    return typer.Option("--target", "-t", metavar="COL", help=meaning)


def read_names(text: str | None) -> list[str]:
    """Read names with commas between them."""
    return [name for name in next(csv.reader([text], skipinitialspace=True)) if name] if text else []


def read_candidates(text: str | None) -> dict[str, Any]:
    """Read which variables are searched."""
    from suffice._forest.candidates import IMPORTANCES

    if text is None:
        return {}
    if re.fullmatch(r"\s*-?[0-9]+\s*", text):
        return {"n_candidates": int(text)}
    if text in IMPORTANCES:
        return {"candidates": text}
    if not read_names(text):
        raise ValueError(f"--candidates must be a number, names as A,B,C, or one of {', '.join(IMPORTANCES)}.")
    return {"candidates": read_names(text)}


def load(path: str, ignore_extra: bool = False, candidates: str | None = None, **settings: Any) -> SufficientExplainer:
    """Load a saved explainer with the settings that options change; those that are None stay as they are."""
    from suffice._io.explainer_file import load_explainer_file

    changed = {**settings, "extra_columns": "ignore" if ignore_extra else None, **read_candidates(candidates)}
    return load_explainer_file(path, changed)


def read_target(text: str | None, explainer: SufficientExplainer, option: str = "--target") -> Any:
    """Read the wanted outcomes, if there are any."""
    if text is None:
        return None
    text = text.strip()
    if explainer.task_ == "classification":
        if text in map(str, explainer.classes_.tolist()):
            return text
        return {"not": text[4:].strip()} if text.lower().startswith("not ") else read_names(text)
    number = r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
    if match := re.fullmatch(rf"(>=|<=|>|<)\s*({number})", text):
        return {"above" if match[1].startswith(">") else "below": float(match[2])}
    if match := re.fullmatch(rf"({number})\s*\.\.\s*({number})", text):
        return float(match[1]), float(match[2])
    if match := re.fullmatch(rf"([-+])\s*({number})", text):
        return {"more" if match[1] == "+" else "less": float(match[2])}
    raise ValueError(f"{option} must give numbers as '>=200', '<=100', '200..250' or '+50', got {text!r}.")


def import_model(name: str | None) -> Any:
    """Import a model from the user's own code."""
    if name is None:
        return None
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ValueError(f"--model must be MODULE:NAME, such as scoring:model, got {name!r}.")
    if "" not in sys.path:
        sys.path.insert(0, "")  # modules in the folder of the user, as `python -m` finds them
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise ValueError(f"--model: there is no module {error.name!r} here.") from None
    except AttributeError:
        raise ValueError(f"--model: the module {module!r} has no {attribute!r}.") from None


def with_model(explainer: SufficientExplainer, name: str | None) -> SufficientExplainer:
    """Let a loaded explainer ask the model that it explains, which its file does not hold."""
    if name is None:
        return explainer
    from suffice._forest.model_outputs import ExplainedModel

    copy, model, probability_of = explainer.with_settings(), import_model(name), None
    prefix, _, label = copy.target_name_.partition("probability of ")
    if label and not prefix:
        labels = {str(known): known for known in getattr(model, "classes_", ())}
        probability_of = labels.get(label, label)
    explained = ExplainedModel(model, probability_of)
    copy.fitted_ = replace(copy.fitted_, model=explained, model_name=explained.name)
    return copy
