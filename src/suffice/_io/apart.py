"""Work in a process of its own: if it dies, only this work is lost, and it ends at once when it is no longer wanted.

The app reads uploads and fits so. Work that runs out of memory, or into a bug of a library, can end its process at
once, without an error that could be handled.
"""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

_REFUSALS = (ValueError, TypeError, ImportError, OSError)


def run_apart(function: str, *args: Any, max_bytes: int | None = None, watch: Callable[[], None] | None = None) -> Any:
    """Call a function in a new process.

    Parameters
    ----------
    function : str
        The module and the name of the function, as in "json:loads".
    *args : object
        The arguments; they and the result must be picklable.
    max_bytes : int, default=None
        The memory that the process may take for its work, where the system can limit it; None for any.
    watch : callable, default=None
        Is called about ten times a second while the process works. If it raises, the process is ended, and the
        exception is passed on.

    Returns
    -------
    object
        The result. A ValueError, TypeError, ImportError or OSError of the function is raised as a ValueError.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        # A session of its own: Ctrl-C in the terminal is for this process, which then ends the other one.
        process = subprocess.Popen(
            [sys.executable, "-m", "suffice._io.apart", str(answer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _send(process, (function, args, max_bytes))
            _wait(process, watch)
        finally:
            process.kill()
            process.wait()
            with suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
        if not answer.exists():
            code = process.returncode
            reason = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise ValueError(
                f"The process that did this work has ended ({reason}); it probably needed more memory than it may "
                "take. Take fewer rows or columns."
            )
        is_refused, result = pickle.loads(answer.read_bytes())  # written by the process that was started here
    if is_refused:
        raise ValueError(result)
    return result


def _send(process: subprocess.Popen[bytes], request: Any) -> None:
    # The pipe stays open: the process ends when this end is closed, also because this process was killed.
    stream: Any = process.stdin
    with suppress(OSError):  # a process that died already is noticed by its missing answer
        pickle.dump(request, stream)
        stream.flush()


def _wait(process: subprocess.Popen[bytes], watch: Callable[[], None] | None) -> None:
    while True:
        try:
            process.wait(timeout=None if watch is None else 0.1)
            return
        except subprocess.TimeoutExpired:
            if watch is not None:
                watch()


def _end_with_parent() -> None:
    """End this process when the one that started it is gone: nobody waits for the answer any more."""
    os.read(0, 1)  # returns at the end of the stream
    os._exit(1)


def _be_first_to_go() -> None:
    """Let Linux end this process, and not the one that started it, when there is no memory left."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _limit_memory(max_bytes: int) -> None:
    with suppress(ImportError, OSError, ValueError, StopIteration):  # not on every system
        import resource

        lines = Path("/proc/self/status").read_text().splitlines()
        in_use = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
        resource.setrlimit(resource.RLIMIT_DATA, (in_use + max_bytes, in_use + max_bytes))


def main(answer: Path) -> None:
    """Do the work that standard input names, and write the answer to a file.

    Parameters
    ----------
    answer : Path
        The file.
    """
    _be_first_to_go()
    name, args, max_bytes = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    module, _, attribute = name.partition(":")
    function = getattr(importlib.import_module(module), attribute)
    if max_bytes is not None:
        _limit_memory(max_bytes)
    try:
        content = (False, function(*args))
    except MemoryError:
        content = (True, "There is not enough memory for this: take fewer rows or columns.")
    except _REFUSALS as error:
        content = (True, str(error))
    except BaseException as error:
        traceback.print_exc()
        content = (True, f"Something is wrong with the program: {type(error).__name__}.")
    unfinished = answer.with_suffix(".part")
    unfinished.write_bytes(pickle.dumps(content))
    unfinished.replace(answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
