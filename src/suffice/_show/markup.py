"""Pieces of HTML of which cards and reports are made. They do not depend on what is explained.

Any text that is not `Html` is escaped where it is put in.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suffice._show.picture import Share


class Html(str):
    """Text that is HTML already; any other text is escaped where it is put in."""

    __slots__ = ()


def element(tag: str, classes: str, *children: str, **attributes: str) -> Html:
    """Write an element."""
    named = {"class": classes, **attributes} if classes else attributes
    written = "".join(f' {name.replace("_", "-")}="{html.escape(value)}"' for name, value in named.items())
    return Html(f"<{tag}{written}>{''.join(_escaped(child) for child in children)}</{tag}>")


def optional(tag: str, classes: str, text: str) -> list[Html]:
    """Write an element, or nothing if it has no text."""
    return [element(tag, classes, text)] if text else []


def _escaped(text: str) -> str:
    return text if isinstance(text, Html) else html.escape(text)


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Join pieces."""
    return Html(_escaped(between).join(_escaped(part) for part in parts))


@cache
def read_template(name: str) -> str:
    """Read a file that comes with the package."""
    return files("suffice").joinpath("_show", "templates", name).read_text(encoding="utf-8")


def part(title: str, note: str, *children: str) -> Html:
    """Write a part of a card under its title."""
    return element("div", "part", element("div", "title", title, element("span", "note", note)), *children)


def bar(share: float, kind: str = "", tick: float | None = None) -> Html:
    """Draw a share as a bar."""
    fill = element("span", f"fill {kind}".strip(), style=f"width:{percent(share)}")
    marked = element("span", "tick", style=f"left:{percent(tick)}") if tick is not None else ""
    return element("span", "bar", fill, marked)


def bars(shares: Iterable[Share], kind: str = "", *, more: str = "", narrow: bool = False) -> Html:
    """Draw shares as bars, one under the other."""
    cells: list[str] = []
    for name, share, text, tick in shares:
        cells += [element("span", "", name), bar(share, kind, tick), element("span", "number", text)]
    cells += optional("span", "note more", more)
    return element("div", "bars narrow" if narrow else "bars", *cells)


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    """Write facts one under the other."""
    cells = [cell for key, text in pairs for cell in (element("span", "key", key), element("span", "", text))]
    return element("div", "facts", *cells)


def chips(labels: Iterable[tuple[str, str]], more: str = "") -> Html:
    """Draw labels as chips."""
    meaning = {"in": "in the rule", "own": "this row's", "own in": "this row's, in the rule", "": ""}
    drawn = [element("span", f"chip {kind}".strip(), label, title=meaning[kind]) for label, kind in labels]
    return element("div", "chips", *drawn, *optional("span", "note", more))


def percent(share: float) -> str:
    """Write a share for a style."""
    return f"{100 * min(max(share, 0.0), 1.0):.4g}%"
