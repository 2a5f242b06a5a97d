"""Sections of a page in Markdown that a benchmark prints and replaces."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.run import head

_SECTION = re.compile(r"^### .*?(?=^#{1,3} |\Z)", re.MULTILINE | re.DOTALL)


def print_section(title: str) -> None:
    """Print the heading of a section, with date and machine."""
    print(f"\n### {title[0].upper()}{title[1:]}\n\n{head()}.\n")


@contextlib.contextmanager
def written_to(path: Path | None) -> Iterator[None]:
    """Replace the sections of a page by those that are printed, which are shown, too."""
    if path is None:
        yield
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        yield
    sys.stdout.write(printed.getvalue())
    path.write_text(replaced(path.read_text(), printed.getvalue()))


def replaced(page: str, printed: str) -> str:
    """Return a page with printed sections in the place of those with the same headings, new ones at the end."""
    for section in (match.group().rstrip() for match in _SECTION.finditer(printed)):
        heading = section.splitlines()[0]
        for old in _SECTION.finditer(page):
            if old.group().splitlines()[0] == heading:
                rest = page[old.end() :]
                page = page[: old.start()] + section + ("\n\n" + rest if rest else "\n")
                break
        else:
            page = f"{page.rstrip()}\n\n{section}\n"
    return page
