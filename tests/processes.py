"""Processes that were started for work, as the tests look them up."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path


def children_of(pid):
    """The processes of `suffice._io.processes` that a process has started."""
    children = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread has just ended
            children += map(int, task.read_text().split())
    return [child for child in children if b"suffice._io.processes" in _command(child)]


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has just ended
        return b""


def wait_for(look, seconds=120):
    """Look until there is something, and return it."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return seen


def mark_and_sleep(path):
    """Work that says when it has begun, and takes ten minutes."""
    Path(path).touch()
    time.sleep(600)


def count_slowly(n, *, step):
    """Work that counts its steps, and does not end after the last one while somebody looks at them."""
    for done in range(1, n + 1):
        step(done, n, "counting")
        time.sleep(0.001)
    while n > 1:
        step(n, n, "counting")
        time.sleep(0.02)
    return n
