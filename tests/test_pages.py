"""The pages: their code runs and prints what they show, their links lead somewhere, and no public name is missing."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import sklearn
from page_blocks import BLOCK, run_page, shorten

import suffice

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MADE = (DOCS / "gallery", DOCS / "reference" / "generated")
PAGES = sorted(
    path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    if not any(folder in path.parents for folder in MADE)
)
WITH_CODE = [path for path in PAGES if BLOCK.search(path.read_text())]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
PUBLIC_MODULES = ["plots", "spark", "dask"]

NUMBER = re.compile(r"\d+\.\d+")
# The forests of the pages are grown by newer releases; those of older ones differ in a few splits.
HAS_SAME_FORESTS = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)


def assert_same_output(printed, shown):
    """Compare what a block prints with what its page shows, digit by digit if both have the same forests."""
    if HAS_SAME_FORESTS:
        assert printed == shown
    else:
        assert NUMBER.sub("#", printed) == NUMBER.sub("#", shown)
        assert [float(n) for n in NUMBER.findall(printed)] == pytest.approx(
            [float(n) for n in NUMBER.findall(shown)], rel=0.03
        )


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", WITH_CODE, ids=name_of)
def test_the_code_of_a_page_prints_what_the_page_shows(path, tmp_path, monkeypatch):
    text = path.read_text()
    if "pyspark" in text and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("There is no Java: apt-get install openjdk-17-jre-headless.")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    for block, printed in run_page(text):
        if block["output"] is not None:
            assert printed.strip(), block["code"]
            assert_same_output(shorten(printed, block["output"]), block["output"])


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_of_a_page_lead_to_files(path):
    """Sphinx checks the links between pages; those of the README and to other files are checked here."""
    targets = [target for target, _ in LINK.findall(path.read_text()) if not re.match(r"https?:|\{", target)]
    assert [target for target in targets if not (path.parent / target).exists()] == []


def public_names():
    """The names that users import, with their modules."""
    names = [f"suffice.{name}" for name in suffice.__all__ if name != "__version__"]
    for name in PUBLIC_MODULES:
        module = importlib.import_module(f"suffice.{name}")
        own = [n for n, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        names += [f"{module.__name__}.{n}" for n in getattr(module, "__all__", own) if not n.startswith("_")]
    return names


def test_the_reference_has_every_public_name():
    listed = re.findall(r"^   (suffice\.[\w.]+)$", (DOCS / "reference" / "index.md").read_text(), re.M)
    assert sorted(set(public_names()) - set(listed)) == []
    for name in listed:  # and nothing that is not there
        module, _, attribute = name.rpartition(".")
        assert getattr(importlib.import_module(module), attribute).__doc__
    assert len(listed) == len(set(listed))
