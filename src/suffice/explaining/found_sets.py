"""The sufficient sets that a search has found, as arrays: what is in them, and how they are joined and ordered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice._table.variables import VariableSet

BY_ROW = ("best_masks", "best_sdps", "best_squares", "is_complete", "offered")
# What the core finds.
SEARCHED = ("offset", "masks", "sdps", "best_masks", "best_sdps", "is_complete")


class ScoredSet(NamedTuple):
    """A set and its SDP."""

    variables: VariableSet
    sdp: float


@dataclass(frozen=True)
class FoundSets:
    """The sufficient sets of some rows, as arrays."""

    candidates: VariableSet
    offset: NDArray[np.int64]
    masks: NDArray[np.uint64]
    sdps: NDArray[np.float64]
    best_masks: NDArray[np.uint64]
    best_sdps: NDArray[np.float64]
    best_squares: NDArray[np.float64]  # of the weights behind its SDP; NaN where nothing has asked for it
    is_complete: NDArray[np.bool_]
    offered: NDArray[np.float64]  # the level that the best set of a row without a sufficient set reaches; else NaN
    smaller: dict[int, ScoredSet] = field(default_factory=dict)  # by row: beside a best set of many variables

    @classmethod
    def of_arrays(cls, candidates: VariableSet, arrays: Any) -> FoundSets:
        """Take over what the core has found."""
        own = {name: getattr(arrays, name) for name in SEARCHED}
        unknown = np.full(len(arrays.best_sdps), np.nan)
        return cls(candidates, **own, best_squares=unknown, offered=arrays.level_below)

    def members(self, mask: NDArray[np.uint64]) -> VariableSet:
        """List the variables of a set."""
        low, high = mask.tolist()
        bits, variables = low | high << 64, []
        while bits:
            variables.append(self.candidates[(bits & -bits).bit_length() - 1])
            bits &= bits - 1
        return tuple(sorted(variables))

    def sizes(self) -> list[int]:
        """Count the variables of each set."""
        return [low.bit_count() + high.bit_count() for low, high in self.masks.tolist()]

    def holds(self, i: int) -> NDArray[np.bool_]:
        """Return which sets hold a candidate."""
        is_held: NDArray[np.bool_] = (self.masks[:, i // 64] >> np.uint64(i % 64) & np.uint64(1)).astype(np.bool_)
        return is_held

    def n_by_row(self) -> NDArray[np.int64]:
        """Count the sufficient sets of each row."""
        return np.asarray(self.offset[1:] - self.offset[:-1])

    @classmethod
    def joined(cls, parts: Sequence[FoundSets]) -> FoundSets:
        """Join the sets of several searches among the same candidates."""
        counts = np.concatenate([[0], *(part.n_by_row() for part in parts)])
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in ("masks", "sdps", *BY_ROW)
        }
        firsts = np.cumsum([0, *(len(part.offset) - 1 for part in parts)]).tolist()
        smaller = {
            first + row: S for first, part in zip(firsts, parts, strict=False) for row, S in part.smaller.items()
        }
        return cls(parts[0].candidates, np.cumsum(counts).astype(np.int64), **arrays, smaller=smaller)

    def in_order(self, order: NDArray[np.intp]) -> FoundSets:
        """Put the rows into another order."""
        counts = self.n_by_row()[order]
        offset = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        of_sets = np.repeat(self.offset[:-1][order] - offset[:-1], counts) + np.arange(offset[-1])
        by_row = {name: getattr(self, name)[order] for name in BY_ROW}
        smaller = {i: self.smaller[row] for i, row in enumerate(order.tolist()) if row in self.smaller}
        return FoundSets(self.candidates, offset, self.masks[of_sets], self.sdps[of_sets], **by_row, smaller=smaller)

    def by_row(self) -> list[tuple[int, VariableSet]]:
        """List the sufficient sets with their rows."""
        rows = np.repeat(np.arange(len(self.offset) - 1), self.n_by_row()).tolist()
        return [(row, self.members(mask)) for row, mask in zip(rows, self.masks, strict=True)]

    def best_by_row(self) -> list[tuple[int, VariableSet]]:
        """List the best sets of the rows that have a sufficient one, with their rows."""
        return [(row, self.members(self.best_masks[row])) for row in np.flatnonzero(self.n_by_row()).tolist()]
