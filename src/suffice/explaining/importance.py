"""How important variables are for an outcome, counted over its sufficient sets: two indices and one order.

Cooperative game theory knows the indices for games that a coalition wins or loses: a sufficient set is a minimal
winning coalition. How sets are found is left to ``search``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import check_word

if TYPE_CHECKING:
    from suffice.explaining.search import FoundSets

SetsKind: TypeAlias = Literal["all", "minimal"]
"""Which sufficient sets count: all of them, or those of the smallest size."""
ImportanceIndex: TypeAlias = Literal["responsibility", "share"]
"""How the importance of a variable is counted."""

SHOWN_INDEX: ImportanceIndex = "responsibility"  # docs/method.md, 1.5, says why
INDICES: tuple[ImportanceIndex, ...] = ("responsibility", "share")
IMPORTANCE_NAMES: dict[ImportanceIndex, str] = {
    "responsibility": "importance",
    "share": "importance (LXI)",
}
IMPORTANCE_MEANINGS: dict[ImportanceIndex, str] = {
    "responsibility": "1 / size of the smallest sufficient set with the variable",
    "share": "share of the sufficient sets with the variable",
}


def check_importance(index: str, sets: str) -> None:
    """Refuse an unknown index or an unknown kind of sets."""
    check_word("index", index, INDICES)
    if sets not in ("all", "minimal"):
        raise ValueError(f"`sets` must be 'all' or 'minimal', got {sets!r}.")


def importance_of_sets(
    sets: Sequence[Collection[str]], names: Sequence[str], index: ImportanceIndex
) -> dict[str, float]:
    """Compute the importance of variables over the sufficient sets of one row."""
    sizes = {name: [len(chosen) for chosen in sets if name in chosen] for name in names}
    if index == "responsibility":
        return {name: 1 / min(held) if held else 0.0 for name, held in sizes.items()}
    return {name: len(held) / max(len(sets), 1) for name, held in sizes.items()}


def importance_of_rows(
    found_sets: FoundSets, n_variables: int, index: ImportanceIndex, sets: SetsKind
) -> NDArray[np.float64]:
    """Compute the importance of variables for many rows."""
    n_sets = found_sets.n_by_row()
    n_rows = len(n_sets)
    row_of_set = np.repeat(np.arange(n_rows), n_sets)
    size = found_sets.sizes()
    is_counted = np.ones(len(size), dtype=bool)
    if sets == "minimal" and len(size):
        smallest = size[np.minimum(found_sets.offset[:-1], len(size) - 1)]
        is_counted = size == smallest[row_of_set]
    n_counted = np.maximum(np.bincount(row_of_set[is_counted], minlength=n_rows), 1)
    importance = np.zeros((n_rows, n_variables))
    for bit, variable in enumerate(found_sets.candidates):
        is_held = found_sets.holds(bit) & is_counted
        rows = row_of_set[is_held]
        if index == "responsibility":
            np.maximum.at(importance[:, variable], rows, 1 / size[is_held])
        else:
            importance[:, variable] = np.bincount(rows, minlength=n_rows) / n_counted
    return importance


def rank_in_sets(
    sets: Sequence[Collection[str]], names: Sequence[str], index: ImportanceIndex = SHOWN_INDEX
) -> list[tuple[str, float]]:
    """Rank variables by their importance over the sufficient sets of one row.

    By responsibility, all variables of the best set come before all others: between equally important variables the
    surest set decides, then the share of the sets, and then the order of `names`.
    """
    importance = importance_of_sets(sets, names, index)
    if index != "responsibility":
        return rank_importance(importance)
    place = {name: i for i, chosen in reversed(list(enumerate(sets))) for name in chosen}
    surest = {name: 1 / (1 + place[name]) for name in names if name in place}
    return rank_importance(importance, surest, importance_of_sets(sets, names, "share"))


def rank_importance(importance: Mapping[str, float], *ties: Mapping[str, float]) -> list[tuple[str, float]]:
    """Order variables by importance."""

    def order(item: tuple[str, float]) -> list[float]:
        name, value = item
        # Sums of the same numbers in another order differ in the last digits, which must not decide.
        return [-round(value, 12), *(-round(values.get(name, 0.0), 12) for values in ties)]

    return sorted(((name, value) for name, value in importance.items() if value > 0), key=order)
