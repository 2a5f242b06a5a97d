"""``ChangeableForest``: what would change the outcomes of rows, and of all rows of a region."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice._engine.change_limits import read_limits, region_of_rows
from suffice._engine.change_search import (
    MARGIN,
    MAX_SIZE,
    MIN_PLAUSIBILITY,
    ChangeOptions,
    FoundChanges,
    find_changes,
)
from suffice._engine.ends import Bounds
from suffice._engine.fitted import Fitted
from suffice._engine.model_outputs import ask_model
from suffice._engine.progress import progress_bar, wants_bar
from suffice._engine.regions import regions_of
from suffice._engine.targets import Target, read_targets
from suffice._table.checks import read_outcomes
from suffice._table.row_ids import read_ids
from suffice.answers import OutcomeSource
from suffice.asked_changes import AskedModel
from suffice.change_making import ChangeMaker
from suffice.changes_of_rows import Changes
from suffice.checks import CheckedForest
from suffice.regional_changes import (
    RegionalBox,
    RegionalChanges,
    RowsToMove,
    make_regional,
    read_rules,
    search_regions,
)
from suffice.words import counted, to_plain

# With costs, the cheapest of so many changes are returned.
N_RANKED = 30
# The probability of the target that a change must reach. docs/what-if.md has figures for this level and others.
LEVEL = 0.8
# Boxes of a rule, of which the one that changes the prediction for most of its rows is returned.
N_OF_RULE = 10


class ChangeableForest(CheckedForest):
    """What would change outcomes. `SufficientExplainer` is one."""

    def what_if(
        self,
        X: Any,
        target: Any = None,
        y: Any = None,
        *,
        fixed: Sequence[str | int] = (),
        only: Sequence[str | int] | None = None,
        direction: Mapping[str, Literal["up", "down"]] | None = None,
        bounds: Mapping[str, Any] | None = None,
        cost: Mapping[str, float] | None = None,
        n: int = 3,
        pi: float | None = None,
        min_plausibility: float = MIN_PLAUSIBILITY,
        max_size: int = MAX_SIZE,
        min_size: int = 1,
        margin: float = MARGIN,
        check: Literal["everywhere", "mean"] = "everywhere",
        sets: Literal["minimal", "all"] = "minimal",
        ids: Any = None,
        confirm: bool = True,
        progress: bool | None = None,
    ) -> Changes:
        """Find what would change the outcome of each row: the fewest variables, and the values that they would need.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows. One row may also be a dict of values, or a pandas Series.
        target : object, default=None
            The wanted outcomes. Classification: a class, a list of classes, ``{"not": label}``, or None for any class
            but that of the row. Regression: ``(low, high)``, ``{"above": v}``, ``{"below": v}``, ``{"more": d}`` or
            ``{"less": d}``; ends are included, and the last two count from the outcome of the row.
        y : array-like of shape (n_rows,), default=None
            The present outcomes; None for the predictions of the model that is explained, or of the forest itself.
        fixed : list of str or int, default=()
            Variables that must not change.
        only : list of str or int, default=None
            The variables that may change; None for all that are not fixed.
        direction : dict of str to {"up", "down"}, default=None
            Numbers that may only grow, or only shrink; categories with an order of their own (an ordered Categorical
            of pandas, an Enum of polars) that may only go up, or only down.
        bounds : dict of str to tuple or list, default=None
            ``(low, high)`` for numbers, either of which may be None; a list of allowed values for categories.
        cost : dict of str to float, default=None
            What it costs to move a variable past all training rows (default 1; for a category, to change it). If given,
            the changes of a row are ordered by their cost.
        n : int, default=3
            How many changes of a row are returned at most. They do not overlap.
        pi : float, default=None
            The probability of the target that a change must reach. None takes 0.8 or, with ``levels="odds"``, as much
            more than the share of the target among the training rows.
        min_plausibility : float, default=0.02
            How probable the values of a change must be at least, given what does not change.
        max_size : int, default=3
            How many variables may change at most.
        min_size : int, default=1
            How many variables are free to change at least, also where fewer would do. A change of more values can lead
            to a more usual row.
        margin : float, default=0.1
            How far inside its box the least change lies, so that it holds if it is not made exactly: in each number
            that moves, such a share of the training rows lies between it and the end of the box. It goes no farther
            than the middle of the rows in the box. 0 takes the end itself.
        check : {"everywhere", "mean"}, default="everywhere"
            "everywhere": the forest gives the target with probability `pi` at every point of the box. "mean": the rows
            in the box that are like the row in what does not change have it with probability `pi`.
        sets : {"minimal", "all"}, default="minimal"
            "minimal" stops at the smallest number of variables that has a change; "all" goes on to `max_size` until
            there are `n` changes.
        ids : str or array-like of shape (n_rows,), default=None
            What the rows are called: see `explain`.
        confirm : bool, default=True
            Whether the model that is explained, if there is one, is asked about every change. If it agrees with none
            of those of a row, or if there is none, it is asked about further boxes, which are cut to where it agrees.
        progress : bool, default=None
            Whether to show a progress bar: see `explain`.

        Returns
        -------
        Changes
            One answer for each row, in their order.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).uniform(size=(500, 3)).round(2)
        >>> explainer = SufficientExplainer(random_state=0).fit(X, np.where(X[:, 1] > 0.6, "good", "bad"))
        >>> print(explainer.what_if([[0.5, 0.25, 0.5]], "good")[0].best)
        x1 from 0.25 up to at least 0.606
        """
        check_is_fitted(self)
        state = self._state()
        settings = replace(state.settings, pi=LEVEL) if pi is None else replace(state.settings, pi=pi, levels="same")
        state = state.with_settings(settings)
        options = ChangeOptions(check, n, max_size, min_plausibility, sets, margin=margin, min_size=min_size)
        options = replace(options, n=N_RANKED if cost else n)
        limits = read_limits(state, fixed, only, direction, bounds)
        if min_size > len(limits.changeable):
            may = counted(len(limits.changeable), "variable")
            raise ValueError(f"`min_size` must be at most the number of variables that may change: {may}.")
        costs = _read_costs(state, cost)
        X, row_ids = read_ids(X, ids, state.encoding.names)
        matrix, library = self._encode(X)
        source: OutcomeSource = "given" if y is not None else "model" if hasattr(self, "model_") else "forest"
        outcomes = state.predict(matrix) if source == "forest" else self._outcome_values(X, matrix, y)
        outcomes = read_outcomes(outcomes, len(matrix))
        targets = read_targets(target, outcomes, state.classes)
        is_reached = np.array([bool(t.holds(outcomes[i : i + 1])[0]) for i, t in enumerate(targets)], dtype=bool)
        rows_to_change = np.flatnonzero(~is_reached)
        levels = _levels(state, targets)
        with progress_bar(len(rows_to_change), progress) if wants_bar(progress) else nullcontext() as report:
            found = find_changes(
                state,
                region_of_rows(matrix[rows_to_change]),
                limits.boxes(matrix[rows_to_change]),
                [targets[i] for i in rows_to_change],
                levels[rows_to_change],
                limits,
                options,
                report,
            )
        found_of = dict(zip(rows_to_change.tolist(), found, strict=True))
        makers = [
            ChangeMaker(state, matrix[i], targets[i], float(levels[i]), limits, costs, options)
            for i in range(len(matrix))
        ]
        answers = []
        for i, make in enumerate(makers):
            of_row = found_of.get(i, FoundChanges((), None, False, True))
            answers.append(
                replace(
                    make.answer(of_row, n, is_ranked=bool(cost)),
                    outcome=to_plain(outcomes[i]),
                    is_reached=bool(is_reached[i]),
                    source=source,
                    row=i,
                    id=None if row_ids is None else row_ids[i],
                )
            )
        if confirm and hasattr(self, "model_"):
            asked_model = AskedModel(state, RowsToMove(X, matrix, self._ask), targets, levels, limits, options, makers)
            answers = asked_model.search_again(asked_model.confirm(answers), n, progress, is_ranked=bool(cost))
        return Changes(answers, state, library, X)

    def what_if_rules(
        self,
        rules: Any,
        target: Any = None,
        *,
        fixed: Sequence[str | int] = (),
        only: Sequence[str | int] | None = None,
        bounds: Mapping[str, Any] | None = None,
        pi: float | None = None,
        min_plausibility: float = MIN_PLAUSIBILITY,
        max_size: int = 2,
        check: Literal["mean", "everywhere"] = "mean",
        X: Any = None,
        confirm: bool = True,
    ) -> RegionalChanges:
        """Find what would change the outcome of all rows that a rule covers: IF rule THEN outcome UNLESS change.

        Parameters
        ----------
        rules : Rule, dict, list of these, or fitted GlobalRulesClassifier or GlobalRulesRegressor
            The rules, such as ``[explanation.rule]``. A dict is a query over columns, such as
            ``{"age": (None, 30), "job": ["student"]}``; its outcome is the most frequent one there, or the mean.
        target : object, default=None
            The wanted outcomes, as for `what_if`; None takes any class but that of the rule.
        fixed, only, bounds : object
            What may change, and how far: see `what_if`.
        pi : float, default=None
            The probability of the target that a change must reach; None takes that of the explainer.
        min_plausibility : float, default=0.02
            How probable the values of a change must be at least, given what does not change.
        max_size : int, default=2
            How many variables may change at most.
        check : {"mean", "everywhere"}, default="mean"
            "mean": the rows in the box that are like those of the rule in what does not change have the target with
            probability `pi`; of several such boxes, one that changes the forest's prediction for most rows of the rule
            is chosen. "everywhere": the forest gives the target with probability `pi` at every point of the box,
            whatever the rule leaves open.
        X : array-like or frame of shape (n_rows, n_columns), default=None
            Rows that the model that is explained, if there is one, is asked about: up to 20 of each rule, each moved to
            the values of up to 20 training rows in the box. None takes the rows that `for_model` was given.
        confirm : bool, default=True
            Whether it is asked. Its answers, not those of the forest, then decide which box is chosen.

        Returns
        -------
        RegionalChanges
            The best change of each rule, in their order.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).uniform(size=(500, 3)).round(2)
        >>> explainer = SufficientExplainer(random_state=0).fit(X, np.where(X[:, 1] > 0.6, "good", "bad"))
        >>> rule = explainer.explain(X[:1]).rules[0]
        >>> explainer.what_if_rules([rule])[0].variables
        ('x1',)
        """
        check_is_fitted(self)
        state = self._state()
        if pi is not None:
            state = state.with_settings(replace(state.settings, pi=pi, levels="same"))
        options = ChangeOptions(check, 1 if check == "everywhere" else N_OF_RULE, max_size, min_plausibility)
        limits = read_limits(state, fixed, only, None, bounds)
        lines = read_rules(rules, state)
        targets = read_targets(target, np.array([outcome for _, outcome in lines]), state.classes)
        boxes = [[Bounds(**vars(condition)) for condition in conditions] for conditions, _ in lines]
        regions, levels = regions_of(state, boxes), _levels(state, targets)
        is_reached = [bool(t.holds(np.array([outcome]))[0]) for t, (_, outcome) in zip(targets, lines, strict=True)]
        found = [RegionalBox(None, exists=False, is_reached=True)] * len(lines)
        places = np.flatnonzero(~np.array(is_reached, dtype=bool))
        some = {name: values[places] for name, values in regions.items()}
        X = getattr(self, "model_rows_", None) if X is None else X
        movable = None
        if confirm and hasattr(self, "model_") and X is not None:
            movable = RowsToMove(X, self.encode(X), self._ask)
        wanted = [targets[i] for i in places]
        boxes_found = search_regions(state, some, wanted, levels[places], limits, options, movable)
        for i, box in zip(places.tolist(), boxes_found, strict=True):
            found[i] = box
        parts = zip(lines, targets, levels.tolist(), found, strict=True)
        return RegionalChanges([make_regional(state, *part, limits) for part in parts])

    def _ask(self, table: Any, n_rows: int) -> NDArray[Any]:
        return read_outcomes(ask_model(self.model_, table, n_rows, self.probability_of_), n_rows)


def _levels(state: Fitted, targets: list[Target]) -> NDArray[np.float64]:
    """Return the level of each target: pi or, with ``levels="odds"``, that of its share among the training rows."""
    pi = state.settings.pi
    if state.settings.levels == "same":
        return np.full(len(targets), pi)
    outcomes = state.training[1]
    share_of = {target: float(np.mean(target.holds(outcomes))) for target in set(targets)}
    gains = np.array([pi * share_of[target] for target in targets])
    others = np.array([(1 - pi) * (1 - share_of[target]) for target in targets])
    levels: NDArray[np.float64] = np.minimum(pi, gains / np.maximum(gains + others, 1e-300))
    return levels


def _read_costs(state: Fitted, cost: Mapping[str, float] | None) -> dict[int, float]:
    costs = {}
    for name, value in (cost or {}).items():
        try:
            variable = state.variables.position(name)
        except ValueError as error:
            raise ValueError(f"In `cost`: {error}") from None
        if not isinstance(value, int | float) or not value >= 0 or math.isinf(value):
            raise ValueError(f"`cost` of {name!r} must be a number >= 0, got {value!r}; fix what must not change.")
        costs[variable] = float(value)
    return costs
