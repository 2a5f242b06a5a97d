"""Run the experiments of the paper: ``python -m experiments [--quick] [--data FOLDER] [NAME ...]``."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from experiments import (
    anchors,
    attributions,
    bike,
    cdf,
    counterfactual_law,
    counterfactuals,
    global_rules,
    lucas,
    lxi,
    moons,
    rule,
    stability,
    switch,
)
from experiments.page import RECORD, write_pages
from experiments.runs import Plan, run_experiment

MODULES = (switch, lxi, rule, cdf, bike, anchors, stability, moons, attributions, lucas, global_rules)
EXPERIMENTS = [
    *(module.EXPERIMENT for module in MODULES),
    *counterfactuals.EXPERIMENTS,
    counterfactual_law.EXPERIMENT,
]
WITH_FILES = ("bike", "anchors", "stability", "lucas", "global", *(e.name for e in counterfactuals.EXPERIMENTS))


def main() -> None:
    """Run the chosen experiments seed by seed; seeds that were run before are not run again."""
    by_name = {experiment.name: experiment for experiment in EXPERIMENTS}
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(by_name)}; all by default")
    scale = parser.add_mutually_exclusive_group()
    scale.add_argument("--quick", action="store_const", const="quick", dest="scale", help="minutes instead of hours")
    scale.add_argument("--tiny", action="store_const", const="tiny", dest="scale", help="only to see that it runs")
    parser.add_argument("--data", help="the folder of data files; by default that of SUFFICE_DATA")
    parser.add_argument("--out", type=Path, default=Path("build/experiments"), help="where results go")
    parser.add_argument("--only-ours", action="store_true", help="leave the other methods out; the JSON says so")
    parser.add_argument("--seeds", type=int, help="run at most so many seeds; the page tells how many there are")
    parser.add_argument("--pages", type=Path, metavar="DOCS", help="also write the pages of this folder")
    parser.set_defaults(scale="full")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in by_name]
    if unknown:
        parser.error(f"unknown experiment {unknown[0]!r}; there are {', '.join(by_name)}")
    names = arguments.names or list(by_name)
    data = arguments.data or os.environ.get("SUFFICE_DATA")
    needing = [name for name in names if name in WITH_FILES]
    if needing and not (data and Path(data).is_dir()):
        without = [name for name in by_name if name not in WITH_FILES]
        if data or arguments.names or arguments.scale == "full":
            problem = f"{data!r} is not a folder" if data else "no folder of data was given"
            parser.error(
                f"{problem}, and {', '.join(needing)} read files: give --data FOLDER or set SUFFICE_DATA, or name "
                f"others ({', '.join(without)})"
            )
        names = without
        print(f"Left out: {', '.join(needing)}. They read files, and neither --data nor SUFFICE_DATA names a folder.")
    if arguments.scale == "full":
        print(time_before(names, Path("docs", RECORD)), flush=True)
    plan = Plan(arguments.scale, not arguments.only_ours, data)
    folder = arguments.out / plan.folder
    start = time.perf_counter()
    for name in names:
        run_experiment(by_name[name], plan, folder, lambda line: print(line, flush=True), arguments.seeds)
    if arguments.pages is not None:
        write_pages(arguments.pages, EXPERIMENTS, folder)
    print(f"{len(names)} experiments in {folder}, {(time.perf_counter() - start) / 60:.1f} minutes")


def time_before(names: Sequence[str], record: Path) -> str:
    """Tell how long experiments took when they were run with the other methods."""
    before = json.loads(record.read_text()) if record.exists() else {}
    minutes = sum(before[name]["minutes"] for name in names if name in before)
    return f"With the other methods, this took {minutes:.0f} minutes on two cores when it was run before."


if __name__ == "__main__":
    main()
