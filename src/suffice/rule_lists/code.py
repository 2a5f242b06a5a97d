"""A list of rules as a frame, as one SQL expression, or as a Python function."""

from __future__ import annotations

import math
from typing import Any

from suffice._table.condition import Condition, to_sql_literal
from suffice._table.frames import load_pandas
from suffice._table.table import WEEKDAYS
from suffice.explaining.certificate import CHECKED
from suffice.rule_lists.measures import Additions, Labels, Lines


def lines_to_frame(lines: Lines) -> Any:
    """Make a pandas frame with a line for each rule."""
    adds = [] if lines.additions is None else ["addition"]
    columns = ["text", "output", *adds, "support", "coverage", "precision", *lines.task.figures, "expected"]
    checked = CHECKED if any(line.certificate for line in lines.rules) else {}
    values = [
        [getattr(line, name) for name in columns] + [getattr(line.certificate, name, None) for name in checked.values()]
        for line in lines.rules
    ]
    names = [{"text": "rule", "addition": "adds"}.get(name, name) for name in columns]
    return load_pandas().DataFrame(values, columns=[*names, *checked])


def lines_to_sql(lines: Lines, default: str) -> str:
    """Write what a list predicts; `default` is what it predicts where no rule covers a row."""
    if not lines.rules:
        return default
    conditions = [line.to_sql() for line in lines.rules]
    if lines.additions is None:
        outputs = [to_sql_literal(line.output) for line in lines.rules]
        cases = [f"  WHEN {when} THEN {output}" for when, output in zip(conditions, outputs, strict=True)]
        return "\n".join(["CASE", *cases, f"  ELSE {default}", "END"])
    sums = _sums(lines.additions, conditions)
    answer = sums[0]
    if isinstance(lines.task, Labels):
        # The first of the largest sums counts: each is compared with those after it.
        labels = [to_sql_literal(label) for label in lines.task.classes.tolist()]
        wins = [" AND ".join(f"{of_label} >= {other}" for other in sums[i:]) for i, of_label in enumerate(sums, 1)]
        cases = [f"  WHEN {win} THEN {label}" for win, label in zip(wins[:-1], labels, strict=False)]
        answer = "\n".join(["CASE", *cases, f"  ELSE {labels[-1]}", "END"])
    covered = " OR ".join(f"({when})" for when in conditions)
    return f"CASE WHEN {covered} THEN {answer} ELSE {default} END"


def _sums(additions: Additions, conditions: list[str]) -> list[str]:
    """Write the sum of each class, or of the number."""
    sums = []
    for base, adds in zip(additions.base.tolist(), additions.of_rules.T.tolist(), strict=True):
        added = [to_sql_literal(number) for number in adds]
        terms = [f"CASE WHEN {when} THEN {number} ELSE 0 END" for when, number in zip(conditions, added, strict=True)]
        sums.append("(" + "\n  + ".join([to_sql_literal(base), *terms]) + ")")
    return sums


HAS_VALUE = """def has_value(value):
    return value is not None and value == value  # NaN differs from itself
"""


def lines_to_python(lines: Lines, default: Any, heading: str) -> str:
    """Write a function that predicts one row; `default` is what it predicts where no rule covers it."""
    body = ["def predict(row):", f"    {heading!r}"]
    tests = [" and ".join(map(condition_to_python, line.rule.conditions)) or "True" for line in lines.rules]
    if lines.additions is None or not lines.rules:
        for test, line in zip(tests, lines.rules, strict=True):
            body += [f"    if {test}:", f"        return {line.output!r}"]
        body.append(f"    return {default!r}")
    else:
        labels = lines.task.classes.tolist() if isinstance(lines.task, Labels) else None
        base = lines.additions.base.tolist()
        start = base[0] if labels is None else dict(zip(labels, base, strict=True))
        body += ["    is_covered = False", f"    total = {start!r}"]
        for test, adds in zip(tests, lines.additions.of_rules.tolist(), strict=True):
            body += [f"    if {test}:", "        is_covered = True"]
            names = ["total"] if labels is None else [f"total[{label!r}]" for label in labels]
            body += [f"        {name} += {number!r}" for name, number in zip(names, adds, strict=True) if number]
        answer = "total" if labels is None else "max(total, key=total.get)"
        body.append(f"    return {answer} if is_covered else {default!r}")
    code = "\n".join(body) + "\n"
    return f"{HAS_VALUE}\n\n{code}" if "has_value(" in code else code


def condition_to_python(condition: Condition) -> str:
    """Write a condition as an expression about `row`, a mapping from columns to values; None or NaN is missing."""
    held = f"row[{condition.column!r}]"
    has_value = f"has_value({held})"
    if not condition.values:
        return f"not {has_value}"
    value = {None: held, "weekday": f"{WEEKDAYS!r}[{held}.weekday()]"}.get(condition.part, f"{held}.{condition.part}")
    if condition.labels is not None:
        test = f"{value} {'not in' if condition.excluded else 'in'} {condition.labels!r}"
    else:
        low, high = (int(end) if end.is_integer() else end for end in (condition.low, condition.high))
        above = f"{low!r} {'<=' if condition.low_closed else '<'} " if low > -math.inf else ""
        below = f" {'<=' if condition.high_closed else '<'} {high!r}" if high < math.inf else ""
        test = f"{above}{value}{below}" if above or below else "True"
    if condition.missing:
        return f"(not {has_value} or {test})"
    is_enough = condition.labels is not None and not condition.excluded and condition.part is None
    return test if is_enough else f"{has_value} and {test}"  # no label is missing
