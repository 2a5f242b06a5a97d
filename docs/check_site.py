"""Check the built site: links lead to pages and headings that exist, and no page loads anything from elsewhere.

`make docs` runs it: ``python docs/check_site.py build/docs/html``.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

# Attributes by which a page loads something; a link that a reader follows may lead elsewhere.
LOADED = {("img", "src"), ("script", "src"), ("source", "src"), ("iframe", "src"), ("link", "href"), ("object", "data")}
ELSEWHERE = re.compile(r"^(?:[a-z]+:)?//", re.I)
LOADED_BY_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:[a-z]+:)?//[^"')\s]+)""", re.I)


class Page(HTMLParser):
    """The identifiers of a page, what it links to and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the identifiers and addresses of a tag."""
        for name, value in attrs:
            if not value:
                continue
            if name in ("id", "name"):
                self.ids.add(value)
            elif tag == "a" and name == "href":
                self.links.append(value)
            elif (tag, name) in LOADED:
                self.loaded.append(value)


def pages_of(folder: Path) -> list[Path]:
    """List the pages of a site; a theme may have templates beside its static files."""
    return sorted(path for path in folder.rglob("*.html") if "_static" not in path.parts)


def find_problems(folder: Path) -> list[str]:
    """List the dead links and the foreign assets of a site, each with the file that has it."""
    pages = {path: Page(path.read_text()) for path in pages_of(folder)}
    problems = []
    for path, page in pages.items():
        name = path.relative_to(folder).as_posix()
        problems += [f"{name} loads {address}" for address in page.loaded if ELSEWHERE.match(address)]
        near = [address for address in page.links + page.loaded if not re.match(r"[a-z]+:|//", address, re.I)]
        problems += [f"{name} links to {address}" for address in near if not _exists(address, path, pages)]
    for path in [*folder.rglob("*.css"), *pages]:
        name = path.relative_to(folder).as_posix()
        problems += [f"{name} loads {address}" for address in LOADED_BY_STYLE.findall(path.read_text())]
    return sorted(set(problems))


def _exists(address: str, path: Path, pages: dict[Path, Page]) -> bool:
    place, heading = urldefrag(address)
    target = (path.parent / unquote(place.split("?")[0])).resolve() if place else path
    if not target.is_file():
        return False
    return not heading or target not in pages or unquote(heading) in pages[target].ids


def main() -> None:
    """Print the problems of the site; exit with 1 if there are any."""
    folder = Path(sys.argv[1]).resolve()
    problems = find_problems(folder)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(pages_of(folder))} pages, {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
