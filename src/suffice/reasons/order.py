"""What is lost without each variable of a set, and the order of reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suffice.explaining.best_set import N_DIGITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Outcomes
    from suffice.explaining.found_sets import FoundSets


def losses_of_sets(
    fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets
) -> list[dict[int, float]]:
    """Compute what is lost without each variable of the best sufficient set of each row."""
    has_set = (sets.n_by_row() > 0).tolist()
    members = [sets.members(best) if has else () for best, has in zip(sets.best_masks, has_set, strict=True)]
    rows = np.array([row for row, S in enumerate(members) for _ in S], dtype=np.intp)
    smaller = [tuple(other for other in S if other != variable) for S in members for variable in S]
    without = iter(fitted.projected.sdp(X[rows], smaller, outcomes.take(rows), fitted.settings.n_threads).tolist())
    return [{v: sdp - next(without) for v in S} for S, sdp in zip(members, sets.best_sdps.tolist(), strict=True)]


def rank_by_loss(losses: Mapping[str, float], shares: Mapping[str, float]) -> list[str]:
    """Put the variables of a set in the order in which they are reasons."""

    def order(name: str) -> tuple[float, float, str]:
        return -round(losses[name], N_DIGITS), -round(shares.get(name, 0.0), N_DIGITS), name

    return sorted((name for name, loss in losses.items() if round(loss, N_DIGITS) > 0), key=order)
