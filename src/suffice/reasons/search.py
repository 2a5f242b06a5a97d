"""The search for reasons: which rows need them, what they are, which are refused, and how they are worded.

Before the search stand what it rests on: what is lost without each variable of a set, and whether a model uses a
variable at a row, which its outputs show when values are replaced by those of other rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._forest.asked_rows import AskedRows
from suffice._forest.fitted import Fitted
from suffice._forest.model_outputs import ExplainedModel, ask_model
from suffice._forest.outcomes import Outcomes, Target, outcomes_of_intervals, read_targets
from suffice._forest.progress import progress_bar
from suffice._table.condition import Condition
from suffice._table.input import as_finite
from suffice._table.rows import mix_rows, plain_columns
from suffice._table.table import Table
from suffice._table.variables import VariableSet
from suffice._text import counted, format_exactly, format_level, format_outcome, format_value, join, to_plain
from suffice.errors import check_number
from suffice.explaining.best_set import N_DIGITS, bound_best
from suffice.explaining.explanation import SufficientSet
from suffice.explaining.found_sets import FoundSets
from suffice.explaining.importance import importance_of_sets
from suffice.explaining.rule import Rule
from suffice.explaining.search import ExplainOptions, find_maximal_rules, find_sufficient_sets
from suffice.reasons.code_book import CodeBook, CodeLine, Direction, bound_text, direction_of
from suffice.reasons.values import Reason, Reasons, ReasonSettings, Refusal, RowReasons


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
    lost = {name: round(loss, N_DIGITS) for name, loss in losses.items()}
    names = (name for name, loss in lost.items() if loss > 0)
    return sorted(names, key=lambda name: (-lost[name], -round(shares.get(name, 0.0), N_DIGITS), name))


# Training rows whose values replace those of a row, evenly spread over the training table.
N_REFERENCE = 32
# Questions that a model is asked at a time.
N_QUESTIONS = 100_000
# Networks give other last digits in another batch; less than that is no other output.
_TOLERANCE = {"rtol": 1e-6, "atol": 1e-8}


def find_unused(
    fitted: Fitted, model: ExplainedModel, X: Any, sets: Mapping[int, VariableSet]
) -> dict[int, VariableSet]:
    """Find the variables of sets that a model does not use at a row.

    A variable is used if the output ever changes when its value is replaced by that of a training row: at the row
    itself, or where only the set keeps the row's values and all other variables have those of the training row.
    """
    questions = _Questions(fitted, model, X)
    pairs = [(row, variable) for row, S in sets.items() for variable in S if not questions.has_dates(variable)]
    at_row = questions.never_changes([(row, (variable,), ()) for row, variable in pairs])
    pairs = [pair for pair, never in zip(pairs, at_row, strict=True) if never]
    others = {
        row: tuple(v for v in range(len(fitted.variables)) if v not in S and not questions.has_dates(v))
        for row, S in sets.items()
    }
    in_set = questions.never_changes([(row, (variable,), others[row]) for row, variable in pairs])
    unused: dict[int, VariableSet] = {}
    for (row, variable), never in zip(pairs, in_set, strict=True):
        if never:
            unused[row] = (*unused.get(row, ()), variable)
    return unused


class _Questions:
    """A model and the rows that it is asked about."""

    def __init__(self, fitted: Fitted, model: ExplainedModel, X: Any) -> None:
        self._fitted, self._model, self._X = fitted, model, X
        n_rows = len(fitted.forest.X)
        self._n = min(N_REFERENCE, n_rows)
        places = np.arange(self._n) * n_rows // self._n
        reference = plain_columns(fitted.encoding.decode(fitted.forest.X[places]), fitted.encoding)
        columns = fitted.encoding.columns
        self._reference = {column.source: reference[column.name] for column in columns}
        self._sources = [sorted({columns[c].source for c in of_variable}) for of_variable in fitted.variables.columns]
        self._dates = {column.source for column in columns if column.part is not None}

    def has_dates(self, variable: int) -> bool:
        return bool(self._dates.intersection(self._sources[variable]))

    def never_changes(self, questions: Sequence[tuple[int, VariableSet, VariableSet]]) -> list[bool]:
        """Ask whether outputs stay as they are when variables are replaced, with others replaced before and after."""
        n, step = self._n, max(1, N_QUESTIONS // (2 * self._n))
        never: list[bool] = []
        for start in range(0, len(questions), step):
            part = questions[start : start + step]
            rows = [row for row, _, _ in part for _ in range(2 * n)]
            picks: dict[int, NDArray[np.intp]] = {}
            reference = np.arange(n)
            for i, (_, replaced, others) in enumerate(part):
                before, after = slice(2 * n * i, 2 * n * i + n), slice(2 * n * i + n, 2 * n * (i + 1))
                for variable in (*replaced, *others):
                    for source in self._sources[variable]:
                        pick = picks.setdefault(source, np.full(len(rows), -1, dtype=np.intp))
                        pick[after] = reference
                        if variable in others:
                            pick[before] = reference
            moved = {source: (self._reference[source], pick) for source, pick in picks.items()}
            outputs = self._outputs(mix_rows(self._X, rows, moved, self._fitted.encoding.names), len(rows))
            outputs = outputs.reshape(len(part), 2, n, -1)
            never += [not _differ(pair[0], pair[1]) for pair in outputs]
        return never

    def _outputs(self, table: Any, n_rows: int) -> NDArray[Any]:
        """Ask the model for its finest outputs: scores rather than classes."""
        model, probability_of = self._model.model, self._model.probability_of
        if probability_of is None and hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(table))
        return ask_model(model, table, n_rows, probability_of)


def _differ(first: NDArray[Any], second: NDArray[Any]) -> bool:
    if first.dtype.kind in "fc":
        return not np.allclose(first, second, equal_nan=True, **_TOLERANCE)
    return bool(np.any(first != second))


N_REASONS = 4


@dataclass(frozen=True, eq=False)
class Wishes:
    """What reasons are wanted: in which words, how many, for which outcomes, and which variables are protected."""

    book: CodeBook
    n: int
    target: Target | None
    protected: VariableSet


def read_wishes(state: Fitted, codes: Any, n: int, adverse: Any, protected: Sequence[str | int]) -> Wishes:
    """Read what reasons are wanted."""
    check_number("n", n, "a whole number >= 1", lambda v: v >= 1, Integral)
    guarded = state.variables.read("protected", protected)
    return Wishes(_read_book(state, codes, guarded), int(n), _read_adverse(adverse, state), guarded)


def find_reasons(
    state: Fitted, rows: AskedRows, table: Table, wishes: Wishes, model: ExplainedModel | None, progress: bool | None
) -> Reasons:
    """Find the reasons of each row, or refuse them."""
    decided = _Decided(state, rows, wishes.target)
    answers = decided.answers(plain_columns(table, state.encoding), rows)
    with progress_bar(int(decided.follows.sum()), progress) as report:
        answers = _Work(state, wishes, model, rows.X).with_reasons(answers, decided, report)
    target = wishes.target
    settings = ReasonSettings(
        wishes.n,
        _adverse_values(target),
        tuple(state.variables.names[v] for v in wishes.protected),
        "" if target is None else target.text,
        None if model is None else model.name,
    )
    return Reasons(answers, settings, wishes.book, state.without_model, rows.library)


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
    """Read which outcomes need reasons; None for all of them."""
    adverse = state.focus if adverse is None else adverse
    if adverse is None:
        return None
    if isinstance(adverse, Mapping) and set(adverse) & {"more", "less"}:
        raise ValueError(f"`adverse` must be a range of numbers or classes, got {adverse!r}.")
    one: NDArray[Any] = np.zeros(1) if state.classes is None else state.classes[:1]
    try:
        target = read_targets(adverse, one, state.classes, may_be_all=True)[0]
    except ValueError as error:
        words = str(error).replace("`target`", "`adverse`").replace(", {'more': 50} or {'less': 50}", "")
        raise ValueError(words.replace("wanted", "adverse")) from None
    return None if state.classes is not None and len(target.labels or ()) == len(state.classes) else target


def _adverse_values(target: Target | None) -> tuple[Any, ...] | None:
    """Return the adverse outcomes as plain values from which they can be read again."""
    if target is None:
        return None
    if target.labels is not None:
        return tuple(to_plain(label) for label in target.labels)
    return tuple(None if math.isinf(end) else end for end in (target.low, target.high))


class _Decided:
    """The outcomes of rows: which of them are adverse, and where the forest gives the same."""

    def __init__(self, state: Fitted, rows: AskedRows, target: Target | None) -> None:
        self._state, self._target, self.matrix = state, target, rows.matrix
        self._predictions = predictions = rows.predictions(state)
        self._outcomes = outcomes = rows.values if state.classes is not None else as_finite(rows.values)
        self._of_rows = state.outcomes(rows.matrix, outcomes)
        self.is_adverse = np.ones(len(outcomes), dtype=bool) if target is None else target.holds(outcomes)
        if state.classes is not None:
            follows = np.asarray(predictions == outcomes)
        elif target is not None:
            follows = target.holds(predictions)
        else:
            assert self._of_rows.intervals is not None
            low, high = self._of_rows.intervals.T
            follows = (low <= predictions) & (predictions <= high) & (low <= outcomes) & (outcomes <= high)
        self.follows = self.is_adverse & follows

    def kept(self, rows: NDArray[np.intp]) -> Outcomes:
        """Return what sets must keep: the class, the adverse range, or the interval of the outcome."""
        target, y_values = self._target, self._state.forest.y_values
        if self._state.classes is not None or target is None:
            return self._of_rows.take(rows)
        numbers = self._outcomes[rows]
        # An open end is that of the training outcomes, or the outcome itself: rules state finite intervals.
        low = np.minimum(numbers, y_values[0]) if math.isinf(target.low) else np.full(len(rows), target.low)
        high = np.maximum(numbers, y_values[-1]) if math.isinf(target.high) else np.full(len(rows), target.high)
        return outcomes_of_intervals(numbers, np.stack([low, high], axis=1), y_values)

    def answers(self, columns: dict[str, list[Any]], rows: AskedRows) -> list[RowReasons]:
        """Return what is known about each row before reasons are searched."""
        answers = []
        for i, is_adverse in enumerate(self.is_adverse.tolist()):
            prediction, refusal = to_plain(self._predictions[i]), None
            if is_adverse and not self.follows[i]:
                predicted = format_outcome(prediction)
                refusal = Refusal("forest_disagrees", f"the explainer's forest predicts {predicted}.")
            answers.append(
                RowReasons(
                    outcome=to_plain(self._outcomes[i]),
                    is_adverse=is_adverse,
                    refusal=refusal,
                    row=i,
                    id=None if rows.ids is None else rows.ids[i],
                    values={name: values[i] for name, values in columns.items()},
                    prediction=prediction,
                    pi=self._state.settings.pi,
                    target=self._state.target,
                    source=rows.source,
                )
            )
        return answers


class _Work:
    """The search for reasons, and their wording."""

    def __init__(self, state: Fitted, wishes: Wishes, model: ExplainedModel | None, X: Any) -> None:
        self._state, self._book, self._n = state, wishes.book, wishes.n
        self._names = state.variables.names
        self._protected = {self._names[v] for v in wishes.protected}
        self._find_unused = None if model is None else partial(find_unused, state, model, X)
        self._medians: dict[int, float] = {}

    def with_reasons(
        self, answers: list[RowReasons], decided: _Decided, report: Callable[[int], object] | None
    ) -> list[RowReasons]:
        """Add reasons, or refusals, to the rows whose adverse outcome the forest gives."""
        state, rows = self._state, np.flatnonzero(decided.follows)
        X, outcomes = decided.matrix[rows], decided.kept(rows)
        sets = find_sufficient_sets(state, X, outcomes, minimal_only=False, progress=report, needs_best=False)
        losses = losses_of_sets(state, X, outcomes, sets)
        levels = state.levels(outcomes).tolist()
        has_set = np.flatnonzero(sets.n_by_row())
        lower = dict(zip(has_set.tolist(), bound_best(state, X, sets, has_set).tolist(), strict=True))
        found = []
        for i, row in enumerate(rows.tolist()):
            answer = self._with_sets(replace(answers[row], pi=levels[i]), sets, i, lower.get(i))
            found.append(self._refused(answer, losses[i]))
        found = self._ask_model(found)
        rules = self._rules(X, outcomes, found)
        for i, row in enumerate(rows.tolist()):
            is_refused = found[i].refusal is not None
            answers[row] = found[i] if is_refused else self._worded(replace(found[i], rule=rules[i]), losses[i])
        return answers

    def _with_sets(self, answer: RowReasons, sets: FoundSets, i: int, lower: float | None) -> RowReasons:
        of_row = [
            SufficientSet(tuple(self._names[v] for v in sets.members(sets.masks[j])), float(sets.sdps[j]))
            for j in range(sets.offset[i], sets.offset[i + 1])
        ]
        if of_row:  # only the best set has a lower bound
            of_row[0] = replace(of_row[0], lower=lower)
        return replace(
            answer,
            sufficient_sets=tuple(of_row),
            best_set=of_row[0] if of_row else None,
            is_search_complete=bool(sets.is_complete[i]),
        )

    def _refused(self, answer: RowReasons, losses: dict[int, float]) -> RowReasons:
        """Refuse what the sets themselves show."""
        best = answer.best_set
        if best is None:
            sentence = f"no set of variables keeps the outcome with probability {format_level(answer.pi)}."
            return replace(answer, refusal=Refusal("no_set", sentence))
        if not best.variables or not any(loss > 0 for loss in losses.values()):
            sentence = "the outcome is so frequent that no variable is needed to keep it."
            return replace(answer, refusal=Refusal("no_variable_needed", sentence))
        held = self._protected & {name for chosen in answer.minimal_sets for name in chosen.variables}
        guarded = tuple(name for name in self._names if name in held)
        if guarded:
            sentence = f"the outcome rests on {join(guarded)}, which {'is' if len(guarded) == 1 else 'are'} protected."
            return replace(answer, refusal=Refusal("protected_variable", sentence, guarded))
        n_guarded = sum(not self._protected.isdisjoint(s.variables) for s in answer.sufficient_sets)
        if n_guarded:
            some = f"{n_guarded} of {counted(len(answer.sufficient_sets), 'sufficient set')}"
            note = f"{some} {'contains' if n_guarded == 1 else 'contain'} a protected variable; the smallest do not."
            answer = replace(answer, notes=(*answer.notes, note))
        return answer

    def _open_sets(self, found: list[RowReasons]) -> dict[int, VariableSet]:
        """Return the best sets of the answers that are not refused."""
        return {
            i: self._state.variables.subset(answer.best_set.variables)
            for i, answer in enumerate(found)
            if answer.refusal is None and answer.best_set is not None
        }

    def _ask_model(self, found: list[RowReasons]) -> list[RowReasons]:
        """Refuse sets with variables that the model does not use."""
        sets = self._open_sets(found)
        if self._find_unused is None or not sets:
            return found
        unused = self._find_unused({found[i].row: S for i, S in sets.items()})
        n_values = min(N_REFERENCE, len(self._state.forest.X))
        for i in sets:
            if found[i].row in unused:
                names = tuple(self._names[v] for v in unused[found[i].row])
                same = f"its output stays the same with the values of {n_values} training rows"
                sentence = f"the model does not use {join(names)}: {same}."
                found[i] = replace(found[i], refusal=Refusal("unused_variable", sentence, names))
        return found

    def _rules(self, X: NDArray[np.float32], outcomes: Outcomes, found: list[RowReasons]) -> dict[int, Rule | None]:
        sets = self._open_sets(found)
        rules = find_maximal_rules(self._state, X, outcomes, list(sets.items()), ExplainOptions("minimal"))
        return dict(zip(sets, rules, strict=True))

    def _worded(self, answer: RowReasons, losses: dict[int, float]) -> RowReasons:
        """Give the variables their codes and texts."""
        all_sets = [s.variables for s in answer.sufficient_sets]
        shares = importance_of_sets(all_sets, [self._names[v] for v in losses])
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
        notes = [f"The set also contains {join(left_out)}; {at_most}."] if left_out else []
        return replace(answer, reasons=tuple(reasons), notes=(*answer.notes, *notes))

    def _columns(self, name: str) -> list[str]:
        return [self._state.encoding.columns[c].name for c in self._state.variables.columns[self._names.index(name)]]

    def _wording(
        self, name: str, answer: RowReasons, bounds: Mapping[str, Condition]
    ) -> tuple[CodeLine | None, str, str]:
        """Return the line of a variable, its text, and its bound."""
        columns = self._columns(name)
        if len(columns) > 1:
            value = ", ".join(f"{column} {self._value_text(column, answer.values[column])}" for column in columns)
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
        return line, line.write(self._value_text(column, own), bound), bound_text(condition)

    def _value_text(self, name: str, value: Any) -> str:
        column = next(column for column in self._state.encoding.columns if column.name == name)
        return format_exact(value) if column.reads != "yes/no" else column.text_of(value)

    def _direction(self, name: str, value: Any, condition: Condition | None) -> Direction | None:
        if not self._book.needs_direction(name):
            return None
        [column] = self._state.variables.columns[self._names.index(name)]
        if column not in self._medians:
            self._medians[column] = float(np.nanmedian(self._state.forest.X[:, column]))
        return direction_of(condition, value, self._medians[column])


def format_exact(value: Any) -> str:
    """Write a value of a row with all its digits, for a letter."""
    if value is None or isinstance(value, bool):
        return format_value(value)
    if isinstance(value, float):
        with np.errstate(over="ignore"):
            short = np.float32(value)
        return format_exactly(float(str(short)) if float(short) == value else value)
    return str(value)
