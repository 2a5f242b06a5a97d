"""The workspaces of a running app, and the tables whose target is not chosen yet."""

from __future__ import annotations

import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import polars as pl

from suffice._io.sources import UPLOAD_VARIABLE, memory_limit
from suffice.app.state.workspace import Workspace

N_WORKSPACES = 8  # uploaded tables that are kept; the oldest goes first
# Tables whose target is not chosen yet: with fifty visitors at once, four were gone before their target was chosen. All
# together they take at most as much memory as so many of the largest uploads.
N_WAITING, N_LARGEST = 64, 4

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class WaitingTable:
    """A table whose target is not chosen yet."""

    frame: pl.DataFrame
    name: str
    notes: tuple[str, ...] = ()


class _Named(Generic[T]):
    """The last few objects by random names; "" names the one that the app was started with."""

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


class Desk(_Named[Workspace]):
    """The workspaces of a running app, by their names in links."""

    def __init__(self, first: Workspace | None = None) -> None:
        super().__init__(N_WORKSPACES, first)


class WaitingTables(_Named[WaitingTable]):
    """The tables whose target is not chosen yet, by name."""

    def __init__(self, first: WaitingTable | None = None) -> None:
        max_bytes = N_LARGEST * memory_limit(UPLOAD_VARIABLE)
        super().__init__(N_WAITING, first, max_bytes, lambda table: table.frame.estimated_size())
