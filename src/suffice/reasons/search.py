"""Whether a model uses variables at a row: its outputs when their values are replaced by those of other rows."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._forest.asked_rows import AskedRows, OutcomeSource
from suffice._forest.bounds import SHOWN_CONFIDENCE, lower_bounds
from suffice._forest.fitted import Fitted
from suffice._forest.model_outputs import ExplainedModel, ask_model
from suffice._forest.outcomes import Outcomes, Target, outcomes_of_intervals, read_targets
from suffice._forest.progress import progress_bar, wants_bar
from suffice._table.condition import Condition
from suffice._table.input import as_finite, check_number
from suffice._table.rows import mix_rows, plain_columns
from suffice._table.table import Table
from suffice._table.variables import VariableSet
from suffice._text import counted, format_exactly, format_label, format_level, format_number, join, to_plain
from suffice.explaining.explanation import SufficientSet
from suffice.explaining.importance import importance_of_sets
from suffice.explaining.rule import Rule
from suffice.explaining.search import ExplainOptions, FoundSets, find_maximal_rules, find_sufficient_sets
from suffice.reasons.code_book import CodeBook, CodeLine, Direction, bound_text, direction_of
from suffice.reasons.values import Reason, Reasons, ReasonSettings, Refusal, RowReasons

# Training rows whose values replace those of a row, evenly spread over the training table.
N_REFERENCE = 32
# Questions that a model is asked at a time.
N_QUESTIONS = 100_000
# Networks give other last digits in another batch; less than that is no other output.
_TOLERANCE = {"rtol": 1e-6, "atol": 1e-8}


def find_unused(
    fitted: Fitted, model: Any, probability_of: Any, X: Any, sets: Mapping[int, VariableSet]
) -> dict[int, VariableSet]:
    """Find the variables of sets that a model does not use at a row.

    A variable is used if the output ever changes when its value is replaced by that of a training row: at the row
    itself, or where only the set keeps the row's values and all other variables have those of the training row.
    """
    questions = _Questions(fitted, model, probability_of, X)
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

    def __init__(self, fitted: Fitted, model: Any, probability_of: Any, X: Any) -> None:
        self._fitted, self._model, self._X = fitted, model, X
        self._outputs = _outputs_of(model, probability_of)
        n_rows = len(fitted.forest.X)
        self._n = min(N_REFERENCE, n_rows)
        places = np.arange(self._n) * n_rows // self._n
        self._reference = plain_columns(fitted.encoding.decode(fitted.forest.X[places]), fitted.encoding)
        columns = fitted.encoding.columns
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
            moved = {source: (self._of_reference(source), pick) for source, pick in picks.items()}
            outputs = self._outputs(mix_rows(self._X, rows, moved, self._fitted.encoding.names), len(rows))
            outputs = outputs.reshape(len(part), 2, n, -1)
            never += [not _differ(pair[0], pair[1]) for pair in outputs]
        return never

    def _of_reference(self, source: int) -> list[Any]:
        name = next(column.name for column in self._fitted.encoding.columns if column.source == source)
        return self._reference[name]


def _outputs_of(model: Any, probability_of: Any) -> Callable[[Any, int], NDArray[Any]]:
    """Return the function that gives the finest outputs of a model: scores rather than classes."""
    if probability_of is None and hasattr(model, "predict_proba"):
        return lambda X, _: np.asarray(model.predict_proba(X))
    return lambda X, n_rows: ask_model(model, X, n_rows, probability_of)


def _differ(first: NDArray[Any], second: NDArray[Any]) -> bool:
    if first.dtype.kind in "fc":
        return not np.allclose(first, second, equal_nan=True, **_TOLERANCE)
    return bool(np.any(first != second))


# Sums of the same numbers in another order differ in the last digits, which must not decide.
N_DIGITS = 12
# Training rows over which it is averaged what a variable adds alone.
N_AVERAGED = 256
# Two numbers whose distance is at most this many standard errors count as equal. None of 1, 2 and 3 keeps reasons best
# on all tables: python -m benchmarks.reason_stability orders
N_ERRORS = 1.0


@dataclass(frozen=True)
class Estimate:
    """A number with the variance of its error."""

    value: float
    variance: float


def choose_sets(fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets) -> list[int]:
    """Choose the sufficient set of each row that holds its reasons.

    Among the sets of the smallest size it is the one with the variables that keep the outcome most often alone,
    whatever the SDP of the set; `rank_alone` ranks the variables. Which of these sets has the highest SDP changes with
    the seed of the forest (`python -m benchmarks.reason_stability`).
    """
    sizes, offset = sets.sizes(), sets.offset.tolist()
    smallest: list[list[tuple[int, VariableSet]]] = []
    for begin, end in itertools.pairwise(offset):
        places = range(begin, begin + int(np.count_nonzero(sizes[begin:end] == sizes[begin])) if end > begin else begin)
        smallest.append([(place, sets.members(sets.masks[place])) for place in places])
    # A row with one smallest set has no choice.
    alone = _alone(
        fitted, X, outcomes, [sorted({v for _, S in of for v in S} if len(of) > 1 else ()) for of in smallest]
    )
    on_average = functools.partial(mean_gain, fitted)
    chosen = []
    for of_row, estimates in zip(smallest, alone, strict=True):
        if len(of_row) < 2:
            chosen.append(of_row[0][0] if of_row else -1)
            continue
        ranked = rank_alone(estimates, on_average, fitted.variables.names)
        rank = {v: i for i, v in enumerate(ranked)}
        chosen.append(min(of_row, key=lambda item: sorted(rank[v] for v in item[1]))[0])
    return chosen


def rank_alone(
    alone: Mapping[int, Estimate],
    on_average: Callable[[int], Estimate],
    names: Sequence[str],
    n_errors: float = N_ERRORS,
) -> list[int]:
    """Rank variables by how often they keep the outcome alone, so that noise does not decide."""
    left, ranked = sorted(alone), []
    while left:
        equal = _equal_to_the_best({v: alone[v] for v in left}, n_errors)
        if len(equal) > 1:
            equal = _equal_to_the_best({v: on_average(v) for v in equal}, N_ERRORS)
        first = min(equal, key=lambda v: names[v])
        ranked.append(first)
        left.remove(first)
    return ranked


def _equal_to_the_best(estimates: Mapping[int, Estimate], n_errors: float) -> list[int]:
    """List the variables whose distance to the largest estimate is within the error of the difference."""
    best = max(estimates.values(), key=lambda estimate: (estimate.value, estimate.variance))

    def is_equal(estimate: Estimate) -> bool:
        error = n_errors * math.sqrt(best.variance + estimate.variance)
        return round(best.value - estimate.value, N_DIGITS) <= round(error, N_DIGITS)

    return [v for v, estimate in estimates.items() if is_equal(estimate)]


def _alone(
    fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, variables: Sequence[Sequence[int]]
) -> list[dict[int, Estimate]]:
    """Compute the SDP of each variable of a row alone, with its variance as that of a share of as many rows."""
    rows = np.array([row for row, of in enumerate(variables) for _ in of], dtype=np.intp)
    alone = [(v,) for of in variables for v in of]
    n_threads = fitted.settings.n_threads
    sdps = fitted.projected.sdp(X[rows], alone, outcomes.take(rows), n_threads).tolist()
    squares = fitted.projected.squared_weights(X[rows], alone, n_threads).tolist()
    estimates = [
        Estimate(round(sdp, N_DIGITS), share_variance(sdp, square)) for sdp, square in zip(sdps, squares, strict=True)
    ]
    ends = itertools.accumulate(len(of) for of in variables)
    return [dict(zip(of, estimates[end - len(of) : end], strict=True)) for of, end in zip(variables, ends, strict=True)]


def share_variance(sdp: float, square: float) -> float:
    """Compute the variance of an SDP as that of a share of as many rows."""
    n = 1 / square
    share = (n * sdp + 1) / (n + 2)
    return share * (1 - share) / n


def mean_gain(fitted: Fitted, variable: int) -> Estimate:
    """Compute what a variable adds alone to the SDP of the empty set, on average over training rows."""
    known: dict[int, Estimate] = fitted.mean_gains
    if variable not in known:
        n_rows, n_threads = len(fitted.forest.X), fitted.settings.n_threads
        n = min(N_AVERAGED, n_rows)
        X = fitted.forest.X[np.arange(n) * n_rows // n]
        outcomes = fitted.outcomes(X, fitted.predict(X))
        with_it = fitted.projected.sdp(X, [(variable,)] * n, outcomes, n_threads)
        without = fitted.projected.sdp(X, [()] * n, outcomes, n_threads)
        gains = (with_it - without).tolist()
        mean = math.fsum(gains) / n  # the order of the numbers does not matter
        variance = math.fsum((gain - mean) ** 2 for gain in gains) / n**2
        known[variable] = Estimate(round(mean, N_DIGITS), variance)
    return known[variable]


def losses_of_sets(
    fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, sets: FoundSets, chosen: Sequence[int]
) -> list[dict[int, float]]:
    """Compute what is lost without each variable of the chosen set of each row."""
    members = [sets.members(sets.masks[place]) if place >= 0 else () for place in chosen]
    sdps = np.array([sets.sdps[place] if place >= 0 else 0.0 for place in chosen], dtype=np.float64)
    falls = _falls(fitted, X, outcomes, list(enumerate(members)), sdps)
    return [dict(zip(S, fall, strict=True)) for S, fall in zip(members, falls, strict=True)]


def _falls(
    fitted: Fitted,
    X: NDArray[np.float32],
    outcomes: Outcomes,
    pairs: Sequence[tuple[int, VariableSet]],
    sdps: NDArray[np.float64],
) -> list[list[float]]:
    """Compute the fall of the SDP of each set of a row when one of its variables is taken out."""
    rows = np.array([row for row, S in pairs for _ in S], dtype=np.intp)
    smaller = [tuple(other for other in S if other != variable) for _, S in pairs for variable in S]
    left = fitted.projected.sdp(X[rows], smaller, outcomes.take(rows), fitted.settings.n_threads)
    place, falls = 0, []
    for (_, S), sdp in zip(pairs, sdps.tolist(), strict=True):
        falls.append([sdp - without for without in left[place : place + len(S)].tolist()])
        place += len(S)
    return falls


def rank_by_loss(losses: Mapping[str, float], shares: Mapping[str, float]) -> list[str]:
    """Put the variables of a set in the order in which they are reasons."""

    def order(name: str) -> tuple[float, float, str]:
        return -round(losses[name], N_DIGITS), -round(shares.get(name, 0.0), N_DIGITS), name

    return sorted((name for name, loss in losses.items() if round(loss, N_DIGITS) > 0), key=order)


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
    guarded = _read_protected(state, protected)
    return Wishes(_read_book(state, codes, guarded), int(n), _read_adverse(adverse, state), guarded)


def find_reasons(
    state: Fitted, rows: AskedRows, table: Table, wishes: Wishes, model: ExplainedModel | None, progress: bool | None
) -> Reasons:
    """Find the reasons of each row, or refuse them."""
    decided = _Decided(state, rows.matrix, rows.values, rows.predictions(state), wishes.target)
    answers = decided.answers(plain_columns(table, state.encoding), rows.ids, rows.source)
    ask = None if model is None else partial(find_unused, state, model.model, model.probability_of, rows.X)
    work = _Work(state, wishes.book, wishes.n, wishes.protected, ask)
    with progress_bar(int(decided.follows.sum()), progress) if wants_bar(progress) else nullcontext() as report:
        answers = work.with_reasons(answers, decided, report)
    target = wishes.target
    names = tuple(state.variables.names[v] for v in wishes.protected)
    model_name = None if model is None else model.name
    adverse_text = "" if target is None else target.text
    settings = ReasonSettings(wishes.n, _adverse_values(target), names, adverse_text, model_name)
    return Reasons(answers, settings, wishes.book, state.without_model, rows.library)


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
        rules = find_maximal_rules(self._state, X, outcomes, row_sets, ExplainOptions("minimal"))
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
    """Write a value of a row with all its digits, for a letter."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        with np.errstate(over="ignore"):
            short = np.float32(value)
        return format_exactly(float(str(short)) if float(short) == value else value)
    return str(value)
