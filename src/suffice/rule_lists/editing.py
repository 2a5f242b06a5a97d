"""Editing a list by hand: which lines remain in which order, and rules of one's own as lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice._table.table import Table
from suffice.explaining.own_rule import measure_rule, read_premise
from suffice.explaining.rule import Rule
from suffice.rule_lists.candidates import split_rules
from suffice.rule_lists.choosing import stack_bits, sum_lines
from suffice.rule_lists.measures import GlobalRule, Labels, Lines


def edit_lines(
    lines: Lines, order: Iterable[int], drop: Iterable[int], added: Sequence[str | Rule], table: Table | None
) -> tuple[Lines, Lines]:
    """Edit a list; return also its rules as lines of which the first decides, from which a sum is made."""
    task = lines.task
    known = [replace(line, adds=None) for line in lines.rules]
    ends, places = lines.ends, lines.places
    if table is not None:
        known += [_measure_own(lines, rule, table) for rule in added]
        ends, all_places = split_rules([line.rule for line in known], table)
        places = tuple(all_places)
    kept = _kept_places(known, list(order), list(drop))
    rules, places = tuple(known[i] for i in kept), tuple(places[i] for i in kept)
    packed = stack_bits([ends.covers_of(of_rule) for of_rule in places], len(task.outcomes))
    alone = replace(lines, rules=rules, places=places, packed_covers=packed, ends=ends, additions=None)
    if lines.additions is None:
        return alone, alone
    aims = np.ones((len(rules), 1))
    if isinstance(task, Labels):
        aims = np.equal.outer(alone.outputs, task.classes).astype(np.float64)
    summed = sum_lines(alone, [line.rule for line in rules], places, aims, leaves_out=False)
    pairs = zip(summed.rules, rules, strict=True)
    return replace(summed, rules=tuple(replace(new, certificate=old.certificate) for new, old in pairs)), alone


def _kept_places(known: Sequence[GlobalRule], order: list[int], drop: list[int]) -> list[int]:
    n_rules = len(known)
    for name, places in (("order", order), ("drop", drop)):
        if not all(isinstance(i, int | np.integer) and 0 <= i < n_rules for i in places) or len({*places}) < len(
            places
        ):
            raise ValueError(f"`{name}` must hold different positions of rules, from 0 to {n_rules - 1}, got {places}.")
    kept = [i for i in [*order, *(i for i in range(n_rules) if i not in order)] if i not in drop]
    conditions = [frozenset(known[i].rule.conditions) for i in kept]
    for i, place in enumerate(kept):
        if conditions[i] in conditions[:i]:
            raise ValueError(f"The list already has a rule with these conditions: {known[place].text}.")
    return kept


def _measure_own(lines: Lines, added: Any, table: Table) -> GlobalRule:
    """Make a line of a text or of a rule, which is for the class that it states or for the most frequent one."""
    task, is_class = lines.task, isinstance(lines.task, Labels)
    target = lines.rules[0].rule.target if lines.rules else "y"
    if not isinstance(added, str | Rule):
        raise TypeError(f"`add` must hold texts or rules, got {added!r}.")
    text, then = None, None
    if isinstance(added, str):
        conditions, text = read_premise(added, table)
    else:
        conditions, then = added.conditions, added.outcome if is_class else added.interval
    own = measure_rule(conditions, table, task.outcomes, target, not is_class, then=then, text=text)
    if not own.support:
        raise ValueError(f"A rule that covers no training row cannot be added: {own.sentence}.")
    rule = own if isinstance(added, str) else added
    return task.measure(rule, task.outcomes[own.covers(table)], own.outcome if is_class else None)
