"""How near the best set of a row's chain comes to the best of all sets, where no set is sufficient.

Called by ``python -m benchmarks.defaults nearest``.
"""

from __future__ import annotations

import itertools
import warnings

import numpy as np

from benchmarks.candidates import N_EXPLAINED, N_TRAIN, SEEDS, fit_on
from benchmarks.real_tables import LOADERS
from benchmarks.set_sizes import label

# The largest size of a set, and of how many columns all sets up to that size are gone through: some thousand sets.
MOST_COLUMNS = {None: 12, 3: 30}


def nearest(data: str | None, only: list[str], each: bool) -> None:
    print(
        f"Rows without a sufficient set: at most {N_TRAIN} training rows, up to {N_EXPLAINED} held-out rows of "
        f"{len(SEEDS)} splits\n"
        "chain, all: mean SDP of the best set of the chain, and of the best of all sets of all variables; same: the\n"
        "share of rows where both are the same; 9 in 10, most: what 9 in 10 rows lose at most, and all"
    )
    print(f"  {'':36s} {'rows':>6s} {'chain':>6s} {'all':>6s} {'same':>6s} {'9 in 10':>8s} {'most':>6s}")
    for largest in MOST_COLUMNS:
        found = []
        for name in only or LOADERS:
            pairs = np.concatenate([compare(name, data, seed, largest) for seed in SEEDS])
            if each and len(pairs):
                print_line(f"{name}, {label(largest)}", pairs)
            found.append(pairs)
        print_line(f"{sum(len(pairs) > 0 for pairs in found)} tables, {label(largest)}", np.concatenate(found))


def compare(name: str, data: str | None, seed: int, largest: int | None) -> np.ndarray:
    """The SDPs of the best set of the chain, and of the best of all sets, for rows without a sufficient set."""
    fitted, explained, _ = fit_on(name, data, seed)
    columns = fitted.variable_names_
    if len(columns) > MOST_COLUMNS[largest]:
        return np.zeros((0, 2))
    explainer = fitted.with_settings(max_size=largest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of forests that follow badly
        answers = explainer.explain(explained.X, sets="minimal", rules=None, progress=False)
    without = [i for i, answer in enumerate(answers) if not answer.is_sufficient]
    if not without or not explainer.fitted_.has_signal:
        return np.zeros((0, 2))
    chain = [answers[i].best_set.sdp for i in without]
    rows = explained.X.iloc[without]
    sizes = range((largest or len(columns)) + 1)
    sets = [S for size in sizes for S in itertools.combinations(columns, size)]
    highest = np.max([explainer.sdp(rows, S) for S in sets], axis=0)
    return np.column_stack([chain, highest])


def print_line(name: str, pairs: np.ndarray) -> None:
    chain, highest = pairs.T
    loss = highest - chain
    print(
        f"  {name:36s} {len(pairs):6d} {chain.mean():6.3f} {highest.mean():6.3f} {(loss < 1e-9).mean():6.2f} "
        f"{np.quantile(loss, 0.9):8.3f} {loss.max():6.3f}"
    )
