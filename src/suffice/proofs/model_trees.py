"""A model as trees over the domain of a table, and the model itself, which confirms exceptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice._forest.fitted import Fitted
from suffice._forest.model_outputs import ask_model
from suffice._forest.trees import spaced_rows
from suffice._table.rows import move_rows
from suffice._table.table import Table
from suffice._text import format_percent, join, to_plain
from suffice.errors import check_number, did_you_mean
from suffice.proofs.domain import Domain
from suffice.proofs.ensemble import Ensemble, Floats
from suffice.proofs.search import Budget, Decision, Prover

# The share of outputs that a model must give again to be the one that is explained.
LEAST_AGREED = 0.95
# Rows among which distances are compared, and rows whose nearest other row is looked for.
N_COMPARED, N_MEASURED = 4000, 200


@dataclass(frozen=True, eq=False)
class ModelTrees:
    """A model as trees, over the domain of a table; with the model itself, which confirms counterexamples."""

    prover: Prover
    X: Any
    model: Any = None

    @property
    def domain(self) -> Domain:
        """The domain of the proofs."""
        return self.prover.domain

    @property
    def rows(self) -> Floats:
        """The rows of the table as values."""
        return self.domain.rows

    def row_of(self, values: Floats) -> list[Any]:
        """Return a row of values in the user's own terms."""
        return [self.domain.value_of(c, value) for c, value in enumerate(values.tolist())]

    def decide(self, values: Floats) -> Any:
        """Return what the model decides at a row: the model itself, if it is at hand."""
        if self.model is None:
            return to_plain(self.domain.ensemble.decide(values[None])[0])
        moved = dict(enumerate(self.row_of(values)))
        table = move_rows(self.X, [0], [moved], self.domain.ensemble.names)
        return to_plain(ask_model(self.model, table, 1)[0])

    def keeps(self, decision: Decision, values: Floats) -> bool:
        """Tell whether the model, and its trees, decide like this at a row."""
        if self.prover.keeps(decision, values[None])[0]:
            return True
        decided, classes = self.decide(values), self.domain.ensemble.classes
        if classes is None:
            return bool(decision[0] <= decided <= decision[1])
        return bool(decided == to_plain(classes[decision]))

    def place(self, values: Floats) -> int | None:
        """Return the position of the first row of the table that has these values, or None."""
        is_same = ((self.rows == values) | (np.isnan(self.rows) & np.isnan(values))).all(axis=1)
        return int(is_same.argmax()) if is_same.any() else None

    def nearness(self, values: Floats) -> tuple[float, Floats, float]:
        """Return the distance of a row to the nearest of the table, what each column adds, and how unusual it is."""
        own_place = self.place(values)
        rows = self.rows[spaced_rows(len(self.rows), N_COMPARED) if own_place is None else [own_place]]
        gaps = self.domain.gaps(values, rows)
        nearest = int(gaps.sum(axis=1).argmin())
        distance = float(gaps[nearest].sum())
        rows = self.rows[spaced_rows(len(self.rows), N_COMPARED)]
        own = []
        for i in spaced_rows(len(rows), N_MEASURED):
            others = self.domain.distances(rows[i], rows)
            others[i] = np.inf
            own.append(others.min())
        return distance, gaps[nearest], float(np.mean(np.array(own) >= distance))


def check_options(what: str, options: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuse options of other names."""
    for name in options:
        if name not in known:
            names = join([f"`{option}`" for option in known])
            raise TypeError(f"{what} have no option {name!r}, only {names}.{did_you_mean(name, known)}")


def read_model_trees(model: Any, X: Any, *, also: Any = None, groups: Any = None, **options: Any) -> ModelTrees:
    """Read a model and the domain of its table."""
    check_options("Proofs", options, ("domain", "constraints", "max_nodes", "max_seconds"))
    budget = Budget()._replace(**{name: options[name] for name in Budget._fields if name in options})
    check_number("max_nodes", budget.max_nodes, "at least 1", lambda v: v >= 1, int)
    check_number("max_seconds", budget.max_seconds, "a number above 0", lambda v: 0 < v < 2**1000 or v == np.inf)
    from suffice.proofs.reading import read_model

    ensemble = model if isinstance(model, Ensemble) else read_model(model, X)
    rows = ensemble.encode(X)
    seen = rows if also is None else np.concatenate([rows, ensemble.encode(also)])
    of_domain = {name: options[name] for name in ("domain", "constraints") if name in options}
    domain = Domain.learn(ensemble, rows, seen, groups=groups, **of_domain)
    # A stored table cannot be given to a model: it has other types, and one category for all rare ones.
    is_askable = not isinstance(model, Ensemble) and not isinstance(X, Table)
    return ModelTrees(Prover(domain, budget), X, model if is_askable else None)


def read_trees_of(state: Fitted, model: Any, X: Any, **options: Any) -> ModelTrees:
    """Read the model of an explainer, and the domain of its table, or those that are passed instead."""
    from suffice.proofs.reading import compare_outputs

    if model is None and state.model is None:
        raise ValueError("`model` is needed: only an explainer made by `for_model` knows one, and no file holds it.")
    if state.is_probability:
        raise ValueError("Proofs are about decisions and numbers; this explainer explains a probability.")
    known = state.model
    own_rows = state.training_table[0] if known is None or known.rows is None else known.rows
    groups = {
        name: [state.encoding.columns[c].name for c in columns]
        for name, columns in zip(state.variables.names, state.variables.columns, strict=True)
    }
    table = own_rows if X is None else X
    model_trees = read_model_trees(known.model if model is None and known else model, table, groups=groups, **options)
    if state.model_name is not None and X is None:
        outcomes = state.training_table[1]
        ensemble, is_same_table = model_trees.domain.ensemble, len(outcomes) == len(model_trees.rows)
        agreed = 1 - compare_outputs(ensemble, table, outcomes) if is_same_table else 1.0
        if agreed < LEAST_AGREED:
            raise ValueError(
                f"{ensemble.name} agrees with {format_percent(agreed)} % of the outputs that the explainer was fitted "
                "on: pass the model that it explains."
            )
    return model_trees
