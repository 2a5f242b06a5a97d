"""Rules in JSON files: of a list of rules, of explanations, or of an earlier check."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from suffice._io.sources import parse_json, read_bytes
from suffice.explaining.rule import Rule


def read_rules(path: str, target: str) -> list[Rule]:
    """Read the rules of a JSON file."""
    text = read_bytes(path).decode("utf-8-sig", errors="replace")
    try:
        try:
            content = parse_json(text, "it")
        except json.JSONDecodeError:
            content = [parse_json(line, "it") for line in text.splitlines() if line.strip()]
        rules = [_read_rule(values, target) for values in _rules_in(content)]
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        problem = str(error).removesuffix(".")
        raise ValueError(
            f"The rules in {path} cannot be read ({problem}): pass the JSON of `suffice rules -o rules.json` or "
            "`suffice explain -o why.json`."
        ) from None
    if not rules:
        raise ValueError(f"{path} has no rules.")
    return rules


def _rules_in(content: Any) -> Iterator[dict[str, Any]]:
    if isinstance(content, list):
        for item in content:
            yield from _rules_in(item)
        return
    named = content if isinstance(content, dict) else {}
    if "conditions" in named:
        yield named
    elif "explanations" in named or "rules" in named:
        yield from _rules_in(named["explanations"] if "explanations" in named else named["rules"])
    else:
        raise ValueError(f"a rule is an object with conditions and an outcome, got {json.dumps(content)[:40]}")


def _read_rule(values: dict[str, Any], target: str) -> Rule:
    """Read a local rule, a line of a list or a rule that was checked before, without its figures."""
    if not {"output", "outcome"} & set(values):
        raise ValueError("a rule has no outcome")
    unmeasured = Rule((), None, None, None, 0, 0.0, None, None, False, math.inf, False, target)
    stated = {
        "conditions": values["conditions"],
        "outcome": values["output"] if "output" in values else values["outcome"],
        "interval": values.get("interval"),
        "is_whole": bool(values.get("is_whole")),
    }
    return Rule.from_dict({**unmeasured.to_dict(), **stated})
