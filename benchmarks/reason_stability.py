"""How stable reasons are: ``python -m benchmarks.reason_stability --data FOLDER [orders] [tables] [forests] [causes]``.

A boosted model (HistGradientBoosting) decides, or with ``forests`` the forest of the explainer itself. Adverse
decisions about rows that it was not fitted on get reasons before and after a change:

- *seed*: another seed of the explainer's forest;
- *bootstrap*: the forest on a bootstrap sample of the training table. A boosted model stays as it is;
- *model*: the boosted model fitted again on a bootstrap sample; the table and the seed of the forest stay as they are;
- *refit*: the boosted model and the forest both fitted on a bootstrap sample;
- *noise*: noise of 0.05 standard deviations on the numbers of the row.

Pairs of a row and a change count if the row has reasons before the change and the model's decision is the same after
it. So SHAP, too, is counted at the rows for which we have reasons. For each change there are four numbers: the share of
pairs with the same first reason; the same among the pairs that have reasons after the change as well; the share with
all reasons the same; and the share without reasons after the change (refused).

``orders`` compares ways to choose and to order reasons (``benchmarks.reason_orders``). ``tables`` and ``forests`` print
the reasons of the package beside SHAP's top four. ``causes`` counts what has happened where the first reason is another
one. The order was chosen on the last five tables, with a look at the other draws; the third draws were used afterwards.

SHAP has two readings. *paths* uses the trees alone (shap.TreeExplainer(model)), so that it cannot change while the
model does not. *table* compares with 100 rows of the training table, which a bootstrap sample changes.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.decision_tables import TABLES, DecisionTable
from benchmarks.reason_orders import N_REASONS, Reasons, ordered, sets_of_rows
from benchmarks.run import head
from benchmarks.tree_shap import shap_towards, top_variables
from suffice import SufficientExplainer
from suffice._forest.fitting import default_forest

CHOSEN_ON = ("adult-like", "telco-like", "credit-like", "german credit", "compas")
OTHER_DRAWS = tuple(f"{law}, other draw" for law in ("adult-like", "telco-like", "credit-like"))
THIRD_DRAWS = tuple(f"{law}, third draw" for law in ("adult-like", "telco-like", "credit-like"))
OTHERS = (*THIRD_DRAWS, *OTHER_DRAWS, "nhanes", "attrition", "bank")
KINDS = ("seed", "bootstrap", "model", "refit", "noise")
KINDS_OF_FORESTS = ("seed", "bootstrap", "noise")
N_TRAIN, SCALE = 1500, 0.05
SETTINGS: dict[str, Any] = {"pi": 0.8, "levels": "odds", "unseen": "missing"}


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


def with_noise(rows: Any, explainer: SufficientExplainer, scale: float, rng: np.random.Generator) -> Any:
    """Add noise of `scale` standard deviations of the training table to numbers; whole numbers stay whole."""
    encoding, training = explainer.fitted_.encoding, explainer.training[0]
    noisy = rows.copy()
    for column in encoding.columns:
        if column.kind == "category" or column.part is not None:
            continue
        name = encoding.names[column.source]
        deviation = scale * float(np.nanstd(training.numbers(column.source)))
        values = rows[name].to_numpy(dtype=float) + rng.normal(scale=deviation, size=len(rows))
        noisy[name] = np.round(values) if column.kind == "whole" else values
    return noisy


@dataclass(frozen=True)
class Change:
    """What is there after a change.

    The explainer, the rows, which of them keep their decision, SHAP's tops, and the probability of the adverse outcome
    that a boosted model gives.
    """

    kind: str
    explainer: SufficientExplainer
    rows: Any
    is_kept: Any
    shap: dict[str, Reasons] = field(default_factory=dict)
    scores: Any = None


@dataclass(frozen=True)
class Options:
    """How many rows, changes and trees."""

    n_rows: int
    n_changes: int
    n_trees: int


class Case:
    """A boosted model, the table that it was fitted on, and adverse rows."""

    kinds: tuple[str, ...] = KINDS

    def __init__(self, table: DecisionTable, options: Options) -> None:
        self.table, self.options = table, options
        order = np.random.default_rng(0).permutation(len(table.X))
        X, y = table.X.iloc[order].reset_index(drop=True), table.y.iloc[order].reset_index(drop=True)
        n = min(N_TRAIN, int(0.7 * len(X)))
        self.X, self.y = X[:n], y[:n]
        self.start()
        fresh = X[n:]
        self.rows = fresh[self.decide(fresh) == table.adverse][: options.n_rows].reset_index(drop=True)

    def start(self) -> None:
        self.model = BoostedModel(self.X, self.y)
        self.base = self.explainer(self.model, self.X, 0)

    def decide(self, rows: Any) -> Any:
        return self.model.predict(rows)

    def forest(self, seed: int) -> Any:
        forest = default_forest("classification", len(self.X), "out-of-bag", 2, seed)
        return forest.set_params(n_estimators=self.options.n_trees)

    def explainer(self, model: BoostedModel, X: Any, seed: int) -> SufficientExplainer:
        return SufficientExplainer.for_model(model, X, forest=self.forest(seed), random_state=seed, **SETTINGS)

    def shap_before(self) -> dict[str, Reasons]:
        return {
            "SHAP, paths": self.shap_tops(self.model, self.rows),
            "SHAP, table": self.shap_tops(self.model, self.rows, self.X),
        }

    def samples(self) -> Iterator[tuple[int, np.random.Generator, Any, Any]]:
        for i in range(self.options.n_changes):
            rng = np.random.default_rng(100 + i)
            drawn = rng.integers(len(self.X), size=len(self.X))
            yield 100 + i, rng, self.X.iloc[drawn].reset_index(drop=True), self.y.iloc[drawn].reset_index(drop=True)

    def noisy(self, rng: np.random.Generator) -> Any:
        return with_noise(self.rows, self.base, SCALE, rng)

    def changes(self) -> Iterator[Change]:
        for seed, rng, X, y in self.samples():
            again = BoostedModel(X, y)
            yield self.change("seed", self.model, self.X, seed, {})
            yield self.change("bootstrap", self.model, X, seed, {"SHAP, table": X})
            yield self.change("model", again, self.X, 0, {"SHAP, paths": None, "SHAP, table": self.X})
            yield self.change("refit", again, X, seed, {"SHAP, paths": None, "SHAP, table": X})
            rows = self.noisy(rng)
            tops = {
                "SHAP, paths": self.shap_tops(self.model, rows),
                "SHAP, table": self.shap_tops(self.model, rows, self.X),
            }
            is_kept = self.decide(rows) == self.table.adverse
            yield Change("noise", self.base, rows, is_kept, tops, self.scores(self.model, rows))

    def change(self, kind: str, model: BoostedModel, X: Any, seed: int, backgrounds: dict[str, Any]) -> Change:
        tops = {who: self.shap_tops(model, self.rows, background) for who, background in backgrounds.items()}
        is_kept = model.predict(self.rows) == self.table.adverse
        scores = self.scores(model, self.rows)
        return Change(kind, self.explainer(model, X, seed), self.rows, is_kept, tops, scores)

    def scores(self, model: BoostedModel, rows: Any) -> Any:
        return model.predict_proba(rows)[:, int(np.flatnonzero(model.classes_ == self.table.adverse)[0])]

    def shap_tops(self, model: BoostedModel, rows: Any, background: Any = None) -> Reasons:
        data = None if background is None else model.encode(background[:100])
        adverse = np.array([self.table.adverse] * len(rows))
        values = shap_towards(model.trees, model.encode(rows), model.classes_, adverse, data)
        return top_variables(values, tuple(rows.columns), N_REASONS)


class ForestCase(Case):
    """A forest that decides and is explained itself."""

    kinds = KINDS_OF_FORESTS

    def start(self) -> None:
        self.base = self.fitted(self.X, self.y, 0)

    def decide(self, rows: Any) -> Any:
        return self.base.predict(rows)

    def fitted(self, X: Any, y: Any, seed: int) -> SufficientExplainer:
        return SufficientExplainer(forest=self.forest(seed), random_state=seed, **SETTINGS).fit(X, y)

    def shap_before(self) -> dict[str, Reasons]:
        return {"SHAP, paths": self.forest_tops(self.base, self.rows)}

    def changes(self) -> Iterator[Change]:
        for seed, rng, X, y in self.samples():
            of_kinds = (
                ("seed", self.fitted(self.X, self.y, seed), self.rows),
                ("bootstrap", self.fitted(X, y, seed), self.rows),
                ("noise", self.base, self.noisy(rng)),
            )
            for kind, explainer, rows in of_kinds:
                is_kept = explainer.predict(rows) == self.table.adverse
                yield Change(kind, explainer, rows, is_kept, {"SHAP, paths": self.forest_tops(explainer, rows)})

    def forest_tops(self, explainer: SufficientExplainer, rows: Any) -> Reasons:
        state = explainer.fitted_
        code = int(np.flatnonzero(state.classes == self.table.adverse)[0])
        n_classes = np.arange(len(state.classes))
        values = shap_towards(state.estimator, explainer.encode(rows), n_classes, np.full(len(rows), code))
        by_variable = np.stack([values[:, list(of)].sum(axis=1) for of in state.variables.columns], axis=1)
        return top_variables(by_variable, state.variables.names, N_REASONS)


# --- counting ---------------------------------------------------------------------------------------------------------


class Counts:
    """Pairs of a row and a change: same first reason, all reasons the same, none after the change."""

    def __init__(self) -> None:
        self.pairs: dict[tuple[str, str], list[tuple[bool, bool, bool]]] = {}

    def add(self, who: str, kind: str, before: Reasons, after: Reasons, kept: Any, has_reasons: Sequence[Any]) -> None:
        pairs = self.pairs.setdefault((who, kind), [])
        for own, other, is_kept, has in zip(before, after, kept, has_reasons, strict=True):
            if own and is_kept:
                pairs.append((own[:1] == other[:1], set(own) == set(other), not has))

    def text(self, who: str, kind: str) -> str:
        pairs = np.array(self.pairs.get((who, kind), []), dtype=float)
        if not len(pairs):
            return f"{'-':>24s}"
        top, all_same, none = pairs.mean(axis=0)
        both = pairs[pairs[:, 2] == 0, 0]
        return f"     {top:.2f} {np.mean(both) if len(both) else np.nan:.2f} {all_same:.2f} {none:.2f}"

    def print(self, names: Sequence[str], kinds: Sequence[str]) -> None:
        for who in names:
            print(f"  {who:28s}{''.join(self.text(who, kind) for kind in kinds)}", flush=True)


def describe(case: Case, before: Reasons, shap_before: Reasons) -> None:
    by_class = ", ".join(f"{label} {share:.2f}" for label, share in case.base.fidelity_by_class_.items())
    n_reasons = np.mean([len(own) for own in before if own] or [0])
    print(
        f"{case.table.name}: {len(case.X)} training rows, {len(case.rows)} adverse rows, {sum(map(bool, before))} with "
        f"reasons ({n_reasons:.1f} each); fidelity {by_class}",
        flush=True,
    )
    for who, tops in (("suffice", before), ("SHAP", shap_before)):
        often = Counter(own[0] for own in tops if own).most_common()
        print(f"  first reasons, {who}: {', '.join(f'{name} {n}' for name, n in often)}", flush=True)


def measure(case: Case, reasons_of: Callable[[SufficientExplainer, Any], dict[str, Reasons]]) -> None:
    """Print how often reasons and SHAP's tops stay the same."""
    before = reasons_of(case.base, case.rows)
    own = before.get("suffice", next(iter(before.values())))
    # SHAP is counted at the rows that have reasons.
    tops = {
        who: [top if has else () for top, has in zip(tops, own, strict=True)]
        for who, tops in case.shap_before().items()
    }
    describe(case, own, tops["SHAP, paths"])
    counts = Counts()
    for change in case.changes():
        after = reasons_of(change.explainer, change.rows)
        for who, reasons in before.items():
            counts.add(who, change.kind, reasons, after[who], change.is_kept, after[who])
        has_reasons = next(iter(after.values()))
        for who, reasons in change.shap.items():
            counts.add(who, change.kind, tops[who], reasons, change.is_kept, has_reasons)
    counts.print([*before, *tops], case.kinds)


def of_package(adverse: Any) -> Callable[[SufficientExplainer, Any], dict[str, Reasons]]:
    def reasons_of(explainer: SufficientExplainer, rows: Any) -> dict[str, Reasons]:
        found = explainer.reasons(rows, adverse=adverse, n=N_REASONS, progress=False)
        return {"suffice": [tuple(reason.variables[0] for reason in row.reasons) for row in found]}

    return reasons_of


def of_orders(adverse: Any) -> Callable[[SufficientExplainer, Any], dict[str, Reasons]]:
    return lambda explainer, rows: ordered(explainer, rows, adverse)


# --- causes -----------------------------------------------------------------------------------------------------------

REFUSED = {"forest_disagrees": "the forest differs", "no_set": "no set", "unused_variable": "unused"}
HAPPENED = ("same first", "same set, other order", "other set, first in a smallest", "other set, first in none")


def find_causes(case: Case) -> None:
    """Print what has happened to rows between before and after each change."""
    adverse = case.table.adverse
    before = case.base.reasons(case.rows, adverse=adverse, n=N_REASONS, progress=False)
    sets = sets_of_rows(case.base, case.rows, adverse)
    happened: dict[str, Counter[str]] = {kind: Counter() for kind in case.kinds}
    margins: dict[tuple[str, bool], list[float]] = {}
    scores: dict[bool, list[float]] = {True: [], False: []}
    for change in case.changes():
        after = change.explainer.reasons(change.rows, adverse=adverse, n=N_REASONS, progress=False)
        for own, other, row, is_kept, score in zip(before, after, sets, change.is_kept, change.scores, strict=True):
            if own.reasons and is_kept and row is not None:
                cause = what_happened(own, other)
                happened[change.kind][cause] += 1
                scores[cause not in HAPPENED].append(float(score))
                if cause in HAPPENED:
                    margins.setdefault((change.kind, cause == HAPPENED[0]), []).append(row.margin())
    print(
        f"{case.table.name}: {sum(bool(own.reasons) for own in before)} of {len(case.rows)} adverse rows have reasons"
    )
    for kind in case.kinds:
        n = max(happened[kind].total(), 1)
        shares = ", ".join(f"{cause} {n_rows / n:.2f}" for cause, n_rows in sorted(happened[kind].items()))
        print(f"  {kind:10s} {n} pairs: {shares}")
        stays, changes = (np.array(margins.get((kind, is_same), [])) for is_same in (True, False))
        for words, values in (("stays", stays), ("changes", changes)):
            if len(values):
                print(
                    f"    where it {words}: first ahead of the next by {np.median(values):.1f} standard errors "
                    f"(median), by less than one in {np.mean(values < 1):.2f} of {len(values)}",
                    flush=True,
                )
    for is_refused, words in ((True, "refused after a change"), (False, "all others")):
        if scores[is_refused]:
            low, middle, high = np.quantile(scores[is_refused], [0.1, 0.5, 0.9])
            print(
                f"  the model's probability of the outcome, {words}: {middle:.2f} (median; {low:.2f} to {high:.2f} for "
                f"four in five of {len(scores[is_refused])})"
            )


def what_happened(own: Any, other: Any) -> str:
    if other.refusal is not None:
        return f"refused ({REFUSED.get(other.refusal.kind, other.refusal.kind)})"
    first = own.reasons[0].variables[0]
    if other.reasons[0].variables[0] == first:
        return HAPPENED[0]
    if set(own.best_set.variables) == set(other.best_set.variables):
        return HAPPENED[1]
    return HAPPENED[2] if any(first in S.variables for S in other.minimal_sets) else HAPPENED[3]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("SUFFICE_DATA"))
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--changes", type=int, default=3)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("parts", nargs="*", default=["orders", "tables", "forests", "causes"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    options = Options(arguments.rows, arguments.changes, arguments.trees)
    print(head())
    print(
        f"Reasons (at most {N_REASONS}) of adverse decisions; pi 0.8, levels by odds, {options.n_trees} trees,\n"
        f"at most {options.n_rows} rows, {options.n_changes} changes of each kind."
    )
    start = time.process_time()
    every = (*OTHERS, *CHOSEN_ON)
    for part, names in (("orders", every), ("tables", every), ("forests", every), ("causes", every)):
        if part not in arguments.parts:
            continue
        is_forest = part == "forests"
        kinds = KINDS_OF_FORESTS if is_forest else KINDS
        print(f"\n{part}: the {'forest' if is_forest else 'boosted model'} decides; changes: {', '.join(kinds)}")
        for name in names:
            if arguments.only and name not in arguments.only:
                continue
            case = (ForestCase if is_forest else Case)(TABLES[name](arguments.data), options)
            if not len(case.rows):
                print(f"{name}: no adverse decision")
            elif part == "causes":
                find_causes(case)
            else:
                measure(case, (of_orders if part == "orders" else of_package)(case.table.adverse))
    print(f"{time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    main()
