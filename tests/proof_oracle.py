"""What holds at every point of a small model, by looking at all of them: section 9 of docs/method.md as slow code.

A model is a dict: "trees" (nested tuples), "start", "decides_by" and "cut". A tree is a tuple of numbers (a leaf) or
(column, asked, missing_left, left, right), where `asked` is a threshold or a frozenset of codes that go left.
"""

from __future__ import annotations

import itertools
import math


def is_leaf(tree):
    return not isinstance(tree[-1], tuple)


def leaf_of(tree, z):
    while not is_leaf(tree):
        column, asked, missing_left, left, right = tree
        value = z[column]
        if math.isnan(value):
            goes_left = missing_left
        else:
            goes_left = value in asked if isinstance(asked, frozenset) else value <= asked
        tree = left if goes_left else right
    return tree


def outputs(model, z):
    return [
        math.fsum([start, *(leaf_of(tree, z)[k] for tree in model["trees"])]) for k, start in enumerate(model["start"])
    ]


def decide(model, z):
    sums = outputs(model, z)
    if model["decides_by"] == "number":
        return sums[0]
    if model["decides_by"] == "positive":
        return int(sums[0] > model["cut"])
    return sums.index(max(sums))


def thresholds(tree, column):
    if is_leaf(tree):
        return set()
    own = {tree[1]} if tree[0] == column and not isinstance(tree[1], frozenset) else set()
    return own | thresholds(tree[3], column) | thresholds(tree[4], column)


def values_of(model, rows, column, is_number, ends=()):
    """All values of a column that matter: both ends of every piece within the range of the rows, and of conditions."""
    seen = [row[column] for row in rows]
    known = [value for value in seen if not math.isnan(value)]
    missing = [math.nan] * (len(known) < len(seen))
    if not known:
        return missing
    low, high = min(known), max(known)
    if not is_number:
        return sorted(set(known)) + missing
    if all(value == math.floor(value) for value in known):
        return [float(v) for v in range(int(low), int(high) + 1)] + missing
    cuts = set().union(*(thresholds(tree, column) for tree in model["trees"]))
    near = {near for t in cuts | set(ends) for near in (math.nextafter(t, -math.inf), t, math.nextafter(t, math.inf))}
    return sorted(v for v in {low, high, *known, *near} if low <= v <= high) + missing


def points(values):
    return list(itertools.product(*values))


def agrees(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def piece(model, column, value, is_number):
    """The number of thresholds below a value, or the label; None if it is missing."""
    if math.isnan(value):
        return None
    if not is_number:
        return value
    return sum(t < value for t in set().union(*(thresholds(tree, column) for tree in model["trees"])))


def contrastive_sets(model, x, all_points, is_number):
    """For every point that is decided otherwise, the columns in which its piece differs from that of x."""
    own = decide(model, x)
    x_pieces = [piece(model, c, v, is_number[c]) for c, v in enumerate(x)]
    return {
        frozenset(c for c, v in enumerate(z) if piece(model, c, v, is_number[c]) != x_pieces[c])
        for z in all_points
        if decide(model, z) != own
    }


def certain_reasons(model, x, all_points, is_number):
    """All minimal sets of columns that fix the decision."""
    contrastive = contrastive_sets(model, x, all_points, is_number)
    found = []
    for size in range(len(x) + 1):
        for subset in map(frozenset, itertools.combinations(range(len(x)), size)):
            if not any(known <= subset for known in found) and all(subset & other for other in contrastive):
                found.append(subset)
    return found


def gap(a, b, spread):
    if agrees(a, b):
        return 0.0
    return abs(a - b) / spread if spread > 0 and not math.isnan(a) and not math.isnan(b) else 1.0


def nearest_other(model, x, all_points, spread, is_number):
    """The fewest changed columns, and then the least distance, of a point decided otherwise; None if none is."""
    own = decide(model, x)
    return min(
        (
            (sum(not agrees(a, b) for a, b in zip(x, z, strict=True)), math.fsum(map(gap, x, z, spread)))
            for z in all_points
            if decide(model, z) != own
        ),
        default=None,
    )
