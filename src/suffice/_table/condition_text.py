"""Conditions read from text: from the sentences that this package prints, and from what people write.

A sentence is read exactly: ``IF 2 < a <= 5 AND sky = clear THEN busy``. What people write has more forms: other spaces,
brackets and quotes, ``==``, ``and``, names in backticks, several conditions on a column. Nothing is ever evaluated.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from suffice._table.condition import Condition
from suffice._table.table import DATE_PARTS, WEEKDAYS, Table
from suffice._text import format_category, printable
from suffice.errors import did_you_mean

_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_QUOTED = r"\"(?:[^\"\\]|\\.)*\""
_SWAPPED = str.maketrans("<>", "><")
# In a text without a table, the name of a column ends where its condition goes on.
_ANY_NAME = re.compile(
    rf"(?:if\s)?[\s(]*(?:{_NUMBER}\s*[<>]=?\s*)?(`[^`]+`|[^\s`<>=!].*?)\s*(?:[<>=!]|\s(?:in|not\s+in|is)\b|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_FORMS = "write x < 5, 2 < x <= 5, x = clear, x in [clear, 'light rain'], x not in [...] or x is missing"


class _Grammar(NamedTuple):
    """What stands between the parts of a condition, and how a text says: equal, and, then, a label."""

    gap: str
    space: str
    equal: str
    and_: str
    then: str
    label: str


_EXACT = _Grammar(" ", " ", "=", " AND ", " THEN ", rf"(?:{_QUOTED}|[^\W\d_][^,{{}}\"<>=]*?)")
_FREE = _Grammar(
    *(r"\s*", r"\s+", "==?", r"\s+(?i:and)\s+", r"\s+(?i:then)\s+"),
    rf"(?:{_QUOTED}|'(?:[^'\\]|\\.)*'|[^\s,{{}}\[\]\"'<>=][^,{{}}\[\]\"<>=]*?)",
)


class RuleText(NamedTuple):
    """The conditions of a text, and what follows "THEN"; None without such a word."""

    conditions: tuple[Condition, ...]
    then: str | None = None


def parse_conditions(text: str, column_names: Sequence[str]) -> tuple[Condition, ...]:
    """Read the conditions of a rule's sentence."""
    return _read_sentence(text, column_names).conditions


def _read_sentence(text: str, names: Sequence[str]) -> RuleText:
    if text.startswith("ALWAYS "):
        return RuleText((), text.removeprefix("ALWAYS "))
    if not text.startswith("IF "):
        raise ValueError(f"A rule begins with 'IF ' or 'ALWAYS ', got {text!r}.")
    readings, unread = _search(text, len("IF "), names, _EXACT, lambda _: False)
    if not readings:
        name = re.split(" !?[<>=]| is | in | not in ", text[unread:])[0]
        near = did_you_mean(name, names)
        if name in names:
            near = f' The column {name!r} is known; write text in quotes, as in {name} = "a b".'
        raise ValueError(f"Cannot read a condition on a known column from {text[unread:]!r}.{near}")
    return _only(readings, text)


def read_rule_text(text: str, table: Table | None = None) -> RuleText:
    """Read what a person wrote, or a sentence; without a table, whatever is compared is the name of a column."""
    names = _names_in(text) if table is None else list(table.names)
    exact = None
    if text.startswith(("IF ", "ALWAYS ")):
        with contextlib.suppress(ValueError):
            exact = _read_sentence(text, names)
            if table is not None:
                for condition in exact.conditions:  # "IF sky = clear and ..." has no such label
                    _with_known_labels(condition, table, text)
            return exact
    try:
        return _read_freely(text, names, table)
    except ValueError:
        if exact is None:
            raise
        return exact


def _read_freely(text: str, names: Sequence[str], table: Table | None) -> RuleText:
    text = text.rstrip()
    start = len(re.match(r"\s*(?i:if\s+)?", text)[0])  # type: ignore[index]
    is_label = (lambda name: False) if table is None else (lambda name: _labels_of(name, table) is not None)
    readings, unread = _search(text, start, names, _FREE, is_label)
    if not readings:
        raise _refused(text, unread, names) from None
    read = _only(readings, text)
    conditions = read.conditions
    if table is not None:
        conditions = tuple(_with_known_labels(condition, table, text) for condition in conditions)
    return RuleText(_joined(conditions), read.then)


def _names_in(text: str) -> list[str]:
    clauses = re.split(r"\sand\s|\sthen\s", re.sub("`[^`]*`", "`", text), flags=re.IGNORECASE)
    plain = [match[1] for clause in clauses if (match := _ANY_NAME.match(clause))]
    return list(dict.fromkeys([*re.findall("`([^`]+)`", text), *plain]))


def _only(readings: list[RuleText], text: str) -> RuleText:
    if len(readings) > 1:
        raise ValueError(f"The names of the columns let {text!r} be read in two ways: rename columns.")
    return readings[0]


# --- finding a reading ------------------------------------------------------------------------------------------------


def _search(
    text: str, start: int, column_names: Sequence[str], grammar: _Grammar, is_label: Callable[[str], bool]
) -> tuple[list[RuleText], int]:
    """Find up to two ways to read a text, and the position after which nothing can be read."""
    parts = {f"{name}.{part}": (name, part) for name in column_names for part in DATE_PARTS}
    every = {**parts, **{name: (name, None) for name in column_names}}
    every = {printable(name): known for name, known in every.items()} | every  # texts write names so
    names = {name: known for name, known in every.items() if name in text}
    readings: list[RuleText] = []
    unread = start
    todo: list[tuple[int, tuple[Condition, ...]]] = [(start, ())]
    while todo and len(readings) < 2:
        at, before = todo.pop()
        unread = max(unread, at)
        known = names.keys() - {condition.name for condition in before} if grammar is _EXACT else names
        for name in known:
            condition, end = _read_condition(text, at, name, names[name], grammar, is_label(name))
            if condition is None:
                continue
            if more := re.compile(grammar.and_).match(text, end):
                todo.append((more.end(), (*before, condition)))
            then = re.compile(grammar.then).match(text, end)
            if then or end == len(text):
                readings.append(RuleText((*before, condition), text[then.end() :] if then else None))
    return readings, unread


def _read_condition(
    text: str, start: int, name: str, column: tuple[str, str | None], grammar: _Grammar, is_label: bool
) -> tuple[Condition | None, int]:
    """Read the condition on a column at a position of the text, if there is one, and return where it ends."""
    quoted = re.escape(name) if grammar is _EXACT else rf"(?:`{re.escape(name)}`|{re.escape(name)})"
    end = rf"(?={grammar.and_}|{grammar.then}|\Z)"
    space = grammar.space
    for form in _forms(quoted, grammar, is_label):
        also = "" if "<fact>" in form else rf"(?P<missing>{space}or{space}missing)?"
        match = re.compile(f"{form}{also}{end}").match(text, start)
        if match is None and (also or grammar is _FREE):  # (x <= 3 or x is missing); older texts: x <= 3 or missing
            also = rf"(?P<missing>{space}or{space}{quoted}{space}is{space}missing){'' if grammar is _EXACT else '?'}"
            gap = "" if grammar is _EXACT else grammar.gap
            match = re.compile(rf"\({gap}{form}{also}{gap}\){end}").match(text, start)
        if match is None:
            continue
        try:
            return Condition(column[0], part=column[1], **_fields(match.groupdict(), is_label)), match.end()
        except ValueError:  # such as 7 < x <= 3
            continue
    return None, start


def _forms(name: str, grammar: _Grammar, is_label: bool) -> Iterator[str]:
    """Write the forms of a condition as patterns, each with one number on a side or with labels."""
    gap, space, label = grammar.gap, grammar.space, grammar.label
    left, right = rf"(?P<left>{_NUMBER}){gap}", rf"{gap}(?P<right>{_NUMBER})"
    # A name may look like a number: "5 < 5" is a column "5" below 5, not a lower bound without an upper one.
    if not is_label:
        yield rf"{left}(?P<before><=?){gap}{name}{gap}(?P<sign><=?){right}"
        yield rf"{name}{gap}(?P<sign>[<>]=?|{grammar.equal}){right}"
        if grammar is _FREE:
            yield rf"{left}(?P<before>>=?){gap}{name}{gap}(?P<sign>>=?){right}"
            yield rf"{left}(?P<before>[<>]=?){gap}{name}"
    opening, closing = r"[{\[(]", r"[}\])]"
    one = label  # of the free labels, those without quotes may be numbers
    if grammar is _EXACT:
        opening, closing, one = "{", "}", rf"(?:{label}|{_NUMBER})"
    several = rf"\s*{one}(?:\s*,\s*{one})*\s*" if grammar is _FREE else rf"{one}(?:, {one})*"
    yield rf"{name}{space}(?P<sign>in|not{space}in){gap}{opening}(?P<labels>{several}){closing}"
    yield rf"{name}{gap}(?P<sign>!=|{grammar.equal}){gap}(?P<labels>{label})"
    yield rf"{name}{space}is{space}(?P<fact>missing|known|not{space}missing)"


def _fields(parts: dict[str, str | None], is_label: bool) -> dict[str, Any]:
    """Return the fields of a condition that the parts of its text state."""
    fields: dict[str, Any] = {"missing": bool(parts.get("missing")) or parts.get("fact") == "missing"}
    fields["values"] = parts.get("fact") != "missing"
    if (labels := parts.get("labels")) is not None:
        return {**fields, "labels": _read_labels(labels, is_label), "excluded": (parts["sign"] or "")[0] in "!n"}
    before = (parts.get("before") or "").translate(_SWAPPED), parts.get("left")
    for sign, end in (before, (parts.get("sign"), parts.get("right"))):
        if sign and end and sign[0] in "=>":
            fields.update(low=float(end), low_closed=sign != ">")
        if sign and end and sign[0] in "=<":
            fields.update(high=float(end), high_closed=sign != "<")
    return fields


def _read_labels(text: str, is_text: bool) -> tuple[Any, ...]:
    """Read labels as `format_label` writes them; without quotes they may be numbers, unless the column holds text."""
    labels: list[Any] = []
    for double, single, bare in re.findall(r"(\"(?:[^\"\\]|\\.)*\")|('(?:[^'\\]|\\.)*')|([^, ][^,]*)", text):
        if double:
            labels.append(json.loads(double))
        elif single:
            labels.append(re.sub(r"\\(.)", r"\1", single[1:-1]))
        elif is_text or not (bare in ("True", "False") or re.match("[-+.]?[0-9]", bare)):
            labels.append(bare.strip())
        else:
            labels.append(bare == "True" if bare in ("True", "False") else _to_number(bare))
    return tuple(labels)


def _to_number(text: str) -> int | float | str:
    if not re.fullmatch(_NUMBER, text.strip()):
        return text.strip()
    return int(text) if re.fullmatch("[-+]?[0-9]+", text.strip()) else float(text)


# --- what a table knows -----------------------------------------------------------------------------------------------


def _labels_of(name: str, table: Table) -> tuple[Any, ...] | None:
    """Return the labels of a column, or of a part of its dates; None if it is compared with numbers."""
    if name in table.names:
        return table.compared_labels(table.position(name))
    return WEEKDAYS if name.endswith(".weekday") else None


def _with_known_labels(condition: Condition, table: Table, text: str) -> Condition:
    """Take the labels of a condition from the table, and refuse others."""
    if condition.labels is None:
        return condition
    known = _labels_of(condition.name, table)
    labels = []
    for label in condition.labels:
        at = max(text.find(str(label)), 0)
        if known is None:
            if isinstance(label, str) and label not in ("yes", "no"):
                raise _at(text, at, f"The column {condition.name!r} holds numbers, got {label!r}.")
            labels.append(label)
            continue
        number = _to_number(str(label))
        same = [o for o in known if o in (label, number) or label in (str(o), format_category(o))]
        if not same:
            near = did_you_mean(label, map(str, known))
            raise _at(text, at, f"The column {condition.name!r} has no category {label!r}.{near}")
        labels.append(same[0])
    return replace(condition, labels=tuple(labels))


def _joined(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Join the intervals of a column that has several."""
    joined: dict[str, Condition] = {}
    for condition in conditions:
        name, other = condition.name, joined.get(condition.name, condition)
        if any(one.labels is not None or one.missing for one in (condition, other)) and other is not condition:
            raise ValueError(f"A rule has one condition for a column, got two on {name!r}.")
        if other is not condition and not (other.low <= condition.high and condition.low <= other.high):
            raise ValueError(f"No number satisfies both {other} and {condition}.")
        low, is_open = max((one.low, not one.low_closed) for one in (condition, other))
        high, is_closed = min((one.high, one.high_closed) for one in (condition, other))
        joined[name] = replace(condition, low=low, low_closed=not is_open, high=high, high_closed=is_closed)
    return tuple(joined.values())


# --- errors -----------------------------------------------------------------------------------------------------------


def _refused(text: str, at: int, names: Sequence[str]) -> ValueError:
    """Say which column is not known, or that the condition on a known one has none of the forms."""
    match = _ANY_NAME.match(text, at)
    word = text[at:] if match is None else match[1].strip("`")
    place = at if match is None else match.start(1)
    name = max((name for name in names if name and re.match(rf"{re.escape(name)}(?!\w)", word)), key=len, default=None)
    if name is None:
        return _at(text, place, f"Unknown column {word!r}.{did_you_mean(word, names)}")
    either = " Rules have no `or`: write one for each side." if re.search(r"\sor\s", text[at:]) else ""
    return _at(text, place, f"Cannot read the condition on {name!r}: {_FORMS}.{either}")


def _at(text: str, at: int, problem: str) -> ValueError:
    """Mark the spot in the text."""
    error = ValueError(problem)
    before, after = (printable(re.sub(r"\s", " ", part)) for part in (text[:at], text[at:]))
    # What Python shows below the message; the command and the app do not.
    error.add_note(f"  {before}{after}\n  {' ' * len(before)}^")
    return error
