"""``ReasonedForest``: the reasons of decisions, and when to refuse them.

What reasons are is said in ``reasons``, in which order they stand in ``_engine.reason_order``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice._engine.bounds import SHOWN_CONFIDENCE, lower_bounds
from suffice._engine.fitted import Fitted
from suffice._engine.model_outputs import ask_model
from suffice._engine.model_use import N_REFERENCE, find_unused
from suffice._engine.outcomes import Outcomes, outcomes_of_intervals
from suffice._engine.progress import progress_bar, wants_bar
from suffice._engine.reason_order import choose_sets, losses_of_sets, rank_by_loss
from suffice._engine.rule_search import ExplainOptions, find_boxes
from suffice._engine.search import FoundSets, find_sufficient_sets
from suffice._engine.targets import Target, read_targets
from suffice._table.checks import as_finite, check_number, read_input, read_outcomes
from suffice._table.frames import for_model
from suffice._table.plain_values import plain_columns
from suffice._table.row_ids import read_ids
from suffice._table.variables import VariableSet
from suffice.answers import OutcomeSource
from suffice.code_book import CodeBook, CodeLine, Direction, bound_text, direction_of
from suffice.conditions import Condition
from suffice.importance import importance_of_sets
from suffice.local_rules import make_rules
from suffice.reasons import Reason, Reasons, ReasonSettings, Refusal, RowReasons
from suffice.rules import Rule
from suffice.sufficient_sets import SufficientSet
from suffice.what_if import ChangeableForest
from suffice.words import counted, format_exactly, format_label, format_level, format_number, join, to_plain

N_REASONS = 4


class ReasonedForest(ChangeableForest):
    """The reasons of decisions. `SufficientExplainer` is one."""

    def reasons(
        self,
        X: Any,
        y: Any = None,
        *,
        codes: Any = None,
        n: int = N_REASONS,
        adverse: Any = None,
        protected: Sequence[str | int] = (),
        model: Any = None,
        ids: Any = None,
        progress: bool | None = None,
    ) -> Reasons:
        """Find the reasons of each row's outcome, or refuse them where they would not be true.

        The reasons are the variables of one of the row's smallest sufficient sets, the one whose variables keep the
        outcome most often alone; the variable without which most is lost comes first: docs/method.md, section 8. A row
        is refused if the forest does not give its outcome, if it has no sufficient set or needs no variable at all, if
        the outcome rests on a protected variable, if the model does not use a variable of the set, or if the code book
        has no line for a value.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows. One row may also be a dict of values, or a pandas Series.
        y : array-like of shape (n_rows,), default=None
            The outcomes, such as decisions that were made; None takes the outputs of `model`, of the model that the
            explainer was fitted for, or of the forest itself.
        codes : CodeBook, path, dict or list, default=None
            The code book, or what `CodeBook.read` reads. None takes the names of the variables as codes.
        n : int, default=4
            How many reasons a row gets at most.
        adverse : object, default=None
            The outcomes that need reasons. Classification: a class, a list of classes, or ``{"not": label}``.
            Regression: ``(low, high)``, ``{"above": v}`` or ``{"below": v}``, ends included; sets then keep the outcome
            in this range. None gives reasons to every row.
        protected : list of str or int, default=()
            Variables on which an outcome must not rest.
        model : estimator or callable, default=None
            The model that decides; None takes the one of `for_model`, if there is one. It is asked whether it uses the
            variables of each set.
        ids : str or array-like of shape (n_rows,), default=None
            What the rows are called: see `explain`.
        progress : bool, default=None
            Whether to show a progress bar: see `explain`.

        Returns
        -------
        Reasons
            One answer for each row, in their order.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).uniform(size=(500, 3)).round(2)
        >>> explainer = SufficientExplainer(random_state=0).fit(X, np.where(X[:, 1] > 0.6, "good", "bad"))
        >>> reasons = explainer.reasons([[0.5, 0.25, 0.5]], adverse="bad", codes={
        ...     "x0": ("R0", "Age"), "x1": ("R1", "Score of {value} is {bound}"), "x2": ("R2", "Debt")})
        >>> print(reasons[0].reasons[0])
        1. R1: Score of 0.25 is at most 0.599
        """
        check_is_fitted(self)
        state = self._state()
        check_number("n", n, "a whole number >= 1", lambda v: v >= 1, Integral)
        guarded = _read_protected(state, protected)
        book = _read_book(state, codes, guarded)
        target = _read_adverse(adverse, state)
        model = getattr(self, "model_", None) if model is None else model
        X, row_ids = read_ids(X, ids, state.encoding.names)
        table = read_input(self, X, extra_columns=state.settings.extra_columns, fillers=state.encoding.fillers)
        matrix = state.encode(table)
        predictions = state.predict(matrix)
        source: OutcomeSource = "given" if y is not None else "forest" if model is None else "model"
        outcomes = predictions if source == "forest" else self._decisions(model, X, y, len(matrix))
        decided = _Decided(state, matrix, read_outcomes(outcomes, len(matrix)), predictions, target)
        answers = decided.answers(plain_columns(table, state.encoding), row_ids, source)
        work = _Work(state, book, n, guarded, self._model_use(model, X))
        with progress_bar(int(decided.follows.sum()), progress) if wants_bar(progress) else nullcontext() as report:
            answers = work.with_reasons(answers, decided, report)
        name = None if model is None else type(model).__name__
        names = tuple(state.variables.names[v] for v in guarded)
        kept = _adverse_values(target)
        settings = ReasonSettings(int(n), kept, names, "" if target is None else target.text, name)
        return Reasons(answers, settings, book, state, table.library)

    def _decisions(self, model: Any, X: Any, y: Any, n_rows: int) -> Any:
        if y is not None or not n_rows:
            return [] if y is None else y
        return ask_model(model, for_model(X), n_rows, getattr(self, "probability_of_", None))

    def _model_use(self, model: Any, X: Any) -> Any:
        """Return the function that finds the variables of sets that the model does not use; None without a model."""
        if model is None:
            return None
        state, probability_of = self._state(), getattr(self, "probability_of_", None)
        return lambda sets: find_unused(state, model, probability_of, X, sets)


def _read_protected(state: Fitted, protected: Sequence[str | int]) -> VariableSet:
    if isinstance(protected, str):
        raise TypeError(f"`protected` must be a list of variables, got {protected!r}: write [{protected!r}].")
    try:
        return state.variables.subset(protected)
    except ValueError as error:
        raise ValueError(f"In `protected`: {error}") from None


def _read_book(state: Fitted, codes: Any, protected: VariableSet) -> CodeBook:
    """Read the code book, and check that every variable that may come out has a code."""
    names, columns = state.variables.names, state.encoding.columns
    if codes is None:
        return CodeBook.of_names(names)
    book = CodeBook.read(codes)
    columns_of = {name: [columns[c] for c in of] for name, of in zip(names, state.variables.columns, strict=True)}
    book.check(columns_of, [names[v] for v in state.candidates if v not in protected])
    return book


def _read_adverse(adverse: Any, state: Fitted) -> Target | None:
    if adverse is None:
        return None
    if isinstance(adverse, Mapping) and set(adverse) & {"more", "less"}:
        raise ValueError(f"`adverse` must be a range of numbers or classes, got {adverse!r}.")
    one: NDArray[Any] = np.zeros(1) if state.classes is None else state.classes[:1]
    try:
        return read_targets(adverse, one, state.classes)[0]
    except ValueError as error:
        words = str(error).replace("`target`", "`adverse`").replace(", {'more': 50} or {'less': 50}", "")
        raise ValueError(words.replace("wanted", "adverse")) from None


def _adverse_values(target: Target | None) -> tuple[Any, ...] | None:
    """Return the adverse outcomes as plain values from which they can be read again."""
    if target is None:
        return None
    if target.labels is not None:
        return tuple(to_plain(label) for label in target.labels)
    return tuple(None if math.isinf(end) else end for end in (target.low, target.high))


@dataclass(eq=False)
class _Decided:
    """The outcomes of rows: which of them are adverse, and where the forest follows."""

    state: Fitted
    matrix: NDArray[np.float32]
    outcomes: NDArray[Any]
    predictions: NDArray[Any]
    target: Target | None

    def __post_init__(self) -> None:
        state, target = self.state, self.target
        if state.classes is None:
            self.outcomes = as_finite(self.outcomes)
        self._of_rows = state.outcomes(self.matrix, self.outcomes)
        n_rows = len(self.matrix)
        self.is_adverse = np.ones(n_rows, dtype=bool) if target is None else target.holds(self.outcomes)
        if state.classes is not None:
            follows = np.asarray(self.predictions == self.outcomes)
        elif target is not None:
            follows = target.holds(self.predictions)
        else:
            assert self._of_rows.intervals is not None
            low, high = self._of_rows.intervals.T
            is_within = (low <= self.predictions) & (self.predictions <= high)
            follows = is_within & (low <= self.outcomes) & (self.outcomes <= high)
        self.follows = self.is_adverse & follows

    def kept(self, rows: NDArray[np.intp]) -> Outcomes:
        """Return what sets must keep: the class, the adverse range, or the interval of the outcome."""
        target, y_values = self.target, self.state.forest.y_values
        if self.state.classes is not None or target is None:
            return self._of_rows.take(rows)
        numbers = self.outcomes[rows]
        # An open end is that of the training outcomes, or the outcome itself: rules state finite intervals.
        low = np.minimum(numbers, y_values[0]) if math.isinf(target.low) else np.full(len(rows), target.low)
        high = np.maximum(numbers, y_values[-1]) if math.isinf(target.high) else np.full(len(rows), target.high)
        return outcomes_of_intervals(numbers, np.stack([low, high], axis=1), y_values)

    def answers(self, columns: dict[str, list[Any]], ids: Any, source: OutcomeSource) -> list[RowReasons]:
        """Return what is known about each row before reasons are searched."""
        answers = []
        for i in range(len(self.matrix)):
            answer = RowReasons(
                outcome=to_plain(self.outcomes[i]),
                is_adverse=bool(self.is_adverse[i]),
                row=i,
                id=None if ids is None else ids[i],
                values={name: values[i] for name, values in columns.items()},
                prediction=to_plain(self.predictions[i]),
                pi=self.state.settings.pi,
                target=self.state.target,
                source=source,
            )
            if answer.is_adverse and not self.follows[i]:
                answer = replace(answer, refusal=self._disagreement(answer))
            answers.append(answer)
        return answers

    def _disagreement(self, answer: RowReasons) -> Refusal:
        says = answer.prediction
        predicted = format_number(says) if isinstance(says, float) else format_label(says)
        return Refusal("forest_disagrees", f"the forest of the explainer predicts {predicted}.")


class _Work:
    """The search for reasons, and their wording."""

    def __init__(self, state: Fitted, book: CodeBook, n: int, protected: VariableSet, model_use: Any) -> None:
        self._state, self._book, self._n = state, book, n
        self._protected, self._model_use = set(protected), model_use
        self._names = state.variables.names
        self._medians: dict[int, float] = {}

    def with_reasons(self, answers: list[RowReasons], decided: _Decided, report: Any) -> list[RowReasons]:
        """Add reasons, or refusals, to the rows whose adverse outcome the forest gives."""
        state = self._state
        rows = np.flatnonzero(decided.follows)
        X, outcomes = decided.matrix[rows], decided.kept(rows)
        sets = find_sufficient_sets(state, X, outcomes, minimal_only=False, progress=report, needs_nearest=False)
        chosen = choose_sets(state, X, outcomes, sets)
        losses = losses_of_sets(state, X, outcomes, sets, chosen)
        levels = state.levels(outcomes).tolist()
        confidence = state.settings.confidence or SHOWN_CONFIDENCE
        lower = lower_bounds(sets.best_sdps, sets.best_squares, confidence).tolist()
        followed_rows = [
            self._with_sets(replace(answers[row], pi=levels[i]), sets, i, chosen[i], lower[i])
            for i, row in enumerate(rows.tolist())
        ]
        followed_rows = [self._refused(answer, loss) for answer, loss in zip(followed_rows, losses, strict=True)]
        followed_rows = self._ask_model(followed_rows)
        rules = self._rules(X, outcomes, followed_rows)
        for i, row in enumerate(rows.tolist()):
            answer = followed_rows[i]
            if answer.refusal is None:
                answer = self._worded(replace(answer, rule=rules.get(i)), losses[i])
            answers[row] = answer
        return answers

    def _with_sets(self, answer: RowReasons, sets: FoundSets, i: int, place: int, lower: float) -> RowReasons:
        of_row = [
            SufficientSet(tuple(self._names[v] for v in sets.members(sets.masks[j])), float(sets.sdps[j]))
            for j in range(sets.offset[i], sets.offset[i + 1])
        ]
        if of_row:  # only the surest of the smallest sets has a lower bound
            of_row[0] = replace(of_row[0], lower=lower)
        return replace(
            answer,
            sufficient_sets=tuple(of_row),
            best_set=of_row[place - int(sets.offset[i])] if of_row else None,
            is_search_complete=bool(sets.is_complete[i]),
        )

    def _refused(self, answer: RowReasons, losses: dict[int, float]) -> RowReasons:
        """Refuse what the sets themselves show."""
        best = answer.best_set
        if best is None:
            sentence = f"no set of variables keeps the outcome with probability {format_level(answer.pi)}."
            return replace(answer, refusal=Refusal("no_set", sentence))
        if not best.variables or not any(loss > 0 for loss in losses.values()):
            sentence = "the outcome is so frequent that it is kept whatever is known."
            return replace(answer, refusal=Refusal("no_variable_needed", sentence))
        names = {self._names[v] for v in self._protected}
        held = {name for chosen in answer.minimal_sets for name in chosen.variables}
        guarded = tuple(name for name in self._names if name in names & held)
        if guarded:
            sentence = f"the outcome rests on {join(guarded)}, which {'is' if len(guarded) == 1 else 'are'} protected."
            return replace(answer, refusal=Refusal("protected_variable", sentence, guarded))
        n_guarded = sum(bool(names.intersection(s.variables)) for s in answer.sufficient_sets)
        if n_guarded:
            n_sets = len(answer.sufficient_sets)
            note = f"{n_guarded} of {counted(n_sets, 'sufficient set')} hold a protected variable; the smallest do not."
            answer = replace(answer, notes=(*answer.notes, note))
        return answer

    def _ask_model(self, followed_rows: list[RowReasons]) -> list[RowReasons]:
        """Refuse sets with variables that the model does not use."""
        position = {name: v for v, name in enumerate(self._names)}
        sets = {
            i: (answer, tuple(position[name] for name in answer.best_set.variables))
            for i, answer in enumerate(followed_rows)
            if answer.refusal is None and answer.best_set is not None
        }
        if self._model_use is None or not sets:
            return followed_rows
        unused = self._model_use({answer.row: S for answer, S in sets.values()})
        followed_rows = list(followed_rows)
        for i, (answer, _) in sets.items():
            if answer.row in unused:
                names = tuple(self._names[v] for v in unused[answer.row])
                sentence = (
                    f"the model does not use {join(names)}: its output stays the same with the values of "
                    f"{min(N_REFERENCE, len(self._state.forest.X))} training rows."
                )
                followed_rows[i] = replace(answer, refusal=Refusal("unused_variable", sentence, names))
        return followed_rows

    def _rules(
        self, X: NDArray[np.float32], outcomes: Outcomes, followed_rows: list[RowReasons]
    ) -> dict[int, Rule | None]:
        position = {name: v for v, name in enumerate(self._names)}
        row_sets = [
            (i, tuple(position[name] for name in answer.best_set.variables))
            for i, answer in enumerate(followed_rows)
            if answer.refusal is None and answer.best_set is not None
        ]
        boxes = find_boxes(self._state, X, outcomes, row_sets, ExplainOptions("minimal"))
        rules = make_rules(self._state, boxes, outcomes, row_sets)
        return {i: rule for (i, _), rule in zip(row_sets, rules, strict=True)}

    def _worded(self, answer: RowReasons, losses: dict[int, float]) -> RowReasons:
        """Give the variables their codes and texts."""
        all_sets = [s.variables for s in answer.sufficient_sets]
        shares = importance_of_sets(all_sets, [self._names[v] for v in losses], "share")
        loss_of = {self._names[v]: loss for v, loss in losses.items()}
        bounds = {} if answer.rule is None else {c.name: c for c in answer.rule.conditions}
        by_code: dict[str, list[tuple[str, str, str]]] = {}
        left_out = []
        for name in rank_by_loss(loss_of, shares):
            line, text, bound = self._wording(name, answer, bounds)
            if line is not None and (line.code in by_code or len(by_code) < self._n):
                by_code.setdefault(line.code, []).append((name, text, bound))
            elif len(by_code) < self._n:
                held = join([f"{format_exact(answer.values[c])} of {c}" for c in self._columns(name)])
                refusal = Refusal("no_code", f"the code book has no line for the value {held}.", (name,))
                return replace(answer, refusal=refusal)
            else:
                left_out.append(name)
        reasons = []
        for rank, (code, entries) in enumerate(by_code.items(), start=1):
            variables = tuple(name for name, _, _ in entries)
            values = tuple((c, answer.values[c]) for name in variables for c in self._columns(name))
            of_rule = tuple(bound for _, _, bound in entries)
            reasons.append(Reason(rank, code, entries[0][1], variables, values, loss_of[variables[0]], of_rule))
        at_most = f"a row gets at most {counted(self._n, 'reason')}"
        notes = [f"The set also holds {join(left_out)}: {at_most}."] if left_out else []
        return replace(answer, reasons=tuple(reasons), notes=(*answer.notes, *notes))

    def _columns(self, name: str) -> list[str]:
        return [self._state.encoding.columns[c].name for c in self._state.variables.columns[self._names.index(name)]]

    def _wording(
        self, name: str, answer: RowReasons, bounds: Mapping[str, Condition]
    ) -> tuple[CodeLine | None, str, str]:
        """Return the line of a variable, its text, and its bound."""
        columns = self._columns(name)
        if len(columns) > 1:
            value = ", ".join(f"{column} {format_exact(answer.values[column])}" for column in columns)
            bound = ", ".join(f"{c} {bound_text(bounds[c])}" for c in columns if c in bounds) or bound_text(None)
            line = self._book.find(name, None, None)
            return line, "" if line is None else line.write(value, bound), bound
        [column] = columns
        own, condition = answer.values[column], bounds.get(column)
        direction = self._direction(name, own, condition)
        line = self._book.find(name, own, direction)
        if line is None:
            return None, "", bound_text(condition)
        bound = bound_text(condition, line.direction)
        return line, line.write(format_exact(own), bound), bound_text(condition)

    def _direction(self, name: str, value: Any, condition: Condition | None) -> Direction | None:
        if not self._book.needs_direction(name):
            return None
        [column] = self._state.variables.columns[self._names.index(name)]
        if column not in self._medians:
            self._medians[column] = float(np.nanmedian(self._state.forest.X[:, column]))
        return direction_of(condition, value, self._medians[column])


def format_exact(value: Any) -> str:
    """Write a value of a row with all its digits, for a letter.

    Parameters
    ----------
    value : object
        A number, a label, or None for a missing value.

    Returns
    -------
    str
        Its text.

    Examples
    --------
    >>> format_exact(123456.78), format_exact(float(np.float32(0.1))), format_exact("rent"), format_exact(None)
    ('123456.78', '0.1', 'rent', 'missing')
    """
    if value is None:
        return "missing"
    if isinstance(value, float):
        with np.errstate(over="ignore"):
            short = np.float32(value)
        return format_exactly(float(str(short)) if float(short) == value else value)
    return str(value)
