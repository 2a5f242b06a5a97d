"""The builds of the kernels, compared bit by bit on random inputs by a program of their own, without Python.

The other tests run the builds for this processor inside the package (fixture ``kernels``). The program also runs the
build for ARM64 on other processors, with a cross compiler and an emulator, and the portable build as compilers without
built-ins get it.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from missing_programs import NO_ARM_TOOLS

from suffice import _core

TESTS = Path(__file__).parent
CORE = TESTS.parents[1] / "src" / "suffice" / "_core"
STRICT = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", f"-I{CORE}"]
IS_X86 = platform.machine() in ("x86_64", "AMD64")


@pytest.fixture
def arm_tools():
    """A compiler for ARM64, and the command that runs its programs on this machine."""
    if platform.machine() in ("aarch64", "arm64"):
        native = shutil.which("g++") or shutil.which("clang++")
        return (native, []) if native else pytest.skip("There is no GCC or Clang.")
    compiler = shutil.which("aarch64-linux-gnu-g++")
    emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if compiler is None or emulator is None:
        pytest.skip(NO_ARM_TOOLS)
    return compiler, [emulator]


def compile_driver(compiler, folder, build, options, link=()):
    """Compile each file by itself: only the file of one build may use the instructions of that build."""
    flags = {
        CORE / "kernels_portable.cpp": ["-DSUFFICE_WITHOUT_BUILTINS"],
        CORE / f"kernels_{build}.cpp": options,
        CORE / "kernels.cpp": [f"-DSUFFICE_HAS_{build.upper()}"],
        TESTS / "kernels_driver.cpp": [],
    }
    objects = []
    for source, options_of_file in flags.items():
        objects.append(folder / f"{source.stem}.o")
        subprocess.run([compiler, *STRICT, *options_of_file, "-c", source, "-o", objects[-1]], check=True)
    driver = folder / "driver"
    subprocess.run([compiler, *link, *objects, "-o", driver], check=True)
    return driver


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not IS_X86 or os.name == "nt", reason="The build is for x86-64, the program for GCC or Clang.")
@pytest.mark.parametrize(
    ("build", "options"),
    [
        ("avx2", ["-mavx2", "-mpopcnt", "-mbmi"]),
        ("avx512", ["-mavx512f", "-mavx512bw", "-mavx512vpopcntdq", "-mpopcnt", "-Wno-maybe-uninitialized"]),
    ],
)
def test_the_build_computes_the_bits_of_the_portable_build_without_built_ins(tmp_path, build, options):
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("There is no GCC or Clang.")
    output = output_of([compile_driver(compiler, tmp_path, build, options), "100"])
    assert "two words: the same as numbers of 128 bits" in output
    # A processor without these instructions runs the portable build only.
    assert (f"{build}: the same bits" in output) == (build in _core.kernel_names())


def test_the_neon_build_computes_the_bits_of_the_portable_build(tmp_path, arm_tools):
    """On another processor than ARM64 the program is emulated."""
    compiler, emulator = arm_tools
    driver = compile_driver(compiler, tmp_path, "neon", [], link=["-static"] if emulator else [])
    assert "neon: the same bits as the portable build on 100 inputs" in output_of([*emulator, driver, "100"])
