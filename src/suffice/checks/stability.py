"""Whether best sets return when the forest is grown again, with other seeds and on halves of the rows."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from suffice._forest.asked_rows import AskedRows
from suffice._forest.fitted import Fitted
from suffice._forest.progress import report_steps
from suffice._table.input import check_number
from suffice.checks.refits import best_sets, check_refits, count_recurrence, draw_refits, for_halves
from suffice.explaining.stability import SetStability


def measure_stability(
    state: Fitted,
    rows: AskedRows,
    n_forests: tuple[int, int],
    random_state: Any,
    progress: bool | Callable[[int], object] | None,
) -> SetStability:
    """Grow the forest again, with other seeds and on halves of the rows, and count how often best sets return."""
    for name, number in zip(("n_seeds", "n_resamples"), n_forests, strict=True):
        check_number(name, number, "a whole number >= 0", lambda v: v >= 0, Integral)
    if sum(n_forests) == 0:
        raise ValueError("`n_seeds` and `n_resamples` are both 0: there is no forest to compare with.")
    check_refits(state)
    outcomes = rows.outcomes(state)
    sets = best_sets(state, rows.matrix, outcomes)
    names = state.variables.names
    draws = draw_refits(*n_forests, len(state.forest.X), np.random.default_rng(random_state))
    counts = []
    with report_steps(sum(n_forests), progress, "growing forests", "forest") as step:
        for grown, draws_of_kind in zip((state, for_halves(state)), draws, strict=True):
            counts.append(count_recurrence(grown, rows.matrix, outcomes, sets, draws_of_kind, step))
    return SetStability(
        candidates=state.candidate_names,
        best_sets=tuple(tuple(names[v] for v in sets.members(mask)) for mask in sets.best_masks),
        is_sufficient=sets.n_by_row() > 0,
        seeds=counts[0],
        resamples=counts[1],
        library=rows.library,
    )
