"""Conditions read back from the sentence of a rule: the sentence says all of them, in one way."""

from __future__ import annotations

import re

from suffice._io.code_book_file import _read_labels as read_labels
from suffice._table.condition import Condition
from suffice._table.table import DATE_PARTS
from suffice.errors import did_you_mean


def parse_conditions(text, column_names):
    """Read the conditions of a rule's sentence."""
    if text.startswith("ALWAYS "):
        return ()
    if not text.startswith("IF "):
        raise ValueError(f"A rule begins with 'IF ' or 'ALWAYS ', got {text!r}.")
    parts = {f"{name}.{part}": (name, part) for name in column_names for part in DATE_PARTS}
    names = {name: known for name, known in [*parts.items(), *((n, (n, None)) for n in column_names)] if name in text}
    readings = []
    unread = len("IF ")
    todo = [(unread, ())]
    while todo and len(readings) < 2:
        start, conditions = todo.pop()
        unread = max(unread, start)
        for name in names.keys() - {condition.name for condition in conditions}:
            condition, end = read_condition(text, start, name, *names[name])
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


def read_condition(text, start, name, column, part):
    """Read the condition on a column at a position of the text, if there is one, and return where it ends."""
    number = r"(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)"
    label = r"(?:\"(?:[^\"\\]|\\.)*\"|[^\W\d_][^,{}\"]*?)"
    several = rf"(?:{label}|{number[1:-1]})"
    name = re.escape(name)
    # A name may look like a number: "5 < 5" is a column "5" below 5, not a lower bound without an upper one.
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
        fields = {"missing": bool(word) and word.endswith("missing"), "values": word != "is missing"}
        if form in forms[2:4]:
            fields.update(labels=read_labels(end), excluded=sign in ("!=", "not in"))
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
