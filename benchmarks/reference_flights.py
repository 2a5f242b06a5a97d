"""What counting on a sample costs on a large table: ``python -m benchmarks.reference_flights``.

The default forest of 317,346 flights, with SDPs counted on all of them and on samples (`reference_rows`). Rules claim a
precision; other flights show whether it holds. Takes about five minutes of CPU time.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from experiments.data.loaders import load_flights

from benchmarks.printing import print_table
from benchmarks.run import head
from suffice import SufficientExplainer

N_HELD_OUT = 10_000
N_EXPLAINED = 100
SAMPLES = (None, 65_536, 30_000)
HEADER = ("rows counted", "minimal sets, ms", "with a rule, ms", "found", "size", "claimed", "held-out")


def measure(explainer: SufficientExplainer, rows: np.ndarray, late: np.ndarray) -> list[float]:
    explained, others, outcomes = rows[:N_EXPLAINED], rows[N_EXPLAINED:], late[N_EXPLAINED:]
    explainer.explain(explained[:1], progress=False)  # projects the forest
    times = []
    for rules in (None, "minimal"):
        start = time.process_time()
        explanations = explainer.explain(explained, sets="minimal", rules=rules, progress=False)
        times.append(1000 * (time.process_time() - start) / N_EXPLAINED)
    sufficient = [explanation for explanation in explanations if explanation.is_sufficient]
    precision = []
    for explanation in sufficient:
        rule = explanation.rule
        covered = np.zeros(len(others), bool) if rule is None else np.asarray(rule.covers(others))
        if covered.any():
            precision.append((rule.precision, np.mean(outcomes[covered] == rule.outcome)))
    sizes = [len(explanation.best_set.variables) for explanation in sufficient]
    return [*times, len(sufficient) / N_EXPLAINED, float(np.mean(sizes)), *np.mean(precision, axis=0)]


def main() -> None:
    print(head())
    X, y = load_flights(late=True)
    order = np.random.default_rng(0).permutation(len(X))
    train, held_out = order[:-N_HELD_OUT], order[-N_HELD_OUT:]
    warnings.simplefilter("ignore")  # the forest follows these outcomes poorly
    whole = SufficientExplainer(random_state=0, n_jobs=1, unseen="missing").fit(X.iloc[train], y.iloc[train])
    matrix, rows = whole.encode(X.iloc[train]), whole.encode(X.iloc[held_out])
    lines = []
    for n_kept in SAMPLES:
        explainer = SufficientExplainer(whole.forest_, random_state=0, n_jobs=1, reference_rows=n_kept)
        figures = measure(explainer.fit(matrix, y.iloc[train].to_numpy()), rows, y.iloc[held_out].to_numpy())
        label = "all" if n_kept is None else f"{n_kept}"
        lines.append([label, *(f"{ms:.0f}" for ms in figures[:2]), *(f"{figure:.3f}" for figure in figures[2:])])
    print_table(HEADER, lines)


if __name__ == "__main__":
    main()
