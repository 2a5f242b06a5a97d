"""Try an installed wheel in an environment that has nothing else: ``make wheels`` and the release run this.

It needs no compiler and no test package. It checks that the package was installed and not found in the source tree,
that every build of the kernels gives the same answer, and that the licences are there.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from importlib.metadata import distribution, files
from pathlib import Path

from sklearn.datasets import load_breast_cancer

import suffice
from suffice import SufficientExplainer, _core

LICENCES = {"LICENSE", "nanobind.txt", "robin-map.txt"}


def answer_of(kernels: str) -> str:
    """Explain three rows with one build of the kernels."""
    _core.use_kernels(name=kernels)
    X, y = load_breast_cancer(return_X_y=True)
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X[:300], y[:300])
    return str(explainer.explain(X[300:303]).to_json())


def main() -> None:
    """Stop with an error at the first thing that is wrong."""
    installed = Path(suffice.__file__).resolve()
    if not installed.is_relative_to(Path(sysconfig.get_path("platlib")).resolve()):
        sys.exit(f"suffice was imported from {installed}, which is not the installed wheel.")
    missing = LICENCES - {path.name for path in files("suffice") or () if "licenses" in path.parts}
    if missing:
        sys.exit(f"The wheel has no licence files {sorted(missing)}.")
    names = _core.kernel_names()
    if len({answer_of(name) for name in names}) != 1:
        sys.exit(f"The kernels {names} give different answers.")
    tag = next(line for line in (distribution("suffice").read_text("WHEEL") or "").splitlines() if line[:4] == "Tag:")
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang", "cl"))), "none")
    print(f"{sys.implementation.name} {sys.version.split()[0]}: {tag[5:]}, kernels {names}, compiler {compiler}")


if __name__ == "__main__":
    main()
