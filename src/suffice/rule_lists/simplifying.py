"""Simpler rules that cover the same rows: without conditions that change nothing, and two rules as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from suffice._table.condition import Condition
from suffice._table.table import Table
from suffice.explaining.rule import Rule

Bools = NDArray[np.bool_]


def without_idle_conditions(rule: Rule, table: Table) -> tuple[Rule, Bools]:
    """Leave out conditions as long as the rule covers the same rows of a table."""
    each = [condition.covers_rows(table) for condition in rule.conditions]
    covered = np.logical_and.reduce([np.ones(table.n_rows, dtype=bool), *each])
    kept = list(range(len(each)))
    for i in reversed(range(len(each))):
        others = [each[j] for j in kept if j != i]
        if others and np.array_equal(np.logical_and.reduce(others), covered):
            kept.remove(i)
    if len(kept) == len(each):
        return rule, covered
    conditions = tuple(rule.conditions[i] for i in kept)
    return replace(rule, conditions=conditions, optimal=False, bound=math.inf, everywhere=False), covered


def union_of_conditions(one: Condition, two: Condition) -> Condition | None:
    """Return the condition that exactly the values of two conditions satisfy."""
    if (one.column, one.part, one.excluded) != (two.column, two.part, two.excluded) or not (one.values and two.values):
        return None
    missing = one.missing or two.missing
    if one.labels is not None and two.labels is not None:
        labels = set(one.labels) & set(two.labels) if one.excluded else set(one.labels) | set(two.labels)
        return replace(one, labels=tuple(labels), missing=missing)
    if one.labels is not None or two.labels is not None:
        return None
    left, right = sorted((one, two), key=lambda c: (c.low, not c.low_closed))
    if left.high < right.low or (left.high == right.low and not (left.high_closed or right.low_closed)):
        return None
    last = max((left, right), key=lambda c: (c.high, c.high_closed))
    return replace(left, high=last.high, high_closed=last.high_closed, missing=missing)


def union_of_rules(one: Rule, two: Rule) -> Rule | None:
    """Return the rule that covers exactly what two rules of one outcome cover."""
    if one.interval is not None or one.outcome != two.outcome or len(one.conditions) != len(two.conditions):
        return None
    differing = [i for i, pair in enumerate(zip(one.conditions, two.conditions, strict=True)) if pair[0] != pair[1]]
    if len(differing) != 1:
        return None
    i = differing[0]
    union = union_of_conditions(one.conditions[i], two.conditions[i])
    if union is None:
        return None
    between = () if union.is_trivial else (union,)
    return replace(
        one,
        conditions=(*one.conditions[:i], *between, *one.conditions[i + 1 :]),
        sdp=min(one.sdp, two.sdp),
        precision=None,
        n_kept=None,
        optimal=False,
        bound=math.inf,
        everywhere=one.everywhere and two.everywhere,
        certificate=None,
    )


def merge_rules(rules: Sequence[Rule]) -> tuple[list[Rule], list[list[int]]]:
    """Replace pairs of rules by their union, as long as there is one."""
    merged = list(rules)
    parts = [[i] for i in range(len(merged))]
    pairs = ((i, j) for i in range(len(merged)) for j in range(i + 1, len(merged)))
    for i, j in pairs:
        union = union_of_rules(merged[i], merged[j])
        if union is not None:
            rest = [k for k in range(len(merged)) if k not in (i, j)]
            again = [merged[k] if k != i else union for k in sorted([*rest, i])]
            joined = [parts[k] if k != i else sorted(parts[i] + parts[j]) for k in sorted([*rest, i])]
            inner, places = merge_rules(again)
            return inner, [sorted(p for place in group for p in joined[place]) for group in places]
    return merged, parts
