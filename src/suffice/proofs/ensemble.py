"""A model as plain arrays: trees that ask about the columns of the user's table, and what their leaves add.

How the models of a library become such arrays is left to ``reading``, what is proven about them to ``box_search``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from suffice._table.input import match_columns
from suffice._table.table import read_columns
from suffice._text import counted
from suffice.errors import InputValueError

DecidesBy = Literal["largest", "positive", "number"]
Link = Literal["identity", "exp", "logistic"]
Floats = NDArray[np.float64]
LEAF = -1
# What turns the output into the prediction and back, and the range of predictions.
_LINKS: dict[Link, tuple[Any, Any, float, float]] = {
    "identity": (np.asarray, np.asarray, -np.inf, np.inf),
    "exp": (np.exp, np.log, 0.0, np.inf),
    "logistic": (expit, logit, 0.0, 1.0),
}


@dataclass(frozen=True)
class ModelColumn:
    """A column of the table that the model is given."""

    name: str
    labels: tuple[Any, ...] | None = None  # categories in the order of their codes; None: numbers


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A sum of trees over the columns of a table; ``docs/method.md``, section 9, defines what it predicts."""

    columns: tuple[ModelColumn, ...]
    classes: NDArray[Any] | None  # labels by output, two for a binary margin; None: numbers
    roots: NDArray[np.int32]  # (n_trees,)
    column: NDArray[np.int32]  # (n_nodes,), LEAF at a leaf
    threshold: Floats  # numbers go left if they are at most this
    label_set: NDArray[np.int32]  # categories: the row of `label_sets` that goes left; -1 for numbers
    label_sets: NDArray[np.bool_]  # (n_sets, most labels)
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Floats  # (n_nodes, n_outputs), what a leaf adds
    start: Floats  # (n_outputs,)
    decides_by: DecidesBy
    rounding: float  # at least |the sum as the library adds it - the exact sum|
    name: str  # such as "RandomForestClassifier (100 trees)"
    cut: float = 0.0  # "positive": the second class iff the margin is above it
    link: Link = "identity"  # "number": from the output to the prediction

    def __post_init__(self) -> None:
        """Refuse arrays that are no forest."""
        self._check_shapes()
        visited = np.zeros(len(self.column), dtype=bool)
        nodes = np.asarray(self.roots)
        while len(nodes):
            if np.any((nodes < 0) | (nodes >= len(visited))):
                raise self._wrong(f"a node has the number {nodes.min()} or {nodes.max()}, of {len(visited)} nodes")
            if len(np.unique(nodes)) < len(nodes) or visited[nodes].any():
                raise self._wrong("two ways lead to one node")
            visited[nodes] = True
            inner = nodes[self.column[nodes] != LEAF]
            self._check_splits(inner)
            if not np.isfinite(self.value[np.setdiff1d(nodes, inner)]).all():
                raise self._wrong("a leaf adds no finite number")
            nodes = np.concatenate([self.left[inner], self.right[inner]])

    def _check_shapes(self) -> None:
        n_nodes, n_outputs = len(self.column), len(self.start)
        for name in ("threshold", "label_set", "missing_left", "left", "right", "value"):
            if len(getattr(self, name)) != n_nodes:
                raise self._wrong(f"`{name}` has {len(getattr(self, name))} lines for {counted(n_nodes, 'node')}")
        if self.value.shape[1:] != (n_outputs,) or not n_outputs:
            raise self._wrong(f"the leaves add {self.value.shape[1:]} numbers to {counted(n_outputs, 'output')}")
        wanted = {"largest": n_outputs, "positive": 2, "number": 0}[self.decides_by]
        n_classes = 0 if self.classes is None else len(self.classes)
        if n_classes != wanted or (self.decides_by != "largest" and n_outputs != 1):
            raise self._wrong(f"{counted(n_outputs, 'output')} cannot decide among {n_classes} classes")
        if not (np.isfinite(self.start).all() and np.isfinite([self.cut, self.rounding]).all() and self.rounding >= 0):
            raise self._wrong("`start`, `cut` and `rounding` must be finite numbers, the last one not negative")

    def _check_splits(self, nodes: NDArray[np.int32]) -> None:
        columns, sets = self.column[nodes], self.label_set[nodes]
        if np.any((columns < 0) | (columns >= len(self.columns))):
            raise self._wrong(f"a split asks about column {columns.max()} of {len(self.columns)}")
        n_labels = np.array([-1 if c.labels is None else len(c.labels) for c in self.columns])
        if np.any((sets >= 0) != (n_labels[columns] >= 0)) or np.any(sets >= len(self.label_sets)):
            raise self._wrong("a split asks numbers about labels, or labels about numbers")
        if n_labels.max(initial=0) > self.label_sets.shape[1] and np.any(sets >= 0):
            raise self._wrong("a set of labels has fewer places than its column has labels")
        if np.isnan(self.threshold[nodes[sets < 0]]).any():
            raise self._wrong("a threshold is NaN")

    def _wrong(self, problem: str) -> ValueError:
        return ValueError(f"{self.name} cannot be read as trees: {problem}.")

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def encode(self, X: Any) -> Floats:
        """Read a table as values: numbers, codes of labels, NaN for missing ones."""
        table = read_columns(X)
        names = self.names
        is_numbered = not table.has_names and len(table.names) == len(names)
        positions = range(len(names)) if is_numbered else match_columns(table.names, names, "ignore")
        values = np.empty((table.n_rows, len(names)))
        for c, (column, i) in enumerate(zip(self.columns, positions, strict=True)):
            if column.labels is None:
                values[:, c] = table.numbers(i)
                continue
            code_of = {label: code for code, label in enumerate(column.labels)}
            labels, codes = table.labels(i)
            unknown = next((k for k, label in enumerate(labels) if label not in code_of), None)
            if unknown is not None:
                raise InputValueError(
                    f"Column {column.name!r} of `X` holds {labels[unknown]!r}, which {self.name} does not know",
                    f": it knows {list(column.labels[:20])}.",
                    row=int(np.argmax(codes == unknown)),
                    column=column.name,
                    value=labels[unknown],
                )
            values[:, c] = np.array([*(code_of[label] for label in labels), np.nan])[codes]
        return values

    def margins(self, values: Floats) -> Floats:
        """Return the outputs, one line for each row."""
        outputs = np.tile(np.asarray(self.start, dtype=np.float64), (len(values), 1))
        rows = np.arange(len(values))
        for root in self.roots:
            nodes = np.full(len(values), root)
            while np.any(is_inner := self.column[nodes] != LEAF):
                at = nodes[is_inner]
                nodes[is_inner] = np.where(
                    self.goes_left(at, values[rows[is_inner], self.column[at]]), self.left[at], self.right[at]
                )
            outputs += self.value[nodes]
        return outputs

    def goes_left(self, nodes: NDArray[Any], values: Floats) -> NDArray[np.bool_]:
        """Tell which values go left, each at a node."""
        is_missing, sets = np.isnan(values), self.label_set[nodes]
        goes_left = values <= self.threshold[nodes]
        of_labels = (sets >= 0) & ~is_missing
        goes_left[of_labels] = self.label_sets[sets[of_labels], values[of_labels].astype(np.intp)]
        return np.asarray(np.where(is_missing, self.missing_left[nodes], goes_left), dtype=np.bool_)

    def decide(self, values: Floats) -> NDArray[Any]:
        """Return what the model predicts: classes, or numbers."""
        outputs = self.margins(values)
        if self.classes is None:
            return self.apply_link(outputs[:, 0])
        chosen = outputs.argmax(axis=1) if self.decides_by == "largest" else (outputs[:, 0] > self.cut).astype(np.intp)
        predicted: NDArray[Any] = self.classes[chosen]
        return predicted

    def apply_link(self, outputs: Floats) -> Floats:
        """Turn outputs into predicted numbers."""
        return np.asarray(_LINKS[self.link][0](outputs), dtype=np.float64)


def invert_link(link: Link, numbers: Any) -> Floats:
    """Turn predicted numbers into outputs; infinite beyond what the link gives."""
    _, inverse, least, most = _LINKS[link]
    with np.errstate(divide="ignore"):
        return np.asarray(inverse(np.clip(numbers, least, most)), dtype=np.float64)
