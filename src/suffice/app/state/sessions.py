"""The workspaces of a running app, tables whose target is not chosen yet, and how both are opened."""

from __future__ import annotations

import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import polars as pl
from dash.exceptions import PreventUpdate

from suffice._io.demo import demo_data
from suffice._io.explainer_file import is_known, load_explainer_file, outcomes_of, text_columns
from suffice._io.files import read_table
from suffice._io.processes import run_in_process
from suffice._io.saved import MARK
from suffice._io.sources import UPLOAD_VARIABLE, cannot_read, memory_limit
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.errors import did_you_mean

if TYPE_CHECKING:
    from suffice.explainer import SufficientExplainer

N_WORKSPACES = 8  # uploaded tables that are kept; the oldest goes first
# Tables whose target is not chosen yet: with a limit of four, fifty visitors at once lost tables before they chose.
# Together they take at most as much memory as N_LARGEST of the largest uploads.
N_PENDING, N_LARGEST = 64, 4

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PendingTable:
    """A table whose target is not chosen yet."""

    frame: pl.DataFrame
    name: str
    notes: tuple[str, ...] = ()


class _NamedObjects(Generic[T]):
    """The last few objects by random names; the name "" is that of the object that the app was started with."""

    def __init__(
        self, max_size: int, first: T | None, max_bytes: float = math.inf, n_bytes: Callable[[T], float] = lambda _: 0
    ) -> None:
        self._max_size, self._max_bytes, self._n_bytes = max_size, max_bytes, n_bytes
        self._objects: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()
        self.first = first

    def add(self, new: T) -> str:
        """Keep an object, and drop the oldest if there are too many, or if they are too large together."""
        name = secrets.token_hex(8)
        with self._lock:
            self._objects[name] = new
            while len(self._objects) > self._max_size or (len(self._objects) > 1 and self._is_too_large()):
                self._objects.popitem(last=False)
        return name

    def _is_too_large(self) -> bool:
        return sum(map(self._n_bytes, self._objects.values())) > self._max_bytes

    def get(self, name: str | None) -> T | None:
        """Look up an object."""
        return self.first if name == "" else self._objects.get(name or "")


class Sessions(_NamedObjects[Workspace]):
    """The workspaces of a running app, by their names in links."""

    def __init__(self, first: Workspace | None = None) -> None:
        super().__init__(N_WORKSPACES, first)

    def open(self, stored: Mapping[str, Any] | None, tab: str = "") -> tuple[Workspace, View]:
        """Return the workspace and the view of a page; a page that is gone, or on another tab, stays as it is."""
        view = View.from_store(stored)
        workspace = self.get(view.data)
        if workspace is None or tab not in ("", view.tab):
            raise PreventUpdate
        return workspace, view


class PendingTables(_NamedObjects[PendingTable]):
    """The tables whose target is not chosen yet, by name."""

    def __init__(self, first: PendingTable | None = None) -> None:
        max_bytes = N_LARGEST * memory_limit(UPLOAD_VARIABLE)
        super().__init__(N_PENDING, first, max_bytes, lambda table: table.frame.estimated_size())


# --- opening ----------------------------------------------------------------------------------------------------------


def fit_workspace(
    frame: pl.DataFrame,
    target: str,
    left_out: list[str],
    has_dates: bool,
    name: str,
    watch: Callable[[int], None] | None = None,
    fixed: Sequence[str] = (),
    focus: str | None = None,
) -> Workspace:
    """Fit an explainer to a table, in a process of its own: if it runs out of memory, nothing else ends."""
    frame = frame.filter(is_known(frame[target]))
    if not frame.height:
        raise ValueError(f"The column {target!r} is empty: there is no outcome to explain.")
    arguments = (frame, target, left_out, has_dates, fixed, focus)
    explainer = run_in_process("suffice._io.explainer_file:fit_table", *arguments, watch=watch)
    return Workspace.of(explainer, frame, outcomes_of(frame, target), name)


def demo_workspace(which: int, watch: Callable[[int], None] | None = None) -> Workspace:
    """Fit an explainer to a table that comes with scikit-learn."""
    data = list(demo_data())[which]
    X = pl.concat([data.X_fit, data.X_new])
    y = pl.concat([data.y_fit, data.y_new])
    return fit_workspace(X.with_columns(y), y.name, [], False, data.title, watch)


def open_files(
    first: str | None, table: str | None = None, target: str | None = None, *, demo: bool = False
) -> tuple[Sessions, PendingTables]:
    """Open the files that the command names."""
    if demo:
        if first is not None:
            raise ValueError("`--demo` opens a table of its own: leave out the files, or leave out --demo.")
        return Sessions(demo_workspace(0)), PendingTables()
    if first is None:
        return Sessions(), PendingTables()
    name = Path(first).name
    if _is_saved_explainer(first):
        explainer: SufficientExplainer = load_explainer_file(first)
        if table is None:
            return Sessions(Workspace.of(explainer, name=f"training rows of {name}")), PendingTables()
        frame = read_table(table, text_columns=text_columns(explainer))
        return Sessions(Workspace.of(explainer, frame, name=Path(table).name)), PendingTables()
    if table is not None:
        raise ValueError(f"{first!r} is not a saved explainer: give one table, or an explainer and a table.")
    frame = read_table(first)
    if target is None:
        return Sessions(), PendingTables(PendingTable(frame, name))
    if target not in frame.columns:
        raise ValueError(f"--target: there is no column {target!r} in {first}.{did_you_mean(target, frame.columns)}")
    return Sessions(fit_workspace(frame, target, [], True, name)), PendingTables()


def _is_saved_explainer(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MARK)) == MARK
    except OSError as error:
        raise cannot_read(path, error) from None
