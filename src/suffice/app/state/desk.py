"""The workspaces of a running app, and the tables whose target is not chosen yet."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, TypeVar

import polars as pl

from suffice.app.state.workspace import Workspace

N_WORKSPACES = 8  # uploaded tables that are kept; the oldest goes first
N_WAITING = 4  # tables whose target is not chosen yet

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class WaitingTable:
    """A table whose target is not chosen yet.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    name : str
        Its name on the page.
    notes : tuple of str
        What the reader had to guess.
    """

    frame: pl.DataFrame
    name: str
    notes: tuple[str, ...] = ()


class _Named(Generic[T]):
    """The last few objects by random names; "" names the one that the app was started with."""

    def __init__(self, max_size: int, first: T | None) -> None:
        self._max_size = max_size
        self._objects: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()
        self.first = first

    def add(self, new: T) -> str:
        """Keep an object, and drop the oldest if there are too many.

        Parameters
        ----------
        new : object
            The object.

        Returns
        -------
        str
            Its name.
        """
        name = secrets.token_hex(8)
        with self._lock:
            self._objects[name] = new
            while len(self._objects) > self._max_size:
                self._objects.popitem(last=False)
        return name

    def get(self, name: str | None) -> T | None:
        """Look up an object.

        Parameters
        ----------
        name : str or None
            Its name.

        Returns
        -------
        object or None
            None if it is not there, or no longer.
        """
        return self.first if name == "" else self._objects.get(name or "")


class Desk(_Named[Workspace]):
    """The workspaces of a running app, by their names in links.

    Parameters
    ----------
    first : Workspace, default=None
        The workspace that the app was started with, named "".
    """

    def __init__(self, first: Workspace | None = None) -> None:
        super().__init__(N_WORKSPACES, first)


class WaitingTables(_Named[WaitingTable]):
    """The tables whose target is not chosen yet, by name.

    Parameters
    ----------
    first : WaitingTable, default=None
        The table that the app was started with, named "".
    """

    def __init__(self, first: WaitingTable | None = None) -> None:
        super().__init__(N_WAITING, first)
