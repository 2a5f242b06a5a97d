"""How wide the intervals of numbers are, what they hold, and whether sets can keep them.

``python -m benchmarks.number_intervals`` prints the table of docs/honesty.md (minutes; the data folder is named by
``SUFFICE_DATA``). The seeds are not those with which the width of the default was chosen (0 and 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.laws import LAWS
from benchmarks.printing import number, print_table
from benchmarks.real_tables import LOADERS, Part, load_table
from suffice import SufficientExplainer

SEEDS = (2, 3, 4)
ALPHAS = (None, 0.05, 0.1)
N_EXPLAINED, N_LAW = 60, 2000
MEASURES = ("within", "width", "residual", "normalised", "with set", "size", "all variables")


def draw_parts(name: str, seed: int) -> tuple[Part, Part, Part]:
    """Training rows, rows to explain and fresh rows: of a table, or of a law with this name."""
    if name in LOADERS:
        return load_table(name).split(seed, N_EXPLAINED)
    rng, [law] = np.random.default_rng(seed), [law for law in LAWS if law.name == name]
    return tuple(Part(*law.draw(n, rng)) for n in (N_LAW, N_EXPLAINED, N_LAW))


def half_width(scores: Any, share: float) -> float:
    """The score that a share of the scores does not exceed."""
    return float(np.quantile(scores, share, method="higher"))


def measure(explainer: SufficientExplainer, explained: Any, fresh: Part) -> list[float]:
    """The measures of `MEASURES`; residual intervals are made wide enough to hold the same share of fresh rows."""
    predictions = explainer.predict(fresh.X)
    low, high = explainer.interval(fresh.X).T
    within = float(np.mean((low <= fresh.y) & (fresh.y <= high)))
    # A residual interval that holds the same share reaches as far as this share of the fresh errors.
    misses = np.abs(fresh.y - predictions)
    plain = 2 * half_width(misses, within)
    spread = np.ptp(explainer.quantile(fresh.X, [0.1, 0.9]), axis=1)
    scaled = 2 * half_width(misses / np.maximum(spread, 1e-9), within) * np.mean(spread)
    explanations = explainer.explain(explained, sets="minimal", rules=None, progress=False)
    sizes = [len(best.variables) for best, has in zip(explanations.best_sets, explanations.has_set, strict=True) if has]
    size = float(np.mean(sizes)) if sizes else np.nan
    own = float(np.mean(explanations.answers.sdps_of_all))
    return [within, float(np.mean(high - low)), plain, scaled, float(explanations.has_set.mean()), size, own]


def measure_all(names: tuple[str, ...], seeds: tuple[int, ...] = SEEDS) -> Iterator[tuple[str, Any, list[float]]]:
    """The mean measures of each table or law and alpha."""
    for name in names:
        runs: dict[Any, list[list[float]]] = {alpha: [] for alpha in ALPHAS}
        for seed in seeds:
            train, explained, fresh = draw_parts(name, seed)
            explainer = SufficientExplainer(random_state=seed, n_jobs=1, unseen="missing").fit(train.X, train.y)
            for alpha, of_alpha in runs.items():
                of_alpha.append(measure(explainer.with_settings(alpha=alpha), explained.X, fresh))
        for alpha, of_alpha in runs.items():
            yield name, alpha, np.nanmean(of_alpha, axis=0).tolist()


def main() -> None:
    names = ("bike", "california", "diabetes", "switch model", "linear", "linear, weak")
    lines = [
        [name, "default" if alpha is None else str(alpha), *(number(value, 3) for value in values)]
        for name, alpha, values in measure_all(names)
    ]
    print_table(["table or law", "alpha", *MEASURES], lines)


if __name__ == "__main__":
    main()
