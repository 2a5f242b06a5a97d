"""A table of customers, and how tests run the command."""

from __future__ import annotations

import datetime
import subprocess
import sys

import numpy as np
import polars as pl

from suffice import SufficientExplainer
from suffice._cli.main import run

COMMAND = [sys.executable, "-c", "from suffice._cli.main import main; main()"]


N_ROWS = 300


def make_shop():
    rng = np.random.default_rng(0)
    city = rng.choice(["Paris", "Rome", "Oslo"], N_ROWS)
    age = rng.integers(18, 80, N_ROWS)
    buys = np.where((age > 40) & (city != "Oslo"), "yes", "no").tolist()
    buys[3] = buys[8] = None
    day = datetime.date(2024, 1, 1)
    return pl.DataFrame(
        {
            "id": [f"c{i}" for i in range(N_ROWS)],
            "city": city,
            "age": age,
            "income": rng.normal(30000, 8000, N_ROWS).round(2),
            "code": rng.choice(["1", "2", "x", "y"], N_ROWS),
            "since": [day + datetime.timedelta(days=int(d)) for d in rng.integers(0, 400, N_ROWS)],
            "member": rng.random(N_ROWS) > 0.5,
            "spent": (age * 2.5 + rng.normal(0, 5, N_ROWS)).round(2),
            "buys": buys,
        }
    )


def command(line, *more):
    """Run the command in this process."""
    return run([*line.split(), *more])


def suffice_in(folder, line="", *more, data=None, env=None):
    """Run the command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *line.split(), *more], cwd=folder, input=data, env=env, capture_output=True, timeout=600, check=False
    )


def expected(path="buys.suffice", target=None, **options):
    explainer = SufficientExplainer.load(path)
    frame = pl.read_parquet("shop.parquet").head(12)
    positions = [i for i in range(12) if target is None or frame[target][i] is not None]
    frame = frame[positions]
    outcomes = None if target is None else frame[target]
    return positions, explainer.explain(frame.select(explainer.feature_names_in_.tolist()), outcomes, **options)
