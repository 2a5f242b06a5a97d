"""How experiments are run: sizes, seeds, the cache of finished seeds, means and spreads, JSON.

The experiments say what is measured; `page` writes the figures.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from suffice.errors import FidelityWarning, SearchSizeWarning, did_you_mean

PEERS = ("shap", "lime", "anchor-exp", "imodels", "torch", "dice-ml", "NICEx")
PACKAGES = ("suffice", "numpy", "scikit-learn", *PEERS)
# How the method of a line is named that runs the library as it is: `SufficientExplainer()`, without any setting.
BY_DEFAULT = "by default"


@dataclass(frozen=True)
class Plan:
    """How much is run.

    Parameters
    ----------
    scale : {"full", "quick", "tiny"}
        The paper's sizes; fewer rows and seeds; or just enough to see that nothing breaks.
    peers : bool, default=True
        Whether the other methods run. If not, the JSON says so and has no figures of theirs.
    data : str, default=None
        The folder of data files; None for that of the environment variable SUFFICE_DATA.
    """

    scale: Literal["full", "quick", "tiny"]
    peers: bool = True
    data: str | None = None

    def pick(self, full: Any, quick: Any, tiny: Any) -> Any:
        """Choose by the scale."""
        return {"full": full, "quick": quick, "tiny": tiny}[self.scale]

    @property
    def folder(self) -> str:
        """The name of the folder of results: runs of different plans do not mix."""
        return self.scale if self.peers else f"{self.scale}-ours"


@dataclass
class Outcome:
    """The results of one seed of an experiment.

    Parameters
    ----------
    figures : dict of str to float
        The figures that are averaged over seeds; NaN where there is none.
    seconds : dict of str to float
        Wall seconds per explained row of each method, on all cores.
    notes : list of str
        Deviations from the plan.
    data : dict of str to object
        What the drawing needs, as plain values; that of the first seed is drawn.
    """

    figures: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """One line of an experiment's table.

    Parameters
    ----------
    method, label : str
        The method, and the name of its figure.
    key : str
        The key of the figure in `Outcome.figures`.
    paper : str, default=""
        The figure in the paper.
    digits : int, default=3
        The number of decimals.
    needs : tuple of {"peers", "full"}, default=()
        What a run must have for there to be such a figure: the other methods, the paper's sizes.
    """

    method: str
    label: str
    key: str
    paper: str = ""
    digits: int = 3
    needs: tuple[Literal["peers", "full"], ...] = ()


@dataclass(frozen=True)
class Claim:
    """A figure of the paper, with ours beside it.

    Parameters
    ----------
    label, paper : str
        What the figure is, and how the paper prints it.
    key, default : str
        The keys of the figure with the paper's settings and with the library as it is; "" where there is none.
    better : {"<=", ">=", "=="}
        Whether small or large figures are better, or neither.
    digits : int, default=3
        The number of decimals.
    slip : str, default=""
        Why the paper's figure cannot be right.
    """

    label: str
    paper: str
    key: str
    default: str = ""
    better: Literal["<=", ">=", "=="] = "=="
    digits: int = 3
    slip: str = ""

    def verdict(self, mean: float | None, spread: float | None) -> str:
        """Compare a mean with the paper's figure: equal within its spread or the rounding of the print, or not.

        A whole number of the paper's is taken as exact to the decimals of ours: 0 is not 0.4.
        """
        if mean is None:
            return "none"
        difference = mean - float(self.paper)
        decimals = len(self.paper.partition(".")[2]) or self.digits
        if abs(difference) <= max(spread or 0.0, 0.5 * 10.0**-decimals) + 1e-12:
            return "equal"
        if self.better == "==":
            return "differs"
        return "better" if (difference > 0) == (self.better == ">=") else "worse"


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper.

    Parameters
    ----------
    name, title : str
        What it is called on the command line and on the page.
    setting : str
        What is done, and what was chosen where the paper is silent.
    lines : sequence of Line
        The tables of its page.
    run : callable
        Takes a plan and a seed, gives an `Outcome`.
    draw : callable, default=None
        Takes the summary and gives a matplotlib figure; None if the table is all.
    reading : str, default=""
        How the figures are to be read: what is missed and why, what of the paper's cannot be right.
    claims : sequence of Claim, default=()
        The figures of the paper, for the table of all experiments.
    n_seeds : tuple of int, default=(5, 1, 1)
        For each scale.
    version : int, default=1
        To be raised when something else is measured: seeds of another version are run again.
    """

    name: str
    title: str
    setting: str
    lines: Sequence[Line]
    run: Callable[[Plan, int], Outcome]
    draw: Callable[[Mapping[str, Any]], Any] | None = None
    reading: str = ""
    claims: Sequence[Claim] = ()
    n_seeds: tuple[int, int, int] = (5, 1, 1)
    version: int = 1

    def check_figures(self, summary: Mapping[str, Any]) -> None:
        """Check that a run has the figure of each line and claim: a misspelt key would only make it disappear.

        Parameters
        ----------
        summary : mapping
            The summary of the run. A figure that could not be measured is there with the mean None.

        Raises
        ------
        ValueError
            If a line that the run can fill names a figure that is not there.
        """
        has = {"peers": summary["peers"] == "run", "full": summary["scale"] == "full"}
        for line in self.lines:
            if line.key not in summary["figures"] and all(has[need] for need in line.needs):
                raise ValueError(
                    f"Experiment {self.name!r}: the line {line.method!r}, {line.label!r} shows the figure "
                    f"{line.key!r}, which the run does not have.{did_you_mean(line.key, summary['figures'])}"
                )
        for key in (key for claim in self.claims for key in (claim.key, claim.default)):
            if key and key not in summary["figures"] and has["full"]:
                raise ValueError(f"Experiment {self.name!r}: a claim compares {key!r}, which the run does not have.")


@contextlib.contextmanager
def naming(name: str) -> Iterator[None]:
    """Put a name before the package's warnings, so that notes name the table they are about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        warnings.warn(f"{name}: {warning.message}", warning.category, stacklevel=3)


def run_experiment(
    experiment: Experiment, plan: Plan, folder: Path, tell: Callable[[str], None], most_seeds: int | None = None
) -> dict[str, Any]:
    """Run the seeds that have no result yet, and write the summary of all as JSON and as a figure.

    Parameters
    ----------
    experiment : Experiment
        What is run.
    plan : Plan
        How much of it.
    folder : Path
        Where results go; each seed has a file of its own in ``folder / "seeds"``, and is not run while it is there.
    tell : callable
        Takes lines of progress.
    most_seeds : int, default=None
        Run at most so many seeds.

    Returns
    -------
    dict
        The summary, as in the JSON file.
    """
    outcomes = []
    n_seeds = plan.pick(*experiment.n_seeds)
    for seed in range(n_seeds if most_seeds is None else min(n_seeds, most_seeds)):
        path = folder / "seeds" / f"{experiment.name}-{seed}.json"
        if not (path.exists() and json.loads(path.read_text()).get("version", 1) == experiment.version):
            start = time.perf_counter()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UserWarning)
                outcome = experiment.run(plan, seed)
            kinds = (FidelityWarning, SearchSizeWarning)
            outcome.notes += [str(w.message) for w in caught if issubclass(w.category, kinds)]
            took = {"wall_seconds": time.perf_counter() - start, "made": about_this_run()}
            write_json(path, {**vars(outcome), **took, "version": experiment.version})
            tell(f"{experiment.name}, seed {seed}: {time.perf_counter() - start:.1f} s")
        outcomes.append(json.loads(path.read_text()))
    summary = summarise(experiment, plan, outcomes)
    experiment.check_figures(summary)
    write_json(folder / f"{experiment.name}.json", summary)
    if experiment.draw is not None:
        figure = experiment.draw(summary)
        figure.savefig(folder / f"{experiment.name}.png", dpi=110, bbox_inches="tight")
    return summary


def summarise(experiment: Experiment, plan: Plan, outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Average the outcomes of the seeds.

    Parameters
    ----------
    experiment : Experiment
        What was run.
    plan : Plan
        How much of it.
    outcomes : sequence of mapping
        The seeds' outcomes, as plain values.

    Returns
    -------
    dict
        Means and spreads of figures and seconds, notes, and the first seed's data.
    """
    figures = aggregate([outcome["figures"] for outcome in outcomes])
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "scale": plan.scale,
        "peers": "run" if plan.peers else "left out on request",
        "n_seeds": len(outcomes),
        "figures": figures,
        "seconds": aggregate([outcome["seconds"] for outcome in outcomes]),
        "wall_seconds": sum(outcome["wall_seconds"] for outcome in outcomes),
        "notes": list(dict.fromkeys(note for outcome in outcomes for note in outcome["notes"])),
        "made": max((outcome["made"] for outcome in outcomes), key=lambda made: made["date"]),
        "data": outcomes[0]["data"],
    }


def aggregate(figures: Sequence[Mapping[str, float | None]]) -> dict[str, dict[str, Any]]:
    """Take the mean and the sample standard deviation of each figure over the seeds that have it.

    Parameters
    ----------
    figures : sequence of mapping of str to float or None
        One for each seed; a figure that is None or NaN does not count.

    Returns
    -------
    dict
        For each figure its mean, median, spread (None of a single value), and values.
    """
    aggregated: dict[str, dict[str, Any]] = {}
    for key in dict.fromkeys(key for one in figures for key in one):
        values = [one[key] for one in figures if one.get(key) is not None]
        values = [float(v) for v in values if not math.isnan(float(v))]
        aggregated[key] = {
            "mean": statistics.fmean(values) if values else None,
            "median": statistics.median(values) if values else None,
            "spread": statistics.stdev(values) if len(values) > 1 else None,
            "values": values,
        }
    return aggregated


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write plain values to a file that is replaced only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(_plain(values), indent=1) + "\n")
    os.replace(part, path)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def about_this_run() -> dict[str, Any]:
    """Return the date, the machine and the versions of the packages."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "date": str(datetime.date.today()),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": versions,
    }
