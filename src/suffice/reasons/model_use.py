"""Whether a model uses variables at a row: its outputs when their values are replaced by those of other rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice._forest.model_outputs import ask_model
from suffice._table.rows import mix_rows, plain_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suffice._forest.fitted import Fitted
    from suffice._forest.model_outputs import ExplainedModel
    from suffice._table.variables import VariableSet

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

    def _outputs(self, table: Any, n_rows: int) -> NDArray[Any]:
        """Ask the model for its finest outputs: scores rather than classes."""
        model, probability_of = self._model.model, self._model.probability_of
        if probability_of is None and hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(table))
        return ask_model(model, table, n_rows, probability_of)

    def _of_reference(self, source: int) -> list[Any]:
        name = next(column.name for column in self._fitted.encoding.columns if column.source == source)
        return self._reference[name]


def _differ(first: NDArray[Any], second: NDArray[Any]) -> bool:
    if first.dtype.kind in "fc":
        return not np.allclose(first, second, equal_nan=True, **_TOLERANCE)
    return bool(np.any(first != second))
