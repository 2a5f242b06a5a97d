"""Searches from many threads under sanitizers: the short form of `make sanitize`, which needs no Python under them.

The program compares the answers of eight threads with those of one. A report of a sanitizer ends it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CORE = TESTS.parents[1] / "src" / "suffice" / "_core"
SOURCES = [CORE / "kernels.cpp", CORE / "kernels_portable.cpp", TESTS / "searches_driver.cpp"]
OPTIONS = ["-std=c++20", "-O1", "-g1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-pthread"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("g++"), reason="The program is for Linux and GCC.")
@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_the_searches_of_many_threads_give_no_report(tmp_path, sanitizers):
    program = tmp_path / "searches"
    options = [*OPTIONS, f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all", f"-I{CORE}"]
    subprocess.run(["g++", *options, *SOURCES, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("The thread sanitizer of this GCC cannot run here: sysctl vm.mmap_rnd_bits=28 would help.")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 threads: the same" in done.stdout
