"""The local explanatory importance (LXI): how often a variable is in the sufficient sets of a row.

How sets are found is left to ``search``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import check_word
from suffice.explaining.found_sets import FoundSets

SetsKind: TypeAlias = Literal["minimal", "all"]
"""Which sufficient sets count: those of the smallest size, or all of them."""
IMPORTANCE_MEANINGS: dict[SetsKind, str] = {
    "minimal": "share of the smallest sufficient sets with the variable",
    "all": "share of all sufficient sets with the variable",
}


def check_sets(sets: str) -> None:
    """Refuse an unknown kind of sets."""
    check_word("sets", sets, tuple(IMPORTANCE_MEANINGS))


def importance_of_sets(sets: Sequence[Collection[str]], names: Sequence[str]) -> dict[str, float]:
    """Compute the importance of variables over the sets of one row."""
    n_sets = Counter(name for chosen in sets for name in chosen)
    return {name: n_sets[name] / max(len(sets), 1) for name in names}


def importance_of_rows(found_sets: FoundSets, n_variables: int, sets: SetsKind) -> NDArray[np.float64]:
    """Compute the importance of variables for many rows."""
    n_sets = found_sets.n_by_row()
    n_rows = len(n_sets)
    row_of_set = np.repeat(np.arange(n_rows), n_sets)
    size = np.array(found_sets.sizes(), dtype=np.intp)
    is_counted = np.ones(len(size), dtype=bool)
    if sets == "minimal" and len(size):
        smallest = size[np.minimum(found_sets.offset[:-1], len(size) - 1)]
        is_counted = size == smallest[row_of_set]
    n_counted = np.maximum(np.bincount(row_of_set[is_counted], minlength=n_rows), 1)
    importance = np.zeros((n_rows, n_variables))
    for bit, variable in enumerate(found_sets.candidates):
        rows = row_of_set[found_sets.holds(bit) & is_counted]
        importance[:, variable] = np.bincount(rows, minlength=n_rows) / n_counted
    return importance


def rank_means(names: Sequence[str], means: NDArray[np.float64]) -> list[tuple[str, float]]:
    """Rank variables by their mean importance; equal ones stay in their order."""
    ranked = [(name, value) for name, value in zip(names, means.tolist(), strict=True) if value > 0]
    # Sums of the same numbers in another order differ in the last digits, which must not decide.
    return sorted(ranked, key=lambda item: -round(item[1], 12))


def rank_in_sets(sets: Sequence[Collection[str]], names: Sequence[str]) -> list[tuple[str, float]]:
    """Rank variables by their importance over the sets of one row, the best set first.

    Between equally important variables the first set that holds one of them decides, and then the order of `names`.
    """
    place = {name: i for i, chosen in reversed(list(enumerate(sets))) for name in chosen}
    ranked = [(name, value) for name, value in importance_of_sets(sets, names).items() if value > 0]
    return sorted(ranked, key=lambda item: (-item[1], place[item[0]]))
