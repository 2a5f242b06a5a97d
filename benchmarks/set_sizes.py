"""How large sufficient sets may be: what each largest size gives on rows set aside.

Called by ``python -m benchmarks.defaults sizes``.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from benchmarks.candidates import MEASURES, N_EXPLAINED, N_TRAIN, SEEDS, fit_on, held_out, measure, print_line
from benchmarks.real_tables import LOADERS

SIZES = (1, 2, 3, 4, 5, 6, None)


def sizes(data: str | None, only: list[str], each: bool) -> None:
    print(
        f"Largest size of a set: at most {N_TRAIN} training rows, up to {N_EXPLAINED} held-out rows explained, "
        f"means of {len(SEEDS)} splits\n"
        "found: share of rows with a sufficient set; size: variables in it; cover: coverage of the rule; of all: the\n"
        "same with 0 for rows without a set; claimed: precision of the rule; held-out: the share of other held-out\n"
        "rows in the rule that have its outcome; ms: CPU time a row, one thread"
    )
    print(f"  {'':32s} {' '.join(f'{name:>8s}' for name in MEASURES)}")
    runs: dict[str, dict[int | None, list[Any]]] = {}
    by_size: dict[str, dict[int, list[tuple[int, int]]]] = {}
    for name in only or LOADERS:
        found: dict[int | None, list[Any]] = {}
        for seed in SEEDS:
            explainer, explained, checked = fit_on(name, data, seed)
            kind = "numbers" if explainer.fitted_.classes is None else "classes"
            for size in SIZES:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of forests that follow badly
                    limited = explainer.with_settings(max_size=size)
                    found.setdefault(size, []).append(measure(limited, explained, checked))
                    if size is None:
                        for explanation in limited.explain(explained.X, sets="minimal", progress=False):
                            if explanation.is_sufficient and explanation.rule is not None:
                                n = len(explanation.best_set.variables)
                                rows = by_size.setdefault(kind, {}).setdefault(n, [])
                                rows.append(held_out(explanation.rule, checked))
        for size, figures in found.items():
            means = np.ma.masked_invalid(figures).mean(axis=0).filled(math.nan)
            runs.setdefault(kind, {}).setdefault(size, []).append(means)
            if each:
                print_line(f"{name}, {label(size)}", means)
    for kind, by_largest in runs.items():
        for size, tables in by_largest.items():
            print_line(
                f"{len(tables)} tables of {kind}, {label(size)}",
                np.ma.masked_invalid(tables).mean(axis=0).filled(math.nan),
            )
    print("Held-out precision of rules by the number of their variables, all tables together, without a limit:")
    for kind, by_number in by_size.items():
        total = sum(map(len, by_number.values()))
        for n, rows in sorted(by_number.items()):
            covered, kept = np.array(rows).sum(axis=0)
            print(f"  {kind}, {n} variables: {len(rows) / total:.3f} of the rules, {kept / max(covered, 1):.3f} kept")


def label(size: int | None) -> str:
    return "any size" if size is None else f"at most {size}"
