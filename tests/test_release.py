"""What a release is made of: one version everywhere, the lowest versions that are tested, licences and the SBOM."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from release import check_release, sbom

ROOT = Path(__file__).parents[1]

# Tools: they are not in the answers, and any release of them works.
TOOLS = {"cmake", "nanobind", "hypothesis", "playwright", "pytest", "pytest-xdist", "pre-commit"}


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def lower_bounds():
    """The lower bounds of what the package and its extras need, and of what the tests compare it with."""
    extras = project()["optional-dependencies"]
    lines = [*project()["dependencies"], *extras["test"]]
    for name in ("app", "cli", "dask", "frame", "plot", "spark"):
        lines += extras[name]
    bounds = {}
    for line in lines:
        match = re.fullmatch(r"([a-z0-9-]+)(?:\[.*\])?>=([\d.]+)", line)
        if match and match[1] not in TOOLS:
            bounds[match[1]] = match[2]
    return bounds


def test_the_lowest_versions_that_are_tested_are_the_lower_bounds():
    lines = (ROOT / "tests" / "lowest.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    padded = {name: bound + ".0" * (2 - bound.count(".")) for name, bound in lower_bounds().items()}
    assert pins == padded


def test_the_conda_recipe_has_the_bounds_of_the_package():
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text()
    of_run = re.search(r"^  run:\n((?:    - .*\n)+)", recipe, re.MULTILINE)[1]
    needed = {line.strip("- ").replace(" ", "") for line in of_run.splitlines()}
    assert needed == {"python", *project()["dependencies"]}


def test_the_version_is_the_same_everywhere():
    versions = check_release.versions()
    del versions["CHANGELOG.md"]  # its newest version is the last release until the next one is made
    assert set(versions.values()) == {project()["version"]}


def test_a_tag_of_another_version_is_refused():
    with pytest.raises(SystemExit, match=r"The tag is v9\.9\.9, but pyproject\.toml has "):
        check_release.main("v9.9.9")


def test_the_changes_of_a_version_are_its_section(tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [0.2.0] - 2026-01-01\n\n- b\n\n## [0.1.0] - 2025-01-01\n\n- a\n"
    )
    assert check_release.changes_of("0.2.0", tmp_path) == "- b"
    assert check_release.changes_of("0.1.0", tmp_path) == "- a"
    assert check_release.changes_of("0.1", tmp_path) == ""


def test_the_extra_all_has_every_extra_of_users():
    (line,) = project()["optional-dependencies"]["all"]
    tools = {"all", "lint", "test", "docs", "dev", "bench", "peers", "experiments"}
    assert set(re.findall(r"\w+", line)) - {"suffice"} == set(project()["optional-dependencies"]) - tools


def test_the_sbom_lists_what_is_needed_and_what_is_compiled_in():
    bom = {
        "metadata": {"component": {"name": "suffice", "bom-ref": "root"}},
        "components": [{"name": name, "bom-ref": name} for name in ("numpy", "pip", "scipy")],
        "dependencies": [
            {"ref": "root", "dependsOn": ["scipy"]},
            {"ref": "scipy", "dependsOn": ["numpy"]},
            {"ref": "numpy"},
            {"ref": "pip"},
        ],
    }
    complete = sbom.with_compiled_in(bom, "2.9.2")
    versions = {part["name"]: part.get("version") for part in complete["components"]}
    assert versions == {"numpy": None, "scipy": None, "nanobind": "2.9.2", "robin-map": None}
    direct = {entry["ref"]: entry.get("dependsOn") for entry in complete["dependencies"]}
    assert direct == {
        "root": ["scipy", "compiled-in/nanobind"],
        "scipy": ["numpy"],
        "numpy": None,
        "compiled-in/nanobind": ["compiled-in/robin-map"],
        "compiled-in/robin-map": None,
    }


@pytest.mark.parametrize("name", ["nanobind", "robin-map"])
def test_the_licence_of_what_is_compiled_in_is_in_the_package(name):
    assert "Copyright (c)" in (ROOT / "LICENSES" / f"{name}.txt").read_text()


def test_workflows_run_only_targets_and_files_that_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = workflow.read_text()
        assert set(re.findall(r"make ([a-z-]+)", text)) <= targets, workflow.name
        assert all((ROOT / path).is_file() for path in re.findall(r"python (release/\w+\.py)", text)), workflow.name
