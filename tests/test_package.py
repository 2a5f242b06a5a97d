"""The package as a whole: its names, what importing it loads, and which module may import which."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import suffice

SOURCE = Path(suffice.__file__).parent
# Data flows from left to right; no module imports one to its right.
FLOW = [
    "encoding",
    "variables",
    "forest",
    "projection",
    "search",
    "rules",
    "rule_search",
    "settings",
    "explanation",
    "explainer",
    "global_rules",
    "stability",
    "persistence",
    "lines",
    "batches",
    "spark",
    "dask",
    "_drawing",
    "plots",
    "cards",
    "report",
    "__init__",
    "demo",
    "files",
    "printing",
    "results",
    "streaming",
    "app",
    "commands",
    "cli",
]
# Methods that only pass their object on to a module to the right of it: they import it when they are called.
PASSED_ON = {
    "rules": {"cards"},
    "explanation": {"cards", "plots", "report"},
    "explainer": {"app", "cards", "persistence"},
    "global_rules": {"cards"},
}
# May be imported by any of those, import none of them.
LEAVES = ["errors", "table", "checks", "progress", "wording", "writing", "markup", "models"]
# Take long to load, or are not always there.
HEAVY = ["pandas", "polars", "matplotlib", "tqdm", "shap", "dash", "narwhals", "pyarrow", "pyspark", "dask"]


def test_the_package_exports_these_names():
    assert suffice.__all__ == [
        "Condition",
        "Explanation",
        "Explanations",
        "FidelityWarning",
        "GlobalRule",
        "GlobalRulesClassifier",
        "GlobalRulesRegressor",
        "RareCategoriesWarning",
        "Rule",
        "SearchSizeWarning",
        "SufficientExplainer",
        "SufficientSet",
        "__version__",
    ]


@pytest.mark.parametrize("name", suffice.__all__[:-1])
def test_an_exported_name_is_there_and_documented(name):
    assert getattr(suffice, name).__doc__


def test_the_version_is_that_of_the_distribution():
    assert suffice.__version__ == version("suffice")


def loaded_by(statement):
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_no_heavy_module():
    by_package = loaded_by("from suffice import SufficientExplainer")
    by_sklearn = loaded_by("import sklearn.ensemble, sklearn.metrics")  # some versions load pandas
    assert "suffice.explainer" in by_package
    assert set(HEAVY) & by_package <= by_sklearn
    assert not {"numpy", "sklearn"} & loaded_by("import suffice, suffice.cli")


def test_names_are_loaded_when_they_are_asked_for():
    assert sorted(suffice._MODULE_OF) == sorted(suffice.__all__[:-1])
    assert dir(suffice) == sorted(suffice.__all__)
    with pytest.raises(AttributeError, match="module 'suffice' has no attribute 'Explainer'"):
        _ = suffice.Explainer


def imports_of(path):
    """The modules of the package that a file imports, anywhere in it; "__init__" for a name of the package."""
    return imports_in(ast.parse(path.read_text(encoding="utf-8")), path)


def imports_on_call(path):
    """The modules that a file imports inside its functions."""
    functions = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.FunctionDef)]
    return {name for function in functions for name in imports_in(function, path)}


def imports_in(tree, path):
    modules = {p.stem for p in SOURCE.glob("*.py")} | {"_core"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name.split(".") for alias in node.names]
            yield from (parts[1] if len(parts) > 1 else "__init__" for parts in found if parts[0] == "suffice")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            parts = (node.module or "").split(".")
            if parts == ["suffice"]:
                yield from (alias.name if alias.name in modules else "__init__" for alias in node.names)
            elif parts[0] == "suffice":
                yield parts[1]


def test_every_module_has_its_place_in_the_flow():
    assert {path.stem for path in SOURCE.glob("*.py")} <= set(FLOW + LEAVES)


@pytest.mark.parametrize("name", [name for name in FLOW if (SOURCE / f"{name}.py").exists()])
def test_no_module_imports_one_to_its_right(name):
    path = SOURCE / f"{name}.py"
    allowed = {*FLOW[: FLOW.index(name)], *LEAVES, "_core"}
    later = set(imports_of(path)) - allowed
    assert later <= PASSED_ON.get(name, set()) & imports_on_call(path)


@pytest.mark.parametrize("name", LEAVES)
def test_a_leaf_imports_no_module_of_the_flow(name):
    assert set(imports_of(SOURCE / f"{name}.py")) <= set(LEAVES)


def test_the_imports_of_a_module_are_seen():
    assert {"forest", "errors", "_core"} <= set(imports_of(SOURCE / "search.py"))
    assert set(imports_of(SOURCE / "errors.py")) == set()
