"""Workers that take turns: each runs in an interpreter of its own and times its cases when it is asked to.

A worker is a module that calls `serve` with its cases. It imports only NumPy and what it times, since its interpreter
may be that of another version of suffice, or have other packages.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
)


ROOT = Path(__file__).parents[1]

# --- in the worker ----------------------------------------------------------------------------------------------------


def serve(cases):
    """Answer requests from standard input, one JSON line each, until it ends.

    `cases` maps a name to a function of the number of rows. The first line that is written is the list of names. A
    request names a case and the number of rows; the answer has CPU seconds and the peak of memory, or an error.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a package prints is no answer
    write_line(answers, list(cases))
    for line in sys.stdin:
        name, n_rows = json.loads(line)
        try:
            write_line(answers, measure(lambda name=name, n=n_rows: cases[name](n)))
        except Exception as error:  # told to the one who asked
            write_line(answers, {"error": f"{type(error).__name__}: {error}"})


def measure(action):
    """CPU seconds of an action, what it returns if that can be written as JSON, and the peak of memory (Linux)."""
    gc.collect()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    start = time.process_time()
    result = action()
    seconds = time.process_time() - start
    return {"seconds": seconds, "peak": peak_memory(), "result": result if isinstance(result, (dict, float)) else None}


def peak_memory():
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return 0


def write_line(file, value):
    file.write(f"{json.dumps(value)}\n")
    file.flush()


# --- the one who asks -------------------------------------------------------------------------------------------------


class WorkerError(RuntimeError):
    """A worker cannot be started, or a case of it fails."""


class Worker:
    """A process that times cases."""

    def __init__(self, python, module, *arguments, folder):
        self.process = subprocess.Popen(
            [str(python), "-m", module, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT)},
        )
        line = self.process.stdout.readline()
        if not line:
            self.close()
            raise WorkerError(f"{module} does not start with {python}: are its packages installed there?")
        self.names = json.loads(line)

    def measure(self, name, n_rows=None):
        """CPU seconds, the peak of memory and the result of a case."""
        self.process.stdin.write(f"{json.dumps([name, n_rows])}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": "the worker ended"}
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def close(self):
        with self.process:  # closes its pipes
            self.process.kill()


class Best(NamedTuple):
    """The best CPU seconds of a job, and the largest peak of its worker's memory in bytes."""

    seconds: float = math.inf
    peak: int = 0


def best_in_turns(jobs, n_rounds, max_seconds=math.inf):
    """Run jobs in turns; a job is a worker, a case and a number of rows.

    Noise on a busy machine only ever adds, so the best time of the rounds counts. A job that has taken `max_seconds`
    takes no further turn.
    """
    best, spent = [Best()] * len(jobs), [0.0] * len(jobs)
    for _ in range(n_rounds):
        for i, (worker, name, n_rows) in enumerate(jobs):
            if spent[i] < max_seconds:
                answer = worker.measure(name, n_rows)
                spent[i] += answer["seconds"]
                best[i] = Best(min(best[i].seconds, answer["seconds"]), max(best[i].peak, answer["peak"]))
    return best
