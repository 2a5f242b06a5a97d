"""Whether the probability of "all variables together" is right: on known laws of classes, and on held-out rows.

``python -m benchmarks.all_variables`` prints the figures of docs/evidence/honesty.md (a few minutes; the data folder is
named by ``SUFFICE_DATA``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from benchmarks.decision_tables import adult_like, credit_like, telco_like
from benchmarks.laws import LAWS, NormalColumns, as_frame
from benchmarks.printing import number, print_table
from benchmarks.real_tables import LOADERS, RealTable, load_table
from suffice import SufficientExplainer
from suffice._forest.out_of_bag import sdps_of_all
from suffice._forest.outcomes import outcomes_of_classes
from suffice.errors import FidelityWarning

N_FRESH = 1000
TEN = NormalColumns(10)


@dataclass(frozen=True)
class ByFormula:
    """A law of classes 0, 1, ... whose probabilities are a formula of ten independent normal columns."""

    name: str
    formula: Callable[[Any], Any]
    columns: NormalColumns = TEN

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Any, Any]:
        X = self.columns.draw(n_rows, rng)
        return as_frame(X), (rng.random((n_rows, 1)) > np.cumsum(self.formula(X), axis=1)[:, :-1]).sum(axis=1)

    def sdp(self, X: Any, S: Any, kept: Any) -> Any:
        return self.formula(X.to_numpy())[np.arange(len(X)), kept]


def _two(p: Any) -> Any:
    return np.column_stack([1 - p, p])


def _switch(X: Any) -> Any:
    return _two(expit(3 * np.where(X[:, 4] <= 0, X[:, 0] + X[:, 1], X[:, 2] + X[:, 3])))


def _xor(X: Any) -> Any:
    return _two(np.where(X[:, 0] * X[:, 1] > 0, 0.95, 0.05))


def _three(X: Any) -> Any:
    return softmax(2 * np.column_stack([X[:, 0] + X[:, 1], X[:, 2] - X[:, 0], X[:, 3] - X[:, 1]]), axis=1)


FORMULAS = (ByFormula("switch of classes", _switch), ByFormula("XOR", _xor), ByFormula("three classes", _three))
CLASS_LAWS = (*LAWS[:5], *FORMULAS)
DRAWN = (adult_like, telco_like, credit_like)


def fit_quietly(X: Any, y: Any, seed: int) -> SufficientExplainer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FidelityWarning)
        return SufficientExplainer(random_state=seed, n_jobs=1, unseen="missing").fit(X, y)


def stated(explainer: SufficientExplainer, X: Any) -> tuple[Any, dict[str, Any]]:
    """The predicted classes, and their probability: as stated, by the forest's votes and by the shares in leaves."""
    state, matrix = explainer.fitted_, explainer.encode(X)
    labels = explainer.predict(X)
    outcomes = outcomes_of_classes(labels, state.classes)
    return labels, {
        "leaves": state.projected.leaf_sdp(matrix, outcomes, 1),
        "votes": explainer.predict_proba(X).max(axis=1),
        "stated": sdps_of_all(state, matrix, outcomes),
    }


def error_by_tenths(probabilities: Any, truth: Any) -> float:
    """The mean distance between stated and true probabilities, each averaged over rows with similar statements."""
    tenth = np.minimum((10 * probabilities).astype(int), 9)
    return sum(abs(np.sum((probabilities - truth)[tenth == i])) for i in range(10)) / len(truth)


def figures(probabilities: dict[str, Any], truth: Any) -> list[float]:
    return [f(p, truth) for p in probabilities.values() for f in (lambda p, t: np.mean(p - t), error_by_tenths)]


def measure_law(law: Any, n_train: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    X, y = law.draw(n_train, rng)
    fresh, _ = law.draw(N_FRESH, rng)
    outcomes, probabilities = stated(fit_quietly(X, y, seed), fresh)
    return figures(probabilities, law.sdp(fresh, list(fresh.columns), outcomes))


def measure_table(table: RealTable, seed: int) -> list[float]:
    train, _, fresh = table.split(seed, 0)
    outcomes, probabilities = stated(fit_quietly(train.X, train.y, seed), fresh.X)
    return figures(probabilities, (outcomes == fresh.y).astype(float))


def class_tables() -> list[RealTable]:
    drawn = [make(4000, 0) for make in DRAWN]
    real = [load_table(name) for name, (_, is_class) in LOADERS.items() if is_class]
    return [*(RealTable(t.name, t.X, t.y.to_numpy().astype(str), True) for t in drawn), *real]


def main(n_seeds: int = 5, n_train: int = 2000) -> None:
    lines = []
    for law in CLASS_LAWS:
        lines.append((law.name, np.mean([measure_law(law, n_train, seed) for seed in range(n_seeds)], axis=0)))
    for table in class_tables():
        lines.append((table.name, np.mean([measure_table(table, seed) for seed in range(n_seeds)], axis=0)))
    names = [f"{kind}, {what}" for kind in ("leaves", "votes", "stated") for what in ("bias", "error")]
    print_table(["law or table", *names], [[name, *(number(v, 3) for v in values)] for name, values in lines])


if __name__ == "__main__":
    main()
