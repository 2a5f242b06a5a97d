"""Work in a process of its own, with a limit on its memory: if it dies, only this work is lost.

Strangers' files are read so. A reader that runs out of memory, or into a bug of a library, can end its process at once,
without an error that could be handled.
"""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

_REFUSALS = (ValueError, TypeError, ImportError, OSError)


def run_apart(function: str, *args: Any, max_bytes: int) -> Any:
    """Call a function in a new process.

    Parameters
    ----------
    function : str
        The module and the name of the function, as in "json:loads".
    *args : object
        The arguments; they and the result must be picklable.
    max_bytes : int
        The memory that the process may take for its work, where the system can limit it.

    Returns
    -------
    object
        The result. A ValueError, TypeError, ImportError or OSError of the function is raised as a ValueError.
    """
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        done = subprocess.run(
            [sys.executable, "-m", "suffice._io.apart", str(answer)],
            input=pickle.dumps((function, args, max_bytes)),
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if not answer.exists():
            reason = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
            raise ValueError(
                f"The process that did this work has ended ({reason}); it probably needed more memory than it may take."
            )
        is_refused, result = pickle.loads(answer.read_bytes())  # written by the process that was started here
    if is_refused:
        raise ValueError(result)
    return result


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
    name, args, max_bytes = pickle.load(sys.stdin.buffer)
    module, _, attribute = name.partition(":")
    function = getattr(importlib.import_module(module), attribute)
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
    answer.write_bytes(pickle.dumps(content))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
