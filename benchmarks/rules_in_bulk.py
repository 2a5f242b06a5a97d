"""Times of many rules against another version of suffice: ``python -m benchmarks.rules_in_bulk PYTHON --data FOLDER``.

PYTHON is the interpreter of an environment in which the other version is installed; without it, only this version is
timed. Both versions run the same calls on the same data, one thread each, and take turns; CPU seconds are printed, and
each call's results are compared by a digest: they must be the same to the bit. The rules of given sets are timed apart
from the search for sets, which takes most of the time of a list of rules.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path

CASES = {
    "rules of given sets, bank, 1,000 rows": ("bank", "boxes", 1000),
    "rules of given sets, bike, 500 rows": ("bike", "boxes", 500),
    "list of 20 rules, bank, 7,000 rows": ("bank", "list", 20),
    "list of 20 rules, bike, 10,886 rows": ("bike", "list", 20),
    "list of all rules, bank, 7,000 rows": ("bank", "list", None),
    "list of all rules, bike, 10,886 rows": ("bike", "list", None),
}
N_BANK = 7000


# --- the worker: only names that both versions have -------------------------------------------------------------------


def work(case, data):
    """Print the CPU seconds of the rules, those of the whole call, the peak memory and a digest of the results."""
    import hashlib
    import resource
    import time

    warnings.simplefilter("ignore")
    table, kind, size = CASES[case]
    X, y = load(table, data)
    run = time_boxes if kind == "boxes" else time_list
    start = time.process_time()
    seconds, results = run(X, y, size)
    whole = time.process_time() - start
    digest = hashlib.sha256(results).hexdigest()[:12]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(f"{json.dumps([seconds, whole, peak, digest])}\n")


def load(table, data):
    import numpy as np
    import pandas as pd

    if table == "bank":
        frame = pd.read_csv(data / "bank_marketing.csv.gz").drop(columns="duration")  # known only after the outcome
        rows = np.sort(np.random.default_rng(0).permutation(len(frame))[:N_BANK])
        frame = frame.iloc[rows].reset_index(drop=True)
        return frame.drop(columns="subscribed"), frame["subscribed"]
    frame = pd.read_csv(data / "bike_train.csv")
    when = pd.to_datetime(frame["datetime"])
    X = frame.drop(columns=["datetime", "casual", "registered", "count"], errors="ignore")
    return X.assign(hour=when.dt.hour, weekday=when.dt.day_of_week, month=when.dt.month), frame["count"]


def time_boxes(X, y, n_rows):
    """The rules of the first sets of some rows, without the search for the sets."""
    import time

    import numpy as np

    from suffice import SufficientExplainer

    explainer = SufficientExplainer(n_jobs=1, random_state=0).fit(X, y)
    rows = np.sort(np.random.default_rng(1).permutation(len(y))[:n_rows])
    chosen = X.iloc[rows], y.iloc[rows]
    found = explainer.explain(*chosen, sets="minimal", rules=None)
    sets = [(i, list(e.best_set.variables)) for i, e in enumerate(found) if e.is_sufficient]
    rows, sets = [i for i, _ in sets], [S for _, S in sets]
    start = time.process_time()
    rules = explainer.rule(chosen[0].iloc[rows], sets, chosen[1].iloc[rows])
    return time.process_time() - start, repr(rules).encode()


def time_list(X, y, max_rules):
    import time

    from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer

    kind = GlobalRulesRegressor if y.dtype.kind in "if" else GlobalRulesClassifier
    start = time.process_time()
    rules = kind(SufficientExplainer(n_jobs=1, random_state=0), max_rules=max_rules).fit(X, y)
    seconds = time.process_time() - start
    lines = rules.lines_
    return seconds, repr((lines.rules, rules.loss_)).encode() + lines.packed_covers.tobytes()


# --- the comparison -------------------------------------------------------------------------------------------------


def compare(pythons, data, cases, n_rounds):
    from benchmarks.run import head

    print(head())
    print(f"CPU seconds, best of {n_rounds}, one thread; peak memory in MB")
    for case in cases:
        figures = [[] for _ in pythons]
        for _ in range(n_rounds):
            for python, of_python in zip(pythons, figures, strict=True):
                of_python.append(run_worker(python, case, data))
        digests = {digest for of_python in figures for *_, digest in of_python}
        best = [min(seconds for seconds, *_ in of_python) for of_python in figures]
        peaks = [max(peak for _, _, peak, _ in of_python) for of_python in figures]
        times = "  ".join(f"{seconds:8.2f} s {peak:5.0f} MB" for seconds, peak in zip(best, peaks, strict=True))
        ratio = "" if len(best) == 1 else f"   {best[1] / best[0]:.1f} times as fast"
        same = "same results" if len(digests) == 1 else "<- OTHER RESULTS"
        print(f"  {case:38s} {times}{ratio}, {same}", flush=True)


def run_worker(python, case, data):
    command = [python, __file__, "--worker", case, "--data", str(data)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", nargs="?", help="the interpreter with the other version")
    parser.add_argument("--data", type=Path, required=True, help="the folder of the tables")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--cases", type=int, default=len(CASES), help="how many of the cases, the shortest first")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker, arguments.data)
    else:
        pythons = [sys.executable, *([arguments.python] if arguments.python else [])]
        compare(pythons, arguments.data.resolve(), list(CASES)[: arguments.cases], arguments.rounds)
