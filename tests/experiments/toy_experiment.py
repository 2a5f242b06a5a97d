"""A small experiment for the tests of how experiments are run and shown."""

from experiments.runs import Experiment, Line

MADE = {"date": "2026-01-01", "cores": 2, "python": "3.11.7", "versions": {"suffice": "0.1.0"}}
FIGURES = {"share": 0.5, "size": 2.0, "their size": 1.5}


def toy(run, **options):
    lines = [
        Line("ours", "share", "share", "0.5", (">=", 0.5), 2),
        Line("ours", "size", "size", "", ("<=", "their size"), needs=("full", "peers")),
        Line("theirs", "size", "their size", needs=("full", "peers")),
    ]
    return Experiment("toy", "A toy", "Nothing is done.", lines, run, n_seeds=(3, 2, 1), **options)
