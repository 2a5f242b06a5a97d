"""The explanations of many rows: arrays inside, and outside a sequence, frames, dictionaries and text."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from suffice._forest.asked_rows import AskedRows, OutcomeSource
from suffice._forest.fitted import Fitted
from suffice._forest.out_of_bag import sdps_of_all
from suffice._forest.outcomes import Outcomes
from suffice._forest.progress import progress_bar
from suffice._forest.projection import MAX_VARIABLES
from suffice._table.encoding import Column
from suffice._table.frames import make_frame
from suffice._table.table import Table
from suffice._text import counted, format_share, printed, to_plain
from suffice.errors import check_word
from suffice.explaining.best_set import bound_best, bound_set
from suffice.explaining.explanation import LEAST_OFFERED, Explanation, SufficientSet, is_contested
from suffice.explaining.found_sets import FoundSets
from suffice.explaining.importance import SetsKind, check_sets, importance_of_rows, rank_means
from suffice.explaining.rule import Rule
from suffice.explaining.search import ExplainOptions, find_rules, find_sufficient_sets
from suffice.explaining.sentences import CONTESTED, N_LISTED, NO_SIGNAL
from suffice.explaining.stability import SetStability


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
        return self._replace(
            X=self.X[rows],
            outcomes=self.outcomes.take(rows),
            predictions=self.predictions[rows],
            sets=self.sets.in_order(rows),
            rules=[self.rules[row] for row in rows],
            sdps_of_all=self.sdps_of_all[rows],
            ids=None if self.ids is None else tuple(self.ids[row] for row in rows),
            positions=self.row_positions[rows],
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


N_FOR_IMPORTANCE = 1000  # training rows: a few seconds at most

RowChoice: TypeAlias = slice | Sequence[int] | NDArray[Any]
"""Chosen rows: a slice, places, or a mask of booleans."""


class Explanations(Sequence[Explanation]):
    """The explanations of some rows, in their order.

    Made by ``SufficientExplainer.explain``. It holds arrays; an `Explanation` is made when it is needed. A slice, a
    list of places or a mask of booleans selects rows, such as ``explanations[:3]`` or
    ``explanations[~explanations.has_set]``, and gives `Explanations` again.

    Parameters
    ----------
    answers : Answers
        What was found.
    fitted : Fitted
        The fitted state of the explainer that found it.
    sets : {"all", "minimal"}
        Which sets were searched.
    library : str or None
        The kind of the table, and of the frames that are made of the explanations.
    stability : SetStability or None, default=None
        How often the best sets return when the forest is grown again: see `with_stability`.
    """

    def __init__(
        self,
        answers: Answers,
        fitted: Fitted,
        sets: SetsKind,
        library: str | None,
        stability: SetStability | None = None,
    ) -> None:
        self.answers = answers
        self.fitted = fitted
        self.sets = sets
        self.library = library
        self.stability = stability
        self._known_bounds: dict[int, float] = {}  # by row; see `lower_bounds`

    def with_stability(self, stability: SetStability) -> Explanations:
        """Return the same explanations with the stability of their best sets, which text, JSON and cards then state.

        Parameters
        ----------
        stability : SetStability
            What ``explainer.stability`` returned for the same rows and outcomes.

        Returns
        -------
        Explanations
            A copy.
        """
        if stability.best_sets != self._best_variables:
            raise ValueError(
                f"`stability` is about {len(stability)} rows with other best sets than these {len(self)} explanations: "
                "measure it with the same explainer, rows and outcomes."
            )
        return Explanations(self.answers, self.fitted, self.sets, self.library, stability)

    def with_answers(self, answers: Answers) -> Explanations:
        """Return explanations by the same explainer with other answers, without stability.

        Parameters
        ----------
        answers : Answers
            What was found.

        Returns
        -------
        Explanations
            A copy.
        """
        return Explanations(answers, self.fitted, self.sets, self.library)

    def with_ids(self, ids: Sequence[str] | None, positions: Sequence[int] | None = None) -> Explanations:
        """Return the same explanations with other identifiers of their rows.

        Parameters
        ----------
        ids : sequence of str or None
            The identifier of each row; None for none.
        positions : sequence of int, default=None
            The positions of the rows in the user's table; None keeps them.

        Returns
        -------
        Explanations
            A copy.
        """
        answers = self.answers._replace(ids=None if ids is None else tuple(ids))
        if positions is not None:
            answers = answers._replace(positions=np.asarray(positions, dtype=np.intp))
        return Explanations(answers, self.fitted, self.sets, self.library, self.stability)

    @classmethod
    def joined(cls, parts: Sequence[Explanations]) -> Explanations:
        """Join explanations by the same explainer.

        Parameters
        ----------
        parts : sequence of Explanations
            The explanations, in the order of the rows; at least one.

        Returns
        -------
        Explanations
            All of them, without their stability. Rows keep their identifiers, and are counted from 0.
        """
        return parts[0].with_answers(Answers.joined([part.answers for part in parts]))

    @property
    def pi(self) -> float:
        """The probability that a sufficient set must reach."""
        return self.fitted.settings.pi

    @cached_property
    def about(self) -> dict[str, Any]:
        """What was explained by what: the task, the target, the forest and its fidelity, settings and versions."""
        return self.fitted.describe()

    @property
    def training(self) -> tuple[Table, NDArray[Any]]:
        """The training table of the explainer and its outcomes. One category stands for all rare ones of a column."""
        return self.fitted.training_table

    @property
    def explained(self) -> tuple[Table, NDArray[Any]]:
        """The explained rows as a table, and their outcomes. One category stands for all rare ones of a column."""
        return self.fitted.encoding.decode(self.answers.X), self.outcomes

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the training table as the forest sees them: their kinds, categories and ranges."""
        return self.fitted.encoding.columns

    @property
    def variable_names(self) -> tuple[str, ...]:
        """The variables of the table."""
        return self.fitted.variables.names

    @property
    def candidates(self) -> tuple[str, ...]:
        """The variables among which the sets were searched."""
        return tuple(self.variable_names[v] for v in self.answers.sets.candidates)

    @property
    def ids(self) -> tuple[str, ...] | None:
        """The identifier of each row as text: the index of a pandas frame, or what `ids` named; None without any."""
        return self.answers.ids

    @property
    def positions(self) -> NDArray[np.intp]:
        """The position of each row in the table that was explained, from 0."""
        return self.answers.row_positions

    @property
    def outcomes(self) -> NDArray[Any]:
        """The outcome of each row: a class label or a number."""
        return self.answers.outcomes.values

    @property
    def intervals(self) -> NDArray[np.float64] | None:
        """The closed interval of each row's outcome, of shape (n_rows, 2); None for classes."""
        return self.answers.outcomes.intervals

    @property
    def predictions(self) -> NDArray[Any]:
        """What the forest predicts for each row."""
        return self.answers.predictions

    @property
    def forest_agrees(self) -> NDArray[np.bool_]:
        """Whether the forest predicts each row's class, or a number in its interval."""
        intervals = self.intervals
        if intervals is None:
            return np.asarray(self.predictions == self.outcomes)
        low, high = intervals.T
        is_within = (low <= self.predictions) & (self.predictions <= high)
        return np.asarray(is_within & (low <= self.outcomes) & (self.outcomes <= high))

    @property
    def n_sets(self) -> NDArray[np.int64]:
        """The number of sufficient sets of each row."""
        return self.answers.sets.n_by_row()

    @property
    def has_set(self) -> NDArray[np.bool_]:
        """Whether each row has a sufficient set."""
        return self.n_sets > 0

    @property
    def best_sets(self) -> tuple[SufficientSet, ...]:
        """The best set of each row: one of its smallest sufficient sets or, if there is none, the set with the most."""
        figures = self._best_variables, self.answers.sets.best_sdps.tolist(), self.lower_bounds.tolist()
        return tuple(SufficientSet(*of_row) for of_row in zip(*figures, strict=True))

    @property
    def _best_variables(self) -> tuple[tuple[str, ...], ...]:
        best_masks = self.answers.sets.best_masks
        masks = [mask.tobytes() for mask in best_masks]
        example = dict(zip(masks, best_masks, strict=True))  # a few sets are the best ones of many rows
        variables = {mask: self._named(example[mask], 0.0).variables for mask in example}
        return tuple(variables[mask] for mask in masks)

    @property
    def sdps_of_all(self) -> NDArray[np.float64]:
        """The row's own probability of its outcome: that given all variables."""
        return self.answers.sdps_of_all

    @property
    def is_contested(self) -> NDArray[np.bool_]:
        """Whether each row has a sufficient set that promises far more than the row's own probability."""
        sets = self.answers.sets
        return self.has_set & is_contested(sets.best_sdps, self.sdps_of_all, self.fitted.model_name)

    @cached_property
    def lower_bounds(self) -> NDArray[np.float64]:
        """A lower bound of the SDP of each row's best set, at 95 % confidence or the explainer's `confidence`."""
        return bound_best(self.fitted, self.answers.X, self.answers.sets, np.arange(len(self)))

    def _lower_bound(self, i: int) -> float:
        """Return the lower bound of one row, without those of all others."""
        # Weights given one of more candidates need a projection of their own, better one for all rows.
        if "lower_bounds" in vars(self) or len(self.candidates) > MAX_VARIABLES:
            return float(self.lower_bounds[i])
        if i not in self._known_bounds:
            [bound] = bound_best(self.fitted, self.answers.X, self.answers.sets, np.array([i])).tolist()
            self._known_bounds[i] = bound
        return self._known_bounds[i]

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """The probability that a sufficient set of each row must reach: `pi`, or the level of its class."""
        return self.fitted.levels(self.answers.outcomes)

    @cached_property
    def base_rates(self) -> NDArray[np.float64]:
        """The share of all training rows that have the outcome of each row."""
        return self.fitted.base_rates(self.answers.outcomes)

    @property
    def lifts(self) -> NDArray[np.float64]:
        """How many times as likely as on average each outcome is, given the row's best set; NaN if never seen."""
        lifts = np.full(len(self), np.nan)
        np.divide(self.answers.sets.best_sdps, self.base_rates, out=lifts, where=self.base_rates > 0)
        return lifts

    @property
    def level_text(self) -> str:
        """What a sufficient set must reach, as part of a sentence."""
        return self.fitted.level_text

    @property
    def rules(self) -> tuple[Rule | None, ...]:
        """The rule of each row: that of its best set, or None."""
        return tuple(rules[0] if rules else None for rules in self.answers.rules)

    @property
    def is_checked(self) -> bool:
        """Whether rules have certificates: rows were set aside at fit, or the rules have been certified."""
        return self.fitted.set_aside is not None or any(
            rule.certificate is not None for rules in self.answers.rules for rule in rules
        )

    @property
    def is_search_complete(self) -> tuple[bool, ...]:
        """For each row, whether its search went through all sets and did not end at `max_sets`."""
        return tuple(self.answers.sets.is_complete.tolist())

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.outcomes)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: RowChoice) -> Explanations: ...
    def __getitem__(self, index: int | RowChoice) -> Explanation | Explanations:
        """Return the explanation of a row, or those of several: by a slice, a list of places or a mask of booleans."""
        if not isinstance(index, slice | Sequence | np.ndarray):
            index = operator.index(index)
            i = index + len(self) if index < 0 else index
            if not 0 <= i < len(self):
                raise IndexError(f"There are {len(self)} explanations; there is no number {index}.")
            return self._explanation(i)
        if not isinstance(index, slice):
            index = np.asarray(index, dtype=None if len(index) else np.intp)
            if index.ndim != 1:
                raise TypeError(f"Choose explanations by places or by a mask of booleans, got {index!r}.")
        rows = np.arange(len(self))[index]
        stability = None if self.stability is None else self.stability.take(rows)
        return Explanations(self.answers.take(rows), self.fitted, self.sets, self.library, stability)

    def __iter__(self) -> Iterator[Explanation]:
        """Yield the explanations in the order of the rows."""
        _ = self.lower_bounds  # of all rows at once
        return (self._explanation(i) for i in range(len(self)))

    def _explanation(self, i: int) -> Explanation:
        found_sets, intervals, variables = self.answers.sets, self.intervals, self.fitted.variables
        offered = float(found_sets.offered[i])
        row = [
            (column.name, column.decode(value))
            for column, value in zip(self.columns, self.answers.X[i].tolist(), strict=True)
        ]
        best_set = self._named(found_sets.best_masks[i], float(found_sets.best_sdps[i]), self._lower_bound(i))
        others = [
            self._named(found_sets.masks[j], float(found_sets.sdps[j]))
            for j in range(found_sets.offset[i] + 1, found_sets.offset[i + 1])
        ]
        return Explanation(
            outcome=to_plain(self.outcomes[i]),
            interval=None if intervals is None else (float(intervals[i, 0]), float(intervals[i, 1])),
            pi=float(self.levels[i]),
            sufficient_sets=(best_set, *others) if found_sets.offset[i] < found_sets.offset[i + 1] else (),
            best_set=best_set,
            values=tuple(
                (name, tuple(row[c] for c in columns))
                for name, columns in zip(variables.names, variables.columns, strict=True)
            ),
            rules=self.answers.rules[i],
            prediction=to_plain(self.predictions[i]),
            is_search_complete=bool(found_sets.is_complete[i]),
            sdp_of_all=float(self.answers.sdps_of_all[i]),
            base_rate=float(self.base_rates[i]),
            stability=None if self.stability is None else self.stability[i],
            levels="same" if intervals is not None else self.fitted.settings.levels,
            confidence=self.fitted.settings.confidence,
            has_signal=self.fitted.has_signal,
            columns=self.columns,
            is_whole=self.fitted.has_whole_outcomes,
            row=int(self.positions[i]),
            id=None if self.ids is None else self.ids[i],
            smaller_set=self._smaller_set(i),
            offered_pi=offered if offered >= LEAST_OFFERED else None,
            target=self.fitted.target,
            source=self.answers.source,
            model=self.fitted.model_name,
            rules_searched=self.answers.rules_searched,
            origin=(self, i),
        )

    def _smaller_set(self, i: int) -> SufficientSet | None:
        smaller = self.answers.sets.smaller.get(i)
        if smaller is None:
            return None
        lower = bound_set(self.fitted, self.answers.X[i], smaller)
        return SufficientSet(tuple(self.variable_names[v] for v in smaller.variables), smaller.sdp, lower)

    def _named(self, mask: NDArray[np.uint64], sdp: float, lower: float | None = None) -> SufficientSet:
        names = self.variable_names
        return SufficientSet(tuple([names[v] for v in self.answers.sets.members(mask)]), sdp, lower)

    def mean_importance(self, sets: SetsKind = "minimal") -> dict[str, float]:
        """Average the importance of the variables over the rows that have a sufficient set.

        Parameters
        ----------
        sets : {"minimal", "all"}, default="minimal"
            Which sufficient sets count: those of the smallest size, or all that were searched.

        Returns
        -------
        dict of str to float
            For each variable of the table its mean importance; 0 for all if no row has a sufficient set.
        """
        importance = self.importance_matrix(sets)
        has_set = self.has_set
        mean = importance[has_set].mean(axis=0) if has_set.any() else np.zeros(importance.shape[1])
        return dict(zip(self.variable_names, mean.tolist(), strict=True))

    def ranked_importance(self, sets: SetsKind = "minimal") -> list[tuple[str, float]]:
        """Rank the variables by their mean importance, in the order that all texts, reports and plots use.

        Parameters
        ----------
        sets : {"minimal", "all"}, default="minimal"
            Which sufficient sets count: those of the smallest size, or all that were searched.

        Returns
        -------
        list of (str, float)
            The variables of any importance, the most important first; equal ones in the order of the table.
        """
        return rank_means(self.variable_names, np.array(list(self.mean_importance(sets).values())))

    def importance_matrix(self, sets: SetsKind = "minimal") -> NDArray[np.float64]:
        """Compute the importance of all variables for each row.

        Parameters
        ----------
        sets : {"minimal", "all"}, default="minimal"
            Which sufficient sets count: those of the smallest size, or all that were searched.

        Returns
        -------
        ndarray of shape (n_rows, n_variables)
            The importance; 0 for all variables where a row has no sufficient set.
        """
        check_sets(sets)
        if sets == "all" and self.sets != "all":
            raise ValueError("Only the smallest sufficient sets were searched: explain the rows with sets='all' first.")
        return importance_of_rows(self.answers.sets, len(self.variable_names), sets)

    def to_frame(self, of: Literal["sets", "rows", "importance"] = "sets") -> Any:
        """Return the explanations as a frame of the same kind as the table; for an array, as a pandas frame.

        Parameters
        ----------
        of : {"sets", "rows", "importance"}, default="sets"
            "sets": one line for each set, with the row it belongs to; a row without a sufficient set has one line
            with its best set; `sdp_lower` is NaN for all sets but the best one of a row. "rows": one line for each row
            with its best set and its rule, as the command ``suffice explain`` writes them, and with the verdict of its
            `proof` if rules have been proven. "importance": one line for
            each row, one column for each variable, with the LXI. If the rows have identifiers, "sets" and "rows" have
            a column `id`; `row` is the position in the table that was explained.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The frame.
        """
        check_word("of", of, ("sets", "rows", "importance"))
        if of == "importance":
            importance = self.importance_matrix()
            return make_frame(dict(zip(self.variable_names, importance.T, strict=True)), self.library)
        from suffice._io.result_table import result_frame, sets_frame

        return result_frame(self) if of == "rows" else sets_frame(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all explanations as plain Python values, ready for JSON.

        Returns
        -------
        dict
            Settings, and the explanations in the order of the rows.
        """
        return {
            "pi": self.pi,
            "levels": self.fitted.settings.levels,
            "sets": self.sets,
            "variables": list(self.variable_names),
            "candidates": list(self.candidates),
            "explanations": [explanation.to_dict() for explanation in self],
        }

    def to_json(self, **options: Any) -> str:
        """Return all explanations as JSON.

        Parameters
        ----------
        **options : dict
            Passed to `json.dumps`, such as ``indent=2``.

        Returns
        -------
        str
            The JSON text of `to_dict`.
        """
        return json.dumps(self.to_dict(), **options)

    def report(
        self, path: str | PathLike[str], *, title: str | None = None, changes: Any = None, reasons: Any = None
    ) -> Path:
        """Write the explanations into one HTML page that needs nothing else: no other file, no network.

        Parameters
        ----------
        path : str or path
            Where to write it; a file that is there is replaced.
        title : str, default=None
            What stands at the top; None names the target.
        changes, reasons : Changes and Reasons, default=None
            What ``explainer.what_if`` and ``explainer.reasons`` found for the same rows.

        Returns
        -------
        Path
            The file.
        """
        from suffice._io.writing import write_text
        from suffice._show.report import make_report

        return write_text(path, make_report(self, title=title, changes=changes, reasons=reasons))

    def plot(self, kind: Literal["importance", "overview", "rule", "curve"] = "importance", **options: Any) -> Any:
        """Draw the explanations with matplotlib.

        Parameters
        ----------
        kind : {"importance", "overview", "rule", "curve"}, default="importance"
            What is drawn: the mean importance of the variables; how often each is in the best set, and for which
            values; the rule of one row, as in ``plot("rule", row=0)``; or its probability along a variable, as in
            ``plot("curve", variable="age")``.
        **options : dict
            Passed to the function of `suffice.plots` of that name, such as ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        from suffice import plots

        return plots.draw(self, kind, **options)

    @printed
    def __str__(self) -> str:
        """Summarise: how many rows have a sufficient set, and which variables they rest on."""
        n_sufficient = int(np.count_nonzero(self.has_set))
        n, n_each = len(self.candidates), self.fitted.n_searched
        searched = counted(n, "candidate variable") if n_each >= n else f"{n} variables, {n_each} of them at each row"
        summary = (
            f"{counted(len(self), 'row')} explained; {n_sufficient} {'has' if n_sufficient == 1 else 'have'} a "
            f"sufficient set ({self.level_text}) among {searched}."
        )
        lines = [summary] if self.fitted.has_signal else [summary, NO_SIGNAL]
        n_contested = int(np.count_nonzero(self.is_contested))
        if n_contested:
            lines.append(f"{counted(n_contested, 'set')} {'is' if n_contested == 1 else 'are'} contested: {CONTESTED}.")
        n_empty = int(np.count_nonzero(self.has_set & ~self.answers.sets.best_masks.any(axis=1)))
        if n_empty:
            verb = "needs" if n_empty == 1 else "need"
            lines.append(f"{counted(n_empty, 'row')} {verb} no variable: the outcome is kept for all values.")
        ranked = self.ranked_importance()
        if ranked:
            listed = [f"{name} {format_share(value)}" for name, value in ranked[:N_LISTED]]
            lines.append(f"Mean importance: {', '.join(listed)}.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from suffice._show.cards import explanations_card

        return explanations_card(self)


def lines_of(what: Any, name: str = "what") -> list[Any]:
    """Return the rules of explanations, of a list of global rules, or themselves."""
    if isinstance(what, Explanations):
        if what.has_set.any() and not any(what.answers.rules):
            raise ValueError("These explanations hold no rules: explain(X, y, rules='minimal') finds them.")
        return [rule for rules in what.answers.rules for rule in rules]
    if isinstance(what, Explanation):
        return list(what.rules)
    if isinstance(what, Rule):
        return [what]
    if hasattr(what, "with_certificates"):
        return list(what.rules_)
    if isinstance(what, str) or not isinstance(what, Iterable):
        raise TypeError(
            f"`{name}` must be rules, an explanation, explanations or a fitted list of global rules, got "
            f"{type(what).__name__}."
        )
    lines = [line for line in what if line is not None]
    for line in lines:
        if not hasattr(line, "promise"):
            raise TypeError(f"`{name}` must hold rules or None, got {line!r}.")
    return lines


def explain(state: Fitted, rows: AskedRows, options: ExplainOptions, progress: bool | None) -> Explanations:
    """Find the sufficient sets of each row, and the rules that they make."""
    matrix, outcomes, predictions = rows.matrix, rows.outcomes(state), rows.predictions(state)
    with progress_bar(len(matrix), progress) as report:
        sets = find_sufficient_sets(state, matrix, outcomes, minimal_only=options.sets == "minimal", progress=report)
    rules: list[tuple[Rule, ...]] = [()] * len(matrix)
    if options.rules is not None:
        rules = find_rules(state, matrix, outcomes, sets, options, progress)
    known = sdps_of_all(state, matrix, outcomes)
    answers = Answers(matrix, outcomes, predictions, sets, rules, known, rows.source, rows.ids)
    answers = answers._replace(rules_searched=options.rules is not None)
    return Explanations(answers, state.without_model, options.sets, rows.library)


def importance_of_columns(state: Fitted, random_state: Any) -> NDArray[np.float64]:
    """Compute the mean importance of the columns of the table for the outcomes of training rows."""
    matrix, outcomes = state.training
    rows = np.sort(check_random_state(random_state).permutation(len(matrix))[:N_FOR_IMPORTANCE])
    training_rows = AskedRows(None, matrix[rows], outcomes[rows], "given")
    explained = explain(state, training_rows, ExplainOptions("minimal", None), progress=False)
    importance = np.zeros(len(state.encoding.names))
    for columns, value in zip(state.variables.columns, explained.mean_importance().values(), strict=True):
        sources = list({state.encoding.columns[c].source for c in columns})
        importance[sources] = value / len(sources)
    return importance
