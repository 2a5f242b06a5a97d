"""How stable best sets are: ``python -m benchmarks.stability --data FOLDER [trees] [choices] [core] [resamples]``.

``trees`` grows forests of more and more trees: how often the best set returns, and what they cost. ``choices`` compares
ways to choose the best among a row's sufficient sets. ``core`` looks at the variables that recur in most half-samples.
``resamples`` compares half-samples and bootstraps of a table with other tables of the same source.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.loaders import load_attrition, load_bike, load_california, load_nhanes
from scipy.stats import beta
from sklearn.base import clone

from benchmarks.run import head
from suffice import SufficientExplainer
from suffice._forest.projection import ProjectedForest
from suffice._forest.trees import FittedForest
from suffice.checks.refits import best_sets, draw_refits, for_halves, held_candidates, regrow
from suffice.errors import FidelityWarning
from suffice.explaining.search import FoundSets, find_sufficient_sets
from suffice.explaining.stability import CORE_SHARE

N_TRAIN = 2000
N_ROWS = 30
N_REFITS = 4
N_TREES = (100, 200, 500, 1000)


def load_file(data: str, name: str, target: str) -> tuple[Any, Any]:
    table = pd.read_csv(Path(data) / name)
    return table.drop(columns=target), table[target]


TABLES: dict[str, Callable[[str], tuple[Any, Any]]] = {
    "german credit": lambda data: load_file(data, "german_credit.csv", "class"),
    "bank": lambda data: load_file(data, "bank_marketing.csv.gz", "subscribed"),
    "attrition": load_attrition,
    "nhanes": load_nhanes,
    "bike": load_bike,
    "california": load_california,
}


@dataclass(frozen=True)
class Split:
    """Training rows of a table, and other rows to explain."""

    X: Any
    y: Any
    rows: Any

    @classmethod
    def of(cls, X: Any, y: Any, seed: int = 0) -> Split:
        order = np.random.default_rng(seed).permutation(len(X))
        rows, train = order[:N_ROWS], order[N_ROWS:][:N_TRAIN]
        return cls(X.iloc[train].reset_index(drop=True), y.iloc[train].reset_index(drop=True), X.iloc[rows])

    def fit(self, n_trees: int | None = None) -> SufficientExplainer:
        """Fit the default forest, with another number of trees."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FidelityWarning)
            # The same candidates at all rows, so that forests can be compared.
            explainer = SufficientExplainer(random_state=0, candidates="splits").fit(self.X, self.y)
            if n_trees is None or n_trees == len(explainer.forest_.estimators_):
                return explainer
            forest = clone(explainer.forest_).set_params(n_estimators=n_trees)
            return SufficientExplainer(forest, candidates=list(explainer.candidates_), random_state=0).fit(
                self.X, self.y
            )


# --- trees ------------------------------------------------------------------------------------------------------------


def measure_trees(split: Split, n_trees: int) -> tuple[float, ...]:
    explainer = split.fit(n_trees)
    forest = clone(explainer.forest_)
    matrix, outcomes = explainer.fitted_.training
    start = time.process_time()
    forest.fit(matrix, outcomes)
    fit_seconds = time.process_time() - start
    start = time.process_time()
    explainer.explain(split.rows, rules=None, progress=False)
    ms = 1000 * (time.process_time() - start) / N_ROWS
    stability = explainer.stability(split.rows, n_seeds=N_REFITS, n_resamples=N_REFITS, random_state=1, progress=False)
    has_set = stability.is_sufficient
    if not has_set.any():
        return fit_seconds, ms, 0.0, *[math.nan] * 6
    position = {name: i for i, name in enumerate(stability.candidates)}
    figures = []
    for counts in (stability.seeds, stability.resamples):
        recurring = [
            np.mean([counts.n_holding[row, position[name]] for name in stability.best_sets[row]] or [N_REFITS])
            for row in np.flatnonzero(has_set)
        ]
        figures.append((counts.n_same_set[has_set].mean(), np.mean(recurring), counts.n_sufficient[has_set].mean()))
    return fit_seconds, ms, has_set.mean(), *(np.array(figures).T / N_REFITS).ravel()


def trees(data: str, tables: list[str]) -> None:
    print(
        f"Trees: at most {N_TRAIN} training rows, {N_ROWS} other rows, {N_REFITS} other seeds and {N_REFITS} halves\n"
        "fit: CPU seconds to grow the forest; ms: CPU time of a row (all sets, no rule); found: rows with a\n"
        "sufficient set; for these rows and other seeds | halves: the same best set, the share of its variables that\n"
        "recur, some set is sufficient"
    )
    titles = ("fit s", "ms", "found", "same", "set", "variab", "les", "suffic", "ient")
    print(f"  {'':14s} trees {' '.join(f'{title:>7s}' for title in titles)}")
    for name in tables:
        split = Split.of(*TABLES[name](data))
        for n_trees in N_TREES:
            figures = measure_trees(split, n_trees)
            print(f"  {name:14s} {n_trees:5d} {' '.join(f'{show(figure):>7s}' for figure in figures)}", flush=True)


# --- choices ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sets:
    """The sufficient sets of one row: which candidates they hold, their SDPs, and lower bounds of these."""

    held: Any
    sdps: Any
    bounds: Any

    @property
    def is_smallest(self) -> Any:
        sizes = self.held.sum(axis=1)
        return sizes == sizes[0]


def by_candidate(sets: Sets) -> int:
    """Choose among the smallest sets the one of the most important candidates."""
    ranks = [tuple(np.flatnonzero(line)[::-1]) for line in sets.held[sets.is_smallest]]
    return min(range(len(ranks)), key=ranks.__getitem__)


def by_lxi(sets: Sets) -> int:
    """Choose among the smallest sets the one whose variables most sufficient sets hold."""
    weight = (sets.held * sets.held.mean(axis=0)).sum(axis=1)
    return int(np.argmax(np.where(sets.is_smallest, weight, -1)))


CHOICES: dict[str, Callable[[Sets], int]] = {
    "size, SDP (now)": lambda sets: 0,
    "size, bound": lambda sets: int(np.argmax(np.where(sets.is_smallest, sets.bounds, -1))),
    "size, candidate": by_candidate,
    "size, LXI": by_lxi,
    "SDP": lambda sets: int(np.argmax(sets.sdps)),
    "bound": lambda sets: int(np.argmax(sets.bounds)),
}


def lower_bounds(state: Any, X: Any, sets: FoundSets) -> Any:
    """One-sided 95 % lower bounds of the SDPs: a Beta quantile with 1 / (4 sum of squared weights) rows."""
    forest = state.forest
    n = len(forest.X)
    # With the rows themselves as outcomes, the distribution given a set is that of the weights.
    by_row = FittedForest(
        forest.trees, forest.X, np.arange(n, dtype=np.uint32), np.arange(n, dtype=np.float64), forest.n_levels
    )
    projected = ProjectedForest(by_row, state.variables, state.candidates, state.min_node_size)
    row_of_set = np.repeat(np.arange(len(X)), sets.n_by_row())
    bounds = np.empty(len(row_of_set))
    ends = np.arange(1, n + 1, dtype=np.uint32)
    for part in np.array_split(np.arange(len(bounds)), math.ceil(len(bounds) / 500) or 1):
        members = [sets.members(mask) for mask in sets.masks[part]]
        shares = projected.cumulative_shares(X[row_of_set[part]], members, ends, state.settings.n_threads)
        n_rows = 1 / (4 * (np.diff(shares, axis=1, prepend=0.0) ** 2).sum(axis=1))
        kept = sets.sdps[part] * n_rows
        bounds[part] = beta.ppf(0.05, kept, n_rows - kept + 1)
    return bounds


def sets_by_row(state: Any, X: Any, outcomes: Any) -> list[Sets | None]:
    """Find the sufficient sets of each row; None for a row without one."""
    sets = find_sufficient_sets(state, X, outcomes, minimal_only=False, progress=None, warns=False)
    held, bounds = held_candidates(sets.masks, len(sets.candidates)), lower_bounds(state, X, sets)
    parts = [slice(begin, end) for begin, end in zip(sets.offset[:-1], sets.offset[1:], strict=True)]
    return [Sets(held[p], sets.sdps[p], bounds[p]) if p.stop > p.start else None for p in parts]


def choose_sets(rows: list[Sets | None], choose: Callable[[Sets], int]) -> list[frozenset[int] | None]:
    return [None if sets is None else frozenset(np.flatnonzero(sets.held[choose(sets)]).tolist()) for sets in rows]


def choices(data: str, tables: list[str]) -> None:
    print(
        f"Choices of the best set: as above with {N_REFITS} halves and the default forest; for rows with a set\n"
        "same: the share of other seeds | halves with the same set; recur: share of its variables in the set of a\n"
        "half; size: of the set"
    )
    print(f"  {'':14s} {'':22s} {'same':>7s} {'set':>7s} {'recur':>7s} {'size':>7s}")
    for name in tables:
        split = Split.of(*TABLES[name](data))
        explainer = split.fit()
        state = explainer.fitted_
        X = explainer.encode(split.rows)
        outcomes = state.outcomes(X, state.predict(X))
        base = sets_by_row(state, X, outcomes)
        draws = draw_refits(N_REFITS, N_REFITS, len(state.forest.X), np.random.default_rng(1))
        refits = [
            [sets_by_row(regrow(grown, *draw), X, outcomes) for draw in kind]
            for grown, kind in zip((state, for_halves(state)), draws, strict=True)
        ]
        for choice, choose in CHOICES.items():
            own = choose_sets(base, choose)
            kinds = [[choose_sets(refit, choose) for refit in kind] for kind in refits]
            rows = [row for row, best in enumerate(own) if best is not None]
            same = [np.mean([[other[row] == own[row] for row in rows] for other in kind]) for kind in kinds]
            recurring = np.mean(
                [[len(own[row] & (other[row] or set())) / max(len(own[row]), 1) for row in rows] for other in kinds[1]]  # type: ignore[operator, arg-type]
            )
            size = np.mean([len(own[row]) for row in rows])  # type: ignore[arg-type]
            print(
                f"  {name:14s} {choice:22s} {' '.join(f'{show(v):>7s}' for v in (*same, recurring, size))}", flush=True
            )


# --- core -------------------------------------------------------------------------------------------------------------

N_HALVES = 10


def core(data: str, tables: list[str]) -> None:
    print(
        f"Core: the variables in the best sets of 80 % of {N_HALVES} halves, for rows with a sufficient set\n"
        "has: rows with a core; size: of the best set, and of the core; recur: the share of fresh halves whose\n"
        "best set holds the whole best set, and the whole core; variables: the share of its variables that they hold"
    )
    print(f"  {'':14s} {'has':>7s} {'size':>7s} {'core':>7s} {'recur':>7s} {'core':>7s} {'variab.':>7s} {'core':>7s}")
    for name in tables:
        split = Split.of(*TABLES[name](data))
        explainer = split.fit()
        state = explainer.fitted_
        X = explainer.encode(split.rows)
        outcomes = state.outcomes(X, state.predict(X))
        base = best_sets(state, X, outcomes)
        has_set = base.n_by_row() > 0
        held = []
        for draw in draw_refits(0, 2 * N_HALVES, len(state.forest.X), np.random.default_rng(2))[1]:
            sets = best_sets(regrow(for_halves(state), *draw), X, outcomes)
            holds = held_candidates(sets.best_masks, len(state.candidates)) & (sets.n_by_row() > 0)[:, None]
            held.append(holds[has_set])
        own = held_candidates(base.best_masks, len(state.candidates))[has_set]
        cores = np.mean(held[:N_HALVES], axis=0) >= CORE_SHARE
        fresh = np.array(held[N_HALVES:])
        has_core = cores.any(axis=1)
        figures = [has_core.mean(), own.sum(axis=1).mean(), cores[has_core].sum(axis=1).mean()]
        for kind, rows in ((own, own.any(axis=1)), (cores, has_core)):
            figures.append((fresh | ~kind).all(axis=2)[:, rows].mean())
        for kind, rows in ((own, own.any(axis=1)), (cores, has_core)):
            figures.append(((fresh & kind).sum(axis=2) / np.maximum(kind.sum(axis=1), 1))[:, rows].mean())
        print(f"  {name:14s} {' '.join(f'{show(figure):>7s}' for figure in figures)}", flush=True)


# --- resamples --------------------------------------------------------------------------------------------------------

N_SMALL = 1500
N_OTHERS = 8


def resamples(data: str, tables: list[str]) -> None:
    print(
        f"Resamples: tables of {N_SMALL} rows; the share of rows with the same best set in {N_OTHERS} forests of other "
        "rows\nof the same source, of halves, of halves with smaller leaves, and of bootstraps;\n"
        "sufficient: the share with some sufficient set; correlation: over the rows, with that in other tables"
    )
    print(f"  {'':14s} {'':24s} {'same set':>10s} {'sufficient':>10s} {'correlation':>11s}")
    for name in tables:
        X, y = TABLES[name](data)
        if len(X) < N_ROWS + 4 * N_SMALL:
            continue
        rng = np.random.default_rng(0)
        order = rng.permutation(len(X))
        rows, pool = X.iloc[order[:N_ROWS]], order[N_ROWS:]
        X, y = X.iloc[pool].reset_index(drop=True), y.iloc[pool].reset_index(drop=True)
        own, others = np.arange(N_SMALL), np.arange(N_SMALL, len(X))
        small = Split(X[:N_SMALL], y[:N_SMALL], rows).fit()
        # The parameters of the small table's forest with all rows to draw from, and one encoding of them.
        explainer = SufficientExplainer(clone(small.forest_), candidates=list(small.candidates_), random_state=0)
        state = explainer.fit(X, y).fitted_
        matrix = explainer.encode(rows)
        outcomes = state.outcomes(matrix, state.predict(matrix))
        base = best_sets(regrow(state, 0, own), matrix, outcomes)
        has_set = base.n_by_row() > 0
        halves = [rng.choice(own, N_SMALL // 2, replace=False) for _ in range(N_OTHERS)]
        draws = {
            "other tables": (state, [rng.choice(others, N_SMALL, replace=False) for _ in range(N_OTHERS)]),
            "halves": (state, halves),
            "halves, smaller leaves": (for_halves(state), halves),
            "bootstraps": (state, [rng.choice(own, N_SMALL) for _ in range(N_OTHERS)]),
        }
        of_others = None
        for kind, (grown, drawn) in draws.items():
            refits = [best_sets(regrow(grown, i + 1, chosen), matrix, outcomes) for i, chosen in enumerate(drawn)]
            is_sufficient = np.array([sets.n_by_row()[has_set] > 0 for sets in refits])
            is_same = np.array([(sets.best_masks == base.best_masks).all(axis=1)[has_set] for sets in refits])
            same = (is_same & is_sufficient).mean(axis=0)
            of_others = same if of_others is None else of_others
            figures = same.mean(), is_sufficient.mean(), np.corrcoef(same, of_others)[0, 1]
            shown = f"{figures[0]:10.3f} {figures[1]:10.3f} {figures[2]:11.2f}"
            print(f"  {name:14s} {kind:24s} {shown}", flush=True)


def show(figure: float) -> str:
    return "-" if math.isnan(figure) else f"{figure:.3f}" if figure < 10 else f"{figure:.0f}"


PARTS = {"trees": trees, "choices": choices, "core": core, "resamples": resamples}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--data", required=True, help="the folder of the tables")
    parser.add_argument("--only", action="append", default=[], metavar="TABLE", help="a table to use; all by default")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    print(head())
    for part in options.parts or PARTS:
        PARTS[part](options.data, options.only or list(TABLES))


if __name__ == "__main__":
    main()
