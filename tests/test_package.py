"""The package as a whole: its names, and what importing it loads."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from numpydoc.validate import validate
from public_names import public_names

import suffice

# An extended summary, an example, "See Also", the line on which a docstring begins, and a summary in one line.
NOT_ASKED = {"ES01", "EX01", "GL01", "SA01", "SS06"}


def test_the_package_exports_these_names():
    assert suffice.__all__ == [
        "Certificate",
        "CertifiedRules",
        "Changes",
        "CodeBook",
        "Condition",
        "Explanation",
        "Explanations",
        "GlobalRule",
        "GlobalRulesClassifier",
        "GlobalRulesRegressor",
        "Quality",
        "Reasons",
        "RegionalChanges",
        "Rule",
        "SetStability",
        "SignalCheck",
        "SufficientExplainer",
        "SufficientSet",
        "rule",
        "__version__",
    ]


def test_type_checkers_see_the_names_that_are_loaded_on_first_use():
    block = Path(suffice.__file__).read_text().split("if TYPE_CHECKING:")[1].split("\n\n")[0]
    lines = [f"from suffice.{module} import {name} as {name}" for name, module in suffice._MODULE_OF.items()]
    assert sorted(line.strip() for line in block.strip().splitlines()) == sorted(lines)


def members_of(name, value):
    """A public name and, of a class, the public methods and properties that it defines."""
    yield name
    if inspect.isclass(value):
        for attribute, member in vars(value).items():
            is_ours = not attribute.startswith("_") and not attribute.endswith("_request")  # those are scikit-learn's
            if is_ours and (inspect.isroutine(member) or isinstance(member, property)):
                yield f"{name}.{attribute}"


def test_public_names_are_documented_as_numpydoc_asks():
    problems = {}
    for public, value in public_names().items():
        # A class without a constructor of its own has the parameters of its base, which documents them.
        inherits = inspect.isclass(value) and not {"__init__", "__new__"} & set(vars(value))
        not_asked = NOT_ASKED | ({"PR01"} if inherits else set())
        for name in members_of(public, value):
            problems[name] = [error for error in validate(name)["errors"] if error[0] not in not_asked]
    assert not {name: errors for name, errors in problems.items() if errors}


def test_the_version_is_that_of_the_distribution():
    assert suffice.__version__ == version("suffice")


def loaded_by(statement):
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_what_forests_load_and_no_other_package():
    by_package = loaded_by("from suffice import SufficientExplainer")
    by_sklearn = loaded_by("import sklearn.ensemble")  # some versions load pandas
    assert "suffice.explainer" in by_package
    packages = {name.partition(".")[0] for name in by_package - by_sklearn}
    assert packages - sys.stdlib_module_names == {"suffice"}
    assert not {"numpy", "sklearn"} & loaded_by("import suffice, suffice._cli.main")


def test_names_are_loaded_when_they_are_asked_for():
    assert sorted(suffice._MODULE_OF) == sorted(suffice.__all__[:-1])
    assert dir(suffice) == sorted(suffice.__all__)
    with pytest.raises(AttributeError, match="module 'suffice' has no attribute 'Explainer'"):
        _ = suffice.Explainer
