"""How many shares a search must look at, at least: a part of ``python -m benchmarks.speed``.

A set is refuted when the shares of the trees so far are too low for the others to make up for it. No share is below 0,
so a set with SDP < pi cannot be refuted before more than (1 - pi) k of the k trees have been looked at; a set that is
sufficient takes all trees. Together with the choice of the variables at a row, which compares all of them over the
first trees, this is the least number of shares for any search that decides about sets one by one.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.printing import print_table
from benchmarks.speed_page import print_section
from benchmarks.speed_questions import fitted
from benchmarks.speed_worker import cpu_seconds
from suffice.explaining.search import FIRST_TREES

N_EXPLAINED = {"breast cancer": 200, "german credit": 200, "bank": 200, "bike": 100, "switch model": 200, "flights": 20}


def bounds(options):
    print_section("What a search must look at")
    print("Rows one by one, minimal sets, without rows that one variable or none explains.\n")
    lines = []
    for name, n_rows in N_EXPLAINED.items():
        explainer, table = fitted(name, n_rows)
        frames = [table.rows.iloc[[i]] for i in range(n_rows)]
        explainer.explain(frames[0], sets="minimal", rules=None, progress=False)  # builds what is built once
        figures = [figures_of(explainer, frame) for frame in frames]
        n_sets, n_shares, seconds = np.array([f for f in figures if f[0] > 0]).T
        n_left_out = n_rows - len(n_sets)
        lines.append(
            [
                name,
                f"{n_rows - n_left_out} of {n_rows}",
                f"{n_sets.mean():.0f}",
                f"{n_shares.mean():.0f}",
                f"{1000 * seconds.mean():.2f}",
                f"{1e9 * seconds.sum() / n_shares.sum():.0f}",
            ]
        )
    print_table(["table", "rows", "sets a row", "shares a row, at least", "ms a row", "ns for each of these"], lines)


def figures_of(explainer, frame):
    """The sets of two and more that are decided about, the shares that this takes at least, and the seconds it took."""
    answers = []
    ask = lambda: answers.append(explainer.explain(frame, sets="minimal", rules=None, progress=False)[0])  # noqa: E731
    seconds = min(cpu_seconds(ask) for _ in range(3))
    state, answer = explainer.fitted_, answers[0]
    n, n_variables, k = state.n_searched, len(state.projected.candidates), len(explainer.forest_.estimators_)
    size = len(answer.best_set.variables) if answer.is_sufficient else n
    by_size = [math.comb(n, i) for i in range(2, size + 1)]
    n_found = len(answer.sufficient_sets) if answer.is_sufficient and size > 1 else 0
    refuted_after = math.floor((1 - state.settings.pi) * k + 1e-9) + 1
    n_shares = (sum(by_size) - n_found) * refuted_after + n_found * k
    if by_size and n < n_variables:
        n_shares += sum(n_variables - i for i in range(n)) * min(FIRST_TREES, k)
    return sum(by_size), n_shares, seconds
