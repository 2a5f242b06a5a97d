"""The pages: their code runs and prints what they show, their links lead somewhere, and no public name is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_blocks import BLOCK, run_page, shorten
from public_names import public_names

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MADE = (DOCS / "gallery", DOCS / "reference" / "generated")
PAGES = sorted(
    path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    if not any(folder in path.parents for folder in MADE)
)
WITH_CODE = [path for path in PAGES if BLOCK.search(path.read_text())]
# They run many commands, import boosted models, or grow forests again and again.
SLOW_PAGES = {"docs/guide/command.md", "docs/guide/models.md", "docs/guide/sureness.md"}
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.slow if name_of(path) in SLOW_PAGES else ()) for path in WITH_CODE],
    ids=name_of,
)
def test_the_code_of_a_page_prints_what_the_page_shows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, printed in run_page(path.read_text()):
        if block["output"] is not None:
            assert printed.strip(), block["code"]
            assert shorten(printed, block["output"]) == block["output"]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_of_a_page_lead_to_files(path):
    """Sphinx checks the links between pages; those of the README and to other files are checked here."""
    targets = [target for target, _ in LINK.findall(path.read_text()) if not re.match(r"https?:|\{", target)]
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_the_reference_has_every_public_name_once():
    """A name that `suffice` and a room export is listed under either."""
    listed = re.findall(r"^   (suffice\.[\w.]+)$", (DOCS / "reference" / "index.md").read_text(), re.M)
    public = public_names()
    assert sorted(set(listed) - set(public)) == []
    found = [public[name] for name in listed]
    assert sorted(name for name, value in public.items() if value not in found) == []
    assert len(found) == len(set(map(id, found)))
    assert all(value.__doc__ for value in found)
