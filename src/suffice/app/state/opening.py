"""From tables and saved explainers to workspaces: what is uploaded, chosen on the page, or named to the command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from suffice._io.apart import run_apart
from suffice._io.demo import demo_data
from suffice._io.explainer_file import load_explainer_file, text_columns
from suffice._io.files import read_table
from suffice._io.outcome_column import is_known, outcomes_of
from suffice._io.saved_content import MARK
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
    """Fit an explainer to a table, in a process of its own: a fit that runs out of memory ends nothing else.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : str
        The column with the outcomes; rows without one are left out.
    left_out : list of str
        Columns to leave out.
    has_dates : bool
        Whether to use columns of dates.
    name : str
        The name of the table.
    watch : callable, default=None
        Is called about ten times a second meanwhile. If it raises, the fit ends.

    Returns
    -------
    Workspace
        The explainer with the table.
    """
    frame = frame.filter(is_known(frame[target]))
    if not frame.height:
        raise ValueError(f"The column {target!r} is empty: there is no outcome to explain.")
    explainer = run_apart("suffice._io.table_fit:fit_table", frame, target, left_out, has_dates, watch=watch)
    return Workspace.of(explainer, frame, outcomes_of(frame, target), name)


def demo_workspace(which: int, watch: Callable[[int], None] | None = None) -> Workspace:
    """Fit an explainer to a table that comes with scikit-learn.

    Parameters
    ----------
    which : {0, 1}
        Classes or numbers.
    watch : callable, default=None
        See `fit_workspace`.

    Returns
    -------
    Workspace
        The explainer with the table.
    """
    data = list(demo_data())[which]
    X = pl.concat([data.X_fit, data.X_new])
    y = pl.concat([data.y_fit, data.y_new])
    return fit_workspace(X.with_columns(y), y.name, [], False, data.title, watch)


def open_files(
    first: str | None, table: str | None = None, target: str | None = None, *, demo: bool = False
) -> tuple[Desk, WaitingTables]:
    """Open the files that the command names.

    Parameters
    ----------
    first : str or None
        The path of a saved explainer or of a table; None for neither.
    table : str, default=None
        The path of the rows to look at, if `first` is an explainer.
    target : str, default=None
        The column with the outcomes, if `first` is a table; None leaves the choice to the page.
    demo : bool, default=False
        Whether to open a table that comes with scikit-learn.

    Returns
    -------
    desk : Desk
        With a workspace, if there is one.
    waiting : WaitingTables
        With the table, if its target is to be chosen.
    """
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
