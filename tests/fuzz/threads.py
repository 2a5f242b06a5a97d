"""Many threads on one explainer, with the answers of one thread: ``python -m fuzz.threads --calls 1000000``."""

from __future__ import annotations

import argparse
import random
import sys
import threading
import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any

from forged_files import honest, table

from suffice._io.saved import from_bytes

N_THREADS = 16
N_ROUND = 20_000
"""Calls on one explainer; then it is loaded again, and all that is built on demand is built again."""


def questions(X: Any) -> list[Callable[[Any], Any]]:
    """Questions whose answers are built on demand and kept: sets inside and outside the candidates, rules, changes."""
    rows = [X[i : i + 1] for i in range(4)]
    sets = [S for size in (1, 2, 3) for S in combinations(X.columns, size)]
    asked: list[Callable[[Any], Any]] = []
    for row in rows:
        asked += [lambda e, S=S, row=row: e.sdp(row, list(S)).tolist() for S in sets]
        asked += [lambda e, S=S, row=row: e.predict_proba(row, list(S)).tolist() for S in sets[:4]]
        asked.append(lambda e, row=row: e.explain(row, rules="all").to_dict())
        asked.append(lambda e, row=row: str(e.explain(row)[0]))
        asked.append(lambda e, row=row: e.with_settings(candidates=["temp", "open"]).explain(row).to_dict())
    asked.append(lambda e: e.what_if(rows[0]).to_dict())
    return asked


def compare(n_calls: int, n_threads: int = N_THREADS, seed: int = 0) -> tuple[int, int]:
    """Ask from many threads at once. Returns the number of calls, and how many answers differed or were errors."""
    X = table()
    asked = questions(X)
    expected = [question(load()) for question in asked]
    n_done = n_wrong = 0
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        while n_done < n_calls:
            n_round = min(N_ROUND, n_calls - n_done)
            n_wrong += ask_together(load(), asked, expected, -(-n_round // n_threads), n_threads, seed + n_done)
            n_done += -(-n_round // n_threads) * n_threads
            sys.stderr.write(f"{n_done:,} calls, {n_wrong} differences\n")
    finally:
        sys.setswitchinterval(interval)
    return n_done, n_wrong


def load() -> Any:
    """An explainer with nothing built yet, with two candidates: most sets need a projection of their own."""
    explainer = from_bytes(honest())
    return explainer.with_settings(candidates=["hour", "weather"], n_jobs=1)


def ask_together(explainer: Any, asked: Any, expected: Any, n_each: int, n_threads: int, seed: int) -> int:
    """Return how many answers of all threads differ from those expected."""
    wrong: list[Any] = []
    barrier = threading.Barrier(n_threads)

    def work(number: int) -> None:
        draw = random.Random(f"{seed} {number}")
        barrier.wait()
        for _ in range(n_each):
            i = draw.randrange(len(asked))
            try:
                if asked[i](explainer) != expected[i]:
                    wrong.append(i)
            except Exception as error:
                wrong.append((i, repr(error)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in wrong[:5]:
        sys.stderr.write(f"{one}\n")
    return len(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.threads", description=__doc__)
    parser.add_argument("--calls", type=int, default=1_000_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    n_done, n_wrong = compare(options.calls)
    sys.stdout.write(f"{n_done:,} calls from {N_THREADS} threads, {n_wrong} differences\n")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
