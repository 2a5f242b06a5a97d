"""The app with a fault that the soak must find: ``python -m fuzz.broken_app FAULT app TABLE ...``."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from suffice._cli.main import main
from suffice.app.pages.rule_list import RuleLists
from suffice.app.state import sessions
from suffice.app.state.workspace import Workspace

_kept: list[Any] = []


def answer_about_another_table() -> None:
    """A session gets the answers of another one."""
    sessions.Sessions.get = lambda self, name: self.first  # type: ignore[method-assign]


def list_rules_in_another_order() -> None:
    """The last rule of a list comes first."""
    make = RuleLists.__init__

    def reversing(self: Any, rules: Any) -> None:
        rules.rules_ = rules.rules_[::-1]
        make(self, rules)

    RuleLists.__init__ = reversing  # type: ignore[method-assign]


def leak_memory() -> None:
    """Every answer about a row keeps four megabytes."""
    explain = Workspace.explain

    def leaking(self: Workspace, view: Any) -> Any:
        _kept.append(os.urandom(2**22))
        return explain(self, view)

    Workspace.explain = leaking  # type: ignore[method-assign]


def leave_files_open() -> None:
    """Every upload leaves five files open."""
    run_in_process = sessions.run_in_process

    def leaving(*args: Any, **options: Any) -> Any:
        _kept.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(5))
        return run_in_process(*args, **options)

    sessions.run_in_process = leaving


def go_on_after_cancel() -> None:
    """Fits go on when they are cancelled, and never end."""
    run_in_process = sessions.run_in_process

    def going_on(*args: Any, **options: Any) -> Any:
        if options.get("watch") is None:  # the table that the app is started with
            return run_in_process(*args, **options)
        return threading.Event().wait()

    sessions.run_in_process = going_on


def die_of_a_file() -> None:
    """A file that cannot be read ends the app."""
    run_in_process = sessions.run_in_process

    def dying(*args: Any, **options: Any) -> Any:
        try:
            return run_in_process(*args, **options)
        except ValueError:
            os.abort()

    sessions.run_in_process = dying


FAULTS = {
    "another": answer_about_another_table,
    "rules": list_rules_in_another_order,
    "leak": leak_memory,
    "files": leave_files_open,
    "cancel": go_on_after_cancel,
    "abort": die_of_a_file,
}

if __name__ == "__main__":
    FAULTS[sys.argv.pop(1)]()
    raise SystemExit(main())
