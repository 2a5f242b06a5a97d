"""How important variables are for an outcome, counted over its sufficient sets: three indices and one order.

Cooperative game theory knows the indices for games that a coalition wins or loses: a sufficient set is a minimal
winning coalition. How sets are found is left to ``_engine.search``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice._engine.search import FoundSets
from suffice._table.checks import check_word

SetsKind: TypeAlias = Literal["all", "minimal"]
"""Which sufficient sets count: all of them, or those of the smallest size."""
ImportanceIndex: TypeAlias = Literal["responsibility", "share", "divided"]
"""How the importance of a variable is counted."""

SHOWN_INDEX: ImportanceIndex = "responsibility"  # docs/method.md, 1.5, says why
INDICES: tuple[ImportanceIndex, ...] = ("responsibility", "share", "divided")
IMPORTANCE_NAMES: dict[ImportanceIndex, str] = {
    "responsibility": "importance",
    "share": "importance (LXI)",
    "divided": "importance (divided)",
}
IMPORTANCE_MEANINGS: dict[ImportanceIndex, str] = {
    "responsibility": "1 / size of the smallest sufficient set with the variable",
    "share": "share of the sufficient sets with the variable",
    "divided": "each sufficient set counts 1, which its variables share",
}


def check_importance(index: str, sets: str) -> None:
    """Refuse an unknown index or an unknown kind of sets.

    Parameters
    ----------
    index : str
        The user's choice of the index.
    sets : str
        The user's choice of the sets.
    """
    check_word("index", index, INDICES)
    if sets not in ("all", "minimal"):
        raise ValueError(f"`sets` must be 'all' or 'minimal', got {sets!r}.")


def importance_of_sets(
    sets: Sequence[Collection[str]], names: Sequence[str], index: ImportanceIndex
) -> dict[str, float]:
    """Compute the importance of variables over the sufficient sets of one row.

    Parameters
    ----------
    sets : sequence of collection of str
        The sets that count.
    names : sequence of str
        All variables.
    index : {"responsibility", "share", "divided"}
        How importance is counted.

    Returns
    -------
    dict of str to float
        For each variable its importance; 0 for all if there is no set.

    Examples
    --------
    >>> sets, names = [("tenure",), ("contract", "charges"), ("charges", "age")], ("tenure", "contract", "charges")
    >>> importance_of_sets(sets, names, "responsibility")
    {'tenure': 1.0, 'contract': 0.5, 'charges': 0.5}
    >>> {name: round(value, 2) for name, value in importance_of_sets(sets, names, "share").items()}
    {'tenure': 0.33, 'contract': 0.33, 'charges': 0.67}
    """
    sizes = {name: [len(chosen) for chosen in sets if name in chosen] for name in names}
    if index == "responsibility":
        return {name: 1 / min(held) if held else 0.0 for name, held in sizes.items()}
    if index == "share":
        return {name: len(held) / max(len(sets), 1) for name, held in sizes.items()}
    return {name: sum(1 / size for size in held) / max(len(sets), 1) for name, held in sizes.items()}


def importance_of_rows(
    found_sets: FoundSets, n_variables: int, index: ImportanceIndex, sets: SetsKind
) -> NDArray[np.float64]:
    """Compute the importance of variables for many rows.

    Parameters
    ----------
    found_sets : FoundSets
        The sufficient sets of the rows.
    n_variables : int
        The number of variables of the table.
    index : {"responsibility", "share", "divided"}
        How importance is counted.
    sets : {"all", "minimal"}
        Which sets count.

    Returns
    -------
    ndarray of shape (n_rows, n_variables)
        The importance; 0 for all variables where a row has no sufficient set.
    """
    n_sets = found_sets.n_by_row()
    n_rows = len(n_sets)
    row_of_set = np.repeat(np.arange(n_rows), n_sets)
    size = found_sets.sizes()
    is_counted = np.ones(len(size), dtype=bool)
    if sets == "minimal" and len(size):
        smallest = size[np.minimum(found_sets.offset[:-1], len(size) - 1)]
        is_counted = size == smallest[row_of_set]
    n_counted = np.maximum(np.bincount(row_of_set[is_counted], minlength=n_rows), 1)
    part = 1 / np.maximum(size, 1)
    importance = np.zeros((n_rows, n_variables))
    for bit, variable in enumerate(found_sets.candidates):
        is_held = found_sets.holds(bit) & is_counted
        rows = row_of_set[is_held]
        if index == "responsibility":
            np.maximum.at(importance[:, variable], rows, part[is_held])
        else:
            weights = None if index == "share" else part[is_held]
            importance[:, variable] = np.bincount(rows, weights, minlength=n_rows) / n_counted
    return importance


def rank_in_sets(
    sets: Sequence[Collection[str]], names: Sequence[str], index: ImportanceIndex = SHOWN_INDEX
) -> list[tuple[str, float]]:
    """Rank variables by their importance over the sufficient sets of one row.

    By responsibility, all variables of the best set come before all others: between equally important variables the
    surest set decides, then the share of the sets, and then the order of `names`.

    Parameters
    ----------
    sets : sequence of collection of str
        The sets that count, the smallest and then the surest first.
    names : sequence of str
        All variables, in the order of the table.
    index : {"responsibility", "share", "divided"}, default="responsibility"
        How importance is counted.

    Returns
    -------
    list of (str, float)
        The variables of any importance with it, the most important first.

    Examples
    --------
    >>> rank_in_sets([("tenure",), ("age",), ("charges", "age")], ("age", "charges", "tenure"))
    [('tenure', 1.0), ('age', 1.0), ('charges', 0.5)]
    """
    importance = importance_of_sets(sets, names, index)
    if index != "responsibility":
        return rank_importance(importance)
    place = {name: i for i, chosen in reversed(list(enumerate(sets))) for name in chosen}
    surest = {name: 1 / (1 + place[name]) for name in names if name in place}
    return rank_importance(importance, surest, importance_of_sets(sets, names, "share"))


def rank_importance(importance: Mapping[str, float], *ties: Mapping[str, float]) -> list[tuple[str, float]]:
    """Order variables by importance.

    Parameters
    ----------
    importance : mapping of str to float
        The importance of each variable.
    *ties : mapping of str to float
        Further values, which decide one after another between equally important variables; the larger comes first.

    Returns
    -------
    list of (str, float)
        The variables of any importance, the most important first; equal ones in the order of the mapping.

    Examples
    --------
    >>> rank_importance({"age": 0.5, "income": 1.0, "city": 0.5, "sex": 0.0}, {"age": 0.1, "city": 0.3})
    [('income', 1.0), ('city', 0.5), ('age', 0.5)]
    """

    def order(item: tuple[str, float]) -> list[float]:
        name, value = item
        # Sums of the same numbers in another order differ in the last digits, which must not decide.
        return [-round(value, 12), *(-round(values.get(name, 0.0), 12) for values in ties)]

    return sorted(((name, value) for name, value in importance.items() if value > 0), key=order)
