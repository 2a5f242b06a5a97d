"""What was found about some rows, as arrays: the storage behind ``Explanations``, which gives it names and texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice._forest.outcomes import Outcomes
from suffice.explaining.found_sets import FoundSets

if TYPE_CHECKING:
    from suffice._forest.asked_rows import OutcomeSource
    from suffice.explaining.rule import Rule


class Answers(NamedTuple):
    """What was found about some rows, as arrays."""

    X: NDArray[np.float32]
    outcomes: Outcomes
    predictions: NDArray[Any]
    sets: FoundSets
    rules: Sequence[tuple[Rule, ...]]
    sdps_of_all: NDArray[np.float64]
    source: OutcomeSource = "given"
    ids: tuple[str, ...] | None = None
    positions: NDArray[np.intp] | None = None
    rules_searched: bool = False

    @property
    def row_positions(self) -> NDArray[np.intp]:
        """The position of each row in the table that was explained."""
        return np.arange(len(self.outcomes)) if self.positions is None else self.positions

    def take(self, rows: NDArray[np.intp]) -> Answers:
        """Return what was found about some of the rows."""
        return Answers(
            X=self.X[rows],
            outcomes=self.outcomes.take(rows),
            predictions=self.predictions[rows],
            sets=self.sets.in_order(rows),
            rules=[self.rules[row] for row in rows],
            sdps_of_all=self.sdps_of_all[rows],
            source=self.source,
            ids=None if self.ids is None else tuple(self.ids[row] for row in rows),
            positions=self.row_positions[rows],
            rules_searched=self.rules_searched,
        )

    @classmethod
    def joined(cls, parts: Sequence[Answers]) -> Answers:
        """Join the answers about several parts of a table."""
        ids = [part.ids for part in parts if part.ids is not None]
        sources = {part.source for part in parts}
        return cls(
            X=np.concatenate([part.X for part in parts]),
            outcomes=Outcomes.joined([part.outcomes for part in parts]),
            predictions=np.concatenate([part.predictions for part in parts]),
            sets=FoundSets.joined([part.sets for part in parts]),
            rules=[rules for part in parts for rules in part.rules],
            sdps_of_all=np.concatenate([part.sdps_of_all for part in parts]),
            source=parts[0].source if len(sources) == 1 else "given",
            ids=tuple(row_id for part in ids for row_id in part) if len(ids) == len(parts) else None,
            rules_searched=all(part.rules_searched for part in parts),
        )
