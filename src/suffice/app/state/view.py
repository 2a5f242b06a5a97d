"""What a page shows: row, edited values, settings and tab, as a value and as the part of a link after the "?"."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode

TABS = ("row", "rows", "rules", "quality")
OUTCOMES = ("prediction", "observed")
LEVELS = ("same", "odds")
_BY_CLASS = ("levels", "confidence")
_EDIT = "x."  # prefix of edited columns in a link


@dataclass(frozen=True)
class View:
    """What a page shows."""

    data: str = ""
    tab: str = "row"
    row: int = 0
    edits: Mapping[str, Any] = field(default_factory=dict)
    pi: float | None = None
    alpha: float | None = None
    candidates: tuple[str, ...] = ()
    levels: str | None = None
    confidence: float | None = None
    outcome: str = "prediction"
    unseen: bool = False
    find: str = ""

    def with_(self, **changes: Any) -> View:
        """Make a view that differs in some fields."""
        return replace(self, **changes)

    @property
    def is_of_observed(self) -> bool:
        """Whether the observed outcome is explained."""
        return self.outcome == "observed" and not self.edits

    @property
    def settings(self) -> tuple[float | str | tuple[str, ...] | None, ...]:
        """What differs from the explainer's own settings."""
        candidates = self.candidates or None
        return self.pi, self.alpha, candidates, self.levels, self.confidence, self.unseen

    @cached_property
    def key(self) -> str:
        """A text that is equal for views with the same explanation."""
        edits = sorted(self.edits.items())
        return json.dumps([self.row, edits, self.settings, self.is_of_observed], default=str)

    def to_store(self) -> dict[str, Any]:
        """Return the view as plain values for the page."""
        return {**asdict(self), "edits": dict(self.edits), "candidates": list(self.candidates)}

    @classmethod
    def from_store(cls, stored: Mapping[str, Any] | None) -> View:
        """Make a view from the result of `to_store`."""
        values = dict(stored or {})
        if type(values.get("row", 0)) is not int:  # polars would take a text for the name of a column
            raise TypeError(f"The row of a page must be a whole number, got {values['row']!r}.")
        return cls(**{**values, "candidates": tuple(values.get("candidates", ()))})

    def to_search(self) -> str:
        """Write the view as the search part of a link; fields with their default values are left out."""
        default = View()
        pairs: list[tuple[str, str]] = []
        for name in ("data", "tab", "row", "pi", "alpha", *_BY_CLASS, "outcome", "unseen", "find"):
            value = getattr(self, name)
            if value != getattr(default, name) or name == "row":  # a link without a row leads to the first one shown
                pairs.append((name, json.dumps(value) if not isinstance(value, str) else value))
        pairs += [("candidate", name) for name in self.candidates]
        pairs += [(f"{_EDIT}{name}", json.dumps(value, default=str)) for name, value in self.edits.items()]
        return f"?{urlencode(pairs)}" if pairs else ""

    @classmethod
    def from_search(cls, search: str | None) -> View:
        """Read the search part of a link; parts that cannot be read are ignored."""
        try:
            pairs = parse_qsl((search or "").removeprefix("?"), keep_blank_values=True, max_num_fields=1000)
        except ValueError:
            return cls()
        fields: dict[str, Any] = {}
        edits: dict[str, Any] = {}
        for name, text in pairs:
            if name.startswith(_EDIT):
                value = _read_json(text)
                if text == "null" or isinstance(value, str | int | float):
                    edits[name.removeprefix(_EDIT)] = value
            elif name in _READ:
                value = _READ[name](text)
                if value is not None:
                    fields[name] = value
        candidates = tuple(text for name, text in pairs if name == "candidate")
        return cls(**fields, edits=edits, candidates=candidates)


def _read_json(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_wild = isinstance(value, int | float) and not abs(value) < 1e18  # also for NaN
    return None if is_wild else value


def _number(low: float, high: float, *, is_whole: bool = False) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = _read_json(text)
        is_number = isinstance(value, int if is_whole else int | float) and not isinstance(value, bool)
        return value if is_number and low <= value <= high else None

    return read


def _word(known: tuple[str, ...]) -> Callable[[str], str | None]:
    return lambda text: text if text in known else None


_READ: dict[str, Callable[[str], Any]] = {
    "data": lambda text: text if text.isalnum() and len(text) <= 32 else None,
    "tab": _word(TABS),
    "row": _number(0, 10**12, is_whole=True),
    "pi": _number(0.01, 1),
    "alpha": _number(0.001, 0.999),
    "levels": _word(LEVELS),
    "confidence": _number(0, 0.999),
    "outcome": _word(OUTCOMES),
    "unseen": lambda text: True if text == "true" else None,
    "find": lambda text: text[:1000],
}
