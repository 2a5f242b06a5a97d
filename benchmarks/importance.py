"""Which index of importance agrees with the best set of a row: three indices over the sufficient sets of real tables.

Run ``python -m benchmarks.importance``; the tables of the data folder are used if the environment names it.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field

import numpy as np
from experiments.data.loaders import FOLDER_VARIABLE
from scipy.stats import kendalltau

from benchmarks.held_out import fit_explainer
from benchmarks.printing import number, print_table
from benchmarks.real_tables import BUNDLED, LOADERS, RealTable, load_table
from suffice import Explanation
from suffice.explaining.importance import INDICES, ImportanceIndex


@dataclass
class Agreement:
    """How the order of an index agrees with best sets, and with the order in another forest; one entry for each row."""

    alone_first: list[bool] = field(default_factory=list)
    best_before_others: list[bool] = field(default_factory=list)
    tau: list[float] = field(default_factory=list)
    overlap: list[float] = field(default_factory=list)

    def add(self, one: Explanation, other: Explanation, index: ImportanceIndex) -> None:
        """Add a row that has a sufficient set of some variables in both forests."""
        best = one.best_set.variables
        ranked = [name for name, _ in one.ranked_importance(index)]
        if len(best) == 1:
            self.alone_first.append(ranked[0] == best[0])
        self.best_before_others.append(set(ranked[: len(best)]) == set(best))
        again = [name for name, _ in other.ranked_importance(index)]
        size = len(best)
        self.overlap.append(len(set(ranked[:size]) & set(again[:size])) / size)
        names = [name for name, _ in one.values if name in ranked or name in again]
        places = [[order.index(name) if name in order else len(names) for name in names] for order in (ranked, again)]
        tau = kendalltau(*places).statistic if len(names) > 1 else np.nan
        if not np.isnan(tau):
            self.tau.append(float(tau))

    def figures(self) -> list[float]:
        parts = (self.alone_first, self.best_before_others, self.overlap, self.tau)
        return [float(np.mean(part)) if part else np.nan for part in parts]


def measure(table: RealTable, seed: int, n_explained: int) -> tuple[int, int, dict[ImportanceIndex, Agreement]]:
    """Explain held-out rows by two forests, and compare each index with the best sets and between the forests."""
    train, explained, _ = table.split(seed, n_explained)
    both = [
        fit_explainer(table, train.X, train.y, random_state=10 * seed + forest).explain(explained.X, rules=None)
        for forest in range(2)
    ]
    agreements = {index: Agreement() for index in INDICES}
    n_rows = n_alone = 0
    for one, other in zip(*both, strict=True):
        if one.is_sufficient and one.best_set.variables and other.is_sufficient and other.best_set.variables:
            n_rows, n_alone = n_rows + 1, n_alone + (len(one.best_set.variables) == 1)
            for index, agreement in agreements.items():
                agreement.add(one, other, index)
    return n_rows, n_alone, agreements


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=150, help="how many rows of each table are explained")
    parser.add_argument("--tables", nargs="*", choices=list(LOADERS), help="the tables; all by default")
    options = parser.parse_args()
    known = list(LOADERS) if os.environ.get(FOLDER_VARIABLE) else list(BUNDLED)
    lines = []
    all_rows: dict[ImportanceIndex, list[list[float]]] = {index: [] for index in INDICES}
    for name in options.tables or known:
        n_rows, n_alone, agreements = measure(load_table(name), 0, options.rows)
        for index, agreement in agreements.items():
            lines.append([name, str(n_rows), str(n_alone), index, *map(number, agreement.figures())])
            all_rows[index].append(agreement.figures())
    for index, figures in all_rows.items():
        lines.append(["mean of tables", "", "", index, *map(number, np.nanmean(figures, axis=0))])
    names = ["table", "rows", "one variable", "index", "it ranks first", "best set first", "top overlap", "Kendall tau"]
    print_table(names, lines)


if __name__ == "__main__":
    main()
