"""The entry point of ``suffice``: it runs a command and turns errors into a sentence and an exit code.

The exit code is 0 for success, 2 for bad input, 3 if ``suffice certify`` or ``suffice prove`` finds a rule that does
not hold, 4 if ``suffice reasons`` refuses a row, 5 if ``suffice verify`` finds a record that differs, 130 for an
interruption, and 1, with a traceback, for a bug. The commands themselves are in ``commands``.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


def main(args: Sequence[str] | None = None) -> None:
    """Run the command and exit."""
    sys.exit(run(sys.argv[1:] if args is None else args))


def run(args: Sequence[str]) -> int:
    """Run the command."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _print_once()
            code = _invoke(list(args))
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Otherwise the interpreter would fail to flush standard output at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("typer", "rich", "polars"):
            return _refuse("The command needs its extra: pip install 'suffice[cli]'.")
        return _refuse(str(error))
    except (ValueError, TypeError, OSError, MemoryError) as error:
        return _refuse(_message(error))


def _invoke(args: list[str]) -> int:
    import typer

    from suffice._cli.commands import command

    if "_SUFFICE_COMPLETE" in os.environ:
        command.main(args, prog_name="suffice")
    try:
        with command.make_context("suffice", args) as context:
            command.invoke(context)
    except typer.Exit as stop:
        return int(stop.exit_code)
    except Exception as error:
        if not hasattr(error, "format_message"):  # only usage errors have it, whatever their class
            raise
        failed_command = getattr(getattr(error, "ctx", None), "command_path", "suffice")
        message = error.format_message()
        return _refuse(f"{message}{'' if message.endswith(('.', '?')) else '.'} See `{failed_command} --help`.")
    return 0


def _print_once() -> Any:
    """Make a function that prints each warning once, as one line."""
    seen = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        text = _message(str(message))
        if text not in seen:
            seen.add(text)
            _complain("Note" if category.__name__ == "TableFileWarning" else "Warning", text)

    return show


def _message(error: Exception | str) -> str:
    if isinstance(error, MemoryError):
        return "There is not enough memory for this: take fewer rows or columns."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename!r}." if error.filename else f"{error.strerror}."
    from suffice._cli.printing import in_options

    return in_options(" ".join(str(error).split()) or type(error).__name__)


def _refuse(text: str) -> int:
    _complain("Error", text)
    return BAD_INPUT


def _complain(kind: str, text: str) -> None:
    from suffice._text import printable

    sys.stderr.write(f"{kind}: {printable(text)}\n")
    sys.stderr.flush()
