"""Searches from many threads under sanitizers: the short form of `make sanitize`, which needs no Python under them.

The program compares the answers of eight threads with those of one. A report of a sanitizer ends it.
"""

from __future__ import annotations

import shutil
import sys

import pytest
from fuzz.sanitize import COMPILERS, LIMITED, NOT_HERE, PROOFS, ROOT, run_driver


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("g++"), reason="The program is for Linux and GCC.")
@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_the_searches_of_many_threads_give_no_report(tmp_path, sanitizers):
    done = run_driver(sanitizers, tmp_path, 1)
    if NOT_HERE in done.stderr:
        pytest.skip("The thread sanitizer of this GCC cannot run here: sysctl vm.mmap_rnd_bits=28 would help.")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 threads: the same" in done.stdout


@pytest.mark.parametrize("name", [*COMPILERS, LIMITED, *PROOFS])
def test_the_tests_that_sanitizers_name_are_there(name):
    """After a test file was renamed, `make sanitize` ended before its fuzz."""
    assert (ROOT / name).is_file()
