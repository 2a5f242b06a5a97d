"""Steps before a model: its questions about encoded columns become questions about the user's own columns.

What each step makes of a column is asked of the step itself, value by value: of every label, of a missing value, and of
as many numbers as a bisection needs to find where the answer changes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from suffice._table.frames import as_frame
from suffice._table.table import Table, is_missing, read_columns
from suffice.proofs.ensemble import LEAF, Ensemble, Floats, ModelColumn
from suffice.proofs.joining import number_sets

READABLE_STEPS = (
    "steps that select columns, SimpleImputer, MissingIndicator, OneHotEncoder, OrdinalEncoder, StandardScaler, "
    "MinMaxScaler, MaxAbsScaler, RobustScaler, FunctionTransformer without a function, ColumnTransformer and Pipeline"
)
_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
# Numbers up to this size are followed through scalers, and up to the other one in columns of float32.
LARGEST, LARGEST_FLOAT32 = 1e150, 1e30
N_ASKED = 20_000  # rows that a step is asked at once


class Trail(NamedTuple):
    """What an encoded column is made of."""

    source: int  # the column of the user's table
    relation: Literal["same", "monotone", "constant"] = "same"  # to the numbers that are not missing
    labels: tuple[Any, ...] | None = None  # those that an encoder knows


def read_behind(inner: Ensemble, step: Any, X: Any) -> Ensemble:
    """Turn an ensemble over the columns that a fitted step makes into one over those of the user's table."""
    if not isinstance(X, np.ndarray):
        X = as_frame(X).to_pandas()  # a step takes any frame with the names of the fit
    table = read_columns(X)
    trails = _follow(step, [Trail(i) for i in range(len(table.names))])
    if len(trails) != len(inner.columns):
        raise ValueError(f"The steps before {inner.name} make {len(trails)} columns, it takes {len(inner.columns)}.")
    probe = _Probe(inner, step, X, table)
    is_inner = inner.column != LEAF
    column, threshold, missing_left = inner.column.copy(), inner.threshold.copy(), inner.missing_left.copy()
    columns: list[ModelColumn] = []
    sets: dict[int, NDArray[np.bool_]] = {}
    for source, name in enumerate(table.names):
        encoded = [i for i, trail in enumerate(trails) if trail.source == source]
        nodes = np.flatnonzero(is_inner & np.isin(inner.column, encoded))
        labels = _labels_of(source, table, [trails[i] for i in encoded], [inner.columns[i] for i in encoded])
        if labels is not None:
            values = probe.encode(source, labels) if encoded else np.empty((len(labels), 0))
            columns.append(ModelColumn(name, labels))
            for node, goes_left in zip(nodes, probe.answer(nodes, values), strict=True):
                sets[int(node)] = goes_left
        else:
            # Thresholds stay as they are where the numbers do.
            columns.append(ModelColumn(name))
            moved = nodes[[trails[i].relation != "same" for i in inner.column[nodes]]]
            threshold[moved] = probe.find_thresholds(source, moved)
        column[nodes] = source
        missing = probe.ask_missing(source) if len(nodes) else None
        if missing is not None:
            missing_left[nodes] = probe.answer(nodes, missing)[:, 0]
    label_set, label_sets = number_sets(sets, len(column), max(len(c.labels or ()) for c in columns))
    inner = replace(inner, columns=tuple(columns), column=column, label_set=label_set, label_sets=label_sets)
    return replace(inner, threshold=threshold, missing_left=missing_left)


def _follow(step: Any, trails: list[Trail]) -> list[Trail]:  # noqa: PLR0911 (a table of steps)
    """Return what each column that a fitted step makes is made of."""
    kind = type(step).__name__
    if step is None or step == "passthrough":
        return trails
    if not type(step).__module__.startswith("sklearn."):
        raise _unknown_step(kind)
    if kind == "Pipeline":
        for _, part in step.steps:
            trails = _follow(part, trails)
        return trails
    if kind == "ColumnTransformer":
        return _follow_columns(step, trails)
    if kind == "FunctionTransformer" and (step.func is None or getattr(step.func, "func", None) is check_array):
        return trails
    if kind in _SCALERS:
        return [t if t.relation == "constant" else t._replace(relation="monotone") for t in trails]
    if kind in ("OneHotEncoder", "OrdinalEncoder"):
        known = [trail.labels or tuple(c.tolist()) for trail, c in zip(trails, step.categories_, strict=True)]
        trails = [trail._replace(labels=labels) for trail, labels in zip(trails, known, strict=True)]
        return trails if kind == "OrdinalEncoder" else _follow_one_hot(step, trails)
    if kind == "SimpleImputer":
        if not is_missing(step.missing_values) and not isinstance(step.missing_values, str):
            raise ValueError(f"SimpleImputer replaces the number {step.missing_values!r}; only missing values can be.")
        is_kept = [step.keep_empty_features or not is_missing(value) for value in step.statistics_]
        kept = [trail for trail, keeps in zip(trails, is_kept, strict=True) if keeps]
        return kept + ([] if step.indicator_ is None else _follow(step.indicator_, trails))
    if kind == "MissingIndicator":
        return [trails[i]._replace(relation="constant") for i in step.features_]
    if hasattr(step, "get_support"):
        return [trails[i] for i in step.get_support(indices=True)]
    raise _unknown_step(kind)


def _unknown_step(kind: str) -> ValueError:
    return ValueError(f"The step {kind} before the model cannot be read; {READABLE_STEPS} can.")


def _follow_columns(step: Any, trails: list[Trail]) -> list[Trail]:
    inputs = step._transformer_to_input_indices  # noqa: SLF001 (names, slices, masks and functions, resolved)
    made: dict[int, Trail] = {}
    for name, part, _ in step.transformers_:
        places = range(*step.output_indices_[name].indices(np.iinfo(np.int32).max))
        if part != "drop" and places:
            made |= dict(zip(places, _follow(part, [trails[i] for i in inputs[name]]), strict=True))
    return [made[i] for i in range(len(made))]


def _follow_one_hot(step: Any, trails: list[Trail]) -> list[Trail]:
    made = []
    rare = getattr(step, "infrequent_categories_", [None] * len(trails))
    dropped = [None] * len(trails) if step.drop_idx_ is None else step.drop_idx_
    for trail, known, joined, left_out in zip(trails, step.categories_, rare, dropped, strict=True):
        n_joined = 0 if joined is None else len(joined) - 1
        made += [trail] * (len(known) - n_joined - (left_out is not None))
    return made


def _labels_of(
    source: int, table: Table, trails: Sequence[Trail], columns: Sequence[ModelColumn]
) -> tuple[Any, ...] | None:
    """Return the labels of a column, those that the steps or the model know first, or None if it holds numbers."""
    known = [trail.labels for trail in trails] + [
        c.labels for t, c in zip(trails, columns, strict=True) if not t.labels
    ]
    is_text = table.kind(source) in ("category", "ordered")
    if not any(known) and not is_text:
        return None
    own = table.labels(source)[0]
    return tuple(dict.fromkeys(label for labels in (*known, own) for label in labels or () if not is_missing(label)))


class _Probe:
    """Rows of the user's table that differ in one column, as the steps encode them."""

    def __init__(self, inner: Ensemble, step: Any, X: Any, table: Table) -> None:
        self.inner, self.step, self.X, self.table = inner, step, X, table

    def encode(self, source: int, values: Sequence[Any] | Floats) -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown categories, which are asked about on purpose
            encoded = self.step.transform(_with_column(self.X, source, values))
        return self.inner.encode(encoded.toarray() if hasattr(encoded, "toarray") else encoded)

    def ask_missing(self, source: int) -> Floats | None:
        """Return what the steps make of a missing value; None if they take none."""
        own = _column_at(self.X, source)[self.table.is_missing(source)].tolist()
        try:
            return self.encode(source, own[:1] or [np.nan])
        except (TypeError, ValueError):
            return None

    def answer(self, nodes: NDArray[Any], values: Floats) -> NDArray[np.bool_]:
        """Return which of the encoded rows go left, one line for each node."""
        questions, which = _distinct(self.inner, nodes)
        answers = np.zeros((len(questions), len(values)), dtype=bool)
        for line, node in zip(answers, questions, strict=True):
            line[:] = self.inner.goes_left(np.full(len(values), node), values[:, self.inner.column[node]])
        return answers[which]

    def find_thresholds(self, source: int, nodes: NDArray[Any]) -> Floats:
        """Find the largest number of the user's column that goes left at each node, or infinity."""
        questions, which = _distinct(self.inner, nodes)
        found = [self._bisect(source, questions[i : i + N_ASKED]) for i in range(0, len(questions), N_ASKED)]
        return np.concatenate([*found, np.empty(0)])[which]

    def _bisect(self, source: int, questions: NDArray[Any]) -> Floats:
        def goes_left(keys: NDArray[np.int64]) -> NDArray[np.bool_]:
            values = self.encode(source, _from_key(keys))
            return self.inner.goes_left(questions, values[np.arange(len(keys)), self.inner.column[questions]])

        end = LARGEST_FLOAT32 if str(_column_at(self.X, source).dtype) == "float32" else LARGEST
        low, high = (np.full(len(questions), _to_key(at)) for at in (-end, end))
        never, always = ~goes_left(low), goes_left(high)
        for _ in range(64):  # bits
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            left = goes_left(middle)
            low, high = np.where(left, middle, low), np.where(left, high, middle)
        return np.where(never, -np.inf, np.where(always, np.inf, _from_key(low)))


def _distinct(inner: Ensemble, nodes: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Return one node for each different question, and for each node the place of its question."""
    parts = (inner.column, inner.threshold, inner.label_set, inner.missing_left)
    questions = np.stack([part[nodes].astype(np.float64) for part in parts], axis=1)
    _, first, which = np.unique(questions, axis=0, return_index=True, return_inverse=True)
    return nodes[first], which.reshape(-1)


def _to_key(value: float) -> int:
    """Map a float to a whole number, in the order of the floats."""
    bits = int(np.float64(value).view(np.int64))
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _from_key(keys: NDArray[np.int64]) -> Floats:
    return np.where(keys < 0, -1.0, 1.0) * np.abs(keys).view(np.float64)


def _column_at(X: Any, source: int) -> Any:
    return X[:, source] if isinstance(X, np.ndarray) else X.iloc[:, source]


def _with_column(X: Any, source: int, values: Any) -> Any:
    """Repeat the first row of a table with other values in one column, of the same type where that holds them."""
    if isinstance(X, np.ndarray):
        kind = object if X.dtype.kind in "OUST" else np.result_type(X.dtype, np.float32)
        rows = np.repeat(X[:1].astype(kind), len(values), axis=0)
        rows[:, source] = values
        return rows
    import pandas as pd

    rows, dtype = X.iloc[np.zeros(len(values), dtype=int)].reset_index(drop=True), X.dtypes.iloc[source]
    known = [value for value in values if not is_missing(value)]
    if dtype.kind in "iub" and (isinstance(values, np.ndarray) or len(known) < len(values)):
        dtype = np.float64
    elif isinstance(dtype, pd.CategoricalDtype) and not {*known} <= {*dtype.categories}:
        dtype = object
    rows[X.columns[source]] = pd.Series(values, dtype=dtype)
    return rows
