"""``CheckedForest``: whether explanations would come about without any signal, and whether they return."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from suffice._engine.progress import report_steps
from suffice._engine.refits import (
    best_sets,
    check_refits,
    count_recurrence,
    draw_refits,
    for_halves,
    share_with_sets,
    shuffle_outcomes,
)
from suffice._table.checks import check_number, read_input
from suffice.conditional import ConditionalForest
from suffice.set_stability import SetStability
from suffice.signal_check import SignalCheck


class CheckedForest(ConditionalForest):
    """Checks of an explainer that grow its forest again. `SufficientExplainer` is one."""

    def check_signal(self, *, n_rows: int = 200, random_state: Any = None) -> SignalCheck:
        """Compare the share of rows that get a sufficient set with the share if the outcomes were shuffled.

        It costs as much as fitting the forest once more and explaining ``2 * n_rows`` rows. If the two shares are near,
        it warns. (`fit` itself makes a check that costs nothing: if the forest is no better than a constant prediction
        on rows out of bag, no set of variables is called sufficient.)

        Parameters
        ----------
        n_rows : int, default=200
            How many training rows are explained, drawn at random.
        random_state : int, Generator or None, default=None
            The seed of the rows and of the shuffled outcomes.

        Returns
        -------
        SignalCheck
            The two shares.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0)
        >>> explainer.check_signal(random_state=0).shuffled_share
        0.0
        """
        check_number("n_rows", n_rows, "a whole number >= 1", lambda v: v >= 1, Integral)
        state = self._state()
        check_refits(state)
        rng = np.random.default_rng(random_state)
        n_training = len(state.forest.X)
        rows = np.sort(rng.choice(n_training, min(n_rows, n_training), replace=False))
        shuffled = shuffle_outcomes(state, rng)
        check = SignalCheck(len(rows), share_with_sets(state, rows), share_with_sets(shuffled, rows))
        check.warn_if_near()
        return check

    def stability(
        self,
        X: Any,
        y: Any = None,
        *,
        n_seeds: int = 20,
        n_resamples: int = 20,
        random_state: Any = None,
        progress: bool | Callable[[int], object] | None = None,
    ) -> SetStability:
        """Grow the forest again, and count how often the best sets of rows return.

        The forest is grown again on all training rows with other seeds, and on halves of the training rows that are
        drawn at random; there leaves and cells of more than 5 rows are half as large, but not smaller than 5. All else
        stays the same: the parameters of the forest, the candidates, the outcomes of the rows and their intervals.
        It takes ``n_seeds + n_resamples`` times as long as to fit the forest and explain the rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), default=None
            Their outcomes; None for the predictions of the model that is explained, or of the forest itself.
        n_seeds : int, default=20
            How many forests are grown on all training rows.
        n_resamples : int, default=20
            How many forests are grown on half of the training rows.
        random_state : int, Generator or None, default=None
            The seed of the seeds and of the halves.
        progress : bool or callable, default=None
            Whether to show a progress bar; None shows one on a terminal or in a notebook if it takes over a second. A
            function is called with the number of forests that are done, and ends the work if it raises an error.

        Returns
        -------
        SetStability
            The counts for each row. ``explain(X).with_stability(...)`` adds them to the explanations.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0)
        >>> print(explainer.stability([[0.0, 1.0, 0.0]], n_seeds=5, n_resamples=5, random_state=0))
        The same best set in 5 of 5 other forests and in 5 of 5 resampled tables. Some set is sufficient in 5 of 5
        other forests and in 5 of 5 resampled tables.
        """
        for name, number in (("n_seeds", n_seeds), ("n_resamples", n_resamples)):
            check_number(name, number, "a whole number >= 0", lambda v: v >= 0, Integral)
        if n_seeds + n_resamples == 0:
            raise ValueError("`n_seeds` and `n_resamples` are both 0: there is no forest to compare with.")
        state = self._state()
        check_refits(state)
        table = read_input(self, X, extra_columns=state.settings.extra_columns)
        matrix = state.encode(table)
        outcomes = state.outcomes(matrix, self._outcome_values(X, matrix, y))
        sets = best_sets(state, matrix, outcomes)
        names = state.variables.names
        draws = draw_refits(n_seeds, n_resamples, len(state.forest.X), np.random.default_rng(random_state))
        counts = []
        with report_steps(n_seeds + n_resamples, progress, "growing forests", "forest") as step:
            for grown, draws_of_kind in zip((state, for_halves(state)), draws, strict=True):
                counts.append(count_recurrence(grown, matrix, outcomes, sets, draws_of_kind, step))
        return SetStability(
            candidates=state.candidate_names,
            best_sets=tuple(tuple(names[v] for v in sets.members(mask)) for mask in sets.best_masks),
            is_sufficient=sets.n_by_row() > 0,
            seeds=counts[0],
            resamples=counts[1],
            library=table.library,
        )
