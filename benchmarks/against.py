"""Times of this checkout against another version of suffice: ``python -m benchmarks.against PYTHON``.

PYTHON is the interpreter of an environment in which the other version is installed, such as that of an earlier commit
in a separate checkout. Both versions run the same calls on the same data, one thread each, in two processes that take
turns; the best CPU time of the rounds counts, since noise on a busy machine only ever adds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

WORST = 1.05


# --- the worker: only public names that every version has -----------------------------------------------------------


def make_cases(folder):
    """The calls that are timed, by name."""
    import numpy as np
    import pandas as pd
    from sklearn.datasets import load_breast_cancer, load_diabetes
    from sklearn.ensemble import RandomForestRegressor

    from suffice import GlobalRulesClassifier, SufficientExplainer

    # Version 0.1 counts the rows that grew the trees, searches the variables with the most splits but not the empty
    # set, and gives every rule.
    first = {"counts": "bootstrap", "min_size": 1, "candidates": "splits", "min_support": 0}
    known = SufficientExplainer().get_params()
    paper = {name: value for name, value in first.items() if name in known}

    switch = np.load(folder / "switch.npz")
    leaf = int(switch["leaf"])
    forest = RandomForestRegressor(20, min_samples_leaf=leaf, random_state=0)
    on_switch = SufficientExplainer(forest, n_jobs=1, **paper).fit(switch["X"], switch["y"])
    rows = switch["X_test"]
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, pd.Series(data.target_names[data.target])
    cancer = SufficientExplainer(random_state=0, n_jobs=1, **paper).fit(X, y)
    array = X.to_numpy()
    on_array = SufficientExplainer(random_state=0, n_jobs=1, **paper).fit(array, y)
    numbers = load_diabetes(as_frame=True)
    diabetes = SufficientExplainer(random_state=0, n_jobs=1, **paper).fit(numbers.data, numbers.target)
    explained = cancer.explain(X[:200], y[:200], sets="minimal")
    return {
        "switch model, minimal sets, 300 rows": lambda: on_switch.explain(rows[:300], sets="minimal", rules=None),
        "switch model, all sets, 100 rows": lambda: on_switch.explain(rows[:100], rules=None),
        "switch model, rules, 100 rows": lambda: on_switch.explain(rows[:100], sets="minimal"),
        "breast cancer, one row": lambda: [on_array.explain(array[:1]) for _ in range(20)],
        "breast cancer, minimal sets": lambda: on_array.explain(array, sets="minimal", rules=None),
        "breast cancer, all sets, 50 rows": lambda: on_array.explain(array[:50], rules=None),
        "breast cancer, rules, 200 rows": lambda: cancer.explain(X[:200], sets="minimal"),
        "breast cancer, everywhere, 50 rows": lambda: cancer.explain(X[:50], sets="minimal", check="everywhere"),
        "diabetes, rules, 50 rows": lambda: diabetes.explain(numbers.data[:50], sets="minimal"),
        "breast cancer, SDP of a set": lambda: on_array.sdp(array, [0, 7, 22]),
        "breast cancer, fit": lambda: SufficientExplainer(random_state=0, n_jobs=1, **paper).fit(array, y),
        "list of rules": lambda: GlobalRulesClassifier.from_explanations(explained).simplify(0.01),
        "frame of sets": explained.to_frame,
        "cards of 20 rows": lambda: [e._repr_html_() for e in explained[:20]],
        "report of 200 rows": lambda: explained.report(folder / "report.html"),
    }


def work(folder):
    """Write the names of the cases, then the CPU seconds of each case that standard input names."""
    import time

    warnings.simplefilter("ignore")
    cases = make_cases(folder)
    for case in cases.values():
        case()
    sys.stdout.write(f"{json.dumps(list(cases))}\n")
    sys.stdout.flush()
    for name in sys.stdin:
        start = time.process_time()
        cases[name.strip()]()
        sys.stdout.write(f"{time.process_time() - start}\n")
        sys.stdout.flush()


# --- the comparison -------------------------------------------------------------------------------------------------


def compare(other, n_rounds):
    import numpy as np

    from benchmarks.run import head
    from benchmarks.switch import switch_forest

    print(head())
    train, test, forest = switch_forest(10_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(
            folder / "switch.npz",
            X=train.X.to_numpy(),
            y=train.y.to_numpy(),
            X_test=test.X.to_numpy(),
            leaf=forest.min_samples_leaf,
        )
        best = time_in_turns([sys.executable, other], folder, n_rounds)
    print(f"ms, best of {n_rounds}: this checkout, the other version, and the ratio (at most {WORST})")
    for case, (ours, theirs) in best.items():
        mark = "" if ours <= WORST * theirs else "   <- slower"
        print(f"  {case:36s} {1000 * ours:9.2f} {1000 * theirs:9.2f}   {ours / theirs:.2f}{mark}")


def time_in_turns(pythons, folder, n_rounds):
    """Best seconds of each case, for each interpreter."""
    workers = [start_worker(python, folder / str(i), folder) for i, python in enumerate(pythons)]
    try:
        names = [worker.stdout.readline() for worker in workers]
        if len(set(names)) > 1 or not names[0]:
            raise RuntimeError("A worker cannot run the cases: is suffice installed there?")
        best = {name: [float("inf")] * len(workers) for name in json.loads(names[0])}
        for _ in range(n_rounds):
            for name, seconds in best.items():
                for i, worker in enumerate(workers):
                    worker.stdin.write(f"{name}\n")
                    worker.stdin.flush()
                    seconds[i] = min(seconds[i], float(worker.stdout.readline()))
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    return best


def start_worker(python, own, folder):
    own.mkdir()
    (own / "switch.npz").symlink_to(folder / "switch.npz")
    command = [python, __file__, "--worker", str(own)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=own)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", nargs="?", help="the interpreter with the other version")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker)
    elif arguments.python:
        compare(arguments.python, arguments.rounds)
    else:
        parser.error("give the interpreter of the other version")
