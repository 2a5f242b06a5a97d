"""What the user holds: explanations as frozen values, as frames, as dictionaries and as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from suffice._engine.search import FoundSets
from suffice._table.checks import check_word
from suffice._table.encoding import Column, Encoding
from suffice._table.table import Table, make_frame
from suffice._table.variables import Variables
from suffice.rules import Rule
from suffice.words import format_number, format_probability, format_value, join, to_plain

SetsKind = Literal["all", "minimal"]

# How many sets and importances the text of an explanation lists before it says how many more there are.
N_LISTED = 5
NOT_COMPLETE = "The search ended before all sets were looked at: there may be others."


@dataclass(frozen=True)
class SufficientSet:
    """A set of variables with its same-decision probability.

    Parameters
    ----------
    variables : tuple of str
        The variables, in the order of the table.
    sdp : float
        The probability that the outcome is kept when only these variables are known.
    """

    variables: tuple[str, ...]
    sdp: float

    def __str__(self) -> str:
        """Return the variables and the probability."""
        return f"{join(self.variables) or 'nothing at all'} (SDP {format_probability(self.sdp)})"


@dataclass(frozen=True)
class Explanation:
    """Why one row has its outcome.

    Parameters
    ----------
    outcome : object
        The class label or the number that is explained.
    interval : tuple of float or None
        Regression: (low, high), both ends included; the outcome is kept while Y stays in it.
    pi : float
        The probability that a sufficient set must reach.
    sufficient_sets : tuple of SufficientSet
        All sufficient sets among the candidates (A-SE), smallest and then surest first; with ``sets="minimal"`` the
        minimal ones.
    best_set : SufficientSet
        The first of them; if there is none, the set that comes nearest to `pi`.
    values : tuple of (str, tuple of (str, object))
        The row: for each variable its columns with their values, None for a missing one.
    rules : tuple of Rule
        The maximal rules of the first sufficient sets: of the first alone, or of all, as was asked; empty if none was.
    prediction : object
        What the forest itself says of the row: a class label, or a number.
    is_search_complete : bool
        Whether the search went through all sets of candidates, and did not end at the explainer's `max_sets`: if it
        did, there may be more sufficient sets than those told.
    columns : tuple of Column
        The columns of the training table as the forest sees them: their kinds, categories and ranges. They do not
        count when explanations are compared.
    """

    outcome: Any
    interval: tuple[float, float] | None
    pi: float
    sufficient_sets: tuple[SufficientSet, ...]
    best_set: SufficientSet
    values: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
    rules: tuple[Rule, ...] = ()
    prediction: Any = None
    is_search_complete: bool = True
    columns: tuple[Column, ...] = field(default=(), compare=False, repr=False)

    @property
    def rule(self) -> Rule | None:
        """The maximal rule of the surest minimal set; None if no set is sufficient or no rule was asked for."""
        return self.rules[0] if self.rules else None

    @property
    def is_sufficient(self) -> bool:
        """Whether any set reaches `pi`."""
        return bool(self.sufficient_sets)

    @property
    def minimal_sets(self) -> tuple[SufficientSet, ...]:
        """The sufficient sets of the smallest size (M-SE), surest first."""
        if not self.sufficient_sets:
            return ()
        size = len(self.sufficient_sets[0].variables)
        return tuple(s for s in self.sufficient_sets if len(s.variables) == size)

    @property
    def importance(self) -> dict[str, float]:
        """The local explanatory importance (LXI): for each variable the share of sufficient sets that hold it."""
        return self.importance_in("all")

    def importance_in(self, sets: SetsKind) -> dict[str, float]:
        """Compute the LXI over all sufficient sets or over the minimal ones.

        Parameters
        ----------
        sets : {"all", "minimal"}
            Which sets count.

        Returns
        -------
        dict of str to float
            For each variable of the table the share of the sets that hold it; 0 for all if there is no set.
        """
        chosen = self._chosen(sets)
        share = {name: 0.0 for name, _ in self.values}
        for name in share:
            n = sum(name in s.variables for s in chosen)
            share[name] = n / len(chosen) if chosen else 0.0
        return share

    def _chosen(self, sets: SetsKind) -> tuple[SufficientSet, ...]:
        check_sets_kind(sets)
        return self.sufficient_sets if sets == "all" else self.minimal_sets

    @property
    def is_outcome_in_interval(self) -> bool:
        """Whether the outcome lies in the interval that is explained; always true for a class."""
        return self.interval is None or self.interval[0] <= self.outcome <= self.interval[1]

    @property
    def forest_agrees(self) -> bool:
        """Whether the forest says the same: the class, or a number in the interval. If not, read with care."""
        if self.prediction is None:
            return True
        if self.interval is None:
            return bool(self.prediction == self.outcome)
        return bool(self.interval[0] <= self.prediction <= self.interval[1]) and self.is_outcome_in_interval

    @property
    def outcome_text(self) -> str:
        """The outcome as it is written."""
        return str(self.outcome) if self.interval is None else format_number(self.outcome)

    @property
    def interval_text(self) -> str:
        """The interval as it is written; nothing for a class."""
        if self.interval is None:
            return ""
        low, high = self.interval
        return f"[{format_number(low)}, {format_number(high)}]"

    @property
    def care(self) -> str:
        """Why the explanation is to be read with care, in one sentence; nothing if the forest agrees."""
        if not self.is_outcome_in_interval:
            return "The outcome lies outside the interval: the explanation is of the interval."
        if self.forest_agrees:
            return ""
        prediction = str(self.prediction) if self.interval is None else format_number(self.prediction)
        return f"The forest says {prediction} here."

    @property
    def search_note(self) -> str:
        """That the search ended early, in one sentence; nothing if it is complete."""
        return "" if self.is_search_complete else NOT_COMPLETE

    def shown_values(self, variable: str) -> tuple[tuple[str, Any], ...]:
        """Return the values of a variable that are worth showing.

        Parameters
        ----------
        variable : str
            The name of the variable.

        Returns
        -------
        tuple of (str, object)
            The first columns of the variable with their values. If they are indicators, those that are on.
        """
        columns = dict(self.values)[variable]
        if len(columns) > 1 and all(value in (0, 1) for _, value in columns):
            columns = tuple((name, value) for name, value in columns if value == 1) or columns
        return columns[:N_LISTED]

    def to_dict(self) -> dict[str, Any]:
        """Give the explanation as plain Python values, ready for JSON.

        Returns
        -------
        dict
            Outcome, interval, pi, the forest's own prediction, the row, sets, importance (without variables of no
            importance) and rules.
        """
        return {
            "outcome": to_plain(self.outcome),
            "interval": None if self.interval is None else list(self.interval),
            "pi": self.pi,
            "prediction": to_plain(self.prediction),
            "forest_agrees": self.forest_agrees,
            "is_sufficient": self.is_sufficient,
            "is_search_complete": self.is_search_complete,
            "values": {column: value for _, columns in self.values for column, value in columns},
            "best_set": _set_to_dict(self.best_set),
            "sufficient_sets": [_set_to_dict(s) for s in self.sufficient_sets],
            "importance": {name: value for name, value in self.importance.items() if value > 0},
            "rules": [rule.to_dict() for rule in self.rules],
        }

    def plot(self, kind: Literal["importance", "sets"] = "importance", **options: Any) -> Any:
        """Draw the explanation with matplotlib.

        Parameters
        ----------
        kind : {"importance", "sets"}, default="importance"
            What is drawn: the LXI of the variables, or the sufficient sets.
        **options : dict
            Passed to the function of `suffice.plots` of that name, such as ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        from suffice import plots

        kinds: dict[str, Any] = {"importance": plots.importance, "sets": plots.sets}
        check_word("kind", kind, list(kinds))
        return kinds[kind](self, **options)

    def __str__(self) -> str:
        """Tell the explanation in plain words."""
        kept = "" if self.interval is None else f", kept within {self.interval_text}"
        lines = [f"The outcome is {self.outcome_text}{kept}."]
        if self.care:
            lines[0] += f" Read with care. {self.care}"
        pi = f"{self.pi:g}"
        best = f"{self._with_values(self.best_set)}, with probability {format_probability(self.best_set.sdp)}"
        if not self.is_sufficient:
            lines.append(
                f"No set of the candidate variables keeps it with probability {pi}, so there is no rule. "
                f"Nearest comes {best}."
            )
            return "\n".join([*lines, self.search_note] if self.search_note else lines)
        lines.append(f"To keep it, this is enough: {best}.")
        if self.rule is not None:
            lines.append(f"Rule: {self.rule}")
        others = self.sufficient_sets[1:]
        if others:
            lines.append(f"Also enough (probability {pi} or more):")
            lines += [f"  {s}" for s in others[:N_LISTED]]
            if len(others) > N_LISTED:
                lines.append(f"  and {len(others) - N_LISTED} more")
            listed = [f"{name} {value:.2f}" for name, value in rank_importance(self.importance)]
            more = f", and {len(listed) - N_LISTED} more" if len(listed) > N_LISTED else ""
            lines.append(
                f"Share of these {len(self.sufficient_sets)} sets that hold {', '.join(listed[:N_LISTED])}{more}."
            )
        return "\n".join([*lines, self.search_note] if self.search_note else lines)

    def _repr_html_(self) -> str:
        from suffice._show.cards import explanation_card

        return explanation_card(self)

    def _with_values(self, chosen: SufficientSet) -> str:
        value_of = dict(self.values)
        texts = []
        for name in chosen.variables:
            columns = value_of[name]
            if len(columns) == 1 and columns[0][0] == name:
                texts.append(f"{name} = {format_value(columns[0][1])}")
                continue
            listed = ", ".join(f"{column} = {format_value(value)}" for column, value in self.shown_values(name))
            texts.append(f"{name} ({listed})")
        return join(texts) if texts else "nothing at all"


class Explanations(Sequence[Explanation]):
    """The explanations of some rows, in their order.

    Made by ``SufficientExplainer.explain``. Holds arrays; an `Explanation` is made when it is asked for.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The rows.
    outcomes : ndarray of shape (n_rows,)
        What is explained: labels or numbers.
    intervals : ndarray of shape (n_rows, 2) or None
        Regression: the closed intervals.
    found : FoundSets
        The sets.
    rules : sequence of tuple of Rule
        The rules of each row.
    predictions : ndarray of shape (n_rows,)
        What the forest says of the rows.
    variables : Variables
        The variables of the table.
    encoding : Encoding
        What the numbers in `X` mean.
    pi : float
        The probability that a sufficient set must reach.
    sets : {"all", "minimal"}
        Which sets were searched.
    library : str or None
        Of what kind the table was, and frames made of the explanations are.
    training : tuple of (ndarray, ndarray)
        The training rows, as numbers, and their outcomes.
    about : mapping of str to object
        What was explained by what: the task, the target, the forest and its fidelity, settings and versions.
    """

    def __init__(
        self,
        X: NDArray[np.float32],
        outcomes: NDArray[Any],
        intervals: NDArray[np.float64] | None,
        found: FoundSets,
        rules: Sequence[tuple[Rule, ...]],
        predictions: NDArray[Any],
        variables: Variables,
        encoding: Encoding,
        pi: float,
        sets: SetsKind,
        library: str | None,
        training: tuple[NDArray[np.float32], NDArray[Any]],
        about: Mapping[str, Any],
    ) -> None:
        self._X = X
        self._outcomes = outcomes
        self._intervals = intervals
        self._found = found
        self._rules = rules
        self._predictions = predictions
        self._variables = variables
        self._encoding = encoding
        self.pi = pi
        self.sets = sets
        self._library = library
        self._training = training
        self.about = dict(about)

    @property
    def training(self) -> tuple[Table, NDArray[Any]]:
        """The training table of the explainer and its outcomes. Of a column's rare categories only one is left."""
        matrix, outcomes = self._training
        return self._encoding.decode(matrix), outcomes

    @property
    def explained(self) -> tuple[Table, NDArray[Any]]:
        """The explained rows as a table and their outcomes. Of a column's rare categories only one is left."""
        return self._encoding.decode(self._X), self._outcomes

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the training table as the forest sees them: their kinds, categories and ranges."""
        return self._encoding.columns

    @property
    def variable_names(self) -> tuple[str, ...]:
        """The variables of the table."""
        return self._variables.names

    @property
    def rules(self) -> tuple[Rule | None, ...]:
        """The rule of each row: of its surest minimal set, or None."""
        return tuple(rules[0] if rules else None for rules in self._rules)

    @property
    def is_search_complete(self) -> tuple[bool, ...]:
        """Of each row, whether its search went through all sets and did not end at `max_sets`."""
        return tuple(self._found.is_complete.tolist())

    @property
    def candidates(self) -> tuple[str, ...]:
        """The variables among which the sets were searched."""
        return tuple(self._variables.names[v] for v in self._found.candidates)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._outcomes)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Explanation, ...]: ...
    def __getitem__(self, index: int | slice) -> Explanation | tuple[Explanation, ...]:
        """Return the explanation of a row, or of several."""
        if isinstance(index, slice):
            return tuple(self._explanation(i) for i in range(*index.indices(len(self))))
        i = index + len(self) if index < 0 else index
        if not 0 <= i < len(self):
            raise IndexError(f"There are {len(self)} explanations; there is no number {index}.")
        return self._explanation(i)

    def __iter__(self) -> Iterator[Explanation]:
        """Yield the explanations in the order of the rows."""
        return (self._explanation(i) for i in range(len(self)))

    def _explanation(self, i: int) -> Explanation:
        found = self._found
        interval = None
        if self._intervals is not None:
            interval = (float(self._intervals[i, 0]), float(self._intervals[i, 1]))
        row = [
            (column.name, column.decode(value))
            for column, value in zip(self._encoding.columns, self._X[i].tolist(), strict=True)
        ]
        variables = self._variables
        return Explanation(
            outcome=to_plain(self._outcomes[i]),
            interval=interval,
            pi=self.pi,
            sufficient_sets=tuple(
                self._named(found.masks[j], float(found.sdps[j])) for j in range(found.offset[i], found.offset[i + 1])
            ),
            best_set=self._named(found.best_masks[i], float(found.best_sdps[i])),
            values=tuple(
                (name, tuple(row[c] for c in columns))
                for name, columns in zip(variables.names, variables.columns, strict=True)
            ),
            rules=self._rules[i],
            prediction=to_plain(self._predictions[i]),
            is_search_complete=bool(found.is_complete[i]),
            columns=self._encoding.columns,
        )

    def _named(self, mask: NDArray[np.uint64], sdp: float) -> SufficientSet:
        return SufficientSet(tuple(self._variables.names[v] for v in self._found.members(mask)), sdp)

    def mean_importance(self, sets: SetsKind = "all") -> dict[str, float]:
        """Average the LXI over the rows that have a sufficient set.

        Parameters
        ----------
        sets : {"all", "minimal"}, default="all"
            Over which sets the LXI is taken.

        Returns
        -------
        dict of str to float
            For each variable of the table its mean importance; 0 for all if no row has a sufficient set.
        """
        importance = self._importance(sets)
        has_set = np.diff(self._found.offset) > 0
        mean = importance[has_set].mean(axis=0) if has_set.any() else np.zeros(importance.shape[1])
        return dict(zip(self._variables.names, mean.tolist(), strict=True))

    def _importance(self, sets: SetsKind) -> NDArray[np.float64]:
        """LXI of all variables, one row for each explained row."""
        check_sets_kind(sets)
        found = self._found
        row_of_set = np.repeat(np.arange(len(self)), np.diff(found.offset))
        size = found.sizes()
        counted = np.ones(len(size), dtype=bool)
        if sets == "minimal" and len(size):
            smallest = size[np.minimum(found.offset[:-1], len(size) - 1)]
            counted = size == smallest[row_of_set]
        n_counted = np.bincount(row_of_set[counted], minlength=len(self))
        importance = np.zeros((len(self), len(self._variables)))
        for bit, variable in enumerate(found.candidates):
            holds = found.holds(bit) & counted
            n_holding = np.bincount(row_of_set[holds], minlength=len(self))
            importance[:, variable] = n_holding / np.maximum(n_counted, 1)
        return importance

    def to_frame(self, of: Literal["sets", "importance"] = "sets") -> Any:
        """Give the explanations as a frame of the kind that the table was; of an array's, as a pandas frame.

        Parameters
        ----------
        of : {"sets", "importance"}, default="sets"
            "sets": one line for each set, with the row it belongs to; a row without a sufficient set has one line
            with its best set. "importance": one line for each row, one column for each variable, with the LXI.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The frame.
        """
        if of == "importance":
            importance = self._importance("all")
            return make_frame(dict(zip(self._variables.names, importance.T, strict=True)), self._library)
        if of != "sets":
            raise ValueError(f"`of` must be 'sets' or 'importance', got {of!r}.")
        names = ["row", "outcome", "low", "high", "variables", "size", "sdp", "is_sufficient", "is_minimal"]
        columns: dict[str, list[Any]] = {name: [] for name in [*names, "forest_agrees", "rule"]}
        for row, explanation in enumerate(self):
            low, high = explanation.interval or (None, None)
            minimal = explanation.minimal_sets
            for i, s in enumerate(explanation.sufficient_sets or (explanation.best_set,)):
                rule = explanation.rules[i] if i < len(explanation.rules) else None
                line = {
                    "row": row,
                    "outcome": explanation.outcome,
                    "low": low,
                    "high": high,
                    "variables": s.variables,
                    "size": len(s.variables),
                    "sdp": s.sdp,
                    "is_sufficient": explanation.is_sufficient,
                    "is_minimal": s in minimal,
                    "forest_agrees": explanation.forest_agrees,
                    "rule": None if rule is None else str(rule),
                }
                for name, value in line.items():
                    columns[name].append(value)
        if self._intervals is None:
            del columns["low"], columns["high"]
        return make_frame(columns, self._library)

    def to_dict(self) -> dict[str, Any]:
        """Give all explanations as plain Python values, ready for JSON.

        Returns
        -------
        dict
            Settings, and the explanations in the order of the rows.
        """
        return {
            "pi": self.pi,
            "sets": self.sets,
            "variables": list(self.variable_names),
            "candidates": list(self.candidates),
            "explanations": [explanation.to_dict() for explanation in self],
        }

    def to_json(self, **options: Any) -> str:
        """Give all explanations as JSON.

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

    def report(self, path: str | PathLike[str], *, title: str | None = None) -> Path:
        """Write the explanations into one HTML page that needs nothing else: no other file, no network.

        Parameters
        ----------
        path : str or path
            Where to write it. A file that is there is replaced as a whole, or stays if something goes wrong.
        title : str, default=None
            What stands at the top; None names the target.

        Returns
        -------
        Path
            The file.
        """
        from suffice._io.writing import replacing
        from suffice._show.report import make_report

        target = Path(path)
        if not target.parent.is_dir():
            raise FileNotFoundError(f"The folder of the report does not exist: {str(target.parent)!r}.")
        page = make_report(self, title=title)
        with replacing(target) as written:
            written.write_text(page, encoding="utf-8", newline="\n")
        return target

    def plot(self, kind: Literal["importance", "heatmap", "rule"] = "importance", **options: Any) -> Any:
        """Draw the explanations with matplotlib.

        Parameters
        ----------
        kind : {"importance", "heatmap", "rule"}, default="importance"
            What is drawn: the mean LXI of the variables; the LXI of each row; or the rule of one, as in
            ``plot("rule", row=0)``.
        **options : dict
            Passed to `importance`, `importance_heatmap` or `rule` of `suffice.plots`, such as ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        from suffice import plots

        kinds: dict[str, Any] = {
            "importance": plots.importance,
            "heatmap": plots.importance_heatmap,
            "rule": plots.rule,
        }
        check_word("kind", kind, list(kinds))
        return kinds[kind](self, **options)

    def __str__(self) -> str:
        """Summarise: how many rows have a sufficient set, and which variables they rest on."""
        n_sufficient = int(np.count_nonzero(np.diff(self._found.offset)))
        summary = (
            f"{len(self)} rows explained; {n_sufficient} {'has' if n_sufficient == 1 else 'have'} a sufficient set "
            f"(probability {self.pi:g}) among {len(self.candidates)} candidate variables."
        )
        lines = [summary]
        if n_sufficient:
            ranked = rank_importance(self.mean_importance())
            listed = [f"{name} {value:.2f}" for name, value in ranked[:N_LISTED]]
            lines.append(f"Mean importance (LXI): {', '.join(listed)}.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from suffice._show.cards import explanations_card

        return explanations_card(self)


def rank_importance(importance: Mapping[str, float]) -> list[tuple[str, float]]:
    """Order variables by importance.

    Parameters
    ----------
    importance : mapping of str to float
        The importance of each variable.

    Returns
    -------
    list of (str, float)
        The variables of any importance, the most important first; equally important ones in the order of the mapping.
    """
    return sorted(((name, value) for name, value in importance.items() if value > 0), key=lambda item: -item[1])


def check_sets_kind(sets: str) -> None:
    """Refuse an unknown kind of sets.

    Parameters
    ----------
    sets : str
        The user's choice.
    """
    if sets not in ("all", "minimal"):
        raise ValueError(f"`sets` must be 'all' or 'minimal', got {sets!r}.")


def _set_to_dict(chosen: SufficientSet) -> dict[str, Any]:
    return {"variables": list(chosen.variables), "sdp": chosen.sdp}
