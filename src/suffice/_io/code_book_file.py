"""Code books from CSV and JSON files, dictionaries and lists, with the conditions of their lines."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from suffice._io.sources import parse_json, read_bytes, unpack
from suffice._io.text_tables import SEPARATORS, decode, read_records
from suffice._io.writing import replacing
from suffice._table.condition import Condition
from suffice._table.condition_text import parse_conditions
from suffice._text import first_repeated
from suffice.errors import did_you_mean
from suffice.reasons.code_book import CodeBook, CodeLine

FIELDS = ("variable", "condition", "direction", "code", "text", "fixed")
NEEDED = ("variable", "code", "text")
_FLAGS = {"yes": True, "true": True, "no": False, "false": False, "": False}
_NUMBER = r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
_RANGE = re.compile(rf"({_NUMBER})\s*\.\.\s*({_NUMBER})")


def read_code_book(source: str | os.PathLike[str] | Mapping[str, Any] | Iterable[Any]) -> tuple[CodeLine, ...]:
    """Read the lines of a code book."""
    name = "the code book"
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        text = decode(unpack(read_bytes(name), name), name)
        is_json = name.lower().endswith((".json", ".jsonl")) or text.lstrip()[:1] in ("[", "{")
        entries = _of_json(text, name) if is_json else _of_csv(text, name)
    else:
        entries = _of_values(source, name)
    lines = []
    for place, entry in entries:
        try:
            lines.append(_line(entry))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{place}: {error}") from None
    if not lines:
        raise ValueError(f"{name[:1].upper()}{name[1:]} has no lines: write one for each variable, with code and text.")
    return tuple(lines)


def codes_beside(records: str | os.PathLike[str]) -> Path:
    """Return where the code book of a file of records is kept."""
    return Path(records).with_suffix(".codes.json")


def write_code_book(book: CodeBook, path: str | os.PathLike[str]) -> None:
    """Write a code book as JSON, such that reading it gives the same lines."""
    lines = [{**line.to_dict(), "condition": _condition_text(line)} for line in book.lines]
    try:
        is_same = CodeBook.read(lines).digest == book.digest
    except ValueError:
        is_same = False
    if is_same:
        with replacing(path) as written:
            written.write_text(json.dumps(lines, indent=1) + "\n", encoding="ascii")


def _condition_text(line: CodeLine) -> str | None:
    condition = line.condition
    if condition is None:
        return None
    if math.isfinite(condition.low) and math.isfinite(condition.high) and not condition.missing:
        return f"{condition.low!r}..{condition.high!r}"
    return str(condition).removeprefix(f"{line.variable} ")


def _of_csv(text: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    separator = max(SEPARATORS, key=text.lstrip().partition("\n")[0].count)
    records = ((line, row) for line, row in read_records(text, separator, name) if any(row))
    columns = [column.strip().lower() for column in next(records, (0, []))[1]]
    absent = [column for column in NEEDED if column not in columns]
    unknown = [column for column in columns if column not in FIELDS]
    if absent or unknown:
        listed = f"missing {absent}" if absent else f"unknown {unknown}"
        near = did_you_mean(unknown[0], FIELDS) if unknown else ""
        raise ValueError(
            f"{name}: the first line of a code book names its columns {', '.join(FIELDS)} (condition, "
            f"direction and fixed may be left out): {listed}.{near}"
        )
    twice = first_repeated(columns)
    if twice is not None:
        raise ValueError(f"{name} has two columns {twice!r}.")
    for line, row in records:
        place = f"{name}, line {line}"
        if len(row) != len(columns):
            raise ValueError(
                f"{place}: {len(row)} values for {len(columns)} columns; put a text that holds {separator!r} in quotes."
            )
        yield place, dict(zip(columns, row, strict=True))


def _of_json(text: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        twice = first_repeated([key for key, _ in pairs])
        if twice is not None:
            raise ValueError(f"{name} has the key {twice!r} twice in one object.")
        return dict(pairs)

    try:
        content = parse_json(text, name, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name}, line {error.lineno}: this is not JSON ({error.msg}).") from None
    except RecursionError:
        raise ValueError(f"{name} is nested too deeply to be a code book.") from None
    yield from _of_values(content, name)


def _of_values(content: Any, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(content, Mapping):
        for variable, of_variable in content.items():
            place = f"{name}, {variable!r}"
            is_list = isinstance(of_variable, list | tuple) and not _is_pair(of_variable)
            for entry in of_variable if is_list else [of_variable]:
                yield place, {"variable": variable, **_of_variable(entry, variable, place)}
    elif isinstance(content, Iterable) and not isinstance(content, str | bytes):
        for i, entry in enumerate(content, start=1):
            if not isinstance(entry, Mapping | CodeLine):
                raise ValueError(f"{name}, line {i}: a line is an object with {', '.join(NEEDED)}, got {entry!r}.")
            yield f"{name}, line {i}", dict(vars(entry) if isinstance(entry, CodeLine) else entry)
    else:
        raise ValueError(f"{name} holds {type(content).__name__}: a code book is a list of lines, or an object.")


def _is_pair(entry: Any) -> bool:
    return len(entry) == 2 and all(isinstance(part, str) for part in entry)


def _of_variable(entry: Any, variable: Any, place: str) -> dict[str, Any]:
    if isinstance(entry, str):
        return {"code": variable, "text": entry}
    if isinstance(entry, list | tuple) and _is_pair(entry):
        return dict(zip(("code", "text"), entry, strict=True))
    if isinstance(entry, Mapping) and "variable" not in entry:
        return dict(entry)
    raise ValueError(
        f"{place}: a variable has a text, a pair (code, text), or an object with code and text, got {entry!r}."
    )


def _line(entry: Mapping[str, Any]) -> CodeLine:
    unknown = [name for name in entry if name not in FIELDS]
    if unknown:
        raise ValueError(f"a line has {', '.join(FIELDS)}, got {unknown[0]!r}.{did_you_mean(unknown[0], FIELDS)}")
    variable, code, text = (_text(name, entry.get(name)) for name in NEEDED)
    condition, direction = entry.get("condition"), entry.get("direction")
    if isinstance(condition, str):
        condition = read_condition(variable, condition) if condition.strip() else None
    elif condition is not None and not isinstance(condition, Condition):
        raise ValueError(f"`condition` must be a text such as '< 20000' or '= rent', got {condition!r}.")
    side: Any = direction.strip().lower() or None if isinstance(direction, str) else direction
    flag = entry.get("fixed") or False
    fixed: Any = _FLAGS.get(flag.strip().lower(), flag) if isinstance(flag, str) else flag
    return CodeLine(variable, code, text, condition, side, fixed)


def _text(name: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and name == "code":
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"`{name}` must be a text that is not empty, got {value!r}.")
    return value if name == "variable" else value.strip()


def read_condition(variable: str, text: str) -> Condition:
    """Read the condition of a line."""
    return replace(_read(text.strip()), column=variable)


@lru_cache(maxsize=4096)  # many lines share a few conditions
def _read(text: str) -> Condition:
    text = re.sub(r"^([<>]=?|!?=)\s*", r"\1 ", f"is {text}" if text in ("missing", "known") else text)
    try:
        if match := _RANGE.fullmatch(text):
            return Condition("v", float(match[1]), float(match[2]), low_closed=True, high_closed=True)
        [condition] = parse_conditions(f"IF v {text}", ["v"])
    except ValueError:  # such as 5..3
        raise ValueError(
            f"`condition` cannot be read from {text!r}: write it as '< 20000', '20000..30000', '= rent', "
            "'in {rent, free}' or 'is missing'."
        ) from None
    return condition
