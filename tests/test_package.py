"""The package as a whole: its names, and what importing it loads."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import suffice

# These take long to load, or may not be installed.
HEAVY = ["pandas", "polars", "matplotlib", "tqdm", "shap", "dash", "narwhals", "pyarrow", "pyspark", "dask"]


def test_the_package_exports_these_names():
    assert suffice.__all__ == [
        "Certificate",
        "CertifiedRules",
        "CodeBook",
        "Condition",
        "CountsWarning",
        "Explanation",
        "Explanations",
        "FidelityWarning",
        "GiveawayWarning",
        "GlobalRule",
        "GlobalRulesClassifier",
        "GlobalRulesRegressor",
        "IdentifierWarning",
        "PrecisionWarning",
        "Quality",
        "RareCategoriesWarning",
        "Reasons",
        "Rule",
        "SearchSizeWarning",
        "SetStability",
        "SignalCheck",
        "SufficientExplainer",
        "SufficientSet",
        "TextColumnWarning",
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
    assert not {"numpy", "sklearn"} & loaded_by("import suffice, suffice._cli.main")


def test_names_are_loaded_when_they_are_asked_for():
    assert sorted(suffice._MODULE_OF) == sorted(suffice.__all__[:-1])
    assert dir(suffice) == sorted(suffice.__all__)
    with pytest.raises(AttributeError, match="module 'suffice' has no attribute 'Explainer'"):
        _ = suffice.Explainer
