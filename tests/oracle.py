"""The estimator of docs/method.md, slow and obvious. Never imports the package.

A forest here is a list of `OracleTree`; rows are positions in the training table, a row drawn twice stands twice.
Probabilities are fractions, so equality is equality.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np


@dataclass
class OracleTree:
    left: np.ndarray
    right: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    missing_go_to_left: np.ndarray
    rows: np.ndarray
    n_levels: tuple = ()

    def goes_left(self, node, values):
        values = np.asarray(values, dtype=np.float32).astype(np.float64)
        return np.where(np.isnan(values), self.missing_go_to_left[node] != 0, values <= self.threshold[node])

    def is_leaf(self, node):
        return self.left[node] < 0


def counted_rows(forest, counts, n_rows):
    """The rows that each tree counts: all, those that it drew, or each row that it did not draw, if there is one."""
    for drawn in forest.estimators_samples_:
        if counts == "all":
            yield np.arange(n_rows)
            continue
        out = [] if counts == "bootstrap" else sorted(set(range(n_rows)) - set(drawn.tolist()))
        yield np.array(out) if out else np.asarray(drawn)


def rows_out_of_bag(forest, n_rows):
    """By tree and row: whether the tree did not draw the row."""
    return np.array([~np.isin(np.arange(n_rows), drawn) for drawn in forest.estimators_samples_])


def trees_of(forest, counts="bootstrap", n_rows=None):
    """The trees of a fitted scikit-learn forest, with the rows that they count; "bootstrap" needs no `n_rows`."""
    return [
        OracleTree(
            e.tree_.children_left,
            e.tree_.children_right,
            e.tree_.feature,
            e.tree_.threshold,
            e.tree_.missing_go_to_left,
            rows,
        )
        for e, rows in zip(forest.estimators_, counted_rows(forest, counts, n_rows), strict=True)
    ]


def leaf_rows(tree, X, x):
    """Rows in the leaf of x or, if there are none, in the last node on its way that has some."""
    rows, node = tree.rows, 0
    while not tree.is_leaf(node):
        left = tree.goes_left(node, x[tree.column[node]])
        inside = rows[tree.goes_left(node, X[rows, tree.column[node]]) == left]
        if not len(inside):
            return rows
        rows = inside
        node = tree.left[node] if left else tree.right[node]
    return rows


def boundaries(tree, X):
    """The splits (column, boundary) between categories, which no split is above; missing values are not below any.

    For each column of categories that the tree splits on: missing values apart from all others, then the middle one of
    the boundaries, the middle ones of both halves, and so on. A boundary between two categories that both have fewer
    than 10 rows is left out.
    """
    splits = []
    for column, n_levels in enumerate(tree.n_levels):
        if not n_levels:
            continue
        n_rows = [int((X[tree.rows, column] == level).sum()) for level in range(n_levels)]
        halves = deque([[k + 0.5 for k in range(n_levels - 1) if max(n_rows[k], n_rows[k + 1]) >= 10]])
        splits.append((column, np.inf))
        while halves:
            half = halves.popleft()
            if half:
                middle = len(half) // 2
                splits.append((column, half[middle]))
                halves.extend([half[:middle], half[middle + 1 :]])
    return splits


def cell_rows(tree, X, x, columns, min_node_size):
    """Rows in the projected cell of x for the columns of a set."""
    rows, queue = tree.rows, deque([0])
    while queue:
        node = queue.popleft()
        if tree.is_leaf(node):
            continue
        column = tree.column[node]
        if column not in columns:
            queue.extend([tree.left[node], tree.right[node]])
            continue
        left = bool(tree.goes_left(node, x[column]))
        kept = rows[tree.goes_left(node, X[rows, column]) == left]
        if len(kept) < min_node_size:
            return rows
        rows = kept
        queue.append(tree.left[node] if left else tree.right[node])
    for column, boundary in boundaries(tree, X):
        if column in columns:
            kept = rows[(X[rows, column] <= boundary) == (x[column] <= boundary)]
            if len(kept) < min_node_size:
                return rows
            rows = kept
    return rows


class Oracle:
    """The estimates of a forest for Y given X_S = x_S. `groups[v]` are the columns of variable v."""

    def __init__(self, trees, X, y, min_node_size, groups=None, voters="all"):
        self.trees, self.X, self.y, self.min_node_size = trees, np.asarray(X), np.asarray(y), min_node_size
        self.voters = voters
        self.groups = groups or [(column,) for column in range(self.X.shape[1])]

    def cells(self, x, S):
        if S is None:
            return [leaf_rows(tree, self.X, x) for tree in self.trees]
        columns = {column for v in S for column in self.groups[v]}
        trees = self.informed_trees(S) or self.trees
        return [cell_rows(tree, self.X, x, columns, self.min_node_size) for tree in trees]

    def informed_trees(self, S):
        """The trees that vote on S; none if none splits on it."""
        if self.voters == "all":
            return self.trees
        columns = {column for v in S for column in self.groups[v]}
        return [
            tree
            for tree in self.trees
            if columns & {*tree.column[tree.left >= 0].tolist(), *np.flatnonzero(tree.n_levels).tolist()}
        ]

    def probability(self, x, S, event):
        """P(event | X_S = x_S), where `event` marks the training rows that have it."""
        shares = [Fraction(int(event[rows].sum()), len(rows)) for rows in self.cells(x, S)]
        return sum(shares, Fraction(0)) / len(shares)

    def sdp(self, x, S, outcome):
        """`outcome` is a class, or (low, high) for a closed interval."""
        if isinstance(outcome, tuple):
            return self.probability(x, S, (outcome[0] <= self.y) & (self.y <= outcome[1]))
        return self.probability(x, S, self.y == outcome)

    def squared_weights(self, x, S):
        """The sum of the squared weights of the training rows."""
        cells = self.cells(x, S)
        weights = [Fraction(0)] * len(self.X)
        for rows in cells:
            for row in rows.tolist():
                weights[row] += Fraction(1, len(rows) * len(cells))
        return sum(w * w for w in weights)

    def mean(self, x, S):
        return np.mean([np.mean(self.y[rows]) for rows in self.cells(x, S)])

    def quantile(self, x, S, level):
        cells = self.cells(x, S)
        for value in np.unique(self.y):
            shares = [Fraction(int((self.y[rows] <= value).sum()), len(rows)) for rows in cells]
            total = sum(shares, Fraction(0)) / len(cells)
            if total > 0 and total >= Fraction(str(level)):
                return value
        raise AssertionError("the CDF ends at 1")

    def sufficient_sets(self, x, outcome, candidates, pi, min_size=1, max_size=None, least_sdp=None):
        """All sets of candidates with SDP >= pi that have no proper subset (of at least min_size) with SDP >= pi.

        With `least_sdp`, the SDP must also reach its entry at the whole part of 1 / (sum of squared weights).
        """
        sdps = {}
        max_size = len(candidates) if max_size is None else max_size
        for size in range(min_size, max_size + 1):
            for S in combinations(sorted(candidates), size):
                if any(set(T) < set(S) for T in sdps):
                    continue
                sdp = self.sdp(x, S, outcome)
                is_sure = True
                if least_sdp is not None:
                    n_rows = int(1 / self.squared_weights(x, S))
                    is_sure = sdp >= Fraction(least_sdp[min(n_rows, len(least_sdp) - 1)]) - Fraction(1, 10**12)
                if sdp >= Fraction(str(pi)) and is_sure:
                    sdps[S] = sdp
        return sdps

    def chain(self, x, outcome, candidates, n, n_first=0):
        """The sets of 0 to n candidates that are added one by one: the next gives the highest SDP with those before.

        If there are more than `n_first` trees, and it is not 0, only the three with the highest SDP over the first
        `n_first` are compared over all of them.
        """
        first = Oracle(self.trees[:n_first], self.X, self.y, self.min_node_size, self.groups, self.voters)

        def sdp_over_first(S):  # -1 if none of the first trees votes, but others do
            votes = first.informed_trees(S) or not self.informed_trees(S)
            return round(first.sdp(x, S, outcome), 9) if votes else -1

        chain = [()]
        while len(chain) <= min(n, len(candidates)):
            left = [v for v in candidates if v not in chain[-1]]
            sets = {v: tuple(sorted([*chain[-1], v])) for v in left}
            if 0 < n_first < len(self.trees):
                left = sorted(sorted(left, key=lambda v: -sdp_over_first(sets[v]))[:3])
            chain.append(sets[max(left, key=lambda v: self.sdp(x, sets[v], outcome))])
        return chain

    def best_of_chain(self, x, outcome, chain):
        """The first set of the chain with the highest SDP."""
        return max(chain, key=lambda S: self.sdp(x, S, outcome))

    def best_set(self, x, outcome, sets, names, mean_gains):
        """The smallest set, of the surest within one error, whose variables keep the outcome most often alone.

        `sets` has the surest first; `mean_gains` has what `mean_gain` returns for each variable.
        """
        smallest = [S for S in sets if len(S) == min(map(len, sets))]
        sdps = {S: self.sdp(x, S, outcome) for S in smallest}
        surest = max(smallest, key=sdps.get)
        variance = self._share_variance(x, surest, outcome)
        smallest = [S for S in smallest if (sdps[surest] - sdps[S]) ** 2 <= 2 * variance]
        alone = {v: self._alone(x, v, outcome) for S in smallest for v in S}
        order = []
        while len(order) < len(alone):
            left = [v for v in alone if v not in order]
            equal = self._equal_to_the_best({v: alone[v] for v in left})
            equal = self._equal_to_the_best({v: mean_gains[v] for v in equal})
            order.append(min(equal, key=lambda v: names[v]))
        places = [sorted(order.index(v) for v in S) for S in smallest]
        return smallest[places.index(min(places))]

    def _alone(self, x, v, outcome):
        """The SDP of one variable, and its variance."""
        return self.sdp(x, (v,), outcome), self._share_variance(x, (v,), outcome)

    def _share_variance(self, x, S, outcome):
        """The variance of a share of as many rows, with one row more of each kind."""
        sdp, n = self.sdp(x, S, outcome), 1 / self.squared_weights(x, S)
        share = (n * sdp + 1) / (n + 2)
        return share * (1 - share) / n

    def mean_gain(self, v, predictions, n_averaged=256):
        """What a variable adds to the empty set on average over rows of the table, and the variance of the mean."""
        n = min(n_averaged, len(self.X))
        rows = [i * len(self.X) // n for i in range(n)]
        gains = [self.sdp(self.X[i], (v,), predictions[i]) - self.sdp(self.X[i], (), predictions[i]) for i in rows]
        mean = sum(gains) / n
        return mean, sum((gain - mean) ** 2 for gain in gains) / n**2

    @staticmethod
    def _equal_to_the_best(estimates):
        """Those within one standard error of the difference."""
        best, its_variance = max(estimates.values())
        return [v for v, (mean, variance) in estimates.items() if (best - mean) ** 2 <= its_variance + variance]

    def reason_order(self, x, outcome, best, sets, names):
        """The variables of a set with what is lost without them, in the order in which they are reasons."""
        whole = self.sdp(x, best, outcome)
        losses = {v: whole - self.sdp(x, tuple(u for u in best if u != v), outcome) for v in best}
        shares = {v: Fraction(sum(v in S for S in sets), len(sets)) for v in best}
        kept = [v for v in best if losses[v] > 0]
        ordered = sorted(kept, key=lambda v: (-losses[v], -shares[v], names[v]))
        return [(names[v], losses[v]) for v in ordered]


def largest_box(x, good, bad):
    """The most good rows in a box around x without bad rows: every way to cut off one bad row after the other.

    `x` and the rows hold numbers without missing values.
    """
    best, seen = 0, set()
    todo = [(good, bad)]
    while todo:
        inside, wrong = todo.pop()
        key = (inside.tobytes(), wrong.tobytes())
        if len(inside) <= best or key in seen:
            continue
        seen.add(key)
        if not len(wrong):
            best = len(inside)
            continue
        nearest = wrong[np.argmin(np.abs(wrong - x).sum(axis=1))]
        for c in np.flatnonzero(nearest != x):
            side = np.sign(nearest[c] - x[c])
            todo.append(tuple(rows[side * rows[:, c] < side * nearest[c]] for rows in (inside, wrong)))
    return best
