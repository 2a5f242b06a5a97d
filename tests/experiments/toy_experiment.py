"""A small experiment for the tests of how experiments are run and shown."""

from experiments.runs import Claim, Experiment, Line

MADE = {"date": "2026-01-01", "cores": 2, "python": "3.11.7", "versions": {"suffice": "0.1.0"}}
FIGURES = {"share": 0.5, "size": 2.0, "their size": 1.5}
CLAIMS = [Claim("share", "0.5", "share", "size", ">=", 2)]


def toy(run, claims=CLAIMS, **options):
    lines = [
        Line("ours", "share", "share", "0.5", 2),
        Line("ours", "size", "size", needs=("full", "peers")),
        Line("theirs", "size", "their size", needs=("full", "peers")),
    ]
    return Experiment("toy", "A toy", "Nothing is done.", lines, run, claims=claims, n_seeds=(3, 2, 1), **options)
