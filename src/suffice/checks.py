"""``CheckedForest``: whether explanations come about without any signal, return, and hold on fresh rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from suffice._engine.progress import report_steps
from suffice._engine.proportions import Adjustment
from suffice._engine.refits import (
    best_sets,
    check_refits,
    count_recurrence,
    draw_refits,
    for_halves,
    share_with_sets,
    shuffle_outcomes,
)
from suffice._table.checks import as_finite, check_number, read_outcomes
from suffice.certification import CertifiedRules, FreshRows, certify_rules, rows_set_aside
from suffice.conditional import ConditionalForest
from suffice.quality import (
    N_EXPLAINED,
    Quality,
    level_of_sets,
    quality_of_model,
    quality_of_rows,
    quality_out_of_bag,
    share_by_class,
)
from suffice.set_stability import SetStability
from suffice.signal_check import SignalCheck


class CheckedForest(ConditionalForest):
    """Checks of an explainer: by forests that are grown again, and by fresh rows. `SufficientExplainer` is one."""

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
        share, empty_share = share_with_sets(state, rows)
        check = SignalCheck(len(rows), share, share_with_sets(shuffled, rows)[0], empty_share, state.counts)
        check.warn_if_near()
        return check

    def quality(self, X: Any = None, y: Any = None, *, n_explained: int = N_EXPLAINED) -> Quality:
        """Measure how well the forest predicts, and for how many rows of each class a sufficient set exists.

        After `for_model`, the forest is compared with the model's outputs; if observed outcomes are passed, `model` of
        the result compares the model's outputs with them.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns), default=None
            Rows that the forest was not fitted on. None takes the training rows, each predicted by the trees that did
            not draw it.
        y : array-like of shape (n_rows,), default=None
            The observed outcomes of `X`; needed unless a model is explained.
        n_explained : int, default=200
            How many rows are searched for sufficient sets: as many of each class, drawn with a fixed seed. 0 searches
            none.

        Returns
        -------
        Quality
            The confusion matrix with recall and precision, or R2 and the mean absolute error, and the share of rows
            with a sufficient set.
        """
        check_number("n_explained", n_explained, "a whole number >= 0", lambda v: v >= 0, Integral)
        state = self._state()
        if X is None:
            if y is not None:
                raise ValueError("`y` was passed without `X`: pass the rows as well.")
            matrix, outcomes = state.training
            explained = outcomes if state.model_name is not None else state.predict(matrix)
            sets = share_by_class(state, matrix, state.outcomes(matrix, explained), n_explained)
            return quality_out_of_bag(state, sets, level_of_sets(state))
        if y is None and not hasattr(self, "model_"):
            raise ValueError("`y` is needed: predictions are compared with the observed outcomes of `X`.")
        matrix = self.encode(X)
        if not hasattr(self, "model_"):
            observed = state.outcomes(matrix, read_outcomes(y, len(matrix))).values  # refuses unknown labels
            return quality_of_rows(state, matrix, observed, state.outcomes(matrix, state.predict(matrix)), n_explained)
        outputs = state.outcomes(matrix, self._outcome_values(X, matrix, None))
        agreement = quality_of_rows(state, matrix, outputs.values, outputs, n_explained)
        if y is None:
            return agreement
        observed = read_outcomes(y, len(matrix))
        if self.probability_of_ is not None:  # a probability is compared with whether the class was observed
            observed = (observed == self.probability_of_).astype(np.float64)
        elif state.classes is None:
            observed = as_finite(observed)
        return replace(agreement, model=quality_of_model(state, outputs.values, observed))

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
        table = self._read_rows(X)
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

    def certify(
        self,
        what: Any,
        X: Any = None,
        y: Any = None,
        *,
        confidence: float = 0.95,
        level: float | None = None,
        adjust: Adjustment | None = "benjamini-hochberg",
    ) -> CertifiedRules:
        """Check rules on rows that nobody has used before, and certify those that hold.

        Each distinct rule (the same conditions, and the same class or interval) is tested once. A rule is right at a
        row that it covers if the row has the class, or if its number lies in the interval.

        Parameters
        ----------
        what : Rule, iterable of Rule or None, Explanation, Explanations, or fitted list of global rules
            The rules.
        X : array-like or frame of shape (n_rows, n_columns), default=None
            Rows that had no part in fitting, in choosing settings or in choosing the rules. None takes the rows that
            `fit` has set aside by `holdout`.
        y : array-like of shape (n_rows,), default=None
            Their outcomes. After `for_model`, None asks the model.
        confidence : float, default=0.95
            The confidence of the lower bounds and of the tests, in (0, 1).
        level : float, default=None
            The precision that is to be certified, in (0, 1]; None takes `pi`, or the level of the rule's class.
        adjust : {"benjamini-hochberg", "holm"} or None, default="benjamini-hochberg"
            How the tests are adjusted for the number of rules. With "benjamini-hochberg", at most a share of
            ``1 - confidence`` of the certified rules is expected to be below the level; with "holm", the probability
            that any of them is, is at most ``1 - confidence``. None tests each rule as if it were the only one. Lower
            bounds are those of each rule alone.

        Returns
        -------
        CertifiedRules
            The distinct rules with their certificates, and in `attached` what was passed with these certificates.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).normal(size=(600, 3))
        >>> explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0, holdout=0.4)
        >>> explainer.certify(explainer.explain(X[:5])).certified[0].certificate.is_certified
        True
        """
        state = self._state()
        return certify_rules(
            what,
            self._fresh_rows(X, y),
            level=state.level_of_rules() if level is None else level,
            confidence=confidence,
            adjustment=adjust,
        )

    def _fresh_rows(self, X: Any, y: Any) -> FreshRows:
        """Read rows to check rules on, or take those that were set aside."""
        state = self.fitted_
        if X is None:
            if y is not None:
                raise ValueError("`y` was passed without `X`: pass the rows as well.")
            return rows_set_aside(state)
        table = self._read_rows(X)
        matrix = state.encode(table)  # refuses what `explain` would refuse
        if y is None and not hasattr(self, "model_"):
            raise ValueError(
                "`y` is needed: rules are checked against the outcomes of the rows. Only an explainer made by "
                "`for_model` asks its model for them, and a saved file does not hold the model."
            )
        outcomes = self._outcome_values(X, matrix, y)
        if state.classes is None:
            outcomes = as_finite(outcomes)
        elif len(outcomes) and not np.isin(outcomes, state.classes).any():
            raise ValueError(
                f"`y` holds none of the classes {state.classes.tolist()}, but {outcomes.tolist()[0]!r}, for example."
            )
        return FreshRows(table, outcomes, False)
