"""The HTML of the cards as components of Dash, so that the app draws rules and bars as cards do."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from dash import html

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suffice._show.cards import Html

# Of the elements that the cards use, these stay closed at once.
_VOID = frozenset({"br", "hr"})
_NAMES = {"class": "className", "tabindex": "tabIndex"}


def to_components(pieces: Html | Iterable[Html]) -> list[Any]:
    """Make components of pieces of HTML that the cards have written; text stays text."""
    reader = _Reader()
    reader.feed(pieces if isinstance(pieces, str) else "".join(pieces))
    reader.close()
    return reader.children


class _Reader(HTMLParser):
    """Makes components while it reads."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.children: list[Any] = []
        self._open: list[tuple[str, dict[str, Any], list[Any]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        attributes: dict[str, Any] = {_NAMES.get(name, name): value or "" for name, value in attrs}
        if "style" in attributes:
            attributes["style"] = _read_style(attributes["style"])
        self._open.append((tag, attributes, self.children))
        self.children = []
        if tag in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        opened, attributes, before = self._open.pop()
        assert opened == tag, "the cards close what they open"
        before.append(getattr(html, tag.capitalize())(self.children, **attributes))
        self.children = before

    def handle_data(self, data: str) -> None:
        """Keep text."""
        self.children.append(data)


def _read_style(style: str) -> dict[str, str]:
    """Read declarations such as "margin-left:3px" as React names them."""
    declared = {}
    for declaration in style.split(";"):
        name, _, value = declaration.partition(":")
        first, *others = name.strip().split("-")
        named = first + "".join(other.capitalize() for other in others)
        declared[name if name.startswith("--") else named] = value.strip()
    return declared
