"""Compile the core for Windows and macOS on any machine, as strictly as the tests: ``make portable``.

Zig has Clang and the headers of these systems. Clang with the headers of MinGW is no MSVC, so the check for Windows
takes what Clang can tell: extensions of GNU are errors, and the replacements of built-ins are compiled instead of them.
The programs of tests/_core are linked, too; where Wine is installed, those for Windows run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import nanobind

ROOT = Path(__file__).parents[1]
CORE = ROOT / "src" / "suffice" / "_core"
DRIVERS = ROOT / "tests" / "_core"
STRICT = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wgnu", "-Werror"]
AVX2 = ["-mavx2", "-mpopcnt", "-mbmi"]
OF_TARGET = {
    "x86_64-windows-gnu": ("avx2", AVX2, ["-DSUFFICE_WITHOUT_BUILTINS"]),
    "aarch64-macos": ("neon", [], []),
    "x86_64-macos": ("avx2", AVX2, []),
}
BUILDS = {"avx2", "neon"}

# What PC/pyconfig.h of CPython says, as far as the stable interface reads it.
WINDOWS_CONFIGURATION = """
#include <stdio.h>
#include <basetsd.h>
#define MS_WIN32
#define MS_WIN64
#define MS_WINDOWS
#define NT_THREADS
#define HAVE_DECLSPEC_DLL
#define HAVE_STDDEF_H 1
#define HAVE_WCHAR_H 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_WCHAR_T 2
#define ALIGNOF_SIZE_T 8
#define ALIGNOF_MAX_ALIGN_T 8
typedef SSIZE_T Py_ssize_t;
#define HAVE_PY_SSIZE_T 1
#define PY_SSIZE_T_MAX LLONG_MAX
"""


def find_zig() -> list[str]:
    """Return the command of Zig, or end this program in peace: not every machine can have it."""
    try:
        import ziglang
    except ImportError:
        program = shutil.which("zig")
        if program is None:
            print("Skipped: there is no Zig (pip install ziglang), so nothing was compiled for Windows and macOS.")
            sys.exit(0)
        return [program]
    return [str(Path(ziglang.__file__).parent / "zig")]


def python_headers(target: str, folder: Path) -> Path:
    """Copy the headers of this Python; those for Windows differ in the configuration only."""
    copied = folder / "python"
    shutil.copytree(sysconfig.get_path("include"), copied)
    if "windows" in target:
        (copied / "pyconfig.h").write_text(WINDOWS_CONFIGURATION)
    return copied


def compile_for(target: str, zig: list[str], folder: Path) -> list[Path]:
    """Compile every source of the core, and return the linked programs of its tests."""
    build, options_of_build, options = OF_TARGET[target]
    compiler = [*zig, "c++", "-target", target]
    headers = [nanobind.include_dir(), python_headers(target, folder)]
    # The stable interface, as in the wheels for 3.12 and later.
    strict = [*STRICT, *options, "-DPy_LIMITED_API=0x030C0000", f"-DSUFFICE_HAS_{build.upper()}", f"-I{CORE}"]
    strict += [f"-isystem{path}" for path in headers]
    sources = [path for path in CORE.glob("*.cpp") if path.stem.partition("_")[2] not in BUILDS - {build}]
    objects = {}
    for source in sorted([*sources, *DRIVERS.glob("*_driver.cpp")]):
        objects[source.stem] = folder / f"{source.stem}.o"
        of_source = options_of_build if source.stem == f"kernels_{build}" else []
        subprocess.run([*compiler, *strict, *of_source, "-c", source, "-o", objects[source.stem]], check=True)
    kernels = [objects["kernels"], objects["kernels_portable"]]
    if build == "neon":
        kernels.append(objects["kernels_neon"])
    else:  # Zig cannot link the question whether a processor has AVX2
        subprocess.run([*compiler, *STRICT, "-c", CORE / "kernels.cpp", "-o", kernels[0]], check=True)
    programs = []
    for driver in sorted(name for name in objects if name.endswith("_driver")):
        programs.append(folder / f"{driver}.exe")
        subprocess.run([*compiler, objects[driver], *kernels, "-o", programs[-1]], check=True)
    print(f"{target}: {len(objects)} files compiled without a warning, {len(programs)} programs linked", flush=True)
    return programs


def main() -> None:
    """Compile for every system that is named, or for all."""
    zig = find_zig()
    wine = shutil.which("wine64") or shutil.which("wine")
    for target in sys.argv[1:] or OF_TARGET:
        with tempfile.TemporaryDirectory() as folder:
            os.environ.setdefault("ZIG_LOCAL_CACHE_DIR", folder)
            for program in compile_for(target, zig, Path(folder)):
                if "windows" in target and wine:
                    subprocess.run([wine, program], check=True)


if __name__ == "__main__":
    main()
