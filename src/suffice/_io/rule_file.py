"""Rules in JSON files: of a list of rules, of explanations, or of an earlier check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from suffice._io.sources import parse_json, read_bytes
from suffice._text import format_interval
from suffice.explaining.certificate import Certificate
from suffice.explaining.rule import Promise, Rule


@dataclass(frozen=True)
class StatedRule:
    """A rule as a file states it: what it promises, without the figures of the training rows."""

    promise: Promise
    target: str
    certificate: Certificate | None = None
    is_whole: bool = False  # whether the outcomes are whole numbers

    def __str__(self) -> str:
        """Return the rule in words."""
        return f"IF {' AND '.join(map(str, self.promise.conditions))} THEN {self.conclusion}"

    @property
    def conclusion(self) -> str:
        """What the rule keeps: the class, or the interval."""
        if self.promise.interval is None:
            return str(self.promise.outcome)
        return f"{self.target} in [{', '.join(format_interval(self.promise.interval, self.is_whole))}]"

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain Python values, ready for JSON."""
        rule = replace(_as_rule(self.promise, self.target), is_whole=self.is_whole).to_dict()
        stated = {name: rule[name] for name in ("conditions", "outcome", "interval", "target", "is_whole")}
        return {**stated, "certificate": None if self.certificate is None else self.certificate.to_dict()}


def read_rules(path: str, target: str) -> list[StatedRule]:
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


def _read_rule(values: dict[str, Any], target: str) -> StatedRule:
    """Read a local rule, a line of a list or a rule that was checked before."""
    if not {"output", "outcome"} & set(values):
        raise ValueError("a rule has no outcome")
    stated = {
        "conditions": values["conditions"],
        "outcome": values["output"] if "output" in values else values["outcome"],
        "interval": values.get("interval"),
        "is_whole": bool(values.get("is_whole")),
    }
    rule = Rule.from_dict({**_as_rule(Promise((), None), target).to_dict(), **stated})
    return StatedRule(rule.promise, target, is_whole=rule.is_whole)


def _as_rule(promise: Promise, target: str) -> Rule:
    """Make a rule without figures, for the JSON form of conditions and intervals."""
    figures = (0.0, 0, 0.0, None, None, False, 0.0, False)
    return Rule(promise.conditions, promise.outcome, promise.interval, *figures, target=target)
