"""What a click on a row of the app costs: milliseconds for its answer, the page, its reasons and its changes.

``python -m benchmarks.app_speed`` fits each table as the app does, with the outcome that matters and columns that
nobody can change, and opens rows of it: medians of the time on the clock, and of processor time; of the changes also
the longest.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from experiments.data.loaders import FOLDER_VARIABLE

from benchmarks.printing import print_table
from benchmarks.real_tables import load_table
from suffice.app.pages import one_row, row_answers
from suffice.app.state.sessions import fit_workspace
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace

# As it comes, with the length of the call: this tells the outcome so well that other changes are searched for long.
WITH_DURATION = "bank with duration"
# By table: the outcome that matters, and columns that nobody can change.
TABLES = {
    "german credit": ("bad", ("age", "personal_status_sex", "foreign_worker")),
    "bank": ("yes", ("age", "marital", "education")),
    WITH_DURATION: ("yes", ("age", "marital", "education")),
    "breast cancer": (None, ()),
    "california": (None, ("Longitude", "Latitude")),
}
TARGET = "the outcome"


def open_table(name: str, data: str | None) -> Workspace:
    """Fit a table as the app does."""
    focus, fixed = TABLES[name]
    table = load_table(name.removesuffix(" with duration"), data)
    unknown = {*fixed} - {*table.X.columns}
    if unknown:
        raise ValueError(f"{name} has no columns {sorted(unknown)}: there are {sorted(table.X.columns)}.")
    frame = pl.DataFrame({column: table.X[column].tolist() for column in table.X.columns})
    if name == WITH_DURATION:
        path = Path(data or os.environ[FOLDER_VARIABLE]) / "bank_marketing.csv.gz"
        frame = frame.with_columns(pl.read_csv(path, columns=["duration"]))
    frame = frame.with_columns(pl.Series(TARGET, np.asarray(table.y).tolist()))
    return fit_workspace(frame, TARGET, [], False, name, None, fixed, focus)


def time_row(workspace: Workspace, row: int) -> list[tuple[float, float]]:
    """Open a row; return the milliseconds of each step on the clock, and of processor time."""
    view = View(row=row)
    wanted = float(np.median(workspace.training[1])) if workspace.is_regression else None
    steps: dict[str, Any] = {
        "answer": lambda: row_answers.answer(workspace, view),
        "page": lambda: one_row.layout(workspace, view),  # the answer is known by now
        "reasons": lambda: row_answers.give_reasons(workspace, view),
        "changes": lambda: row_answers.find_changes(workspace, view, wanted, None),
    }
    times = []
    for step in steps.values():
        clock, processor = time.perf_counter(), time.process_time()
        step()
        times.append((1000 * (time.perf_counter() - clock), 1000 * (time.process_time() - processor)))
    return times


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="the folder with the data files")
    parser.add_argument("--rows", type=int, default=15)
    options = parser.parse_args()
    lines = []
    for name in TABLES:
        workspace = open_table(name, options.data)
        rows = np.random.default_rng(0).choice(workspace.frame.height, options.rows + 1, replace=False).tolist()
        # The first row also fills caches that all later ones share.
        times = np.array([time_row(workspace, row) for row in rows][1:])
        shape = f"{workspace.frame.height:,} x {len(workspace.names)}"
        figures = [*np.median(times, axis=0), times[:, -1].max(axis=0)]
        lines.append([name, shape, *(f"{clock:.0f} / {processor:.0f}" for clock, processor in figures)])
    print_table(["table", "rows x columns", "answer", "page", "reasons", "changes", "slowest changes"], lines)


if __name__ == "__main__":
    main()
