"""The workspaces of a running app."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict

from suffice.app.state.workspace import Workspace

N_WORKSPACES = 8  # uploaded tables that are kept; the oldest goes first


class Desk:
    """The workspaces of a running app, by their names in links; "" is the one that it was started with."""

    def __init__(self, first: Workspace | None = None) -> None:
        self._spaces: OrderedDict[str, Workspace] = OrderedDict()
        self._lock = threading.Lock()
        self.first = first

    def add(self, workspace: Workspace) -> str:
        """Put a workspace on the desk.

        Parameters
        ----------
        workspace : Workspace
            The workspace.

        Returns
        -------
        str
            Its name in links.
        """
        name = secrets.token_hex(8)
        with self._lock:
            self._spaces[name] = workspace
            while len(self._spaces) > N_WORKSPACES:
                self._spaces.popitem(last=False)
        return name

    def get(self, name: str) -> Workspace | None:
        """Find a workspace.

        Parameters
        ----------
        name : str
            Its name in links.

        Returns
        -------
        Workspace or None
            None if it is not there, or no longer.
        """
        return self.first if name == "" else self._spaces.get(name)
