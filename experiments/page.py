"""The page that sets figures beside the paper's, made from the JSON files: ``python -m experiments.page``."""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.cost import gather
from experiments.runs import Experiment, Line

HEAD = """# The paper's experiments

`make experiments` runs the experiments of the paper and the methods that it compares with, and writes this page;
`make experiments-quick` runs them in minutes, on fewer rows and seeds, and leaves this page as it is. The sections
whose names begin with `changes` are about the authors' second paper, on counterfactual rules (arXiv 2209.14568). The
data files are read from the folder named by `SUFFICE_DATA`; without it the small run skips what needs them.
`python -m experiments --help` lists the options; experiments that are not run keep their part of this page. Each
experiment is one file in `experiments/` and writes one JSON file and, where there is something to see, one figure into
`build/experiments/`.

Each figure is a mean ± standard deviation over seeds (different samples, splits and forests). A single
seed has no spread. The paper's figures are shown next to ours. `suffice` uses its defaults or the paper's settings. As
in the paper, it counts the rows that grew the trees and does not search the empty set (`SufficientExplainer.paper`;
[the method](method.md), section 1.9). Lines *by default* are `SufficientExplainer()` as it is, without any
setting; more about it stands in [honesty](honesty.md#what-the-default-finds-and-misses). Where the paper does not state
a setting, the page states the choice; where a figure of the paper cannot be right, the page says so. Choices made after
seeing figures are listed under "Chosen after looking".
"""


def make_page(
    experiments: Sequence[Experiment], summaries: Mapping[str, Mapping[str, Any]], figures: str = "", before: str = ""
) -> str:
    """Write the page.

    Parameters
    ----------
    experiments : sequence of Experiment
        All of them, in the order of the page.
    summaries : mapping of str to mapping
        The summaries of those that were run, by name.
    figures : str, default=""
        Where the figures are, seen from the page: a folder with a slash at its end.
    before : str, default=""
        The page as it was: experiments that were not run keep their sections and costs.

    Returns
    -------
    str
        Markdown.
    """
    parts = [HEAD]
    done = [e for e in experiments if e.name in summaries]
    kept = _Kept.of_page(before, [e for e in experiments if e.name not in summaries])
    if done:
        parts.append(_made([summaries[e.name]["made"] for e in done], kept.since))
    for experiment in experiments:
        summary = summaries.get(experiment.name)
        if summary is None and experiment.name in kept.sections:
            parts.append(kept.sections[experiment.name])
            continue
        parts.append(f"## {experiment.title}\n\n`{experiment.name}`. {experiment.setting}\n")
        parts.append(_section(experiment, summary, figures) if summary else "Not run yet.\n")
    parts.append(_cost(done, summaries, kept))
    return "\n".join(parts)


@dataclass(frozen=True)
class _Kept:
    """What stays of the page as it was: sections by experiment, their rows of costs, a date."""

    sections: dict[str, str]
    cost: list[str]
    since: str | None

    @classmethod
    def of_page(cls, page: str, experiments: Sequence[Experiment]) -> _Kept:
        """Take out what the page says of some experiments."""
        _, *parts = f"\n{page}".split("\n## ")
        by_title = {part.split("\n", 1)[0]: f"## {part.rstrip()}\n" for part in parts}
        sections = {e.name: by_title[e.title] for e in experiments if e.title in by_title}
        starts = tuple(f"| `{name}` " for name in sections)
        cost = [line for line in by_title.get("Cost", "").splitlines() if line.startswith(starts)]
        made = re.search(r"^Made on (\S+?)[ ,]", page, re.MULTILINE)
        return cls(sections, cost, made[1] if made and sections else None)


def _made(all_made: Sequence[Mapping[str, Any]], since: str | None = None) -> str:
    """Describe the last run, and the time span of the figures."""
    made = max(all_made, key=lambda made: made["date"])
    dates = [one["date"] for one in all_made] + ([] if since is None else [since])
    when = made["date"] if min(dates) == made["date"] else f"{min(dates)} to {made['date']}"
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    return f"Made on {when}, {made['cores']} cores, Python {made['python']}, {versions}.\n"


def write_page(page: Path, experiments: Sequence[Experiment], results: Path) -> None:
    """Write the page of a folder of results, with copies of its figures in a folder beside it.

    Experiments without results keep what the page says of them.

    Parameters
    ----------
    page : Path
        The page: docs/reproduce.md has its figures in docs/reproduce.
    experiments : sequence of Experiment
        All of them, in the order of the page.
    results : Path
        Where the JSON files and the figures are.
    """
    beside = page.with_suffix("")
    beside.mkdir(parents=True, exist_ok=True)
    for experiment in experiments:
        if experiment.draw is not None and (results / f"{experiment.name}.png").exists():
            shutil.copyfile(results / f"{experiment.name}.png", beside / f"{experiment.name}.png")
    before = page.read_text() if page.exists() else ""
    page.write_text(make_page(experiments, read_summaries(results), f"{beside.name}/", before))


def _section(experiment: Experiment, summary: Mapping[str, Any], figures_at: str) -> str:
    experiment.check_figures(summary)
    figures = summary["figures"]
    n_seeds, minutes = summary["n_seeds"], summary["wall_seconds"] / 60
    remarks = [f"{n_seeds} seed{'s' * (n_seeds != 1)}, {minutes:.1f} minutes."]
    if summary["scale"] != "full":
        remarks.append(f"A {summary['scale']} run: fewer rows and seeds than the setting says.")
    if summary["peers"] != "run":
        remarks.append("The other methods were left out on request.")
    lines = [" ".join(remarks), ""]
    if experiment.draw is not None:
        lines += [f"![{experiment.title}]({figures_at}{experiment.name}.png)", ""]
    lines += _tables([line for line in experiment.lines if line.key in figures], figures)
    sentences = [text.splitlines()[0] for text in (summary["data"] or {}).get("sentences", [])]
    if sentences:
        lines += ["", *(f"> {sentence}" + "\n>" * (i < len(sentences) - 1) for i, sentence in enumerate(sentences))]
    if experiment.reading:
        lines += ["", experiment.reading]
    lines += [f"\nNote: {note}" for note in _short(summary["notes"])]
    return "\n".join(lines) + "\n"


def _tables(lines: Sequence[Line], figures: Mapping[str, Any]) -> list[str]:
    """Make a table of methods by figures where at least two methods share a figure; list the other lines."""
    methods_of: dict[str, list[str]] = {}
    for line in lines:
        methods_of.setdefault(line.label, []).append(line.method)
    shared = {label: methods for label, methods in methods_of.items() if len(methods) > 1}
    rows, left = [], [line for line in lines if line.label not in shared]
    cells = {(line.method, line.label): _cell(line, figures) for line in lines}
    while shared:
        labels, connected_methods = _take_connected(shared)
        in_order = dict.fromkeys(line.method for line in lines)
        methods = [method for method in in_order if method in connected_methods]
        by_method = [[method, *(cells.get((method, label), "") for label in labels)] for method in methods]
        table = [["", *labels], *by_method]
        # The longer side goes down the page.
        rows += [*_markdown(table if len(labels) <= len(methods) else list(zip(*table, strict=True))), ""]
    if left:
        listed = [[line.method, line.label, _here(line, figures), line.paper] for line in left]
        rows += [*_markdown([["method", "figure", "here", "paper"], *listed]), ""]
    return rows[:-1]


def _take_connected(shared: dict[str, list[str]]) -> tuple[list[str], set[str]]:
    """Take out the first figure and all figures that are connected with it by methods they share."""
    first = next(iter(shared))
    labels, methods = [first], set(shared.pop(first))
    while more := [label for label in shared if methods.intersection(shared[label])]:
        for label in more:
            labels.append(label)
            methods.update(shared.pop(label))
    return labels, methods


def _markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    head, *others = (f"| {' | '.join(row)} |" for row in rows)
    return [head, f"|{' --- |' * len(rows[0])}", *others]


def _cell(line: Line, figures: Mapping[str, Any]) -> str:
    return _here(line, figures) + (f"<br>paper: {line.paper}" if line.paper else "")


def _here(line: Line, figures: Mapping[str, Any]) -> str:
    return format_figure(figures[line.key], line.digits)


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


def _short(notes: Sequence[str], most: int = 6) -> list[str]:
    more = [f"and {len(notes) - most} more notes in the JSON file."] if len(notes) > most else []
    return [*notes[:most], *more]


def _cost(experiments: Sequence[Experiment], summaries: Mapping[str, Mapping[str, Any]], kept: _Kept) -> str:
    rows = gather({e.name: summaries[e.name] for e in experiments})
    note = (
        "Wall milliseconds for each explained row, medians over seeds, without fitting the forest (for INVASE with "
        "its training; for rule models the time of fitting, for each training row). `suffice` uses both cores; "
        "INVASE and the models that LIME and Anchors query use one. The machine had other work at times. The paper "
        "gives no times.\n"
    )
    lines = ["## Cost\n", note, "| experiment | method | ms per row |", "| --- | --- | --- |", *kept.cost]
    for row in rows:
        if row["median"]:
            rounded = float(f"{1000 * row['median']:.3g}")
            lines.append(f"| `{row['experiment']}` | {row['method']} | {rounded:,g} |")
    return "\n".join(lines) + "\n"


def read_summaries(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the summaries that are in a folder."""
    summaries = {}
    for path in sorted(folder.glob("*.json")):
        summary = json.loads(path.read_text())
        if "figures" in summary:
            summaries[summary["experiment"]] = summary
    return summaries


def main() -> None:
    """Write the page from the JSON files of a folder."""
    from experiments.__main__ import EXPERIMENTS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=Path("build/experiments/full"), help="the folder of JSON files")
    parser.add_argument("--out", type=Path, default=Path("docs/reproduce.md"), help="the page")
    arguments = parser.parse_args()
    if not read_summaries(arguments.results):
        parser.error(f"there are no results in {arguments.results}; run `make experiments` first")
    write_page(arguments.out, EXPERIMENTS, arguments.results)


if __name__ == "__main__":
    main()
