"""Counterfactual rules by the definitions of docs/method.md, section 7, slow and obvious. Never imports the package.

Every box with ends on thresholds is tried. A region is a list with one (low, high, has_missing) per column, for the
values low < v <= high; a row is the region that holds its values only.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
from oracle import leaf_rows

INF = float("inf")


def region_of_row(x):
    """The region that holds one row only."""
    x = np.asarray(x, dtype=np.float32)
    return [
        (INF, -INF, True) if np.isnan(v) else (float(np.nextafter(v, np.float32(-INF))), float(v), False) for v in x
    ]


def parts_of(side, tree, node):
    """Whether some values of a side go left at a split, and whether some go right."""
    low, high, missing = side
    threshold, missing_left = tree.threshold[node], bool(tree.missing_go_to_left[node])
    values_left = (
        low < high and low < threshold and np.float32(np.nextafter(np.float32(low), np.float32(INF))) <= threshold
    )
    values_right = low < high and high > threshold
    return values_left or (missing and missing_left), values_right or (missing and not missing_left)


def fixed_cell(tree, X, region, fixed, min_node_size):
    """Rows of the projected cell if the columns of `fixed` are known to lie in the region."""
    rows, queue = tree.rows, deque([0])
    while queue:
        node = queue.popleft()
        if tree.is_leaf(node):
            continue
        column = tree.column[node]
        left, right = parts_of(region[column], tree, node)
        if column not in fixed or (left and right):
            queue.extend([tree.left[node], tree.right[node]])
            continue
        kept = rows[tree.goes_left(node, X[rows, column]) == left]
        if len(kept) < min_node_size:
            return rows
        rows = kept
        queue.append(tree.left[node] if left else tree.right[node])
    return rows


class ChangeOracle:
    """Counterfactual rules of a forest. `groups[v]` are the columns of variable v."""

    def __init__(self, trees, X, y, min_node_size, groups=None, votes=None):
        self.votes, self.labels = votes, sorted(set(np.asarray(y).tolist()))
        self.trees, self.X, self.y, self.min_node_size = (
            trees,
            np.asarray(X, dtype=np.float32),
            np.asarray(y),
            min_node_size,
        )
        self.groups = groups or [(column,) for column in range(self.X.shape[1])]
        self.thresholds = [
            sorted({float(t) for tree in trees for t in tree.threshold[(tree.left >= 0) & (tree.column == c)]})
            for c in range(self.X.shape[1])
        ]

    def columns(self, S):
        return sorted(c for v in S for c in self.groups[v])

    def weights(self, region, S):
        """The weights of the training rows given what does not change."""
        fixed = set(range(self.X.shape[1])) - set(self.columns(S))
        weights = [Fraction(0)] * len(self.X)
        for tree in self.trees:
            rows = fixed_cell(tree, self.X, region, fixed, self.min_node_size)
            for row in rows.tolist():
                weights[row] += Fraction(1, len(rows) * len(self.trees))
        return weights

    def cdp(self, region, S, wanted):
        return sum((w for w, y in zip(self.weights(region, S), self.y, strict=True) if y in wanted), Fraction(0))

    def probability(self, z, wanted):
        """What the forest gives for the wanted outcomes at a point, from its leaves."""
        if self.votes is not None:
            return self.mean_vote(z, wanted)
        shares = []
        for tree in self.trees:
            rows = leaf_rows(tree, self.X, z)
            shares.append(Fraction(int(np.isin(self.y[rows], list(wanted)).sum()), len(rows)))
        return sum(shares, Fraction(0)) / len(shares)

    def mean_vote(self, z, wanted):
        """The mean over the trees of what their leaves predict for the wanted outcomes; a little more, for rounding."""
        total = 0.0
        for tree, votes in zip(self.trees, self.votes, strict=True):
            node = 0
            while not tree.is_leaf(node):
                goes_left = tree.goes_left(node, np.array([z[tree.column[node]]]))[0]
                node = tree.left[node] if goes_left else tree.right[node]
            total += sum(votes[node][self.labels.index(label)] for label in wanted)
        return total / len(self.trees) + 1e-10

    def pieces(self, c, side):
        """One value for each piece of a column, between two thresholds, that a side meets; NaN if it may be missing."""
        low, high, missing = side
        ends = [low, *(t for t in self.thresholds[c] if low < t < high), high] if low < high else []
        values = []
        for below, above in pairwise(ends):
            first = np.nextafter(np.float32(max(below, -3e38)), np.float32(INF))
            values += [first] if first <= above else []
        return values + [np.float32(np.nan)] * missing

    def sides(self, c, limit):
        """Every interval of a column between two thresholds within the limit, with and without missing values."""
        low, high, missing = limit
        ends = [low, *(t for t in self.thresholds[c] if low < t < high), high] if low < high else []
        for a, b in combinations(ends, 2):
            yield from ((a, b, m) for m in ([False, True] if missing else [False]))
        if missing:
            yield (INF, -INF, True)

    @staticmethod
    def holds(side, value):
        return side[2] if np.isnan(value) else side[0] < value <= side[1]

    def is_everywhere(self, region, S, box, wanted, pi):
        """Whether the forest gives the wanted outcomes with probability pi at every point of the box."""
        columns = self.columns(S)
        sides = [box[columns.index(c)] if c in columns else region[c] for c in range(self.X.shape[1])]
        return all(
            self.probability(np.array(z, dtype=np.float32), wanted) >= Fraction(str(pi))
            for z in product(*(self.pieces(c, side) for c, side in enumerate(sides)))
        )

    def measure(self, region, S, box, wanted):
        """The plausibility of a box, and the probability of the wanted outcomes in it."""
        columns, inside, hits = self.columns(S), Fraction(0), Fraction(0)
        for row, weight in enumerate(self.weights(region, S)):
            if weight and all(self.holds(side, self.X[row, c]) for c, side in zip(columns, box, strict=True)):
                inside += weight
                hits += weight if self.y[row] in wanted else 0
        return inside, hits / inside if inside else Fraction(0)

    def meets_region(self, region, S, box):
        """Whether the box holds some of the region in every column of S."""
        return all(
            any(self.holds(side, v) for v in self.pieces_in_both(c, side, region[c]))
            for c, side in zip(self.columns(S), box, strict=True)
        )

    def pieces_in_both(self, c, side, other):
        low, high = max(side[0], other[0]), min(side[1], other[1])
        return self.pieces(c, (low, high, side[2] and other[2]))

    def boxes(self, region, S, limits):
        for box in product(*(list(self.sides(c, limits[c])) for c in self.columns(S))):
            if not self.meets_region(region, S, box):
                yield box

    def best_plausibility(self, region, S, limits, wanted, pi, everywhere):
        """The plausibility of the most plausible counterfactual rule over S; 0 if there is none."""
        best = Fraction(0)
        for box in self.boxes(region, S, limits):
            plausibility, mean = self.measure(region, S, box, wanted)
            if plausibility <= best:
                continue
            is_good = self.is_everywhere(region, S, box, wanted, pi) if everywhere else mean >= Fraction(str(pi))
            best = plausibility if is_good else best
        return best
