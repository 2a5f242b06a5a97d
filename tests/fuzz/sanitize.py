"""Run the core under sanitizers: ``python -m fuzz.sanitize {address,thread} [--whole]``.

The core is built once more with ``-fsanitize``, and tests and fuzz run with it: every read outside an array, every
undefined operation and every race ends the process. So does a program without Python, whose threads the sanitizers see
from their beginning; the tests run a case of it (``tests/_core/test_sanitized.py``).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SANITIZERS = {"address": "address,undefined", "thread": "thread"}
LIBRARIES = {"address": ["libasan.so", "libubsan.so"], "thread": ["libtsan.so"]}
# Python itself frees little at its end, and the C++ exceptions of other libraries are not checked.
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:report_signal_unsafe=0:ignore_noninstrumented_modules=1",
}
# The finder of the editable install would import the core of every day. polars brings an allocator of its own that ends
# the process when it is loaded under the thread sanitizer; the core does not need it.
SITE = """
import os, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]

class WithoutPolars:
    def find_spec(self, name, path=None, target=None):
        if name == "polars":
            raise ModuleNotFoundError("No polars under this sanitizer.", name=name)

if os.environ["SUFFICE_SANITIZED"] == "thread":
    sys.meta_path.insert(0, WithoutPolars())
"""
COMPILERS = ("tests/_core/test_kernels.py", "tests/_core/test_sanitized.py")  # they need no Python
LIMITED = "tests/_core/test_core_limits.py"  # it limits the addresses of a process: sanitizers reserve terabytes
PROOFS = ("tests/proofs/test_prover_search.py", "tests/proofs/test_finding_reasons.py")

CORE = ROOT / "src" / "suffice" / "_core"
DRIVER = [CORE / "kernels.cpp", CORE / "kernels_portable.cpp", ROOT / "tests" / "_core" / "searches_driver.cpp"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
NOT_HERE = "unexpected memory mapping"
"""What the thread sanitizer of some versions of GCC says on a system with much randomness in its addresses."""


def run_driver(sanitizers: str, folder: Path, n_cases: int) -> subprocess.CompletedProcess[str]:
    """Build the program without Python, and run some cases of it."""
    program = folder / "searches"
    options = ["-std=c++20", "-O1", "-g1", *WARNINGS, "-pthread", f"-fsanitize={sanitizers}", f"-I{CORE}"]
    subprocess.run(["g++", *options, "-fno-sanitize-recover=all", *DRIVER, "-o", program], check=True)
    return subprocess.run([program, str(n_cases)], capture_output=True, text=True, check=False)


def build(kind: str) -> Path:
    """Build the core with a sanitizer. Returns the folder of a package that has it."""
    build_folder, package = ROOT / "build" / f"sanitize-{kind}", ROOT / "build" / f"sanitize-{kind}-package"
    cmake = Path(sys.executable).with_name("cmake")  # that of the environment: a system's may be too old
    configure = [cmake, "-S", ROOT, "-B", build_folder, "-G", "Ninja", f"-DSUFFICE_SANITIZE={SANITIZERS[kind]}"]
    # Warnings are shown by the build of every day.
    configure += [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_CXX_FLAGS=-w"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([cmake, "--build", build_folder], check=True)
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "suffice", package / "suffice", ignore=shutil.ignore_patterns("*.so"))
    [core] = build_folder.glob("_native*.so")
    shutil.copy(core, package / "suffice" / "_core")
    (package / "sitecustomize.py").write_text(SITE)
    return package


def that_need_polars(tests: list[str]) -> list[str]:
    """List the files of tests that import polars, or a module that does."""
    helpers = [
        file.stem for file in (ROOT / "tests").glob("*.py") if re.search(r"^import polars", file.read_text(), re.M)
    ]
    needed = "|".join(["polars", r"suffice\.(?:_io|_show|app)", *helpers])
    files = [file for test in tests for file in sorted((ROOT / test).rglob("test_*.py"))]
    pattern = re.compile(rf"^\s*(?:from|import)\s+(?:{needed})\b", re.MULTILINE)
    return [str(file.relative_to(ROOT)) for file in files if pattern.search(file.read_text())]


def run(kind: str, package: Path, command: list[str]) -> None:
    """Run Python with the sanitized core. A report of the sanitizer is an error."""
    names = [["g++", f"-print-file-name={name}"] for name in [*LIBRARIES[kind], "libstdc++.so"]]
    preloaded = [subprocess.run(name, check=True, capture_output=True, text=True).stdout.strip() for name in names]
    environment = {
        **os.environ,
        **OPTIONS,
        "LD_PRELOAD": " ".join(preloaded),
        "PYTHONPATH": os.pathsep.join([str(package), str(ROOT / "tests")]),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "SUFFICE_SANITIZED": kind,
    }
    done = subprocess.run([sys.executable, *command], env=environment, check=False, cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"{kind}: {' '.join(command)} ended with {done.returncode}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.sanitize", description=__doc__)
    parser.add_argument("kind", choices=SANITIZERS)
    parser.add_argument("--whole", action="store_true", help="all tests of core and engine, and a longer fuzz")
    options = parser.parse_args()
    n_driven, n_cases, n_calls = (200, 1000, 10_000) if options.whole else (10, 50, 500)
    with tempfile.TemporaryDirectory() as folder:
        driven = run_driver(SANITIZERS[options.kind], Path(folder), n_driven)
    if driven.returncode:
        raise SystemExit(f"{options.kind}: {driven.stdout[-1000:]}{driven.stderr}")
    sys.stdout.write(f"{len(driven.stdout.splitlines())} cases of searches from eight threads\n")
    package = build(options.kind)
    tests = ["tests/_core", "tests/_forest", "tests/explaining"] if options.whole else ["tests/_core/test_core.py"]
    run(
        options.kind,
        package,
        ["-c", "import suffice._core as core; assert 'sanitize' in core.__file__, core.__file__"],
    )
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    left_out = that_need_polars(tests) if options.kind == "thread" and options.whole else []
    ignored = [f"--ignore={test}" for test in (LIMITED, *COMPILERS, *left_out)]
    run(options.kind, package, [*pytest, *ignored])
    run(
        options.kind,
        package,
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", *PROOFS],
    )
    run(options.kind, package, ["-m", "fuzz.sanitized_cases", str(n_cases)])
    run(options.kind, package, ["-m", "fuzz.threads", "--calls", str(n_calls)])
    sys.stdout.write(f"{options.kind}: 0 reports\n")


if __name__ == "__main__":
    main()
