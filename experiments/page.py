"""The page that sets figures beside the paper's, made from the JSON files: ``python -m experiments.page``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.cost import gather
from experiments.runs import Experiment, Line

HEAD = """# The paper's experiments

`make experiments` runs the experiments of the paper and the methods that it compares with, and writes this page;
`make experiments-quick` runs them in minutes, on fewer rows and seeds, and leaves this page as it is. Both need the
data files in a folder named by `SUFFICE_DATA`; `python -m experiments --help` tells more. Each experiment is one file
in `experiments/` and writes one JSON file and, where there is something to see, one figure into `build/experiments/`.

Here: mean ± standard deviation over seeds (other samples, other splits, other forests). *Goal*: what was to be reached,
and whether the mean does. Of one seed there is no spread, and a goal reached by it may be luck. `suffice` has its
defaults or the paper's settings. Where the paper is silent, the choice is told; where its figure cannot be right, that
is told too. Some choices were made after figures had been seen: these are told under "Chosen after looking".
"""


def make_page(experiments: Sequence[Experiment], summaries: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the page.

    Parameters
    ----------
    experiments : sequence of Experiment
        All of them, in the order of the page.
    summaries : mapping of str to mapping
        The summaries of those that were run, by name.

    Returns
    -------
    str
        Markdown.
    """
    parts = [HEAD]
    done = [e for e in experiments if e.name in summaries]
    if done:
        parts.append(_made(summaries[done[0].name]))
    for experiment in experiments:
        summary = summaries.get(experiment.name)
        parts.append(f"## {experiment.title}\n\n`{experiment.name}`. {experiment.setting}\n")
        parts.append(_section(experiment, summary) if summary else "Not run yet.\n")
    parts.append(_missed(done, summaries))
    parts.append(_cost(summaries))
    return "\n".join(parts)


def _made(summary: Mapping[str, Any]) -> str:
    made = summary["made"]
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    return f"Made on {made['date']}, {made['cores']} cores, Python {made['python']}, {versions}.\n"


def _section(experiment: Experiment, summary: Mapping[str, Any]) -> str:
    figures = summary["figures"]
    n_seeds, minutes = summary["n_seeds"], summary["wall_seconds"] / 60
    told = [f"{n_seeds} seed{'s' * (n_seeds != 1)}, {minutes:.1f} minutes."]
    if summary["scale"] != "full":
        told.append(f"A {summary['scale']} run: fewer rows and seeds than the setting says.")
    if summary["peers"] != "run":
        told.append("The other methods were left out on request.")
    if experiment.draw is not None:
        told.append(f"Figure: `build/experiments/{summary['scale']}/{experiment.name}.png`.")
    lines = [" ".join(told), "", "| method | figure | here | paper | goal |", "| --- | --- | --- | --- | --- |"]
    lines += [_row(line, figures) for line in experiment.lines if line.key in figures]
    sentences = summary["data"].get("sentences", []) if summary["data"] else []
    if sentences:
        lines += ["", *(f"> {sentence}" + "\n>" * (i < len(sentences) - 1) for i, sentence in enumerate(sentences))]
    if experiment.reading:
        lines += ["", experiment.reading]
    lines += [f"\nNote: {note}" for note in _short(summary["notes"])]
    return "\n".join(lines) + "\n"


def _row(line: Line, figures: Mapping[str, Any]) -> str:
    here = format_figure(figures[line.key], line.digits)
    return f"| {line.method} | {line.label} | {here} | {line.paper} | {_goal(line, figures)} |"


def format_figure(figure: Mapping[str, Any], digits: int) -> str:
    """Write a mean and its spread.

    Parameters
    ----------
    figure : mapping
        "mean" and "spread", either of which may be None.
    digits : int
        The number of decimals.

    Returns
    -------
    str
        Such as "0.95 ± 0.01"; "none" without a mean.
    """
    if figure["mean"] is None:
        return "none"
    spread = "" if figure["spread"] is None else f" ± {figure['spread']:.{digits}f}"
    return f"{figure['mean']:.{digits}f}{spread}"


def _goal(line: Line, figures: Mapping[str, Any]) -> str:
    reached = line.is_reached(figures)
    if line.goal is None or reached is None:
        return ""
    sign, than = line.goal
    value = figures[than]["mean"] if isinstance(than, str) else than
    told = f"{value:.{line.digits}f}" if isinstance(than, str) else f"{value:g}"
    return f"{sign} {told}: {'reached' if reached else '**missed**'}"


def _short(notes: Sequence[str], most: int = 6) -> list[str]:
    more = [f"and {len(notes) - most} more notes in the JSON file."] if len(notes) > most else []
    return [*notes[:most], *more]


def _missed(experiments: Sequence[Experiment], summaries: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        (experiment, line)
        for experiment in experiments
        for line in experiment.lines
        if line.is_reached(summaries[experiment.name]["figures"]) is False
    ]
    n_goals = sum(line.is_reached(summaries[e.name]["figures"]) is not None for e in experiments for line in e.lines)
    text = f"## Goals\n\n{n_goals - len(rows)} of {n_goals} goals are reached.\n"
    if rows:
        listed = [
            f"| `{experiment.name}` {line.method} | {line.label} | "
            f"{format_figure(summaries[experiment.name]['figures'][line.key], line.digits)} | "
            f"{_goal(line, summaries[experiment.name]['figures']).split(':')[0]} |"
            for experiment, line in rows
        ]
        text += (
            "\n".join(["\nMissed:\n", "| method | figure | here | goal |", "| --- | --- | --- | --- |", *listed]) + "\n"
        )
    return text


def _cost(summaries: Mapping[str, Mapping[str, Any]]) -> str:
    rows = gather(summaries)
    told = (
        "Wall milliseconds for each explained row, without fitting the forest (INVASE: with its training; rule models: "
        "fitting, for each training row). The paper gives none.\n"
    )
    lines = ["## Cost\n", told, "| experiment | method | ms a row |", "| --- | --- | --- |"]
    lines += [f"| `{row['experiment']}` | {row['method']} | {1000 * row['mean']:.3g} |" for row in rows if row["mean"]]
    return "\n".join(lines) + "\n"


def read_summaries(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the summaries that are in a folder."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        summary = json.loads(path.read_text())
        if "figures" in summary:
            found[summary["experiment"]] = summary
    return found


def main() -> None:
    """Write the page from the JSON files of a folder."""
    from experiments.__main__ import EXPERIMENTS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("build/experiments/full"), help="the folder of JSON files")
    parser.add_argument("--out", type=Path, default=Path("docs/reproduce.md"), help="the page")
    arguments = parser.parse_args()
    summaries = read_summaries(arguments.results)
    if not summaries:
        parser.error(f"there are no results in {arguments.results}; run `make experiments` first")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(make_page(EXPERIMENTS, summaries))


if __name__ == "__main__":
    main()
