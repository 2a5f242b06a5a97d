"""How the command prints: results on standard output, everything else on standard error.

Lines are wrapped on a terminal only. Also here: how sizes and fidelity are written, and messages of the library in
the words of the command.
"""

from __future__ import annotations

import math
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import rich.table
from rich.console import Console
from rich.text import Text

from suffice._text import ARGUMENT_WORDS, ODDS_OPTION, printable

N_LISTED = 10
MAX_CANDIDATES = 40  # all are listed up to this number
# The library has parameters, the command has options.
_OPTIONS = (
    (r"\bextra_columns='ignore'", "--ignore-extra"),
    (r"\bunseen='missing'", "--unseen missing"),
    (f"`?\\b{ODDS_OPTION}`?", "--levels odds"),
    (r"\bdates='parts'", "--dates parts"),
    (r"\bleave it out, or use its year\b", "leave it out with --drop, or use its year"),
    (r"\bLeave the column out if\b", "Leave the column out with --drop if"),
    (r"\btask='(\w+)'", r"--task \1"),
    (r"`min_precision`", "--min-precision"),
    (r"`max_rules`", "--max-rules"),
    (r"`min_support`", "--min-support"),
    (r"`n_candidates`", "--candidates"),
    (r"`max_size`", "--max-size"),
    (r"`min_size`", "--min-size"),
    (r"`max_sets` \(None: no limit\)", "--max-sets at the fit"),
    (r"`tolerance`", "--simplify"),
    (r"`n_jobs`", "--jobs"),
    (r"`(pi|levels|confidence|alpha|radius|task|dates|unseen)`", r"--\1"),
    (r"`(adverse|codes|key|model|output|protected)`", r"--\1"),
    (r"`(bounds|direction|fixed|only|target)`", r"--\1"),
    (r"save one with explainer\.save\(path\)", "make one with `suffice fit`"),
    *ARGUMENT_WORDS,
)


# What an explanation advises, each in a line of its own.
_ADVICE_OPTIONS = (
    (re.escape(ODDS_OPTION), "--levels odds"),
    (r"^(\s*)Explain it with pi=([\d.]+)\.$", r"\1Explain it with --pi \2."),
    (r"^(\s*)Leave out `y` to ", r"\1Leave out --target to "),
    (
        r"take a larger `radius`, or a smaller `alpha`\.$",
        "take a larger --radius, or a smaller --alpha, at `suffice fit`.",
    ),
    (
        r"^(\s*)Search more variables with n_candidates=(\d+):",
        r"\1Search more variables with --candidates \2:",
    ),
)


def in_options(text: str) -> str:
    """Translate a message of the library into the words of the command."""
    for pattern, option in _OPTIONS:
        text = re.sub(pattern, option, text)
    return text


def name_options(text: str) -> str:
    """Write the option that an explanation offers in the words of the command. The rest of the text stays as it is."""
    for pattern, option in _ADVICE_OPTIONS:
        text = re.sub(pattern, option, text, flags=re.MULTILINE)
    return text


def listed(values: Sequence[Any]) -> str:
    """List the first values, and say how many more there are."""
    more = f" and {len(values) - N_LISTED} more" if len(values) > N_LISTED else ""
    return ", ".join(str(value) for value in values[:N_LISTED]) + more


def format_size(n_bytes: float) -> str:
    """Write the size of a file."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 999.5:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"


def format_fidelity(about: Mapping[str, Any]) -> str:
    """Describe how well the forest predicts the outcomes."""
    value, by_class = about["fidelity"], about["fidelity_by_class"]
    if value is None or math.isnan(value):
        return "unknown, because every tree has seen every row"
    if about["task"] == "regression":
        return f"R2 {value:.2f} on rows that the trees have not seen"
    shares = [f"{label} {100 * share:.0f} %" for label, share in by_class.items() if not math.isnan(share)]
    more = ", ..." if len(shares) > N_LISTED else ""
    return f"{100 * value:.0f} % correct on rows that the trees have not seen ({', '.join(shares[:N_LISTED])}{more})"


def describe_fit(about: Mapping[str, Any]) -> dict[str, str]:
    """Describe what was fitted."""
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
    console = _console()
    if not console.is_terminal:
        say(*(f"{label}: {text}" for label, text in lines.items()))
        return
    grid = rich.table.Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for label, text in lines.items():
        grid.add_row(_text(label), _text(text))
    console.print(grid)


def say_numbered(heading: str, sentences: Sequence[str]) -> None:
    """Print a heading and the numbered sentences below it."""
    console = _console()
    if not console.is_terminal:
        say(heading, *(f"{i}. {sentence}" for i, sentence in enumerate(sentences, start=1)))
        return
    grid = rich.table.Table.grid(padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column()
    for i, sentence in enumerate(sentences, start=1):
        grid.add_row(Text(f"{i}."), _text(sentence))
    console.print(_text(heading, "bold"), grid)


def note(text: str) -> None:
    """Print a line that is not part of the result."""
    _console(stderr=True).print(_text(text, "dim"), soft_wrap=True)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that work is going on."""
    console = _console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(_text(f"{what} ..."), spinner="line"):
        yield


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich itself would exit


def _console(stderr: bool = False) -> Console:
    return _Console(stderr=stderr, highlight=False, markup=False, emoji=False)
