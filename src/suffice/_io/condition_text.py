"""Conditions of rules from the text that writes them, such as a search for rows in the app."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from suffice._table.table import DATE_PARTS
from suffice.errors import did_you_mean
from suffice.rules import Condition


def parse_conditions(text: str, column_names: Sequence[str]) -> tuple[Condition, ...]:
    """Read the conditions of a rule's sentence.

    Parameters
    ----------
    text : str
        The sentence, from "IF" or "ALWAYS" on; what follows "THEN" is not read.
    column_names : sequence of str
        The columns of the table. Any names are allowed, but a text that can be read in two ways is refused.

    Returns
    -------
    tuple of Condition
        The conditions, in the order of the text.

    Examples
    --------
    >>> parse_conditions("IF temp max > 5.5 THEN busy", ["temp", "temp max"])[0].column
    'temp max'
    """
    if text.startswith("ALWAYS "):
        return ()
    if not text.startswith("IF "):
        raise ValueError(f"A rule begins with 'IF ' or 'ALWAYS ', got {text!r}.")
    parts = {f"{name}.{part}": (name, part) for name in column_names for part in DATE_PARTS}
    names = {name: known for name, known in [*parts.items(), *((n, (n, None)) for n in column_names)] if name in text}
    readings: list[tuple[Condition, ...]] = []
    unread = len("IF ")
    todo: list[tuple[int, tuple[Condition, ...]]] = [(unread, ())]
    while todo and len(readings) < 2:
        start, conditions = todo.pop()
        unread = max(unread, start)
        for name in names.keys() - {condition.name for condition in conditions}:
            condition, end = _read_condition(text, start, name, *names[name])
            if condition and text.startswith(" AND ", end):
                todo.append((end + len(" AND "), (*conditions, condition)))
            if condition and (end == len(text) or text.startswith(" THEN ", end)):
                readings.append((*conditions, condition))
    if not readings:
        name = re.split(" !?[<>=]| is | in | not in ", text[unread:])[0]
        near = did_you_mean(name, column_names)
        if name in column_names:
            near = f' The column {name!r} is known; write text in quotes, as in {name} = "a b".'
        raise ValueError(f"Cannot read a condition on a known column from {text[unread:]!r}.{near}")
    if len(readings) > 1:
        raise ValueError(f"The names of the columns let {text!r} be read in two ways: rename columns.")
    return readings[0]


def _read_condition(text: str, start: int, name: str, column: str, part: str | None) -> tuple[Condition | None, int]:
    """Read the condition on a column that stands at a place of the text, if one does; and where it ends."""
    number = r"(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"
    label = r"(?:\"(?:[^\"\\]|\\.)*\"|[^\W\d_][^,{}\"]*?)"
    several = rf"(?:{label}|{number[1:-1]})"
    name = re.escape(name)
    # A name may look like a number: "5 < 5" is a column "5" below 5, not a lower end without an upper one.
    forms = (
        f"{number} (<=?) {name} (<=?) {number}( or missing)?",
        f"()(){name} ([<>]=?|=) {number}( or missing)?",
        f"()(){name} (in|not in) {{({several}(?:, {several})*)}}( or missing)?",
        f"()(){name} (!?=) ({label})( or missing)?",
        f"()(){name}()() (is missing|is known)",
    )
    for form in forms:
        match = re.compile(form + r"(?= AND | THEN |\Z)").match(text, start)
        if match is None and form in forms[:4]:  # (x <= 3 or x is missing); older texts: x <= 3 or missing
            in_brackets = form.replace("( or missing)?", f"( or {name} is missing)")
            match = re.compile(rf"\({in_brackets}\)(?= AND | THEN |\Z)").match(text, start)
        if match is None:
            continue
        low, above, sign, end, word = match.groups()
        fields: dict[str, Any] = {"missing": bool(word) and word.endswith("missing"), "values": word != "is missing"}
        if form in forms[2:4]:
            fields.update(labels=_read_labels(end), excluded=sign in ("!=", "not in"))
        else:
            if low:
                fields.update(low=float(low), low_closed=above == "<=")
            if sign in ("=", ">", ">="):
                fields.update(low=float(end), low_closed=sign != ">")
            if sign in ("=", "<", "<="):
                fields.update(high=float(end), high_closed=sign != "<")
        try:
            return Condition(column, part=part, **fields), match.end()
        except ValueError:  # such as 7 < x <= 3
            continue
    return None, start


def _read_labels(text: str) -> tuple[Any, ...]:
    """Read labels as `format_label` writes them."""
    labels: list[Any] = []
    for quoted, bare in re.findall(r"(\"(?:[^\"\\]|\\.)*\")|([^, ][^,]*)", text):
        if quoted:
            labels.append(json.loads(quoted))
        elif bare in ("True", "False"):
            labels.append(bare == "True")
        elif re.fullmatch(r"-?[0-9]+", bare):
            labels.append(int(bare))
        elif re.match(r"-?[0-9]", bare):
            labels.append(float(bare))
        else:
            labels.append(bare)
    return tuple(labels)
