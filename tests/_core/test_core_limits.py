"""The core at the limits of the system: threads that do not start, small stacks, deep trees."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

SETUP = """
import numpy as np
from forests import core_forest, core_rows, project, set_cells, tree
from suffice import _core

def chain(depth, is_left):
    \"\"\"A tree that cuts off one row at each split; its long side is on the left or on the right.\"\"\"
    n = 2 * depth + 1
    left, right, column = (np.full(n, -1, dtype=np.int64) for _ in range(3))
    threshold = np.full(n, -2.0)
    splits = 2 * np.arange(depth)
    left[splits], right[splits] = (splits + 2, splits + 1) if is_left else (splits + 1, splits + 2)
    column[splits] = 0
    threshold[splits] = depth - 0.5 - np.arange(depth) if is_left else np.arange(depth) + 0.5
    return _core.Tree(
        left=left,
        right=right,
        column=column,
        threshold=threshold,
        missing_go_to_left=np.zeros(n, np.uint8),
        n_rows=np.ones(n),  # only those of leaves are compared
        value=np.zeros((n, 1)),
        rows=np.arange(depth + 1, dtype=np.int32),
    )
"""
FEW_THREADS = """
X = np.arange(400, dtype=np.float32)[:, None]
y = (X[:, 0] > 170).astype(int)
forest = core_forest([tree((0, 170.5, None, None), np.arange(400))], X, y)
rows = core_rows(X, y)
sets = np.ones(400, np.uint64)
query = {"projection": project(forest, 1), "rows": rows, "sets": sets, "min_node_size": 1}
one = _core.sdp(**query, n_threads=1)
many = _core.sdp(**query, n_threads=32)
assert one.tolist() == many.tolist() == [1.0] * 400
print("done")
"""
DEEP = """
for is_left in (True, False):
    X = np.arange(DEPTH + 1, dtype=np.float32)[:, None]
    y = np.arange(DEPTH + 1) % 2
    forest = _core.Forest(X=X, y_rank=y.astype(np.uint32), y_values=np.arange(2.0))
    forest.add_trees(trees=[chain(DEPTH, is_left)])
    rows = core_rows(X[:20], y[:20])
    cells = set_cells(forest, [0], 1)
    options = _core.RuleOptions(pi=0.9, everywhere=True, by_volume=False, max_nodes=50)
    found = _core.find_rules(cells=cells, rows=rows, options=options, n_threads=2)
    assert found.exists.all() and (found.value == 1).all()
    sdps = _core.sdp(
        projection=project(forest, 1), rows=rows, sets=np.ones(20, np.uint64), min_node_size=1, n_threads=2
    )
    assert (sdps == 1).all()
    assert (_core.leaf_sdp(forest=forest, rows=rows, n_threads=2) == 1).all()
print("done")
"""


def run(code, **limits):
    """Run code in a process with other limits of the system, and return what it writes."""

    def limit():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))

    environment = {**os.environ, "PYTHONPATH": str(TESTS), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", SETUP + code],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("stack", [2**30, 2**36], ids=["some threads start", "no thread starts"])
def test_the_work_goes_on_if_threads_cannot_start(stack):
    """A thread that the system refused to start ended the process: each wants a stack, and memory is short."""
    assert run(FEW_THREADS, STACK=stack, AS=6 * 2**30) == "done\n"


@pytest.mark.slow
def test_deep_trees_need_no_deep_stack():
    """A chain of 40,000 splits overflowed the stack, and one of 2,500 that of a thread with 512 KiB."""
    assert run(f"DEPTH = 40_000\n{DEEP}", STACK=512 * 2**10) == "done\n"
