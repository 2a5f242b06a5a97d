"""From tables and saved explainers to workspaces: what is uploaded, chosen on the page, or named to the command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from suffice._io.demo import demo_data
from suffice._io.explainer_file import is_known, load_explainer_file, outcomes_of, text_columns
from suffice._io.files import read_table
from suffice._io.processes import run_in_process
from suffice._io.saved import MARK
from suffice._io.sources import cannot_read
from suffice.app.state.desk import Desk, WaitingTable, WaitingTables
from suffice.app.state.workspace import Workspace
from suffice.errors import did_you_mean
from suffice.explainer import SufficientExplainer


def fit_workspace(
    frame: pl.DataFrame,
    target: str,
    left_out: list[str],
    has_dates: bool,
    name: str,
    watch: Callable[[int], None] | None = None,
) -> Workspace:
    """Fit an explainer to a table, in a process of its own: a fit that runs out of memory ends nothing else."""
    frame = frame.filter(is_known(frame[target]))
    if not frame.height:
        raise ValueError(f"The column {target!r} is empty: there is no outcome to explain.")
    explainer = run_in_process("suffice._io.explainer_file:fit_table", frame, target, left_out, has_dates, watch=watch)
    return Workspace.of(explainer, frame, outcomes_of(frame, target), name)


def demo_workspace(which: int, watch: Callable[[int], None] | None = None) -> Workspace:
    """Fit an explainer to a table that comes with scikit-learn."""
    data = list(demo_data())[which]
    X = pl.concat([data.X_fit, data.X_new])
    y = pl.concat([data.y_fit, data.y_new])
    return fit_workspace(X.with_columns(y), y.name, [], False, data.title, watch)


def open_files(
    first: str | None, table: str | None = None, target: str | None = None, *, demo: bool = False
) -> tuple[Desk, WaitingTables]:
    """Open the files that the command names."""
    if demo:
        if first is not None:
            raise ValueError("`--demo` opens a table of its own: leave out the files, or leave out --demo.")
        return Desk(demo_workspace(0)), WaitingTables()
    if first is None:
        return Desk(), WaitingTables()
    name = Path(first).name
    if _is_saved_explainer(first):
        explainer: SufficientExplainer = load_explainer_file(first)
        if table is None:
            return Desk(Workspace.of(explainer, name=f"training rows of {name}")), WaitingTables()
        frame = read_table(table, text_columns=text_columns(explainer))
        return Desk(Workspace.of(explainer, frame, name=Path(table).name)), WaitingTables()
    if table is not None:
        raise ValueError(f"{first!r} is not a saved explainer: give one table, or an explainer and a table.")
    frame = read_table(first)
    if target is None:
        return Desk(), WaitingTables(WaitingTable(frame, name))
    if target not in frame.columns:
        raise ValueError(f"--target: there is no column {target!r} in {first}.{did_you_mean(target, frame.columns)}")
    return Desk(fit_workspace(frame, target, [], True, name)), WaitingTables()


def _is_saved_explainer(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MARK)) == MARK
    except OSError as error:
        raise cannot_read(path, error) from None
