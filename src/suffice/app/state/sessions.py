"""The workspaces of a running app, tables whose target is not chosen yet, and how both are opened, also from uploads.

The size of an uploaded file is checked before it is read, and refusals are one sentence.
"""

from __future__ import annotations

import base64
import binascii
import math
import secrets
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import polars as pl
from dash.exceptions import PreventUpdate

from suffice._io.explainer_file import demo_data, is_known, load_explainer_file, outcomes_of, text_columns
from suffice._io.files import read_table, reader_bytes
from suffice._io.processes import run_in_process
from suffice._io.saved import MARK
from suffice._io.saved_parts import HOW_TO_RAISE, saved_limit
from suffice._io.sources import UPLOAD_VARIABLE, cannot_read, memory_limit, unpack
from suffice._text import printable
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.errors import did_you_mean
from suffice.explainer import SufficientExplainer
from suffice.reasons.code_book import CodeBook

if TYPE_CHECKING:
    from suffice.explainer import SufficientExplainer

MAX_UPLOAD = 200 * 2**20  # bytes that a browser may send; `UPLOAD_VARIABLE` limits what they become in memory
MAX_COLUMNS = 5000  # with more, the lists of names alone make a page slow


def read_upload(content: str, name: str, text_columns: Collection[str] = ()) -> tuple[Any, list[str]]:
    """Read an uploaded file."""
    shown, data = _decode(content, name)
    if len(data) > MAX_UPLOAD:
        raise ValueError(f"{shown} is larger than {MAX_UPLOAD // 2**20} MiB: start the app with its path instead.")
    data = unpack(data, shown, UPLOAD_VARIABLE)
    packed = PurePath(shown).suffix.lower() in (".gz", ".bz2", ".xz")
    suffix = PurePath(PurePath(shown).stem if packed else shown).suffix
    suffix = "".join(c for c in suffix if c.isalnum() or c == ".")[:10]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        path.write_bytes(data)
        try:
            return _read(path, data, text_columns)
        except Exception as error:  # a broken file can make its reader raise anything
            raise ValueError(str(error).replace(str(path), shown)) from None


def _decode(content: str, name: str) -> tuple[str, bytes]:
    """Return the name of an uploaded file as it is shown, and its bytes."""
    shown = printable(PurePath(name.replace("\\", "/")).name[:100]) or "The file"
    try:
        return shown, base64.b64decode(content.partition(",")[2], validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"{shown} was not received completely: upload it again.") from None


def read_code_book_upload(content: str, name: str) -> CodeBook:
    """Read an uploaded code book."""
    shown, data = _decode(content, name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("codes.json" if PurePath(shown).suffix.lower() == ".json" else "codes.csv")
        path.write_bytes(data)
        try:
            return CodeBook.read(path)
        except (ValueError, TypeError) as error:
            raise ValueError(str(error).replace(str(path), shown).replace(path.name, shown)) from None


def _read(path: Path, data: bytes, text_columns: Collection[str]) -> tuple[Any, list[str]]:
    if data.startswith(MARK):
        return _load(path, len(data)), []
    arguments = (str(path), tuple(text_columns), UPLOAD_VARIABLE)
    max_bytes = reader_bytes(UPLOAD_VARIABLE)
    frame, notes = run_in_process("suffice._io.files:read_with_notes", *arguments, max_bytes=max_bytes)
    if frame.width > MAX_COLUMNS:
        raise ValueError(
            f"{path} has {frame.width} columns, and the app takes at most {MAX_COLUMNS}: leave some out, or fit by the "
            "command `suffice fit`."
        )
    return frame, notes


def _load(path: Path, n_bytes: int) -> SufficientExplainer:
    """Load a saved explainer; its memory is limited like that of a table, because it stays in the app."""
    limit = memory_limit(UPLOAD_VARIABLE)
    if saved_limit(n_bytes) <= limit:
        return SufficientExplainer.load(path)
    try:
        return SufficientExplainer.load(path, max_bytes=limit)
    except ValueError as error:
        how = f"set {UPLOAD_VARIABLE}, or start the app with the path of the file"
        raise ValueError(str(error).replace(HOW_TO_RAISE, how)) from None


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
    watch: Callable[..., None] | None = None,
    fixed: Sequence[str] = (),
    focus: str | None = None,
) -> Workspace:
    """Fit an explainer to a table, in a process of its own: if it runs out of memory, nothing else ends.

    The row that is shown first is looked for here, so that the page opens at once.
    """
    frame = frame.filter(is_known(frame[target]))
    if not frame.height:
        raise ValueError(f"The column {target!r} is empty: there is no outcome to explain.")
    arguments = (frame, target, left_out, has_dates, fixed, focus)
    work = "suffice._io.explainer_file:fit_table"
    explainer = run_in_process(work, *arguments, watch=watch, counts_steps=watch is not None)
    if watch is not None:
        watch(0, 0, "Looking for a row to begin with")
    workspace = Workspace.of(explainer, frame, outcomes_of(frame, target), name)
    assert workspace.first_row >= 0
    return workspace


def demo_workspace(which: int, watch: Callable[..., None] | None = None) -> Workspace:
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
