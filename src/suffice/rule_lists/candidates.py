"""Shorter rules, made of the ends of longer ones: what a sum of few rules is chosen from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice._table.condition import Condition
from suffice._table.table import Table
from suffice.explaining.rule import Rule

Bits = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Candidate: TypeAlias = tuple[int, tuple[int, ...], Bits]

# A shorter rule has at most this many conditions, and this many ends.
MAX_CONDITIONS = 3
MAX_ENDS = 4


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of the conditions of rules, and which training rows they allow: a bit for each row."""

    conditions: tuple[Condition, ...]
    packed_covers: Bits  # (n_ends, n_bytes)
    rarer: tuple[int, ...]  # the place of the end, or of its opposite if it allows more than half of the rows

    def covers_of(self, places: Iterable[int]) -> Bits:
        """Return the bits of the rows that all of some ends allow."""
        covered: Bits = np.bitwise_and.reduce(self.packed_covers[list(places)], axis=0)
        return covered

    def conditions_of(self, places: Iterable[int]) -> tuple[Condition, ...]:
        """Return ends as conditions, the two ends of an interval as one."""
        joined: dict[Any, Condition] = {}
        for condition in (self.conditions[place] for place in places):
            name = condition.name
            lower = joined.get(name)  # the lower end comes first
            joined[name] = (
                condition if lower is None else replace(condition, low=lower.low, low_closed=lower.low_closed)
            )
        return tuple(joined.values())


def split_rules(rules: Sequence[Rule], table: Table) -> tuple[Ends, list[tuple[int, ...]]]:
    """Split the conditions of rules into their ends; return also the places of the ends of each rule."""
    known: dict[Condition, int] = {}
    places = [
        tuple(known.setdefault(end, len(known)) for condition in rule.conditions for end in _ends(condition))
        for rule in rules
    ]
    bits = [np.packbits(end.covers_rows(table)) for end in known]
    rarer = list(range(len(known)))
    for place, end in enumerate(list(known)):
        covered = np.unpackbits(bits[place], count=table.n_rows).astype(np.bool_)
        if 2 * np.count_nonzero(covered) > table.n_rows and (opposite := _opposite(end, covered, table)) is not None:
            rarer[place] = known.setdefault(opposite, len(known))
            if len(known) > len(bits):
                bits.append(np.packbits(~covered))
                rarer.append(len(rarer))
    packed = np.array(bits, dtype=np.uint8).reshape(len(known), (table.n_rows + 7) // 8)
    return Ends(tuple(known), packed, tuple(rarer)), places


def _opposite(end: Condition, covered: Bools, table: Table) -> Condition | None:
    """Return the condition that exactly the other rows satisfy, with missing values only if there are such rows."""
    if end.labels is not None:
        opposite = replace(end, excluded=not end.excluded)
    elif end.low > -math.inf:
        opposite = replace(end, low=-math.inf, high=end.low, high_closed=not end.low_closed)
    elif end.high < math.inf:
        opposite = replace(end, low=end.high, low_closed=not end.high_closed, high=math.inf)
    else:
        return None
    for missing in (False, True):
        opposite = replace(opposite, missing=missing)
        if np.array_equal(opposite.covers_rows(table), ~covered):
            return opposite
    return None


def _ends(condition: Condition) -> list[Condition]:
    if condition.labels is None and -math.inf < condition.low and condition.high < math.inf:
        return [replace(condition, high=math.inf), replace(condition, low=-math.inf)]
    return [condition]


def shorter_rules(ends: Ends, places_of_rules: Iterable[tuple[int, ...]]) -> Iterator[Candidate]:
    """Make the combinations of ends of each rule, those of few ends first, one for each set of covered rows.

    Yields the position of the rule that a combination comes from, its ends, and the bits of the rows that it covers.
    """
    rules = list(enumerate(places_of_rules))
    names = [condition.name for condition in ends.conditions]
    tried: set[tuple[int, ...]] = set()
    covered: set[bytes] = set()
    for n_ends in range(1, MAX_ENDS + 1):
        for i, places in rules:
            for combined in combinations(places, n_ends):
                chosen = (ends.rarer[combined[0]],) if n_ends == 1 else combined
                if chosen in tried or len({names[place] for place in chosen}) > MAX_CONDITIONS:
                    continue
                tried.add(chosen)
                bits = ends.covers_of(chosen)
                if (key := bits.tobytes()) not in covered:
                    covered.add(key)
                    yield i, chosen, bits
