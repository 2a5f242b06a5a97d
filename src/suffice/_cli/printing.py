"""How the command prints: results on standard output, everything else on standard error.

Lines are wrapped on a terminal only. Also here: how sizes and fidelity are written, and how messages of the library
name the options of the command instead of parameters.
"""

from __future__ import annotations

import math
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.text import Text

from suffice._text import ARGUMENT_WORDS, SAME_OPTION, format_percent, format_share, printable

N_LISTED = 10
MAX_CANDIDATES = 40  # all are listed up to this number
# The library has parameters, the command has options.
_OPTIONS = (
    (r"\bextra_columns='ignore'", "--ignore-extra"),
    (r"\bunseen='missing'", "--unseen missing"),
    (r"\bdates='parts'", "--dates parts"),
    (r"\bleave it out, or use its year\b", "leave it out with --drop, or use its year"),
    (r"\bLeave the column out if\b", "Leave the column out with --drop if"),
    (r"\btask='(\w+)'", r"--task \1"),
    (r"`n_candidates`", "--candidates"),
    (r"`max_sets` \(None: no limit\)", "--max-sets at the fit"),
    (r"`n_jobs`", "--jobs"),
    (r"`(max|min)_(precision|rules|size|support)`", r"--\1-\2"),
    (r"`(alpha|confidence|dates|levels|pi|radius|task|unseen)`", r"--\1"),
    (r"`(adverse|bounds|codes|direction|fixed|focus|key|model|only|output|protected|target)`", r"--\1"),
    (r"save one with explainer\.save\(path\)", "make one with `suffice fit`"),
    *ARGUMENT_WORDS,
)
# The advice of an explanation, each in a line of its own.
_ADVICE_OPTIONS = (
    (r"^With pi=([\d.]+)", r"With --pi \1"),
    (f"^(With .*), {SAME_OPTION}", r"\1 --levels same"),
)


def in_options(text: str) -> str:
    """Replace the parameters in a message of the library by options of the command."""
    for pattern, option in _OPTIONS:
        text = re.sub(pattern, option, text)
    return text


def name_options(text: str) -> str:
    """Replace the parameters in the advice of an explanation by options of the command."""
    for pattern, option in _ADVICE_OPTIONS:
        text = re.sub(pattern, option, text, flags=re.MULTILINE)
    return text


def listed(values: Sequence[Any]) -> str:
    """List the first values, and the number of the others."""
    more = f" and {len(values) - N_LISTED} more" if len(values) > N_LISTED else ""
    return ", ".join(str(value) for value in values[:N_LISTED]) + more


def format_fidelity(about: Mapping[str, Any]) -> str:
    """Describe how well the forest predicts the outcomes."""
    value, by_class = about["fidelity"], about["fidelity_by_class"]
    if value is None or math.isnan(value):
        return "unknown, because every tree has seen every row"
    if about["task"] == "regression":
        return f"R2 {format_share(value)} on rows that the trees have not seen"
    shares = [f"{label} {format_percent(share)} %" for label, share in by_class.items() if not math.isnan(share)]
    more = ", ..." if len(shares) > N_LISTED else ""
    return (
        f"{format_percent(value)} % correct on rows that the trees have not seen ({', '.join(shares[:N_LISTED])}{more})"
    )


def describe_fit(about: Mapping[str, Any], focus: str = "") -> dict[str, str]:
    """Describe what was fitted, and how well the focus class is predicted."""
    classes, variables, candidates = about["classes"], about["variables"], about["candidates"]
    outcomes = "numbers" if classes is None else f"{len(classes)} classes: {listed(classes)}"
    n_searched = about.get("n_searched", len(candidates))
    searched = "all" if n_searched == len(variables) else f"{n_searched} of {len(variables)}"
    of_each_row = " for each row, chosen from" if n_searched < len(candidates) else ":"
    names = listed(candidates) if len(candidates) > MAX_CANDIDATES else ", ".join(candidates)
    return {
        "Target": f"{about['target']}, {outcomes}",
        "Task": in_options(about["task_reason"]),
        "Fidelity": format_fidelity(about),
        **({"Focus": f"{focus.removesuffix('.')} (out of bag)"} if focus else {}),
        **({"Fixed": ", ".join(about["fixed"])} if about.get("fixed") else {}),
        "Candidates": f"{searched} variables{of_each_row} {names}",
    }


def say(*lines: str) -> None:
    """Print lines of the result."""
    console = _console()
    for line in lines:
        console.print(_text(line), soft_wrap=not console.is_terminal)


def say_block(title: str, text: str) -> None:
    """Print a title, and a text below it."""
    console = _console()
    console.print()
    console.print(_text(title, "bold"), soft_wrap=not console.is_terminal)
    for line in text.splitlines():
        indent = " " * (2 + len(line) - len(line.lstrip()))
        width = console.width if console.is_terminal else sys.maxsize
        wrapped = textwrap.fill(line.strip(), width, initial_indent=indent, subsequent_indent=indent + "  ")
        console.print(_text(wrapped), soft_wrap=True)


def say_lines(lines: Mapping[str, str]) -> None:
    """Print labels with a text each."""
    say(*(f"{label}: {text}" for label, text in lines.items()))


def note(text: str) -> None:
    """Print a line that is not part of the result."""
    _console(stderr=True).print(_text(text, "dim"), soft_wrap=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that work is going on."""
    console = _console(stderr=True)
    with console.status(_text(f"{what} ..."), spinner="line") if console.is_terminal else nullcontext():
        yield


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich itself would exit


def _console(stderr: bool = False) -> Console:
    return _Console(stderr=stderr, highlight=False, markup=False, emoji=False)
