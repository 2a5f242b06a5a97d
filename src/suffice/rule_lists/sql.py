"""A list of rules as one SQL expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice._table.condition import to_sql_literal
from suffice.rule_lists.measures import Labels

if TYPE_CHECKING:
    from suffice.rule_lists.measures import Additions, Lines


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
