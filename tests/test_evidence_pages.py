"""The pages for readers: their sizes, and that the speed page states what was printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs.draw import PRINTED, read_times

DOCS = Path(__file__).parent.parent / "docs"
PAGES = {
    "guide": sorted((DOCS / "guide").glob("*.md")),
    "evidence": [path for path in sorted((DOCS / "evidence").glob("*.md")) if not path.name.startswith("reproduce")],
}
METHODS = {
    "minimal sets": "suffice, minimal sets",
    "sets and a rule": "suffice, all sets and a rule",
    **dict.fromkeys(["shap", "shapiq", "fasttreeshap", "woodelf"]),
}


def test_the_speed_page_states_the_times_that_were_printed():
    times = {table.lower(): of for table, of in read_times().items()}
    lines = [line for line in (DOCS / "evidence" / "speed.md").read_text().splitlines() if line.startswith("| ")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:8]]
    assert len(rows) == len(times) == 6
    for row in rows:
        printed = times[row[0].split(",")[0].lower()]
        stated = {METHODS[name] or name: float(cell) for name, cell in zip(head[1:], row[1:], strict=True)}
        assert stated == {method: printed[method] for method in stated}


@pytest.mark.parametrize(("folder", "most"), [("guide", 1200), ("evidence", 1500)])
def test_pages_for_readers_are_short(folder, most):
    words = {path.name: len(path.read_text().split()) for path in PAGES[folder]}
    assert {name: n for name, n in words.items() if n > most} == {}


@pytest.mark.parametrize("path", PAGES["evidence"], ids=lambda path: path.name)
def test_a_page_of_figures_names_its_date_and_a_command(path):
    text = path.read_text()
    if path.name != "index.md":
        assert re.search(r"\b202\d-\d\d-\d\d", text)
        assert re.search(r"`(?:python -m|make) ", text)


def test_printed_tables_are_linked_from_a_page():
    pages = "".join(path.read_text() for path in DOCS.rglob("*.md"))
    assert [path.name for path in PRINTED.parent.glob("*.txt") if f"printed/{path.name}" not in pages] == []
