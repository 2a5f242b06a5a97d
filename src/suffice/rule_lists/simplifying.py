"""Simpler rules that cover the same rows: idle conditions are left out, and two rules become one where possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from suffice._table.condition import Condition
    from suffice._table.table import Table
    from suffice.explaining.rule import Rule

Bools = NDArray[np.bool_]


def without_idle_conditions(rule: Rule, table: Table) -> tuple[Rule, Bools]:
    """Leave out conditions as long as the rule covers the same rows of a table."""
    covered_by = [condition.covers_rows(table) for condition in rule.conditions]
    covered = np.logical_and.reduce([np.ones(table.n_rows, dtype=bool), *covered_by])
    kept = list(range(len(covered_by)))
    for i in reversed(range(len(covered_by))):
        others = [covered_by[j] for j in kept if j != i]
        if others and np.array_equal(np.logical_and.reduce(others), covered):
            kept.remove(i)
    if len(kept) == len(covered_by):
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
    merged = () if union.is_trivial else (union,)
    return replace(
        one,
        conditions=(*one.conditions[:i], *merged, *one.conditions[i + 1 :]),
        sdp=min(one.sdp, two.sdp),
        precision=None,
        n_kept=None,
        optimal=False,
        bound=math.inf,
        everywhere=one.everywhere and two.everywhere,
        certificate=None,
    )


def merge_rules(rules: Sequence[Rule]) -> tuple[list[Rule], list[list[int]]]:
    """Replace pairs of rules by their union as long as there is one; return also which rules became one."""
    merged, groups = list(rules), [[i] for i in range(len(rules))]
    while (pair := _first_union(merged)) is not None:
        i, j, union = pair
        merged[i], groups[i] = union, sorted(groups[i] + groups[j])
        del merged[j], groups[j]
    return merged, groups


def _first_union(rules: Sequence[Rule]) -> tuple[int, int, Rule] | None:
    for (i, one), (j, two) in combinations(enumerate(rules), 2):
        if (union := union_of_rules(one, two)) is not None:
            return i, j, union
    return None
