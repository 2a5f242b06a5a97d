"""How stable reasons are: ``python -m benchmarks.reason_stability --data FOLDER [orders] [tables]``.

A boosted model (HistGradientBoosting) decides. Its adverse decisions about rows that it was not fitted on get reasons
under four changes: another seed of the explainer's forest; a bootstrap sample of the training table with the model as
it is; the model and the forest both fitted on a bootstrap sample; noise of 0.05 standard deviations on the numbers of
the row. Pairs of a row and a change count if the row has reasons before the change and the model's decision is the same
after it. ``orders`` compares ways to choose and to order reasons on the tables on which the way was chosen; ``tables``
prints the reasons of the package beside SHAP's top four on the other tables.

SHAP has two readings. *paths* uses the trees alone (shap.TreeExplainer(model)), so that it cannot change while the
model does not. *table* compares with 100 rows of the training table, which a bootstrap sample changes.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import shap
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.decision_tables import TABLES, DecisionTable
from benchmarks.run import head
from suffice import SufficientExplainer
from suffice._engine.fitting import default_forest
from suffice._engine.search import find_sufficient_sets
from suffice._engine.tree_shap import top_variables
from suffice._table.noisy_rows import noise_of_columns, noisy_copies

CHOSEN_ON = ("telco-like", "adult-like", "german credit", "compas")
OTHERS = ("credit-like", "bank", "attrition", "nhanes")
KINDS = ("seed", "bootstrap", "refit", "noise")
N_TRAIN, SCALE, N_REASONS = 1500, 0.05, 4
Reasons = list[tuple[str, ...]]


class BoostedModel:
    """HistGradientBoosting on codes of categories, as shap.TreeExplainer needs them; it takes the user's table."""

    def __init__(self, X: Any, y: Any) -> None:
        texts = X.select_dtypes(exclude="number").columns
        self.labels = {name: sorted(X[name].dropna().unique().tolist(), key=str) for name in texts}
        self.trees = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, early_stopping=False, random_state=0)
        self.trees.fit(self.encode(X), y)
        self.classes_ = self.trees.classes_

    def encode(self, X: Any) -> Any:
        codes = {name: {label: i for i, label in enumerate(labels)} for name, labels in self.labels.items()}
        columns = [X[name].map(codes[name]) if name in codes else X[name] for name in X.columns]
        return np.column_stack([column.to_numpy(dtype=float) for column in columns])

    def predict(self, X: Any) -> Any:
        return self.trees.predict(self.encode(X))

    def predict_proba(self, X: Any) -> Any:
        return self.trees.predict_proba(self.encode(X))


@dataclass(frozen=True)
class Case:
    """A model, the table that it was fitted on, and adverse rows."""

    table: DecisionTable
    X: Any
    y: Any
    model: BoostedModel
    rows: Any
    n_drawn: int = 0
    n_trees: int = 100

    @classmethod
    def of(cls, table: DecisionTable, n_rows: int, n_drawn: int = 0, n_trees: int = 100) -> Case:
        order = np.random.default_rng(0).permutation(len(table.X))
        X, y = table.X.iloc[order].reset_index(drop=True), table.y.iloc[order].reset_index(drop=True)
        n = min(N_TRAIN, int(0.7 * len(X)))
        model = BoostedModel(X[:n], y[:n])
        fresh = X[n:]
        rows = fresh[model.predict(fresh) == table.adverse][:n_rows].reset_index(drop=True)
        return cls(table, X[:n], y[:n], model, rows, n_drawn, n_trees)

    def explainer(self, model: BoostedModel, X: Any, seed: int) -> SufficientExplainer:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            forest = default_forest("classification", len(X), "out-of-bag", 2, seed)
            return SufficientExplainer.for_model(
                model,
                X,
                forest=forest.set_params(n_estimators=self.n_trees),
                pi=0.8,
                levels="odds",
                unseen="missing",
                random_state=seed,
                drawn_rows=self.n_drawn,
            )

    def changes(self, base: SufficientExplainer, n: int) -> Iterator[tuple[str, Any, BoostedModel, Any, Any]]:
        """Yield the kind of each change with the explainer, the model, the background of SHAP and the rows after it."""
        columns = base.fitted_.encoding.columns
        noise = noise_of_columns(base.training[0], columns, SCALE)
        for i in range(n):
            rng = np.random.default_rng(100 + i)
            drawn = rng.integers(len(self.X), size=len(self.X))
            X, y = self.X.iloc[drawn].reset_index(drop=True), self.y.iloc[drawn].reset_index(drop=True)
            yield "seed", self.explainer(self.model, self.X, 100 + i), self.model, self.X, self.rows
            yield "bootstrap", self.explainer(self.model, X, 100 + i), self.model, X, self.rows
            again = BoostedModel(X, y)
            yield "refit", self.explainer(again, X, 100 + i), again, X, self.rows
            noisy = noisy_copies(self.rows, base.fitted_.encoding.names, noise, 1, rng)
            yield "noise", base, self.model, self.X, noisy

    def shap_tops(self, model: BoostedModel, rows: Any, background: Any = None) -> Reasons:
        X = model.encode(rows)
        if background is None:
            values = shap.TreeExplainer(model.trees).shap_values(X)
        else:
            data = model.encode(background[:100])
            values = shap.TreeExplainer(model.trees, data).shap_values(X, check_additivity=False)
        sign = 1 if model.classes_[1] == self.table.adverse else -1
        return top_variables(sign * np.asarray(values), tuple(rows.columns), N_REASONS)


# --- orders -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowSets:
    """The sufficient sets of a row, smallest first, and SDPs of sets."""

    sets: list[frozenset[int]]
    sdp: dict[frozenset[int], float]
    names: tuple[str, ...]

    @property
    def smallest(self) -> list[frozenset[int]]:
        return [S for S in self.sets if len(S) == len(self.sets[0])]

    def loss(self, S: frozenset[int], v: int) -> float:
        return self.sdp[S] - self.sdp[S - {v}]

    def gain(self, v: int) -> float:
        return self.sdp[frozenset([v])] - self.sdp[frozenset()]

    def share(self, v: int) -> float:
        return float(np.mean([v in S for S in self.sets]))

    def of_largest_gains(self) -> frozenset[int]:
        return min(self.smallest, key=lambda S: sorted(-self.gain(v) for v in S))

    def ranked(self, variables: frozenset[int], score: Callable[[int], float]) -> tuple[str, ...]:
        order = sorted(variables, key=lambda v: (-round(score(v), 12), -self.share(v), self.names[v]))
        return tuple(self.names[v] for v in order[:N_REASONS])

    def mean_loss(self, v: int) -> float:
        return float(np.mean([self.loss(S, v) if v in S else 0.0 for S in self.smallest]))


ORDERS: dict[str, Callable[[RowSets], tuple[str, ...]]] = {
    "best set, by loss": lambda row: row.ranked(row.sets[0], lambda v: row.loss(row.sets[0], v)),
    "best set, by gain alone": lambda row: row.ranked(row.sets[0], row.gain),
    "smallest sets, by mean loss": lambda row: row.ranked(frozenset().union(*row.smallest), row.mean_loss),
    "all sets, by LXI": lambda row: row.ranked(frozenset().union(*row.sets), row.share),
    "set of largest gains, by loss": lambda row: row.ranked(
        row.of_largest_gains(), lambda v: row.loss(row.of_largest_gains(), v)
    ),
    "set of largest gains, by gain": lambda row: row.ranked(row.of_largest_gains(), row.gain),
}


def sets_of_rows(explainer: SufficientExplainer, rows: Any, adverse: Any) -> list[RowSets | None]:
    """Search the sets of rows whose adverse class the forest predicts; None for the others."""
    state, X = explainer.fitted_, explainer.encode(rows)
    outcomes = state.outcomes(X, np.full(len(X), adverse, dtype=np.asarray(state.classes).dtype))
    found_sets = find_sufficient_sets(state, X, outcomes, minimal_only=False, progress=None, warns=False)
    by_row: list[list[frozenset[int]]] = [[] for _ in range(len(X))]
    for row, S in found_sets.by_row():
        by_row[row].append(frozenset(S))
    follows = state.predict(X) == adverse
    names = state.variables.names
    answers: list[RowSets | None] = []
    for row, sets in enumerate(by_row):
        if not follows[row] or not sets or not sets[0]:
            answers.append(None)
            continue
        smallest = [S for S in sets if len(S) == len(sets[0])]
        needed = {frozenset(), *(frozenset([v]) for v in range(len(names))), *smallest}
        needed |= {S - {v} for S in smallest for v in S}
        listed = list(needed)
        at = np.full(len(listed), row)
        sdps = state.projected.sdp(X[at], [tuple(sorted(S)) for S in listed], outcomes.take(at), 0)
        answers.append(RowSets(sets, dict(zip(listed, sdps.tolist(), strict=True)), names))
    return answers


def ordered(explainer: SufficientExplainer, rows: Any, adverse: Any) -> dict[str, Reasons]:
    found = sets_of_rows(explainer, rows, adverse)
    return {name: [() if row is None else order(row) for row in found] for name, order in ORDERS.items()}


# --- counting ---------------------------------------------------------------------------------------------------------


class Counts:
    """Pairs, those with the same first reason, the same reasons, and no reasons after the change."""

    def __init__(self) -> None:
        self.pairs: dict[tuple[str, str], list[tuple[bool, bool, bool]]] = {}

    def add(self, who: str, kind: str, before: Reasons, after: Reasons, kept: Any) -> None:
        pairs = self.pairs.setdefault((who, kind), [])
        for own, other, is_kept in zip(before, after, kept, strict=True):
            if own and is_kept:
                pairs.append((own[:1] == other[:1], set(own) == set(other), not other))

    def text(self, who: str, kind: str) -> str:
        pairs = np.array(self.pairs.get((who, kind), []), dtype=float)
        if not len(pairs):
            return f"{'-':>16s}"
        top, all_same, none = pairs.mean(axis=0)
        return f"   {top:.2f} {all_same:.2f} {none:.2f}"

    def print(self, names: list[str]) -> None:
        for who in names:
            print(f"  {who:32s}{''.join(self.text(who, kind) for kind in KINDS)}", flush=True)


def measure(case: Case, reasons_of: Callable[[SufficientExplainer, Any], dict[str, Reasons]], n_changes: int) -> Counts:
    base = case.explainer(case.model, case.X, 0)
    before = reasons_of(base, case.rows)
    first = next(iter(before.values()))
    shap_before = {"SHAP, paths": case.shap_tops(case.model, case.rows)}
    shap_before["SHAP, table"] = case.shap_tops(case.model, case.rows, case.X)
    # SHAP is counted at the rows that have reasons.
    shap_before = {
        who: [own if has else () for own, has in zip(tops, first, strict=True)] for who, tops in shap_before.items()
    }
    by_class = ", ".join(f"{label} {share:.2f}" for label, share in base.fidelity_by_class_.items())
    n_reasons = np.mean([len(own) for own in first if own] or [0])
    print(
        f"{case.table.name}: {len(case.X)} training rows, {len(case.rows)} adverse rows, {sum(map(bool, first))} with "
        f"reasons ({n_reasons:.1f} each); fidelity {by_class}",
        flush=True,
    )
    for who, tops in (("suffice", first), ("SHAP", shap_before["SHAP, paths"])):
        often = Counter(own[0] for own in tops if own).most_common()
        print(f"  first reasons, {who}: {', '.join(f'{name} {n}' for name, n in often)}", flush=True)
    counts = Counts()
    for kind, explainer, model, background, rows in case.changes(base, n_changes):
        kept = model.predict(rows) == case.table.adverse
        after = reasons_of(explainer, rows)
        for who in before:
            counts.add(who, kind, before[who], after[who], kept)
        if kind in ("refit", "noise"):
            counts.add("SHAP, paths", kind, shap_before["SHAP, paths"], case.shap_tops(model, rows), kept)
        if kind != "seed":
            tops = case.shap_tops(model, rows, background)
            counts.add("SHAP, table", kind, shap_before["SHAP, table"], tops, kept)
    counts.print([*before, *shap_before])
    return counts


def of_package(adverse: Any) -> Callable[[SufficientExplainer, Any], dict[str, Reasons]]:
    def reasons_of(explainer: SufficientExplainer, rows: Any) -> dict[str, Reasons]:
        found = explainer.reasons(rows, adverse=adverse, n=N_REASONS, progress=False)
        return {"suffice": [tuple(reason.variables[0] for reason in row.reasons) for row in found]}

    return reasons_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("SUFFICE_DATA"))
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--changes", type=int, default=2)
    parser.add_argument("--drawn", type=int, default=0, help="rows that the model is asked about besides")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("parts", nargs="*", default=["orders", "tables"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(head())
    print(
        f"Reasons (at most {N_REASONS}) of adverse decisions of HistGradientBoosting; pi 0.8, levels by odds,\n"
        f"{options.trees} trees, {options.drawn} drawn rows, at most {options.rows} rows, {options.changes} changes.\n"
        f"For each change ({', '.join(KINDS)}): shares of pairs with the same first reason, the same reasons, none"
    )
    start = time.process_time()
    for part, names in (("orders", CHOSEN_ON), ("tables", OTHERS)):
        for name in names:
            if part not in options.parts or (options.only and name not in options.only):
                continue
            case = Case.of(TABLES[name](options.data), options.rows, options.drawn, options.trees)
            adverse = case.table.adverse
            by_order = lambda explainer, rows, adverse=adverse: ordered(explainer, rows, adverse)  # noqa: E731
            measure(case, by_order if part == "orders" else of_package(adverse), options.changes)
    print(f"{time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    main()
