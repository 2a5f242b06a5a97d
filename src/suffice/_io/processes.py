"""Functions that run in a new process: if it dies, only this work is lost, and it is killed if it is not wanted.

The app reads uploads, fits, collects global rules and measures stability in this way. Work that runs out of memory, or
into a bug of a library, can end its process without an error that could be handled.
"""

from __future__ import annotations

import importlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

_REFUSALS = (ValueError, TypeError, ImportError, OSError)
_SECONDS = 0.1  # between two checks of the process


class EndedError(ValueError):
    """The new process has ended without an answer, by a signal or by a bug of a library."""


class CannotSendError(ValueError):
    """The arguments cannot be pickled, or the new process cannot import what they are made of."""


def run_in_process(
    function: str,
    *args: Any,
    max_bytes: int | None = None,
    watch: Callable[..., None] | None = None,
    counts_steps: bool = False,
) -> Any:
    """Call a function in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        # In a new session, Ctrl-C in the terminal reaches this process only, which then ends the other one.
        process = subprocess.Popen(
            [sys.executable, "-m", "suffice._io.processes", str(answer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _send(process, (function, max_bytes, counts_steps), args)
            _wait(process, answer.with_suffix(".steps"), watch)
        finally:
            process.kill()
            process.wait()
            with suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
        if not answer.exists():
            code = process.returncode
            reason = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise EndedError(
                f"The process that did this work has ended ({reason}), probably because it ran out of memory. Take "
                "fewer rows or columns."
            )
        ending, result = pickle.loads(answer.read_bytes())  # written by the process that was started here
    if ending == "unreadable":
        raise CannotSendError(result)
    if ending == "refused":
        raise ValueError(result)
    return result


def _send(process: subprocess.Popen[bytes], request: Any, args: tuple[Any, ...]) -> None:
    # The pipe stays open: the process ends when this end is closed, even if this process is killed.
    stream: Any = process.stdin
    try:
        pickle.dump(request, stream)
        pickle.dump(args, stream)
        stream.flush()
    except OSError:  # if the process has died already, its answer is missing
        return
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise CannotSendError(f"This cannot be sent to another process: {error}") from error


def _wait(process: subprocess.Popen[bytes], steps: Path, watch: Callable[..., None] | None) -> None:
    step: list[Any] = [0]
    while True:
        try:
            process.wait(timeout=None if watch is None else _SECONDS)
            return
        except subprocess.TimeoutExpired:
            with suppress(OSError, ValueError):  # nothing was written yet
                step = json.loads(steps.read_text())
            if watch is not None:
                watch(*step)


def _step_writer(steps: Path) -> Callable[..., None]:
    """Make a function that writes what is done to a file, each new stage, but no more often than it is read."""
    unfinished, last, stage = steps.with_suffix(".unfinished"), -_SECONDS, ""

    def step(n_steps: int, total: int = 0, title: str = "") -> None:
        nonlocal last, stage
        if time.monotonic() - last < _SECONDS and title == stage:
            return
        last, stage = time.monotonic(), title
        with suppress(OSError):  # the disk may be full, and on Windows the file may be open
            unfinished.write_text(json.dumps([n_steps, total, title]))
            unfinished.replace(steps)

    return step


def _end_with_parent() -> None:
    """End this process when its parent is gone: nobody waits for the answer any more."""
    os.read(0, 1)  # returns at the end of the stream
    os._exit(1)


def _volunteer_for_oom_killer() -> None:
    """Let Linux end this process, and not its parent, when there is no memory left."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _limit_memory(max_bytes: int) -> None:
    with suppress(ImportError, OSError, ValueError, StopIteration):  # not on every system
        import resource

        lines = Path("/proc/self/status").read_text().splitlines()
        in_use = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
        resource.setrlimit(resource.RLIMIT_DATA, (in_use + max_bytes, in_use + max_bytes))


def limit_seconds(seconds: int) -> None:
    """End this process when it has worked so long."""
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def main(answer: Path) -> None:
    """Call the function that standard input names, and write its result to a file."""
    _volunteer_for_oom_killer()
    name, max_bytes, counts_steps = pickle.load(sys.stdin.buffer)
    steps = answer.with_suffix(".steps") if counts_steps else None
    try:
        content = ("done", _work(name, max_bytes, steps))
    except MemoryError:
        content = ("refused", "There is not enough memory for this: take fewer rows or columns.")
    except CannotSendError as error:
        content = ("unreadable", str(error))
    except _REFUSALS as error:
        content = ("refused", str(error))
    except BaseException as error:
        traceback.print_exc()
        content = ("refused", f"Something is wrong with the program: {type(error).__name__}.")
    unfinished = answer.with_suffix(".part")
    unfinished.write_bytes(pickle.dumps(content))
    unfinished.replace(answer)


def _work(name: str, max_bytes: int | None, steps: Path | None) -> Any:
    try:
        args = pickle.load(sys.stdin.buffer)
    except (pickle.UnpicklingError, AttributeError, ImportError) as error:
        raise CannotSendError(f"The process cannot read its arguments: {error}") from error
    threading.Thread(target=_end_with_parent, daemon=True).start()
    module, _, attribute = name.partition(":")
    function = getattr(importlib.import_module(module), attribute)
    if max_bytes is not None:
        _limit_memory(max_bytes)
    return function(*args) if steps is None else function(*args, step=_step_writer(steps))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
